//! The execution that a task is judged by: which attempt, and how long it took or would have taken.

use crate::stragglers::progress::ProgressCurve;
use elephant_base::state::State;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};

/// The clock that durations are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Basis {
    /// From launch to end, including scheduler delay.
    #[default]
    Wall,
    /// Spark's "Executor Run Time". MapReduce attempts only have wall time.
    Run,
}

/// The unit of a task's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum InputUnit {
    /// Bytes read from sources and shuffles.
    Bytes,
    /// Records, if no task of the group logs bytes.
    Records,
}

#[doc(hidden)]
impl InputUnit {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Records => "records",
        }
    }
}

/// How reliable a duration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum Certainty {
    /// The attempt ran to its end.
    Measured,
    /// It was killed when its copy won; the duration is extrapolated from its progress until then.
    Estimated,
    /// It was killed when its copy won, and its progress is unknown; it would have taken longer than this.
    AtLeast,
}

/// The judged execution of one task. Row numbers take four bytes, because a job may have a million tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Execution {
    task: u32,
    attempt: u32,
    winner: u32,
    /// How reliable the duration is.
    pub certainty: Certainty,
    /// Seconds that the judged attempt took or would have taken.
    pub duration: f64,
    /// [`NO_INPUT`] if unknown.
    input: u64,
}

/// Marks an unknown input. No real input reaches this many bytes.
const NO_INPUT: u64 = u64::MAX;

impl Execution {
    /// The execution of a task whose only attempt has the same row. `None` if the row does not fit into 32
    /// bits.
    #[must_use]
    pub(crate) fn of_row(
        row: usize,
        duration: f64,
        certainty: Certainty,
        input: Option<u64>,
    ) -> Option<Self> {
        let row = u32::try_from(row).ok()?;
        let input = input.unwrap_or(NO_INPUT);
        Some(Self { task: row, attempt: row, winner: row, certainty, duration, input })
    }

    /// Replaces the rows of the judged attempt and of the successful one.
    fn of_attempts(self, attempt: usize, winner: usize) -> Option<Self> {
        Some(Self { attempt: u32::try_from(attempt).ok()?, winner: u32::try_from(winner).ok()?, ..self })
    }

    /// The task's row in the group.
    #[must_use]
    pub const fn task(&self) -> usize {
        self.task as usize
    }

    /// The row of the judged attempt: the successful one, or the original if its copy won.
    #[must_use]
    pub const fn attempt(&self) -> usize {
        self.attempt as usize
    }

    /// The row of the attempt that succeeded.
    #[must_use]
    pub const fn winner(&self) -> usize {
        self.winner as usize
    }

    /// The task's input in the unit of the group.
    #[must_use]
    pub fn input(&self) -> Option<u64> {
        Some(self.input).filter(|input| *input != NO_INPUT)
    }
}

/// All tasks of a group that succeeded, in task order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Executions {
    /// The tasks.
    pub tasks: Vec<Execution>,
    /// Unit of the inputs; `None` if no task logs its input.
    pub input_unit: Option<InputUnit>,
    /// Tasks that never succeeded, or whose launch or end is not logged.
    pub skipped_unfinished: u64,
}

impl Executions {
    /// The executions of a group.
    ///
    /// Failed attempts and losing copies give no duration. If a speculative copy won, the original is judged:
    /// detectors have to predict its estimated finish (S0, caption of table 7).
    #[must_use]
    pub fn of(group: &TaskGroup, basis: Basis) -> Self {
        let by_task = AttemptsByTask::of(group);
        let input_unit = input_unit(group);
        let mut tasks = Vec::with_capacity(group.tasks.len());
        let mut skipped_unfinished = 0;
        for (task, rows) in by_task.iter() {
            let execution = winner(group, task).and_then(|winner| {
                let input = input_unit.and_then(|unit| input(group, winner, unit));
                let overtaken = overtaken(group, rows, winner);
                let (attempt, (duration, certainty)) = match overtaken {
                    Some(original) => (original, would_have_taken(group, original, winner)?),
                    None => (winner, (measured(group, winner, basis)?, Certainty::Measured)),
                };
                Execution::of_row(task, duration, certainty, input)?.of_attempts(attempt, winner)
            });
            skipped_unfinished += u64::from(execution.is_none());
            tasks.extend(execution);
        }
        Self { tasks, input_unit, skipped_unfinished }
    }

    /// Durations in seconds that others can be compared with: all except lower bounds.
    #[must_use]
    pub fn known_durations(&self) -> Vec<f64> {
        let known = self.tasks.iter().filter(|task| task.certainty != Certainty::AtLeast);
        known.map(|task| task.duration).collect()
    }
}

/// The rows of each task's attempts, in launch order.
#[derive(Debug, Clone, Default)]
pub(crate) struct AttemptsByTask {
    rows: Vec<u32>,
    /// Start offset of each task's rows, and the end of the last.
    starts: Vec<u32>,
}

