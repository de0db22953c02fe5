//! `elephant-rs rules list`, `rules show ID`, `rules check`

use std::error::Error;
use std::path::PathBuf;

use clap::Subcommand;
use thiserror::Error;

use super::Exit;
use super::judging::RuleArgs;
use super::output::Output;
use crate::rules::params::ParamValue;
use crate::rules::{ActiveRule, METRICS_ID, METRICS_PAGE, RuleSet, SPARK_METRICS_ID, SPARK_METRICS_PAGE};

/// The pages of metrics by their ids.
const METRICS_PAGES: [(&str, &str); 2] = [(METRICS_ID, METRICS_PAGE), (SPARK_METRICS_ID, SPARK_METRICS_PAGE)];

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs rules list
      every rule, and which are off
  elephant-rs rules show mapper-skew
      what it looks for, why it matters, how to judge, and the thresholds in force
  elephant-rs rules list --rules our-rules/
      the same with your own files over the built-in ones
  elephant-rs rules check our-rules/
      whether they are right, with file, line and column where they are not";

const LIST_EXAMPLES: &str = "\
Examples:
  elephant-rs rules list
  elephant-rs rules list --rules our-rules/
      which of them your files change or switch off";

const SHOW_EXAMPLES: &str = "\
Examples:
  elephant-rs rules show mapper-skew
  elephant-rs rules show mapper-skew --rules dr-elephant
      with the thresholds of a preset or of your files
  elephant-rs rules show metrics
      how run time, wait time and wasted memory are measured";

const CHECK_EXAMPLES: &str = "\
Examples:
  elephant-rs rules check our-rules/ team.yaml

Exit status: 0 they are fine, 2 one of them is wrong.";

#[derive(Debug, Subcommand)]
pub(super) enum Rules {
    /// List every rule
    #[command(after_help = LIST_EXAMPLES)]
    List {
        #[command(flatten)]
        rules: RuleArgs,
    },
    /// Print the page of one rule: what it does, why, how it judges, and the thresholds in force
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The rule's id, or metrics, or spark-metrics
        id: String,
        #[command(flatten)]
        rules: RuleArgs,
    },
    /// Check rule files without reading any history
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// Rule files, folders of them, or presets
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
}

#[derive(Debug, Error)]
#[error("there is no rule \"{0}\"; `elephant-rs rules list` names them all")]
struct NoSuchRule(String);

impl Rules {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        match self {
            Self::List { rules } => print(&list(&rules.load()?))?,
            Self::Show { id, rules } => print(&show(id, &rules.load()?)?)?,
            Self::Check { paths } => {
                let rules = RuleArgs { rule_paths: paths.clone() }.load()?;
                let on = rules.rules().iter().filter(|rule| rule.loaded.enabled).count();
                print(&format!("{} rules are fine, {on} of them switched on\n", rules.rules().len()))?;
            }
        }
        Ok(Exit::Clean)
    }
}

fn print(text: &str) -> Result<(), Box<dyn Error>> {
    Ok(Output::open(None)?.write(|out| out.write_all(text.as_bytes()))?)
}

fn list(rules: &RuleSet) -> String {
    let line = |active: &ActiveRule| {
        let off = if active.loaded.enabled { "" } else { "  (off)" };
        let by = if active.changed_by.is_empty() {
            String::new()
        } else {
            format!("  (changed by {})", active.changed_by.join(", "))
        };
        format!("{:<24} {}{off}{by}\n", active.rule.id, active.rule.title)
    };
    rules.rules().iter().map(line).collect()
}

fn show(id: &str, rules: &RuleSet) -> Result<String, NoSuchRule> {
    if let Some((_, text)) = METRICS_PAGES.iter().find(|(known, _)| *known == id) {
        return Ok(page(text, &rules.metrics_params(id), true, &[]));
    }
    let active = rules.rules().iter().find(|active| active.rule.id == id);
    let active = active.ok_or_else(|| NoSuchRule(id.to_owned()))?;
    Ok(page(active.rule.page, &active.loaded.params, active.loaded.enabled, &active.changed_by))
}

fn page(text: &str, params: &[(&'static str, ParamValue)], enabled: bool, changed_by: &[String]) -> String {
    let mut page = format!("{}\n\n## Parameters in force\n\n", text.trim_end());
    if !enabled {
        page.push_str("The rule is off.\n\n");
    }
    for (key, value) in params {
        let value = match value {
            ParamValue::Cutoffs { shown, .. } => format!("[{}]", shown.join(", ")),
            ParamValue::Text(text) => text.clone(),
        };
        page += &["    ", key, ": ", &value, "\n"].concat();
    }
    let origin = if changed_by.is_empty() {
        "built-in".to_owned()
    } else {
        format!("built-in, then {}", changed_by.join(", then "))
    };
    page += &["\nFrom: ", &origin, ".\n"].concat();
    page
}
