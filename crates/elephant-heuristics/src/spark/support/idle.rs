//! Advice on executors that hold memory while no task runs on them.

use super::application::{change_to, spark};
use super::crowded::Crowded;
use super::driver_alone::DriverAlone;
use super::limited::Limited;
use super::losses::lost_executors;
use super::memory::{in_force, is_local, max_executors};
use super::pinned::unpin;
use super::shuffle_service;
use elephant_analysis::metrics::share_idle_beyond;
use elephant_analysis::replay::spark::{Change, Recorded, Slots};
use elephant_analysis::replay::{ERROR, MAX_ATTEMPTS};
use elephant_base::units::{Bytes, Millis};
use elephant_catalogue::Advised;
use elephant_model::engine_facts::spark::IDLE_TIMEOUT;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::spark::{ClusterManager, Executor, ShuffleService, Spark};
use elephant_model::model::{Application, Status};
use elephant_rule::finding::{Advice, Measure, Phrase, SettingChange};
use elephant_rule::wording::change;

/// The maximum number of replays that search for a number of executors.
const REPLAYS: usize = 6;

const GIVE_WORK: &str = "give idle cores work: more tasks at once, or independent jobs at the same time; no executor was idle \
                         for long, and with fewer of them the application would take longer";

/// The message about executors that an application does not need.
const ENOUGH: &str = "in a replay it takes as long with {enough} of its {executors} executors";

/// Why the cores of executors were idle, and how many executors would have been enough.
pub(crate) struct Idleness<'a> {
    alone: Option<DriverAlone<'a>>,
    limited: Option<Limited<'a>>,
    crowded: Option<Crowded<'a>>,
    fewest: Option<Fewest>,
}

impl<'a> Idleness<'a> {
    pub(crate) fn of(app: &'a Advised<'a>, recorded: Option<&Recorded>) -> Self {
        let (alone, crowded) = (DriverAlone::of(app), Crowded::of(app));
        Self { alone, limited: Limited::of(app), crowded, fewest: fewest_executors(app, recorded) }
    }

    pub(crate) fn evidence(&self) -> Vec<(&'static str, Measure)> {
        let mut evidence: Vec<_> = self.alone.iter().flat_map(DriverAlone::evidence).collect();
        if let Some(Fewest::Of { count, now, .. }) = self.fewest {
            evidence.push(("executors_count", Measure::Count(now.into())));
            evidence.push(("enough_executors_count", Measure::Count(count.into())));
        }
        evidence
    }

    /// What the log shows in addition to the idle time; may be empty.
    pub(crate) fn phrase(&self) -> Phrase {
        let enough = match self.fewest {
            Some(Fewest::Of { count, now, .. }) if !self.is_by_design() => {
                Some(Phrase::new(ENOUGH, &[("enough", &count), ("executors", &now)]))
            }
            _ => None,
        };
        let crowded = self.crowded.iter().map(Crowded::phrase);
        let limited = self.limited.iter().map(Limited::phrase);
        let why = self.alone.iter().map(DriverAlone::phrase).chain(limited).chain(crowded);
        Phrase::list("; ", why.chain(enough))
    }

    /// What the driver should do differently, and how executors are given back meanwhile.
    pub(crate) fn advice(&self, app: &Advised<'_>) -> Vec<Advice> {
        let alone = self.alone.iter().map(|alone| alone.advice(app));
        if self.is_by_design() {
            // With fewer executors, batches and queries would take longer, although the application would not.
            return alone.chain(released(app).filter(|line| !line.settings.is_empty())).collect();
        }
        // Cores that no task can take should be taken before executors go.
        if let Some(limited) = &self.limited {
            return alone.chain(limited.advice()).collect();
        }
        // Executors that are idle while tasks wait should work before they go.
        match self.crowded.and_then(|_| Crowded::advice(app)) {
            Some(spread) => alone.chain([spread]).collect(),
            None => alone.chain(release(app, self.fewest)).collect(),
        }
    }

    /// Whether the driver waits by design for much of the time.
    pub(crate) fn is_by_design(&self) -> bool {
        self.alone.as_ref().is_some_and(DriverAlone::is_by_design)
    }
}

