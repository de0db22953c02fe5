//! A document for comments and wikis.

use std::io::{self, Write};

use super::table::Kind;
use super::{
    Block, Cell, Column, Document, Media, Table, Value,
    text::{in_words, plain},
};
use crate::markdown::text;
#[cfg(feature = "store")]
use crate::words::amount;
use crate::words::capital;

/// Longer texts are cut.
const LONGEST: usize = 800;

pub(crate) fn write(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    blocks(document.sections.iter().flat_map(|section| section.shown(Media::MARKDOWN)), out)
}

fn blocks<'b>(blocks: impl Iterator<Item = &'b Block<'b>>, out: &mut dyn Write) -> io::Result<()> {
    let mut was_item = false;
    for (place, block) in blocks.enumerate() {
        let item = is_item(block);
        if place > 0 && !(item && was_item) {
            writeln!(out)?;
        }
        was_item = item;
        self::block(block, out)?;
    }
    Ok(())
}

/// Whether a block is an item of a list.
const fn is_item(block: &Block<'_>) -> bool {
    matches!(block, Block::List(_) | Block::Warning(_) | Block::Finding(_))
}

fn block(block: &Block<'_>, out: &mut dyn Write) -> io::Result<()> {
    match block {
        Block::Headline(title) => writeln!(out, "## {}", escaped(title)),
        Block::Lead(sentence) | Block::Told(sentence) | Block::Advice(sentence) => {
            writeln!(out, "{}", escaped(sentence))
        }
        Block::Strong("", sentence) => writeln!(out, "{}", escaped(sentence)),
        Block::Strong(strong, sentence) => writeln!(out, "**{strong}**{}", escaped(sentence)),
        Block::Note(sentence) => writeln!(out, "{}", with_code(sentence)),
        Block::Label(title) => writeln!(out, "{}:", capital(title)),
        Block::List(sentences) => {
            sentences.iter().try_for_each(|sentence| writeln!(out, "- {}", escaped(sentence)))
        }
        Block::Warning(sentence) => writeln!(out, "- {}", escaped(sentence)),
        Block::Heading(_, title) => writeln!(out, "#### {title}"),
        Block::Folded(summary, blocks) => {
            writeln!(out, "<details>\n<summary>{summary}</summary>\n")?;
            self::blocks(blocks.iter(), out)?;
            writeln!(out, "\n</details>")
        }
        Block::Finding(finding) => {
            let label = finding.label.as_ref().map(|label| format!("**{}** ", label.to_uppercase()));
            let more = if finding.more.is_empty() {
                String::new()
            } else {
                format!(": {}", finding.more.join("; "))
            };
            writeln!(out, "- {}{}{}", label.unwrap_or_default(), escaped(&in_words(finding)), escaped(&more))
        }
        Block::Table(table) => self::table(table, out),
        Block::Facts(facts) => writeln!(out, "{}", escaped(&facts.join(", "))),
        Block::Beside(blocks) | Block::Group(_, blocks) => self::blocks(blocks.iter(), out),
        Block::Part(section) => {
            writeln!(out, "### {}\n", escaped(&section.title))?;
            self::blocks(section.shown(Media::MARKDOWN), out)
        }
        // The sentences have the same numbers.
        Block::Figures(_) | Block::Curve(_) | Block::Chart(_) => Ok(()),
        #[cfg(feature = "site")]
        Block::Links(..) | Block::Form(_) | Block::Page(_) => Ok(()),
        Block::Command(lines) => writeln!(out, "```\n{}\n```", lines.join(" \\\n")),
    }
}

fn table(table: &Table<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = || table.columns(Media::MARKDOWN);
    let titles: Vec<String> = columns().map(|column| format!(" {} |", escaped(&column.long))).collect();
    let titles = titles.concat();
    let aligned = |column: &Column| if column.kind == Kind::Number { " --: |" } else { " --- |" };
    writeln!(out, "|{titles}\n|{}", columns().map(aligned).collect::<String>())?;
    for row in table.rows(Media::MARKDOWN) {
        let cells = table.cells(row, Media::MARKDOWN);
        writeln!(
            out,
            "|{}",
            cells.map(|(column, cell)| format!(" {} |", value(column, cell))).collect::<Vec<_>>().concat()
        )?;
    }
    Ok(())
}

/// A value without the unit that its title has.
fn value(column: &Column, cell: &Cell<'_>) -> String {
    match &cell.value {
        Value::Unknown if column.kind == Kind::Key => "(unknown)".to_owned(),
        #[cfg(feature = "store")]
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
