//! The queries of an application: a table of those that took longest, and the plans of the first of them.

use std::collections::BTreeMap;

use super::Rows;
use super::phases::durations;
use elephant_base::state::State;
use elephant_base::units::Millis;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, Subject};
use elephant_query::{Drawn, OperatorSummary, QuerySummary};
use elephant_rule::finding::Finding;

/// This many queries are listed.
const MOST_QUERIES: usize = 200;
/// This many operators of a plan are drawn.
const MOST_OPERATORS: usize = 500;

/// The queries of an application.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct QueryCharts {
    /// Those that took longest first, without their operators.
    pub listed: Rows<QuerySummary>,
    /// The plans of the first of them.
    pub plans: Vec<QueryPlan>,
    /// The number of listed queries whose plans are not drawn.
    pub plans_left_out: u64,
}

/// The plan of a query.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct QueryPlan {
    /// The id of the query.
    pub query: u64,
    /// The operators that are drawn.
    pub drawn: Drawn,
    /// The tasks of each of them, in the same order; `None` if they are unknown.
    pub tasks: Vec<Option<OperatorTasks>>,
}

/// The tasks of the stage of an operator in which they are most uneven.
#[derive(Debug, Clone, Copy, PartialEq, State)]
#[non_exhaustive]
pub struct OperatorTasks {
    /// The stage.
    pub stage: StageAttempt,
    /// Half of its tasks took no longer.
    pub median: Millis,
    /// Its longest task.
    pub longest: Millis,
    /// The longest by the median.
    pub ratio: f64,
}

impl QueryCharts {
    /// `None` if the application ran no query that took much of its time.
    pub(super) fn of(app: &Application, queries: &[QuerySummary], plans: usize) -> Option<Self> {
        if queries.is_empty() {
            return None;
        }
        let mut tasks = BTreeMap::new();
        let with_plans = queries.iter().take(MOST_QUERIES).filter(|query| !query.operators.is_empty());
        let drawn: Vec<QueryPlan> =
            with_plans.clone().take(plans).map(|query| QueryPlan::of(app, query, &mut tasks)).collect();
        let plans_left_out = with_plans.count().saturating_sub(drawn.len()) as u64;
        let listed = queries.iter().take(MOST_QUERIES);
        let listed =
            listed.map(|query| QuerySummary { operators: Vec::new(), ..query.clone() }).collect::<Vec<_>>();
        let left_out = queries.len().saturating_sub(listed.len()) as u64;
        Some(Self { listed: Rows { shown: listed, left_out }, plans: drawn, plans_left_out })
    }

    /// The plan of a query, if it is drawn.
    #[must_use]
    pub fn plan(&self, query: u64) -> Option<&QueryPlan> {
        self.plans.iter().find(|plan| plan.query == query)
    }
}

impl QueryPlan {
    fn of(
        app: &Application,
        query: &QuerySummary,
        known: &mut BTreeMap<StageAttempt, Option<OperatorTasks>>,
    ) -> Self {
        let drawn = Drawn::of(&query.operators, MOST_OPERATORS);
        let mut most_uneven = |operator: &OperatorSummary| {
            let stages = operator.stages.iter();
            let tasks =
                stages.filter_map(|&stage| *known.entry(stage).or_insert_with(|| tasks_of(app, stage)));
            tasks.max_by(|one, other| one.ratio.total_cmp(&other.ratio))
        };
        let tasks = drawn.operators.iter().map(|it| most_uneven(&it.operator)).collect();
        Self { query: query.id, drawn, tasks }
    }
}

/// The tasks of a stage; `None` for a single task, which is not uneven.
fn tasks_of(app: &Application, stage: StageAttempt) -> Option<OperatorTasks> {
    let group = app.groups.iter().find(|group| group.kind == TaskKind::Stage(stage))?;
    let durations = durations(group).filter(|_| group.tasks.len() > 1)?;
    let ratio = durations.longest.as_f64() / durations.median.as_f64();
    ratio.is_finite().then_some(OperatorTasks {
        stage,
        median: durations.median,
        longest: durations.longest,
        ratio,
    })
}

