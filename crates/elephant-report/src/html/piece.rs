//! One application, rendered while others are read: its row of the table, its details, and its worst troubles. The ids are
//! filled in at the end, because they depend on the applications before it.

use std::io::{self, Write};

use askama::Template;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::detail::Detail;
use super::links::{Ids, OwnIds, Taken};
use super::{LONG_NAME, filters};
use crate::document::html::escape::escaped;
use crate::parts::{Parts, Reader, filled};
use crate::totals::saved_of_cause;
use crate::words;
use elephant_base::severity::Severity;
use elephant_base::units::{MbMillis, Millis, Timestamp, show_hours};
use elephant_engine::engine::Pieces;
use elephant_engine::fingerprint::JobKey;
use elephant_engine::results::{ApplicationReport, Candidate, CauseTotal, JobGroup, Report, WorstTroubles};
use elephant_verdict::savings::{Amounts, SavingStatus, TroubleSavings};
use elephant_verdict::troubles::Trouble;

/// Less saved run time than this is not shown, as in other formats.
const LEAST_TIME: Millis = Millis::new(100);

/// The data needed to put an application into the page. Its row follows, then its details, then its worst
/// troubles.
#[derive(Serialize, Deserialize)]
struct Head {
    ids: OwnIds,
    /// The application's id.
    id: String,
    group: JobGroup,
    severity: Severity,
    /// The index of the first trouble that has the severity of the application.
    gravest: Option<usize>,
    candidates: Vec<Candidate>,
}

/// The run of a job that has the highest severity.
pub(super) struct WorstRun {
    /// The application's id.
    pub(super) application: String,
    /// The id of the element with its worst trouble.
    pub(super) link: String,
}

/// One application without charts.
pub(crate) fn piece(app: &ApplicationReport) -> io::Result<Vec<u8>> {
    render(app, false)
}

/// Renders only the worst troubles, for an application that is kept: its row and its details are rendered
/// later.
pub(super) fn of_kept(app: &ApplicationReport) -> io::Result<Vec<u8>> {
    render(app, true)
}

fn render(app: &ApplicationReport, is_kept: bool) -> io::Result<Vec<u8>> {
    let candidates = Candidate::of(app);
    let head = Head {
        ids: OwnIds::of(app),
        id: app.id.clone(),
        group: JobGroup::of(app),
        severity: app.severity,
        gravest: app.troubles.iter().position(|trouble| trouble.severity == app.severity),
        candidates,
    };
    let mut parts = Parts::with_head(&head)?;
    let ids = Ids::marks(app);
    let row = if is_kept { String::new() } else { text(&Row { app, ids: &ids })? };
    parts.add(row.as_bytes());
    let has_detail = !is_kept && has_detail(app);
    parts.add(if has_detail { text(&Detail::new(app, &ids))? } else { String::new() }.as_bytes());
    for candidate in &head.candidates {
        let found = app.troubles.get(candidate.trouble).zip(ids.troubles.get(candidate.trouble));
        let item = found.map(|(trouble, id)| text(&Worst { app, trouble, id })).transpose()?;
        parts.add(item.unwrap_or_default().as_bytes());
    }
    Ok(parts.into_bytes())
}

fn text(template: &impl Template) -> io::Result<String> {
    template.render().map_err(io::Error::other)
}

