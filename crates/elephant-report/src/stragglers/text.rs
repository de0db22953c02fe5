//! The survey as text: the answer, then the job that waited longest for stragglers first.

mod answer;
mod detectors;
mod tables;

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::super::grid::{Cell, Column, Grid, UNKNOWN};
use super::super::text::TextOptions;
use super::super::words::matching;
use super::super::wrap::{clean, fit, lines};
use super::{Shown, sentences, words};
use elephant_analysis::stragglers::cause::StragglerCause;
use elephant_analysis::stragglers::executions::Certainty;
use elephant_base::units::{Millis, three_digits};
use elephant_engine::survey::{ApplicationStragglers, GroupReport, Method, Straggler, StragglerReport};

/// Columns of a histogram's longest bar.
const BAR: usize = 40;
/// Columns that a time and a number take next to a bar.
const BESIDE_BAR: usize = 26;
/// Columns of a node's name.
const NODE: usize = 22;
/// Columns of a task's name.
const TASK: usize = 8;
/// Columns of a duration to the millisecond.
const DURATION: usize = 13;
/// Groups of one application that are shown.
const GROUPS: usize = 5;
/// Jobs that are listed without `--top`.
const LISTED: usize = 15;
/// The fewest columns of a job's name.
const NAME: usize = 14;
/// The most columns of a job's name.
const JOB: usize = 46;
/// Maximum number of servers named.
const SERVERS: usize = 5;

pub(super) fn write(
    report: &StragglerReport,
    options: TextOptions,
    shown: Shown,
    out: &mut dyn Write,
) -> io::Result<()> {
    let details = options.details;
    let page = Page { report, columns: options.columns, color: options.color, details, shown };
    let with: Vec<_> = report.applications.iter().filter(|app| app.stragglers() > 0).collect();
    page.answer(out)?;
    if options.summary {
        return page.files(out);
    }
    if details {
        page.impact(out)?;
        page.causes(out)?;
        page.days(out)?;
    }
    // A single application is short, and its tasks are what the reader asked for.
    if details || with.len() == 1 {
        let most = shown.applications.unwrap_or(usize::MAX);
        with.iter().take(most).try_for_each(|app| page.application(app, out))?;
        if let Some(more) = with.len().checked_sub(most).filter(|&more| more > 0) {
            writeln!(out, "{} not shown (--top)\n", counted(more as u64, "more application"))?;
        }
    } else {
        page.list(out)?;
    }
    page.detectors(out)?;
    if !details && !with.is_empty() {
        page.paragraph("All tables, tasks, histograms and detectors: --details", 0, out)?;
        writeln!(out)?;
    }
    let more = if with.is_empty() { "" } else { "more " };
    if let Some(text) = sentences::without(report, more, |count| count.to_string()) {
        page.paragraph(&text, 0, out)?;
        writeln!(out)?;
    }
    if report.unlisted > 0 {
        page.paragraph(&sentences::unlisted(report), 0, out)?;
        writeln!(out)?;
    }
    page.files(out)
}

struct Page<'a> {
    report: &'a StragglerReport,
    columns: usize,
    color: bool,
    /// Whether every table is shown.
    details: bool,
    shown: Shown,
}

