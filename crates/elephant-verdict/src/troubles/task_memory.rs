//! The memory of map and reduce tasks: what must not shrink, and containers that hold their heaps.

use super::Trouble;
use super::recommended::Recommended;
use super::value::{is_less, magnitude};
use elephant_analysis::root_cause::ran_out_of_memory;
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_model::engine_facts::hadoop::{HEAP_ROUNDING, HEAP_SHARE};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, Engine, Subject};
use elephant_rule::finding::{SettingChange, TroubleKind};

/// The share of a container that its heap may take, with what rounding to MiB may add.
const LARGEST_SHARE: f64 = HEAP_SHARE * (1.0 + HEAP_ROUNDING);

/// The settings of the heap and of the container of a kind of tasks, or of the application master that runs the tasks of
/// an uberized job.
#[derive(Debug, Clone, Copy)]
struct Role {
    kind: Option<TaskKind>,
    heap: ConfKey,
    container: ConfKey,
}

const ROLES: [Role; 3] = [
    Role { kind: Some(TaskKind::Map), heap: ConfKey::MapJavaOpts, container: ConfKey::MapMemoryMb },
    Role { kind: Some(TaskKind::Reduce), heap: ConfKey::ReduceJavaOpts, container: ConfKey::ReduceMemoryMb },
    Role { kind: None, heap: ConfKey::MasterJavaOpts, container: ConfKey::MasterMemoryMb },
];

fn sets(change: &SettingChange, key: ConfKey) -> bool {
    key.names().contains(&change.setting.as_str())
}

impl Role {
    /// The container in force without a change.
    fn container(self, app: &Application) -> Option<Bytes> {
        match self.kind {
            Some(kind) => app.task_container(kind),
            None => app.conf.mebibytes(self.container),
        }
    }

    /// Whether the heap follows the container, because the job does not set it.
    fn heap_follows(self, app: &Application) -> bool {
        let follows = |kind: TaskKind| app.task_heap(kind).is_some();
        app.conf.heap_limit(self.heap).is_none() && self.kind.is_some_and(follows)
    }

    /// Whether tasks collect much garbage.
    fn collects(self, troubles: &[Trouble]) -> bool {
        let Some(kind) = self.kind else { return false };
        troubles.iter().any(|trouble| {
            trouble.kind == TroubleKind::GarbageCollection
                && trouble.severity >= Severity::Moderate
                && trouble.subjects.contains(&Subject::Tasks(kind.name()))
        })
    }
}

/// Why the memory of some kinds of tasks must not shrink. It is found before any change is dropped: once a smaller heap
/// is dropped, nothing would tell that the container has to stay with it.
#[derive(Debug, Default)]
pub(super) struct Needed {
    of: Vec<(Role, String)>,
}

impl Needed {
    /// The reasons against the changes that troubles propose.
    pub(super) fn of(app: &Application, troubles: &[Trouble], proposed: &[Recommended]) -> Self {
        if app.engine != Engine::MapReduce {
            return Self::default();
        }
        let shrinks = |key: ConfKey| proposed.iter().any(|it| sets(&it.change, key) && is_less(&it.change));
        let why = |role: Role| {
            let heap = shrinks(role.heap) || (role.heap_follows(app) && shrinks(role.container));
            if heap && role.collects(troubles) {
                return Some("less would make garbage collection worse".to_owned());
            }
            let kind = role.kind.filter(|_| shrinks(role.container))?;
            let failed = ran_out_of_memory(app, kind)?;
            let (kind, plural) = (kind.name(), if failed == 1 { "" } else { "s" });
            Some(format!("{failed} {kind} attempt{plural} ran out of memory with this much"))
        };
        Self { of: ROLES.into_iter().filter_map(|role| Some((role, why(role)?))).collect() }
    }

    /// Why this change must not be made.
    pub(super) fn forbids(&self, change: &SettingChange) -> Option<&str> {
        let is_of = |role: &Role| sets(change, role.heap) || sets(change, role.container);
        let (_, why) = self.of.iter().find(|(role, _)| is_less(change) && is_of(role))?;
        Some(why)
    }
}

