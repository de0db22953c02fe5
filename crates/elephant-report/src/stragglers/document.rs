//! The survey as a document: how many stragglers, how long applications waited for them, and why; then jobs, causes,
//! detectors, and for each job its runs.

use super::application::part;
use super::causes::Palette;
use super::jobs::{JobView, listed};
use super::{Shown, detectors, sentences, tables};
use crate::document::jobs::{Names, Run};
use crate::document::{Block, Cell, Column, Document, Media, Row, Section, Table, Value, from_files};
use crate::text::TextOptions;
use crate::words::{conditions, files_read, grouped, plural};
use elephant_base::units::Millis;
use elephant_engine::survey::{ApplicationStragglers, StragglerReport, Total, Waiting};

/// Jobs that a terminal lists without `--top`.
const LISTED: usize = 15;
/// Causes of waiting that a terminal lists.
const CAUSES: usize = 5;

pub(super) fn of(report: &StragglerReport, options: TextOptions, shown: Shown) -> Document<'_> {
    let palette = Palette::of(&report.total.causes);
    let jobs = listed(report, shown);
    let (details, summary) = (options.details, options.summary);
    let with: Vec<&ApplicationStragglers> =
        report.applications.iter().filter(|app| app.stragglers() > 0).collect();
    // A single application is short, and its tasks are what the reader asked for.
    let in_full = !summary && (details || with.len() == 1);
    let in_detail = if details && !summary { Media::HTML.or(Media::TEXT) } else { Media::HTML };
    let mut sections = vec![
        answer(report),
        all_jobs(report, &jobs, shown, !in_full && !summary),
        tables::causes_and_costs(&report.total, &report.settings, &palette, in_detail),
        tables::days(&report.total, &palette, in_detail),
    ];
    if in_full {
        sections.push(applications(report, &with, shown, &palette));
    }
    sections.push(detectors::section(report, details, summary));
    for (place, view) in jobs.iter().enumerate() {
        sections.push(job(report, place, view, shown, &palette));
    }
    sections.push(end(report, !with.is_empty(), options));
    let files = Section::new("files", "", "").only(Media::TEXT, Block::Lead(files_read(&report.files)));
    sections.push(files.only(Media::TEXT, conditions(&report.settings.conditions).map(Block::Lead)));
    Document { title: "Stragglers", foot: from_files(&report.files), problems: &report.problems, sections }
}

fn answer(report: &StragglerReport) -> Section<'_> {
    let total = &report.total;
    let waiting = &total.waiting;
    let delay = Waiting::total(waiting);
    let who = match total.applications {
        1 => "The application".to_owned(),
        _ => plural(total.applications_waiting, "application"),
    };
    let waited = match total.stragglers {
        _ if !waiting.is_empty() => Some(format!("{who} waited {delay} only for stragglers:")),
        0 => None,
        _ => Some(sentences::NO_WAIT.to_owned()),
    };
    let notes = [sentences::all_causes(total), sentences::slow_nodes(report)];
    let section = Section::new("answer", "Answer", "")
        .only(Media::HTML, Block::Headline(headline(total)))
        .only(Media::TEXT, Block::Lead(told(report)))
        .with(waited.map(Block::Lead))
        .with((!waiting.is_empty()).then(|| Block::Table(waited_for(total, delay))));
    let section = notes.into_iter().flatten().map(Block::Told).fold(section, Section::with);
    let without = sentences::without(report, "").map(|text| Block::Note(format!("{text}.")));
    let unlisted = (report.unlisted > 0).then(|| Block::Note(sentences::unlisted(report)));
    let conditions = conditions(&report.settings.conditions).map(Block::Note);
    section.only(Media::HTML, without).only(Media::HTML, unlisted).only(Media::HTML, conditions)
}

/// The answer in one line.
fn headline(total: &Total) -> String {
    let Total { tasks, stragglers, .. } = *total;
    match (tasks, stragglers) {
        (0, _) => "No task can be judged".to_owned(),
        (_, 0) => format!("None of {} is a straggler", plural(tasks, "task")),
        (_, 1) => format!("1 of {} is a straggler", plural(tasks, "task")),
        _ => format!("{} of {} are stragglers", grouped(stragglers), plural(tasks, "task")),
    }
}

/// The same with the definition, and the number of applications.
fn told(report: &StragglerReport) -> String {
    let Total { tasks, stragglers, applications: all, applications_hit: with, .. } = report.total;
    if tasks == 0 {
        return "No task can be judged: no group has enough successful tasks with known times.".to_owned();
    }
    let verb = if stragglers == 1 { "was a straggler" } else { "were stragglers" };
    let inside = if all == 1 { String::new() } else { format!(", in {with} of {all} applications") };
    let definition = sentences::definition(&report.settings);
    format!("{} of {} {verb} ({definition}){inside}.", grouped(stragglers), plural(tasks, "task"))
}

/// How long applications waited, by cause.
fn waited_for(total: &Total, delay: Millis) -> Table<'_> {
    let columns = [
        Column::number("", 11).on_page("Waited"),
        Column::number("", 6).on_page("Share"),
        Column::key("", 30, usize::MAX).on_page("Because of").wrapped(),
        Column::number("", 15).on_page("Applications"),
    ];
    let row = |waited: Millis, cause: String, applications: Option<u64>| {
        let share = waited.as_f64() / delay.as_f64().max(1.0);
        let applications = applications.filter(|_| total.applications > 1);
        let applications =
            applications.map(|count| Value::Sorted(plural(count, "application"), Some(count as f64)));
        Row::new([
            waited.into(),
            Value::Percent(100.0 * share, 0).into(),
            Value::words(cause).into(),
            applications.unwrap_or(Value::Nothing).into(),
        ])
    };
    let rows = total.waiting.iter().enumerate().map(|(place, one)| {
        let shown = if place < CAUSES { Media::ALL } else { Media::HTML };
        let cause = super::words::cause(one.cause, one.confidence);
        row(one.delay, cause, Some(one.applications)).only(shown)
    });
    let others = total.waiting.get(CAUSES..).filter(|others| !others.is_empty());
    let others = others.map(|others| {
        let count = plural(others.len() as u64, "other cause");
        row(Waiting::total(others), count, None).only(Media::TEXT)
    });
    Table::new(columns, rows.chain(others)).in_order().named("Waiting by cause")
}

