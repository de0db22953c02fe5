//! Jobs.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Event, JobStart, MAX_NAME_LEN, either_way, failure_field, integers, last_member, push, text};
use crate::scan::{Cursor, RawStr, Scan, Unexpected};
use elephant_model::model::spark::JobResult;

pub(super) fn job_start(cursor: &mut Cursor<'_>) -> Scan<Event> {
    either_way(cursor, job_start_with).map(Event::JobStart)
}

fn job_start_with(cursor: &mut Cursor<'_>, shortcut: bool) -> Scan<JobStart> {
    let mut job = JobStart::default();
    let keys: [&[u8]; 5] =
        [b"\"Job ID\":", b"\"Submission Time\":", b"\"Stage Infos\":", b"\"Stage IDs\":", b"\"Properties\":"];
    let mut infos = Vec::new();
    let mut last_stage = None;
    let mut has_properties = false;
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => job.id = cursor.integer_or_skip()?,
            1 => job.at = cursor.integer_or_skip()?,
            2 => {
                let in_order = job.id.is_some() && job.at.is_some();
                cursor.elements(|cursor| {
                    let (id, name) = stage_id_and_name(cursor, shortcut && in_order)?;
                    if let Some(id) = id {
                        push(&mut infos, id);
                    }
                    if id.is_some() && id >= last_stage {
                        last_stage = id;
                        job.last_stage_name = text(name, MAX_NAME_LEN);
                    }
                    Ok(())
                })?;
            }
            3 => integers(cursor, &mut job.stages)?,
            _ => {
                has_properties = true;
                job_properties(cursor, &mut job, shortcut)?;
            }
        }
        Ok(())
    })?;
    // The shortcut may have mistaken the end of the stages, and skipped the properties with them.
    if shortcut && !has_properties {
        return Err(Unexpected);
    }
    if job.stages.is_empty() {
        job.stages = infos;
    }
    Ok(job)
}

/// Reads only the id and name of a stage, which may never run. The shortcut ends at the next stage, or at the member
/// after the last one.
fn stage_id_and_name<'a>(cursor: &mut Cursor<'a>, shortcut: bool) -> Scan<(Option<i64>, Option<RawStr<'a>>)> {
    let (mut id, mut name) = (None, None);
    cursor.members(&[b"\"Stage ID\":", b"\"Stage Name\":"], |key, cursor| {
        if key == 0 {
            id = cursor.integer_or_skip()?;
            return Ok(());
        }
        name = cursor.string_or_skip()?;
        if shortcut && id.is_some() { skip_to_end_of_stage(cursor) } else { Ok(()) }
    })?;
    Ok((id, name))
}

/// Skips to the bracket that ends a stage, which the next stage or the stages' ids follow.
fn skip_to_end_of_stage(cursor: &mut Cursor<'_>) -> Scan<()> {
    static NEXT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"Stage ID"));
    const BEFORE: usize = b"},{".len();
    let rest = cursor.rest();
    let end = NEXT.find(rest).and_then(|at| at.checked_sub(BEFORE)).ok_or(Unexpected)?;
    let next = rest.get(end..).unwrap_or_default();
    if !next.starts_with(b"},{\"Stage ID\":") && !next.starts_with(b"}],\"Stage IDs\":") {
        return Err(Unexpected);
    }
    cursor.skip(end);
    Ok(())
}

/// Reads a job's properties. They repeat the whole configuration, so they are searched, not parsed.
fn job_properties(cursor: &mut Cursor<'_>, job: &mut JobStart, shortcut: bool) -> Scan<()> {
    static EXECUTION: LazyLock<Finder<'static>> =
        LazyLock::new(|| Finder::new(b"\"spark.sql.execution.id\""));
    static DESCRIPTION: LazyLock<Finder<'static>> =
        LazyLock::new(|| Finder::new(b"\"spark.job.description\""));
    static GROUP: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"spark.jobGroup.id\""));
    // Structured Streaming, and streams of RDDs.
    static BATCHES: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| {
        ["\"streaming.sql.batchId\"", "\"spark.streaming.internal.batchTime\""].map(Finder::new)
    });
    let properties = last_member(cursor, shortcut)?;
    let find = |key: &Finder<'_>| {
        let at = key.find(properties)?;
        let mut value = Cursor::new(properties.get(at + key.needle().len()..)?);
        value.take(b':').then_some(())?;
        value.string().ok()
    };
    job.sql_execution = find(&EXECUTION).and_then(|id| id.text().parse().ok());
    job.description = text(find(&DESCRIPTION), MAX_NAME_LEN);
    job.group = text(find(&GROUP), MAX_NAME_LEN);
    // Streams describe their jobs; most other jobs have no description, so that the search ends here.
    job.of_stream = job.description.is_some() && BATCHES.iter().any(|key| find(key).is_some());
    Ok(())
}

pub(super) fn job_end(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut id, mut at, mut result, mut failure) = (None, None, None, None);
    let keys: [&[u8]; 3] = [b"\"Job ID\":", b"\"Completion Time\":", b"\"Job Result\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            1 => at = cursor.integer_or_skip()?,
            _ => cursor.members(&[b"\"Result\":", b"\"Exception\":"], |key, cursor| {
                match key {
                    0 => result = cursor.string_or_skip()?,
                    _ => cursor.members(&[b"\"Message\":"], |_, cursor| {
                        failure = failure_field(cursor)?;
                        Ok(())
                    })?,
                }
                Ok(())
            })?,
        }
        Ok(())
    })?;
    let result = result.map(RawStr::text).and_then(|result| match &*result {
        "JobSucceeded" => Some(JobResult::Succeeded),
        "JobFailed" => Some(JobResult::Failed),
        _ => None,
    });
    Ok(Event::JobEnd { id, at, result, failure })
}
