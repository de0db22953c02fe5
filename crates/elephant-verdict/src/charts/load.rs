//! How many cores or containers an application held, and how many of them were busy.

use elephant_base::state::State;
use elephant_base::stats::descriptive::mean;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::spark::{ClusterManager, Executor, Placement};
use elephant_model::model::table::{TaskKind, TimePoint};

/// The run time is divided into this many parts.
const PARTS: u32 = 192;

/// The counted resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum LoadOf {
    /// Spark: cores of executors.
    CoresHeld,
    /// Spark: cores with a task.
    CoresBusy,
    /// Spark: running tasks, where the cores of executors are unknown.
    Tasks,
    /// MapReduce: running map and reduce attempts.
    MapsAndReduces,
    /// MapReduce: running map attempts.
    Maps,
}

/// A number over time.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct Load {
    /// The counted resource.
    pub of: LoadOf,
    /// The mean in each of equal parts of the run time.
    pub means: Vec<f64>,
    /// The mean over the whole run time.
    pub mean: f64,
    /// The maximum at any moment.
    pub most: u64,
}

impl Load {
    /// At most as much as `held`. The driver sees the end of a task when its core may already run the next one.
    fn within(mut self, held: &Self) -> Self {
        for (mean, held) in self.means.iter_mut().zip(&held.means) {
            *mean = mean.min(*held);
        }
        self.mean = mean(&self.means).unwrap_or_default();
        self.most = self.most.min(held.most);
        self
    }
}

/// The load of `app`, largest first.
pub(super) fn of(app: &Application, from: Timestamp, to: Timestamp) -> Vec<Load> {
    let load = |of, held: Held| held.load(of, from, to);
    let attempts = |is: fn(TaskKind) -> bool| Held::by_attempts(app, to, |_| 1, is);
    let Some(spark) = app.spark.as_deref() else {
        let both = attempts(|kind| matches!(kind, TaskKind::Map | TaskKind::Reduce));
        let maps = attempts(|kind| kind == TaskKind::Map);
        let reduces = (both.0.len() > maps.0.len()).then(|| load(LoadOf::MapsAndReduces, both));
        return reduces.into_iter().chain([load(LoadOf::Maps, maps)]).collect();
    };
    let by_driver = || {
        // In local mode, the driver has all cores all the time.
        let cores = ClusterManager::local_cores(&app.conf).or(spark.driver.cores)?;
        let is_local =
            spark.executors.is_empty() && ClusterManager::of_application(app) == Some(ClusterManager::Local);
        is_local.then(|| Held(vec![(from, to, u64::from(cores))]))
    };
    match Held::by_executors(&spark.executors, to).or_else(by_driver) {
        Some(cores) => {
            let held = load(LoadOf::CoresHeld, cores);
            let placement = Placement::of(app);
            let cpus = |kind| {
                let stage = if let TaskKind::Stage(id) = kind { spark.stage(id) } else { None };
                let cpus = placement.task_cpus(stage.and_then(|stage| stage.resource_profile));
                u64::from(cpus.unwrap_or(1000).div_ceil(1000))
            };
            let busy = load(LoadOf::CoresBusy, Held::by_attempts(app, to, cpus, |_| true));
            let busy = busy.within(&held);
            vec![held, busy]
        }
        None => vec![load(LoadOf::Tasks, attempts(|_| true))],
    }
}

/// Amounts that are held for a time: from, to, amount.
struct Held(Vec<(Timestamp, Timestamp, u64)>);

impl Held {
    /// The spans in which attempts of the kinds that `is` selects held a slot, each with an amount by its kind.
    fn by_attempts(
        app: &Application,
        end: Timestamp,
        amount: impl Fn(TaskKind) -> u64,
        is: impl Fn(TaskKind) -> bool,
    ) -> Self {
        let groups = app.groups.iter().filter(|group| is(group.kind));
        let groups = groups.map(|group| (group, amount(group.kind)));
        let rows =
            groups.flat_map(|(group, amount)| (0..group.attempts.len()).map(move |row| (group, amount, row)));
        let spans = rows.filter_map(|(group, amount, row)| {
            let start = group.attempts.time(row, TimePoint::Start)?;
            Some((start, group.attempts.work_end(row).unwrap_or(end), amount))
        });
        Self(spans.collect())
    }

    fn by_executors(executors: &[Executor], end: Timestamp) -> Option<Self> {
        let span = |executor: &Executor| {
            let cores = u64::from(executor.cores?);
            Some((executor.added_at?, executor.removed_at.unwrap_or(end), cores))
        };
        let spans = executors.iter().map(span).collect::<Option<Vec<_>>>()?;
        (!spans.is_empty()).then_some(Self(spans))
    }

    fn load(&self, of: LoadOf, from: Timestamp, to: Timestamp) -> Load {
        let mut parts = Parts::new(from, to);
        for &(start, finish, amount) in &self.0 {
            parts.add(start, finish, amount);
        }
        let means = parts.means();
        Load { of, mean: mean(&means).unwrap_or_default(), means, most: self.most() }
    }

    /// The maximum at any moment. A span that ends when another starts does not overlap it.
    fn most(&self) -> u64 {
        let spans = self.0.iter().filter(|(start, finish, _)| start < finish);
        let mut changes: Vec<(Timestamp, bool, u64)> = spans
            .flat_map(|&(start, finish, amount)| [(start, true, amount), (finish, false, amount)])
            .collect();
        changes.sort_unstable();
        let (mut now, mut most) = (0u64, 0u64);
        for (_, starts, amount) in changes {
            now = if starts { now.saturating_add(amount) } else { now.saturating_sub(amount) };
            most = most.max(now);
        }
        most
    }
}

