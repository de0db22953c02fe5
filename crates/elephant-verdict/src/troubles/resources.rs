//! The executors that changes of settings ask for, in the terms of replays.

use super::value::magnitude;
use crate::savings::Resources;
use elephant_base::units::Bytes;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::ClusterManager;
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::SettingChange;

/// What `changes` ask for; `None` if they do not change executors.
pub(super) fn of(app: &Application, changes: &[SettingChange]) -> Option<Resources> {
    let find = |key: ConfKey| changes.iter().find(|change| key.names().contains(&change.setting.as_str()));
    let number = |key: ConfKey| find(key)?.to.parse().ok();
    let is_local = ClusterManager::of_application(app) == Some(ClusterManager::Local);
    let heap = find(if is_local { ConfKey::DriverMemory } else { ConfKey::ExecutorMemory });
    let size = |change: &SettingChange| Bytes::from_f64(magnitude(&change.setting, &change.to)?);
    let overhead = find(ConfKey::ExecutorMemoryOverhead).filter(|_| !is_local);
    let most =
        if app.allocates_dynamically() { ConfKey::DynamicAllocationMax } else { ConfKey::ExecutorInstances };
    // A standalone cluster starts as many executors as have these cores together.
    let each = app.spark.as_deref().and_then(|spark| spark.workers().find_map(|worker| worker.cores));
    let of_cores = || Some(number(ConfKey::CoresMax)? / each.filter(|&cores| cores > 0)?);
    let resources = Resources {
        executors: number(most).or_else(of_cores).filter(|_| !is_local),
        cores: number(ConfKey::ExecutorCores).filter(|_| !is_local),
        memory: heap.and_then(size),
        overhead: overhead.and_then(size),
    };
    (app.engine == Engine::Spark && resources != Resources::default()).then_some(resources)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The executors of this change under these settings.
    fn executors(key: ConfKey, settings: &[(&str, &str)]) -> Option<u32> {
        let change = SettingChange { setting: key.name().to_owned(), from: None, to: "8".to_owned() };
        of(&elephant_sample::app(settings), &[change])?.executors
    }

    #[test]
    fn the_setting_that_bounds_executors_gives_their_number() {
        let dynamic = [("spark.dynamicAllocation.enabled", "true")];
        assert_eq!(executors(ConfKey::DynamicAllocationMax, &dynamic), Some(8));
        assert_eq!(executors(ConfKey::ExecutorInstances, &[]), Some(8));
        // What Spark would ignore saves nothing.
        assert_eq!(executors(ConfKey::DynamicAllocationMax, &[]), None);
        assert_eq!(executors(ConfKey::ExecutorInstances, &dynamic), None);
        assert_eq!(
            executors(ConfKey::DynamicAllocationMax, &[("spark.master", "local[4]"), dynamic[0]]),
            None
        );
    }
}