/// Passes all applications with their ids to `take`.
fn each(
    pieces: &mut Pieces,
    mut take: impl FnMut(usize, &Ids, &Head, Reader<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut taken = Taken::default();
    let mut places = 0..;
    pieces.each(|piece| {
        let mut reader = Reader::new(piece);
        let mut head: Head = reader.head()?;
        let place = places.next().unwrap_or(usize::MAX);
        let ids = Ids::of(std::mem::take(&mut head.ids), &mut taken);
        take(place, &ids, &head, reader)
    })
}

/// Writes a text with the ids that its marks stand for.
fn write_with(ids: &Ids, text: &str, out: &mut dyn Write) -> io::Result<()> {
    filled(text, out, |mark, out| out.write_all(ids.of_mark(mark).unwrap_or_default().as_bytes()))
}

/// The `most` worst troubles, rendered, and the worst runs of `jobs`, which have these severities.
pub(super) fn worst(
    report: &Report,
    pieces: &mut Pieces,
    most: usize,
    jobs: &FxHashMap<JobGroup, Severity>,
) -> io::Result<(Vec<String>, FxHashMap<JobGroup, WorstRun>)> {
    let mut worst = WorstTroubles::default();
    pieces.each(|piece| {
        let head: Head = Reader::new(piece).head()?;
        worst.add(&head.candidates);
        Ok(())
    })?;
    let worst = worst.finish(&report.totals.causes, most);
    let mut items = vec![String::new(); worst.len()];
    let mut runs = FxHashMap::default();
    each(pieces, |place, ids, head, reader| {
        if jobs.get(&head.group) == Some(&head.severity) {
            runs.entry(head.group).or_insert_with(|| WorstRun::of(head, ids));
        }
        for (item, worst) in items.iter_mut().zip(&worst).filter(|(_, worst)| worst.place == place) {
            let cause = worst.cause.and_then(|cause| report.totals.causes.get(cause));
            let sum = cause.map(|cause| sum(cause, report)).unwrap_or_default();
            *item = worst_item(ids, worst.number, &sum, reader)?;
        }
        Ok(())
    })?;
    Ok((items, runs))
}

impl WorstRun {
    fn of(head: &Head, ids: &Ids) -> Self {
        let trouble = head.gravest.and_then(|place| ids.troubles.get(place));
        let link = trouble.unwrap_or(&ids.application).clone();
        Self { application: head.id.clone(), link }
    }
}

fn worst_item(ids: &Ids, number: usize, sum: &str, mut reader: Reader<'_>) -> io::Result<String> {
    // The row, the details, and the troubles before.
    for _ in 0..number + 2 {
        reader.next_part()?;
    }
    let mut item = Vec::new();
    filled(reader.next_text()?, &mut item, |mark, out| match mark {
        Worst::SUM => out.write_all(sum.as_bytes()),
        mark => out.write_all(ids.of_mark(mark).unwrap_or_default().as_bytes()),
    })?;
    String::from_utf8(item).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// "The same in 26 other applications; all of them save 2,394 GB·h", as HTML; empty if there are no others.
fn sum(cause: &CauseTotal, report: &Report) -> String {
    let others = cause.applications.saturating_sub(1);
    if others == 0 {
        return String::new();
    }
    let saved = saved_of_cause(&cause.savings, report.currency.as_deref());
    let others = filters::counted(others, "other application");
    escaped(&format!("The same kind of trouble is in {others}; all remedies for it together save {saved}."))
}

/// Writes the rows of the table. The applications in `report` come first; their rows link to their charts,
/// even without findings.
pub(super) fn write_rows(report: &Report, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
    each(pieces, |place, ids, _, mut reader| {
        writeln!(out)?;
        match report.applications.get(place) {
            Some(app) => out.write_all(text(&Row { app, ids })?.as_bytes()),
            None => write_with(ids, reader.next_text()?, out),
        }
    })
}

/// Writes the details. The applications in `report` come first; their details have charts.
pub(super) fn write_details(report: &Report, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
    each(pieces, |place, ids, _, mut reader| {
        if let Some(app) = report.applications.get(place) {
            if has_detail(app) {
                write!(out, "\n{}", text(&Detail::new(app, ids))?)?;
            }
            return Ok(());
        }
        reader.next_part()?;
        let details = reader.next_text()?;
        if !details.is_empty() {
            writeln!(out)?;
        }
        write_with(ids, details, out)
    })
}

/// One of the troubles on the first screen.
#[derive(Template)]
#[template(path = "first.html")]
struct Worst<'a> {
    app: &'a ApplicationReport,
    trouble: &'a Trouble,
    /// The id of the trouble among the details.
    id: &'a str,
}

impl Worst<'_> {
    /// Where the other applications with such a trouble are filled in.
    const SUM: &'static str = "+";

    /// The saving of its remedy.
    fn saves(&self) -> String {
        words::saves(&self.trouble.savings, words::currency(self.app))
    }

    /// The reason why its severity is lower than the severity of its values.
    fn capped(&self) -> Option<String> {
        words::capped(self.app).filter(|_| self.trouble.severity == self.app.severity)
    }
}

