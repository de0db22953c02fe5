//! Where the run time went, as JSON: parts that add up to it.

use serde::Serialize;

use elephant_engine::results::{Owner, Part, What};

#[derive(Serialize)]
pub(super) struct PartView {
    kind: &'static str,
    name: String,
    stages: Option<String>,
    query: Option<u64>,
    note: Option<String>,
    time_ms: u64,
    share_ratio: f64,
}

pub(super) fn part(part: &Part) -> PartView {
    PartView {
        kind: kind(&part.what),
        name: part.name(),
        stages: part.stages(),
        query: owner(&part.what).and_then(|owner| owner.query),
        note: part.note(),
        time_ms: part.time.get(),
        share_ratio: part.share,
    }
}

const fn kind(what: &What) -> &'static str {
    match what {
        What::Phase { .. } => "phase",
        What::Stages { .. } => "stages",
        What::Idle { .. } => "idle",
        What::Rest { .. } => "rest",
    }
}

const fn owner(what: &What) -> Option<&Owner> {
    match what {
        What::Phase { owner, .. } | What::Stages { owner, .. } => owner.as_ref(),
        What::Idle { .. } | What::Rest { .. } => None,
    }
}
