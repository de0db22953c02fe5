//! `straggler-dos-index`: tasks that take far longer for their input than the other tasks of their group
//! (S2 eq 1).

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::support::causes::{Causes, remedy_for_one};
use super::support::groups::{host, subject, task_name, tasks};
use super::support::working_times::working_times;
use crate::declare::any as rule;
use crate::shown::FINDINGS;
use elephant_analysis::stragglers::cause::hints::first_ends;
use elephant_analysis::stragglers::cause::{Cause, StragglerCause};
use elephant_analysis::stragglers::executions::{Execution, InputUnit, input_counters};
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_analysis::stragglers::labels::{Labelling, dos_index, is_dos_straggler};
use elephant_base::severity::Severity;
use elephant_base::stats::descriptive::median;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, Shared, load_advised};
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::{TaskKind, TimePoint};
use elephant_model::model::{Application, Symbol};
use elephant_rule::finding::{Judgement, Measure, Subject, TroubleKind, Verdict, and_more};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::decisive;

rule_params! {
    /// Parameters of `straggler-dos-index`.
    pub(super) struct DosIndex / DosIndexLayer {
        /// Time per input of a task / time per input of its whole group. The paper reports stragglers
        /// from 2.5 and diagnoses them from 10.
        dos_index: Ascending<Ratio>,
        /// How much longer the task took than its group takes for the same input.
        lost_time: Ascending<Duration>,
        /// A task below this multiple of its group's median duration is not a straggler, whatever its
        /// index. A short last split takes little time, but much time per input.
        median_factor: Quantity<Ratio>,
        /// Spark: lost time that is allowed for a task launched before its executor finished its first
        /// task. Such a task loads classes and compiles code.
        cold_start: Quantity<Duration>,
        /// Groups with fewer tasks are not judged.
        min_tasks: Quantity<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "straggler-dos-index", "Straggler DoS-Index", tells Stragglers, DosIndex, |layers, advice| load_advised(
        layers, advice, SlowForTheirInput
    ))
    .also_telling(&[TroubleKind::Skew, TroubleKind::GarbageCollection]);

/// The message if no task is a straggler.
const NO_STRAGGLER: &str = "no task took far longer for its input than the others of its group";

/// The message of a finding.
const MESSAGE: &str = "{task_text}[ on {host}] took {task_time_ms}; per input {dos_index_ratio}× as long as its group, \
    and {lost_time_ms} longer ({limit})";

struct SlowForTheirInput(DosIndex, Arc<AdviceParams>);

/// The worst task of a group.
struct Worst<'a> {
    /// The index of the group among the judged groups.
    place: usize,
    view: &'a GroupStragglers<'a>,
    task: Execution,
    /// Seconds that it took, without waiting for map tasks.
    time: f64,
    index: f64,
    lost: Millis,
    severity: Severity,
    /// The number of tasks in the group with severity low or higher.
    stragglers: u64,
}

impl Check for SlowForTheirInput {
    fn check(&self, app: &Application) -> Verdict {
        self.check_among(app, &Shared::of(app))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let labelling = Labelling { factor: params.median_factor.get(), ..Labelling::MEDIAN };
        let stragglers = shared.stragglers(labelling, params.min_tasks.get());
        let views = &stragglers.groups;
        if views.is_empty() {
            return Verdict::NotApplicable;
        }
        if views.iter().all(|view| view.executions.input_unit.is_none()) {
            return Verdict::NotEvaluated("no task has a known input size".to_owned());
        }
        let warm = first_ends(app);
        let mut worst: Vec<Worst<'_>> =
            views.iter().enumerate().filter_map(|group| params.worst(app, group, &warm)).collect();
        worst.sort_by_key(|worst| (Reverse(worst.severity), Reverse(worst.lost), worst.view.group.kind));
        let bad = worst.iter().filter(|worst| worst.severity > Severity::None).count();
        let causes = (bad > 0).then(|| Causes::of(&stragglers));
        let mut judgements: Vec<Judgement> = worst
            .iter()
            .take(bad.clamp(1, FINDINGS))
            .map(|worst| params.judgement(app, worst, causes.as_ref()))
            .collect();
        and_more(&mut judgements, bad.saturating_sub(FINDINGS), "group");
        if judgements.is_empty() {
            judgements.push(harmless(app));
        }
        Verdict::Several(judgements)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }

    fn reads(&self, kind: TaskKind) -> CounterMask {
        input_counters(kind)
    }
}

