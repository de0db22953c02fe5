//! What would remove a trouble, as far as savings can be computed.

use super::value::magnitude;
use super::{Trouble, consequences, fewer_executors, resources};
use crate::savings::{Cause, MemoryChange, Removal, Resources, WhyUnknown};
use elephant_analysis::metrics::{Metrics, executor_memory_factor, idle_beyond, requested_container};
use elephant_analysis::stragglers::speculation::Copies;
use elephant_base::units::{Bytes, MbMillis, Millis};
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Engine, Status, Subject};
use elephant_rule::finding::{Finding, Measure, SettingChange, TroubleKind};
use elephant_rule::params::Assumed;
use elephant_ruleset::RuleSet;

/// The rule about copies that were for nothing.
pub(super) const COPIES: &str = "speculation-waste";

/// Nothing is saved by a change that is not recommended.
pub(super) const WITHOUT_CHANGE: Removal = unknown(WhyUnknown::NotRecommended);

/// The removal of `trouble`, one of `all`. `told` are its findings. The one that says most comes first.
pub(super) fn of(
    app: &Application,
    rules: &RuleSet,
    metrics: &Metrics,
    (trouble, all): (&Trouble, &[Trouble]),
    told: &[&Finding],
) -> Removal {
    use TroubleKind as Kind;
    if app.status == Status::Failed
        && trouble.kind != Kind::Failures
        && fewer_executors::is_conditional(trouble)
    {
        return unknown(WhyUnknown::Failed);
    }
    let leading = told.first().copied();
    let is_of_more = leading.is_some_and(|finding| finding.of_more_parts);
    let parts = || trouble.subjects.clone();
    match trouble.kind {
        Kind::Failures if app.status == Status::Failed => unknown(WhyUnknown::ForNothing),
        Kind::Failures => resized(app, trouble, (Cause::Failures, Vec::new())),
        Kind::Shuffle => shuffle(app, trouble),
        Kind::Skew => {
            let cause = if trouble.has_stragglers { Cause::Uneven } else { Cause::Skew };
            Removal::Replay(cause, if is_of_more { parts_besides(app, trouble, all) } else { parts() })
        }
        // Slow nodes slow down every stage, not only those with findings of their own.
        Kind::Stragglers if is_of_more => Removal::Replay(Cause::Stragglers, vec![Subject::Application]),
        Kind::Stragglers => Removal::Replay(Cause::Stragglers, parts()),
        Kind::Spill => resized(app, trouble, (Cause::Spill, parts())),
        Kind::GarbageCollection => fewer_collections(app, rules, trouble, leading),
        Kind::FewTasks | Kind::ManyTasks if app.engine == Engine::MapReduce => tasks_of_job(trouble, told),
        Kind::FewTasks if fewer_executors::is_conditional(trouble) => unknown(WhyUnknown::FewerExecutors),
        Kind::FewTasks | Kind::ManyTasks => tasks(told),
        Kind::Speculation if trouble.findings.first().is_some_and(|first| first.rule == COPIES) => {
            Removal::Replay(Cause::Copies { lost: lost_by_copies(app, metrics) }, Vec::new())
        }
        Kind::MuchMemory => less_memory(app, rules, metrics, trouble),
        Kind::IdleExecutors => fewer_idle(app, rules, metrics, trouble, leading),
        Kind::Waiting => less_waiting(app, metrics, leading),
        Kind::DriverTime => without_operator(trouble, leading),
        kind if kind.is_of_queries() => without_operator(trouble, leading),
        Kind::Cancelled => unknown(WhyUnknown::Cancelled),
        Kind::Stream | Kind::StreamState => unknown(WhyUnknown::EndlessRun),
        Kind::Settings | Kind::FewExecutors | Kind::LongRun | Kind::LittleMemory => {
            of_executors(app, trouble)
        }
        _ if trouble.advice.is_empty() => unknown(WhyUnknown::NoRemedy),
        _ => unknown(WhyUnknown::NoModel),
    }
}

/// Without the collections beyond the usual ones, where a setting would avoid them.
fn fewer_collections(
    app: &Application,
    rules: &RuleSet,
    trouble: &Trouble,
    leading: Option<&Finding>,
) -> Removal {
    if app.engine == Engine::Spark && trouble.change.is_empty() {
        return unknown(WhyUnknown::NoSetting);
    }
    let limit = limit_of_collections(leading, rules.troubles().usual_collections.get());
    resized(app, trouble, (Cause::Collections { limit }, trouble.subjects.clone()))
}

