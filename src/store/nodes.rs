//! What nodes did, over all applications of a store.

use rusqlite::{Row, ToSql};

use super::selection::Selection;
use super::{Store, StoreError};
use crate::engine::Filter;
use crate::nodes::levels::{Interval, levels};
use crate::nodes::{Settings, mean_and_deviation};
use crate::stats::student;
use crate::units::{Millis, Timestamp};

const MS_PER_DAY: i64 = 86_400_000;

/// The sums of one node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeSums {
    pub(crate) name: String,
    pub(crate) applications: u64,
    pub(crate) attempts: u64,
    pub(crate) failed: u64,
    /// `None` if the times of no attempt are known.
    pub(crate) task_time: Option<Millis>,
    pub(crate) lost_executors: u64,
    pub(crate) node_failures: u64,
    /// Successful attempts that were compared with others of their groups.
    pub(crate) compared: u64,
    pub(crate) stragglers: u64,
    /// The mean z-score of those, and its interval.
    pub(crate) mean: Option<f64>,
    pub(crate) interval: Option<Interval>,
    /// 0 for the slowest; `None` with too few tasks.
    pub(crate) level: Option<u32>,
    /// Whether its tasks are significantly and clearly slower than others, and no node is slower.
    pub(crate) is_slow: bool,
}

/// Nodes, the slowest first.
#[derive(Debug, Clone, PartialEq, Default)]
#[allow(clippy::struct_field_names)] // the nodes among what is known of them
pub(crate) struct Nodes {
    pub(crate) nodes: Vec<NodeSums>,
    /// How many nodes there are, shown or not.
    pub(crate) of: u64,
    /// How many of them are slow, shown or not.
    pub(crate) slow: u64,
    /// Applications whose nodes are unknown, and which are missing in the sums.
    pub(crate) unknown: u64,
}

impl NodeSums {
    /// The share of stragglers among tasks that were compared with others.
    pub(crate) fn straggler_share(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.stragglers as f64 / self.compared as f64)
    }

    fn of(row: &Row<'_>, settings: &Settings) -> rusqlite::Result<Self> {
        let number =
            |place: usize| Ok::<_, rusqlite::Error>(row.get::<_, i64>(place)?.max(0).cast_unsigned());
        let compared = number(8)?;
        let (mean, deviation) = mean_and_deviation(compared, row.get(10)?, row.get(11)?);
        let interval = student::interval_of_mean(mean, deviation, compared, settings.confidence);
        Ok(Self {
            name: row.get(0)?,
            applications: number(1)?,
            attempts: number(2)?,
            failed: number(3)?,
            task_time: if number(5)? > 0 { Some(Millis::new(number(4)?)) } else { None },
            lost_executors: number(6)?,
            node_failures: number(7)?,
            compared,
            stragglers: number(9)?,
            mean,
            interval: interval.map(|(low, high)| Interval { low, high }),
            level: None,
            is_slow: false,
        })
    }
}

impl Store {
    /// The nodes of the applications that `filter` admits, at most `most` of them.
    pub(super) fn nodes(&self, filter: &Filter, most: usize) -> Result<Nodes, StoreError> {
        let selection = Selection::of(&self.connection, filter)?;
        let unknown: i64 = self.connection.query_row(
            &format!("SELECT count(*) FROM application WHERE {} AND nodes IS NULL", selection.condition),
            &*selection.values(),
            |row| row.get(0),
        )?;
        let settings = Settings::default();
        let mut nodes = if let Some(days) = Days::of(filter) {
            self.node_sums(OF_DAYS, &days.condition(), &days.values(), &settings)?
        } else {
            let chosen =
                format!("application IN (SELECT application FROM application WHERE {})", selection.condition);
            self.node_sums(OF_APPLICATIONS, &chosen, &selection.values(), &settings)?
        };
        rank(&mut nodes, &settings);
        let (of, slow) = (nodes.len() as u64, nodes.iter().filter(|node| node.is_slow).count() as u64);
        nodes.truncate(most);
        Ok(Nodes { nodes, of, slow, unknown: unknown.max(0).cast_unsigned() })
    }

    fn node_sums(
        &self,
        sums: &str,
        condition: &str,
        values: &[&dyn ToSql],
        settings: &Settings,
    ) -> Result<Vec<NodeSums>, StoreError> {
        let mut statement = self.connection.prepare(&format!(
            "SELECT name, sums.* FROM ({sums} WHERE {condition} GROUP BY node) AS sums JOIN node USING (node) WHERE \
             applications > 0 ORDER BY name"
        ))?;
        let nodes = statement.query_map(values, |row| NodeSums::of(row, settings))?;
        Ok(nodes.collect::<Result<_, _>>()?)
    }
}

/// The sums that are kept for each day. The column of the node is needed for the join only.
const OF_DAYS: &str = "SELECT sum(applications) AS applications, sum(attempts), sum(failed), sum(task_time), sum(timed), \
     sum(lost_executors), sum(node_failures), sum(compared), sum(stragglers), sum(score), sum(squares), node FROM node_day";
/// The same from each application.
const OF_APPLICATIONS: &str = "SELECT count(*) AS applications, sum(attempts), sum(failed), sum(coalesce(task_time, 0)), \
     sum(task_time IS NOT NULL), sum(lost_executors), sum(node_failures), sum(compared), sum(stragglers), sum(score), \
     sum(squares), node FROM node_work";

/// Whole days, for which sums are kept.
struct Days<'f> {
    since: Option<i64>,
    until: Option<i64>,
    engine: Option<&'f str>,
}

