//! The data for the charts of one application: load over time, phases in lanes, executors, distribution of tasks,
//! requested and used memory, attempts by node. Each chart is bounded in size for any application; rows
//! that are left out are counted.

mod histogram;
mod limit;
mod load;
mod memory;
mod nodes;
mod phases;
mod queries;
mod scatter;
mod timeline;

use elephant_base::state::State;
use elephant_model::model::Application;
use elephant_query::QuerySummary;
use elephant_rule::finding::Finding;
use elephant_ruleset::RuleSet;

pub use histogram::{Amount, Bucket, Group, Groups, Histogram, Quantity, Scale};
pub use limit::{Limit, MeanOf};
pub use load::{Load, LoadOf};
pub use memory::{Holder, MemoryUse};
pub use nodes::NodeAttempts;
pub(crate) use phases::durations;
pub use phases::{Durations, PhaseRow, Phases};
pub use queries::{OperatorTasks, QueryCharts, QueryPlan, findings_at, findings_on};
pub use scatter::{Axis, Point, Scatter};
pub use timeline::{ExecutorSpan, Timeline};

/// The charts of one application. Data that the history lacks has no chart.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct Charts {
    /// The load and the executors over time.
    pub timeline: Option<Timeline>,
    /// The phases, ordered by start: those with the worst findings and most task time.
    pub phases: Phases,
    /// The time of tasks against the bytes that they read, for a few phases with findings.
    pub scatters: Vec<Scatter>,
    /// The distribution of run times and bytes over tasks, for a few phases.
    pub histograms: Vec<Histogram>,
    /// Requested and used memory, by container type.
    pub memory: Vec<MemoryUse>,
    /// Attempts by node: those with most failures first, then those with most attempts.
    pub nodes: Rows<NodeAttempts>,
    /// The queries of an application that ran SQL, those that took longest first, and the plans of some.
    pub queries: Option<QueryCharts>,
}

/// The rows that a chart shows.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Rows<T> {
    /// The rows.
    pub shown: Vec<T>,
    /// The number of rows that are not shown.
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

#[doc(hidden)]
impl Charts {
    /// The charts of `app`. `findings` are all its findings of any severity; `rules` define how its memory
    /// is measured.
    #[must_use]
    pub fn of(app: &Application, rules: &RuleSet, findings: &[Finding]) -> Self {
        let timeline = Timeline::of(app);
        Self {
            phases: Phases::of(app, findings, timeline.as_ref()),
            timeline,
            scatters: scatter::all(app, findings),
            histograms: histogram::all(app, findings),
            memory: memory::all(app, rules),
            nodes: nodes::rows(app),
            queries: None,
        }
    }

    /// Adds the queries of `app`, which come with all their operators, those first that took longest; the first `plans` of
    /// them are drawn.
    #[must_use]
    pub fn with_queries(self, app: &Application, queries: &[QuerySummary], plans: usize) -> Self {
        Self { queries: QueryCharts::of(app, queries, plans), ..self }
    }
}
