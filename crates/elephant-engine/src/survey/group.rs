//! The stragglers of one group of tasks.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::evaluated::{Evaluation, Replayed};
use super::learnt::{GroupKey, LearntRun};
use super::{Histogram, Method, Settings};
use elephant_analysis::stragglers::cause::{CauseCounts, StragglerCause};
use elephant_analysis::stragglers::evaluation::{Evaluated, GroundTruth};
use elephant_analysis::stragglers::executions::{Certainty, Execution, Executions, InputUnit};
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_analysis::stragglers::labels::{
    DOS_DIAGNOSE, DOS_REPORT, Limit, Reference, dos_index, is_dos_straggler,
};
use elephant_analysis::stragglers::usual::{TaskTime, UsualRule};
use elephant_base::state::State;
use elephant_base::stats::max_concurrent::max_concurrent;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};

/// One group of tasks.
#[derive(Debug, Clone, State)]
#[non_exhaustive]
pub struct GroupReport {
    /// The kind of its tasks.
    pub kind: TaskKind,
    /// The group's name in the trace; `None` in a history.
    pub label: Option<String>,
    /// Tasks of the group.
    pub tasks: u64,
    /// Tasks that were judged.
    pub judged: u64,
    /// Tasks that never succeeded, or whose launch or end is not logged.
    pub skipped_unfinished: u64,
    /// Tasks whose label is unknown.
    pub undetermined: u64,
    /// Most attempts that ran at the same time; 0 if no times are logged.
    pub concurrent: u64,
    /// The limit for durations; `None` if each task has its own.
    pub limit: Option<Limit>,
    /// The unit of inputs.
    pub input_unit: Option<InputUnit>,
    /// Number of tasks with a DoS-index of at least 2.5 and at least 10; `None` if no input is known.
    pub dos: Option<(u64, u64)>,
    /// The distribution of its tasks' durations.
    pub histogram: Histogram,
    /// The stragglers, longest first.
    pub stragglers: Vec<Straggler>,
    /// Results of the detectors; `None` without a replay.
    #[state(skip)]
    pub evaluation: Option<Evaluation>,
    times: Vec<(TaskTime, Certainty)>,
    replayed: Option<Replayed>,
    /// Its key in other runs; `None` if no models are used or learnt.
    key: Option<GroupKey>,
    /// The times and the progress of its tasks, for models.
    #[state(skip)]
    pub(super) learnt: Option<LearntRun>,
}

/// One straggler.
#[derive(Debug, Clone, State)]
#[non_exhaustive]
pub struct Straggler {
    /// The task's number in the job or the stage.
    pub task: Option<u32>,
    /// The number of the judged attempt.
    pub attempt: Option<u32>,
    /// Its node.
    pub node: Option<String>,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// How long it took or would have taken.
    pub duration: Millis,
    /// How reliable the duration is.
    pub certainty: Certainty,
    /// Its duration over the group's reference.
    pub times_reference: Option<f64>,
    /// Its input.
    pub input: Option<u64>,
    /// Its DoS-index; infinite without input.
    pub dos_index: Option<f64>,
    /// Whether a speculative copy of it won.
    pub overtaken: bool,
    /// Its cause.
    pub cause: Option<StragglerCause>,
}

/// The host that ran an attempt.
pub(super) fn host(app: &Application, group: &TaskGroup, row: usize) -> Option<String> {
    group.attempts.node(row).and_then(|node| app.strings.get(node)).map(str::to_owned)
}

fn dos_indices(executions: &Executions) -> Vec<Option<f64>> {
    let tasks: Vec<(f64, Option<f64>)> =
        executions.tasks.iter().map(|task| (task.duration, task.input().map(|input| input as f64))).collect();
    dos_index(&tasks)
}

