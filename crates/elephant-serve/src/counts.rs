//! What a server counts of its answers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::posting::{HISTORIES, INGEST};
use super::routes::ROUTES;
use elephant_base::whole::Whole as _;

/// Bounds of times, in seconds.
pub(crate) const BOUNDS: [f64; 8] = [0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 2.0, 10.0];

/// The route that stands for all addresses without one.
pub(crate) const NO_ROUTE: &str = "none";

/// The address of messages, which is no route of the table.
pub(crate) const MESSAGES: &str = "/mcp";

/// Counters that requests share.
#[derive(Debug)]
pub(crate) struct Counts {
    routes: Vec<(&'static str, OfRoute)>,
    pub(crate) refused: AtomicU64,
    pub(crate) timed_out: AtomicU64,
    pub(crate) connections: AtomicU64,
}

#[derive(Debug, Default)]
struct OfRoute {
    by_class: [AtomicU64; 5],
    within: [AtomicU64; BOUNDS.len()],
    microseconds: AtomicU64,
}

/// What was counted of a route until now.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) route: &'static str,
    pub(crate) by_class: [u64; 5],
    pub(crate) within: Vec<(f64, u64)>,
    pub(crate) seconds: f64,
}

impl Default for Counts {
    fn default() -> Self {
        let routes = ROUTES.iter().map(|route| route.path).chain([HISTORIES, INGEST, MESSAGES, NO_ROUTE]);
        Self {
            routes: routes.map(|path| (path, OfRoute::default())).collect(),
            refused: AtomicU64::default(),
            timed_out: AtomicU64::default(),
            connections: AtomicU64::default(),
        }
    }
}

impl Counts {
    /// Counts an answer.
    pub(crate) fn add(&self, route: &str, status: u16, took: Duration) {
        let Some((_, counts)) = self.routes.iter().find(|(path, _)| *path == route) else { return };
        let class = usize::from(status / 100).saturating_sub(1);
        let one = |counter: Option<&AtomicU64>| {
            if let Some(counter) = counter {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        };
        one(counts.by_class.get(class));
        let seconds = took.as_secs_f64();
        let within = counts.within.iter().zip(BOUNDS).filter(|(_, bound)| seconds <= *bound);
        within.for_each(|(counter, _)| one(Some(counter)));
        counts.microseconds.fetch_add((seconds * 1e6).as_u64(), Ordering::Relaxed);
    }

    /// What was counted of each route with answers.
    pub(crate) fn read(&self) -> Vec<Counted> {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let all = self.routes.iter().map(|(route, counts)| Counted {
            route,
            by_class: counts.by_class.each_ref().map(read),
            within: BOUNDS.into_iter().zip(counts.within.iter().map(read)).collect(),
            seconds: read(&counts.microseconds) as f64 / 1e6,
        });
        all.filter(|counted| counted.by_class.iter().any(|count| *count > 0)).collect()
    }
}
