//! `spark-configuration-parameters`: tasks are made to match a stage's quantiles. Sums of run times in the oracle
//! that no tasks could have are ignored, because they do not affect the result; for sums of data, the first task
//! takes the rest.

use elephant_rs::finding::{Finding, Measure, Subject};
use elephant_rs::severity::Severity;
use serde_json::Value;

use super::{check, entries, settings};
use elephant_sample::judge::{judge, rules};
use elephant_testing::spark_log::{App, Ending, Executor, Job, Stage, Task};

const RULE: &str = "spark-configuration-parameters";
const STAGES: &str = "StagesAnalyzer (part of Configuration Parameters Metrics)";
const WHOLE: &str = "Configuration Parameters Metrics";
const MASTER: (&str, &str) = ("spark.master", "yarn");

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Run times with this median and maximum.
fn run_times(tasks: u64, times: &Value) -> Vec<u64> {
    let (median, longest) = (number(&times["median"]), number(&times["max"]));
    let shortest = if tasks == 2 { (2 * median).saturating_sub(longest) } else { median };
    (0..tasks).map(|index| if index + 1 == tasks { longest } else { shortest }).collect()
}

fn stage(inputs: &Value) -> Stage {
    let count = number(&inputs["num_tasks"]);
    let times = run_times(count, &inputs["task_run_time_ms"]);
    let mut tasks: Vec<Task> = times
        .into_iter()
        .map(|time| Task::new("1", i64::try_from(time).unwrap().max(1)).metric("Executor Run Time", time))
        .collect();
    for (flow, path) in [
        ("input_bytes", "Input Metrics.Bytes Read"),
        ("output_bytes", "Output Metrics.Bytes Written"),
        ("shuffle_read_bytes", "Shuffle Read Metrics.Remote Bytes Read"),
        ("shuffle_write_bytes", "Shuffle Write Metrics.Shuffle Bytes Written"),
        ("spill_bytes", "Memory Bytes Spilled"),
    ] {
        let total = number(&inputs[flow]["total"]);
        for (index, task) in tasks.iter_mut().enumerate() {
            let rest = if index == 0 { total % count } else { 0 };
            task.metrics.push((path, total / count + rest));
        }
    }
    tasks.extend(failed(inputs));
    let id = u32::try_from(number(&inputs["stage_id"])).unwrap();
    let duration = inputs["stage_duration_ms"].as_i64();
    let longest = tasks.iter().map(|task| task.duration).max();
    // Only the tasks of a stage that was tried again may end after it.
    let attempt = u32::from(duration.is_some() && longest > duration);
    Stage { attempt, duration, ..Stage::new(id, tasks) }
}

/// Attempts that fail before the successful ones: out of memory, with their container, or for another reason.
fn failed(inputs: &Value) -> Vec<Task> {
    let failed = &inputs["failed_tasks"];
    let (oom, killed) = (number(&failed["oom"]), number(&failed["container_killed"]));
    let others = number(&failed["total"]) - oom - killed;
    let endings = [
        (oom, Ending::Exception("java.lang.OutOfMemoryError", "Java heap space")),
        (killed, Ending::ExecutorLost("Container killed by YARN for exceeding memory limits.")),
        (others, Ending::Exception("java.io.IOException", "gone")),
    ];
    let endings = endings.into_iter().flat_map(|(count, ending)| (0..count).map(move |_| ending));
    let attempts = endings.zip(0..).map(|(ending, index)| {
        let task = Task::new("1", 1).ending(ending);
        let index = u32::try_from(index).unwrap() % u32::try_from(number(&inputs["num_tasks"])).unwrap();
        Task { index: Some(index), attempt: 1, launch: 0, ..task }
    });
    attempts.collect()
}

fn application(inputs: &Value) -> App {
    let mut app = App { conf: settings(inputs), ..App::default() };
    app.conf.push((MASTER.0.to_owned(), MASTER.1.to_owned()));
    let one = vec![serde_json::json!({"id": "1"})];
    for executor in inputs["executors"].as_array().unwrap_or(&one) {
        let id = executor["id"].as_str().unwrap();
        let peak = number(&executor["peakJvmUsedMemory"]);
        let peaks = if peak > 0 { vec![("JVMHeapMemory", peak)] } else { Vec::new() };
        if id == "driver" {
            app.driver_peaks = peaks;
        } else {
            app.executors.push(Executor { peaks, ..Executor::new(id, 1) });
        }
    }
    let stages = inputs["stages"].as_array().cloned().unwrap_or_else(|| vec![inputs["stage"].clone()]);
    for (id, inputs) in (0..).zip(&stages) {
        let mut stage = stage(inputs);
        // Executors report their peaks at the end of each stage in which they ran tasks.
        let others = app.executors.iter().skip(1).map(|executor| executor.id.clone());
        for (task, other) in stage.tasks.iter_mut().zip(others) {
            task.executor = other;
        }
        app.jobs.push(Job { id, stages: vec![stage], ..Job::default() });
    }
    app
}

