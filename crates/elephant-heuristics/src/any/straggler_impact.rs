//! `straggler-impact`: how long an application waited only for stragglers (S2 table 2).

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::sync::Arc;

use super::support::causes::{Causes, remedies};
use super::support::groups::{host, subject, task_name, tasks};
use super::support::slow_nodes::{SlowNodes, beyond_and_work};
use super::support::speculation_settings::switch_on;
use crate::declare::any as rule;
use crate::shown::NAMES;
use elephant_analysis::stragglers::cause::Cause;
use elephant_analysis::stragglers::executions::{Execution, input_counters};
use elephant_analysis::stragglers::group::{GroupStragglers, covered};
use elephant_analysis::stragglers::labels::Labelling;
use elephant_analysis::task_time::time_of_tasks;
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, Shared, Stragglers, load_advised};
use elephant_model::model::Application;
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::finding::{Advice, Judgement, Measure, Phrase, Subject, TroubleKind, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{decisive, percent, plural};

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
    rule!(Own, "straggler-impact", "Straggler Impact", tells Stragglers, Impact, |layers, advice| load_advised(
        layers, advice, HeldUp
    ))
    .also_telling(&[TroubleKind::GarbageCollection]);

/// The message of a finding.
const MESSAGE: &str = "{stragglers} of {judged} took at least {factor}× the median without more input; only \
    such tasks were still running for {delay_ms}, {delay_ratio:%} of the time that tasks ran ({limit})[; the longest \
    waits: {longest}]";

/// The message if most stragglers ran on slow nodes, and the application mainly lost the time in which only stragglers
/// ran.
const OF_NODES_AT_END: &str = "{nodes}; only stragglers were still running for {delay_ms}, {delay_ratio:%} of the time \
    that tasks ran ({limit})[; the longest waits: {longest}]";

/// The message if slow nodes cost more than that time: while other tasks ran, they did less work than other nodes would
/// have.
const OF_NODES: &str = "{nodes}; that cost about {lost_to_nodes_ms}, {lost_to_nodes_ratio:%} of the time that tasks ran ({limit})";

/// A task that others waited for.
const WAITED_FOR: &str = "{task}[ on {host}] ({wait})";

/// The message if no task is a straggler.
const NO_STRAGGLER: &str = "none of {judged} took at least {factor}× the median without more input";

struct HeldUp(Impact, Arc<AdviceParams>);

impl Check for HeldUp {
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
        let span = time_of_tasks(app);
        if span == Millis::ZERO {
            return Verdict::NotEvaluated("no attempt has known start and end times".to_owned());
        }
        let delay = covered(views.iter().filter_map(GroupStragglers::tail));
        let known = OnceCell::new();
        let causes = || known.get_or_init(|| Causes::of(&stragglers));
        let loss = params.loss(app, &stragglers, &causes, (delay, span));
        let mut evidence = counted(views, labelling);
        evidence.push(("delay_ms", Measure::Time(delay)));
        evidence.push(("delay_ratio", Measure::Ratio(Some(delay.as_f64() / span.as_f64()))));
        evidence
            .extend(extra_compute(views).map(|share| ("extra_compute_ratio", Measure::Ratio(Some(share)))));
        if let Some((_, lost)) = loss.nodes {
            evidence.push(("lost_to_nodes_ms", Measure::Time(lost)));
            evidence.push(("lost_to_nodes_ratio", Measure::Ratio(Some(lost.as_f64() / span.as_f64()))));
        }
        let causes = (loss.severity > Severity::None).then(causes);
        let gc = causes.is_some_and(|causes| causes.mostly() == Some(Cause::Gc)) && loss.nodes.is_none();
        let kind = if gc { TroubleKind::GarbageCollection } else { TroubleKind::Stragglers };
        if let Some(causes) = causes {
            evidence.push(("causes_text", Measure::Text(causes.in_words())));
            evidence.extend(longest_tail(views).map(|name| ("longest_tail_text", Measure::Text(name))));
            evidence.extend(tail_of(views, TaskKind::Map).map(|tail| ("map_delay_ms", Measure::Time(tail))));
        }
        let judgement = Judgement::of(Subject::Application, loss.severity)
            .tasks(tasks(app))
            .tells(kind)
            .of_more_parts(loss.nodes.is_some())
            .also_about(loss.nodes.map(|(nodes, _)| nodes.subjects()).unwrap_or_default())
            .facts(evidence);
        params
            .words(app, views, judgement, &loss)
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

/// What stragglers cost an application.
struct Loss<'a> {
    severity: Severity,
    /// The limit that decided.
    limit: String,
    /// The nodes that made most of the stragglers slow, with the time that they cost; `None` if no node did.
    nodes: Option<(&'a SlowNodes, Millis)>,
    /// Whether the time in which only stragglers ran is at least the time that slow nodes cost.
    at_end: bool,
}

impl Impact {
    /// `delay` is the part of `span` in which only stragglers ran.
    fn loss<'a>(
        &self,
        app: &Application,
        stragglers: &Stragglers<'_>,
        causes: &impl Fn() -> &'a Causes<'a>,
        (delay, span): (Millis, Millis),
    ) -> Loss<'a> {
        // Finding causes is slow, so it is skipped if the time of all stragglers is harmless, or if no node is the cause of
        // any.
        let (beyond, work) = beyond_and_work(&stragglers.groups);
        let most = if work > 0.0 { span.as_f64() * beyond / work } else { 0.0 };
        let matters = self.delay.severity(most.max(delay.as_f64())) > Severity::None;
        let causes = (matters && stragglers.suspect_nodes()).then(causes);
        let nodes = causes.map(Causes::slow_nodes).filter(|nodes| nodes.are_the_trouble());
        let nodes = nodes.map(|nodes| (nodes, nodes.lost(app, span)));
        let lost = nodes.map_or(delay, |(_, lost)| lost.max(delay));
        let by_share = self.delay_share.severity(lost.as_f64() / span.as_f64());
        let by_time = self.delay.severity(lost.as_f64());
        // A slow node slows down later applications, too, so it is named even if it cost this one little.
        let (severity, limits) = if nodes.is_some() && by_share == Severity::None {
            let severity = by_time.min(Severity::Low);
            (severity, vec![(severity, self.delay.describe(Severity::Low))])
        } else {
            let severity = by_share.min(by_time);
            let level = severity.max(Severity::Low);
            let by_share = (by_share, self.delay_share.describe_in(level, percent));
            (severity, vec![by_share, (by_time, self.delay.describe(level))])
        };
        Loss { severity, limit: decisive(severity, &limits), nodes, at_end: lost == delay }
    }

    /// Adds the message to `judgement`.
    fn words(
        &self,
        app: &Application,
        views: &[GroupStragglers<'_>],
        judgement: Judgement,
        loss: &Loss<'_>,
    ) -> Judgement {
        let unexplained: u64 = views.iter().map(|view| view.unexplained().count() as u64).sum();
        let judged: u64 = views.iter().map(|view| view.executions.tasks.len() as u64).sum();
        let template = match loss.nodes {
            _ if unexplained == 0 => NO_STRAGGLER,
            Some(_) if loss.severity > Severity::None && loss.at_end => OF_NODES_AT_END,
            Some(_) if loss.severity > Severity::None => OF_NODES,
            _ => MESSAGE,
        };
        let longest = if loss.severity > Severity::None { longest(app, views) } else { Phrase::default() };
        let nodes = loss.nodes.map(|(nodes, _)| nodes.in_words(&self.median_factor)).unwrap_or_default();
        judgement.message(
            template,
            &[
                ("stragglers", &unexplained),
                ("judged", &plural(judged, "task")),
                ("factor", &self.median_factor),
                ("limit", &loss.limit),
                ("longest", &longest),
                ("nodes", &nodes),
            ],
        )
    }
}

/// The evidence on the number of tasks and stragglers.
fn counted(views: &[GroupStragglers<'_>], labelling: Labelling) -> Vec<(&'static str, Measure)> {
    let judged: u64 = views.iter().map(|view| view.executions.tasks.len() as u64).sum();
    let labelled: u64 = views.iter().map(|view| view.stragglers().count() as u64).sum();
    let unexplained: u64 = views.iter().map(|view| view.unexplained().count() as u64).sum();
    vec![
        ("tasks_count", Measure::Count(judged)),
        ("stragglers_count", Measure::Count(labelled)),
        ("stragglers_by_mean_count", Measure::Count(stragglers_by_mean(views, labelling))),
        ("stragglers_by_input_count", Measure::Count(labelled - unexplained)),
    ]
}

fn advice(app: &Advised<'_>, views: &[GroupStragglers<'_>], causes: &Causes<'_>) -> Vec<Advice> {
    let mut advice = remedies(app, causes);
    advice.extend(switch_on(app, views, causes));
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

/// The stragglers that cost most run time, longest wait first: among many short stragglers, a few long ones matter.
fn longest(app: &Application, views: &[GroupStragglers<'_>]) -> Phrase {
    let waits = views.iter().flat_map(|view| view.held_up_by().into_iter().map(move |it| (view.group, it)));
    let mut waits: Vec<(&TaskGroup, (Execution, Millis))> = waits.collect();
    waits.sort_by_key(|(group, (task, wait))| (Reverse(*wait), group.kind, task.task()));
    let most = waits.first().map_or(Millis::ZERO, |(_, (_, wait))| *wait);
    let matter = waits.iter().filter(|(_, (_, wait))| 2 * wait.get() >= most.get()).take(NAMES);
    let named = matter.map(|(group, (task, wait))| {
        let host = host(app, group, task.attempt()).unwrap_or_default();
        let task = task_name(group, task.task());
        Phrase::new(WAITED_FOR, &[("task", &task), ("host", &host), ("wait", wait)])
    });
    Phrase::list(", ", named)
}

/// How long a group of tasks waited only for stragglers.
fn tail_of(views: &[GroupStragglers<'_>], kind: TaskKind) -> Option<Millis> {
    tail(views.iter().find(|view| view.group.kind == kind)?)
}

/// How long a group waited only for stragglers.
fn tail(view: &GroupStragglers<'_>) -> Option<Millis> {
    let (from, to) = view.tail()?;
    Millis::between(from, to)
}

/// The group that waited longest only for stragglers.
fn longest_tail(views: &[GroupStragglers<'_>]) -> Option<String> {
    let tails = views.iter().filter_map(|view| Some((tail(view)?, view.group.kind)));
    let (tail, kind) = tails.max_by_key(|&(tail, kind)| (tail, Reverse(kind)))?;
    Some(format!("{}: {tail}", subject(kind).name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::counters::Counter;
    use elephant_model::model::table::Outcome;

    /// Twenty tasks of a stage that run for a minute with as much input, and one for half an hour, with this CPU time.
    fn one_late(cpu: Option<i64>) -> Vec<Advice> {
        let settings = [("spark.master", "yarn"), ("spark.speculation", "false")];
        let mut app = elephant_sample::app(&settings);
        let times: Vec<(Outcome, i64)> =
            (0..21).map(|task| (Outcome::Succeeded, if task == 20 { 1_800_000 } else { 60_000 })).collect();
        elephant_sample::stage(&mut app, 0, &times);
        elephant_sample::count(&mut app, Counter::InputBytes, 64 << 20);
        elephant_sample::succeed(&mut app);
        for row in 0..21 {
            let cpu = cpu.map(|cpu| if row == 20 { cpu } else { 50_000 });
            app.groups[0].attempts.set_counter(row, Counter::CpuMilliseconds, cpu);
        }
        let found = elephant_sample::evaluate(&app, RULE.id, false).findings;
        assert_eq!(found[0].severity, Severity::Critical, "{}", found[0].message);
        found[0].advice.clone()
    }

    #[test]
    fn speculation_is_advised_only_if_a_copy_may_win() {
        let computing = one_late(Some(1_700_000));
        assert!(
            computing[0].starts_with("more work for the same input (inferred): with no more data"),
            "{computing:?}"
        );
        assert!(computing.iter().all(|line| line.settings.is_empty()), "{computing:?}");
        let unknown = one_late(None);
        let copies = unknown.iter().find(|line| line.contains("enable speculative execution")).unwrap();
        assert!(copies.conditional && copies.starts_with("if neither their input nor the code"), "{copies}");
        // It got no CPU: another node would have run it faster.
        let waiting = one_late(Some(50_000));
        let copies = waiting.iter().find(|line| line.contains("enable speculative execution")).unwrap();
        assert!(!copies.conditional, "{copies}");
    }

    #[test]
    fn the_stragglers_that_cost_the_time_are_named() {
        // Sixty maps of a minute, thirty that take twice as long, and two that take half an hour and more.
        let times = (0..60).map(|_| 60).chain((0..30).map(|_| 125)).chain([1800, 2400]);
        let maps = elephant_sample::tasks(TaskKind::Map, times.map(|seconds| (0, Some(seconds))));
        let evaluation = elephant_sample::evaluate_all(&elephant_sample::job(vec![maps], &[]), "");
        let own = evaluation.findings.iter().find(|finding| finding.rule == RULE.id);
        let message = own.map(|finding| finding.message.clone()).unwrap_or_default();
        let ending = "; the longest waits: map 91 (39m), map 90 (29m)";
        assert!(message.starts_with("32 of 92 tasks") && message.ends_with(ending), "{message}");
    }
}
