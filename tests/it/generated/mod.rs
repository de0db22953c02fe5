//! The generated histories for benchmarks: they have no findings, and every format gives the same report.

mod spark;
mod traces;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};

use elephant_rs::engine::{Options, analyze};
use elephant_rs::report::write_json;
use elephant_rs::results::Report;
use elephant_rs::rules::RuleSet;
use elephant_rs::severity::Severity;

use elephant_generate::mixed::{PER_FOLDER, write_folder};
use elephant_generate::spark::recorded::Recorded;
use elephant_generate::{Format, Job};

const JOB: Job = Job { maps: 50, reduces: 4 };

/// The report on the job in one format, as data and as JSON without the file path.
fn report(format: Format) -> (Report, String) {
    report_on(|out| format.write(JOB, out))
}

fn report_on(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> (Report, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.jhist");
    let mut out = BufWriter::new(File::create(&path).unwrap());
    write(&mut out).unwrap();
    drop(out);
    let options = Options { min_severity: Severity::None, ..Options::default() };
    let report = analyze(
        std::slice::from_ref(&path),
        &RuleSet::with_files(elephant_rs::rules::BUILT_IN, &[]).unwrap(),
        options,
    );
    let mut json = Vec::new();
    write_json(&report, &mut json).unwrap();
    let json = String::from_utf8(json).unwrap().replace(path.to_str().unwrap(), "job.jhist");
    fs::remove_file(path).unwrap();
    (report, json)
}

#[test]
fn every_format_is_read_completely_and_without_problems() {
    for format in [Format::AvroJson, Format::AvroBinary, Format::Hadoop1] {
        let (report, _) = report(format);
        assert_eq!(report.problems, [], "{}", format.name());
        let app = report.applications.first().unwrap();
        assert!(app.complete, "{}", format.name());
        assert_eq!(report.applications.len(), 1);
        let counts: Vec<u64> =
            app.metrics.tasks.iter().map(|(_, counts)| counts.unwrap().succeeded).collect();
        assert_eq!(counts, [u64::from(JOB.maps), u64::from(JOB.reduces)]);
    }
}

#[test]
fn repeated_recordings_are_complete_and_without_problems() {
    for recorded in [Recorded::Tasks, Recorded::Queries] {
        for times in [1, 3] {
            let (report, _) = report_on(|out| recorded.write(times, out));
            assert_eq!(report.problems, [], "{recorded:?}");
            let app = report.applications.first().unwrap();
            assert!(app.complete, "{recorded:?}");
            let counts = app.metrics.tasks.iter().map(|(_, counts)| counts.unwrap().succeeded);
            assert_eq!(counts.sum::<u64>(), u64::from(recorded.tasks() * times), "{recorded:?}");
        }
    }
}

#[test]
fn both_hadoop_3_encodings_give_the_same_report() {
    assert_eq!(report(Format::AvroJson).1, report(Format::AvroBinary).1);
}

#[test]
fn small_histories_of_all_kinds_are_read_without_problems() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("000003");
    write_folder(3, &place).unwrap();
    let report = analyze(
        &[place],
        &RuleSet::with_files(elephant_rs::rules::BUILT_IN, &[]).unwrap(),
        Options::default(),
    );
    assert_eq!(report.problems, []);
    assert_eq!(report.summary.applications, u64::from(PER_FOLDER));
    assert!(report.applications.iter().all(|app| app.complete));
    let ids: BTreeSet<&str> = report.applications.iter().map(|app| app.id.as_str()).collect();
    assert_eq!(ids.len(), report.applications.len());
    let (conf, _) = report.applications.iter().partition::<Vec<_>, _>(|app| app.sources.len() == 2);
    assert!((10..50).contains(&conf.len()), "{} jobs with a configuration", conf.len());
}