/// The findings on a query, by their places in `findings`: those that name it, and those that name none and are about one
/// of its stages.
#[must_use]
pub fn findings_on(query: &QuerySummary, findings: &[Finding]) -> Vec<usize> {
    let is_about = |finding: &Finding| match finding.in_queries.as_slice() {
        [] => is_about_stages(finding, &query.stages),
        named => named.iter().any(|named| named.query == query.id),
    };
    (0..).zip(findings).filter(|(_, finding)| is_about(finding)).map(|(place, _)| place).collect()
}

/// The findings that name an operator of a query, by their places in `findings`.
#[must_use]
pub fn findings_at(query: u64, operator: u32, findings: &[Finding]) -> Vec<usize> {
    let names = |finding: &Finding| {
        finding.in_queries.iter().any(|named| named.query == query && named.operator == Some(operator))
    };
    (0..).zip(findings).filter(|(_, finding)| names(finding)).map(|(place, _)| place).collect()
}

fn is_about_stages(finding: &Finding, stages: &[StageAttempt]) -> bool {
    let mut parts = std::iter::once(&finding.subject).chain(&finding.also_about);
    parts.any(|part| matches!(part, Subject::Stage(stage) if stages.contains(stage)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::troubles::tests::finding;
    use elephant_base::severity::Severity;
    use elephant_model::model::table::Outcome;
    use elephant_rule::finding::{InQuery, TroubleKind};

    fn stage(stage: u32) -> StageAttempt {
        StageAttempt { stage, attempt: 0 }
    }

    fn query(id: u64, stages: &[u32]) -> QuerySummary {
        QuerySummary { stages: stages.iter().map(|&id| stage(id)).collect(), ..QuerySummary::blank(id) }
    }

    #[test]
    fn a_finding_is_on_the_query_that_it_names_or_on_those_of_its_stages() {
        let about = |subject| finding("a", TroubleKind::Join, subject, Severity::Low);
        let on_stage = |id| about(Subject::Stage(stage(id)));
        let mut named = on_stage(1);
        named.in_queries = vec![InQuery { query: 8, operator: Some(3) }];
        let mut also = on_stage(9);
        also.also_about = vec![Subject::Stage(stage(2))];
        let findings = [on_stage(1), named, also, about(Subject::Application)];
        assert_eq!(findings_on(&query(7, &[1, 2]), &findings), [0, 2]);
        assert_eq!(findings_on(&query(8, &[5]), &findings), [1]);
        assert_eq!(findings_at(8, 3, &findings), [1]);
        assert_eq!(findings_at(8, 4, &findings), [0; 0]);
    }

    #[test]
    fn the_most_uneven_stage_of_an_operator_is_told() {
        let mut app = elephant_sample::app(&[]);
        let ran = |seconds| (Outcome::Succeeded, seconds);
        elephant_sample::stage(&mut app, 0, &[ran(10), ran(10), ran(80)]);
        elephant_sample::stage(&mut app, 1, &[ran(10), ran(10), ran(20)]);
        elephant_sample::stage(&mut app, 2, &[ran(10)]);
        elephant_sample::succeed(&mut app);
        let tasks = |id| tasks_of(&app, stage(id)).map(|tasks| (tasks.stage, tasks.ratio));
        assert_eq!(tasks(0), Some((stage(0), 8.0)));
        assert_eq!((tasks(1), tasks(2), tasks(7)), (Some((stage(1), 2.0)), None, None));
    }

    #[test]
    fn queries_and_plans_are_bounded_and_counted() {
        let app = elephant_sample::app(&[]);
        let queries: Vec<QuerySummary> = (0..MOST_QUERIES as u64 + 7).map(QuerySummary::blank).collect();
        let charts = QueryCharts::of(&app, &queries, 3).unwrap();
        assert_eq!((charts.listed.shown.len(), charts.listed.left_out), (MOST_QUERIES, 7));
        // Without operators there is nothing to draw.
        assert_eq!((charts.plans.len(), charts.plans_left_out), (0, 0));
        assert_eq!(QueryCharts::of(&app, &[], 3), None);
    }
}
