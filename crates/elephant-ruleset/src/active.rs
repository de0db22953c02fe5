//! One rule with its effective parameters, and its evaluation on an application.

use std::sync::{Arc, OnceLock};

use super::custom::CustomRule;
use elephant_analysis::metrics::Metrics;
use elephant_base::severity::Severity;
use elephant_catalogue::{Check, NOT_MEASURED, Remedy, Shared};
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, Engine};
use elephant_query::QuerySummary;
use elephant_rule::finding::{
    Cap, CapReason, Caps, Finding, Judgement, Name, NotEvaluated, RuleFacts, Suppressed, Threshold, Verdict,
};
use elephant_rule::params::ParamValue;
use elephant_rule::params::layers::{Parameter, Setting};

/// A rule in reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its id.
    pub id: Name,
    /// Its display name.
    pub title: Name,
    /// Its page in Markdown.
    pub page: Name,
}

/// The engine of rules that judge applications of all engines, as their folder is called.
pub(super) const ANY_ENGINE: &str = "any";

/// A rule with its effective parameters.
pub struct ActiveRule {
    /// Its description in reports.
    pub info: RuleInfo,
    /// The folder of a built-in rule below `rules/`, which is the engine whose applications it judges.
    pub(super) folder: &'static str,
    /// What else is known of it.
    pub facts: &'static RuleFacts,
    /// Whether it runs.
    pub enabled: Setting<bool>,
    /// The highest severity of its findings.
    pub max_severity: Option<Setting<Severity>>,
    /// Its implementation.
    pub check: RuleCheck,
    /// Its parameters for reports.
    pub params: Vec<Parameter>,
    /// Its cut-offs, which all its findings share.
    pub(super) thresholds: OnceLock<Arc<[Threshold]>>,
}

/// The implementation of a rule.
pub enum RuleCheck {
    /// A rule written in Rust: a built-in one, or one that a user of the library adds.
    Native(Arc<dyn Check>),
    /// A rule that a rule file defines.
    Defined(Box<CustomRule>),
    /// A rule that a file defines, but the documents for an application contradict each other. Contains the
    /// reason.
    Contradicted(String),
}

/// The results of the rules for one application.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Evaluation {
    /// One finding per rule and subject, including those of severity none, in catalogue order.
    pub findings: Vec<Finding>,
    /// Suppressed findings, each with the index of its suppression: the first of all rule files is 0.
    pub suppressed: Vec<(usize, Suppressed)>,
    /// Rules whose data is missing.
    pub not_evaluated: Vec<NotEvaluated>,
    /// Whether a rule about tasks, stages or jobs was evaluated.
    pub judges_work: bool,
    /// The costs of the application, if a rule used them.
    pub metrics: Option<Metrics>,
    /// The queries that took longest, if they were asked for.
    pub queries: Vec<QuerySummary>,
}

impl Evaluation {
    /// Adds what another evaluation says of the rules that are reported.
    pub(super) fn add(&mut self, other: Self, is_reported: impl Fn(&Name) -> bool) {
        self.findings.extend(other.findings.into_iter().filter(|it| is_reported(&it.rule)));
        self.not_evaluated.extend(other.not_evaluated.into_iter().filter(|it| is_reported(&it.rule)));
        self.judges_work |= other.judges_work;
    }
}

impl ActiveRule {
    /// The rule for an application whose documents contradict each other.
    pub(super) fn contradicted(&self, why: &str) -> Self {
        let why = format!("the documents about this rule that apply here contradict each other: {why}");
        Self {
            info: self.info.clone(),
            folder: self.folder,
            facts: self.facts,
            enabled: self.enabled.clone(),
            max_severity: self.max_severity.clone(),
            check: RuleCheck::Contradicted(why),
            params: Vec::new(),
            thresholds: OnceLock::new(),
        }
    }

