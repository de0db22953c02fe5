//! What records tell about an application, a DAG, a vertex, a task or an attempt.
//!
//! Source: `org.apache.tez.common.ATSConstants`. All three forms use the same keys; in the protobuf form every value is a
//! string, and counters and plans are JSON in a string.

use serde_json::{Map, Value};

use super::counters::RawCounters;
use crate::json_value::whole;
use crate::reading::{MAX_TEXT_LEN, truncate};

/// The facts of one record, or of all records about one thing.
#[derive(Debug, Default)]
pub(super) struct Info {
    pub(super) status: Option<String>,
    pub(super) init: Option<i64>,
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) creation: Option<i64>,
    /// The first time of anything that happened to it (`starttime` of the timeline server).
    pub(super) first: Option<i64>,
    pub(super) tasks: Option<u64>,
    /// The name of a DAG or of a vertex.
    pub(super) name: Option<String>,
    pub(super) processor: Option<String>,
    pub(super) successful_attempt: Option<String>,
    pub(super) node: Option<String>,
    pub(super) container: Option<String>,
    pub(super) error: Option<String>,
    pub(super) diagnostics: Option<String>,
    pub(super) caller_id: Option<String>,
    pub(super) caller_type: Option<String>,
    pub(super) application_id: Option<String>,
    pub(super) queue: Option<String>,
    pub(super) user: Option<String>,
    pub(super) version: Option<String>,
    pub(super) query: Option<String>,
    pub(super) counters: Option<RawCounters>,
    pub(super) config: Vec<(String, String)>,
    /// Names and ids of vertices.
    pub(super) vertex_ids: Vec<(String, String)>,
    /// Names and processors of vertices, in the plan of the DAG.
    pub(super) plan: Vec<(String, String)>,
}

/// DAGs of real queries have at most a few hundred vertices.
pub(super) const MAX_VERTICES: usize = 10_000;

/// States in which nothing more happens.
const ENDS: [&str; 4] = ["SUCCEEDED", "FAILED", "KILLED", "ERROR"];

impl Info {
    /// Whether a key has a value that is kept; all others are skipped while reading.
    pub(super) fn keeps(key: &str) -> bool {
        matches!(
            key,
            "status"
                | "initTime"
                | "startTime"
                | "endTime"
                | "creationTime"
                | "numTasks"
                | "dagName"
                | "vertexName"
                | "processorClassName"
                | "processorClass"
                | "successfulAttemptId"
                | "nodeId"
                | "containerId"
                | "taskAttemptErrorEnum"
                | "diagnostics"
                | "callerId"
                | "callerType"
                | "applicationId"
                | "queueName"
                | "user"
                | "requestuser"
                | "tezVersion"
                | "query"
                | "QUERY"
                | "counters"
                | "config"
                | "vertexNameIdMapping"
                | "dagPlan"
        )
    }

    /// Takes the value of a key.
    pub(super) fn set(&mut self, key: &str, value: Value) {
        match key {
            "status" => self.set_status(text(value)),
            "initTime" => replace(&mut self.init, whole(&value)),
            "startTime" => replace(&mut self.start, whole(&value)),
            "endTime" => replace(&mut self.end, whole(&value)),
            "creationTime" => replace(&mut self.creation, whole(&value)),
            "numTasks" => replace(&mut self.tasks, whole(&value).and_then(|tasks| tasks.try_into().ok())),
            "dagName" | "vertexName" => replace(&mut self.name, text(value)),
            "processorClassName" | "processorClass" => replace(&mut self.processor, text(value)),
            "successfulAttemptId" => replace(&mut self.successful_attempt, text(value)),
            "nodeId" => replace(&mut self.node, text(value)),
            "containerId" => replace(&mut self.container, text(value)),
            "taskAttemptErrorEnum" => replace(&mut self.error, text(value)),
            "diagnostics" => replace(&mut self.diagnostics, text_within(value, MAX_DIAGNOSTICS)),
            "callerId" => replace(&mut self.caller_id, text(value)),
            "callerType" => replace(&mut self.caller_type, text(value)),
            "applicationId" => replace(&mut self.application_id, text(value)),
            "queueName" => replace(&mut self.queue, text(value)),
            "user" | "requestuser" => replace(&mut self.user, text(value)),
            _ => self.set_structure(key, structure(value)),
        }
    }

    fn set_structure(&mut self, key: &str, value: Value) {
        match (key, value) {
            ("counters", value) => replace(&mut self.counters, RawCounters::read(value)),
            ("tezVersion", Value::Object(mut of)) => {
                replace(&mut self.version, of.remove("version").and_then(text));
            }
            ("query" | "QUERY", Value::Object(mut of)) => {
                replace(&mut self.query, of.remove("queryText").and_then(text));
            }
            ("query" | "QUERY", value) => replace(&mut self.query, text(value)),
            ("config", Value::Object(of)) => self.config = pairs(of),
            ("vertexNameIdMapping", Value::Object(of)) => {
                self.vertex_ids = pairs(of);
                self.vertex_ids.truncate(MAX_VERTICES);
            }
            ("dagPlan", Value::Object(of)) => self.set_plan(of),
            _ => {}
        }
    }

