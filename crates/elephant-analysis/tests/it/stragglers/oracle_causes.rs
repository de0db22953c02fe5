//! Oracle cases on causes: the components that explain a straggler, and the shares in table 3 of S2.

use elephant_analysis::stragglers::cause::counterfactual::{ComparedTask, Comparison};
use elephant_analysis::stragglers::cause::shares_percent;
use elephant_base::stats::descriptive::pearson;
use serde_json::Value;

fn cases(category: &str) -> Vec<Value> {
    let Some(path) = elephant_testing::shared("oracle/stragglers.json") else { return Vec::new() };
    let oracle: Value = serde_json::from_slice(&elephant_testing::contents(&path)).unwrap();
    let cases: Vec<Value> = oracle["cases"].as_array().unwrap().clone();
    let cases: Vec<Value> = cases.into_iter().filter(|case| case["category"] == category).collect();
    assert!(!cases.is_empty(), "no cases of {category}");
    cases
}

/// The last task is the straggler.
#[test]
fn oracle_attribution() {
    for case in cases("attribution") {
        let id = case["id"].as_str().unwrap();
        let tasks = case["input"]["tasks"].as_array().unwrap();
        let compared = |task: &Value| ComparedTask {
            duration: task["dur"].as_f64().unwrap(),
            input: task["input"].as_f64(),
            comparable: true,
        };
        let factor = case["input"]["k"].as_f64().unwrap();
        let comparison = Comparison::new(tasks.iter().map(compared).collect(), factor);
        let last = tasks.len() - 1;
        let verdict = comparison.verdict(last);
        let expected = &case["expected"]["result"];
        assert_eq!(Some(verdict.slow), expected["duration_straggler"].as_bool(), "{id}");
        assert_eq!(Some(verdict.slow_for_input), expected["rate_straggler"].as_bool(), "{id}");
        assert_eq!(Some(verdict.explained_by_input()), expected["explained_by_input"].as_bool(), "{id}");

        let names =
            tasks[last].as_object().unwrap().keys().filter(|name| !matches!(name.as_str(), "dur" | "input"));
        let explains = |name: &&String| {
            let times: Vec<Option<f64>> = tasks.iter().map(|task| task[name.as_str()].as_f64()).collect();
            let component = comparison.component(&times);
            verdict.slow_for_input
                && comparison.without(last, &component).is_some_and(|without| without.explains())
        };
        let mut explained_by: Vec<&str> = names.filter(explains).map(String::as_str).collect();
        explained_by.sort_unstable();
        let mut wanted: Vec<&str> =
            expected["explained_by"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        wanted.sort_unstable();
        assert_eq!(explained_by, wanted, "{id}");
    }
}

/// The causes in the table are mutually exclusive, like primary causes.
#[test]
fn oracle_table3() {
    for case in cases("table3") {
        let (id, tol) = (case["id"].as_str().unwrap(), case["tol"].as_f64().unwrap());
        let rows: Vec<Vec<u64>> = serde_json::from_value(case["input"]["rows"].clone()).unwrap();
        let column = |place: usize| -> Vec<u64> { rows.iter().map(|row| row[place]).collect() };
        let totals: Vec<u64> = (0..5).map(|place| column(place).iter().sum()).collect();
        let expected: Vec<u64> = serde_json::from_value(case["expected"]["totals"].clone()).unwrap();
        assert_eq!(totals, expected, "{id}");
        let exclusive = rows.iter().all(|row| row[2] + row[3] + row[4] == row[1]);
        assert_eq!(Some(exclusive), case["expected"]["exclusive_every_day"].as_bool(), "{id}");
        let shares: Vec<f64> = serde_json::from_value(case["expected"]["shares_pct"].clone()).unwrap();
        for (share, expected) in shares_percent(&totals[2..]).iter().zip(shares) {
            assert!((share.unwrap() - expected).abs() < tol, "{id}: {share:?}");
        }
        let numbers = |place| column(place).into_iter().map(|count| count as f64).collect::<Vec<f64>>();
        let correlation = pearson(&numbers(2), &numbers(3)).unwrap();
        let expected = case["expected"]["pearson_cpu_disk_daily_counts"].as_f64().unwrap();
        assert!((correlation - expected).abs() < tol, "{id}: {correlation}");
    }
}
