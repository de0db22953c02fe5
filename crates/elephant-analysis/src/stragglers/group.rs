//! One task group with its stragglers, split into those that their input explains and the others.

use crate::stragglers::executions::{Basis, Certainty, Execution, Executions, records};
use crate::stragglers::labels::{Labelling, Labels, just_below};
use elephant_base::stats::descriptive::median;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};

/// A group with its executions and labels.
#[derive(Debug, Clone)]
pub struct GroupStragglers<'a> {
    /// The tasks.
    pub group: &'a TaskGroup,
    /// How long each took.
    pub executions: Executions,
    /// Which of them are stragglers.
    pub labels: Labels,
    /// Whether the input of each execution explains its time: it is a straggler by time but not by time per
    /// input, and its input exceeds the median by the same factor (S2 §5 calls this data skew). Input is
    /// measured in bytes or in records; one of them is enough.
    explained: Vec<bool>,
}

impl<'a> GroupStragglers<'a> {
    /// The groups of an application that run user tasks, in the order of the application.
    #[must_use]
    pub fn of_application(app: &'a Application, labelling: Labelling, basis: Basis) -> Vec<Self> {
        let working = |group: &&TaskGroup| !matches!(group.kind, TaskKind::Setup | TaskKind::Cleanup);
        app.groups.iter().filter(working).map(|group| Self::of(group, labelling, basis)).collect()
    }

    /// One group.
    #[must_use]
    pub(crate) fn of(group: &'a TaskGroup, labelling: Labelling, basis: Basis) -> Self {
        let executions = Executions::of(group, basis);
        let labels = labelling.of(&executions);
        let explained = explained_by_input(group, &executions, &labels, labelling.factor);
        Self { group, executions, labels, explained }
    }

    /// The stragglers.
    pub fn stragglers(&self) -> impl Iterator<Item = &Execution> {
        self.labels.places().filter_map(|place| self.executions.tasks.get(place))
    }

    /// The stragglers that took longer than other tasks with the same input.
    pub fn unexplained(&self) -> impl Iterator<Item = &Execution> {
        let places = self.labels.places().filter(|&place| !self.is_explained(place));
        places.filter_map(|place| self.executions.tasks.get(place))
    }

    /// Whether the input of the execution at `place` explains that it is a straggler.
    #[must_use]
    pub fn is_explained(&self, place: usize) -> bool {
        self.explained.get(place).copied().unwrap_or_default()
    }

    /// The period in which the group only waited for unexplained stragglers: from the end of the last other
    /// task to the end of the last unexplained straggler, without the time before the first of them started. `None` if
    /// others ended later. A task ends when its winning copy ends.
    #[must_use]
    pub fn tail(&self) -> Option<(Timestamp, Timestamp)> {
        let labels = &self.labels.stragglers;
        self.period(|place| is_straggler(labels, place) && !self.is_explained(place))
    }

    /// The period in which only the tasks that `counts` selects ran.
    fn period(&self, counts: impl Fn(usize) -> bool) -> Option<(Timestamp, Timestamp)> {
        let counts = &counts;
        let tasks = |counted: bool| {
            let tasks = self.executions.tasks.iter().enumerate();
            tasks.filter(move |&(place, _)| counts(place) == counted)
        };
        let others = tasks(false).filter_map(|(_, task)| self.end(task)).max()?;
        let later = tasks(true).filter_map(|(_, task)| Some((self.start(task), self.end(task)?)));
        let later: Vec<(Option<Timestamp>, Timestamp)> = later.filter(|(_, end)| *end > others).collect();
        let first = later.iter().filter_map(|(start, _)| *start).min();
        let last = later.iter().map(|(_, end)| *end).max()?;
        Some((first.map_or(others, |first| first.max(others)), last)).filter(|(from, to)| from < to)
    }

    /// When a task started: the earlier start of its judged and its winning attempt. Attempts that failed
    /// before do not count.
    fn start(&self, task: &Execution) -> Option<Timestamp> {
        let start = |row| self.group.attempts.time(row, TimePoint::Start);
        start(task.attempt()).into_iter().chain(start(task.winner())).min()
    }

    fn end(&self, task: &Execution) -> Option<Timestamp> {
        self.group.attempts.time(task.winner(), TimePoint::Finish)
    }

