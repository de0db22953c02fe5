//! Containers and heaps of MapReduce tasks that a job does not set: Hadoop 3 derives them from each other.

use super::conf::ConfKey;
use super::table::TaskKind;
use super::{Application, Engine};
use elephant_base::units::Bytes;

/// The part of a container that Hadoop 3 gives to the heap.
const RATIO: &str = "mapreduce.job.heap.memory-mb.ratio";
const USUAL_RATIO: f64 = 0.8;
/// The container if neither it nor a heap is set.
const USUAL_CONTAINER: Bytes = Bytes::from_mib(1024);

#[doc(hidden)]
impl Application {
    /// The container of tasks of this kind, as the job sets it, or as Hadoop 3 derives it: `JobConf.getMemoryRequired`
    /// makes it large enough for `-Xmx`.
    #[must_use]
    pub fn task_container(&self, kind: TaskKind) -> Option<Bytes> {
        let (memory, java_opts) = keys(kind);
        if self.unknown_sizes.contains(&memory) {
            return None;
        }
        let derived = || match self.conf.heap_limit(java_opts).filter(|heap| heap.get() > 0) {
            Some(heap) => whole_mib(heap.as_f64() / self.heap_ratio()),
            None => Some(USUAL_CONTAINER),
        };
        self.conf.mebibytes(memory).or_else(|| if self.derives_memory() { derived() } else { None })
    }

    /// MiB × milliseconds that the job's own counters charge for its map tasks, or for its reduce tasks, and the
    /// milliseconds among them, which are not 0.
    #[must_use]
    pub fn held_by_tasks(&self, memory: ConfKey) -> Option<(u64, u64)> {
        let [held, time] = match memory {
            ConfKey::MapMemoryMb => ["MB_MILLIS_MAPS", "MILLIS_MAPS"],
            ConfKey::ReduceMemoryMb => ["MB_MILLIS_REDUCES", "MILLIS_REDUCES"],
            _ => return None,
        };
        let others = &self.counters.total.as_ref()?.others;
        let counter = |name| {
            let name = self.strings.find(name)?;
            u64::try_from(others.iter().find(|other| other.name == name)?.value).ok()
        };
        Some((counter(held)?, counter(time).filter(|&time| time > 0)?))
    }

    /// The heap limit of tasks of this kind, as the job sets it, or as Hadoop 3 derives it: `JobConf.getTaskJavaOpts`
    /// adds `-Xmx` for a part of the container.
    #[must_use]
    pub fn task_heap(&self, kind: TaskKind) -> Option<Bytes> {
        let (_, java_opts) = keys(kind);
        let derived = || {
            let container = self.task_container(kind).filter(|_| self.derives_memory())?;
            whole_mib(container.as_f64() * self.heap_ratio())
        };
        self.conf.heap_limit(java_opts).or_else(derived)
    }

    /// Whether the memory of tasks has no limit: in Hadoop 1, unless a job and its cluster set one.
    #[must_use]
    pub fn task_memory_is_unlimited(&self, kind: TaskKind) -> bool {
        self.ran_on_job_tracker() && self.conf.mebibytes(keys(kind).0).is_none()
    }

    /// Whether Hadoop 3 ran the job, as far as the version or the configuration shows it. A history has no version, but
    /// configurations contain all defaults: the ratio is new in Hadoop 3 (MAPREDUCE-5785), and so are containers of -1,
    /// which Hadoop 2 refuses and Hadoop 1 reads as no limit.
    fn derives_memory(&self) -> bool {
        if self.engine != Engine::MapReduce || self.ran_on_job_tracker() {
            return false;
        }
        let sizes = [ConfKey::MapMemoryMb, ConfKey::ReduceMemoryMb];
        let told = || {
            self.conf.raw(RATIO).is_some()
                || sizes.into_iter().any(|key| self.conf.integer(key).is_some_and(|size| size <= 0))
        };
        self.version().map_or_else(told, |version| version >= (3, 0))
    }

    fn heap_ratio(&self) -> f64 {
        let set = self.conf.raw(RATIO).and_then(|text| text.trim().parse().ok());
        set.filter(|ratio: &f64| *ratio > 0.0 && *ratio <= 1.0).unwrap_or(USUAL_RATIO)
    }
}

