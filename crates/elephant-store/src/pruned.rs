//! Removes old applications, and remembers them: they do not come back when their file is touched, or when other rules
//! judge it.

use twox_hash::XxHash3_128;

use super::database::{Database, values};
use super::record::{self, bounded};
use super::{Store, StoreError, sums};
use elephant_base::units::Timestamp;
use elephant_engine::results::ApplicationReport;

/// Applications whose hashes are inserted together.
const AT_ONCE: usize = 5000;

/// A number for an application. Its file may be named differently later.
fn number(id: &str, attempt: &str, began: Option<i64>) -> i64 {
    let began = began.map(|began| began.to_string()).unwrap_or_default();
    // PostgreSQL returns U+FFFD for U+0000.
    let key = format!("{id}\n{attempt}\n{began}").replace('\0', "\u{fffd}");
    let hash = XxHash3_128::oneshot(key.as_bytes()).to_le_bytes();
    hash.first_chunk().copied().map(i64::from_le_bytes).unwrap_or_default()
}

/// Whether an application was removed as old.
pub(super) fn was_pruned(database: &Database, app: &ApplicationReport) -> Result<bool, StoreError> {
    let (id, attempt) = (bounded(&app.id), bounded(app.attempt.as_deref().unwrap_or_default()));
    let began = record::began(app).or(app.finished_at).map(Timestamp::as_millis);
    let query = "SELECT count(*) FROM pruned WHERE application = ?1";
    Ok(database.count(query, &values![number(&id, &attempt, began)])? > 0)
}

impl Store {
    /// Removes the applications that were submitted before `moment`; if that is unknown, those that finished before it,
    /// or were stored before it. They do not come back when their files are read again. Returns how many were removed.
    pub fn prune(&self, moment: Timestamp) -> Result<u64, StoreError> {
        let removed = self.database.writing(|| {
            let condition =
                "coalesce(submitted, finished, (SELECT started FROM run WHERE run.run = application.run)) < ?1";
            let old = values![moment.as_millis()];
            remember(&self.database, condition, moment)?;
            let removed = record::remove(&self.database, condition, &old)?;
            if removed == 0 {
                return Ok(0);
            }
            sums::remove_empty(&self.database)?;
            for unused in [
                "node WHERE node NOT IN (SELECT node FROM node_work)",
                "job WHERE job NOT IN (SELECT job FROM application)",
                "configuration WHERE configuration NOT IN (SELECT configuration FROM application WHERE configuration \
                 IS NOT NULL)",
            ] {
                self.database.execute(&format!("DELETE FROM {unused}"), &[])?;
            }
            Ok(removed)
        })?;
        if removed > 0 {
            self.choose_among_copies()?;
            self.compare_again()?;
            self.database.backend().compact()?;
        }
        Ok(removed)
    }
}

/// Remembers the applications that meet the condition.
fn remember(database: &Database, condition: &str, moment: Timestamp) -> Result<(), StoreError> {
    let query = format!(
        "SELECT id, attempt, coalesce(submitted, finished) AS began FROM application WHERE {condition}"
    );
    let mut numbers = database.rows(&query, &values![moment.as_millis()], |row| {
        let (id, attempt): (String, String) = (row.get("id")?, row.get("attempt")?);
        Ok(number(&id, &attempt, row.get("began")?))
    })?;
    numbers.sort_unstable();
    numbers.dedup();
    for numbers in numbers.chunks(AT_ONCE) {
        let (known, values) = database.backend().among_ids(numbers);
        database.execute(&format!("DELETE FROM pruned WHERE application {known}"), &values)?;
        let rows: Vec<_> = numbers.iter().map(|number| values![*number]).collect();
        database.insert_all("pruned (application)", &rows)?;
    }
    Ok(())
}
