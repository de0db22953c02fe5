//! Causes of stragglers: counts, waiting, days.

use std::num::NonZeroU64;

use serde::Serialize;

use crate::json::Pairs;
use elephant_analysis::stragglers::cause::{Cause, CauseCounts, Confidence};
use elephant_engine::survey::{CauseCorrelation, StragglerDay, Waiting};

/// The applications that were submitted on one day (UTC).
#[derive(Serialize)]
pub(super) struct DayView {
    date: Option<String>,
    applications_count: u64,
    tasks_count: u64,
    stragglers_count: u64,
    /// For all stragglers.
    causes: Pairs<&'static str, CauseView>,
    /// All such tasks, whether stragglers or not.
    dos_index_2_5_count: Option<u64>,
    dos_index_10_count: Option<u64>,
    /// The stragglers among them, and their causes.
    dos_index_10_stragglers_count: Option<u64>,
    dos_index_10_causes: Pairs<&'static str, CauseView>,
}

pub(super) fn day(day: &StragglerDay) -> DayView {
    DayView {
        date: crate::words::day(day.begin),
        applications_count: day.applications,
        tasks_count: day.tasks,
        stragglers_count: day.stragglers,
        causes: causes(&day.causes),
        dos_index_2_5_count: day.dos.map(|(report, _)| report),
        dos_index_10_count: day.dos.map(|(_, diagnose)| diagnose),
        dos_index_10_stragglers_count: day.dos.map(|_| day.diagnosed.stragglers()),
        dos_index_10_causes: causes(&day.diagnosed),
    }
}

#[derive(Serialize)]
pub(super) struct CorrelationView {
    causes: [&'static str; 2],
    pearson: f64,
}

pub(super) fn correlation(correlation: &CauseCorrelation) -> CorrelationView {
    CorrelationView {
        causes: [correlation.one.name(), correlation.other.name()],
        pearson: correlation.pearson,
    }
}

/// The waiting of applications for stragglers with one cause.
#[derive(Serialize)]
pub(super) struct WaitingView {
    cause: &'static str,
    confidence: Option<&'static str>,
    applications_count: u64,
    only_stragglers_left_ms: u64,
}

pub(super) fn waiting(waiting: &Waiting) -> WaitingView {
    WaitingView {
        cause: waiting.cause.name(),
        confidence: waiting.confidence.map(Confidence::name),
        applications_count: waiting.applications,
        only_stragglers_left_ms: waiting.delay.get(),
    }
}

#[derive(Serialize)]
pub(super) struct CauseView {
    primary_count: u64,
    primary_percent: Option<f64>,
    with_evidence_count: u64,
    /// Only sums over applications have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    applications_count: Option<NonZeroU64>,
    confidence: Pairs<&'static str, u64>,
}

/// Causes that are primary for a straggler or have evidence.
pub(super) fn causes(counts: &CauseCounts) -> Pairs<&'static str, CauseView> {
    let views = counts.shares().map(|(count, share)| {
        let confidence = count.confidence().counts();
        let view = CauseView {
            primary_count: count.primary,
            primary_percent: share,
            with_evidence_count: count.evidence,
            applications_count: NonZeroU64::new(count.applications),
            confidence: Pairs(confidence.map(|(confidence, count)| (confidence.name(), count)).collect()),
        };
        (count.cause, view)
    });
    let found = views.filter(|(_, view)| view.primary_count > 0 || view.with_evidence_count > 0);
    Pairs(found.map(|(cause, view): (Cause, _)| (cause.name(), view)).collect())
}
