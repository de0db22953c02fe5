//! The differences as JSON. The ending of a key names the unit of its number.

use std::io::{self, Write};

use serde::Serialize;

use super::super::TextOptions;
use super::super::json::{Each, Number, Pairs, Tool, write_pretty};
use super::words::setting;
use elephant_base::severity::Severity;
use elephant_engine::diff::{
    Configuration, Diff, Figure, FindingPair, Label, Pair, PartOfSide, PartPair, PhasePair, PlanChange,
    Queries, QueryPair, Setting,
};

/// `options` say whether only the answer is written, and how many jobs.
pub(super) fn write(diff: &Diff, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let pairs = if options.summary { Vec::new() } else { diff.pairs_of(options.jobs) };
    let (only_a, only_b): (&[Label], &[Label]) =
        if options.summary { (&[], &[]) } else { (&diff.only_a, &diff.only_b) };
    let total = diff.total();
    let document = Document {
        schema_version: 1,
        tool: Tool::THIS,
        pairs_count: diff.pairs.len(),
        changed_count: diff.pairs.iter().filter(|pair| pair.changed()).count(),
        only_a_count: diff.only_a.len(),
        only_b_count: diff.only_b.len(),
        slower_count: total.slower,
        faster_count: total.faster,
        total: figures(&total.figures),
        pairs: Each(&pairs, |item| pair(item)),
        only_a: Each(only_a, label),
        only_b: Each(only_b, label),
    };
    write_pretty(&document, out)
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    tool: Tool,
    pairs_count: usize,
    changed_count: usize,
    only_a_count: usize,
    only_b_count: usize,
    slower_count: usize,
    faster_count: usize,
    total: Pairs<&'a str, FigureView>,
    pairs: Each<'a, &'a Pair, PairView<'a>>,
    only_a: Each<'a, Label, LabelView<'a>>,
    only_b: Each<'a, Label, LabelView<'a>>,
}

#[derive(Serialize)]
struct PairView<'a> {
    a: LabelView<'a>,
    b: LabelView<'a>,
    figures: Pairs<&'a str, FigureView>,
    run_time_parts: Option<Each<'a, PartPair, PartView<'a>>>,
    phases: Option<Each<'a, PhasePair, PhaseView<'a>>>,
    queries: Option<QueriesView<'a>>,
    configuration: Option<ConfigurationView<'a>>,
    findings: Each<'a, FindingPair, FindingView<'a>>,
    notes: &'a [String],
}

fn pair(pair: &Pair) -> PairView<'_> {
    PairView {
        a: label(&pair.a),
        b: label(&pair.b),
        figures: figures(&pair.figures),
        run_time_parts: pair
            .account
            .as_deref()
            .map(|parts| Each(parts, part as fn(&PartPair) -> PartView<'_>)),
        phases: pair.phases.as_deref().map(phases),
        queries: pair.queries.as_ref().map(queries),
        configuration: pair.configuration.as_ref().map(configuration),
        findings: Each(&pair.findings, finding),
        notes: &pair.notes,
    }
}

#[derive(Serialize)]
struct LabelView<'a> {
    job: &'a str,
    id: &'a str,
    name: Option<&'a str>,
    status: &'a str,
    started_at: Option<&'a str>,
}

fn label(label: &Label) -> LabelView<'_> {
    LabelView {
        job: &label.job,
        id: &label.id,
        name: label.name.as_deref(),
        status: &label.status,
        started_at: label.started_at.as_deref(),
    }
}

#[derive(Serialize)]
struct FigureView {
    a: Option<Number>,
    b: Option<Number>,
    change_ratio: Option<Number>,
}

fn figures(figures: &[Figure]) -> Pairs<&str, FigureView> {
    Pairs(figures.iter().map(|item| (item.key.as_str(), figure(item))).collect())
}

fn figure(figure: &Figure) -> FigureView {
    FigureView { a: figure.a.map(Number), b: figure.b.map(Number), change_ratio: figure.change().map(Number) }
}

/// A part of the run times. Where a run does not tell it, the most that it may have taken.
#[derive(Serialize)]
struct PartView<'a> {
    part: &'a str,
    a_ms: Option<f64>,
    b_ms: Option<f64>,
    a_at_most_ms: Option<f64>,
    b_at_most_ms: Option<f64>,
}

