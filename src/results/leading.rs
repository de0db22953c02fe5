//! What decides first about the order of applications.

use std::cmp::Reverse;

use super::Metrics;
use crate::model::{Application, Status};
use crate::rules::settings::{OrderBy, OrderParams};
use crate::savings::{Amounts, ApplicationSavings};
use crate::state::state;
use crate::troubles::{Basis, Worth};

/// What comes first in a report. Ties are broken by severity, score, wasted memory, id and sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leading {
    Worth(Worth),
    /// `None` comes last.
    Most(Reverse<Option<u64>>),
    Name(Box<str>),
    /// Severity decides.
    Nothing,
}

state!(
    enum Leading {
        Worth(value),
        Most(value),
        Name(value),
        Nothing,
    }
);

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
            Sort::Waste => Self::Most(Reverse(metrics.wasted.map(|wasted| wasted.as_gb_hours().to_bits()))),
            Sort::RunTime => Self::Most(Reverse(metrics.run_time.map(crate::units::Millis::get))),
            Sort::Name => Self::Name(app.name.as_deref().unwrap_or(&app.id).into()),
        }
    }
}

/// What the removal of all troubles is worth. A run that failed was for nothing.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_come_last() {
        let most = |value: Option<u64>| Leading::Most(Reverse(value));
        assert!(most(Some(9)) < most(Some(8)) && most(Some(0)) < most(None));
        assert!(Leading::Name("a".into()) < Leading::Name("b".into()));
    }
}
