//! A document for a terminal.

mod grid;
mod interval;

use elephant_base::whole::Whole;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::table::Kind;
use super::{Bar, Block, Cell, Chart, Document, Drawing, Finding, Media, Row, Section, Table, Value};
use crate::ascii::in_charset;
use crate::text::TextOptions;
#[cfg(feature = "store")]
use crate::words::amount;
use crate::words::two_decimals;
use crate::wrap::{clean, fit, lines};
use grid::{Grid, UNKNOWN};
use interval::Axis;

/// Columns before sentences below a row.
const BELOW: usize = 2;
/// Columns of the label of a finding.
const LABEL: usize = 8;
/// Before what to do.
const ARROW: &str = "→ ";
/// Columns of the longest bar.
const BAR: usize = 40;
/// Columns that a label and a number take next to a bar.
const BESIDE_BAR: usize = 26;
/// In narrower terminals, the text continues below its label.
const WIDE: usize = 60;

pub(crate) fn write(document: &Document<'_>, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let options = options.usable();
    in_charset(options, out, |out| {
        let mut page = Page {
            columns: options.columns,
            color: options.color,
            options,
            is_apart: true,
            is_below_table: false,
            out,
        };
        for section in &document.sections {
            if section.shown(Media::TEXT).next().is_some() {
                page.apart()?;
                section.shown(Media::TEXT).try_for_each(|block| page.block(block))?;
            }
        }
        Ok(())
    })
}

struct Page<'a> {
    columns: usize,
    color: bool,
    options: TextOptions,
    /// Whether nothing was written since the last empty line.
    is_apart: bool,
    /// Whether the last block was a table: only a note belongs to it.
    is_below_table: bool,
    out: &'a mut dyn Write,
}

