//! What nodes did, over all applications of a store.

use super::database::{Row, Value};
use super::selection::Selection;
use super::{Store, StoreError};
use elephant_base::stats::student;
use elephant_base::units::Millis;
use elephant_engine::nodes::levels::{Interval, levels};
use elephant_engine::nodes::{Settings, mean_and_deviation};

/// The sums of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeSums {
    /// The name, as logged.
    pub name: String,
    /// Applications that ran on it.
    pub applications: u64,
    /// Attempts of tasks that ran on it.
    pub attempts: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// `None` if the times of no attempt are known.
    pub task_time: Option<Millis>,
    /// Executors that were lost, not because of memory and not on purpose.
    pub lost_executors: u64,
    /// Other failures that messages blame on the node.
    pub node_failures: u64,
    /// Successful attempts that were compared with others of their groups.
    pub compared: u64,
    /// Stragglers among the compared attempts.
    pub stragglers: u64,
    /// The mean z-score of the compared attempts; `None` without any.
    pub mean: Option<f64>,
    /// The confidence interval of the mean; `None` with too few tasks.
    pub interval: Option<Interval>,
    /// 0 for the slowest; `None` with too few tasks.
    pub level: Option<u32>,
    /// Whether its tasks are significantly and clearly slower than others, and no node is slower.
    pub is_slow: bool,
}

/// Nodes, the slowest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nodes {
    /// The nodes that are shown.
    pub nodes: Vec<NodeSums>,
    /// How many nodes there are, shown or not.
    pub of: u64,
    /// How many of them are slow, shown or not.
    pub slow: u64,
    /// Applications whose nodes are unknown, and which are missing in the sums.
    pub unknown: u64,
}

impl NodeSums {
    /// The share of stragglers among tasks that were compared with others.
    #[must_use]
    pub fn straggler_share(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.stragglers as f64 / self.compared as f64)
    }

    fn of(row: &Row<'_>, settings: &Settings) -> Result<Self, StoreError> {
        let compared = row.count(8)?;
        let (mean, deviation) = mean_and_deviation(compared, row.get(10)?, row.get(11)?);
        let interval = student::interval_of_mean(mean, deviation, compared, settings.confidence);
        Ok(Self {
            name: row.get(0)?,
            applications: row.count(1)?,
            attempts: row.count(2)?,
            failed: row.count(3)?,
            task_time: if row.count(5)? > 0 { Some(Millis::new(row.count(4)?)) } else { None },
            lost_executors: row.count(6)?,
            node_failures: row.count(7)?,
            compared,
            stragglers: row.count(9)?,
            mean,
            interval: interval.map(|(low, high)| Interval { low, high }),
            level: None,
            is_slow: false,
        })
    }
}

impl Store {
    /// The nodes of the selected applications, at most `most` of them.
    pub(super) fn nodes(&self, selection: &Selection, most: usize) -> Result<Nodes, StoreError> {
        let unknown = self.database.count(
            &format!("SELECT count(*) FROM application WHERE {} AND nodes IS NULL", selection.condition),
            &selection.values,
        )?;
        let settings = Settings::default();
        let mut nodes = if let Some(days) = &selection.days {
            let table = if days.are_all() { "node_sum" } else { "node_day" };
            self.node_sums((KEPT, table), &days.condition(1), &days.values(), &settings)?
        } else {
            let (chosen, values) = self.database.backend().chosen(&selection.condition, &selection.values)?;
            self.node_sums(
                (OF_APPLICATIONS, "node_work"),
                &format!("application {chosen}"),
                &values,
                &settings,
            )?
        };
        rank(&mut nodes, &settings);
        let (of, slow) = (nodes.len() as u64, nodes.iter().filter(|node| node.is_slow).count() as u64);
        nodes.truncate(most);
        Ok(Nodes { nodes, of, slow, unknown })
    }