/// The advice if the cores of executors were idle for much of the time.
pub(crate) fn release_idle(app: &Advised<'_>, recorded: Option<&Recorded>) -> Vec<Advice> {
    release(app, fewest_executors(app, recorded))
}

/// What makes dynamic allocation release idle executors.
fn released(app: &Advised<'_>) -> Option<Advice> {
    if app.allocates_dynamically() { sooner(app) } else { dynamic_allocation(app) }
}

fn release(app: &Advised<'_>, fewest: Option<Fewest>) -> Vec<Advice> {
    let dynamic = app.allocates_dynamically();
    let released = released(app);
    let fewer = || match fewest? {
        Fewest::Of { count, slots, .. } => {
            let what = "use fewer executors; in a replay the application takes as long with them";
            let fewer = number_of_executors(app, count, slots);
            Some(Advice::new(what).set([fewer]))
        }
        Fewest::NotFew => None,
    };
    let frees = fewest.map_or(0.0, Fewest::frees);
    match released {
        // Executors that get a task now and then are never idle for long, although fewer executors could run all tasks.
        Some(line)
            if !line.conditional
                && (dynamic || frees <= idle_share(app) + app.advice.fewer_executors.get()) =>
        {
            vec![line]
        }
        Some(line) if !line.conditional => fewer().into_iter().collect(),
        conditional => {
            let mut advice: Vec<Advice> = fewer().into_iter().chain(conditional).collect();
            if advice.is_empty() {
                let what = if fewest.is_some() { GIVE_WORK } else { "use fewer executors" };
                advice.push(what.into());
            }
            advice
        }
    }
}

/// The share of what executors held that dynamic allocation would give back; all if the log does not tell.
fn idle_share(app: &Application) -> f64 {
    share_idle_beyond(app, timeout(app)).unwrap_or(1.0)
}

/// What makes dynamic allocation release executors that it keeps: no minimum, other timeouts for executors with cached blocks
/// or shuffle files, or a shorter timeout.
fn sooner(app: &Advised<'_>) -> Option<Advice> {
    let release = |change| Advice::new("release idle executors").set([change]);
    let timeout = timeout(app);
    let pinned = spark(app).filter(|_| keeps_idle(app)).and_then(|spark| unpin(app, spark, timeout));
    let least = in_force(app, ConfKey::DynamicAllocationMin).filter(|least| *least > 1);
    let Some(least) = least.filter(|_| frees(app, timeout)) else {
        return pinned.or_else(|| shorter_idle_timeout(app).map(release));
    };
    // A minimum explains only as many idle executors as it keeps.
    let explains_few = |spark: &Spark| least.saturating_mul(2) < max_executors(&spark.executors);
    let no_minimum = change(app, ConfKey::DynamicAllocationMin, 0);
    Some(match pinned {
        Some(advice) if spark(app).is_some_and(explains_few) => advice,
        Some(advice) => advice.set([no_minimum]),
        None => release(no_minimum),
    })
}

/// A shorter time after which dynamic allocation releases idle executors; `None` if it is already short, if no executor was
/// idle for as long, or if executors stayed for longer than the one in force: then something else keeps them.
pub(in crate::spark) fn shorter_idle_timeout(app: &Advised<'_>) -> Option<SettingChange> {
    let short = app.advice.short_idle_timeout.millis();
    let helps = timeout(app) > short && frees(app, short) && !keeps_idle(app);
    helps.then(|| {
        change(app, ConfKey::DynamicAllocationIdleTimeout, format!("{}s", short.get().div_ceil(1000)))
    })
}

/// Whether executors were idle for longer than the timeout in force, so that something keeps them.
fn keeps_idle(app: &Advised<'_>) -> bool {
    share_idle_beyond(app, timeout(app)).is_some_and(|share| share >= app.advice.released_share.get())
}

fn timeout(app: &Application) -> Millis {
    app.in_force(ConfKey::DynamicAllocationIdleTimeout, Conf::spark_duration).unwrap_or(IDLE_TIMEOUT)
}

/// Whether executors were idle for longer than `timeout` often enough; true if the log does not show it.
fn frees(app: &Advised<'_>, timeout: Millis) -> bool {
    share_idle_beyond(app, timeout).is_none_or(|share| share >= app.advice.released_share.get())
}

