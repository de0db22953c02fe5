//! Compares the tasks and attempts of an event log with what it announces.

use std::collections::{BTreeMap, BTreeSet};

use super::counted;
use crate::problem::{Level, Problems};
use crate::spark::build::{Builder, Seen, StageRecord};
use crate::spark::sums::Sums;
use elephant_model::model::spark::StageStatus;
use elephant_model::model::table::{Outcome, TaskGroup, TimePoint};

/// Tasks, attempts and stages with a problem.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    /// Tasks without an end.
    unfinished: u64,
    /// Attempts that must have ended, because their task was launched again, but have no end.
    superseded: u64,
    /// Those of them whose end reason is unknown.
    undecided_copies: u64,
    /// Announced tasks that the log does not contain.
    never_shown: u64,
    /// Stages whose sums differ from Spark's.
    disagree: u64,
    /// Stages whose sums fall short of Spark's.
    lost: u64,
    /// Unfinished tasks whose end reason is unknown.
    undecided: u64,
}

/// Warns about missing tasks and attempts, and records the gaps.
pub(super) fn verify(builder: &mut Builder, problems: &mut Problems) {
    let counts = Counts::of(builder);
    let starts = builder.without_start.len() as u64;
    warn_of_missing(&counts, starts, problems);
    warn_of_wrong(&counts, &builder.seen, problems);
    let gaps = &mut builder.spark.gaps;
    gaps.tasks = counts.unfinished + counts.never_shown;
    gaps.attempts = counts.superseded;
    gaps.starts = starts;
    gaps.unreadable += counts.lost + builder.seen.unusable_tasks;
    gaps.counters += builder.seen.impossible_counters + builder.seen.differing_sums;
}

impl Counts {
    fn of(builder: &Builder) -> Self {
        // The number of attempts of each stage, and the last one that completed.
        let mut attempts_of_stage: BTreeMap<u32, (u64, Option<u32>)> = BTreeMap::new();
        for stage in builder.stages.iter().map(|record| &record.stage) {
            let (count, completed) = attempts_of_stage.entry(stage.id.stage).or_default();
            *count += 1;
            if stage.status == StageStatus::Complete {
                *completed = (*completed).max(Some(stage.id.attempt));
            }
        }
        let mut counts = Self::default();
        for record in &builder.stages {
            let id = record.stage.id;
            let (count, completed) = attempts_of_stage.get(&id.stage).copied().unwrap_or_default();
            let is_repeated = completed > Some(id.attempt) && record.stage.status == StageStatus::Failed;
            counts.add(record, count == 1, builder.seen.undecided_ends > 0);
            if is_repeated {
                counts.unfinished -= left_running(builder, &record.group);
            }
        }
        counts
    }

    fn add(&mut self, record: &StageRecord, is_only_attempt: bool, any_undecided: bool) {
        let group = &record.group;
        self.unfinished += group.count_tasks(Outcome::Unfinished);
        self.superseded += superseded(group);
        if any_undecided {
            self.undecided_copies += copies_with_unknown_ends(group);
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
        counts.superseded - counts.undecided_copies,
        "attempt has no end in the event log, although its task was launched again",
        "attempts have no end in the event log, although their tasks were launched again",
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
        "stage has task metrics that differ from Spark's own sums; these metrics are unknown",
        "stages have task metrics that differ from Spark's own sums; these metrics are unknown",
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

/// Attempts that have no outcome although Spark must have logged their end, of tasks that another attempt completed. An
/// attempt without an end is excused if it raced with a speculative copy, or is the copy: the loser of a race has no
/// end if the application ended first, or if it did not notice that it was killed. Any other attempt has ended before
/// its task is launched again.
fn superseded(group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    let is_open = |row: usize| attempts.outcome(row) == Outcome::Unfinished;
    if !(0..attempts.len()).any(is_open) {
        return 0;
    }
    let is_copy = |row: usize| attempts.is_speculative(row) == Some(true);
    // For each task: its last attempt that is no copy, and whether it has a copy. Rows are in launch order.
    let mut races = vec![(0, false); group.tasks.len()];
    for row in 0..attempts.len() {
        if let Some((original, has_copy)) = attempts.task(row).and_then(|task| races.get_mut(task)) {
            if is_copy(row) {
                *has_copy = true;
            } else {
                *original = row;
            }
        }
    }
    let must_have_ended = |&row: &usize| {
        let task = attempts.task(row);
        let is_done = task.is_some_and(|task| group.tasks.outcome(task) == Outcome::Succeeded);
        let (original, has_copy) = task.and_then(|task| races.get(task)).copied().unwrap_or_default();
        let has_end = attempts.time(row, TimePoint::Finish).is_some();
        is_open(row) && is_done && (has_end || !(is_copy(row) || has_copy && row == original))
    };
    (0..attempts.len()).filter(must_have_ended).count() as u64
}

/// Tasks of a failed stage attempt that it left running, as far as they may have run until the application ended. If a later
/// attempt of the stage completed, it did their work.
fn left_running(builder: &Builder, group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    let is_open = |row: &usize| attempts.outcome(*row) == Outcome::Unfinished;
    let has_end = |row: usize| attempts.time(row, TimePoint::Finish).is_some();
    // An end whose outcome is unknown is no missing end.
    if (0..attempts.len()).filter(is_open).any(has_end) {
        return 0;
    }
    let ended: BTreeSet<usize> = (0..attempts.len())
        .filter(is_open)
        .filter(|&row| !builder.may_run_to_the_end(attempts, row))
        .filter_map(|row| attempts.task(row))
        .filter(|&task| group.tasks.outcome(task) == Outcome::Unfinished)
        .collect();
    group.count_tasks(Outcome::Unfinished).saturating_sub(ended.len() as u64)
}

/// Open attempts that have ended with an unknown outcome, while another attempt completed their task.
fn copies_with_unknown_ends(group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    let is_one = |&row: &usize| {
        attempts.outcome(row) == Outcome::Unfinished
            && attempts.time(row, TimePoint::Finish).is_some()
            && attempts.task(row).is_some_and(|task| group.tasks.outcome(task) == Outcome::Succeeded)
    };
    (0..attempts.len()).filter(is_one).count() as u64
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
                "task ended, but its start or end time is missing or cannot be read; its duration is unknown",
                "tasks ended, but their start or end times are missing or cannot be read; their durations are unknown",
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
