//! How the troubles of an analysis compare with accepted findings: plain data for reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ApplicationReport;
use super::change::{Accepted, Change, FindingChange};
use elephant_base::severity::Severity;
use elephant_model::model::Subject;
use elephant_rule::finding::Finding;
use elephant_verdict::troubles::Trouble;

/// A trouble next to the accepted findings about it. If several runs have it, each of its findings is from the run where
/// that is worst.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TroubleChange {
    /// How it compares.
    pub change: Change,
    /// The trouble in the run of its first finding; `None` for a finding that belongs to no trouble.
    pub told: Option<Told>,
    /// The findings about it, those that are new or worse first. There is at least one.
    pub findings: Vec<FindingChange>,
}

/// The trouble that a finding is about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Told {
    /// The trouble in all runs of the job: its kind, and what it is about without ids that change from run to run.
    pub key: String,
    /// The trouble in one run.
    pub trouble: Arc<Trouble>,
}

impl Told {
    /// The troubles of `app`, in order.
    pub(crate) fn all(app: &ApplicationReport) -> Vec<Self> {
        let mut all = Vec::new();
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        for trouble in &app.troubles {
            let subject = trouble.subjects.first().filter(|subject| **subject != Subject::Application);
            let about = subject.map(|subject| format!(" in {}", app.subject_key(subject)));
            let key = trouble.kind.name().to_owned() + &about.unwrap_or_default();
            // All executors have one key.
            let place = seen.entry(key.clone()).or_default();
            *place += 1;
            let key = if *place > 1 { format!("{key}, {place}") } else { key };
            all.push(Self { key, trouble: Arc::new(trouble.clone()) });
        }
        all
    }

    /// The one of `troubles` that `finding` is about.
    pub(crate) fn of(troubles: &[Self], finding: &Finding) -> Option<Self> {
        troubles.iter().find(|told| told.trouble.tells(finding).is_some()).cloned()
    }
}

impl TroubleChange {
    /// The trouble of these findings, which are sorted; `is_less` if the analysis does not have some accepted finding about
    /// it any more. `None` without findings.
    pub(crate) fn of(findings: Vec<FindingChange>, is_less: bool) -> Option<Self> {
        let told = findings.first()?.told.clone();
        let any = |wanted: Change| findings.iter().any(|found| found.change == wanted);
        // A finding may have been accepted as that of another trouble.
        let key = told.as_ref().map(|told| &told.key);
        let is_of_it = |accepted: &Accepted| accepted.trouble.is_none() || accepted.trouble.as_ref() == key;
        let was_accepted =
            is_less || findings.iter().any(|found| found.accepted.as_ref().is_some_and(is_of_it));
        let change = match () {
            () if any(Change::New) && !was_accepted => Change::New,
            () if any(Change::New) || any(Change::Worse) => Change::Worse,
            () if any(Change::NotJudged) => Change::NotJudged,
            () if any(Change::Better) || is_less => Change::Better,
            () => Change::Unchanged,
        };
        Some(Self { change, told, findings })
    }

    /// The highest severity of its findings.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.findings.iter().map(|found| found.finding.severity).max().unwrap_or_default()
    }

    /// Whether a finding about it is new or worse and at least this severe.
    #[must_use]
    pub fn is_bad_from(&self, limit: Severity) -> bool {
        self.findings.iter().any(|found| found.change.is_bad() && found.finding.severity >= limit)
    }
}
