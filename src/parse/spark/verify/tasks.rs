//! Compares the tasks and attempts of an event log with what it announces.

use std::collections::BTreeMap;

use super::counted;
use crate::model::spark::StageStatus;
use crate::model::table::{Outcome, TaskGroup, TimePoint};
use crate::parse::problem::{Level, Problems};
use crate::parse::spark::build::{Builder, Seen, StageRecord};
use crate::parse::spark::sums::Sums;

/// Tasks, attempts and stages with a problem.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    /// Tasks without an end.
    unfinished: u64,
    /// Attempts without an end whose task succeeded.
    superfluous: u64,
    /// Announced tasks that the log does not contain.
    never_shown: u64,
    /// Stages whose sums differ from Spark's.
    disagree: u64,
    /// Stages whose sums fall short of Spark's.
    lost: u64,
    /// Unfinished tasks whose end reason is unknown.
    undecided: u64,
    /// Superfluous attempts whose end reason is unknown.
    undecided_copies: u64,
}

/// Warns about missing tasks and attempts, and records the gaps.
pub(super) fn verify(builder: &mut Builder, problems: &mut Problems) {
    let counts = Counts::of(builder);
    let starts = builder.without_start.len() as u64;
    warn_of_missing(&counts, starts, problems);
    warn_of_wrong(&counts, &builder.seen, problems);
    let gaps = &mut builder.spark.gaps;
    gaps.tasks = counts.unfinished + counts.never_shown;
    gaps.attempts = counts.superfluous;
    gaps.starts = starts;
    gaps.unreadable += counts.lost + builder.seen.unusable_tasks;
    gaps.counters += builder.seen.impossible_counters;
}

impl Counts {
    fn of(builder: &Builder) -> Self {
        let mut attempts_of_stage: BTreeMap<u32, u64> = BTreeMap::new();
        for record in &builder.stages {
            *attempts_of_stage.entry(record.stage.id.stage).or_default() += 1;
        }
        let mut counts = Self::default();
        for record in &builder.stages {
            let is_only_attempt = attempts_of_stage.get(&record.stage.id.stage) == Some(&1);
            counts.add(record, is_only_attempt, builder.seen.undecided_ends > 0);
        }
        counts
    }

    fn add(&mut self, record: &StageRecord, is_only_attempt: bool, any_undecided: bool) {
        let group = &record.group;
        self.unfinished += group.count_tasks(Outcome::Unfinished);
        let open =
            (0..group.attempts.len()).filter(|&row| group.attempts.outcome(row) == Outcome::Unfinished);
        let copies = open.filter(|&row| {
            let task = group.attempts.task(row);
            task.is_some_and(|task| group.tasks.outcome(task) == Outcome::Succeeded)
        });
        for row in copies {
            self.superfluous += 1;
            self.undecided_copies += u64::from(group.attempts.time(row, TimePoint::Finish).is_some());
        }
        if any_undecided {
            self.undecided += tasks_with_unknown_ends(group);
        }
        if record.stage.status == StageStatus::Complete && is_only_attempt {
            // A later attempt of a stage may run only the tasks that remain.
            let announced = record.stage.announced_tasks.unwrap_or_default();
            self.never_shown += announced.saturating_sub(group.tasks.len() as u64);
        }
        self.disagree += u64::from(record.sums != Sums::Agree);
        self.lost += u64::from(record.sums == Sums::FallShort);
    }
}

/// Warns if `count` is not 0.
fn say(problems: &mut Problems, level: Level, code: &'static str, count: u64, one: &str, many: &str) {
    if count > 0 {
        problems.add(level, code, None, || counted(count, one, many));
    }
}

fn warn_of_missing(counts: &Counts, starts: u64, problems: &mut Problems) {
    let mut warn =
        |code, count: u64, one: &str, many: &str| say(problems, Level::Warning, code, count, one, many);
    warn(
        "task-ends-missing",
        counts.unfinished - counts.undecided,
        "task was started but has no end in the event log",
        "tasks were started but have no end in the event log",
    );
    warn(
        "attempt-ends-missing",
        counts.superfluous - counts.undecided_copies,
        "attempt has no end in the event log, but another attempt completed its task",
        "attempts have no end in the event log, but other attempts completed their tasks",
    );
    warn(
        "tasks-missing",
        counts.never_shown,
        "task was announced by its stage but is not in the event log",
        "tasks were announced by their stages but are not in the event log",
    );
    warn(
        "task-starts-missing",
        starts,
        "task has an end but no start in the event log",
        "tasks have an end but no start in the event log",
    );
}

fn warn_of_wrong(counts: &Counts, seen: &Seen, problems: &mut Problems) {
    let mut say =
        |level, code, count: u64, one: &str, many: &str| say(problems, level, code, count, one, many);
    let (warning, info) = (Level::Warning, Level::Info);
    say(
        warning,
        "totals-disagree",
        counts.disagree,
        "stage has task metrics that differ from Spark's own sums",
        "stages have task metrics that differ from Spark's own sums",
    );
    say(
        info,
        "task-ends-repeated",
        seen.repeated_ends,
        "task has two ends; the first one is used",
        "tasks have two ends; the first ones are used",
    );
    say(
        warning,
        "impossible-counter",
        seen.impossible_counters,
        "task counter is impossibly large; it is unknown",
        "task counters are impossibly large; they are unknown",
    );
    say(
        warning,
        "tasks-unusable",
        seen.unusable_tasks,
        "task event lacks its ids and was skipped",
        "task events lack their ids and were skipped",
    );
}

/// Tasks whose open attempts have all ended with an unknown outcome.
fn tasks_with_unknown_ends(group: &TaskGroup) -> u64 {
    let mut running = vec![false; group.tasks.len()];
    let mut ended = running.clone();
    for row in 0..group.attempts.len() {
        let is_open = group.attempts.outcome(row) == Outcome::Unfinished;
        let has_end = group.attempts.time(row, TimePoint::Finish).is_some();
        let list = if has_end { &mut ended } else { &mut running };
        if let Some(slot) = group.attempts.task(row).and_then(|task| list.get_mut(task)) {
            *slot |= is_open;
        }
    }
    let tasks = ended.into_iter().zip(running).enumerate();
    let unknown = tasks.filter(|&(task, (ended, running))| {
        ended && !running && group.tasks.outcome(task) == Outcome::Unfinished
    });
    unknown.count() as u64
}

/// Warns about ends without a time, or after the end of the application.
pub(super) fn verify_ends(builder: &mut Builder, problems: &mut Problems) {
    let Seen { without_time, after_the_end, .. } = builder.seen;
    builder.spark.gaps.unreadable += without_time + after_the_end;
    if without_time > 0 {
        problems.warn("end-without-time", None, || {
            counted(
                without_time,
                "task succeeded, but its start or end time is missing; its duration is unknown",
                "tasks succeeded, but their start or end times are missing; their durations are unknown",
            )
        });
    }
    if after_the_end > 0 {
        problems.warn("time-outside-application", None, || {
            counted(
                after_the_end,
                "task ended more than a minute after its application; its end time is unknown",
                "tasks ended more than a minute after their application; their end times are unknown",
            )
        });
    }
}
