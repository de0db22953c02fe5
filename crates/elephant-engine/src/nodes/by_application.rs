//! The work of one application on each node, for databases of applications. Sums over many applications rank
//! nodes without reading their histories again.

use elephant_base::whole::Whole;
use std::collections::BTreeMap;

use super::collect::{Hosts, Sample};
use super::run::Host;
use super::settings::Settings;
use crate::conditions::Conditions;
use crate::results::NodeWork;
use elephant_model::model::Application;
use elephant_model::model::table::{Outcome, TaskKind};

/// Z-scores are counted in millionths.
pub(crate) const MICRO: f64 = 1e6;

/// The nodes of an application in the order of their names.
#[must_use]
pub fn work_by_node(app: &Application) -> Vec<NodeWork> {
    let hosts = Hosts::default();
    let sample = Sample::of(app, &hosts, &Settings::default(), &Conditions::default());
    let mut nodes: BTreeMap<Box<str>, NodeWork> = BTreeMap::new();
    add_attempts(app, &mut nodes);
    let names: BTreeMap<Host, Box<str>> =
        hosts.into_sorted().into_iter().map(|(name, _, host)| (host, name)).collect();
    let mut add = |host: &Host, add: &dyn Fn(&mut NodeWork)| {
        if let Some(name) = names.get(host) {
            add(nodes.entry(name.clone()).or_default());
        }
    };
    for row in &sample.rows {
        add(&row.host, &|node| {
            node.compared += 1;
            node.stragglers += u64::from(row.straggler);
            node.score = node.score.saturating_add(micros(row.score));
            node.squares = node.squares.saturating_add(micros(row.score * row.score));
        });
    }
    for (host, losses) in &sample.losses {
        add(host, &|node| {
            node.lost_executors += losses.executors;
            node.node_failures += losses.failures;
        });
    }
    nodes.into_iter().map(|(name, node)| NodeWork { node: name.into(), ..node }).collect()
}

/// Counts all attempts that did work, in groups of any size.
fn add_attempts(app: &Application, nodes: &mut BTreeMap<Box<str>, NodeWork>) {
    for group in &app.groups {
        if matches!(group.kind, TaskKind::Setup | TaskKind::Cleanup) {
            continue;
        }
        let attempts = &group.attempts;
        for row in 0..attempts.len() {
            let Some(name) = attempts.node(row).and_then(|node| app.strings.get(node)) else { continue };
            if !nodes.contains_key(name) {
                nodes.insert(name.into(), NodeWork::default());
            }
            let Some(node) = nodes.get_mut(name) else { continue };
            node.attempts += 1;
            node.failed += u64::from(attempts.outcome(row) == Outcome::Failed);
            let time = attempts.run_time(row);
            node.task_time = time.into_iter().chain(node.task_time).reduce(|a, b| a + b);
        }
    }
}

fn micros(value: f64) -> i64 {
    (value * MICRO).round().as_i64()
}

/// Mean and standard deviation (with `n - 1`) of `n` z-scores, from their sum and the sum of their squares.
#[must_use]
pub fn mean_and_deviation(n: u64, score: i64, squares: i64) -> (Option<f64>, Option<f64>) {
    if n == 0 {
        return (None, None);
    }
    let count = n as f64;
    let mean = score as f64 / MICRO / count;
    let spread = squares as f64 / MICRO - count * mean * mean;
    (Some(mean), (n > 1).then(|| (spread.max(0.0) / (count - 1.0)).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::stats::descriptive::{mean, standard_deviation};

    #[test]
    fn sums_give_the_mean_and_deviation_of_the_values() {
        let values = [-1.5, 0.25, 0.5, 2.0];
        let (score, squares) =
            values.iter().fold((0, 0), |(sum, squares), z| (sum + micros(*z), squares + micros(z * z)));
        let (centre, deviation) = mean_and_deviation(4, score, squares);
        assert!((centre.unwrap() - mean(&values).unwrap()).abs() < 1e-6);
        assert!((deviation.unwrap() - standard_deviation(&values, 1).unwrap()).abs() < 1e-6);
        assert_eq!(mean_and_deviation(0, 0, 0), (None, None));
        assert_eq!(mean_and_deviation(1, 5, 0), (Some(5e-6), None));
    }
}
