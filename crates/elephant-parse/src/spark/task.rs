//! Task starts and ends: nine tenths of every log, so they have a reader of their own.

mod reason;

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::storage::{BlockMemory, RddBlock};
use super::strings::{Local, Strings};
use super::task_metrics::{METRICS, Section, TaskMetrics, place_of};
use crate::scan::{Cursor, Scan, Unexpected};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{ExecutorMetric, Peaks};
use elephant_model::model::table::{EndReason, Locality, MAX_COUNTER_VALUE};

/// `SparkListenerTaskStart`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TaskStart {
    pub(super) stage: Option<i64>,
    pub(super) stage_attempt: Option<i64>,
    pub(super) info: TaskInfo,
}

/// `SparkListenerTaskEnd`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TaskEnd {
    pub(super) stage: Option<i64>,
    pub(super) stage_attempt: Option<i64>,
    pub(super) info: TaskInfo,
    pub(super) reason: Option<EndReason>,
    /// Whether there is a reason that Spark does not have.
    pub(super) unknown_reason: bool,
    /// The task had succeeded, but its output was lost, so it runs again.
    pub(super) resubmitted: bool,
    pub(super) message: Option<Local>,
    pub(super) peaks: Peaks,
    pub(super) metrics: TaskMetrics,
    /// Memory of cached RDD blocks that this task changed, by block.
    pub(super) blocks: Vec<(RddBlock, BlockMemory)>,
}

/// "Task Info".
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct TaskInfo {
    pub(super) id: Option<i64>,
    pub(super) index: Option<i64>,
    pub(super) attempt: Option<i64>,
    pub(super) launched: Option<i64>,
    pub(super) executor: Option<Local>,
    pub(super) host: Option<Local>,
    pub(super) locality: Option<Locality>,
    pub(super) speculative: Option<bool>,
    pub(super) getting_result: Option<i64>,
    pub(super) finished: Option<i64>,
    pub(super) failed: Option<bool>,
    pub(super) killed: Option<bool>,
}

/// Reads a start after the event's name.
pub(super) fn start(cursor: &mut Cursor<'_>, strings: &mut Strings, start: &mut TaskStart) -> Scan<()> {
    let keys: [&[u8]; 3] = [b"\"Stage ID\":", b"\"Stage Attempt ID\":", b"\"Task Info\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => start.stage = cursor.integer_or_skip()?,
            1 => start.stage_attempt = cursor.integer_or_skip()?,
            _ => info(cursor, strings, &mut start.info, true)?,
        }
        Ok(())
    })
}

/// Reads an end after the event's name.
pub(super) fn end(cursor: &mut Cursor<'_>, strings: &mut Strings, end: &mut TaskEnd) -> Scan<()> {
    let at_start = *cursor;
    // Nearly always the shortcuts apply. If one does not, the rest cannot be parsed as an event.
    if end_with(cursor, strings, end, true).is_ok() && cursor.at_end() {
        return Ok(());
    }
    *cursor = at_start;
    *end = TaskEnd::default();
    end_with(cursor, strings, end, false)
}

fn end_with(cursor: &mut Cursor<'_>, strings: &mut Strings, end: &mut TaskEnd, shortcut: bool) -> Scan<()> {
    let keys: [&[u8]; 6] = [
        b"\"Stage ID\":",
        b"\"Stage Attempt ID\":",
        b"\"Task End Reason\":",
        b"\"Task Info\":",
        b"\"Task Executor Metrics\":",
        b"\"Task Metrics\":",
    ];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => end.stage = cursor.integer_or_skip()?,
            1 => end.stage_attempt = cursor.integer_or_skip()?,
            2 => reason::read(cursor, strings, end)?,
            3 => info(cursor, strings, &mut end.info, shortcut)?,
            4 => peaks(cursor, &mut end.peaks)?,
            _ => metrics(cursor, end, shortcut)?,
        }
        Ok(())
    })
}

/// The text after a task's accumulables: the end of the array, of the object, and the next key. A quote after
/// a comma ends any string, so this text cannot occur inside one.
static AFTER_ACCUMULABLES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"]},\"Task "));

/// The remaining members of every task start, which are always the same.
const UNUSED_START_FIELDS: &[u8] =
    b",\"Getting Result Time\":0,\"Finish Time\":0,\"Failed\":false,\"Killed\":false,\"Accumulables\":[]";

