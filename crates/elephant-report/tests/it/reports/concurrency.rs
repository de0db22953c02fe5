//! Output is identical for any number of threads: commands on all available histories, and all formats on the bundled
//! histories.

use std::io;
use std::path::PathBuf;

use elephant_base::severity::Severity;
use elephant_engine::engine::{self, Options};
use elephant_engine::nodes;
use elephant_engine::survey;
use elephant_report::nodes as nodes_report;
use elephant_report::stragglers::{self as stragglers_report, Shown, Table};
use elephant_report::{Format, TextOptions, write};
use elephant_ruleset::RuleSet;

use elephant_testing::shared;

/// One thread, as many as a small machine has, and more than it has.
const THREADS: [usize; 3] = [1, 2, 8];
/// For slow tests.
const FEW_OR_MANY: [usize; 2] = [1, 8];

/// The name of a format, and the bytes printed in it.
type Printed = (String, Vec<u8>);

/// The bundled histories.
fn own() -> Vec<PathBuf> {
    vec![elephant_testing::root().join("testdata")]
}

/// The bundled histories and the shared test material.
fn all() -> Vec<PathBuf> {
    ["corpus", "runs"].into_iter().filter_map(shared).chain(own()).collect()
}

fn printed(format: impl Into<String>, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Printed {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    (format.into(), bytes)
}

/// Panics with the first line that differs from the output of one thread.
fn assert_same_bytes(threads: &[usize], command: impl Fn() -> Vec<Printed> + Sync) {
    let mut by_threads = threads.iter().map(|&threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        (threads, pool.install(&command))
    });
    let (_, expected) = by_threads.next().unwrap();
    // Reports without content would always agree.
    assert!(expected.first().is_some_and(|(_, bytes)| bytes.len() > 10_000));
    for (threads, reports) in by_threads {
        for ((format, one), (_, many)) in expected.iter().zip(&reports) {
            let mut lines = one.split(|&byte| byte == b'\n').zip(many.split(|&byte| byte == b'\n'));
            let differing = lines.find(|(one, many)| one != many).map(|(one, many)| {
                format!("1 thread: {}\n{threads}: {}", one.escape_ascii(), many.escape_ascii())
            });
            assert_eq!(differing, None, "{format}");
            assert!(one == many, "{format}: {threads} threads print more or less than one");
        }
    }
}

/// The output of `analyze` in these formats.
fn analyses(histories: &[PathBuf], options: Options, formats: &[Format]) -> Vec<Printed> {
    let report = engine::analyze(
        histories,
        &RuleSet::with_files(elephant_heuristics::BUILT_IN, &[]).unwrap(),
        options,
    );
    let print = |&format: &Format| {
        printed(format!("{format:?}"), |out| write(&report, format, TextOptions::default(), out))
    };
    formats.iter().map(print).collect()
}

#[test]
fn analyze_prints_the_same() {
    // Only some applications get charts; the selection must not depend on which finished first.
    let options = Options { min_severity: Severity::None, details: true, charts: 20, ..Options::default() };
    assert_same_bytes(&THREADS, || analyses(&all(), options.clone(), &[Format::Json, Format::Html]));
}

#[test]
fn analyze_prints_the_same_in_the_other_formats() {
    let formats =
        [Format::Text, Format::Csv, Format::Markdown, Format::Sarif, Format::Junit, Format::Openmetrics];
    assert_same_bytes(&THREADS, || analyses(&own(), Options::default(), &formats));
}

#[test]
fn worst_applications_are_the_same() {
    let options = Options { top: Some(7), charts: 3, ..Options::default() };
    assert_same_bytes(&THREADS, || analyses(&own(), options.clone(), &[Format::Json, Format::Html]));
}

#[test]
fn worst_applications_are_selected_from_all() {
    let rules = RuleSet::with_files(elephant_heuristics::BUILT_IN, &[]).unwrap();
    let json = |report: &elephant_engine::results::Report| {
        printed("json", |out| write(report, Format::Json, TextOptions::default(), out)).1
    };
    let whole = engine::analyze(&own(), &rules, Options::default());
    for top in [0, 1, 2, 5, 30, 10_000] {
        let mut narrowed = whole.clone();
        narrowed.narrow(Severity::Low, Some(top));
        let kept = engine::analyze(&own(), &rules, Options { top: Some(top), ..Options::default() });
        assert_eq!(kept.applications.len(), top.min(whole.applications.len()));
        assert!(json(&kept) == json(&narrowed), "--top {top}");
    }
}

#[test]
fn stragglers_prints_the_same() {
    let settings = survey::Settings { replay: false, ..survey::Settings::default() };
    let (text, shown) = (TextOptions::default(), Shown { applications: None, stragglers: None });
    assert_same_bytes(&FEW_OR_MANY, || {
        let report = survey::report(&all(), &settings, None);
        vec![
            printed("json", |out| stragglers_report::write_json(&report, shown, out)),
            printed("text", |out| stragglers_report::write_text(&report, text, shown, out)),
        ]
    });
}

#[test]
fn detectors_find_the_same() {
    let shown = Shown { applications: None, stragglers: None };
    assert_same_bytes(&FEW_OR_MANY, || {
        let report = survey::report(&own(), &survey::Settings::default(), None);
        let csv =
            |name: &str, table| printed(name, |out| stragglers_report::write_csv(&report, table, shown, out));
        vec![
            printed("json", |out| stragglers_report::write_json(&report, shown, out)),
            csv("csv", Table::Stragglers),
            csv("csv of detectors", Table::Detectors),
            csv("csv of applications", Table::Applications),
        ]
    });
}

#[test]
fn nodes_prints_the_same() {
    assert_same_bytes(&FEW_OR_MANY, || {
        let report = nodes::report(&all(), nodes::settings::Settings::default());
        vec![
            printed("json", |out| nodes_report::write_json(&report, None, out)),
            printed("text", |out| nodes_report::write_text(&report, TextOptions::default(), None, out)),
            printed("csv", |out| nodes_report::write_csv(&report, None, out)),
            printed("exclude list", |out| nodes_report::write_exclude_list(&report, out)),
        ]
    });
}
