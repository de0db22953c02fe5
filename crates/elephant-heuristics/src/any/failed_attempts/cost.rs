//! What attempts cost whose work was lost: those that failed, and those whose containers the cluster took away.

use std::collections::BTreeSet;

use crate::mapreduce::waiting_for_maps;
use elephant_analysis::root_cause::{Collector, Places, Roots};
use elephant_analysis::task_time::{time_of, time_of_parts, time_of_tasks};
use elephant_base::units::Millis;
use elephant_model::diagnosis::taken_away;
use elephant_model::model::table::{EndReason, Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{Failure, Measure};

/// The costs of failed attempts.
#[derive(Default)]
pub(super) struct Cost {
    pub(super) attempts: u64,
    /// Attempts whose work was lost: they failed, the cluster took their containers away, or they may not commit.
    pub(super) lost: u64,
    /// Those whose containers the cluster took away.
    pub(super) taken: u64,
    /// Those of Spark that finished and were not allowed to commit their output, so that their tasks ran again.
    pub(super) denied: u64,
    /// Those that were lost with their executor, those of reduce tasks, and those without a run time.
    pub(super) with_executor: u64,
    pub(super) reduces: u64,
    untold: u64,
    /// Whether the ends of attempts that started are unknown.
    pub(super) any_open: bool,
    /// The time of the lost attempts, and of all.
    pub(super) time: Millis,
    pub(super) all_time: Millis,
    /// The time in which only lost attempts ran, the time in which any of them ran, and that of all attempts. Reduce
    /// tasks that wait for map tasks do nothing else, so they do not count as others that ran.
    pub(super) alone: Millis,
    pub(super) any: Millis,
    ran: Millis,
    /// The number of tasks with a failed attempt.
    failed_tasks: u64,
    /// The kind of tasks that failed most, by its share (MapReduce).
    pub(super) most_failed: Option<FailedKind>,
    /// The attempts by host, and by executor.
    pub(super) hosts: Places,
    executors: Places,
    /// The root causes of failed attempts.
    pub(super) roots: Roots,
}

/// The tasks of a kind that failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FailedKind {
    pub(super) kind: TaskKind,
    pub(super) share: f64,
    pub(super) failed: u64,
}

impl Cost {
    /// The share of failed tasks counts if they are `several`.
    pub(super) fn of(app: &Application, several: f64) -> Self {
        let mut cost = Self::default();
        let mut collector = Collector::new(app);
        let groups = &app.groups;
        let taken: Vec<BTreeSet<usize>> = groups.iter().map(|group| taken_away(app, group)).collect();
        let is_taken = |place: usize, row: usize| taken.get(place).is_some_and(|taken| taken.contains(&row));
        let is_denied = |place: usize, row: usize| {
            groups.get(place).is_some_and(|group| group.runs_again_after_denial(row))
        };
        let is_lost = |place: usize, row: usize| {
            let outcome = groups.get(place).map(|group| group.attempts.outcome(row));
            outcome == Some(Outcome::Failed) || is_taken(place, row) || is_denied(place, row)
        };
        let has_lost =
            |(place, group): (usize, &TaskGroup)| (0..group.attempts.len()).any(|row| is_lost(place, row));
        if !groups.iter().enumerate().any(has_lost) {
            return Self::without_loss(app, several);
        }
        for (place, group) in groups.iter().enumerate() {
            let attempts = &group.attempts;
            collector.add_rows(group, |row| is_lost(place, row), |_| true);
            let mut failed_tasks = BTreeSet::new();
            for row in 0..attempts.len() {
                let time = attempts.run_time(row);
                let (is_lost, is_taken, is_denied) =
                    (is_lost(place, row), is_taken(place, row), is_denied(place, row));
                // What the cluster takes away, or the driver denies, says nothing about the node.
                let has_failed = is_lost && !is_taken && !is_denied;
                cost.hosts.add(attempts.node(row), has_failed);
                cost.executors.add(attempts.executor(row), has_failed);
                cost.attempts += 1;
                cost.all_time = cost.all_time + time.unwrap_or_default();
                cost.any_open |= time.is_none() && attempts.time(row, TimePoint::Start).is_some();
                if !is_lost {
                    continue;
                }
                cost.lost += 1;
                cost.taken += u64::from(is_taken);
                cost.denied += u64::from(is_denied);
                cost.reduces += u64::from(group.kind == TaskKind::Reduce);
                cost.untold += u64::from(time.is_none());
                cost.time = cost.time + time.unwrap_or_default();
                let with_executor = attempts.end_reason(row) == Some(EndReason::ExecutorLost);
                cost.with_executor += u64::from(with_executor);
                failed_tasks.extend(attempts.task(row).filter(|_| has_failed));
            }
            cost.add_failed_tasks(app, group, (failed_tasks.len() as u64, several));
        }
        cost.roots = collector.finish();
        cost.ran = time_of_tasks(app);
        let waits: Vec<_> = groups.iter().map(|group| waiting_for_maps(app, group)).collect();
        let waited = |place: usize, row: usize| waits.get(place).map_or(0, |wait| wait(row));
        let of_others =
            |place, row| (!is_lost(place, row)).then(|| Millis::new(waited(place, row).unsigned_abs()));
        let others = time_of_parts(app, of_others);
        let all = time_of_parts(app, |place, row| of_others(place, row).or(Some(Millis::ZERO)));
        cost.any = time_of(app, is_lost);
        cost.alone = Millis::new(all.get().saturating_sub(others.get()));
        cost
    }

