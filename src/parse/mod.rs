//! Parsers: bytes of one source in, [`Application`]s and problems out. Parsers never print.

pub mod build;
pub mod event;
pub mod hadoop1;
pub mod hosts;
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

pub use problem::{Level, Position, Problem, Problems};

use crate::model::Application;
use crate::model::conf::Conf;

/// Lines beyond this many bytes are passed over. The longest line of a real history (a job's total
/// counters, or a schema) has some 100 KiB.
pub const MAX_LINE_LEN: usize = 64 << 20;

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
