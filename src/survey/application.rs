//! The stragglers of one application.

use std::cmp::{Ordering, Reverse};

use super::evaluated::{Evaluation, Replayed};
use super::{Histogram, Method, Settings};
use crate::model::table::{TaskGroup, TaskKind, TimePoint};
use crate::model::{Application, Engine, Status};
use crate::node_metrics::{NodeMetric, NodeMetrics};
use crate::stragglers::cause::{CauseCounts, LabelledGroup, StragglerCause, attribute};
use crate::stragglers::evaluation::{Evaluated, GroundTruth};
use crate::stragglers::executions::{Certainty, Execution, Executions, InputUnit};
use crate::stragglers::group::{GroupStragglers, covered};
use crate::stragglers::impact::{JobImpact, JudgedGroup, JudgedTask, Speculation};
use crate::stragglers::labels::{
    DOS_DIAGNOSE, DOS_REPORT, Labels, Limit, Reference, TaskTime, UsualRule, dos_index, is_dos_straggler,
};
use crate::stragglers::speculation::Copies;
use crate::units::{Millis, Timestamp};

/// The stragglers of one application.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // as in `Application`
pub struct ApplicationStragglers {
    pub id: String,
    pub engine: Engine,
    pub name: Option<String>,
    pub user: Option<String>,
    pub status: Status,
    pub complete: bool,
    /// The files it was read from, the event log or job history first.
    pub sources: Vec<String>,
    pub submitted_at: Option<Timestamp>,
    /// Its groups with enough tasks, in the order of the application.
    pub groups: Vec<GroupReport>,
    /// Groups with too few tasks to have stragglers.
    pub small_groups: u64,
    /// Time in which the application only waited for stragglers that their input does not explain.
    pub delay: Millis,
    /// Cost of the stragglers, by the median and by the mean.
    pub by_median: JobImpact,
    pub by_mean: JobImpact,
    /// Activity of the cluster's own speculation.
    pub copies: Copies,
    pub speculation: Speculation,
    /// The causes of its stragglers.
    pub causes: CauseCounts,
    /// Stragglers with node metrics for their node and time.
    pub with_node_metrics: u64,
    /// Results of the detectors over all its groups, the cluster's own first; empty without a replay.
    pub detectors: Vec<Evaluated>,
}

/// One group of tasks.
#[derive(Debug, Clone)]
pub struct GroupReport {
    /// The kind of its tasks.
    pub kind: TaskKind,
    /// Tasks of the group.
    pub tasks: u64,
    /// Tasks that were judged.
    pub judged: u64,
    /// Tasks that never succeeded, or whose launch or end is not logged.
    pub skipped_unfinished: u64,
    /// Tasks whose label is unknown.
    pub undetermined: u64,
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
    pub evaluation: Option<Evaluation>,
    times: Vec<(TaskTime, Certainty)>,
    replayed: Option<Replayed>,
}

/// One straggler.
#[derive(Debug, Clone)]
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

/// The key common to all runs of a job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JobKey {
    engine: Engine,
    user: Option<String>,
    name: String,
}

