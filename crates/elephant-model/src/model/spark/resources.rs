//! What executors have and what tasks take: cores, memory, GPUs and other resources; and how many tasks an executor runs
//! at once.
//!
//! Model: `ResourceProfile.calculateTasksAndLimitingResource` and `ResourceUtils.calculateAmountAndPartsForFraction` of
//! Spark 3.0 and later.

use super::Executor;
use crate::model::Application;
use crate::model::conf::{Conf, ConfKey};
use elephant_base::units::Bytes;

/// Thousandths of a CPU that a task takes by default (`spark.task.cpus`).
const ONE_CPU: u32 = 1000;

/// Resources of which settings may tell even if neither an executor nor a profile names them.
const USUAL_RESOURCES: [&str; 2] = ["gpu", "fpga"];

/// The resources that executors of a resource profile request (`SparkListenerResourceProfileAdded`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourceProfile {
    /// Its id; 0 is the default one.
    pub id: u32,
    /// Cores of an executor.
    pub cores: Option<u32>,
    /// Heap.
    pub memory: Option<Bytes>,
    /// Memory beyond the heap.
    pub overhead: Option<Bytes>,
    /// Off-heap memory of Spark.
    pub off_heap: Option<Bytes>,
    /// Memory of Python workers.
    pub pyspark: Option<Bytes>,
    /// Other resources of an executor, such as GPUs.
    pub resources: Vec<Resource>,
    /// Thousandths of a CPU per task.
    pub task_cpus_thousandths: Option<u32>,
    /// What a task takes of other resources.
    pub task_resources: Vec<TaskResource>,
}

/// Units of a resource other than cores and memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its name in settings: "gpu", "fpga".
    pub name: String,
    /// How many an executor has.
    pub units: u32,
}

/// What a task takes of such a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskResource {
    /// The name of the resource.
    pub name: String,
    /// The units of one task, or those that several tasks share.
    pub units: u32,
    /// How many tasks share them; 1 if a task has them alone.
    pub shared_by: u32,
}

impl TaskResource {
    /// As Spark reads an amount: up to 1 as the share of a unit that a task takes, and above as units. `None` if the amount
    /// limits nothing.
    #[must_use]
    #[doc(hidden)]
    pub fn of(name: &str, amount: f64) -> Option<Self> {
        let whole = |number: f64| Bytes::from_f64(number).and_then(|whole| u32::try_from(whole.get()).ok());
        let (units, shared_by) = match amount {
            _ if !amount.is_finite() || amount <= 0.0 => return None,
            _ if amount <= 1.0 => (1, whole((1.0 / amount).floor()).unwrap_or(u32::MAX)),
            _ => (whole(amount.ceil())?, 1),
        };
        Some(Self { name: name.to_owned(), units, shared_by })
    }

    /// How many tasks run on an executor with so many units.
    fn tasks_on(&self, units: u32) -> u32 {
        (units / self.units.max(1)).saturating_mul(self.shared_by)
    }
}

/// A resource that runs out before the cores of an executor do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// What a task takes of it.
    pub resource: TaskResource,
    /// How much of it the executor has.
    pub units: u32,
    /// How many tasks run at once.
    pub slots: u32,
    /// How many tasks the cores suffice for.
    pub by_cores: u32,
}

/// By what Spark places tasks on executors: one function for all that counts task slots.
#[derive(Debug, Clone, Copy)]
pub struct Placement<'a> {
    conf: &'a Conf,
    profiles: &'a [ResourceProfile],
}

#[doc(hidden)]
impl<'a> Placement<'a> {
    /// By settings and resource profiles, in any order.
    #[must_use]
    pub const fn by(conf: &'a Conf, profiles: &'a [ResourceProfile]) -> Self {
        Self { conf, profiles }
    }

    /// That of an application.
    #[must_use]
    pub fn of(app: &'a Application) -> Self {
        Self::by(&app.conf, app.spark.as_deref().map_or(&[], |spark| &spark.resource_profiles))
    }

    /// How many tasks of its own profile an executor runs at once; `None` if its cores are unknown.
    #[must_use]
    pub fn slots(self, executor: &Executor) -> Option<u32> {
        self.slots_for(executor, executor.resource_profile)
    }

    /// The same for tasks of another profile, which may run on executors of the default one.
    #[must_use]
    pub fn slots_for(self, executor: &Executor, profile: Option<u32>) -> Option<u32> {
        let cores = executor.cores.filter(|&cores| cores > 0)?;
        Some(self.tasks_with(executor, cores, profile).max(1))
    }