/// Turns dynamic allocation on, with what keeps shuffle files when executors go. `None` if no executor was idle for longer than
/// its timeout, or if Spark would ignore it.
pub(in crate::spark) fn dynamic_allocation(app: &Advised<'_>) -> Option<Advice> {
    // Without a shuffle service, Spark 2 on Kubernetes has no dynamic allocation.
    let service = shuffle_service::of(app);
    let never = is_before_3(app) && service == Some(ShuffleService::Absent);
    if never || app.fixes_executors() || !frees(app, timeout(app)) {
        return None;
    }
    let on = change_to(app, ConfKey::DynamicAllocation, true);
    if app.conf.flag(ConfKey::ShuffleService) == Some(true) {
        return Some(Advice::new("release idle executors").set(on));
    }
    let key = keeps_shuffle_files(app);
    let set = on.into_iter().chain(change_to(app, key, true));
    if key == ConfKey::ShuffleService && service != Some(ShuffleService::Runs) {
        let what = "release idle executors";
        return Some(Advice::new(shuffle_service::if_it_runs(app, what)).set_for_first(set).conditional());
    }
    Some(Advice::new("release idle executors").set_for_first(set))
}

/// Whether an application would take as long with clearly fewer executors than now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fewest {
    /// The application needs more than three quarters of its executors.
    NotFew,
    /// `count` of the `now` executors are enough, each with `slots` task slots.
    Of { count: u32, now: u32, slots: u32 },
}

impl Fewest {
    /// The share of held resources that the executors beyond `count` held.
    fn frees(self) -> f64 {
        match self {
            Self::NotFew => 0.0,
            Self::Of { count, now, .. } => 1.0 - f64::from(count) / f64::from(now.max(1)),
        }
    }
}

/// The fewest executors with which a replay takes as long, within its error; `None` if it cannot be replayed.
fn fewest_executors(app: &Application, recorded: Option<&Recorded>) -> Option<Fewest> {
    let spark = spark(app).filter(|spark| app.status == Status::Succeeded && !is_local(app, spark))?;
    let Recorded { plan, base } = recorded?;
    let (now, slots) = plan.executor_slots()?;
    if plan.attempts.len().saturating_mul(REPLAYS) > MAX_ATTEMPTS {
        return None;
    }
    let longest = base.replayed.wall.as_f64() * (1.0 + ERROR);
    let replayed = |count: u32| {
        let slots = Slots::Number(count.saturating_mul(slots));
        Some(plan.replay(&Change { slots, ..Change::default() }).ok()?.replayed)
    };
    let is_enough = |count: u32| replayed(count).is_some_and(|it| it.wall.as_f64() <= longest);
    let most = now.saturating_mul(3) / 4;
    // Most applications stop here, before the search.
    if most == 0 || !is_enough(most) {
        return Some(Fewest::NotFew);
    }
    let (mut too_few, mut enough) = (0, most);
    for _ in 0..REPLAYS {
        let middle = u32::midpoint(too_few, enough);
        if middle == too_few {
            break;
        }
        if is_enough(middle) { enough = middle } else { too_few = middle }
    }
    let count = enough.max(least_for_cache(spark)?).max(least_for_barriers(spark, slots)).max(1);
    // Executors that come and go may hold less than fewer of them that stay.
    let frees = count <= most && replayed(count).is_some_and(|it| it.held < base.replayed.held);
    Some(if frees { Fewest::Of { count, now, slots } } else { Fewest::NotFew })
}

/// The setting that bounds the number of executors, for `count` executors with `slots` task slots each.
fn number_of_executors(app: &Application, count: u32, slots: u32) -> SettingChange {
    if app.allocates_dynamically() {
        change(app, ConfKey::DynamicAllocationMax, count)
    } else if ClusterManager::of_application(app) == Some(ClusterManager::Standalone) {
        let cores = spark(app).and_then(|spark| spark.executors.iter().filter_map(|it| it.cores).max());
        change(app, ConfKey::CoresMax, count.saturating_mul(cores.unwrap_or(slots)))
    } else {
        change(app, ConfKey::ExecutorInstances, count)
    }
}

