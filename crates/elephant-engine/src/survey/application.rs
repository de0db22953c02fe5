//! The stragglers of one application.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use super::Settings;
use super::group::{GroupReport, host};
use super::impact::impacts;
use super::learnt::GroupKey;
use super::origin::Origin;
use super::run_times::RunTimes;
use crate::conditions::{Facts, StageNames};
use crate::results::Sort;
use elephant_analysis::metrics::run_time;
use elephant_analysis::node_metrics::{NodeMetric, NodeMetrics};
use elephant_analysis::stragglers::cause::{
    Cause, CauseCounts, Confidence, LabelledGroup, StragglerCause, attribute,
};
use elephant_analysis::stragglers::evaluation::Evaluated;
use elephant_analysis::stragglers::executions::Execution;
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_analysis::stragglers::impact::{JobImpact, Speculation};
use elephant_analysis::stragglers::labels::Reference;
use elephant_analysis::stragglers::speculation::Copies;
use elephant_base::state::State;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::conf::defaults::Version;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Status, job_type};

/// The stragglers of one application.
#[derive(Debug, Clone, State)]
#[non_exhaustive]
pub struct ApplicationStragglers {
    /// Run times with the copies that each detector asks for, by the detector's index.
    pub(super) run_times: BTreeMap<u8, RunTimes>,
    /// The version of the engine, if it is logged.
    pub(super) version: Option<Version>,
    /// Its id in the history or the trace.
    pub id: String,
    /// The engine or the cluster trace that it comes from.
    pub origin: Origin,
    /// Its name; `None` if it is not logged.
    pub name: Option<String>,
    /// Who ran it; `None` if it is not logged.
    pub user: Option<String>,
    /// How it ended.
    pub status: Status,
    /// Whether its history is complete.
    pub complete: bool,
    /// The files it was read from, the event log or job history first.
    pub sources: Vec<String>,
    /// When it was submitted; `None` if that is not logged.
    pub submitted_at: Option<Timestamp>,
    /// From submission to end.
    pub(crate) run_time: Option<Millis>,
    /// Its groups with enough tasks, in the order of the application.
    pub groups: Vec<GroupReport>,
    /// Groups with too few tasks to have stragglers.
    pub small_groups: u64,
    /// The tasks of these groups.
    pub(super) tasks_of_small_groups: u64,
    /// Time in which the application only waited for stragglers, explained by their input or not.
    pub delay: Millis,
    /// The straggler that it waited for longest; `None` if it waited for none.
    pub waited_for: Option<WaitedFor>,
    /// The parts of `delay` by cause; they add up to it.
    pub(super) waits: BTreeMap<Cause, (Option<Confidence>, Millis)>,
    /// Cost of the stragglers, by the median and by the mean.
    pub by_median: JobImpact,
    /// The same by the mean.
    pub by_mean: JobImpact,
    /// Activity of the cluster's own speculation.
    pub copies: Copies,
    /// The same activity with the length of its longest task.
    pub speculation: Speculation,
    /// The causes of its stragglers.
    pub causes: CauseCounts,
    /// Stragglers with node metrics for their node and time.
    pub with_node_metrics: u64,
    /// Results of the detectors over all its groups, the cluster's own first; empty without a replay.
    #[state(skip)]
    pub detectors: Vec<Evaluated>,
}

/// A straggler that ended after all tasks of its group that are not stragglers.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct WaitedFor {
    /// Its group.
    pub group: TaskKind,
    /// The group's name in the trace; `None` in a history.
    pub label: Option<String>,
    /// Its number in the job or the stage.
    pub task: Option<u32>,
    /// Its node.
    pub node: Option<String>,
    /// Its cause.
    pub cause: Cause,
    /// How certain the cause is; `None` if nothing explains the task.
    pub confidence: Option<Confidence>,
}

/// The key common to all runs of a job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JobKey {
    origin: Origin,
    user: Option<String>,
    name: String,
}

#[doc(hidden)]
impl ApplicationStragglers {
    /// Surveys an application.
    #[must_use]
    pub fn of(
        app: &Application,
        sources: &[String],
        settings: &Settings,
        metrics: Option<&NodeMetrics>,
    ) -> Self {
        let names = StageNames::of(app, &settings.conditions);
        let job_type = job_type(app);
        let facts = |group: &TaskGroup| Facts {
            job_type,
            kind: Some(group.kind),
            name: names.name(group.kind),
            tasks: group.tasks.len() as u64,
            job_names: None,
        };
        let admits = |group: &TaskGroup| {
            let conditions = &settings.conditions;
            conditions.is_empty()
                || conditions.admit_group(&facts(group)) && conditions.admit_start(first_start(group))
        };
        Self::of_groups(app, sources, (settings, metrics), admits)
    }