    /// From the start of its first judged task to the end of its last; `None` if no times are known.
    #[must_use]
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let tasks = &self.executions.tasks;
        let start = tasks.iter().filter_map(|task| self.start(task)).min()?;
        Some((start, tasks.iter().filter_map(|task| self.end(task)).max()?)).filter(|(from, to)| from <= to)
    }

    /// The unexplained stragglers that ended in [`Self::tail`], and how long the group waited for each,
    /// longest first.
    #[must_use]
    pub fn held_up_by(&self) -> Vec<(Execution, Millis)> {
        let Some((from, _)) = self.tail() else { return Vec::new() };
        let waits = self.unexplained().filter_map(|task| {
            let from = self.start(task).map_or(from, |start| start.max(from));
            Some((*task, Millis::between(from, self.end(task)?).filter(|wait| *wait > Millis::ZERO)?))
        });
        let mut waits: Vec<(Execution, Millis)> = waits.collect();
        waits.sort_by_key(|(task, wait)| (std::cmp::Reverse(*wait), task.task()));
        waits
    }

    /// The waits of the group while only stragglers by `labels` had not ended, explained by their input or not: each
    /// straggler that ended in that period, with the time from the previous end, or from its own start if that is
    /// later. The group always waits for the straggler that ends next; if several end together, the first is named. In
    /// order of time; empty if a task that is not a straggler ended last. `labels` may be by another method than
    /// [`Self::labels`].
    #[must_use]
    pub fn waits(&self, labels: &[Option<bool>]) -> Vec<(Execution, (Timestamp, Timestamp))> {
        let Some((from, _)) = self.period(|place| is_straggler(labels, place)) else { return Vec::new() };
        let stragglers = self.executions.tasks.iter().enumerate();
        let stragglers = stragglers.filter(|(place, _)| is_straggler(labels, *place));
        let mut ends: Vec<(Timestamp, &Execution)> = stragglers
            .filter_map(|(_, task)| Some((self.end(task)?, task)))
            .filter(|(end, _)| *end > from)
            .collect();
        ends.sort_by_key(|(end, task)| (*end, task.task()));
        ends.dedup_by_key(|(end, _)| *end);
        let mut before = from;
        let wait = |(end, task): (Timestamp, &Execution)| {
            let from = std::mem::replace(&mut before, end);
            (*task, (self.start(task).map_or(from, |start| start.max(from)), end))
        };
        ends.into_iter().map(wait).collect()
    }
}

fn is_straggler(labels: &[Option<bool>], place: usize) -> bool {
    labels.get(place) == Some(&Some(true))
}

