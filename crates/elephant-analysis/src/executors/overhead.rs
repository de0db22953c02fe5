//! Memory of executors outside their heaps.

use super::heap::{default_overhead, is_local, overhead};
use super::sizes::{ROOM, Setting, rounded_up, spark_of, workers};
use elephant_base::units::Bytes;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{ClusterManager, Executor, ExecutorMetric, Spark};

/// The overhead that fits a heap, with its text in settings: at least `least`, and what is measured or known of the memory
/// outside the heap, otherwise what executors have. `None` if they run in no containers.
#[must_use]
pub fn fitting_overhead(app: &Application, heap: Bytes, least: Bytes) -> Option<(Bytes, String)> {
    let spark = spark_of(app).filter(|spark| in_containers(app, spark))?;
    let needed = match Overhead::of(app, spark, heap) {
        Overhead::Measured(needed) | Overhead::Estimated(needed) => needed,
        Overhead::Unknown => overhead(app),
    };
    let fitting = rounded_up(needed.max(least));
    Some((fitting, Setting(fitting).to_string()))
}

/// Whether executors run in containers with memory outside the heap.
#[must_use]
pub fn in_containers(app: &Application, spark: &Spark) -> bool {
    use ClusterManager::{Kubernetes, Mesos, Yarn};
    !is_local(app, spark) && matches!(ClusterManager::of_application(app), Some(Yarn | Kubernetes | Mesos))
}

/// The highest resident memory of any executor's processes.
#[must_use]
pub fn resident(spark: &Spark) -> Option<Bytes> {
    workers(spark).filter_map(|worker| worker.peaks.resident()).max()
}

/// The overhead that executors need next to a heap.
pub enum Overhead {
    /// Enough for the measured memory of all processes.
    Measured(Bytes),
    /// Spark's default, or more if what is known of the memory outside the heap needs more.
    Estimated(Bytes),
    /// Unknown, because Python workers use this memory and no metric measures them.
    Unknown,
}

impl Overhead {
    /// For a heap of this size.
    #[must_use]
    pub fn of(app: &Application, spark: &Spark, heap: Bytes) -> Self {
        if let Some(resident) = resident(spark) {
            return Self::Measured(room_for(resident, heap));
        }
        let is_set = |key| app.conf.spark_memory(key).is_some_and(|size| size.get() > 0);
        if is_python(app, spark) && !is_set(ConfKey::ExecutorPysparkMemory) {
            return Self::Unknown;
        }
        let pools = workers(spark).filter_map(outside_heap).max().unwrap_or_default();
        let pools = Bytes::from_f64(pools.as_f64() * ROOM).unwrap_or(pools) + off_heap_inside(app);
        Self::Estimated(rounded_up(pools.max(default_overhead(heap))))
    }
}

/// What the JVM of a worker used outside its heap: class data and threads, direct and mapped buffers.
fn outside_heap(worker: &Executor) -> Option<Bytes> {
    use ExecutorMetric::{DirectPoolMemory, JvmOffHeapMemory, MappedPoolMemory};
    let jvm = worker.peaks.measured(JvmOffHeapMemory)?;
    let pools =
        [DirectPoolMemory, MappedPoolMemory].map(|pool| worker.peaks.measured(pool).unwrap_or_default());
    Some(jvm + pools.into_iter().sum())
}

/// Off-heap memory that is a part of the overhead. Since Spark 3.0, containers are larger by it.
fn off_heap_inside(app: &Application) -> Bytes {
    let inside = app.version().is_some_and(|version| version < (3, 0));
    let on = app.conf.flag(ConfKey::OffHeapEnabled) == Some(true);
    let size = app.conf.spark_size(ConfKey::OffHeapSize, Bytes::new(1));
    size.filter(|_| inside && on).unwrap_or_default()
}

/// Call sites of stages that hand their data to Python workers, "runJob at PythonRDD.scala:179", or that a Python program
/// created, "mapPartitions at etl.py:60".
const PYTHON_STAGES: [&str; 2] = [" at PythonRDD.scala:", ".py:"];

/// Whether the application runs Python workers, as far as its settings and its stages tell. Only `spark-submit` on YARN
/// and Kubernetes sets the settings.
#[must_use]
pub fn is_python(app: &Application, spark: &Spark) -> bool {
    let resource = app.conf.text(ConfKey::KubernetesResourceType);
    let names = || spark.stages.iter().filter_map(|stage| stage.name.as_deref());
    app.conf.flag(ConfKey::YarnIsPython) == Some(true)
        || resource.is_some_and(|kind| kind == "python")
        || names().any(|name| PYTHON_STAGES.iter().any(|python| name.contains(python)))
}

/// The overhead next to `heap` that leaves enough for `resident`; at least Spark's default.
#[must_use]
pub fn room_for(resident: Bytes, heap: Bytes) -> Bytes {
    let all = Bytes::from_f64(resident.as_f64() * ROOM).unwrap_or(resident);
    rounded_up((all - heap).max(default_overhead(heap)))
}
