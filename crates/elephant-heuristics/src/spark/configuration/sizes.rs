//! Sizes of executors and driver.

use super::{Issue, LIMITED, Settings, UnsetCores, setting, whole};
use crate::spark::support::application::change_to;
use crate::spark::support::limited::Limited;
use crate::spark::support::memory::{
    Overhead, Setting, default_overhead, heap_that_fits, in_force, rounded_up, was_short, why_needed,
};
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::HEAP;
use elephant_model::model::spark::Spark;
use elephant_rule::finding::{Advice, Phrase, SettingChange};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Size};
use elephant_rule::wording::{change, plural};

const CORES: &str = "executors have {cores} each ({limit})";
const OVERHEAD: &str = "{setting}, for a heap of {heap} ({limit})";
const FEWER_TASKS: &str = "run fewer tasks per JVM";
const MEASURE: &str = "measure what the heap holds before you make it smaller: Spark logs it from 3.0 on";
const STAR: &str = "{name} contains an asterisk";

pub(super) fn executor(params: &Settings, app: &Application, spark: &Spark) -> Vec<Issue> {
    let unset = || match params.unset_cores {
        UnsetCores::Announced => spark.executors.iter().filter_map(|executor| executor.cores).max(),
        UnsetCores::One => Some(1),
        UnsetCores::Zero => Some(0),
    };
    let cores = whole(app, ConfKey::ExecutorCores).or_else(|| unset().map(u64::from));
    let fits = heap_that_fits(app, spark);
    let mut memory = memory((params, &params.executor_memory), app, ConfKey::ExecutorMemory, fits);
    if let Some(memory) = memory.as_mut().filter(|_| was_short(app, spark)) {
        memory.advice = Some(why_needed(app, spark).into());
    }
    let mut cores = cores_of((params, &params.executor_cores), app, ConfKey::ExecutorCores, cores);
    if let (Some(memory), Some(cores)) = (&mut memory, &mut cores)
        && cores.severity > Severity::None
        && memory.severity > Severity::None
    {
        if fits.is_some_and(|fits| helps(&params.executor_memory, memory.severity, app, fits)) {
            // A measured heap is enough with all cores, so it does not depend on fewer of them.
            if let Some(advice) = &mut cores.advice {
                *advice = Advice::new(FEWER_TASKS).set_for_first(
                    std::mem::take(&mut advice.settings)
                        .into_iter()
                        .filter(|change| !ConfKey::ExecutorMemory.names().contains(&change.setting.as_str())),
                );
            }
        } else {
            // A smaller heap needs fewer cores, so one line of advice has both.
            memory.advice = None;
        }
    }
    let heap = app.conf.spark_memory(ConfKey::ExecutorMemory).unwrap_or(HEAP);
    let needed = Overhead::of(app, spark, heap);
    let overhead = overhead(params, app, [ConfKey::ExecutorMemoryOverhead, ConfKey::ExecutorMemory], &needed);
    [memory, cores, overhead].into_iter().flatten().collect()
}

