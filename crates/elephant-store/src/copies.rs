//! Chooses which of several records of one application counts, as reports do.
//!
//! A store may get a thousand records with one id, so it chooses among them once, after they are stored. Until then,
//! `undecided` has their id, also if the run is killed.

use std::collections::BTreeMap;

use super::database::{Database, values};
use super::sums::{self, Sign};
use super::{Store, StoreError};
use elephant_base::units::Timestamp;
use elephant_engine::engine::{Content, Run, RunCopy, counted};
use elephant_model::model::Engine;

/// Ids that are decided in one transaction.
const AT_ONCE: i64 = 500;

/// A record of an application.
struct Record {
    application: i64,
    counts: bool,
    cluster: Option<String>,
    copy: RunCopy,
}

/// Notes that it must be decided which of the records with this id count.
pub(super) fn undecided(database: &Database, id: &str, attempt: &str) -> Result<(), StoreError> {
    database.send(
        "INSERT INTO undecided (id, attempt) VALUES (?1, ?2) ON CONFLICT (id, attempt) DO NOTHING",
        &values![id, attempt],
    )
}

impl Store {
    /// Decides which records count, of all ids that got or lost some.
    pub(super) fn choose_among_copies(&self) -> Result<(), StoreError> {
        while self.database.writing(|| decide_some(&self.database))? {}
        Ok(())
    }
}

/// Decides the next ids; `false` if there are none.
fn decide_some(database: &Database) -> Result<bool, StoreError> {
    let query = "SELECT id, attempt FROM undecided ORDER BY id, attempt LIMIT ?1";
    let ids = database.rows(query, &values![AT_ONCE], |row| Ok((row.get("id")?, row.get("attempt")?)))?;
    let (mut no_more, mut now) = (Vec::new(), Vec::new());
    for (id, attempt) in &ids {
        let (id, attempt): (&String, &String) = (id, attempt);
        for records in by_cluster(records_of(database, id, attempt)?) {
            let chosen = counted(records.iter().map(|record| &record.copy));
            for ((place, record), chosen) in records.iter().enumerate().zip(chosen) {
                match (record.counts, chosen == place) {
                    (true, false) => no_more.push(record.application),
                    (false, true) => now.push(record.application),
                    _ => {}
                }
            }
        }
        database.send("DELETE FROM undecided WHERE id = ?1 AND attempt = ?2", &values![id, attempt])?;
    }
    sums::change(database, Sign::Remove, &no_more)?;
    for (applications, counts) in [(&no_more, false), (&now, true)] {
        for application in applications {
            let update = "UPDATE application SET counts = ?2 WHERE application = ?1";
            database.send(update, &values![*application, counts])?;
        }
    }
    sums::change(database, Sign::Add, &now)?;
    Ok(!ids.is_empty())
}

/// Records of one cluster are no copies of those of another one. A cut log may not tell its cluster: it belongs to the
/// first.
fn by_cluster(records: Vec<Record>) -> Vec<Vec<Record>> {
    let first = records.iter().filter_map(|record| record.cluster.clone()).min();
    let mut clusters: BTreeMap<Option<String>, Vec<Record>> = BTreeMap::new();
    for record in records {
        let cluster = record.cluster.clone().or_else(|| first.clone());
        clusters.entry(cluster).or_default().push(record);
    }
    clusters.into_values().collect()
}

/// The records of an application, in the order of their sources.
fn records_of(database: &Database, id: &str, attempt: &str) -> Result<Vec<Record>, StoreError> {
    let query = "SELECT application, counts, cluster, engine, submitted, name, \"user\", complete, finished, tasks, attempts, files \
                 FROM application WHERE id = ?1 AND attempt = ?2 ORDER BY source";
    database.rows(query, &values![id, attempt], |row| {
        let moment = |value: Option<i64>| value.map(Timestamp::from_millis);
        let engine: String = row.get("engine")?;
        let run = Run {
            engine: Engine::named(&engine).unwrap_or(Engine::MapReduce),
            id: id.to_owned(),
            attempt: Some(attempt.to_owned()),
            start: moment(row.get("submitted")?),
            name: row.get("name")?,
            user: row.get("user")?,
        };
        let content = Content {
            finished_at: moment(row.get("finished")?),
            tasks: row.count("tasks")?,
            attempts: row.count("attempts")?,
        };
        let files = usize::try_from(row.count("files")?).unwrap_or(usize::MAX);
        let copy = RunCopy::known(run, row.get("complete")?, content, files);
        let (application, counts) = (row.get("application")?, row.get("counts")?);
        Ok(Record { application, counts, cluster: row.get("cluster")?, copy })
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::record;
    use crate::testing::with_stores;
    use elephant_engine::results::ApplicationReport;
    use elephant_model::model::TaskCounts;

    fn app(id: &str, source: &str, start: i64) -> ApplicationReport {
        let mut app = ApplicationReport::blank(id);
        app.sources = vec![source.to_owned()];
        app.submitted_at = Some(Timestamp::from_millis(start));
        app.complete = true;
        app
    }

    #[test]
    fn a_thousand_records_with_one_id_take_as_long_as_others() {
        let took = |apps: &[ApplicationReport]| {
            let took = std::sync::Mutex::new(Duration::ZERO);
            let begun = Instant::now();
            with_stores(apps, |store| {
                *took.lock().unwrap() = begun.elapsed();
                let counts =
                    store.database.count("SELECT count(*) FROM application WHERE counts", &[]).unwrap();
                assert_eq!(counts, apps.len() as u64);
            });
            took.into_inner().unwrap()
        };
        let apps = |id: &dyn Fn(i64) -> String| {
            (0..1000).map(|n| app(&id(n), &format!("logs/{n}"), n)).collect::<Vec<_>>()
        };
        let (others, same) = (took(&apps(&|n| format!("app-{n}"))), took(&apps(&|_| "app-1".to_owned())));
        // It took fifty times as long.
        assert!(same < others * 8, "{same:?} against {others:?}");
    }

    #[test]
    fn the_copy_with_most_attempts_counts_whatever_is_stored_first() {
        let copy = |source: &str, attempts| {
            let mut counts = TaskCounts::default();
            (counts.total, counts.attempts) = (9, attempts);
            let mut copy = ApplicationReport { complete: false, ..app("app-1", source, 5) };
            copy.metrics.tasks = vec![("task".into(), Some(counts))];
            copy
        };
        let (damaged, whole) = (copy("a", 7), copy("b", 9));
        for copies in [[damaged.clone(), whole.clone()], [whole, damaged]] {
            with_stores(&copies, |store| {
                let query = "SELECT source FROM application WHERE counts";
                let counted = || store.database.rows(query, &[], |row| row.get::<String>("source")).unwrap();
                assert_eq!(counted(), ["b"]);
                let remove = || record::remove(&store.database, "source = 'b'", &[]);
                store.database.writing(remove).unwrap();
                store.choose_among_copies().unwrap();
                assert_eq!(counted(), ["a"]);
            });
        }
    }
}
