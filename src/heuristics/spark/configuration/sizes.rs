//! Sizes of executors and driver.

use super::{Issue, LIMITED, Settings, setting, whole};
use crate::finding::{Advice, Phrase};
use crate::heuristics::spark::change;
use crate::heuristics::spark::support::memory::{Setting, heap_that_fits, rounded_up};
use crate::heuristics::wording::plural;
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::Spark;
use crate::params::cutoffs::Ascending;
use crate::params::quantity::{Count, Size};
use crate::severity::Severity;
use crate::units::Bytes;

/// Up to this size, garbage collection works well and pointers are short.
const GOOD_HEAP: Bytes = Bytes::from_mib(16 * 1024);
/// Up to this many tasks share a JVM and its storage connections well.
const GOOD_CORES: u64 = 4;

const CORES: &str = "executors have {cores} each ({limit})";
const OVERHEAD: &str = "{setting}, for a heap of {heap} ({limit})";
const STAR: &str = "{name} contains an asterisk";

pub(super) fn executor(params: &Settings, app: &Application, spark: &Spark) -> Vec<Issue> {
    let announced = spark.executors.iter().filter_map(|executor| executor.cores).max().map(u64::from);
    let cores = whole(app, ConfKey::ExecutorCores).or(announced);
    let fits = heap_that_fits(app, spark);
    let mut memory = memory(&params.executor_memory, app, ConfKey::ExecutorMemory, fits);
    let cores = cores_of(&params.executor_cores, app, ConfKey::ExecutorCores, cores);
    // A smaller heap needs fewer cores, so one line of advice has both.
    if let (Some(memory), Some(cores)) = (&mut memory, &cores)
        && cores.severity > Severity::None
    {
        memory.advice = None;
    }
    let overhead = overhead(params, app, ConfKey::ExecutorMemoryOverhead, ConfKey::ExecutorMemory);
    [memory, cores, overhead].into_iter().flatten().collect()
}

pub(super) fn driver(params: &Settings, app: &Application) -> Vec<Issue> {
    let cores = whole(app, ConfKey::DriverCores);
    [
        memory(&params.driver_memory, app, ConfKey::DriverMemory, None),
        cores_of(&params.driver_cores, app, ConfKey::DriverCores, cores),
        overhead(params, app, ConfKey::DriverMemoryOverhead, ConfKey::DriverMemory),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn memory(cutoffs: &Ascending<Size>, app: &Application, key: ConfKey, fits: Option<Bytes>) -> Option<Issue> {
    let size = app.conf.spark_memory(key)?;
    let severity = cutoffs.severity(size.as_f64());
    // Half of it, or a good heap if half is still more. The result is always a valid setting.
    let half = Bytes::new(size.get() / 2).min(GOOD_HEAP).max(Bytes::from_mib(1024));
    // A measurement is better than a rule of thumb.
    let smaller = fits.filter(|&fits| fits < size).unwrap_or(half);
    Some(Issue {
        severity,
        message: Phrase::new(
            LIMITED,
            &[("setting", &setting(app, key)), ("limit", &cutoffs.describe(severity))],
        ),
        advice: Some(Advice::new("use a smaller heap and, for executors, more of them").set([change(
            app,
            key,
            Setting(rounded_up(smaller)),
        )])),
    })
}

fn cores_of(
    cutoffs: &Ascending<Count>,
    app: &Application,
    key: ConfKey,
    cores: Option<u64>,
) -> Option<Issue> {
    let cores = cores?;
    let severity = cutoffs.severity(cores as f64);
    let template = if app.conf.find(key).is_some() { LIMITED } else { CORES };
    let fewer = cores.div_ceil(2).clamp(1, GOOD_CORES);
    let heap = app.conf.spark_memory(ConfKey::ExecutorMemory);
    let heap = heap.filter(|_| key == ConfKey::ExecutorCores && cores > 0).map(|now| {
        let mib = (now.whole_mib().saturating_mul(fewer) / cores.max(1)).max(1024);
        change(app, ConfKey::ExecutorMemory, Setting(Bytes::from_mib(mib)))
    });
    Some(Issue {
        severity,
        message: Phrase::new(
            template,
            &[
                ("setting", &setting(app, key)),
                ("cores", &plural(cores, "core")),
                ("limit", &cutoffs.describe(severity)),
            ],
        ),
        advice: Some(
            Advice::new("run fewer tasks per JVM").set([change(app, key, fewer)].into_iter().chain(heap)),
        ),
    })
}

fn overhead(params: &Settings, app: &Application, key: ConfKey, heap: ConfKey) -> Option<Issue> {
    let size = app.conf.spark_memory(key)?;
    let heap = app.conf.spark_memory(heap).unwrap_or(Bytes::from_mib(1024));
    let by_size = params.overhead.severity(size.as_f64());
    let by_ratio = params.overhead_ratio.severity(size.as_f64() / heap.as_f64().max(1.0));
    let severity = by_size.min(by_ratio);
    let tenth = Bytes::new(heap.get() / 10).max(Bytes::from_mib(384));
    Some(Issue {
        severity,
        message: Phrase::new(
            OVERHEAD,
            &[
                ("setting", &setting(app, key)),
                ("heap", &heap),
                ("limit", &params.overhead.describe(severity)),
            ],
        ),
        advice: Some(
            Advice::new(
                "request only the memory overhead that the container uses, 10 % of the heap unless Python or native \
                 code needs more",
            )
            .set([change(app, key, Setting(tenth))])
            .conditional(),
        ),
    })
}

/// An asterisk that matches no file.
pub(super) fn star_in_jars(params: &Settings, app: &Application) -> Option<Issue> {
    let jars = app.conf.text(ConfKey::SecondaryJars)?;
    jars.contains('*').then(|| Issue {
        severity: params.star_in_jars,
        message: Phrase::new(STAR, &[("name", &app.conf.name_in_use(ConfKey::SecondaryJars))]),
        advice: Some("list the path of each jar, or put them into a folder and set spark.yarn.jars".into()),
    })
}
