//! The same bytes out for any number of threads: all commands over all histories at hand, in all formats.

// Helpers of tests are not tests to clippy.
#![allow(clippy::unwrap_used)]

mod common;

use std::io;
use std::path::{Path, PathBuf};

use common::shared;
use elephant_rs::engine::{self, Options};
use elephant_rs::nodes;
use elephant_rs::report::nodes as nodes_report;
use elephant_rs::report::stragglers::{self as stragglers_report, Shown, Table};
use elephant_rs::report::{Format, TextOptions, write};
use elephant_rs::rules::RuleSet;
use elephant_rs::severity::Severity;
use elephant_rs::stragglers::survey;

/// A thread alone, as many as this machine may have, and more than it has.
const THREADS: [usize; 3] = [1, 2, 8];

const FORMATS: [Format; 9] = [
    Format::Text,
    Format::Json,
    Format::Html,
    Format::Ndjson,
    Format::Csv,
    Format::Markdown,
    Format::Sarif,
    Format::Junit,
    Format::Openmetrics,
];

/// A report's format, and its bytes.
type Printed = (String, Vec<u8>);

/// What comes with the project, and what lies beside it.
fn histories() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    ["corpus", "runs"].into_iter().filter_map(shared).chain([own]).collect()
}

fn printed(format: impl Into<String>, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Printed {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    (format.into(), bytes)
}

/// Fails with the first line that differs from what one thread printed.
fn assert_same_bytes(command: impl Fn(&[PathBuf]) -> Vec<Printed> + Sync) {
    let histories = histories();
    let mut by_threads = THREADS.into_iter().map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        (threads, pool.install(|| command(&histories)))
    });
    let (_, expected) = by_threads.next().unwrap();
    // Reports that say nothing always agree. The list of nodes to exclude may be empty.
    assert!(expected.iter().take(3).all(|(_, bytes)| bytes.len() > 10_000));
    for (threads, reports) in by_threads {
        for ((format, one), (_, many)) in expected.iter().zip(&reports) {
            let mut lines = one.split(|&byte| byte == b'\n').zip(many.split(|&byte| byte == b'\n'));
            let differing = lines.find(|(one, many)| one != many).map(|(one, many)| {
                format!("1 thread: {}\n{threads}: {}", one.escape_ascii(), many.escape_ascii())
            });
            assert_eq!(differing, None, "{format}");
            assert!(one == many, "{format} of {threads} threads goes on behind that of one");
        }
    }
}

#[test]
fn analyze_prints_the_same() {
    let rules = RuleSet::with_files(&[]).unwrap();
    // Charts for some: which these are must not depend on who came first.
    let options = Options { min_severity: Severity::None, details: true, charts: 20, ..Options::default() };
    assert_same_bytes(|histories| {
        let report = engine::analyze(histories, &rules, options);
        let print = |format| {
            printed(format!("{format:?}"), |out| write(&report, format, TextOptions::default(), out))
        };
        FORMATS.map(print).into()
    });
}

#[test]
fn the_worst_applications_are_the_same() {
    let rules = RuleSet::with_files(&[]).unwrap();
    let options = Options { top: Some(7), charts: 3, ..Options::default() };
    assert_same_bytes(|histories| {
        let report = engine::analyze(histories, &rules, options);
        [Format::Json, Format::Html]
            .map(|format| {
                printed(format!("{format:?}"), |out| write(&report, format, TextOptions::default(), out))
            })
            .into()
    });
}

#[test]
fn stragglers_prints_the_same() {
    let settings = survey::Settings::default();
    let (text, shown) = (TextOptions::default(), Shown { applications: None, stragglers: None });
    assert_same_bytes(|histories| {
        let report = survey::report(histories, &settings, None);
        let csv =
            |name: &str, table| printed(name, |out| stragglers_report::write_csv(&report, table, shown, out));
        vec![
            printed("text", |out| stragglers_report::write_text(&report, text, shown, out)),
            printed("json", |out| stragglers_report::write_json(&report, shown, out)),
            csv("csv", Table::Stragglers),
            csv("csv of detectors", Table::Detectors),
            csv("csv of applications", Table::Applications),
        ]
    });
}

#[test]
fn nodes_prints_the_same() {
    assert_same_bytes(|histories| {
        let report = nodes::report(histories, nodes::settings::Settings::default());
        vec![
            printed("text", |out| nodes_report::write_text(&report, TextOptions::default(), None, out)),
            printed("json", |out| nodes_report::write_json(&report, None, out)),
            printed("csv", |out| nodes_report::write_csv(&report, None, out)),
            printed("exclude list", |out| nodes_report::write_exclude_list(&report, out)),
        ]
    });
}
