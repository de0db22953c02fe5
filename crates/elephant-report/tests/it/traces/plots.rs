//! Box plots and distributions, compared with those that are computed here from the nodes and the lines alone.

use std::collections::BTreeMap;
use std::path::Path;

use elephant_base::limits::Limits;
use elephant_engine::conditions::Conditions;
use elephant_engine::engine::{Filter, Progress};
use elephant_engine::nodes::{self, Node, NodeTypes, NodesReport, Settings as NodeSettings};
use elephant_report::TextOptions;
use elephant_report::nodes::{write_html, write_json, write_text};
use elephant_report::stragglers::{Shown, write_json as write_survey};
use serde_json::Value;

use super::{ALL, SMALL, Size, Trace, rows, survey_of, write};

fn nodes_of(path: &Path, types: &NodeTypes) -> NodesReport {
    let paths = [path.to_owned()];
    let selected = (Filter::default(), Conditions::default());
    let (limits, progress) = (Limits::default(), Progress::default());
    nodes::report_of(paths.as_slice().into(), NodeSettings::default(), types, selected, &limits, &progress)
}

/// The value below which a quarter of the others lie, and so on, by walking between two neighbours.
fn quartile(sorted: &[f64], quarters: usize) -> f64 {
    let (place, rest) = (quarters * (sorted.len() - 1) / 4, quarters * (sorted.len() - 1) % 4);
    let next = sorted.get(place + 1).copied().unwrap_or(sorted[place]);
    sorted[place] + (next - sorted[place]) * rest as f64 / 4.0
}

/// Compares a box plot with the values.
fn compare(plot: &Value, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    assert_eq!(plot["nodes_count"], values.len());
    for (key, quarters) in
        [("minimum", 0), ("first_quartile", 1), ("median", 2), ("third_quartile", 3), ("maximum", 4)]
    {
        let found = plot[key].as_f64().unwrap();
        assert!((found - quartile(&values, quarters)).abs() < 1e-9, "{key} {plot} {values:?}");
    }
    let reach = 1.5 * (quartile(&values, 3) - quartile(&values, 1));
    let beyond =
        |value: &&f64| **value < quartile(&values, 1) - reach || **value > quartile(&values, 3) + reach;
    assert_eq!(plot["outliers_count"], values.iter().filter(beyond).count());
}

#[test]
fn boxes_by_capacity_follow_from_the_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let size = Size { jobs: 120, tasks: 12_000, machines: 60, days: 2, seed: 3 };
    let path = write(Trace::Google2011, size, folder.path());
    let machines: BTreeMap<String, usize> = rows(&path, "machine_events")
        .into_iter()
        .enumerate()
        .map(|(place, row)| (row[1].clone(), place))
        .collect();
    // Three types, and a machine that has one for itself.
    let kind = |place: usize| if place == 0 { "single".to_owned() } else { format!("type {}", place % 3) };
    let types: Vec<String> =
        machines.iter().map(|(name, place)| format!("{name},{}\n", kind(*place))).collect();
    let file = folder.path().join("types.csv");
    std::fs::write(&file, types.concat()).unwrap();
    let report = nodes_of(&path, &NodeTypes::read(&file).unwrap());
    let mut json = Vec::new();
    write_json(&report, None, &mut json).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let types = json["summary"]["types"].as_array().unwrap();
    assert_eq!(types.len(), 4, "{types:?}");
    assert_eq!(types[0]["node_mean_box_z"]["nodes_count"], 1);
    for kind in types {
        let members: Vec<&Node> = report
            .ranking
            .nodes
            .iter()
            .filter(|node| node.kind.as_deref() == kind["type"].as_str())
            .collect();
        compare(&kind["node_mean_box_z"], members.iter().filter_map(|node| node.mean).collect());
        let extreme = members.iter().filter_map(|node| node.extreme_value).collect();
        compare(&kind["node_extreme_value_box_ratio"], extreme);
    }
    let mut text = Vec::new();
    write_text(&report, TextOptions::default(), None, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("mean z of nodes, by type") && text.contains("z>2 on nodes, by type"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let mut html = Vec::new();
    write_html(&report, None, &mut html).unwrap();
    let html = String::from_utf8(html).unwrap();
    assert_eq!(html.matches("<table class=\"bars boxes\">").count(), 2);
}

#[test]
fn nodes_without_types_have_no_boxes() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(Trace::Google2011, SMALL, folder.path());
    let report = nodes_of(&path, &NodeTypes::default());
    assert!(report.ranking.summary.types.is_empty() && report.ranking.summary.racks.is_empty());
    let mut text = Vec::new();
    write_text(&report, TextOptions::default(), None, &mut text).unwrap();
    assert!(!String::from_utf8(text).unwrap().contains("mean z of nodes"));
}

/// Start, end and node of each successful task of a job of Google's trace, which are one group.
type Runs = BTreeMap<String, Vec<(u64, u64, String)>>;

