//! Small event logs with enough problems for the Spark rules to have findings.

use elephant_testing::spark_log::{App, Ending, Executor, GIB, Job, MIB, Stage, Task};

const MINUTE: i64 = 60_000;

pub(crate) fn applications() -> Vec<App> {
    vec![healthy(), uneven(), failing(), oversized(), idle()]
}

fn healthy() -> App {
    let tasks = ["1", "2", "1", "2"].map(|executor| Task::new(executor, 1000)).to_vec();
    App::with(&[("spark.executor.memory", "2g")], 2, 2).stage(tasks)
}

/// One executor runs all tasks, and its tasks spend much time on garbage collection.
fn uneven() -> App {
    let busy = |place: i64| Task {
        launch: place * MINUTE,
        ..Task::new("1", MINUTE)
            .metric("JVM GC Time", 20_000)
            .metric("Input Metrics.Bytes Read", 200 * MIB)
            .metric("Shuffle Write Metrics.Shuffle Bytes Written", 200 * MIB)
    };
    let tasks = (0..10).map(busy).chain([Task::new("2", 1000), Task::new("3", 1000)]).collect();
    App::with(&[("spark.executor.memory", "2g")], 3, 1).stage(tasks)
}

/// Tasks, stages and jobs that fail for several reasons.
fn failing() -> App {
    let endings = [
        Ending::Exception("java.lang.OutOfMemoryError", "Java heap space"),
        Ending::Exception("java.lang.IllegalStateException", "no such key"),
        Ending::FetchFailed("Failed to connect to worker2"),
        Ending::ExecutorLost("Container killed by YARN for exceeding memory limits. 2.1 GB of 2 GB used."),
    ];
    let mut app = App::with(&[("spark.task.maxFailures", "4")], 2, 1);
    for (id, ending) in (0..).zip(endings) {
        let failed = (0..6).map(|attempt| {
            let launch = i64::from(attempt) * 1000;
            Task { index: Some(0), attempt, launch, ..Task::new("1", 1000).ending(ending) }
        });
        let tasks = failed.chain((1..4).map(|index| Task { index: Some(index), ..Task::new("2", 1000) }));
        let failure =
            (id < 2).then(|| "Job aborted due to stage failure: Task 0 in stage failed 4 times".to_owned());
        let stage = Stage { failure, ..Stage::new(id, tasks.collect()) };
        app.jobs.push(Job { id, stages: vec![stage], failed: id < 2, ..Job::default() });
    }
    app
}

/// Large containers that are hardly used.
fn oversized() -> App {
    let executor = |id: u32| Executor {
        max_memory: Some(60 * GIB),
        peaks: vec![("JVMHeapMemory", 5 * GIB), ("OnHeapUnifiedMemory", GIB)],
        ..Executor::new(&id.to_string(), 16)
    };
    let conf = [
        ("spark.executor.memory", "100g"),
        ("spark.executor.memoryOverhead", "60g"),
        ("spark.executor.cores", "16"),
        ("spark.executor.instances", "20"),
        ("spark.driver.memory", "128g"),
        ("spark.driver.cores", "16"),
        ("spark.driver.memoryOverhead", "70g"),
        ("spark.shuffle.manager", "hash"),
        ("spark.yarn.secondary.jars", "lib/*.jar"),
    ];
    let mut app = App::with(&conf, 0, 0);
    app.executors = (1..=20).map(executor).collect();
    let shuffled = "Shuffle Write Metrics.Shuffle Bytes Written";
    let tasks = (1..=20).map(|id| Task::new(&id.to_string(), 60 * MINUTE).metric(shuffled, GIB)).collect();
    app.stage(tasks)
}

/// Executors that are kept idle, without a shuffle service to keep their files.
fn idle() -> App {
    let conf = [
        ("spark.dynamicAllocation.enabled", "true"),
        ("spark.dynamicAllocation.shuffleTracking.enabled", "false"),
        ("spark.dynamicAllocation.minExecutors", "10"),
        ("spark.dynamicAllocation.maxExecutors", "50000"),
    ];
    App::with(&conf, 10, 1).stage(vec![Task::new("1", 10 * MINUTE)])
}
