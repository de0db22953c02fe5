//! The differences as text: which jobs changed most, then for each costs, findings, settings and phases.

mod overview;

use std::io::{self, Write};

use super::super::grid::{Column, Grid};
use super::super::text::TextOptions;
use super::super::words::plural;
use super::super::wrap::{clean, fit, lines, width};
use super::words::{
    PHASES_BY, by_job, change, details, label as move_label, largest_differences, run_times, setting,
    severity, value,
};
use elephant_base::severity::Severity;
use elephant_engine::diff::{Configuration, Diff, Figure, FindingPair, Label, Move, Pair, PhasePair};

/// The fewest columns of a name.
const NAME: usize = 12;
/// Columns of each value.
const NUMBER: usize = 14;
/// Columns of a change.
const CHANGE: usize = 10;
/// Changed jobs, and runs of one side, that are listed without details.
const LISTED: usize = 20;
/// Changed jobs whose most changed pair is shown with all tables, without details.
const TABLES: usize = 3;
/// Columns before text that belongs to the label of a finding.
const BELOW_LABEL: usize = 14;
/// In narrower terminals, the text continues below its label.
const WIDE: usize = 60;
/// Maximum width of a setting's value.
const VALUE: usize = 200;

pub(super) fn write(diff: &Diff, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page { columns: options.columns, options, out };
    if options.summary {
        return page.answer(diff);
    }
    if let [pair] = diff.pairs.as_slice() {
        page.paragraph(0, &run_times(pair))?;
        writeln!(page.out)?;
        page.pair(pair)?;
    } else {
        let jobs = diff.jobs();
        page.overview(diff, &jobs)?;
        let shown: Vec<&Pair> = if options.details {
            jobs.iter().take(page.most(usize::MAX)).flat_map(|job| job.changed.iter().copied()).collect()
        } else {
            jobs.iter().take(page.most(TABLES)).filter_map(|job| job.changed.first().copied()).collect()
        };
        shown.into_iter().try_for_each(|pair| page.pair(pair))?;
    }
    page.only_in("A", &diff.only_a)?;
    page.only_in("B", &diff.only_b)?;
    Ok(())
}

struct Page<'a> {
    columns: usize,
    options: TextOptions,
    out: &'a mut dyn Write,
}

