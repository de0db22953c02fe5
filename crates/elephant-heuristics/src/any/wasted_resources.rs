//! `wasted-resources`: containers had more memory than their tasks needed (seed 004, "Wasted Resources").

use std::cmp::Reverse;
use std::sync::Arc;

use super::support::costs;
use super::support::groups::tasks;
use crate::declare::any as rule;
use crate::spark::{self, Idleness, waits_by_design};
use elephant_analysis::metrics::requested_container;
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, MbMillis, show_gb_hours};
use elephant_catalogue::{AdviceParams, Advised, Check, NOT_MEASURED, Remedy, Rule, Shared, load_advised};
use elephant_model::model::spark::{ClusterManager, Facet};
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::{
    Advice, Container, Judgement, Measure, Phrase, Subject, TroubleKind, Verdict, Worse,
};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{MemoryTime, Ratio};
use elephant_rule::params::{Assumed, rule_params};
use elephant_rule::wording::{decisive, percent};

rule_params! {
    /// Parameters of `wasted-resources`.
    pub(super) struct Waste / WasteLayer {
        /// Allocated memory that tasks did not need / all allocated memory.
        wasted_share: Ascending<Ratio>,
        /// Allocated memory that tasks did not need. Small jobs waste little, however large the share.
        wasted: Ascending<MemoryTime>,
        /// Spark: the highest severity of idle executors if the driver waits by design, such as that of a stream.
        by_design_at_most: Severity,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "wasted-resources", "Wasted Resources", tells MuchMemory, Waste, |layers, advice| load_advised(
        layers, advice, Unneeded
    ))
    .measured_by("wasted_ratio", Worse::Higher)
    .also_telling(&[TroubleKind::IdleExecutors]);

const MESSAGE: &str =
    "{wasted} of {used} GB·h of allocated memory were not needed, {wasted_ratio:%} ({limit})";

/// The message if idle cores waste more memory than oversized executors do: while cores are idle, even memory that
/// tasks need is held for nothing.
const IDLE_AND_LARGE: &str = "executors held {used} GB·h while their cores were idle for {idle_cores_ratio:%} of the time; \
                              by its size alone, {wasted} GB·h of the memory were not needed, {wasted_ratio:%} \
                              ({limit})[; {idleness}]";

/// The message if the cores of executors were idle, but the memory that executors needed is unknown.
const IDLE: &str = "the cores of executors were idle for {idle_cores_ratio:%} of the time, while they held {used} GB·h \
                    ({limit})[; {idleness}]";

/// The limit if the driver waits by design.
const BY_DESIGN: &str = "{most} at most, because the driver waits by design";

/// The advice in local mode if the memory needed is unknown.
const IN_ONE_PROCESS: &str =
    "the driver's process holds its memory while no task runs: end it when its work is done";

/// The advice if executors have too much memory of one kind and too little of another.
const KILLED: &str = "do not make executors smaller, because they or their tasks ran out of memory: give memory that is not \
                      needed to what is short, such as from the heap to the overhead";

struct Unneeded(Waste, Arc<AdviceParams>);

impl Check for Unneeded {
    fn check(&self, app: &Application) -> Verdict {
        self.check_among(app, &Shared::of(app))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let Some(metrics) = shared.metrics() else {
            return Verdict::NotEvaluated(NOT_MEASURED.to_owned());
        };
        let Some(used) = metrics.used else { return Verdict::NotEvaluated(costs::used_unknown(app)) };
        if used == MbMillis::ZERO {
            return Verdict::NotApplicable;
        }
        let Some((wasted, share)) = metrics.wasted.and_then(|wasted| Some((wasted, wasted.share_of(used)?)))
        else {
            return match metrics.idle_percent() {
                Some(idle) => params.idle(app, shared, (used, idle / 100.0)).into(),
                None => Verdict::NotEvaluated(costs::needs_unknown(app)),
            };
        };
        let by_share = params.wasted_share.severity(share);
        let by_amount = params.wasted.severity(wasted.as_gb_hours());
        let severity = by_share.min(by_amount);
        let idle = metrics.idle_percent().map(|idle| idle / 100.0);
        // Fewer threads of a single process free no memory.
        let released = idle.filter(|&idle| idle > share && !is_local(app));
        if let Some(idle) = released {
            // Memory that is held while no task runs is wasted, even if tasks need it when they run.
            let judged = params.idle(app, shared, (used, idle));
            if judged.severity > severity {
                return judged.into();
            }
        }
        let level = severity.max(Severity::Low);
        let idleness = released.and_then(|_| idleness(app, shared, severity));
        let limits = [
            (by_share, params.wasted_share.describe_in(level, percent)),
            (by_amount, params.wasted.describe(level)),
        ];
        let hours = |amount: MbMillis| Measure::Number(Some(amount.as_gb_hours()), "_gb_hours".into());
        let mut evidence = vec![
            ("used_gb_hours", hours(used)),
            ("wasted_gb_hours", hours(wasted)),
            ("wasted_ratio", Measure::Ratio(Some(share))),
        ];
        evidence.extend(idle.map(|idle| ("idle_cores_ratio", Measure::Ratio(Some(idle)))));
        evidence.extend(idleness.iter().flat_map(Idleness::evidence));
        Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .tells(if released.is_some() { TroubleKind::IdleExecutors } else { TroubleKind::MuchMemory })
            .facts(evidence)
            .message(
                if released.is_some() { IDLE_AND_LARGE } else { MESSAGE },
                &[
                    ("wasted", &show_gb_hours(wasted)),
                    ("used", &show_gb_hours(used)),
                    ("limit", &decisive(severity, &limits)),
                    ("idleness", &idleness.as_ref().map(Idleness::phrase).unwrap_or_default()),
                ],
            )
            .advice(|| idleness.map_or_else(|| advice(app, shared), |idleness| idleness.advice(app)))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        costs::OF_MEMORY
    }
}

impl Waste {
    /// The judgement on executors whose needs are unknown, by the time in which their cores were idle.
    fn idle(&self, app: &Advised<'_>, shared: &Shared<'_>, (used, idle): (MbMillis, f64)) -> Judgement {
        let held = used.as_gb_hours() * idle;
        let (by_share, by_amount) = (self.wasted_share.severity(idle), self.wasted.severity(held));
        let uncapped = by_share.min(by_amount);
        let most = if waits_by_design(app) { self.by_design_at_most } else { Severity::Critical };
        let severity = uncapped.min(most);
        let level = severity.max(Severity::Low);
        let limits = [
            (by_share, self.wasted_share.describe_in(level, percent)),
            (by_amount, self.wasted.describe(level)),
        ];
        let limit = if severity < uncapped {
            Phrase::new(BY_DESIGN, &[("most", &most.name())]).to_string()
        } else {
            decisive(severity, &limits)
        };
        let idleness = idleness(app, shared, severity);
        let judgement = Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .tells(if is_local(app) { TroubleKind::MuchMemory } else { TroubleKind::IdleExecutors })
            .facts(vec![
                ("used_gb_hours", Measure::Number(Some(used.as_gb_hours()), "_gb_hours".into())),
                ("idle_cores_ratio", Measure::Ratio(Some(idle))),
            ])
            .facts(idleness.iter().flat_map(Idleness::evidence))
            .message(
                IDLE,
                &[
                    ("used", &show_gb_hours(used)),
                    ("limit", &limit),
                    ("idleness", &idleness.as_ref().map(Idleness::phrase).unwrap_or_default()),
                ],
            );
        judgement.advice(|| match idleness {
            Some(idleness) => idleness.advice(app),
            None => vec![IN_ONE_PROCESS.into()],
        })
    }
}

/// Why the cores of executors were idle. Computed only for findings, because it takes replays.
fn idleness<'a>(app: &'a Advised<'a>, shared: &Shared<'_>, severity: Severity) -> Option<Idleness<'a>> {
    let is_found = severity > Severity::None && !is_local(app);
    is_found.then(|| Idleness::of(app, shared.recorded()))
}

