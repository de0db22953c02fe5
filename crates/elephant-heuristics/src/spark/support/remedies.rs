//! Remedies for failures, by kind: settings with their values, or what to change in the code or the cluster.

use super::beyond_heap::against_kills;
use super::broadcasts;
use super::collections::Collections;
use super::jvms::doubt_of_pauses;
use super::losses::{Cause, Loss, lost_executors, only_host};
use super::memory::{
    self, Setting, default_overhead, heap, is_local, more_execution_memory, more_heap_advice, more_overhead,
    rounded_up,
};
use super::shuffle_service;
use elephant_base::units::Bytes;
use elephant_catalogue::Advised;
use elephant_model::diagnosis::FailureKind;
use elephant_model::engine_facts::spark::{
    KRYO_BUFFER, LARGEST_KRYO_BUFFER, MAX_RESULT_SIZE, NETWORK_TIMEOUT,
};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{ClusterManager, ShuffleService, Spark};
use elephant_rule::finding::Advice;
use elephant_rule::wording::{change, percent, plural};

/// The maximum number of advice lines.
const MAX_LINES: usize = 4;

const METASPACE: &str = "-XX:MaxMetaspaceSize=";
const DIRECT_MEMORY: &str = "-XX:MaxDirectMemorySize=";

/// Remedies for kinds of failures, the most frequent first. `completed`: the work was done in spite of them.
pub(crate) fn against_kinds(
    app: &Advised<'_>,
    spark: &Spark,
    kinds: impl IntoIterator<Item = FailureKind>,
    completed: bool,
) -> Vec<Advice> {
    let lost: Vec<Loss<'_>> = lost_executors(spark).collect();
    let mut advice = Vec::new();
    for kind in kinds {
        match kind {
            FailureKind::FetchFailure if !lost.is_empty() => {
                advice.extend(against_losses(app, spark, &lost));
                advice.push(keep_shuffle_files(app));
            }
            FailureKind::ExecutorLost if !lost.is_empty() => advice.extend(against_losses(app, spark, &lost)),
            FailureKind::ContainerMemory if !lost.is_empty() => {
                let over_memory = lost.iter().filter(|loss| loss.cause.failure.kind == kind).cloned();
                let over_memory: Vec<Loss<'_>> = over_memory.collect();
                advice.extend(if over_memory.is_empty() {
                    against(app, spark, kind)
                } else {
                    against_losses(app, spark, &over_memory)
                });
            }
            FailureKind::UserCode | FailureKind::PythonError if completed => advice
                .push(format!("{}: the stage completed, but each retry took time", kind.remedy()).into()),
            FailureKind::UserCode | FailureKind::PythonError => advice.push(
                format!(
                    "{}: more attempts (spark.task.maxFailures) would fail in the same way",
                    kind.remedy()
                )
                .into(),
            ),
            kind => advice.extend(against(app, spark, kind)),
        }
    }
    without_repeats(advice)
}

/// Remedies for the causes of lost executors.
pub(crate) fn against_losses(app: &Advised<'_>, spark: &Spark, losses: &[Loss<'_>]) -> Vec<Advice> {
    let mut causes: Vec<&Cause> = losses.iter().map(|loss| &loss.cause).collect();
    causes.sort_by_key(|cause| cause.failure.kind);
    let is_unclear = |cause: &&Cause| may_be_the_node(cause.failure.kind);
    let host = only_host(app, spark, losses).filter(|_| causes.iter().any(is_unclear));
    if host.is_some() {
        causes.retain(|cause| !cause.failure.kind.blames_code());
    }
    let look = host.map(|host| look_at(&plural(losses.len() as u64, "lost executor"), "ran", host));
    let lines = causes.into_iter().flat_map(|cause| match cause.failure.kind {
        FailureKind::ContainerMemory if !cause.is_over_memory(app) => vec![
            "find out what killed the executor: exit code 137 is SIGKILL, usually sent by the kernel when memory is short \
             (see dmesg on its node); in that case run fewer executors per node, or smaller ones"
                .into(),
        ],
        FailureKind::ResourceManagerKill => {
            hand_over(app, spark).into_iter().chain(against(app, spark, cause.failure.kind)).collect()
        },
        kind => against(app, spark, kind),
    });
    without_repeats(look.into_iter().chain(lines).collect())
}

