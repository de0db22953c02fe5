//! Names that all formats of the survey share.

use elephant_analysis::stragglers::cause::{Cause, Confidence};
use elephant_analysis::stragglers::detect::{Parameter, Value};
use elephant_analysis::stragglers::executions::{Basis, Certainty};
use elephant_engine::survey::{GroupReport, Origin, SWEPT, WaitedFor};
use elephant_model::model::Engine;
use elephant_model::model::table::TaskKind;

/// "contention on the node, inferred".
pub(super) fn cause(cause: Cause, confidence: Option<Confidence>) -> String {
    let confidence = confidence.map(|confidence| format!(", {}", confidence.name())).unwrap_or_default();
    format!("{}{confidence}", cause.display_name())
}

/// "--conf spark.speculation=true", "-D mapreduce.map.speculative=true", "--hiveconf tez.am.speculation.enabled=true".
pub(super) fn setting(engine: Engine, name: &str, value: &str) -> String {
    let option = match engine {
        Engine::Spark => "--conf",
        Engine::MapReduce => "-D",
        Engine::Tez => "--hiveconf",
    };
    format!("{option} {name}={value}")
}

/// "Spark", "MapReduce", or the name of a trace.
pub(super) const fn engine(origin: Origin) -> &'static str {
    match origin {
        Origin::Engine(Engine::Spark) => "Spark",
        Origin::Engine(Engine::MapReduce) => "MapReduce",
        Origin::Engine(Engine::Tez) => "Tez",
        Origin::Trace(_) => origin.name(),
    }
}

/// "map task 7", "task 7 of stage 3.0", or in a trace "task 7 (priority 9)".
pub(super) fn task(waited_for: &WaitedFor) -> String {
    let number = waited_for.task.map(|number| format!(" {number}")).unwrap_or_default();
    if let Some(label) = &waited_for.label {
        return format!("task{number} ({label})");
    }
    match waited_for.group {
        TaskKind::Stage(stage) => format!("task{number} of stage {stage}"),
        TaskKind::Vertex(vertex) => format!("task{number} of vertex {vertex}"),
        kind => format!("{} task{number}", kind.name()),
    }
}

/// Seconds as milliseconds, to the microsecond.
pub(super) fn millis(seconds: f64) -> f64 {
    (1e6 * seconds).round() / 1e3
}

/// "map", "stage 3.0", "vertex 2".
pub(super) fn group(kind: TaskKind) -> String {
    match kind {
        TaskKind::Stage(stage) => format!("stage {stage}"),
        TaskKind::Vertex(vertex) => format!("vertex {vertex}"),
        kind => kind.name().to_owned(),
    }
}

/// The name of a group: its label in a trace, otherwise as [`group`].
pub(super) fn of(report: &GroupReport) -> String {
    report.label.clone().unwrap_or_else(|| group(report.kind))
}

pub(super) const fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Measured => "measured",
        Certainty::Estimated => "estimated",
        Certainty::AtLeast => "at-least",
    }
}

pub(super) const fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Wall => "wall",
        Basis::Run => "run",
    }
}

/// A detector's name, with the settings in which detectors of this name differ: `spark-sweep 0.75 1.5`.
pub(super) fn detector(id: &str, parameters: &[Parameter]) -> String {
    let differing = ["quantile", "multiplier"];
    let shown = parameters.iter().filter(|it| id == SWEPT && differing.contains(&it.name));
    shown.fold(id.to_owned(), |name, parameter| format!("{name} {}", value(parameter.value)))
}

/// "quantile=0.75 multiplier=1.5".
pub(super) fn parameters(parameters: &[Parameter]) -> String {
    let words: Vec<String> =
        parameters.iter().map(|parameter| format!("{}={}", parameter.name, value(parameter.value))).collect();
    words.join(" ")
}

fn value(value: Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Word(word) => word.to_owned(),
        Value::Flag(flag) => flag.to_string(),
    }
}