    /// The engine whose applications it judges, or `any`.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        match &self.check {
            RuleCheck::Defined(rule) => rule.over.engine().or(rule.engine).map_or(ANY_ENGINE, Engine::name),
            RuleCheck::Native(_) | RuleCheck::Contradicted(_) => self.folder,
        }
    }

    /// The verdict of the rule on `app`; `shared` holds values that rules have in common.
    #[must_use]
    pub fn verdict(&self, app: &Application, shared: &Shared<'_>) -> Verdict<Name> {
        match &self.check {
            RuleCheck::Native(check) => match check.doubt(app).filter(|_| !shared.trusts_jvms()) {
                Some(doubt) => Verdict::NotEvaluated(doubt),
                None => check.check_among(app, shared).named(),
            },
            RuleCheck::Contradicted(why) => Verdict::NotEvaluated(why.clone()),
            RuleCheck::Defined(rule) if rule.needs_metrics() => match shared.metrics() {
                Some(metrics) => rule.check(app, metrics),
                None => Verdict::NotEvaluated(NOT_MEASURED.to_owned()),
            },
            RuleCheck::Defined(rule) => rule.check(app, &Metrics::default()),
        }
    }

    /// The rule's remedy, independent of what it finds.
    pub(super) fn remedy(&self, app: &Application) -> Option<Remedy> {
        match &self.check {
            RuleCheck::Native(check) => check.remedy(app),
            RuleCheck::Defined(_) | RuleCheck::Contradicted(_) => None,
        }
    }

    fn rests_on(&self) -> &[Facet] {
        match &self.check {
            RuleCheck::Native(check) => check.rests_on(),
            RuleCheck::Defined(rule) => rule.rests_on(),
            RuleCheck::Contradicted(_) => &[],
        }
    }

    fn needs_all(&self) -> bool {
        match &self.check {
            RuleCheck::Native(check) => check.needs_all(),
            RuleCheck::Defined(_) | RuleCheck::Contradicted(_) => false,
        }
    }

    /// The task counters of this kind that its verdict depends on.
    #[must_use]
    #[doc(hidden)]
    pub fn reads(&self, kind: TaskKind) -> CounterMask {
        match &self.check {
            RuleCheck::Native(check) => check.reads(kind),
            RuleCheck::Defined(rule) => rule.reads(kind),
            RuleCheck::Contradicted(_) => CounterMask::NONE,
        }
    }

    /// Whether the rule reads counters by their group and name.
    pub(super) fn names_counters(&self) -> bool {
        matches!(&self.check, RuleCheck::Defined(rule) if rule.names_counters())
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
            // Findings stay. If data is missing, "nothing found" proves nothing.
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
            message = format!("{message}; based on partial data: {reason}");
        }
        let limit = self.max_severity.as_ref().filter(|limit| limit.value < judged.severity);
        if let Some(limit) = limit {
            message = format!("{message}; {} without the limit in {}", judged.severity, limit.origin);
        }
        let why = |limit: &Setting<Severity>| CapReason::RuleFile(limit.origin.to_string());
        let caps = Caps::from(limit.map(|limit| Cap { at_most: limit.value, why: why(limit) }));
        let severity = caps.fold(judged.severity);
        Finding {
            rule: self.info.id.clone(),
            title: self.info.title.clone(),
            rule_facts: self.facts,
            tells: judged.tells.unwrap_or(self.facts.tells),
            severity,
            raw_severity: severity,
            caps,
            score: severity.score(judged.tasks),
            subject: judged.subject,
            message,
            statement: judged.statement,
            evidence: judged.evidence,
            thresholds: Arc::clone(self.thresholds.get_or_init(|| thresholds(&self.params))),
            advice: judged.advice,
            repartition: judged.repartition,
            of_more_parts: judged.of_more_parts,
            also_about: judged.also_about,
            in_queries: judged.in_queries,
            conditions: judged.conditions.map(Vec::from).unwrap_or_default(),
            failure: judged.failure,
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