/// Whether the place may be the cause of this kind of failure, and the message does not say so.
const fn may_be_the_node(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::UserCode
            | FailureKind::PythonError
            | FailureKind::ExecutorLost
            | FailureKind::LaunchFailure
            | FailureKind::JvmCrash
    )
}

/// The remedy if all failures are at one place: "all 6 failures happened on node3: …".
pub(crate) fn look_at(failures: &str, verb: &str, place: &str) -> Advice {
    Advice::new(format!(
        "all {failures} {verb} on {place}: check disks, memory, installed libraries and logs there; other nodes did the \
         same work"
    ))
}

/// Where Kubernetes tells why a pod ended.
const EVENTS_OF_POD: &str =
    "look at the events of the pods for what stopped them: kubectl describe pod, kubectl get events";
/// Disk space on Kubernetes.
const DISK_OF_POD: &str = "request the disk space that executors fill (ephemeral-storage, in the pod template \
                           spark.kubernetes.executor.podTemplateFile), or put spark.local.dir on a volume: Spark uses those \
                           whose name starts with spark-local-dir-";

fn is_on_kubernetes(app: &Application) -> bool {
    ClusterManager::of_application(app) == Some(ClusterManager::Kubernetes)
}

/// Advice if Spark gave up because every executor was excluded for a task: the failures before have a cause of their own.
pub(crate) fn after_exclusion(spark: &Spark) -> Option<Advice> {
    let stages = spark.stages.iter().filter_map(|stage| stage.failure.as_deref());
    let jobs = spark.jobs.iter().filter_map(|job| job.failure.as_deref());
    stages.chain(jobs).any(was_excluded_everywhere).then(|| {
        Advice::new(
            "if the failures pass by themselves, let a task try more often before its executor and node are excluded: \
             spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor (default 1) and \
             spark.excludeOnFailure.task.maxTaskAttemptsPerNode (default 2)",
        )
        .conditional()
    })
}

/// Whether the message of a failed stage or job says that a task could run nowhere after its failures.
pub(crate) fn was_excluded_everywhere(text: &str) -> bool {
    text.contains("annot run anywhere due to")
}

/// The remedies for one kind of failure. A large broadcast comes first: more memory would only hold it.
pub(crate) fn against(app: &Advised<'_>, spark: &Spark, kind: FailureKind) -> Vec<Advice> {
    broadcasts::against(app, spark, kind).into_iter().chain(against_kind(app, spark, kind)).collect()
}

fn against_kind(app: &Advised<'_>, spark: &Spark, kind: FailureKind) -> Vec<Advice> {
    let remedy = || Advice::new(kind.remedy());
    match kind {
        FailureKind::HeapSpace | FailureKind::GcOverhead => more_heap_advice(app, spark),
        FailureKind::ExecutionMemory => more_execution_memory(app, spark),
        FailureKind::ContainerMemory => vec![more_overhead_line(app)],
        FailureKind::DirectMemory => outside_the_heap(app, spark, remedy(), DIRECT_MEMORY),
        FailureKind::Metaspace => outside_the_heap(app, spark, remedy(), METASPACE),
        FailureKind::PythonMemory => vec![more_python_memory(app, remedy())],
        FailureKind::NativeMemory => vec![
            remedy(),
            Advice::new("if containers of this application fill the node, request what they use")
                .set([overhead(app)])
                .conditional(),
        ],
        FailureKind::BroadcastTooLarge => vec![remedy().set([change(app, ConfKey::BroadcastThreshold, -1)])],
        FailureKind::ResultTooLarge => vec![remedy(), larger_results(app)],
        FailureKind::KryoBuffer => vec![larger_kryo_buffer(app, remedy())],
        FailureKind::HeartbeatTimeout => {
            long_collections(app, spark).into_iter().chain([wait_longer(app, kind)]).collect()
        }
        FailureKind::FetchFailure | FailureKind::Network => vec![wait_longer(app, kind)],
        FailureKind::ResourceManagerKill if is_on_kubernetes(app) => vec![EVENTS_OF_POD.into()],
        FailureKind::NodeLost if is_on_kubernetes(app) => {
            [EVENTS_OF_POD.into()].into_iter().chain(hand_over(app, spark)).collect()
        }
        FailureKind::Preempted | FailureKind::NodeLost => {
            [remedy()].into_iter().chain(hand_over(app, spark)).collect()
        }
        FailureKind::DiskFull => vec![
            if is_on_kubernetes(app) { DISK_OF_POD.into() } else { remedy() },
            Advice::new("if shuffle files or spilled data fill local disks, compress them more")
                .set([change(app, ConfKey::IoCodec, "zstd")])
                .conditional(),
        ],
        FailureKind::LocalDisks if after_exclusion(spark).is_some() => vec![remedy()],
        FailureKind::LocalDisks => vec![
            remedy(),
            Advice::new("exclude nodes on which tasks fail")
                .set([change(app, ConfKey::ExcludeOnFailure, "true")])
                .conditional(),
        ],
        FailureKind::CommitDenied if app.conf.flag(ConfKey::Speculation) == Some(true) => vec![
            remedy(),
            Advice::new("if copies of tasks are denied again and again, do not start them")
                .set([change(app, ConfKey::Speculation, "false")])
                .conditional(),
        ],
        _ => vec![remedy()],
    }
}