/// A row for each job: how many tasks of its runs were stragglers, how long they waited for them, and why.
fn all_jobs<'a>(
    report: &StragglerReport,
    jobs: &[JobView<'a>],
    shown: Shown,
    is_listed: bool,
) -> Section<'a> {
    let on_page = if jobs.len() > 1 { Media::HTML } else { Media::NONE };
    let in_text = if is_listed && !jobs.is_empty() { Media::TEXT } else { Media::NONE };
    let page = |column: Column| column.only(Media::HTML);
    let columns = [
        Column::key("job", 14, 46),
        Column::number("runs", 4),
        Column::number("stragglers", 10),
        Column::number("tasks", 6),
        Column::number("waited", 9),
        page(Column::text("mainly", 0)),
        page(Column::text("user", 0)),
    ];
    let most = shown.applications.unwrap_or(LISTED);
    let row = |(place, view): (usize, &JobView<'a>)| {
        let media = if place < most { Media::ALL } else { Media::HTML };
        let told = sentences::of_job(&view.job);
        let cells = [
            Cell::from(view.shown.name.clone()).link(&view.shown.id),
            view.job.judged_runs.into(),
            view.job.stragglers.into(),
            view.job.judged.into(),
            waited(view.job.delay),
            Value::words(told.clone()).into(),
            view.shown.user.map_or(Value::Nothing, Value::from).into(),
        ];
        Row::new(cells).below(told).only(media)
    };
    let table = Table::new(columns, jobs.iter().enumerate().map(row));
    let all = report.jobs().len();
    let hidden = |most: usize, what: &str| {
        let hidden = all.saturating_sub(most) as u64;
        (hidden > 0).then(|| Block::Note(format!("{} {what}", plural(hidden, "more job"))))
    };
    let order =
        "The job whose runs waited longest only for stragglers comes first, unless `--sort` says otherwise.";
    Section::new("jobs", "Jobs", "Jobs")
        .only(on_page, Block::Note(order.to_owned()))
        .only(on_page, hidden(jobs.len(), "not shown (`--top`; the JSON report has all)"))
        .only(on_page.or(in_text), Block::Table(table))
        .only(in_text, hidden(most, "with stragglers (--top, --details)"))
}

/// A time; unknown if there is none, so that it is sorted last.
fn waited<'a>(delay: Millis) -> Cell<'a> {
    (delay > Millis::ZERO).then_some(delay).into()
}

const NAMES: Names = Names {
    table: "Runs with stragglers",
    rows: ["run is", "runs are"],
    others: ["run with stragglers is", "runs with stragglers are"],
    hint: "`--app ID` shows one of them. ",
};

/// A job with its runs, and histograms and tasks of those that waited longest.
fn job<'a>(
    report: &'a StragglerReport,
    place: usize,
    view: &JobView<'a>,
    shown: Shown,
    palette: &Palette,
) -> Section<'a> {
    let columns = vec![
        Column::key("application", 0, 0),
        Column::number("stragglers", 0),
        Column::number("tasks", 0),
        Column::number("waited", 0),
        Column::text("mainly", 0),
    ];
    let row = |run: &Run<&'a ApplicationStragglers>| {
        let app = run.of;
        let why = sentences::mainly(app).map_or(Value::Nothing, Value::words);
        vec![
            app.id.as_str().into(),
            app.stragglers().into(),
            app.judged().into(),
            waited(app.delay),
            why.into(),
        ]
    };
    let part = |run: &Run<&'a ApplicationStragglers>| part(&run.id, run.of, report, shown, palette);
    let about = view.shown.about(view.job.judged_runs, "run", None);
    let told = Some(sentences::of_job(&view.job));
    view.shown.section((place, about), told, &NAMES, (columns, row), part)
}

/// Applications with histograms and tasks.
fn applications<'a>(
    report: &'a StragglerReport,
    with: &[&'a ApplicationStragglers],
    shown: Shown,
    palette: &Palette,
) -> Section<'a> {
    let most = shown.applications.unwrap_or(usize::MAX);
    let parts = with.iter().take(most).map(|app| Block::Part(part("", app, report, shown, palette)));
    let hidden = with.len().saturating_sub(most) as u64;
    let hidden = (hidden > 0).then(|| format!("{} not shown (--top)", plural(hidden, "more application")));
    parts
        .fold(Section::new("applications", "", ""), |section, part| section.only(Media::TEXT, part))
        .only(Media::TEXT, hidden.map(Block::Lead))
}

/// What is not in the report.
fn end(report: &StragglerReport, has_some: bool, options: TextOptions) -> Section<'_> {
    let section = Section::new("end", "", "");
    if options.summary {
        return section;
    }
    let details = "All tables, tasks, histograms and detectors: --details";
    let details = (!options.details && has_some).then(|| details.to_owned());
    let without = sentences::without(report, if has_some { "more " } else { "" });
    let unlisted = (report.unlisted > 0).then(|| sentences::unlisted(report));
    let all = [details, without, unlisted].into_iter().flatten().map(Block::Lead);
    all.fold(section, |section, sentence| section.only(Media::TEXT, sentence))
}
