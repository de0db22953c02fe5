//! A document for comments and wikis.

use std::io::{self, Write};

use super::table::Kind;
use super::{
    Block, Cell, Column, Document, Media, Table, Value,
    text::{in_words, plain},
};
use crate::markdown::text;
use crate::words::{amount, capital};

/// Longer texts are cut.
const LONGEST: usize = 400;

pub(crate) fn write(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    blocks(document.sections.iter().flat_map(|section| section.shown(Media::MARKDOWN)), out)
}

fn blocks<'b>(blocks: impl Iterator<Item = &'b Block<'b>>, out: &mut dyn Write) -> io::Result<()> {
    for (place, block) in blocks.enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        self::block(block, out)?;
    }
    Ok(())
}

fn block(block: &Block<'_>, out: &mut dyn Write) -> io::Result<()> {
    match block {
        Block::Headline(title) => writeln!(out, "## {}", escaped(title)),
        Block::Lead(sentence) | Block::Told(sentence) | Block::Advice(sentence) => {
            writeln!(out, "{}", escaped(sentence))
        }
        Block::Note(sentence) => writeln!(out, "{}", with_code(sentence)),
        Block::Label(title) => writeln!(out, "{}:", capital(title)),
        Block::List(sentences) => {
            sentences.iter().try_for_each(|sentence| writeln!(out, "- {}", escaped(sentence)))
        }
        Block::Finding(finding) => writeln!(out, "- {}", escaped(&in_words(finding))),
        Block::Table(table) => self::table(table, out),
        Block::Facts(facts) => writeln!(out, "{}", escaped(&facts.join(", "))),
        Block::Beside(blocks) => self::blocks(blocks.iter(), out),
        Block::Part(section) => {
            writeln!(out, "### {}\n", escaped(&section.title))?;
            self::blocks(section.shown(Media::MARKDOWN), out)
        }
        // The sentences have the same numbers.
        Block::Figures(_) | Block::Curve(_) | Block::Chart(_) => Ok(()),
    }
}

fn table(table: &Table<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = || table.columns(Media::MARKDOWN);
    let titles: String = columns().map(|column| format!(" {} |", escaped(&column.long))).collect();
    let aligned = |column: &Column| if column.kind == Kind::Number { " --: |" } else { " --- |" };
    writeln!(out, "|{titles}\n|{}", columns().map(aligned).collect::<String>())?;
    for row in table.rows(Media::MARKDOWN) {
        let cells = table.cells(row, Media::MARKDOWN);
        writeln!(
            out,
            "|{}",
            cells.map(|(column, cell)| format!(" {} |", value(column, cell))).collect::<String>()
        )?;
    }
    Ok(())
}

/// A value without the unit that its title has.
fn value(column: &Column, cell: &Cell<'_>) -> String {
    match &cell.value {
        Value::Unknown if column.kind == Kind::Key => "(unknown)".to_owned(),
        Value::Amount(value, unit) if column.long == *unit => amount(*value),
        value => escaped(&plain(value)),
    }
}

fn escaped(name: &str) -> String {
    text(name, LONGEST)
}

/// A sentence in which text in backticks is code.
fn with_code(sentence: &str) -> String {
    let part =
        |(place, part): (usize, &str)| if place % 2 == 1 { format!("`{part}`") } else { escaped(part) };
    sentence.split('`').enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_cell() {
        let columns = [Column::key("job", 1, 9), Column::text("user", 1)];
        let row = super::super::Row::new(["<script>|x\n# y".into(), Value::Unknown.into()]);
        let mut out = Vec::new();
        table(&Table::new(columns, [row]), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().nth(2), Some("| &lt;script&gt;\\|x #&#8203; y |  |"));
        assert_eq!(with_code("3 more (`--top`)"), "3 more (`--top`)");
    }
}
