//! The applications, made from the one value that their rule looks at.

use elephant_rs::severity::Severity;

use crate::common::spark_log::{App, Ending, Executor, GIB, Job, MIB, Stage, Task};

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// An application that is meant to get a severity from a rule.
pub(crate) struct Fixture {
    pub rule: &'static str,
    /// What is wrong with it.
    pub case: &'static str,
    pub severity: Severity,
    pub app: App,
}

pub(crate) fn all() -> Vec<Fixture> {
    [settings(), memory(), balance(), stages(), failures(), losses(), stragglers(), races(), costs()]
        .into_iter()
        .flatten()
        .collect()
}

/// One fixture per severity, none to critical, made from five values; `None` leaves a severity out that the rule's
/// cut-offs do not have.
fn series<T>(
    rule: &'static str,
    case: &'static str,
    values: [Option<T>; 5],
    make: impl Fn(T) -> App,
) -> Vec<Fixture> {
    let pairs = Severity::ALL.into_iter().zip(values);
    pairs.filter_map(|(severity, value)| Some(Fixture { rule, case, severity, app: make(value?) })).collect()
}

fn task_on(executor: usize, duration: i64) -> Task {
    Task::new(&executor.to_string(), duration)
}

/// `count` executors of one core with a heap, each with one task of a minute.
fn idle(count: u32, heap: &str) -> App {
    let tasks = (1..=count).map(|id| Task::new(&id.to_string(), MINUTE)).collect();
    App::with(&[("spark.executor.memory", heap)], count, 1).stage(tasks)
}

fn settings() -> Vec<Fixture> {
    let heaps = ["32g", "70g", "100g", "130g", "300g"].map(Some);
    let sizes = series("spark-configuration", "heap", heaps, |heap| idle(2, heap));
    let gc = [5, 9, 12, 17, 25].map(|seconds| Some(seconds * 1000));
    let gc = series("spark-executor-gc", "gc", gc, |gc| {
        App::with(&[("spark.executor.memory", "2g")], 1, 1)
            .stage(vec![Task::new("1", 100 * SECOND).metric("JVM GC Time", gc)])
    });
    let driver = ["4g", "12g", "16g", "20g", "32g"].map(Some);
    let driver = series("spark-driver-metrics", "heap", driver, |heap| {
        App::with(&[("spark.driver.memory", heap)], 1, 1).stage(vec![Task::new("1", MINUTE)])
    });
    let driver_gc = [10_000, 25_500, 28_500, 36_000, 60_000].map(Some);
    let driver_gc = series("spark-driver-metrics", "gc", driver_gc, |gc| {
        let app = App::with(&[], 1, 1).stage(vec![Task::new("1", MINUTE)]);
        App { driver_peaks: vec![("JVMHeapMemory", GIB), ("TotalGCTime", gc)], end: Some(5 * MINUTE), ..app }
    });
    [sizes, gc, driver, driver_gc].into_iter().flatten().collect()
}

