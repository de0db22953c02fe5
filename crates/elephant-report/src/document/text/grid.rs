//! Tables for terminals. If a table is wider than the terminal, each row becomes a name with a list of named values.

use std::io::{self, Write};

use anstyle::Style;

use crate::wrap::{fit, lines, width};

/// Stands for an unknown value in a table.
pub(super) const UNKNOWN: &str = "-";

/// A column of a table.
pub(super) struct Column {
    title: String,
    /// The title in a list of values, where no header explains it.
    name: Option<String>,
    least: usize,
    /// Longer values are cut, but only in a table.
    most: usize,
    is_number: bool,
    is_key: bool,
    /// Whether a longer name continues below its row, instead of being cut.
    wraps: bool,
    /// How longer texts are cut.
    fit: fn(&str, usize) -> String,
}

impl Column {
    /// A right-aligned column of numbers.
    pub(super) fn number(title: impl Into<String>, least: usize) -> Self {
        let title = title.into();
        let most = usize::MAX;
        Self { title, name: None, least, most, is_number: true, is_key: false, wraps: false, fit }
    }

    pub(super) fn text(title: impl Into<String>, least: usize) -> Self {
        Self { is_number: false, ..Self::number(title, least) }
    }

    /// The column with the names of the rows, cut to the available width.
    pub(super) fn key(title: impl Into<String>, least: usize, most: usize) -> Self {
        Self { is_key: true, most: most.max(least), ..Self::text(title, least) }
    }

    /// Lets longer names continue below their row, instead of cutting them.
    pub(super) fn wrapped(self) -> Self {
        Self { wraps: true, ..self }
    }

    /// Cuts longer values in the middle: ids differ at their end.
    pub(super) fn with_end(self) -> Self {
        Self { fit: crate::wrap::fit_ends, ..self }
    }

    /// Sets another title for lists of values.
    pub(super) fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    const fn gap(&self) -> usize {
        if self.is_number { 1 } else { 2 }
    }
}

/// A value of a table.
pub(super) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(super) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text, Style::new())
    }
}

/// A row, and paragraphs below it with the blanks before them.
struct Row {
    cells: Vec<Cell>,
    notes: Vec<(usize, String)>,
}

/// A table. All text in it must be clean.
pub(super) struct Grid {
    columns: Vec<Column>,
    rows: Vec<Row>,
    indent: usize,
    /// The style of a header that is also the heading of the table: it begins at the left.
    heading: Option<Style>,
}

impl Grid {
    pub(super) fn new(indent: usize, columns: impl IntoIterator<Item = Column>) -> Self {
        let columns = columns.into_iter().collect();
        Self { columns, rows: Vec::new(), indent, heading: None }
    }

    pub(super) fn heading(self, style: Style) -> Self {
        Self { heading: Some(style), ..self }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(Row { cells: cells.into_iter().collect(), notes: Vec::new() });
    }

    /// Adds a paragraph below the last row.
    pub(super) fn note(&mut self, indent: usize, text: String) {
        if let Some(row) = self.rows.last_mut() {
            row.notes.push((indent, text));
        }
    }

    /// Whether the table needs at most `columns`.
    pub(super) fn fits(&self, columns: usize) -> bool {
        self.widths(columns).is_some()
    }

    /// Writes the table in lines of at most `columns`.
    pub(crate) fn write(&self, columns: usize, out: &mut dyn Write) -> io::Result<()> {
        match self.widths(columns) {
            Some(widths) => self.table(&widths, columns, out),
            None => self.list(columns, out),
        }
    }

    /// The widths of the columns; `None` if the table does not fit.
    fn widths(&self, columns: usize) -> Option<Vec<usize>> {
        let cells = |place: usize| self.rows.iter().filter_map(move |row| row.cells.get(place));
        let natural = |(place, column): (usize, &Column)| {
            let widest = cells(place).map(|cell| width(&cell.text)).max().unwrap_or_default();
            widest.max(width(&column.title)).min(column.most).max(column.least)
        };
        let mut widths: Vec<usize> = self.columns.iter().enumerate().map(natural).collect();
        let gaps: usize = self.columns.iter().skip(1).map(Column::gap).sum();
        let total = self.indent + gaps + widths.iter().sum::<usize>();
        let mut excess = total.saturating_sub(columns);
        for (column, width) in self.columns.iter().zip(&mut widths).filter(|(column, _)| column.is_key) {
            let cut = excess.min(width.saturating_sub(column.least.max(width_of_head(column))));
            *width -= cut;
            excess -= cut;
        }
        (excess == 0).then_some(widths)
    }

