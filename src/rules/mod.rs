//! Rule files: parameters in layers — built-in, then presets and files in the order they were given.

pub mod cutoffs;
pub mod defined;
pub mod layer;
pub mod params;
pub mod quantity;
pub mod yaml;

use std::path::{Path, PathBuf};

use thiserror::Error;
use walkdir::WalkDir;

pub use layer::{Layer, LayerError};

use crate::finding::{Finding, Judgement, Name, NotEvaluated, Threshold, Verdict};
use crate::heuristics::{self, Loaded, Rule};
use crate::metrics::{MetricParams, Metrics, SparkMetricParams};
use crate::model::{Application, Engine};
use crate::severity::Severity;
use params::{ParamValue, Params};

/// The id under which rule files set the parameters of metrics.
pub const METRICS_ID: &str = "metrics";

const METRICS_DEFAULTS: &str = include_str!("../../rules/metrics.yaml");

/// The page of metrics in Markdown.
pub const METRICS_PAGE: &str = include_str!("../../rules/metrics.md");

/// The id under which rule files set the parameters of the metrics of Spark applications.
pub const SPARK_METRICS_ID: &str = "spark-metrics";

const SPARK_METRICS_DEFAULTS: &str = include_str!("../../rules/spark-metrics.yaml");

/// The page of the metrics of Spark applications in Markdown.
pub const SPARK_METRICS_PAGE: &str = include_str!("../../rules/spark-metrics.md");

/// Parameter sets that come with the tool: name, text.
pub const PRESETS: &[(&str, &str)] = &[
    ("dr-elephant", include_str!("../../rules/presets/dr-elephant.yaml")),
    ("dr-elephant-0.4", include_str!("../../rules/presets/dr-elephant-0.4.yaml")),
    ("dr-elephant-2.0", include_str!("../../rules/presets/dr-elephant-2.0.yaml")),
    ("dr-elephant-shs", include_str!("../../rules/presets/dr-elephant-shs.yaml")),
    ("dr-elephant-tuning", include_str!("../../rules/presets/dr-elephant-tuning.yaml")),
];

/// Rules that cannot be used.
#[derive(Debug, Error)]
pub enum RuleError {
    /// A document of a rule file is wrong.
    #[error(transparent)]
    Layer(#[from] LayerError),
    /// A file could not be read.
    #[error("cannot read the rules in {path}: {source}; give a YAML file, a folder of them, or a preset ({presets})", path = path.display(), presets = preset_names())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

fn preset_names() -> String {
    PRESETS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// A rule with the parameters in force.
pub struct ActiveRule {
    /// The rule as the catalogue knows it.
    pub rule: &'static Rule,
    /// Its parameters and its check.
    pub loaded: Loaded,
    /// The files that set any of its parameters, beyond the built-in ones.
    pub changed_by: Vec<String>,
}

/// All rules with the parameters in force.
pub struct RuleSet {
    rules: Vec<ActiveRule>,
    metrics: MetricParams,
    spark_metrics: SparkMetricParams,
}

/// What the rules say about one application.
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    /// One finding per rule and subject, also those of severity none, in catalogue order.
    pub findings: Vec<Finding>,
    /// Rules whose data is missing.
    pub not_evaluated: Vec<NotEvaluated>,
}

/// A rule that applications were judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its id.
    pub id: Name,
    /// Its name for people.
    pub title: Name,
    /// Its page in Markdown.
    pub page: Name,
}

/// A rule file's text under the name to show in errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// The path, or the name of a preset.
    pub name: String,
    /// The YAML.
    pub text: String,
}

impl RuleFile {
    /// The preset of this name, or the YAML file, or all `*.yaml` and `*.yml` files below a folder by name.
    pub fn find(path: &Path) -> Result<Vec<Self>, RuleError> {
        let preset = PRESETS.iter().find(|(name, _)| path.as_os_str() == *name);
        if let Some((name, text)) = preset
            && !path.exists()
        {
            return Ok(vec![Self { name: format!("preset {name}"), text: (*text).to_owned() }]);
        }
        let unreadable = |source| RuleError::Unreadable { path: path.to_owned(), source };
        if !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
            return Ok(vec![Self::read(path)?]);
        }
        let mut files = Vec::new();
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.map_err(|error| unreadable(error.into()))?;
            let is_yaml = entry.path().extension().is_some_and(|e| e == "yaml" || e == "yml");
            if entry.file_type().is_file() && is_yaml {
                files.push(Self::read(entry.path())?);
            }
        }
        Ok(files)
    }

    fn read(path: &Path) -> Result<Self, RuleError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| RuleError::Unreadable { path: path.to_owned(), source })?;
        Ok(Self { name: path.display().to_string(), text })
    }
}

impl RuleSet {
    /// The built-in rules.
    pub fn built_in() -> Result<Self, RuleError> {
        Self::with_files(&[])
    }

