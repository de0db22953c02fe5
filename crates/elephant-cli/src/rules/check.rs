//! `elephant-rs rules check`

use std::error::Error;
use std::path::PathBuf;

use clap::Args;

use super::super::diagnostics::print_problems;
use super::super::finding_args::Day;
use super::super::{Exit, output};
use super::print;
use elephant_ruleset::{Importance, RuleSet};

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs rules check rules/
      all files of a folder
  elephant-rs rules check dr-elephant etl.yaml
      a preset and a file that changes it, in the same order as for --rules

Exit status: 0 the files are valid, 1 a suppression has expired, 2 the files cannot be used.";

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Rule files, folders of rule files, or presets
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    day: Day,
}

impl Check {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let mut files = Vec::new();
        let mut unreadable = 0u64;
        for path in &self.paths {
            let (found, errors) = elephant_ruleset::find_all_files(path);
            files.extend(found);
            for error in errors {
                output::print_message("error", &error.to_string());
                unreadable += 1;
            }
        }
        let (rules, problems) = RuleSet::read(elephant_heuristics::BUILT_IN, &files);
        print_problems(&problems);
        let errors = problems.iter().filter(|problem| problem.importance == Importance::Error).count() as u64;
        let (errors, warnings) = (errors + unreadable, problems.len() as u64 - errors);
        let Some(rules) = rules.filter(|_| errors == 0) else {
            return Err(format!(
                "{} in {}",
                count(errors, "error"),
                count(files.len() as u64 + unreadable, "file")
            )
            .into());
        };
        let rules = self.day.on(rules);
        let expired = rules.suppressions().iter().filter(|s| s.is_expired(rules.today()));
        let expired: Vec<String> = expired
            .map(|s| {
                let until = s.until.map(|day| day.to_string()).unwrap_or_default();
                format!("{}: the suppression of {} expired on {until}: {}", s.origin(), s.rules, s.reason)
            })
            .collect();
        for line in &expired {
            output::print_message("expired", line);
        }
        let on = rules.rules().iter().filter(|rule| rule.enabled.value).count();
        let mut facts = vec![format!("{} rules are valid, {on} of them enabled", rules.rules().len())];
        if !rules.suppressions().is_empty() {
            facts.push(count(rules.suppressions().len() as u64, "suppression"));
        }
        if warnings > 0 {
            facts.push(count(warnings, "warning"));
        }
        print(&format!("{}\n", facts.join(", ")))?;
        Ok(if expired.is_empty() { Exit::Clean } else { Exit::Findings })
    }
}

pub(super) fn count(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
