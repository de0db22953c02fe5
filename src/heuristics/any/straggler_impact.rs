//! `straggler-impact`: how long an application waited only for stragglers (S2 table 2).

use super::causes::{Causes, remedies};
use super::speculation_settings::switch_on;
use super::{rule, tasks};
use crate::finding::{Advice, Judgement, Measure, Subject, TroubleKind, Verdict};
use crate::heuristics::shared::time_of_tasks;
use crate::heuristics::wording::{decisive, percent, plural};
use crate::heuristics::{Check, Rule, Shared, load};
use crate::model::Application;
use crate::model::counters::CounterMask;
use crate::model::spark::Facet;
use crate::model::table::TaskKind;
use crate::params::cutoffs::Ascending;
use crate::params::quantity::{Count, Duration, Quantity, Ratio};
use crate::params::rule_params;
use crate::severity::Severity;
use crate::stragglers::cause::Cause;
use crate::stragglers::executions::input_counters;
use crate::stragglers::group::{GroupStragglers, covered};
use crate::stragglers::labels::Labelling;
use crate::units::Millis;

rule_params! {
    /// Parameters of `straggler-impact`.
    pub(super) struct Impact / ImpactLayer {
        /// Time in which only stragglers were still running / time in which tasks ran. Tasks that took
        /// long because they read much do not count: the skew rules judge them.
        delay_share: Ascending<Ratio>,
        /// Time in which only stragglers were still running. Short jobs lose little, however large the
        /// share.
        delay: Ascending<Duration>,
        /// A task is a straggler from this multiple of its group's median duration.
        median_factor: Quantity<Ratio>,
        /// Groups with fewer tasks are not judged.
        min_tasks: Quantity<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "straggler-impact", "Straggler Impact", Impact, |layers| load(layers, HeldUp))
        .telling(TroubleKind::Stragglers);

/// The message of a finding.
const MESSAGE: &str = "{stragglers} of {judged} took at least {factor}× the median without more input; only \
    stragglers were still running for {delay_ms}, {delay_ratio:%} of the time that tasks ran ({limit})";

/// The message if no task is a straggler.
const NO_STRAGGLER: &str = "none of {judged} took at least {factor}× the median without more input";

struct HeldUp(Impact);

impl Check for HeldUp {
    fn check(&self, app: &Application) -> Verdict {
        self.check_among(app, &Shared::of(app))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        let Self(params) = self;
        let labelling = Labelling { factor: params.median_factor.get(), ..Labelling::MEDIAN };
        let stragglers = shared.stragglers(labelling, params.min_tasks.get());
        let views = &stragglers.groups;
        if views.is_empty() {
            return Verdict::NotApplicable;
        }
        let span = time_of_tasks(app);
        if span == Millis::ZERO {
            return Verdict::NotEvaluated("no attempt has known start and end times".to_owned());
        }
        let delay = covered(views.iter().filter_map(GroupStragglers::tail));
        let share = delay.as_f64() / span.as_f64();
        let by_share = params.delay_share.severity(share);
        let by_time = params.delay.severity(delay.as_f64());
        let severity = by_share.min(by_time);
        let labelled: u64 = views.iter().map(|view| view.stragglers().count() as u64).sum();
        let unexplained: u64 = views.iter().map(|view| view.unexplained().count() as u64).sum();
        let judged: u64 = views.iter().map(|view| view.executions.tasks.len() as u64).sum();
        let level = severity.max(Severity::Low);
        let limits = [
            (by_share, params.delay_share.describe_in(level, percent)),
            (by_time, params.delay.describe(level)),
        ];
        let mut evidence = vec![
            ("tasks_count", Measure::Count(judged)),
            ("stragglers_count", Measure::Count(labelled)),
            ("stragglers_by_mean_count", Measure::Count(stragglers_by_mean(views, labelling))),
            ("stragglers_by_input_count", Measure::Count(labelled - unexplained)),
            ("delay_ms", Measure::Time(delay)),
            ("delay_ratio", Measure::Ratio(Some(share))),
        ];
        evidence
            .extend(extra_compute(views).map(|share| ("extra_compute_ratio", Measure::Ratio(Some(share)))));
        let causes = (severity > Severity::None).then(|| stragglers.causes());
        let gc = causes.is_some_and(|causes| causes.mostly() == Some(Cause::Gc));
        let kind = if gc { TroubleKind::GarbageCollection } else { TroubleKind::Stragglers };
        if let Some(causes) = causes {
            evidence.push(("causes_text", Measure::Text(causes.in_words())));
            evidence.extend(longest_tail(views).map(|name| ("longest_tail_text", Measure::Text(name))));
        }
        Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .tells(kind)
            .facts(evidence)
            .message(
                if unexplained == 0 { NO_STRAGGLER } else { MESSAGE },
                &[
                    ("stragglers", &unexplained),
                    ("judged", &plural(judged, "task")),
                    ("factor", &params.median_factor),
                    ("limit", &decisive(severity, &limits)),
                ],
            )
            .advice(|| causes.map(|causes| advice(app, views, causes)).unwrap_or_default())
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }

    fn reads(&self, kind: TaskKind) -> CounterMask {
        input_counters(kind)
    }
}

fn advice(app: &Application, views: &[GroupStragglers<'_>], causes: &Causes) -> Vec<Advice> {
    let mut advice = remedies(app, causes);
    // A copy of a task that is slow in every attempt is slow, too.
    if causes.mostly() != Some(Cause::EveryAttempt) {
        advice.extend(switch_on(app, views));
    }
    advice
}

fn stragglers_by_mean(views: &[GroupStragglers<'_>], labelling: Labelling) -> u64 {
    let by_mean = Labelling { factor: labelling.factor, ..Labelling::MEAN };
    views.iter().map(|view| by_mean.of(&view.executions).count()).sum()
}

/// The time of stragglers beyond the median, as a share of the time of all tasks (S2 table 2).
fn extra_compute(views: &[GroupStragglers<'_>]) -> Option<f64> {
    let all: f64 = views.iter().flat_map(|view| &view.executions.tasks).map(|task| task.duration).sum();
    let extra: f64 = views
        .iter()
        .filter_map(|view| Some((view, view.labels.limit?.reference)))
        .flat_map(|(view, reference)| view.stragglers().map(move |task| task.duration - reference))
        .fold(0.0, |sum, beyond| sum + beyond);
    (all > 0.0).then(|| extra / all)
}

/// The group that waited longest only for stragglers.
fn longest_tail(views: &[GroupStragglers<'_>]) -> Option<String> {
    let tails = views.iter().filter_map(|view| {
        let (from, to) = view.tail()?;
        Some((Millis::between(from, to)?, view.group.kind))
    });
    let (tail, kind) = tails.max_by_key(|&(tail, kind)| (tail, std::cmp::Reverse(kind)))?;
    Some(format!("{}: {tail}", super::subject(kind).name()))
}
