//! Where figures come from. The places that are told are looked up in the files, without our parsers.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use elephant_base::limits::Limits;
use elephant_base::units::{Bytes, Millis};
use elephant_engine::engine::{Options, analyze};
use elephant_engine::explain::{Explained, explain};
use elephant_engine::results::Report;
use elephant_explain::{Basis, Origin, Term, bases};
use elephant_rule::finding::Measure;
use elephant_ruleset::RuleSet;
use serde_json::Value;

fn explained(paths: &[PathBuf], which: &Explained) -> Report {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let mut report = analyze(paths, &rules, Options::default());
    explain(paths.into(), &rules, &Limits::default(), which, &mut report);
    report
}

fn recorded() -> Vec<PathBuf> {
    let testdata = elephant_testing::root().join("testdata");
    [Some(testdata), elephant_testing::shared("runs")].into_iter().flatten().collect()
}

/// Figures that have a row in the tables, but are computed in another way in some histories: without the time in which tasks
/// waited for others.
const NOT_ALWAYS: [(&str, &str); 3] = [
    ("reducer-time", "avg_run_time_ms"),
    ("reducer-time", "max_run_time_ms"),
    ("reducer-time", "min_run_time_ms"),
];

#[test]
fn figures_are_what_the_lines_of_their_history_add_up_to() {
    let mut told: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut other: BTreeSet<String> = BTreeSet::new();
    for app in &explained(&recorded(), &Explained::All).applications {
        let readable = matches!(app.engine.name(), "spark" | "mapreduce");
        for explanation in app.explanations.iter().filter(|it| it.unread.is_none() && readable) {
            let is_it = |it: &&elephant_rule::finding::Finding| {
                it.rule == explanation.rule && it.subject == explanation.subject
            };
            let finding = app.findings.iter().find(is_it).unwrap();
            assert_eq!(explanation.figures.len(), finding.evidence.len());
            for (figure, (key, measure)) in explanation.figures.iter().zip(&finding.evidence) {
                assert_eq!(figure.key, *key);
                let row = (explanation.rule.to_string(), key.to_string());
                let Some(Basis::Attempts(how, ..)) = bases(&row.0, &row.1).next() else { continue };
                match (&figure.origin, measure) {
                    (Origin::Attempts(_, value), Measure::Count(known)) => {
                        assert!(known.abs_diff(*value) <= 1);
                    }
                    (Origin::Attempts(_, value), Measure::Time(known)) => {
                        assert!(known.get().abs_diff(Millis::new(*value).get()) <= 1);
                    }
                    (Origin::Attempts(_, value), Measure::Size(known)) => {
                        assert!(known.get().abs_diff(Bytes::new(*value).get()) <= 1);
                    }
                    _ => {
                        let values = figure.values.first().map(|it| (it.count, it.sum));
                        if !NOT_ALWAYS.contains(&(row.0.as_str(), row.1.as_str())) {
                            other.insert(format!(
                                "{} {} {}: {how:?} {values:?} is not {measure:?}",
                                row.0, row.1, app.sources[0]
                            ));
                        }
                        continue;
                    }
                }
                *told.entry(row).or_default() += 1;
            }
        }
    }
    let shown: Vec<&String> = other.iter().take(60).collect();
    assert!(other.is_empty(), "{} others: {shown:#?}", other.len());
    assert!(told.len() > 40, "{told:?}");
}

/// The decoded bytes of a file, and of an archive's member.
fn decoded(file: &str) -> Option<Vec<u8>> {
    let path = Path::new(file);
    let packed = ["zst", "zstd", "lz4", "snappy", "lzf", "bz2", "tgz"];
    // A log that is still written has another ending behind that of its codec.
    let is_packed = file.rsplit('.').take(2).any(|ending| packed.contains(&ending));
    (path.is_file() && !is_packed).then(|| elephant_testing::contents(path))
}

/// The value under this path, with the time between two moments.
fn in_spark(line: &[u8], key: &str) -> Option<u64> {
    let event: Value = serde_json::from_slice(line).ok()?;
    let at = |path: &str| path.split('.').try_fold(&event, |object, key| object.get(key))?.as_i64();
    if let Some((end, start)) = key.split_once(" − ") {
        return u64::try_from(at(end)? - at(start)?).ok();
    }
    let each: Vec<u64> = key.split(" + ").filter_map(|path| u64::try_from(at(path)?).ok()).collect();
    (!each.is_empty()).then(|| each.iter().sum())
}

/// The sum of counters with these names in the text of an event of Hadoop: `{"name":"X",…,"value":1}`, or `(X)(…)(1)`.
fn in_hadoop(line: &str, key: &str) -> Option<u64> {
    let names: Vec<&str> =
        key.split(" + ").map(|name| name.strip_prefix("counters.").unwrap_or(name)).collect();
    let mut sum = None;
    let mut add = |value: u64| sum = Some(sum.unwrap_or(0) + value);
    for name in names.iter().filter(|name| !name.starts_with('*')) {
        let json = format!("\"name\":\"{name}\"");
        if let Some((_, rest)) = line.split_once(&json) {
            let (_, value) = rest.split_once("\"value\":")?;
            add(value.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()?);
        } else if let Some((_, rest)) = line.split_once(&format!("[({name})(")) {
            let (counter, _) = rest.split_once(")]")?;
            let (_, value) = counter.rsplit_once(")(")?;
            add(value.parse().ok()?);
        }
    }
    sum
}