fn google(folder: &Path) -> Runs {
    let mut scheduled: BTreeMap<(String, String), (u64, String)> = BTreeMap::new();
    let mut runs = Runs::new();
    for row in rows(folder, "task_events") {
        let (key, millis) = ((row[2].clone(), row[3].clone()), row[0].parse::<u64>().unwrap() / 1000);
        match (row[5].as_str(), millis) {
            ("1", 0) | ("2" | "3", _) => drop(scheduled.remove(&key)),
            ("1", _) => drop(scheduled.insert(key, (millis, row[4].clone()))),
            ("4", _) => {
                if let Some((start, node)) = scheduled.remove(&key) {
                    runs.entry(row[2].clone()).or_default().push((start, millis, node));
                }
            }
            _ => {}
        }
    }
    runs.retain(|_, runs| runs.len() > 1);
    runs
}

#[test]
fn delays_and_stragglers_per_node_follow_from_the_lines() {
    let folder = tempfile::tempdir().unwrap();
    let size = Size { jobs: 150, tasks: 6000, ..SMALL };
    let path = write(Trace::Google2011, size, folder.path());
    let (mut delays, mut per_node) = (Vec::new(), BTreeMap::<String, u64>::new());
    for runs in google(&path).values() {
        let mut times: Vec<f64> = runs.iter().map(|(start, end, _)| (end - start) as f64).collect();
        times.sort_by(f64::total_cmp);
        let median = quartile(&times, 2);
        let is_straggler =
            |&(start, end, _): &(u64, u64, String)| median > 0.0 && (end - start) as f64 >= 1.5 * median;
        for run in runs {
            *per_node.entry(run.2.clone()).or_default() += u64::from(is_straggler(run));
        }
        let (slow, usual): (Vec<_>, Vec<_>) = runs.iter().cloned().partition(is_straggler);
        if slow.is_empty() {
            continue;
        }
        // Each millisecond in which a straggler runs after all others have ended.
        let first = runs.iter().map(|run| run.0).min().unwrap();
        let last = runs.iter().map(|run| run.1).max().unwrap();
        let others = usual.iter().map(|run| run.1).max().unwrap();
        let later = slow.iter().filter(|run| run.1 > others);
        let waited = later.map(|run| run.0).min().map_or(0, |start| last.saturating_sub(start.max(others)));
        delays.push(waited as f64 / (last - first - waited) as f64);
    }
    let mut json = Vec::new();
    write_survey(&survey_of(&path), Shown::default(), &mut json).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let impact = &json["total"]["impact"]["median"];
    assert!(delays.len() > 20, "{delays:?}");
    assert_eq!(impact["application_delays"]["applications_count"], delays.len());
    for step in impact["application_delays"]["histogram"].as_array().unwrap() {
        let (above, to) = (step["above_ratio"].as_f64().unwrap_or(-1.0), step["to_ratio"].as_f64());
        let inside = delays.iter().filter(|&&delay| delay > above && to.is_none_or(|to| delay <= to));
        assert_eq!(step["applications_count"], inside.count(), "{step} {delays:?}");
    }
    let mut sorted = delays;
    sorted.sort_by(f64::total_cmp);
    let median = impact["application_delays"]["quantiles_ratio"]["median"].as_f64().unwrap();
    assert!((median - quartile(&sorted, 2)).abs() < 1e-9);
    for step in impact["stragglers_per_server"]["histogram"].as_array().unwrap() {
        let range = step["from_count"].as_u64().unwrap()..=step["to_count"].as_u64().unwrap();
        let inside = per_node.values().filter(|count| range.contains(count));
        assert_eq!(step["servers_count"], inside.count(), "{step} {per_node:?}");
    }
}

#[test]
fn every_task_is_counted_or_named_as_not_counted() {
    for trace in ALL {
        let folder = tempfile::tempdir().unwrap();
        let size = Size { jobs: 150, tasks: 6000, ..SMALL };
        let path = write(trace, size, folder.path());
        let report = survey_of(&path);
        let total = &report.total;
        // An instance has a line for each try.
        let ids: std::collections::BTreeSet<Vec<String>> = match trace {
            Trace::Google2011 => {
                rows(&path, "task_events").into_iter().map(|row| row[2..4].to_vec()).collect()
            }
            Trace::Alibaba2018 => {
                rows(&path, "batch_instance").into_iter().map(|row| row[..4].to_vec()).collect()
            }
            // Instances of 2017 have no number.
            Trace::Alibaba2017 => continue,
        };
        for impact in [&total.by_median, &total.by_mean] {
            let all = impact.tasks + impact.undetermined + total.unfinished + total.in_small_groups;
            assert_eq!(all, ids.len() as u64, "{trace:?}");
        }
        assert!(trace != Trace::Google2011 || total.unfinished > 3, "{}", total.unfinished);
    }
}