impl<'f> Days<'f> {
    /// `None` if the filter admits only some applications of a day.
    fn of(filter: &'f Filter) -> Option<Self> {
        let whole = |moment: Option<Timestamp>| match moment.map(Timestamp::as_millis) {
            None => Some(None),
            Some(ms) => (ms >= 0 && ms % MS_PER_DAY == 0).then_some(Some(ms / MS_PER_DAY)),
        };
        let (since, until) = (whole(filter.since)?, whole(filter.until)?);
        let engine = filter.engine.map(crate::model::Engine::name);
        (!filter.has_patterns()).then_some(Self { since, until, engine })
    }

    fn condition(&self) -> String {
        let mut condition = String::from("true");
        let mut place = 0;
        let mut and = |test: &str, is_asked: bool| {
            if is_asked {
                place += 1;
                condition = format!("{condition} AND {test} ?{place}");
            }
        };
        and("day >=", self.since.is_some());
        and("day <", self.until.is_some());
        and("engine =", self.engine.is_some());
        // The day of unknown submissions is before all others.
        if self.until.is_some() { condition + " AND day >= 0" } else { condition }
    }

    fn values(&self) -> Vec<&dyn ToSql> {
        let Self { since, until, engine } = self;
        let numbers = [since, until].into_iter().flatten().map(|day| day as &dyn ToSql);
        numbers.chain(engine.iter().map(|engine| engine as &dyn ToSql)).collect()
    }
}

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
    use crate::results::{ApplicationReport, NodeWork};
    use crate::store::record;

    const HOUR: i64 = 3_600_000;

    /// An application that ran 40 tasks on each of these nodes, whose z-scores have this mean and a deviation of 1.
    fn app(id: &str, submitted: i64, nodes: &[(&str, f64)]) -> ApplicationReport {
        let mut app = ApplicationReport::blank(id);
        app.sources = vec![format!("logs/{id}")];
        app.user = Some("etl".to_owned());
        app.submitted_at = Some(Timestamp::from_millis(submitted));
        #[allow(clippy::cast_possible_truncation)]
        let work = |&(node, mean): &(&str, f64)| NodeWork {
            node: node.to_owned(),
            attempts: 41,
            failed: 1,
            task_time: Some(Millis::from_secs(400)),
            compared: 40,
            stragglers: 4,
            score: (40.0 * mean * 1e6) as i64,
            squares: ((39.0 + 40.0 * mean * mean) * 1e6) as i64,
            ..NodeWork::default()
        };
        app.nodes = nodes.iter().map(work).collect();
        app
    }

    fn store(apps: &[ApplicationReport]) -> Store {
        let store = Store::with(rusqlite::Connection::open_in_memory().unwrap()).unwrap();
        store.connection.execute("INSERT INTO run VALUES (1, 0, 'x', 'y', NULL)", []).unwrap();
        for app in apps {
            record::application(&store.connection, 1, app).unwrap();
        }
        store
    }

    #[test]
    fn a_slow_node_is_first_and_sums_of_days_are_those_of_applications() {
        let apps: Vec<_> = (0..5)
            .map(|n| app(&format!("app_{n}"), n * 10 * HOUR, &[("n1", -0.4), ("n2", 1.2), ("n3", -0.4)]))
            .collect();
        let store = store(&apps);
        let all = store.nodes(&Filter::default(), 9).unwrap();
        let [slow, n1, n3] = &all.nodes[..] else { panic!("{all:?}") };
        assert_eq!((&*slow.name, slow.level, slow.is_slow), ("n2", Some(0), true));
        assert_eq!((&*n1.name, &*n3.name, n1.is_slow, n3.is_slow), ("n1", "n3", false, false));
        assert_eq!((slow.applications, slow.attempts, slow.failed), (5, 205, 5));
        assert_eq!((slow.task_time, slow.straggler_share()), (Some(Millis::from_secs(2000)), Some(0.1)));
        assert!((slow.mean.unwrap() - 1.2).abs() < 1e-6);
        assert_eq!((all.of, all.slow, all.unknown), (3, 1, 0));
        // A filter of users reads the applications themselves.
        let users = Filter { users: vec!["e*".parse().unwrap()], ..Filter::default() };
        assert_eq!(store.nodes(&users, 9).unwrap(), all);
        // Days are whole, or the applications themselves are read.
        let since = |ms| Filter { since: Some(Timestamp::from_millis(ms)), ..Filter::default() };
        let count = |filter: &Filter| store.nodes(filter, 9).unwrap().nodes[0].applications;
        assert_eq!(
            (count(&since(24 * HOUR)), count(&since(24 * HOUR + 1)), count(&since(30 * HOUR + 1))),
            (2, 2, 1)
        );
        let until = Filter { until: Some(Timestamp::from_millis(24 * HOUR)), ..Filter::default() };
        assert_eq!(count(&until), 3);
    }

    #[test]
    fn an_application_that_is_read_again_or_is_a_copy_counts_once() {
        let first = app("app_1", 0, &[("n1", 0.0), ("n2", 0.0)]);
        let again = app("app_1", 0, &[("n1", 0.0)]);
        let copy = ApplicationReport { sources: vec!["logs/copy".to_owned()], ..again.clone() };
        let store = store(&[first, again, copy]);
        let nodes = store.nodes(&Filter::default(), 9).unwrap();
        assert_eq!(
            nodes.nodes.iter().map(|node| (&*node.name, node.applications)).collect::<Vec<_>>(),
            [("n1", 1)]
        );
    }

    #[test]
    fn applications_without_nodes_are_told() {
        let mut unknown = app("app_2", -1, &[]);
        unknown.submitted_at = None;
        let nodes = store(&[app("app_1", 0, &[("n1", 0.0)]), unknown]).nodes(&Filter::default(), 9).unwrap();
        assert_eq!((nodes.of, nodes.unknown), (1, 1));
    }
}
