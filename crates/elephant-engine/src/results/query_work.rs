//! The queries of a run as a store keeps them: without their operators, and with a name for what each computes.

use elephant_base::state::State;
use elephant_model::model::Application;
use elephant_query::{Extent, Ground, QuerySummary};

use crate::diff::computed_by;

/// The most queries of a run that are kept, those first that took longest.
const MOST_QUERIES: usize = 100;

/// A query of a run.
#[derive(Debug, Clone, PartialEq, State)]
pub struct QueryWork {
    /// What it took, without its operators.
    pub query: QuerySummary,
    /// A hash of what it computes: its sources, joins with their keys, groups and targets, without ids, literals and
    /// strategies. Runs of one query have the same one. `None` if the plan tells nothing.
    pub computes: Option<String>,
}

impl QueryWork {
    /// The queries of `app` that took longest, the longest first. Those of less than 0.5 % of the run are left out.
    #[must_use]
    pub(crate) fn of(app: &Application) -> Vec<Self> {
        let has_queries = app.spark.as_deref().is_some_and(|spark| !spark.sql.is_empty());
        let Some(ground) = has_queries.then(|| Ground::of(app)).flatten() else { return Vec::new() };
        let all = ground.summaries(Extent { queries: MOST_QUERIES, operators: true });
        let kept = |query: QuerySummary| Self {
            computes: computed_by(&query),
            query: QuerySummary { operators: Vec::new(), told: Vec::new(), ..query },
        };
        all.into_iter().map(kept).collect()
    }
}
