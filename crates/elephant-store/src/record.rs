//! Writes applications into a store.

mod details;

use std::borrow::Cow;
use std::path::Path;

use twox_hash::XxHash3_128;

use super::address::without_cluster;
use super::database::{Database, Value, values};
use super::saved::Saved;
use super::sums::{self, Sign};
use super::{MS_PER_HOUR, StoreError, configured, copies, phases};
use elephant_base::limits;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_base::whole::Whole;
use elephant_engine::results::ApplicationReport;
use elephant_input::unit::{self, Unit};
use elephant_ruleset::JobIdentity;
use elephant_verdict::savings::SavingStatus;
use elephant_verdict::troubles::Trouble;

/// Longer names in keys are cut, because indexes refuse long texts. No real name is as long.
const LONGEST_NAME: usize = 500;

/// Where an application was found, as the store has it.
pub(super) struct Origin<'f> {
    /// The address of its first file, or of the member of an archive.
    pub(super) source: &'f str,
    /// The cluster that the user named.
    pub(super) cluster: Option<&'f str>,
    /// Whether an earlier record of it was found in what is now this file: under an earlier name, or as a path that was
    /// stored as the user had named it.
    pub(super) replaces: Replaces<'f>,
}

/// The records that another one replaces, besides that of the same file.
pub(super) struct Replaces<'f> {
    /// The source of a record.
    pub(super) has: &'f dyn Fn(&str) -> bool,
    /// Whether they may be any records of the application. Otherwise, they are from the same file or log.
    pub(super) any: bool,
}

/// Writes an application, and returns its place; an earlier record of the same application from the same file is replaced.
pub(super) fn application(database: &Database, run: i64, app: &ApplicationReport) -> Result<i64, StoreError> {
    let source = app.sources.first().map(String::as_str).unwrap_or_default();
    let replaces = Replaces { has: &|_| false, any: false };
    replacing(database, run, app, &Origin { source, cluster: None, replaces })
}

/// Writes an application, and returns its place. Earlier records of it are replaced if they are from the same file. If
/// there are others, it counts once it is [decided](super::copies) which of them do.
pub(super) fn replacing(
    database: &Database,
    run: i64,
    app: &ApplicationReport,
    origin: &Origin<'_>,
) -> Result<i64, StoreError> {
    let (id, attempt) = (bounded(&app.id), bounded(app.attempt.as_deref().unwrap_or_default()));
    let replaced = replaced(database, (&id, &attempt), began(app), origin)?;
    delete(database, &replaced)?;
    let query = "SELECT 1 AS other FROM application WHERE id = ?1 AND attempt = ?2 LIMIT 1";
    let other = database.first(query, &values![&*id, &*attempt], |row| row.get::<i32>("other"))?;
    let is_alone = other.is_none();
    let counts = is_alone || replaced.iter().any(|(_, counts)| *counts);
    let place = insert(database, run, app, ((&id, &attempt), origin, counts))?;
    details::write(database, place, app)?;
    if counts {
        sums::change(database, Sign::Add, &[place])?;
    }
    if !is_alone {
        copies::undecided(database, &id, &attempt)?;
    }
    Ok(place)
}

/// The earlier records that one from this file replaces.
fn replaced(
    database: &Database,
    (id, attempt): (&str, &str),
    began: Option<Timestamp>,
    origin: &Origin<'_>,
) -> Result<Vec<Copy>, StoreError> {
    let find = |condition: &str, more: &[Value<'_>]| {
        let query = format!(
            "SELECT application, counts, source, submitted FROM application WHERE id = ?1 AND attempt = ?2 AND {condition}"
        );
        let values: Vec<Value<'_>> = values![id, attempt].into_iter().chain(more.iter().cloned()).collect();
        database.rows(&query, &values, |row| {
            let submitted = row.get::<Option<i64>>("submitted")?.map(Timestamp::from_millis);
            let is_same = began.zip(submitted).is_none_or(|(began, submitted)| began == submitted);
            let copy: Copy = (row.get("application")?, row.get("counts")?);
            Ok((copy, row.get::<String>("source")?, is_same))
        })
    };
    let source = origin.source;
    let mut found = if origin.replaces.any {
        find("TRUE", &[])?
    } else {
        find("source IN (?3, ?4, ?5)", &values![source, unit::in_progress(source), without_cluster(source)])?
    };
    if let (Unit::Log(folder, _), false) = (Unit::of(Path::new(source)), origin.replaces.any) {
        let folder = folder.to_string_lossy();
        // `0` is the next character after `/`.
        let earlier = values![format!("{folder}/"), format!("{folder}0"), source];
        found.extend(find("source > ?3 AND source < ?4 AND source <> ?5", &earlier)?);
    }
    // The user may name the cluster later.
    let is_own = |earlier: &str| earlier == without_cluster(source) || (origin.replaces.has)(earlier);
    found.retain(|(_, earlier, is_same)| earlier == source || *is_same && is_own(earlier));
    Ok(found.into_iter().map(|(copy, ..)| copy).collect())
}

