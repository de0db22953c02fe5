//! Queries as JSON: their wall time by what happened in it, and their operators.

use serde::Serialize;

use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_query::{OperatorSummary, PrunedBy, QuerySummary, Wall};

#[derive(Serialize)]
pub(super) struct QueryView<'a> {
    id: u64,
    root_id: Option<u64>,
    name: &'a str,
    started_at: Option<String>,
    wall: Option<WallView>,
    error: Option<&'a str>,
    stages: Vec<String>,
    task_time_ms: Option<u64>,
    input_bytes: Option<u64>,
    output_bytes: Option<u64>,
    shuffle_write_bytes: Option<u64>,
    spilled_bytes: Option<u64>,
    operators: Vec<OperatorView<'a>>,
}

#[derive(Serialize)]
struct WallView {
    #[serde(rename = "total_ms")]
    total: u64,
    #[serde(rename = "planning_ms")]
    planning: u64,
    #[serde(rename = "jobs_ms")]
    jobs: u64,
    #[serde(rename = "between_jobs_ms")]
    between_jobs: u64,
    #[serde(rename = "after_jobs_ms")]
    after_jobs: u64,
}

#[derive(Serialize)]
struct OperatorView<'a> {
    place: u32,
    parent: Option<u32>,
    name: &'a str,
    text: &'a str,
    replaced: bool,
    stages: Vec<String>,
    time_ms: Option<u64>,
    #[serde(skip_serializing_if = "<[u32]>::is_empty")]
    time_includes: &'a [u32],
    rows_count: Option<u64>,
    bytes: Option<u64>,
    spilled_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pruned_by: Vec<PrunedByView<'a>>,
}

#[derive(Serialize)]
struct PrunedByView<'a> {
    columns: &'a [String],
    join: Option<u32>,
    subquery: Option<u32>,
}

pub(super) fn query(query: &QuerySummary) -> QueryView<'_> {
    let bytes = |bytes: Option<Bytes>| bytes.map(Bytes::get);
    QueryView {
        id: query.id,
        root_id: query.root,
        name: &query.name,
        started_at: query.started_at.and_then(Timestamp::to_rfc3339),
        wall: query.wall.map(wall),
        error: query.error.as_deref(),
        stages: query.stages.iter().map(ToString::to_string).collect(),
        task_time_ms: query.task_time.map(Millis::get),
        input_bytes: bytes(query.input),
        output_bytes: bytes(query.output),
        shuffle_write_bytes: bytes(query.shuffled),
        spilled_bytes: bytes(query.spilled),
        operators: query.operators.iter().map(operator).collect(),
    }
}

fn wall(wall: Wall) -> WallView {
    let Wall { total, planning, jobs, gaps, after } = wall;
    WallView {
        total: total.get(),
        planning: planning.get(),
        jobs: jobs.get(),
        between_jobs: gaps.get(),
        after_jobs: after.get(),
    }
}

fn operator(operator: &OperatorSummary) -> OperatorView<'_> {
    OperatorView {
        place: operator.place,
        parent: operator.parent,
        name: &operator.name,
        text: &operator.text,
        replaced: !operator.is_last,
        stages: operator.stages.iter().map(ToString::to_string).collect(),
        time_ms: operator.time.map(Millis::get),
        time_includes: &operator.time_includes,
        rows_count: operator.rows,
        bytes: operator.bytes.map(Bytes::get),
        spilled_bytes: operator.spilled.map(Bytes::get),
        pruned_by: operator.pruned_by.iter().map(pruned_by).collect(),
    }
}

fn pruned_by(pruned: &PrunedBy) -> PrunedByView<'_> {
    PrunedByView { columns: &pruned.columns, join: pruned.join, subquery: pruned.subquery }
}