    /// Surveys the groups of an application that `admits` admits.
    pub(super) fn of_groups(
        app: &Application,
        sources: &[String],
        (settings, metrics): (&Settings, Option<&NodeMetrics>),
        admits: impl Fn(&TaskGroup) -> bool,
    ) -> Self {
        let labelling = settings.labelling(Reference::Median);
        let mut views = GroupStragglers::of_application(app, labelling, settings.basis);
        views.retain(|view| admits(view.group));
        let is_small = |view: &GroupStragglers<'_>| view.executions.tasks.len() < settings.min_tasks.max(1);
        let small: Vec<u64> =
            views.iter().filter(|view| is_small(view)).map(|view| view.group.tasks.len() as u64).collect();
        views.retain(|view| !is_small(view));
        let keys = keys(app, &views, settings);
        let labels = labels(app, &views, &keys, settings);
        let groups = labelled(&views, &labels, settings);
        let found = attribute(app, &groups, metrics, &settings.causes);
        let mut causes = CauseCounts::default();
        causes.add(found.iter().flatten());
        let waits = waits(&views, &labels, &found);
        let waited_for = waited_for(app, &waits);
        let (delay, waits) = by_cause(waits);
        let with_node_metrics = metrics.map_or(0, |metrics| with_metrics(app, &groups, metrics));
        let (by_median, by_mean) = impacts(app, &views, settings.labelling(Reference::Mean));
        let admitted = app.groups.iter().filter(|group| admits(group));
        let copies = admitted.map(Copies::of).fold(Copies::default(), Copies::and);
        let (mut keys, of_views) = (keys.into_iter(), views.iter().zip(labels).zip(found));
        let reports: Vec<GroupReport> = of_views
            .map(|((view, labels), causes)| {
                GroupReport::of(app, view, &labels, causes, keys.next(), settings)
            })
            .collect();
        Self {
            id: app.id.clone(),
            run_times: RunTimes::of(app, &views, &reports, settings),
            version: app.version(),
            origin: Origin::Engine(app.engine),
            name: app.name.clone(),
            user: app.user.clone(),
            status: app.status,
            complete: app.complete,
            sources: sources.to_vec(),
            submitted_at: app.submitted_at,
            run_time: run_time(app),
            small_groups: small.len() as u64,
            tasks_of_small_groups: small.iter().sum(),
            delay,
            waited_for,
            waits,
            by_median,
            by_mean,
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
    pub(crate) fn worst_first(a: &Self, b: &Self) -> Ordering {
        let key = |app: &Self| (Reverse(app.delay), Reverse(app.stragglers()));
        key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id)).then_with(|| a.sources.cmp(&b.sources))
    }

    /// Orders by `by`; ties are in the order of [`Self::worst_first`].
    pub(super) fn order(a: &Self, b: &Self, by: Sort) -> Ordering {
        let name = |app: &Self| app.name.clone().unwrap_or_else(|| app.id.clone());
        let first = match by {
            Sort::Saving => Ordering::Equal,
            Sort::Severity => b.stragglers().cmp(&a.stragglers()),
            Sort::Waste => b.copies.lost.cmp(&a.copies.lost),
            Sort::RunTime => b.run_time.cmp(&a.run_time),
            Sort::Name => name(a).cmp(&name(b)),
        };
        first.then_with(|| Self::worst_first(a, b))
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
            origin: self.origin,
            user: self.user.clone(),
            name: self.name.as_deref().map(without_numbers).unwrap_or_default(),
        }
    }
}

/// When the first attempt of a group started.
pub(super) fn first_start(group: &TaskGroup) -> Option<Timestamp> {
    let attempts = &group.attempts;
    (0..attempts.len()).filter_map(|row| attempts.time(row, TimePoint::Start)).min()
}

