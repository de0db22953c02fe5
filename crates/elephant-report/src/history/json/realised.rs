//! What changes of configurations saved, as JSON.

use serde::Serialize;

use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_store::{Changed, Fleet, Realised};

#[derive(Serialize)]
pub(super) struct RealisedView<'a> {
    changes_count: u64,
    saved_gb_hours: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    saved_cost: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_unknown_count: Option<u64>,
    changes: Vec<ChangeView<'a>>,
}

#[derive(Serialize)]
struct ChangeView<'a> {
    job: &'a str,
    cluster: Option<&'a str>,
    first: &'a str,
    since: Option<String>,
    undone: Option<String>,
    changed: Vec<ChangedView<'a>>,
    before: SideView,
    after: SideView,
    confidence: &'static str,
    saved_gb_hours: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    saved_cost: Option<Money>,
}

#[derive(Serialize)]
struct ChangedView<'a> {
    setting: &'a str,
    from: Option<&'a str>,
    to: Option<&'a str>,
    recommended: bool,
}

/// Medians of runs.
#[derive(Serialize)]
struct SideView {
    runs_count: u64,
    resource_used_gb_hours: f64,
    /// Costs are for the same input if it is known.
    input_bytes: Option<u64>,
    runtime_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Money>,
}

/// An amount of money; `null` if it is unknown. Without prices, there is none.
#[derive(Serialize)]
struct Money(Option<f64>);

pub(super) fn view(fleet: &Fleet, with_prices: bool) -> RealisedView<'_> {
    RealisedView {
        changes_count: fleet.realised_of,
        saved_gb_hours: fleet.realised_gb_hours,
        saved_cost: with_prices.then_some(Money(fleet.realised_cost)),
        cost_unknown_count: with_prices.then_some(fleet.realised_unpriced),
        changes: fleet.realised.iter().map(|one| change(one, with_prices)).collect(),
    }
}

fn change(change: &Realised, with_prices: bool) -> ChangeView<'_> {
    let (time_before, time_after) = change.run_time.unzip();
    let (cost_before, cost_after) = change.cost.unzip();
    let money = |known| with_prices.then_some(Money(known));
    let (input_before, input_after) = change.input.unzip();
    let side = |runs_count,
                (resource_used_gb_hours, input): (f64, Option<Bytes>),
                time: Option<Millis>,
                cost| SideView {
        runs_count,
        resource_used_gb_hours,
        input_bytes: input.map(Bytes::get),
        runtime_ms: time.map(Millis::get),
        cost: money(cost),
    };
    ChangeView {
        job: &change.job,
        cluster: change.cluster.as_deref(),
        first: &change.first,
        since: change.since.and_then(Timestamp::to_rfc3339),
        undone: change.undone.and_then(Timestamp::to_rfc3339),
        changed: change.changed.iter().map(changed).collect(),
        before: side(change.runs.0, (change.used_gb_hours.0, input_before), time_before, cost_before),
        after: side(change.runs.1, (change.used_gb_hours.1, input_after), time_after, cost_after),
        confidence: change.confidence.name(),
        saved_gb_hours: change.saved_gb_hours,
        saved_cost: money(change.saved_cost),
    }
}

fn changed(setting: &Changed) -> ChangedView<'_> {
    ChangedView {
        setting: &setting.setting,
        from: setting.from.as_deref(),
        to: setting.to.as_deref(),
        recommended: setting.advised,
    }
}
