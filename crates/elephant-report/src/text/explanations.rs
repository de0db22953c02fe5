//! Where the figures of findings come from, as text.

use std::io::{self, Write};

use super::INDENT;
use crate::explanations::{of, origin, place, rest, setting, term, title};
use crate::wrap::{clean, lines};
use elephant_explain::{Explanation, Figure, Origin, Place, Values};

/// Columns by which each level is indented.
const LEVEL: usize = 2;

pub(super) fn write(explanations: &[Explanation], columns: usize, out: &mut dyn Write) -> io::Result<()> {
    explanations.iter().try_for_each(|explanation| one(explanation, columns, out))
}

fn one(explanation: &Explanation, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer { columns, file: None, out };
    writeln!(writer.out)?;
    writer.line(0, &format!("Explained: {}", title(explanation)))?;
    if let Some(place) = explanation.first_place() {
        writer.name_file(1, place)?;
    }
    if let Some(why) = &explanation.unread {
        let has_lines = explanation.first_place().is_some();
        let what = if has_lines { "lines may be missing" } else { "no lines" };
        writer.line(1, &format!("{what}: {why}"))?;
    }
    for figure in explanation.figures.iter().filter(|figure| !is_of_rule(figure)) {
        writer.line(1, &format!("{}: {}", figure.key, origin(figure)))?;
        figure.values.iter().try_for_each(|values| writer.terms(values))?;
    }
    let of_rule: Vec<&str> =
        explanation.figures.iter().filter(|it| is_of_rule(it)).map(|it| it.key.as_ref()).collect();
    if !of_rule.is_empty() {
        writer.line(1, &format!("computed by the rule: {}", of_rule.join(", ")))?;
    }
    for values in &explanation.read {
        writer.line(1, &format!("also read: {}", of(values)))?;
        writer.terms(values)?;
    }
    for event in &explanation.events {
        writer.line_at(1, &event.name, &event.place)?;
    }
    for change in &explanation.settings {
        match &change.place {
            Some(place) => writer.line_at(1, &setting(change), place)?,
            None => writer.line(1, &setting(change))?,
        }
    }
    Ok(())
}

/// Whether only its rule knows how it was computed.
fn is_of_rule(figure: &Figure) -> bool {
    figure.origin == Origin::Rule && figure.values.is_empty()
}

struct Writer<'o> {
    columns: usize,
    /// The file that was named last.
    file: Option<String>,
    out: &'o mut dyn Write,
}

impl Writer<'_> {
    fn line(&mut self, level: usize, text: &str) -> io::Result<()> {
        let indent = INDENT + level * LEVEL;
        for (index, line) in
            lines(&clean(text), self.columns.saturating_sub(indent + LEVEL)).iter().enumerate()
        {
            writeln!(
                self.out,
                "{:indent$}{line}",
                "",
                indent = if index == 0 { indent } else { indent + LEVEL }
            )?;
        }
        Ok(())
    }

    /// A line with its place, after a line with the name of the file if that is another one.
    fn line_at(&mut self, level: usize, text: &str, at: &Place) -> io::Result<()> {
        self.name_file(level, at)?;
        self.line(level, &format!("{}: {text}", place(at)))
    }

    fn name_file(&mut self, level: usize, at: &Place) -> io::Result<()> {
        if self.file.as_ref() == Some(&at.file) {
            return Ok(());
        }
        self.file = Some(at.file.clone());
        self.line(level, &format!("in {}", at.file))
    }

    fn terms(&mut self, values: &Values) -> io::Result<()> {
        for each in &values.terms {
            self.line_at(2, &term(each), &each.place)?;
        }
        rest(&values.rest).map_or(Ok(()), |rest| self.line(2, &rest))
    }
}