/// Sums of spans over equal parts of a longer span.
struct Parts {
    from: Timestamp,
    to: Timestamp,
    /// Milliseconds × weight in each part.
    held: Vec<u128>,
}

impl Parts {
    fn new(from: Timestamp, to: Timestamp) -> Self {
        Self { from, to, held: vec![0; PARTS as usize] }
    }

    fn length(&self) -> u128 {
        u128::from(Millis::between(self.from, self.to).unwrap_or_default().get())
    }

    /// In units of 1/`PARTS` ms, so that the borders of parts are integers.
    fn add(&mut self, start: Timestamp, finish: Timestamp, weight: u64) {
        let offset = |at: Timestamp| {
            let span = Millis::between(self.from, at.min(self.to)).unwrap_or_default();
            u128::from(span.get()) * u128::from(PARTS)
        };
        let (start, finish, part) = (offset(start), offset(finish), self.length());
        if finish <= start || part == 0 {
            return;
        }
        let first = usize::try_from(start / part).unwrap_or(usize::MAX);
        for (place, held) in (first..).zip(self.held.iter_mut().skip(first)) {
            let begins = place as u128 * part;
            if begins >= finish {
                break;
            }
            let overlap = finish.min(begins + part) - start.max(begins);
            *held = held.saturating_add(overlap * u128::from(weight));
        }
    }

    fn means(&self) -> Vec<f64> {
        let part = self.length().max(1);
        self.held.iter().map(|&held| held as f64 / part as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn parts_sum_the_spans_within_them() {
        let mut parts = Parts::new(at(0), at(1920));
        parts.add(at(0), at(1920), 2);
        parts.add(at(-50), at(15), 1);
        parts.add(at(1915), at(i64::MAX), 4);
        parts.add(at(30), at(20), 100);
        let means = parts.means();
        assert_eq!(means.len(), 192);
        assert_eq!(means[..3], [3.0, 2.5, 2.0]);
        assert_eq!(means[191..], [4.0]);
    }

    #[test]
    fn the_maximum_of_concurrent_spans() {
        let held =
            Held(vec![(at(0), at(10), 1), (at(10), at(20), 2), (at(15), at(16), 4), (at(9), at(3), 50)]);
        assert_eq!(held.most(), 6);
        assert_eq!(Held(Vec::new()).most(), 0);
    }

    #[test]
    fn a_busy_core_is_held() {
        let mut app = elephant_sample::app(&[("spark.task.cpus", "2")]);
        let ok = |ms| (elephant_model::model::table::Outcome::Succeeded, ms);
        elephant_sample::stage(&mut app, 0, &[ok(960), ok(960), ok(960)]);
        let executor = elephant_sample::executor(&mut app, "1");
        (executor.cores, executor.removed_at) = (Some(4), Some(at(1440)));
        let [held, busy] = &of(&app, at(0), at(1920))[..] else { panic!() };
        assert_eq!((held.of, held.most, held.mean), (LoadOf::CoresHeld, 4, 3.0));
        assert_eq!((busy.of, busy.most, busy.mean), (LoadOf::CoresBusy, 4, 2.0));
        app.spark.as_mut().unwrap().executors[0].cores = None;
        let [tasks] = &of(&app, at(0), at(1920))[..] else { panic!() };
        assert_eq!((tasks.of, tasks.most, tasks.mean), (LoadOf::Tasks, 3, 1.5));
    }

    #[test]
    fn in_local_mode_the_driver_holds_its_cores() {
        let load = |master| {
            let mut app = elephant_sample::app(&[("spark.master", master)]);
            let ok = |ms| (elephant_model::model::table::Outcome::Succeeded, ms);
            elephant_sample::stage(&mut app, 0, &[ok(960), ok(960), ok(960)]);
            of(&app, at(0), at(1920)).iter().map(|load| (load.of, load.most)).collect::<Vec<_>>()
        };
        // The driver logs the end of a task when the next one may have started.
        assert_eq!(load("local[2,3]"), [(LoadOf::CoresHeld, 2), (LoadOf::CoresBusy, 2)]);
        assert_eq!(load("local"), [(LoadOf::CoresHeld, 1), (LoadOf::CoresBusy, 1)]);
        assert_eq!(load("local[*]"), [(LoadOf::Tasks, 3)]);
        assert_eq!(load("yarn"), [(LoadOf::Tasks, 3)]);
    }

    #[test]
    fn reduces_are_drawn_above_maps() {
        let mut app = Application::new(elephant_model::model::Engine::MapReduce);
        app.groups.push(elephant_sample::tasks(TaskKind::Map, [(0, Some(2)), (0, Some(1))]));
        let [maps] = &of(&app, at(0), at(4000))[..] else { panic!() };
        assert_eq!((maps.of, maps.most, maps.mean), (LoadOf::Maps, 2, 0.75));
        app.groups.push(elephant_sample::tasks(TaskKind::Reduce, [(1, Some(4))]));
        let [both, maps] = &of(&app, at(0), at(4000))[..] else { panic!() };
        assert_eq!((both.of, both.most, both.mean), (LoadOf::MapsAndReduces, 2, 1.5));
        assert_eq!((maps.of, maps.mean), (LoadOf::Maps, 0.75));
    }
}
