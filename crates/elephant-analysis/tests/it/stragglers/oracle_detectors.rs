//! Detectors, their quality and the first-order model, compared with expected values computed by other tools.

use elephant_analysis::stragglers::detect::average_gap::is_behind;
use elephant_analysis::stragglers::detect::exponential::Smoothing;
use elephant_analysis::stragglers::detect::hierarchical::{ClusterMean, Performance, speed};
use elephant_analysis::stragglers::detect::late::{Variant, is_slow, mean_and_sd};
use elephant_analysis::stragglers::detect::mantri::probability_of_saving;
use elephant_analysis::stragglers::detect::mr2::{Caps, Worth, choose, gate_is_open, legacy_estimate};
use elephant_analysis::stragglers::detect::offline::{is_behind_online, is_below_half, least_progress};
use elephant_analysis::stragglers::detect::pool::Pool;
use elephant_analysis::stragglers::detect::spark::{MedianRule, min_finished, threshold};
use elephant_analysis::stragglers::dolly::clones;
use elephant_analysis::stragglers::first_order::{FirstOrder, GuessError, Input, Power};
use elephant_analysis::stragglers::quality::{Judged, Quality};
use elephant_analysis::stragglers::regression::ProgressModel;
use elephant_base::stats::descriptive::median;
use elephant_base::whole::Whole;
use serde_json::{Value, json};

use super::oracle::{Case, cases, numbers};

/// Panics unless all expected values of the case were computed.
fn check(case: &Case, computed: &Value) {
    same(case, "", computed, &case.expected);
}

