//! `evidence`

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnose::Judged;
use super::{json, stored_json};
use crate::about::{About, Level, Number};
use crate::failure::Failure;
use crate::library::{Context, Which};
use crate::page::{After, Part};
use crate::told::{Name, Sentence, Told, Value, Word};
use crate::tool::Question;

/// Operators of a query that took longest.
const MOST_OPERATORS: usize = 3;
/// Stages of a query or an operator that are named.
const MOST_STAGES: usize = 5;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Evidence {
    /// The id of the application, as `list_applications` has it
    application: Word,
    /// Which one, if several have this id (attempts, clusters, copies): 1 is the first
    which: Option<Which>,
    /// The rule of the finding, such as spark-skew; leave it out to learn which findings there are
    rule: Option<Word>,
    /// The subject of the finding, such as "stage 3.0", if the rule has several findings
    subject: Option<Word>,
    /// The `next` of the part before
    cursor: Option<After>,
}

/// The numbers behind a finding, or the findings to choose from.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Numbers {
    application: About,
    /// `history`: read now from its history. `store`: as it was stored, without stages, and with few queries
    from: Judged,
    /// The finding; null if no rule was named
    finding: Option<Finding>,
    /// The findings to choose from if no rule was named, the worst first
    findings: Vec<Choice>,
    /// What was measured; the ending of a key is its unit
    measured: Vec<Measured>,
    /// The limits of the rule for low, moderate, severe and critical; null never
    thresholds: Vec<Threshold>,
    /// The stage, or the map or reduce tasks, that the finding is about
    phase: Option<Phase>,
    /// The queries that ran in this stage, with the operators that took longest
    queries: Vec<Query>,
    /// The cursor of the next part; null at the end
    next: Option<String>,
}

/// A finding.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Finding {
    rule: Name,
    title: Told<80>,
    severity: Level,
    /// Before anything lowered it, such as a short run
    raw_severity: Level,
    subject: Name,
    message: Sentence,
}

/// A finding to choose.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Choice {
    rule: Name,
    subject: Name,
    severity: Level,
}

/// One measured value.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Measured {
    key: Told<80>,
    value: Measure,
}

/// A number or a text; null if unknown or infinite.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum Measure {
    Number(Number),
    Text(Value),
    Unknown(()),
}

/// The limits of a rule.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Threshold {
    key: Told<80>,
    cutoffs: [Option<Number>; 4],
}

/// A stage, or all map or reduce tasks.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Phase {
    subject: Name,
    name: Option<Name>,
    started_at: Option<Told<40>>,
    duration_ms: Option<u64>,
    tasks: Tasks,
    task_time_ms: Option<u64>,
    gc_time_ms: Option<u64>,
    input_bytes: Option<u64>,
    output_bytes: Option<u64>,
    shuffle_read_bytes: Option<u64>,
    shuffle_write_bytes: Option<u64>,
    spilled_bytes: Option<u64>,
}

/// Counts of tasks.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Tasks {
    total_count: Option<u64>,
    succeeded_count: Option<u64>,
    failed_count: Option<u64>,
    killed_count: Option<u64>,
    attempts_count: Option<u64>,
    speculative_attempts_count: Option<u64>,
}

/// A query.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Query {
    id: u64,
    name: Name,
    #[schemars(length(max = 5))]
    stages: Vec<Told<20>>,
    task_time_ms: Option<u64>,
    input_bytes: Option<u64>,
    shuffle_write_bytes: Option<u64>,
    spilled_bytes: Option<u64>,
    #[schemars(length(max = 3))]
    operators: Vec<Operator>,
}

/// An operator of a query's plan.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Operator {
    name: Told<80>,
    text: Name,
    #[schemars(length(max = 5))]
    stages: Vec<Told<20>>,
    /// Its share of the time of tasks, as far as its metrics tell
    time_ms: Option<u64>,
    rows_count: Option<u64>,
    bytes: Option<u64>,
}

/// The part of the report's JSON that is told.
#[derive(Debug, Deserialize)]
struct Report {
    findings: Vec<Whole>,
    #[serde(default)]
    phases: Vec<Phase>,
    queries: Vec<Query>,
}

/// A finding with its numbers.
#[derive(Debug, Deserialize)]
struct Whole {
    #[serde(flatten)]
    finding: Finding,
    evidence: BTreeMap<String, Measure>,
    thresholds: BTreeMap<String, [Option<Number>; 4]>,
}

impl Question for Evidence {
    type Answer = Numbers;
    const NAME: &'static str = "evidence";
    const TITLE: &'static str = "The numbers behind a finding";
    const ABOUT: &'static str = "What was measured for one finding of one application, and the limits that it was \
        compared with: counters, the stage with its tasks and bytes, the queries and operators that ran in it. Without \
        rule, it lists the findings to choose from. Stages and most queries need the history.";

