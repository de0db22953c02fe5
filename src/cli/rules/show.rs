//! `elephant-rs rules show ID`

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use thiserror::Error;

use super::super::judging::RuleArgs;
use crate::engine;
use crate::model::Application;
use crate::params::ParamValue;
use crate::params::layers::Parameter;
use crate::params::words::did_you_mean;
use crate::report::wrap::clean;
use crate::rules::{
    ActiveRule, Aspect, Document, METRICS_ID, METRICS_PAGE, RuleCheck, RuleSet, SPARK_METRICS_ID,
    SPARK_METRICS_PAGE,
};

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs rules show mapper-skew
  elephant-rs rules show mapper-skew --rules rules/ --for job_1526555215992_0001.jhist
      which documents of the rule files apply to this job, and what holds for it";

/// The pages of metrics by their ids.
const METRICS_PAGES: [(&str, &str); 2] = [(METRICS_ID, METRICS_PAGE), (SPARK_METRICS_ID, SPARK_METRICS_PAGE)];

#[derive(Debug, Args)]
pub(in crate::cli) struct Show {
    /// The rule's id, or metrics, or spark-metrics
    id: String,
    #[command(flatten)]
    rules: RuleArgs,
    /// Show what holds for the applications of this history, and why
    #[arg(long = "for", value_name = "FILE")]
    history: Option<PathBuf>,
}

#[derive(Debug, Error)]
enum ShowError {
    #[error("there is no rule \"{id}\"; {help}")]
    NoSuchRule { id: String, help: String },
    #[error(
        "{0} holds no history of an application that could be read; --for takes an event log or a job history"
    )]
    NoApplication(String),
}

impl Show {
    pub(super) fn page(&self) -> Result<String, Box<dyn Error>> {
        let rules = self.rules.load()?;
        if let Some((_, text)) = METRICS_PAGES.iter().find(|(known, _)| *known == self.id) {
            return Ok(format!("{}{}", in_force(text), parameters(rules.metrics_params(&self.id))));
        }
        let active = rules.rules().iter().find(|active| active.info.id == self.id.as_str());
        let ids = rules.rules().iter().map(|active| active.info.id.as_ref());
        let active = active.ok_or_else(|| ShowError::NoSuchRule {
            id: self.id.clone(),
            help: did_you_mean(&self.id, ids)
                .unwrap_or_else(|| "`elephant-rs rules list` lists all ids".to_owned()),
        })?;
        let Some(history) = &self.history else {
            return Ok(in_force(&active.info.page) + &rule(active) + &scoped(&rules, &self.id));
        };
        let visited = engine::visit(std::slice::from_ref(history), |app, _| outcome(&rules, &self.id, app));
        let outcomes: Vec<String> = visited.applications.into_iter().map(|visit| visit.value).collect();
        if outcomes.is_empty() {
            return Err(ShowError::NoApplication(history.display().to_string()).into());
        }
        Ok(outcomes.join("\n"))
    }
}

fn in_force(page: &str) -> String {
    format!("{}\n\n## Parameters in force\n\n", page.trim_end())
}

fn rule(active: &ActiveRule) -> String {
    let off = (!active.enabled.value).then(|| format!("The rule is off ({}).\n\n", active.enabled.origin));
    let cap = active.max_severity.as_ref();
    let cap = cap.map(|cap| format!("Findings are at most {} ({}).\n\n", cap.value, cap.origin));
    [off.unwrap_or_default(), cap.unwrap_or_default(), parameters(&active.params)].concat()
}

/// Each parameter as it could be written, with its origin.
pub(super) fn parameters<'p>(parameters: impl IntoIterator<Item = &'p Parameter>) -> String {
    let parameters: Vec<&Parameter> = parameters.into_iter().collect();
    let written = |Parameter { key, value, .. }: &&Parameter| match value {
        ParamValue::Cutoffs { shown, .. } => format!("{key}: [{}]", shown.join(", ")),
        ParamValue::Text(text) => format!("{key}: {text}"),
    };
    let written: Vec<String> = parameters.iter().map(written).collect();
    let widest =
        written.iter().map(|line| line.chars().count()).filter(|&width| width <= 50).max().unwrap_or(0);
    let lines = written.iter().zip(parameters);
    lines_of(lines.map(|(line, parameter)| format!("    {line:<widest$}  # {}", parameter.origin)))
}

/// The documents that change the rule for some applications.
fn scoped(rules: &RuleSet, id: &str) -> String {
    let documents = rules.documents_about(id).filter(|document| !document.scope.is_everything());
    let lines = lines_of(documents.map(|document| format!("    {}", describe(document))));
    if lines.is_empty() {
        return lines;
    }
    format!(
        "\nOtherwise for some applications, the most specific last (--for FILE shows what holds for one):\n\n{lines}"
    )
}

fn lines_of(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line + "\n").collect()
}

fn describe(document: &Document) -> String {
    let mut sets: Vec<String> = Vec::new();
    sets.extend(
        document.layer.enabled.as_ref().map(|enabled| if enabled.value { "on" } else { "off" }.to_owned()),
    );
    sets.extend(document.layer.max_severity.as_ref().map(|cap| format!("at most {}", cap.value)));
    sets.extend(document.layer.entries.iter().map(|(key, _)| key.value.clone()));
    let sets = if sets.is_empty() { "sets nothing".to_owned() } else { sets.join(", ") };
    format!("{}  {}: {sets}", document.layer.place_of(&document.layer.span), document.scope)
}

/// What holds for one application, and which documents made it so.
fn outcome(rules: &RuleSet, id: &str, app: &Application) -> String {
    let aspects = Aspect::ALL.into_iter().map(|aspect| {
        let value = aspect.of(app).map_or_else(|| "unknown".to_owned(), clean);
        format!("    {:<9} {value}", aspect.words())
    });
    let documents = rules.documents_about(id).map(|document| {
        let why = match document.scope.misfit(app) {
            None => "applies".to_owned(),
            Some(aspect) => format!("does not apply: the {} differs", aspect.words()),
        };
        format!("    {}\n        {why}", describe(document))
    });
    let documents = lines_of(documents);
    let documents =
        if documents.is_empty() { "    none but the built-in one\n".to_owned() } else { documents };
    let suppressions = rules.suppressions().iter().filter(|s| s.rules.matches(id) && s.scope.applies_to(app));
    let suppressions = lines_of(suppressions.map(|suppression| {
        let until = suppression.until.map_or_else(String::new, |day| format!(", until {day}"));
        let expired = if suppression.is_expired(rules.today()) { ", expired" } else { "" };
        format!("    {}: {}{until}{expired}", suppression.origin(), suppression.reason)
    }));
    let suppressions = if suppressions.is_empty() {
        String::new()
    } else {
        format!("\nWhat it finds is suppressed by:\n\n{suppressions}")
    };
    let active = rules.rules_for(app);
    let holds = active.iter().find(|active| active.info.id == id).map(|active| match &active.check {
        RuleCheck::Defined(defined) if !defined.only_for.applies_to(app) => {
            format!("    nothing: the rule is for {} only\n", defined.only_for)
        }
        RuleCheck::Contradicted(why) => format!("    nothing: {why}\n"),
        _ => rule(active),
    });
    let holds = holds.unwrap_or_default();
    format!(
        "{}\n\n{}\nDocuments about the rule, the most specific last:\n\n{documents}\nWhat holds:\n\n{holds}{suppressions}",
        clean(&app.id),
        lines_of(aspects),
    )
}
