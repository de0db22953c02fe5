//! The most that a trouble can have cost, where no replay tells what its remedy saves.
//!
//! An unknown saving is not a saving of nothing: a report names the limit, and ranks the trouble by its middle.

use super::{Trouble, failed_run, measured_loss};
use crate::savings::{Amounts, Range};
use elephant_analysis::metrics::Metrics;
use elephant_base::units::{MbMillis, Millis};
use elephant_model::model::{Application, Phase, Subject};
use elephant_rule::finding::{Finding, Measure, TroubleKind as Kind};

/// The most that the trouble cost; `None` if nothing in the history limits it. `leading` is the finding that says most.
pub(super) fn of(
    app: &Application,
    metrics: &Metrics,
    trouble: &Trouble,
    leading: Option<&Finding>,
) -> Option<Amounts> {
    if failed_run::is_failure(app, trouble) {
        return Some(at_most(Amounts::used(metrics)));
    }
    match trouble.kind {
        Kind::MuchMemory | Kind::IdleExecutors => unneeded(metrics, leading).or_else(|| idle(metrics)),
        Kind::Speculation => copies(metrics, leading),
        Kind::Failures => failed_attempts(app, metrics, trouble, leading),
        Kind::Settings
        | Kind::Driver
        | Kind::Cancelled
        | Kind::Unfinished
        | Kind::Cluster
        | Kind::Imbalance
        | Kind::LittleMemory
        | Kind::FewExecutors
        | Kind::Other => None,
        kind => {
            let lost = measured_loss::of(kind, leading).wall_ms;
            let lost = lost.or_else(|| measured(kind, leading?, metrics.run_time)).filter(|lost| *lost > 0.0);
            Some(of_time(metrics, lost.or_else(|| time_of_parts(app, trouble))?))
        }
    }
}

/// The time that a finding measured, but that is not all that the trouble may have cost elsewhere.
fn measured(kind: Kind, leading: &Finding, run_time: Option<Millis>) -> Option<f64> {
    let time = |key: &str| leading.time(key).map(Millis::as_f64);
    match kind {
        Kind::Stragglers => time("delay_ms").or_else(|| time("lost_time_ms")),
        // Collections stop all tasks of an executor alike, so they have the same share of the run.
        Kind::GarbageCollection => match leading.measure("gc_ratio")? {
            Measure::Ratio(share) => Some((*share)? * run_time?.as_f64()),
            _ => None,
        },
        _ => None,
    }
}

/// The time of the stages, maps or reduces that the trouble is about.
fn time_of_parts(app: &Application, trouble: &Trouble) -> Option<f64> {
    let phases = Phase::all(app);
    let phase = |of: &Subject| phases.iter().find(|phase| phase.subject == *of);
    let time = |of| phase(of)?.duration().map(Millis::as_f64);
    trouble.subjects.iter().map(time).sum::<Option<f64>>().filter(|time| *time > 0.0)
}

/// A shorter run holds its cores and its memory for less time. Without the time of the run, only the time is limited.
fn of_time(metrics: &Metrics, lost_ms: f64) -> Amounts {
    let used = Amounts::used(metrics);
    let Some(run_time) = metrics.run_time.map(Millis::as_f64).filter(|time| *time > 0.0) else {
        return at_most(Amounts { wall_ms: exactly(lost_ms), ..Amounts::default() });
    };
    let lost_ms = lost_ms.min(run_time);
    at_most(Amounts { wall_ms: exactly(lost_ms), ..used.times(lost_ms / run_time) })
}

/// The memory that was not needed.
fn unneeded(metrics: &Metrics, leading: Option<&Finding>) -> Option<Amounts> {
    let told = leading.and_then(|leading| match leading.measure("wasted_gb_hours") {
        Some(Measure::Number(hours, _)) => *hours,
        _ => None,
    });
    let wasted = told.or_else(|| metrics.wasted.map(MbMillis::as_gb_hours))?;
    let memory = Amounts { gb_hours: Some(exactly(wasted)), ..Amounts::default() };
    (wasted > 0.0).then(|| at_most(memory))
}

/// What was held while cores were idle, if how much memory was needed is unknown.
fn idle(metrics: &Metrics) -> Option<Amounts> {
    let share = metrics.idle_percent()? / 100.0;
    let held = Amounts { wall_ms: Range::default(), ..Amounts::used(metrics) };
    (share > 0.0).then(|| at_most(held.times(share.min(1.0))))
}