fn same(case: &Case, path: &str, computed: &Value, expected: &Value) {
    match expected {
        Value::Object(expected) => {
            for (key, expected) in expected {
                same(case, &format!("{path}.{key}"), &computed[key.as_str()], expected);
            }
        }
        Value::Array(expected) => {
            let computed = computed.as_array().unwrap_or_else(|| panic!("{}{path}", case.id));
            assert_eq!(computed.len(), expected.len(), "{}{path}", case.id);
            for (place, (computed, expected)) in computed.iter().zip(expected).enumerate() {
                same(case, &format!("{path}[{place}]"), computed, expected);
            }
        }
        Value::Number(expected) => {
            let value = computed.as_f64().unwrap_or_else(|| panic!("{}{path}: {computed}", case.id));
            case.close(path, value, expected.as_f64().unwrap());
        }
        _ => assert_eq!(computed, expected, "{}{path}", case.id),
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

#[test]
fn oracle_metrics() {
    for case in cases("metrics") {
        let factor = number(&case.input["k"]);
        let tasks = list(&case.input["tasks"]).iter().map(|task| {
            let (duration, usual) = (number(&task["dur"]), number(&task["usual"]));
            Judged { duration, usual, straggler: duration > factor * usual, detected: task["det"].as_f64() }
        });
        let quality = Quality::of(tasks);
        let computed = json!({
            "detected": quality.detected,
            "stragglers": quality.stragglers,
            "true_positive_raw": quality.true_positives,
            "fake_positive": quality.fakes,
            "false_positive": quality.false_positives(),
            "false_negative": quality.false_negatives(),
            "precision": quality.precision(),
            "precision_raw": quality.precision_raw(),
            "recall": quality.recall(),
            "recall_strict": quality.recall_strict(),
            "detection_latency": quality.detection_latency(),
            "undetected_time": quality.undetected_time(),
            "fake_positive_ratio": quality.fake_positive_ratio(),
        });
        check(&case, &computed);
    }
}

fn power(input: &Value) -> Power {
    Power { static_watts: number(&input["p_static"]), dynamic_watts: number(&input["p_dyn"]) }
}

#[test]
fn oracle_power() {
    for case in cases("power") {
        let natural = |key: &str| case.input[key].as_u64().unwrap();
        let watts = power(&case.input).of_machine(natural("n"), natural("c"), natural("t"));
        check(&case, &json!({ "watts": watts }));
    }
}

#[test]
fn oracle_foa() {
    for case in cases("foa") {
        let ratio = |key: &str| case.input[key].as_f64();
        let ratios = (ratio("precision"), ratio("recall"));
        let (latency, undetected) = (ratio("detection_latency"), ratio("undetected_time"));
        let input = Input::of_ratios(number(&case.input["alpha"]), ratios, latency, undetected).unwrap();
        let model = FirstOrder::of(&input);
        let computed = json!({
            "p_det_straggler": model.detected_stragglers.probability,
            "p_undet_straggler": model.undetected_stragglers.probability,
            "p_false_positive": model.false_positives.probability,
            "p_true_negative": model.true_negatives.probability,
            "valid": model.is_valid(),
            "expected_time": model.expected_time(),
            "expected_energy_units": model.expected_energy(),
            "expected_energy_w": model.expected_watts(&power(&case.input)),
        });
        check(&case, &computed);
    }
}

#[test]
fn oracle_eps_guess() {
    for case in cases("eps_guess") {
        let error = GuessError::of(number(&case.input["s_min"]), number(&case.input["eps_setting"]));
        let computed = json!({
            "exists": error.exists,
            "from_eq11": error.from_stragglers,
            "from_eq12": error.from_others,
            "eps_guess_max": error.greatest(),
            "usable": error.is_usable(),
        });
        check(&case, &computed);
    }
}

#[test]
fn oracle_default_detector() {
    for case in cases("default_detector") {
        let pool = match case.input["pool"].as_str().unwrap() {
            "all" => Pool::All,
            "launched" => Pool::Launched,
            "running" => Pool::Running,
            other => panic!("{}: {other}", case.id),
        };
        let running = numbers(&case.input["running"]);
        let gap = number(&case.input["thr"]);
        let average = pool
            .average(count(&case.input["finished"]), count(&case.input["pending"]), running.iter().copied())
            .unwrap();
        let flags: Vec<bool> = running.iter().map(|&progress| is_behind(progress, average, gap)).collect();
        check(&case, &json!({ "avg": average, "flags": flags }));
    }
}

#[test]
fn oracle_late_detector() {
    for case in cases("late_detector") {
        let variant = match case.input["variant"].as_str().unwrap() {
            "mean_minus_sd" => Variant::MeanMinusSd,
            "printed" => Variant::Printed,
            "relative_cv" => Variant::RelativeCv,
            "p25" => Variant::P25,
            "mean_minus_capped_sd" => Variant::MeanMinusCappedSd,
            other => panic!("{}: {other}", case.id),
        };
        let rates = numbers(&case.input["rates"]);
        let (mean, sd) = mean_and_sd(&rates).unwrap();
        let threshold = variant.threshold(&rates, number(&case.input["alpha"])).unwrap();
        let flags: Vec<bool> = rates.iter().map(|&rate| is_slow(rate, threshold)).collect();
        check(&case, &json!({ "mean": mean, "sd": sd, "threshold": threshold, "flags": flags }));
    }
}

#[test]
fn oracle_hierarchical() {
    for case in cases("hierarchical") {
        let mean = match case.input["avg"].as_str().unwrap() {
            "node" => ClusterMean::Nodes,
            "task" => ClusterMean::Tasks,
            other => panic!("{}: {other}", case.id),
        };
        let tasks = list(&case.input["tasks"]);
        let mut names: Vec<&str> = Vec::new();
        for task in tasks {
            let name = task["node"].as_str().unwrap();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let node = |task: &Value| {
            let name = task["node"].as_str().unwrap();
            u32::try_from(names.iter().position(|&other| other == name).unwrap()).unwrap()
        };
        let speeds = tasks.iter().map(|task| {
            let of = |key: &str| number(&task[key]);
            (node(task), speed(of("progress"), of("size"), of("elapsed")).unwrap())
        });
        let performance = Performance::of(speeds, mean).unwrap();
        let fraction = number(&case.input["frac"]);
        let flags: Vec<bool> = tasks
            .iter()
            .zip(list(&case.input["flags"]))
            .map(|(task, flag)| flag.as_bool().unwrap() && performance.is_slow(node(task), fraction))
            .collect();
        let named = performance
            .nodes
            .iter()
            .map(|&(node, speed)| (names[usize::try_from(node).unwrap()].to_owned(), json!(speed)));
        let perf: serde_json::Map<String, Value> = named.collect();
        check(&case, &json!({ "perf": perf, "cluster": performance.cluster, "flags": flags }));
    }
}

#[test]
fn oracle_mr2_legacy() {
    for case in cases("mr2_legacy") {
        let completed = numbers(&case.input["completed"]);
        let total = count(&case.input["total"]);
        let whole = |value: &Value| value.as_i64().unwrap();
        let now = whole(&case.input["now"]);
        let running = list(&case.input["running"]);
        let worths: Vec<Worth> = running
            .iter()
            .map(|attempt| {
                if !gate_is_open(completed.len(), total) {
                    return Worth::OnSchedule;
                }
                let mean = completed.iter().sum::<f64>() / completed.len() as f64;
                let new_attempt = mean.as_i64();
                let start = whole(&attempt["start"]);
                let estimate =
                    legacy_estimate(start, whole(&attempt["update"]), number(&attempt["progress"]));
                Worth::of(start, estimate, new_attempt, now, count(&attempt["copies"]))
            })
            .collect();
        let values: Vec<Value> = worths
            .iter()
            .map(|worth| match worth {
                Worth::Saves(saving) => json!(saving),
                other => json!(other.name()),
            })
            .collect();
        let allowed = Caps::DEFAULT.allowed(total, running.len());
        let chosen = choose(&worths, count(&case.input["already"]), allowed);
        check(&case, &json!({ "values": values, "allowed": allowed, "chosen": chosen }));
    }
}

#[test]
fn oracle_spark_speculation() {
    for case in cases("spark_speculation") {
        let of = |key: &str| number(&case.input[key]);
        let mut durations: Vec<u64> =
            list(&case.input["durations"]).iter().map(|value| value.as_u64().unwrap()).collect();
        durations.sort_unstable();
        let rule = if case.input["median"] == "upper" { MedianRule::Upper } else { MedianRule::Ordinary };
        let needed = min_finished(of("quantile"), count(&case.input["num_tasks"]));
        let threshold = (durations.len() >= needed).then(|| {
            let median = rule.of(durations.len(), |rank| durations.get(rank).copied()).unwrap();
            threshold(of("multiplier"), median, of("min_task_runtime"))
        });
        let flags: Vec<bool> = numbers(&case.input["running"])
            .iter()
            .map(|&runtime| threshold.is_some_and(|threshold| runtime > threshold))
            .collect();
        check(&case, &json!({ "min_finished": needed, "threshold": threshold, "flags": flags }));
    }
}

#[test]
fn oracle_simple_exp_smoothing() {
    for case in cases("simple_exp_smoothing") {
        let start = case.input["start"].as_i64().unwrap();
        let skip = u32::try_from(case.input["skip"].as_u64().unwrap()).unwrap();
        let nothing = Smoothing::new(start, case.input["lambda_ms"].as_i64().unwrap(), skip);
        let smoothing = list(&case.input["readings"]).iter().fold(nothing, |smoothing, reading| {
            smoothing.after(reading[0].as_i64().unwrap(), number(&reading[1]))
        });
        let computed = json!({
            "forecast": smoothing.forecast().unwrap_or(-1.0),
            "estimated_runtime": smoothing.estimated_run_time(),
            "index": smoothing.count(),
        });
        check(&case, &computed);
    }
}

#[test]
fn oracle_mantri() {
    for case in cases("mantri") {
        let runs = numbers(&case.input["t_new"]);
        let saving = probability_of_saving(number(&case.input["t_rem"]), &runs, count(&case.input["c"]));
        let delta = number(&case.input["delta"]);
        let duplicate = saving.is_some_and(|saving| saving > delta);
        check(&case, &json!({ "prob": saving, "duplicate": duplicate }));
    }
}

#[test]
fn oracle_dolly() {
    for case in cases("dolly") {
        let tasks = case.input["n"].as_u64().unwrap();
        let copies = clones(tasks, number(&case.input["p"]), number(&case.input["eps"]));
        check(&case, &json!({ "copies": copies }));
    }
}

#[test]
fn oracle_offline_combined() {
    for case in cases("offline_combined") {
        let model = ProgressModel::polynomial(&numbers(&case.input["model"]));
        let diff = number(&case.input["diff"]);
        let progress = numbers(&case.input["progress"]);
        let elapsed = numbers(&case.input["elapsed"]);
        let least: Vec<f64> =
            elapsed.iter().map(|&elapsed| least_progress(|t| model.at(t), elapsed, diff)).collect();
        let offline: Vec<bool> =
            progress.iter().zip(&least).map(|(progress, least)| progress < least).collect();
        let online: Vec<bool> = match case.input["variant"].as_str().unwrap() {
            "median_half" => {
                let median = median(&progress).unwrap();
                progress.iter().map(|&progress| is_below_half(progress, median)).collect()
            }
            "avg_gap" => {
                let average = Pool::Running.average(0, 0, progress.iter().copied()).unwrap();
                let (gap, min_age) = (number(&case.input["gap"]), number(&case.input["min_run"]));
                let attempts = progress.iter().zip(&elapsed);
                attempts
                    .map(|(&progress, &elapsed)| is_behind_online(progress, elapsed, average, gap, min_age))
                    .collect()
            }
            other => panic!("{}: {other}", case.id),
        };
        let combined: Vec<bool> =
            offline.iter().zip(&online).map(|(offline, online)| *offline && *online).collect();
        check(&case, &json!({ "S": least, "offline": offline, "online": online, "combined": combined }));
    }
}
