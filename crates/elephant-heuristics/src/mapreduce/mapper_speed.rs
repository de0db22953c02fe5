//! `mapper-speed`: map tasks read their input slowly (Dr. Elephant `MapperSpeedHeuristic`).

use std::sync::Arc;

use super::support::counters::{
    MissingCounters, counter, input_bytes, is_unreadable, run_time, to_bytes, to_millis, unreadable,
};
use super::support::role::Role;
use super::support::splits::{SplitLimits, Target, Unsplittable, split_for};
use super::support::tasks::{no_task_reports, tasks, without_tasks};
use crate::declare::mapreduce as rule;
use elephant_base::severity::Severity;
use elephant_base::stats::{median, truncated_mean};
use elephant_base::units::{BytesPerSecond, three_digits};
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskGroup;
use elephant_rule::finding::{Advice, Judgement, Measure, Verdict, Worse};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Duration, Quantity, Ratio, Speed};
use elephant_rule::params::{Positive, choice, rule_params};
use elephant_rule::wording::limit;

choice! {
    /// How the values of all map tasks are averaged.
    pub(super) enum Middle {
        /// The median, which stragglers do not affect.
        Median = "median",
        /// The mean, as in Dr. Elephant 0.4.
        Mean = "mean",
    }
}

rule_params! {
    /// Parameters of `mapper-speed`.
    pub(super) struct MapperSpeed / MapperSpeedLayer {
        /// Whether only succeeded jobs are judged. If false, failed and killed jobs are judged by their
        /// succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Input read per second.
        speed: Descending<Speed>,
        /// Median (or mean) run time of the map tasks.
        run_time: Ascending<Duration>,
        /// Tasks whose CPU time is at least this share of their run time compute.
        computing_share: Quantity<Ratio>,
        /// Severity at most if tasks compute: what they read is not what slows them down.
        computing_at_most: Severity,
        /// How speed and run time are averaged over the map tasks: median, or mean as in Dr. Elephant
        /// 0.4.
        middle: Middle,
        /// Run time per task that advice aims at.
        target_run_time: Positive<Duration>,
        /// Largest share of the time in which tasks of the job ran that a task should take. Short jobs
        /// need shorter tasks.
        target_share: Positive<Ratio>,
        /// The part of a task's run time that does not depend on its input, for advice.
        start_up_cost: Quantity<Duration>,
        /// Time that each map task needs before it reads. It is subtracted from the run time.
        start_up: Quantity<Duration>,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "0.4.0" }, "mapper-speed", "Mapper Speed", tells SlowTasks, MapperSpeed, |layers, advice| load_advised(
        layers, advice, Reading
    ))
    .measured_by("speed_bytes_per_second", Worse::Lower);

/// The message of a finding.
const MESSAGE: &str = "a map task reads {input_bytes} in {run_time_ms}, {speed_bytes_per_second} ({limit})";

struct Reading(MapperSpeed, Arc<AdviceParams>);

/// The counters of the bytes that a map task reads, and of the bytes of its split's description.
const READ: [Counter; 6] = [
    Counter::HdfsBytesRead,
    Counter::S3BytesRead,
    Counter::S3aBytesRead,
    Counter::S3nBytesRead,
    Counter::OtherFsBytesRead,
    Counter::SplitRawBytes,
];

/// Input, run time and speed of one map task.
struct Sample {
    /// Whether it read more than the description of its split, which every map task fetches.
    reads_files: bool,
    bytes: i64,
    millis: i64,
    speed: i64,
}

