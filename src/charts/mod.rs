//! What charts of one application show: when phases and executors ran, how tasks are distributed, memory asked for and
//! used, attempts by node. Each is bounded in size, whatever the application; what is left out is counted.

mod histogram;
mod memory;
mod nodes;
mod timeline;

use crate::finding::Finding;
use crate::model::Application;
use crate::rules::RuleSet;

pub use histogram::{Amount, Bucket, Group, Groups, Histogram, Limit, MeanOf, Quantity, Scale};
pub use memory::{Holder, MemoryUse};
pub use nodes::NodeAttempts;
pub use timeline::{ExecutorSpan, Timeline};

/// The charts of one application. What the history does not tell has no chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Charts {
    /// When phases and executors ran.
    pub timeline: Option<Timeline>,
    /// How run times and bytes are distributed over tasks, a few phases at most.
    pub histograms: Vec<Histogram>,
    /// Memory asked for and used, by who holds it.
    pub memory: Vec<MemoryUse>,
    /// Attempts by the node they ran on: those with most failures first, then those with most attempts.
    pub nodes: Rows<NodeAttempts>,
}

/// The rows of a chart that are worth showing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows<T> {
    /// The rows.
    pub shown: Vec<T>,
    /// How many there are beyond these.
    pub left_out: u64,
}

impl<T> Rows<T> {
    /// The first `most` of `rows`.
    fn first(mut rows: Vec<T>, most: usize) -> Self {
        let left_out = rows.len().saturating_sub(most) as u64;
        rows.truncate(most);
        Self { shown: rows, left_out }
    }
}

impl Charts {
    /// The charts of `app`; `findings` are those on it of any severity, `rules` tell how its memory is measured.
    #[must_use]
    pub fn of(app: &Application, rules: &RuleSet, findings: &[Finding]) -> Self {
        Self {
            timeline: Timeline::of(app),
            histograms: histogram::all(app, findings),
            memory: memory::all(app, rules),
            nodes: nodes::rows(app),
        }
    }
}
