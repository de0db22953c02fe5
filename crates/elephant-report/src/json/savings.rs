//! Savings as JSON: amounts with their range, in the unit that the key's ending names.

use serde::Serialize;

use super::Each;
use elephant_base::units::Millis;
use elephant_model::model::Subject;
use elephant_verdict::savings::{
    Amounts, ApplicationSavings, PathStage, Range, SavingStatus, Sums, TroubleSavings,
};

#[derive(Serialize)]
pub(crate) struct RangeView {
    low: f64,
    point: f64,
    high: f64,
}

const fn range(range: Range) -> RangeView {
    RangeView { low: range.low, point: range.point, high: range.high }
}

#[derive(Serialize)]
pub(crate) struct AmountsView {
    wall_ms: RangeView,
    core_hours: Option<RangeView>,
    gb_hours: Option<RangeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<RangeView>,
}

/// Amounts, with their cost if prices were given.
pub(crate) fn amounts(amounts: &Amounts, cost: Option<Range>) -> AmountsView {
    AmountsView {
        wall_ms: range(amounts.wall_ms),
        core_hours: amounts.core_hours.map(range),
        gb_hours: amounts.gb_hours.map(range),
        cost: cost.map(range),
    }
}

/// The savings of one trouble.
#[derive(Serialize)]
pub(super) struct SavingsView {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    method: String,
    alone: Option<AmountsView>,
    /// If the saving is unknown, what the trouble cost at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<AmountsView>,
    /// The memory that the remedy takes in addition to the recorded memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_gb_hours: Option<RangeView>,
    share: Option<AmountsView>,
}

pub(super) fn savings(savings: &TroubleSavings) -> SavingsView {
    let TroubleSavings {
        status, method, alone, at_most, more_gb_hours, share, alone_cost, share_cost, ..
    } = savings;
    SavingsView {
        status: status.name(),
        reason: match status {
            SavingStatus::Unknown(why) => Some(why.to_string()),
            SavingStatus::Estimated | SavingStatus::WithinError => None,
        },
        method: method.to_string(),
        alone: alone.as_ref().map(|alone| amounts(alone, *alone_cost)),
        at_most: at_most.as_ref().map(|limit| amounts(limit, *share_cost)),
        more_gb_hours: more_gb_hours.map(range),
        share: share.as_ref().map(|share| amounts(share, *share_cost)),
    }
}

/// The savings of all troubles of an application, and its replay.
#[derive(Serialize)]
pub(super) struct ApplicationSavingsView<'a> {
    joint: AmountsView,
    /// The memory that the remedies take in addition to the recorded memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_gb_hours: Option<RangeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'a str>,
    recorded_ms: Option<u64>,
    replayed_ms: Option<u64>,
    residual_percent: Option<f64>,
    critical_path_ms: Option<u64>,
    ideal_ms: Option<u64>,
    driver_ms: Option<u64>,
    path: Option<Each<'a, PathStage, PathView<'a>>>,
}

pub(super) fn of_application(savings: &ApplicationSavings) -> ApplicationSavingsView<'_> {
    let ApplicationSavings { joint, more_gb_hours, baseline, unknown, joint_cost, currency } = savings;
    let baseline = baseline.as_ref();
    ApplicationSavingsView {
        joint: amounts(joint, *joint_cost),
        more_gb_hours: more_gb_hours.map(range),
        currency: currency.as_deref(),
        unknown: unknown.as_deref(),
        recorded_ms: baseline.map(|baseline| baseline.recorded.get()),
        replayed_ms: baseline.map(|baseline| baseline.replayed.get()),
        residual_percent: baseline.map(|baseline| 100.0 * baseline.residual()),
        critical_path_ms: baseline.map(|baseline| baseline.critical_path.get()),
        ideal_ms: baseline.map(|baseline| baseline.ideal.get()),
        driver_ms: baseline.and_then(|baseline| baseline.driver).map(Millis::get),
        path: baseline.map(|baseline| Each(&baseline.path, path as fn(&PathStage) -> PathView<'_>)),
    }
}

#[derive(Serialize)]
pub(super) struct PathView<'a> {
    subject: String,
    name: Option<&'a str>,
    wall_ms: u64,
}

fn path(stage: &PathStage) -> PathView<'_> {
    PathView { subject: subject(&stage.subject), name: stage.name.as_deref(), wall_ms: stage.time.get() }
}

fn subject(subject: &Subject) -> String {
    subject.name().into_owned()
}

/// The savings of all applications.
#[derive(Serialize)]
pub(super) struct SumsView<'a> {
    #[serde(flatten)]
    amounts: AmountsView,
    /// The part of `wall_ms` that is expected.
    expected_wall_ms: RangeView,
    /// The rest, of which only upper limits are known.
    more_at_most_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more_gb_hours: Option<RangeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'a str>,
    estimated_count: u64,
    within_error_count: u64,
    unknown_count: u64,
}

pub(super) fn sums<'a>(sums: &Sums, currency: Option<&'a str>) -> SumsView<'a> {
    SumsView {
        amounts: amounts(&sums.saved(), sums.cost()),
        expected_wall_ms: range(sums.expected().wall_ms),
        more_at_most_ms: sums.more_at_most(),
        more_gb_hours: sums.more_gb_hours().map(range),
        currency,
        estimated_count: sums.estimated_count,
        within_error_count: sums.within_error_count,
        unknown_count: sums.unknown_count,
    }
}
