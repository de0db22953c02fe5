//! The garbage collector of a JVM, by its options.

use super::Application;
use super::conf::ConfKey;
use super::table::TaskKind;

/// A garbage collector of `HotSpot`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collector {
    /// `-XX:+UseSerialGC`.
    Serial,
    /// `-XX:+UseParallelGC`, also by its old names.
    Parallel,
    /// `-XX:+UseConcMarkSweepGC`, up to Java 13.
    ConcurrentMarkSweep,
    /// `-XX:+UseG1GC`.
    G1,
    /// `-XX:+UseZGC`.
    Z,
    /// `-XX:+UseShenandoahGC`.
    Shenandoah,
}

/// The options that select collectors.
const OPTIONS: [(&str, Collector); 7] = [
    ("UseSerialGC", Collector::Serial),
    ("UseParallelGC", Collector::Parallel),
    ("UseParallelOldGC", Collector::Parallel),
    ("UseConcMarkSweepGC", Collector::ConcurrentMarkSweep),
    ("UseG1GC", Collector::G1),
    ("UseZGC", Collector::Z),
    ("UseShenandoahGC", Collector::Shenandoah),
];

/// Options of executors, the later ones after the earlier ones, as Spark puts them together (since 3.0).
const OF_EXECUTORS: [&str; 2] = ["spark.executor.defaultJavaOptions", "spark.executor.extraJavaOptions"];
/// The same for the driver.
const OF_DRIVER: [&str; 2] = ["spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions"];

#[doc(hidden)]
impl Collector {
    /// The collector that JVM options select, the last one of each option; `None` if they leave it to the JVM.
    #[must_use]
    pub fn of_options(options: &str) -> Option<Self> {
        let mut selected: [Option<bool>; OPTIONS.len()] = [None; OPTIONS.len()];
        for option in options.split_whitespace() {
            let Some(flag) = option.strip_prefix("-XX:") else { continue };
            let (is_on, name) = match (flag.strip_prefix('+'), flag.strip_prefix('-')) {
                (Some(name), _) => (true, name),
                (_, Some(name)) => (false, name),
                _ => continue,
            };
            let known = OPTIONS.iter().position(|(option, _)| *option == name);
            if let Some(place) = known.and_then(|place| selected.get_mut(place)) {
                *place = Some(is_on);
            }
        }
        let on = OPTIONS.iter().zip(selected).find(|(_, selected)| *selected == Some(true));
        on.map(|((_, collector), _)| *collector)
    }

    /// The collector of the executors of a Spark application.
    #[must_use]
    pub fn of_executors(app: &Application) -> Option<Self> {
        Self::of_settings(app, &OF_EXECUTORS)
    }

    /// The collector of the driver of a Spark application.
    #[must_use]
    pub fn of_driver(app: &Application) -> Option<Self> {
        Self::of_settings(app, &OF_DRIVER)
    }

    /// The collector of the processes that run tasks of a kind. Tasks of an uberized job run in the application master.
    #[must_use]
    pub fn of_tasks(app: &Application, kind: TaskKind) -> Option<Self> {
        let options = match kind {
            TaskKind::Stage(_) => return Self::of_workers(app),
            _ if app.uberized == Some(true) => ConfKey::MasterJavaOpts,
            TaskKind::Map => ConfKey::MapJavaOpts,
            TaskKind::Reduce => ConfKey::ReduceJavaOpts,
            TaskKind::Vertex(_) => ConfKey::TezJavaOpts,
            TaskKind::Setup | TaskKind::Cleanup => return None,
        };
        app.conf.text(options).and_then(|options| Self::of_options(&options))
    }

    /// The collector of the processes that run the tasks of a Spark application: of executors, or of the driver in local mode.
    #[must_use]
    pub fn of_workers(app: &Application) -> Option<Self> {
        let is_local = app.spark.as_deref().is_some_and(|spark| spark.executors.is_empty());
        if is_local { Self::of_driver(app) } else { Self::of_executors(app) }
    }

