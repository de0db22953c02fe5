//! Severity of a finding, and its score.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::state::State;

/// Five levels, ordered from harmless to worst (Dr. Elephant's `Severity`).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, State,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// No problem.
    #[default]
    None,
    /// Good to know.
    Low,
    /// Change it at the next opportunity.
    Moderate,
    /// Wastes the cluster or the user's time.
    Severe,
    /// Change it now.
    Critical,
}

impl Severity {
    /// All levels, from harmless to worst.
    pub const ALL: [Self; 5] = [Self::None, Self::Low, Self::Moderate, Self::Severe, Self::Critical];

    /// 0 for none to 4 for critical.
    #[must_use]
    pub const fn value(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Low => 1,
            Self::Moderate => 2,
            Self::Severe => 3,
            Self::Critical => 4,
        }
    }

    /// The level's lower-case name, as in reports and options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Low => "low",
            Self::Moderate => "moderate",
            Self::Severe => "severe",
            Self::Critical => "critical",
        }
    }

    /// Severity value × number of tasks if at least moderate, otherwise 0.
    #[must_use]
    pub const fn score(self, tasks: u64) -> u64 {
        if self.value() >= Self::Moderate.value() { self.value().saturating_mul(tasks) } else { 0 }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_moderate_and_worse_have_a_score() {
        assert_eq!(Severity::Low.score(500), 0);
        assert_eq!(Severity::Moderate.score(3), 6);
        assert_eq!(Severity::Critical.score(201), 804);
        assert_eq!(Severity::Critical.score(u64::MAX), u64::MAX);
    }
}
