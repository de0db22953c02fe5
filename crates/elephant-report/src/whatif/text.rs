//! The replays as text: what changes save over all applications, then each job; a table for a single application.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::super::grid::{Cell, Column, Grid, UNKNOWN};
use super::super::text::TextOptions;
use super::super::words::{matching, plural, small};
use super::super::wrap::{clean, fit, lines};
use super::words::Saved;
use super::{shown, words};
use elephant_engine::whatif::{
    ApplicationReplays, Job, Prediction, Range, Replays, Scenario, Total, WhatIfReport,
};

/// Columns for the time that a change saves or adds, with its error.
const DIFFERENCE: usize = 16;
/// Columns of each cost.
const COST: usize = 10;
/// Jobs that are listed without `--top`.
const LISTED: usize = 15;
/// The fewest columns of a job's name.
const NAME: usize = 14;
/// The most columns of a job's name.
const JOB: usize = 46;

pub(super) fn write(
    report: &WhatIfReport,
    options: TextOptions,
    top: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = Page { columns: options.columns, color: options.color };
    if report.applications.len() > 1 || options.summary {
        page.total(report, out)?;
    }
    if options.summary {
        return page.files(report, out);
    }
    // A single application is short, and its table is what the reader asked for.
    if options.details || report.applications.len() == 1 {
        let applications = shown(report, top);
        applications.iter().try_for_each(|app| page.application(app, out))?;
        let hidden = report.applications.len() - applications.len();
        if hidden > 0 {
            writeln!(out, "{} not shown (--top)", plural(hidden as u64, "application"))?;
        }
    } else {
        page.jobs(&report.jobs(), top.unwrap_or(LISTED), out)?;
    }
    page.files(report, out)
}

struct Page {
    columns: usize,
    color: bool,
}

impl Page {
    /// The savings of each change over all applications.
    fn total(&self, report: &WhatIfReport, out: &mut dyn Write) -> io::Result<()> {
        let Total { replayed, recorded, changes } = &report.total;
        let all = plural(report.applications.len() as u64, "application");
        let took = match replayed {
            0 => words::not_replayed(report),
            1 => format!("; it took {recorded}"),
            _ => format!("; they took {recorded}"),
        };
        self.paragraph(&format!("{replayed} of {all} replayed{took}"), out)?;
        let changes = if *replayed > 0 { words::totals(changes) } else { Vec::new() };
        for text in changes {
            for (place, line) in lines(&text, self.columns.saturating_sub(4)).iter().enumerate() {
                writeln!(out, "{}{line}", if place == 0 { "  " } else { "    " })?;
            }
        }
        writeln!(out)
    }

