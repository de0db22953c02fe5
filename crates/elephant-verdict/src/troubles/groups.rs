//! Findings of one kind about one subject are one trouble.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Confidence, Telling, Trouble, Worth};
use crate::savings::{TroubleSavings, WhyUnknown};
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_model::diagnosis::FailureKind;
use elephant_model::model::Subject;
use elephant_rule::finding::{Advice, Caps, Failure, Finding, Name, SettingChange, TroubleKind};
use elephant_ruleset::settings::TroubleParams;

/// How the findings of a kind are grouped into troubles.
enum Extent {
    /// All findings of an application are one trouble.
    Application,
    /// Findings on map tasks and on reduce tasks are separate troubles, because their settings differ.
    Kinds,
    /// Findings on different subjects, such as stages, are separate troubles.
    Subjects,
    /// Findings of different rules or subjects are separate troubles: they may have different causes.
    Rules,
}

impl Extent {
    const fn of(kind: TroubleKind) -> Self {
        use TroubleKind as Kind;
        match kind {
            Kind::GarbageCollection | Kind::Spill | Kind::LittleMemory => Self::Kinds,
            Kind::Skew | Kind::FewTasks | Kind::ManyTasks | Kind::SlowTasks | Kind::Shuffle => Self::Subjects,
            Kind::Cluster | Kind::Settings | Kind::Other | Kind::Stream | Kind::StreamState => Self::Rules,
            kind if kind.is_of_queries() => Self::Rules,
            _ => Self::Application,
        }
    }
}

/// What the findings of one trouble have in common.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    kind: TroubleKind,
    subject: Subject,
    rule: &'a str,
}

impl<'a> Key<'a> {
    fn of(finding: &'a Finding, kind: TroubleKind) -> Self {
        let (subject, rule) = match (Extent::of(kind), &finding.subject) {
            (Extent::Rules, subject) => (subject.clone(), &*finding.rule),
            (Extent::Subjects, subject) | (Extent::Kinds, subject @ Subject::Tasks(_)) => {
                (subject.clone(), "")
            }
            (Extent::Kinds | Extent::Application, _) => (Subject::Application, ""),
        };
        Self { kind, subject, rule }
    }
}

/// The troubles that `findings` describe, in no particular order.
pub(super) fn of(findings: &[Finding], params: &TroubleParams) -> Vec<Trouble> {
    let mut groups: BTreeMap<Key<'_>, Vec<&Finding>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.severity > Severity::None) {
        groups.entry(Key::of(finding, cause_of(finding, findings, params))).or_default().push(finding);
    }
    let mut troubles: Vec<Trouble> = Vec::new();
    // Groups are in the order of their kinds, and those of different kinds are never one trouble.
    let (mut kind, mut others) = (None, Vec::new());
    for (key, mut findings) in groups {
        if kind.replace(key.kind) != Some(key.kind) {
            others.append(&mut troubles);
        }
        findings.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| order(a).cmp(&order(b))));
        let mut trouble = Trouble::of(&key, &findings);
        if trouble.is_apart() {
            others.push(trouble);
            continue;
        }
        // Troubles that are part of this one, if they came first.
        while let Some(part) = troubles.iter().position(|known| trouble.covers(known)) {
            trouble.take_in(troubles.remove(part));
        }
        if let Some(whole) = troubles.iter_mut().find(|known| known.covers(&trouble)) {
            whole.take_in(trouble);
        } else if let Some(known) = troubles.iter_mut().find(|known| known.has_same_remedy(&trouble)) {
            known.join(trouble);
        } else {
            troubles.push(trouble);
        }
    }
    others.append(&mut troubles);
    others
}

/// The kind of trouble that a finding describes, considering all findings: a task that is late because it has more data
/// is not a straggler as well.
fn cause_of(finding: &Finding, all: &[Finding], params: &TroubleParams) -> TroubleKind {
    let is_same = |other: &Finding| {
        other.tells == TroubleKind::Skew
            && other.severity > Severity::None
            && other.subject == finding.subject
            && is_same_task(finding, other, params.same_task_share.get())
    };
    match finding.tells {
        TroubleKind::Stragglers if all.iter().any(is_same) => TroubleKind::Skew,
        kind => kind,
    }
}

