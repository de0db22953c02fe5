//! How long applications waited for stragglers, by cause.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::application::ApplicationStragglers;
use elephant_analysis::stragglers::cause::{Cause, Confidence};
use elephant_base::units::Millis;

/// The time in which applications only waited for stragglers with one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// The cause.
    pub cause: Cause,
    /// The least certain of their confidences; `None` if nothing explains the stragglers.
    pub confidence: Option<Confidence>,
    /// Number of applications that waited for such stragglers; one may wait for several causes.
    pub applications: u64,
    /// How long they waited only for stragglers.
    pub delay: Millis,
}

#[doc(hidden)]
impl Waiting {
    /// How long all of them waited.
    #[must_use]
    pub fn total(waiting: &[Self]) -> Millis {
        waiting.iter().map(|waiting| waiting.delay).sum()
    }

    /// Adds how long an application waited for stragglers of each cause.
    pub(super) fn add_to(sums: &mut BTreeMap<Cause, Self>, app: &ApplicationStragglers) {
        for (&cause, &(confidence, delay)) in &app.waits {
            let none = Self { cause, confidence, applications: 0, delay: Millis::ZERO };
            let sum = sums.entry(cause).or_insert(none);
            sum.confidence = sum.confidence.min(confidence);
            sum.applications += 1;
            sum.delay = sum.delay + delay;
        }
    }

    /// The sums by cause, the longest wait first.
    pub(super) fn longest_first(sums: BTreeMap<Cause, Self>) -> Vec<Self> {
        let mut waiting: Vec<Self> = sums.into_values().collect();
        waiting.sort_by_key(|waiting| (Reverse(waiting.delay), waiting.cause));
        waiting
    }
}