impl AttemptsByTask {
    /// Groups the attempts by task, with a counting sort, because most tasks have only one.
    #[must_use]
    pub(crate) fn of(group: &TaskGroup) -> Self {
        let attempts = &group.attempts;
        let tasks = group.tasks.len();
        let of_tasks = || {
            let rows =
                (0..attempts.len()).filter_map(|row| Some((attempts.task(row)?, u32::try_from(row).ok()?)));
            rows.filter(|(task, _)| *task < tasks)
        };
        // Counts per task, then start offsets, then (after the rows are filled in) end offsets, which are the
        // next starts.
        let mut starts = vec![0u32; tasks + 1];
        for (task, _) in of_tasks() {
            if let Some(count) = starts.get_mut(task) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        let mut rows = vec![0; sum as usize];
        for (task, row) in of_tasks() {
            if let Some(next) = starts.get_mut(task) {
                if let Some(slot) = rows.get_mut(*next as usize) {
                    *slot = row;
                }
                *next += 1;
            }
        }
        starts.rotate_right(1);
        if let Some(first) = starts.first_mut() {
            *first = 0;
        }
        for bounds in starts.windows(2) {
            if let &[start, end] = bounds
                && end - start > 1
                && let Some(of_task) = rows.get_mut(start as usize..end as usize)
            {
                of_task.sort_by_key(|&row| (attempts.time(row as usize, TimePoint::Start), row));
            }
        }
        Self { rows, starts }
    }

    /// The rows of one task's attempts.
    pub(crate) fn of_task(&self, task: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let rows = match self.starts.get(task..).unwrap_or_default() {
            &[start, end, ..] => self.rows.get(start as usize..end as usize).unwrap_or_default(),
            _ => &[],
        };
        rows.iter().map(|&row| row as usize)
    }

    /// All tasks in order, each with its attempts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, impl Iterator<Item = usize> + Clone + '_)> {
        (0..self.starts.len().saturating_sub(1)).map(|task| (task, self.of_task(task)))
    }
}

fn winner(group: &TaskGroup, task: usize) -> Option<usize> {
    group.tasks.representative(task).filter(|&row| group.attempts.outcome(row) == Outcome::Succeeded)
}

/// The first attempt that was still running when a speculative copy, launched later, won.
fn overtaken(group: &TaskGroup, mut rows: impl Iterator<Item = usize>, winner: usize) -> Option<usize> {
    let attempts = &group.attempts;
    if attempts.is_speculative(winner) != Some(true) {
        return None;
    }
    let (launched, won) =
        (attempts.time(winner, TimePoint::Start)?, attempts.time(winner, TimePoint::Finish)?);
    rows.find(|&row| {
        let was_running = match attempts.outcome(row) {
            // Spark 3 does not log the end of some losing attempts.
            Outcome::Unfinished => true,
            Outcome::Killed => attempts.time(row, TimePoint::Finish).is_none_or(|killed| killed >= won),
            Outcome::Succeeded => attempts.time(row, TimePoint::Finish).is_some_and(|end| end >= won),
            Outcome::Failed => false,
        };
        row != winner
            && was_running
            && attempts.time(row, TimePoint::Start).is_some_and(|original| original <= launched)
    })
}

/// The originals that a speculative copy overtook, by row, with the time that they ran. All except those that still
/// succeeded would have taken longer.
#[must_use]
pub fn overtaken_originals(group: &TaskGroup) -> Vec<(usize, Millis)> {
    // Copies win in few groups, and there may be a hundred thousand groups.
    if !group.winners().any(|row| group.attempts.is_speculative(row) == Some(true)) {
        return Vec::new();
    }
    let by_task = AttemptsByTask::of(group);
    let of_task = by_task.iter().filter_map(|(task, rows)| {
        let winner = winner(group, task)?;
        let original = overtaken(group, rows, winner)?;
        Some((original, time_until_overtaken(group, original, winner)?))
    });
    of_task.collect()
}

/// How long the original ran; until the copy won, if its end is not logged.
fn time_until_overtaken(group: &TaskGroup, original: usize, winner: usize) -> Option<Millis> {
    let start = group.attempts.time(original, TimePoint::Start)?;
    let won: Timestamp = group.attempts.time(winner, TimePoint::Finish)?;
    Millis::between(start, group.attempts.time(original, TimePoint::Finish).unwrap_or(won))
}

fn measured(group: &TaskGroup, row: usize, basis: Basis) -> Option<f64> {
    let run = group.attempts.millis(row, Counter::ExecutorRunTime).filter(|_| basis == Basis::Run);
    run.or_else(|| group.attempts.run_time(row)).map(seconds)
}

