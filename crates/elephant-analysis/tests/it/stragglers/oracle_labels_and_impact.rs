//! Labels, the DoS-index, impact statistics and progress curves, compared with expected values computed by other
//! tools.

use elephant_analysis::stragglers::impact::{Impact, JobImpact, JudgedGroup, JudgedTask};
use elephant_analysis::stragglers::labels::{Edge, Labelling, Reference, dos_index, is_dos_straggler};
use elephant_analysis::stragglers::progress::ProgressCurve;
use elephant_analysis::stragglers::usual::label_by_usual;
use elephant_base::stats::descriptive::pearson;
use serde_json::Value;

use super::oracle::{Case, cases, numbers, optional_numbers};

fn edge(input: &Value) -> Edge {
    match input["op"].as_str().unwrap() {
        ">" => Edge::Above,
        ">=" => Edge::From,
        other => panic!("{other}"),
    }
}

fn labelling(input: &Value) -> Labelling {
    let reference = match input["method"].as_str().unwrap() {
        "mean" => Reference::Mean,
        "median" => Reference::Median,
        other => panic!("{other}"),
    };
    Labelling { reference, factor: input["k"].as_f64().unwrap(), edge: edge(input), ..Labelling::MEDIAN }
}

#[test]
fn oracle_labels() {
    for case in cases("labels") {
        let durations = numbers(&case.input["dur"]);
        let labels: Vec<Option<bool>> = match case.input["method"].as_str().unwrap() {
            "usual" => {
                let usual = optional_numbers(&case.input["usual"]);
                let factor = case.input["k"].as_f64().unwrap();
                let label = |(&duration, usual)| label_by_usual(duration, usual, factor, edge(&case.input));
                durations.iter().zip(usual).map(label).collect()
            }
            "dos" => {
                let inputs = optional_numbers(&case.input["input"]);
                let tasks: Vec<(f64, Option<f64>)> = durations.iter().copied().zip(inputs).collect();
                let level = case.input["k"].as_f64().unwrap();
                dos_index(&tasks).into_iter().map(|index| Some(is_dos_straggler(index, level))).collect()
            }
            _ => labelling(&case.input).label(&durations).into_iter().map(Some).collect(),
        };
        case.check("labels", &serde_json::to_value(labels).unwrap());
    }
}

#[test]
fn oracle_dos_index() {
    for case in cases("dos_index") {
        let inputs = optional_numbers(&case.input["input"]);
        let tasks: Vec<(f64, Option<f64>)> = numbers(&case.input["dur"]).into_iter().zip(inputs).collect();
        let index = dos_index(&tasks);
        for (value, expected) in index.iter().zip(case.expected["dos"].as_array().unwrap()) {
            match (value, expected) {
                (Some(value), Value::Number(expected)) => {
                    case.close("dos", *value, expected.as_f64().unwrap());
                }
                (Some(value), Value::String(text)) => {
                    assert!(value.is_infinite() && text.to_lowercase().starts_with("inf"), "{}", case.id);
                }
                (None, Value::Null) => {}
                _ => panic!("{}: {value:?} is not {expected}", case.id),
            }
        }
        for (key, level) in [("ge_2_5", 2.5), ("ge_10", 10.0)] {
            let reached: Vec<bool> = index.iter().map(|&index| is_dos_straggler(index, level)).collect();
            case.check(key, &serde_json::to_value(reached).unwrap());
        }
    }
}

fn judged(job: &Value, labelling: Labelling) -> JudgedGroup {
    let tasks = job.as_array().unwrap();
    let durations: Vec<f64> = tasks.iter().map(|task| task["dur"].as_f64().unwrap()).collect();
    let labels = labelling.label(&durations);
    let task = |((task, straggler), &duration): ((&Value, bool), &f64)| JudgedTask {
        duration,
        straggler: Some(straggler),
        node: task["node"].as_str().map(str::to_owned),
    };
    JudgedGroup {
        limit: labelling.limit(&durations),
        tasks: tasks.iter().zip(labels).zip(&durations).map(task).collect(),
    }
}

