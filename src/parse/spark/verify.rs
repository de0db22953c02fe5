//! Compares what an event log announces with what it contains, and reports what is missing.

use std::collections::{BTreeMap, BTreeSet};

use super::build::{BeyondLimit, Builder, Seen};
use super::task_metrics::SUMMED;
use crate::limits::{self, Remainder};
use crate::model::Status;
use crate::model::counters::Counter;
use crate::model::spark::{JobResult, StageStatus};
use crate::model::table::{Attempts, Outcome, TaskGroup, TimePoint};
use crate::parse::problem::{Level, Problems};

/// Spark's own sums over the tasks of a stage, from the end of the stage.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    values: [Option<i64>; SUMMED.len()],
}

impl Totals {
    pub(super) fn of(totals: &[(Counter, i64)]) -> Self {
        let find = |counter| totals.iter().find(|(known, _)| *known == counter).map(|(_, value)| *value);
        Self { values: SUMMED.map(|(_, counter)| find(counter)) }
    }
}

/// Whether a log is complete, judging by the files around it.
#[derive(Debug, Clone, Default)]
pub struct Completeness {
    /// Whether markers say that the application was still running; `None` without markers.
    pub in_progress: Option<bool>,
    /// Whether the log was compacted.
    pub compacted: bool,
    /// Number of missing parts.
    pub missing_parts: u64,
}

/// Fills in the gaps, the application's status and whether it is complete.
pub(super) fn verify(builder: &mut Builder, completeness: &Completeness, problems: &mut Problems) {
    limit(builder, problems);
    tasks(builder, problems);
    stages(builder, problems);
    jobs(builder, problems);
    executors(builder, problems);
    super::cross_check::verify(builder, problems);
    ends(builder, completeness, problems);
    clocks(builder, problems);
    ends_of_tasks(builder, problems);
    rollovers(builder, problems);
    moments_of_application(builder, problems);
    let gaps = &mut builder.spark.gaps;
    gaps.compacted = completeness.compacted;
    gaps.unreadable += completeness.missing_parts;
    gaps.missing_parts = completeness.missing_parts > 0;
    builder.app.status = status(builder, completeness);
    builder.app.complete = builder.spark.gaps.none();
}

/// A start or end event without a readable time counts as missing.
fn moments_of_application(builder: &mut Builder, problems: &mut Problems) {
    let begins = builder.seen.application_start && builder.app.submitted_at.is_none();
    let ends = builder.seen.application_end && builder.app.finished_at.is_none();
    if begins || ends {
        builder.spark.gaps.beginning |= begins;
        builder.spark.gaps.end |= ends;
        let which = match (begins, ends) {
            (true, true) => "began or ended",
            (true, false) => "began",
            _ => "ended",
        };
        problems.warn("application-time-unknown", None, || {
            format!(
                "the event log has no valid time at which the application {which}; its run time is unknown"
            )
        });
    }
}

fn limit(builder: &mut Builder, problems: &mut Problems) {
    let BeyondLimit { attempts, blocks, driver_values, others } = builder.seen.beyond_limit;
    if attempts + driver_values + others > 0 {
        builder.limit.get_or_insert(limits::TASKS);
    }
    // Without some cached blocks, only the storage memory of executors is unknown.
    builder.spark.gaps.blocks_beyond_limit = blocks > 0;
    if attempts + driver_values + others + blocks > 0 {
        let most = builder.limits.tasks.unwrap_or_default();
        let kinds = [
            (attempts, format!("more than {most} tasks or attempts")),
            (blocks, format!("more than {most} cached blocks")),
            (driver_values, format!("more than {most} values of the driver's metrics")),
            (others, "too many stages, jobs, executors or queries".to_owned()),
        ];
        let kinds: Vec<String> =
            kinds.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
        problems.warn(limits::REACHED, None, || {
            format!("it has {}; the rest was skipped (raise --max-tasks)", kinds.join(" and "))
        });
    }
    let stages = || builder.stages.iter();
    builder.spark.gaps.limit = builder.limit.map(|option| Remainder {
        option,
        kept: stages().map(|record| record.group.tasks.len() as u64).sum(),
        announced: stages().map(|record| record.stage.announced_tasks).sum(),
    });
}