/// The labels of the tasks of each group by the selected method.
fn labels(
    app: &Application,
    views: &[GroupStragglers<'_>],
    keys: &[GroupKey],
    settings: &Settings,
) -> Vec<Vec<Option<bool>>> {
    let of = |(place, view)| settings.stragglers(view, keys.get(place), &app.id);
    views.iter().enumerate().map(of).collect()
}

/// The keys of the groups in other runs; empty if no models are used or learnt.
fn keys(app: &Application, views: &[GroupStragglers<'_>], settings: &Settings) -> Vec<GroupKey> {
    if !settings.learn && settings.models.is_none() {
        return Vec::new();
    }
    GroupKey::of_groups(app, views.iter().map(|view| view.group))
}

/// A period in which a group only waited for stragglers, and the straggler whose end ended it.
struct Wait<'a> {
    view: &'a GroupStragglers<'a>,
    task: Execution,
    cause: Cause,
    confidence: Option<Confidence>,
    from: Timestamp,
    to: Timestamp,
}

/// The waits of all groups for the stragglers by these labels, in the order of the groups and of time.
fn waits<'a>(
    views: &'a [GroupStragglers<'a>],
    labels: &[Vec<Option<bool>>],
    causes: &[Vec<StragglerCause>],
) -> Vec<Wait<'a>> {
    let of_group = |(view, (labels, causes)): (&'a GroupStragglers<'a>, (&Vec<_>, &Vec<StragglerCause>))| {
        let wait = |(task, (from, to)): (Execution, (Timestamp, Timestamp))| {
            let cause = causes.iter().find(|cause| cause.task == task.task());
            let (cause, confidence) =
                cause.map_or((Cause::Unexplained, None), |cause| (cause.primary, cause.confidence));
            Wait { view, task, cause, confidence, from, to }
        };
        view.waits(labels).into_iter().map(wait).collect::<Vec<_>>()
    };
    views.iter().zip(labels.iter().zip(causes)).flat_map(of_group).collect()
}

/// The straggler that was waited for longest; on a tie, the first.
fn waited_for(app: &Application, waits: &[Wait<'_>]) -> Option<WaitedFor> {
    let longest = waits.iter().enumerate();
    let (_, wait) =
        longest.max_by_key(|(place, wait)| (Millis::between(wait.from, wait.to), Reverse(*place)))?;
    let group = wait.view.group;
    Some(WaitedFor {
        group: group.kind,
        label: None,
        task: group.tasks.number(wait.task.task()),
        node: host(app, group, wait.task.attempt()),
        cause: wait.cause,
        confidence: wait.confidence,
    })
}

/// How long the application waited only for stragglers, and the parts by cause with the least certain
/// confidence. If several groups waited at the same time, the time counts once, for the group that began to
/// wait first.
fn by_cause(mut waits: Vec<Wait<'_>>) -> (Millis, BTreeMap<Cause, (Option<Confidence>, Millis)>) {
    let mut causes: BTreeMap<Cause, (Option<Confidence>, Millis)> = BTreeMap::new();
    // The sort is stable: waits that begin together stay in the order of the groups.
    waits.sort_by_key(|wait| wait.from);
    let mut until: Option<Timestamp> = None;
    for wait in &waits {
        let from = until.map_or(wait.from, |until| until.max(wait.from));
        let part = Millis::between(from, wait.to).filter(|part| *part > Millis::ZERO);
        until = Some(until.map_or(wait.to, |until| until.max(wait.to)));
        let Some(part) = part else { continue };
        let (confidence, sum) = causes.entry(wait.cause).or_insert((wait.confidence, Millis::ZERO));
        *confidence = (*confidence).min(wait.confidence);
        *sum = *sum + part;
    }
    (causes.values().map(|(_, part)| *part).sum(), causes)
}

/// The groups with the labels of their tasks.
fn labelled<'a>(
    views: &'a [GroupStragglers<'a>],
    labels: &'a [Vec<Option<bool>>],
    settings: &Settings,
) -> Vec<LabelledGroup<'a>> {
    let labelled = |(view, stragglers): (&'a GroupStragglers<'a>, &'a Vec<Option<bool>>)| LabelledGroup {
        group: view.group,
        executions: &view.executions,
        basis: settings.basis,
        stragglers,
    };
    views.iter().zip(labels).map(labelled).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_job_share_one_name() {
        assert_eq!(without_numbers("etl 2026-11-20 run 7"), without_numbers("etl 2026-11-21 run 12"));
        assert_ne!(without_numbers("etl a"), without_numbers("etl b"));
    }
}
