//! The differences as a document: whether B is better or worse, which jobs changed most, then pairs with all tables.

use super::jobs::{JobView, listed};
use super::pair::{changed_cell, part, side};
use super::words::{answer, by_job, hint, largest, moved, paired, range, run_times, title};
use crate::document::jobs::{Names, Run};
use crate::document::{Block, Cell, Column, Document, Media, Row, Section, Table, Value};
use crate::text::TextOptions;
use crate::words::{grouped, plural};
use elephant_engine::diff::{Diff, Figure, Label, Pair};

/// Unchanged pairs that are listed.
const MAX_UNCHANGED: usize = 500;
/// Runs of one side that are listed.
const MAX_LABELS: usize = 100;
/// Changed jobs, and jobs of one side, that a terminal lists without details.
const LISTED: usize = 20;
/// Changed jobs whose most changed pair a terminal shows with all tables, without details.
const TABLES: usize = 3;

const FOOT: &str = "of two sides. Times are in UTC. 1 GB·h is one gibibyte held for one hour.";
const CHANGED: &str =
    "A pair counts as changed if the run time differs by 5 % or more, or a setting or a finding differs.";

/// What is shown of the differences.
pub(super) fn of(diff: &Diff, options: TextOptions) -> Document<'_> {
    let summary = options.summary;
    let (jobs, left_out) = listed(diff, options.jobs);
    let mut sections = vec![head(diff, summary), all_jobs(diff, &jobs, left_out, options)];
    sections.extend(jobs.iter().enumerate().map(|(place, view)| job(place, view)));
    sections.push(in_text(diff, options));
    sections.push(in_markdown(diff, options.jobs));
    let unchanged = diff.pairs.iter().filter(|pair| !pair.changed() && diff.pairs.len() > 1);
    let unchanged = if options.jobs.is_none() { unchanged.collect() } else { Vec::new() };
    sections.push(self::unchanged(&unchanged));
    let sides = [("A", &diff.only_a), ("B", &diff.only_b)];
    sections.extend(sides.map(|(side, labels)| only_in(side, labels, options)));
    Document { title: "Two sides compared", foot: FOOT.to_owned(), problems: &[], sections }
}

/// Whether B is better or worse, and how many pairs there are.
fn head(diff: &Diff, summary: bool) -> Section<'_> {
    let headline = match diff.pairs.as_slice() {
        [] => paired(diff),
        [only] => run_times(only),
        _ => answer(&diff.total()),
    };
    // The headline says it without pairs, and there is nothing to say of a single one.
    let is_alone = diff.only_a.is_empty() && diff.only_b.is_empty() && !summary;
    let is_told = diff.pairs.is_empty() || diff.pairs.len() == 1 && is_alone;
    let rules = moved(diff.pairs.iter().flat_map(|pair| &pair.findings));
    let rules = (summary && !rules.is_empty()).then(|| Block::Lead(format!("findings: {rules}")));
    Section::new("answer", "Answer", "")
        .with(Block::Headline(headline))
        .with((!is_told).then(|| Block::Lead(paired(diff))))
        .with(hint(diff).map(|hint| Block::Lead(hint.to_owned())))
        .only(Media::TEXT, rules)
        .only(Media::HTML, (diff.pairs.len() > 1).then(|| Block::Note(CHANGED.to_owned())))
}

/// The columns of a run time on both sides.
fn run_time_columns() -> [Column; 3] {
    [Column::number("A took", 13), Column::number("B took", 13), Column::number("change", 9)]
}

fn run_time<'a>(figure: Option<&Figure>) -> [Cell<'a>; 3] {
    let unknown = || Cell::from(Value::Unknown);
    figure.map_or_else(
        || [unknown(), unknown(), unknown()],
        |figure| [side(figure, figure.a), side(figure, figure.b), changed_cell(figure)],
    )
}

