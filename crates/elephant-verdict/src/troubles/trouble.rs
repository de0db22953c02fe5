//! A trouble: one root cause in one application, with the findings about it.

use super::logged::Logged;
use super::ranking::{AtMost, Worth};
use crate::savings::TroubleSavings;
use elephant_base::severity::Severity;
use elephant_base::state::State;
use elephant_model::model::Subject;
use elephant_rule::finding::{Advice, Cap, Caps, Failure, Finding, Name, SettingChange, TroubleKind};

/// How sure the cause of a trouble is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, State)]
#[non_exhaustive]
pub enum Confidence {
    /// It was measured.
    Measured,
    /// It follows from measurements, but something else could explain them.
    Inferred,
    /// There is little evidence for it.
    Weak,
}

#[doc(hidden)]
impl Confidence {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Inferred => "inferred",
            Self::Weak => "weak",
        }
    }

    /// How sure the cause of a trouble of this kind is.
    pub(super) const fn of(kind: TroubleKind) -> Self {
        use TroubleKind as Kind;
        match kind {
            Kind::Stragglers | Kind::Speculation | Kind::FewExecutors | Kind::Imbalance | Kind::Waiting => {
                Self::Inferred
            }
            Kind::LongRun => Self::Weak,
            _ => Self::Measured,
        }
    }
}

/// A finding about a trouble.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Telling {
    /// The rule that found it.
    pub rule: Name,
    /// The part of the application that the finding is about.
    pub subject: Subject,
    /// Whether it only repeats a consequence of the trouble.
    pub is_consequence: bool,
}

/// One root cause in one application.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct Trouble {
    /// Its identity within the application: the kind, and the first subject unless it is the application.
    pub id: String,
    /// What kind of trouble it is.
    pub kind: TroubleKind,
    /// The title of the rule that found it, if its kind does not describe it.
    pub(super) title: Option<Name>,
    /// The cause in one sentence.
    pub cause: String,
    /// The same without limits, and without what decides its severity.
    pub statement: String,
    /// Where it shows: "stage 3.0 of query 7", "map tasks"; empty for the whole application.
    pub place: String,
    /// The root cause of a failure, if the trouble is one.
    pub failure: Option<Failure>,
    /// What the log of a process tells of the failure, if one was found; [`Self::cause`] ends with it.
    pub logged: Option<Logged>,
    /// How sure the cause is.
    pub confidence: Confidence,
    /// The highest severity of its findings, lowered to the lowest cap. Only `Trouble::cap` lowers it.
    pub severity: Severity,
    /// What lowers its severity and that of its findings.
    pub(super) caps: Caps,
    /// The highest score of its findings.
    pub score: u64,
    /// The parts of the application that have it.
    pub subjects: Vec<Subject>,
    /// The findings about it, the one that says most first.
    pub findings: Vec<Telling>,
    /// Whether skewed parts have stragglers, too, which may hold them up as long as the skewed tasks.
    pub(super) has_stragglers: bool,
    /// Whether its remedy is that the platform removes idle workers, for which there is no setting.
    pub(super) is_scaled_by_platform: bool,
    /// The settings to change.
    pub change: Vec<SettingChange>,
    /// What to do.
    pub advice: Vec<Advice>,
    /// What removing it saves.
    pub savings: TroubleSavings,
    /// For the order of troubles.
    pub(super) worth: Worth,
}

#[doc(hidden)]
impl Trouble {
    /// Smaller is worse.
    pub(super) fn rank(&self) -> impl Ord + '_ {
        use std::cmp::Reverse;
        let at_most = AtMost::of(&self.savings);
        (Reverse(self.severity), at_most, Reverse(self.score), self.kind, &self.subjects)
    }

    /// Bounds the severity of the trouble and of its findings.
    pub(super) fn cap(&mut self, findings: &mut [Finding], cap: &Cap) {
        self.cap_own(cap);
        let own = findings.iter_mut().filter(|finding| self.tells(finding).is_some());
        own.for_each(|finding| finding.cap(cap.clone()));
    }

    /// The same, where the cap lowers what other caps left.
    pub(super) fn cap_further(&mut self, findings: &mut [Finding], cap: &Cap) {
        self.cap_own(cap);
        let own = findings.iter_mut().filter(|finding| self.tells(finding).is_some());
        own.filter(|finding| finding.severity > cap.at_most).for_each(|finding| finding.cap(cap.clone()));
    }

    fn cap_own(&mut self, cap: &Cap) {
        if cap.at_most < self.severity {
            self.caps.add(cap.clone());
            self.severity = self.caps.fold(self.severity);
        }
    }

    /// What is wrong in a few words, to begin a sentence.
    #[must_use]
    pub fn words(&self) -> &str {
        self.title.as_deref().unwrap_or(self.kind.words())
    }

    /// What its removal is worth.
    #[must_use]
    pub const fn worth(&self) -> Worth {
        self.worth
    }

    /// Whether the finding is a consequence of this trouble; `None` if it does not belong to this trouble.
    #[must_use]
    pub fn tells(&self, finding: &Finding) -> Option<bool> {
        let of = |telling: &&Telling| telling.rule == finding.rule && telling.subject == finding.subject;
        self.findings.iter().find(of).map(|telling| telling.is_consequence)
    }
}

#[doc(hidden)]
impl Trouble {
    /// A trouble in which every text is `text`.
    #[must_use]
    pub fn named(text: &str) -> Self {
        let change =
            SettingChange { setting: text.to_owned(), from: Some(text.to_owned()), to: text.to_owned() };
        Self {
            id: text.to_owned(),
            kind: TroubleKind::Skew,
            title: None,
            cause: text.to_owned(),
            statement: text.to_owned(),
            place: text.to_owned(),
            failure: None,
            logged: None,
            confidence: Confidence::Measured,
            severity: Severity::Critical,
            caps: Caps::default(),
            score: 8,
            subjects: vec![Subject::Executor(text.to_owned())],
            findings: vec![Telling {
                rule: text.to_owned().into(),
                subject: Subject::Executor(text.to_owned()),
                is_consequence: false,
            }],
            has_stragglers: false,
            is_scaled_by_platform: false,
            change: vec![change.clone()],
            advice: vec![Advice::new(text).set([change])],
            savings: TroubleSavings::unknown(text.to_owned()),
            worth: Worth::default(),
        }
    }
}
