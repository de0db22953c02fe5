//! SQL executions.

use super::{Event, MAX_LISTED, MAX_NAME_LEN, SqlStart, field, integers};
use crate::reading::truncate;
use crate::scan::{Cursor, Scan};
use crate::spark::plan::{self, Plan};
use crate::spark::strings::Strings;
use elephant_model::model::spark::Fallback;

/// Maximum length of a call stack: its first calls are those of interest, and Spark's own precede the user's.
const MAX_STACK_LEN: usize = 4 << 10;
/// Maximum number of tags that are kept.
const MAX_TAGS: usize = 20;
/// Maximum number of operators whose fallback is kept.
const MAX_FALLBACKS: usize = 50;

/// Gluten's event: "fallbackNodeToReason": {"(3) Project": "Not supported …"}.
pub(super) fn fallback(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut id, mut all) = (None, Vec::new());
    cursor.members_after_first(&[b"\"executionId\":", b"\"fallbackNodeToReason\":"], |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            _ => cursor.each_pair(|operator, reason| {
                if all.len() < MAX_FALLBACKS {
                    let short = |text: &str| truncate(text.trim(), MAX_NAME_LEN).to_owned();
                    // Plans number their nodes.
                    let (operator, reason) = (operator.text(), reason.text());
                    let name = operator.split_once(") ").map_or(&*operator, |(_, name)| name);
                    all.push(Fallback { operator: short(name), reason: short(&reason) });
                }
            })?,
        }
        Ok(())
    })?;
    Ok(Event::Fallback { id, all })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gluten_tells_why_operators_ran_in_the_jvm() {
        let event = br#","executionId":3,"numGlutenNodes":7,"numFallbackNodes":1,"physicalPlanDescription":"x","fallbackNodeToReason":{"(3) Project":"Not supported: f(x)"}}"#;
        let Event::Fallback { id, all } = fallback(&mut Cursor::new(event)).unwrap() else { panic!() };
        let expected = Fallback { operator: "Project".to_owned(), reason: "Not supported: f(x)".to_owned() };
        assert_eq!((id, all), (Some(3), vec![expected]));
    }
}
