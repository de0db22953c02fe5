//! Hive's own account of a query and of the DAGs that ran it, as Data Analytics Studio and Hue answer it:
//! `{"queries": [{"queryId", "query", "dags": [{"dagInfo": …, "dagDetails": …, "config": …}]}]}`.

use serde_json::{Map, Value};

use super::id::Id;
use super::info::Info;
use super::record::{Record, Sink, Subject};

/// Passes on the records of one query.
pub(super) fn records(query: Value, sink: Sink<'_>) {
    let Value::Object(mut query) = query else { return };
    let id = match query.remove("queryId") {
        Some(Value::String(id)) => Some(id),
        _ => None,
    };
    let user = query.remove("requestUser");
    if let Some(id) = id.clone() {
        let mut info = Info::default();
        info.set("query", query.remove("query").unwrap_or_default());
        sink(Record { subject: Subject::Query(id), info, events: Vec::new() });
    }
    let Some(Value::Array(dags)) = query.remove("dags") else { return };
    for dag in dags {
        let Value::Object(dag) = dag else { continue };
        records_of_dag(dag, (id.as_ref(), user.clone()), sink);
    }
}

fn records_of_dag(
    mut dag: Map<String, Value>,
    (query, user): (Option<&String>, Option<Value>),
    sink: Sink<'_>,
) {
    let Some(Value::Object(told)) = dag.remove("dagInfo") else { return };
    let Some(id) = told.get("dagId").and_then(Value::as_str).and_then(Id::parse) else { return };
    let mut info = Info::default();
    if let Some(query) = query {
        info.set("callerId", Value::String(query.clone()));
        info.set("callerType", Value::String("HIVE_QUERY_ID".to_owned()));
    }
    info.set("user", user.unwrap_or_default());
    let details = match dag.remove("dagDetails") {
        Some(Value::Object(details)) => details,
        _ => Map::new(),
    };
    for (key, value) in told.into_iter().chain(details) {
        if Info::keeps(&key) {
            info.set(&key, value);
        }
    }
    sink(Record { subject: Subject::Tez(id), info, events: Vec::new() });
    if let (Some(config @ Value::Object(_)), Some(of)) = (dag.remove("config"), id.dag()) {
        let mut info = Info::default();
        info.set("config", config);
        sink(Record { subject: Subject::Tez(Id::App(of.app)), info, events: Vec::new() });
    }
}
