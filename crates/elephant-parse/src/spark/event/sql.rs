//! SQL executions.

use super::{Event, MAX_NAME_LEN, SqlStart, either_way, field, integers};
use crate::scan::{Cursor, Scan};
use crate::spark::plan::{self, Plan, Plans};
use crate::spark::strings::Strings;

pub(super) fn sql_start(cursor: &mut Cursor<'_>, strings: &mut Strings, plans: Plans) -> Scan<Event> {
    if plans == Plans::Kept {
        return sql_start_with(cursor, |cursor, _| plan::read(cursor, strings)).map(Event::SqlStart);
    }
    let start = either_way(cursor, |cursor, shortcut| {
        let shortcut = shortcut.then_some(plan::skip_to_time as plan::Shortcut);
        sql_start_with(cursor, |cursor, in_order| {
            plan::pass_over(cursor, strings, shortcut.filter(|_| in_order))
        })
    });
    start.map(Event::SqlStart)
}

/// Reads the start of an execution; `plan` reads its plan. The flag tells `plan` whether all members that are used and
/// come before the plan in Spark's order were read already.
fn sql_start_with<'a>(
    cursor: &mut Cursor<'a>,
    mut plan: impl FnMut(&mut Cursor<'a>, bool) -> Scan<Plan>,
) -> Scan<SqlStart> {
    const KEYS: [&[u8]; 7] = [
        b"\"executionId\":",
        b"\"rootExecutionId\":",
        b"\"description\":",
        b"\"details\":",
        b"\"physicalPlanDescription\":",
        b"\"sparkPlanInfo\":",
        b"\"time\":",
    ];
    let mut start = SqlStart::default();
    let mut described = false;
    cursor.members_after_first(&KEYS, |key, cursor| {
        match key {
            0 => start.id = cursor.integer_or_skip()?,
            2 => {
                start.description = field(cursor, MAX_NAME_LEN)?;
                described = true;
            }
            5 => start.plan = plan(cursor, described && start.id.is_some())?,
            6 => start.at = cursor.integer_or_skip()?,
            _ => cursor.skip_value()?,
        }
        Ok(())
    })?;
    Ok(start)
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
    let read = if plans == Plans::Kept {
        sql_plan_with(cursor, |cursor, _| plan::read(cursor, strings))
    } else {
        either_way(cursor, |cursor, shortcut| {
            let shortcut = shortcut.then_some(plan::skip_to_end as plan::Shortcut);
            sql_plan_with(cursor, |cursor, in_order| {
                plan::pass_over(cursor, strings, shortcut.filter(|_| in_order))
            })
        })
    };
    read.map(|(id, plan)| Event::SqlPlan { id, plan })
}

fn sql_plan_with<'a>(
    cursor: &mut Cursor<'a>,
    mut plan: impl FnMut(&mut Cursor<'a>, bool) -> Scan<Plan>,
) -> Scan<(Option<i64>, Plan)> {
    const KEYS: [&[u8]; 3] = [b"\"executionId\":", b"\"physicalPlanDescription\":", b"\"sparkPlanInfo\":"];
    let (mut id, mut nodes) = (None, Plan::default());
    cursor.members_after_first(&KEYS, |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            1 => cursor.skip_value()?,
            _ => nodes = plan(cursor, id.is_some())?,
        }
        Ok(())
    })?;
    Ok((id, nodes))
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
