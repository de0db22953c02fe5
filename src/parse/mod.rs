//! Parsers: bytes of one source in, [`Application`]s and problems out. Parsers never print.

pub mod build;
pub mod event;
pub mod hadoop1;
pub mod hosts;
mod identify;
pub mod ids;
pub mod jhist;
pub mod jobconf;
mod known;
mod problem;
mod reading;
mod rows;
mod scan;
pub mod spark;
mod verify;

pub use identify::identify;
pub use problem::{Level, Position, Problem, Problems};

use crate::limits::Limits;
use crate::model::Application;
use crate::model::conf::Conf;

/// No event of a binary history is longer, and no value in one, whatever the limits are.
const MAX_EVENT_LEN: usize = 64 << 20;

/// What a source holds.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The applications, in the order of the source. A Hadoop 1 log may hold several.
    pub applications: Vec<Application>,
    /// Job configurations found inside the source, with the id of their job.
    pub confs: Vec<(String, Conf)>,
    /// What went wrong.
    pub problems: Problems,
    /// What went wrong in the parts of a source that lies in several files, by the part's name.
    pub part_problems: Vec<(String, Problems)>,
}

/// The message on something that is longer than a line may be.
fn too_long(what: &str, limits: &Limits) -> String {
    let most = limits.line.unwrap_or_default();
    format!(
        "{what} is longer than {most} and was passed over; what it tells is missing (--max-line allows more)"
    )
}

/// The message on tasks and their like beyond the limit.
fn too_many(limits: &Limits) -> String {
    let most = limits.tasks.unwrap_or_default();
    format!(
        "it has more than {most} tasks or attempts, or too many stages, jobs, executors or queries; what is beyond was \
         passed over (--max-tasks allows more)"
    )
}