/// Idle executors are released, or there are fewer.
fn fewer_idle(
    app: &Application,
    rules: &RuleSet,
    metrics: &Metrics,
    trouble: &Trouble,
    leading: Option<&Finding>,
) -> Removal {
    without_minimum(&trouble.change, leading)
        .or_else(|| without_idle(app, rules, metrics, trouble))
        .unwrap_or_else(|| not_released(trouble))
}

/// On executors of another number or size. What more memory saves besides is unknown.
fn of_executors(app: &Application, trouble: &Trouble) -> Removal {
    match resources::of(app, &trouble.change) {
        None => unknown(WhyUnknown::NoModel),
        Some(resources) if trouble.kind == TroubleKind::LittleMemory => {
            Removal::Costs(resources, WhyUnknown::NoModel)
        }
        Some(resources) => Removal::Resized(resources, None),
    }
}

/// Without the work of an operator of a query: a share of its stages, or time of the driver.
fn without_operator(trouble: &Trouble, leading: Option<&Finding>) -> Removal {
    let Some(leading) = leading else { return unknown(WhyUnknown::NoModel) };
    if let Some(Measure::Ratio(Some(share))) = leading.measure("work_ratio") {
        return Removal::Replay(Cause::Work { share: share.clamp(0.0, 1.0) }, trouble.subjects.clone());
    }
    leading.time("driver_ms").map_or(unknown(WhyUnknown::NoModel), |time| Removal::Driver { time })
}

/// Without the wait that more capacity avoids.
fn less_waiting(app: &Application, metrics: &Metrics, leading: Option<&Finding>) -> Removal {
    // No capacity shortens it: only what failed cost time.
    if leading.is_some_and(consequences::waits_for_failures) {
        return Removal::Replay(Cause::Failures, Vec::new());
    }
    metrics.wait_time.map_or(unknown(WhyUnknown::NotMeasured), |time| Removal::Waiting {
        time: avoidable_wait(app, metrics, time),
    })
}

/// The stages that no other skew is about; empty for all stages.
fn parts_besides(app: &Application, trouble: &Trouble, all: &[Trouble]) -> Vec<Subject> {
    let others = all.iter().filter(|other| other.kind == TroubleKind::Skew && other.id != trouble.id);
    let of_others: Vec<&Subject> = others.flat_map(|other| &other.subjects).collect();
    if of_others.is_empty() {
        return Vec::new();
    }
    let stages = app.spark.iter().flat_map(|spark| &spark.stages).map(|stage| Subject::Stage(stage.id));
    stages.filter(|stage| !of_others.contains(&stage)).collect()
}

fn shuffle(app: &Application, trouble: &Trouble) -> Removal {
    if app.engine == Engine::Spark {
        return Removal::Replay(Cause::FetchWait, trouble.subjects.clone());
    }
    let share = proposed(&trouble.change, ConfKey::SlowStart).and_then(|it| it.to.parse().ok());
    share.map_or(unknown(WhyUnknown::NoModel), |share| {
        Removal::Replay(Cause::SlowStart { share }, trouble.subjects.clone())
    })
}

fn less_memory(app: &Application, rules: &RuleSet, metrics: &Metrics, trouble: &Trouble) -> Removal {
    let memory = match app.engine {
        Engine::Spark => executors(app, rules, &trouble.change),
        Engine::MapReduce => containers(app, &trouble.change),
        Engine::Tez => return unknown(WhyUnknown::NoModel),
    };
    match memory {
        Some(memory) => Removal::Memory(memory),
        None => without_idle(app, rules, metrics, trouble).unwrap_or(unknown(WhyUnknown::NoSize)),
    }
}

const fn unknown(why: WhyUnknown) -> Removal {
    Removal::Unknown(why)
}

/// The removal of a cause; on resized executors or containers if the trouble's change asks for them.
fn resized(app: &Application, trouble: &Trouble, (cause, parts): (Cause, Vec<Subject>)) -> Removal {
    let memory = containers(app, &trouble.change).filter(|_| app.engine == Engine::MapReduce);
    if let Some(memory) = memory {
        return Removal::Containers { memory, cause, subjects: parts };
    }
    match resources::of(app, &trouble.change) {
        Some(resources) => Removal::Resized(resources, Some((cause, parts))),
        None => Removal::Replay(cause, parts),
    }
}

