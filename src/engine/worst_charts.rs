//! Keeps the charts of the worst applications while all are read. An application is in memory only during
//! its visit, and charts of thousands would need too much memory.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::rank::Place;
use super::worst::Worst;
use crate::charts::Charts;
use crate::results::{ApplicationReport, Leading};
use crate::severity::Severity;
use crate::units::MbMillis;

/// [`Place::key`] of an application that is no longer in memory.
type Key = (Leading, Reverse<Severity>, Reverse<u64>, Reverse<Option<MbMillis>>, String, Vec<String>);

/// The charts of an application; `None` until they are made.
type Candidate = (Key, Option<Box<Charts>>);

/// The charts of the worst applications so far.
pub(super) struct WorstCharts {
    most: usize,
    worst: Mutex<Worst<Candidate>>,
}

impl WorstCharts {
    pub(super) fn new(most: usize) -> Self {
        Self { most, worst: Mutex::new(Worst::new(most, order)) }
    }

    /// Makes and keeps charts if the application is among the worst.
    pub(super) fn offer(&self, place: Place<'_>, make: impl FnOnce() -> Charts) {
        if self.most == 0 {
            return;
        }
        let mut candidate = (key(place), None);
        if !self.lock().admits(&candidate) {
            return;
        }
        candidate.1 = Some(Box::new(make()));
        self.lock().insert(candidate);
    }

    /// Moves the charts into their applications.
    pub(super) fn hand_out<'r>(&self, applications: impl Iterator<Item = &'r mut ApplicationReport>) {
        let worst = std::mem::replace(&mut *self.lock(), Worst::new(0, order));
        let mut charts: BTreeMap<Key, Option<Box<Charts>>> = worst.into_sorted().into_iter().collect();
        for app in applications {
            if charts.is_empty() {
                break;
            }
            app.charts = charts.remove(&key(Place::of(app))).flatten();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Worst<Candidate>> {
        self.worst.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn order(a: &Candidate, b: &Candidate) -> Ordering {
    a.0.cmp(&b.0)
}

fn key(place: Place<'_>) -> Key {
    let Place { leading, severity, score, wasted, id, sources } = place;
    (leading.clone(), Reverse(severity), Reverse(score), Reverse(wasted), id.to_owned(), sources.to_vec())
}