fn overhead(app: &Advised<'_>) -> elephant_rule::finding::SettingChange {
    change(app, ConfKey::ExecutorMemoryOverhead, Setting(more_overhead(app)))
}

fn more_overhead_line(app: &Advised<'_>) -> Advice {
    against_kills(app, overhead(app))
}

/// A larger limit on one kind of memory outside the heap, and a container that holds it.
fn outside_the_heap(app: &Advised<'_>, spark: &Spark, what: Advice, option: &str) -> Vec<Advice> {
    if is_local(app, spark) {
        return vec![what.and(&format!(": {option}1g in spark.driver.extraJavaOptions"))];
    }
    let set = app.conf.text(ConfKey::ExecutorJavaOptions).unwrap_or_default();
    let limit = set.split_whitespace().rev().find_map(|word| word.strip_prefix(option));
    let heap = heap(app, ConfKey::ExecutorMemory);
    let (before, larger) = match limit {
        Some(limit) => match jvm_size(limit) {
            Some(now) => (now, now + now),
            // The limit cannot be read as a size.
            None => return vec![what],
        },
        // Without a limit, direct memory may be as large as the heap.
        None if option == DIRECT_MEMORY => (heap, rounded_up(heap + Bytes::new(heap.get() / 4))),
        // Class data has no limit by default, so the limit is set where the log does not show it, such as in the
        // environment.
        None => (Bytes::default(), app.advice.class_memory.bytes()),
    };
    let larger_option = format!("{option}{}", Setting(larger));
    let options = match limit {
        Some(limit) => set.replace(&format!("{option}{limit}"), &larger_option),
        None => format!("{set} {larger_option}"),
    };
    // The container grows by as much as the limit, and holds it in addition to what the JVM always takes.
    let overhead = (memory::overhead(app) + (larger - before)).max(larger + default_overhead(heap));
    vec![what.set_for_first([
        change(app, ConfKey::ExecutorJavaOptions, options.trim()),
        change(app, ConfKey::ExecutorMemoryOverhead, Setting(rounded_up(overhead))),
    ])]
}

/// The size of a JVM option: `256m`, or bytes without a unit.
fn jvm_size(text: &str) -> Option<Bytes> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok().filter(|&number| number > 0)?;
    let unit = match text.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return None,
    };
    Some(Bytes::new(number.saturating_mul(unit)))
}

fn more_python_memory(app: &Advised<'_>, what: Advice) -> Advice {
    match app.conf.spark_memory(ConfKey::ExecutorPysparkMemory).filter(|memory| memory.get() > 0) {
        Some(now) => {
            let larger = now + app.advice.more_python_memory.bytes().max(now);
            what.set([change(app, ConfKey::ExecutorPysparkMemory, Setting(larger))])
        }
        None => what.set([overhead(app)]),
    }
}