/// Without a minimum, dynamic allocation keeps no more executors than tasks need, if the leading finding knows how many.
fn without_minimum(changes: &[SettingChange], leading: Option<&Finding>) -> Option<Removal> {
    proposed(changes, ConfKey::DynamicAllocationMin)?;
    let executors = u32::try_from(leading?.count("enough_executors_count")?).ok()?;
    let resources = Resources { executors: Some(executors), ..Resources::default() };
    Some(Removal::Resized(resources, None))
}

/// Why nothing is known to be saved by advice on idle executors.
fn not_released(trouble: &Trouble) -> Removal {
    let mut settings = trouble.advice.iter().filter(|advice| !advice.settings.is_empty()).peekable();
    if settings.peek().is_none() {
        return unknown(WhyUnknown::NotReleased);
    }
    unknown(if settings.all(|advice| advice.conditional) {
        WhyUnknown::OnACondition
    } else {
        WhyUnknown::NoModel
    })
}

/// Executors that are given back while they are idle, or fewer of them; `None` if the change proposes neither.
fn without_idle(app: &Application, rules: &RuleSet, metrics: &Metrics, trouble: &Trouble) -> Option<Removal> {
    let released = released(app, rules, metrics, trouble).map(|share| Removal::Idle { share });
    released.or_else(|| Some(Removal::Resized(resources::of(app, &trouble.change)?, None)))
}

/// The lowest cut-off of the rule, if it is a share of task time; otherwise the `usual` share.
fn limit_of_collections(leading: Option<&Finding>, usual: f64) -> f64 {
    let thresholds = leading.into_iter().flat_map(|finding| finding.thresholds.iter());
    let mut of_task_time = thresholds.filter(|threshold| threshold.key == "gc_ratio");
    let lowest = of_task_time.next().and_then(|threshold| threshold.cutoffs.first().copied());
    lowest.filter(|limit| (0.0..1.0).contains(limit)).unwrap_or(usual)
}

/// Another number of tasks: that of the first finding that names one.
fn tasks(told: &[&Finding]) -> Removal {
    let repartition = told.iter().find_map(|finding| finding.repartition.as_ref());
    repartition.map_or(unknown(WhyUnknown::NoNumber), |repartition| {
        let stages = repartition.stages.iter().map(|stage| Subject::Stage(*stage)).collect();
        Removal::Replay(Cause::Tasks { count: repartition.tasks }, stages)
    })
}

/// Another number of tasks of a job: by the proposed number of reduces or maps, or size of splits, or as the first finding names
/// it.
fn tasks_of_job(trouble: &Trouble, told: &[&Finding]) -> Removal {
    let of = |kind: TaskKind, cause| Removal::Replay(cause, vec![Subject::Tasks(kind.name())]);
    let reduces = proposed(&trouble.change, ConfKey::Reduces);
    if let Some(count) = reduces.and_then(|change| change.to.parse().ok()) {
        return of(TaskKind::Reduce, Cause::Tasks { count });
    }
    let maps = proposed(&trouble.change, ConfKey::Maps);
    if let Some(count) = maps.and_then(|change| change.to.parse().ok()) {
        return of(TaskKind::Map, Cause::Tasks { count });
    }
    let mut sizes = [ConfKey::SplitMaxSize, ConfKey::SplitMinSize].into_iter();
    let change = sizes.find_map(|key| proposed(&trouble.change, key));
    if let Some(size) = change.and_then(|change| Bytes::from_f64(magnitude(&change.setting, &change.to)?)) {
        return of(TaskKind::Map, Cause::Splits { size });
    }
    let mut named =
        told.iter().filter_map(|finding| Some((&finding.subject, finding.repartition.as_ref()?.tasks)));
    named.next().map_or(unknown(WhyUnknown::NoNumber), |(subject, count)| {
        Removal::Replay(Cause::Tasks { count }, vec![subject.clone()])
    })
}

/// The share of held resources that speculative copies took which lost; zero if it is unknown.
fn lost_by_copies(app: &Application, metrics: &Metrics) -> f64 {
    let all = app.groups.iter().fold(Copies::default(), |sum, group| sum.and(Copies::of(group)));
    let of_tasks = all.lost_share().unwrap_or_default();
    // Executors are held without a task, too.
    match (app.engine, metrics.idle_percent()) {
        (Engine::Spark, Some(idle)) => of_tasks * (1.0 - idle / 100.0),
        (Engine::Spark, None) => 0.0,
        (Engine::MapReduce | Engine::Tez, _) => of_tasks,
    }
}

