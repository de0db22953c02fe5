//! No line to paste does harm: each is judged here by the recorded facts alone, without the code that wrote it.

use elephant_analysis::metrics::Metrics;
use elephant_analysis::replay::spark::RecordedOnce;
use elephant_engine::engine::{Visited, visit};
use elephant_model::model::spark::{ClusterManager, NativeEngine, Platform, Spark};
use elephant_model::model::table::Outcome;
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::SettingChange;
use elephant_ruleset::RuleSet;
use elephant_testing::shared;
use elephant_verdict::troubles::{Basis, Diagnosed, diagnose};

const MIB: f64 = 1_048_576.0;

/// A size such as `768m`, `2g` or `134217728`, in MiB, where a number alone is in units of `alone` bytes.
fn mebibytes(text: &str, alone: f64) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match text[digits.len()..].trim_end_matches('b') {
        "" => alone,
        "k" => 1024.0,
        "m" => MIB,
        "g" => 1024.0 * MIB,
        "t" => 1024.0 * 1024.0 * MIB,
        _ => return None,
    };
    Some(digits.parse::<f64>().ok()? * unit / MIB)
}

/// The heap that options of a JVM set, in MiB.
fn heap_of_options(options: &str) -> Option<f64> {
    let flag = options.split_whitespace().filter_map(|flag| flag.strip_prefix("-Xmx")).next_back()?;
    mebibytes(flag, 1.0)
}

/// Why a recommended setting would do harm.
fn harm(app: &Application, diagnosed: &Diagnosed, change: &SettingChange) -> Option<String> {
    match app.spark.as_deref() {
        Some(spark) => harm_in_spark(app, spark, diagnosed, change),
        None => harm_in_mapreduce(diagnosed, change),
    }
}

fn harm_in_spark(
    app: &Application,
    spark: &Spark,
    diagnosed: &Diagnosed,
    change: &SettingChange,
) -> Option<String> {
    let key = change.setting.as_str();
    let (before, after) = (change.from.as_deref(), mebibytes(&change.to, MIB));
    let is_lower = before.and_then(|before| mebibytes(before, MIB)).zip(after).is_some_and(|(a, b)| b < a);
    let of_executors = key.starts_with("spark.executor.") || key.starts_with("spark.dynamicAllocation.");
    if of_executors && ClusterManager::of_application(app) == Some(ClusterManager::Local) {
        return Some("there are no executors in local mode".to_owned());
    }
    let is_size =
        ["spark.executor.memory", "spark.executor.cores", "spark.executor.instances"].contains(&key);
    let is_databricks = Platform::of(app).is_some_and(|platform| platform.key == "databricks");
    if is_size && (is_databricks || NativeEngine::at_work(app).is_some()) {
        return Some("the platform or a native engine decides the sizes of executors".to_owned());
    }
    if key == "spark.driver.memory" && is_lower {
        let used = spark.driver.peaks.heap().map(|peak| peak.as_f64() / MIB);
        return match used.zip(after) {
            None => Some("the heap of the driver was not measured".to_owned()),
            Some((used, after)) => (after < used).then(|| format!("the driver used {used:.0} MiB")),
        };
    }
    if key == "spark.executor.memory" && is_lower {
        // Half of the heap for half of the tasks.
        let cores = diagnosed.configuration.iter().find(|it| it.change.setting == "spark.executor.cores");
        let cores = cores.and_then(|it| {
            Some(it.change.to.parse::<f64>().ok()? / it.change.from.as_deref()?.parse::<f64>().ok()?)
        });
        let heap = after? / mebibytes(before?, MIB)?;
        return if cores.is_some_and(|cores| cores <= heap * 1.001) {
            None
        } else {
            harm_of_less_heap(app, spark, after?)
        };
    }
    let sizes = ["PartitionSizeInBytes", "maxPartitionBytes", "advisoryPartitionSizeInBytes"];
    if sizes.iter().any(|size| key.ends_with(size)) {
        let size = mebibytes(&change.to, 1.0)?;
        return (size < 1.0).then(|| "partitions of less than 1 MiB".to_owned());
    }
    let starts_service = key == "spark.shuffle.service.enabled" && change.to == "true";
    if starts_service && ClusterManager::of_application(app) == Some(ClusterManager::Standalone) {
        let advice = diagnosed.troubles.iter().flat_map(|trouble| &trouble.advice);
        let told = advice.filter(|advice| advice.settings.iter().any(|it| it.setting == key));
        let told = told.clone().count() > 0 && told.into_iter().all(|it| it.text.contains("shuffle service"));
        return (!told).then(|| "a shuffle service must run first".to_owned());
    }
    None
}

