//! The generated Spark logs: formatted like recorded logs, and internally consistent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use elephant_generate::spark::SparkJob;
use elephant_generate::spark::codec::{Codec, unpack_lz4};
use elephant_testing::{contents, files_below, shared};

const JOB: SparkJob = SparkJob { tasks: 5_000, executors: 20, cores: 4, lost_executors: 1 };

fn log(job: SparkJob, codec: Codec) -> Vec<u8> {
    let mut bytes = Vec::new();
    codec.pack(&mut bytes, |out| job.write(out)).unwrap();
    bytes
}

fn events(bytes: &[u8]) -> impl Iterator<Item = Value> {
    let lines = std::str::from_utf8(bytes).unwrap().lines();
    lines.map(|line| serde_json::from_str(line).unwrap())
}

fn name(event: &Value) -> &str {
    event["Event"].as_str().unwrap()
}

fn number(value: &Value) -> i64 {
    value.as_i64().or_else(|| value.as_str()?.parse().ok()).unwrap()
}

/// Objects whose keys are data.
const MAPS: [&str; 7] = [
    "Properties",
    "Spark Properties",
    "Hadoop Properties",
    "System Properties",
    "Metrics Properties",
    "Classpath Entries",
    "metadata",
];

/// By place in an event: the observed key sequences or value types.
type Shapes = BTreeMap<String, BTreeSet<String>>;

fn add_shapes(value: &Value, place: &str, shapes: &mut Shapes) {
    let shape = match value {
        Value::Object(fields) => {
            for (key, field) in fields.iter().filter(|(key, _)| !MAPS.contains(&key.as_str())) {
                // Plans nest to any depth.
                let place = if key == "children" { place.to_owned() } else { format!("{place}/{key}") };
                add_shapes(field, &place, shapes);
            }
            fields.keys().map(|key| format!("{key:?}")).collect::<Vec<_>>().join(",")
        }
        Value::Array(elements) => {
            for element in elements {
                add_shapes(element, place, shapes);
            }
            return;
        }
        Value::Number(number) if number.is_f64() => "fraction".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "text".to_owned(),
        Value::Bool(_) => "flag".to_owned(),
        Value::Null => "null".to_owned(),
    };
    shapes.entry(place.to_owned()).or_default().insert(shape);
}

fn shapes<'a>(logs: impl IntoIterator<Item = &'a [u8]>) -> Shapes {
    let mut shapes = Shapes::new();
    for event in logs.into_iter().flat_map(events) {
        add_shapes(&event, name(&event), &mut shapes);
    }
    shapes
}

#[test]
fn every_event_has_the_keys_and_types_of_recorded_ones() {
    let mut recorded = Vec::new();
    for run in ["sqlaqe", "skew", "failures", "speculation", "execkill"] {
        let Some(folder) = shared(&format!("runs/spark-3.5.9/{run}")) else { return };
        recorded.extend(files_below(&folder).iter().map(|file| contents(file)));
    }
    let recorded = shapes(recorded.iter().map(Vec::as_slice));
    let empty = BTreeSet::new();
    for (place, shapes) in shapes([log(JOB, Codec::Plain).as_slice()]) {
        let known = recorded.get(&place).unwrap_or(&empty);
        let unknown: Vec<_> = shapes.difference(known).collect();
        assert!(unknown.is_empty(), "{place}: {unknown:#?}, but recorded logs have {known:#?}");
    }
}

/// The task metrics of a stage.
#[derive(Default)]
struct StageTotals {
    succeeded: i64,
    sums: BTreeMap<i64, i64>,
}

#[test]
fn stage_metrics_are_the_sums_of_task_metrics() {
    let (mut stages, mut tasks) = (BTreeMap::<i64, StageTotals>::new(), 0);
    for event in events(&log(JOB, Codec::Plain)) {
        match name(&event) {
            "SparkListenerTaskEnd" => {
                let totals = stages.entry(number(&event["Stage ID"])).or_default();
                totals.succeeded += i64::from(event["Task End Reason"]["Reason"] == "Success");
                for update in event["Task Info"]["Accumulables"].as_array().unwrap() {
                    let sum = totals.sums.entry(number(&update["ID"])).or_default();
                    *sum += number(&update["Update"]);
                    assert_eq!(*sum, number(&update["Value"]), "{update}");
                }
            }
            "SparkListenerStageCompleted" => {
                let info = &event["Stage Info"];
                let totals = stages.entry(number(&info["Stage ID"])).or_default();
                assert_eq!(totals.succeeded, number(&info["Number of Tasks"]));
                tasks += totals.succeeded;
                let sums = info["Accumulables"].as_array().unwrap().iter();
                let sums: BTreeMap<_, _> =
                    sums.map(|sum| (number(&sum["ID"]), number(&sum["Value"]))).collect();
                assert_eq!(totals.sums, sums);
            }
            _ => (),
        }
    }
    assert_eq!(tasks, i64::from(JOB.tasks));
}

