//! Stages and the RDDs that they persist.

mod origins;

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::super::task_metrics::SUMMED;
use super::{
    Event, MAX_NAME_LEN, RddInfo, StageInfo, either_way, failure_field, field, integers, last_member, push,
    text,
};
use crate::scan::{Cursor, RawStr, Scan, Unexpected};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Origins;

pub(super) fn stage_event(cursor: &mut Cursor<'_>) -> Scan<StageInfo> {
    either_way(cursor, |cursor, shortcut| {
        let mut stage = StageInfo::default();
        cursor.members_after_first(&[b"\"Stage Info\":", b"\"Properties\":"], |key, cursor| match key {
            0 => stage_info(cursor, &mut stage, shortcut),
            _ => last_member(cursor, shortcut).map(drop),
        })?;
        Ok(stage)
    })
}

fn stage_info(cursor: &mut Cursor<'_>, stage: &mut StageInfo, shortcut: bool) -> Scan<()> {
    const KEYS: [&[u8]; 12] = [
        b"\"Stage ID\":",
        b"\"Stage Attempt ID\":",
        b"\"Stage Name\":",
        b"\"Number of Tasks\":",
        b"\"RDD Info\":",
        b"\"Parent IDs\":",
        b"\"Details\":",
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
            4 if shortcut && stage.id.is_some() && skip_unpersisted(cursor, &mut stage.origins).is_ok() => {}
            4 => cursor.elements(|cursor| rdd_info(cursor, stage))?,
            5 => integers(cursor, &mut stage.parents)?,
            6 => stage.first_call = first_line(cursor)?,
            7 => stage.submitted = cursor.integer_or_skip()?,
            8 => stage.completed = cursor.integer_or_skip()?,
            9 => stage.failure = failure_field(cursor)?,
            10 => accumulables(cursor, stage)?,
            _ => stage.resource_profile = cursor.integer_or_skip()?,
        }
        Ok(())
    })
}

/// Skips the RDDs of a stage if none is persisted, because no value in them is `true`. Otherwise the cursor does not
/// move.
fn skip_unpersisted(cursor: &mut Cursor<'_>, found: &mut Origins) -> Scan<()> {
    // RDDs contain no other array of objects.
    static END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"}],\""));
    static TRUE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"true"));
    let end = END.find(cursor.rest()).ok_or(Unexpected)?;
    let (rdds, rest) = cursor.rest().split_at_checked(end + 2).ok_or(Unexpected)?;
    let is_whole = rdds.starts_with(b"[{") && rest.starts_with(b",\"Parent IDs\":");
    if !is_whole || TRUE.find(rdds).is_some() {
        return Err(Unexpected);
    }
    found.add_all(origins::among(rdds));
    cursor.skip(rdds.len());
    Ok(())
}

/// The first line of a text.
fn first_line(cursor: &mut Cursor<'_>) -> Scan<Option<String>> {
    static END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\n"));
    let Some(whole) = cursor.string_or_skip()? else { return Ok(None) };
    let end = END.find(whole.bytes).unwrap_or(whole.bytes.len());
    let bytes = whole.bytes.get(..end).unwrap_or_default();
    Ok(text(Some(RawStr { bytes, ..whole }), MAX_NAME_LEN))
}

fn rdd_info(cursor: &mut Cursor<'_>, stage: &mut StageInfo) -> Scan<()> {
    const KEYS: [&[u8]; 11] = [
        b"\"RDD ID\":",
        b"\"Name\":",
        b"\"Scope\":",
        b"\"Callsite\":",
        b"\"Parent IDs\":",
        b"\"Storage Level\":",
        b"\"Number of Partitions\":",
        b"\"Number of Cached Partitions\":",
        b"\"Memory Size\":",
        b"\"Disk Size\":",
        b"\"Barrier\":",
    ];
    let mut rdd = RddInfo::default();
    let mut name = None;
    let mut is_persisted = false;
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0 => rdd.id = cursor.integer_or_skip()?,
            1 => name = cursor.string_or_skip()?,
            2 => stage.origins.add_all(origins::of_scope(cursor.string_or_skip()?)),
            3..5 => cursor.skip_value()?,
            5 => is_persisted |= storage_level(cursor)?,
            6 => rdd.partitions = cursor.integer_or_skip()?,
            7 => rdd.cached = cursor.integer_or_skip()?,
            8 => rdd.memory = cursor.integer_or_skip()?,
            9 => rdd.disk = cursor.integer_or_skip()?,
            _ => stage.is_barrier |= cursor.bool_or_skip()? == Some(true),
        }
        Ok(())
    })?;
    stage.origins.add_all(origins::of_name(name));
    if is_persisted {
        rdd.name = text(name, MAX_NAME_LEN);
        push(&mut stage.rdds, rdd);
    }
    Ok(())
}

/// Whether a storage level keeps any data.
fn storage_level(cursor: &mut Cursor<'_>) -> Scan<bool> {
    // The level of nearly every RDD, and the members that follow it since Spark 3.3.
    const NONE: &[u8] =
        b"{\"Use Disk\":false,\"Use Memory\":false,\"Use Off Heap\":false,\"Deserialized\":false,\
                          \"Replication\":1}";
    const USUAL: &[u8] = b",\"Barrier\":false,\"DeterministicLevel\":\"DETERMINATE\"";
    if cursor.literal(NONE).is_ok() {
        // Whatever the level is, other members are read one by one.
        let _ = cursor.literal(USUAL);
        return Ok(false);
    }
    let mut is_persisted = false;
    cursor.members(&[b"\"Use Disk\":", b"\"Use Memory\":"], |_, cursor| {
        is_persisted |= cursor.bool_or_skip()? == Some(true);
        Ok(())
    })?;
    Ok(is_persisted)
}

/// The final values of a stage's accumulables that are whole numbers, encoded as numbers or as text.
fn accumulables(cursor: &mut Cursor<'_>, stage: &mut StageInfo) -> Scan<()> {
    const KEYS: [&[u8]; 3] = [b"\"ID\":", b"\"Name\":", b"\"Value\":"];
    if cursor.rest().starts_with(b"[{") {
        stage.accumulables.reserve(USUAL_ACCUMULABLES);
        stage.totals.reserve(USUAL_ACCUMULABLES);
    }
    cursor.elements(|cursor| {
        let mut ahead = *cursor;
        if let Ok((id, name, number)) = plain_accumulable(&mut ahead) {
            *cursor = ahead;
            stage.accumulables.push((id, number));
            stage.totals.extend(summed_counter(name).map(|counter| (counter, number)));
            return Ok(());
        }
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

/// Most stages have about thirty accumulables.
const USUAL_ACCUMULABLES: usize = 32;

/// Reads an accumulable of Spark's own with a whole number, exactly as Spark writes it.
fn plain_accumulable<'a>(cursor: &mut Cursor<'a>) -> Scan<(i64, &'a [u8], i64)> {
    cursor.literal(b"{\"ID\":")?;
    let id = cursor.digits()?;
    cursor.literal(b",\"Name\":\"")?;
    let name = cursor.name_tail()?;
    cursor.literal(b",\"Value\":")?;
    let is_text = cursor.literal(b"\"").is_ok();
    let number = cursor.digits()?;
    if is_text {
        cursor.literal(b"\"")?;
    }
    cursor.literal(b",\"Internal\":true,\"Count Failed Values\":true")?;
    if cursor.literal(b"}").is_err() {
        cursor.literal(b",\"Metadata\":\"sql\"}")?;
    }
    Ok((id, name, number))
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