#[test]
fn two_hundred_values_are_read_back_from_their_lines() {
    let report = explained(&recorded(), &Explained::All);
    let mut terms: Vec<Term> = Vec::new();
    for explanation in report.applications.iter().flat_map(|app| &app.explanations) {
        let of_figures = explanation.figures.iter().flat_map(|figure| &figure.values);
        terms.extend(of_figures.chain(&explanation.read).flat_map(|values| values.terms.iter().cloned()));
    }
    let number = |term: &Term| {
        let mut hasher = DefaultHasher::new();
        (&term.place.file, term.place.line, &term.key).hash(&mut hasher);
        hasher.finish()
    };
    terms.sort_by_cached_key(number);
    terms.dedup_by_key(|term| number(term));
    let mut read = 0;
    for term in &terms {
        let place = &term.place;
        let (Some(line), Some(byte)) = (place.line, place.byte) else { continue };
        let Some(bytes) = decoded(&place.file) else { continue };
        let (before, rest) = bytes.split_at(usize::try_from(byte).unwrap());
        let number = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
        assert_eq!(number, line, "{term:?}");
        let text = rest.split(|byte| *byte == b'\n').next().unwrap();
        let is_time_of_hadoop = term.key == "finishTime − startTime";
        let value = match in_spark(text, &term.key) {
            Some(value) => Some(value),
            None => in_hadoop(&String::from_utf8_lossy(text), &term.key),
        };
        if is_time_of_hadoop || term.key.contains('*') {
            // Its start stands in another event; the sum over unnamed file systems has no name of its own.
            continue;
        }
        assert_eq!(value, Some(term.value), "{term:?}");
        read += 1;
        if read == 200 {
            return;
        }
    }
    panic!("{read} of {} values could be read back", terms.len());
}

#[test]
fn settings_and_events_are_told_with_their_lines() {
    let testdata = elephant_testing::root().join("testdata/heuristics");
    let (mut settings, mut events) = (0, 0);
    for app in &explained(&[testdata], &Explained::All).applications {
        for explanation in &app.explanations {
            for setting in &explanation.settings {
                let Some(place) = &setting.place else { continue };
                let Some(bytes) = decoded(&place.file) else { continue };
                let rest = &bytes[usize::try_from(place.byte.unwrap()).unwrap()..];
                let line =
                    String::from_utf8_lossy(rest.split(|byte| *byte == b'\n').next().unwrap()).into_owned();
                assert!(line.contains(&setting.name), "{setting:?}");
                assert!(line.contains(setting.value.as_ref().unwrap()), "{setting:?}");
                settings += 1;
            }
            for event in &explanation.events {
                assert!(event.place.byte.is_some(), "{event:?}");
                events += 1;
            }
        }
    }
    assert!(settings >= 5 && events >= 100, "{settings} settings, {events} events");
}

#[test]
fn one_finding_is_explained_by_its_rule_and_subject() {
    let path = elephant_testing::root().join("testdata/heuristics/mapper-gc");
    let of = |subject: Option<&str>| Explained::Of {
        rule: "mapper-gc".to_owned(),
        subject: subject.map(str::to_owned),
    };
    let count = |which| {
        let report = explained(std::slice::from_ref(&path), &which);
        report.applications.iter().map(|app| app.explanations.len()).sum::<usize>()
    };
    assert!(count(of(None)) > 0);
    assert_eq!(count(of(Some("map"))), count(of(None)));
    assert_eq!(count(of(Some("reduce"))), 0);
}

#[test]
fn what_could_not_be_read_again_is_told() {
    let name = "job_1500000000000_0304-critical.jhist.gz";
    let whole = elephant_testing::contents(
        &elephant_testing::root().join("testdata/heuristics/mapper-gc").join(name),
    );
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("job.jhist");
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let told = |before: &[u8], after: Option<&[u8]>| -> BTreeSet<Option<String>> {
        std::fs::write(&path, before).unwrap();
        let paths = std::slice::from_ref(&path);
        let mut report = analyze(paths, &rules, Options::default());
        match after {
            Some(after) => std::fs::write(&path, after).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        explain(paths.into(), &rules, &Limits::default(), &Explained::All, &mut report);
        report.applications.iter().flat_map(|app| &app.explanations).map(|it| it.unread.clone()).collect()
    };
    assert_eq!(told(&whole, Some(&whole)), BTreeSet::from([None]));
    let cut = told(&whole, Some(&whole[..whole.len() / 2]));
    assert!(cut.iter().flatten().all(|why| why.contains("could not be read as a whole")), "{cut:?}");
    assert!(!cut.is_empty() && !cut.contains(&None), "{cut:?}");
    let gone = told(&whole, None);
    assert!(!gone.is_empty(), "{gone:?}");
    assert!(
        gone.iter().all(|why| why.as_ref().is_some_and(|why| why.contains("was not found again"))),
        "{gone:?}"
    );
}