impl ApplicationStragglers {
    /// Surveys an application.
    #[must_use]
    pub fn of(
        app: &Application,
        sources: &[String],
        settings: &Settings,
        metrics: Option<&NodeMetrics>,
    ) -> Self {
        let labelling = settings.labelling(Reference::Median);
        let mut views = GroupStragglers::of_application(app, labelling, settings.basis);
        let all = views.len();
        views.retain(|view| view.executions.tasks.len() >= settings.min_tasks.max(1));
        let small_groups = (all - views.len()) as u64;
        let labels: Vec<Vec<Option<bool>>> =
            views.iter().map(|view| settings.stragglers(&view.executions, &view.labels)).collect();
        let groups: Vec<LabelledGroup<'_>> = views
            .iter()
            .zip(&labels)
            .map(|(view, stragglers)| LabelledGroup {
                group: view.group,
                executions: &view.executions,
                basis: settings.basis,
                stragglers,
            })
            .collect();
        let found = attribute(app, &groups, metrics, &settings.causes);
        let mut causes = CauseCounts::default();
        for group in &found {
            causes.add(group);
        }
        let with_node_metrics = metrics.map_or(0, |metrics| with_metrics(app, &groups, metrics));
        let mean = settings.labelling(Reference::Mean);
        let by_mean: Vec<JudgedGroup> = views
            .iter()
            .map(|view| judged(app, view.group, &view.executions, &mean.of(&view.executions)))
            .collect();
        let by_median: Vec<JudgedGroup> =
            views.iter().map(|view| judged(app, view.group, &view.executions, &view.labels)).collect();
        let copies = app.groups.iter().map(Copies::of).fold(Copies::default(), Copies::and);
        let tails = views.iter().filter_map(GroupStragglers::tail);
        let reports: Vec<GroupReport> = views
            .iter()
            .zip(labels)
            .zip(found)
            .map(|((view, labels), causes)| GroupReport::of(app, view, &labels, causes, settings))
            .collect();
        Self {
            id: app.id.clone(),
            engine: app.engine,
            name: app.name.clone(),
            user: app.user.clone(),
            status: app.status,
            complete: app.complete,
            sources: sources.to_vec(),
            submitted_at: app.submitted_at,
            small_groups,
            delay: covered(tails),
            by_median: JobImpact::of(&by_median),
            by_mean: JobImpact::of(&by_mean),
            speculation: speculation(&views, &copies),
            copies,
            causes,
            with_node_metrics,
            detectors: Vec::new(),
            groups: reports,
        }
    }

    /// The order of reports: longest delay first, then most stragglers, then by id.
    #[must_use]
    pub fn worst_first(a: &Self, b: &Self) -> Ordering {
        let key = |app: &Self| (Reverse(app.delay), Reverse(app.stragglers()));
        key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id)).then_with(|| a.sources.cmp(&b.sources))
    }

    /// Number of stragglers.
    #[must_use]
    pub fn stragglers(&self) -> u64 {
        self.groups.iter().map(|group| group.stragglers.len() as u64).sum()
    }

    /// Number of judged tasks.
    #[must_use]
    pub fn judged(&self) -> u64 {
        self.groups.iter().map(|group| group.judged).sum()
    }

    pub(super) fn job_key(&self) -> JobKey {
        JobKey {
            engine: self.engine,
            user: self.user.clone(),
            name: self.name.as_deref().map(without_numbers).unwrap_or_default(),
        }
    }
}

/// Number of stragglers with node metrics for their node and time.
fn with_metrics(app: &Application, groups: &[LabelledGroup<'_>], metrics: &NodeMetrics) -> u64 {
    let has_metrics = |group: &LabelledGroup<'_>, task: &Execution| {
        let attempts = &group.group.attempts;
        let start = attempts.time(task.attempt(), TimePoint::Start)?;
        let finish = attempts.time(task.attempt(), TimePoint::Finish)?;
        let host = attempts.node(task.attempt()).and_then(|node| app.strings.get(node))?;
        NodeMetric::ALL.into_iter().find_map(|metric| metrics.mean(host, metric, start, finish))
    };
    let of_group = |group: &LabelledGroup<'_>| {
        let stragglers = group.executions.tasks.iter().zip(group.stragglers);
        let stragglers = stragglers.filter(|(_, label)| **label == Some(true));
        stragglers.filter(|(task, _)| has_metrics(group, task).is_some()).count() as u64
    };
    groups.iter().map(of_group).sum()
}

/// A job's name without the digits, which change from run to run: dates, counters, ids.
fn without_numbers(name: &str) -> String {
    let mut short = String::new();
    for c in name.chars() {
        if !c.is_ascii_digit() {
            short.push(c);
        } else if !short.ends_with('#') {
            short.push('#');
        }
    }
    short
}

fn judged(app: &Application, group: &TaskGroup, executions: &Executions, labels: &Labels) -> JudgedGroup {
    let tasks = executions.tasks.iter().zip(&labels.stragglers).map(|(task, straggler)| JudgedTask {
        duration: task.duration,
        straggler: *straggler,
        node: host(app, group, task.attempt()),
    });
    JudgedGroup { limit: labels.limit, tasks: tasks.collect() }
}

fn host(app: &Application, group: &TaskGroup, row: usize) -> Option<String> {
    group.attempts.node(row).and_then(|node| app.strings.get(node)).map(str::to_owned)
}

