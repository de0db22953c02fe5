//! Compares what a log announces with what it delivers, and says what is missing.

use std::collections::{BTreeMap, BTreeSet};

use super::build::{BeyondLimit, Builder, Seen};
use super::task_metrics::SUMMED;
use crate::limits::{self, Remainder};
use crate::model::Status;
use crate::model::counters::Counter;
use crate::model::spark::{JobResult, StageStatus};
use crate::model::table::{Attempts, Outcome, TaskGroup, TimePoint};
use crate::parse::problem::{Level, Problems};

/// Spark's own sums over the tasks of a stage, as its end tells them.
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

/// What the files around the log tell of its wholeness.
#[derive(Debug, Clone, Default)]
pub struct Wholeness {
    /// Whether markers say that the application was still running; `None` where there are no markers.
    pub in_progress: Option<bool>,
    /// Whether the log was compacted.
    pub compacted: bool,
    /// Parts that are missing.
    pub missing_parts: u64,
}

/// Fills in the gaps, the application's status and whether it is complete.
pub(super) fn verify(builder: &mut Builder, wholeness: &Wholeness, problems: &mut Problems) {
    limit(builder, problems);
    tasks(builder, problems);
    stages(builder, problems);
    jobs(builder, problems);
    executors(builder, problems);
    super::twice_told::verify(builder, problems);
    ends(builder, wholeness, problems);
    clocks(builder, problems);
    ends_of_tasks(builder, problems);
    rollovers(builder, problems);
    moments_of_application(builder, problems);
    let gaps = &mut builder.spark.gaps;
    gaps.compacted = wholeness.compacted;
    gaps.unread += wholeness.missing_parts;
    gaps.missing_parts = wholeness.missing_parts > 0;
    builder.app.status = status(builder, wholeness);
    builder.app.complete = builder.spark.gaps.none();
}

/// A beginning or an end whose time cannot be read is there and tells nothing.
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
                "the log tells no time at which the application {which} that can be; its run time is unknown"
            )
        });
    }
}

fn limit(builder: &mut Builder, problems: &mut Problems) {
    let BeyondLimit { attempts, blocks, driver_values, others } = builder.seen.beyond_limit;
    if attempts + driver_values + others > 0 {
        builder.limit.get_or_insert(limits::TASKS);
    }
    // Without some of the blocks only the memory that executors store in is unknown.
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
            format!(
                "it has {}; what is beyond was passed over (--max-tasks allows more)",
                kinds.join(" and ")
            )
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
    // Tasks and attempts that ended, nobody knows how.
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
            // A later attempt of a stage may leave tasks to an earlier one.
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
        "task was started and has no end in the log",
        "tasks were started and have no end in the log",
    );
    say(
        warning,
        "attempt-ends-missing",
        superfluous - undecided_copies,
        "attempt has no end in the log, though its task was done by another one",
        "attempts have no end in the log, though their tasks were done by others",
    );
    say(
        warning,
        "tasks-missing",
        never_shown,
        "task was announced by its stage and is not in the log",
        "tasks were announced by their stages and are not in the log",
    );
    say(
        warning,
        "task-starts-missing",
        gaps.starts,
        "task has an end and no start in the log",
        "tasks have an end and no start in the log",
    );
    say(
        warning,
        "totals-disagree",
        disagree,
        "stage adds up to something else than Spark's own sums over its tasks",
        "stages add up to something else than Spark's own sums over their tasks",
    );
    say(
        info,
        "task-ends-repeated",
        builder.seen.repeated_ends,
        "end of a task is told twice; the first one counts",
        "ends of tasks are told twice; the first ones count",
    );
    say(
        warning,
        "impossible-counter",
        builder.seen.impossible_counters,
        "counter of a task is larger than any can be; it is taken for unknown",
        "counters of tasks are larger than any can be; they are taken for unknown",
    );
    say(
        warning,
        "tasks-unusable",
        builder.seen.unusable_tasks,
        "event of a task lacks its ids and was passed over",
        "events of tasks lack their ids and were passed over",
    );
    gaps.unread += lost + builder.seen.unusable_tasks;
    gaps.counters += builder.seen.impossible_counters;
    super::unread::verify(builder, problems);
}

/// Tasks of which all attempts that are open have ended, nobody knows how.
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

/// What the tasks of a stage add up to when its end stands in the log, beside Spark's own sums.
///
/// Spark sums up and writes its log in one order, so both are equal unless something was lost or changed. What ends
/// behind its stage, as copies that lost their race do, is in neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Sums {
    #[default]
    Agree,
    /// Something else was changed than a task lost.
    Differ,
    /// Tasks ran longer in Spark's sums: ends of tasks are missing.
    FallShort,
}

