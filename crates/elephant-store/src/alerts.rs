//! Alerts that wait for their receivers, and which were sent on which day. What they say is not known here.

use super::database::values;
use super::record::{began, bounded, whole};
use super::{Store, StoreError, pruned};
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp};
use elephant_engine::results::ApplicationReport;

const DAY_MS: i64 = 86_400_000;

/// A program that does not say for so long whether it sent an alert was killed.
const LEASE_MS: i64 = 600_000;

/// An alert on a job for a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingAlert {
    /// The name of the receiver.
    pub receiver: String,
    /// The key of the job.
    pub job: String,
    /// How severe it is.
    pub severity: Severity,
    /// When it was found.
    pub queued: Timestamp,
    /// From when on it may be sent.
    pub due: Timestamp,
    /// What it says.
    pub alert: String,
}

/// The day of a moment, counted from 1970 in UTC.
const fn day_of(moment: Timestamp) -> i64 {
    moment.as_millis().div_euclid(DAY_MS)
}

impl Store {
    /// Whether this run had ended already when it was last stored, or was removed as old.
    pub fn knows_end_of(&self, app: &ApplicationReport) -> Result<bool, StoreError> {
        let (id, attempt) = (bounded(&app.id), bounded(app.attempt.as_deref().unwrap_or_default()));
        // Ids are not unique across clusters.
        let query = "SELECT count(*) FROM application WHERE id = ?1 AND attempt = ?2 AND finished IS NOT NULL AND \
                     (CAST(?3 AS BIGINT) IS NULL OR submitted IS NULL OR submitted = ?3)";
        let asked = values![&*id, &*attempt, began(app).map(Timestamp::as_millis)];
        self.database.asking(|| {
            Ok(self.database.count(query, &asked)? > 0 || pruned::was_pruned(&self.database, app)?)
        })
    }

    /// Whether [`Self::queue_alert`] would let this alert wait.
    pub fn would_queue_alert(&self, new: &WaitingAlert) -> Result<bool, StoreError> {
        let sent = "SELECT count(*) FROM alert_sent WHERE receiver = ?1 AND job = ?2 AND day = ?3";
        let waiting =
            "SELECT count(*) FROM alert_waiting WHERE receiver = ?1 AND job = ?2 AND severity >= ?3";
        let asked = |third: i64| values![new.receiver.as_str(), new.job.as_str(), third];
        self.database.reading(|| {
            Ok(self.database.count(sent, &asked(day_of(new.queued)))? == 0
                && self.database.count(waiting, &asked(whole(new.severity.value())))? == 0)
        })
    }

    /// Lets an alert wait for its receiver, in place of a less severe one on the same job that waits. Returns whether it
    /// waits now: it does not if the receiver got one on the job already on the day when it was found.
    pub fn queue_alert(&self, new: &WaitingAlert) -> Result<bool, StoreError> {
        let WaitingAlert { receiver, job, severity, queued, due, alert } = new;
        let statement = "INSERT INTO alert_waiting (receiver, job, severity, queued, due, alert) SELECT ?1, ?2, \
                         CAST(?3 AS BIGINT), CAST(?4 AS BIGINT), CAST(?5 AS BIGINT), ?6 WHERE NOT EXISTS (SELECT 1 FROM \
                         alert_sent WHERE receiver = ?1 AND job = ?2 AND day = ?7) ON CONFLICT (receiver, job) DO UPDATE \
                         SET severity = excluded.severity, queued = excluded.queued, due = excluded.due, alert = \
                         excluded.alert WHERE alert_waiting.severity < excluded.severity";
        let values = values![
            receiver.as_str(),
            job.as_str(),
            whole(severity.value()),
            queued.as_millis(),
            due.as_millis(),
            alert.as_str(),
            day_of(*queued)
        ];
        self.database.writing(|| Ok(self.database.execute(statement, &values)? > 0))
    }

