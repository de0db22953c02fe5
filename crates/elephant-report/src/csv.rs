//! The report as CSV: one row per finding, including suppressed findings, with the data of its application.

pub(super) mod queries;

use std::io::{self, Write};

use super::document::csv::{number, quoted};
use super::json::{advice, evidence, thresholds};
use elephant_base::units::{MbMillis, Millis, Timestamp};
use elephant_engine::engine::Pieces;
use elephant_engine::results::{ApplicationReport, Report};
use elephant_rule::finding::{Finding, Suppressed};

/// Scripts rely on these names and on their order, so add new columns at the end.
const HEADER: [&str; 28] = [
    "application",
    "attempt",
    "engine",
    "engine_version",
    "name",
    "user",
    "queue",
    "job_type",
    "status",
    "complete",
    "source",
    "submitted_at",
    "finished_at",
    "runtime_ms",
    "wait_ms",
    "resource_used_gb_hours",
    "resource_wasted_gb_hours",
    "resource_wasted_percent",
    "rule",
    "subject",
    "severity",
    "score",
    "message",
    "advice",
    "evidence",
    "thresholds",
    "suppressed_reason",
    "suppressed_until",
];

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", HEADER.join(","))?;
    report.applications.iter().try_for_each(|app| piece(app, out))
}

/// The rows of one application.
pub(super) fn piece(app: &ApplicationReport, out: &mut dyn Write) -> io::Result<()> {
    for finding in &app.findings {
        writeln!(out, "{}", row(app, finding, None)?.join(","))?;
    }
    for suppressed in &app.suppressed {
        writeln!(out, "{}", row(app, &suppressed.finding, Some(suppressed))?.join(","))?;
    }
    Ok(())
}

/// Writes the report with the rows of all applications.
pub(super) fn write_pieces(mut pieces: Pieces, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", HEADER.join(","))?;
    pieces.each(|piece| out.write_all(piece))
}

fn row(
    app: &ApplicationReport,
    finding: &Finding,
    suppressed: Option<&Suppressed>,
) -> io::Result<[String; HEADER.len()]> {
    let text = |text: &str| quoted(text);
    let known = |value: Option<&str>| text(value.unwrap_or_default());
    let time = |at: Option<Timestamp>| at.and_then(Timestamp::to_rfc3339).unwrap_or_default();
    let hours = |amount: Option<MbMillis>| number(amount.map(MbMillis::as_gb_hours));
    let metrics = &app.metrics;
    Ok([
        text(&app.id),
        known(app.attempt.as_deref()),
        app.engine.name().to_owned(),
        known(app.engine_version.as_deref()),
        known(app.name.as_deref()),
        known(app.user.as_deref()),
        known(app.queue.as_deref()),
        known(app.job_type.as_deref()),
        app.status.name().to_owned(),
        app.complete.to_string(),
        known(app.sources.first().map(String::as_str)),
        time(app.submitted_at),
        time(app.finished_at),
        number(metrics.run_time.map(Millis::get)),
        number(metrics.wait_time.map(Millis::get)),
        hours(metrics.used),
        hours(metrics.wasted),
        number(metrics.wasted_percent()),
        text(&finding.rule),
        text(&finding.subject.name()),
        finding.severity.name().to_owned(),
        finding.score.to_string(),
        text(&finding.message),
        text(&advice(finding).join("; ")),
        text(&serde_json::to_string(&evidence(finding))?),
        text(&serde_json::to_string(&thresholds(finding))?),
        known(suppressed.map(|by| by.reason.as_str())),
        suppressed.and_then(|by| by.until).map(|day| day.to_string()).unwrap_or_default(),
    ])
}
