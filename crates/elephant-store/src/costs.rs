//! Costs of applications: prices applied to the amounts in the tables.
//!
//! Prices depend on the engine, the name, the user and the queue of an application. So amounts are added up for each
//! combination of these, and prices are applied to the sums. The store keeps such sums of all days without names, which
//! are as many as applications where each run has another name.

use elephant_base::whole::Whole;
use std::collections::BTreeMap;

use super::database::{Row, Value};
use super::day::name_of;
use super::selection::Selection;
use super::sums::{
    CORES_KNOWN, MEMORY_KNOWN, QUEUE_KNOWN, SAVED_CORES_KNOWN, SAVED_MEMORY_KNOWN, USER_KNOWN,
};
use super::{Group, Grouping, MS_PER_HOUR, Run, Store, StoreError, gb_hours};
use elephant_model::model::{Application, Engine};
use elephant_ruleset::Aspect;
use elephant_verdict::savings::{Amounts, Prices, Range};

/// Money is counted in millionths, so that sums do not depend on the order.
const MICRO: f64 = 1e6;

/// Costs in millionths, if any is known.
#[derive(Default)]
struct Costs {
    all: Option<i64>,
    saved: Option<i64>,
    /// Applications whose cost is unknown.
    unpriced: u64,
}

impl Store {
    /// Adds to each group what its applications cost and what the remedies save of it, if there are prices.
    pub(super) fn add_costs(
        &self,
        grouping: Grouping,
        selection: &Selection,
        groups: &mut [Group],
    ) -> Result<(), StoreError> {
        let Some(prices) = &self.prices else { return Ok(()) };
        let (statement, values) = match kept(grouping, selection, prices) {
            Some(kept) => kept,
            None => (from_applications(grouping, selection, prices), selection.values.clone()),
        };
        let memory = |held: Option<u64>| held.map(|held| exactly(gb_hours(held)));
        let mut costs: BTreeMap<Option<String>, Costs> = BTreeMap::new();
        self.database.visit(&statement, &values, |row| {
            let mut key: Option<String> = row.get(0)?;
            if grouping == Grouping::Day {
                key = key.and_then(|day| name_of(day.parse().ok()?));
            }
            if let Some(app) = app(row)? {
                let of_key = costs.entry(key).or_default();
                let all = cost(prices, &app, row.get(5)?, memory(row.amount(6)?));
                if all.is_none() {
                    of_key.unpriced += row.count(9)?;
                }
                add(&mut of_key.all, all);
                add(&mut of_key.saved, cost(prices, &app, row.get(7)?, memory(row.amount(8)?)));
            }
            Ok(true)
        })?;
        let money = |micros: i64| micros as f64 / MICRO;
        for group in groups {
            if let Some(known) = costs.get(&group.key) {
                (group.cost, group.saved_cost) = (known.all.map(money), known.saved.map(money));
                group.unpriced = known.unpriced;
            }
        }
        Ok(())
    }

    /// What a run cost, by its engine and what is known of its cores, if there are prices.
    pub(super) fn cost_of_run(&self, run: &Run, engine: &str, core_time: Option<i64>) -> Option<f64> {
        let prices = self.prices.as_ref()?;
        let who = (run.name.clone(), run.user.clone(), run.queue.clone());
        let used = run.used_gb_hours.map(exactly);
        cost(prices, &app_of(engine, who)?, core_time, used).map(|micros| micros as f64 / MICRO)
    }
}

/// A column, or nothing if prices do not depend on it: then fewer amounts are added up.
fn if_needed<'c>(prices: &Prices, aspect: Aspect, column: &'c str) -> &'c str {
    if prices.depend_on(aspect) { column } else { "CAST(NULL AS TEXT)" }
}

/// The query for amounts by what prices depend on, of each application. Prices depend on which amounts are known, so
/// applications with different unknown amounts are added up separately.
fn from_applications(grouping: Grouping, selection: &Selection, prices: &Prices) -> String {
    let (table, key, [saved_memory, _, saved_cores, _]) = grouping.parts();
    format!(
        "SELECT {key}, application.engine, {}, {}, {}, CAST(sum(application.core_time) AS BIGINT), \
         CAST(sum(application.used) AS BIGINT), CAST(sum({saved_cores}) AS BIGINT), CAST(sum({saved_memory}) AS BIGINT), \
         count(*) FROM {table} WHERE {} GROUP BY 1, 2, 3, 4, 5, application.core_time IS NULL, application.used IS NULL, \
         {saved_cores} IS NULL, {saved_memory} IS NULL",
        if_needed(prices, Aspect::Name, "application.name"),
        if_needed(prices, Aspect::User, "application.\"user\""),
        if_needed(prices, Aspect::Queue, "application.queue"),
        selection.condition
    )
}

