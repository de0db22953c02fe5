//! What applications cost: prices on what the tables have.

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};

use super::{MS_PER_HOUR, Store, StoreError, gb_hours};
use crate::model::{Application, Engine};
use crate::savings::{Amounts, Prices, Range};

/// Money is counted in millionths, so that sums do not depend on the order.
pub(super) const MICRO: f64 = 1e6;

impl Store {
    /// Lets queries ask what an application costs.
    pub(crate) fn set_prices(&mut self, prices: Prices) -> Result<(), StoreError> {
        self.currency = Some(prices.currency().to_owned());
        define(&self.connection, prices)
    }

    /// The expression for the costs of `cores` and `memory`, which are expressions in the units of the tables.
    pub(super) fn cost_of(&self, cores: &str, memory: &str) -> String {
        if self.currency.is_none() {
            return "NULL".to_owned();
        }
        format!(
            "cost(application.engine, application.name, application.user, application.queue, {cores}, {memory})"
        )
    }
}

/// Makes the function `cost`.
fn define(connection: &Connection, prices: Prices) -> Result<(), StoreError> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let prices = Arc::new(prices);
    connection.create_scalar_function("cost", 6, flags, move |row| cost(&prices, row))?;
    Ok(())
}

fn cost(prices: &Prices, row: &Context<'_>) -> rusqlite::Result<Option<i64>> {
    let engine: String = row.get(0)?;
    let Some(engine) = [Engine::MapReduce, Engine::Spark].into_iter().find(|known| known.name() == engine)
    else {
        return Ok(None);
    };
    let app =
        Application { name: row.get(1)?, user: row.get(2)?, queue: row.get(3)?, ..Application::new(engine) };
    let exactly = |value: f64| Range { low: value, point: value, high: value };
    let cores = row.get::<Option<i64>>(4)?.map(|time| exactly(time as f64 / MS_PER_HOUR));
    let memory = row.get::<Option<i64>>(5)?.map(|held| exactly(gb_hours(held.max(0).cast_unsigned())));
    let amounts = Amounts { core_hours: cores, gb_hours: memory, ..Amounts::default() };
    let cost = prices.cost(&app, &amounts).map(|cost| (cost.point * MICRO).round());
    #[allow(clippy::cast_possible_truncation)] // sums of money are far below
    Ok(cost.map(|cost| cost as i64))
}