/// The settings of the container and of the JVM options of these tasks.
const fn keys(kind: TaskKind) -> (ConfKey, ConfKey) {
    match kind {
        TaskKind::Reduce => (ConfKey::ReduceMemoryMb, ConfKey::ReduceJavaOpts),
        TaskKind::Vertex(_) => (ConfKey::TezTaskMemoryMb, ConfKey::TezJavaOpts),
        TaskKind::Map | TaskKind::Setup | TaskKind::Cleanup | TaskKind::Stage(_) => {
            (ConfKey::MapMemoryMb, ConfKey::MapJavaOpts)
        }
    }
}

/// Rounded up to MiB, as Hadoop does. Ratios such as 0.8 are not exact, so a size that is whole does not become larger.
fn whole_mib(bytes: f64) -> Option<Bytes> {
    let mib = Bytes::PER_MIB as f64;
    Bytes::from_f64(((bytes / mib) - 1e-6).ceil() * mib)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Engine;
    use crate::model::conf::Property;

    const MEMORY: &str = "mapreduce.map.memory.mb";
    const OPTS: &str = "mapreduce.map.java.opts";

    fn job(settings: &[(&str, &str)]) -> Application {
        let mut app = Application::new(Engine::MapReduce);
        for (name, value) in settings {
            app.conf.insert((*name).to_owned(), Property { value: (*value).to_owned(), is_final: false });
        }
        app
    }

    /// The container and the heap of map tasks in MiB, and those of reduce tasks.
    fn sizes(settings: &[(&str, &str)]) -> [Option<u64>; 4] {
        let app = job(settings);
        let of = |kind| [app.task_container(kind), app.task_heap(kind)].map(|it| it.map(Bytes::whole_mib));
        let ([a, b], [c, d]) = (of(TaskKind::Map), of(TaskKind::Reduce));
        [a, b, c, d]
    }

    #[test]
    fn hadoop_3_derives_containers_and_heaps_from_each_other() {
        let ratio = |of: &'static str| (RATIO, of);
        let usual = [Some(1024), Some(820)];
        // Neither is set.
        assert_eq!(sizes(&[(MEMORY, "-1"), (OPTS, "")]), [usual, usual].concat()[..]);
        assert_eq!(sizes(&[ratio("0.8")]), [usual, usual].concat()[..]);
        // One of them is.
        assert_eq!(sizes(&[(MEMORY, "-1"), (OPTS, "-server -Xmx1600m")])[..2], [Some(2000), Some(1600)]);
        assert_eq!(sizes(&[(MEMORY, "4096"), ratio("0.5")])[..2], [Some(4096), Some(2048)]);
        assert_eq!(sizes(&[(MEMORY, "4096"), (OPTS, "-Xmx1g"), ratio("0.5")])[..2], [Some(4096), Some(1024)]);
        // No ratio at all.
        assert_eq!(sizes(&[ratio("7")])[..2], usual);
        assert_eq!(sizes(&[ratio("0")])[..2], usual);
    }

    #[test]
    fn earlier_versions_derive_nothing() {
        assert_eq!(sizes(&[]), [None; 4]);
        assert_eq!(sizes(&[(MEMORY, "2048")])[..2], [Some(2048), None]);
        assert_eq!(sizes(&[(OPTS, "-Xmx1g")])[..2], [None, Some(1024)]);
        let mut app = job(&[("mapred.job.map.memory.mb", "-1")]);
        app.id = "job_201311192236_0042".to_owned();
        assert_eq!((app.task_container(TaskKind::Map), app.task_heap(TaskKind::Map)), (None, None));
        assert!(
            app.task_memory_is_unlimited(TaskKind::Map) && app.task_memory_is_unlimited(TaskKind::Reduce)
        );
        // The version counts more than the settings.
        let mut app = job(&[(RATIO, "0.8")]);
        app.engine_version = Some("2.10.1".to_owned());
        assert_eq!(app.task_container(TaskKind::Map), None);
        assert!(!app.task_memory_is_unlimited(TaskKind::Map));
    }
}
