//! `compare`

use elephant_engine::diff::{self, Side};
use elephant_report::{DiffFormat, TextOptions, write_diff};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::about::{Level, Number, time};
use crate::failure::Failure;
use crate::library::{Context, Which};
use crate::page::{After, Part};
use crate::told::{Name, Told, Value, Word};
use crate::tool::Question;

/// Notes on what could not be compared.
const MOST_NOTES: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compare {
    /// The id of the earlier run
    a: Word,
    /// Which one, if several have this id: 1 is the first
    which_a: Option<Which>,
    /// The id of the later run
    b: Word,
    /// Which one, if several have this id: 1 is the first
    which_b: Option<Which>,
    /// The `next` of the part before
    cursor: Option<After>,
}

/// What differs between two runs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Compared {
    a: Label,
    b: Label,
    /// Where the run times differ, the part that changed most first
    run_time_parts: Vec<RunTimePart>,
    /// Costs and counts; the ending of a key is its unit
    figures: Vec<Figure>,
    /// Settings that differ
    settings: Vec<Setting>,
    /// Findings that are new, worse, better or gone
    findings: Vec<Finding>,
    /// Queries whose plans changed
    plans: Vec<Plan>,
    /// What could not be compared, and why
    #[schemars(length(max = 3))]
    notes: Vec<Value>,
    /// The cursor of the next part; null at the end
    next: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Label {
    job: Name,
    id: Name,
    name: Option<Name>,
    status: Told<20>,
    started_at: Option<Told<40>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct RunTimePart {
    part: Name,
    a_ms: Option<Number>,
    b_ms: Option<Number>,
    /// The most that it may have taken, where a run does not tell it
    a_at_most_ms: Option<Number>,
    b_at_most_ms: Option<Number>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Figure {
    key: Told<80>,
    a: Option<Number>,
    b: Option<Number>,
    /// 0.5 is half more
    change_ratio: Option<Number>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Sides {
    a: Option<Number>,
    b: Option<Number>,
    change_ratio: Option<Number>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Setting {
    name: Name,
    a: Option<Value>,
    b: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Finding {
    /// new, worse, better, gone, same, or why that is unknown
    change: Told<40>,
    rule: Name,
    subject: Name,
    a: Option<Level>,
    b: Option<Level>,
    message: Value,
    reason: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Plan {
    /// The query in the earlier run
    a: Name,
    /// The query in the later run
    b: Name,
    /// Whether the change of the plan may be why it slowed
    cause: bool,
    #[schemars(length(max = 3))]
    changes: Vec<PlanChange>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct PlanChange {
    /// join, scan, added or lost
    change: Told<20>,
    of: Value,
    a: Option<Value>,
    b: Option<Value>,
}

/// Changes of one plan.
const MOST_CHANGES: usize = 3;

/// The part of the report's JSON that is told.
#[derive(Debug, Deserialize)]
struct Report {
    pairs: Vec<Pair>,
}

#[derive(Debug, Deserialize)]
struct Pair {
    a: Label,
    b: Label,
    figures: serde_json::Map<String, serde_json::Value>,
    run_time_parts: Option<Vec<RunTimePart>>,
    queries: Option<Queries>,
    configuration: Option<Configuration>,
    findings: Vec<Finding>,
    notes: Vec<Value>,
}

#[derive(Debug, Deserialize)]
struct Queries {
    changed: Vec<Plan>,
}

#[derive(Debug, Deserialize)]
struct Configuration {
    settings: Vec<Setting>,
}

impl Question for Compare {
    type Answer = Compared;
    const NAME: &'static str = "compare";
    const TITLE: &'static str = "What differs between two runs";
    const ABOUT: &'static str = "Two applications side by side, usually two runs of one job: where the run time \
        changed, costs, settings, findings and plans of queries. Ask this to learn why a run was slower than the one \
        before; job_history has the ids. Needs both histories.";

    fn answer(&self, context: &Context<'_>) -> Result<(Compared, String), Failure> {
        let side = |id: &Word, which| -> Result<Side, Failure> {
            let found = context.application(id, which)?;
            Ok(Side::of(context.analysis(&found.stored)?.report()))
        };
        let (a, b) = (side(&self.a, self.which_a)?, side(&self.b, self.which_b)?);
        let diff = diff::diff(&a, &b, diff::Options::default());
        let mut written = Vec::new();
        write_diff(&diff, DiffFormat::Json, TextOptions::default(), &mut written)?;
        let report: Report = serde_json::from_slice(&written)?;
        let pair = report.pairs.into_iter().next();
        let pair = pair.ok_or_else(|| Failure::Gone("the two runs cannot be compared".to_owned()))?;
        compared(pair, Part::after(self.cursor.as_ref())?)
    }
}

fn compared(pair: Pair, mut part: Part) -> Result<(Compared, String), Failure> {
    let Pair { a, b, figures, run_time_parts, queries, configuration, findings, mut notes } = pair;
    for (side, label) in [("a", &a), ("b", &b)] {
        let name = label.name.as_ref().map_or("", Told::as_str);
        part.line(&format!("{side}: {} · {name} · {}", label.id, label.status));
    }
    notes.truncate(MOST_NOTES);
    part.reserve(&(&a, &b, &notes));
    let figures: Result<Vec<Figure>, Failure> = figures
        .into_iter()
        .map(|(key, sides)| {
            let Sides { a, b, change_ratio } = serde_json::from_value(sides)?;
            Ok(Figure { key: Told::of(&key), a, b, change_ratio })
        })
        .collect();
    let run_time_parts = part.take(run_time_parts.unwrap_or_default(), part_line);
    let figures = part.take(figures?, figure_line);
    let settings = configuration.map_or_else(Vec::new, |configuration| configuration.settings);
    let settings = part.take(settings, |it| {
        let value = |value: &Option<Value>| value.as_ref().map_or("not set".to_owned(), ToString::to_string);
        format!("{}: {} → {}", it.name, value(&it.a), value(&it.b))
    });
    let changed = findings.into_iter().filter(|finding| finding.change.as_str() != diff::Move::Same.name());
    let findings =
        part.take(changed, |it| format!("{} {} in {}: {}", it.change, it.rule, it.subject, it.message));
    let plans = queries.map_or_else(Vec::new, |queries| queries.changed).into_iter().map(|mut plan| {
        plan.changes.truncate(MOST_CHANGES);
        plan
    });
    let plans = part.take(plans, |plan| format!("another plan: {}", plan.b));
    let next = part.next();
    let text = part.text("What differs from a to b.");
    Ok((Compared { a, b, run_time_parts, figures, settings, findings, plans, notes, next }, text))
}

fn part_line(part: &RunTimePart) -> String {
    let known = |told: Option<Number>, most: Option<Number>| match (told, most) {
        (Some(told), _) => time(told),
        (None, Some(most)) => format!("at most {}", time(most)),
        (None, None) => "unknown".to_owned(),
    };
    let (a, b) = (known(part.a_ms, part.a_at_most_ms), known(part.b_ms, part.b_at_most_ms));
    format!("{}: {a} → {b}", part.part)
}

fn figure_line(figure: &Figure) -> String {
    let known = |value: Option<Number>| value.map_or("unknown".to_owned(), |value| value.get().to_string());
    format!("{}: {} → {}", figure.key, known(figure.a), known(figure.b))
}
