//! One JSON object a line. `type` tells what it is; the ending of a key names its unit, and unknown values are `null`.

use std::io::{self, Write};

use serde::Serialize;

use super::super::json::{Tool, write_line};
use super::{Silent, group};
use elephant_analysis::stragglers::detect::Compared;
use elephant_base::units::Timestamp;
use elephant_engine::watch::{Flag, Identity, Told};

#[derive(Serialize)]
struct Begin<'a> {
    r#type: &'static str,
    schema_version: u32,
    tool: &'a Tool,
    detectors: Vec<&'static str>,
    silent: Vec<SilentView>,
}

/// A detector that needs data that event logs do not contain.
#[derive(Serialize)]
struct SilentView {
    id: &'static str,
    needs: &'static str,
}

#[derive(Serialize)]
struct Application<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    identity: IdentityView<'a>,
    source: String,
}

#[derive(Serialize)]
struct End<'a> {
    #[serde(flatten)]
    application: Application<'a>,
    ended_at: Option<String>,
}

#[derive(Serialize)]
struct IdentityView<'a> {
    application: Option<&'a str>,
    application_attempt: Option<&'a str>,
    name: Option<&'a str>,
    user: Option<&'a str>,
    started_at: Option<String>,
}

#[derive(Serialize)]
struct FlagView<'a> {
    r#type: &'static str,
    at: Option<String>,
    #[serde(flatten)]
    identity: IdentityView<'a>,
    group: String,
    group_name: Option<&'a str>,
    task: u32,
    task_attempt: Option<u32>,
    task_id: u64,
    node: Option<&'a str>,
    detector: &'static str,
    elapsed_ms: u64,
    expected_ms: Option<u64>,
    threshold: Option<Threshold>,
    known_until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    had_ended_at: Option<String>,
}

#[derive(Serialize)]
struct Threshold {
    measure: &'static str,
    value: f64,
    limit: f64,
}

#[derive(Serialize)]
struct Problem<'a> {
    r#type: &'static str,
    source: String,
    message: &'a str,
}

/// The first line: which detectors watch, and which cannot.
pub fn begin(active: &[&'static str], silent: &Silent, out: &mut dyn Write) -> io::Result<()> {
    let begin = Begin {
        r#type: "watch",
        schema_version: 1,
        tool: &Tool::THIS,
        detectors: active.to_vec(),
        silent: silent.iter().map(|(id, needs)| SilentView { id, needs: needs.name() }).collect(),
    };
    write_line(&begin, out)
}

/// One line.
pub fn write(told: &Told, out: &mut dyn Write) -> io::Result<()> {
    match told {
        Told::Application { identity, source } => {
            let source = source.clone();
            let identity = self::identity(identity);
            write_line(&Application { r#type: "application", identity, source }, out)
        }
        Told::End { identity, source, at } => {
            let source = source.clone();
            let application = Application { r#type: "end", identity: self::identity(identity), source };
            write_line(&End { application, ended_at: time(*at) }, out)
        }
        Told::Problem { source, message } => {
            write_line(&Problem { r#type: "problem", source: source.clone(), message }, out)
        }
        Told::Flag(told) => write_line(&flag(told), out),
    }
}

fn flag(flag: &Flag) -> FlagView<'_> {
    let (flagged, launch) = (&flag.flagged, &flag.flagged.launch);
    FlagView {
        r#type: if flag.had_ended.is_some() { "withdrawn" } else { "flag" },
        at: flagged.at.to_rfc3339(),
        identity: identity(&flag.application),
        group: group(flag.group),
        group_name: flag.group_name.as_deref(),
        task: launch.task,
        task_attempt: launch.attempt,
        task_id: launch.id,
        node: launch.host.as_deref(),
        detector: flag.detector,
        elapsed_ms: flagged.elapsed.get(),
        expected_ms: flagged.median.map(elephant_base::units::Millis::get),
        threshold: flagged.compared.map(|Compared { measure, value, limit }| Threshold {
            measure,
            value,
            limit,
        }),
        known_until: time(flag.known_until),
        had_ended_at: time(flag.had_ended),
    }
}

fn identity(identity: &Identity) -> IdentityView<'_> {
    IdentityView {
        application: identity.id.as_deref(),
        application_attempt: identity.attempt.as_deref(),
        name: identity.name.as_deref(),
        user: identity.user.as_deref(),
        started_at: time(identity.started_at),
    }
}

fn time(at: Option<Timestamp>) -> Option<String> {
    at.and_then(Timestamp::to_rfc3339)
}
