//! Queries and operators as CSV: one row for each. Scripts rely on titles and their order, so add columns at the end.

use std::io::{self, Write};

use crate::document::Value;
use crate::document::csv::{Column, row, titles};
use elephant_base::units::Bytes;
use elephant_engine::engine::Pieces;
use elephant_engine::results::{ApplicationReport, Report};
use elephant_model::model::spark::StageAttempt;
use elephant_query::{OperatorSummary, QuerySummary};
use elephant_verdict::charts::{findings_at, findings_on};

/// A table about the queries of applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// A row for each query.
    Queries,
    /// A row for each operator.
    Operators,
}

struct QueryRow<'a> {
    app: &'a ApplicationReport,
    query: &'a QuerySummary,
}

struct OperatorRow<'a> {
    app: &'a ApplicationReport,
    query: &'a QuerySummary,
    operator: &'a OperatorSummary,
}

const fn query_columns<'q>() -> [Column<QueryRow<'q>>; 23] {
    [
        ("application", |row| row.app.id.as_str().into()),
        ("attempt", |row| row.app.attempt.as_deref().into()),
        ("source", |row| source(row.app)),
        ("query", |row| row.query.id.into()),
        ("root_query", |row| row.query.root.into()),
        ("name", |row| row.query.name.as_str().into()),
        ("started_at", |row| row.query.started_at.into()),
        ("wall_ms", |row| row.query.wall.map(|wall| wall.total).into()),
        ("wall_ratio", |row| row.query.share.into()),
        ("planning_ms", |row| row.query.wall.map(|wall| wall.planning).into()),
        ("jobs_ms", |row| row.query.wall.map(|wall| wall.jobs).into()),
        ("between_jobs_ms", |row| row.query.wall.map(|wall| wall.gaps).into()),
        ("after_jobs_ms", |row| row.query.wall.map(|wall| wall.after).into()),
        ("task_time_ms", |row| row.query.task_time.into()),
        ("operators_time_ms", |row| row.query.explained.into()),
        ("input_bytes", |row| row.query.input.map(Bytes::get).into()),
        ("shuffle_write_bytes", |row| row.query.shuffled.map(Bytes::get).into()),
        ("spilled_bytes", |row| row.query.spilled.map(Bytes::get).into()),
        ("output_bytes", |row| row.query.output.map(Bytes::get).into()),
        ("stages_count", |row| row.query.stages.len().into()),
        ("stages", |row| stages(&row.query.stages)),
        ("findings", |row| rules(row.app, &findings_on(row.query, &row.app.findings))),
        ("error", |row| row.query.error.as_deref().into()),
    ]
}

const fn operator_columns<'q>() -> [Column<OperatorRow<'q>>; 17] {
    [
        ("application", |row| row.app.id.as_str().into()),
        ("attempt", |row| row.app.attempt.as_deref().into()),
        ("source", |row| source(row.app)),
        ("query", |row| row.query.id.into()),
        ("operator", |row| row.operator.place.into()),
        ("parent", |row| row.operator.parent.into()),
        ("repeats", |row| row.operator.repeats.into()),
        ("name", |row| row.operator.name.as_str().into()),
        ("text", |row| row.operator.text.as_str().into()),
        ("replaced", |row| (!row.operator.is_last).into()),
        ("time_ms", |row| row.operator.time.into()),
        ("time_ratio", |row| row.operator.share.into()),
        ("rows_count", |row| row.operator.rows.into()),
        ("bytes", |row| row.operator.bytes.map(Bytes::get).into()),
        ("spilled_bytes", |row| row.operator.spilled.map(Bytes::get).into()),
        ("stages", |row| stages(&row.operator.stages)),
        ("findings", |row| rules(row.app, &findings_at(row.query.id, row.operator.place, &row.app.findings))),
    ]
}

impl Table {
    pub(crate) fn write(self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.head(out)?;
        report.applications.iter().try_for_each(|app| self.piece(app, out))
    }

    /// The rows of one application.
    pub(crate) fn piece(self, app: &ApplicationReport, out: &mut dyn Write) -> io::Result<()> {
        for query in &app.queries {
            match self {
                Self::Queries => writeln!(out, "{}", row(&query_columns(), &QueryRow { app, query }))?,
                Self::Operators => {
                    for operator in &query.operators {
                        let item = OperatorRow { app, query, operator };
                        writeln!(out, "{}", row(&operator_columns(), &item))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the report with the rows of all applications.
    pub(crate) fn write_pieces(self, mut pieces: Pieces, out: &mut dyn Write) -> io::Result<()> {
        self.head(out)?;
        pieces.each(|piece| out.write_all(piece))
    }

    fn head(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Queries => writeln!(out, "{}", titles(&query_columns())),
            Self::Operators => writeln!(out, "{}", titles(&operator_columns())),
        }
    }
}

fn source(app: &ApplicationReport) -> Value<'_> {
    app.sources.first().map(String::as_str).into()
}

fn stages(stages: &[StageAttempt]) -> Value<'static> {
    stages.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ").into()
}

/// The ids of the rules of some findings, each once.
fn rules(app: &ApplicationReport, places: &[usize]) -> Value<'static> {
    let mut rules: Vec<&str> = Vec::new();
    for finding in places.iter().filter_map(|&place| app.findings.get(place)) {
        if !rules.contains(&&*finding.rule) {
            rules.push(&finding.rule);
        }
    }
    rules.join(" ").into()
}
