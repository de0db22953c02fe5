//! The report as text: worst application first, its troubles with their remedies, colour for severities only.

mod troubles;

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::engine::Pieces;
use crate::finding::{Finding, Suppressed};
use crate::report::words::{
    SuppressedGroup, applications, by_reason, currency, matching, plural, reasons_not_evaluated, saved,
    why_empty,
};
use crate::report::wrap::{clean, fit, lines, width};
use crate::results::{ApplicationReport, Report, Summary, Totals};
use crate::savings::SavingStatus;
use crate::severity::Severity;
use crate::units::{show_gb_hours, three_digits};

/// How the text report is laid out.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    /// Columns of the terminal; at least 40 are used.
    pub columns: usize,
    /// Whether severities are coloured.
    pub color: bool,
    /// Whether every finding is listed, and the reason for each rule that was not evaluated.
    pub details: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { columns: 80, color: false, details: false }
    }
}

impl TextOptions {
    /// The same with enough columns to break lines between words.
    pub(super) fn usable(self) -> Self {
        Self { columns: self.columns.max(LEAST_COLUMNS), ..self }
    }

    pub(super) fn style(self, severity: Severity) -> Style {
        let colour = match severity {
            Severity::Critical => AnsiColor::Red,
            Severity::Severe => AnsiColor::Magenta,
            Severity::Moderate => AnsiColor::Yellow,
            Severity::Low => AnsiColor::Cyan,
            Severity::None => return Style::new(),
        };
        let style = colour.on_default();
        match (self.color, severity >= Severity::Severe) {
            (false, _) => Style::new(),
            (true, true) => style.bold(),
            (true, false) => style,
        }
    }
}

/// Narrower terminals are written as if they had this many columns.
const LEAST_COLUMNS: usize = 40;
/// Columns before a rule's name: two blanks, the severity, two blanks.
const RULE_COLUMN: usize = 12;
/// Columns of a rule's name; longer names push the message to the next line.
const RULE_WIDTH: usize = 15;

pub(super) fn write(report: &Report, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let Totals { applications: [without_findings, ..], .. } = report.totals;
    if report.applications.is_empty() {
        // Only the overview is wanted.
        overview(report, "the remedies save", options, out)?;
        return write_end(report, without_findings, options, out);
    }
    overview_of_several(report, options, out)?;
    let mut quiet = 0u64;
    for app in &report.applications {
        if is_quiet(app, options) {
            quiet += 1;
        } else {
            application(app, options, out)?;
        }
    }
    write_end(report, quiet, options, out)
}

/// One application; nothing for one that is only counted.
pub(super) fn piece(app: &ApplicationReport, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if is_quiet(app, options) { Ok(()) } else { application(app, options, out) }
}

/// Writes the report with all applications.
pub(super) fn write_pieces(
    report: &Report,
    pieces: Pieces,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    overview_of_several(report, options, out)?;
    let mut quiet = 0;
    pieces.each(|piece| {
        quiet += u64::from(piece.is_empty());
        out.write_all(piece)
    })?;
    write_end(report, quiet, options, out)
}

/// The overview of the applications below it; nothing for a single application, which says so itself.
fn overview_of_several(report: &Report, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if report.summary.applications < 2 {
        return Ok(());
    }
    overview(report, "the remedies below save", options, out)
}

/// "12 applications · 41.2 GB·h used, 17.9 wasted (43 %) · the remedies save 52m ± 4m, 14 ± 1 GB·h".
fn overview(report: &Report, remedies: &str, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if report.summary.applications == 0 {
        return Ok(());
    }
    let totals = &report.totals;
    let wasted = totals
        .wasted_percent()
        .map(|percent| format!(", {} wasted ({} %)", show_gb_hours(totals.wasted), three_digits(percent)));
    let mut parts = vec![
        applications(&report.summary),
        format!("{} GB·h used{}", show_gb_hours(totals.used), wasted.unwrap_or_default()),
    ];
    let savings = &totals.savings;
    if savings.estimated_count > 0 {
        let saved = saved(&savings.saved(), savings.cost(), report.currency.as_deref());
        parts.push(format!("{remedies} {saved}"));
    }
    for line in lines(&parts.join(" · "), options.columns) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)
}

