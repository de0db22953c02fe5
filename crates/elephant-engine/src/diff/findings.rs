//! Compares findings.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use super::pair::keys;
use super::side::{Finding, Run};
use elephant_base::severity::Severity;

/// A finding of both sides, or of only one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FindingPair {
    /// The rule's id.
    pub rule: String,
    /// Its subject, without ids that change from run to run if the phases allow it.
    pub subject: String,
    /// How it changed.
    pub moved: Move,
    /// The first side's severity.
    pub a: Option<Severity>,
    /// The second side's severity.
    pub b: Option<Severity>,
    /// The second side's message; the first side's if the second has none.
    pub message: String,
    /// Why the change could not be judged, if it could not.
    pub reason: Option<String>,
}

/// How a finding changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Move {
    /// Only the second side has it.
    Came,
    /// Its severity is higher on the second side.
    Worse,
    /// One side lacks it or has it at a lower severity, but the history of that side is incomplete.
    NotJudged,
    /// Its severity is lower on the second side.
    Better,
    /// Only the first side has it.
    Went,
    /// Both sides have it at the same severity.
    Same,
}

#[doc(hidden)]
impl Move {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Came => "new",
            Self::Worse => "worse",
            Self::NotJudged => "not-judged",
            Self::Better => "better",
            Self::Went => "gone",
            Self::Same => "same",
        }
    }
}

/// Pairs the findings of two runs by rule and subject.
pub(super) fn compare(a: &Run, b: &Run) -> Vec<FindingPair> {
    let (found_a, found_b) = (Found::of(a), Found::of(b));
    let paired = keys(&found_a.keys, &found_b.keys).into_iter();
    let mut pairs: Vec<FindingPair> = paired
        .filter_map(|(place_a, place_b)| {
            let (in_a, in_b) = (found_a.at(place_a), found_b.at(place_b));
            let (finding, subject) = in_b.or(in_a)?;
            let (one, other) = (in_a.map(|(it, _)| it.severity), in_b.map(|(it, _)| it.severity));
            let raw = |it: &Finding| it.raw_severity.unwrap_or(it.severity);
            // Only the limit of small runs differs: that is no change of the finding.
            let is_same = in_a.zip(in_b).is_some_and(|((a, _), (b, _))| raw(a) == raw(b));
            let change = if is_same { Ordering::Equal } else { one.cmp(&other) };
            // A finding that is missing or milder in an incomplete history may be worse in the complete
            // one.
            let reason = match change {
                Ordering::Less => doubt(a, "A", &finding.rule),
                Ordering::Greater => doubt(b, "B", &finding.rule),
                Ordering::Equal => None,
            };
            Some(FindingPair {
                rule: finding.rule.clone(),
                subject: subject.clone(),
                moved: if reason.is_some() { Move::NotJudged } else { moved(one, other, change) },
                a: one,
                b: other,
                message: finding.message.clone(),
                reason,
            })
        })
        .collect();
    let key = |pair: &FindingPair| {
        let severity = std::cmp::Reverse(pair.b.max(pair.a));
        (pair.moved, severity, pair.rule.clone(), pair.subject.clone())
    };
    pairs.sort_by_cached_key(key);
    pairs
}

/// Why `run`, shown as `side`, does not prove that the rule found everything; `None` if it does.
fn doubt(run: &Run, side: &str, rule: &str) -> Option<String> {
    let missing = run.not_evaluated.iter().find(|missing| missing.rule == rule);
    match missing {
        Some(missing) => Some(format!("not evaluated in {side}: {}", missing.reason)),
        None => (!run.complete).then(|| format!("the log of {side} is incomplete")),
    }
}

fn moved(a: Option<Severity>, b: Option<Severity>, change: Ordering) -> Move {
    match (a, b, change) {
        (None, ..) => Move::Came,
        (_, None, _) => Move::Went,
        (.., Ordering::Less) => Move::Worse,
        (.., Ordering::Greater) => Move::Better,
        (.., Ordering::Equal) => Move::Same,
    }
}

/// The findings of one side with their subjects and keys.
struct Found<'a> {
    findings: Vec<(&'a Finding, String)>,
    keys: Vec<String>,
}

impl<'a> Found<'a> {
    fn of(run: &'a Run) -> Self {
        let phases = run.phases.as_deref().unwrap_or_default();
        let phase_keys = Run::phase_keys(phases);
        let mut keys_of_subjects = FxHashMap::default();
        for (phase, key) in phases.iter().zip(&phase_keys) {
            keys_of_subjects.entry(phase.subject.as_str()).or_insert(key);
        }
        let subject = |finding: &Finding| {
            let key = keys_of_subjects.get(finding.subject.as_str()).copied().cloned();
            match key {
                Some(key) => key,
                None if finding.subject.starts_with("executor ") => "executor".to_owned(),
                None => finding.subject.clone(),
            }
        };
        let found = run.findings.iter().filter(|finding| finding.severity > Severity::None);
        let findings: Vec<_> = found.map(|finding| (finding, subject(finding))).collect();
        let keys = findings.iter().map(|(finding, subject)| format!("{}\n{subject}", finding.rule)).collect();
        Self { findings, keys }
    }

    fn at(&self, place: Option<usize>) -> Option<(&'a Finding, &String)> {
        self.findings.get(place?).map(|(finding, subject)| (*finding, subject))
    }
}
