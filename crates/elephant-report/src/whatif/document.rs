//! The replays as a document: what saves most over all applications, then each job with its runs.

use super::effects;
use super::jobs::{JobView, Run, listed};
use super::replay::part;
use super::shown;
use super::words::{self, Kind, best};
use crate::document::jobs::Names;
use crate::document::{
    Block, Cell, Column, Document, Finding, Media, Row, Section, Table, Value, from_files,
};
use crate::text::TextOptions;
use crate::words::{files_read, grouped, plural};
use elephant_base::severity::Severity;
use elephant_base::units::three_digits;
use elephant_engine::whatif::{ApplicationReplays, ChangeTotal, Replays, Scenario, Total, WhatIfReport};

/// Jobs on the first screen of a page.
const MAX_FIRST: usize = 5;
/// Jobs that a terminal lists without `--top`.
const LISTED: usize = 15;
/// Columns of the time that a change saves, with its error.
const DIFFERENCE: usize = 16;

const NOTE: &str = "The recorded tasks are scheduled again under each change. A range is the error of the model on this application: the difference between a replay without a change and the log, and 5 or 10 % of the replayed time. A saving smaller than that is not given.";

/// The first `top` jobs, or applications in a terminal that shows them with all changes.
pub(super) fn of(report: &WhatIfReport, options: TextOptions, top: Option<usize>) -> Document<'_> {
    let TextOptions { details, summary, .. } = options;
    let jobs = listed(report, top);
    // A single application is short, and its table is what the reader asked for.
    let in_full = details || report.applications.len() == 1;
    let mut sections = vec![answer(report, &jobs, summary)];
    sections.push(all_jobs(report, &jobs, top, !in_full && !summary));
    sections
        .extend(jobs.iter().enumerate().map(|(place, view)| job(place, view, report.currency.as_deref())));
    if in_full && !summary {
        sections.push(applications(report, top));
    }
    let files = Block::Lead(files_read(&report.files));
    sections.push(Section::new("files", "", "").only(Media::TEXT, files));
    Document { title: "What if", foot: from_files(&report.files), problems: &report.problems, sections }
}

fn answer<'a>(report: &WhatIfReport, jobs: &[JobView<'a>], summary: bool) -> Section<'a> {
    let Total { replayed, recorded, changes } = &report.total;
    let currency = report.currency.as_deref();
    let all = report.applications.len() as u64;
    let took = match replayed {
        0 => words::not_replayed(report),
        1 => format!("; it took {recorded}"),
        _ => format!("; they took {recorded}"),
    };
    let lead = format!("{} of {} replayed{took}", grouped(*replayed), plural(all, "application"));
    // What memory would do needs no replay.
    let is_known = |total: &&ChangeTotal| *replayed > 0 || !total.memory.is_empty();
    let known: Vec<ChangeTotal> = changes.iter().filter(is_known).cloned().collect();
    let totals = (!known.is_empty()).then(|| Block::List(effects::totals(&known, currency)));
    let told = match (all, summary) {
        (2.., _) => Media::ALL,
        (_, true) => Media::TEXT,
        _ => Media::NONE,
    };
    let section = Section::new("answer", "Answer", "")
        .only(Media::HTML, Block::Headline(headline(report)))
        .only(told, Block::Lead(lead))
        .only(told, totals);
    let first = first(jobs, currency).into_iter().map(Block::Finding);
    first
        .fold(section, |section, finding| section.only(Media::HTML, finding))
        .only(Media::HTML, Block::Note(NOTE.to_owned()))
}

/// The answer in one line.
fn headline(report: &WhatIfReport) -> String {
    let replays = report.applications.iter().filter_map(|app| app.replays.as_ref().ok());
    let replayed: Vec<&Replays> = replays.collect();
    let all = plural(replayed.len() as u64, "application");
    let count = |kind: Kind| replayed.iter().filter(|replays| best(replays, kind).is_some()).count();
    let only = |replays: &&'_ Replays| match replays.scenarios.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    let requested: Option<Vec<Scenario>> = replayed.iter().map(only).collect();
    match (replayed.as_slice(), requested.as_deref()) {
        ([], _) => "No application can be replayed".to_owned(),
        ([replays], Some([scenario])) => words::outcome(replays, scenario, report.currency.as_deref()),
        (_, Some([scenario, ..])) => {
            format!("{}: {} of {all} would be faster", words::change(scenario), count(Kind::Any))
        }
        _ => format!(
            "Troubles cost time in {} of {all}; other resources would shorten {}",
            count(Kind::Trouble),
            count(Kind::Resources)
        ),
    }
}