    /// How many tasks of its own profile the executor would run at once with so many cores; may be 0.
    #[must_use]
    pub fn slots_with(self, executor: &Executor, cores: u32) -> u32 {
        self.tasks_with(executor, cores, executor.resource_profile)
    }

    fn tasks_with(self, executor: &Executor, cores: u32, profile: Option<u32>) -> u32 {
        let by_cores = self.by_cores(cores, profile);
        self.by_resources(executor, profile).map_or(by_cores, |(_, tasks)| tasks.min(by_cores))
    }

    /// How many tasks so many cores suffice for.
    fn by_cores(self, cores: u32, profile: Option<u32>) -> u32 {
        let cpus = self.task_cpus(profile).filter(|&cpus| cpus > 0).unwrap_or(ONE_CPU);
        let tasks = u64::from(cores) * u64::from(ONE_CPU) / u64::from(cpus);
        u32::try_from(tasks).unwrap_or(u32::MAX)
    }

    /// The resource other than cores that allows the fewest tasks at once, and how many. In local mode, tasks take none.
    fn by_resources(self, executor: &Executor, profile: Option<u32>) -> Option<(TaskResource, u32)> {
        if executor.is_driver() {
            return None;
        }
        let limits = self.task_resources(executor, profile).into_iter().filter_map(|needed| {
            // A resource that the executor does not announce limits nothing: else no task could have run.
            let tasks = needed.tasks_on(self.units(executor, &needed.name)?);
            (tasks > 0).then_some((needed, tasks))
        });
        limits.min_by_key(|(_, tasks)| *tasks)
    }

    /// The resource other than cores because of which cores of the executor get no task.
    #[must_use]
    pub fn limit(self, executor: &Executor) -> Option<Limit> {
        let profile = executor.resource_profile;
        let (resource, slots) = self.by_resources(executor, profile)?;
        let by_cores = self.by_cores(executor.cores?, profile);
        let units = self.units(executor, &resource.name)?;
        (slots < by_cores).then_some(Limit { resource, units, slots, by_cores })
    }

    /// Thousandths of a CPU that a task of a profile takes; `None` if the setting is not a number.
    #[must_use]
    pub fn task_cpus(self, profile: Option<u32>) -> Option<u32> {
        if let Some(cpus) = self.profile(profile).and_then(|profile| profile.task_cpus_thousandths) {
            return Some(cpus);
        }
        match self.conf.text(ConfKey::TaskCpus) {
            None => Some(ONE_CPU),
            Some(cpus) => cpus.parse::<u32>().ok()?.checked_mul(ONE_CPU),
        }
    }

    /// What a task takes of resources other than cores: by its profile, or else by the settings, which are those of the default
    /// profile.
    fn task_resources(self, executor: &Executor, profile: Option<u32>) -> Vec<TaskResource> {
        match self.profile(profile) {
            Some(profile) => profile.task_resources.clone(),
            None if profile.unwrap_or_default() != 0 => Vec::new(),
            None => {
                let announced = executor.resources.iter().map(|resource| resource.name.as_str());
                let others = USUAL_RESOURCES.into_iter().filter(|_| executor.resources.is_empty());
                let needed = |name| TaskResource::of(name, self.amount("task", name)?);
                announced.chain(others).filter_map(needed).collect()
            }
        }
    }

    /// The units that an executor has: as it announces them, or else as it was requested with them.
    fn units(self, executor: &Executor, name: &str) -> Option<u32> {
        let of = |resources: &[Resource]| resources.iter().find(|it| it.name == name).map(|it| it.units);
        let requested = || of(&self.profile(executor.resource_profile)?.resources);
        let set =
            || Bytes::from_f64(self.amount("executor", name)?).and_then(|it| u32::try_from(it.get()).ok());
        of(&executor.resources).or_else(requested).or_else(set)
    }

    /// `spark.task.resource.gpu.amount`, `spark.executor.resource.gpu.amount`.
    fn amount(self, of: &str, name: &str) -> Option<f64> {
        self.conf.raw(&format!("spark.{of}.resource.{name}.amount"))?.trim().parse().ok()
    }