/// The number of executors that hold all cached data; 0 if the storage memory of executors is unknown.
fn least_for_cache(spark: &Spark) -> Option<u32> {
    let cached = |executor: &Executor| executor.peaks.storage().or(executor.storage.peak_used);
    let all: Bytes = spark.executors.iter().filter_map(cached).sum();
    let Some(one) = spark.executors.iter().filter_map(|it| it.storage.total).min() else { return Some(0) };
    u32::try_from(all.get().div_ceil(one.get().max(1))).ok()
}

/// The number of executors on which all tasks of a barrier stage run at once; Spark fails the stage with fewer slots.
fn least_for_barriers(spark: &Spark, slots: u32) -> u32 {
    let tasks =
        spark.stages.iter().filter(|stage| stage.is_barrier).filter_map(|stage| stage.announced_tasks);
    let most = tasks.max().unwrap_or_default();
    u32::try_from(most.div_ceil(u64::from(slots.max(1)))).unwrap_or(u32::MAX)
}

/// The setting with which shuffle files survive their executors: the same for every rule.
pub(in crate::spark) fn keeps_shuffle_files(app: &Application) -> ConfKey {
    if needs_service(app) { ConfKey::ShuffleService } else { ConfKey::ShuffleTracking }
}

/// Whether only the cluster's shuffle service keeps the files of executors that go: in Spark 2, and where executors were lost,
/// because tracking only keeps dynamic allocation from removing them. Some platforms have no such service.
fn needs_service(app: &Application) -> bool {
    let lost = || app.spark.as_deref().is_some_and(|spark| lost_executors(spark).next().is_some());
    shuffle_service::of(app) != Some(ShuffleService::Absent) && (is_before_3(app) || lost())
}

fn is_before_3(app: &Application) -> bool {
    app.version().is_some_and(|version| version < (3, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;

    fn texts(settings: &[(&str, &str)], version: Option<&str>) -> (String, String) {
        let mut app = elephant_sample::app(settings);
        app.engine_version = version.map(str::to_owned);
        let on = dynamic_allocation(&advised(&app)).map(|advice| {
            let on: Vec<String> = advice.settings.iter().map(ToString::to_string).collect();
            if advice.conditional { format!("[{}]", on.join(" ")) } else { on.join(" ") }
        });
        let advice = release_idle(&advised(&app), None);
        let lines: Vec<String> = advice.iter().map(|line| line.text.clone()).collect();
        (lines.join("\n"), on.unwrap_or_default())
    }

    #[test]
    fn executors_are_released_with_what_keeps_their_shuffle_files() {
        let tracked = "--conf spark.dynamicAllocation.enabled=true --conf spark.dynamicAllocation.shuffleTracking.enabled=true";
        let served =
            "[--conf spark.dynamicAllocation.enabled=true --conf spark.shuffle.service.enabled=true]";
        assert_eq!(texts(&[], Some("3.5.1")).1, tracked);
        assert_eq!(texts(&[], None).1, tracked);
        assert_eq!(texts(&[], Some("2.4.8")).1, served);
        let with_service = texts(&[("spark.shuffle.service.enabled", "true")], Some("2.4.8"));
        assert_eq!(with_service.1, "--conf spark.dynamicAllocation.enabled=true");
        // Spark 1 ignores it if the number of executors is set.
        let fixed = [("spark.shuffle.service.enabled", "true"), ("spark.executor.instances", "40")];
        assert_eq!(texts(&fixed, Some("1.5.2")).1, "");
        assert_eq!(texts(&fixed, Some("2.4.8")).1, "--conf spark.dynamicAllocation.enabled=true");
    }

    #[test]
    fn executors_that_dynamic_allocation_already_releases_soon_are_too_many() {
        let dynamic = ("spark.dynamicAllocation.enabled", "true");
        let fewer = "use fewer executors";
        let text = |settings: &[(&str, &str)]| texts(settings, Some("3.5.1")).0;
        assert_eq!(text(&[dynamic, ("spark.dynamicAllocation.executorIdleTimeout", "20s")]), fewer);
        assert_eq!(
            text(&[dynamic]),
            "release idle executors: --conf spark.dynamicAllocation.executorIdleTimeout=30s"
        );
    }
}