fn harm_of_less_heap(app: &Application, spark: &Spark, after: f64) -> Option<String> {
    let used = spark.executors.iter().filter_map(|executor| executor.peaks.heap());
    let used = used
        .map(|peak| peak.as_f64() / MIB)
        .fold(None, |most: Option<f64>, used| Some(most.unwrap_or(0.0).max(used)));
    let Some(used) = used else { return Some("the heaps of executors were not measured".to_owned()) };
    if after < used {
        return Some(format!("an executor used {used:.0} MiB"));
    }
    let count = |wanted: fn(Outcome) -> bool| -> usize {
        let rows = app.groups.iter().flat_map(|group| (0..group.attempts.len()).map(move |row| (group, row)));
        rows.filter(|(group, row)| wanted(group.attempts.outcome(*row))).count()
    };
    let (open, all) = (count(|outcome| outcome == Outcome::Unfinished), count(|_| true));
    if open * 5 > all {
        return Some(format!("{open} of {all} attempts have no end, so what they used is unknown"));
    }
    let killed = spark.executors.iter().filter_map(|executor| executor.removed_reason.as_deref());
    let killed = killed.filter(|reason| reason.contains("exceeding") && reason.contains("memory")).count();
    (killed > 0).then(|| format!("{killed} executors were killed for their memory"))
}

fn harm_in_mapreduce(diagnosed: &Diagnosed, change: &SettingChange) -> Option<String> {
    let value = |key: &str| {
        diagnosed
            .configuration
            .iter()
            .map(|it| &it.change)
            .find(|it| it.setting == key)
            .map(|it| it.to.as_str())
    };
    for kind in ["map", "reduce"] {
        let (size, options) = (format!("mapreduce.{kind}.memory.mb"), format!("mapreduce.{kind}.java.opts"));
        let container = value(&size).and_then(|size| mebibytes(size, MIB));
        let heap = value(&options).and_then(heap_of_options);
        if change.setting == size && container.zip(heap).is_some_and(|(container, heap)| heap >= container) {
            return Some(format!("the heap {heap:?} does not fit into the container"));
        }
    }
    if change.setting.ends_with("split.maxsize") {
        return mebibytes(&change.to, 1.0)
            .filter(|size| *size < 1.0)
            .map(|_| "splits of less than 1 MiB".to_owned());
    }
    None
}

#[test]
fn recommended_settings_do_no_harm() {
    let Some((corpus, runs)) = shared("corpus").zip(shared("runs")) else { return };
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let folders = [corpus, runs, elephant_testing::root().join("testdata")];
    let Visited { applications, .. } = visit(&folders, |app, _| {
        let evaluation = rules.evaluate(app);
        let metrics: Metrics = evaluation.metrics.unwrap_or_else(|| rules.measure(app));
        let mut findings = evaluation.findings;
        let basis = Basis { rules: &rules, prices: None };
        let diagnosed = diagnose(app, basis, (&metrics, RecordedOnce::default()), &mut findings);
        let changes = diagnosed.configuration.iter().map(|it| &it.change);
        let harms = changes.clone().filter_map(|change| {
            Some(format!("{} ({:?}): {change}: {}", app.id, app.engine, harm(app, &diagnosed, change)?))
        });
        let is_lower = |change: &SettingChange| change.setting.ends_with("memory") && change.from.is_some();
        (
            harms.collect::<Vec<_>>(),
            changes.clone().filter(|it| is_lower(it)).count(),
            app.engine == Engine::Spark,
        )
    });
    let values: Vec<_> = applications.into_iter().map(|visited| visited.value).collect();
    let harms: Vec<String> = values.iter().flat_map(|(harms, ..)| harms.clone()).collect();
    assert!(harms.is_empty(), "{}", harms.join("\n"));
    assert!(values.iter().map(|(_, sizes, _)| sizes).sum::<usize>() > 20);
    assert!(values.iter().any(|(.., is_spark)| *is_spark) && values.iter().any(|(.., is_spark)| !is_spark));
}
