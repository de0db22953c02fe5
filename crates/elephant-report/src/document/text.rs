//! A document for a terminal.

use std::io::{self, Write};

use anstyle::Style;

use super::table::Kind;
use super::{Block, Cell, Document, Media, Table, Value};
use crate::ascii::in_charset;
use crate::grid::{self, Grid, UNKNOWN};
use crate::text::TextOptions;
use crate::words::amount;
use crate::wrap::{clean, lines};

/// Columns before sentences below a row.
const BELOW: usize = 2;

pub(crate) fn write(document: &Document<'_>, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let options = options.usable();
    in_charset(options, out, |out| {
        let page = Page { columns: options.columns, color: options.color };
        document.blocks(Media::TEXT).try_for_each(|block| page.block(block, out))
    })
}

struct Page {
    columns: usize,
    color: bool,
}

impl Page {
    fn block(&self, block: &Block<'_>, out: &mut dyn Write) -> io::Result<()> {
        match block {
            Block::Headline(text) | Block::Lead(text) => self.paragraph(&clean(text), out),
            Block::Note(text) => self.paragraph(&clean(&text.replace('`', "")), out),
            Block::Label(title) => {
                let style = self.heading();
                writeln!(out, "\n{style}{title}{style:#}")
            }
            Block::List(sentences) => {
                sentences.iter().try_for_each(|sentence| self.paragraph(&clean(sentence), out))
            }
            Block::Table(table) => {
                writeln!(out)?;
                self.grid(table).write(self.columns, out)
            }
            // The sentences have the same numbers.
            Block::Figures(_) | Block::Chart(_) => Ok(()),
        }
    }

    fn paragraph(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        lines(text, self.columns).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    fn heading(&self) -> Style {
        if self.color { Style::new().bold() } else { Style::new() }
    }

    fn grid(&self, table: &Table<'_>) -> Grid {
        let mut grid = Grid::new(0, table.columns(Media::TEXT).map(column)).heading(self.heading());
        for row in &table.rows {
            grid.row(table.cells(row, Media::TEXT).map(|(column, cell)| value(column, cell).into()));
            row.below.iter().for_each(|sentence| grid.note(BELOW, clean(sentence)));
        }
        grid
    }
}

fn column(column: &super::Column) -> grid::Column {
    let title = column.short.as_ref();
    let shown = match column.kind {
        Kind::Key => grid::Column::key(title, column.least, column.most),
        Kind::Text => grid::Column::text(title, column.least),
        Kind::Number => grid::Column::number(title, column.least),
    };
    let shown = if column.keeps_end { shown.with_end() } else { shown };
    shown.named(column.in_list.unwrap_or(&column.long))
}

/// A value without the unit that its title has.
fn value(column: &super::Column, cell: &Cell<'_>) -> String {
    let percent = if column.short.ends_with('%') { "" } else { " %" };
    match &cell.value {
        Value::Nothing => String::new(),
        Value::Unknown if column.kind == Kind::Key => "(unknown)".to_owned(),
        Value::Unknown => UNKNOWN.to_owned(),
        Value::Percent(value, decimals) => format!("{value:.decimals$}{percent}"),
        Value::Money(value, currency) if column.short == *currency => amount(*value),
        value => plain(value),
    }
}

/// A value on a line of text, as in Markdown.
pub(super) fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Nothing | Value::Unknown => String::new(),
        Value::Name(text) | Value::Words(text) | Value::Code(text) => clean(text),
        Value::Sorted(words, _) => clean(words),
        Value::Codes(codes) => {
            let code = |(code, remark): &(String, Option<&str>)| match remark {
                Some(remark) => format!("{} {remark}", clean(code)),
                None => clean(code),
            };
            codes.iter().map(code).collect::<Vec<_>>().join(", ")
        }
        Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Count(count) => count.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Amount(number) => amount(*number),
        Value::GbHours(number) => format!("{} GB·h", amount(*number)),
        Value::Percent(value, decimals) => format!("{value:.decimals$} %"),
        Value::Difference(number) => format!("{number:+.2}"),
        Value::Duration(time) => time.to_string(),
        Value::Time(at) => crate::words::day(*at).unwrap_or_default(),
        Value::Money(value, currency) => format!("{} {currency}", amount(*value)),
        #[cfg(feature = "store")]
        Value::Trend(chart) => clean(&chart.label),
    }
}
