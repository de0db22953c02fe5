//! Jobs as text: a number and a heading for each, with the run that comes first; later jobs get two lines each.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::piece::Piece;
use super::{INDENT, TextOptions};
use crate::totals::{saved_by_all, saved_first};
use crate::words::{plural, taken};
use crate::wrap::{clean, fit, fit_words, lines, width};
use elephant_base::severity::Severity;
use elephant_engine::results::{JobTotal, Report};
use elephant_verdict::savings::Sums;

/// The jobs that are shown with their troubles, without `--top`.
const FULL: usize = 10;
/// The jobs after them that are shown in two lines each.
const BRIEF: usize = 20;
/// Columns of the text with a job's saving, and of the blanks after it.
const SAVING: usize = 24;
/// With fewer columns for a name, the id and the name get a line of their own.
const LEAST_NAME: usize = 12;
/// The jobs whose first changes are repeated at the end.
const CHANGES: usize = 3;
/// The kinds of trouble that are listed for all runs of a job.
const KINDS: usize = 4;

/// Writes applications in the order of their jobs.
pub(super) struct Jobs<'a> {
    totals: &'a [JobTotal],
    currency: Option<&'a str>,
    options: TextOptions,
    /// Jobs with findings so far.
    number: usize,
    /// The place of the job that the last application belongs to.
    place: Option<usize>,
    /// Whether a line has been written for jobs that get two lines each.
    brief: bool,
    seen: Seen,
    /// The ids shown so far. A history that was copied has the id of the original.
    ids: BTreeSet<String>,
    /// What to change in the first jobs.
    first: Vec<First>,
    out: &'a mut dyn Write,
}

/// Counts of applications and jobs that were not shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    /// Applications without findings.
    pub(super) quiet: u64,
    /// Jobs with findings beyond the last one shown.
    pub(super) jobs_left_out: u64,
}

impl<'a> Jobs<'a> {
    pub(super) fn new(report: &'a Report, options: TextOptions, out: &'a mut dyn Write) -> Self {
        let (totals, currency) = (report.totals.jobs.as_slice(), report.currency.as_deref());
        Self {
            totals,
            currency,
            options,
            number: 0,
            place: None,
            brief: false,
            seen: Seen::default(),
            ids: BTreeSet::new(),
            first: Vec::new(),
            out,
        }
    }

    /// Writes an application of the job at `place`. The worst run of a job comes first; the others are only written with
    /// all details.
    pub(super) fn take(&mut self, place: usize, piece: &[u8]) -> io::Result<()> {
        let Some(piece) = Piece::parse(piece) else {
            self.seen.quiet += 1;
            return Ok(());
        };
        let is_first = self.place != Some(place);
        self.place = Some(place);
        if is_first {
            self.number += 1;
        }
        let job = self.totals.get(place).filter(|job| job.runs > 1);
        let TextOptions { details, jobs, .. } = self.options;
        if details || self.number <= jobs.unwrap_or(FULL) {
            match job {
                Some(job) if is_first => {
                    self.job(job, &piece)?;
                    self.run(&piece)?;
                }
                None if is_first => self.single(&piece)?,
                _ if details => self.run(&piece)?,
                _ => return Ok(()),
            }
            self.ids.insert(piece.id.to_owned());
            if is_first {
                self.first.extend(First::of(&piece, job).filter(|_| self.number <= CHANGES));
            }
            self.out.write_all(piece.body.as_bytes())?;
            writeln!(self.out)
        } else if !is_first {
            Ok(())
        } else if jobs.is_none() && self.number <= FULL + BRIEF {
            self.brief(self.totals.get(place), &piece)
        } else {
            self.seen.jobs_left_out += 1;
            Ok(())
        }
    }

    pub(super) fn finish(self) -> io::Result<Seen> {
        if self.brief {
            writeln!(self.out)?;
        }
        if self.number > 1 {
            change_first(&self.first, self.options.columns, self.out)?;
        }
        Ok(self.seen)
    }

    /// An application that is the only run of its job. It has a number only if there are others.
    fn single(&mut self, piece: &Piece<'_>) -> io::Result<()> {
        let verdict = self.verdict(piece);
        let number = self.numbered();
        let known = if piece.name.is_empty() { piece.id } else { piece.name };
        let who = if piece.who.is_empty() { String::new() } else { format!(" · {}", piece.who) };
        let room = self.options.columns.saturating_sub(width(&number) + width(&verdict) + 2);
        let name = fit(known, room.saturating_sub(width(&who)).max(LEAST_NAME));
        self.heading(&fit(&format!("{number}{name}{who}"), room + width(&number)), piece.severity, &verdict)?;
        self.origin(piece, piece.name.is_empty())
    }

    /// The id and the log's path, each of them once.
    fn origin(&mut self, piece: &Piece<'_>, has_id: bool) -> io::Result<()> {
        let has_id = has_id || piece.source.contains(piece.id);
        match (has_id, piece.source) {
            (true, "") => Ok(()),
            (true, source) => self.paragraph(source),
            (false, "") => self.paragraph(piece.id),
            (false, source) => self.paragraph(&format!("{} · {source}", piece.id)),
        }
    }