/// Total time covered by the spans; overlaps count once.
#[must_use]
pub fn covered(spans: impl IntoIterator<Item = (Timestamp, Timestamp)>) -> Millis {
    // Tasks are nearly in launch order, so this merges most spans before the sort.
    let mut joined: Vec<(Timestamp, Timestamp)> = Vec::new();
    for (from, to) in spans {
        match joined.last_mut() {
            Some(last) if (last.0..=last.1).contains(&from) => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined.sort_unstable();
    let mut sum = Millis::ZERO;
    let mut until: Option<Timestamp> = None;
    for (from, to) in joined {
        let from = until.map_or(from, |until| until.max(from));
        sum = sum + Millis::between(from, to).unwrap_or_default();
        until = Some(until.map_or(to, |until| until.max(to)));
    }
    sum
}

fn explained_by_input(group: &TaskGroup, executions: &Executions, labels: &Labels, factor: f64) -> Vec<bool> {
    if labels.count() == 0 {
        return Vec::new();
    }
    let by_input = explained_by(executions, labels, factor, Execution::input);
    let by_records =
        explained_by(executions, labels, factor, |task| records(group, executions, task.winner()));
    let is = |explained: &[bool], place| explained.get(place).copied().unwrap_or_default();
    (0..executions.tasks.len()).map(|place| is(&by_input, place) || is(&by_records, place)).collect()
}

/// Whether one measure of the input explains each execution; empty if that measure is not known.
fn explained_by(
    executions: &Executions,
    labels: &Labels,
    factor: f64,
    input_of: impl Fn(&Execution) -> Option<u64>,
) -> Vec<bool> {
    let known = executions.tasks.iter().filter(|task| task.certainty != Certainty::AtLeast);
    let known = known.filter_map(|task| {
        let input = input_of(task)? as f64;
        (input > 0.0).then(|| (task.duration / input, input))
    });
    let (rates, inputs): (Vec<f64>, Vec<f64>) = known.unzip();
    let (Some(rate), Some(input)) = (median(&rates), median(&inputs)) else { return Vec::new() };
    let explained = |(task, label): (&Execution, &Option<bool>)| {
        let known = input_of(task).map(|input| input as f64);
        let by_input = known.is_some_and(|known| {
            known >= factor * input && task.duration / known < just_below(factor * rate)
        });
        // A lower bound on the duration makes a task look fast for its input.
        *label == Some(true) && by_input && task.certainty != Certainty::AtLeast
    };
    executions.tasks.iter().zip(&labels.stragglers).map(explained).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_sample::maps;

    #[test]
    fn large_input_explains_long_duration() {
        let group = maps(&[(10, 64), (10, 64), (10, 64), (40, 256), (30, 64)]);
        let view = GroupStragglers::of(&group, Labelling::MEDIAN, Basis::Wall);
        let durations = |tasks: Vec<&Execution>| tasks.iter().map(|task| task.duration).collect::<Vec<_>>();
        assert_eq!(durations(view.stragglers().collect()), [40.0, 30.0]);
        assert_eq!(durations(view.unexplained().collect()), [30.0]);
        // The large task ends even later. The group waits for both, one after the other.
        assert_eq!(view.tail(), None);
        assert_eq!(waits(&view), [(4, 10_000, 30_000), (3, 30_000, 40_000)]);
        let group = maps(&[(10, 64), (10, 64), (10, 64), (50, 64), (30, 64)]);
        let view = GroupStragglers::of(&group, Labelling::MEDIAN, Basis::Wall);
        assert_eq!(view.tail(), Some((Timestamp::from_millis(10_000), Timestamp::from_millis(50_000))));
        assert_eq!(waits(&view), [(4, 10_000, 30_000), (3, 30_000, 50_000)]);
        // Both end together: the first is named.
        let group = maps(&[(10, 64), (10, 64), (10, 64), (30, 64), (30, 64)]);
        let view = GroupStragglers::of(&group, Labelling::MEDIAN, Basis::Wall);
        assert_eq!(waits(&view), [(3, 10_000, 30_000)]);
    }

    #[test]
    fn nobody_waits_for_a_straggler_before_it_starts() {
        let mut group = maps(&[(10, 64), (10, 64), (10, 64), (30, 64)]);
        group.attempts.set_time(3, TimePoint::Start, Some(Timestamp::from_millis(100_000)));
        group.attempts.set_time(3, TimePoint::Finish, Some(Timestamp::from_millis(130_000)));
        let view = GroupStragglers::of(&group, Labelling::MEDIAN, Basis::Wall);
        assert_eq!(view.tail(), Some((Timestamp::from_millis(100_000), Timestamp::from_millis(130_000))));
        assert_eq!(waits(&view), [(3, 100_000, 130_000)]);
        assert_eq!(view.held_up_by()[0].1, Millis::new(30_000));
        assert_eq!(view.span(), Some((Timestamp::from_millis(0), Timestamp::from_millis(130_000))));
    }

    #[test]
    fn more_records_explain_long_duration_as_bytes_do() {
        use elephant_model::model::counters::Counter;
        let mut group = maps(&[(10, 64), (10, 64), (10, 64), (80, 64), (30, 64)]);
        for row in 0..5 {
            let records = if row == 3 { 800 } else { 100 };
            group.attempts.set_counter(row, Counter::MapInputRecords, Some(records));
        }
        let view = GroupStragglers::of(&group, Labelling::MEDIAN, Basis::Wall);
        let durations: Vec<f64> = view.unexplained().map(|task| task.duration).collect();
        assert_eq!(durations, [30.0]);
    }

    #[test]
    fn waits_are_for_the_stragglers_of_the_given_labels() {
        let group = maps(&[(10, 64), (10, 64), (10, 64), (30, 64), (14, 64)]);
        let view = GroupStragglers::of(&group, Labelling::MEDIAN, Basis::Wall);
        let of = |labels: [bool; 5]| -> Vec<(usize, i64)> {
            let waits = view.waits(&labels.map(Some)).into_iter();
            waits.map(|(task, (from, to))| (task.task(), to.as_millis() - from.as_millis())).collect()
        };
        assert_eq!(of([false; 5]), []);
        assert_eq!(of([false, false, false, true, false]), [(3, 16_000)]);
        // By another method, the task of 14 s is a straggler, too.
        assert_eq!(of([false, false, false, true, true]), [(4, 4_000), (3, 16_000)]);
        assert_eq!(of([false, false, false, false, true]), [], "a task that is no straggler ended last");
    }

    /// The task, and the start and end of the wait for it.
    fn waits(view: &GroupStragglers<'_>) -> Vec<(usize, i64, i64)> {
        let millis = |at: Timestamp| at.as_millis();
        let waits = view.waits(&view.labels.stragglers).into_iter();
        waits.map(|(task, (from, to))| (task.task(), millis(from), millis(to))).collect()
    }

    #[test]
    fn spans_that_overlap_count_once() {
        let span = |from, to| (Timestamp::from_millis(from), Timestamp::from_millis(to));
        assert_eq!(covered(Vec::new()), Millis::ZERO);
        assert_eq!(covered(vec![span(50, 60), span(0, 10), span(5, 20), span(6, 8)]), Millis::new(30));
    }

    #[test]
    fn groups_without_stragglers_have_no_tail() {
        for tasks in [&[][..], &[(5, 1)], &[(5, 1), (5, 1)]] {
            let group = maps(tasks);
            let view = GroupStragglers::of(&group, Labelling::MEDIAN, Basis::Wall);
            assert_eq!((view.stragglers().count(), view.tail(), waits(&view).len()), (0, None, 0));
            assert_eq!(view.span().is_some(), !tasks.is_empty());
        }
    }
}