fn info(cursor: &mut Cursor<'_>, strings: &mut Strings, info: &mut TaskInfo, shortcut: bool) -> Scan<()> {
    const KEYS: [&[u8]; 13] = [
        b"\"Task ID\":",
        b"\"Index\":",
        b"\"Attempt\":",
        b"\"Launch Time\":",
        b"\"Executor ID\":",
        b"\"Host\":",
        b"\"Locality\":",
        b"\"Speculative\":",
        b"\"Getting Result Time\":",
        b"\"Finish Time\":",
        b"\"Failed\":",
        b"\"Killed\":",
        b"\"Accumulables\":",
    ];
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0 => info.id = cursor.integer_or_skip()?,
            1 => info.index = cursor.integer_or_skip()?,
            2 => {
                info.attempt = cursor.integer_or_skip()?;
                // Not used, and always the next member since 3.3.
                if cursor.literal(b",\"Partition ID\":").is_ok() {
                    cursor.skip_value()?;
                }
            }
            3 => info.launched = cursor.integer_or_skip()?,
            4 => info.executor = strings.read(cursor)?,
            5 => info.host = strings.read(cursor)?,
            6 => info.locality = cursor.string_or_skip()?.and_then(|text| locality(text.bytes)),
            7 => {
                info.speculative = cursor.bool_or_skip()?;
                // A task that starts has no other facts.
                if shortcut {
                    let _ = cursor.literal(UNUSED_START_FIELDS);
                }
            }
            8 => info.getting_result = cursor.integer_or_skip()?,
            9 => info.finished = cursor.integer_or_skip()?,
            10 => info.failed = cursor.bool_or_skip()?,
            11 => info.killed = cursor.bool_or_skip()?,
            _ => accumulables(cursor, shortcut)?,
        }
        Ok(())
    })
}

fn accumulables(cursor: &mut Cursor<'_>, shortcut: bool) -> Scan<()> {
    if cursor.literal(b"[]").is_ok() {
        return Ok(());
    }
    let next = if shortcut { AFTER_ACCUMULABLES.find(cursor.rest()) } else { None };
    match next {
        Some(bracket) => {
            cursor.skip(bracket + 1);
            Ok(())
        }
        None => cursor.skip_value(),
    }
}

pub(super) fn locality(text: &[u8]) -> Option<Locality> {
    match text {
        b"PROCESS_LOCAL" => Some(Locality::ProcessLocal),
        b"NODE_LOCAL" => Some(Locality::NodeLocal),
        b"RACK_LOCAL" => Some(Locality::RackLocal),
        b"NO_PREF" => Some(Locality::NoPreference),
        b"ANY" => Some(Locality::OffSwitch),
        _ => None,
    }
}

/// Executor metrics of any event, by name.
pub(super) fn peaks(cursor: &mut Cursor<'_>, peaks: &mut Peaks) -> Scan<()> {
    static KEYS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        ExecutorMetric::ALL.iter().map(|metric| format!("\"{}\":", metric.name()).into_bytes()).collect()
    });
    static REFERENCES: LazyLock<Vec<&'static [u8]>> =
        LazyLock::new(|| KEYS.iter().map(Vec::as_slice).collect());
    let mut read = Peaks::default();
    if !matches!(cursor.peek(), Some(b'{' | b'n')) {
        (0..ExecutorMetric::COUNT).for_each(|place| read.mark_unreadable_at(place));
    }
    let mut ahead = *cursor;
    if let Ok(plain) = plain_peaks(&mut ahead, &REFERENCES) {
        *cursor = ahead;
        peaks.raise_all(&plain);
        return Ok(());
    }
    let (mut never_polled, mut any_polled) = (false, false);
    cursor.members(&REFERENCES, |key, cursor| {
        let value = cursor.integer_or_skip()?;
        never_polled |= key == ExecutorMetric::JvmHeapMemory as usize && value == Some(-1);
        any_polled |= value.is_some_and(|value| value > 0);
        match value.filter(|value| (0..=MAX_COUNTER_VALUE).contains(value)) {
            Some(value) => read.raise_at(key, value),
            None => read.mark_unreadable_at(key),
        }
        Ok(())
    })?;
    // Spark marks metrics that were never polled by a heap of −1; the zeros next to it mean nothing.
    if !never_polled || any_polled {
        peaks.raise_all(&read);
    }
    Ok(())
}

/// Reads executor metrics that are all known, in order, and no less than zero, as Spark writes them. Older versions lack
/// some.
fn plain_peaks(cursor: &mut Cursor<'_>, keys: &[&[u8]]) -> Scan<Peaks> {
    let mut read = Peaks::default();
    cursor.literal(b"{")?;
    for (place, key) in keys.iter().enumerate() {
        if cursor.literal(key).is_err() {
            continue;
        }
        // The last one may be near the end of the line.
        let value = cursor.integer()?;
        if !(0..=MAX_COUNTER_VALUE).contains(&value) {
            return Err(Unexpected);
        }
        read.raise_at(place, value);
        if cursor.literal(b",").is_err() {
            return cursor.literal(b"}").map(|()| read);
        }
    }
    Err(Unexpected)
}

