//! All rules with their effective parameters, for all applications or for a single one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, NaiveDate};
use rayon::prelude::*;

use super::active::{ActiveRule, Evaluation, RuleInfo};
use super::added::{AddedRule, check_ids};
use super::assemble::{added_rules, built_in_documents, built_in_rules, load_all};
use super::document::{Content, Document, check_target, names_counters};
use super::exceptions::{self, ExceptionRule};
use super::hash::hash;
use super::identity::Identifying;
use super::in_force::InForce;
use super::index::{Index, Indexed};
use super::known::KnownIds;
use super::suppression::{Suppression, check_rules};
use super::{RuleError, RuleFile, custom, known_ids, settings};
use elephant_analysis::metrics::Metrics;
use elephant_analysis::replay::spark::RecordedOnce;
use elephant_base::severity::Severity;
use elephant_catalogue::{Catalogue, Shared};
use elephant_model::model::{Application, Engine};
use elephant_query::{Extent, QuerySummary};
use elephant_rule::finding::{Name, Suppressed};
use elephant_rule::params::words::did_you_mean;
use elephant_rule::params::{Importance, Problems, RuleProblem};

mod parameters;
#[cfg(test)]
mod tests;

/// The maximum number of cached rule sets for different applications. Further ones are built each time.
const MAX_VARIANTS: usize = 1000;

/// Applications with at least this many tasks are judged by several rules in parallel. One rule computes
/// the data in [`Shared`] while others wait, so that computation must not use several threads itself.
const MANY_TASKS: u64 = 10_000;

/// All rules with their effective parameters.
pub struct RuleSet {
    catalogue: Catalogue,
    documents: Vec<Arc<Document>>,
    index: Index,
    suppressions: Vec<Suppression>,
    identifying: Vec<Identifying>,
    exceptions: Vec<ExceptionRule>,
    added: Vec<AddedRule>,
    rules: Arc<Vec<ActiveRule>>,
    /// Rules for applications with scoped documents, by the indices of those documents.
    variants: Mutex<BTreeMap<Vec<usize>, Arc<Vec<ActiveRule>>>>,
    in_force: InForce,
    warnings: Vec<RuleProblem>,
    today: NaiveDate,
    /// The ids of the rules to report; `None` for all.
    only: Option<BTreeSet<String>>,
    hash: String,
}

impl RuleSet {
    /// The rules of `catalogue`.
    ///
    /// # Errors
    /// If a rule's own file is incomplete.
    #[doc(hidden)]
    pub fn new(catalogue: Catalogue) -> Result<Self, RuleError> {
        Self::with_files(catalogue, &[])
    }

    /// The rules of `catalogue`, overridden by the documents of `files`.
    ///
    /// # Errors
    /// All errors in the files.
    pub fn with_files(catalogue: Catalogue, files: &[RuleFile]) -> Result<Self, RuleError> {
        Self::with_rules(catalogue, Vec::new(), files)
    }

    /// The rules of `catalogue` and `added` ones, overridden by the documents of `files`.
    ///
    /// # Errors
    /// An id of an added rule that is taken or malformed, or all errors in the files.
    pub fn with_rules(
        catalogue: Catalogue,
        added: Vec<AddedRule>,
        files: &[RuleFile],
    ) -> Result<Self, RuleError> {
        check_ids(catalogue, &added)?;
        let (rules, problems) = Self::read_with(catalogue, added, files);
        let errors = problems.iter().any(|problem| problem.importance == Importance::Error);
        rules.filter(|_| !errors).ok_or(RuleError::Invalid(problems))
    }

    /// Like [`RuleSet::with_files`], with all problems, whether or not the rules can be used.
    #[must_use]
    pub fn read(catalogue: Catalogue, files: &[RuleFile]) -> (Option<Self>, Vec<RuleProblem>) {
        Self::read_with(catalogue, Vec::new(), files)
    }

