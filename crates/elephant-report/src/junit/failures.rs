//! What fails in an application: each trouble once, however many rules tell of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::words::{about, by_trouble, title};
use super::text;
use elephant_base::severity::Severity;
use elephant_engine::results::{ApplicationReport, Change, Comparison};
use elephant_rule::finding::{Advice, Finding};
use elephant_verdict::troubles::Trouble;

/// A trouble that fails, or a finding that belongs to none.
pub(super) struct Failure<'a> {
    trouble: Option<&'a Trouble>,
    /// The finding whose rule fails: the first that is no consequence.
    lead: &'a Finding,
    /// All findings about it.
    findings: Vec<&'a Finding>,
}

/// What the findings of an application mean for its tests, by rule.
#[derive(Default)]
pub(super) struct Outcome<'a> {
    failures: BTreeMap<&'a str, Vec<Failure<'a>>>,
    passed_over: BTreeMap<&'a str, Vec<(&'a Finding, Cow<'a, str>)>>,
}

/// A finding, and whether another one leads to its cause.
type Member<'a> = (&'a Finding, bool);

impl<'a> Outcome<'a> {
    /// With a baseline, accepted troubles are not failures.
    pub(super) fn of(app: &'a ApplicationReport, comparison: Option<&Comparison>) -> Self {
        let mut outcome = Self::default();
        let mut group: (Option<&Trouble>, Vec<Member<'_>>) = (None, Vec::new());
        for (finding, told) in by_trouble(app) {
            if finding.severity == Severity::None {
                continue;
            }
            let (trouble, is_consequence) = told.unzip();
            let continues = trouble.zip(group.0).is_some_and(|(one, other)| std::ptr::eq(one, other));
            if !continues {
                outcome.add(std::mem::replace(&mut group, (trouble, Vec::new())), app, comparison);
            }
            group.1.push((finding, is_consequence.unwrap_or_default()));
        }
        outcome.add(group, app, comparison);
        outcome
    }

    /// The troubles that fail in the case of this rule.
    pub(super) fn failures(&mut self, rule: &str) -> Vec<Failure<'a>> {
        self.failures.remove(rule).unwrap_or_default()
    }

    /// The findings of this rule that are no failures of its own, each with the reason.
    pub(super) fn passed_over(&mut self, rule: &str) -> Vec<(&'a Finding, Cow<'a, str>)> {
        self.passed_over.remove(rule).unwrap_or_default()
    }

    fn add(
        &mut self,
        (trouble, members): (Option<&'a Trouble>, Vec<Member<'a>>),
        app: &ApplicationReport,
        comparison: Option<&Comparison>,
    ) {
        let first_cause = members.iter().find(|(_, is_consequence)| !is_consequence);
        let Some((lead, _)) = first_cause.or(members.first()).copied() else { return };
        let change = |finding: &Finding| comparison.and_then(|comparison| comparison.of(app, finding));
        let fails = match comparison {
            None => first_cause.is_some(),
            Some(_) => members.iter().any(|(it, _)| change(it).is_none_or(|change| change.change.is_bad())),
        };
        for (finding, is_consequence) in &members {
            let reason = match change(finding).map(|change| (change.change, change.accepted.is_some())) {
                _ if fails && finding.rule == lead.rule => continue,
                _ if *is_consequence => Cow::Borrowed("a consequence of what another rule finds"),
                _ if fails => Cow::Owned(format!("has the cause that {} tells", lead.rule)),
                Some((Change::NotJudged, false)) => Cow::Borrowed("not judged"),
                _ => Cow::Borrowed("accepted by the baseline"),
            };
            self.passed_over.entry(&finding.rule).or_default().push((finding, reason));
        }
        if fails {
            let findings = members.into_iter().map(|(finding, _)| finding).collect();
            self.failures.entry(&lead.rule).or_default().push(Failure { trouble, lead, findings });
        }
    }
}

impl Failure<'_> {
    /// The highest severity of its findings.
    pub(super) fn severity(&self) -> Severity {
        self.findings.iter().map(|finding| finding.severity).max().unwrap_or_default()
    }

    /// What is wrong, in a sentence.
    pub(super) fn message(&self) -> String {
        text(self.trouble.map_or(&self.lead.message, |trouble| &trouble.cause))
    }

    /// The cause, what to do, and the findings if there are several.
    pub(super) fn block(&self) -> String {
        let severity = self.severity().name().to_uppercase();
        let (head, advice): (String, &[Advice]) = match self.trouble {
            Some(trouble) => (format!("{}: {}", title(trouble), trouble.cause), &trouble.advice),
            None => (about(self.lead), &self.lead.advice),
        };
        let advice = advice.iter().map(|advice| format!("\n  → {}", text(&advice.text)));
        let several = self.findings.iter().filter(|_| self.findings.len() > 1);
        let findings =
            several.map(|finding| format!("\n  {}: {}", text(&finding.rule), text(&about(finding))));
        std::iter::once(format!("{severity} {}", text(&head))).chain(advice).chain(findings).collect()
    }
}