impl Check for Reading {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let Some(group) = tasks(app, Role::Map.kind(), params.only_succeeded_jobs) else {
            return without_tasks(app, Role::Map.kind(), params.only_succeeded_jobs);
        };
        if let Some(reason) = unreadable(app, Role::Map.kind(), &READ) {
            return Verdict::NotEvaluated(reason);
        }
        let samples: Vec<Sample> = group.winners().filter_map(|row| params.sample(group, row)).collect();
        let nothing_read = !samples.iter().any(|sample| sample.reads_files);
        if params.missing_counters == MissingCounters::Unknown && nothing_read {
            let what = "bytes read from a file system and a run time";
            return Verdict::NotEvaluated(no_task_reports(Role::Map, group, what));
        }
        let middle = |part: fn(&Sample) -> i64| {
            let values: Vec<i64> = samples.iter().map(part).collect();
            match params.middle {
                Middle::Median => median(&values),
                Middle::Mean => truncated_mean(&values),
            }
        };
        let (Some(speed), Some(millis), Some(bytes)) =
            (middle(|s| s.speed), middle(|s| s.millis), middle(|s| s.bytes))
        else {
            return Verdict::NotEvaluated(no_task_reports(Role::Map, group, "a run time above zero"));
        };
        let conditions = [
            ("speed", params.speed.severity(speed as f64), params.speed.describe(Severity::Low)),
            ("run_time", params.run_time.severity(millis as f64), params.run_time.describe(Severity::Low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let computes = busy(group).is_some_and(|busy| busy >= params.computing_share.get());
        let severity = if computes { severity.min(params.computing_at_most) } else { severity };
        let shown = BytesPerSecond::new(speed as f64);
        Judgement::of(Role::Map.subject(), severity)
            .tasks(group.tasks.len() as u64)
            .fact("tasks_count", Measure::Count(group.tasks.len() as u64))
            .fact("input_bytes", Measure::Size(to_bytes(bytes)))
            .fact("run_time_ms", Measure::Time(to_millis(millis)))
            .fact("speed_bytes_per_second", Measure::Speed(shown))
            .fact("total_input_bytes", Measure::Size(samples.iter().map(|s| to_bytes(s.bytes)).sum()))
            .message(MESSAGE, &[("limit", &limit(severity, params.speed.describe(severity), &conditions))])
            .advice(|| advice(app, group, bytes, severity, params))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

impl MapperSpeed {
    fn sample(&self, group: &TaskGroup, row: usize) -> Option<Sample> {
        let bytes = input_bytes(group, row, self.missing_counters)?;
        let millis = run_time(group, row)?;
        let millis = match elephant_base::units::Millis::from_f64(self.start_up.get()) {
            Some(start_up) if start_up.get() > 0 => millis.saturating_sub_unsigned(start_up.get()).max(1000),
            _ => millis,
        };
        // A task without run time has no speed. Dr. Elephant divides by zero here.
        let speed = i128::from(bytes).checked_mul(1000)?.checked_div(i128::from(millis))?;
        let split = group.attempts.counter(row, Counter::SplitRawBytes).unwrap_or_default();
        let speed = i64::try_from(speed).unwrap_or(i64::MAX);
        Some(Sample { reads_files: bytes > split, bytes, millis, speed })
    }
}

/// Mean CPU time as a share of mean run time.
fn busy(group: &TaskGroup) -> Option<f64> {
    let known = !is_unreadable(group, &[Counter::CpuMilliseconds]);
    let rows = group.winners().filter(|_| known);
    let times =
        rows.filter_map(|row| counter(group, row, Counter::CpuMilliseconds, MissingCounters::Unknown));
    let cpu = truncated_mean(&times.collect::<Vec<_>>()).filter(|&cpu| cpu > 0)?;
    let times: Vec<i64> = group.winners().filter_map(|row| run_time(group, row)).collect();
    Some(cpu as f64 / truncated_mean(&times)?.max(1) as f64)
}

fn advice(
    app: &Advised<'_>,
    group: &TaskGroup,
    bytes: i64,
    severity: Severity,
    params: &MapperSpeed,
) -> Vec<Advice> {
    let times: Vec<i64> = group.winners().filter_map(|row| run_time(group, row)).collect();
    let mut advice = match busy(group) {
        Some(busy) if busy >= params.computing_share.get() => {
            let percent = three_digits(100.0 * busy);
            vec![Advice::new(format!(
                "the map tasks are CPU-bound: CPU time is {percent} % of their run time; profile the map code"
            ))]
        }
        Some(busy) => {
            let percent = three_digits(100.0 * busy);
            vec![Advice::new(format!(
                "the map tasks are I/O-bound: CPU time is only {percent} % of their run time; check calls to other services, \
                 remote reads and busy disks"
            ))]
        }
        None => vec![
            "find out whether the map tasks are CPU-bound or I/O-bound: the job history has no CPU time"
                .into(),
        ],
    };
    let target = Target {
        run_time: params.target_run_time,
        share: params.target_share,
        start_up: params.start_up_cost,
    };
    // Without an effect on the severity, a change is not worth its risk.
    let enough = truncated_mean(&times).is_some_and(|mean| {
        let after = target.mean_after(mean, target.growth(app, group, mean));
        params.run_time.severity(after) < severity
    });
    let size = split_for(app, group, target).filter(|size| enough && *size < to_bytes(bytes));
    advice.extend(size.and_then(|size| {
        if let Some(unsplittable) = Unsplittable::of(app, to_bytes(bytes)) {
            return Some(unsplittable.advice().into());
        }
        // `mapper-time` judges splits that a setting makes large.
        let computes = params.computing_at_most < Severity::Critical;
        if computes && SplitLimits::of(app).setting_explains(to_bytes(bytes)) {
            return None;
        }
        let changes = SplitLimits::of(app).smaller(app, size);
        let mean = truncated_mean(&times).unwrap_or_default();
        let aim = format!(" ({size}) for about {} per map task", target.shown(app, group, mean));
        (!changes.is_empty()).then(|| Advice::new("meanwhile use more map tasks").set(changes).and(&aim))
    }));
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_compute_do_not_read_slowly() {
        // 64 MiB in 40 minutes, with this many of them on the CPU.
        let severity = |minutes: i64, dr_elephant| {
            let mut group = elephant_sample::maps(&[(2400, 64); 4]);
            for row in 0..4 {
                group.attempts.set_counter(row, Counter::CpuMilliseconds, Some(minutes * 60_000));
            }
            elephant_sample::severity(&elephant_sample::job(vec![group], &[]), RULE.id, dr_elephant)
        };
        assert_eq!(severity(10, false), Some(Severity::Critical));
        assert_eq!(severity(30, false), Some(Severity::Low));
        assert_eq!(severity(30, true), Some(Severity::Critical));
    }
}
