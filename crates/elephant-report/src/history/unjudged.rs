//! What could not be judged, and why.

use serde::Serialize;

use super::links::Links;
use super::words;
use crate::document::csv::{self, Column as CsvColumn};
use crate::document::{Block, Column, Media, Row, Section, Table, Value};
use crate::words::plural;
use elephant_base::units::Timestamp;
use elephant_store::{Fleet, Unjudged, UnjudgedRun, UnreadFile};

/// What is said of an application that an earlier version stored.
const UNKNOWN: &str = "its history is incomplete";

/// The applications and the files as tables.
pub(super) fn sections(unjudged: &Unjudged, links: Links) -> [Section<'_>; 2] {
    [applications(unjudged, links), files(unjudged, links)]
}

fn applications(unjudged: &Unjudged, links: Links) -> Section<'_> {
    let title = "Applications that could not be judged";
    let section = Section::new("unjudged", "Applications", title);
    if unjudged.applications.is_empty() {
        return section.with(Block::Lead("Every application could be judged.".to_owned()));
    }
    let columns = [
        Column::text("started", 10),
        Column::key("application", 20, 48).with_end(),
        Column::text("user", 0).only(Media::WIDE),
        Column::text("why", 0).only(Media::WIDE),
        Column::text("history", 0).only(Media::WIDE),
    ];
    let rows = unjudged.applications.iter().map(|run| {
        let why = run.reason.as_deref().unwrap_or(UNKNOWN);
        let cells = [
            run.submitted.into(),
            links.application(run.id.as_str().into(), &run.id).remark(run.name.as_deref().map(Value::from)),
            run.user.as_deref().map_or(Value::Nothing, Value::from).into(),
            Value::words(why).into(),
            run.source.as_str().into(),
        ];
        Row::new(cells).below(why.to_owned()).below(run.source.clone())
    });
    let hidden = words::hidden(unjudged.of, unjudged.applications.len());
    section.with(Block::Table(Table::new(columns, rows).in_order())).hiding(hidden, links.more())
}

fn files(unjudged: &Unjudged, links: Links) -> Section<'_> {
    let section = Section::new("unread", "Not read", "Files that could not be read");
    if unjudged.files.is_empty() {
        return section;
    }
    let columns = [Column::key("file", 20, 60).with_end(), Column::text("problem", 0).only(Media::WIDE)];
    let rows = unjudged.files.iter().map(|file| {
        Row::new([file.file.as_str().into(), Value::words(file.problem.as_str()).into()])
            .below(file.problem.clone())
    });
    let hidden = words::hidden(unjudged.files_of, unjudged.files.len());
    section.with(Block::Table(Table::new(columns, rows).in_order())).hiding(hidden, links.more())
}

/// The problems of files that could not be read, in the overview.
pub(crate) fn unread(fleet: &Fleet, links: Links) -> Section<'_> {
    let section = Section::new("unread", "Not read", "What could not be read");
    if fleet.unread.is_empty() {
        return section;
    }
    let of_store = format!("{} of the store, regardless of the filters.", plural(fleet.unread_of, "file"));
    let columns = [Column::number("files", 0), Column::text("problem", 0), Column::text("for example", 0)];
    let rows = fleet.unread.iter().map(|kind| {
        Row::new([
            kind.files.into(),
            Value::words(kind.problem.as_str()).into(),
            kind.example.as_str().into(),
        ])
    });
    section
        .only(Media::TEXT, Block::Label("files that could not be read".to_owned()))
        .only(Media::TEXT, Block::List(fleet.unread.iter().map(words::unread_kind).collect()))
        .only(Media::MARKDOWN, words::unread(fleet).map(Block::Lead))
        .only(Media::HTML, Block::Note(of_store))
        .only(Media::WIDE, Block::Table(Table::new(columns, rows).in_order()))
        .hiding(fleet.unread_hidden(), links.more())
}

#[derive(Serialize)]
pub(super) struct View<'a> {
    applications_count: u64,
    applications: Vec<RunView<'a>>,
    files_count: u64,
    files: Vec<FileView<'a>>,
}

#[derive(Serialize)]
struct RunView<'a> {
    id: &'a str,
    name: Option<&'a str>,
    user: Option<&'a str>,
    submitted_at: Option<String>,
    source: &'a str,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct FileView<'a> {
    file: &'a str,
    problem: &'a str,
}

/// The same as JSON.
pub(super) fn json(unjudged: &Unjudged) -> View<'_> {
    View {
        applications_count: unjudged.of,
        applications: unjudged.applications.iter().map(view).collect(),
        files_count: unjudged.files_of,
        files: unjudged.files.iter().map(|UnreadFile { file, problem }| FileView { file, problem }).collect(),
    }
}

fn view(run: &UnjudgedRun) -> RunView<'_> {
    RunView {
        id: &run.id,
        name: run.name.as_deref(),
        user: run.user.as_deref(),
        submitted_at: run.submitted.and_then(Timestamp::to_rfc3339),
        source: &run.source,
        reason: run.reason.as_deref(),
    }
}

/// A line of the table for spreadsheets: an application, or a file.
pub(super) enum Line<'a> {
    Application(&'a UnjudgedRun),
    File(&'a UnreadFile),
}

fn columns<'a>() -> [CsvColumn<Line<'a>>; 7] {
    [
        ("what", |line| line.of(|_| "application".into(), |_| "file".into())),
        ("application", |line| line.of(|run| run.id.as_str().into(), |_| Value::Nothing)),
        ("name", |line| line.of(|run| run.name.as_deref().into(), |_| Value::Nothing)),
        ("user", |line| line.of(|run| run.user.as_deref().into(), |_| Value::Nothing)),
        ("submitted_at", |line| line.of(|run| run.submitted.into(), |_| Value::Nothing)),
        ("source", |line| line.of(|run| run.source.as_str().into(), |file| file.file.as_str().into())),
        ("reason", |line| line.of(|run| run.reason.as_deref().into(), |file| file.problem.as_str().into())),
    ]
}

impl Line<'_> {
    fn of<'l>(
        &'l self,
        run: fn(&'l UnjudgedRun) -> Value<'l>,
        file: fn(&'l UnreadFile) -> Value<'l>,
    ) -> Value<'l> {
        match self {
            Self::Application(of) => run(of),
            Self::File(of) => file(of),
        }
    }
}

/// The same as CSV.
pub(super) fn csv(unjudged: &Unjudged, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let applications = unjudged.applications.iter().map(Line::Application);
    let lines: Vec<Line<'_>> = applications.chain(unjudged.files.iter().map(Line::File)).collect();
    csv::write(&columns(), &lines, out)
}