/// Duration the original would have had, extrapolated from its last progress report; at least the time it had
/// run when the copy won. If it ended after the copy, its real duration.
fn would_have_taken(group: &TaskGroup, original: usize, winner: usize) -> Option<(f64, Certainty)> {
    let attempts = &group.attempts;
    let elapsed = seconds(time_until_overtaken(group, original, winner)?);
    if attempts.outcome(original) == Outcome::Succeeded {
        return Some((elapsed, Certainty::Measured));
    }
    let reported = ProgressCurve::of_attempt(group, original).filter(|curve| !curve.coarse);
    let whole = reported.and_then(|curve| curve.last_known()).filter(|&(_, progress)| progress > 0.0);
    let estimate = whole.map(|(time, progress)| time / 1000.0 / progress);
    Some(match estimate {
        Some(estimate) => (estimate.max(elapsed), Certainty::Estimated),
        None => (elapsed, Certainty::AtLeast),
    })
}

fn seconds(span: Millis) -> f64 {
    span.as_f64() / 1000.0
}

/// Bytes if any winner logs more than 0, otherwise records by the same rule.
fn input_unit(group: &TaskGroup) -> Option<InputUnit> {
    [InputUnit::Bytes, InputUnit::Records]
        .into_iter()
        .find(|&unit| group.winners().any(|row| input(group, row, unit).is_some_and(|input| input > 0)))
}

/// Counters that measure a task's input.
#[must_use]
pub const fn input_counters(kind: TaskKind) -> CounterMask {
    use Counter as C;
    match kind {
        TaskKind::Map => CounterMask::of(&[
            C::InputFormatBytesRead,
            C::HdfsBytesRead,
            C::S3BytesRead,
            C::S3aBytesRead,
            C::S3nBytesRead,
            C::OtherFsBytesRead,
            C::MapInputBytes,
            C::MapInputRecords,
        ]),
        TaskKind::Reduce => CounterMask::of(&[C::ReduceShuffleBytes, C::ReduceInputRecords]),
        TaskKind::Stage(_) => CounterMask::of(&[
            C::InputBytes,
            C::ShuffleRemoteBytesRead,
            C::ShuffleLocalBytesRead,
            C::InputRecords,
            C::ShuffleRecordsRead,
        ]),
        TaskKind::Vertex(_) => CounterMask::of(&[
            C::HdfsBytesRead,
            C::S3BytesRead,
            C::S3aBytesRead,
            C::S3nBytesRead,
            C::OtherFsBytesRead,
            C::ReduceShuffleBytes,
            C::MapInputRecords,
            C::ReduceInputRecords,
        ]),
        TaskKind::Setup | TaskKind::Cleanup => CounterMask::NONE,
    }
}

/// Records that an attempt read; `None` unless the unit of the group's inputs is bytes. Among inputs of the
/// same size, one with more records takes longer.
pub(crate) fn records(group: &TaskGroup, executions: &Executions, row: usize) -> Option<u64> {
    input(group, row, InputUnit::Records).filter(|_| executions.input_unit == Some(InputUnit::Bytes))
}

/// The sum of the known ones of two.
fn add(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).reduce(u64::saturating_add)
}

