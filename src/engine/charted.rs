//! Keeps the charts of the worst applications while all are read: an application is there only during its visit, and
//! charts of thousands would take much memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ApplicationReport;
use super::rank::Place;
use crate::charts::Charts;
use crate::severity::Severity;
use crate::units::MbMillis;

/// [`Place::key`] of an application that is gone.
type Key = (Reverse<Severity>, Reverse<u64>, Reverse<Option<MbMillis>>, String, Vec<String>);

/// The charts of the worst applications seen so far. Which these are in the end does not depend on the order of visits.
pub(super) struct Charted {
    most: usize,
    worst: Mutex<BTreeMap<Key, Box<Charts>>>,
}

impl Charted {
    pub(super) fn new(most: usize) -> Self {
        Self { most, worst: Mutex::new(BTreeMap::new()) }
    }

    /// Makes and keeps charts if the application is among the worst.
    pub(super) fn offer(&self, place: Place<'_>, make: impl FnOnce() -> Charts) {
        if self.most == 0 {
            return;
        }
        let key = key(place);
        let is_among_worst = |worst: &BTreeMap<Key, Box<Charts>>| {
            worst.len() < self.most || worst.last_key_value().is_some_and(|(last, _)| key < *last)
        };
        if !is_among_worst(&self.lock()) {
            return;
        }
        let charts = Box::new(make());
        let mut worst = self.lock();
        worst.insert(key, charts);
        if worst.len() > self.most {
            worst.pop_last();
        }
    }

    /// Gives each application its charts.
    pub(super) fn hand_out(self, applications: &mut [ApplicationReport]) {
        let mut worst = self.worst.into_inner().unwrap_or_else(PoisonError::into_inner);
        for app in applications {
            if worst.is_empty() {
                break;
            }
            app.charts = worst.remove(&key(Place::of(app)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Box<Charts>>> {
        self.worst.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(place: Place<'_>) -> Key {
    let Place { severity, score, wasted, id, sources } = place;
    (Reverse(severity), Reverse(score), Reverse(wasted), id.to_owned(), sources.to_vec())
}
