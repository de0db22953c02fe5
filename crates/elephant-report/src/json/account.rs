//! Where the run time went, as JSON: parts that add up to it.

use serde::Serialize;

use elephant_engine::results::Part;

#[derive(Serialize)]
pub(super) struct PartView {
    kind: &'static str,
    name: String,
    /// The phase, if it is only one.
    subject: Option<String>,
    stages: Option<String>,
    query: Option<u64>,
    owner: Option<String>,
    does: Option<String>,
    note: Option<String>,
    time_ms: u64,
    share_ratio: f64,
}

pub(super) fn part(part: &Part) -> PartView {
    let owner = part.owner();
    PartView {
        kind: part.kind(),
        name: part.name(),
        subject: part.subject().map(|subject| subject.name().into_owned()),
        stages: part.stages(),
        query: owner.and_then(|owner| owner.query),
        owner: owner.map(|owner| owner.name.clone()),
        does: part.does().map(str::to_owned),
        note: part.note(),
        time_ms: part.time.get(),
        share_ratio: part.share,
    }
}