/// The jobs that can save most, with their best changes: leaving out troubles, and other resources.
fn first(jobs: &[JobView<'_>], currency: Option<&str>) -> Vec<Finding> {
    let with = jobs.iter().filter_map(|view| {
        let best: Vec<_> =
            [Kind::Trouble, Kind::Resources].iter().filter_map(|kind| view.best(*kind)).collect();
        (!best.is_empty()).then_some((view, best))
    });
    let (mut first, others): (Vec<_>, Vec<_>) =
        with.partition(|(view, _)| view.best(Kind::Trouble).is_some());
    // Jobs that only more resources shorten come last: more resources shorten almost every application, and cost
    // something.
    first.extend(others);
    first.truncate(MAX_FIRST);
    let finding = |(view, best): (&JobView<'_>, Vec<_>)| {
        let changes = best.into_iter().map(|total| effects::total(total, currency)).collect();
        let about = view.shown.about(view.shown.runs.len() as u64, "run", None);
        Finding {
            link: Some(view.shown.id.clone()),
            place: (!about.is_empty()).then_some(about),
            more: changes,
            ..Finding::new(Severity::Low, view.job.name(), "")
        }
    };
    first.into_iter().map(finding).collect()
}

/// A row for each job: how long its runs took, what the best change saves, and in which run most.
fn all_jobs<'a>(
    report: &WhatIfReport,
    jobs: &[JobView<'a>],
    top: Option<usize>,
    is_listed: bool,
) -> Section<'a> {
    let on_page = if jobs.len() > 1 { Media::HTML } else { Media::NONE };
    let in_text = if is_listed && !jobs.is_empty() { Media::TEXT } else { Media::NONE };
    let page = |column: Column| column.only(Media::HTML);
    let columns = [
        Column::key("job", 14, 46),
        Column::number("runs", 4),
        Column::number("took", 9),
        page(Column::text("best change", 0)),
        Column::number("saves", DIFFERENCE),
        page(Column::number("in runs", 0)),
        page(Column::text("user", 0)),
    ];
    let most = top.unwrap_or(LISTED);
    let rows = jobs.iter().enumerate().map(|(place, view)| {
        let shown = if place < most { Media::ALL } else { Media::HTML };
        row(view, report.currency.as_deref()).only(shown)
    });
    let table = || Table::new(columns, rows);
    let all = report.jobs().len();
    let hidden = |most: usize, what: &str| {
        let hidden = all.saturating_sub(most) as u64;
        (hidden > 0).then(|| Block::Note(format!("{} {what}", plural(hidden, "more job"))))
    };
    let details = Block::Lead("All changes of each application: --details".to_owned());
    Section::new("jobs", "Jobs", "Jobs")
        .only(on_page, hidden(jobs.len(), "not shown (`--top`; the JSON report has all)"))
        .only(on_page.or(in_text), Block::Table(table()))
        .only(in_text, hidden(most, "(--top, --details)"))
        .only(in_text, details)
}

fn row<'a>(view: &JobView<'a>, currency: Option<&str>) -> Row<'a> {
    let total = &view.job.total;
    let (name, user) = (view.job.name().to_owned(), view.shown.user.map_or(Value::Nothing, Value::from));
    let took = (total.replayed > 0).then_some(total.recorded);
    let (change, saves, shortened) = match total.best() {
        Some(best) => {
            let saves = Value::Sorted(effects::saved(best), Some(best.net_ms()));
            (effects::of_total(best), saves, best.shortened.into())
        }
        None if total.replayed > 0 => (words::NONE.to_owned(), Value::Unknown, Value::Unknown),
        None => ("cannot be replayed".to_owned(), Value::Unknown, Value::Unknown),
    };
    let cells = [
        Cell::from(name).link(&view.shown.id),
        view.shown.runs.len().into(),
        took.into(),
        Value::words(change).into(),
        saves.into(),
        shortened.into(),
        user.into(),
    ];
    Row::new(cells).below(effects::of_job(&view.job, currency))
}

const NAMES: Names = Names {
    table: "Runs",
    rows: ["run is", "runs are"],
    others: ["replayed run is", "replayed runs are"],
    hint: "`--app ID` shows one of them. ",
};

/// A job with its runs, and all changes of those that a change shortens most.
fn job<'a>(place: usize, view: &JobView<'a>, currency: Option<&'a str>) -> Section<'a> {
    let columns = vec![
        Column::key("application", 0, 0),
        Column::number("took", 0),
        Column::number("error of the replay", 0),
        Column::text("best change", 0),
        Column::number("takes", 0),
        Column::number("saves", 0),
    ];
    let told = Some(effects::of_job(&view.job, currency));
    let about = view.shown.about(view.shown.runs.len() as u64, "run", None);
    view.shown.section((place, about), told, &NAMES, (columns, run), |run| part(&run.id, run.of, currency))
}

fn run<'a>(run: &Run<'a>) -> Vec<Cell<'a>> {
    let name = Cell::from(run.of.id.as_str());
    match &run.of.replays {
        Ok(replays) => {
            let residual = replays.residual_percent.abs();
            let error = Value::Sorted(format!("{} %", three_digits(residual)), Some(residual));
            let (change, takes, saves) = match best(replays, Kind::Any) {
                Some((scenario, prediction)) => {
                    let (saves, wall) = (prediction.saves.wall_ms, prediction.takes.wall_ms);
                    let saves = Value::Sorted(words::with_error(&saves), Some(saves.point));
                    let takes = Value::Sorted(words::takes(prediction), Some(wall.point));
                    (words::change(scenario), takes, saves)
                }
                None => (words::NONE.to_owned(), Value::Unknown, Value::Unknown),
            };
            let took = Value::Duration(replays.recorded);
            vec![name, took.into(), error.into(), Value::words(change).into(), takes.into(), saves.into()]
        }
        Err(why) => {
            let why = Value::words(format!("cannot be replayed: {why}")).into();
            let unknown = || Cell::from(Value::Unknown);
            vec![name, unknown(), unknown(), why, unknown(), unknown()]
        }
    }
}

/// Applications with all changes.
fn applications(report: &WhatIfReport, top: Option<usize>) -> Section<'_> {
    let applications = shown(report, top);
    let hidden = (report.applications.len() - applications.len()) as u64;
    let parts = applications
        .iter()
        .map(|app: &ApplicationReplays| Block::Part(part("", app, report.currency.as_deref())));
    let section = Section::new("applications", "", "");
    let hidden = (hidden > 0).then(|| format!("{} not shown (--top)", plural(hidden, "application")));
    parts
        .fold(section, |section, part| section.only(Media::TEXT, part))
        .only(Media::TEXT, hidden.map(Block::Lead))
}