    /// The built-in rules under the layers of `files`, later ones over earlier ones.
    pub fn with_files(files: &[RuleFile]) -> Result<Self, RuleError> {
        let mut layers = Vec::new();
        for file in files {
            for (id, layer) in Layer::split(&file.name, &file.text)? {
                layers.push((id, layer));
            }
        }
        let stack = |id: &str, defaults: &'static str| {
            let built_in = Layer { source: "built-in rules", text: defaults, index: 0 };
            let own = layers.iter().filter(|(name, _)| name == id).map(|(_, layer)| *layer);
            std::iter::once(built_in).chain(own).collect::<Vec<_>>()
        };
        let mut rules = Vec::new();
        for rule in heuristics::all() {
            let stack = stack(rule.id, rule.defaults);
            let loaded = (rule.load)(&stack)?;
            let changed_by = stack.iter().skip(1).map(|layer| layer.source.to_owned()).collect();
            rules.push(ActiveRule { rule, loaded, changed_by });
        }
        let (metrics, _) = heuristics::load_params::<MetricParams>(&stack(METRICS_ID, METRICS_DEFAULTS))?;
        let spark_metrics = stack(SPARK_METRICS_ID, SPARK_METRICS_DEFAULTS);
        let (spark_metrics, _) = heuristics::load_params::<SparkMetricParams>(&spark_metrics)?;
        Ok(Self { rules, metrics, spark_metrics })
    }

    /// The rules in catalogue order.
    #[must_use]
    pub fn rules(&self) -> &[ActiveRule] {
        &self.rules
    }

    /// The rules that are switched on, for reports.
    #[must_use]
    pub fn infos(&self) -> Vec<RuleInfo> {
        let on = self.rules.iter().filter(|active| active.loaded.enabled);
        let info = |active: &ActiveRule| {
            let Rule { id, title, page, .. } = *active.rule;
            RuleInfo { id: id.into(), title: title.into(), page: page.into() }
        };
        on.map(info).collect()
    }

    /// The parameters of the metrics of MapReduce jobs.
    #[must_use]
    pub fn metrics(&self) -> &MetricParams {
        &self.metrics
    }

    /// The parameters of the metrics of Spark applications.
    #[must_use]
    pub fn spark_metrics(&self) -> &SparkMetricParams {
        &self.spark_metrics
    }

    /// The parameters of metrics for reports, under the id that rule files give them.
    #[must_use]
    pub fn metrics_params(&self, id: &str) -> Vec<(&'static str, ParamValue)> {
        match id {
            METRICS_ID => self.metrics.entries(),
            SPARK_METRICS_ID => self.spark_metrics.entries(),
            _ => Vec::new(),
        }
    }

    /// What `app` cost.
    #[must_use]
    pub fn measure(&self, app: &Application) -> Metrics {
        match app.engine {
            Engine::MapReduce => Metrics::of(app, &self.metrics),
            Engine::Spark => Metrics::of_spark(app, &self.spark_metrics),
        }
    }

    /// What the rules that are switched on say about `app`.
    #[must_use]
    pub fn evaluate(&self, app: &Application) -> Evaluation {
        let mut evaluation = Evaluation::default();
        for active in self.rules.iter().filter(|active| active.loaded.enabled) {
            let judgements = match active.loaded.check.check(app) {
                Verdict::Judged(judged) => vec![judged],
                Verdict::Several(judged) => judged,
                Verdict::NotEvaluated(reason) => {
                    evaluation.not_evaluated.push(NotEvaluated { rule: active.rule.id.into(), reason });
                    continue;
                }
                Verdict::NotApplicable => continue,
            };
            let gaps = app.spark.as_ref().map(|spark| spark.gaps);
            let partial = gaps.and_then(|gaps| gaps.reason(active.loaded.check.rests_on()));
            match partial {
                // What was found stays found; that nothing was found proves nothing where data is missing.
                Some(reason) if judgements.iter().all(|judged| judged.severity == Severity::None) => {
                    evaluation.not_evaluated.push(NotEvaluated { rule: active.rule.id.into(), reason });
                }
                partial => {
                    evaluation
                        .findings
                        .extend(judgements.into_iter().map(|j| active.finding(j, partial.as_deref())));
                }
            }
        }
        evaluation
    }
}

impl ActiveRule {
    fn finding<K: Into<Name>>(&self, judged: Judgement<K>, partial: Option<&str>) -> Finding {
        Finding {
            rule: self.rule.id.into(),
            title: self.rule.title.into(),
            severity: judged.severity,
            score: judged.severity.score(judged.tasks),
            subject: judged.subject,
            message: match partial {
                Some(reason) => format!("{}; this rests on partial data: {reason}", judged.message),
                None => judged.message,
            },
            evidence: judged.evidence.into_iter().map(|(key, value)| (key.into(), value)).collect(),
            thresholds: thresholds(&self.loaded.params),
            advice: judged.advice,
        }
    }
}

fn thresholds(params: &[(&'static str, ParamValue)]) -> Vec<Threshold> {
    let cutoffs = params.iter().filter_map(|(key, value)| match value {
        ParamValue::Cutoffs { values, key_ending, .. } => {
            Some(Threshold { key: format!("{key}{key_ending}"), cutoffs: *values })
        }
        ParamValue::Text(_) => None,
    });
    cutoffs.collect()
}

/// The ids that a rule file may name.
fn known_ids() -> impl Iterator<Item = &'static str> {
    heuristics::all().map(|rule| rule.id).chain([METRICS_ID, SPARK_METRICS_ID])
}

/// What to say about an id that does not exist.
fn unknown_rule(id: &str) -> String {
    let hint =
        nearest(id, known_ids()).map(|known| format!(", did you mean \"{known}\"?")).unwrap_or_default();
    format!("there is no rule \"{id}\"{hint}; `elephant-rs rules list` names them all")
}

/// The one of `known` that `word` may be a slip of.
fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let near = known.map(|known| (edit_distance(known, word), known)).min()?;
    let limit = (word.chars().count() / 3).clamp(1, 4);
    (near.0 <= limit).then_some(near.1)
}

/// Levenshtein's distance, for "did you mean".
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(100).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(100).enumerate() {
        let mut next = vec![i + 1];
        for ((j, &cb), pair) in b.iter().enumerate().zip(row.windows(2)) {
            let [diagonal, above] = pair else { continue };
            let left = next.get(j).copied().unwrap_or(usize::MAX - 1);
            next.push((diagonal + usize::from(ca != cb)).min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(edit_distance("mapper-skew", "maper-skew"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", "abc"), 0);
    }
}