#[test]
fn task_metrics_match_the_accumulables() {
    let pairs = [
        ("executorRunTime", "/Executor Run Time"),
        ("executorCpuTime", "/Executor CPU Time"),
        ("shuffle.read.remoteBytesRead", "/Shuffle Read Metrics/Remote Bytes Read"),
        ("shuffle.write.bytesWritten", "/Shuffle Write Metrics/Shuffle Bytes Written"),
        ("input.bytesRead", "/Input Metrics/Bytes Read"),
        ("output.recordsWritten", "/Output Metrics/Records Written"),
    ];
    let events: Vec<Value> = events(&log(JOB, Codec::Plain)).collect();
    let succeeded =
        |event: &&Value| event.pointer("/Task End Reason/Reason").is_some_and(|why| why == "Success");
    for event in events.iter().filter(succeeded) {
        let accumulables = event["Task Info"]["Accumulables"].as_array().unwrap();
        for (name, pointer) in pairs {
            let name = format!("internal.metrics.{name}");
            let accumulable = accumulables.iter().find(|each| each["Name"] == name.as_str());
            let metric = number(event["Task Metrics"].pointer(pointer).unwrap());
            assert_eq!(accumulable.map_or(0, |accumulable| number(&accumulable["Update"])), metric, "{name}");
        }
    }
}

/// Id and name of all metrics of a plan.
fn plan_metrics(node: &Value, metrics: &mut BTreeMap<i64, String>) {
    for metric in node["metrics"].as_array().unwrap() {
        let name = metric["name"].as_str().unwrap().to_owned();
        assert_eq!(metrics.insert(number(&metric["accumulatorId"]), name), None);
    }
    for child in node["children"].as_array().unwrap() {
        plan_metrics(child, metrics);
    }
}

#[test]
fn plan_accumulables_of_tasks_exist_in_the_plan() {
    let mut metrics = BTreeMap::new();
    for event in events(&log(JOB, Codec::Plain)) {
        if name(&event).ends_with("SQLAdaptiveExecutionUpdate") {
            metrics.clear();
            plan_metrics(&event["sparkPlanInfo"], &mut metrics);
        } else if name(&event) == "SparkListenerStageCompleted"
            && number(&event["Stage Info"]["Stage ID"]) % 3 == 2
        {
            let all = event["Stage Info"]["Accumulables"].as_array().unwrap();
            for accumulable in all.iter().filter(|accumulable| accumulable["Metadata"] == "sql") {
                assert_eq!(
                    metrics.get(&number(&accumulable["ID"])).map(String::as_str),
                    accumulable["Name"].as_str()
                );
            }
        }
    }
}

#[test]
fn attempts_are_in_order_and_never_exceed_executor_cores() {
    let (mut running, mut ends, mut now) =
        (BTreeMap::<String, i64>::new(), BTreeMap::<String, u32>::new(), 0);
    for event in events(&log(JOB, Codec::Plain)) {
        let info = &event["Task Info"];
        let (at, change) = match name(&event) {
            "SparkListenerTaskStart" => (&info["Launch Time"], 1),
            "SparkListenerTaskEnd" => (&info["Finish Time"], -1),
            _ => continue,
        };
        assert!(number(at) >= now, "{info}");
        now = number(at);
        let tasks = running.entry(info["Executor ID"].to_string()).or_default();
        *tasks += change;
        assert!((0..=i64::from(JOB.cores)).contains(tasks), "{info}");
        if let Some(why) = event["Task End Reason"]["Reason"].as_str() {
            *ends.entry(why.to_owned()).or_default() += 1;
        }
    }
    assert!(running.values().all(|&tasks| tasks == 0));
    let ways: Vec<_> = ends.keys().map(String::as_str).collect();
    assert_eq!(ways, ["ExceptionFailure", "ExecutorLostFailure", "Success", "TaskKilled"]);
}

#[test]
fn smallest_applications_complete() {
    for tasks in 0..30 {
        let log = log(SparkJob { tasks, ..JOB }, Codec::Plain);
        let ends = events(&log).filter(|event| event["Task End Reason"]["Reason"] == "Success").count();
        assert_eq!(ends, tasks as usize);
    }
}

#[test]
fn task_takes_five_to_six_thousand_bytes() {
    let job = SparkJob::of(10_000);
    let size = log(job, Codec::Plain).len() / job.tasks as usize;
    assert!((5_000..6_000).contains(&size), "{size}");
}

#[test]
fn compressed_logs_have_the_same_contents() {
    let job = SparkJob { tasks: 100, ..JOB };
    let plain = log(job, Codec::Plain);
    assert_eq!(zstd::decode_all(log(job, Codec::Zstd).as_slice()).unwrap(), plain);
    let (mut unpacked, packed) = (Vec::new(), log(job, Codec::Lz4));
    let length = unpack_lz4(&mut packed.as_slice(), |content| unpacked.extend_from_slice(content)).unwrap();
    assert_eq!(length, plain.len() as u64);
    assert!(unpacked == plain);
}

#[test]
fn lz4_decoder_reads_spark_output() {
    let Some(folder) = shared("runs/spark-3.5.9/healthy-lz4") else { return };
    for file in files_below(&folder) {
        let mut unpacked = Vec::new();
        unpack_lz4(&mut contents(&file).as_slice(), |content| unpacked.extend_from_slice(content)).unwrap();
        assert_eq!(
            events(&unpacked).last().map(|event| name(&event).to_owned()).as_deref(),
            Some("SparkListenerApplicationEnd")
        );
    }
}