/// A row of the table of all applications.
#[derive(Template)]
#[template(path = "row.html")]
struct Row<'a> {
    app: &'a ApplicationReport,
    ids: &'a Ids,
}

impl Row<'_> {
    /// The job that it is a run of, for the filter.
    fn job(&self) -> JobKey {
        self.app.job_key()
    }

    fn started(&self) -> Option<Timestamp> {
        self.app.begun_at()
    }

    fn started_key(&self) -> String {
        self.started().map(|at| at.as_millis().to_string()).unwrap_or_default()
    }

    /// The day on which it started, `2026-11-21`.
    fn day(&self) -> Option<String> {
        self.app.day()
    }

    fn has_detail(&self) -> bool {
        has_detail(self.app)
    }

    /// The savings of all remedies together.
    fn saves(&self) -> Saves {
        let troubles = || self.app.troubles.iter().map(|trouble| &trouble.savings);
        if self.app.troubles.is_empty() {
            return Saves::Nothing;
        }
        if troubles().all(|saved| saved.status == SavingStatus::WithinError) {
            return Saves::WithinError;
        }
        let is_known =
            |saved: &TroubleSavings| saved.status != SavingStatus::WithinError && saved.share.is_some();
        match self.app.savings.as_ref().filter(|_| troubles().any(is_known)) {
            Some(savings) => {
                let (Amounts { wall_ms, gb_hours, .. }, limit) = savings.expected(troubles());
                let shown = |time: f64| Millis::from_f64(time).filter(|time| *time >= LEAST_TIME);
                let (time, limit) = (shown(wall_ms.point), limit.and_then(shown));
                let time = match (time, limit) {
                    (Some(time), Some(limit)) => Some(format!("{time}, up to {limit} more")),
                    (Some(time), None) => Some(time.to_string()),
                    (None, limit) => limit.map(|limit| format!("up to {limit}")),
                };
                let memory = gb_hours.map(|saved| saved.point);
                Saves::Known {
                    key: memory.map(|saved| format!("{saved:.6}")),
                    memory: memory.map(show_hours),
                    time,
                }
            }
            None => Saves::Unknown,
        }
    }

    /// The GB·h by which the table is sorted.
    fn saves_key(&self) -> String {
        match self.saves() {
            Saves::Known { key, .. } => key.unwrap_or_default(),
            Saves::WithinError => "0".to_owned(),
            Saves::Nothing | Saves::Unknown => String::new(),
        }
    }

    /// The ids of the rules that found something, worst first.
    fn rules(&self) -> String {
        let mut rules: Vec<&str> = Vec::new();
        for finding in self.app.findings.iter().filter(|finding| finding.severity > Severity::None) {
            let id = finding.rule.as_ref();
            let cut = id.char_indices().nth(LONG_NAME).and_then(|(end, _)| id.get(..end)).unwrap_or(id);
            if !rules.contains(&cut) {
                rules.push(cut);
            }
        }
        rules.join(", ")
    }
}

/// The savings of the remedies of an application.
enum Saves {
    /// It has no trouble.
    Nothing,
    /// Perhaps nothing: less than the error of the estimate.
    WithinError,
    /// GB·h, if known, as a key and in words, and run time, if any.
    Known {
        key: Option<String>,
        memory: Option<String>,
        time: Option<String>,
    },
    Unknown,
}

/// What is wrong and where, in a few words.
fn title(trouble: &Trouble) -> String {
    words::title(trouble)
}

/// Whether there is more data than the table shows.
fn has_detail(app: &ApplicationReport) -> bool {
    let names = [Some(&app.id), app.name.as_ref(), app.user.as_ref(), app.queue.as_ref()];
    app.charts.is_some()
        || !app.findings.is_empty()
        || !app.suppressed.is_empty()
        || !app.complete
        || names.into_iter().flatten().any(|name| name.chars().count() > LONG_NAME)
}

/// A sort key. It is empty if unknown, so that the script sorts it last.
fn memory_key(amount: Option<&MbMillis>) -> String {
    amount.map(|amount| format!("{:.6}", amount.as_gb_hours())).unwrap_or_default()
}

fn time_key(time: Option<&Millis>) -> String {
    time.map(|time| time.get().to_string()).unwrap_or_default()
}