    /// The plan names the vertices with their processors, and since Tez 0.9 who submitted the DAG (`dagContext`).
    fn set_plan(&mut self, mut plan: Map<String, Value>) {
        replace(&mut self.name, plan.remove("dagName").and_then(text));
        if let Some(Value::Object(mut context)) = plan.remove("dagContext") {
            replace(&mut self.caller_id, context.remove("callerId").and_then(text));
            replace(&mut self.caller_type, context.remove("callerType").and_then(text));
        }
        let Some(Value::Array(vertices)) = plan.remove("vertices") else { return };
        let named = |vertex: Value| {
            let Value::Object(mut vertex) = vertex else { return None };
            let class = vertex.remove("processorClass").and_then(text).unwrap_or_default();
            Some((vertex.remove("vertexName").and_then(text)?, class))
        };
        self.plan = vertices.into_iter().filter_map(named).take(MAX_VERTICES).collect();
    }

    /// The records of a thing may be read in any order, so an end is never replaced by a state before it.
    fn set_status(&mut self, status: Option<String>) {
        let Some(status) = status else { return };
        let is_end = |status: &str| ENDS.contains(&status);
        if is_end(&status) || !self.status.as_deref().is_some_and(is_end) {
            self.status = Some(status);
        }
    }

    /// Adds what a later record tells about the same thing.
    pub(super) fn merge(&mut self, other: Self) {
        self.set_status(other.status);
        replace(&mut self.init, other.init);
        replace(&mut self.start, other.start);
        replace(&mut self.end, other.end);
        replace(&mut self.creation, other.creation);
        self.first = self.first.into_iter().chain(other.first).min();
        replace(&mut self.tasks, other.tasks);
        replace(&mut self.name, other.name);
        replace(&mut self.processor, other.processor);
        replace(&mut self.successful_attempt, other.successful_attempt);
        replace(&mut self.node, other.node);
        replace(&mut self.container, other.container);
        replace(&mut self.error, other.error);
        replace(&mut self.diagnostics, other.diagnostics);
        replace(&mut self.caller_id, other.caller_id);
        replace(&mut self.caller_type, other.caller_type);
        replace(&mut self.application_id, other.application_id);
        replace(&mut self.queue, other.queue);
        replace(&mut self.user, other.user);
        replace(&mut self.version, other.version);
        replace(&mut self.query, other.query);
        replace(&mut self.counters, other.counters);
        for (own, other) in [
            (&mut self.config, other.config),
            (&mut self.vertex_ids, other.vertex_ids),
            (&mut self.plan, other.plan),
        ] {
            if !other.is_empty() {
                *own = other;
            }
        }
    }

    /// About how many bytes it takes.
    pub(super) fn held(&self) -> usize {
        let lists = [&self.config, &self.vertex_ids, &self.plan];
        let of_lists: usize =
            lists.into_iter().flatten().map(|(name, value)| name.len() + value.len() + PER_PAIR).sum();
        let texts =
            [&self.diagnostics, &self.query, &self.name].map(|text| text.as_ref().map_or(0, String::len));
        of_lists + texts.iter().sum::<usize>() + size_of::<Self>()
    }
}

/// The diagnostics of a DAG repeat a stack trace for each failed attempt.
const MAX_DIAGNOSTICS: usize = 8 * MAX_TEXT_LEN;
/// What two texts take in a list, in addition to their bytes.
const PER_PAIR: usize = 64;

fn replace<T>(slot: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *slot = value;
    }
}

/// A text that says something.
fn text(value: Value) -> Option<String> {
    text_within(value, MAX_TEXT_LEN)
}

fn text_within(value: Value, most: usize) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) if text.len() > most => Some(truncate(&text, most).to_owned()),
        Value::String(text) => Some(text),
        Value::Number(whole) => Some(whole.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A structure, which may be JSON in a string; anything else stays as it is.
fn structure(value: Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        value => value,
    }
}

fn pairs(of: Map<String, Value>) -> Vec<(String, String)> {
    of.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_may_be_strings() {
        let mut info = Info::default();
        info.set("startTime", json!("1500000000000"));
        info.set("endTime", json!(1_500_000_000_001_i64));
        info.set("counters", json!("{\"counterGroups\":[]}"));
        info.set(
            "dagPlan",
            json!("{\"dagName\":\"q\",\"vertices\":[{\"vertexName\":\"Map 1\",\"processorClass\":\"M\"}]}"),
        );
        assert_eq!((info.start, info.end), (Some(1_500_000_000_000), Some(1_500_000_000_001)));
        assert!(info.counters.is_some());
        assert_eq!((info.name.as_deref(), info.plan.len()), (Some("q"), 1));
    }

    #[test]
    fn an_end_outlives_states_before_it() {
        let mut info = Info::default();
        for status in ["RUNNING", "FAILED", "RUNNING"] {
            info.set("status", json!(status));
        }
        assert_eq!(info.status.as_deref(), Some("FAILED"));
        info.merge(Info { status: Some("INITED".to_owned()), ..Info::default() });
        assert_eq!(info.status.as_deref(), Some("FAILED"));
    }

    #[test]
    fn the_text_of_a_query_is_json_in_a_string() {
        let mut info = Info::default();
        info.set("query", json!("{\"queryText\":\"select 1\",\"queryPlan\":{}}"));
        assert_eq!(info.query.as_deref(), Some("select 1"));
        info.set("query", json!("select 2"));
        assert_eq!(info.query.as_deref(), Some("select 2"));
    }
}