fn larger_results(app: &Application) -> Advice {
    let now = app.conf.spark_size(ConfKey::DriverMaxResultSize, Bytes::new(1)).unwrap_or(MAX_RESULT_SIZE);
    let larger = Setting(now + now);
    Advice::new("if the driver really needs the data and has the memory for it")
        .set([change(app, ConfKey::DriverMaxResultSize, larger)])
        .conditional()
}

fn larger_kryo_buffer(app: &Application, what: Advice) -> Advice {
    let now = app.conf.spark_size(ConfKey::KryoBufferMax, Bytes::from_mib(1)).unwrap_or(KRYO_BUFFER);
    let larger = Bytes::from_mib(now.whole_mib().saturating_mul(8)).min(LARGEST_KRYO_BUFFER);
    if larger > now { what.set([change(app, ConfKey::KryoBufferMax, Setting(larger))]) } else { what }
}

fn long_collections(app: &Advised<'_>, spark: &Spark) -> Option<Advice> {
    if doubt_of_pauses(app).is_some() {
        return None;
    }
    let share = Collections::of(app, spark)?.share();
    (share >= app.advice.much_collection.get()).then(|| {
        Advice::new(format!(
            "reduce garbage collection first: it took {} of the executors' task time, and executors that collect garbage \
             send no heartbeats",
            percent(share)
        ))
    })
}

fn wait_longer(app: &Application, kind: FailureKind) -> Advice {
    let now = app.conf.spark_duration(ConfKey::NetworkTimeout).unwrap_or(NETWORK_TIMEOUT);
    // 300s for the default of 120s.
    let longer = now.get().saturating_mul(5).div_ceil(2).div_ceil(1000);
    let change = change(app, ConfKey::NetworkTimeout, format!("{longer}s"));
    Advice::new(format!("{}; if they only answer late, wait longer", kind.remedy()))
        .set([change])
        .conditional()
}

/// Executors that are told to stop can hand over their blocks, except on YARN, where the shuffle service keeps them.
/// Advised only if blocks were lost: then stages run again.
fn hand_over(app: &Application, spark: &Spark) -> Option<Advice> {
    let missed = spark.stages.iter().any(|stage| stage.id.attempt > 0);
    missed.then(|| keep_blocks(app))
}

fn keep_blocks(app: &Application) -> Advice {
    if ClusterManager::of_application(app) == Some(ClusterManager::Yarn) {
        return keep_shuffle_files(app).conditional();
    }
    decommission(app)
}

fn decommission(app: &Application) -> Advice {
    Advice::new(
        "if executors are removed with notice, decommission them, so that they hand over their blocks",
    )
    .set_for_first([
        change(app, ConfKey::Decommission, "true"),
        change(app, ConfKey::StorageDecommission, "true"),
    ])
    .conditional()
}

fn keep_shuffle_files(app: &Application) -> Advice {
    if app.conf.flag(ConfKey::ShuffleService) == Some(true) {
        return FailureKind::FetchFailure.remedy().into();
    }
    if shuffle_service::of(app) == Some(ShuffleService::Absent) {
        return decommission(app);
    }
    let text =
        shuffle_service::if_it_runs(app, "let it keep the shuffle files of executors that are removed");
    Advice::new(text).set([change(app, ConfKey::ShuffleService, "true")]).conditional()
}

