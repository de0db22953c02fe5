//! `elephant-rs rules show ID`

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use thiserror::Error;

use super::super::finding_args::RuleArgs;
use elephant_engine::engine;
use elephant_model::diagnosis::FailureKind;
use elephant_model::model::Application;
use elephant_report::page::reflow;
use elephant_report::wrap::{clean, width};
use elephant_rule::params::ParamValue;
use elephant_rule::params::layers::Parameter;
use elephant_rule::params::words::did_you_mean;
use elephant_ruleset::{ActiveRule, Aspect, Document, RuleCheck, RuleSet, settings};

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs rules show mapper-skew
  elephant-rs rules show heap-space
      a kind of failure: how it shows in logs, and what to change
  elephant-rs rules show mapper-skew --rules rules/ --for job_1526555215992_0001.jhist
      which documents of the rule files apply to this job, and the resulting parameters";

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The id of a rule; or metrics, spark-metrics, gate, order or nodes; or a kind of failure, such as heap-space
    id: String,
    #[command(flatten)]
    rules: RuleArgs,
    /// Show the parameters for the applications of this history, and where they come from
    #[arg(long = "for", value_name = "FILE")]
    history: Option<PathBuf>,
}

#[derive(Debug, Error)]
enum ShowError {
    #[error("{0} contains no application that could be read; --for takes an event log or a job history")]
    NoApplication(String),
    #[error("there is no rule and no kind of failure \"{id}\"; {help}")]
    NoPage { id: String, help: String },
}

impl Show {
    /// The page in lines of at most `columns`, where words allow it.
    pub(super) fn page(&self, columns: usize) -> Result<String, Box<dyn Error>> {
        let rules = self.rules.load()?;
        if let Some(known) = settings::ALL.iter().find(|known| known.id == self.id) {
            let parameters = parameters(rules.settings(&self.id), columns);
            return Ok(format!("{}{parameters}", in_force(known.page, columns)));
        }
        // A rule of the user's own may have the name of a kind.
        let active = match (rules.rule(&self.id), failure(&self.id)) {
            (Err(_), Some(kind)) => return Ok(reflow(kind.page(), columns)),
            (Err(_), None) => return Err(no_page(&self.id, &rules).into()),
            (Ok(active), _) => active,
        };
        let Some(history) = &self.history else {
            return Ok(in_force(&active.info.page, columns)
                + &rule(active, columns)
                + &scoped(&rules, active));
        };
        let visited =
            engine::visit(std::slice::from_ref(history), |app, _| outcome(&rules, active, app, columns));
        let outcomes: Vec<String> = visited.applications.into_iter().map(|visit| visit.value).collect();
        if outcomes.is_empty() {
            return Err(ShowError::NoApplication(history.display().to_string()).into());
        }
        Ok(outcomes.join("\n"))
    }
}

/// The error for an id without a page: names the most similar one, or how to list all.
fn no_page(id: &str, rules: &RuleSet) -> ShowError {
    let ids = rules.rules().iter().map(|active| &*active.info.id);
    let settings = settings::ALL.iter().map(|known| known.id);
    let failures = FailureKind::ALL.iter().map(|kind| kind.name());
    let help = did_you_mean(id, ids.chain(settings).chain(failures)).unwrap_or_else(|| {
        "`elephant-rs rules list` lists all rules, `elephant-rs rules list failures` all kinds of failures".to_owned()
    });
    ShowError::NoPage { id: id.to_owned(), help }
}

/// The kind of failure with this name.
fn failure(name: &str) -> Option<FailureKind> {
    FailureKind::ALL.iter().copied().find(|kind| kind.name() == name)
}

fn in_force(page: &str, columns: usize) -> String {
    format!("{}\n\n## Parameters in force\n\n", reflow(page, columns).trim_end())
}

