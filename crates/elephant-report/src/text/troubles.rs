//! Troubles as text: what is wrong, what to change, and which rules report it.

use std::io::{self, Write};

use super::{INDENT, TEXT_COLUMN, TextOptions};
use crate::words::{saves_besides, saves_briefly, title, told_by};
use crate::wrap::{clean, fit, fit_words, lines, width};
use elephant_base::severity::Severity;
use elephant_verdict::troubles::{Recommended, Trouble};

/// Columns of a present value. Options of a JVM may be very long.
const PRESENT: usize = 40;
/// The most lines of advice without details.
const ADVICE: usize = 3;
/// Troubles shown in full without details; later ones only if they are at least moderate.
const FULL: usize = 3;

pub(super) fn write(
    trouble: &Trouble,
    place: usize,
    currency: Option<&str>,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let TextOptions { columns, details, .. } = options;
    titled(trouble, currency, options, out)?;
    if !details && place >= FULL && trouble.severity < Severity::Moderate {
        return Ok(());
    }
    let indent = options.text_column();
    let room = columns.saturating_sub(indent);
    let statement = clean(&trouble.statement);
    let text = match (details, &trouble.failure) {
        (true, _) => clean(&trouble.cause),
        // It ends with the root cause.
        (false, Some(_)) => statement,
        (false, None) => brief(&statement, room),
    };
    for line in lines(&text, room) {
        writeln!(out, "{:indent$}{line}", "")?;
    }
    let most = if details { usize::MAX } else { ADVICE };
    for advice in trouble.advice.iter().take(most) {
        advice_lines(&advice.text, options, out)?;
    }
    let ending = ending(trouble, currency, details);
    if ending.is_empty() {
        return Ok(());
    }
    lines(&clean(&ending), room).iter().try_for_each(|line| writeln!(out, "{:indent$}{line}", ""))
}

/// "SEVERE    Skew in stage 4.0 of query 3                 saves 9.7 s ± 1.2 s".
fn titled(
    trouble: &Trouble,
    currency: Option<&str>,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let room = options.columns.saturating_sub(options.text_column());
    let saves = clean(&saves_briefly(&trouble.savings, currency));
    let whole = title(trouble);
    let title = fit(&whole, room.saturating_sub(width(&saves) + 2));
    let blanks = room.saturating_sub(width(&title) + width(&saves));
    let is_wide = options.text_column() >= TEXT_COLUMN;
    if !is_wide {
        return labelled(trouble.severity, &format!("{whole}, {saves}"), options, out);
    }
    let style = options.style(trouble.severity);
    let label = trouble.severity.name().to_uppercase();
    writeln!(out, "{:INDENT$}{style}{label:<8}{style:#}  {title}{:blanks$}{saves}", "", "")
}