/// The root cause of failures, from the finding that says most. If that cause only blames the code, a finding that
/// blames the node is better.
fn failure_of(findings: &[&Finding]) -> Option<Failure> {
    let told = || findings.iter().filter_map(|finding| finding.failure.as_ref());
    let first = told().next()?;
    let of_node =
        told().find(|failure| failure.kind == FailureKind::BadNode).filter(|_| first.kind.blames_code());
    Some(of_node.unwrap_or(first).clone())
}

/// Whether a finding on a straggler and one on skew are about one task: its run time is at least the share `from` of its time
/// from launch to end.
fn is_same_task(straggler: &Finding, skew: &Finding, from: f64) -> bool {
    let times = straggler.time("task_time_ms").zip(skew.time("longest_run_time_ms"));
    times.is_some_and(|(wall, run)| run <= wall && run.as_f64() >= from * wall.as_f64())
}

/// How much a finding says about the cause. The finding with the highest weight leads its trouble.
fn weight(finding: &Finding) -> impl Ord {
    let proposes = finding.advice.iter().any(|advice| !advice.settings.is_empty());
    // A rule on the number of tasks that measures the time lost says more than a rule on long tasks.
    let measures = finding.repartition.is_some() && finding.time("lost_ms") > Some(Millis::ZERO);
    // A slow node is the cause of all its stragglers.
    let names_nodes = finding.tells == TroubleKind::Stragglers && finding.of_more_parts;
    (
        measures || names_nodes,
        finding.severity,
        proposes,
        finding.subject != Subject::Application,
        finding.score,
    )
}

/// The order of findings that say as much as each other.
fn order(finding: &Finding) -> (Reverse<Severity>, &str, &Subject) {
    (Reverse(finding.severity), &finding.rule, &finding.subject)
}

impl Trouble {
    /// The trouble that `findings` describe. The finding that says most comes first.
    fn of(key: &Key<'_>, findings: &[&Finding]) -> Self {
        let Key { kind, subject, rule } = key;
        let place =
            if *subject == Subject::Application { String::new() } else { format!(":{}", subject.name()) };
        let rule = if rule.is_empty() { String::new() } else { format!(":{rule}") };
        let mut trouble = Self {
            id: format!("{}{rule}{place}", kind.name()),
            kind: *kind,
            title: findings.first().filter(|_| *kind == TroubleKind::Other).map(|first| first.title.clone()),
            cause: findings.first().map(|first| first.message.clone()).unwrap_or_default(),
            statement: findings.first().map(|first| first.statement.clone()).unwrap_or_default(),
            place: String::new(),
            failure: failure_of(findings),
            logged: None,
            confidence: Confidence::of(*kind),
            severity: findings.iter().map(|finding| finding.severity).max().unwrap_or_default(),
            caps: Caps::default(),
            score: findings.iter().map(|finding| finding.score).max().unwrap_or_default(),
            subjects: Vec::new(),
            findings: Vec::new(),
            has_stragglers: *kind == TroubleKind::Skew
                && findings.iter().any(|finding| finding.tells == TroubleKind::Stragglers),
            is_scaled_by_platform: false,
            change: Vec::new(),
            advice: Vec::new(),
            savings: TroubleSavings::unknown(WhyUnknown::NotComputed),
            worth: Worth::default(),
        };
        for (place, finding) in findings.iter().enumerate() {
            trouble.add(finding, place > 0);
        }
        trouble.sort_subjects();
        trouble
    }

    fn add(&mut self, finding: &Finding, is_consequence: bool) {
        self.findings.push(Telling {
            rule: finding.rule.clone(),
            subject: finding.subject.clone(),
            is_consequence,
        });
        self.subjects.push(finding.subject.clone());
        self.subjects.extend(finding.also_about.iter().cloned());
        // The finding names one of several stages.
        let alike = finding.repartition.iter().flat_map(|repartition| &repartition.stages);
        self.subjects.extend(alike.map(|stage| Subject::Stage(*stage)));
        if is_consequence {
            self.add_other_remedies(&finding.advice);
        } else {
            self.advice.extend(finding.advice.iter().cloned());
            self.add_changes(&finding.advice);
        }
    }

