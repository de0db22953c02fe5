//! What is asked about a history.

use elephant_input::part::Part;
use elephant_model::model::Subject;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_rule::finding::{Finding, Measure, Name};

/// A finding whose figures are asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub(crate) rule: Name,
    pub(crate) subject: Subject,
    /// The figures, with their values if these are whole numbers.
    pub(crate) figures: Vec<(Name, Option<u64>)>,
    /// The counters that the rule reads.
    pub(crate) reads: Vec<Counter>,
    /// The settings that its advice changes.
    pub(crate) settings: Vec<String>,
}

impl Asked {
    /// Asks about the figures of a finding of a rule that reads these counters.
    #[must_use]
    pub fn of(finding: &Finding, reads: CounterMask) -> Self {
        let changed = finding.advice.iter().flat_map(|advice| &advice.settings);
        let mut settings: Vec<String> = changed.map(|change| change.setting.clone()).collect();
        settings.sort();
        settings.dedup();
        Self {
            rule: finding.rule.clone(),
            subject: finding.subject.clone(),
            figures: finding.evidence.iter().map(|(key, value)| (key.clone(), whole(value))).collect(),
            reads: reads.iter().collect(),
            settings,
        }
    }
}

fn whole(value: &Measure) -> Option<u64> {
    match value {
        Measure::Count(count) => Some(*count),
        Measure::Time(time) => Some(time.get()),
        Measure::Size(size) => Some(size.get()),
        _ => None,
    }
}

/// The findings of one application that are asked about.
#[derive(Debug, Clone)]
pub struct Questions {
    /// The id of the application.
    pub application: String,
    /// The findings.
    pub asked: Vec<Asked>,
    /// Its configuration, if that is a file of its own.
    pub conf: Option<Part>,
}
