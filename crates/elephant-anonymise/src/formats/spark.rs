//! Event logs of Spark: one JSON object on each line (`org.apache.spark.util.JsonProtocol`).

use std::io::{self, Read, Write};

use super::Dropped;
use super::json_lines::{self, Line};
use crate::json::{self, Context, Members, Numbers, Texts};
use crate::mask::{Mask, Meaning};

pub(super) fn event_log(
    mask: &mut Mask,
    bytes: &mut dyn Read,
    longest: usize,
    out: &mut dyn Write,
) -> io::Result<Dropped> {
    json_lines::copy(bytes, longest, out, |line, masked| {
        if line.trim_ascii().is_empty() {
            return Line::Blank;
        }
        let top = Context::of(Meaning::Word);
        let is_read = |text: &str| json::rewrite(mask, text, top, fields, masked).is_ok();
        if std::str::from_utf8(line).is_ok_and(is_read) { Line::Masked } else { Line::Damaged }
    })
}

const RDDS: Members = Members::Within("RDD Info");
const ACCUMULABLES: Members = Members::Within("Accumulables");
const METRICS: Members = Members::Within("metrics");
const PLAN: Members = Members::Within("sparkPlanInfo");
const STREAM: Members = Members::Within("stream");

/// The meaning of a field. The names of RDDs, of accumulables, of metrics and of queries have the same key.
fn fields(members: Members, key: &str) -> Option<Context> {
    match members {
        RDDS if key == "Name" => return Some(Context::of(Meaning::Plan)),
        ACCUMULABLES | METRICS if matches!(key, "Name" | "name") => {
            return Some(Context::of(Meaning::Message));
        }
        PLAN if key == "metadata" => return Some(Context::names(Meaning::Plan)),
        PLAN if key == "children" => return Some(Context::within(Meaning::Plan, "sparkPlanInfo")),
        STREAM if key == "metrics" => return Some(Context::names(Meaning::Figure)),
        _ => {}
    }
    field(key).or_else(|| text(key).map(Context::of))
}

/// Fields with times, settings, and objects in which keys have a meaning of their own.
fn field(key: &str) -> Option<Context> {
    Some(match key {
        "Timestamp"
        | "Submission Time"
        | "Completion Time"
        | "Launch Time"
        | "Finish Time"
        | "Getting Result Time"
        | "time"
        | "timestamp"
        | "Added Time"
        | "Removed Time"
        | "eventTime" => Context::TIME,
        "Spark Properties" | "Hadoop Properties" | "System Properties" | "Metrics Properties"
        | "JVM Information" | "Properties" | "modifiedConfigs" | "Attributes" => Context::SETTINGS,
        "Classpath Entries" => Context::names(Meaning::Path),
        "Log Urls" => Context { members: Members::Settings, ..Context::of(Meaning::Path) },
        "RDD Info" => Context::within(Meaning::Word, "RDD Info"),
        "Accumulables" | "Accumulator Updates" => Context::within(Meaning::Word, "Accumulables"),
        "sparkPlanInfo" => Context::within(Meaning::Plan, "sparkPlanInfo"),
        "metrics" | "sqlPlanMetrics" => Context::within(Meaning::Word, "metrics"),
        "sources" | "sourceStatuses" => Context::within(Meaning::Word, "stream"),
        "fallbackNodeToReason" => Context::names(Meaning::Message),
        "observedMetrics" | "customMetrics" => Context::names(Meaning::Figure),
        // Moments among durations, all as texts.
        "triggerDetails" => Context::names(Meaning::Time),
        "startOffset" | "endOffset" | "latestOffset" => Context::names(Meaning::Json),
        "progress" => {
            Context { texts: Texts::Of(Meaning::Json), numbers: Numbers::Kept, members: Members::Fields }
        }
        "Scope" => Context { texts: Texts::Scope, ..Context::of(Meaning::Word) },
        _ => return None,
    })
}

/// The meaning of a text.
fn text(key: &str) -> Option<Meaning> {
    Some(match key {
        "Event" | "Class Name" | "Declaring Class" | "Method Name" => Meaning::Class,
        "File Name" => Meaning::Source,
        "Spark Version" => Meaning::Version,
        "Host" | "host" | "Host Name" | "Hostname" | "hostname" => Meaning::Host,
        "User" | "user" => Meaning::User,
        "App Name" | "name" | "Name" | "appName" => Meaning::Title,
        "App ID" | "App Attempt ID" | "Executor ID" | "Executor Id" | "executorId" | "Block ID" | "id"
        | "runId" | "ID" | "Job Group" | "batchId" | "App Id" | "appId" => Meaning::Id,
        "Stage Name" | "Call Site" | "Callsite" | "description" | "Job Description" => Meaning::Site,
        "Details" | "details" | "Full Stack Trace" | "Stack Trace" => Meaning::Stack,
        "Message"
        | "Failure Reason"
        | "Loss Reason"
        | "Kill Reason"
        | "Description"
        | "Removed Reason"
        | "errorMessage"
        | "Exception"
        | "exception"
        | "Reason"
        | "jobTags"
        | "Job Tags"
        | "errorClassOnException"
        | "offsetDesc" => Meaning::Message,
        "simpleString" | "nodeName" | "physicalPlanDescription" => Meaning::Plan,
        "sqlText" => Meaning::Sql,
        "Value" | "Update" | "inputRowsPerSecond" | "processedRowsPerSecond" => Meaning::Figure,
        "Discovery Script" => Meaning::Path,
        _ => return None,
    })
}