    /// A job with several runs, and what they have in common.
    fn job(&mut self, job: &JobTotal, piece: &Piece<'_>) -> io::Result<()> {
        let number = self.numbered();
        let verdict = job.severity.name().to_uppercase();
        let room = self.options.columns.saturating_sub(width(&number) + width(&verdict) + 2);
        let name = fit(piece.name, room);
        self.heading(&format!("{number}{name}"), job.severity, &verdict)?;
        let mut facts = vec![plural(job.runs, "run")];
        if job.runs_with_findings < job.runs {
            facts.push(format!("{} with findings", job.runs_with_findings));
        }
        facts.push(format!("last {}", clean(&job.last)));
        self.paragraph(&facts.join(", "))?;
        if let Some(worst) = worst_run(job, piece, &self.ids) {
            self.paragraph(&worst)?;
        }
        let kinds =
            (job.troubles.iter().take(KINDS)).map(|(kind, runs)| format!("{} in {runs}", kind.words()));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        if job.savings.estimated_count > 0 {
            let amount = saved_by_all(&job.savings, self.currency);
            let more = taken(job.savings.more_gb_hours());
            let more = more.map(|more| format!(", but take {more} more")).unwrap_or_default();
            self.paragraph(&format!("all runs: the remedies save {amount}{more} · {kinds}"))?;
        } else if !kinds.is_empty() {
            self.paragraph(&format!("all runs: {kinds}"))?;
        }
        writeln!(self.out)
    }

    /// One run of a job.
    fn run(&mut self, piece: &Piece<'_>) -> io::Result<()> {
        let verdict = self.verdict(piece);
        let room = self.options.columns.saturating_sub(INDENT + width(piece.id) + width(&verdict) + 4);
        let name = if self.options.details { fit(piece.name, room) } else { fit(piece.lead, room) };
        let heading = format!("{}{}  {name}", " ".repeat(INDENT), piece.id);
        self.heading(&heading, piece.severity, &verdict)?;
        self.origin(piece, true)
    }

    /// `11  saves 2.9 GB·h   application_1_0042  nightly (30 runs)    SEVERE`, and below it the trouble with its remedy.
    fn brief(&mut self, total: Option<&JobTotal>, piece: &Piece<'_>) -> io::Result<()> {
        self.brief = true;
        let job = total.filter(|job| job.runs > 1);
        let runs = job.map(|job| format!(" ({})", plural(job.runs, "run"))).unwrap_or_default();
        let severity = job.map_or(piece.severity, |job| job.severity);
        let verdict = severity.name().to_uppercase();
        let saving = total.map(|job| self.saving(job)).unwrap_or_default();
        let start = format!("{}{saving}", self.numbered());
        let blanks = (INDENT + SAVING).saturating_sub(width(&start)).max(2);
        let start = format!("{start}{}", " ".repeat(blanks));
        let room = self.options.columns.saturating_sub(width(&start) + width(&verdict) + 2);
        let named = |room: usize| {
            let rest = room.saturating_sub(width(piece.id) + 2 + width(&runs));
            format!("{}  {}{runs}", piece.id, fit(piece.name, rest))
        };
        if room < width(piece.id) + LEAST_NAME {
            // A narrow terminal: the id has a line of its own.
            self.heading(&start, severity, &verdict)?;
            let room = self.options.columns.saturating_sub(INDENT);
            self.paragraph(named(room).trim_end())?;
        } else {
            self.heading(&format!("{start}{}", named(room)), severity, &verdict)?;
        }
        for line in with_remedy(piece, self.options.columns.saturating_sub(INDENT)) {
            writeln!(self.out, "{:INDENT$}{line}", "")?;
        }
        match job.and_then(|job| worst_run(job, piece, &self.ids)) {
            Some(worst) => self.paragraph(&worst),
            None => Ok(()),
        }
    }

    /// "saves 2.9 GB·h", over all runs of a job.
    fn saving(&self, job: &JobTotal) -> String {
        let Sums { estimated_count, unknown_count, .. } = job.savings;
        if estimated_count > 0 {
            return format!("saves {}", saved_first(&job.savings, self.currency));
        }
        let text = if unknown_count > 0 { "saving unknown" } else { "saves little" };
        text.to_owned()
    }

    fn numbered(&self) -> String {
        if self.totals.len() > 1 { format!("{:>2}  ", self.number) } else { String::new() }
    }

    /// The severity; with all details also the score of Dr. Elephant.
    fn verdict(&self, piece: &Piece<'_>) -> String {
        let level = piece.severity.name().to_uppercase();
        if self.options.details { format!("{level}  score {}", piece.score) } else { level }
    }

    fn heading(&mut self, text: &str, severity: Severity, verdict: &str) -> io::Result<()> {
        let TextOptions { columns, .. } = self.options;
        let style = self.options.style(severity);
        let text = text.trim_end();
        let blanks = columns.saturating_sub(width(text) + width(verdict));
        if blanks < 2 {
            // A narrow terminal: the severity has a line of its own.
            writeln!(self.out, "{text}")?;
            let blanks = columns.saturating_sub(width(verdict));
            return writeln!(self.out, "{:blanks$}{style}{verdict}{style:#}", "");
        }
        writeln!(self.out, "{text}{:blanks$}{style}{verdict}{style:#}", "")
    }

