//! Writes applications into a store.

use elephant_base::whole::Whole;
use std::borrow::Cow;
use std::collections::BTreeMap;

use twox_hash::XxHash3_128;

use super::database::{Database, Value, values};
use super::saved::{Saved, saved_by};
use super::sums::{self, Sign};
use super::{MS_PER_HOUR, StoreError, configured};
use elephant_base::limits;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_engine::baseline::measure;
use elephant_engine::results::{ApplicationReport, NodeWork};
use elephant_verdict::savings::SavingStatus;
use elephant_verdict::troubles::Trouble;

/// Longer names in keys are cut, because indexes refuse long texts. No real name is as long.
const LONGEST_NAME: usize = 500;

/// Nodes that one query looks up.
const NODES_AT_ONCE: usize = 200;

/// Writes an application, and returns its place; an earlier record of the same application from the same file is replaced.
pub(super) fn application(database: &Database, run: i64, app: &ApplicationReport) -> Result<i64, StoreError> {
    replacing(database, run, app, &|_| false)
}

/// Writes an application, and returns its place. Earlier records of it are replaced if they are from the same file, or
/// from one that `is_gone`.
pub(super) fn replacing(
    database: &Database,
    run: i64,
    app: &ApplicationReport,
    is_gone: &dyn Fn(&str) -> bool,
) -> Result<i64, StoreError> {
    let (id, attempt) = (bounded(&app.id), bounded(app.attempt.as_deref().unwrap_or_default()));
    let source = app.sources.first().map(String::as_str).unwrap_or_default();
    let copies = || {
        let query = "SELECT application, counts, source FROM application WHERE id = ?1 AND attempt = ?2";
        database.rows(query, &values![&*id, &*attempt], |row| {
            Ok(((row.get::<i64>(0)?, row.get::<bool>(1)?), row.get::<String>(2)?))
        })
    };
    let earlier = copies()?;
    sums::change(database, Sign::Remove, &counted(earlier.iter().map(|(copy, _)| *copy)))?;
    for ((place, _), _) in earlier.iter().filter(|(_, from)| from == source || is_gone(from)) {
        database.send("DELETE FROM application WHERE application = ?1", &values![*place])?;
    }
    let place = insert(database, run, app, (&id, &attempt, source))?;
    details(database, place, app)?;
    nodes(database, place, &app.nodes)?;
    if earlier.is_empty() {
        sums::change(database, Sign::Add, &[place])?;
        return Ok(place);
    }
    let mut now = copies()?;
    if now.len() > 1 {
        choose_among_copies(database, &id, &attempt)?;
        now = copies()?;
    }
    sums::change(database, Sign::Add, &counted(now.into_iter().map(|(copy, _)| copy)))?;
    Ok(place)
}

