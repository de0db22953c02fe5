//! Memory of the containers of executors and the driver.
//!
//! Source: Spark's `ResourceProfile.getResourcesForClusterManager`, YARN's `ClientArguments` and `YarnAllocator`,
//! `BasicDriverFeatureStep` of Kubernetes, `ApplicationInfo` of the standalone master, `MemoryUtils` of Mesos.

use super::SparkMetricParams;
use elephant_base::units::Bytes;
use elephant_model::model::Application;
use elephant_model::model::conf::defaults::HEAP;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::spark::{ClusterManager, ResourceProfile, Spark};

/// Default heap of YARN's application master in client mode.
const DEFAULT_MASTER_HEAP: Bytes = Bytes::from_mib(512);
/// Default minimum memory overhead, and default overhead as a share of the heap.
const MIN_OVERHEAD: Bytes = Bytes::from_mib(384);
const OVERHEAD_FACTOR: f64 = 0.1;
/// The default share on Kubernetes for applications that do not run on the JVM.
const OTHER_LANGUAGE_FACTOR: f64 = 0.4;
/// The profile whose sizes come from the configuration.
const DEFAULT_PROFILE: u32 = 0;

/// Container sizes of an application.
pub(super) struct Containers<'a> {
    conf: &'a Conf,
    manager: ClusterManager,
    spark: &'a Spark,
    major_version: Option<u32>,
    step: Bytes,
    /// Replaces the configured heap of executors.
    other_heap: Option<Bytes>,
    /// Replaces the configured overhead of executors.
    other_overhead: Option<Bytes>,
}

/// Setting names for a heap's memory overhead.
struct OverheadKeys {
    size: ConfKey,
    factor: Option<ConfKey>,
    least: Option<ConfKey>,
}

const EXECUTOR_OVERHEAD: OverheadKeys = OverheadKeys {
    size: ConfKey::ExecutorMemoryOverhead,
    factor: Some(ConfKey::ExecutorMemoryOverheadFactor),
    least: Some(ConfKey::ExecutorMinMemoryOverhead),
};
const DRIVER_OVERHEAD: OverheadKeys = OverheadKeys {
    size: ConfKey::DriverMemoryOverhead,
    factor: Some(ConfKey::DriverMemoryOverheadFactor),
    least: Some(ConfKey::DriverMinMemoryOverhead),
};
const MASTER_OVERHEAD: OverheadKeys =
    OverheadKeys { size: ConfKey::YarnMasterMemoryOverhead, factor: None, least: None };

impl<'a> Containers<'a> {
    /// `None` if the log does not show the cluster manager, or lacks the settings for container sizes.
    pub(super) fn of(app: &'a Application, spark: &'a Spark, params: &SparkMetricParams) -> Option<Self> {
        let has_settings = app.conf.iter().any(|(name, _)| name.starts_with("spark."));
        let version = app.engine_version.as_deref().and_then(|version| version.split('.').next());
        Some(Self {
            conf: &app.conf,
            manager: manager(app, spark).filter(|_| has_settings)?,
            spark,
            major_version: version.and_then(|major| major.parse().ok()),
            step: Bytes::from_f64(params.allocation_step.get()).unwrap_or_default(),
            other_heap: None,
            other_overhead: None,
        })
    }

    /// The containers with another heap and overhead of executors (in local mode, of the driver); `None`
    /// keeps the configured value.
    pub(super) fn with(self, heap: Option<Bytes>, overhead: Option<Bytes>) -> Self {
        Self { other_heap: heap, other_overhead: overhead, ..self }
    }

    /// Container size of an executor of a profile (in local mode, of the driver).
    pub(super) fn executor(&self, profile: Option<u32>) -> Option<Bytes> {
        let profile = match profile.filter(|&id| id != DEFAULT_PROFILE) {
            // A profile that is not in the log may request any size.
            Some(id) => Some(self.spark.resource_profile(id)?),
            None => None,
        };
        let heap = || profile.and_then(|profile| profile.memory).or_else(|| self.executor_heap());
        let overhead = || {
            let own = profile.and_then(|profile| profile.overhead);
            own.or(self.other_overhead).or_else(|| self.overhead(self.executor_heap()?, &EXECUTOR_OVERHEAD))
        };
        match self.manager {
            ClusterManager::Local => self.other_heap.or_else(|| self.driver_heap()),
            ClusterManager::Standalone => heap(),
            ClusterManager::Mesos => Some(heap()? + overhead()?),
            ClusterManager::Kubernetes => {
                Some(heap()? + overhead()? + self.off_heap(profile)? + self.pyspark(profile)?)
            }
            ClusterManager::Yarn => {
                Some(self.granted(heap()? + overhead()? + self.off_heap(profile)? + self.pyspark(profile)?))
            }
        }
    }