/// The same executors, with these peaks and a block manager of this size.
fn with_peaks(mut app: App, unified: u64, peaks: &[(&'static str, u64)]) -> App {
    for executor in &mut app.executors {
        executor.max_memory = Some(unified);
        executor.peaks = peaks.to_vec();
    }
    app
}

fn memory() -> Vec<Fixture> {
    let long = |app: App| App { end: Some(2 * HOUR), ..app };
    let used = [7147, 5768, 4518, 2976, 1748].map(Some);
    let heaps = series("spark-jvm-used-memory", "heap", used, |mib| {
        long(with_peaks(idle(20, "8g"), 4 * GIB, &[("JVMHeapMemory", mib * MIB)]))
    });
    let shares = [80, 65, 50, 30, 10].map(Some);
    let unified = series("spark-peak-unified-memory", "unified", shares, |percent| {
        let peaks = [("JVMHeapMemory", 7 * GIB), ("OnHeapUnifiedMemory", 4 * GIB * percent / 100)];
        long(with_peaks(idle(20, "8g"), 4 * GIB, &peaks))
    });
    let shares = [80, 60, 50, 30, 10].map(Some);
    let total = series("spark-memory-limit", "total", shares, |percent| {
        with_peaks(idle(80, "30g"), GIB, &[("JVMHeapMemory", 30 * GIB * percent / 100)])
    });
    let spills = [(0, 0), (1, 20), (1, 200), (4, 80), (4, 200)].map(Some);
    let spill = series("spark-executor-spill", "spill", spills, |(spilling, mib)| {
        let task = |id: usize| {
            let task = task_on(id, MINUTE).metric("Input Metrics.Bytes Read", 100 * MIB);
            task.metric("Memory Bytes Spilled", if id <= spilling { mib * MIB } else { 0 })
        };
        App::with(&[("spark.executor.memory", "4g"), ("spark.executor.cores", "4")], 10, 4)
            .stage((1..=10).map(task).collect())
    });
    [heaps, unified, total, spill].into_iter().flatten().collect()
}

/// Four executors of one core: the first works for ten minutes, the others for so many seconds.
fn unbalanced(others: i64) -> App {
    let seconds = [600, others, others, others];
    App::with(&[], 4, 1).stage((1..).zip(seconds).map(|(id, time)| task_on(id, time * SECOND)).collect())
}

fn balance() -> Vec<Fixture> {
    let load = [500, 350, 270, 221, 60].map(Some);
    let work = [400, 250, 150, 100, 30].map(Some);
    [
        series("spark-executor-load-balance", "task-time", load, unbalanced),
        series("spark-executor-metrics", "task-time", work, unbalanced),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn stages() -> Vec<Fixture> {
    const RULE: &str = "spark-configuration-parameters";
    let skew = series(RULE, "skew", [15, 30, 60, 120, 240].map(Some), |seconds: u32| {
        let task = |seconds: u32| {
            Task::new("1", i64::from(seconds) * SECOND)
                .metric("Shuffle Read Metrics.Remote Bytes Read", u64::from(seconds) * MIB)
        };
        App::with(&[], 1, 4).stage([vec![task(10); 19], vec![task(seconds)]].concat())
    });
    let spill = series(RULE, "spill", [5, 20, 150, 300, 600].map(Some), |mib| {
        let task = Task::new("1", 30 * SECOND).metric("Shuffle Read Metrics.Remote Bytes Read", GIB);
        App::with(&[("spark.executor.memory", "4g")], 1, 4).stage(vec![
            task.metric(
                "Memory Bytes Spilled",
                mib * MIB
            );
            8
        ])
    });
    let long = series(RULE, "long", [1, 3, 6, 12, 20].map(Some), |minutes| {
        App::with(&[], 1, 4).stage(vec![Task::new("1", minutes * MINUTE); 8])
    });
    let run_time = series("spark-stage-metrics", "run-time", [10, 40, 80, 150, 300].map(Some), |minutes| {
        App::with(&[], 1, 1).stage(vec![Task::new("1", minutes * MINUTE)])
    });
    // Its two cut-offs for severe and critical are the same; what tells them apart is the share of the run time.
    let stage_time = [(10, 0), (20, 0), (40, 0), (90, 170), (90, 0)].map(Some);
    let stage_time = series("spark-stage-runtime", "stage-time", stage_time, |(minutes, rest)| {
        let app = App::with(&[], 1, 1).stage(vec![Task::new("1", minutes * MINUTE)]);
        App { end: Some((minutes + rest) * MINUTE + SECOND), ..app }
    });
    [skew, spill, long, run_time, stage_time].into_iter().flatten().collect()
}

/// Forty tasks, of which the first attempt of so many fails.
fn failing(failed: u32, ending: Ending) -> Vec<Task> {
    let first = |index: u32| {
        let ending = if index < failed { ending } else { Ending::Success };
        Task { index: Some(index), ..Task::new("1", 10 * SECOND).ending(ending) }
    };
    let again =
        |index| Task { index: Some(index), attempt: 1, launch: 10 * SECOND, ..Task::new("1", 10 * SECOND) };
    (0..40).map(first).chain((0..failed).map(again)).collect()
}

/// The same lost time, spread over two stages of one job.
fn spread_lost_time(other: i64) -> App {
    let error = Ending::Exception("java.io.IOException", "no such record");
    let failed = |attempt| Task { index: Some(1), attempt, ..Task::new("1", SECOND).ending(error) };
    let half = || std::iter::once(Task::new("1", SECOND)).chain((0..2).map(failed)).collect();
    let before = Job { stages: vec![Stage::new(0, vec![Task::new("1", other)])], ..Job::default() };
    let stages = vec![Stage::new(1, half()), Stage::new(2, half())];
    App { jobs: vec![before, Job { id: 1, stages, ..Job::default() }], ..App::with(&[], 1, 4) }
}

/// Two tasks that succeed and four attempts of another one that fail, of a second each, in a job after one that
/// takes so long.
fn lost_time(other: i64) -> App {
    let error = Ending::Exception("java.io.IOException", "no such record");
    let failed = |attempt| Task { index: Some(2), attempt, ..Task::new("1", SECOND).ending(error) };
    let tasks = (0..2).map(|_| Task::new("1", SECOND)).chain((0..4).map(failed)).collect();
    App::with(&[], 1, 4).stage(vec![Task::new("1", other)]).stage(tasks)
}

fn failures() -> Vec<Fixture> {
    const RULE: &str = "spark-stages-with-failed-tasks";
    let stage = |ending| move |failed| App::with(&[], 2, 4).stage(failing(failed, ending));
    let exception = Ending::Exception("java.io.IOException", "no such record");
    let exceptions = series(RULE, "exceptions", [0, 1, 4, 10, 24].map(Some), stage(exception));
    let full = Ending::Exception("java.lang.OutOfMemoryError", "Java heap space");
    let full = series(RULE, "heap-full", [None, None, None, Some(2), Some(10)], stage(full));
    let jobs = [Some(0), Some(2), Some(4), None, Some(6)];
    let jobs = series("spark-job-metrics", "failed-jobs", jobs, |failed| {
        let job = |id: u32| Job {
            id,
            stages: vec![Stage::new(id, vec![Task::new("1", SECOND)])],
            failed: id < failed,
            ..Job::default()
        };
        App { jobs: (0..10).map(job).collect(), ..App::with(&[], 1, 1) }
    });
    let others = [127_000, 51_000, 20_700, 7_300, 700].map(Some);
    let job_time = series("spark-job-runtime", "lost-time", others, spread_lost_time);
    let stage_time = series("spark-stage-runtime", "lost-time", others, lost_time);
    [exceptions, full, jobs, job_time, stage_time].into_iter().flatten().collect()
}

fn losses() -> Vec<Fixture> {
    let lost = [None, Some(1), Some(3), Some(8), Some(14)];
    series("spark-stages-with-failed-tasks", "lost-executors", lost, |lost| {
        let mut app = idle(20, "2g");
        for executor in app.executors.iter_mut().take(lost) {
            let reason = "Container from a bad node: exit code 137".to_owned();
            *executor = Executor { removed: Some((2 * MINUTE, reason)), ..executor.clone() };
        }
        app
    })
}

/// A stage of tasks of one size: all but the last take so many seconds.
fn with_straggler(conf: &[(&str, &str)], tasks: usize, usual: i64, last: i64) -> App {
    let times = (1..tasks).map(|_| usual).chain([last]);
    let task = |seconds| task_on(1, seconds * SECOND).metric("Input Metrics.Bytes Read", 64 * MIB);
    App::with(conf, 1, 64).stage(times.map(task).collect())
}

fn stragglers() -> Vec<Fixture> {
    let slow = [30, 60, 120, 400, 1200].map(Some);
    let index = series("straggler-dos-index", "slow-task", slow, |last| with_straggler(&[], 40, 20, last));
    let last = [62, 90, 150, 400, 1000].map(Some);
    let impact = series("straggler-impact", "last-task", last, |last| with_straggler(&[], 20, 60, last));
    let missed = [(10, 18), (60, 100), (60, 400), (60, 1000), (60, 4000)].map(Some);
    let detection = series("straggler-detection", "missed", missed, |(usual, last)| {
        with_straggler(&[("spark.speculation", "true")], 20, usual, last)
    });
    [index, impact, detection].into_iter().flatten().collect()
}

/// Tasks of a minute or more, each with a second attempt that did nothing for it.
fn doubled(tasks: u32, seconds: i64, wasted: i64, second: impl Fn(Task) -> Task) -> App {
    let attempts = (0..tasks).flat_map(|index| {
        let first = Task { index: Some(index), ..task_on(1, seconds * SECOND) };
        let other = Task { index: Some(index), attempt: 1, ..task_on(2, wasted * SECOND) };
        [first, second(other)]
    });
    App::with(&[("spark.speculation", "true")], 2, 64).stage(attempts.collect())
}

fn races() -> Vec<Fixture> {
    let values = [(4, 60, 1), (4, 60, 20), (100, 60, 20), (100, 600, 250), (100, 600, 600)].map(Some);
    let waste = series("speculation-waste", "lost-copies", values, |(tasks, seconds, wasted)| {
        doubled(tasks, seconds, wasted, |copy| {
            // The race ends with the original.
            let launch = (seconds - wasted) * SECOND;
            Task { speculative: true, launch, ..copy.ending(Ending::Killed("another attempt succeeded")) }
        })
    });
    let failed = series("failed-attempts", "late-failures", values, |(tasks, seconds, wasted)| {
        doubled(tasks, seconds, wasted, |attempt| {
            attempt.ending(Ending::Exception("java.io.IOException", "connection reset"))
        })
    });
    [waste, failed].into_iter().flatten().collect()
}

fn costs() -> Vec<Fixture> {
    let heaps = [(5230, 2), (4000, 2), (3079, 2), (2158, 2), (929, 10)].map(Some);
    let wasted = series("wasted-resources", "heap", heaps, |(mib, hours)| {
        let app = with_peaks(idle(20, "8g"), 4 * GIB, &[("JVMHeapMemory", mib * MIB)]);
        App { end: Some(hours * HOUR), ..app }
    });
    let times = [(2, 60), (20, 60), (40, 60), (150, 180), (600, 660)].map(Some);
    let wait = series("wait-time", "first-executor", times, |(minutes, run)| {
        let mut app = App { end: Some(run * MINUTE), ..idle(2, "2g") };
        for executor in &mut app.executors {
            executor.added = minutes * MINUTE;
        }
        for job in &mut app.jobs {
            job.start = Some(minutes * MINUTE);
        }
        app
    });
    [wasted, wait].into_iter().flatten().collect()
}