/// Whether the store has better figures of an application that a limit cut, from the same file: of a complete history, or
/// with more tasks. Where the time limit ends the reading depends on chance, so that any earlier ones are better.
pub(super) fn is_better_known(database: &Database, app: &ApplicationReport) -> Result<bool, StoreError> {
    let (id, attempt) = (bounded(&app.id), bounded(app.attempt.as_deref().unwrap_or_default()));
    let source = app.sources.first().map(String::as_str).unwrap_or_default();
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
    (id, attempt, source): (&str, &str, &str),
) -> Result<i64, StoreError> {
    let metrics = &app.metrics;
    let cores = metrics.cores_used.zip(metrics.cores_idle).map(|(used, idle)| used + idle);
    let is_known = |trouble: &Trouble| !matches!(trouble.savings.status, SavingStatus::Unknown(_));
    let some_known = app.troubles.is_empty() || app.troubles.iter().any(is_known);
    let savings = app.savings.as_ref().filter(|_| some_known);
    let expected = savings.map(|savings| savings.expected(app.troubles.iter().map(|it| &it.savings)));
    let saved = Saved::of(expected);
    let (job, configuration) = job_and_configuration(database, app)?;
    database.insert(
        "INSERT INTO application (id, attempt, source, files, run, job, engine, name, \"user\", queue, status, complete, \
         judged, submitted, finished, run_time, severity, score, tasks, used, wasted, core_time, saved_time, saved_memory, \
         saved_core_time, configuration, task_time, failed_attempts, input, nodes, limit_time) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, \
         ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31) \
         RETURNING application",
        &values![
            id,
            attempt,
            source,
            whole(app.sources.len() as u64),
            run,
            job,
            app.engine.name(),
            app.name.as_deref(),
            app.user.as_deref().map(bounded),
            app.queue.as_deref().map(bounded),
            app.status.name(),
            app.complete,
            app.judged,
            app.submitted_at.or(app.started_at).map(Timestamp::as_millis),
            app.finished_at.map(Timestamp::as_millis),
            metrics.run_time.map(Millis::get).map(whole),
            whole(app.severity.value()),
            whole(app.score),
            tasks(app).map(whole),
            metrics.used.map(|used| rounded(used.as_mb_seconds())),
            metrics.wasted.map(|wasted| rounded(wasted.as_mb_seconds())),
            cores.map(|cores| rounded(cores.as_core_hours() * MS_PER_HOUR)),
            saved.time,
            saved.memory,
            saved.cores,
            configuration,
            app.work.task_time.map(Millis::get).map(whole),
            app.work.failed_attempts.map(whole),
            app.work.input.map(Bytes::get).map(whole),
            (!app.nodes.is_empty()).then(|| whole(app.nodes.len() as u64)),
            saved.limit,
        ],
    )
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

fn details(database: &Database, place: i64, app: &ApplicationReport) -> Result<(), StoreError> {
    let findings: Vec<_> = (0_i64..)
        .zip(&app.findings)
        .map(|(n, finding)| {
            let (subject, severity) = (app.subject_key(&finding.subject), whole(finding.severity.value()));
            let key = finding.rule_facts.key_measure.map(|measure| measure.key);
            let (message, value) = (&finding.message, measure::value(finding));
            values![place, n, &*finding.rule, severity, subject, message, key, value]
        })
        .collect();
    database.insert_all(
        "finding (application, n, rule, severity, subject, message, measure, value)",
        &findings,
    )?;
    let troubles: Vec<_> = (0_i64..)
        .zip(&app.troubles)
        .map(|(n, trouble)| {
            let saved = Saved::by(trouble);
            let (kind, severity) = (trouble.kind.name(), whole(trouble.severity.value()));
            values![
                place,
                n,
                kind,
                severity,
                &trouble.cause,
                remedy(trouble),
                saved.time,
                saved.memory,
                saved.limit
            ]
        })
        .collect();
    database.insert_all(
        "trouble (application, n, kind, severity, cause, remedy, saved_time, saved_memory, limit_time)",
        &troubles,
    )?;
    let settings: Vec<_> = (0_i64..)
        .zip(&app.recommended)
        .map(|(n, recommended)| {
            let (change, saved) = (&recommended.change, saved_by(recommended, app));
            values![place, n, &change.setting, change.from.as_deref(), &change.to, saved.memory, saved.time]
        })
        .collect();
    database.insert_all("setting (application, n, name, old, new, saved_memory, saved_time)", &settings)
}

/// Writes what the application did on each node.
fn nodes(database: &Database, place: i64, nodes: &[NodeWork]) -> Result<(), StoreError> {
    let known = places_of(database, nodes)?;
    let mut rows = Vec::with_capacity(nodes.len());
    for work in nodes {
        let node = match known.get(&work.node) {
            Some(&known) => known,
            None => {
                database.insert("INSERT INTO node (name) VALUES (?1) RETURNING node", &values![&work.node])?
            }
        };
        rows.push(values![
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
        ]);
    }
    database.insert_all(
        "node_work (application, node, attempts, failed, task_time, lost_executors, node_failures, compared, stragglers, \
         score, squares)",
        &rows,
    )
}

/// The places of those nodes that the store already has.
fn places_of(database: &Database, nodes: &[NodeWork]) -> Result<BTreeMap<String, i64>, StoreError> {
    let mut known = BTreeMap::new();
    for nodes in nodes.chunks(NODES_AT_ONCE) {
        let names = nodes.iter().map(|work| Cow::Borrowed(work.node.as_str())).collect();
        let (these, names) = database.backend().among_texts(names);
        let query = format!("SELECT name, node FROM node WHERE name {these}");
        known.extend(database.rows(&query, &names, |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?)))?);
    }
    Ok(known)
}