fn is_local(app: &Application) -> bool {
    ClusterManager::of_application(app) == Some(ClusterManager::Local)
}

/// The advice of the rules on containers and heaps, so that no two rules advise different values.
fn advice(app: &Application, shared: &Shared<'_>) -> Vec<Advice> {
    match app.engine {
        Engine::MapReduce => of_containers(app, shared),
        Engine::Spark => of_executors(app, shared),
        Engine::Tez => vec![
            "request containers of the size that the tasks need (hive.tez.container.size, or tez.task.resource.memory.mb)"
                .into(),
        ],
    }
}

/// Advice by kind of tasks. The kind that used most comes first, even if it cannot shrink; others only if
/// they can.
fn of_containers(app: &Application, shared: &Shared<'_>) -> Vec<Advice> {
    let tasks = [(TaskKind::Map, Container::Map), (TaskKind::Reduce, Container::Reduce)];
    let sizes = tasks.map(|(kind, _)| requested_container(app, kind, Assumed(None)));
    let are_known = sizes.iter().all(Option::is_some);
    let mut holding = tasks.map(|(kind, container)| (held(app, kind, are_known), container));
    holding.sort_by_key(|(held, _)| Reverse(*held));
    // Tasks of an uberized job share one container.
    let containers = if app.uberized == Some(true) { 1 } else { holding.len() };
    let mut lines = Vec::new();
    for (place, (_, container)) in holding.into_iter().take(containers).enumerate() {
        match shared.remedy(container) {
            Some(Remedy::Change(changes)) => lines.extend(changes),
            Some(Remedy::NoSetting(why)) if place == 0 => lines.push(why.into()),
            Some(Remedy::NoSetting(_)) | None => {}
        }
    }
    if lines.is_empty() {
        lines.push("request containers of the size that the tasks need".into());
    }
    lines
}

