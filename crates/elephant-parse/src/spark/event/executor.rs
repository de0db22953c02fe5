//! Executors: their start and end, memory and metrics.

use super::{BlockManagerAdded, Event, ExecutorAdded, MAX_NAME_LEN, MAX_RESOURCES, field};
use crate::scan::{Cursor, Scan};
use crate::spark::stage_attempt::stage_attempt;
use crate::spark::storage::{BlockMemory, RddBlock};
use crate::spark::strings::{Local, Strings};
use crate::spark::task::peaks;
use elephant_model::model::spark::{Peaks, Resource};

pub(super) fn executor_added(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let mut added = ExecutorAdded::default();
    let keys: [&[u8]; 3] = [b"\"Timestamp\":", b"\"Executor ID\":", b"\"Executor Info\":"];
    let info_keys: [&[u8]; 4] =
        [b"\"Host\":", b"\"Total Cores\":", b"\"Resources\":", b"\"Resource Profile Id\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => added.at = cursor.integer_or_skip()?,
            1 => added.id = strings.read(cursor)?,
            _ => cursor.members(&info_keys, |key, cursor| {
                match key {
                    0 => added.host = strings.read(cursor)?,
                    1 => added.cores = cursor.integer_or_skip()?,
                    2 => added.resources = resources(cursor)?,
                    _ => added.resource_profile = cursor.integer_or_skip()?,
                }
                Ok(())
            })?,
        }
        Ok(())
    })?;
    Ok(Event::ExecutorAdded(added))
}

/// `{"gpu":{"name":"gpu","addresses":["0","1"]},…}`
fn resources(cursor: &mut Cursor<'_>) -> Scan<Vec<Resource>> {
    let mut resources = Vec::new();
    cursor.each_member(|name, cursor| {
        let mut units = 0_u32;
        cursor.members(&[b"\"addresses\":"], |_, cursor| {
            cursor.elements(|cursor| {
                units = units.saturating_add(1);
                cursor.skip_value()
            })
        })?;
        let name = name.text();
        if units > 0 && resources.len() < MAX_RESOURCES && name.len() <= MAX_NAME_LEN {
            resources.push(Resource { name: name.into_owned(), units });
        }
        Ok(())
    })?;
    Ok(resources)
}

pub(super) fn executor_removed(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut id, mut at, mut reason) = (None, None, None);
    let keys: [&[u8]; 3] = [b"\"Timestamp\":", b"\"Executor ID\":", b"\"Removed Reason\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => at = cursor.integer_or_skip()?,
            1 => id = strings.read(cursor)?,
            _ => reason = field(cursor, MAX_NAME_LEN)?,
        }
        Ok(())
    })?;
    Ok(Event::ExecutorRemoved { id, at, reason })
}

pub(super) fn executor_excluded(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut id, mut failures) = (None, None);
    cursor.members_after_first(&[b"\"executorId\":", b"\"taskFailures\":"], |key, cursor| {
        match key {
            0 => id = strings.read(cursor)?,
            _ => failures = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::ExecutorExcluded { id, failures })
}

pub(super) fn node_excluded(cursor: &mut Cursor<'_>, lifted: bool) -> Scan<Event> {
    let (mut host, mut at, mut failures, mut stage) = (None, None, None, None);
    let keys: [&[u8]; 4] = [b"\"time\":", b"\"hostId\":", b"\"executorFailures\":", b"\"stageId\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => at = cursor.integer_or_skip()?,
            1 => host = field(cursor, MAX_NAME_LEN)?,
            2 => failures = cursor.integer_or_skip()?,
            _ => stage = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    let of_stage = stage.is_some();
    Ok(Event::NodeExcluded { host, at, failures, lifted, of_stage })
}

fn block_manager_id(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<(Option<Local>, Option<Local>)> {
    let (mut id, mut host) = (None, None);
    cursor.members(&[b"\"Executor ID\":", b"\"Host\":"], |key, cursor| {
        match key {
            0 => id = strings.read(cursor)?,
            _ => host = strings.read(cursor)?,
        }
        Ok(())
    })?;
    Ok((id, host))
}

pub(super) fn block_manager_added(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let mut added = BlockManagerAdded::default();
    let keys: [&[u8]; 5] = [
        b"\"Block Manager ID\":",
        b"\"Maximum Memory\":",
        b"\"Timestamp\":",
        b"\"Maximum Onheap Memory\":",
        b"\"Maximum Offheap Memory\":",
    ];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => (added.id, added.host) = block_manager_id(cursor, strings)?,
            1 => added.memory = Some(BlockMemory::read(cursor)?),
            2 => added.at = cursor.integer_or_skip()?,
            3 => added.on_heap = cursor.integer_or_skip()?,
            _ => added.off_heap = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::BlockManagerAdded(added))
}

pub(super) fn block_manager_removed(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut id, mut at) = (None, None);
    cursor.members_after_first(&[b"\"Block Manager ID\":", b"\"Timestamp\":"], |key, cursor| {
        match key {
            0 => id = block_manager_id(cursor, strings)?.0,
            _ => at = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::BlockManagerRemoved { id, at })
}

pub(super) fn block_updated(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut executor, mut block, mut memory) = (None, None, None);
    let keys: [&[u8]; 3] = [b"\"Block Manager ID\":", b"\"Block ID\":", b"\"Memory Size\":"];
    cursor.members_after_first(&[b"\"Block Updated Info\":"], |_, cursor| {
        cursor.members(&keys, |key, cursor| {
            match key {
                0 => executor = block_manager_id(cursor, strings)?.0,
                1 => block = RddBlock::read(cursor)?,
                _ => memory = Some(BlockMemory::read(cursor)?),
            }
            Ok(())
        })
    })?;
    Ok(Event::BlockUpdated { executor, block, memory })
}

pub(super) fn stage_executor_metrics(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut executor, mut highest) = (None, Peaks::default());
    let (mut stage, mut attempt) = (None, None);
    let keys: [&[u8]; 4] =
        [b"\"Executor ID\":", b"\"Stage ID\":", b"\"Stage Attempt ID\":", b"\"Executor Metrics\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => executor = strings.read(cursor)?,
            1 => stage = cursor.integer_or_skip()?,
            2 => attempt = cursor.integer_or_skip()?,
            _ => peaks(cursor, &mut highest)?,
        }
        Ok(())
    })?;
    Ok(Event::Peaks { stage: stage_attempt(stage, attempt), executor, peaks: highest })
}

pub(super) fn executor_metrics_update(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut executor, mut highest) = (None, Peaks::default());
    let keys: [&[u8]; 2] = [b"\"Executor ID\":", b"\"Executor Metrics Updated\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => executor = strings.read(cursor)?,
            _ => cursor.elements(|cursor| {
                cursor.members(&[b"\"Executor Metrics\":"], |_, cursor| peaks(cursor, &mut highest))
            })?,
        }
        Ok(())
    })?;
    Ok(Event::Peaks { stage: None, executor, peaks: highest })
}
