//! The first criterion of the order of applications.

use std::cmp::Reverse;

use super::Metrics;
use elephant_base::state::State;
use elephant_model::model::{Application, Status};
use elephant_ruleset::settings::{OrderBy, OrderParams};
use elephant_verdict::savings::{Amounts, ApplicationSavings};
use elephant_verdict::troubles::{Basis, Worth};

/// What comes first in a report. Ties are broken by severity and score, then by wasted memory unless savings come first, then
/// by id and sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// What the removal of its troubles saves, most first.
    Saving,
    /// The severity.
    Severity,
    /// Wasted memory, most first.
    Waste,
    /// Run time, longest first.
    RunTime,
    /// The name, in alphabetical order; without a name, the id.
    Name,
}

/// The first part of an application's sort key. All applications of a report have the same variant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, State)]
pub enum Leading {
    /// What its remedies save, most first.
    Worth(Worth),
    /// The memory that is wasted; `None` comes last.
    Waste(Reverse<Option<u64>>),
    /// The run time; `None` comes last.
    RunTime(Reverse<Option<u64>>),
    /// The name, or the id of an application without one.
    Name(Box<str>),
    /// Severity decides.
    Nothing,
}

impl Leading {
    /// `sort` or, without it, the order of the rule set.
    pub(crate) fn of(
        app: &Application,
        metrics: &Metrics,
        savings: Option<&ApplicationSavings>,
        basis: Basis<'_>,
        sort: Option<Sort>,
    ) -> Self {
        let order = basis.rules.order();
        let by_rules = if order.by == OrderBy::Saving { Sort::Saving } else { Sort::Severity };
        match sort.unwrap_or(by_rules) {
            Sort::Saving => Self::Worth(worth(app, metrics, savings, basis, order)),
            Sort::Severity => Self::Nothing,
            Sort::Waste => Self::Waste(Reverse(metrics.wasted.map(|wasted| wasted.as_gb_hours().to_bits()))),
            Sort::RunTime => Self::RunTime(Reverse(metrics.run_time.map(elephant_base::units::Millis::get))),
            Sort::Name => Self::Name(app.name.as_deref().unwrap_or(&app.id).into()),
        }
    }
}

/// The value of removing all troubles. For a failed run, it is everything that the run used.
fn worth(
    app: &Application,
    metrics: &Metrics,
    savings: Option<&ApplicationSavings>,
    basis: Basis<'_>,
    order: &OrderParams,
) -> Worth {
    let of = |amounts: &Amounts| {
        let cost = basis.prices.and_then(|prices| prices.cost(app, amounts));
        Worth::of_amounts(amounts, cost, order)
    };
    match savings {
        _ if app.status == Status::Failed => of(&Amounts::used(metrics)),
        Some(savings) => of(&savings.joint),
        None => Worth::default(),
    }
}

impl Leading {
    /// Whether wasted memory breaks ties: as in Dr. Elephant, except where savings rank.
    pub(crate) const fn counts_waste(&self) -> bool {
        !matches!(self, Self::Worth(_))
    }

    /// Why the first of several applications ranks first, in words. `failed` is whether it failed.
    #[must_use]
    pub fn reason(&self, failed: bool) -> &'static str {
        match self {
            Self::Worth(worth) if *worth == Worth::default() => "the run with the worst findings",
            Self::Worth(_) if failed => "the failed run that used most",
            Self::Worth(_) => "the run with the most to save",
            Self::Waste(_) => "the run that wastes the most memory",
            Self::RunTime(_) => "the longest run",
            Self::Name(_) => "the first run in this order",
            Self::Nothing => "the run with the worst findings",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_run_is_named_by_what_makes_it_the_first() {
        let saved = |ms: f64| {
            let range = elephant_verdict::savings::Range { low: ms, point: ms, high: ms };
            let amounts = Amounts { wall_ms: range, ..Amounts::default() };
            Leading::Worth(Worth::of_amounts(
                &amounts,
                None,
                elephant_ruleset::RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().order(),
            ))
        };
        assert_eq!(saved(9.0).reason(false), "the run with the most to save");
        assert_eq!(saved(9.0).reason(true), "the failed run that used most");
        // Runs that save nothing are ranked by severity.
        assert_eq!(saved(0.0).reason(false), "the run with the worst findings");
        assert_eq!(Leading::RunTime(Reverse(Some(1))).reason(false), "the longest run");
    }

    #[test]
    fn unknown_values_come_last() {
        let most = |value: Option<u64>| Leading::Waste(Reverse(value));
        assert!(most(Some(9)) < most(Some(8)) && most(Some(0)) < most(None));
        assert!(Leading::Name("a".into()) < Leading::Name("b".into()));
    }
}
