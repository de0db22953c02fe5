//! Writes applications into a store.

use rusqlite::{Connection, OptionalExtension, params};

use super::{MB_SECONDS_PER_GB_HOUR, MS_PER_HOUR, StoreError, configured};
use crate::baseline::measure;
use crate::results::{ApplicationReport, NodeWork};
use crate::savings::Amounts;
use crate::troubles::Trouble;
use crate::units::{Bytes, Millis, Timestamp};

/// Writes an application; an earlier record of the same application from the same file is replaced.
pub(super) fn application(
    connection: &Connection,
    run: i64,
    app: &ApplicationReport,
) -> Result<(), StoreError> {
    let attempt = app.attempt.as_deref().unwrap_or_default();
    let source = app.sources.first().map(String::as_str).unwrap_or_default();
    connection
        .prepare_cached("DELETE FROM application WHERE id = ?1 AND attempt = ?2 AND source = ?3")?
        .execute(params![app.id, attempt, source])?;
    let metrics = &app.metrics;
    let tasks =
        metrics.tasks.iter().map(|(_, counts)| counts.map(|counts| counts.total)).sum::<Option<u64>>();
    let cores = metrics.cores_used.zip(metrics.cores_idle).map(|(used, idle)| used + idle);
    let joint = app.savings.as_ref().map(|savings| &savings.joint);
    let saved = Saved::of(joint);
    connection
        .prepare_cached(
            "INSERT INTO application (id, attempt, source, files, run, job, engine, name, user, queue, status, complete, judged, \
             submitted, finished, run_time, severity, score, tasks, used, wasted, core_time, saved_time, saved_memory, \
             saved_core_time, configuration, task_time, failed_attempts, input, nodes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, \
             ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)",
        )?
        .execute(params![
            app.id,
            attempt,
            source,
            whole(app.sources.len() as u64),
            run,
            job(connection, app)?,
            app.engine.name(),
            app.name,
            app.user,
            app.queue,
            app.status.name(),
            app.complete,
            app.judged,
            app.submitted_at.or(app.started_at).map(Timestamp::as_millis),
            app.finished_at.map(Timestamp::as_millis),
            metrics.run_time.map(Millis::get).map(whole),
            whole(app.severity.value()),
            whole(app.score),
            tasks.map(whole),
            metrics.used.map(|used| rounded(used.as_mb_seconds())),
            metrics.wasted.map(|wasted| rounded(wasted.as_mb_seconds())),
            cores.map(|cores| rounded(cores.as_core_hours() * MS_PER_HOUR)),
            saved.time,
            saved.memory,
            saved.cores,
            app.configuration.as_deref().map(|conf| configured::place(connection, conf)).transpose()?,
            app.work.task_time.map(Millis::get).map(whole),
            app.work.failed_attempts.map(whole),
            app.work.input.map(Bytes::get).map(whole),
            (!app.nodes.is_empty()).then(|| whole(app.nodes.len() as u64)),
        ])?;
    let place = connection.last_insert_rowid();
    details(connection, place, app)?;
    app.nodes.iter().try_for_each(|node| node_work(connection, place, node))?;
    choose_among_copies(connection, &app.id, attempt)
}

/// The place of the application's job.
fn job(connection: &Connection, app: &ApplicationReport) -> Result<i64, StoreError> {
    let key = app.compared_job();
    let known = connection
        .prepare_cached("SELECT job FROM job WHERE key = ?1")?
        .query_row([key.as_str()], |row| row.get(0))
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    connection
        .prepare_cached("INSERT INTO job (key, engine, name) VALUES (?1, ?2, ?3)")?
        .execute(params![key.as_str(), app.engine.name(), app.name])?;
    Ok(connection.last_insert_rowid())
}