#[test]
fn oracle_impact() {
    for case in cases("impact") {
        let labelling = labelling(&case.input);
        let jobs: Vec<JobImpact> = case.input["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| JobImpact::of([&judged(job, labelling)]))
            .collect();
        let impact = Impact::of(&jobs);
        let percent = |part: u64, whole: u64| (whole > 0).then(|| 100.0 * part as f64 / whole as f64);
        let count = |count: u64| Some(count as f64);
        let computed = [
            ("total_tasks", count(impact.tasks)),
            ("task_stragglers", count(impact.stragglers)),
            ("task_stragglers_pct", percent(impact.stragglers, impact.tasks)),
            ("total_jobs", count(impact.jobs)),
            ("job_stragglers", count(impact.jobs_hit)),
            ("job_stragglers_pct", percent(impact.jobs_hit, impact.jobs)),
            ("median_straggler_excess", impact.median_excess),
            ("median_job_delay", impact.median_job_delay),
            ("extra_compute_pct", impact.extra_compute.map(|share| 100.0 * share)),
            ("servers_total", count(impact.servers)),
            ("servers_with_stragglers", count(impact.servers_hit)),
            ("servers_with_stragglers_pct", percent(impact.servers_hit, impact.servers)),
        ];
        for (key, value) in computed {
            case.check_number(key, value);
        }
    }
}

/// The columns of table 2 are counts; its percentages follow from them.
#[test]
fn oracle_impact_table2() {
    for case in cases("impact_table2") {
        let rows = case.input["rows"].as_array().unwrap();
        for (row, expected) in rows.iter().zip(numbers(&case.expected["pct_2dp"])) {
            let row = numbers(row);
            case.close("pct_2dp", 100.0 * row[1] / row[0], expected);
        }
    }
}

#[test]
fn oracle_table3() {
    for case in cases("table3") {
        let rows: Vec<Vec<f64>> = case.input["rows"].as_array().unwrap().iter().map(numbers).collect();
        let column = |place: usize| -> Vec<f64> { rows.iter().map(|row| row[place]).collect() };
        let totals: Vec<f64> = (0..5).map(|place| column(place).iter().sum()).collect();
        for (total, expected) in totals.iter().zip(numbers(&case.expected["totals"])) {
            case.close("totals", *total, expected);
        }
        let exclusive = rows.iter().all(|row| (row[2] + row[3] + row[4] - row[1]).abs() < 0.5);
        case.check("exclusive_every_day", &exclusive.into());
        for (total, expected) in totals[2..].iter().zip(numbers(&case.expected["shares_pct"])) {
            case.close("shares_pct", 100.0 * total / totals[1], expected);
        }
        case.check_number("pearson_cpu_disk_daily_counts", pearson(&column(2), &column(3)));
    }
}

fn progress(case: &Case, curve: &ProgressCurve, start: f64) {
    for (moment, expected) in numbers(&case.input["t"]).into_iter().zip(numbers(&case.expected["progress"])) {
        case.close(&format!("progress at {moment}"), curve.at(moment - start), expected);
    }
}

#[test]
fn oracle_progress_by_clock_splits() {
    for case in cases("progress_clocksplits") {
        let splits: Vec<i32> = serde_json::from_value(case.input["splits"].clone()).unwrap();
        progress(&case, &ProgressCurve::of_splits(&splits).unwrap(), 0.0);
    }
}

#[test]
fn oracle_progress_by_phases_of_a_reduce() {
    for case in cases("progress_reduce") {
        let time = |key: &str| case.input[key].as_f64().unwrap();
        let (start, shuffle) = (time("start"), time("shuffle"));
        let curve = ProgressCurve::of_reduce(start, shuffle, time("sort"), time("finish")).unwrap();
        progress(&case, &curve, start);
    }
}