    /// Container size of the driver, or of YARN's application master if the driver runs outside the cluster.
    /// Zero in local mode, where the driver counts as the executor.
    pub(super) fn driver(&self) -> Option<Bytes> {
        let inside = self.driver_is_inside();
        let heap_and_overhead = || {
            let heap = self.driver_heap()?;
            Some(heap + self.overhead(heap, &DRIVER_OVERHEAD)?)
        };
        match self.manager {
            ClusterManager::Local => Some(Bytes::default()),
            ClusterManager::Yarn if inside => heap_and_overhead().map(|sum| self.granted(sum)),
            ClusterManager::Yarn => {
                let heap = self.size_or(ConfKey::YarnMasterMemory, DEFAULT_MASTER_HEAP)?;
                Some(self.granted(heap + self.overhead(heap, &MASTER_OVERHEAD)?))
            }
            _ if !inside => Some(Bytes::default()),
            ClusterManager::Standalone => self.driver_heap(),
            ClusterManager::Kubernetes | ClusterManager::Mesos => heap_and_overhead(),
        }
    }

    /// Whether the driver runs in a container of the cluster.
    pub(super) fn driver_is_inside(&self) -> bool {
        let mode = self.conf.text(ConfKey::SparkDeployMode);
        let master = self.conf.text(ConfKey::SparkMaster);
        mode.is_some_and(|mode| mode.eq_ignore_ascii_case("cluster"))
            || master.is_some_and(|master| master.eq_ignore_ascii_case("yarn-cluster"))
    }

    fn executor_heap(&self) -> Option<Bytes> {
        self.other_heap.map_or_else(|| self.size_or(ConfKey::ExecutorMemory, HEAP), Some)
    }

    fn driver_heap(&self) -> Option<Bytes> {
        self.size_or(ConfKey::DriverMemory, HEAP)
    }

    fn overhead(&self, heap: Bytes, keys: &OverheadKeys) -> Option<Bytes> {
        if self.conf.text(keys.size).is_some() {
            return self.conf.spark_memory(keys.size);
        }
        let factor = match keys.factor.filter(|&key| self.conf.text(key).is_some()) {
            Some(key) => self.conf.fraction(key)?,
            None if self.is_other_language_on_kubernetes() => OTHER_LANGUAGE_FACTOR,
            None => OVERHEAD_FACTOR,
        };
        let least = keys.least.map_or(Some(MIN_OVERHEAD), |key| self.size_or(key, MIN_OVERHEAD))?;
        let share = Bytes::from_f64((heap.as_mib() * factor).trunc())?;
        Some(least.max(Bytes::from_mib(share.get())))
    }

    /// Spark's off-heap memory. Before Spark 3 it was part of the overhead.
    fn off_heap(&self, profile: Option<&ResourceProfile>) -> Option<Bytes> {
        let counts = self.conf.flag(ConfKey::OffHeapEnabled) == Some(true)
            && self.major_version.is_none_or(|major| major >= 3);
        if !counts {
            return Some(Bytes::default());
        }
        let own = profile.and_then(|profile| profile.off_heap);
        own.or_else(|| self.conf.spark_size(ConfKey::OffHeapSize, Bytes::new(1)))
    }

    fn pyspark(&self, profile: Option<&ResourceProfile>) -> Option<Bytes> {
        let is_python = self.conf.flag(ConfKey::YarnIsPython) == Some(true)
            || self.language().is_some_and(|language| language == "python");
        if !is_python {
            return Some(Bytes::default());
        }
        let own = profile.and_then(|profile| profile.pyspark);
        own.or_else(|| self.size_or(ConfKey::ExecutorPysparkMemory, Bytes::default()))
    }

    fn language(&self) -> Option<String> {
        self.conf.text(ConfKey::KubernetesResourceType)
    }

    fn is_other_language_on_kubernetes(&self) -> bool {
        self.manager == ClusterManager::Kubernetes
            && self.language().is_some_and(|language| language != "java")
    }

    /// The size that YARN allocates for a request of `requested`.
    fn granted(&self, requested: Bytes) -> Bytes {
        let least = self.conf.mebibytes(ConfKey::MinimumAllocationMb);
        let step = self.conf.mebibytes(ConfKey::IncrementAllocationMb).or(least).unwrap_or(self.step);
        rounded_up(requested, step).max(least.unwrap_or_default())
    }

    /// `None` if the setting is present but not a size.
    fn size_or(&self, key: ConfKey, default: Bytes) -> Option<Bytes> {
        if self.conf.text(key).is_some() { self.conf.spark_memory(key) } else { Some(default) }
    }
}

/// The cluster manager; `None` if it is unknown, or contradicts the executors in the log.
pub(super) fn manager(app: &Application, spark: &Spark) -> Option<ClusterManager> {
    let without_executors = spark.executors.is_empty();
    if without_executors && spark.driver.totals.tasks > 0 {
        return Some(ClusterManager::Local);
    }
    let named = ClusterManager::of_application(app)?;
    (named != ClusterManager::Local || without_executors).then_some(named)
}

/// Rounds `requested` up to a multiple of the step, or to whole mebibytes if the step is 0.
pub(super) fn rounded_up(requested: Bytes, step: Bytes) -> Bytes {
    let step = step.whole_mib().max(1);
    let mib = requested.get().div_ceil(Bytes::PER_MIB);
    Bytes::from_mib(mib.div_ceil(step).saturating_mul(step))
}