fn details(connection: &Connection, place: i64, app: &ApplicationReport) -> Result<(), StoreError> {
    let mut findings =
        connection.prepare_cached("INSERT INTO finding VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for (n, finding) in (0_i64..).zip(&app.findings) {
        let (subject, severity) = (app.subject_key(&finding.subject), whole(finding.severity.value()));
        let key = finding.rule_facts.key_measure.map(|measure| measure.key);
        let (message, value) = (&finding.message, measure::value(finding));
        findings.execute(params![place, n, &*finding.rule, severity, subject, message, key, value])?;
    }
    let mut troubles =
        connection.prepare_cached("INSERT INTO trouble VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for (n, trouble) in (0_i64..).zip(&app.troubles) {
        let saved = Saved::of(trouble.savings.share.as_ref());
        let (kind, severity) = (trouble.kind.name(), whole(trouble.severity.value()));
        let remedy = remedy(trouble);
        troubles.execute(params![
            place,
            n,
            kind,
            severity,
            trouble.cause,
            remedy,
            saved.time,
            saved.memory
        ])?;
    }
    let mut settings = connection.prepare_cached("INSERT INTO setting VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (n, recommended) in (0_i64..).zip(&app.recommended) {
        let change = &recommended.change;
        settings.execute(params![place, n, change.setting, change.from, change.to])?;
    }
    Ok(())
}

/// Writes what the application did on one node. Triggers add it to the sums of the day.
fn node_work(connection: &Connection, place: i64, work: &NodeWork) -> Result<(), StoreError> {
    let known = connection
        .prepare_cached("SELECT node FROM node WHERE name = ?1")?
        .query_row([&work.node], |row| row.get::<_, i64>(0))
        .optional()?;
    let node = if let Some(known) = known {
        known
    } else {
        connection.prepare_cached("INSERT INTO node (name) VALUES (?1)")?.execute([&work.node])?;
        connection.last_insert_rowid()
    };
    connection
        .prepare_cached("INSERT INTO node_work VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?
        .execute(params![
            place,
            node,
            whole(work.attempts),
            whole(work.failed),
            work.task_time.map(Millis::get).map(whole),
            whole(work.lost_executors),
            whole(work.node_failures),
            whole(work.compared),
            whole(work.stragglers),
            work.score,
            work.squares,
        ])?;
    Ok(())
}

/// What to do first.
fn remedy(trouble: &Trouble) -> Option<&str> {
    trouble.advice.first().map(|advice| advice.text.as_str())
}

/// Chooses among copies as the engine does: complete histories with the same content are copies of the one of most files, of
/// equal ones the first by name; an incomplete one is a copy of any that tells more of the same run.
const CHOOSE: &str = "UPDATE application AS own SET counts = NOT EXISTS (SELECT 1 FROM application AS other WHERE other.id = \
     own.id AND other.attempt = own.attempt AND other.source <> own.source AND other.engine = own.engine AND other.submitted \
     IS own.submitted AND other.name IS own.name AND other.user IS own.user AND CASE WHEN own.complete THEN other.complete \
     AND other.finished IS own.finished AND other.tasks IS own.tasks AND (-other.files, other.source) < (-own.files, own.source) ELSE (other.complete, \
     other.finished IS NOT NULL, coalesce(other.tasks, -1)) > (0, own.finished IS NOT NULL, coalesce(own.tasks, -1)) OR \
     ((other.complete, other.finished IS NOT NULL, coalesce(other.tasks, -1)) = (0, own.finished IS NOT NULL, \
     coalesce(own.tasks, -1)) AND other.source < own.source) END)";

fn choose_among_copies(connection: &Connection, id: &str, attempt: &str) -> Result<(), StoreError> {
    connection
        .prepare_cached(&format!("{CHOOSE} WHERE own.id = ?1 AND own.attempt = ?2"))?
        .execute([id, attempt])?;
    Ok(())
}

/// Chooses again where a copy did not count: the one that counted may be gone.
pub(super) fn choose_again(connection: &Connection) -> Result<(), StoreError> {
    connection.execute(&format!("{CHOOSE} WHERE NOT own.counts"), [])?;
    Ok(())
}

/// Savings in the units of the tables.
#[derive(Default)]
struct Saved {
    time: Option<i64>,
    memory: Option<i64>,
    cores: Option<i64>,
}

impl Saved {
    fn of(amounts: Option<&Amounts>) -> Self {
        amounts.map_or_else(Self::default, |amounts| Self {
            time: Some(rounded(amounts.wall_ms.point)),
            memory: amounts.gb_hours.map(|range| rounded(range.point * MB_SECONDS_PER_GB_HOUR)),
            cores: amounts.core_hours.map(|range| rounded(range.point * MS_PER_HOUR)),
        })
    }
}

/// The database has no unsigned numbers.
fn whole(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[allow(clippy::cast_possible_truncation)] // saturates
fn rounded(value: f64) -> i64 {
    value.round() as i64
}