    fn read_with(
        catalogue: Catalogue,
        added: Vec<AddedRule>,
        files: &[RuleFile],
    ) -> (Option<Self>, Vec<RuleProblem>) {
        let mut problems = Problems::default();
        let files: Vec<Arc<RuleFile>> = files.iter().cloned().map(Arc::new).collect();
        let mut content = Content::default();
        for file in &files {
            let Content { documents, suppressions, identifying, exceptions } =
                Content::read(file, &mut problems);
            content.documents.extend(documents);
            content.suppressions.extend(suppressions);
            content.identifying.extend(identifying);
            content.exceptions.extend(exceptions);
        }
        exceptions::check(&content.exceptions, &mut problems);
        let mut ids = KnownIds::new(known_ids(catalogue).chain(added.iter().map(AddedRule::id)));
        let defined = custom::mark(&mut content.documents, &ids);
        ids.extend(defined.iter().map(String::as_str));
        content.documents.retain(|document| check_target(document, &mut ids, &mut problems));
        content.suppressions.iter().for_each(|suppression| check_rules(suppression, &mut ids, &mut problems));
        let mut documents: Vec<Arc<Document>> = built_in_documents(catalogue, &mut problems)
            .into_iter()
            .chain(content.documents)
            .map(Arc::new)
            .collect();
        // The sort is stable: of equal documents, the later one stays on top.
        documents.sort_by_key(|document| document.precedence());
        let hash = hash(catalogue, &added, &files);
        let set = Self::assemble(catalogue, documents, content.suppressions, added, &mut problems);
        let problems = problems.into_vec(&files);
        let (identifying, exceptions) = (content.identifying, content.exceptions);
        let set = set.map(|set| Self { warnings: problems.clone(), hash, identifying, exceptions, ..set });
        (set, problems)
    }

    fn assemble(
        catalogue: Catalogue,
        documents: Vec<Arc<Document>>,
        suppressions: Vec<Suppression>,
        added: Vec<AddedRule>,
        problems: &mut Problems,
    ) -> Option<Self> {
        // All documents at once, to report every problem.
        let all: Vec<&Document> = documents.iter().map(AsRef::as_ref).collect();
        for document in
            all.iter().filter(|document| is_about_settings(document) && !document.scope.is_everything())
        {
            let message = "these parameters are the same for all applications";
            problems.error(&document.layer.file, &document.layer.span, message, Some("omit for".to_owned()));
        }
        let index = Index::of(all.iter().copied());
        let indexed = Indexed { documents: &all, index: &index };
        built_in_rules(catalogue, indexed, problems)?;
        added_rules(&added, indexed, problems);
        custom::check_all(indexed, problems);
        let everywhere: Vec<&Document> =
            all.iter().copied().filter(|d| d.scope.is_everything() || d.defines).collect();
        let mut known = Problems::default();
        let rules = Arc::new(load_all(catalogue, &everywhere, &added, &mut known)?);
        let of_everywhere = Index::of(everywhere.iter().copied());
        let everywhere = Indexed { documents: &everywhere, index: &of_everywhere };
        Some(Self {
            catalogue,
            rules,
            in_force: InForce::of(everywhere, problems)?,
            variants: Mutex::default(),
            warnings: Vec::new(),
            today: today(),
            only: None,
            hash: String::new(),
            suppressions,
            identifying: Vec::new(),
            exceptions: Vec::new(),
            index,
            documents,
            added,
        })
    }

    /// The same rules on another day, for suppressions with an end date.
    #[must_use]
    pub fn on(self, today: NaiveDate) -> Self {
        Self { today, ..self }
    }

    /// The same rules, but only these are reported. All rules are still evaluated: whether an application could be
    /// judged must not depend on which rules are reported.
    ///
    /// # Errors
    /// An id that no rule has.
    #[doc(hidden)]
    pub fn only(self, ids: &[String]) -> Result<Self, RuleError> {
        ids.iter().try_for_each(|id| self.rule(id).map(drop))?;
        let mut set = Self { only: Some(ids.iter().cloned().collect()), ..self };
        set.suppressions.retain(|suppression| ids.iter().any(|id| suppression.rules.matches(id)));
        Ok(set)
    }

