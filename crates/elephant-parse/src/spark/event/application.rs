//! The application itself: version, start, end, configuration.

use super::{ApplicationStart, Event, MAX_NAME_LEN, MAX_RESOURCES, field, push};
use crate::reading::{MAX_TEXT_LEN, truncate};
use crate::scan::{Cursor, Scan};
use elephant_base::units::Bytes;
use elephant_model::model::spark::{Resource, ResourceProfile, TaskResource};

pub(super) fn log_start(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut version = None;
    cursor.members_after_first(&[b"\"Spark Version\":"], |_, cursor| {
        version = field(cursor, MAX_NAME_LEN)?;
        Ok(())
    })?;
    Ok(Event::LogStart { version })
}

pub(super) fn rollover(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut version, mut number) = (None, None);
    cursor.members_after_first(&[b"\"Spark Version\":", b"\"Rollover Number\":"], |key, cursor| {
        match key {
            0 => version = field(cursor, MAX_NAME_LEN)?,
            _ => number = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::Rollover { version, number })
}

pub(super) fn application_start(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut start = ApplicationStart::default();
    let keys: [&[u8]; 5] =
        [b"\"App Name\":", b"\"App ID\":", b"\"Timestamp\":", b"\"User\":", b"\"App Attempt ID\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => start.name = field(cursor, MAX_TEXT_LEN)?,
            1 => start.id = field(cursor, MAX_NAME_LEN)?,
            2 => start.at = cursor.integer_or_skip()?,
            3 => start.user = field(cursor, MAX_NAME_LEN)?,
            _ => start.attempt = field(cursor, MAX_NAME_LEN)?,
        }
        Ok(())
    })?;
    Ok(Event::ApplicationStart(start))
}

pub(super) fn application_end(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut at, mut exit_code) = (None, None);
    cursor.members_after_first(&[b"\"Timestamp\":", b"\"ExitCode\":"], |key, cursor| {
        match key {
            0 => at = cursor.integer_or_skip()?,
            _ => exit_code = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::ApplicationEnd { at, exit_code })
}

/// Spark's properties, and those of Hadoop's that determine container sizes.
pub(super) fn environment(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut properties = Vec::new();
    let keys: [&[u8]; 2] = [b"\"Spark Properties\":", b"\"Hadoop Properties\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        let prefix = if key == 0 { "" } else { "yarn.scheduler." };
        // Before Spark 1.0 this was an array of pairs.
        cursor.each_pair(|name, value| {
            // There are about a thousand Hadoop properties.
            if name.escaped || name.bytes.starts_with(prefix.as_bytes()) {
                let name = name.text();
                if name.starts_with(prefix) {
                    let value = truncate(&value.text(), MAX_TEXT_LEN).to_owned();
                    push(&mut properties, (name.into_owned(), value));
                }
            }
        })
    })?;
    Ok(Event::Environment(properties))
}

pub(super) fn resource_profile(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut profile = ResourceProfile::default();
    let keys: [&[u8]; 3] =
        [b"\"Resource Profile Id\":", b"\"Executor Resource Requests\":", b"\"Task Resource Requests\":"];
    cursor.members_after_first(&keys, |key, cursor| match key {
        0 => {
            let id = cursor.integer_or_skip()?;
            profile.id = id.and_then(|id| u32::try_from(id).ok()).unwrap_or_default();
            Ok(())
        }
        1 => amounts(cursor, |name, amount| {
            // Sizes are in MiB.
            let size = Bytes::from_f64(amount).map(|mib| Bytes::from_mib(mib.get()));
            match name {
                b"cores" => profile.cores = whole(amount),
                b"memory" => profile.memory = size,
                b"memoryOverhead" => profile.overhead = size,
                b"offHeap" => profile.off_heap = size,
                b"pyspark.memory" => profile.pyspark = size,
                _ if profile.resources.len() < MAX_RESOURCES => {
                    let resource = named(name).zip(whole(amount));
                    let resource = resource.map(|(name, units)| Resource { name: name.to_owned(), units });
                    profile.resources.extend(resource);
                }
                _ => {}
            }
        }),
        _ => amounts(cursor, |name, amount| {
            if name == b"cpus" {
                profile.task_cpus_thousandths = whole(amount * 1000.0);
            } else if profile.task_resources.len() < MAX_RESOURCES {
                let needed = named(name).and_then(|name| TaskResource::of(name, amount));
                profile.task_resources.extend(needed);
            }
        }),
    })?;
    Ok(Event::ResourceProfile(profile))
}

/// The name of a resource other than cores and memory.
fn named(name: &[u8]) -> Option<&str> {
    std::str::from_utf8(name).ok().filter(|name| name.len() <= MAX_NAME_LEN)
}

fn whole(amount: f64) -> Option<u32> {
    Bytes::from_f64(amount.round()).and_then(|whole| u32::try_from(whole.get()).ok())
}

/// `{"cores":{"Resource Name":"cores","Amount":4,…},…}`
fn amounts(cursor: &mut Cursor<'_>, mut amount: impl FnMut(&[u8], f64)) -> Scan<()> {
    cursor.each_member(|name, cursor| {
        let mut written: &[u8] = &[];
        cursor.members(&[b"\"Amount\":"], |_, cursor| {
            written = cursor.value()?;
            Ok(())
        })?;
        if let Some(value) = std::str::from_utf8(written).ok().and_then(|text| text.parse().ok()) {
            amount(name.bytes, value);
        }
        Ok(())
    })
}