/// A row for each job that changed.
fn all_jobs<'a>(diff: &Diff, jobs: &[JobView<'a>], left_out: u64, options: TextOptions) -> Section<'a> {
    let is_listed = diff.pairs.len() > 1 && !options.summary && !jobs.is_empty();
    let in_text = if is_listed { Media::TEXT } else { Media::NONE };
    let on_page = if jobs.len() > 1 { Media::HTML } else { Media::NONE };
    let most = options.jobs.unwrap_or(if options.details { usize::MAX } else { LISTED });
    let page = |column: Column| column.only(Media::HTML);
    let first = [Column::key("job", 12, 60), Column::number("pairs", 5)];
    let last = [page(Column::text("findings", 0)), page(Column::text("user", 0))];
    let row = |(place, view): (usize, &JobView<'a>)| {
        let shown = if place < most { Media::ALL } else { Media::HTML };
        let moved = Value::words(view.moved.clone());
        let first = [Cell::from(view.shown.name.clone()).link(&view.shown.id), view.all.len().into()];
        let last = [moved.into(), view.shown.user.map_or(Value::Nothing, Value::from).into()];
        let row = Row::new(first.into_iter().chain(run_time(view.total.run_time())).chain(last)).only(shown);
        view.notes().into_iter().fold(row, Row::below)
    };
    let columns = first.into_iter().chain(run_time_columns()).chain(last);
    let table = Table::new(columns, jobs.iter().enumerate().map(row));
    let hidden = |hidden: u64, what: &str| {
        (hidden > 0).then(|| Block::Note(format!("{} {what}", plural(hidden, "more changed job"))))
    };
    let more = (jobs.len() as u64 + left_out).saturating_sub(most as u64);
    Section::new("jobs", "Jobs", "Jobs that changed")
        .only(on_page, hidden(left_out, "not shown (`--top`; the JSON report has all)"))
        .only(on_page.or(in_text), Block::Table(table))
        .only(in_text, hidden(more, "(--top, --details)"))
}

const NAMES: Names = Names {
    table: "Pairs that changed",
    rows: ["pair is", "pairs are"],
    others: ["pair that changed is", "pairs that changed are"],
    hint: "",
};

/// A job with its pairs, and all tables of those that changed most.
fn job<'a>(place: usize, view: &JobView<'a>) -> Section<'a> {
    let columns = [Column::key("B", 0, 0), Column::text("A", 0)];
    let columns = columns.into_iter().chain(run_time_columns()).chain([Column::text("findings", 0)]);
    let row = |run: &Run<&'a Pair>| {
        let pair = run.of;
        let first = [pair.b.id.as_str().into(), pair.a.id.as_str().into()];
        let last = [Cell::from(Value::words(moved(&pair.findings)))];
        first.into_iter().chain(run_time(pair.run_time())).chain(last).collect()
    };
    let (all, changed) = (view.all.len(), view.shown.runs.len());
    let some = (changed < all).then(|| format!("{changed} changed"));
    let about = view.shown.about(all as u64, "pair", some);
    let part = |run: &Run<&'a Pair>| part(&run.id, &run_times(run.of), run.of);
    view.shown.section((place, about), None, &NAMES, (columns.collect(), row), part)
}

/// The pairs that a terminal shows with all tables.
fn in_text(diff: &Diff, options: TextOptions) -> Section<'_> {
    let jobs = diff.jobs();
    let most = |usual| options.jobs.unwrap_or(usual);
    let shown: Vec<&Pair> = match diff.pairs.as_slice() {
        _ if options.summary => Vec::new(),
        [pair] => vec![pair],
        _ if options.details => {
            jobs.iter().take(most(usize::MAX)).flat_map(|job| job.changed.iter().copied()).collect()
        }
        _ => jobs.iter().take(most(TABLES)).filter_map(|job| job.changed.first().copied()).collect(),
    };
    let parts = shown.into_iter().map(|pair| Block::Part(part("", &title(pair), pair)));
    parts.fold(Section::new("pairs", "", ""), |section, part| section.only(Media::TEXT, part))
}