    /// Whether the findings of a rule are reported.
    #[must_use]
    #[doc(hidden)]
    pub fn reports(&self, id: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(id))
    }

    /// The rule of this id, with the parameters for applications without scoped documents.
    ///
    /// # Errors
    /// If no rule has it; the error suggests the most similar id.
    #[doc(hidden)]
    pub fn rule(&self, id: &str) -> Result<&ActiveRule, RuleError> {
        let found = self.rules.iter().find(|active| active.info.id == id);
        found.ok_or_else(|| {
            let help = did_you_mean(id, self.rules.iter().map(|active| active.info.id.as_ref()));
            let help = help.unwrap_or_else(|| "`elephant-rs rules list` lists all rules".to_owned());
            RuleError::NoSuchRule { id: id.to_owned(), help }
        })
    }

    /// The rules in catalogue order, with the parameters for applications without scoped documents.
    #[must_use]
    #[doc(hidden)]
    pub fn rules(&self) -> &[ActiveRule] {
        &self.rules
    }

    /// The rules with the parameters for `app`.
    #[must_use]
    #[doc(hidden)]
    pub fn rules_for(&self, app: &Application) -> Arc<Vec<ActiveRule>> {
        let scoped =
            self.documents.iter().enumerate().filter(|(_, document)| !document.scope.is_everything());
        let key: Vec<usize> =
            scoped.filter(|(_, d)| d.scope.applies_to(app)).map(|(place, _)| place).collect();
        if key.is_empty() {
            return Arc::clone(&self.rules);
        }
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = variants.get(&key) {
            return Arc::clone(known);
        }
        let applies: BTreeSet<usize> = key.iter().copied().collect();
        let documents = self.documents.iter().enumerate();
        let documents: Vec<&Document> = documents
            .filter(|(place, d)| d.scope.is_everything() || d.defines || applies.contains(place))
            .map(|(_, document)| document.as_ref())
            .collect();
        let mut problems = Problems::default();
        let Some(mut rules) = load_all(self.catalogue, &documents, &self.added, &mut problems) else {
            return Arc::clone(&self.rules);
        };
        let why = problems.into_vec(&[]).first().map(ToString::to_string).unwrap_or_default();
        let known: BTreeSet<Name> = rules.iter().map(|rule| rule.info.id.clone()).collect();
        let lost = self.rules.iter().filter(|rule| !known.contains(&rule.info.id));
        rules.extend(lost.map(|rule| rule.contradicted(&why)));
        let rules = Arc::new(rules);
        if variants.len() < MAX_VARIANTS {
            variants.insert(key, Arc::clone(&rules));
        }
        rules
    }

    /// Whether a rule, for some applications at least, reads counters by their group and name.
    #[must_use]
    #[doc(hidden)]
    pub fn names_counters(&self) -> bool {
        // A scoped document may change an expression, which is final only when the application is known.
        self.rules.iter().any(ActiveRule::names_counters) || names_counters(&self.documents)
    }

    /// All documents of the user's files about a rule, the least specific first.
    #[doc(hidden)]
    pub fn documents_about<'s>(&'s self, rule: &'s ActiveRule) -> impl Iterator<Item = &'s Document> {
        self.all_about(rule).filter(|document| !document.layer.built_in)
    }

    fn all_about<'s>(&'s self, rule: &'s ActiveRule) -> impl Iterator<Item = &'s Document> {
        let document = |place: usize| self.documents.get(place).map(AsRef::as_ref);
        self.index.about(&rule.info.id, rule.facts.provenance, document).map(|(_, document)| document)
    }

    /// Warnings about files that work but should be changed.
    #[must_use]
    pub fn warnings(&self) -> &[RuleProblem] {
        &self.warnings
    }

    /// The rules that are reported and enabled for at least some applications.
    #[must_use]
    pub fn infos(&self) -> Vec<RuleInfo> {
        let somewhere = |rule: &ActiveRule| {
            self.all_about(rule)
                .filter_map(|document| document.layer.enabled.as_ref())
                .any(|enabled| enabled.value)
        };
        let on = self.rules.iter().filter(|active| self.reports(&active.info.id));
        let on = on.filter(|active| active.enabled.value || somewhere(active));
        on.map(|active| active.info.clone()).collect()
    }

    /// The costs of `app`.
    #[must_use]
    pub fn measure(&self, app: &Application) -> Metrics {
        match app.engine {
            Engine::MapReduce => Metrics::of(app, self.metrics()),
            Engine::Spark => Metrics::of_spark(app, self.spark_metrics()),
            Engine::Tez => Metrics::of_dag(app, self.metrics()),
        }
    }

    /// Evaluates the enabled rules on `app`.
    #[must_use]
    pub fn evaluate(&self, app: &Application) -> Evaluation {
        self.evaluate_recorded(app, &RecordedOnce::default(), Extent::default())
    }

    /// Like [`Self::evaluate`], with the recorded run, which is computed if a rule needs it, and with queries.
    #[doc(hidden)]
    pub fn evaluate_recorded(
        &self,
        app: &Application,
        recorded: &RecordedOnce,
        queries: Extent,
    ) -> Evaluation {
        let metrics = OnceLock::new();
        let measured = || metrics.get_or_init(|| self.measure(app));
        let (parts, queries) = self.parts(app, &measured, recorded, queries);
        let mut evaluation = Evaluation { metrics: metrics.into_inner(), queries, ..Evaluation::default() };
        for part in parts {
            evaluation.add(part, |rule| self.reports(rule));
        }
        self.suppress(app, &mut evaluation);
        evaluation
    }

    /// The evaluation of each enabled rule on `app`, and its queries.
    fn parts<'a>(
        &self,
        app: &'a Application,
        metrics: &'a (dyn Fn() -> &'a Metrics + Sync),
        recorded: &'a RecordedOnce,
        queries: Extent,
    ) -> (Vec<Evaluation>, Vec<QuerySummary>) {
        let rules = self.rules_for(app);
        let remedies = |container| rules.iter().find(|rule| rule.facts.sizes == Some(container))?.remedy(app);
        let metrics = || metrics();
        let shared = Shared::of(app).with_metrics(&metrics).with_remedies(&remedies).with_recorded(recorded);
        let shared = shared.with_jvms_trusted(self.order().trust_jvms);
        let enabled: Vec<&ActiveRule> = rules.iter().filter(|active| active.enabled.value).collect();
        let judge = |active: &&ActiveRule| active.evaluate(app, &shared);
        let parts = if app.task_count() >= MANY_TASKS {
            enabled.par_iter().map(judge).collect()
        } else {
            enabled.iter().map(judge).collect()
        };
        let has_queries =
            app.spark.as_ref().is_some_and(|spark| !spark.sql.is_empty()) && queries.queries > 0;
        let ground = if has_queries { shared.queries() } else { None };
        (parts, ground.map(|ground| ground.summaries(queries)).unwrap_or_default())
    }

    fn suppress(&self, app: &Application, evaluation: &mut Evaluation) {
        let valid: Vec<(usize, &Suppression)> =
            self.suppressions.iter().enumerate().filter(|(_, s)| !s.is_expired(self.today)).collect();
        if valid.is_empty() {
            return;
        }
        for finding in std::mem::take(&mut evaluation.findings) {
            let silenced = finding.severity > Severity::None;
            let by = valid.iter().find(|(_, suppression)| silenced && suppression.covers(app, &finding));
            match by {
                Some((place, by)) => {
                    let (reason, until, origin) = (by.reason.clone(), by.until, by.origin());
                    evaluation.suppressed.push((*place, Suppressed { finding, reason, until, origin }));
                }
                None => evaluation.findings.push(finding),
            }
        }
    }
}

/// Today in UTC.
fn today() -> NaiveDate {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let now = i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    now.map_or(NaiveDate::MIN, |now| now.date_naive())
}

fn is_about_settings(document: &Document) -> bool {
    settings::ALL.iter().any(|known| matches!(&document.target, super::Target::Rule(id) if *id == known.id))
}
