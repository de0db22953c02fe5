//! The applications of a reading that ended lately and whose end the store does not know: only these are told.
//!
//! When other rules, or another version of this program, judge all histories again, their applications are known, and
//! none of them is told again.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::lineage::Lineage;
use super::{Alert, AlertFile, Judging, news};
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp};
use elephant_engine::results::ApplicationReport;
use elephant_store::{Store, StoreError};

/// At most so many applications are compared after a reading, those with the most severe findings.
const MOST: usize = 5_000;

/// What is told after a reading.
#[derive(Debug, Default)]
pub struct Told {
    /// An alert for each job with something new or worse, the most severe first.
    pub alerts: Vec<Alert>,
    /// How many applications were not compared, because there are too many.
    pub left_out: u64,
}

/// The worst first, and then by id.
type Rank = (Reverse<Severity>, Reverse<u64>, String, Option<String>);

/// An application with what its settings say of its lineage.
pub(crate) struct Seen {
    pub(crate) app: ApplicationReport,
    pub(crate) lineage: Option<Lineage>,
}

#[derive(Default)]
struct Noted {
    seen: BTreeMap<Rank, Seen>,
    left_out: u64,
    failure: Option<StoreError>,
}

/// See the module.
pub struct Recent {
    /// The store as it is before the applications are stored; several threads ask it in turns.
    store: Mutex<Store>,
    since: Timestamp,
    least: Severity,
    noted: Mutex<Noted>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recent {
    /// Notes applications for the receivers of this file, in a reading that begins now. The store is a connection of its
    /// own to that which they are compared with.
    #[must_use]
    pub fn new(store: Store, file: &AlertFile, now: Timestamp) -> Self {
        let since = before(now, file.ended_within);
        Self { store: Mutex::new(store), since, least: file.least_severity(), noted: Mutex::default() }
    }

    /// Sees an application before it is stored.
    pub fn see(&self, app: &ApplicationReport) {
        let ended_lately = app.finished_at.is_some_and(|finished| finished >= self.since);
        if !ended_lately || app.severity < self.least || app.is_unnamed() {
            return;
        }
        let known = locked(&self.store).knows_end_of(app);
        let mut noted = locked(&self.noted);
        match known {
            Ok(true) => {}
            Ok(false) => noted.add(app),
            Err(error) => drop(noted.failure.get_or_insert(error)),
        }
    }

    /// What is new or worse in the applications that were seen, once they are stored.
    ///
    /// # Errors
    /// If the store could not be read, now or before.
    pub fn news(self, judging: &Judging<'_>) -> Result<Told, StoreError> {
        let Noted { seen, left_out, failure } =
            self.noted.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failure {
            return Err(error);
        }
        let store = self.store.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Told { alerts: news::of(&store, seen.into_values(), judging)?, left_out })
    }
}

impl Noted {
    fn add(&mut self, app: &ApplicationReport) {
        let rank = (Reverse(app.severity), Reverse(app.score), app.id.clone(), app.attempt.clone());
        let lineage = app.configuration.as_deref().and_then(Lineage::of);
        // What no comparison and no message needs would take most of the memory.
        let app = ApplicationReport {
            nodes: Vec::new(),
            query_work: Vec::new(),
            phases: None,
            phase_work: Vec::new(),
            configuration: None,
            queries: Vec::new(),
            charts: None,
            account: None,
            ..app.clone()
        };
        self.seen.insert(rank, Seen { app, lineage });
        if self.seen.len() > MOST {
            self.seen.pop_last();
            self.left_out += 1;
        }
    }
}

/// The moment that was this long before another one.
pub(crate) fn before(now: Timestamp, span: Millis) -> Timestamp {
    let span = i64::try_from(span.get()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(span))
}