    /// The alerts that wait for a receiver and are due, those first that have waited longest.
    pub fn due_alerts(&self, receiver: &str, now: Timestamp) -> Result<Vec<WaitingAlert>, StoreError> {
        let query = "SELECT job, severity, queued, due, alert FROM alert_waiting WHERE receiver = ?1 AND due <= ?2 ORDER BY \
                     queued, job";
        let asked = values![receiver, now.as_millis()];
        self.database.asking(|| {
            self.database.rows(query, &asked, |row| {
                let severity = row.amount("severity")?.and_then(|place| usize::try_from(place).ok());
                Ok(WaitingAlert {
                    receiver: receiver.to_owned(),
                    job: row.get("job")?,
                    severity: severity.and_then(|it| Severity::ALL.get(it).copied()).unwrap_or_default(),
                    queued: Timestamp::from_millis(row.get("queued")?),
                    due: Timestamp::from_millis(row.get("due")?),
                    alert: row.get("alert")?,
                })
            })
        })
    }

    /// How many alerts wait for a receiver, whether they are due or not.
    pub fn count_waiting_alerts(&self, receiver: &str) -> Result<u64, StoreError> {
        let query = "SELECT count(*) FROM alert_waiting WHERE receiver = ?1";
        self.database.asking(|| self.database.count(query, &values![receiver]))
    }

    /// Takes the right to send an alert on a job today. Returns false if one was sent today, or another program sends one.
    pub fn begin_alert(&self, receiver: &str, job: &str, now: Timestamp) -> Result<bool, StoreError> {
        let statement = "INSERT INTO alert_sent (receiver, job, day, since, done) VALUES (?1, ?2, ?3, ?4, FALSE) ON \
                         CONFLICT (receiver, job, day) DO UPDATE SET since = excluded.since WHERE alert_sent.done = FALSE \
                         AND alert_sent.since <= ?5";
        let (day, now) = (day_of(now), now.as_millis());
        let values = values![receiver, job, day, now, now.saturating_sub(LEASE_MS)];
        self.database.writing(|| Ok(self.database.execute(statement, &values)? > 0))
    }

    /// Records that an alert was sent, or that its receiver refuses it; `begun` is the moment of [`Self::begin_alert`].
    pub fn end_alert(&self, receiver: &str, job: &str, begun: Timestamp) -> Result<(), StoreError> {
        self.database.writing(|| {
            let sent = "UPDATE alert_sent SET done = TRUE WHERE receiver = ?1 AND job = ?2 AND day = ?3";
            self.database.execute(sent, &values![receiver, job, day_of(begun)])?;
            let waiting = "DELETE FROM alert_waiting WHERE receiver = ?1 AND job = ?2";
            self.database.execute(waiting, &values![receiver, job])?;
            Ok(())
        })
    }

    /// Gives back the right to send an alert that could not be sent. It waits for the next time.
    pub fn leave_alert(&self, receiver: &str, job: &str, begun: Timestamp) -> Result<(), StoreError> {
        let statement =
            "DELETE FROM alert_sent WHERE receiver = ?1 AND job = ?2 AND day = ?3 AND done = FALSE";
        let values = values![receiver, job, day_of(begun)];
        self.database.writing(|| self.database.execute(statement, &values).map(drop))
    }