/// What the attempts that failed took: without them, the run is at most as much shorter.
fn failed_attempts(
    app: &Application,
    metrics: &Metrics,
    trouble: &Trouble,
    leading: Option<&Finding>,
) -> Option<Amounts> {
    let told = leading.and_then(|leading| leading.time("failed_time_ms")).map(Millis::as_f64);
    let time = told.or_else(|| time_of_parts(app, trouble))?;
    let memory = metrics.failed_attempts.map(|failed| exactly(failed.as_gb_hours()));
    let limit = of_time(metrics, time);
    Some(Amounts { gb_hours: memory.map(at_most_of).or(limit.gb_hours), ..limit })
}

/// What losing copies took, as their share of all task time.
fn copies(metrics: &Metrics, leading: Option<&Finding>) -> Option<Amounts> {
    let Some(Measure::Ratio(Some(share))) = leading?.measure("lost_ratio") else { return None };
    let used = Amounts::used(metrics);
    Some(at_most(Amounts { wall_ms: Range::default(), ..used }.times(share.clamp(0.0, 1.0))))
}

const fn exactly(value: f64) -> Range {
    Range { low: value, point: value, high: value }
}

const fn at_most_of(range: Range) -> Range {
    Range::between(0.0, range.high.max(0.0))
}

fn at_most(amounts: Amounts) -> Amounts {
    Amounts {
        wall_ms: at_most_of(amounts.wall_ms),
        core_hours: amounts.core_hours.map(at_most_of),
        gb_hours: amounts.gb_hours.map(at_most_of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::severity::Severity;
    use elephant_base::units::{Bytes, CoreMillis};
    use elephant_model::model::Status;

    /// Whole GB·h.
    fn held(hours: u64) -> MbMillis {
        MbMillis::of(Bytes::new(hours << 30), Millis::from_secs(3600))
    }

    /// A run of 100 s that held 1,000 core-seconds and 4 GB·h, of which 1 GB·h was not needed.
    fn metrics() -> Metrics {
        Metrics {
            run_time: Some(Millis::from_secs(100)),
            cores_used: Some(CoreMillis::of(6000, Millis::from_secs(100))),
            cores_idle: Some(CoreMillis::of(4000, Millis::from_secs(100))),
            used: Some(held(4)),
            wasted: Some(held(1)),
            ..Metrics::default()
        }
    }

    fn limit(kind: Kind, status: Status, evidence: &[(&'static str, Measure)]) -> Option<(f64, f64)> {
        let app = Application { status, ..elephant_sample::app(&[]) };
        let trouble = Trouble { kind, subjects: Vec::new(), ..Trouble::named("a") };
        let mut leading = crate::troubles::tests::finding("rule", kind, Subject::Application, Severity::Low);
        leading.evidence = evidence.iter().map(|(key, told)| ((*key).into(), told.clone())).collect();
        let limit = of(&app, &metrics(), &trouble, Some(&leading))?;
        assert!(limit.wall_ms.low == 0.0 && limit.gb_hours.is_none_or(|memory| memory.low == 0.0));
        Some((limit.wall_ms.high, limit.gb_hours.unwrap().high))
    }

    #[test]
    fn each_kind_has_its_own_limit() {
        let (done, failed) = (Status::Succeeded, Status::Failed);
        let ms = |millis| Measure::Time(Millis::new(millis));
        assert_eq!(limit(Kind::Failures, failed, &[]), Some((100_000.0, 4.0)), "all of it was for nothing");
        assert_eq!(limit(Kind::Skew, done, &[("lost_ms", ms(25_000))]), Some((25_000.0, 1.0)));
        assert_eq!(limit(Kind::Skew, done, &[("lost_ms", ms(250_000))]), Some((100_000.0, 4.0)));
        assert_eq!(limit(Kind::Stragglers, done, &[("delay_ms", ms(50_000))]), Some((50_000.0, 2.0)));
        let ratio = |share| Measure::Ratio(Some(share));
        assert_eq!(limit(Kind::GarbageCollection, done, &[("gc_ratio", ratio(0.25))]), Some((25_000.0, 1.0)));
        assert_eq!(limit(Kind::Speculation, done, &[("lost_ratio", ratio(0.5))]), Some((0.0, 2.0)));
        assert_eq!(limit(Kind::IdleExecutors, done, &[]), Some((0.0, 1.0)));
        assert!(idle(&Metrics::default()).is_none(), "nothing known, nothing limited");
        let unmeasured = Metrics { wasted: None, ..metrics() };
        assert_eq!(
            idle(&unmeasured).unwrap().gb_hours.map(|memory| memory.high),
            Some(1.6),
            "40 % of 4 GB·h"
        );
        assert_eq!(limit(Kind::Failures, done, &[("failed_time_ms", ms(10_000))]), Some((10_000.0, 0.4)));
        assert_eq!(limit(Kind::Settings, done, &[("lost_ms", ms(25_000))]), None);
        assert_eq!(limit(Kind::Skew, done, &[]), None, "nothing measured, and no stage");
    }
}
