//! SARIF 2.1.0 for code scanning: one run, the rules with their pages, and a result for each finding. Suppressed findings
//! are results with a suppression. Notifications list input that could not be read and rules that were not evaluated.

mod document;
mod notifications;
mod results;
mod uri;

use std::collections::BTreeMap;
use std::io::{self, Write};

use document::{Document, Driver, Invocation, Rule, Run, Tool};
use results::Results;

use super::json::write_pretty;
use crate::results::Report;

/// GitHub rejects a run with more results. The worst applications come first, so they are kept.
const MAX_RESULTS: usize = 25_000;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let rules = Rules::of(report);
    let driver = Driver {
        name: "elephant-rs",
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        rules: report.rules.iter().map(Rule::of).collect(),
    };
    let results = Results::of(report, MAX_RESULTS);
    let undecided = report.comparison.as_ref().is_some_and(|comparison| comparison.undecided);
    let invocation = Invocation {
        execution_successful: !report.named_input_failed && !undecided,
        tool_execution_notifications: notifications::all(report, &rules, results.left_out),
    };
    let run = Run { tool: Tool { driver }, invocations: [invocation], results: results.views(&rules) };
    write_pretty(&Document::of(run), out)
}

/// The index of each rule in the driver's list.
struct Rules<'a>(BTreeMap<&'a str, usize>);

impl<'a> Rules<'a> {
    fn of(report: &'a Report) -> Self {
        Self(report.rules.iter().enumerate().map(|(index, rule)| (rule.id.as_ref(), index)).collect())
    }

    fn index(&self, rule: &str) -> Option<usize> {
        self.0.get(rule).copied()
    }
}