fn tasks(builder: &mut Builder, problems: &mut Problems) {
    let mut attempts_of_stage: BTreeMap<u32, u64> = BTreeMap::new();
    for record in &builder.stages {
        *attempts_of_stage.entry(record.stage.id.stage).or_default() += 1;
    }
    let (mut unfinished, mut superfluous, mut never_shown, mut disagree, mut lost) = (0, 0, 0, 0, 0);
    // Tasks and attempts whose end reason is unknown.
    let (mut undecided, mut undecided_copies) = (0, 0);
    for record in &builder.stages {
        let group = &record.group;
        unfinished += group.count_tasks(Outcome::Unfinished);
        let open =
            (0..group.attempts.len()).filter(|&row| group.attempts.outcome(row) == Outcome::Unfinished);
        let copies = open.filter(|&row| {
            let task = group.attempts.task(row);
            task.is_some_and(|task| group.tasks.outcome(task) == Outcome::Succeeded)
        });
        for row in copies {
            superfluous += 1;
            undecided_copies += u64::from(group.attempts.time(row, TimePoint::Finish).is_some());
        }
        if builder.seen.undecided_ends > 0 {
            undecided += tasks_with_unknown_ends(group);
        }
        let is_only_attempt = attempts_of_stage.get(&record.stage.id.stage) == Some(&1);
        if record.stage.status == StageStatus::Complete && is_only_attempt {
            // A later attempt of a stage may run only the tasks that remain.
            let announced = record.stage.announced_tasks.unwrap_or_default();
            never_shown += announced.saturating_sub(group.tasks.len() as u64);
        }
        disagree += u64::from(record.sums != Sums::Agree);
        lost += u64::from(record.sums == Sums::FallShort);
    }
    let gaps = &mut builder.spark.gaps;
    gaps.tasks = unfinished + never_shown;
    gaps.attempts = superfluous;
    gaps.starts = builder.without_start.len() as u64;
    let mut say = |level, code, count: u64, one: &str, many: &str| {
        if count > 0 {
            problems.add(level, code, None, || counted(count, one, many));
        }
    };
    let (warning, info) = (Level::Warning, Level::Info);
    say(
        warning,
        "task-ends-missing",
        unfinished - undecided,
        "task was started but has no end in the event log",
        "tasks were started but have no end in the event log",
    );
    say(
        warning,
        "attempt-ends-missing",
        superfluous - undecided_copies,
        "attempt has no end in the event log, but another attempt completed its task",
        "attempts have no end in the event log, but other attempts completed their tasks",
    );
    say(
        warning,
        "tasks-missing",
        never_shown,
        "task was announced by its stage but is not in the event log",
        "tasks were announced by their stages but are not in the event log",
    );
    say(
        warning,
        "task-starts-missing",
        gaps.starts,
        "task has an end but no start in the event log",
        "tasks have an end but no start in the event log",
    );
    say(
        warning,
        "totals-disagree",
        disagree,
        "stage has task metrics that differ from Spark's own sums",
        "stages have task metrics that differ from Spark's own sums",
    );
    say(
        info,
        "task-ends-repeated",
        builder.seen.repeated_ends,
        "task has two ends; the first one is used",
        "tasks have two ends; the first ones are used",
    );
    say(
        warning,
        "impossible-counter",
        builder.seen.impossible_counters,
        "task counter is impossibly large; it is unknown",
        "task counters are impossibly large; they are unknown",
    );
    say(
        warning,
        "tasks-unusable",
        builder.seen.unusable_tasks,
        "task event lacks its ids and was skipped",
        "task events lack their ids and were skipped",
    );
    gaps.unreadable += lost + builder.seen.unusable_tasks;
    gaps.counters += builder.seen.impossible_counters;
    super::unreadable::verify(builder, problems);
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

/// Compares our sums over the tasks of a stage with Spark's own sums at the end of the stage.
///
/// Spark sums and logs in the same order, so both are equal unless something was lost or changed. Tasks that
/// end after their stage, such as speculative copies that lost, are in neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Sums {
    #[default]
    Agree,
    /// Values differ, but not because of a lost task.
    Differ,
    /// Spark's sums include more run time: ends of tasks are missing.
    FallShort,
}

