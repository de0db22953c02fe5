//! What all rules on queries have in common: they look at the queries that cost most, and report what cost most.

use std::cmp::Reverse;

use crate::spark::support::application::spark;
use elephant_base::severity::Severity;
use elephant_catalogue::{Check, Shared};
use elephant_model::model::Application;
use elephant_model::model::spark::{Facet, Spark};
use elephant_query::{Ground, OperatorKind, PlacedOperator, Query, name_of_query};
use elephant_rule::finding::{Judgement, Measure, Subject, Verdict, and_more};

/// How many findings of a rule an application gets at most.
const REPORTED: usize = 3;

/// Judges the queries of an application.
pub(super) trait Judge: Send + Sync {
    /// The message if nothing was found.
    const FITS: &'static str;
    /// The parts of the log that the findings depend on.
    const RESTS_ON: &'static [Facet] = &[Facet::Tasks, Facet::Stages, Facet::Jobs];

    /// Whether more of the log could reverse a finding.
    const NEEDS_ALL: bool = false;

    /// Whether there is anything to judge.
    fn applies(spark: &Spark) -> bool {
        !spark.sql.is_empty()
    }

    /// The findings, in any order.
    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement>;
}

/// The check of a rule on queries, with its parameters.
pub(super) struct OnQueries<P>(pub(super) P);

impl<P: Judge> Check for OnQueries<P> {
    fn check(&self, app: &Application) -> Verdict {
        Self::verdict(app, || Ground::of(app).map(|ground| self.0.judge(&ground)))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        Self::verdict(app, || shared.queries().map(|ground| self.0.judge(ground)))
    }

    fn rests_on(&self) -> &'static [Facet] {
        P::RESTS_ON
    }

    fn needs_all(&self) -> bool {
        P::NEEDS_ALL
    }
}

impl<P: Judge> OnQueries<P> {
    fn verdict(app: &Application, judge: impl FnOnce() -> Option<Vec<Judgement>>) -> Verdict {
        if spark(app).is_none_or(|spark| !P::applies(spark)) {
            return Verdict::NotApplicable;
        }
        let Some(mut found) = judge() else {
            return Verdict::NotEvaluated(
                "the event log does not contain the application's run time".to_owned(),
            );
        };
        if found.is_empty() {
            return Judgement::of(Subject::Application, Severity::None).message(P::FITS, &[]).into();
        }
        found.sort_by_key(|judged| (Reverse(judged.severity), Reverse(lost(judged)), judged.subject.clone()));
        let more = found.len().saturating_sub(REPORTED);
        found.truncate(REPORTED);
        and_more(&mut found, more, "operator");
        Verdict::Several(found)
    }
}

/// The query that costs most among those that do the same, and how many others there are.
pub(super) fn name_with_others(query: &Query<'_>, others: usize) -> String {
    let name = name_of_query(query.execution);
    if others > 0 { format!("{name}, like {others} more,") } else { name }
}

/// The time lost in a finding, in milliseconds.
fn lost(judged: &Judgement) -> u64 {
    let lost = judged.evidence.iter().find(|(key, _)| *key == "lost_ms");
    lost.map_or(0, |(_, measure)| if let Measure::Time(time) = measure { time.get() } else { 0 })
}

/// An operator of a query.
#[derive(Clone, Copy)]
pub(super) struct Site<'g, 'a> {
    pub(super) ground: &'g Ground<'a>,
    pub(super) query: &'g Query<'a>,
    /// Its place among the operators of the query.
    pub(super) place: usize,
    pub(super) operator: &'g PlacedOperator<'a>,
}

/// The operators of the kinds that `is_wanted` names, in all queries that cost most. One that a plan tells again below a
/// reused exchange ran once.
pub(super) fn sites<'g, 'a>(
    ground: &'g Ground<'a>,
    is_wanted: fn(OperatorKind) -> bool,
) -> impl Iterator<Item = Site<'g, 'a>> {
    ground.queries.iter().flat_map(move |query| {
        let all = query.operators.iter().enumerate();
        let wanted = all.filter(move |(_, operator)| is_wanted(operator.kind) && operator.repeats.is_none());
        wanted.map(move |(place, operator)| Site { ground, query, place, operator })
    })
}
