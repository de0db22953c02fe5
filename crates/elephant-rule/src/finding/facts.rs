//! Facts about a rule, in addition to its check, for presets, the gate, charts and other rules. Each rule
//! states them on its own constant, and every finding has those of its rule.

use super::TroubleKind;

/// The origin of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Provenance {
    /// A heuristic of Dr. Elephant.
    DrElephant {
        /// The oldest version or branch that has the heuristic; its code was the model.
        version: &'static str,
    },
    /// A rule that only this program has.
    Own,
    /// A rule from a user's file.
    User,
}

impl Provenance {
    /// The origins of built-in rules, as rule files spell them: `origin: dr-elephant`.
    pub const WORDS: [&'static str; 2] = ["dr-elephant", "elephant-rs"];

    /// The origin as rule files spell it; `None` for a user's rule.
    #[must_use]
    #[doc(hidden)]
    pub const fn word(self) -> Option<&'static str> {
        let [dr_elephant, own] = Self::WORDS;
        match self {
            Self::DrElephant { .. } => Some(dr_elephant),
            Self::Own => Some(own),
            Self::User => None,
        }
    }
}

/// Which values of a measure are worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Worse {
    /// Higher ones.
    Higher,
    /// Lower ones.
    Lower,
}

#[doc(hidden)]
impl Worse {
    /// Whether `value` is worse than `accepted` by more than `tolerance` (a share of it) and by more than
    /// `floor`.
    #[must_use]
    pub fn beyond(self, value: f64, accepted: f64, tolerance: f64, floor: f64) -> bool {
        let margin = (accepted.abs() * tolerance).max(floor);
        match self {
            Self::Higher => value > accepted + margin,
            Self::Lower => value < accepted - margin,
        }
    }

    /// The opposite direction.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Higher => Self::Lower,
            Self::Lower => Self::Higher,
        }
    }
}

/// The measured value that shows how bad a finding is, beyond its severity.
///
/// Three kinds of rules have no key measure. If the value is the worst of many tasks, it differs from run to
/// run; the severities, each about twice the one before, are precise enough. If the value is bad at both
/// ends, it has no direction. The wait time depends on other applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyMeasure {
    /// Its key in the evidence.
    pub key: &'static str,
    /// Which values are worse.
    pub worse: Worse,
}

#[doc(hidden)]
impl KeyMeasure {
    /// The largest difference that does not count, in the unit of the measure.
    #[must_use]
    pub fn floor(self) -> f64 {
        match self.key {
            key if key.ends_with("_ratio") => 0.05,
            key if key.ends_with("_count") => 1.0,
            key if key.ends_with("_ms") => 1000.0,
            _ => 0.0,
        }
    }
}

/// The quantity that a threshold's cut-offs are compared with, for the charts of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComparedWith {
    /// The mean run time of the phase's tasks, in milliseconds.
    MeanRunTime,
    /// The difference between the means of the large and the small group of tasks, as a multiple of the
    /// small group's mean.
    GroupDeviation,
    /// The most bytes that a task of the phase reads, as a multiple of the median over its tasks. Drawn only for
    /// findings that it decides.
    LargestByMedian,
}

/// A threshold whose cut-offs are lines in a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChartLimit {
    /// The threshold's key, with the unit's ending.
    pub key: &'static str,
    /// The quantity that its cut-offs are compared with.
    pub compared_with: ComparedWith,
}

/// The process whose memory a rule's advice sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Container {
    /// The container of a map task.
    Map,
    /// The container of a reduce task.
    Reduce,
    /// A Spark executor.
    Executor,
}

/// The facts of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleFacts {
    /// Its origin.
    pub provenance: Provenance,
    /// The measure that a baseline keeps.
    pub key_measure: Option<KeyMeasure>,
    /// Thresholds that charts show.
    pub chart_limits: &'static [ChartLimit],
    /// The process whose memory its remedy sets. At most one rule sizes each process.
    pub sizes: Option<Container>,
    /// The kind of trouble that its findings indicate, unless a finding indicates another.
    pub tells: TroubleKind,
    /// The kinds that its findings may indicate instead.
    pub also_tells: &'static [TroubleKind],
}

impl RuleFacts {
    /// The facts of a rule of this provenance that tells this kind of trouble, and nothing else.
    #[must_use]
    #[doc(hidden)]
    pub const fn of(provenance: Provenance, tells: TroubleKind) -> Self {
        Self { provenance, key_measure: None, chart_limits: &[], sizes: None, tells, also_tells: &[] }
    }

    /// The facts of rules from users' files. Charts show their thresholds with these keys.
    pub const USER: &'static Self = &Self {
        chart_limits: &[
            ChartLimit { key: "short_run_time_ms", compared_with: ComparedWith::MeanRunTime },
            ChartLimit { key: "long_run_time_ms", compared_with: ComparedWith::MeanRunTime },
            ChartLimit { key: "deviation_ratio", compared_with: ComparedWith::GroupDeviation },
            ChartLimit { key: "deviation", compared_with: ComparedWith::GroupDeviation },
        ],
        ..Self::of(Provenance::User, TroubleKind::Other)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worse_has_a_direction_a_tolerance_and_a_floor() {
        assert!(Worse::Higher.beyond(1.3, 1.0, 0.2, 0.05) && !Worse::Higher.beyond(1.2, 1.0, 0.2, 0.05));
        assert!(Worse::Lower.beyond(0.7, 1.0, 0.2, 0.05) && !Worse::Lower.beyond(0.9, 1.0, 0.2, 0.05));
        assert!(!Worse::Higher.beyond(0.04, 0.01, 0.2, 0.05), "a small share may grow to the floor");
    }
}
