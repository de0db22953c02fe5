//! Adds a rule written in Rust to a rule set, and analyses the recordings in `testdata` with it:
//!
//! ```sh
//! cargo run --example rust-rule
//! ```

#![allow(clippy::print_stdout)]

use std::error::Error;

use elephant_rs::engine::{Options, analyze};
use elephant_rs::finding::{Judgement, Measure, Subject, Verdict};
use elephant_rs::model::Application;
use elephant_rs::rules::{AddedRule, BUILT_IN, Check, RuleSet};
use elephant_rs::severity::Severity;

/// Finds applications with more tasks than a team wants to see.
struct ManyTasks {
    limit: u64,
}

impl Check for ManyTasks {
    fn check(&self, app: &Application) -> Verdict {
        let tasks = app.task_count();
        let severity = if tasks > self.limit { Severity::Moderate } else { Severity::None };
        Judgement::of(Subject::Application, severity)
            .tasks(tasks)
            .fact("tasks_count", Measure::Count(tasks))
            .message("{tasks_count} tasks (moderate above {limit})", &[("limit", &self.limit)])
            .advice(|| vec!["give each task more work: fewer partitions, larger splits".to_owned()])
            .into()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let page = "# Many Tasks\n\nFinds applications with many tasks: each one costs scheduling time.";
    let rule = AddedRule::new("many-tasks", "Many Tasks", page, ManyTasks { limit: 100 });
    // Rule files can switch it off, limit its severity or suppress its findings, like those of any rule.
    let rules = RuleSet::with_rules(BUILT_IN, vec![rule], &[])?;
    let report =
        analyze(&["testdata/spark".into(), "testdata/heuristics".into()], &rules, Options::default());
    for app in &report.applications {
        for finding in app.findings.iter().filter(|finding| finding.rule == "many-tasks") {
            println!("{}: {}: {}", app.id, finding.severity, finding.message);
        }
    }
    Ok(())
}