impl DosIndex {
    /// The straggler with the highest severity in a group; of equal ones, the one that lost most time.
    fn worst<'a>(
        &self,
        app: &Application,
        (place, view): (usize, &'a GroupStragglers<'a>),
        warm: &FirstEnds,
    ) -> Option<Worst<'a>> {
        let tasks = &view.executions.tasks;
        let times = working_times(app, view);
        let inputs = tasks.iter().map(|task| task.input().map(|input| input as f64));
        let times_and_inputs: Vec<(f64, Option<f64>)> = times.iter().copied().zip(inputs).collect();
        let indices = dos_index(&times_and_inputs);
        // Without the time for which it only waited, a task may be like the others.
        let slow = self.median_factor.get() * median(&times)?;
        // The rules on skew judge tasks whose input explains their duration.
        let places = view.labels.places().filter(|&place| !view.is_explained(place));
        let late = places.filter_map(|place| {
            let (task, index) = (*tasks.get(place)?, (*indices.get(place)?)?);
            let time = times.get(place).copied().filter(|time| *time >= slow)?;
            let lost = Millis::from_seconds(time * (1.0 - 1.0 / index))?;
            if lost.as_f64() < self.cold_start.get() && is_cold(view, &task, warm) {
                return None;
            }
            let conditions = [self.dos_index.severity(index), self.lost_time.severity(lost.as_f64())];
            let severity = conditions.into_iter().min()?;
            // A task without input has an infinite index.
            is_dos_straggler(Some(index), 1.0).then_some((severity, lost, task, (time, index)))
        });
        let late: Vec<(Severity, Millis, Execution, (f64, f64))> = late.collect();
        let stragglers = late.iter().filter(|(severity, ..)| *severity > Severity::None).count() as u64;
        let (severity, lost, task, (time, index)) = late
            .into_iter()
            .max_by_key(|&(severity, lost, task, _)| (severity, lost, Reverse(task.task())))?;
        Some(Worst { place, view, task, time, index, lost, severity, stragglers })
    }

    fn judgement(&self, app: &Advised<'_>, worst: &Worst<'_>, causes: Option<&Causes>) -> Judgement {
        let (view, severity) = (worst.view, worst.severity);
        let group = view.group;
        let tasks = group.tasks.len() as u64;
        let time = Millis::from_seconds(worst.time).unwrap_or_default();
        let level = severity.max(Severity::Low);
        let limits = [
            (self.dos_index.severity(worst.index), self.dos_index.describe_multiple(level)),
            (self.lost_time.severity(worst.lost.as_f64()), self.lost_time.describe(level)),
        ];
        let node = host(app, group, worst.task.attempt());
        let mut evidence = vec![
            ("tasks_count", Measure::Count(tasks)),
            ("stragglers_count", Measure::Count(worst.stragglers)),
            ("task_text", Measure::Text(task_name(group, worst.task.task()))),
            ("dos_index_ratio", Measure::Ratio(Some(worst.index))),
            ("task_time_ms", Measure::Time(time)),
            ("lost_time_ms", Measure::Time(worst.lost)),
        ];
        evidence.extend(node.clone().map(|node| ("host_text", Measure::Text(node))));
        evidence.extend(worst.task.input().map(|input| match view.executions.input_unit {
            Some(InputUnit::Bytes) | None => ("input_bytes", Measure::Size(Bytes::new(input))),
            Some(InputUnit::Records) => ("input_records_count", Measure::Count(input)),
        }));
        let cause = causes.and_then(|causes| causes.of_task(worst.place, worst.task.task()));
        let cause = cause.filter(|_| severity > Severity::None);
        evidence.extend(cause.map(|cause| ("cause_text", Measure::Text(in_words(cause)))));
        Judgement::of(subject(group.kind), severity)
            .tasks(tasks)
            .tells(cause.map_or(TroubleKind::Stragglers, |cause| told_by(cause.primary)))
            .facts(evidence)
            .message(
                MESSAGE,
                &[("host", &node.as_deref().unwrap_or_default()), ("limit", &decisive(severity, &limits))],
            )
            .advice(|| cause.map(|cause| remedy_for_one(app, cause, node.as_deref())).into_iter().collect())
    }
}

/// The kind of trouble that a straggler with this cause indicates.
const fn told_by(cause: Cause) -> TroubleKind {
    match cause {
        Cause::DataSkew => TroubleKind::Skew,
        Cause::Gc => TroubleKind::GarbageCollection,
        _ => TroubleKind::Stragglers,
    }
}

/// "garbage collection (measured)".
fn in_words(cause: &StragglerCause) -> String {
    match cause.confidence {
        Some(confidence) => format!("{} ({})", cause.primary.display_name(), confidence.name()),
        None => cause.primary.display_name().to_owned(),
    }
}

/// When the first task of each executor ended.
type FirstEnds = FxHashMap<Symbol, Timestamp>;

/// Whether the task was launched before its executor had finished a task.
fn is_cold(view: &GroupStragglers<'_>, task: &Execution, warm: &FirstEnds) -> bool {
    let attempts = &view.group.attempts;
    let warm_from = attempts.executor(task.attempt()).and_then(|executor| warm.get(&executor));
    let launched = attempts.time(task.attempt(), TimePoint::Start);
    warm_from.zip(launched).is_some_and(|(&warm, launched)| launched < warm)
}

fn harmless(app: &Application) -> Judgement {
    Judgement::of(Subject::Application, Severity::None).tasks(tasks(app)).message(NO_STRAGGLER, &[])
}
