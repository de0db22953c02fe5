//! Jobs.

use memchr::memmem;

use super::{Event, JobStart, MAX_NAME_LEN, field, integers, push, text};
use crate::model::spark::JobResult;
use crate::parse::scan::{Cursor, RawStr, Scan};

pub(super) fn job_start(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut job = JobStart::default();
    let keys: [&[u8]; 5] =
        [b"\"Job ID\":", b"\"Submission Time\":", b"\"Stage Infos\":", b"\"Stage IDs\":", b"\"Properties\":"];
    let mut infos = Vec::new();
    let mut last_stage = None;
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => job.id = cursor.integer_or_skip()?,
            1 => job.at = cursor.integer_or_skip()?,
            2 => cursor.elements(|cursor| {
                let (id, name) = stage_id_and_name(cursor)?;
                if let Some(id) = id {
                    push(&mut infos, id);
                }
                if id.is_some() && id >= last_stage {
                    last_stage = id;
                    job.last_stage_name = text(name, MAX_NAME_LEN);
                }
                Ok(())
            })?,
            3 => integers(cursor, &mut job.stages)?,
            _ => job_properties(cursor, &mut job)?,
        }
        Ok(())
    })?;
    if job.stages.is_empty() {
        job.stages = infos;
    }
    Ok(Event::JobStart(job))
}

/// Reads only the id and name of a stage, which may never run.
fn stage_id_and_name<'a>(cursor: &mut Cursor<'a>) -> Scan<(Option<i64>, Option<RawStr<'a>>)> {
    let (mut id, mut name) = (None, None);
    cursor.members(&[b"\"Stage ID\":", b"\"Stage Name\":"], |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            _ => name = cursor.string_or_skip()?,
        }
        Ok(())
    })?;
    Ok((id, name))
}

/// Reads a job's properties. They repeat the whole configuration, so they are searched, not parsed.
fn job_properties(cursor: &mut Cursor<'_>, job: &mut JobStart) -> Scan<()> {
    let properties = cursor.value()?;
    let find = |key: &[u8]| {
        let at = memmem::find(properties, key)?;
        let mut value = Cursor::new(properties.get(at + key.len()..)?);
        value.take(b':').then_some(())?;
        value.string().ok()
    };
    job.sql_execution = find(b"\"spark.sql.execution.id\"").and_then(|id| id.text().parse().ok());
    job.description = text(find(b"\"spark.job.description\""), MAX_NAME_LEN);
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
                        failure = field(cursor, MAX_NAME_LEN)?;
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
