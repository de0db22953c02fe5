//! One rule with the parameters in force, and what it says about an application.

use std::sync::{Arc, OnceLock};

use super::custom::CustomRule;
use crate::finding::{Finding, Judgement, Name, NotEvaluated, RuleFacts, Suppressed, Threshold, Verdict};
use crate::heuristics::{Check, NOT_MEASURED, Remedy, Shared};
use crate::metrics::Metrics;
use crate::model::Application;
use crate::model::counters::CounterMask;
use crate::model::spark::Facet;
use crate::model::table::TaskKind;
use crate::params::ParamValue;
use crate::params::layers::{Parameter, Setting};
use crate::severity::Severity;

/// A rule as reports name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its id.
    pub id: Name,
    /// Its name for people.
    pub title: Name,
    /// Its page in Markdown.
    pub page: Name,
}

/// A rule with the parameters in force.
pub struct ActiveRule {
    /// What reports say of it.
    pub info: RuleInfo,
    /// What else is known of it.
    pub facts: &'static RuleFacts,
    /// Whether it runs.
    pub enabled: Setting<bool>,
    /// The highest severity of its findings.
    pub max_severity: Option<Setting<Severity>>,
    /// What it does.
    pub check: RuleCheck,
    /// Its parameters for reports.
    pub params: Vec<Parameter>,
    /// Those that are cut-offs, which all of its findings share.
    pub(super) thresholds: OnceLock<Arc<[Threshold]>>,
}

/// What a rule does.
pub enum RuleCheck {
    /// A rule of this program.
    BuiltIn(Box<dyn Check>),
    /// A rule that a file defines.
    Defined(Box<CustomRule>),
    /// A rule that a file defines, where the documents for an application contradict each other; says how.
    Contradicted(String),
}

/// What the rules say about one application.
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    /// One finding per rule and subject, also those of severity none, in catalogue order.
    pub findings: Vec<Finding>,
    /// Findings that rule files silence, with the place of the suppression in [`RuleSet::suppressions`](super::RuleSet::suppressions).
    pub suppressed: Vec<(usize, Suppressed)>,
    /// Rules whose data is missing.
    pub not_evaluated: Vec<NotEvaluated>,
    /// Whether a rule about tasks, stages or jobs was evaluated.
    pub judges_work: bool,
    /// What the application cost, where a rule looked at that.
    pub metrics: Option<Metrics>,
}

impl ActiveRule {
    /// The rule where the documents for an application leave nothing that could be evaluated.
    pub(super) fn contradicted(&self, why: &str) -> Self {
        let why = format!("the documents about it that apply here do not fit together: {why}");
        Self {
            info: self.info.clone(),
            facts: self.facts,
            enabled: self.enabled.clone(),
            max_severity: self.max_severity.clone(),
            check: RuleCheck::Contradicted(why),
            params: Vec::new(),
            thresholds: OnceLock::new(),
        }
    }

    /// What the rule says about `app`, among others that share `shared`.
    #[must_use]
    pub fn verdict(&self, app: &Application, shared: &Shared<'_>) -> Verdict<Name> {
        match &self.check {
            RuleCheck::BuiltIn(check) => check.check_among(app, shared).named(),
            RuleCheck::Contradicted(why) => Verdict::NotEvaluated(why.clone()),
            RuleCheck::Defined(rule) if rule.needs_metrics() => match shared.metrics() {
                Some(metrics) => rule.check(app, metrics),
                None => Verdict::NotEvaluated(NOT_MEASURED.to_owned()),
            },
            RuleCheck::Defined(rule) => rule.check(app, &Metrics::default()),
        }
    }

    /// What the rule would advise, whatever it finds.
    pub(super) fn remedy(&self, app: &Application) -> Option<Remedy> {
        match &self.check {
            RuleCheck::BuiltIn(check) => check.remedy(app),
            RuleCheck::Defined(_) | RuleCheck::Contradicted(_) => None,
        }
    }

    fn rests_on(&self) -> &[Facet] {
        match &self.check {
            RuleCheck::BuiltIn(check) => check.rests_on(),
            RuleCheck::Defined(rule) => rule.rests_on(),
            RuleCheck::Contradicted(_) => &[],
        }
    }

    fn needs_all(&self) -> bool {
        match &self.check {
            RuleCheck::BuiltIn(check) => check.needs_all(),
            RuleCheck::Defined(_) | RuleCheck::Contradicted(_) => false,
        }
    }

    fn reads(&self, kind: TaskKind) -> CounterMask {
        match &self.check {
            RuleCheck::BuiltIn(check) => check.reads(kind),
            RuleCheck::Defined(rule) => rule.reads(kind),
            RuleCheck::Contradicted(_) => CounterMask::NONE,
        }
    }

    pub(super) fn evaluate(&self, app: &Application, shared: &Shared<'_>) -> Evaluation {
        let mut evaluation = Evaluation::default();
        let rule = || self.info.id.clone();
        let judgements = match self.verdict(app, shared) {
            Verdict::Judged(judged) => vec![judged],
            Verdict::Several(judged) => judged,
            Verdict::NotEvaluated(reason) => {
                let reason = if self.rests_on().is_empty() { reason } else { app.behind_limit(reason) };
                evaluation.not_evaluated.push(NotEvaluated { rule: rule(), reason });
                return evaluation;
            }
            Verdict::NotApplicable => return evaluation,
        };
        if let Some(reason) = self.needs_all().then(|| app.lacks_much()).flatten() {
            evaluation.not_evaluated.push(NotEvaluated { rule: rule(), reason });
            return evaluation;
        }
        match app.partial(self.rests_on(), |kind| self.reads(kind)) {
            // What was found stays found; that nothing was found proves nothing where data is missing.
            Some(reason) if judgements.iter().all(|judged| judged.severity == Severity::None) => {
                evaluation.not_evaluated.push(NotEvaluated { rule: rule(), reason });
            }
            partial => {
                let findings = judgements.into_iter().map(|judged| self.finding(judged, partial.as_deref()));
                evaluation.findings.extend(findings);
                evaluation.judges_work = self.rests_on().iter().any(|facet| facet.is_work());
            }
        }
        evaluation
    }

    fn finding(&self, judged: Judgement<Name>, partial: Option<&str>) -> Finding {
        let mut message = judged.message;
        if let Some(reason) = partial {
            message = format!("{message}; this rests on partial data: {reason}");
        }
        let mut severity = judged.severity;
        if let Some(cap) = self.max_severity.as_ref().filter(|cap| cap.value < severity) {
            message = format!("{message}; {severity} without the limit in {}", cap.origin);
            severity = cap.value;
        }
        Finding {
            rule: self.info.id.clone(),
            title: self.info.title.clone(),
            rule_facts: self.facts,
            severity,
            score: severity.score(judged.tasks),
            subject: judged.subject,
            message,
            evidence: judged.evidence,
            thresholds: Arc::clone(self.thresholds.get_or_init(|| thresholds(&self.params))),
            advice: judged.advice,
        }
    }
}

fn thresholds(params: &[Parameter]) -> Arc<[Threshold]> {
    let cutoffs = params.iter().filter_map(|Parameter { key, value, .. }| match value {
        ParamValue::Cutoffs { values, key_ending, .. } => {
            Some(Threshold { key: format!("{key}{key_ending}"), cutoffs: *values })
        }
        ParamValue::Text(_) => None,
    });
    cutoffs.collect()
}