impl Settings {
    /// The labels of a group's executions by the selected method. Usual times come from the models, too, if they have
    /// other applications with a group of this key.
    pub(super) fn stragglers(
        &self,
        view: &GroupStragglers<'_>,
        key: Option<&GroupKey>,
        application: &str,
    ) -> Vec<Option<bool>> {
        match self.method {
            Method::Median => view.labels.stragglers.clone(),
            Method::Mean => self.labelling(Reference::Mean).of(&view.executions).stragglers,
            Method::Usual => {
                let models = self.models.as_ref().zip(key);
                let others = models
                    .map(|(models, key)| models.times_without(key, &BTreeSet::from([application])))
                    .unwrap_or_default();
                let others: Vec<&[TaskTime]> = others.iter().map(Vec::as_slice).collect();
                let times: Vec<_> =
                    view.executions.tasks.iter().map(|task| time_of(view.group, task)).collect();
                GroundTruth::of_times(&times, &self.usual_rule(), &others).stragglers
            }
            Method::DosIndex => dos_indices(&view.executions)
                .into_iter()
                .map(|index| Some(is_dos_straggler(index, self.factor)))
                .collect(),
        }
    }

    fn usual_rule(&self) -> UsualRule {
        UsualRule { factor: self.factor, ..self.usual }
    }
}

#[doc(hidden)]
impl GroupReport {
    pub(super) fn of(
        app: &Application,
        view: &GroupStragglers<'_>,
        labels: &[Option<bool>],
        causes: Vec<StragglerCause>,
        key: Option<GroupKey>,
        settings: &Settings,
    ) -> Self {
        let (group, executions) = (view.group, &view.executions);
        let limit = match settings.method {
            Method::Median => view.labels.limit,
            Method::Mean => settings.labelling(Reference::Mean).limit(&executions.known_durations()),
            Method::Usual | Method::DosIndex => None,
        };
        let reference = limit.or(view.labels.limit).map(|limit| limit.reference);
        let indices = dos_indices(executions);
        let from = |level| indices.iter().filter(|&&index| is_dos_straggler(index, level)).count() as u64;
        let dos = indices.iter().any(Option::is_some).then(|| (from(DOS_REPORT), from(DOS_DIAGNOSE)));
        let mut causes = causes.into_iter().peekable();
        let mut stragglers: Vec<Straggler> = executions
            .tasks
            .iter()
            .zip(labels)
            .zip(&indices)
            .filter(|((_, label), _)| **label == Some(true))
            .map(|((task, _), index)| {
                let cause = causes.next_if(|cause| cause.task == task.task());
                straggler(app, group, task, *index, reference, cause)
            })
            .collect();
        stragglers.sort_by_key(|straggler| (Reverse(straggler.duration), straggler.task));
        let durations: Vec<f64> = executions.tasks.iter().map(|task| task.duration).collect();
        Self {
            kind: group.kind,
            label: None,
            tasks: group.tasks.len() as u64,
            judged: executions.tasks.len() as u64,
            skipped_unfinished: executions.skipped_unfinished,
            undetermined: labels.iter().filter(|label| label.is_none()).count() as u64,
            concurrent: concurrent(group),
            limit,
            input_unit: executions.input_unit,
            dos,
            histogram: Histogram::of(&durations, limit.map(|limit| limit.at)),
            stragglers,
            evaluation: None,
            times: executions.tasks.iter().map(|task| time_of(group, task)).collect(),
            replayed: settings.replay.then(|| {
                let models = settings.models.as_ref().zip(key.as_ref());
                let progress = models.and_then(|(models, key)| models.progress(key, &app.id));
                Replayed::of(group, executions, app.engine, progress, settings)
            }),
            learnt: key
                .clone()
                .filter(|_| settings.learn)
                .map(|key| LearntRun::of(app, key, group, executions)),
            key,
        }
    }

