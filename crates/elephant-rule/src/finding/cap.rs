//! Caps: bounds that lower a severity for a stated reason, and never raise it.

use std::borrow::Cow;

use elephant_base::severity::Severity;
use elephant_base::state::State;

/// A severity is at most this, for a reason.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct Cap {
    /// The highest severity that it allows.
    pub at_most: Severity,
    /// Why.
    pub why: CapReason,
}

/// Why a severity is bounded.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub enum CapReason {
    /// A rule file says so, at this place: `max_severity`.
    RuleFile(String),
    /// The application is small: there is little to save.
    SmallRun,
    /// The finding only says that something took long, which loses nothing.
    TookLong,
    /// Its tasks wait for something else by design, as long as that takes.
    WaitsByDesign,
    /// The application failed for another reason, so that its times show little.
    FailedRun,
    /// The one configuration keeps the settings that it is about.
    SettingsStay,
    /// A replay shows that another number of tasks, or another value of the settings, would do no good.
    NoGood,
    /// What a replay says is saved is not larger than its error.
    WithinError,
    /// Nothing tells what would be saved.
    SavingUnknown,
    /// Fewer executors are recommended instead of more work for them.
    FewerExecutors,
    /// Another trouble needs the memory that seems to be too much.
    MemoryNeeded,
    /// Less memory would save nothing.
    SavesNothing,
    /// The memory stays as it is, for the reason that the advice gives.
    MemoryStays(String),
}

impl CapReason {
    /// The name for programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RuleFile(_) => "rule-file",
            Self::SmallRun => "small-run",
            Self::TookLong => "took-long",
            Self::WaitsByDesign => "waits-by-design",
            Self::FailedRun => "failed-run",
            Self::SettingsStay => "settings-stay",
            Self::NoGood => "no-good",
            Self::WithinError => "within-error",
            Self::SavingUnknown => "saving-unknown",
            Self::FewerExecutors => "fewer-executors",
            Self::MemoryNeeded => "memory-needed",
            Self::SavesNothing => "saves-nothing",
            Self::MemoryStays(_) => "memory-stays",
        }
    }

    /// The reason for people, to follow "because".
    #[must_use]
    pub fn words(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::RuleFile(origin) => return format!("{origin} limits this rule").into(),
            Self::SmallRun => "the application is small",
            Self::TookLong => "it only says that something took long",
            Self::WaitsByDesign => "these tasks wait by design",
            Self::FailedRun => "the application failed for another reason",
            Self::SettingsStay => "the recommended configuration keeps these settings",
            Self::NoGood => "the change would do no good",
            Self::WithinError => "the saving is within its error",
            Self::SavingUnknown => "the saving is unknown",
            Self::FewerExecutors => "fewer executors are recommended instead",
            Self::MemoryNeeded => "another trouble needs the memory",
            Self::SavesNothing => "what the measurements allow to change would save nothing",
            Self::MemoryStays(why) => why,
        })
    }

    /// Whether it would hold in an application that is not small, too.
    const fn holds_in_larger_runs(&self) -> bool {
        !matches!(self, Self::RuleFile(_) | Self::SmallRun)
    }

    /// Whether it comes from what a remedy saves, which a finding does not say, so that the trouble must.
    #[must_use]
    pub const fn is_of_saving(&self) -> bool {
        matches!(
            self,
            Self::WithinError
                | Self::SavingUnknown
                | Self::FewerExecutors
                | Self::MemoryNeeded
                | Self::SavesNothing
                | Self::MemoryStays(_)
        )
    }
}

/// Caps of one severity, in the order in which they were found.
#[derive(Debug, Clone, PartialEq, Eq, Default, State)]
pub struct Caps(Vec<Cap>);

impl Caps {
    /// Adds one.
    pub fn add(&mut self, cap: Cap) {
        self.0.push(cap);
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Cap> {
        self.0.iter()
    }

    /// `severity`, lowered to the lowest cap.
    #[must_use]
    pub fn fold(&self, severity: Severity) -> Severity {
        self.deciding().map_or(severity, |cap| severity.min(cap.at_most))
    }

    /// The lowest cap; of several, the one that was found first.
    #[must_use]
    pub fn deciding(&self) -> Option<&Cap> {
        self.0.iter().min_by_key(|cap| cap.at_most)
    }

    /// Whether one of them would hold in an application that is not small, too.
    pub(super) fn hold_in_larger_runs(&self) -> bool {
        self.0.iter().any(|cap| cap.why.holds_in_larger_runs())
    }
}

impl From<Option<Cap>> for Caps {
    fn from(cap: Option<Cap>) -> Self {
        Self(cap.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps(list: &[(Severity, CapReason)]) -> Caps {
        let mut caps = Caps::default();
        for (at_most, why) in list {
            caps.add(Cap { at_most: *at_most, why: why.clone() });
        }
        caps
    }

    #[test]
    fn the_lowest_cap_decides_and_the_first_of_equals() {
        let (low, moderate) = (Severity::Low, Severity::Moderate);
        let decides = |list: &[(Severity, CapReason)]| {
            let caps = caps(list);
            (caps.fold(Severity::Critical), caps.deciding().map(|cap| cap.why.clone()))
        };
        let small = (moderate, CapReason::SmallRun);
        let long = (low, CapReason::TookLong);
        assert_eq!(decides(&[small.clone(), long.clone()]), (low, Some(CapReason::TookLong)));
        assert_eq!(decides(&[long.clone(), small.clone()]), (low, Some(CapReason::TookLong)));
        assert_eq!(decides(&[long, (low, CapReason::WithinError)]).1, Some(CapReason::TookLong));
        assert_eq!(decides(&[]), (Severity::Critical, None));
        assert_eq!(caps(&[small]).fold(low), low, "a cap raises nothing");
    }

    #[test]
    fn only_the_size_of_a_run_and_rule_files_are_no_reason_in_larger_runs() {
        let holds = |why| caps(&[(Severity::Low, why)]).hold_in_larger_runs();
        assert!(!holds(CapReason::SmallRun) && !holds(CapReason::RuleFile("a.yaml:1".to_owned())));
        assert!(holds(CapReason::TookLong) && holds(CapReason::WithinError));
    }
}