    /// A row for each job: how long its runs took, what the best change saves, and in which run most.
    fn jobs(&self, jobs: &[Job<'_>], most: usize, out: &mut dyn Write) -> io::Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let names = Column::key("Jobs", NAME, JOB);
        let columns = [names, Column::number("took", 9), Column::number("saves", DIFFERENCE)];
        let bold = if self.color { Style::new().bold() } else { Style::new() };
        let mut grid = Grid::new(2, columns).heading(bold);
        for job in jobs.iter().take(most) {
            let runs = match job.runs.len() as u64 {
                1 => String::new(),
                runs => format!(" ({})", plural(runs, "run")),
            };
            let took =
                if job.total.replayed > 0 { job.total.recorded.to_string() } else { UNKNOWN.to_owned() };
            let saves = job.total.best().map_or_else(|| UNKNOWN.to_owned(), words::saved);
            grid.row([format!("{}{runs}", clean(job.name())).into(), took.into(), saves.into()]);
            grid.note(4, clean(&words::of_job(job)));
        }
        grid.write(self.columns, out)?;
        if let Some(more) = jobs.len().checked_sub(most).filter(|&more| more > 0) {
            writeln!(out, "  {} (--top, --details)", plural(more as u64, "more job"))?;
        }
        writeln!(out)?;
        self.paragraph("All changes of each application: --details", out)?;
        writeln!(out)
    }

    fn files(&self, report: &WhatIfReport, out: &mut dyn Write) -> io::Result<()> {
        let files = &report.files;
        let text = format!(
            "{} read, {} skipped, {} failed · {}",
            plural(files.files_analysed, "file"),
            files.files_skipped,
            files.files_failed,
            matching(files)
        );
        self.paragraph(&text, out)
    }

    fn paragraph(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        lines(text, self.columns).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    fn application(&self, app: &ApplicationReplays, out: &mut dyn Write) -> io::Result<()> {
        let bold = if self.color { Style::new().bold() } else { Style::new() };
        let name = app.name.as_deref().map(|name| format!(" · {}", clean(name))).unwrap_or_default();
        let title = fit(&format!("{}{name}", clean(&app.id)), self.columns);
        writeln!(out, "{bold}{title}{bold:#}")?;
        match &app.replays {
            Ok(replays) => self.replays(replays, out)?,
            Err(unknown) => self.paragraph(&format!("cannot be replayed: {}", clean(unknown)), out)?,
        }
        writeln!(out)
    }

    fn replays(&self, replays: &Replays, out: &mut dyn Write) -> io::Result<()> {
        let Replays { recorded, replayed, residual_percent, slots, .. } = replays;
        // Zero has no sign.
        let residual = match format!("{residual_percent:+.1}") {
            text if matches!(text.as_str(), "+0.0" | "-0.0") => "0.0".to_owned(),
            text => text,
        };
        let facts = format!(
            "took {recorded}; replayed {replayed} ({residual} %) on {}; {}",
            plural(u64::from(*slots), "slot"),
            words::bounds(replays).join(", ")
        );
        self.paragraph(&facts, out)?;
        self.path(replays, out)?;
        self.scenarios(&replays.scenarios, out)
    }

    /// The longest stages on the critical path.
    fn path(&self, replays: &Replays, out: &mut dyn Write) -> io::Result<()> {
        let stage = |stage: &elephant_engine::whatif::PathStage| {
            format!("{} {}", clean(&words::stage(stage)), stage.time)
        };
        let stages: Vec<String> = replays.path.iter().map(stage).collect();
        if stages.is_empty() {
            return Ok(());
        }
        self.paragraph(&format!("{}: {}", words::PATH, stages.join(", ")), out)
    }

    fn scenarios(&self, scenarios: &[Scenario], out: &mut dyn Write) -> io::Result<()> {
        let mut grid = Grid::new(
            2,
            [
                Column::key("with", 16, usize::MAX).wrapped(),
                Column::number("takes", 8),
                Column::number("difference", DIFFERENCE).named(""),
                Column::number("core-hours", COST),
                Column::number("GB·h", COST),
            ],
        );
        for scenario in scenarios {
            let name = Cell::from(words::change(scenario));
            match &scenario.prediction {
                Ok(prediction) => {
                    grid.row(self.row(name, prediction));
                    if let Some(note) = words::note(&scenario.change) {
                        grid.note(4, note.to_owned());
                    }
                }
                Err(unknown) => {
                    grid.row([name]);
                    grid.note(4, format!("unknown: {}", clean(unknown)));
                }
            }
        }
        grid.write(self.columns, out)
    }

    fn row(&self, name: Cell, prediction: &Prediction) -> [Cell; 5] {
        let takes = words::takes(prediction);
        let (text, style) = match Saved::of(prediction) {
            Saved::Nothing => ("no change".to_owned(), Style::new()),
            Saved::WithinError => ("within the error".to_owned(), Style::new()),
            Saved::Less(time) => (format!("{time} shorter"), AnsiColor::Green.on_default()),
            Saved::More(time) => (format!("{time} longer"), AnsiColor::Red.on_default()),
        };
        let style = if self.color { style } else { Style::new() };
        let cost =
            |amount: Option<Range>| amount.map_or_else(|| UNKNOWN.to_owned(), |range| small(range.point));
        let (cores, memory) = (cost(prediction.takes.core_hours), cost(prediction.takes.gb_hours));
        [name, takes.into(), Cell::styled(text, style), cores.into(), memory.into()]
    }
}
