//! Targets for complete runs: bytes as a file, analyzed, surveyed, and written in every format.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use elephant_analysis::metrics::Metrics;
use elephant_base::severity::Severity;
use elephant_engine::baseline::{Baseline, Tolerance, compare, update};
use elephant_engine::diff::{self, Side};
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::Report;
use elephant_engine::{nodes, survey};
use elephant_input::codec::Codec;
use elephant_input::kind::SourceKind;
use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_parse::spark::{self, Completeness, Feed, Log, Names};
use elephant_parse::{hadoop1, jhist};
use elephant_report::stragglers::{self as stragglers_report, Shown, Table};
use elephant_report::{Format, TextOptions, nodes as nodes_report};
use elephant_ruleset::{RuleFile, RuleSet};
use elephant_verdict::charts::Charts;
use serde_json::Value;

use super::samples;

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

/// Evaluates a log in memory: rules, metrics, charts and surveys of each application.
pub fn judge(bytes: &[u8]) {
    let parsed = match elephant_parse::identify(bytes, true) {
        Some(SourceKind::JhistJson) => jhist::json::parse(ByteWindow::new(bytes)),
        Some(SourceKind::JhistBinary) => jhist::avro::parse(ByteWindow::new(bytes)),
        Some(SourceKind::Hadoop1History) => hadoop1::parse(ByteWindow::new(bytes)),
        Some(SourceKind::TezJson | SourceKind::TezProto) => elephant_parse::tez::parse(bytes),
        Some(SourceKind::Answers) => elephant_parse::answers::parse(bytes),
        Some(SourceKind::SparkEventLog) => {
            let open = || Ok(Feed::Stream(Box::new(Cursor::new(bytes.to_vec()))));
            let parts = vec![spark::Part { name: "log".to_owned(), open: Box::new(open) }];
            spark::parse(&Log { parts, names: Names::default(), completeness: Completeness::default() })
        }
        _ => return,
    };
    for app in &parsed.applications {
        judge_application(app);
    }
}

fn judge_application(app: &Application) {
    let rules = samples::rules();
    let evaluation = rules.evaluate(app);
    assert_consistent(&rules.measure(app));
    let _ = Charts::of(app, rules, &evaluation.findings);
    let _ = survey::ApplicationStragglers::of(app, &[], &survey::Settings::default(), None);
    let _ = nodes::collect::Sample::of(
        app,
        &nodes::collect::Hosts::default(),
        &nodes::settings::Settings::default(),
        &elephant_engine::conditions::Conditions::default(),
    );
}

fn assert_consistent(metrics: &Metrics) {
    if let (Some(wasted), Some(used)) = (metrics.wasted, metrics.used) {
        assert!(wasted <= used, "wasted {wasted:?} of {used:?}");
    }
}

/// Runs `analyze`, `check` and `diff` on a file with these bytes, in all formats. The compressed file must
/// give the same report.
pub fn whole(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history");
    let mut report = analyzed(&path, bytes);
    let json = rendered(&report, Format::Json);
    if Codec::from_magic(bytes) == Codec::Plain && report.summary.applications > 0 {
        let packed = rendered(&analyzed(&path, &gzipped(bytes)), Format::Json);
        super::same::assert_same("the compressed file gives a different report", &json, &packed);
    }

    let side = Side::of(&report);
    let same = diff::diff(&side, &side, diff::Options::default());
    assert!(
        same.only_a.is_empty() && same.only_b.is_empty(),
        "an application has no counterpart in its own report"
    );

    let accepted = Baseline::default();
    let comparison = compare(&report, &accepted, &Tolerance::default());
    let accepted = update(&accepted, &report, &comparison, false);
    let text = accepted.to_yaml().expect("a baseline can be written");
    let accepted = Baseline::parse(Path::new("baseline"), &text).expect("the written baseline can be read");
    let comparison = compare(&report, &accepted, &Tolerance::default());
    assert!(!comparison.is_worse(Some(Severity::Low), true), "an accepted finding counts as worse: {text}");
    report.comparison = Some(comparison);
    for format in FORMATS {
        let text = rendered(&report, format);
        match format {
            Format::Json | Format::Sarif => assert_json(&text),
            Format::Ndjson => text.lines().for_each(assert_json),
            Format::Junit => assert_xml(&text),
            Format::Openmetrics => assert!(text.ends_with("# EOF\n")),
            _ => {}
        }
    }
}

/// Runs `stragglers` and `nodes` on a file with these bytes, in all formats.
pub fn surveys(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let paths = [folder.path().join("history")];
    std::fs::write(&paths[0], bytes).expect("a temporary file");
    let (options, shown) = (TextOptions::default(), Shown::default());

    let survey =
        survey::report(&paths, &survey::Settings { sweep: true, ..survey::Settings::default() }, None);
    assert_utf8(|out| stragglers_report::write_text(&survey, options, shown, out));
    assert_json(&assert_utf8(|out| stragglers_report::write_json(&survey, shown, out)));
    for table in [Table::Stragglers, Table::Detectors, Table::Applications] {
        assert_utf8(|out| stragglers_report::write_csv(&survey, table, shown, out));
    }

    // Small enough for a short log.
    let settings = nodes::settings::Settings {
        min_group: 2,
        min_node_tasks: 2,
        min_day_tasks: 1,
        ..nodes::settings::Settings::default()
    };
    let ranking = nodes::report(&paths, settings);
    assert_utf8(|out| nodes_report::write_text(&ranking, options, None, out));
    assert_json(&assert_utf8(|out| nodes_report::write_json(&ranking, None, out)));
    assert_utf8(|out| nodes_report::write_csv(&ranking, None, out));
    assert_utf8(|out| nodes_report::write_exclude_list(&ranking, out));
}

fn analyzed(path: &PathBuf, bytes: &[u8]) -> Report {
    std::fs::write(path, bytes).expect("a temporary file");
    let options = Options { min_severity: Severity::None, details: true, charts: 1, ..Options::default() };
    analyze(std::slice::from_ref(path), rules_except_log_size(), options)
}

/// All rules except the one about the size of the file.
fn rules_except_log_size() -> &'static RuleSet {
    static RULES: OnceLock<RuleSet> = OnceLock::new();
    RULES.get_or_init(|| {
        let text = "rule: spark-event-log-limit\nenabled: false\n".to_owned();
        RuleSet::with_files(
            elephant_heuristics::BUILT_IN,
            &[RuleFile { name: "rules.yaml".to_owned(), text }],
        )
        .expect("the rules are valid")
    })
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("writing to memory succeeds");
    encoder.finish().expect("writing to memory succeeds")
}

fn rendered(report: &Report, format: Format) -> String {
    assert_utf8(|out| elephant_report::write(report, format, TextOptions::default(), out))
}

fn assert_utf8(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("writing to memory succeeds");
    String::from_utf8(out).expect("all formats are UTF-8")
}

fn assert_json(text: &str) {
    if let Err(error) = serde_json::from_str::<Value>(text) {
        panic!("this is not JSON: {error}\n{text}");
    }
}

fn assert_xml(text: &str) {
    let mut reader = quick_xml::Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) => return,
            Ok(_) => {}
            Err(error) => panic!("this is not XML: {error}\n{text}"),
        }
    }
}