    /// Removes the alerts that have waited longer than this since they were due, and what was sent before yesterday.
    /// Returns how many could not be sent.
    pub fn drop_old_alerts(&self, now: Timestamp, longest: Millis) -> Result<u64, StoreError> {
        let longest = i64::try_from(longest.get()).unwrap_or(i64::MAX);
        let due_before = now.as_millis().saturating_sub(longest);
        self.database.writing(|| {
            self.database.execute("DELETE FROM alert_sent WHERE day < ?1", &values![day_of(now) - 1])?;
            self.database.execute("DELETE FROM alert_waiting WHERE due < ?1", &values![due_before])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_stores;

    const NOON: i64 = 20_000 * DAY_MS + DAY_MS / 2;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(NOON + ms)
    }

    fn alert(job: &str, severity: Severity, found: i64) -> WaitingAlert {
        WaitingAlert {
            receiver: "team".to_owned(),
            job: job.to_owned(),
            severity,
            queued: at(found),
            due: at(found),
            alert: format!("{{\"found\":{found}}}"),
        }
    }

    #[test]
    fn a_job_has_one_alert_a_day_and_a_worse_one_takes_its_place_while_it_waits() {
        with_stores(&[], |store| {
            let queue = |severity, found| {
                let new = alert("etl", severity, found);
                let would = store.would_queue_alert(&new).unwrap();
                assert_eq!(store.queue_alert(&new).unwrap(), would);
                would
            };
            assert!(queue(Severity::Severe, 0));
            assert!(!queue(Severity::Severe, 1) && !queue(Severity::Low, 2));
            assert!(queue(Severity::Critical, 3));
            let due = store.due_alerts("team", at(3)).unwrap();
            assert_eq!(due, [alert("etl", Severity::Critical, 3)]);
            assert!(store.due_alerts("team", at(2)).unwrap().is_empty());
            assert!(store.due_alerts("other", at(3)).unwrap().is_empty());
            assert!(store.begin_alert("team", "etl", at(4)).unwrap());
            assert!(!store.begin_alert("team", "etl", at(5)).unwrap(), "another program sends it");
            store.end_alert("team", "etl", at(4)).unwrap();
            assert!(store.due_alerts("team", at(9)).unwrap().is_empty());
            assert!(!queue(Severity::Critical, 6), "it was sent today");
            assert!(queue(Severity::Low, DAY_MS));
            assert!(store.begin_alert("team", "etl", at(DAY_MS)).unwrap());
        });
    }

    #[test]
    fn an_alert_that_was_not_sent_waits_and_then_is_dropped() {
        with_stores(&[], |store| {
            store.queue_alert(&alert("etl", Severity::Severe, 0)).unwrap();
            assert!(store.begin_alert("team", "etl", at(0)).unwrap());
            store.leave_alert("team", "etl", at(0)).unwrap();
            assert!(store.begin_alert("team", "etl", at(1)).unwrap());
            // The program was killed while it sent the alert.
            assert!(!store.begin_alert("team", "etl", at(LEASE_MS)).unwrap());
            assert!(store.begin_alert("team", "etl", at(LEASE_MS + 1)).unwrap());
            let day = Millis::new(86_400_000);
            assert_eq!(store.drop_old_alerts(at(DAY_MS), day).unwrap(), 0);
            assert_eq!(store.drop_old_alerts(at(DAY_MS + 1), day).unwrap(), 1);
            assert!(store.due_alerts("team", at(2 * DAY_MS)).unwrap().is_empty());
            store.drop_old_alerts(at(2 * DAY_MS), day).unwrap();
            assert_eq!(store.database.count("SELECT count(*) FROM alert_sent", &[]).unwrap(), 0);
        });
    }

    #[test]
    fn the_end_of_a_run_is_known_once_it_was_stored() {
        let started = at(0);
        let mut running = ApplicationReport::blank("app_1");
        running.submitted_at = Some(started);
        let mut ended = running.clone();
        ended.finished_at = Some(at(1000));
        with_stores(&[running.clone()], |store| assert!(!store.knows_end_of(&ended).unwrap()));
        with_stores(&[ended.clone()], |store| {
            assert!(store.knows_end_of(&ended).unwrap());
            let mut other = ended.clone();
            other.submitted_at = Some(at(-1));
            assert!(!store.knows_end_of(&other).unwrap(), "another cluster's application with this id");
            store.prune(at(2000)).unwrap();
            assert!(store.knows_end_of(&ended).unwrap(), "it was removed as old");
        });
    }
}