/// The pairs of the first jobs that changed, in a comment.
fn in_markdown(diff: &Diff, top: Option<usize>) -> Section<'_> {
    let pairs = diff.pairs_of(top);
    let left_out = (diff.pairs.len() - pairs.len()) as u64;
    let left_out = (left_out > 0).then(|| format!("{} of runs not shown", plural(left_out, "more pair")));
    let several = diff.pairs.len() > 1;
    let parts = pairs.into_iter().map(|pair| {
        let part = part("", &pair.b.job, pair);
        Block::Part(if several { part.first(Block::Told(run_times(pair))) } else { part })
    });
    let section = Section::new("pairs", "", "");
    parts
        .fold(section, |section, part| section.only(Media::MARKDOWN, part))
        .only(Media::MARKDOWN, left_out.map(Block::Lead))
}

fn unchanged<'a>(pairs: &[&'a Pair]) -> Section<'a> {
    let columns =
        [Column::key("job", 0, 0), Column::text("A", 0), Column::text("B", 0), Column::number("B took", 0)];
    let shown = pairs.get(..MAX_UNCHANGED).unwrap_or(pairs);
    let row = |pair: &&'a Pair| {
        let took = pair.run_time().map_or(Cell::from(Value::Unknown), |figure| side(figure, figure.b));
        Row::new([title(pair).into(), pair.a.id.as_str().into(), pair.b.id.as_str().into(), took])
    };
    let (of, all) = (grouped(shown.len() as u64), grouped(pairs.len() as u64));
    let cut = (shown.len() < pairs.len())
        .then(|| Block::Note(format!("The first {of} of {all}; the JSON report has all.")));
    let table = (!shown.is_empty()).then(|| Block::Table(Table::new(columns, shown.iter().map(row))));
    Section::new("unchanged", "Unchanged", "Unchanged").only(Media::HTML, cut).only(Media::HTML, table)
}

/// The runs that only one side has. A terminal shows a line for each job, with its only run or the number of its runs;
/// with details, all runs.
fn only_in<'a>(side: &'static str, labels: &[Label], options: TextOptions) -> Section<'a> {
    let title = format!("Only in {side}");
    let section = Section::new(format!("only-{side}"), title.clone(), title);
    if labels.is_empty() {
        return section;
    }
    let line = |label: &Label| format!("{}: {}", label.job, label.id);
    let mut all: Vec<String> = labels.iter().take(MAX_LABELS).map(line).collect();
    let left_out = labels.len().saturating_sub(MAX_LABELS) as u64;
    all.extend((left_out > 0).then(|| format!("and {} more", grouped(left_out))));
    let of_job = |runs: &Vec<&Label>| match runs.as_slice() {
        [first, _, ..] => {
            Some(format!("{}: {}, the first {}", first.job, plural(runs.len() as u64, "run"), first.id))
        }
        runs => runs.first().map(|first| line(first)),
    };
    let jobs = by_job(labels);
    let in_text = if options.details {
        labels.iter().map(line).collect()
    } else {
        let mut lines: Vec<String> = jobs.iter().take(LISTED).filter_map(of_job).collect();
        let rest = jobs.get(LISTED..).unwrap_or_default();
        let runs: usize = rest.iter().map(Vec::len).sum();
        let (rest, runs) = (rest.len() as u64, plural(runs as u64, "run"));
        lines.extend((rest > 0).then(|| format!("… and {} ({runs}; --details)", plural(rest, "more job"))));
        lines
    };
    let label = format!("only in {side}");
    let text = if options.summary { Media::NONE } else { Media::TEXT };
    section
        .only(Media::MARKDOWN.or(text), Block::Label(label))
        .only(text, Block::List(in_text))
        .only(Media::WIDE, Block::List(all))
}

impl JobView<'_> {
    /// The number of pairs in a row, the range of their changes, and the pair that changed most; then the findings.
    fn notes(&self) -> Vec<String> {
        let (mut notes, changed) = (Vec::new(), &self.shown.runs);
        if self.all.len() > 1 {
            let mut parts = Vec::new();
            parts.extend((changed.len() < self.all.len()).then(|| format!("{} changed", changed.len())));
            parts.extend(range(&self.all));
            parts.extend(changed.first().map(|run| largest(run.of)));
            notes.push(parts.join("; "));
        }
        notes.push(self.moved.clone());
        notes.retain(|note| !note.is_empty());
        notes
    }
}
