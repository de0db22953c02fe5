//! Stages and the RDDs that they persist.

use super::super::task_metrics::SUMMED;
use super::{Event, MAX_NAME_LEN, RddInfo, StageInfo, field, integers, push, text};
use crate::model::counters::Counter;
use crate::parse::scan::{Cursor, RawStr, Scan};

pub(super) fn stage_event(cursor: &mut Cursor<'_>) -> Scan<StageInfo> {
    let mut stage = StageInfo::default();
    cursor.members_after_first(&[b"\"Stage Info\":"], |_, cursor| stage_info(cursor, &mut stage))?;
    Ok(stage)
}

fn stage_info(cursor: &mut Cursor<'_>, stage: &mut StageInfo) -> Scan<()> {
    const KEYS: [&[u8]; 11] = [
        b"\"Stage ID\":",
        b"\"Stage Attempt ID\":",
        b"\"Stage Name\":",
        b"\"Number of Tasks\":",
        b"\"RDD Info\":",
        b"\"Parent IDs\":",
        b"\"Submission Time\":",
        b"\"Completion Time\":",
        b"\"Failure Reason\":",
        b"\"Accumulables\":",
        b"\"Resource Profile Id\":",
    ];
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0 => stage.id = cursor.integer_or_skip()?,
            1 => stage.attempt = cursor.integer_or_skip()?,
            2 => stage.name = field(cursor, MAX_NAME_LEN)?,
            3 => {
                stage.tasks = cursor.integer_or_skip()?;
                stage.unreadable_task_count = stage.tasks.is_none();
            }
            4 => cursor.elements(|cursor| rdd_info(cursor, &mut stage.rdds))?,
            5 => integers(cursor, &mut stage.parents)?,
            6 => stage.submitted = cursor.integer_or_skip()?,
            7 => stage.completed = cursor.integer_or_skip()?,
            8 => stage.failure = field(cursor, MAX_NAME_LEN)?,
            9 => accumulables(cursor, stage)?,
            _ => stage.resource_profile = cursor.integer_or_skip()?,
        }
        Ok(())
    })
}

fn rdd_info(cursor: &mut Cursor<'_>, persisted: &mut Vec<RddInfo>) -> Scan<()> {
    const KEYS: [&[u8]; 7] = [
        b"\"RDD ID\":",
        b"\"Name\":",
        b"\"Storage Level\":",
        b"\"Number of Partitions\":",
        b"\"Number of Cached Partitions\":",
        b"\"Memory Size\":",
        b"\"Disk Size\":",
    ];
    let mut rdd = RddInfo::default();
    let mut name = None;
    let mut is_persisted = false;
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0 => rdd.id = cursor.integer_or_skip()?,
            1 => name = cursor.string_or_skip()?,
            2 => cursor.members(&[b"\"Use Disk\":", b"\"Use Memory\":"], |_, cursor| {
                is_persisted |= cursor.bool_or_skip()? == Some(true);
                Ok(())
            })?,
            3 => rdd.partitions = cursor.integer_or_skip()?,
            4 => rdd.cached = cursor.integer_or_skip()?,
            5 => rdd.memory = cursor.integer_or_skip()?,
            _ => rdd.disk = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    if is_persisted {
        rdd.name = text(name, MAX_NAME_LEN);
        push(persisted, rdd);
    }
    Ok(())
}

/// The final values of a stage's accumulables that are whole numbers, encoded as numbers or as text.
fn accumulables(cursor: &mut Cursor<'_>, stage: &mut StageInfo) -> Scan<()> {
    const KEYS: [&[u8]; 3] = [b"\"ID\":", b"\"Name\":", b"\"Value\":"];
    cursor.elements(|cursor| {
        let (mut id, mut name, mut value): (_, Option<RawStr<'_>>, &[u8]) = (None, None, &[]);
        cursor.members(&KEYS, |key, cursor| {
            match key {
                0 => id = cursor.integer_or_skip()?,
                1 => name = cursor.string_or_skip()?,
                _ => value = cursor.value()?,
            }
            Ok(())
        })?;
        let digits = value.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(value);
        let number = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<i64>().ok());
        if let (Some(id), Some(number)) = (id, number) {
            stage.accumulables.push((id, number));
            if let Some(counter) = name.and_then(|name| summed_counter(name.bytes)) {
                stage.totals.push((counter, number));
            }
        }
        Ok(())
    })
}

/// The counter that an accumulable of Spark's own repeats.
fn summed_counter(name: &[u8]) -> Option<Counter> {
    let name = name.strip_prefix(b"internal.metrics.")?;
    SUMMED.iter().find(|(known, _)| known.as_bytes() == name).map(|&(_, counter)| counter)
}

pub(super) fn unpersisted(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut rdd = None;
    cursor.members_after_first(&[b"\"RDD ID\":"], |_, cursor| {
        rdd = cursor.integer_or_skip()?;
        Ok(())
    })?;
    Ok(Event::Unpersisted { rdd })
}