fn part(part: &PartPair) -> PartView<'_> {
    let known = |side: &PartOfSide| match side {
        PartOfSide::Told { time_ms, .. } => (Some(*time_ms), None),
        PartOfSide::AtMost(limit) => (None, Some(*limit)),
    };
    let ((a_ms, a_at_most_ms), (b_ms, b_at_most_ms)) = (known(&part.a), known(&part.b));
    PartView { part: part.name(), a_ms, b_ms, a_at_most_ms, b_at_most_ms }
}

#[derive(Serialize)]
struct PhaseView<'a> {
    phase: &'a str,
    a: Option<&'a str>,
    b: Option<&'a str>,
    figures: Pairs<&'a str, FigureView>,
}

fn phases(phases: &[PhasePair]) -> Each<'_, PhasePair, PhaseView<'_>> {
    Each(phases, phase)
}

fn phase(phase: &PhasePair) -> PhaseView<'_> {
    PhaseView {
        phase: &phase.key,
        a: phase.a.as_deref(),
        b: phase.b.as_deref(),
        figures: figures(&phase.figures),
    }
}

#[derive(Serialize)]
struct QueriesView<'a> {
    pairs_count: usize,
    only_a_count: usize,
    only_b_count: usize,
    changed: Each<'a, QueryPair, QueryView<'a>>,
}

#[derive(Serialize)]
struct QueryView<'a> {
    a: &'a str,
    b: &'a str,
    wall_ms: Option<FigureView>,
    alike_count: usize,
    cause: bool,
    changes: Each<'a, PlanChange, ChangeView<'a>>,
}

/// What changed: `join`, `scan`, `added` or `lost`; its keys, source or operator; and the strategy, or what the scan has, on
/// both sides.
#[derive(Serialize)]
struct ChangeView<'a> {
    change: &'static str,
    of: &'a str,
    what: Option<&'a str>,
    a: Option<&'a str>,
    b: Option<&'a str>,
    count: Option<usize>,
}

fn queries(queries: &Queries) -> QueriesView<'_> {
    QueriesView {
        pairs_count: queries.pairs,
        only_a_count: queries.only_a,
        only_b_count: queries.only_b,
        changed: Each(&queries.changed, QueryView::of),
    }
}

impl<'a> QueryView<'a> {
    fn of(pair: &'a QueryPair) -> Self {
        Self {
            a: &pair.a,
            b: &pair.b,
            wall_ms: pair.time.as_ref().map(figure),
            alike_count: pair.alike,
            cause: pair.is_cause(),
            changes: Each(&pair.changes, plan_change),
        }
    }
}

fn plan_change(change: &PlanChange) -> ChangeView<'_> {
    let view = |change, of| ChangeView { change, of, what: None, a: None, b: None, count: None };
    match change {
        PlanChange::Join { on, a, b } => ChangeView { a: Some(a), b: Some(b), ..view("join", on) },
        PlanChange::Scan { source, what, a, b } => {
            ChangeView { what: Some(what), a: Some(a), b: Some(b), ..view("scan", source) }
        }
        PlanChange::Added { operator, count } => {
            ChangeView { count: Some(*count), ..view("added", operator) }
        }
        PlanChange::Lost { operator, count } => ChangeView { count: Some(*count), ..view("lost", operator) },
    }
}

#[derive(Serialize)]
struct ConfigurationView<'a> {
    settings: Each<'a, Setting, SettingView<'a>>,
    left_out_count: usize,
}

#[derive(Serialize)]
struct SettingView<'a> {
    name: &'a str,
    a: Option<&'a str>,
    b: Option<&'a str>,
}

fn configuration(configuration: &Configuration) -> ConfigurationView<'_> {
    ConfigurationView {
        settings: Each(&configuration.settings, |item| {
            let (a, b) = setting(item);
            SettingView { name: &item.name, a, b }
        }),
        left_out_count: configuration.left_out,
    }
}

#[derive(Serialize)]
struct FindingView<'a> {
    change: &'static str,
    rule: &'a str,
    subject: &'a str,
    a: Option<Severity>,
    b: Option<Severity>,
    message: &'a str,
    reason: Option<&'a str>,
}

fn finding(pair: &FindingPair) -> FindingView<'_> {
    FindingView {
        change: pair.moved.name(),
        rule: &pair.rule,
        subject: &pair.subject,
        a: pair.a,
        b: pair.b,
        message: &pair.message,
        reason: pair.reason.as_deref(),
    }
}
