//! No line of a text report is wider than the terminal, from 40 columns on.

use std::path::PathBuf;

use elephant_rs::diff::{self, Side};
use elephant_rs::engine::{Options, analyze};
use elephant_rs::report::whatif::WhatIfFormat;
use elephant_rs::report::{self, DiffFormat, TextOptions};
use elephant_rs::results::Report;
use elephant_rs::rules::RuleSet;
use elephant_rs::{nodes, survey, whatif};
use unicode_width::UnicodeWidthStr;

const WIDTHS: [usize; 4] = [40, 60, 80, 120];

/// Whether a line consists of something that must not be broken: one word, or one argument to paste.
fn is_unbreakable(line: &str) -> bool {
    let line = line.trim();
    let line = line.strip_prefix("→ ").unwrap_or(line);
    let line = line.strip_suffix(" \\").unwrap_or(line);
    let argument = line.strip_prefix("--conf ").or_else(|| line.strip_prefix("-D "));
    let quoted = argument.is_some_and(|argument| argument.starts_with('\'') && argument.ends_with('\''));
    quoted || !argument.unwrap_or(line).contains(' ')
}

/// Writes a report in all widths, with and without details.
fn check(name: &str, write: impl Fn(TextOptions, &mut Vec<u8>)) {
    for columns in WIDTHS {
        for details in [false, true] {
            let mut text = Vec::new();
            write(TextOptions { columns, details, ..TextOptions::default() }, &mut text);
            let text = String::from_utf8(text).unwrap();
            assert!(!text.is_empty());
            let too_wide = |line: &&str| line.width() > columns && !is_unbreakable(line);
            let wide: Vec<&str> = text.lines().filter(too_wide).collect();
            assert!(wide.is_empty(), "{name} at {columns}, details {details}: {wide:#?}");
        }
    }
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(|path| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).collect()
}

fn analyzed(folder: &str) -> Report {
    analyze(&paths(&[folder]), &RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(), Options::default())
}

#[test]
fn the_report_of_analyze_fits() {
    let all = analyzed("testdata");
    check("analyze", |options, out| report::write_text(&all, options, out).unwrap());
    let one = analyzed("testdata/hadoop1");
    check("analyze one", |options, out| report::write_text(&one, options, out).unwrap());
}

#[test]
fn the_report_of_diff_fits() {
    let sides =
        ["testdata/spark/3.5.9/skew", "testdata/spark/3.5.9/gc", "testdata/done", "testdata/heuristics"]
            .map(|folder| Side::of(&analyzed(folder)));
    let [skew, gc, done, heuristics] = &sides;
    for (a, b) in [(skew, gc), (done, done), (done, heuristics)] {
        let both = diff::diff(a, b, diff::Options::default());
        check("diff", |options, out| report::write_diff(&both, DiffFormat::Text, options, out).unwrap());
    }
}

#[test]
fn the_reports_on_tasks_fit() {
    let folders = paths(&["testdata/spark/3.5.9", "testdata/done", "testdata/heuristics"]);
    let survey = survey::report(&folders, &survey::Settings::default(), None);
    let shown = report::stragglers::Shown::default();
    check("stragglers", |options, out| {
        report::stragglers::write_text(&survey, options, shown, out).unwrap();
    });
    let ranking =
        nodes::report(&folders, nodes::Settings { min_node_tasks: 5, ..nodes::Settings::default() });
    check("nodes", |options, out| report::nodes::write_text(&ranking, options, None, out).unwrap());
    let replays = whatif::report(
        &folders,
        &RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(),
        &whatif::Settings::default(),
    );
    check("whatif", |options, out| {
        report::whatif::write(&replays, WhatIfFormat::Text, options, None, out).unwrap();
    });
}
