//! The differences as a pull request comment: a table of costs, the findings, and folded settings and phases.

use std::io::{self, Write};

use super::super::markdown::text;
use super::super::words::plural;
use super::words::{
    answer, change, details, hint, label, largest_differences, paired, run_times, setting, severity, value,
};
use elephant_engine::diff::{Configuration, Diff, Figure, FindingPair, Label, Move, Pair, PhasePair};

/// Maximum number of characters of a name.
const NAME: usize = 80;
/// Maximum number of characters of a sentence or value.
const SENTENCE: usize = 400;

/// Writes all pairs, or those of the first `top` jobs that changed.
pub(super) fn write(diff: &Diff, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    if diff.pairs.len() > 1 {
        writeln!(out, "{}.\n", answer(&diff.total()))?;
    } else if diff.pairs.is_empty() {
        writeln!(out, "{}.\n", paired(diff))?;
        hint(diff).map_or(Ok(()), |hint| writeln!(out, "{hint}.\n"))?;
    }
    let pairs = diff.pairs_of(top);
    pairs.iter().try_for_each(|item| pair(item, out))?;
    let left_out = diff.pairs.len() - pairs.len();
    if left_out > 0 {
        writeln!(out, "{} of runs not shown.\n", plural(left_out as u64, "more pair"))?;
    }
    only_in("A", &diff.only_a, out)?;
    only_in("B", &diff.only_b, out)?;
    Ok(())
}

fn pair(pair: &Pair, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "## {}\n\n{}.\n", text(&pair.b.job, 2 * NAME), run_times(pair))?;
    for (side, label) in [("A", &pair.a), ("B", &pair.b)] {
        let name = label.name.as_deref().map(|name| format!(", {}", text(name, NAME))).unwrap_or_default();
        writeln!(out, "- {side}: {}{name}, {}", text(&label.id, NAME), text(&label.status, NAME))?;
    }
    for note in &pair.notes {
        writeln!(out, "- {}", text(note, SENTENCE))?;
    }
    writeln!(out, "\n| | A | B | change |\n| --- | ---: | ---: | ---: |")?;
    pair.figures.iter().try_for_each(|figure| row(&text(&figure.name, NAME), figure, out))?;
    writeln!(out)?;
    findings(&pair.findings, out)?;
    if let Some(configuration) = &pair.configuration {
        settings(configuration, out)?;
    }
    match &pair.phases {
        Some(list) if !list.is_empty() => phases(list, out),
        _ => Ok(()),
    }
}

fn row(name: &str, figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    let (a, b) = (value(figure.unit, figure.a), value(figure.unit, figure.b));
    writeln!(out, "| {name} | {a} | {b} | {} |", change(figure))
}

fn findings(findings: &[FindingPair], out: &mut dyn Write) -> io::Result<()> {
    let moved: Vec<_> = findings.iter().filter(|pair| pair.moved != Move::Same).collect();
    if moved.is_empty() {
        return writeln!(out, "No finding changed.\n");
    }
    for pair in moved {
        let reason = pair.reason.as_deref().map(|reason| format!(" ({})", text(reason, SENTENCE)));
        writeln!(
            out,
            "- **{}** {} ({}), {}{}: {}",
            label(pair.moved),
            text(&pair.rule, NAME),
            text(&pair.subject, NAME),
            severity(pair),
            reason.unwrap_or_default(),
            text(&pair.message, SENTENCE)
        )?;
    }
    writeln!(out)
}

fn settings(configuration: &Configuration, out: &mut dyn Write) -> io::Result<()> {
    let count = configuration.settings.len();
    if count == 0 {
        return Ok(());
    }
    writeln!(out, "<details>\n<summary>{} changed</summary>\n", plural(count as u64, "setting"))?;
    writeln!(out, "| setting | A | B |\n| --- | --- | --- |")?;
    for item in &configuration.settings {
        let (a, b) = setting(item);
        let cell = |value: Option<&str>| value.map(|value| text(value, SENTENCE)).unwrap_or_default();
        writeln!(out, "| {} | {} | {} |", text(&item.name, NAME), cell(a), cell(b))?;
    }
    writeln!(out, "\n</details>\n")
}

fn phases(phases: &[PhasePair], out: &mut dyn Write) -> io::Result<()> {
    let (shown, left_out) = largest_differences(phases);
    writeln!(out, "<details>\n<summary>{}</summary>\n", plural(phases.len() as u64, "phase"))?;
    writeln!(out, "| phase | A | B | change | other differences |\n| --- | ---: | ---: | ---: | --- |")?;
    for phase in shown {
        let name = text(&phase.key, 2 * NAME);
        let duration = phase.figures.iter().find(|figure| figure.key == "duration_ms");
        let cells = duration.map_or_else(
            || "| | ".to_owned(),
            |figure| {
                let (a, b) = (value(figure.unit, figure.a), value(figure.unit, figure.b));
                format!("{a} | {b} | {}", change(figure))
            },
        );
        writeln!(out, "| {name} | {cells} | {} |", details(phase))?;
    }
    if left_out > 0 {
        writeln!(out, "\n… and {} that differ less.", plural(left_out as u64, "more phase"))?;
    }
    writeln!(out, "\n</details>\n")
}

fn only_in(side: &str, labels: &[Label], out: &mut dyn Write) -> io::Result<()> {
    if labels.is_empty() {
        return Ok(());
    }
    writeln!(out, "Only in {side}:\n")?;
    for item in labels {
        writeln!(out, "- {}: {}", text(&item.job, 2 * NAME), text(&item.id, NAME))?;
    }
    writeln!(out)
}
