//! How long applications waited for stragglers, by cause.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::application::ApplicationStragglers;
use crate::stragglers::cause::{Cause, Confidence};
use crate::units::Millis;

/// The applications whose longest wait was for a straggler with one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// The cause.
    pub cause: Cause,
    /// The least certain of their confidences; `None` if nothing explains the stragglers.
    pub confidence: Option<Confidence>,
    /// Number of applications.
    pub applications: u64,
    /// How long they waited only for stragglers.
    pub delay: Millis,
}

impl Waiting {
    /// How many applications waited, and how long in all.
    pub(crate) fn total(waiting: &[Self]) -> (u64, Millis) {
        let applications = waiting.iter().map(|waiting| waiting.applications).sum();
        (applications, waiting.iter().map(|waiting| waiting.delay).sum())
    }

    /// The sums by cause, the longest wait first.
    pub(super) fn by_cause(applications: &[ApplicationStragglers]) -> Vec<Self> {
        let mut sums: BTreeMap<Cause, Self> = BTreeMap::new();
        for app in applications {
            let Some(waited_for) = &app.waited_for else { continue };
            let (cause, confidence) = (waited_for.cause, waited_for.confidence);
            let none = Self { cause, confidence, applications: 0, delay: Millis::ZERO };
            let sum = sums.entry(cause).or_insert(none);
            sum.confidence = sum.confidence.min(confidence);
            sum.applications += 1;
            sum.delay = sum.delay + app.delay;
        }
        let mut waiting: Vec<Self> = sums.into_values().collect();
        waiting.sort_by_key(|waiting| (Reverse(waiting.delay), waiting.cause));
        waiting
    }
}