/// The memory that attempts of one kind held over time, as far as their times are known. If some sizes are
/// unknown, the time alone.
fn held(app: &Application, kind: TaskKind, sizes_are_known: bool) -> MbMillis {
    let Some(group) = app.group(kind) else { return MbMillis::ZERO };
    let size = requested_container(app, kind, Assumed(None)).filter(|_| sizes_are_known);
    let size = size.unwrap_or(Bytes::from_mib(1));
    let times = (0..group.attempts.len()).filter_map(|row| group.attempts.run_time(row));
    times.map(|time| MbMillis::of(size, time)).sum()
}

fn of_executors(app: &Application, shared: &Shared<'_>) -> Vec<Advice> {
    let mut lines = match shared.remedy(Container::Executor) {
        Some(Remedy::Change(lines)) => lines,
        Some(Remedy::NoSetting(_)) | None => Vec::new(),
    };
    lines.extend(spark::memory_to_reduce(app));
    if lines.is_empty() && is_local(app) {
        lines.push(IN_ONE_PROCESS.into());
    }
    if lines.is_empty() && spark::is_short_of_memory(app) {
        lines.push(KILLED.into());
    }
    if lines.is_empty() {
        lines.push(
            "the executor that needs most determines the size of all: balance the work of executors, or release idle \
             executors"
                .into(),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::counters::Counter;
    use elephant_model::model::table::{TaskGroup, TimePoint};
    use elephant_rule::finding::Finding;
    use elephant_sample::job;

    /// A hundred tasks of one hour that need this many MiB each.
    fn group(kind: TaskKind, needs: i64) -> TaskGroup {
        let mut group = elephant_sample::tasks(kind, [(0, Some(3600)); 100]);
        for row in 0..group.attempts.len() {
            group.attempts.set_counter(row, Counter::PhysicalMemoryBytes, Some(needs << 20));
        }
        group
    }

    fn found_by(rules: &str, app: &Application) -> Finding {
        let evaluation = elephant_sample::evaluate_all(app, rules);
        evaluation.findings.into_iter().find(|finding| finding.rule == RULE.id).unwrap()
    }

    fn found(app: &Application) -> Finding {
        found_by("rule: wasted-resources\nenabled: true\n", app)
    }

    const SIZES: [(&str, &str); 2] =
        [("mapreduce.map.memory.mb", "4096"), ("mapreduce.reduce.memory.mb", "4096")];

    #[test]
    fn containers_shrink_to_the_size_that_the_memory_rules_advise() {
        // 400 GB·h of map tasks need at most 100 × 1.5 × 1 GiB·h.
        let app = job(vec![group(TaskKind::Map, 1024)], &SIZES);
        let found = found(&app);
        assert_eq!(
            (found.severity, found.message.as_str()),
            (
                Severity::Severe,
                "250 of 400 GB·h of allocated memory were not needed, 62.5 % (severe from 55 %)"
            )
        );
        assert_eq!(found.advice, ["mapreduce.map.memory.mb 4096 → 1536 (measured peak 1 GiB plus 25 %)"]);
        let roomy = found_by("rule: mapper-memory\nheadroom: 1\n", &app);
        assert_eq!(roomy.advice, ["mapreduce.map.memory.mb 4096 → 2048 (measured peak 1 GiB plus 100 %)"]);
    }

    #[test]
    fn kinds_that_cannot_shrink_are_skipped_if_another_can() {
        let groups = vec![group(TaskKind::Map, 1024), group(TaskKind::Reduce, 4000)];
        let advice = found(&job(groups, &SIZES)).advice;
        assert!(
            advice.len() == 1 && advice.iter().all(|line| line.starts_with("mapreduce.map")),
            "{advice:?}"
        );
    }

    #[test]
    fn the_smallest_container_of_the_cluster_cannot_shrink() {
        let settings =
            [("mapreduce.map.memory.mb", "1024"), ("yarn.scheduler.minimum-allocation-mb", "1024")];
        assert_eq!(
            found(&job(vec![group(TaskKind::Map, 200)], &settings)).advice,
            [
                "YARN allocates no containers below 1 GiB (yarn.scheduler.minimum-allocation-mb): give each task more work, so that \
              fewer containers are needed"
            ]
        );
    }

    #[test]
    fn tasks_of_an_uberized_job_use_the_container_of_the_application_master() {
        let mut app = job(vec![group(TaskKind::Map, 500)], &[("yarn.app.mapreduce.am.resource.mb", "4096")]);
        app.uberized = Some(true);
        let advice = found(&app).advice;
        assert_eq!(
            advice,
            ["yarn.app.mapreduce.am.resource.mb 4096 → 1024 (measured peak 500 MiB plus 25 %)"]
        );
    }

    #[test]
    fn an_assumed_size_has_a_value_to_set() {
        let app = job(vec![group(TaskKind::Map, 500)], &[]);
        let rules = "rule: metrics\ncontainer_default: 4GB\n---\nrule: wasted-resources\nenabled: true\n";
        assert_eq!(
            found_by(rules, &app).advice,
            ["mapreduce.map.memory.mb → 1024 (measured peak 500 MiB plus 25 %)"]
        );
    }

    /// A driver that waits by design is no reason to look for what it does.
    #[test]
    fn idle_executors_of_a_server_are_low() {
        let idle = |name: &str| {
            let settings = [("spark.master", "yarn"), ("spark.executor.memory", "40g")];
            let mut app = elephant_sample::app(&settings);
            let at = |second: i64| Some(elephant_base::units::Timestamp::from_millis(second * 1000));
            (app.name, app.submitted_at, app.finished_at) = (Some(name.to_owned()), at(0), at(10_000));
            for id in ["1", "2", "3", "4"] {
                let executor = elephant_sample::executor(&mut app, id);
                (executor.cores, executor.added_at, executor.removed_at) = (Some(4), at(0), at(10_000));
            }
            let mut query = elephant_model::model::spark::Job::new(0);
            (query.submitted_at, query.completed_at) = (at(100), at(200));
            elephant_sample::spark(&mut app).jobs.push(query);
            found(&app)
        };
        let program = idle("nightly");
        assert!(program.severity > Severity::Low, "{}", program.message);
        assert!(program.advice[0].text.starts_with("look at what the driver does"), "{:?}", program.advice);
        let server = idle("Thrift JDBC/ODBC Server");
        assert_eq!(server.severity, Severity::Low);
        assert!(
            server.message.contains("(low at most, because the driver waits by design)"),
            "{}",
            server.message
        );
        assert!(
            server
                .message
                .ends_with("the application waited for its users, while up to 4 executors had nothing to do")
        );
        assert!(server.advice[0].text.starts_with("a server, shell or notebook waits for its users"));
        assert!(server.advice.iter().all(|line| !line.contains("look at")), "{:?}", server.advice);
    }

    #[test]
    fn unknown_values_are_reported() {
        let reason = |app: &Application| {
            let evaluation = elephant_sample::evaluate_all(app, "");
            let own = evaluation.not_evaluated.into_iter().find(|missing| missing.rule == RULE.id);
            own.map(|missing| missing.reason).unwrap_or_default()
        };
        assert_eq!(
            reason(&job(vec![group(TaskKind::Map, 500)], &[])),
            "the container size is unknown: no configuration file with mapreduce.map.memory.mb was found"
        );
        assert_eq!(
            reason(&job(vec![group(TaskKind::Map, 0)], &SIZES)),
            "no map task reports PHYSICAL_MEMORY_BYTES"
        );
        let mut timeless = group(TaskKind::Map, 500);
        timeless.attempts.set_time(7, TimePoint::Start, None);
        assert_eq!(
            reason(&job(vec![timeless], &SIZES)),
            "the history does not contain the run time of every attempt"
        );
    }
}