impl Page<'_> {
    fn block(&mut self, block: &Block<'_>) -> io::Result<()> {
        let was_table = std::mem::replace(&mut self.is_below_table, matches!(block, Block::Table(_)));
        if was_table && !matches!(block, Block::Note(_)) {
            self.apart()?;
        }
        match block {
            Block::Headline(text) | Block::Lead(text) | Block::Told(text) | Block::Advice(text) => {
                self.paragraph(text)
            }
            Block::Facts(facts) => self.paragraph(&facts.join(", ")),
            Block::Strong(strong, text) => self.paragraph(&format!("{strong}{text}")),
            Block::Note(text) => self.paragraph(&text.replace('`', "")),
            Block::Label(title) | Block::Heading(_, title) => self.label(title),
            Block::List(sentences) => sentences.iter().try_for_each(|sentence| self.item(sentence)),
            Block::Finding(finding) => self.finding(finding),
            Block::Warning(text) => self.paragraph(&format!("note: {text}")),
            Block::Folded(_, blocks) => blocks.iter().try_for_each(|block| self.block(block)),
            Block::Part(section) => self.part(section),
            Block::Table(table) => self.table(table),
            Block::Beside(blocks) | Block::Group(_, blocks) => {
                blocks.iter().try_for_each(|block| self.block(block))
            }
            // The sentences have the same numbers.
            Block::Figures(_) | Block::Curve(_) => Ok(()),
            #[cfg(feature = "site")]
            Block::Links(..) | Block::Form(_) | Block::Page(_) => Ok(()),
            Block::Chart(chart) => self.chart(chart),
            Block::Command(lines) => {
                self.is_apart = false;
                writeln!(self.out, "    {}", lines.join(" \\\n    "))
            }
        }
    }

    /// Writes an empty line, unless the last one is empty.
    fn apart(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_apart, true) { Ok(()) } else { writeln!(self.out) }
    }

    fn paragraph(&mut self, text: &str) -> io::Result<()> {
        self.is_apart = false;
        lines(&clean(text), self.columns).iter().try_for_each(|line| writeln!(self.out, "{line}"))
    }

    /// An item of a list; its further lines begin below its text.
    fn item(&mut self, text: &str) -> io::Result<()> {
        self.is_apart = false;
        for (place, line) in lines(&clean(text), self.columns.saturating_sub(2 * BELOW)).iter().enumerate() {
            let indent = if place == 0 { BELOW } else { 2 * BELOW };
            writeln!(self.out, "{:indent$}{line}", "")?;
        }
        Ok(())
    }

    fn label(&mut self, title: &str) -> io::Result<()> {
        self.apart()?;
        self.is_apart = false;
        let style = self.heading();
        let title = lines(&clean(title), self.columns);
        title.iter().try_for_each(|line| writeln!(self.out, "{style}{line}{style:#}"))?;
        // What follows belongs to it.
        self.is_apart = true;
        Ok(())
    }

    /// A sentence; further sentences begin below the name, next to the label.
    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let Some(label) = &finding.label else { return self.paragraph(&in_words(finding)) };
        self.is_apart = false;
        let style = self.options.style(finding.severity);
        let label = label.to_uppercase();
        let is_narrow = self.columns < WIDE;
        let indent = if is_narrow { 2 * BELOW } else { BELOW + LABEL + 2 };
        if is_narrow {
            writeln!(self.out, "  {style}{label}{style:#}")?;
        }
        let mut texts = lines(&clean(&in_words(finding)), self.columns.saturating_sub(indent));
        for text in &finding.more {
            // What to do goes on below its text, not below its arrow.
            let hanging = if text.starts_with(ARROW) { ARROW.chars().count() } else { 0 };
            let wrapped = lines(&clean(text), self.columns.saturating_sub(indent + hanging));
            let below = |(place, line): (usize, String)| {
                let blanks = if place > 0 { hanging } else { 0 };
                format!("{:blanks$}{line}", "")
            };
            texts.extend(wrapped.into_iter().enumerate().map(below));
        }
        for (place, line) in texts.iter().enumerate() {
            match place {
                0 if !is_narrow => writeln!(self.out, "  {style}{label:<LABEL$}{style:#}  {line}")?,
                _ => writeln!(self.out, "{:indent$}{line}", "")?,
            }
        }
        Ok(())
    }

    fn part(&mut self, section: &Section<'_>) -> io::Result<()> {
        self.apart()?;
        self.is_apart = false;
        let about = section.about.as_deref().filter(|about| !about.is_empty());
        let about = about.map(|about| format!(" · {about}")).unwrap_or_default();
        let (style, title) =
            (self.heading(), fit(&clean(&format!("{}{about}", section.title)), self.columns));
        writeln!(self.out, "{style}{title}{style:#}")?;
        section.shown(Media::TEXT).try_for_each(|block| self.block(block))
    }

    fn heading(&self) -> Style {
        if self.color { Style::new().bold() } else { Style::new() }
    }

    fn table(&mut self, table: &Table<'_>) -> io::Result<()> {
        let Some(grid) = self.grid(table) else { return Ok(()) };
        self.apart()?;
        self.is_apart = false;
        grid.write(self.columns, self.out)?;
        table.notes.iter().try_for_each(|note| self.paragraph(note))
    }

    /// `None` for drawings without room.
    fn grid(&self, table: &Table<'_>) -> Option<Grid> {
        let is_drawn = table.columns(Media::TEXT).any(|column| column.kind == Kind::Drawn);
        let axis = if is_drawn { Some(axis(table, self.columns)?) } else { None };
        let all = self.grid_of(table, axis, |_| true);
        if all.fits(self.columns) {
            return Some(all);
        }
        let text = |cell: &Cell<'_>| plain(&cell.value);
        let is_same = |column: &super::Column| {
            let place = table.columns.iter().position(|other| std::ptr::eq(other, column));
            let mut cells = table.rows(Media::TEXT).filter_map(|row| row.cells.get(place?)).map(text);
            table.rows.len() > 1 && cells.next().is_some_and(|first| cells.all(|cell| cell == first))
        };
        Some(self.grid_of(table, axis, |column| !(column.is_expendable && is_same(column))))
    }

    fn grid_of(
        &self,
        table: &Table<'_>,
        axis: Option<Axis>,
        is_shown: impl Fn(&super::Column) -> bool,
    ) -> Grid {
        let columns = table.columns(Media::TEXT).filter(|column| is_shown(column));
        let columns = columns.map(|column| column_of(column, axis));
        let mut grid = Grid::new(0, columns).heading(self.heading());
        for row in table.rows(Media::TEXT) {
            let cells = table.cells(row, Media::TEXT).filter(|(column, _)| is_shown(column));
            grid.row(
                cells.map(|(column, cell)| grid::Cell::styled(value(column, cell, axis), self.style(cell))),
            );
            row.below.iter().for_each(|sentence| grid.note(BELOW, clean(sentence)));
        }
        grid
    }

    /// A bar for each step; steps beyond the limit are marked.
    fn chart(&mut self, chart: &Chart) -> io::Result<()> {
        let size = |bar: &Bar| -> f64 { bar.parts.iter().map(|(_, part)| part).sum() };
        let most = chart.bars.iter().flatten().map(size).fold(1.0, f64::max);
        let room = self.columns.saturating_sub(BESIDE_BAR).min(BAR) as f64;
        self.apart()?;
        chart.told.iter().try_for_each(|told| self.paragraph(told))?;
        for bar in chart.bars.iter().flatten() {
            let (mark, style) = if bar.is_marked { ('!', self.marked()) } else { (' ', Style::new()) };
            let length = (size(bar) / most * room).ceil().as_usize();
            let drawn = match size(bar) {
                count if count > 0.0 => format!(" {} {count}", "#".repeat(length)),
                _ => String::new(),
            };
            writeln!(self.out, "{style}  {mark} {:>9}{drawn}{style:#}", bar.label)?;
        }
        self.is_apart = false;
        Ok(())
    }

    fn marked(&self) -> Style {
        if self.color { AnsiColor::Red.on_default().bold() } else { Style::new() }
    }

    fn style(&self, cell: &Cell<'_>) -> Style {
        match cell.is_better.filter(|_| self.color) {
            Some(true) => AnsiColor::Green.on_default(),
            Some(false) => self.marked(),
            None => Style::new(),
        }
    }
}

