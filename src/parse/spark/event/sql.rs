//! SQL executions.

use super::{Event, MAX_NAME_LEN, SqlStart, field, integers};
use crate::parse::scan::{Cursor, Scan};
use crate::parse::spark::plan::{self, Plan, Plans};
use crate::parse::spark::strings::Strings;

pub(super) fn sql_start(cursor: &mut Cursor<'_>, strings: &mut Strings, plans: Plans) -> Scan<Event> {
    let mut start = SqlStart::default();
    let keys: [&[u8]; 4] = [b"\"executionId\":", b"\"description\":", b"\"sparkPlanInfo\":", b"\"time\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => start.id = cursor.integer_or_skip()?,
            1 => start.description = field(cursor, MAX_NAME_LEN)?,
            2 => start.plan = plan::read(cursor, strings, plans)?,
            _ => start.at = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::SqlStart(start))
}

pub(super) fn sql_end(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut id, mut at, mut error) = (None, None, None);
    cursor.members_after_first(
        &[b"\"executionId\":", b"\"time\":", b"\"errorMessage\":"],
        |key, cursor| {
            match key {
                0 => id = cursor.integer_or_skip()?,
                1 => at = cursor.integer_or_skip()?,
                _ => error = field(cursor, MAX_NAME_LEN)?,
            }
            Ok(())
        },
    )?;
    Ok(Event::SqlEnd { id, at, error })
}

pub(super) fn sql_plan(cursor: &mut Cursor<'_>, strings: &mut Strings, plans: Plans) -> Scan<Event> {
    let (mut id, mut nodes) = (None, Plan::default());
    cursor.members_after_first(&[b"\"executionId\":", b"\"sparkPlanInfo\":"], |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            _ => nodes = plan::read(cursor, strings, plans)?,
        }
        Ok(())
    })?;
    Ok(Event::SqlPlan { id, plan: nodes })
}

pub(super) fn driver_accumulators(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut id, mut updates) = (None, Vec::new());
    cursor.members_after_first(&[b"\"executionId\":", b"\"accumUpdates\":"], |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            _ => cursor.elements(|cursor| {
                let mut pair = Vec::with_capacity(2);
                integers(cursor, &mut pair)?;
                if let [accumulator, value] = pair.as_slice() {
                    updates.push((*accumulator, *value));
                }
                Ok(())
            })?,
        }
        Ok(())
    })?;
    Ok(Event::DriverAccumulators { id, updates })
}