fn speculation(views: &[GroupStragglers<'_>], copies: &Copies) -> Speculation {
    let tails = views.iter().filter_map(|view| {
        let durations = view.executions.known_durations();
        let mean = Reference::Mean.of(&durations).filter(|&mean| mean > 0.0)?;
        Some(durations.into_iter().max_by(f64::total_cmp)? / mean)
    });
    Speculation {
        copies: copies.launched,
        won: copies.won,
        lost_seconds: copies.lost.as_f64() / 1000.0,
        heavy_tail: tails.max_by(f64::total_cmp),
        tasks: views.iter().map(|view| view.executions.tasks.len() as u64).sum(),
    }
}

fn dos_indices(executions: &Executions) -> Vec<Option<f64>> {
    let tasks: Vec<(f64, Option<f64>)> =
        executions.tasks.iter().map(|task| (task.duration, task.input().map(|input| input as f64))).collect();
    dos_index(&tasks)
}

impl Settings {
    /// The labels of the executions by the selected method.
    fn stragglers(&self, executions: &Executions, by_median: &Labels) -> Vec<Option<bool>> {
        match self.method {
            Method::Median => by_median.stragglers.clone(),
            Method::Mean => self.labelling(Reference::Mean).of(executions).stragglers,
            Method::Usual => GroundTruth::usual(executions, &self.usual_rule(), &[]).stragglers,
            Method::DosIndex => dos_indices(executions)
                .into_iter()
                .map(|index| Some(is_dos_straggler(index, self.factor)))
                .collect(),
        }
    }

    fn usual_rule(&self) -> UsualRule {
        UsualRule { factor: self.factor, ..self.usual }
    }
}

impl GroupReport {
    fn of(
        app: &Application,
        view: &GroupStragglers<'_>,
        labels: &[Option<bool>],
        causes: Vec<StragglerCause>,
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
            tasks: group.tasks.len() as u64,
            judged: executions.tasks.len() as u64,
            skipped_unfinished: executions.skipped_unfinished,
            undetermined: labels.iter().filter(|label| label.is_none()).count() as u64,
            limit,
            input_unit: executions.input_unit,
            dos,
            histogram: Histogram::of(&durations, limit.map(|limit| limit.at)),
            stragglers,
            evaluation: None,
            times: executions.tasks.iter().map(time_of).collect(),
            replayed: settings.replay.then(|| Replayed::of(group, executions, app.engine, settings)),
        }
    }

    /// Whether this is the same group in another run of the job, with the same work as `other`.
    pub(super) fn is_run_of(&self, other: &Self, settings: &Settings) -> bool {
        let times = |group: &Self| -> Vec<TaskTime> { group.times.iter().map(|(time, _)| *time).collect() };
        self.times.len() == other.times.len() && settings.usual.is_like(&times(other), &times(self))
    }

    /// Rates the replayed detectors on this group, with the same group of other runs of the job, and adds the
    /// results to `detectors`.
    pub(super) fn judge(
        &self,
        others: &[&Self],
        settings: &Settings,
        detectors: &mut [Evaluated],
    ) -> Option<Evaluation> {
        let replayed = self.replayed.as_ref()?;
        let run = |group: &Self| -> Vec<TaskTime> { group.times.iter().map(|(time, _)| *time).collect() };
        let others: Vec<Vec<TaskTime>> = others.iter().map(|other| run(other)).collect();
        let others: Vec<&[TaskTime]> = others.iter().map(Vec::as_slice).collect();
        let truth = GroundTruth::of_times(&self.times, &settings.usual, &others);
        let durations: Vec<f64> = self.times.iter().map(|(time, _)| time.duration).collect();
        Some(replayed.judge(&durations, &truth, detectors))
    }
}

fn time_of(task: &Execution) -> (TaskTime, Certainty) {
    (TaskTime { duration: task.duration, input: task.input() }, task.certainty)
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
        duration: Millis::from_f64(1000.0 * task.duration).unwrap_or_default(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_job_share_one_name() {
        assert_eq!(without_numbers("etl 2026-11-20 run 7"), without_numbers("etl 2026-11-21 run 12"));
        assert_ne!(without_numbers("etl a"), without_numbers("etl b"));
    }
}
