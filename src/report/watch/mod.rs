//! What `watch` tells, line by line.

mod ndjson;
mod text;

pub(crate) use ndjson::{begin as begin_ndjson, write as write_ndjson};
pub(crate) use text::{begin as begin_text, status, write as write_text};

use crate::model::table::TaskKind;
use crate::stragglers::detect::{Detector, Needs};

/// The detectors that cannot judge tasks of which only times are known, by what they need.
fn silent(detectors: &[Box<dyn Detector>]) -> Vec<(&'static str, Needs)> {
    let needs = detectors.iter().map(|detector| (detector.id(), detector.needs()));
    needs.filter(|(_, needs)| *needs != Needs::Times).collect()
}

/// "map", "stage 3.0".
fn group(kind: TaskKind) -> String {
    match kind {
        TaskKind::Stage(stage) => format!("stage {stage}"),
        kind => kind.name().to_owned(),
    }
}