    /// Adds the lines of advice that propose other settings than those known. A line without a setting only points to the
    /// finding that leads.
    pub(super) fn add_other_remedies(&mut self, advice: &[Advice]) {
        let settings = self.advice.iter().flat_map(|line| &line.settings);
        let known: Vec<String> = settings.map(|change| change.setting.clone()).collect();
        let is_new = |change: &SettingChange| !known.contains(&change.setting);
        let other = advice.iter().filter(|line| line.settings.iter().any(is_new));
        self.advice.extend(other.cloned());
        self.add_changes(advice);
    }

    /// Adds the lines of advice that name other remedies, also without a setting, unless they only point to a rule that tells
    /// of this trouble.
    pub(super) fn add_remedies_besides(&mut self, advice: &[Advice]) {
        let tells = |rule: &Name| self.findings.iter().any(|telling| telling.rule == *rule);
        let is_plain =
            |line: &&Advice| line.settings.is_empty() && !line.see_rule.as_ref().is_some_and(tells);
        let plain: Vec<Advice> = advice.iter().filter(is_plain).cloned().collect();
        self.add_other_remedies(advice);
        self.advice.extend(plain);
    }

    fn add_changes(&mut self, advice: &[Advice]) {
        let firm = advice.iter().filter(|line| !line.conditional);
        for change in firm.flat_map(|line| &line.settings) {
            if !self.change.iter().any(|known| known.setting == change.setting) {
                self.change.push(change.clone());
            }
        }
    }

    /// The parts that have the trouble; the application only if no part is known.
    fn sort_subjects(&mut self) {
        self.subjects.sort();
        self.subjects.dedup();
        if self.subjects.len() > 1 {
            self.subjects.retain(|subject| *subject != Subject::Application);
        }
    }

    /// Whether nothing can be a part of it, or share its remedy: there may be thousands of users' rules, each with a trouble.
    fn is_apart(&self) -> bool {
        self.change.is_empty() && !matches!(Extent::of(self.kind), Extent::Subjects)
    }

    /// Whether it is about all that the other one is about.
    fn covers(&self, other: &Self) -> bool {
        let in_parts = other.subjects.iter().all(|subject| *subject != Subject::Application);
        self.kind == other.kind
            && matches!(Extent::of(self.kind), Extent::Subjects)
            && in_parts
            && other.subjects.iter().all(|subject| self.subjects.contains(subject))
    }

    /// Merges a trouble that is only a part of this one.
    fn take_in(&mut self, part: Self) {
        self.findings
            .extend(part.findings.into_iter().map(|telling| Telling { is_consequence: true, ..telling }));
        self.severity = self.severity.max(part.severity);
        self.score = self.score.max(part.score);
        self.has_stragglers |= part.has_stragglers;
    }

    /// Whether the same change of settings removes both.
    fn has_same_remedy(&self, other: &Self) -> bool {
        self.kind == other.kind && !self.change.is_empty() && same_values(&self.change, &other.change)
    }

    /// Adds another subject with the same trouble.
    fn join(&mut self, other: Self) {
        if (other.severity, other.score) > (self.severity, self.score) {
            self.cause = other.cause;
            self.statement = other.statement;
            self.id = other.id;
            self.findings.splice(0..0, other.findings);
        } else {
            self.findings.extend(other.findings);
        }
        self.severity = self.severity.max(other.severity);
        self.score = self.score.max(other.score);
        self.has_stragglers |= other.has_stragglers;
        self.subjects.extend(other.subjects);
        self.sort_subjects();
        for advice in other.advice {
            if !self.advice.iter().any(|known| known.asks_the_same(&advice)) {
                self.advice.push(advice);
            }
        }
    }
}

fn same_values(a: &[SettingChange], b: &[SettingChange]) -> bool {
    a.len() == b.len() && a.iter().all(|change| b.contains(change))
}