impl Totals {
    pub(super) fn compare(&self, attempts: &Attempts) -> Sums {
        let mut sums = Sums::Agree;
        for ((_, counter), total) in SUMMED.iter().zip(self.values) {
            // Unreadable counters are reported elsewhere.
            let total = total.filter(|_| !attempts.any_unreadable().has(*counter));
            let Some(total) = total.map(i128::from) else { continue };
            let rows = 0..attempts.len();
            let sum: i128 = rows.filter_map(|row| attempts.counter(row, *counter)).map(i128::from).sum();
            if *counter == Counter::ExecutorRunTime && sum < total {
                return Sums::FallShort;
            }
            if sum != total {
                sums = Sums::Differ;
            }
        }
        sums
    }
}

fn stages(builder: &mut Builder, problems: &mut Problems) {
    let without_end = builder.stages.iter().filter(|record| !record.completed).count() as u64;
    let without_start = builder.stages.iter().filter(|record| !record.submitted).count() as u64;
    let either = builder.stages.iter().filter(|record| !record.completed || !record.submitted).count() as u64;
    let impossible = builder.stages.iter().filter(|record| record.impossible_task_count).count() as u64;
    builder.spark.gaps.stages = either + impossible;
    if impossible > 0 {
        problems.warn("impossible-task-count", None, || {
            counted(
                impossible,
                "stage announces a task count that is not a number, or impossibly large; its task count is unknown",
                "stages announce task counts that are not numbers, or impossibly large; their task counts are \
                 unknown",
            )
        });
    }
    if without_end > 0 {
        problems.warn("stage-ends-missing", None, || {
            counted(without_end, "stage has no end in the event log", "stages have no end in the event log")
        });
    }
    if without_start > 0 {
        problems.warn("stage-starts-missing", None, || {
            counted(
                without_start,
                "stage has no submission in the event log",
                "stages have no submission in the event log",
            )
        });
    }
}

fn jobs(builder: &mut Builder, problems: &mut Problems) {
    let without_end = builder.jobs.iter().filter(|job| !job.has_end).count() as u64;
    let without_result = builder.jobs.iter().filter(|job| job.has_end && job.result.is_none()).count() as u64;
    let without_start = builder.seen.job_ends_without_start;
    builder.spark.gaps.jobs = without_end + without_start + without_result;
    if without_end > 0 {
        problems.warn("job-ends-missing", None, || {
            counted(without_end, "job has no end in the event log", "jobs have no end in the event log")
        });
    }
    if without_result > 0 {
        problems.warn("job-results-unknown", None, || {
            counted(
                without_result,
                "job has a result other than JobSucceeded and JobFailed; its outcome is unknown",
                "jobs have a result other than JobSucceeded and JobFailed; their outcomes are unknown",
            )
        });
    }
    if without_start > 0 {
        problems.warn("job-starts-missing", None, || {
            counted(without_start, "job has no start in the event log", "jobs have no start in the event log")
        });
    }
}