/// When an application began, as far as it is known.
pub(super) fn began(app: &ApplicationReport) -> Option<Timestamp> {
    app.submitted_at.or(app.started_at)
}

/// Whether the store has better figures of an application that a limit cut, from the same file: of a complete history, or
/// with more tasks. Where the time limit ends the reading depends on chance, so that any earlier ones are better.
pub(super) fn is_better_known(
    database: &Database,
    app: &ApplicationReport,
    source: &str,
) -> Result<bool, StoreError> {
    let (id, attempt) = (bounded(&app.id), bounded(app.attempt.as_deref().unwrap_or_default()));
    let query = "SELECT count(*) FROM application WHERE id = ?1 AND attempt = ?2 AND source = ?3 AND (?4 OR complete = TRUE \
                 OR tasks IS NOT NULL AND (CAST(?5 AS BIGINT) IS NULL OR tasks > ?5))";
    let asked =
        values![&*id, &*attempt, source, app.limit.as_deref() == Some(limits::TIME), tasks(app).map(whole)];
    Ok(database.count(query, &asked)? > 0)
}

/// The tasks of an application, if their number is known.
fn tasks(app: &ApplicationReport) -> Option<u64> {
    app.metrics.tasks.iter().map(|(_, counts)| counts.map(|counts| counts.total)).sum()
}

/// Their attempts.
fn attempts(app: &ApplicationReport) -> Option<u64> {
    app.metrics.tasks.iter().map(|(_, counts)| counts.map(|counts| counts.attempts)).sum()
}

/// Fails if the connection was re-established and the last application that this run wrote before is gone.
pub(super) fn check_last(database: &Database, run: i64, last: Option<Written>) -> Result<(), StoreError> {
    let Some(Written { place, reconnections }) = last else { return Ok(()) };
    if reconnections == database.backend().reconnections() {
        return Ok(());
    }
    let query = "SELECT count(*) FROM application WHERE application = ?1 AND run = ?2";
    match database.count(query, &values![place, run])? {
        0 => Err(StoreError::Forgotten),
        _ => Ok(()),
    }
}

/// The last application of a run that was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub(super) place: i64,
    /// How often the connection had been re-established by then.
    pub(super) reconnections: u32,
}

/// Which of these copies count.
fn counted(copies: impl IntoIterator<Item = (i64, bool)>) -> Vec<i64> {
    copies.into_iter().filter(|(_, counts)| *counts).map(|(application, _)| application).collect()
}