/// What the title does not say of the saving, the page about a failure, and with all details the rules.
fn ending(trouble: &Trouble, currency: Option<&str>, details: bool) -> String {
    let besides = saves_besides(&trouble.savings, currency);
    let page = trouble.failure.as_ref().map(|failure| format!("rules show {}", failure.kind.name()));
    let parts = [besides, details.then(|| told_by(trouble)), page];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The start of a text on two lines of `columns` columns: a single line often ends before it says what is
/// wrong.
fn brief(text: &str, columns: usize) -> String {
    let all = lines(text, columns);
    match all.split_first() {
        Some((first, rest)) if rest.len() > 1 => format!("{first} {}", fit_words(&rest.join(" "), columns)),
        _ => text.to_owned(),
    }
}

/// A severity and the text next to it.
pub(super) fn labelled(
    severity: Severity,
    text: &str,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (indent, style) = (options.text_column(), options.style(severity));
    let room = options.columns.saturating_sub(indent);
    let label = severity.name().to_uppercase();
    // In a narrow terminal, the label is the first word of the text.
    let narrow = indent < TEXT_COLUMN;
    let text = if narrow { format!("{label} {text}") } else { text.to_owned() };
    for (place, line) in lines(&text, room).iter().enumerate() {
        match line.strip_prefix(label.as_str()).filter(|_| narrow) {
            Some(rest) if place == 0 => writeln!(out, "{:INDENT$}{style}{label}{style:#}{rest}", "")?,
            None if place == 0 => writeln!(out, "{:INDENT$}{style}{label:<8}{style:#}  {line}", "")?,
            _ => writeln!(out, "{:indent$}{line}", "")?,
        }
    }
    Ok(())
}

/// The recommended configuration as arguments to paste, one a line. Only the backslash that continues a command
/// follows an argument, so that lines can be pasted into a shell. The present values are above them.
pub(super) fn configuration(
    recommended: &[Recommended],
    columns: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    if recommended.is_empty() {
        return Ok(());
    }
    let room = columns.saturating_sub(14).min(PRESENT);
    let now = recommended.iter().filter_map(|Recommended { change, .. }| {
        let from = change.from.as_deref()?;
        Some(format!("{}={}", clean(&change.setting), fit(&clean(from), room)))
    });
    let now: Vec<String> = now.collect();
    let now = if now.is_empty() { String::new() } else { format!(" (now {})", now.join(", ")) };
    writeln!(out)?;
    for line in lines(&format!("Recommended configuration{now}:"), columns.saturating_sub(INDENT)) {
        writeln!(out, "{:INDENT$}{line}", "")?;
    }
    let last = recommended.len().saturating_sub(1);
    for (place, Recommended { change, .. }) in recommended.iter().enumerate() {
        let more = if place < last { " \\" } else { "" };
        writeln!(out, "      {}{more}", clean(&change.argument()))?;
    }
    Ok(())
}

pub(super) fn advice_lines(advice: &str, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let indent = options.text_column();
    for (place, line) in lines(&clean(advice), options.columns.saturating_sub(indent + 2)).iter().enumerate()
    {
        writeln!(out, "{:indent$}{} {line}", "", if place == 0 { "→" } else { " " })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_rule::finding::SettingChange;

    #[test]
    fn a_brief_text_says_more_than_its_subject() {
        let text = "Skew: a task of stage 33.0 (parquet at BenchUtils.scala:226) reads 13.4 MiB, 502× the median of 27.3 KiB, \
                    and takes 4.7 s; the stage takes 2 s longer than with even data";
        let brief = brief(text, 64);
        assert!(brief.contains("502× the median") && brief.ends_with('…'), "{brief}");
        assert_eq!(lines(&brief, 64).len(), 2);
        assert_eq!(super::brief("Driver: the heap is large", 64), "Driver: the heap is large");
    }
    /// Pasted into a shell, "(now 8g)" would be a syntax error.
    #[test]
    fn lines_of_the_configuration_can_be_pasted() {
        let recommend = |setting: &str, from: Option<&str>, to: &str| Recommended {
            change: SettingChange {
                setting: setting.to_owned(),
                from: from.map(str::to_owned),
                to: to.to_owned(),
            },
            why: Vec::new(),
        };
        let text = |recommended: &[Recommended]| {
            let mut text = Vec::new();
            configuration(recommended, 60, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let all = [
            recommend("spark.executor.memory", Some("8g"), "1792m"),
            recommend("spark.executor.cores", None, "2"),
            recommend("spark.executor.instances", Some("8"), "1"),
        ];
        let expected = "
    Recommended configuration (now spark.executor.memory=8g,
    spark.executor.instances=8):
      --conf spark.executor.memory=1792m \\
      --conf spark.executor.cores=2 \\
      --conf spark.executor.instances=1
";
        assert_eq!(text(&all), expected);
        let one = "\n    Recommended configuration:\n      --conf spark.executor.cores=2\n";
        assert_eq!((text(&all[1..2]).as_str(), text(&[])), (one, String::new()));
    }
}