/// Whether there is nothing to say about an application.
fn is_quiet(app: &ApplicationReport, options: TextOptions) -> bool {
    let silent = app.findings.is_empty() && app.suppressed.is_empty();
    silent && app.complete && (app.not_evaluated.is_empty() || !options.details)
}

/// What follows the applications, of which `quiet` are only counted.
fn write_end(report: &Report, quiet: u64, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if quiet > 0 {
        let what = if quiet == 1 { "1 application" } else { &format!("{quiet} applications") };
        writeln!(out, "{what} without findings")?;
    }
    let missing: BTreeSet<&str> = report.totals.not_evaluated.iter().map(|missing| &*missing.rule).collect();
    if !missing.is_empty() && !options.details {
        let rules = plural(missing.len() as u64, "rule");
        writeln!(out, "{rules} not evaluated in some applications (--details)")?;
    }
    if quiet > 0 || !missing.is_empty() {
        writeln!(out)?;
    }
    write_summary(report, options.columns, out)
}

fn application(app: &ApplicationReport, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let columns = options.columns;
    let verdict = format!("{}  score {}", app.severity.name().to_uppercase(), app.score);
    let attempt = app.attempt.as_deref().map(|attempt| format!(" ({})", clean(attempt)));
    let id = clean(&app.id) + attempt.as_deref().unwrap_or_default();
    let room = columns.saturating_sub(width(&id) + width(&verdict) + 4);
    let name = fit(&clean(app.name.as_deref().unwrap_or_default()), room);
    let style = options.style(app.severity);
    writeln!(
        out,
        "{id}  {name}{}  {style}{verdict}{style:#}",
        " ".repeat(room.saturating_sub(width(&name)))
    )?;
    for line in lines(&facts(app), columns) {
        writeln!(out, "{line}")?;
    }
    for line in lines(&together(app), columns).into_iter().filter(|line| !line.is_empty()) {
        writeln!(out, "{line}")?;
    }
    if !app.complete {
        let note = "Log incomplete: results cover the part that was read";
        lines(note, columns).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    writeln!(out)?;
    let currency = currency(app);
    for trouble in &app.troubles {
        troubles::write(trouble, currency, options, out)?;
    }
    troubles::configuration(&app.recommended, out)?;
    if options.details {
        findings(app, options, out)?;
    }
    suppressed(&app.suppressed, columns, out)?;
    not_evaluated(app, options, out)?;
    writeln!(out)
}

/// Every finding, with the rule that found it.
fn findings(app: &ApplicationReport, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if !app.findings.is_empty() {
        writeln!(out, "  Findings:")?;
    }
    app.findings.iter().try_for_each(|item| finding(item, options, out))
}

/// "all remedies together save 9.0 s ± 1.5 s", if there are several.
fn together(app: &ApplicationReport) -> String {
    let estimated = app.troubles.iter().filter(|trouble| trouble.savings.status == SavingStatus::Estimated);
    let several = estimated.count() > 1;
    let Some(savings) = app.savings.as_ref().filter(|_| several) else { return String::new() };
    let saved = saved(&savings.joint, savings.joint_cost, savings.currency.as_deref());
    format!("all remedies together save {saved}")
}

/// "alice, root.default, succeeded in 1h 0m, 8.8 GB·h used, 35 % wasted, cores 40 % idle".
fn facts(app: &ApplicationReport) -> String {
    let mut facts: Vec<String> = Vec::new();
    facts.extend(app.user.as_deref().map(clean));
    facts.extend(app.queue.as_deref().map(clean));
    facts.extend(app.job_type.map(str::to_owned));
    facts.push(match app.metrics.run_time {
        Some(time) => format!("{} in {time}", app.status.name()),
        None => app.status.name().to_owned(),
    });
    facts.push(match app.metrics.used {
        Some(used) => format!("{} GB·h used", show_gb_hours(used)),
        None => "memory use unknown".to_owned(),
    });
    facts.extend(app.metrics.wasted_percent().map(|percent| format!("{} % wasted", three_digits(percent))));
    facts.extend(app.metrics.idle_percent().map(|percent| format!("cores {} % idle", three_digits(percent))));
    facts.join(", ")
}

fn finding(finding: &Finding, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let columns = options.columns;
    let style = options.style(finding.severity);
    let severity = finding.severity.name().to_uppercase();
    write!(out, "  {style}{severity:<8}{style:#}  ")?;
    let rule = clean(&finding.rule);
    let long_name = width(&rule) > RULE_WIDTH;
    let text_column = if long_name { RULE_COLUMN + 2 } else { RULE_COLUMN + RULE_WIDTH + 1 };
    let hanging = " ".repeat(text_column);
    let mut message =
        lines(&clean(&finding.message), columns.saturating_sub(text_column).max(20)).into_iter();
    if long_name {
        writeln!(out, "{rule}")?;
    } else {
        writeln!(out, "{rule:<RULE_WIDTH$} {}", message.next().unwrap_or_default())?;
    }
    for line in message {
        writeln!(out, "{hanging}{line}")?;
    }
    for advice in &finding.advice {
        advice_lines(&advice.text, columns, out)?;
    }
    Ok(())
}

fn advice_lines(advice: &str, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let indent = " ".repeat(RULE_COLUMN);
    for (index, line) in
        lines(&clean(advice), columns.saturating_sub(RULE_COLUMN + 2).max(20)).iter().enumerate()
    {
        writeln!(out, "{indent}{} {line}", if index == 0 { "→" } else { " " })?;
    }
    Ok(())
}

/// "3 findings suppressed: mapper-skew, mapper-gc (DATA-123, until 2027-01-31), mapper-time (known)".
fn suppressed(suppressed: &[Suppressed], columns: usize, out: &mut dyn Write) -> io::Result<()> {
    if suppressed.is_empty() {
        return Ok(());
    }
    let count = plural(suppressed.len() as u64, "finding");
    let each = by_reason(suppressed).into_iter().map(|SuppressedGroup { rules, reason, until }| {
        let until = until.map(|day| format!(", until {day}")).unwrap_or_default();
        format!("{} ({}{until})", clean(&rules.join(", ")), clean(reason))
    });
    let text = format!("{count} suppressed: {}", each.collect::<Vec<_>>().join(", "));
    hanging(&text, columns, out)
}

/// Writes lines; all but the first are indented by two more columns.
fn hanging(text: &str, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    for (index, line) in lines(text, columns.saturating_sub(4).max(20)).iter().enumerate() {
        writeln!(out, "  {}{line}", if index == 0 { "" } else { "  " })?;
    }
    Ok(())
}

/// One line per reason, with its rules; without details, only their number.
fn not_evaluated(app: &ApplicationReport, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let TextOptions { columns, details, .. } = options;
    if !details {
        let count = app.not_evaluated.len() as u64;
        return if count > 0 {
            hanging(&format!("{} not evaluated (--details)", plural(count, "rule")), columns, out)
        } else {
            Ok(())
        };
    }
    for (reason, rules) in reasons_not_evaluated(&app.not_evaluated) {
        let text = format!("not evaluated: {}: {}", clean(&rules.join(", ")), clean(reason));
        hanging(&text, columns, out)?;
    }
    Ok(())
}

/// "3 files read, 1 skipped, 0 failed · 2 applications · 1 critical, 2 moderate".
pub(super) fn write_summary(report: &Report, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let Summary { files_analysed, files_skipped, files_failed, findings, .. } = report.summary;
    let counts: Vec<String> = Severity::ALL
        .into_iter()
        .zip(findings)
        .skip(1)
        .rev()
        .filter(|(_, count)| *count > 0)
        .map(|(level, count)| format!("{count} {level}"))
        .collect();
    let files = plural(files_analysed, "file");
    let line = format!(
        "{files} read, {files_skipped} skipped, {files_failed} failed · {} · {}",
        matching(&report.summary),
        if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") },
    );
    if let Some(why) = why_empty(&report.summary) {
        writeln!(out, "{why}")?;
    }
    lines(&line, columns).iter().try_for_each(|line| writeln!(out, "{line}"))
}