    fn profile(self, id: Option<u32>) -> Option<&'a ResourceProfile> {
        let id = id.unwrap_or_default();
        self.profiles.iter().find(|profile| profile.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::conf::Property;

    fn conf(settings: &[(&str, &str)]) -> Conf {
        let mut conf = Conf::default();
        for (name, value) in settings {
            conf.insert((*name).to_owned(), Property { value: (*value).to_owned(), is_final: false });
        }
        conf
    }

    fn gpus(units: u32) -> Vec<Resource> {
        vec![Resource { name: "gpu".to_owned(), units }]
    }

    fn executor(cores: u32, units: u32) -> Executor {
        let resources = if units == 0 { Vec::new() } else { gpus(units) };
        Executor {
            id: "1".to_owned(),
            cores: Some(cores),
            resources: resources.into(),
            ..Executor::default()
        }
    }

    #[test]
    fn the_scarcest_resource_decides() {
        for (settings, [cores, gpus, slots]) in [
            (&[][..], [16, 1, 16]),
            (&[("spark.task.cpus", "5")], [16, 0, 3]),
            (&[("spark.task.cpus", "8")], [4, 0, 1]),
            (&[("spark.task.resource.gpu.amount", "0.25")], [16, 1, 4]),
            (&[("spark.task.resource.gpu.amount", "0.0625")], [16, 1, 16]),
            (&[("spark.task.resource.gpu.amount", "0.3")], [16, 2, 6]),
            (&[("spark.task.resource.gpu.amount", "1")], [16, 4, 4]),
            (&[("spark.task.resource.gpu.amount", "2")], [16, 4, 2]),
            (&[("spark.task.resource.gpu.amount", "0.25"), ("spark.task.cpus", "8")], [16, 1, 2]),
            // Without an announced GPU, the request counts; without both, nothing limits.
            (
                &[("spark.task.resource.gpu.amount", "0.5"), ("spark.executor.resource.gpu.amount", "1")],
                [16, 0, 2],
            ),
            (&[("spark.task.resource.gpu.amount", "0.5")], [16, 0, 16]),
            (&[("spark.task.resource.gpu.amount", "0")], [16, 1, 16]),
            (&[("spark.task.resource.gpu.amount", "many")], [16, 1, 16]),
        ] {
            let conf = conf(settings);
            assert_eq!(Placement::by(&conf, &[]).slots(&executor(cores, gpus)), Some(slots), "{settings:?}");
        }
        assert_eq!(Placement::by(&conf(&[]), &[]).slots(&Executor::default()), None);
    }

    #[test]
    fn profiles_come_before_settings() {
        let conf = conf(&[("spark.task.cpus", "2"), ("spark.task.resource.gpu.amount", "0.5")]);
        let needs = |id, cpus, gpu| ResourceProfile {
            id,
            task_cpus_thousandths: Some(cpus),
            task_resources: TaskResource::of("gpu", gpu).into_iter().collect(),
            ..ResourceProfile::default()
        };
        let profiles = [needs(1, 4000, 0.0), ResourceProfile { resources: gpus(2), ..needs(0, 1000, 0.25) }];
        let placement = Placement::by(&conf, &profiles);
        let of_default = executor(16, 0);
        assert_eq!(placement.slots(&of_default), Some(8));
        assert_eq!(
            placement.limit(&of_default).map(|it| (it.units, it.slots, it.by_cores)),
            Some((2, 8, 16))
        );
        // Tasks of another profile on executors of the default one.
        assert_eq!(placement.slots_for(&of_default, Some(1)), Some(4));
        let own = Executor { resource_profile: Some(1), ..executor(16, 1) };
        assert_eq!((placement.slots(&own), placement.limit(&own)), (Some(4), None));
        // Of an unknown profile only the settings of cores are known.
        let unknown = Executor { resource_profile: Some(7), ..executor(16, 1) };
        assert_eq!(placement.slots(&unknown), Some(8));
    }

    #[test]
    fn other_cores_change_the_slots_only_up_to_the_scarcest_resource() {
        let conf = conf(&[("spark.task.resource.gpu.amount", "0.25")]);
        let placement = Placement::by(&conf, &[]);
        let slots = [2, 4, 32].map(|cores| placement.slots_with(&executor(16, 1), cores));
        assert_eq!(slots, [2, 4, 4]);
        // In local mode, tasks only take cores.
        let driver = Executor { id: "driver".to_owned(), ..executor(16, 1) };
        assert_eq!(placement.slots(&driver), Some(16));
    }
}