fn text<'a>(finding: &'a Finding, key: &str) -> &'a str {
    let measure = finding.evidence.iter().find(|(name, _)| *name == key).map(|(_, measure)| measure);
    let Some(Measure::Text(text)) = measure else { panic!("{key} is missing") };
    text
}

fn amount(finding: &Finding, key: &str) -> Option<u64> {
    let (_, measure) = finding.evidence.iter().find(|(name, _)| *name == key)?;
    match measure {
        Measure::Count(count) | Measure::Mebibytes(count) => Some(*count),
        _ => None,
    }
}

#[test]
fn oracle_stages_analyzer() {
    let Some(entries) = entries("customSHSWork", STAGES) else { return };
    for entry in entries {
        let report = judge(&application(&entry["inputs"]), &rules(&["dr-elephant", "dr-elephant-shs"], ""));
        let found = report.findings.iter().filter(|finding| finding.rule == RULE);
        let of_stage = found.filter(|finding| matches!(finding.subject, Subject::Stage(_)));
        let of_stage: Vec<&Finding> = of_stage.collect();
        let worst = of_stage.iter().map(|finding| finding.severity).max().unwrap_or(Severity::None);
        let id = &entry["id"];
        assert_eq!(Some(worst.name().to_uppercase().as_str()), entry["expected_severity"].as_str(), "{id}");
        let Some(finding) = of_stage.first() else { continue };
        for (key, name) in [
            ("spill_text", "spill"),
            ("long_tasks_text", "long_task"),
            ("skew_text", "skew"),
            ("task_failures_text", "task_failure"),
            ("out_of_memory_text", "oom"),
            ("container_kills_text", "container_killed"),
            ("stage_failure_text", "stage_failure"),
        ] {
            let expected = entry["expected"][name].as_str().map(str::to_lowercase);
            assert_eq!(Some(text(finding, key).to_owned()), expected, "{id}: {name}");
        }
    }
}

#[test]
fn oracle_configuration_parameters() {
    let Some(entries) = entries("customSHSWork", WHOLE) else { return };
    check(&entries, RULE, &["dr-elephant", "dr-elephant-shs"], |entry| {
        (application(&entry["inputs"]), String::new())
    });
}

/// "4GB" and "640MB" as MiB; plain numbers unchanged.
fn setting(text: &str) -> u64 {
    let unit =
        |name, scale: u64| text.strip_suffix(name).map(|digits| digits.parse::<u64>().unwrap() * scale);
    unit("GB", 1024).or_else(|| unit("MB", 1)).unwrap_or_else(|| text.parse().unwrap())
}

#[test]
fn oracle_recommended_settings() {
    let Some(entries) = entries("customSHSWork", WHOLE) else { return };
    for entry in entries {
        let report = judge(&application(&entry["inputs"]), &rules(&["dr-elephant", "dr-elephant-shs"], ""));
        let mut found = report.findings.iter().filter(|finding| finding.rule == RULE);
        let whole = found.find(|finding| finding.subject == Subject::Application).unwrap();
        let expected = &entry["expected"]["recommended"];
        for (name, key) in [
            ("spark.executor.memory", "recommended_executor_memory_mb"),
            ("spark.executor.cores", "recommended_executor_cores_count"),
            ("spark.executor.instances", "recommended_executor_instances_count"),
            ("spark.yarn.executor.memoryOverhead", "recommended_executor_overhead_mb"),
            ("spark.driver.memory", "recommended_driver_memory_mb"),
            ("spark.driver.cores", "recommended_driver_cores_count"),
            ("spark.yarn.driver.memoryOverhead", "recommended_driver_overhead_mb"),
        ] {
            let expected = expected[name].as_str().map(setting);
            assert_eq!(amount(whole, key), expected, "{}: {name}", entry["id"]);
        }
        let fraction = ("recommended_memory_fraction_ratio".into(), Measure::Ratio(Some(0.6)));
        assert!(whole.evidence.contains(&fraction), "{}", entry["id"]);
    }
}