    fn of_settings(app: &Application, names: &[&str]) -> Option<Self> {
        let options: Vec<String> = names.iter().filter_map(|name| app.conf.raw(name)).collect();
        Self::of_options(&options.join(" "))
    }

    /// Whether it works while tasks do, so that the time of its cycles, which the JVM reports with its pauses, is not time in
    /// which tasks stood still (`GarbageCollectorMXBean` "ZGC Cycles" and "Shenandoah Cycles"). The concurrent bean of G1
    /// counts only its remark and cleanup pauses (JDK-8297247).
    #[must_use]
    pub const fn is_concurrent(self) -> bool {
        matches!(self, Self::Z | Self::Shenandoah)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Serial => "the serial collector",
            Self::Parallel => "the parallel collector",
            Self::ConcurrentMarkSweep => "CMS",
            Self::G1 => "G1",
            Self::Z => "ZGC",
            Self::Shenandoah => "Shenandoah",
        }
    }

    /// Why rules on the time of collections are not evaluated; `None` where they can be.
    #[must_use]
    pub fn why_not_judged(self) -> Option<String> {
        self.is_concurrent().then(|| {
            format!(
                "{} works while tasks do: the JVM reports the time of its cycles, in which tasks do not stand still",
                self.name()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Engine;
    use crate::model::conf::Property;
    use crate::model::spark::{Executor, Spark};

    #[test]
    fn options_select_a_collector() {
        for (options, collector) in [
            ("", None),
            ("-Xmx4g -verbose:gc", None),
            ("-XX:+UseG1GC -XX:MaxGCPauseMillis=200", Some(Collector::G1)),
            ("-XX:+UseZGC -XX:+ZGenerational", Some(Collector::Z)),
            ("-XX:+UseShenandoahGC", Some(Collector::Shenandoah)),
            ("-XX:+UseParallelOldGC", Some(Collector::Parallel)),
            ("-XX:+UseConcMarkSweepGC -XX:-UseConcMarkSweepGC -XX:+UseSerialGC", Some(Collector::Serial)),
            ("-XX:+UseG1GC -XX:-UseG1GC", None),
        ] {
            assert_eq!(Collector::of_options(options), collector, "{options}");
        }
        assert!(Collector::Z.why_not_judged().unwrap().starts_with("ZGC works while tasks do"));
        assert_eq!(Collector::G1.why_not_judged(), None);
    }

    #[test]
    fn the_process_that_runs_tasks_decides() {
        let mut app = Application::new(Engine::Spark);
        let mut set = |name: &str, value: &str| {
            app.conf.insert(name.to_owned(), Property { value: value.to_owned(), is_final: false });
        };
        set("spark.executor.defaultJavaOptions", "-XX:+UseG1GC");
        set("spark.executor.extraJavaOptions", "-XX:-UseG1GC -XX:+UseZGC");
        set("spark.driver.extraJavaOptions", "-XX:+UseParallelGC");
        app.spark = Some(Box::default());
        assert_eq!(Collector::of_workers(&app), Some(Collector::Parallel));
        app.spark = Some(Box::new(Spark { executors: vec![Executor::default()], ..Spark::default() }));
        assert_eq!(Collector::of_workers(&app), Some(Collector::Z));
        assert_eq!(Collector::of_driver(&app), Some(Collector::Parallel));
        let mut job = Application::new(Engine::MapReduce);
        let property = Property { value: "-Xmx1g -XX:+UseShenandoahGC".to_owned(), is_final: false };
        job.conf.insert("mapred.child.java.opts".to_owned(), property);
        assert_eq!(Collector::of_tasks(&job, TaskKind::Map), Some(Collector::Shenandoah));
        job.uberized = Some(true);
        assert_eq!(Collector::of_tasks(&job, TaskKind::Map), None);
    }
}