    fn answer(&self, context: &Context<'_>) -> Result<(Numbers, String), Failure> {
        let found = context.application(&self.application, self.which)?;
        let (from, report): (Judged, Report) = match context.analysis(&found.stored) {
            Ok(analysis) => (Judged::History, json(&analysis)?),
            Err(Failure::Gone(why)) => (Judged::Store, stored_json(&found.stored).ok_or(Failure::Gone(why))?),
            Err(failure) => return Err(failure),
        };
        let mut part = Part::after(self.cursor.as_ref())?;
        let application = About::of(&found);
        part.reserve(&application);
        part.line(&application.to_string());
        match &self.rule {
            None => Ok(choices((application, from), report.findings, part)),
            Some(rule) => {
                let whole = self.chosen(rule.as_str(), report.findings)?;
                Ok(numbers((application, from), whole, (report.phases, report.queries), part))
            }
        }
    }
}

impl Evidence {
    fn chosen(&self, rule: &str, findings: Vec<Whole>) -> Result<Whole, Failure> {
        let subject = self.subject.as_ref().map(|subject| Name::of(subject.as_str()));
        let mut of_rule =
            findings.into_iter().filter(|whole| whole.finding.rule == Name::of(rule)).peekable();
        if of_rule.peek().is_none() {
            let what = format!("finding of the rule \"{rule}\"; without rule, this tool lists the findings");
            return Err(Failure::Missing(what));
        }
        let fits = |whole: &Whole| subject.as_ref().is_none_or(|subject| whole.finding.subject == *subject);
        let no_subject = || Failure::Missing(format!("finding of \"{rule}\" with this subject"));
        of_rule.find(fits).ok_or_else(no_subject)
    }
}

fn choices((application, from): (About, Judged), findings: Vec<Whole>, mut part: Part) -> (Numbers, String) {
    let choices = findings.into_iter().map(|Whole { finding, .. }| Choice {
        rule: finding.rule,
        subject: finding.subject,
        severity: finding.severity,
    });
    let findings =
        part.take(choices, |choice| format!("{} {} in {}", choice.severity, choice.rule, choice.subject));
    let numbers = Numbers {
        application,
        from,
        finding: None,
        findings,
        measured: Vec::new(),
        thresholds: Vec::new(),
        phase: None,
        queries: Vec::new(),
        next: part.next(),
    };
    let text =
        part.text("Findings to choose from: ask again with rule, and with subject if the rule has several.");
    (numbers, text)
}

fn numbers(
    (application, from): (About, Judged),
    whole: Whole,
    (phases, queries): (Vec<Phase>, Vec<Query>),
    mut part: Part,
) -> (Numbers, String) {
    let Whole { finding, evidence, thresholds } = whole;
    part.line(&format!("{} {} in {}: {}", finding.severity, finding.rule, finding.subject, finding.message));
    let phase = phases.into_iter().find(|phase| phase.subject == finding.subject);
    part.reserve(&(&finding, &phase));
    let measured = evidence.into_iter().map(|(key, value)| Measured { key: Told::of(&key), value });
    let measured = part.take(measured, |measured| format!("{} = {}", measured.key, words(&measured.value)));
    let thresholds = thresholds.into_iter().map(|(key, cutoffs)| Threshold { key: Told::of(&key), cutoffs });
    let thresholds = part.take(thresholds, limits);
    let stage = finding.subject.as_str().strip_prefix("stage ").map(str::to_owned);
    let in_stage = |query: &Query| {
        stage.as_ref().is_some_and(|stage| query.stages.iter().any(|it| it.as_str() == stage))
    };
    let queries = queries.into_iter().filter(in_stage).map(Query::bounded);
    let queries = part.take(queries, query_line);
    let numbers = Numbers {
        application,
        from,
        finding: Some(finding),
        findings: Vec::new(),
        measured,
        thresholds,
        phase,
        queries,
        next: part.next(),
    };
    let text = part.text("What was measured for this finding. The ending of a key is its unit.");
    (numbers, text)
}

impl Query {
    /// With the operators that took longest.
    fn bounded(mut self) -> Self {
        self.stages.truncate(MOST_STAGES);
        self.operators.sort_by_key(|operator| std::cmp::Reverse(operator.time_ms));
        self.operators.truncate(MOST_OPERATORS);
        for operator in &mut self.operators {
            operator.stages.truncate(MOST_STAGES);
        }
        self
    }
}

fn words(measure: &Measure) -> String {
    match measure {
        Measure::Number(number) => number.get().to_string(),
        Measure::Text(text) => text.to_string(),
        Measure::Unknown(()) => "unknown".to_owned(),
    }
}

fn limits(threshold: &Threshold) -> String {
    let cutoffs: Vec<String> = threshold
        .cutoffs
        .iter()
        .map(|cutoff| cutoff.map_or("never".to_owned(), |cutoff| cutoff.get().to_string()))
        .collect();
    format!("limits of {}: {}", threshold.key, cutoffs.join(", "))
}

fn query_line(query: &Query) -> String {
    let operators: Vec<&str> = query.operators.iter().map(|operator| operator.name.as_str()).collect();
    format!("{} with {}", query.name, operators.join(", "))
}
