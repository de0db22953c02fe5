//! Histories of real clusters with Hadoop 0.18 to 1.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use elephant_input::window::ByteWindow;
use elephant_model::model::conf::Conf;
use elephant_parse::event::EventKind;
use elephant_parse::hadoop1::{Ending, Record, Visitor, looks_like_history, parse, read, to_event};
use elephant_parse::{Position, Problems};

#[derive(Default)]
struct Tally {
    records: BTreeMap<String, u64>,
    attempt_ends: BTreeMap<String, u64>,
    job_ids: BTreeSet<String>,
    kinds: BTreeMap<String, u64>,
    spanning: u64,
    confs: Vec<String>,
    problems: Problems,
}

impl Visitor for Tally {
    fn record(&mut self, at: Position, record: &Record<'_>) {
        *self.records.entry(record.kind.to_owned()).or_default() += 1;
        self.spanning += u64::from(record.fields.iter().any(|(_, value)| value.contains('\n')));
        self.job_ids.extend(record.get("JOBID").map(str::to_owned));
        let Some(event) = to_event(record, at, &mut self.problems) else {
            assert_eq!(record.kind, "Meta", "a record without an event: {record:?}");
            return;
        };
        *self.kinds.entry(format!("{:?}", event.kind)).or_default() += 1;
        let fields = event.fields;
        if matches!(event.kind, EventKind::AttemptFinished | EventKind::AttemptUnsuccessful) {
            let status = fields.status.as_deref().unwrap_or_default().replace("SUCCEEDED", "SUCCESS");
            *self.attempt_ends.entry(status).or_default() += 1;
            assert!(fields.finish_time.is_some() && fields.host.is_some());
        }
        if matches!(event.kind, EventKind::AttemptStarted | EventKind::TaskStarted) {
            assert!(fields.start_time.is_some() && fields.task_type.is_some());
        }
        for host in [&fields.host, &fields.rack].into_iter().flatten() {
            assert!(!host.contains(['\\', ':', '"']), "{host}");
        }
    }

    fn conf(&mut self, job_id: &str, conf: Conf) {
        assert_eq!(conf.len(), 1);
        self.confs.push(job_id.to_owned());
    }
}

fn tally(bytes: &[u8]) -> (Tally, Ending) {
    let mut tally = Tally::default();
    let ending = read(ByteWindow::new(bytes), &mut tally);
    (tally, ending)
}

#[test]
fn every_history_has_the_independently_counted_records() {
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    let files = elephant_testing::listed(&corpus, "hadoop1-history");
    assert!(!files.is_empty());
    for file in files {
        let name = file.path.display();
        let bytes = elephant_testing::contents(&file.path);
        let (tally, ending) = tally(&bytes);
        let sorted = |title: &str| file.counts(title).into_iter().collect::<BTreeMap<_, _>>();
        assert_eq!(tally.records, sorted("records"), "{name}");
        assert_eq!(tally.attempt_ends, sorted("attempt ends"), "{name}");
        assert_eq!(Some(tally.attempt_ends.values().sum()), file.tasks, "{name}");
        assert_eq!(Some(tally.job_ids.len() as u64), file.count("jobs"), "{name}");
        let spanning = file.note.split("; ").find_map(|part| part.strip_suffix(" records spanning lines"));
        assert_eq!(tally.spanning, spanning.map_or(0, |count| count.parse().unwrap()), "{name}");
        assert!(
            !ending.truncated && ending.problems.is_empty() && tally.problems.is_empty(),
            "{name}: {ending:?}"
        );
    }
}

#[test]
fn counters_of_every_history_are_read_without_problems() {
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    for file in elephant_testing::listed(&corpus, "hadoop1-history") {
        let bytes = elephant_testing::contents(&file.path);
        let parsed = parse(ByteWindow::new(&bytes[..]));
        let known = ["bad-counters", "bad-number", "broken-record", "truncated", "unknown-record"];
        let problems = parsed.problems.into_vec();
        assert!(problems.iter().all(|p| !known.contains(&&*p.code)), "{}: {problems:?}", file.path.display());
        assert!(!parsed.applications.is_empty());
    }
}

#[test]
fn job_tracker_log_contains_jobs_and_configurations() {
    let Some(path) =
        elephant_testing::shared("corpus/hadoop1-history/apache__hadoop-common/sample-job-tracker-logs")
    else {
        return;
    };
    let bytes = elephant_testing::contents(&path);
    let parsed = parse(ByteWindow::new(&bytes[..]));
    assert_eq!(parsed.applications.len(), 4);
    let confs: Vec<_> = parsed.confs.iter().map(|(job, conf)| (job.as_str(), conf.len())).collect();
    let expected = ["1", "2", "3", "4"].map(|n| (format!("job_200904211745_000{n}"), 1));
    assert_eq!(confs, expected.each_ref().map(|(job, count)| (job.as_str(), *count)));
    let (tally, _) = tally(&bytes);
    let ends = ["JobFinished", "JobUnsuccessful"].map(|kind| tally.kinds.get(kind).copied());
    assert_eq!(ends, [Some(2), Some(1)]);
}

#[test]
fn truncated_archive_gives_the_records_before_the_cut() {
    let Some(path) =
        elephant_testing::shared("corpus/hadoop1-history/apache__hadoop-common/v20-single-input-log.gz")
    else {
        return;
    };
    let whole = elephant_testing::contents(&path);
    let packed = std::fs::read(&path).unwrap();
    let half = flate2::read::GzDecoder::new(&packed[..packed.len() / 2]);
    let mut tally = Tally::default();
    let ending = read(ByteWindow::new(half), &mut tally);
    assert!(ending.truncated);
    let codes: Vec<_> = ending.problems.into_vec().into_iter().map(|p| (p.known_code(), p.count)).collect();
    assert_eq!(codes, [("truncated", 1)]);
    let read: u64 = tally.records.values().sum();
    assert!(read > 10 && read < 100, "{read} of 100 records");
    let mut unpacked = Vec::new();
    let _ = flate2::read::GzDecoder::new(&packed[..packed.len() / 2]).read_to_end(&mut unpacked);
    assert!(whole.starts_with(&unpacked));
}

#[test]
fn histories_are_distinguished_from_other_files() {
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    for path in elephant_testing::files_below(&corpus) {
        let expected = path.starts_with(corpus.join("hadoop1-history"));
        let bytes = if expected { elephant_testing::contents(&path) } else { std::fs::read(&path).unwrap() };
        let head = bytes.get(..64 << 10).unwrap_or(&bytes);
        assert_eq!(looks_like_history(head), expected, "{}", path.display());
    }
}
