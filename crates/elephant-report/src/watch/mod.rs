//! The output of `watch`, line by line.

mod ndjson;
mod text;

pub use ndjson::{begin as begin_ndjson, write as write_ndjson};
pub use text::{begin as begin_text, status, write as write_text};

use elephant_analysis::stragglers::detect::Needs;
use elephant_model::model::table::TaskKind;

/// Detectors that cannot watch, and the data that they need but that is not known of all running tasks.
pub type Silent = [(&'static str, Needs)];

/// "map", "stage 3.0".
fn group(kind: TaskKind) -> String {
    match kind {
        TaskKind::Stage(stage) => format!("stage {stage}"),
        kind => kind.name().to_owned(),
    }
}