/// A name that fits into an index. A longer one is cut, and ends with a hash that distinguishes it.
pub(super) fn bounded(name: &str) -> Cow<'_, str> {
    if name.len() <= LONGEST_NAME {
        return Cow::Borrowed(name);
    }
    let begin = (0..=LONGEST_NAME).rev().find_map(|end| name.get(..end)).unwrap_or_default();
    Cow::Owned(format!("{begin}…{:032x}", XxHash3_128::oneshot(name.as_bytes())))
}

/// The first advice.
fn remedy(trouble: &Trouble) -> Option<&str> {
    trouble.advice.first().map(|advice| advice.text.as_str())
}

/// Chooses among copies as the engine does. If complete histories have the same content, the one with most files
/// counts, or the first by name. An incomplete history is a copy of any that contains more of the same run. If it lacks
/// the start, the name or the user, it is also a copy of one that has them and contains as much.
const PREFERRED: &str = "NOT EXISTS (SELECT 1 FROM application AS other WHERE other.id = own.id AND other.attempt = \
     own.attempt AND other.source <> own.source AND other.engine = own.engine AND (NOT own.complete AND \
     (own.submitted IS NULL OR other.submitted = own.submitted) AND (own.name IS NULL OR other.name = own.name) AND \
     (own.\"user\" IS NULL OR other.\"user\" = own.\"user\") AND (own.submitted IS NULL AND other.submitted IS NOT \
     NULL OR own.name IS NULL AND other.name IS NOT NULL OR own.\"user\" IS NULL AND other.\"user\" IS NOT NULL) AND \
     (other.complete, other.finished IS NOT NULL, coalesce(other.tasks, -1)) >= (FALSE, own.finished IS NOT NULL, \
     coalesce(own.tasks, -1)) OR other.submitted IS NOT DISTINCT FROM own.submitted AND other.name IS NOT DISTINCT \
     FROM own.name AND other.\"user\" IS NOT DISTINCT FROM own.\"user\" AND CASE WHEN own.complete THEN \
     other.complete AND other.finished IS NOT DISTINCT FROM own.finished AND other.tasks IS NOT DISTINCT FROM \
     own.tasks AND (-other.files, other.source) < (-own.files, own.source) ELSE (other.complete, other.finished IS \
     NOT NULL, coalesce(other.tasks, -1)) > (FALSE, own.finished IS NOT NULL, coalesce(own.tasks, -1)) OR \
     ((other.complete, other.finished IS NOT NULL, coalesce(other.tasks, -1)) = (FALSE, own.finished IS NOT NULL, \
     coalesce(own.tasks, -1)) AND other.source < own.source) END))";

fn choose_among_copies(database: &Database, id: &str, attempt: &str) -> Result<(), StoreError> {
    database.send(
        &format!("UPDATE application AS own SET counts = {PREFERRED} WHERE own.id = ?1 AND own.attempt = ?2"),
        &values![id, attempt],
    )
}

/// Chooses again where a copy did not count: the one that counted may be gone.
pub(super) fn choose_again(database: &Database) -> Result<(), StoreError> {
    let chosen = database.ids(
        &format!("SELECT own.application FROM application AS own WHERE own.counts = FALSE AND {PREFERRED}"),
        &[],
    )?;
    for application in &chosen {
        database
            .send("UPDATE application SET counts = TRUE WHERE application = ?1", &values![*application])?;
    }
    sums::change(database, Sign::Add, &chosen)
}