    fn table(&self, widths: &[usize], columns: usize, out: &mut dyn Write) -> io::Result<()> {
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            let style = self.heading.unwrap_or_default();
            let titles = self.columns.iter().map(|column| (column.title.as_str(), style));
            let mut widths = widths.to_vec();
            let outdent = if self.heading.is_some() { self.indent } else { 0 };
            widths.iter_mut().take(1).for_each(|width| *width += outdent);
            self.line(self.indent - outdent, &widths, titles, out)?;
        }
        for row in &self.rows {
            let mut rest = Vec::new();
            let cell = |((column, &room), cell): ((&Column, &usize), &Cell)| {
                let mut parts = if column.wraps { lines(&cell.text, room) } else { vec![cell.text.clone()] };
                rest.extend(parts.split_off(1));
                (parts.pop().unwrap_or_default(), cell.style)
            };
            let cells: Vec<_> = self.columns.iter().zip(widths).zip(&row.cells).map(cell).collect();
            self.line(self.indent, widths, cells.iter().map(|(text, style)| (text.as_str(), *style)), out)?;
            let indent = self.indent + 2;
            lines(&rest.join(" "), columns.saturating_sub(indent))
                .iter()
                .filter(|line| !line.is_empty())
                .try_for_each(|line| writeln!(out, "{:indent$}{line}", ""))?;
            notes(row, columns, out)?;
        }
        Ok(())
    }

    fn line<'a>(
        &self,
        indent: usize,
        widths: &[usize],
        cells: impl Iterator<Item = (&'a str, Style)>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut blanks = indent;
        for (place, ((column, &room), (text, style))) in
            self.columns.iter().zip(widths).zip(cells).enumerate()
        {
            blanks += if place > 0 { column.gap() } else { 0 };
            let text = if column.is_number { text.to_owned() } else { (column.fit)(text, room) };
            let missing = room.saturating_sub(width(&text));
            if text.is_empty() {
                blanks += missing;
                continue;
            }
            let (before, after) = if column.is_number { (missing, 0) } else { (0, missing) };
            write!(out, "{:blanks$}{:before$}{style}{text}{style:#}", "", "")?;
            blanks = after;
        }
        writeln!(out)
    }

    /// The rows as lists: the name, and below it "tasks 12, mean z 0.31".
    fn list(&self, columns: usize, out: &mut dyn Write) -> io::Result<()> {
        let key = self.columns.iter().position(|column| column.is_key);
        let title = key.and_then(|key| self.columns.get(key)).map(|column| &column.title);
        if let Some((title, style)) = title.zip(self.heading) {
            writeln!(out, "{style}{title}{style:#}")?;
        }
        for row in &self.rows {
            if let Some(name) = key.and_then(|key| row.cells.get(key)) {
                let style = name.style;
                for (place, line) in
                    lines(&name.text, columns.saturating_sub(self.indent + 2)).iter().enumerate()
                {
                    let indent = self.indent + if place > 0 { 2 } else { 0 };
                    writeln!(out, "{:indent$}{style}{line}{style:#}", "")?;
                }
            }
            let values = self.columns.iter().zip(&row.cells).filter(|(column, _)| !column.is_key);
            let known = values.filter(|(_, cell)| !cell.text.is_empty() && cell.text != UNKNOWN);
            let item = |(column, cell): (&Column, &Cell)| {
                let title = column.name.as_deref().unwrap_or(&column.title);
                format!("{title} {}", cell.text.trim()).trim_start().to_owned()
            };
            let indent = self.indent + 2;
            for line in packed(known.map(item).collect(), columns.saturating_sub(indent)) {
                writeln!(out, "{:indent$}{line}", "")?;
            }
            notes(row, columns, out)?;
        }
        Ok(())
    }
}

fn width_of_head(column: &Column) -> usize {
    width(&column.title)
}

fn notes(row: &Row, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    for (indent, note) in &row.notes {
        for line in lines(note, columns.saturating_sub(*indent)) {
            writeln!(out, "{:indent$}{line}", "")?;
        }
    }
    Ok(())
}

/// Items with commas in lines that end between items. Only an item longer than a line is broken, between words.
fn packed(items: Vec<String>, columns: usize) -> Vec<String> {
    let mut packed: Vec<String> = Vec::new();
    let last = items.len().saturating_sub(1);
    for (place, item) in items.into_iter().enumerate() {
        let item = if place < last { item + "," } else { item };
        match packed.last_mut() {
            Some(line) if width(line) + 1 + width(&item) <= columns => {
                line.push(' ');
                line.push_str(&item);
            }
            _ => packed.extend(lines(&item, columns)),
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(grid: &Grid, columns: usize) -> String {
        let mut out = Vec::new();
        grid.write(columns, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn grid() -> Grid {
        let columns = [Column::key("node", 6, 20), Column::number("tasks", 5), Column::text("interval", 8)];
        let mut grid = Grid::new(2, columns);
        grid.row(["worker-with-a-name".into(), "12".into(), "0.1 to 12 %".into()]);
        grid.note(4, "slow since Monday".to_owned());
        grid.row(["w2".into(), UNKNOWN.into(), "1".into()]);
        grid
    }

    #[test]
    fn a_table_that_fits_has_a_header() {
        let expected = "  node               tasks  interval\n  worker-with-a-name    12  0.1 to 12 %\n    slow since Monday\n  w2                     -  1\n";
        assert_eq!(text(&grid(), 80), expected);
    }

    #[test]
    fn wrapped_names_go_on_below() {
        let columns = [Column::key("with", 6, usize::MAX).wrapped(), Column::number("takes", 5)];
        let mut grid = Grid::new(2, columns);
        grid.row(["no skew and no stragglers".into(), "12 s".into()]);
        assert_eq!(text(&grid, 20), "  with         takes\n  no skew and   12 s\n    no stragglers\n");
    }

    #[test]
    fn names_are_cut_first() {
        let expected = "  node    tasks  interval\n  worker…    12  0.1 to 12 %\n    slow since Monday\n  w2          -  1\n";
        assert_eq!(text(&grid(), 28), expected);
    }

    #[test]
    fn ids_keep_their_ends() {
        let columns = [Column::key("run", 8, 40).with_end(), Column::number("took", 4)];
        let mut grid = Grid::new(0, columns);
        grid.row(["application_1790000000000_0056".into(), "12 s".into()]);
        assert_eq!(text(&grid, 20), "run             took\napplica…00_0056 12 s\n");
        assert!(text(&grid, 80).contains("application_1790000000000_0056"));
    }

    #[test]
    fn a_table_without_room_is_a_list() {
        let expected = "  worker-with-a-name\n    tasks 12,\n    interval 0.1 to\n    12 %\n    slow since\n    Monday\n  w2\n    interval 1\n";
        assert_eq!(text(&grid(), 20), expected);
    }
}
