//! Advice on executors that hold memory while no task runs on them.

use super::losses::lost_executors;
use crate::finding::{Advice, SettingChange};
use crate::heuristics::spark::{change, change_to, percent};
use crate::model::Application;
use crate::model::conf::{Conf, ConfKey};
use crate::model::spark::ClusterManager;
use crate::units::Millis;

/// An idle timeout up to this is short: executors that come and go cost time to start.
const SHORT_IDLE_TIMEOUT: Millis = Millis::from_secs(30);

/// The advice if the cores of executors were idle for this share of the time.
pub(in crate::heuristics) fn release_idle(app: &Application, share: f64) -> Advice {
    let share = percent(share);
    let fewer = format!("the cores of executors were idle for {share} of the time: use fewer executors");
    let changes: Vec<SettingChange> = if app.conf.flag(ConfKey::DynamicAllocation) == Some(true) {
        shorter_idle_timeout(app).into_iter().collect()
    } else {
        dynamic_allocation(app).collect()
    };
    if changes.is_empty() {
        return fewer.into();
    }
    Advice::new(fewer + ", or release them while they are idle").set(changes)
}

/// A shorter time after which dynamic allocation releases idle executors; `None` if it is already short.
pub(in crate::heuristics::spark) fn shorter_idle_timeout(app: &Application) -> Option<SettingChange> {
    let now = app.in_force(ConfKey::DynamicAllocationIdleTimeout, Conf::spark_duration);
    let is_short = now.is_some_and(|now| now <= SHORT_IDLE_TIMEOUT);
    (!is_short).then(|| change(app, ConfKey::DynamicAllocationIdleTimeout, "30s"))
}

/// Turns dynamic allocation on, with what keeps shuffle files when executors go.
pub(in crate::heuristics::spark) fn dynamic_allocation(
    app: &Application,
) -> impl Iterator<Item = SettingChange> {
    let served = app.conf.flag(ConfKey::ShuffleService) == Some(true);
    let kept = if served { None } else { change_to(app, keeps_shuffle_files(app), true) };
    change_to(app, ConfKey::DynamicAllocation, true).into_iter().chain(kept)
}

/// The setting with which shuffle files survive their executors: the same for every rule.
pub(in crate::heuristics::spark) fn keeps_shuffle_files(app: &Application) -> ConfKey {
    if needs_service(app) { ConfKey::ShuffleService } else { ConfKey::ShuffleTracking }
}

/// Whether only the cluster's shuffle service keeps the files of executors that go: in Spark 2, and where executors were lost,
/// because tracking only keeps dynamic allocation from removing them. Kubernetes has no such service.
fn needs_service(app: &Application) -> bool {
    let old = app.version().is_some_and(|version| version < (3, 0));
    let on_kubernetes = ClusterManager::of_application(app) == Some(ClusterManager::Kubernetes);
    let lost = || app.spark.as_deref().is_some_and(|spark| lost_executors(spark).next().is_some());
    old || !on_kubernetes && lost()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::internal::sample;

    fn texts(settings: &[(&str, &str)], version: Option<&str>) -> (String, String) {
        let mut app = sample::app(settings);
        app.engine_version = version.map(str::to_owned);
        let on: Vec<String> = dynamic_allocation(&app).map(|change| change.to_string()).collect();
        (release_idle(&app, 0.75).text, on.join(" "))
    }

    #[test]
    fn executors_are_released_with_what_keeps_their_shuffle_files() {
        let tracked = "--conf spark.dynamicAllocation.enabled=true --conf spark.dynamicAllocation.shuffleTracking.enabled=true";
        let served = "--conf spark.dynamicAllocation.enabled=true --conf spark.shuffle.service.enabled=true";
        assert_eq!(texts(&[], Some("3.5.1")).1, tracked);
        assert_eq!(texts(&[], None).1, tracked);
        assert_eq!(texts(&[], Some("2.4.8")).1, served);
        let with_service = texts(&[("spark.shuffle.service.enabled", "true")], Some("2.4.8"));
        assert_eq!(with_service.1, "--conf spark.dynamicAllocation.enabled=true");
    }

    #[test]
    fn executors_that_dynamic_allocation_already_releases_soon_are_too_many() {
        let dynamic = ("spark.dynamicAllocation.enabled", "true");
        let fewer = "the cores of executors were idle for 75 % of the time: use fewer executors";
        let text = |settings: &[(&str, &str)]| texts(settings, Some("3.5.1")).0;
        assert_eq!(text(&[dynamic, ("spark.dynamicAllocation.executorIdleTimeout", "20s")]), fewer);
        assert_eq!(
            text(&[dynamic]),
            format!(
                "{fewer}, or release them while they are idle: --conf spark.dynamicAllocation.executorIdleTimeout=30s"
            )
        );
    }
}