impl Page<'_> {
    fn paragraph(&self, text: &str, indent: usize, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.columns.saturating_sub(indent);
        lines(text, columns).iter().try_for_each(|line| writeln!(out, "{:indent$}{line}", ""))
    }

    fn marked(&self) -> Style {
        if self.color { AnsiColor::Red.on_default().bold() } else { Style::new() }
    }

    fn bold(&self) -> Style {
        if self.color { Style::new().bold() } else { Style::new() }
    }

    fn heading(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let style = self.bold();
        writeln!(out, "{style}{text}{style:#}")
    }

    /// A row for each job: how many tasks of its runs were stragglers, how long they waited for them, and why.
    fn list(&self, out: &mut dyn Write) -> io::Result<()> {
        let jobs = self.report.jobs();
        if jobs.is_empty() {
            return Ok(());
        }
        let names = Column::key("Jobs", NAME, JOB);
        let columns = [names, Column::number("stragglers", 13), Column::number("waited", 9)];
        let mut grid = Grid::new(2, columns).heading(self.bold());
        let most = self.shown.applications.unwrap_or(LISTED);
        for job in jobs.iter().take(most) {
            let first = job.runs.first().map_or("", |app| app.name.as_deref().unwrap_or(&app.id));
            let runs = match job.judged_runs {
                1 => String::new(),
                runs => format!(" ({})", counted(runs, "run")),
            };
            let count = format!("{} of {}", job.stragglers, job.judged);
            let waited = if job.delay > Millis::ZERO { job.delay.to_string() } else { UNKNOWN.to_owned() };
            grid.row([format!("{}{runs}", clean(first)).into(), count.into(), waited.into()]);
            grid.note(4, clean(&sentences::of_job(job)));
        }
        grid.write(self.columns, out)?;
        if let Some(more) = jobs.len().checked_sub(most).filter(|&more| more > 0) {
            let more = counted(more as u64, "more job");
            self.paragraph(&format!("{more} with stragglers (--top, --details)"), 2, out)?;
        }
        writeln!(out)
    }

    fn application(&self, app: &ApplicationStragglers, out: &mut dyn Write) -> io::Result<()> {
        let name = app.name.as_deref().map(|name| format!("  {}", clean(name))).unwrap_or_default();
        self.heading(&fit(&format!("{}{name}", clean(&app.id)), self.columns), out)?;
        let by_median = self.report.settings.method == Method::Median;
        let waited = if by_median && app.delay > Millis::ZERO {
            format!("; the application waited {} only for stragglers", app.delay)
        } else {
            String::new()
        };
        let incomplete = if app.complete { "" } else { "; log incomplete" };
        let text = format!(
            "{} of {} {}{waited}{incomplete}",
            app.stragglers(),
            counted(app.judged(), "task"),
            if app.stragglers() == 1 { "was a straggler" } else { "were stragglers" }
        );
        self.paragraph(&text, 0, out)?;
        if app.copies.launched > 0 {
            let text = format!(
                "{} launched, {} won; losing attempts took {}",
                counted(app.copies.launched, "copy"),
                app.copies.won,
                app.copies.lost
            );
            self.paragraph(&text, 0, out)?;
        }
        writeln!(out)?;
        let mut groups: Vec<&GroupReport> =
            app.groups.iter().filter(|group| !group.stragglers.is_empty()).collect();
        let longest = |group: &GroupReport| group.stragglers.first().map(|straggler| straggler.duration);
        groups.sort_by_key(|group| (std::cmp::Reverse(longest(group)), group.kind));
        for group in groups.iter().take(GROUPS) {
            self.group(group, out)?;
        }
        if let Some(more) = groups.len().checked_sub(GROUPS).filter(|&more| more > 0) {
            let stragglers: usize = groups.iter().skip(GROUPS).map(|group| group.stragglers.len()).sum();
            let text = format!(
                "{} with {} not shown; --format json or csv has all",
                counted(more as u64, "more group"),
                counted(stragglers as u64, "straggler")
            );
            self.paragraph(&text, 2, out)?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn group(&self, group: &GroupReport, out: &mut dyn Write) -> io::Result<()> {
        let limit = sentences::limit(group, &self.report.settings);
        let text = format!("{}: {limit}", words::of(group));
        self.paragraph(&text, 2, out)?;
        self.histogram(group, out)?;
        self.stragglers(group, out)
    }

    /// A bar for each time step; steps of stragglers are marked with "!".
    fn histogram(&self, group: &GroupReport, out: &mut dyn Write) -> io::Result<()> {
        let steps = &group.histogram.steps;
        let most = steps.iter().map(|step| step.1).max().unwrap_or_default();
        if most == 0 {
            return Ok(());
        }
        for (place, &(from, count)) in steps.iter().enumerate() {
            let straggler = group.histogram.limit.is_some_and(|limit| place >= limit);
            let (mark, style) = if straggler { ('!', self.marked()) } else { (' ', Style::new()) };
            let bar = "#".repeat(bar_length(count, most, self.columns.saturating_sub(BESIDE_BAR).min(BAR)));
            let line = format!(
                "    {mark} {:>9} {bar} {}",
                if group.histogram.open && place + 1 == steps.len() {
                    format!("{from}+")
                } else {
                    from.to_string()
                },
                if count > 0 { count.to_string() } else { String::new() }
            );
            writeln!(out, "{style}{}{style:#}", line.trim_end())?;
        }
        writeln!(out)
    }

    fn stragglers(&self, group: &GroupReport, out: &mut dyn Write) -> io::Result<()> {
        let most = self.shown.stragglers.unwrap_or(usize::MAX);
        let mut grid = Grid::new(
            4,
            [
                Column::text("task", TASK),
                Column::key("node", 10, NODE),
                Column::number("took", DURATION),
                Column::number("times", 6),
                Column::number("DoS", 6),
            ],
        );
        for straggler in group.stragglers.iter().take(most) {
            grid.row(row(straggler));
            if let Some(cause) = &straggler.cause {
                grid.note(8, why(cause));
            }
        }
        grid.write(self.columns, out)?;
        if let Some(more) = group.stragglers.len().checked_sub(most).filter(|&more| more > 0) {
            writeln!(out, "    and {more} more")?;
        }
        writeln!(out)
    }

    fn files(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = &self.report.files;
        let text = format!(
            "{} read, {} skipped, {} failed · {}",
            counted(files.files_analysed, "file"),
            files.files_skipped,
            files.files_failed,
            matching(files),
        );
        lines(&text, self.columns).iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

/// A straggler in the table.
fn row(straggler: &Straggler) -> [Cell; 5] {
    let bound = if straggler.certainty == Certainty::AtLeast { ">" } else { "" };
    let about = if straggler.certainty == Certainty::Estimated { "~" } else { "" };
    let number = |value: Option<f64>| match value {
        Some(value) if value.is_finite() => three_digits(value),
        Some(_) => "inf".to_owned(),
        None => UNKNOWN.to_owned(),
    };
    [
        straggler.task.map_or_else(|| "?".to_owned(), |task| task.to_string()).into(),
        clean(straggler.node.as_deref().unwrap_or("?")).into(),
        format!("{bound}{about}{}", sentences::exact(straggler.duration)).into(),
        number(straggler.times_reference).into(),
        number(straggler.dos_index).into(),
    ]
}

/// The primary cause, its confidence, and its evidence.
fn why(cause: &StragglerCause) -> String {
    let confidence = cause.confidence.map(|it| format!(" ({})", it.name())).unwrap_or_default();
    let fact = sentences::fact(cause).map(|fact| format!(": {fact}")).unwrap_or_default();
    clean(&format!("{}{confidence}{fact}", cause.primary.display_name()))
}

/// At least one column if there is any task.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most BAR
fn bar_length(count: u64, most: u64, longest: usize) -> usize {
    (count as f64 / most as f64 * longest as f64).ceil() as usize
}

fn seconds(seconds: f64) -> String {
    or_unknown(Millis::from_seconds(seconds).map(|span| span.to_string()))
}

fn percent(share: f64) -> String {
    format!("{} %", three_digits(100.0 * share))
}

fn of(part: u64, whole: u64) -> String {
    let share =
        if whole > 0 { format!(" ({:.0} %)", 100.0 * part as f64 / whole as f64) } else { String::new() };
    format!("{part}{share}")
}

fn or_unknown(value: Option<String>) -> String {
    value.unwrap_or_else(|| UNKNOWN.to_owned())
}

fn counted(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}
