//! Costs of applications: prices applied to the amounts in the tables.
//!
//! Prices depend on the engine, the name, the user and the queue of an application. So amounts are added up for each
//! combination of these, and prices are applied to the sums.

use std::collections::BTreeMap;

use super::database::Row;
use super::day::name_of;
use super::selection::Selection;
use super::{Group, Grouping, MS_PER_HOUR, Store, StoreError, gb_hours};
use crate::model::{Application, Engine};
use crate::savings::{Amounts, Prices, Range};

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
        let (table, key, [saved_memory, _, saved_cores]) = grouping.parts();
        // Prices depend on which amounts are known, so applications with different unknown amounts are added up
        // separately.
        let statement = format!(
            "SELECT {key}, application.engine, application.name, application.\"user\", application.queue, \
             CAST(sum(application.core_time) AS BIGINT), CAST(sum(application.used) AS BIGINT), CAST(sum({saved_cores}) AS \
             BIGINT), CAST(sum({saved_memory}) AS BIGINT), count(*) FROM {table} WHERE {} GROUP BY 1, 2, 3, 4, 5, \
             application.core_time IS NULL, application.used IS NULL, {saved_cores} IS NULL, {saved_memory} IS NULL",
            selection.condition
        );
        let mut costs: BTreeMap<Option<String>, Costs> = BTreeMap::new();
        self.database.visit(&statement, &selection.values, |row| {
            let mut key: Option<String> = row.get(0)?;
            if grouping == Grouping::Day {
                key = key.and_then(|day| name_of(day.parse().ok()?));
            }
            if let Some(app) = app(row)? {
                let of_key = costs.entry(key).or_default();
                let all = cost(prices, &app, row.get(5)?, row.amount(6)?);
                if all.is_none() {
                    of_key.unpriced += row.count(9)?;
                }
                add(&mut of_key.all, all);
                add(&mut of_key.saved, cost(prices, &app, row.get(7)?, row.amount(8)?));
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
}

fn add(sum: &mut Option<i64>, cost: Option<i64>) {
    if let Some(cost) = cost {
        *sum = Some(sum.unwrap_or_default().saturating_add(cost));
    }
}

/// An application as far as prices depend on it.
fn app(row: &Row<'_>) -> Result<Option<Application>, StoreError> {
    let engine: String = row.get(1)?;
    let Some(engine) = [Engine::MapReduce, Engine::Spark].into_iter().find(|known| known.name() == engine)
    else {
        return Ok(None);
    };
    let (name, user, queue) = (row.get(2)?, row.get(3)?, row.get(4)?);
    Ok(Some(Application { name, user, queue, ..Application::new(engine) }))
}

fn cost(prices: &Prices, app: &Application, cores: Option<i64>, memory: Option<u64>) -> Option<i64> {
    let exactly = |value: f64| Range { low: value, point: value, high: value };
    let cores = cores.map(|time| exactly(time as f64 / MS_PER_HOUR));
    let memory = memory.map(|held| exactly(gb_hours(held)));
    let amounts = Amounts { core_hours: cores, gb_hours: memory, ..Amounts::default() };
    let cost = prices.cost(app, &amounts).map(|cost| (cost.point * MICRO).round());
    #[allow(clippy::cast_possible_truncation)] // sums of money are far below
    cost.map(|cost| cost as i64)
}