/// The same from sums, which are kept of all days and without names.
fn kept(grouping: Grouping, selection: &Selection, prices: &Prices) -> Option<(String, Vec<Value<'static>>)> {
    let days = selection.days.as_ref().filter(|days| days.are_all() && !prices.depend_on(Aspect::Name))?;
    let if_known = |bit: i64, value: &str| format!("CASE WHEN known & {bit} <> 0 THEN {value} END");
    let (user, queue) = (if_known(USER_KNOWN, "\"user\""), if_known(QUEUE_KNOWN, "queue"));
    let (kind, table, key) = match grouping {
        Grouping::Everything => ("job", "cost_sum", "CAST(NULL AS TEXT)"),
        Grouping::User => ("job", "cost_sum", user.as_str()),
        Grouping::Queue => ("job", "cost_sum", queue.as_str()),
        Grouping::Engine => ("job", "cost_sum", "cost_sum.engine"),
        Grouping::Status => ("job", "cost_sum", "status"),
        Grouping::Job => ("job", "cost_sum JOIN job ON job.job = CAST(cost_sum.key AS BIGINT)", "job.key"),
        Grouping::Trouble => ("trouble", "cost_sum", "key"),
        Grouping::Rule => ("rule", "cost_sum", "key"),
        Grouping::Day
        | Grouping::Cluster
        | Grouping::Flow
        | Grouping::Owner
        | Grouping::Failure
        | Grouping::Setting => return None,
    };
    let (user, queue) = (if_needed(prices, Aspect::User, &user), if_needed(prices, Aspect::Queue, &queue));
    let of_engine = days.engine().map_or("", |_| " AND cost_sum.engine = ?1");
    let sum = |bit: i64, column: &str| if_known(bit, &format!("CAST(sum({column}) AS BIGINT)"));
    let statement = format!(
        "SELECT {key}, cost_sum.engine, CAST(NULL AS TEXT), {user}, {queue}, {}, {}, {}, {}, CAST(sum(applications) AS \
         BIGINT) FROM {table} WHERE kind = '{kind}' AND applications > 0{of_engine} GROUP BY 1, 2, 3, 4, 5, known",
        sum(CORES_KNOWN, "core_time"),
        sum(MEMORY_KNOWN, "used"),
        sum(SAVED_CORES_KNOWN, "saved_core_time"),
        sum(SAVED_MEMORY_KNOWN, "saved_memory"),
    );
    Some((statement, days.engine().map(Value::from).into_iter().collect()))
}

fn add(sum: &mut Option<i64>, cost: Option<i64>) {
    if let Some(cost) = cost {
        *sum = Some(sum.unwrap_or_default().saturating_add(cost));
    }
}

/// An application as far as prices depend on it.
fn app(row: &Row<'_>) -> Result<Option<Application>, StoreError> {
    Ok(app_of(&row.get::<String>(1)?, (row.get(2)?, row.get(3)?, row.get(4)?)))
}

/// An application of this engine with this name, user and queue.
pub(super) fn app_of(
    engine: &str,
    (name, user, queue): (Option<String>, Option<String>, Option<String>),
) -> Option<Application> {
    Some(Application { name, user, queue, ..Application::new(Engine::named(engine)?) })
}

pub(super) fn exactly(value: f64) -> Range {
    Range { low: value, point: value, high: value }
}

/// In millionths.
fn cost(prices: &Prices, app: &Application, cores: Option<i64>, memory: Option<Range>) -> Option<i64> {
    let cores = cores.map(|time| exactly(time as f64 / MS_PER_HOUR));
    let amounts = Amounts { core_hours: cores, gb_hours: memory, ..Amounts::default() };
    prices.cost(app, &amounts).map(|cost| micros(cost.point))
}

/// The sum of amounts of money, whatever their order.
pub(super) fn sum(money: impl Iterator<Item = f64>) -> f64 {
    money.map(micros).fold(0, i64::saturating_add) as f64 / MICRO
}

/// An amount of money in whole millionths.
pub(super) fn rounded(money: f64) -> f64 {
    micros(money) as f64 / MICRO
}