    /// The tasks that a detector flagged in the replay, as their index among the executions, with the time
    /// from launch to flag.
    pub(super) fn flagged(&self, detector: u8) -> impl Iterator<Item = (usize, Millis)> + '_ {
        self.replayed.iter().flat_map(move |replayed| replayed.flagged(detector))
    }

    /// Stragglers, as rows of their tasks, whose copies would have been as slow because of the cause.
    pub(super) fn beyond_copies(&self) -> BTreeSet<usize> {
        let causes = self.stragglers.iter().filter_map(|straggler| straggler.cause.as_ref());
        causes.filter(|cause| cause.primary.copy_helps() == Some(false)).map(|cause| cause.task).collect()
    }

    /// Frees data that only the replay needed, a few dozen bytes per task.
    pub(super) fn forget_tasks(&mut self) {
        self.times = Vec::new();
        self.replayed = None;
    }

    /// The causes of the stragglers in each step of the histogram.
    #[must_use]
    pub fn causes_by_step(&self) -> Vec<CauseCounts> {
        let mut steps = vec![CauseCounts::default(); self.histogram.steps.len()];
        for straggler in &self.stragglers {
            let place = self.histogram.step_of_straggler(straggler.duration);
            if let Some(step) = place.and_then(|place| steps.get_mut(place)) {
                step.add(&straggler.cause);
            }
        }
        steps
    }

    /// The number of waves that its tasks need (S0 table 1): tasks over slots. The number of slots is taken
    /// as the largest number of attempts that ran at the same time.
    #[must_use]
    pub fn waves(&self) -> Option<f64> {
        (self.concurrent > 0).then(|| self.tasks as f64 / self.concurrent as f64)
    }

    /// Whether this is the same group in another run of the job, with the same work as `other`.
    pub(super) fn is_run_of(&self, other: &Self, settings: &Settings) -> bool {
        let times = |group: &Self| -> Vec<TaskTime> { group.times.iter().map(|(time, _)| *time).collect() };
        self.times.len() == other.times.len() && settings.usual.is_like(&times(other), &times(self))
    }

    /// Rates the replayed detectors on this group, with the same group of other runs of the job, and adds the
    /// results to `detectors`. Runs of `applications` in the models are left out, because they are in
    /// `others`.
    pub(super) fn judge(
        &self,
        others: &[&Self],
        applications: &BTreeSet<&str>,
        settings: &Settings,
        detectors: &mut [Evaluated],
    ) -> Option<Evaluation> {
        let replayed = self.replayed.as_ref()?;
        let run = |group: &Self| -> Vec<TaskTime> { group.times.iter().map(|(time, _)| *time).collect() };
        let mut others: Vec<Vec<TaskTime>> = others.iter().map(|other| run(other)).collect();
        if let Some((models, key)) = settings.models.as_ref().zip(self.key.as_ref()) {
            others.extend(models.times_without(key, applications));
        }
        let others: Vec<&[TaskTime]> = others.iter().map(Vec::as_slice).collect();
        let truth = GroundTruth::of_times(&self.times, &settings.usual, &others);
        let durations: Vec<f64> = self.times.iter().map(|(time, _)| time.duration).collect();
        Some(replayed.judge(&durations, &truth, detectors))
    }
}

fn concurrent(group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    let span = |row| {
        let start = attempts.time(row, TimePoint::Start)?;
        Some((start, Some(attempts.time(row, TimePoint::Finish)?)))
    };
    max_concurrent((0..attempts.len()).filter_map(span))
}

fn time_of(group: &TaskGroup, task: &Execution) -> (TaskTime, Certainty) {
    let number = group.tasks.number(task.task());
    (TaskTime { number, duration: task.duration, input: task.input() }, task.certainty)
}

fn straggler(
    app: &Application,
    group: &TaskGroup,
    task: &Execution,
    dos_index: Option<f64>,
    reference: Option<f64>,
    cause: Option<StragglerCause>,
) -> Straggler {
    let attempts = &group.attempts;
    Straggler {
        task: group.tasks.number(task.task()),
        attempt: attempts.number(task.attempt()),
        node: host(app, group, task.attempt()),
        started_at: attempts.time(task.attempt(), TimePoint::Start),
        duration: Millis::from_seconds(task.duration).unwrap_or_default(),
        certainty: task.certainty,
        times_reference: reference
            .filter(|&reference| reference > 0.0)
            .map(|reference| task.duration / reference),
        input: task.input(),
        dos_index,
        overtaken: task.attempt() != task.winner(),
        cause,
    }
}
