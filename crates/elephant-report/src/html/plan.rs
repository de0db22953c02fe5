//! The plan of a query as a drawing, and as a table with the same facts.

mod fit;
mod layout;

use askama::Template;

use super::filters::{self, cut_text, grouped};
use super::links::Links;
use super::queries::FindingLink;
use elephant_base::severity::Severity;
use elephant_base::units::three_digits;
use elephant_model::model::Subject;
use elephant_model::model::spark::StageAttempt;
use elephant_query::{DrawnOperator, OperatorSummary, QuerySummary};
use elephant_rule::finding::percent;
use elephant_verdict::charts::{OperatorTasks, QueryPlan, findings_at};
use fit::{broken, fitted};
use layout::{Spot, place};

/// Measures of the drawing, in pixels.
const WIDTH: usize = 228;
const PADDING: usize = 8;
const LINE: usize = 15;
const GAP: usize = 16;
const ROW_GAP: usize = 26;
const MARGIN: usize = 6;

/// A box names so many findings.
const FINDINGS: usize = 2;
/// A list of stages names so many.
const STAGES: usize = 3;
/// From these shares of the time on, a box has a warmer colour.
const HEAT: [f64; 4] = [0.01, 0.05, 0.2, 0.5];

#[derive(Template)]
#[template(path = "plan.html")]
pub(super) struct PlanView<'a> {
    pub(super) plan: &'a QueryPlan,
    pub(super) query: &'a QuerySummary,
    pub(super) links: Links<'a>,
}

impl askama::filters::HtmlSafe for PlanView<'_> {}

/// An operator as a box.
struct Node {
    x: usize,
    y: usize,
    height: usize,
    /// Where lines to it turn: between its level and the next one.
    turn: usize,
    /// The class of its colour.
    heat: usize,
    moves_rows: bool,
    severity: Severity,
    /// What a screen reader says, and a pointer shows.
    sentence: String,
    id: String,
    href: String,
    lines: Vec<Line>,
}

/// A line of text in a box.
struct Line {
    y: usize,
    class: &'static str,
    text: String,
}

/// A drawing with its size.
struct Drawing {
    width: usize,
    height: usize,
    nodes: Vec<Node>,
    /// Lines from operators to those that take their rows, and to others that use them again.
    lines: String,
    again: String,
}

/// A row of the table.
struct Row<'a> {
    operator: &'a OperatorSummary,
    drawn: Option<&'a DrawnOperator>,
    tasks: Option<OperatorTasks>,
}

impl<'a> PlanView<'a> {
    const HEAT: [f64; HEAT.len()] = HEAT;

    fn id(&self) -> String {
        self.links.plan_id(self.query.id)
    }

    fn name(&self) -> String {
        cut_text(&self.query.name, 80)
    }

