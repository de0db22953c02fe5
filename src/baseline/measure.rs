//! The measured value that shows how bad a finding is, beyond its severity.
//!
//! Three kinds of rules have no key measure. If the value is the worst of many tasks, it differs from run
//! to run; the severities, each about twice the one before, are precise enough. If the value is bad at both
//! ends, it has no direction. The wait time depends on other applications.

use crate::finding::{Finding, Measure};

/// The direction in which a value is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worse {
    /// When it is higher.
    Higher,
    /// When it is lower.
    Lower,
}

/// The key measure of each rule that has one: rule, key of the evidence, direction.
pub const KEY_MEASURES: &[(&str, &str, Worse)] = &[
    ("distributed-cache-limit", "largest_bytes", Worse::Higher),
    ("failed-attempts", "failed_ratio", Worse::Higher),
    ("mapper-gc", "gc_cpu_ratio", Worse::Higher),
    ("mapper-memory", "used_ratio", Worse::Lower),
    ("mapper-skew", "deviation_ratio", Worse::Higher),
    ("mapper-speed", "speed_bytes_per_second", Worse::Lower),
    ("mapper-spill", "spill_ratio", Worse::Higher),
    ("reducer-gc", "gc_cpu_ratio", Worse::Higher),
    ("reducer-memory", "used_ratio", Worse::Lower),
    ("reducer-skew", "deviation_ratio", Worse::Higher),
    ("shuffle-sort", "shuffle_reduce_ratio", Worse::Higher),
    ("spark-executor-gc", "gc_ratio", Worse::Higher),
    ("spark-executor-spill", "data_ratio", Worse::Higher),
    ("spark-job-runtime", "worst_job_lost_ms", Worse::Higher),
    ("spark-jvm-used-memory", "heap_ratio", Worse::Higher),
    ("spark-memory-limit", "heap_used_ratio", Worse::Lower),
    ("spark-peak-unified-memory", "peak_ratio", Worse::Lower),
    ("spark-stage-runtime", "lost_ms", Worse::Higher),
    ("spark-stages-with-failed-tasks", "failed_attempts_count", Worse::Higher),
    ("speculation-waste", "lost_ratio", Worse::Higher),
    ("wasted-resources", "wasted_ratio", Worse::Higher),
];

/// The key measure of a rule: the key of its evidence, and the direction in which it is worse.
#[must_use]
pub fn key_measure(rule: &str) -> Option<(&'static str, Worse)> {
    KEY_MEASURES.iter().find(|(id, ..)| *id == rule).map(|&(_, key, worse)| (key, worse))
}

/// The value of the finding's key measure.
#[must_use]
pub fn value(finding: &Finding) -> Option<f64> {
    let (key, _) = key_measure(&finding.rule)?;
    let (_, measure) = finding.evidence.iter().find(|(name, _)| name == key)?;
    let value = match measure {
        Measure::Count(count) | Measure::Mebibytes(count) => *count as f64,
        Measure::Time(time) => time.as_f64(),
        Measure::Size(size) => size.as_f64(),
        Measure::Speed(speed) => speed.get(),
        Measure::Ratio(number) | Measure::Number(number, _) => (*number)?,
        Measure::Text(_) => return None,
    };
    value.is_finite().then_some(value)
}

/// Differences of a key measure up to this do not count.
#[must_use]
pub fn floor(key: &str) -> f64 {
    match key {
        _ if key.ends_with("_ratio") => 0.05,
        _ if key.ends_with("_count") => 1.0,
        _ if key.ends_with("_ms") => 1000.0,
        _ => 0.0,
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_measure_belongs_to_a_rule() {
        for (rule, ..) in KEY_MEASURES {
            assert!(crate::heuristics::all().any(|known| known.id == *rule), "{rule}");
        }
    }

    #[test]
    fn worse_has_a_direction_a_tolerance_and_a_floor() {
        assert!(Worse::Higher.beyond(1.3, 1.0, 0.2, 0.05) && !Worse::Higher.beyond(1.2, 1.0, 0.2, 0.05));
        assert!(Worse::Lower.beyond(0.7, 1.0, 0.2, 0.05) && !Worse::Lower.beyond(0.9, 1.0, 0.2, 0.05));
        assert!(!Worse::Higher.beyond(0.04, 0.01, 0.2, 0.05), "a small share may grow to the floor");
    }
}
