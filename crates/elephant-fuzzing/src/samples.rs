//! A small application of each engine, and their reports.

use std::io::{Cursor, Read};
use std::sync::OnceLock;

use elephant_base::severity::Severity;
use elephant_engine::diff::Side;
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::Report;
use elephant_input::codec;
use elephant_input::kind::SourceKind;
use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_parse::jhist;
use elephant_parse::spark::{self, Completeness, Feed, Log, Names};
use elephant_ruleset::RuleSet;

const MAPREDUCE: &[u8] =
    include_bytes!("../../../testdata/heuristics/mapper-memory/job_1500000000000_0904-critical.jhist.gz");
const SPARK: &[u8] = include_bytes!(
    "../../../testdata/heuristics/spark-stage-metrics/application_1700000000000_0104-run-time-critical.gz"
);

const QUERIES: &[u8] = include_bytes!("../../elephant-engine/tests/plans/broadcast.zstd");

/// The built-in rules.
pub fn rules() -> &'static RuleSet {
    static RULES: OnceLock<RuleSet> = OnceLock::new();
    RULES.get_or_init(|| RuleSet::new(elephant_heuristics::BUILT_IN).expect("the built-in rules are valid"))
}

/// A MapReduce job, a Spark application, and one with queries.
pub fn applications() -> &'static [Application; 3] {
    static APPLICATIONS: OnceLock<[Application; 3]> = OnceLock::new();
    APPLICATIONS.get_or_init(|| {
        let mapreduce = jhist::json::parse(ByteWindow::new(decoded(Cursor::new(MAPREDUCE))));
        let spark = |log: &'static [u8]| {
            let open = move || Ok(Feed::Stream(Box::new(decoded(Cursor::new(log)))));
            let parts = vec![spark::Part { name: "log".to_owned(), open: Box::new(open) }];
            spark::parse(&Log { parts, names: Names::default(), completeness: Completeness::default() })
        };
        [mapreduce, spark(SPARK), spark(QUERIES)]
            .map(|parsed| parsed.applications.into_iter().next().expect("the sample is complete"))
    })
}

/// The reports of the rules about them.
pub fn reports() -> &'static [Report; 2] {
    static REPORTS: OnceLock<[Report; 2]> = OnceLock::new();
    REPORTS.get_or_init(|| {
        [MAPREDUCE, SPARK].map(|bytes| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("history");
            std::fs::write(&path, bytes).expect("a temporary file");
            analyze(
                &[path],
                rules(),
                Options { min_severity: Severity::None, details: true, ..Options::default() },
            )
        })
    })
}

/// The reports as sides of a comparison.
pub fn sides() -> &'static [Side; 2] {
    static SIDES: OnceLock<[Side; 2]> = OnceLock::new();
    SIDES.get_or_init(|| reports().each_ref().map(Side::of))
}

fn decoded(bytes: impl Read + Send + 'static) -> impl Read + Send {
    codec::decode(Box::new(bytes))
}

/// All bytes of a file that may be compressed.
pub fn unpacked(file: impl Read + Send + 'static) -> Vec<u8> {
    let mut bytes = Vec::new();
    decoded(file).read_to_end(&mut bytes).expect("the file is readable");
    bytes
}

/// The target whose input looks like these bytes: one of the four histories, or a configuration.
pub fn target_of(bytes: &[u8]) -> Option<&'static str> {
    Some(match elephant_parse::identify(bytes, true)? {
        SourceKind::JobConf => "jobconf",
        SourceKind::GcLog => "gc_log",
        SourceKind::JhistJson => "jhist_json",
        SourceKind::JhistBinary => "jhist_binary",
        SourceKind::Hadoop1History => "hadoop1",
        SourceKind::Answers => "answers",
        kind if kind.is_of_tez() => "tez",
        kind if kind.is_history() => "spark",
        _ => return None,
    })
}
