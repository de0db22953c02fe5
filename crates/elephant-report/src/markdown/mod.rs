//! A pull request comment: a headline, a table of the worst applications, and a folded section for each.

mod budget;
mod escape;

use std::fmt::Write as _;
use std::io::{self, Write};

use budget::Budget;
pub(super) use escape::text;
use escape::{html, sentence};
use serde::{Deserialize, Serialize};

use super::comparison::section;
use super::parts::{Parts, Reader};
use super::queries::line;
use super::totals::{Saved, memory_used};
use super::words::{
    SuppressedGroup, applications, by_reason, capital, currency, incomplete, plural, reasons_not_evaluated,
    saves, title, told_by, whole_percent,
};
use super::wrap::clean;
use elephant_base::severity::Severity;
use elephant_base::units::{show_gb_hours, three_digits};
use elephant_engine::engine::Pieces;
use elephant_engine::results::{ApplicationReport, Report, Summary};
use elephant_parse::Level;
use elephant_verdict::troubles::{Recommended, Trouble};

/// GitHub's limit for a comment, in characters. Text never has more characters than bytes. GitLab allows 1,000,000.
const LIMIT: usize = 65_536;
/// Bytes reserved for the last lines.
const ENDING: usize = 1_000;
/// Maximum number of rows of the table.
const ROWS: usize = 20;
/// Maximum number of characters of a name.
const NAME: usize = 80;
/// Maximum number of characters of a sentence.
const SENTENCE: usize = 600;
/// Maximum number of problems listed.
const PROBLEMS: usize = 20;

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_pieces(report, &mut Pieces::in_order(&report.applications, piece)?, out)
}

/// Writes the report with all applications.
pub(super) fn write_pieces(report: &Report, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Budget::new(LIMIT - ENDING);
    page.add_reserved(&headline(&report.summary));
    page.add_reserved(&totals(report));
    if let Some(comparison) = &report.comparison {
        page.add_reserved(&section(comparison)?);
    }
    table(pieces, &mut page)?;
    folds(pieces, &mut page)?;
    problems(report, &mut page);
    page.add_reserved(&ending(&report.summary));
    out.write_all(page.text().as_bytes())
}

/// The data needed to put an application into the page. Its row of the table follows, then the head of its
/// section, the configuration, the queries, the notes, and the troubles.
#[derive(Serialize, Deserialize)]
struct Head {
    /// Whether it is in the table.
    is_ranked: bool,
    findings: u64,
    troubles: usize,
}

/// One application; nothing for one without content.
pub(super) fn piece(app: &ApplicationReport) -> io::Result<Vec<u8>> {
    if !has_content(app) {
        return Ok(Vec::new());
    }
    let mut parts = Parts::with_head(&Head {
        is_ranked: app.severity > Severity::None,
        findings: app.findings.len() as u64,
        troubles: app.troubles.len(),
    })?;
    parts.add(row(app).as_bytes());
    parts.add(fold_head(app).as_bytes());
    parts.add(configuration(&app.recommended).as_bytes());
    parts.add(queries(app).as_bytes());
    parts.add(notes(app).as_bytes());
    for item in &app.troubles {
        parts.add(trouble(item, currency(app)).as_bytes());
    }
    Ok(parts.into_bytes())
}