    /// The costs of an application that lost no attempt: where its attempts ran does not matter.
    fn without_loss(app: &Application, several: f64) -> Self {
        let mut cost = Self { roots: Collector::new(app).finish(), ..Self::default() };
        for group in &app.groups {
            let attempts = &group.attempts;
            cost.attempts += attempts.len() as u64;
            for row in 0..attempts.len() {
                match attempts.run_time(row) {
                    Some(time) => cost.all_time = cost.all_time + time,
                    None => cost.any_open |= attempts.time(row, TimePoint::Start).is_some(),
                }
            }
            cost.add_failed_tasks(app, group, (0, several));
        }
        cost
    }

    fn add_failed_tasks(&mut self, app: &Application, group: &TaskGroup, (failed, several): (u64, f64)) {
        self.failed_tasks += failed;
        let share = failed as f64 / group.tasks.len().max(1) as f64;
        let is_most = self.most_failed.is_none_or(|most| share > most.share);
        if app.engine == Engine::MapReduce && failed as f64 >= several && is_most {
            self.most_failed = Some(FailedKind { kind: group.kind, share, failed });
        }
    }

    /// The share of the time in which tasks ran that only failed attempts ran in.
    pub(super) fn lost_share(&self) -> f64 {
        self.share_of_run(self.alone)
    }

    /// A time as a share of that in which tasks ran.
    pub(super) fn share_of_run(&self, time: Millis) -> f64 {
        time.as_f64() / self.ran.as_f64().max(1.0)
    }

    /// The number of attempts that failed by themselves.
    pub(super) const fn failed(&self) -> u64 {
        self.lost - self.taken - self.denied
    }

    /// How the attempts ended whose work was lost.
    pub(super) const fn ended(&self) -> &'static str {
        match (self.taken, self.denied) {
            (0, 0) => "failed",
            (taken, _) if taken == self.lost => "were killed by the cluster",
            (_, denied) if denied == self.lost => "were not allowed to commit their output",
            (_, 0) => "failed or were killed by the cluster",
            (0, _) => "failed or were not allowed to commit their output",
            _ => "failed, were killed by the cluster or were not allowed to commit their output",
        }
    }

    /// The evidence, with the share of task time that failed attempts took.
    pub(super) fn evidence(&self, share: f64) -> Vec<(&'static str, Measure)> {
        let mut evidence = vec![
            ("attempts_count", Measure::Count(self.attempts)),
            ("failed_attempts_count", Measure::Count(self.failed())),
            ("failed_attempts_untold_count", Measure::Count(self.untold)),
            ("failed_time_ms", Measure::Time(self.time)),
            ("task_time_ms", Measure::Time(self.all_time)),
            ("failed_ratio", Measure::Ratio(Some(share))),
            ("lost_ms", Measure::Time(self.alone)),
            ("lost_ratio", Measure::Ratio(Some(self.lost_share()))),
        ];
        if self.taken > 0 {
            evidence.push(("taken_attempts_count", Measure::Count(self.taken)));
        }
        if self.denied > 0 {
            evidence.push(("denied_attempts_count", Measure::Count(self.denied)));
        }
        evidence
    }

    /// Blames the node instead of the code if all failures of several tasks happened in one place and the application
    /// did not fail; otherwise the failure as it is.
    pub(super) fn failure_of(&self, app: &Application, failure: Failure) -> Failure {
        let in_one_place = self.hosts.is_only_worst(app) || self.executors.is_only_worst(app);
        let of_place = in_one_place && self.failed_tasks > 1 && app.status != Status::Failed;
        if of_place && failure.kind.blames_code() { failure.of_node() } else { failure }
    }
}
