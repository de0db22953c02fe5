//! `elephant-rs rules test`

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::Args;

use super::super::diagnostics::print_problems;
use super::super::finding_args::{RuleArgs, RulePaths};
use super::super::{Exit, finding_args::Day};
use super::check::count;
use super::print;
use elephant_base::severity::Severity;
use elephant_engine::engine;
use elephant_report::wrap::clean;
use elephant_rule::finding::{Judgement, Name, Verdict};
use elephant_ruleset::custom::{CustomRule, Example, Expected, Input};
use elephant_ruleset::{ActiveRule, RuleCheck, RuleError, RuleSet};

pub(super) const EXAMPLES: &str = "\
Examples are part of the file that defines a rule. An example has values or a history:
  examples:
    - name: half of the time
      values: {gc: 10min, run_time: 20min}
      severity: critical
    - history: ../history/job_1526555215992_0001.jhist
      severity: none

Exit status: 0 all examples hold, 1 an example fails, 2 the files cannot be used.";

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Rule files, folders of rule files, or presets
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    day: Day,
}

/// The result of an example, and the values it was computed from.
struct Outcome {
    actual: Actual,
    values: Vec<(String, String)>,
}

enum Actual {
    Severity(Severity),
    NotEvaluated(String),
    NotApplicable,
    /// The example could not be run.
    Failed(String),
}

impl Test {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let rules = RuleArgs { files: RulePaths { rule_paths: self.paths.clone() }, day: self.day }.load();
        let rules = match rules {
            Err(RuleError::Invalid(problems)) => {
                print_problems(&problems);
                return Err("the rule files cannot be used".into());
            }
            rules => rules?,
        };
        let (mut run, mut with_examples, mut failures) = (0u64, 0u64, Vec::new());
        for (active, rule) in rules.rules().iter().filter_map(custom_rule) {
            with_examples += u64::from(!rule.examples.is_empty());
            for example in &rule.examples {
                run += 1;
                failures.extend(failure(active, rule, example, &rules));
            }
        }
        let failed = failures.len();
        let all = format!("{} of {}", count(run, "example"), count(with_examples, "rule"));
        failures.push(match (run, failed) {
            (0, _) => "no rule in these files has examples\n".to_owned(),
            (1, 0) => format!("{all} holds\n"),
            (_, 0) => format!("{all} hold\n"),
            _ => format!("{all}, {failed} failed\n"),
        });
        print(&failures.join("\n"))?;
        Ok(if failed == 0 { Exit::Clean } else { Exit::Findings })
    }
}

fn custom_rule(active: &ActiveRule) -> Option<(&ActiveRule, &CustomRule)> {
    match &active.check {
        RuleCheck::Defined(rule) => Some((active, rule)),
        RuleCheck::Native(_) | RuleCheck::Contradicted(_) => None,
    }
}

/// The error message of an example that does not hold.
fn failure(active: &ActiveRule, rule: &CustomRule, example: &Example, rules: &RuleSet) -> Option<String> {
    let outcome = outcome(active, rule, example, rules);
    let got = match (&outcome.actual, example.expected) {
        (Actual::Severity(severity), Expected::Severity(expected)) if *severity == expected => return None,
        (Actual::NotEvaluated(_), Expected::NotEvaluated)
        | (Actual::NotApplicable, Expected::NotApplicable) => {
            return None;
        }
        (Actual::Severity(severity), _) => format!("got {severity}"),
        (Actual::NotEvaluated(reason), _) => format!("was not evaluated: {}", clean(reason)),
        (Actual::NotApplicable, _) => "does not apply".to_owned(),
        (Actual::Failed(why), _) => clean(why),
    };
    let name =
        if example.name.is_empty() { String::new() } else { format!(", \"{}\"", clean(&example.name)) };
    let place = format!("{}:{}", example.file, example.line);
    let mut text = format!("{place}: {}{name}: expected {}, {got}\n", active.info.id, example.expected);
    for (name, value) in &outcome.values {
        text += &["    ", name, " = ", &clean(value), "\n"].concat();
    }
    Some(text)
}

fn outcome(active: &ActiveRule, rule: &CustomRule, example: &Example, rules: &RuleSet) -> Outcome {
    match &example.input {
        Input::Values(given) => {
            let trial = rule.try_values(given);
            let actual = trial.severity.map_or_else(Actual::NotEvaluated, Actual::Severity);
            Outcome { actual, values: trial.values }
        }
        Input::History { path, subject, application } => {
            let folder = Path::new(&example.file).parent().unwrap_or_else(|| Path::new(""));
            let history = folder.join(path);
            let visited = engine::visit(std::slice::from_ref(&history), |app, _| {
                let wanted = application.as_ref().is_none_or(|wanted| *wanted == app.id);
                wanted.then(|| verdict(active, app, rules))
            });
            let verdicts: Vec<Verdict<Name>> =
                visited.applications.into_iter().filter_map(|visit| visit.value).collect();
            if verdicts.is_empty() {
                let why = visited.problems.first().map(|at| at.problem.message.clone());
                let why = why.unwrap_or_else(|| "it does not contain the application".to_owned());
                let actual = Actual::Failed(format!("{} cannot be judged: {why}", history.display()));
                return Outcome { actual, values: Vec::new() };
            }
            worst(verdicts, subject.as_deref())
        }
    }
}

/// The verdict on everything that the rule judges, with the parameters for the application.
fn verdict(active: &ActiveRule, app: &elephant_model::model::Application, rules: &RuleSet) -> Verdict<Name> {
    let for_app = rules.rules_for(app);
    let scoped = for_app.iter().find(|other| other.info.id == active.info.id);
    match scoped.and_then(custom_rule) {
        Some((_, rule)) => rule.judge_all(app, &rules.measure(app)),
        None => Verdict::NotApplicable,
    }
}

/// The worst of all judgements, or of those on `subject`.
fn worst(verdicts: Vec<Verdict<Name>>, subject: Option<&str>) -> Outcome {
    let (mut judged, mut reason): (Vec<Judgement<Name>>, Option<String>) = (Vec::new(), None);
    for verdict in verdicts {
        match verdict {
            Verdict::Judged(one) => judged.push(one),
            Verdict::Several(several) => judged.extend(several),
            Verdict::NotEvaluated(why) => reason = reason.or(Some(why)),
            Verdict::NotApplicable => {}
        }
    }
    if let Some(subject) = subject {
        judged.retain(|judgement| judgement.subject.name() == subject);
    }
    let worst = judged.into_iter().max_by_key(|judgement| judgement.severity);
    match (worst, reason) {
        (Some(judgement), _) => {
            let subject = ("subject".to_owned(), judgement.subject.name().into_owned());
            let message = ("message".to_owned(), judgement.message);
            let evidence =
                judgement.evidence.into_iter().map(|(key, measure)| (key.into_owned(), measure.to_string()));
            let values = [subject, message].into_iter().chain(evidence).collect();
            Outcome { actual: Actual::Severity(judgement.severity), values }
        }
        (None, Some(reason)) => Outcome { actual: Actual::NotEvaluated(reason), values: Vec::new() },
        (None, None) => Outcome { actual: Actual::NotApplicable, values: Vec::new() },
    }
}
