//! SQL executions.

use super::{Event, MAX_LISTED, MAX_NAME_LEN, SqlStart, field, integers};
use crate::scan::{Cursor, Scan};
use crate::spark::plan::{self, Plan};
use crate::spark::strings::Strings;

/// Maximum length of a call stack: its first calls are those of interest, and Spark's own precede the user's.
const MAX_STACK_LEN: usize = 4 << 10;
/// Maximum number of tags that are kept.
const MAX_TAGS: usize = 20;

pub(super) fn sql_start(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    const KEYS: [&[u8]; 8] = [
        b"\"executionId\":",
        b"\"rootExecutionId\":",
        b"\"description\":",
        b"\"details\":",
        b"\"physicalPlanDescription\":",
        b"\"sparkPlanInfo\":",
        b"\"time\":",
        b"\"jobTags\":",
    ];
    let mut start = SqlStart::default();
    cursor.members_after_first(&KEYS, |key, cursor| {
        match key {
            0 => start.id = cursor.integer_or_skip()?,
            1 => start.root = cursor.integer_or_skip()?,
            2 => start.description = field(cursor, MAX_NAME_LEN)?,
            3 => start.call_stack = field(cursor, MAX_STACK_LEN)?,
            5 => start.plan = plan::read(cursor, strings)?,
            6 => start.at = cursor.integer_or_skip()?,
            7 => cursor.elements(|cursor| {
                let tag = field(cursor, MAX_NAME_LEN)?;
                start.tags.extend(tag.filter(|_| start.tags.len() < MAX_TAGS));
                Ok(())
            })?,
            _ => cursor.skip_value()?,
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

pub(super) fn sql_plan(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    const KEYS: [&[u8]; 3] = [b"\"executionId\":", b"\"physicalPlanDescription\":", b"\"sparkPlanInfo\":"];
    let (mut id, mut plan) = (None, Plan::default());
    cursor.members_after_first(&KEYS, |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            1 => cursor.skip_value()?,
            _ => plan = plan::read(cursor, strings)?,
        }
        Ok(())
    })?;
    Ok(Event::SqlPlan { id, plan })
}

pub(super) fn subquery_metrics(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut id, mut metrics) = (None, Plan::default());
    cursor.members_after_first(&[b"\"executionId\":", b"\"sqlPlanMetrics\":"], |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            _ => metrics = plan::read_metrics(cursor, strings)?,
        }
        Ok(())
    })?;
    Ok(Event::SubqueryMetrics { id, metrics })
}

pub(super) fn driver_accumulators(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut id, mut updates) = (None, Vec::new());
    cursor.members_after_first(&[b"\"executionId\":", b"\"accumUpdates\":"], |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            _ => cursor.elements(|cursor| {
                let mut pair = Vec::with_capacity(2);
                integers(cursor, &mut pair)?;
                if let [accumulator, value] = pair.as_slice()
                    && updates.len() <= MAX_LISTED
                {
                    updates.push((*accumulator, *value));
                }
                Ok(())
            })?,
        }
        Ok(())
    })?;
    Ok(Event::DriverAccumulators { id, updates })
}