/// The share of the memory held that dynamic allocation would give back, if it is proposed.
fn released(app: &Application, rules: &RuleSet, metrics: &Metrics, trouble: &Trouble) -> Option<f64> {
    let changes = &trouble.change;
    let timeouts = [
        ConfKey::DynamicAllocationIdleTimeout,
        ConfKey::DynamicAllocationCachedTimeout,
        ConfKey::ShuffleTrackingTimeout,
    ];
    let timeouts = timeouts.into_iter().filter_map(|key| proposed(changes, key));
    let timeouts: Option<Vec<Millis>> =
        timeouts.map(|change| Millis::from_f64(magnitude(&change.setting, &change.to)?)).collect();
    let releases = [ConfKey::DynamicAllocation, ConfKey::DynamicAllocationMin];
    // Executors that several things keep go after the longest of their timeouts.
    let timeout = match timeouts?.into_iter().max() {
        Some(longest) => longest,
        None if trouble.is_scaled_by_platform
            || releases.into_iter().any(|key| proposed(changes, key).is_some()) =>
        {
            app.in_force(ConfKey::DynamicAllocationIdleTimeout, Conf::spark_duration)?
        }
        None => return None,
    };
    idle_beyond(app, rules.spark_metrics(), timeout)?.share_of(metrics.used?)
}

fn proposed(changes: &[SettingChange], key: ConfKey) -> Option<&SettingChange> {
    changes.iter().find(|change| key.names().contains(&change.setting.as_str()))
}

/// The wait that could have been avoided: without any wait, the application still takes as long as its longest task of
/// each kind, of reduces from the end of the last map on: before, they wait for it. Waits of maps and reduces overlap, so
/// their sum may be longer than the run.
fn avoidable_wait(app: &Application, metrics: &Metrics, wait: Millis) -> Millis {
    let end = |group: &TaskGroup, row| group.attempts.time(row, TimePoint::Finish);
    let last_map =
        app.group(TaskKind::Map).and_then(|maps| maps.winners().filter_map(|row| end(maps, row)).max());
    let longest = |group: &TaskGroup| {
        let waits_until = last_map.filter(|_| group.kind == TaskKind::Reduce);
        let time = |row| {
            let start = group.attempts.time(row, TimePoint::Start)?;
            Millis::between(waits_until.map_or(start, |map| map.max(start)), end(group, row)?)
        };
        group.winners().filter_map(time).max()
    };
    let kinds = app.groups.iter().filter(|group| matches!(group.kind, TaskKind::Map | TaskKind::Reduce));
    let least: Millis = kinds.filter_map(longest).sum();
    let most = metrics.run_time.map(|run_time| Millis::new(run_time.get().saturating_sub(least.get())));
    most.map_or(wait, |most| wait.min(most))
}

/// How the memory of executors would change. In local mode, the driver is the only one.
fn executors(app: &Application, rules: &RuleSet, changes: &[SettingChange]) -> Option<MemoryChange> {
    let heap = resources::of(app, changes)?.memory?;
    let factor = executor_memory_factor(app, rules.spark_metrics(), (Some(heap), None))?;
    let resources = Resources { memory: Some(heap), ..Resources::default() };
    Some(MemoryChange { executors: Some((resources, factor)), ..MemoryChange::default() })
}

/// How the memory of containers would change, over all tasks and their times.
fn containers(app: &Application, changes: &[SettingChange]) -> Option<MemoryChange> {
    let kinds = [(TaskKind::Map, ConfKey::MapMemoryMb), (TaskKind::Reduce, ConfKey::ReduceMemoryMb)];
    let (mut before, mut after) = (MbMillis::ZERO, [None; 2]);
    for ((kind, key), after) in kinds.into_iter().zip(&mut after) {
        let Some(group) = app.group(kind) else { continue };
        let now = requested_container(app, kind, Assumed(None))?;
        let wanted = proposed(changes, key).and_then(|change| change.to.parse().ok()).map(Bytes::from_mib);
        let times = (0..group.attempts.len()).filter_map(|row| group.attempts.run_time(row));
        let held =
            |size: Bytes| times.clone().fold(MbMillis::ZERO, |sum, time| sum + MbMillis::of(size, time));
        let of_kind = held(now);
        before = before + of_kind;
        *after = wanted.map(|wanted| (of_kind, held(wanted)));
    }
    let saved = after.map(|change| {
        let (of_kind, wanted) = change?;
        Some(of_kind.share_of(before)? - wanted.share_of(before)?)
    });
    let [maps, reduces] = saved;
    maps.or(reduces)?;
    Some(MemoryChange { executors: None, maps, reduces })
}