/// Passes the applications with content to `take`.
fn each(pieces: &mut Pieces, mut take: impl FnMut(&Head, Reader<'_>) -> io::Result<()>) -> io::Result<()> {
    pieces.each(|piece| {
        if piece.is_empty() {
            return Ok(());
        }
        let mut reader = Reader::new(piece);
        let head: Head = reader.head()?;
        take(&head, reader)
    })
}

/// Whether there is anything to report about the application.
fn has_content(app: &ApplicationReport) -> bool {
    !app.findings.is_empty() || !app.suppressed.is_empty() || !app.not_evaluated.is_empty() || !app.complete
}

fn headline(summary: &Summary) -> String {
    let found = match summary.findings.iter().skip(1).sum::<u64>() {
        0 => "no findings".to_owned(),
        1 => format!("{} finding", counts(summary.findings).join(", ")),
        2.. => format!("{} findings", counts(summary.findings).join(", ")),
    };
    format!("## elephant-rs: {found} in {}\n\n", applications(summary))
}

/// "41.2 GB·h used, 17.9 (43 %) wasted in memory that is too large. The remedies save 52m ± 4m, 14 ± 1 GB·h."
fn totals(report: &Report) -> String {
    if report.summary.applications == 0 {
        return String::new();
    }
    let saved =
        Saved::of(report).map(|saved| format!(" The remedies save {}.", text(&saved.text(), SENTENCE)));
    format!("{}.{}\n\n", capital(&memory_used(&report.totals)), saved.unwrap_or_default())
}

/// "1 critical", "2 moderate".
fn counts(findings: [u64; 5]) -> Vec<String> {
    let levels = Severity::ALL.into_iter().zip(findings).skip(1).rev();
    levels.filter(|(_, count)| *count > 0).map(|(level, count)| format!("{count} {level}")).collect()
}

fn table(pieces: &mut Pieces, page: &mut Budget) -> io::Result<()> {
    let mut rows: usize = 0;
    each(pieces, |head, mut reader| {
        if !head.is_ranked {
            return Ok(());
        }
        rows += 1;
        if rows == 1 {
            page.add_reserved(
                "| severity | score | application | name | user | run time | GB·h used | wasted | findings |\n",
            );
            page.add_reserved("| --- | ---: | --- | --- | --- | ---: | ---: | ---: | --- |\n");
        }
        if rows <= ROWS {
            page.add_reserved(reader.next_text()?);
        }
        Ok(())
    })?;
    if let Some(more) = rows.checked_sub(ROWS).filter(|more| *more > 0) {
        page.add_reserved(&format!("\n… and {}.\n", plural(more as u64, "more application")));
    }
    page.add_reserved(if rows == 0 { "" } else { "\n" });
    Ok(())
}

fn row(app: &ApplicationReport) -> String {
    let known = |name: Option<&str>| text(name.unwrap_or_default(), NAME / 2);
    let wasted = app.metrics.wasted_percent().map(|percent| format!("{} %", three_digits(percent)));
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
        app.severity,
        app.score,
        text(&app.id, NAME),
        known(app.name.as_deref()),
        known(app.user.as_deref()),
        app.metrics.run_time.map(|time| time.to_string()).unwrap_or_default(),
        app.metrics.used.map(show_gb_hours).unwrap_or_default(),
        wasted.unwrap_or_default(),
        counts(app.counts).join(", "),
    )
}

/// Adds the sections of the applications, as far as there is room, and counts the others.
fn folds(pieces: &mut Pieces, page: &mut Budget) -> io::Result<()> {
    let (mut applications, mut findings) = (0, 0);
    each(pieces, |head, mut reader| {
        reader.next_part()?;
        if applications > 0 || !fold(head, reader, page)? {
            applications += 1;
            findings += head.findings;
        }
        Ok(())
    })?;
    if applications > 0 {
        page.add_reserved(&format!(
            "{} with {} did not fit; a comment has at most {LIMIT} characters.\n\n",
            plural(applications, "application"),
            plural(findings, "finding")
        ));
    }
    Ok(())
}

fn fold_head(app: &ApplicationReport) -> String {
    let name = app.name.as_deref().map(|name| format!(" {}", html(name, NAME))).unwrap_or_default();
    let counts = counts(app.counts);
    let verdict = if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") };
    format!(
        "<details>\n<summary><b>{}</b>{name}: {verdict}</summary>\n\n{}",
        html(&app.id, NAME),
        account(app)
    )
}

/// Where the run time went, as a list.
fn account(app: &ApplicationReport) -> String {
    let Some(account) = &app.account else { return String::new() };
    let mut list = format!("Where {} went:\n\n", account.total);
    for part in &account.parts {
        let told = [Some(part.name()), part.stages(), part.note()];
        let told = told.into_iter().flatten().collect::<Vec<_>>().join(", ");
        // Writing to a string cannot fail.
        let _ = writeln!(list, "- {} %, {}: {}", whole_percent(part.share), part.time, text(&told, SENTENCE));
    }
    list + "\n"
}