fn executors(builder: &mut Builder, problems: &mut Problems) {
    let used = |executor: &&crate::model::spark::Executor| executor.totals.tasks > 0;
    let never_added =
        builder.spark.executors.iter().filter(used).filter(|executor| executor.added_at.is_none());
    let count = never_added.count() as u64;
    let half_removed = |executor: &&crate::model::spark::Executor| {
        executor.removed_at.is_some() && executor.removed_reason.is_none()
    };
    let removed = builder.spark.executors.iter().filter(half_removed).count() as u64;
    builder.spark.gaps.executors = count + removed;
    if count > 0 {
        problems.warn("executors-missing", None, || {
            counted(
                count,
                "executor ran tasks but was never added; its lifetime is unknown",
                "executors ran tasks but were never added; their lifetimes are unknown",
            )
        });
    }
}

fn ends(builder: &mut Builder, completeness: &Completeness, problems: &mut Problems) {
    let seen = builder.seen;
    let gaps = &mut builder.spark.gaps;
    gaps.beginning = !seen.application_start;
    gaps.end = !seen.application_end;
    gaps.configuration = !seen.environment;
    if gaps.beginning && seen.events > 0 {
        problems.warn("no-application-start", None, || {
            "the event log lacks the application's start; its run time is unknown".to_owned()
        });
    }
    if gaps.end && seen.events > 0 {
        let why = if completeness.in_progress == Some(true) {
            "it is marked as still running"
        } else {
            "it was still running, or its driver died, or the log was truncated"
        };
        problems.warn("no-application-end", None, || {
            format!("the event log lacks the application's end: {why}; the part that was read is used")
        });
    }
}

fn clocks(builder: &mut Builder, problems: &mut Problems) {
    let app = &builder.app;
    let mut backwards = builder.seen.backwards;
    backwards += builder
        .stages
        .iter()
        .filter(|r| r.stage.submitted_at > r.stage.completed_at && r.stage.completed_at.is_some())
        .count() as u64;
    backwards += builder
        .jobs
        .iter()
        .filter(|job| job.submitted_at > job.completed_at && job.completed_at.is_some())
        .count() as u64;
    backwards += u64::from(app.finished_at.is_some() && app.submitted_at > app.finished_at);
    if backwards > 0 {
        builder.spark.gaps.unreadable += backwards;
        problems.warn("clock-backwards", None, || {
            counted(
                backwards,
                "task, stage or job ended before it began; its duration is unknown",
                "tasks, stages or jobs ended before they began; their durations are unknown",
            )
        });
    }
}

fn ends_of_tasks(builder: &mut Builder, problems: &mut Problems) {
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

pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Checks that no part is missing, by the numbers that Databricks gives them.
fn rollovers(builder: &mut Builder, problems: &mut Problems) {
    let numbers: BTreeSet<i64> = builder.rollovers.iter().copied().collect();
    let missing = match (numbers.first(), numbers.last()) {
        (Some(_), Some(&last)) => {
            u64::try_from(last.saturating_add(1)).unwrap_or_default().saturating_sub(numbers.len() as u64)
        }
        _ => 0,
    };
    if missing > 0 {
        builder.spark.gaps.unreadable += missing;
        problems.warn("parts-missing", None, || {
            counted(
                missing,
                "part of the event log is missing, judging by the part numbers",
                "parts of the event log are missing, judging by the part numbers",
            )
        });
    }
}

/// Spark 4 logs the exit code. Before that, an application counts as failed if its last job failed; a failed
/// job that was retried successfully does not make the application fail.
fn status(builder: &Builder, completeness: &Completeness) -> Status {
    if !builder.seen.application_end {
        return if completeness.in_progress == Some(true) { Status::Running } else { Status::Unknown };
    }
    match builder.exit_code {
        Some(0) => return Status::Succeeded,
        Some(_) => return Status::Failed,
        None => {}
    }
    let ended = builder.jobs.iter().filter(|job| job.has_end);
    match ended.max_by_key(|job| (job.completed_at, job.id)).map(|job| job.result) {
        Some(Some(JobResult::Failed)) => Status::Failed,
        Some(None) => Status::Unknown,
        Some(Some(JobResult::Succeeded)) | None => Status::Succeeded,
    }
}
