//! One application as text, without its heading: facts, troubles with their remedies, one configuration.

use std::io::{self, Write};

use super::account;
use super::explanations;
use super::queries;
use super::troubles::{self, advice_lines};
use super::{INDENT, TEXT_COLUMN, TextOptions};
use crate::totals::saved_together;
use crate::words::{
    SuppressedGroup, by_reason, capped, currency, identity, incomplete, platform_and_engine, plural,
    reasons_not_evaluated, taken, whose_turn,
};
use crate::wrap::{clean, lines, width};
use elephant_base::units::{show_gb_hours, three_digits};
use elephant_engine::results::ApplicationReport;
use elephant_rule::finding::{Cap, Finding, Suppressed};
use elephant_verdict::savings::SavingStatus;

/// Columns of a rule's name; longer names push the message to the next line.
const RULE_WIDTH: usize = 15;

pub(super) fn write(app: &ApplicationReport, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let columns = options.columns;
    hanging(&facts(app), columns, out)?;
    if let Some(turn) = whose_turn(app) {
        hanging(turn, columns, out)?;
    }
    if let Some(script) = &app.script {
        hanging(&clean(script), columns, out)?;
    }
    if let Some(identity) = identity(app) {
        hanging(&clean(&identity), columns, out)?;
    }
    let together = together(app);
    if !together.is_empty() {
        hanging(&together, columns, out)?;
    }
    if let Some(text) = capped(app) {
        hanging(&text, columns, out)?;
    }
    if let Some(note) = incomplete(app) {
        hanging(&note, columns, out)?;
    }
    if let Some(account) = &app.account {
        account::write(account, app.finished_at.is_some(), options, out)?;
    }
    writeln!(out)?;
    let currency = currency(app);
    for (place, trouble) in app.troubles.iter().enumerate() {
        troubles::write(trouble, place, currency, options, out)?;
    }
    troubles::configuration(&app.recommended, columns, out)?;
    queries::write(app, columns, out)?;
    if options.details {
        findings(app, options, out)?;
    }
    explanations::write(&app.explanations, columns, out)?;
    suppressed(&app.suppressed, columns, out)?;
    if options.details {
        not_evaluated(app, columns, out)?;
    }
    Ok(())
}

/// Every finding, with the rule that found it.
fn findings(app: &ApplicationReport, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if !app.findings.is_empty() {
        writeln!(out, "\n    Findings:")?;
    }
    app.findings.iter().try_for_each(|item| finding(item, options, out))
}

/// "all remedies together save 9.0 s ± 1.5 s", if there are several.
fn together(app: &ApplicationReport) -> String {
    let estimated = app.troubles.iter().filter(|trouble| trouble.savings.status == SavingStatus::Estimated);
    let several = estimated.count() > 1;
    let Some(savings) = app.savings.as_ref().filter(|_| several) else { return String::new() };
    let saved = saved_together(app, savings);
    let more = taken(savings.more_gb_hours).map(|more| format!(", but take {more} more")).unwrap_or_default();
    format!("all remedies together save {saved}{more}")
}

/// "succeeded in 1h 0m · 8.8 GB·h used, 35 % wasted · cores 40 % idle · root.default · Hive".
fn facts(app: &ApplicationReport) -> String {
    let mut facts: Vec<String> = Vec::new();
    facts.push(match app.metrics.run_time {
        Some(time) => format!("{} in {time}", app.status.name()),
        None => app.status.name().to_owned(),
    });
    let wasted = app.metrics.wasted_percent();
    let wasted = wasted.map(|percent| format!(", {} % wasted", three_digits(percent))).unwrap_or_default();
    facts.push(match app.metrics.used {
        Some(used) => format!("{} GB·h used{wasted}", show_gb_hours(used)),
        None => "memory use unknown".to_owned(),
    });
    facts.extend(app.metrics.idle_percent().map(|percent| format!("cores {} % idle", three_digits(percent))));
    facts.extend(app.queue.as_deref().map(clean));
    facts.extend(app.job_type.as_deref().map(str::to_owned));
    facts.extend(platform_and_engine(app));
    facts.join(" · ")
}

fn finding(finding: &Finding, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let columns = options.columns;
    let rule = clean(&finding.rule);
    if width(&rule) > RULE_WIDTH || options.text_column() < TEXT_COLUMN {
        troubles::labelled(finding.severity, &rule, options, out)?;
        let indent = options.text_column() + 2;
        for line in lines(&clean(&finding.message), columns.saturating_sub(indent)) {
            writeln!(out, "{:indent$}{line}", "")?;
        }
    } else {
        let style = options.style(finding.severity);
        let severity = finding.severity.name().to_uppercase();
        let indent = TEXT_COLUMN + RULE_WIDTH + 1;
        let mut message = lines(&clean(&finding.message), columns.saturating_sub(indent)).into_iter();
        let first = message.next().unwrap_or_default();
        writeln!(out, "    {style}{severity:<8}{style:#}  {rule:<RULE_WIDTH$} {first}")?;
        message.try_for_each(|line| writeln!(out, "{:indent$}{line}", ""))?;
    }
    if let Some(Cap { at_most, why }) = finding.caps.deciding() {
        let indent = options.text_column();
        let text = clean(&format!("at most {at_most}, because {}", why.words()));
        let mut lines = lines(&text, columns.saturating_sub(indent)).into_iter();
        lines.try_for_each(|line| writeln!(out, "{:indent$}{line}", ""))?;
    }
    finding.advice.iter().try_for_each(|advice| advice_lines(&advice.text, options, out))
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
pub(super) fn hanging(text: &str, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let indent = " ".repeat(INDENT);
    for (index, line) in lines(text, columns.saturating_sub(INDENT + 2)).iter().enumerate() {
        writeln!(out, "{indent}{}{line}", if index == 0 { "" } else { "  " })?;
    }
    Ok(())
}

/// One line per reason, with its rules.
fn not_evaluated(app: &ApplicationReport, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    for (reason, rules) in reasons_not_evaluated(&app.not_evaluated) {
        let text = format!("not evaluated: {}: {}", clean(&rules.join(", ")), clean(reason));
        hanging(&text, columns, out)?;
    }
    Ok(())
}