/// The first lines, without duplicates.
fn without_repeats(lines: Vec<Advice>) -> Vec<Advice> {
    let mut kept: Vec<Advice> = Vec::new();
    for line in lines {
        if kept.len() < MAX_LINES && !kept.contains(&line) {
            kept.push(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;

    /// The settings that are proposed against a kind, as arguments; conditional ones in brackets.
    fn settings(set: &[(&str, &str)], kind: FailureKind) -> Vec<String> {
        let mut app = elephant_sample::app(set);
        elephant_sample::executor(&mut app, "1").cores = Some(4);
        let spark = app.spark.as_deref().unwrap();
        let shown = |advice: Advice| {
            let lines: Vec<String> = advice.settings.iter().map(ToString::to_string).collect();
            lines.into_iter().map(move |line| if advice.conditional { format!("[{line}]") } else { line })
        };
        against(&advised(&app), spark, kind).into_iter().flat_map(shown).collect()
    }

    #[test]
    fn each_kind_of_memory_has_its_setting() {
        for (kind, expected) in [
            (FailureKind::HeapSpace, "--conf spark.executor.memory=4g (now 2g)"),
            (FailureKind::ContainerMemory, "--conf spark.executor.memoryOverhead=1536m"),
            (FailureKind::PythonMemory, "--conf spark.executor.memoryOverhead=1536m"),
            (FailureKind::ResultTooLarge, "[--conf spark.driver.maxResultSize=2g]"),
            (FailureKind::KryoBuffer, "--conf spark.kryoserializer.buffer.max=512m"),
            (FailureKind::BroadcastTooLarge, "--conf spark.sql.autoBroadcastJoinThreshold=-1"),
            (FailureKind::HeartbeatTimeout, "[--conf spark.network.timeout=300s]"),
            (FailureKind::DiskFull, "[--conf spark.io.compression.codec=zstd]"),
            (FailureKind::LocalDisks, "[--conf spark.excludeOnFailure.enabled=true]"),
        ] {
            assert_eq!(settings(&[("spark.executor.memory", "2g")], kind), [expected], "{}", kind.name());
        }
    }

    #[test]
    fn heartbeats_that_garbage_collection_delays_say_so() {
        let first = |gc_seconds: u64| {
            let mut app = elephant_sample::app(&[]);
            let totals = &mut elephant_sample::executor(&mut app, "1").totals;
            totals.task_time = Some(elephant_base::units::Millis::from_secs(100));
            totals.gc_time = Some(elephant_base::units::Millis::from_secs(gc_seconds));
            let spark = app.spark.as_deref().unwrap();
            against(&advised(&app), spark, FailureKind::HeartbeatTimeout).swap_remove(0).text
        };
        assert!(first(25).starts_with("reduce garbage collection first: it took 25 % of"), "{}", first(25));
        assert!(first(9).starts_with("look for long garbage collections"), "{}", first(9));
    }

    #[test]
    fn a_small_share_of_the_heap_is_told_where_tasks_lack_execution_memory() {
        let of = |fraction, kind| {
            settings(&[("spark.executor.memory", "2g"), ("spark.memory.fraction", fraction)], kind)
        };
        let usual = "--conf spark.memory.fraction=0.6 (now 0.04)";
        assert_eq!(of("0.04", FailureKind::ExecutionMemory), [usual]);
        assert_eq!(of("0.5", FailureKind::ExecutionMemory).len(), 2);
        let larger = ["--conf spark.executor.memory=4g (now 2g)"];
        assert_eq!(of("0.8", FailureKind::ExecutionMemory), larger);
        // The rest of the heap is for the objects of user code, of which a heap that is full has too many.
        assert_eq!(of("0.04", FailureKind::HeapSpace), larger);
    }

    #[test]
    fn values_that_the_application_set_are_raised() {
        let of = |name, value, kind| settings(&[(name, value)], kind);
        assert_eq!(
            of("spark.executor.pyspark.memory", "2g", FailureKind::PythonMemory),
            ["--conf spark.executor.pyspark.memory=4g (now 2g)"]
        );
        assert_eq!(
            of("spark.driver.maxResultSize", "4g", FailureKind::ResultTooLarge),
            ["[--conf spark.driver.maxResultSize=8g (now 4g)]"]
        );
        assert_eq!(
            of("spark.kryoserializer.buffer.max", "1g", FailureKind::KryoBuffer),
            ["--conf spark.kryoserializer.buffer.max=2047m (now 1g)"]
        );
        assert_eq!(of("spark.kryoserializer.buffer.max", "2047m", FailureKind::KryoBuffer), [""; 0]);
        assert_eq!(
            of("spark.network.timeout", "10m", FailureKind::HeartbeatTimeout),
            ["[--conf spark.network.timeout=1500s (now 10m)]"]
        );
        assert_eq!(
            of("spark.executor.extraJavaOptions", "-XX:MaxMetaspaceSize=256m -Da=b", FailureKind::Metaspace)
                [0],
            "--conf spark.executor.extraJavaOptions=-XX:MaxMetaspaceSize=512m -Da=b (now -XX:MaxMetaspaceSize=256m -Da=b)"
        );
    }

    #[test]
    fn shuffle_files_are_kept_only_where_stages_ran_again() {
        let mut app = elephant_sample::app(&[("spark.master", "yarn")]);
        elephant_sample::stage(&mut app, 0, &[(elephant_model::model::table::Outcome::Succeeded, 1000)]);
        let keeps = |app: &Application| {
            let spark = app.spark.as_deref().unwrap();
            let advice = against(&advised(app), spark, FailureKind::Preempted);
            advice.iter().any(|line| line.conditional && line.contains("spark.shuffle.service.enabled=true"))
        };
        assert!(!keeps(&app));
        elephant_sample::spark(&mut app).stages[0].id.attempt = 1;
        assert!(keeps(&app));
        let text = |master| keep_shuffle_files(&elephant_sample::app(&[("spark.master", master)])).text;
        assert!(text("yarn").contains("(a NodeManager runs it as the auxiliary service spark_shuffle)"));
        assert!(text("spark://host:7077").starts_with("if the cluster runs the external shuffle service ("));
        assert!(text("k8s://https://host").contains("decommission"), "there is no service");
    }

    #[test]
    fn on_kubernetes_the_advice_names_what_it_has() {
        let of = |master: &str, kind| {
            let mut app = elephant_sample::app(&[("spark.master", master)]);
            let spark = elephant_sample::spark(&mut app).clone();
            against(&advised(&app), &spark, kind).remove(0).text
        };
        for kind in [FailureKind::DiskFull, FailureKind::ResourceManagerKill, FailureKind::NodeLost] {
            assert_eq!(of("yarn", kind), kind.remedy());
        }
        let cluster = "k8s://https://k8s:443";
        assert_eq!(of(cluster, FailureKind::DiskFull), DISK_OF_POD);
        assert_eq!(of(cluster, FailureKind::ResourceManagerKill), EVENTS_OF_POD);
    }

    /// A limit outside the heap without a container that holds it gets the executor killed.
    #[test]
    fn limits_outside_the_heap_fit_the_container() {
        let of = |set: &[(&str, &str)], kind| settings(set, kind).join(" ");
        let options = "spark.executor.extraJavaOptions";
        assert_eq!(
            of(&[("spark.executor.memory", "8g")], FailureKind::DirectMemory),
            "--conf spark.executor.extraJavaOptions=-XX:MaxDirectMemorySize=10g --conf spark.executor.memoryOverhead=11g"
        );
        assert_eq!(
            of(&[("spark.executor.memory", "8g"), (options, "-Da=b")], FailureKind::DirectMemory),
            "--conf spark.executor.extraJavaOptions=-Da=b -XX:MaxDirectMemorySize=10g (now -Da=b) \
             --conf spark.executor.memoryOverhead=11g"
        );
        // What is set grows by as much as the limit.
        let set = [
            ("spark.executor.memory", "8g"),
            ("spark.executor.memoryOverhead", "3g"),
            (options, "-XX:MaxDirectMemorySize=1g"),
        ];
        assert!(of(&set, FailureKind::DirectMemory).ends_with(
            "=-XX:MaxDirectMemorySize=2g (now -XX:MaxDirectMemorySize=1g) \
                 --conf spark.executor.memoryOverhead=4g (now 3g)"
        ));
        assert_eq!(
            of(&[("spark.executor.memory", "8g")], FailureKind::Metaspace),
            "--conf spark.executor.extraJavaOptions=-XX:MaxMetaspaceSize=1g --conf spark.executor.memoryOverhead=2g"
        );
        assert_eq!(jvm_size("0"), None);
        assert_eq!(jvm_size("12x"), None);
    }

    #[test]
    fn every_kind_has_advice() {
        let app = elephant_sample::app(&[]);
        let spark = app.spark.as_deref().unwrap();
        for kind in FailureKind::ALL {
            for completed in [false, true] {
                let advice = against_kinds(&advised(&app), spark, [*kind], completed);
                assert!(!advice.is_empty() && advice.iter().all(|line| !line.is_empty()), "{}", kind.name());
            }
        }
    }
}