fn micros(money: f64) -> i64 {
    (money * MICRO).round().as_i64()
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, with_prices};
    use crate::{Grouping, Question, View};
    use elephant_base::units::{Bytes, CoreMillis, MbMillis, Millis};
    use elephant_engine::engine::Filter;
    use elephant_engine::results::ApplicationReport;
    use elephant_model::model::{Engine, Status};

    /// An application that held two cores and 10 GiB for an hour.
    fn app(id: &str) -> ApplicationReport {
        let hour = Millis::from_secs(3600);
        let mut app = ApplicationReport::blank(id);
        app.metrics.used = Some(MbMillis::of(Bytes::from_mib(10 * 1024), hour));
        app.metrics.cores_used = Some(CoreMillis::of(2000, hour));
        app.metrics.cores_idle = Some(CoreMillis::ZERO);
        app
    }

    #[test]
    fn applications_without_a_known_cost_are_counted() {
        let mut without_cores = app("app_2");
        without_cores.metrics.cores_used = None;
        let prices = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/prices.yaml"));
        with_prices(&[app("app_1"), without_cores], prices, |store| {
            let answer = testing::answer(store, &Question::Worst, &Filter::default(), 9).unwrap();
            assert_eq!((answer.total.cost, answer.total.unpriced), (Some(0.11), 1));
            let View::Worst(runs) = answer.view else { panic!("{:?}", answer.view) };
            let costs: Vec<_> = runs.iter().map(|run| (run.id.as_str(), run.cost)).collect();
            assert!(costs.contains(&("app_1", Some(0.11))) && costs.contains(&("app_2", None)), "{costs:?}");
        });
    }
    /// Costs from kept sums are those of the applications, which a filter of ids makes the store read.
    #[test]
    fn kept_sums_cost_what_the_applications_cost() {
        let named = |n: u64| {
            let mut app = app(&format!("app_{n}"));
            app.name = Some(format!("job {}", n % 3));
            app.engine = if n.is_multiple_of(5) { Engine::MapReduce } else { Engine::Spark };
            app.user = (!n.is_multiple_of(4)).then(|| format!("user {}", n % 2));
            app.queue = (!n.is_multiple_of(3)).then(|| "root.spot.a".to_owned());
            app.status = if n.is_multiple_of(7) { Status::Failed } else { Status::Succeeded };
            app.metrics.cores_used = app.metrics.cores_used.filter(|_| !n.is_multiple_of(6));
            app.metrics.used = app.metrics.used.filter(|_| !n.is_multiple_of(8));
            app
        };
        let apps: Vec<_> = (1..=40).map(named).collect();
        let groupings = [
            Grouping::Everything,
            Grouping::User,
            Grouping::Queue,
            Grouping::Job,
            Grouping::Engine,
            Grouping::Status,
            Grouping::Trouble,
            Grouping::Rule,
        ];
        with_prices(
            &apps,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/prices.yaml")),
            |store| {
                for (grouping, engine) in
                    groupings.iter().flat_map(|one| [(one, None), (one, Some(Engine::Spark))])
                {
                    let costs = |filter: &Filter| {
                        let answer =
                            testing::answer(store, &Question::Groups(*grouping), filter, 99).unwrap();
                        let View::Groups(_, grouped) = answer.view else { panic!() };
                        let micros = |cost: Option<f64>| cost.map(super::micros);
                        let groups = grouped.groups.into_iter();
                        groups.map(|it| (it.key, micros(it.cost), it.unpriced)).collect::<Vec<_>>()
                    };
                    let kept = Filter { engine, ..Filter::default() };
                    let of_each = Filter { ids: vec!["*".parse().unwrap()], ..kept.clone() };
                    let (kept, of_each) = (costs(&kept), costs(&of_each));
                    assert_eq!(kept.len(), of_each.len());
                    for ((key, kept, unpriced), (other, each, unpriced_each)) in kept.into_iter().zip(of_each)
                    {
                        assert_eq!((&key, unpriced), (&other, unpriced_each), "{grouping:?}");
                        // Each sum is rounded.
                        let near = kept.zip(each).is_none_or(|(kept, each)| (kept - each).abs() < 50);
                        assert!(
                            kept.is_some() == each.is_some() && near,
                            "{grouping:?} {key:?} {kept:?} {each:?}"
                        );
                    }
                }
            },
        );
    }
}