/// "node-1 in rack-2 is slower than the others".
pub(super) fn in_words(Finding { name, place, text, .. }: &Finding) -> String {
    let place = place.as_ref().map(|place| format!(" {place}")).unwrap_or_default();
    format!("{name}{place}{text}")
}

/// The axis of the intervals, in the room next to the other columns.
fn axis(table: &Table<'_>, columns: usize) -> Option<Axis> {
    let others = table.columns(Media::TEXT).filter(|column| column.kind != Kind::Drawn);
    let taken: usize = others.map(|column| column.least + BELOW).sum();
    let drawings = |row: &Row<'_>| {
        let interval = |cell: &Cell<'_>| match cell.value {
            Value::Drawing(Drawing::Interval { range, .. }) => Some(range),
            _ => None,
        };
        row.cells.iter().filter_map(interval).collect::<Vec<_>>()
    };
    Axis::over(table.rows(Media::TEXT).flat_map(drawings), columns.saturating_sub(taken))
}

fn column_of(column: &super::Column, axis: Option<Axis>) -> grid::Column {
    let title = column.short.as_ref();
    let shown = match column.kind {
        Kind::Key => grid::Column::key(title, column.least, column.most),
        Kind::Text => grid::Column::text(title, column.least),
        Kind::Number => grid::Column::number(title, column.least),
        Kind::Drawn => grid::Column::text(axis.map(Axis::labels).unwrap_or_default(), 0),
    };
    let shown = if column.wraps { shown.wrapped() } else { shown };
    let shown = if column.keeps_end { shown.with_end() } else { shown };
    shown.named(column.in_list.unwrap_or(&column.long))
}

/// A value without the unit that its title has.
fn value(column: &super::Column, cell: &Cell<'_>, axis: Option<Axis>) -> String {
    let percent = if column.short.ends_with('%') { "" } else { " %" };
    match &cell.value {
        Value::Nothing => String::new(),
        Value::Unknown if column.kind == Kind::Key => "(unknown)".to_owned(),
        Value::Unknown => UNKNOWN.to_owned(),
        Value::Percent(value, decimals) => format!("{value:.decimals$}{percent}"),
        #[cfg(feature = "store")]
        Value::Amount(value, unit) if column.short == *unit => amount(*value),
        Value::Drawing(Drawing::Interval { range, mean, .. }) => {
            axis.map(|axis| axis.draw(*range, *mean).trim_end().to_owned()).unwrap_or_default()
        }
        value => plain(value),
    }
}

/// A value on a line of text, as in Markdown.
pub(super) fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Nothing | Value::Unknown | Value::Drawing(_) => String::new(),
        Value::Name(text) | Value::Words(text) | Value::Code(text) => clean(text),
        Value::Sorted(words, _) => clean(words),
        Value::Own(words) => (*words).to_owned(),
        Value::Range(low, high) => format!("{} to {}", two_decimals(*low), two_decimals(*high)),
        Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Count(count) => count.to_string(),
        Value::Number(number) => number.to_string(),
        #[cfg(feature = "store")]
        Value::Amount(number, "") => amount(*number),
        #[cfg(feature = "store")]
        Value::Amount(number, unit) => format!("{} {unit}", amount(*number)),
        Value::Percent(value, decimals) => format!("{value:.decimals$} %"),
        Value::Decimal(number) => two_decimals(*number),
        Value::Duration(time) => time.to_string(),
        Value::Time(at) => crate::words::day(*at).unwrap_or_default(),
    }
}