/// Why a change would leave a container too small for its heap, next to the other changes: a container that shrinks below
/// a heap that stays, or a heap that grows beyond its container.
pub(super) fn misfit(app: &Application, change: &SettingChange, all: &[SettingChange]) -> Option<String> {
    if app.engine != Engine::MapReduce {
        return None;
    }
    let role = ROLES.into_iter().find(|role| sets(change, role.heap) || sets(change, role.container))?;
    let to = |key: ConfKey| all.iter().find(|other| sets(other, key));
    let size = |change: &SettingChange| Bytes::from_f64(magnitude(&change.setting, &change.to)?);
    // Containers are sized in MiB.
    let mebibytes = |change: &SettingChange| size(change).map(|size| Bytes::from_mib(size.get()));
    let heap = to(role.heap).and_then(size).or_else(|| app.conf.heap_limit(role.heap))?;
    if sets(change, role.container) {
        let is_too_small = is_less(change) && heap.as_f64() > LARGEST_SHARE * mebibytes(change)?.as_f64();
        return is_too_small.then(|| format!("it has to hold the heap of {heap}"));
    }
    if is_less(change) || role.kind.is_some_and(|kind| app.task_memory_is_unlimited(kind)) {
        return None;
    }
    let container = to(role.container).and_then(mebibytes).or_else(|| role.container(app))?;
    (heap > container).then(|| format!("the container of {container} does not hold more"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = "mapreduce.map.memory.mb";
    const OPTS: &str = "mapreduce.map.java.opts";

    fn change(setting: &str, from: &str, to: &str) -> SettingChange {
        SettingChange { setting: setting.to_owned(), from: Some(from.to_owned()), to: to.to_owned() }
    }

    /// For containers of 4 GiB with heaps of 3276 MiB: whether each of the changes fits the others.
    fn fits(changes: &[SettingChange]) -> Vec<bool> {
        let app = elephant_sample::job(Vec::new(), &[(MEMORY, "4096"), (OPTS, "-Xmx3276m")]);
        changes.iter().map(|it| misfit(&app, it, changes).is_none()).collect()
    }

    #[test]
    fn no_container_is_smaller_than_its_heap() {
        let memory = |to: &str| change(MEMORY, "4096", to);
        let heap = |to: &str| change(OPTS, "-Xmx3276m", to);
        assert_eq!(fits(&[memory("2048")]), [false]);
        assert_eq!(fits(&[memory("2048"), heap("-Xmx1638m")]), [true, true]);
        assert_eq!(fits(&[memory("2048"), heap("-Xmx2g")]), [false, true]);
        assert_eq!(fits(&[memory("8192")]), [true]);
        // The heap grows, and the container, too, or not enough, or not at all.
        assert_eq!(fits(&[memory("6144"), heap("-Xmx4915m")]), [true, true]);
        assert_eq!(fits(&[heap("-Xmx4915m")]), [false]);
        assert_eq!(fits(&[heap("-Xmx3276m -XX:+UseParallelGC")]), [true]);
        // A container without a heap of its own: 0.8 of it in Hadoop 3, and 200 MiB before.
        let app = elephant_sample::job(Vec::new(), &[(MEMORY, "4096")]);
        assert_eq!(misfit(&app, &memory("2048"), &[memory("2048")]), None);
    }

    proptest::proptest! {
        /// However changes are combined: once those that do not fit are dropped, containers hold their heaps.
        #[test]
        fn what_is_left_fits(memory in 512_u64..16384, heap in 256_u64..16384, at in 512_u64..16384) {
            let set = at * 4 / 5;
            let app =
                elephant_sample::job(Vec::new(), &[(MEMORY, &at.to_string()), (OPTS, &format!("-Xmx{set}m"))]);
            let mut changes = vec![
                change(MEMORY, &at.to_string(), &memory.to_string()),
                change(OPTS, &format!("-Xmx{set}m"), &format!("-Xmx{heap}m")),
            ];
            while let Some(place) = changes.iter().position(|it| misfit(&app, it, &changes).is_some()) {
                changes.remove(place);
            }
            let of = |setting: &str| changes.iter().find(|it| it.setting == setting);
            let container = of(MEMORY).map_or(at, |_| memory);
            let in_force = of(OPTS).map_or(set, |_| heap);
            proptest::prop_assert!(in_force <= container, "{} in {}", in_force, container);
        }
    }
}