fn metrics(cursor: &mut Cursor<'_>, end: &mut TaskEnd, shortcut: bool) -> Scan<()> {
    const KEYS: [&[u8]; 14] = {
        let [a, b, c, d, e, f, g, h, i] = Section::Task.keys();
        let [shuffle_read, shuffle_write]: [&[u8]; 2] =
            [b"\"Shuffle Read Metrics\":", b"\"Shuffle Write Metrics\":"];
        let [input, output, blocks]: [&[u8]; 3] =
            [b"\"Input Metrics\":", b"\"Output Metrics\":", b"\"Updated Blocks\":"];
        [a, b, c, d, e, f, g, h, i, shuffle_read, shuffle_write, input, output, blocks]
    };
    const DESERIALIZE: usize = place_of(Counter::ExecutorDeserializeTime);
    const INPUT: Range<usize> = Section::Input.places();
    const OUTPUT: Range<usize> = Section::Output.places();
    // What follows the metrics of the task itself.
    const SHUFFLE_READ_AT: usize = Section::Task.places().end;
    const SHUFFLE_WRITE_AT: usize = SHUFFLE_READ_AT + 1;
    const INPUT_AT: usize = SHUFFLE_READ_AT + 2;
    const OUTPUT_AT: usize = SHUFFLE_READ_AT + 3;
    const BLOCKS_AT: usize = SHUFFLE_READ_AT + 4;
    let metrics = &mut end.metrics;
    let blocks = &mut end.blocks;
    if !metrics.group(cursor, 0..METRICS.len())? {
        return Ok(());
    }
    cursor.members(&KEYS, |key, cursor| match key {
        DESERIALIZE => {
            metrics.read(cursor, DESERIALIZE)?;
            // Not used, and always the next member since 2.1.
            if cursor.literal(b",\"Executor Deserialize CPU Time\":").is_ok() {
                cursor.skip_value()?;
            }
            Ok(())
        }
        SHUFFLE_READ_AT => shuffle_read(cursor, metrics, shortcut),
        SHUFFLE_WRITE_AT => shuffle_write(cursor, metrics),
        INPUT_AT => amounts(cursor, metrics, INPUT),
        OUTPUT_AT => amounts(cursor, metrics, OUTPUT),
        BLOCKS_AT => updated_blocks(cursor, blocks),
        simple => metrics.read(cursor, simple),
    })
}

/// The end of the push-based shuffle metrics, which come last among the shuffle read metrics since 3.5.
static AFTER_PUSH_BASED_SHUFFLE: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(b"}},\"Shuffle Write Metrics\":"));

fn shuffle_read(cursor: &mut Cursor<'_>, metrics: &mut TaskMetrics, shortcut: bool) -> Scan<()> {
    const KEYS: [&[u8]; 7] = Section::ShuffleRead.keys();
    const PLACES: Range<usize> = Section::ShuffleRead.places();
    if !metrics.group(cursor, PLACES)? {
        return Ok(());
    }
    cursor.members(&KEYS, |key, cursor| {
        metrics.read(cursor, PLACES.start + key)?;
        if key + 1 == KEYS.len()
            && shortcut
            && let Some(end) = AFTER_PUSH_BASED_SHUFFLE.find(cursor.rest())
        {
            cursor.skip(end + 1);
        }
        Ok(())
    })
}

fn shuffle_write(cursor: &mut Cursor<'_>, metrics: &mut TaskMetrics) -> Scan<()> {
    const KEYS: [&[u8]; 3] = Section::ShuffleWrite.keys();
    const PLACES: Range<usize> = Section::ShuffleWrite.places();
    if !metrics.group(cursor, PLACES)? {
        return Ok(());
    }
    cursor.members(&KEYS, |key, cursor| metrics.read(cursor, PLACES.start + key))
}

/// Bytes and records of input and output.
fn amounts(cursor: &mut Cursor<'_>, metrics: &mut TaskMetrics, places: Range<usize>) -> Scan<()> {
    const KEYS: [&[u8]; 4] = {
        let ([bytes_read, records_read], [bytes_written, records_written]) =
            (Section::Input.keys(), Section::Output.keys());
        [bytes_read, records_read, bytes_written, records_written]
    };
    let first = places.start;
    if !metrics.group(cursor, places)? {
        return Ok(());
    }
    cursor.members(&KEYS, |key, cursor| metrics.read(cursor, first + key % 2))
}

/// RDD blocks that the task added to or removed from the cache.
fn updated_blocks(cursor: &mut Cursor<'_>, blocks: &mut Vec<(RddBlock, BlockMemory)>) -> Scan<()> {
    let keys: [&[u8]; 2] = [b"\"Block ID\":", b"\"Status\":"];
    cursor.elements(|cursor| {
        let mut block = None;
        let mut memory = None;
        cursor.members(&keys, |key, cursor| {
            match key {
                0 => block = RddBlock::read(cursor)?,
                _ => cursor.members(&[b"\"Memory Size\":"], |_, cursor| {
                    memory = Some(BlockMemory::read(cursor)?);
                    Ok(())
                })?,
            }
            Ok(())
        })?;
        if let (Some(block), Some(memory)) = (block, memory) {
            blocks.push((block, memory));
        }
        Ok(())
    })
}
