//! Parsers: turn the bytes of one source into [`Application`]s and problems. Parsers never print.

pub mod answers;
pub(crate) mod build;
pub mod container_sizes;
pub mod counter_names;
mod counter_slot;
mod counter_template;
pub mod event;
mod file_part;
pub mod hadoop1;
pub(crate) mod hosts;
mod identify;
pub(crate) mod ids;
pub mod jhist;
pub mod jobconf;
mod json_records;
mod json_value;
mod problem;
mod reading;
mod rows;
mod scan;
pub mod spark;
mod spread;
pub mod tez;
mod told_name;

pub use file_part::FilePart;
pub use identify::{identify, insisting};
pub use problem::{Level, Position, Problem, Problems};
pub use told_name::ToldByName;

use elephant_base::limits::Limits;
use elephant_model::model::Application;
use elephant_model::model::conf::Conf;

/// Maximum length of an event in a binary history, and of a value in it, whatever the limits are.
const MAX_EVENT_LEN: usize = 64 << 20;

/// The contents of one source.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The applications, in the order of the source. A Hadoop 1 log may hold several.
    pub applications: Vec<Application>,
    /// Job configurations found inside the source, with the id of their job.
    pub confs: Vec<(String, Conf)>,
    /// The problems found.
    pub problems: Problems,
    /// Problems in the parts of a source that consists of several files, by part name.
    pub part_problems: Vec<(String, Problems)>,
    /// Whether the limit on memory was reached.
    pub beyond_memory: bool,
}

/// Whether counters without a type are kept for each attempt. They take more memory than all other data, and only
/// rules that users define read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OtherCounters {
    /// For callers who may look at everything.
    #[default]
    Kept,
    /// For rules that do not name any.
    Dropped,
}

/// Message for input beyond the maximum line length.
fn too_long(what: &str, limits: &Limits) -> String {
    let most = limits.line.unwrap_or_default();
    format!("{what} is longer than {most} and was skipped; its contents are missing (raise --max-line)")
}

/// Message for tasks and other objects beyond the limit.
fn too_many(limits: &Limits) -> String {
    let most = limits.tasks.unwrap_or_default();
    format!(
        "it has more than {most} tasks or attempts, or too many stages, jobs, executors or queries; the rest was \
         skipped (raise --max-tasks)"
    )
}