/// Removes the applications that meet a condition.
pub(super) fn remove(database: &Database, condition: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
    let query = format!("SELECT application, counts FROM application WHERE {condition}");
    let found = database.rows(&query, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    if found.is_empty() {
        return Ok(0);
    }
    sums::change(database, Sign::Remove, &counted(found))?;
    database.execute(&format!("DELETE FROM application WHERE {condition}"), values)
}

/// The place of an application, and whether it counts.
pub(super) type Copy = (i64, bool);

/// Removes these applications.
pub(super) fn remove_copies(database: &Database, copies: &[Copy]) -> Result<(), StoreError> {
    if copies.is_empty() {
        return Ok(());
    }
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
mod tests {
    use super::*;
    use crate::testing::with_stores;

    #[test]
    fn a_history_without_its_start_is_a_copy_of_one_that_has_it_and_contains_as_much() {
        let app = |source: &str, start: Option<i64>, complete| {
            let mut app = ApplicationReport::blank("app_1");
            (app.sources, app.complete) = (vec![source.to_owned()], complete);
            app.submitted_at = start.map(Timestamp::from_millis);
            app.name = start.map(|_| "etl".to_owned());
            app
        };
        let counted = |apps: &[ApplicationReport]| {
            let counted = std::cell::RefCell::new(Vec::new());
            with_stores(apps, |store| {
                let query = "SELECT source FROM application WHERE counts ORDER BY source";
                counted
                    .borrow_mut()
                    .push(store.database.rows(query, &[], |row| row.get::<String>(0)).unwrap());
            });
            let mut counted = counted.into_inner();
            counted.dedup();
            assert_eq!(counted.len(), 1, "the databases agree");
            counted.pop().unwrap().concat()
        };
        let (phantom, whole) = (app("a", None, false), app("b", Some(5), true));
        assert_eq!(counted(&[phantom.clone(), whole.clone()]), "b");
        assert_eq!(counted(&[whole.clone(), phantom.clone()]), "b");
        assert_eq!(counted(&[phantom.clone(), app("c", Some(7), false)]), "c");
        // Another start or a complete history is another run.
        assert_eq!(counted(&[app("a", Some(7), false), whole.clone()]), "ab");
        assert_eq!(counted(&[app("a", None, true), whole]), "ab");
        let longer = ApplicationReport { finished_at: Some(Timestamp::from_millis(9)), ..phantom };
        assert_eq!(counted(&[longer, app("c", Some(7), false)]), "ac");
    }

    #[test]
    fn an_application_that_a_crash_lost_is_missed() {
        with_stores(&[], |store| {
            let database = &store.database;
            let place = application(database, 1, &ApplicationReport::blank("app_1")).unwrap();
            let before = |reconnections| check_last(database, 1, Some(Written { place, reconnections }));
            let again = database.backend().reconnections().wrapping_sub(1);
            assert!(before(again).is_ok() && check_last(database, 1, None).is_ok());
            database.execute("DELETE FROM application", &[]).unwrap();
            assert!(matches!(before(again), Err(StoreError::Forgotten)));
            assert!(before(database.backend().reconnections()).is_ok());
        });
    }

    #[test]
    fn a_failure_of_a_statement_that_is_not_waited_for_fails_the_transaction() {
        with_stores(&[], |store| {
            let database = &store.database;
            let blank = ApplicationReport::blank("app_1");
            let written = database.writing(|| {
                application(database, 1, &blank)?;
                database.send("INSERT INTO run VALUES (1, 0, 'x', 'y', NULL)", &[])?;
                application(database, 1, &blank)
            });
            let text = written.unwrap_err().to_string().to_lowercase();
            // The first failure is reported, not one that follows from it.
            assert!(text.contains("unique"), "{text}");
            assert_eq!(database.count("SELECT count(*) FROM application", &[]).unwrap(), 0);
            database.writing(|| application(database, 1, &blank)).unwrap();
            assert_eq!(database.count("SELECT count(*) FROM application", &[]).unwrap(), 1);
        });
    }
}