impl Totals {
    pub(super) fn compare(&self, attempts: &Attempts) -> Sums {
        let mut sums = Sums::Agree;
        for ((_, counter), total) in SUMMED.iter().zip(self.values) {
            // That one cannot be read is told elsewhere.
            let total = total.filter(|_| !attempts.any_unread().has(*counter));
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
    let impossible = builder.stages.iter().filter(|record| record.impossible_tasks).count() as u64;
    builder.spark.gaps.stages = either + impossible;
    if impossible > 0 {
        problems.warn("impossible-task-count", None, || {
            counted(
                impossible,
                "stage announces a number of tasks that is none, or that no stage can have; how many it has is unknown",
                "stages announce numbers of tasks that are none, or that no stage can have; how many they have is \
                 unknown",
            )
        });
    }
    if without_end > 0 {
        problems.warn("stage-ends-missing", None, || {
            counted(without_end, "stage has no end in the log", "stages have no end in the log")
        });
    }
    if without_start > 0 {
        problems.warn("stage-starts-missing", None, || {
            counted(
                without_start,
                "stage was never submitted in the log",
                "stages were never submitted in the log",
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
            counted(without_end, "job has no end in the log", "jobs have no end in the log")
        });
    }
    if without_result > 0 {
        problems.warn("job-results-unknown", None, || {
            counted(
                without_result,
                "job ended in another way than JobSucceeded and JobFailed, which are all that Spark has; how is unknown",
                "jobs ended in another way than JobSucceeded and JobFailed, which are all that Spark has; how is unknown",
            )
        });
    }
    if without_start > 0 {
        problems.warn("job-starts-missing", None, || {
            counted(without_start, "job has no start in the log", "jobs have no start in the log")
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
                "executor ran tasks and was never added; how long it lived is unknown",
                "executors ran tasks and were never added; how long they lived is unknown",
            )
        });
    }
}

fn ends(builder: &mut Builder, wholeness: &Wholeness, problems: &mut Problems) {
    let seen = builder.seen;
    let gaps = &mut builder.spark.gaps;
    gaps.beginning = !seen.application_start;
    gaps.end = !seen.application_end;
    gaps.configuration = !seen.environment;
    if gaps.beginning && seen.events > 0 {
        problems.warn("no-application-start", None, || {
            "the log does not tell the start of the application; its run time is unknown".to_owned()
        });
    }
    if gaps.end && seen.events > 0 {
        let why = if wholeness.in_progress == Some(true) {
            "it is marked as still running"
        } else {
            "it was still running, or its driver died, or the log was cut"
        };
        problems.warn("no-application-end", None, || {
            format!("the log does not tell the end of the application: {why}; what was read is used")
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
        builder.spark.gaps.unread += backwards;
        problems.warn("clock-backwards", None, || {
            counted(
                backwards,
                "task, stage or job ended before it began; how long it took is unknown",
                "tasks, stages or jobs ended before they began; how long they took is unknown",
            )
        });
    }
}

fn ends_of_tasks(builder: &mut Builder, problems: &mut Problems) {
    let Seen { without_time, after_the_end, .. } = builder.seen;
    builder.spark.gaps.unread += without_time + after_the_end;
    if without_time > 0 {
        problems.warn("end-without-time", None, || {
            counted(
                without_time,
                "task succeeded without telling when; how long it took is unknown",
                "tasks succeeded without telling when; how long they took is unknown",
            )
        });
    }
    if after_the_end > 0 {
        problems.warn("time-outside-application", None, || {
            counted(
                after_the_end,
                "task ended more than a minute after its application; when is unknown",
                "tasks ended more than a minute after their application; when is unknown",
            )
        });
    }
}

pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Databricks numbers the parts of a log.
fn rollovers(builder: &mut Builder, problems: &mut Problems) {
    let numbers: BTreeSet<i64> = builder.rollovers.iter().copied().collect();
    let missing = match (numbers.first(), numbers.last()) {
        (Some(_), Some(&last)) => {
            u64::try_from(last.saturating_add(1)).unwrap_or_default().saturating_sub(numbers.len() as u64)
        }
        _ => 0,
    };
    if missing > 0 {
        builder.spark.gaps.unread += missing;
        problems.warn("parts-missing", None, || {
            counted(
                missing,
                "part of the log is missing, by the numbers that its parts carry",
                "parts of the log are missing, by the numbers that its parts carry",
            )
        });
    }
}

/// Spark 4 tells the exit code. Before, an application counts as failed when its last job did: one that fails and is
/// done again is no failure of the application.
fn status(builder: &Builder, wholeness: &Wholeness) -> Status {
    if !builder.seen.application_end {
        return if wholeness.in_progress == Some(true) { Status::Running } else { Status::Unknown };
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