fn input(group: &TaskGroup, row: usize, unit: InputUnit) -> Option<u64> {
    let count = |counter| group.attempts.count(row, counter);
    let sum = |counters: &[Counter]| group.attempts.total(row, counters);
    match (group.kind, unit) {
        (TaskKind::Map, InputUnit::Bytes) => count(Counter::InputFormatBytesRead)
            .filter(|&bytes| bytes > 0)
            .or_else(|| sum(&Counter::INPUT_BYTES))
            .or_else(|| count(Counter::MapInputBytes)),
        (TaskKind::Map, InputUnit::Records) => count(Counter::MapInputRecords),
        (TaskKind::Reduce, InputUnit::Bytes) => count(Counter::ReduceShuffleBytes),
        (TaskKind::Reduce, InputUnit::Records) => count(Counter::ReduceInputRecords),
        (TaskKind::Stage(_), InputUnit::Bytes) => {
            sum(&[Counter::InputBytes, Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead])
        }
        (TaskKind::Stage(_), InputUnit::Records) => {
            sum(&[Counter::InputRecords, Counter::ShuffleRecordsRead])
        }
        // A vertex may read files, shuffled data, or both.
        (TaskKind::Vertex(_), InputUnit::Bytes) => {
            add(sum(&Counter::INPUT_BYTES), count(Counter::ReduceShuffleBytes))
        }
        (TaskKind::Vertex(_), InputUnit::Records) => {
            add(count(Counter::MapInputRecords), count(Counter::ReduceInputRecords))
        }
        (TaskKind::Setup | TaskKind::Cleanup, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row {
        outcome: Outcome,
        start: i64,
        finish: Option<i64>,
        speculative: bool,
    }

    fn row(outcome: Outcome, start: i64, finish: i64) -> Row {
        Row { outcome, start, finish: Some(finish), speculative: false }
    }

    fn copy(outcome: Outcome, start: i64, finish: i64) -> Row {
        Row { speculative: true, ..row(outcome, start, finish) }
    }

    fn group(tasks: &[Vec<Row>]) -> TaskGroup {
        let mut group = TaskGroup::new(TaskKind::Map);
        for (number, rows) in (0..).zip(tasks) {
            let task = group.tasks.push(number);
            for spec in rows {
                let row = group.attempts.push(number, 0);
                group.attempts.set_outcome(row, spec.outcome);
                group.attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(spec.start)));
                let finish = spec.finish.map(Timestamp::from_millis);
                group.attempts.set_time(row, TimePoint::Finish, finish);
                group.attempts.set_speculative(row, Some(spec.speculative));
                if spec.outcome == Outcome::Succeeded {
                    group.tasks.set_outcome(task, Outcome::Succeeded);
                    group.tasks.set_representative(task, Some(row));
                }
            }
        }
        group
    }

    fn judged(rows: Vec<Row>) -> Option<(usize, f64, Certainty)> {
        let executions = Executions::of(&group(&[rows]), Basis::Wall);
        assert_eq!(executions.tasks.len() + usize::try_from(executions.skipped_unfinished).unwrap(), 1);
        executions.tasks.first().map(|task| (task.attempt(), task.duration, task.certainty))
    }

    #[test]
    fn the_original_is_judged_if_its_copy_won() {
        use Outcome::{Failed, Killed, Succeeded, Unfinished};
        let measured = Certainty::Measured;
        assert_eq!(judged(vec![row(Succeeded, 0, 4000)]), Some((0, 4.0, measured)));
        assert_eq!(
            judged(vec![row(Killed, 0, 9000), copy(Succeeded, 5000, 8900)]),
            Some((0, 9.0, Certainty::AtLeast))
        );
        let endless = Row { finish: None, ..row(Unfinished, 0, 0) };
        assert_eq!(judged(vec![endless, copy(Succeeded, 5000, 8900)]), Some((0, 8.9, Certainty::AtLeast)));
        assert_eq!(judged(vec![row(Succeeded, 0, 9000), copy(Killed, 5000, 9010)]), Some((0, 9.0, measured)));
        assert_eq!(judged(vec![row(Failed, 0, 9000), row(Succeeded, 9500, 9900)]), Some((1, 0.4, measured)));
        // Killed for another reason before the copy ended.
        assert_eq!(judged(vec![row(Killed, 0, 6000), copy(Succeeded, 5000, 8900)]), Some((1, 3.9, measured)));
        assert_eq!(judged(vec![row(Failed, 0, 9000)]), None);
        assert_eq!(judged(Vec::new()), None);
    }

    #[test]
    fn the_duration_of_a_killed_original_is_extrapolated_from_its_progress() {
        use elephant_model::model::ProgressSplits;
        let mut group = group(&[vec![row(Outcome::Killed, 0, 9000), copy(Outcome::Succeeded, 5000, 8900)]]);
        let clock_ms = vec![2000, 2100, 2200, 900, 200, 200, 200, 200, 200, 200, 200, 200];
        group.attempts.set_progress(0, &ProgressSplits { clock_ms, ..ProgressSplits::default() });
        let executions = Executions::of(&group, Basis::Wall);
        // Three twelfths after 6.3 s; Hadoop interpolated the rest when the attempt was killed.
        let task = executions.tasks[0];
        assert_eq!(task.certainty, Certainty::Estimated);
        assert!((task.duration - 6.3 * 4.0).abs() < 1e-9, "{task:?}");
    }

    #[test]
    fn records_are_used_only_if_no_task_logs_bytes() {
        let mut group = group(&[vec![row(Outcome::Succeeded, 0, 1)], vec![row(Outcome::Succeeded, 0, 2)]]);
        assert_eq!(Executions::of(&group, Basis::Wall).input_unit, None);
        group.attempts.set_counter(0, Counter::MapInputRecords, Some(7));
        group.attempts.set_counter(1, Counter::HdfsBytesRead, Some(0));
        let executions = Executions::of(&group, Basis::Wall);
        assert_eq!(executions.input_unit, Some(InputUnit::Records));
        let inputs: Vec<Option<u64>> = executions.tasks.iter().map(Execution::input).collect();
        assert_eq!(inputs, [Some(7), None]);
        group.attempts.set_counter(1, Counter::HdfsBytesRead, Some(9));
        let executions = Executions::of(&group, Basis::Wall);
        let inputs: Vec<Option<u64>> = executions.tasks.iter().map(Execution::input).collect();
        assert_eq!((executions.input_unit, inputs), (Some(InputUnit::Bytes), vec![None, Some(9)]));
    }
}