/// Inserts the row of an application, and returns its place.
fn insert(
    database: &Database,
    run: i64,
    app: &ApplicationReport,
    ((id, attempt), origin, counts): ((&str, &str), &Origin<'_>, bool),
) -> Result<i64, StoreError> {
    let metrics = &app.metrics;
    let cores = metrics.cores_used.zip(metrics.cores_idle).map(|(used, idle)| used + idle);
    let is_known = |trouble: &Trouble| !matches!(trouble.savings.status, SavingStatus::Unknown(_));
    let some_known = app.troubles.is_empty() || app.troubles.iter().any(is_known);
    let savings = app.savings.as_ref().filter(|_| some_known);
    let expected = savings.map(|savings| savings.expected(app.troubles.iter().map(|it| &it.savings)));
    let saved = Saved::of(expected);
    let (job, configuration) = job_and_configuration(database, app)?;
    let cluster = origin.cluster.or(app.cluster.as_deref());
    let columns = [
        ("id", id.into()),
        ("attempt", attempt.into()),
        ("source", origin.source.into()),
        ("cluster", cluster.map(bounded).into()),
        ("incomplete", app.incomplete.as_deref().into()),
        ("files", whole(app.sources.len() as u64).into()),
        ("run", run.into()),
        ("job", job.into()),
        ("engine", app.engine.name().into()),
        ("name", app.name.as_deref().into()),
        ("\"user\"", app.user.as_deref().map(bounded).into()),
        ("queue", app.queue.as_deref().map(bounded).into()),
        ("status", app.status.name().into()),
        ("complete", app.complete.into()),
        ("judged", app.judged.into()),
        ("counts", counts.into()),
        ("submitted", began(app).map(Timestamp::as_millis).into()),
        ("finished", app.finished_at.map(Timestamp::as_millis).into()),
        ("run_time", metrics.run_time.map(Millis::get).map(whole).into()),
        ("severity", whole(app.severity.value()).into()),
        ("score", whole(app.score).into()),
        ("tasks", tasks(app).map(whole).into()),
        ("attempts", attempts(app).map(whole).into()),
        ("used", metrics.used.map(|used| rounded(used.as_mb_seconds())).into()),
        ("wasted", metrics.wasted.map(|wasted| rounded(wasted.as_mb_seconds())).into()),
        ("core_time", cores.map(|cores| rounded(cores.as_core_hours() * MS_PER_HOUR)).into()),
        ("saved_time", saved.time.into()),
        ("saved_memory", saved.memory.into()),
        ("saved_core_time", saved.cores.into()),
        ("limit_time", saved.limit.into()),
        ("configuration", configuration.into()),
        ("task_time", app.work.task_time.map(Millis::get).map(whole).into()),
        ("failed_attempts", app.work.failed_attempts.map(whole).into()),
        ("input", app.work.input.map(Bytes::get).map(whole).into()),
        ("phases", phases::text(app).into()),
        ("nodes", (!app.nodes.is_empty()).then(|| whole(app.nodes.len() as u64)).into()),
    ];
    database.insert_row(("application", "application"), columns.into_iter().chain(of_scheduler(app)))
}

/// What a scheduler calls an application.
fn of_scheduler(app: &ApplicationReport) -> [(&'static str, Value<'_>); 6] {
    let identity = app.identity.as_ref();
    let field = |field: fn(&JobIdentity) -> Option<&str>| identity.and_then(field).map(bounded);
    let flow = identity.and_then(JobIdentity::whole_flow).map(|flow| bounded(&flow).into_owned());
    [
        ("scheduler", identity.map(|known| known.scheduler.as_str()).into()),
        ("flow", flow.into()),
        ("flow_run", field(|known| known.run.as_deref()).into()),
        ("task", field(|known| known.task.as_deref()).into()),
        ("owner", field(|known| known.owner.as_deref()).into()),
        ("link", identity.and_then(|known| known.link.as_deref()).into()),
    ]
}

/// The places of the application's job, and of the settings that decide what it costs.
fn job_and_configuration(
    database: &Database,
    app: &ApplicationReport,
) -> Result<(i64, Option<i64>), StoreError> {
    let (key, settings) = (app.compared_job(), app.configuration.as_deref().map(configured::text));
    let known = database.first(
        "SELECT (SELECT job FROM job WHERE key = ?1), (SELECT configuration FROM configuration WHERE settings = ?2)",
        &values![key.as_str(), settings.as_deref()],
        |row| Ok((row.get::<Option<i64>>(0)?, row.get::<Option<i64>>(1)?)),
    )?;
    let (job, configuration) = known.unwrap_or_default();
    let job = job.map_or_else(
        || {
            database.insert(
                "INSERT INTO job (key, engine, name) VALUES (?1, ?2, ?3) RETURNING job",
                &values![key.as_str(), app.engine.name(), app.name.as_deref()],
            )
        },
        Ok,
    )?;
    let configuration = match (configuration, &settings) {
        (None, Some(settings)) => Some(configured::insert(database, settings)?),
        (known, _) => known,
    };
    Ok((job, configuration))
}

/// A name that fits into an index. A longer one is cut, and ends with a hash that distinguishes it.
pub(super) fn bounded(name: &str) -> Cow<'_, str> {
    if name.len() <= LONGEST_NAME {
        return Cow::Borrowed(name);
    }
    let begin = (0..=LONGEST_NAME).rev().find_map(|end| name.get(..end)).unwrap_or_default();
    Cow::Owned(format!("{begin}…{:032x}", XxHash3_128::oneshot(name.as_bytes())))
}

/// Removes the applications that meet a condition.
pub(super) fn remove(database: &Database, condition: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
    let query = format!("SELECT application, counts FROM application WHERE {condition}");
    let found = database.rows(&query, values, |row| Ok((row.get("application")?, row.get("counts")?)))?;
    if found.is_empty() {
        return Ok(0);
    }
    sums::change(database, Sign::Remove, &counted(found))?;
    database.execute(
        &format!(
            "INSERT INTO undecided (id, attempt) SELECT DISTINCT id, attempt FROM application WHERE {condition} ON CONFLICT \
             (id, attempt) DO NOTHING"
        ),
        values,
    )?;
    let removed = database.execute(&format!("DELETE FROM application WHERE {condition}"), values)?;
    let without_records = "DELETE FROM undecided WHERE NOT EXISTS (SELECT 1 FROM application WHERE application.id = \
                           undecided.id AND application.attempt = undecided.attempt)";
    database.execute(without_records, &[])?;
    Ok(removed)
}

/// The place of an application, and whether it counts.
pub(super) type Copy = (i64, bool);

/// Removes these applications.
pub(super) fn remove_copies(database: &Database, copies: &[Copy]) -> Result<(), StoreError> {
    if copies.is_empty() {
        return Ok(());
    }
    for (place, _) in copies {
        let others = "INSERT INTO undecided (id, attempt) SELECT id, attempt FROM application WHERE application = ?1 ON \
                      CONFLICT (id, attempt) DO NOTHING";
        database.send(others, &values![*place])?;
    }
    delete(database, copies)
}

/// The same, if it is known that others need not count in their place.
fn delete(database: &Database, copies: &[Copy]) -> Result<(), StoreError> {
    sums::change(database, Sign::Remove, &counted(copies.iter().copied()))?;
    for (place, _) in copies {
        database.send("DELETE FROM application WHERE application = ?1", &values![*place])?;
    }
    Ok(())
}

/// The database has no unsigned numbers.
pub(super) fn whole(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn rounded(value: f64) -> i64 {
    value.round().as_i64()
}

#[cfg(test)]
mod tests;