impl Page<'_> {
    /// How many jobs are shown: the number that was asked for, or all with details.
    fn most(&self, usual: usize) -> usize {
        self.options.jobs.unwrap_or(if self.options.details { usize::MAX } else { usual })
    }

    fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    fn pair(&mut self, pair: &Pair) -> io::Result<()> {
        let title = if pair.a.job == pair.b.job {
            clean(&pair.a.job)
        } else {
            format!("{} and {}", clean(&pair.a.job), clean(&pair.b.job))
        };
        writeln!(self.out, "{}", fit(&title, self.columns))?;
        self.paragraph(2, &label("A", &pair.a))?;
        self.paragraph(2, &label("B", &pair.b))?;
        for note in &pair.notes {
            self.paragraph(2, &format!("note: {}", clean(note)))?;
        }
        writeln!(self.out)?;
        let mut grid = self.grid("");
        for figure in &pair.figures {
            let (a, b) = (value(figure.unit, figure.a), value(figure.unit, figure.b));
            grid.row([clean(&figure.name).into(), a.into(), b.into(), change(figure).into()]);
        }
        grid.write(self.columns, self.out)?;
        writeln!(self.out)?;
        self.findings(&pair.findings)?;
        if let Some(configuration) = &pair.configuration {
            self.settings(configuration)?;
        }
        match pair.phases.as_ref().filter(|phases| !phases.is_empty()) {
            Some(phases) => self.phases(phases),
            None => Ok(()),
        }
    }

    /// A table of values on both sides, as wide as the terminal.
    fn grid(&self, title: &str) -> Grid {
        let room = self.columns.saturating_sub(2 + 2 * NUMBER + CHANGE);
        let number = |title: &str, columns: usize| Column::number(title, columns.saturating_sub(1));
        let names = Column::key(title, room.max(NAME), usize::MAX);
        Grid::new(2, [names, number("A", NUMBER), number("B", NUMBER), number("change", CHANGE)])
    }

    fn phases(&mut self, phases: &[PhasePair]) -> io::Result<()> {
        writeln!(self.out, "  {PHASES_BY}")?;
        let (shown, left_out) = largest_differences(phases);
        let mut grid = self.grid("");
        for phase in shown {
            let name = self.phase_name(&phase.key);
            let duration = phase.figures.iter().find(|figure| figure.key == "duration_ms");
            let shown = |pick: fn(&Figure) -> Option<f64>| {
                duration.map(|figure| value(figure.unit, pick(figure))).unwrap_or_default()
            };
            let change = match (&phase.a, &phase.b) {
                (Some(_), None) => "only in A".to_owned(),
                (None, Some(_)) => "only in B".to_owned(),
                _ => duration.map(change).unwrap_or_default(),
            };
            let (a, b) = (shown(|figure| figure.a), shown(|figure| figure.b));
            grid.row([name.into(), a.into(), b.into(), change.into()]);
            let details = details(phase);
            if !details.is_empty() {
                grid.note(6, details);
            }
        }
        grid.write(self.columns, self.out)?;
        if left_out > 0 {
            let what = plural(left_out as u64, "more phase");
            self.paragraph(4, &format!("… and {what} that differ less; --format json has all"))?;
        }
        writeln!(self.out)
    }

    /// The name of a phase. If it is too long, the part after the quoted name stays, because it distinguishes
    /// phases with the same name.
    fn phase_name(&self, key: &str) -> String {
        let key = clean(key.strip_prefix("stage ").unwrap_or(key));
        let (name, place) = key.rsplit_once("\" ").unwrap_or((&key, ""));
        let room = self.columns.saturating_sub(3 + 2 * NUMBER + CHANGE);
        let room = if room < NAME { self.columns.saturating_sub(4) } else { room };
        if place.is_empty() || width(&key) <= room {
            return key;
        }
        format!("{}\" {place}", fit(name, room.saturating_sub(width(place) + 2)))
    }

    fn settings(&mut self, configuration: &Configuration) -> io::Result<()> {
        let left_out = configuration.left_out;
        if configuration.settings.is_empty() && left_out == 0 {
            return writeln!(self.out, "  settings: all the same\n");
        }
        writeln!(self.out, "  settings")?;
        for item in &configuration.settings {
            let name = clean(&item.name);
            let show = |value: &str| fit(&clean(value), VALUE);
            let line = match setting(item) {
                (None, Some(b)) => format!("+ {name} = {}", show(b)),
                (Some(a), None) => format!("- {name} = {}", show(a)),
                (a, b) => {
                    let show = |value: Option<&str>| value.map(show).unwrap_or_default();
                    format!("~ {name}: {} → {}", show(a), show(b))
                }
            };
            self.hanging(4, &line)?;
        }
        if left_out > 0 {
            let what = plural(left_out as u64, "more setting");
            let text =
                format!("… {what} with ids, ports or folders of a run; --all-configuration shows them");
            self.paragraph(4, &text)?;
        }
        writeln!(self.out)
    }

    fn findings(&mut self, findings: &[FindingPair]) -> io::Result<()> {
        let moved: Vec<_> = findings.iter().filter(|pair| pair.moved != Move::Same).collect();
        let same = findings.len() - moved.len();
        if moved.is_empty() {
            let what = if same == 0 { "none".to_owned() } else { format!("the same {same} on both sides") };
            return writeln!(self.out, "  findings: {what}\n");
        }
        writeln!(self.out, "  findings")?;
        for pair in moved {
            let label = move_label(pair.moved);
            let worst = pair.b.or(pair.a).unwrap_or(Severity::None);
            let style = self.options.style(worst);
            let head = format!("{} ({}), {}", clean(&pair.rule), clean(&pair.subject), severity(pair));
            let indent = if self.columns < WIDE { 6 } else { BELOW_LABEL };
            if indent < BELOW_LABEL {
                writeln!(self.out, "    {style}{label}{style:#}")?;
                self.paragraph(indent, &head)?;
            } else {
                for (index, line) in lines(&head, self.columns.saturating_sub(indent)).iter().enumerate() {
                    match index {
                        0 => writeln!(self.out, "    {style}{label:<8}{style:#}  {line}")?,
                        _ => writeln!(self.out, "{:indent$}{line}", "")?,
                    }
                }
            }
            if let Some(reason) = &pair.reason {
                self.paragraph(indent, &clean(reason))?;
            }
            self.paragraph(indent, &clean(&pair.message))?;
        }
        if same > 0 {
            writeln!(self.out, "    SAME      {}", plural(same as u64, "finding"))?;
        }
        writeln!(self.out)
    }

    /// A line for each job, with its only run or the number of its runs; with details, all runs.
    fn only_in(&mut self, side: &str, labels: &[Label]) -> io::Result<()> {
        if labels.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "only in {side}")?;
        let jobs = by_job(labels);
        let most = if self.options.details { usize::MAX } else { LISTED };
        for runs in jobs.iter().take(most) {
            let Some(first) = runs.first() else { continue };
            let several = runs.len() > 1 && !self.options.details;
            let shown = if several { runs.get(..1).unwrap_or_default() } else { runs };
            for run in shown {
                let count = if several {
                    format!("{}, the first ", plural(runs.len() as u64, "run"))
                } else {
                    String::new()
                };
                let rest = format!(": {count}{}", clean(&run.id));
                let room = self.columns.saturating_sub(2 + width(&rest)).max(NAME);
                self.paragraph(2, &format!("{}{rest}", fit(&clean(&first.job), room)))?;
            }
        }
        if let Some(left_out) = jobs.get(most..).filter(|jobs| !jobs.is_empty()) {
            let runs: usize = left_out.iter().map(Vec::len).sum();
            let (jobs, runs) = (plural(left_out.len() as u64, "more job"), plural(runs as u64, "run"));
            self.paragraph(2, &format!("… and {jobs} ({runs}; --details)"))?;
        }
        writeln!(self.out)
    }

    fn hanging(&mut self, indent: usize, text: &str) -> io::Result<()> {
        for (index, line) in lines(text, self.columns.saturating_sub(indent + 4)).iter().enumerate() {
            let blanks = " ".repeat(if index == 0 { indent } else { indent + 4 });
            writeln!(self.out, "{blanks}{line}")?;
        }
        Ok(())
    }

    fn paragraph(&mut self, indent: usize, text: &str) -> io::Result<()> {
        let blanks = " ".repeat(indent);
        let room = self.columns.saturating_sub(indent);
        lines(text, room).iter().try_for_each(|line| writeln!(self.out, "{blanks}{line}"))
    }
}

/// "A: app-1, nightly sales, succeeded, 2026-11-20T…".
fn label(side: &str, label: &Label) -> String {
    let name = label.name.as_deref().map(clean);
    let parts =
        [Some(clean(&label.id)), name, Some(clean(&label.status)), label.started_at.as_deref().map(clean)];
    format!("{side}: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}