fn rule(active: &ActiveRule, columns: usize) -> String {
    let off = (!active.enabled.value).then(|| format!("The rule is off ({}).\n\n", active.enabled.origin));
    let cap = active.max_severity.as_ref();
    let cap = cap.map(|cap| format!("Findings are at most {} ({}).\n\n", cap.value, cap.origin));
    [off.unwrap_or_default(), cap.unwrap_or_default(), parameters(&active.params, columns)].concat()
}

/// Each parameter in the syntax of rule files, with its origin: after it, or above it in a narrow terminal.
pub(super) fn parameters<'p>(parameters: impl IntoIterator<Item = &'p Parameter>, columns: usize) -> String {
    let parameters: Vec<&Parameter> = parameters.into_iter().collect();
    let line = |Parameter { key, value, .. }: &&Parameter| match value {
        ParamValue::Cutoffs { shown, .. } => format!("{key}: [{}]", shown.join(", ")),
        ParamValue::Text(text) => format!("{key}: {text}"),
    };
    let lines: Vec<String> = parameters.iter().map(line).collect();
    let widest =
        lines.iter().map(|line| line.chars().count()).filter(|&width| width <= 50).max().unwrap_or(0);
    let lines = lines.iter().zip(parameters);
    lines_of(lines.map(|(line, parameter)| {
        let beside = format!("    {line:<widest$}  # {}", parameter.origin);
        if width(&beside) <= columns { beside } else { format!("    # {}\n    {line}", parameter.origin) }
    }))
}

/// The documents that change the rule for some applications.
fn scoped(rules: &RuleSet, active: &ActiveRule) -> String {
    let documents = rules.documents_about(active).filter(|document| !document.scope.is_everything());
    let lines = lines_of(documents.map(|document| format!("    {}", describe(document))));
    if lines.is_empty() {
        return lines;
    }
    format!(
        "\nChanged for some applications, the most specific document last (--for FILE shows the result for one):\n\n{lines}"
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

/// The parameters for one application, and the documents they come from.
fn outcome(rules: &RuleSet, active: &ActiveRule, app: &Application, columns: usize) -> String {
    let id = &*active.info.id;
    let aspects = Aspect::ALL.into_iter().map(|aspect| {
        let value = aspect.of(app).map_or_else(|| "unknown".to_owned(), clean);
        format!("    {:<9} {value}", aspect.words())
    });
    let documents = rules.documents_about(active).map(|document| {
        let why = match document.scope.misfit(app) {
            None => "applies".to_owned(),
            Some(aspect) => format!("does not apply: the {} differs", aspect.words()),
        };
        format!("    {}\n        {why}", describe(document))
    });
    let documents = lines_of(documents);
    let documents = if documents.is_empty() { "    only the built-in one\n".to_owned() } else { documents };
    let suppressions = rules.suppressions().iter().filter(|s| s.rules.matches(id) && s.scope.applies_to(app));
    let suppressions = lines_of(suppressions.map(|suppression| {
        let until = suppression.until.map_or_else(String::new, |day| format!(", until {day}"));
        let expired = if suppression.is_expired(rules.today()) { ", expired" } else { "" };
        format!("    {}: {}{until}{expired}", suppression.origin(), suppression.reason)
    }));
    let suppressions = if suppressions.is_empty() {
        String::new()
    } else {
        format!("\nIts findings are suppressed by:\n\n{suppressions}")
    };
    let active = rules.rules_for(app);
    let result = active.iter().find(|active| active.info.id == id).map(|active| match &active.check {
        RuleCheck::Defined(custom) if !custom.only_for.applies_to(app) => {
            format!("    none: the rule is only for {}\n", custom.only_for)
        }
        RuleCheck::Contradicted(why) => format!("    none: {why}\n"),
        _ => rule(active, columns),
    });
    let result = result.unwrap_or_default();
    format!(
        "{}\n\n{}\nDocuments about the rule, the most specific last:\n\n{documents}\nParameters in force:\n\n{result}{suppressions}",
        clean(&app.id),
        lines_of(aspects),
    )
}