/// Adds a folded section for one application. Returns `false` if its first trouble does not fit.
fn fold(Head { troubles, .. }: &Head, mut reader: Reader<'_>, page: &mut Budget) -> io::Result<bool> {
    const CLOSE: &str = "\n</details>\n\n";
    let (head, configuration) = (reader.next_text()?, reader.next_text()?);
    let (queries, notes) = (reader.next_text()?, reader.next_text()?);
    let mut body = page.part(head.len() + CLOSE.len() + 100);
    let mut shown = 0;
    while shown < *troubles && body.add(reader.next_text()?) {
        shown += 1;
    }
    if shown == 0 && *troubles > 0 {
        return Ok(false);
    }
    if shown < *troubles {
        let more = plural((troubles - shown) as u64, "more trouble");
        body.add_reserved(&format!("- … {more} did not fit.\n"));
    }
    // The advice of each trouble names its settings, too.
    let _ = body.add(configuration);
    // Queries and notes are left out if they do not fit.
    let _ = body.add(queries);
    let _ = body.add(notes);
    page.add_reserved(head);
    page.add_reserved(body.text());
    page.add_reserved(CLOSE);
    Ok(true)
}

fn trouble(trouble: &Trouble, currency: Option<&str>) -> String {
    let severity = trouble.severity.name().to_uppercase();
    let statement = text(&trouble.statement, SENTENCE);
    let mut item = format!(
        "- **{severity}** {}: {statement} ({})\n",
        text(&title(trouble), NAME),
        text(&told_by(trouble), SENTENCE)
    );
    for advice in &trouble.advice {
        // Writing to a string cannot fail.
        let _ = writeln!(item, "  - → {}", sentence(&advice.text, SENTENCE));
    }
    let _ = writeln!(item, "  - {}", text(&saves(&trouble.savings, currency), SENTENCE));
    item
}

/// The recommended configuration as a block to copy.
fn configuration(recommended: &[Recommended]) -> String {
    if recommended.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = recommended.iter().map(|it| plain(&it.change.argument())).collect();
    format!("\n```\n{}\n```\n\n", lines.join(" \\\n"))
}

/// One line, without backticks that would end a block of code.
fn plain(line: &str) -> String {
    clean(line).replace("```", "` ` `")
}

/// What the application runs a part of, and the queries that took longest.
fn queries(app: &ApplicationReport) -> String {
    let script = app.script.as_deref().into_iter().map(str::to_owned);
    let lines: Vec<String> = script.chain(app.queries.iter().map(line)).collect();
    let mut list = String::new();
    for line in lines {
        let _ = writeln!(list, "- {}", text(&line, SENTENCE));
    }
    list
}

/// Notes on an incomplete history, suppressed findings, and rules that were not evaluated.
fn notes(app: &ApplicationReport) -> String {
    let mut notes = String::new();
    if let Some(note) = incomplete(app) {
        let _ = writeln!(notes, "- {}.", text(&note, SENTENCE));
    }
    for SuppressedGroup { rules, reason, until } in by_reason(&app.suppressed) {
        let until = until.map(|day| format!(", until {day}")).unwrap_or_default();
        let (rules, reason) = (text(&rules.join(", "), SENTENCE), text(reason, SENTENCE));
        let _ = writeln!(notes, "- suppressed: {rules} ({reason}{until})");
    }
    for (reason, rules) in reasons_not_evaluated(&app.not_evaluated) {
        let (rules, reason) = (text(&rules.join(", "), SENTENCE), text(reason, SENTENCE));
        let _ = writeln!(notes, "- not evaluated: {rules}: {reason}");
    }
    notes
}

fn problems(report: &Report, page: &mut Budget) {
    let listed: Vec<_> =
        report.problems.iter().filter(|entry| entry.problem.level >= Level::Warning).collect();
    if listed.is_empty() {
        return;
    }
    let mut list =
        format!("<details>\n<summary>{} while reading</summary>\n\n", plural(listed.len() as u64, "problem"));
    for entry in listed.iter().take(PROBLEMS) {
        let (source, message) = (text(&entry.source, 2 * NAME), text(&entry.problem.message, SENTENCE));
        let _ = writeln!(list, "- {}: {source}: {message}", entry.problem.level.name());
    }
    if let Some(more) = listed.len().checked_sub(PROBLEMS).filter(|more| *more > 0) {
        let _ = writeln!(list, "- … and {more} more");
    }
    list.push_str("\n</details>\n\n");
    if !page.add(&list) {
        page.add_reserved(&format!(
            "{} while reading are not listed.\n\n",
            plural(listed.len() as u64, "problem")
        ));
    }
}

fn ending(summary: &Summary) -> String {
    let Summary { files_analysed, files_skipped, files_failed, .. } = *summary;
    format!(
        "{} read, {files_skipped} skipped, {files_failed} failed. `elephant-rs rules show RULE` explains a rule.\n",
        plural(files_analysed, "file")
    )
}
