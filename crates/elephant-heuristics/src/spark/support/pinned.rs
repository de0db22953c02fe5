//! Executors that dynamic allocation does not release, although they are idle for longer than its timeout.
//!
//! `ExecutorMonitor` of Spark waits for other timeouts, which are infinite by default: for executors with cached blocks, and,
//! if shuffles are tracked because there is no shuffle service, for those with shuffle files of earlier jobs. An executor
//! with both waits for the longer one.

use elephant_analysis::metrics::share_idle_beyond;
use elephant_base::units::Millis;
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::spark::{Executor, Spark};
use elephant_rule::finding::Advice;
use elephant_rule::wording::change;

/// Timeouts to choose from, the longest first: the longer one is, the fewer data have to be computed again.
const TIMEOUTS: [Millis; 4] =
    [Millis::from_secs(1800), Millis::from_secs(600), Millis::from_secs(300), Millis::from_secs(120)];

const CACHE: &str = "unpersist cached data after its last use, or let idle executors that hold some go (data that is needed \
                     again is then computed again)";
const SHUFFLES: &str = "let idle executors go that hold shuffle files of earlier jobs (if a later job reads such files, Spark \
                        computes them again)";
const BOTH: &str = "unpersist cached data after its last use, and let idle executors go that hold some, or shuffle files of \
                    earlier jobs (data that is needed again is then computed again)";

/// What keeps idle executors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Pins {
    cache: bool,
    shuffles: bool,
}

/// The advice on executors that were idle for longer than `idle_timeout`, which is in force; `None` if nothing is known that
/// keeps them.
pub(super) fn unpin(app: &Advised<'_>, spark: &Spark, idle_timeout: Millis) -> Option<Advice> {
    let pins = Pins::of(app, spark);
    let timeout = fitting(app, pins.in_force(app), idle_timeout)?;
    let what = match pins {
        Pins { cache: false, shuffles: false } => return None,
        Pins { cache: true, shuffles: false } => CACHE,
        Pins { cache: false, shuffles: true } => SHUFFLES,
        Pins { cache: true, shuffles: true } => BOTH,
    };
    let longer = |key: &ConfKey| app.in_force(*key, Conf::spark_duration).is_none_or(|now| now > timeout);
    let seconds = format!("{}s", timeout.get() / 1000);
    let changes = pins.keys().filter(longer).map(|key| change(app, key, &seconds));
    Some(Advice::new(what).set(changes))
}

impl Pins {
    fn of(app: &Application, spark: &Spark) -> Self {
        let cached = |executor: &Executor| {
            let used = executor.peaks.storage().or(executor.storage.peak_used);
            used.is_some_and(|used| used.get() > 0)
        };
        // Storage memory also holds broadcasts, so it says something only about applications that persist data.
        let cache = spark.rdds.iter().any(|rdd| {
            let empty = rdd.cached_partitions == Some(0) && !spark.executors.iter().any(cached);
            !rdd.unpersisted && !empty
        });
        let served = app.conf.flag(ConfKey::ShuffleService) == Some(true);
        let tracked = app.version().is_none_or(|version| version >= (3, 0))
            && app.in_force(ConfKey::ShuffleTracking, Conf::flag) == Some(true);
        let shuffles =
            spark.executors.iter().any(|it| it.totals.shuffle_write.is_some_and(|it| it.get() > 0));
        Self { cache, shuffles: !served && tracked && shuffles }
    }

    fn keys(self) -> impl Iterator<Item = ConfKey> {
        let cache = self.cache.then_some(ConfKey::DynamicAllocationCachedTimeout);
        cache.into_iter().chain(self.shuffles.then_some(ConfKey::ShuffleTrackingTimeout))
    }