    fn node_sums(
        &self,
        ((counted, timed, task_time), table): ((&str, &str, &str), &str),
        condition: &str,
        values: &[Value<'_>],
        settings: &Settings,
    ) -> Result<Vec<NodeSums>, StoreError> {
        let sums = ["attempts", "failed", task_time, timed, "lost_executors", "node_failures", "compared"];
        let sums = sums.into_iter().chain(["stragglers", "score", "squares"]);
        let sums: Vec<String> = sums.map(|sum| format!("CAST(sum({sum}) AS BIGINT)")).collect();
        // Names are looked up for the sums, not for each row.
        let mut nodes = self.database.rows(
            &format!(
                "SELECT (SELECT name FROM node WHERE node.node = {table}.node), CAST(sum({counted}) AS BIGINT), {} FROM \
                 {table} WHERE {condition} GROUP BY node",
                sums.join(", ")
            ),
            values,
            |row| NodeSums::of(row, settings),
        )?;
        nodes.retain(|node| node.applications > 0);
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(nodes)
    }
}

/// The terms that are added up from kept sums: applications, those whose times are known, and their times.
const KEPT: (&str, &str, &str) = ("applications", "timed", "task_time");
/// The same terms for single applications.
const OF_APPLICATIONS: (&str, &str, &str) =
    ("1", "CASE WHEN task_time IS NULL THEN 0 ELSE 1 END", "coalesce(task_time, 0)");

/// Ranks nodes as the command `nodes` does, and sorts them: those with a level first, the slowest first.
fn rank(nodes: &mut [NodeSums], settings: &Settings) {
    let rankable = |node: &NodeSums| node.interval.filter(|_| node.compared >= settings.min_node_tasks);
    let intervals: Vec<Interval> = nodes.iter().filter_map(rankable).collect();
    let mut found = levels(&intervals).into_iter();
    for node in nodes.iter_mut() {
        node.level = rankable(node).and_then(|_| found.next());
        let is_clear = node.mean.is_some_and(|mean| mean >= settings.slow_mean);
        let is_significant = node.interval.is_some_and(|interval| interval.low > 0.0);
        node.is_slow = node.level == Some(0) && is_significant && is_clear;
    }
    nodes.sort_by(|a, b| {
        let mean = |node: &NodeSums| node.mean.unwrap_or(f64::NEG_INFINITY);
        (a.level.is_none(), a.level)
            .cmp(&(b.level.is_none(), b.level))
            .then_with(|| mean(b).total_cmp(&mean(a)))
            .then_with(|| a.name.cmp(&b.name))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Only;
    use crate::testing::with_stores;
    use elephant_base::units::Timestamp;
    use elephant_base::whole::Whole;
    use elephant_engine::engine::Filter;
    use elephant_engine::results::{ApplicationReport, NodeWork};

    const HOUR: i64 = 3_600_000;

    /// An application that ran 40 tasks on each of these nodes, whose z-scores have this mean and a deviation of 1.
    fn app(id: &str, submitted: i64, nodes: &[(&str, f64)]) -> ApplicationReport {
        let mut app = ApplicationReport::blank(id);
        app.sources = vec![format!("logs/{id}")];
        app.user = Some("etl".to_owned());
        app.submitted_at = Some(Timestamp::from_millis(submitted));
        let work = |&(node, mean): &(&str, f64)| NodeWork {
            node: node.to_owned(),
            attempts: 41,
            failed: 1,
            task_time: Some(Millis::from_secs(400)),
            compared: 40,
            stragglers: 4,
            score: (40.0 * mean * 1e6).as_i64(),
            squares: ((39.0 + 40.0 * mean * mean) * 1e6).as_i64(),
            ..NodeWork::default()
        };
        app.nodes = nodes.iter().map(work).collect();
        app
    }

    fn nodes(store: &Store, filter: &Filter) -> Nodes {
        store.nodes(&Selection::of(&store.database, filter, Only::ALL).unwrap(), 9).unwrap()
    }

    #[test]
    fn a_slow_node_is_first_and_sums_of_days_are_those_of_applications() {
        let apps: Vec<_> = (0..5)
            .map(|n| app(&format!("app_{n}"), n * 10 * HOUR, &[("n1", -0.4), ("n2", 1.2), ("n3", -0.4)]))
            .collect();
        with_stores(&apps, |store| {
            let all = nodes(store, &Filter::default());
            let [slow, n1, n3] = &all.nodes[..] else { panic!("{all:?}") };
            assert_eq!((&*slow.name, slow.level, slow.is_slow), ("n2", Some(0), true));
            assert_eq!((&*n1.name, &*n3.name, n1.is_slow, n3.is_slow), ("n1", "n3", false, false));
            assert_eq!((slow.applications, slow.attempts, slow.failed), (5, 205, 5));
            assert_eq!((slow.task_time, slow.straggler_share()), (Some(Millis::from_secs(2000)), Some(0.1)));
            assert!((slow.mean.unwrap() - 1.2).abs() < 1e-6);
            assert_eq!((all.of, all.slow, all.unknown), (3, 1, 0));
            // A filter of users reads the applications themselves.
            let users = Filter { users: vec!["e*".parse().unwrap()], ..Filter::default() };
            assert_eq!(nodes(store, &users), all);
            // Days are whole, or the applications themselves are read.
            let since = |ms| Filter { since: Some(Timestamp::from_millis(ms)), ..Filter::default() };
            let count = |filter: &Filter| nodes(store, filter).nodes[0].applications;
            assert_eq!(
                (count(&since(24 * HOUR)), count(&since(24 * HOUR + 1)), count(&since(30 * HOUR + 1))),
                (2, 2, 1)
            );
            let until = Filter { until: Some(Timestamp::from_millis(24 * HOUR)), ..Filter::default() };
            assert_eq!(count(&until), 3);
        });
    }

    #[test]
    fn an_application_that_is_read_again_or_is_a_copy_counts_once() {
        let first = app("app_1", 0, &[("n1", 0.0), ("n2", 0.0)]);
        let again = app("app_1", 0, &[("n1", 0.0)]);
        let copy = ApplicationReport { sources: vec!["logs/copy".to_owned()], ..again.clone() };
        with_stores(&[first, again, copy], |store| {
            let nodes = nodes(store, &Filter::default());
            assert_eq!(
                nodes.nodes.iter().map(|node| (&*node.name, node.applications)).collect::<Vec<_>>(),
                [("n1", 1)]
            );
        });
    }

    #[test]
    fn applications_without_nodes_are_told() {
        let mut unknown = app("app_2", -1, &[]);
        unknown.submitted_at = None;
        with_stores(&[app("app_1", 0, &[("n1", 0.0)]), unknown], |store| {
            let nodes = nodes(store, &Filter::default());
            assert_eq!((nodes.of, nodes.unknown), (1, 1));
        });
    }
}