    fn operators(&self) -> &'a [DrawnOperator] {
        &self.plan.drawn.operators
    }

    fn node_id(&self, operator: &OperatorSummary) -> String {
        format!("{}-box-{}", self.id(), operator.place)
    }

    fn row_id(&self, operator: &OperatorSummary) -> String {
        self.links.operator_id(self.query.id, operator.place)
    }

    fn findings(&self, operator: &OperatorSummary) -> Vec<FindingLink<'a>> {
        self.links.findings(&findings_at(self.query.id, operator.place, &self.links.app.findings))
    }

    /// The stages of an operator, each with the row of the stage if it is shown.
    fn stages(&self, operator: &OperatorSummary) -> Vec<(String, Option<String>)> {
        let link = |&stage: &StageAttempt| (stage.to_string(), self.links.phase(&Subject::Stage(stage)));
        operator.stages.iter().map(link).collect()
    }

    /// The operators that take the rows of one: their names and rows in the table.
    fn takers(&self, drawn: &DrawnOperator) -> Vec<(&'a str, String)> {
        let taker = |&place: &usize| self.operators().get(place).map(|it| &it.operator);
        let takers = drawn.feeds.iter().chain(&drawn.feeds_again).filter_map(taker);
        takers.map(|taker| (taker.name.as_str(), self.row_id(taker))).collect()
    }

    fn rows(&self) -> impl Iterator<Item = Row<'a>> {
        let drawn = self.operators().iter().zip(&self.plan.tasks);
        let drawn = drawn.map(|(it, tasks)| Row { operator: &it.operator, drawn: Some(it), tasks: *tasks });
        let others = self.plan.drawn.others.iter();
        drawn.chain(others.map(|operator| Row { operator, drawn: None, tasks: None }))
    }

    /// How much of the time the timings of operators explain; `None` if that is unknown.
    fn explained(&self) -> Option<String> {
        let (known, all) = self.query.explained.zip(self.query.task_time)?;
        Some(format!(
            "Own times of operators explain {known} of {all} that its tasks took; no timing tells which operators took the rest."
        ))
    }

    /// What the drawing leaves out.
    fn left_out(&self) -> Vec<String> {
        let drawn = &self.plan.drawn;
        let several = |count: u64, one: &str, more: &str| {
            format!("{} {}", grouped(count), if count == 1 { one } else { more })
        };
        let mut notes = Vec::new();
        if drawn.folded > 0 {
            let what = "that only wraps others or tells a reused exchange again is not shown";
            let more = "that only wrap others or tell a reused exchange again are not shown";
            let subject = if drawn.folded == 1 { "operator" } else { "operators" };
            notes.push(format!(
                "{} {subject} {}.",
                grouped(drawn.folded),
                if drawn.folded == 1 { what } else { more }
            ));
        }
        if drawn.left_out > 0 {
            notes.push(format!(
                "{} not shown, below which least time was spent; the JSON report with --details has all.",
                several(drawn.left_out, "more operator is", "more operators are")
            ));
        }
        if !drawn.others.is_empty() {
            notes.push(format!(
                "{} only in the table: adaptive execution replaced them after they ran, or they belong to subqueries outside \
                 the plan.",
                several(drawn.others.len() as u64, "operator is", "operators are")
            ));
        }
        notes
    }

    fn drawing(&self) -> Drawing {
        let operators = self.operators();
        let parents: Vec<Option<usize>> = operators.iter().map(|it| it.feeds).collect();
        let again: Vec<(usize, usize)> = operators
            .iter()
            .enumerate()
            .flat_map(|(place, it)| it.feeds_again.iter().map(move |&taker| (place, taker)))
            .collect();
        let spots = place(&parents, &again);
        let texts: Vec<Vec<(&'static str, String)>> =
            operators.iter().zip(&self.plan.tasks).map(|(it, tasks)| self.texts(it, *tasks)).collect();
        let tops = tops(&spots, &texts);
        let nodes: Vec<Node> = operators
            .iter()
            .zip(&self.plan.tasks)
            .zip(spots.iter().zip(texts))
            .map(|((it, tasks), (spot, texts))| self.node(it, *tasks, (*spot, &tops), texts))
            .collect();
        let line = |(place, taker): (usize, usize)| {
            let (below, above) = (nodes.get(place)?, nodes.get(taker)?);
            Some(connection(below, above))
        };
        let direct = parents.iter().enumerate().filter_map(|(place, taker)| line((place, (*taker)?)));
        let (lines, again) = (
            direct.collect(),
            again
                .iter()
                .filter_map(|&(place, taker)| Some(curve(nodes.get(place)?, nodes.get(taker)?)))
                .collect(),
        );
        let right = nodes.iter().map(|node| node.x + WIDTH).max().unwrap_or_default();
        let bottom = nodes.iter().map(|node| node.y + node.height).max().unwrap_or_default();
        Drawing { width: right + MARGIN, height: bottom + MARGIN, nodes, lines, again }
    }

    fn node(
        &self,
        it: &DrawnOperator,
        tasks: Option<OperatorTasks>,
        (spot, tops): (Spot, &[usize]),
        texts: Vec<(&'static str, String)>,
    ) -> Node {
        let operator = &it.operator;
        let y = tops.get(spot.level).copied().unwrap_or_default();
        let line = |(place, (class, text)): (usize, (&'static str, String))| Line {
            y: y + PADDING + LINE * (place + 1) - 4,
            class,
            text,
        };
        let height = height(texts.len());
        let below = tops.get(spot.level + 1).copied().unwrap_or(y + height + ROW_GAP);
        Node {
            x: MARGIN + spot.column * (WIDTH + GAP),
            y,
            height,
            turn: below.saturating_sub(ROW_GAP / 2),
            heat: HEAT.iter().filter(|least| operator.share.is_some_and(|share| share >= **least)).count(),
            moves_rows: operator.moves_rows,
            severity: self.findings(operator).iter().map(|found| found.severity).max().unwrap_or_default(),
            sentence: self.sentence(it, tasks),
            id: self.node_id(operator),
            href: self.row_id(operator),
            lines: texts.into_iter().enumerate().map(line).collect(),
        }
    }

    /// The lines of a box, with their classes.
    fn texts(&self, it: &DrawnOperator, tasks: Option<OperatorTasks>) -> Vec<(&'static str, String)> {
        let operator = &it.operator;
        let mut texts: Vec<(&'static str, String)> =
            broken(&operator.name).into_iter().map(|line| ("t", line)).collect();
        let mut add = |class: &'static str, facts: Vec<String>| {
            if !facts.is_empty() {
                texts.push((class, facts.join(" · ")));
            }
        };
        add("", time(operator));
        add(
            "",
            (!operator.time_includes.is_empty())
                .then(|| "with what feeds it".to_owned())
                .into_iter()
                .collect(),
        );
        add("", amounts(operator));
        add("", operator.spilled.map(|spilled| format!("spilled {spilled}")).into_iter().collect());
        let skew = tasks.map(|tasks| format!("skew {}×", three_digits(tasks.ratio)));
        add("", stages(operator).into_iter().chain(skew).collect());
        let pruned =
            operator.pruned_by.iter().map(|it| format!("pruned by join on {}", it.columns.join(", ")));
        add("", pruned.map(|pruned| fitted(&pruned)).take(1).collect());
        if it.left_out_below > 0 {
            add("", vec![format!("{} below not shown", grouped(it.left_out_below))]);
        }
        for found in self.findings(operator).iter().take(FINDINGS) {
            add("t", vec![fitted(&format!("{}: {}", found.severity, found.title))]);
        }
        texts
    }

    /// All facts of a box in words.
    fn sentence(&self, it: &DrawnOperator, tasks: Option<OperatorTasks>) -> String {
        let operator = &it.operator;
        let mut parts = vec![cut_text(&operator.name, 120)];
        if let Some(time) = operator.time {
            let share = operator.share.map(|share| format!(", {} of the tasks' time", percent(share)));
            let more = if operator.time_includes.is_empty() { "" } else { ", with what feeds it" };
            parts.push(format!("own time {time}{}{more}", share.unwrap_or_default()));
        }
        parts.extend(pruned(operator));
        parts.extend(amounts(operator));
        parts.extend(operator.spilled.map(|spilled| format!("spilled {spilled}")));
        parts.extend(
            tasks.map(|OperatorTasks { longest, median, .. }| {
                format!("longest task {longest}, median {median}")
            }),
        );
        if !operator.stages.is_empty() {
            let stages: Vec<String> = operator.stages.iter().map(ToString::to_string).collect();
            parts.push(format!("in stages {}", stages.join(", ")));
        }
        let takers: Vec<String> =
            self.takers(it).into_iter().map(|(name, _)| format!("feeds {}", cut_text(name, 120))).collect();
        parts.extend(takers);
        let findings = self.findings(operator);
        parts.extend(findings.iter().map(|found| format!("{}: {}", found.severity, found.title)));
        parts.join("; ")
    }
}

/// "1.3 s · 4 %".
fn time(operator: &OperatorSummary) -> Vec<String> {
    let time = operator.time.map(|time| time.to_string());
    time.into_iter().chain(operator.share.map(percent)).collect()
}

/// "partitions chosen by `BroadcastHashJoin` on `day`".
fn pruned(operator: &OperatorSummary) -> Option<String> {
    let first = operator.pruned_by.first()?;
    let by = first.name.as_deref().unwrap_or("the keys of a join");
    Some(format!("partitions chosen by {by}"))
}

/// "3,000,000 rows · 68.7 MiB".
fn amounts(operator: &OperatorSummary) -> Vec<String> {
    let rows = operator.rows.map(|rows| filters::counted(rows, "row"));
    rows.into_iter().chain(operator.bytes.map(|bytes| bytes.to_string())).collect()
}

const fn height(lines: usize) -> usize {
    2 * PADDING + LINE * lines
}

/// The top of each level: below the highest box of the one before.
fn tops(spots: &[Spot], texts: &[Vec<(&'static str, String)>]) -> Vec<usize> {
    let levels = spots.iter().map(|spot| spot.level + 1).max().unwrap_or_default();
    let mut heights = vec![0; levels];
    for (spot, texts) in spots.iter().zip(texts) {
        if let Some(highest) = heights.get_mut(spot.level) {
            *highest = height(texts.len()).max(*highest);
        }
    }
    let mut top = MARGIN;
    let next = |height: &usize| {
        let own = top;
        top += height + ROW_GAP;
        own
    };
    heights.iter().map(next).collect()
}

/// A line from a box up to the one that takes its rows.
fn connection(below: &Node, above: &Node) -> String {
    let (from, to) = (below.x + WIDTH / 2, above.x + WIDTH / 2);
    let end = above.y + above.height;
    if from == to {
        return format!("M{from} {}V{end}", below.y);
    }
    // It leaves the main line, which runs through the middle, at the side.
    format!("M{from} {}V{}H{}V{end}", below.y, above.turn, to + WIDTH / 4)
}

/// A curve from a box to one that uses its rows again.
fn curve(below: &Node, above: &Node) -> String {
    let (from, to) = (below.x + 3 * WIDTH / 4, above.x + 3 * WIDTH / 4);
    let (start, end) = (below.y, above.y + above.height);
    format!("M{from} {start}C{from} {} {to} {} {to} {end}", start.saturating_sub(ROW_GAP), end + ROW_GAP)
}

/// "stages 2.0, 3.0".
fn stages(operator: &OperatorSummary) -> Option<String> {
    let stages: Vec<String> = operator.stages.iter().take(STAGES).map(ToString::to_string).collect();
    let more = if operator.stages.len() > STAGES { ", …" } else { "" };
    let noun = if operator.stages.len() == 1 { "stage" } else { "stages" };
    (!stages.is_empty()).then(|| format!("{noun} {}{more}", stages.join(", ")))
}