    /// The longest timeout in force; `None` if one is infinite.
    fn in_force(self, app: &Application) -> Option<Millis> {
        let each = self.keys().map(|key| app.in_force(key, Conf::spark_duration));
        each.collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}

/// The longest timeout that still gives back most of the idle time; `None` if none is shorter than the one in `force`, or if
/// executors were idle for even longer than that, which it does not explain.
fn fitting(app: &Advised<'_>, force: Option<Millis>, idle_timeout: Millis) -> Option<Millis> {
    let share = |timeout| share_idle_beyond(app, timeout);
    if let Some(force) = force
        && share(force).is_none_or(|beyond| beyond >= app.advice.released_share.get())
    {
        return None;
    }
    let all = share(idle_timeout)?;
    let shorter = |timeout: &Millis| *timeout > idle_timeout && force.is_none_or(|force| *timeout < force);
    let choices = TIMEOUTS.into_iter().chain([idle_timeout]).filter(shorter);
    let enough =
        |timeout: &Millis| share(*timeout).is_some_and(|share| share >= all * app.advice.released_most.get());
    choices.into_iter().find(enough).or_else(|| (force != Some(idle_timeout)).then_some(idle_timeout))
}

#[cfg(test)]
mod tests {
    use crate::built_in::advised;
    use crate::spark::support::idle::release_idle;
    use elephant_base::units::{Bytes, Timestamp};
    use elephant_model::model::Application;
    use elephant_model::model::spark::PersistedRdd;
    use elephant_model::model::table::Outcome;

    /// An executor that works for a minute and is then idle for 20 minutes, under dynamic allocation.
    fn app(settings: &[(&str, &str)]) -> Application {
        let dynamic = [("spark.master", "yarn"), ("spark.dynamicAllocation.enabled", "true")];
        let mut app = elephant_sample::app(&[&dynamic, settings].concat());
        app.engine_version = Some("3.3.2".to_owned());
        app.finished_at = Some(Timestamp::from_millis(1_260_000));
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 60_000)]);
        let id = app.strings.intern("1");
        app.groups[0].attempts.set_executor(0, id);
        let executor = elephant_sample::executor(&mut app, "1");
        executor.cores = Some(1);
        executor.totals.shuffle_write = Some(Bytes::from_mib(1));
        app
    }

    fn persist(app: &mut Application) {
        let rdd = PersistedRdd {
            id: 1,
            name: None,
            partitions: Some(1),
            cached_partitions: Some(1),
            memory: None,
            disk: None,
            unpersisted: false,
        };
        elephant_sample::spark(app).rdds.push(rdd);
    }

    fn settings(app: &Application) -> Vec<String> {
        let advice = release_idle(&advised(app), None);
        advice.iter().flat_map(|line| &line.settings).map(ToString::to_string).collect()
    }

    const SERVICE: (&str, &str) = ("spark.shuffle.service.enabled", "true");

    #[test]
    fn cached_blocks_have_a_timeout_of_their_own() {
        let mut app = app(&[SERVICE]);
        assert_eq!(settings(&app), [""; 0], "nothing is known that keeps it");
        persist(&mut app);
        assert_eq!(settings(&app), ["--conf spark.dynamicAllocation.cachedExecutorIdleTimeout=600s"]);
    }

    #[test]
    fn tracked_shuffle_files_have_a_timeout_of_their_own() {
        let tracking = ("spark.dynamicAllocation.shuffleTracking.enabled", "true");
        let mut app = app(&[tracking]);
        assert_eq!(settings(&app), ["--conf spark.dynamicAllocation.shuffleTracking.timeout=600s"]);
        persist(&mut app);
        assert_eq!(settings(&app).len(), 2, "the longer one of both counts");
        elephant_sample::set(&mut app, &[("spark.dynamicAllocation.shuffleTracking.timeout", "5m")]);
        let cached = "--conf spark.dynamicAllocation.cachedExecutorIdleTimeout=600s";
        assert_eq!(settings(&app), [cached], "a shorter one stays");
        app.engine_version = Some("2.4.8".to_owned());
        assert_eq!(settings(&app), [cached], "Spark 2 tracks no shuffles");
    }
}