pub(super) fn driver(params: &Settings, app: &Application) -> Vec<Issue> {
    let cores = whole(app, ConfKey::DriverCores);
    let heap = app.conf.spark_memory(ConfKey::DriverMemory).unwrap_or(HEAP);
    let tenth = Overhead::Estimated(default_overhead(heap));
    [
        memory((params, &params.driver_memory), app, ConfKey::DriverMemory, None),
        cores_of((params, &params.driver_cores), app, ConfKey::DriverCores, cores),
        overhead(params, app, [ConfKey::DriverMemoryOverhead, ConfKey::DriverMemory], &tenth),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn memory(
    (params, cutoffs): (&Settings, &Ascending<Size>),
    app: &Application,
    key: ConfKey,
    fits: Option<Bytes>,
) -> Option<Issue> {
    let size = app.conf.spark_memory(key)?;
    let severity = cutoffs.severity(size.as_f64());
    // Half of it, or a good heap if half is still more. The result is always a valid setting.
    let good = Bytes::from_f64(params.good_heap.get())?;
    let half = Bytes::new(size.get() / 2).min(good).max(Bytes::from_mib(1024));
    // A measurement is better than a rule of thumb, unless it would be found as well.
    let advice = match fits.filter(|&fits| fits < size && helps(cutoffs, severity, app, fits)) {
        Some(fits) => Advice::new("use a smaller heap").set([change(app, key, Setting(rounded_up(fits)))]),
        None => split(app, key, size, half),
    };
    Some(Issue {
        severity,
        message: Phrase::new(
            LIMITED,
            &[("setting", &setting(app, key)), ("limit", &cutoffs.describe(severity))],
        ),
        advice: Some(advice),
    })
}

/// Whether this smaller heap lowers the severity of the finding.
fn helps(cutoffs: &Ascending<Size>, severity: Severity, app: &Application, fits: Bytes) -> bool {
    let now = app.conf.spark_memory(ConfKey::ExecutorMemory).unwrap_or(HEAP);
    fits < now && cutoffs.severity(fits.as_f64()) < severity
}

/// Advice to split executors into ones with a heap of this size, and as many cores as this heap serves, so that each task keeps
/// its memory. A heap that nothing measured is not made smaller otherwise.
fn split(app: &Application, key: ConfKey, now: Bytes, heap: Bytes) -> Advice {
    let heap = rounded_up(heap);
    let cores =
        whole(app, ConfKey::ExecutorCores).filter(|&cores| cores > 1 && key == ConfKey::ExecutorMemory);
    let fewer = cores.map(|cores| {
        let part = cores.saturating_mul(heap.whole_mib()) / now.whole_mib().max(1);
        fewer_cores(app, cores, part.clamp(1, cores))
    });
    match fewer.filter(|fewer| !fewer.is_empty()) {
        Some(fewer) => {
            let changes = [change(app, key, Setting(heap))].into_iter().chain(fewer);
            Advice::new("use a smaller heap and more executors").set_for_first(changes)
        }
        None => MEASURE.into(),
    }
}

/// Fewer cores for each executor and as many more executors, if their number is fixed.
fn fewer_cores(app: &Application, cores: u64, fewer: u64) -> Vec<SettingChange> {
    if fewer >= cores {
        return Vec::new();
    }
    let fixed = !app.allocates_dynamically();
    // More executors would each take a GPU that only as many as now may have.
    if Limited::of(app).is_some() {
        return Vec::new();
    }
    let instances = in_force(app, ConfKey::ExecutorInstances).filter(|_| fixed);
    let same = instances.map(|count| count.saturating_mul(cores).div_ceil(fewer.max(1)));
    let more = same.map(|count| change(app, ConfKey::ExecutorInstances, count));
    [change(app, ConfKey::ExecutorCores, fewer)].into_iter().chain(more).collect()
}

fn cores_of(
    (params, cutoffs): (&Settings, &Ascending<Count>),
    app: &Application,
    key: ConfKey,
    cores: Option<u64>,
) -> Option<Issue> {
    let cores = cores?;
    let severity = cutoffs.severity(cores as f64);
    let template = if app.conf.find(key).is_some() { LIMITED } else { CORES };
    let fewer = cores.div_ceil(2).clamp(1, params.good_cores.whole().max(1));
    let heap = app.conf.spark_memory(ConfKey::ExecutorMemory);
    let heap = heap.filter(|_| key == ConfKey::ExecutorCores && cores > 0).map(|now| {
        let mib = (now.whole_mib().saturating_mul(fewer) / cores.max(1)).max(1024);
        change(app, ConfKey::ExecutorMemory, Setting(Bytes::from_mib(mib)))
    });
    let changes: Vec<SettingChange> = match key {
        ConfKey::ExecutorCores => fewer_cores(app, cores, fewer).into_iter().chain(heap).collect(),
        _ => vec![change(app, key, fewer)],
    };
    let fewer_tasks = || Advice::new(FEWER_TASKS).set_for_first(changes);
    // No more tasks share a JVM than another resource allows.
    let limited = Limited::of(app).filter(|_| key == ConfKey::ExecutorCores);
    let limited = limited.and_then(|limited| limited.advice().into_iter().next());
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
        advice: Some(limited.unwrap_or_else(fewer_tasks)),
    })
}

fn overhead(params: &Settings, app: &Application, keys: [ConfKey; 2], fits: &Overhead) -> Option<Issue> {
    let [key, heap] = keys;
    let size = app.conf.spark_memory(key)?;
    let heap = app.conf.spark_memory(heap).unwrap_or(HEAP);
    let judge = |size: Bytes| {
        let by_ratio = params.overhead_ratio.severity(size.as_f64() / heap.as_f64().max(1.0));
        params.overhead.severity(size.as_f64()).min(by_ratio)
    };
    let severity = judge(size);
    // Without the ratio, the size alone is judged, whatever the use.
    let by_use = params.overhead_ratio.values().is_some();
    let needed = matches!(fits, Overhead::Measured(fits) if *fits >= size && by_use);
    let helps = |fits: Bytes| fits < size && judge(fits) < severity;
    let what = Advice::new("request only the memory overhead that the container uses");
    let measure = match fits {
        Overhead::Unknown => {
            "measure what the Python workers use, whose memory is outside the heap, before you request less"
        }
        _ => "measure what the container uses outside the heap",
    };
    let advice = match *fits {
        Overhead::Measured(fits) if fits < size => what.set([change(app, key, Setting(fits))]),
        Overhead::Estimated(fits) if helps(fits) => {
            what.and(", if no native code needs more").set([change(app, key, Setting(fits))]).conditional()
        }
        _ => match change_to(app, ConfKey::ProcessTreeMetrics, true) {
            Some(on) => Advice::new(measure).set([on]),
            None => measure.into(),
        },
    };
    Some(Issue {
        severity: if needed { Severity::None } else { severity },
        message: Phrase::new(
            OVERHEAD,
            &[
                ("setting", &setting(app, key)),
                ("heap", &heap),
                ("limit", &params.overhead.describe(severity)),
            ],
        ),
        advice: Some(advice),
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