    fn paragraph(&mut self, text: &str) -> io::Result<()> {
        let indent = " ".repeat(INDENT);
        let room = self.options.columns.saturating_sub(INDENT);
        lines(text, room).iter().try_for_each(|line| writeln!(self.out, "{indent}{line}"))
    }
}

/// The first trouble of a job, with its remedy.
struct First {
    what: String,
    saves: String,
    remedy: String,
}

impl First {
    /// `None` if there is nothing to change.
    fn of(piece: &Piece<'_>, job: Option<&JobTotal>) -> Option<Self> {
        let name = job.and_then(|job| job.name.as_deref()).unwrap_or(piece.name);
        let name = if name.is_empty() { piece.id.to_owned() } else { clean(name) };
        (!piece.remedy.is_empty()).then(|| Self {
            what: format!("{name}: {}", piece.headline),
            saves: piece.saves.to_owned(),
            remedy: piece.remedy.to_owned(),
        })
    }
}

/// Repeats what saves most at the end, because the start of a long report is out of sight by then.
fn change_first(all: &[First], columns: usize, out: &mut dyn Write) -> io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "Change first")?;
    let room = columns.saturating_sub(2);
    for First { what, saves, remedy } in all {
        let what = fit(what, room.saturating_sub(width(saves) + 2));
        let blanks = room.saturating_sub(width(&what) + width(saves));
        writeln!(out, "  {what}{:blanks$}{saves}", "")?;
        for (place, line) in lines(remedy, room.saturating_sub(4)).iter().enumerate() {
            writeln!(out, "    {} {line}", if place == 0 { "→" } else { " " })?;
        }
    }
    writeln!(out)
}

/// "critical: app-7, Mapper Skew (map)": the run with the severity of its job; `None` if the shown run has
/// it. Names the run's file if ids are not unique.
fn worst_run(job: &JobTotal, shown: &Piece<'_>, ids: &BTreeSet<String>) -> Option<String> {
    let worst = job.worst.as_ref().filter(|_| shown.severity < job.severity)?;
    let is_ambiguous = shown.id == worst.id() || ids.contains(worst.id());
    let name = worst.source().filter(|_| is_ambiguous).unwrap_or(worst.id());
    Some(format!("{}: {}, {}", job.severity, clean(name), clean(worst.finding())))
}

/// The trouble and its remedy in one line if both fit, otherwise in a line each; both are cut to whole words.
fn with_remedy(piece: &Piece<'_>, room: usize) -> Vec<String> {
    let whole = format!("{} → {}", piece.headline, piece.remedy);
    match (piece.headline, piece.remedy) {
        ("", "") => Vec::new(),
        (headline, "") => vec![fit_words(headline, room)],
        _ if width(&whole) <= room => vec![whole],
        (headline, remedy) => {
            let rest = room.saturating_sub(4);
            let short = fit_words(remedy, rest);
            // Settings are never cut, because a cut setting is not valid, and settings that belong together
            // are shown together.
            let is_settings = remedy.starts_with("--conf ") || remedy.starts_with("-D ");
            let is_cut = short.is_empty() || is_settings && short != remedy;
            let parts = if is_cut { lines(remedy, rest) } else { vec![short] };
            let arrow = |place: usize| if place == 0 { "→" } else { " " };
            let parts = parts.iter().enumerate().map(|(place, line)| format!("  {} {line}", arrow(place)));
            std::iter::once(fit_words(headline, room)).chain(parts).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_remedy() {
        let piece = |headline, remedy| Piece {
            severity: Severity::Low,
            score: "0",
            id: "app-1",
            name: "etl",
            who: "",
            saves: "",
            headline,
            remedy,
            lead: "",
            source: "",
            body: "",
        };
        let long = "Skew: a task of stage 4.0 reads 23.9 MiB of shuffle data, 53.6× the median of its group";
        let rows = |headline, remedy, room| with_remedy(&piece(headline, remedy), room);
        assert_eq!(rows("Spill: x", "--conf a=b", 40), ["Spill: x → --conf a=b"]);
        let lines = rows(long, "--conf spark.executor.memory=3g", 50);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(lines[1], "  → --conf spark.executor.memory=3g");
        for room in [36, 56, 76, 116] {
            let lines = rows(long, long, room);
            assert!(lines.iter().all(|line| width(line) <= room), "{lines:?}");
            assert!(lines.iter().any(|line| line.contains('→')), "{lines:?}");
        }
        assert_eq!(rows(long, "", 30).len(), 1);
        let both = "--conf spark.dynamicAllocation.enabled=true --conf spark.dynamicAllocation.shuffleTracking.enabled=true";
        let shown = rows(long, both, 76).join(" ");
        assert!(shown.contains("shuffleTracking.enabled=true") && !shown.ends_with('…'), "{shown}");
    }
}
