//! Tables with typed columns and cells.

use std::borrow::Cow;

use super::{Cell, Media};

/// What a column has, which decides how it is aligned and sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The names of the rows.
    Key,
    Text,
    Number,
}

/// A column of a table.
pub(crate) struct Column {
    pub(super) kind: Kind,
    /// The title in a terminal.
    pub(super) short: Cow<'static, str>,
    /// The title where there is room.
    pub(super) long: Cow<'static, str>,
    /// The title in a list of values in a terminal, where no header explains it.
    pub(super) in_list: Option<&'static str>,
    /// The title on a page, if it differs in more than its first letter.
    pub(super) on_page: Option<&'static str>,
    /// The fewest and the most columns of a terminal.
    pub(super) least: usize,
    pub(super) most: usize,
    /// Whether longer values are cut in the middle: ids differ at their end.
    pub(super) keeps_end: bool,
    pub(super) media: Media,
}

impl Column {
    fn new(kind: Kind, title: impl Into<Cow<'static, str>>, least: usize) -> Self {
        let short = title.into();
        let (long, most, media) = (short.clone(), usize::MAX, Media::ALL);
        Self { kind, short, long, in_list: None, on_page: None, least, most, keeps_end: false, media }
    }

    /// The column with the names of the rows; in a terminal, longer ones are cut.
    pub(crate) fn key(title: impl Into<Cow<'static, str>>, least: usize, most: usize) -> Self {
        Self { most, ..Self::new(Kind::Key, title, least) }
    }

    pub(crate) fn text(title: impl Into<Cow<'static, str>>, least: usize) -> Self {
        Self::new(Kind::Text, title, least)
    }

    pub(crate) fn number(title: impl Into<Cow<'static, str>>, least: usize) -> Self {
        Self::new(Kind::Number, title, least)
    }

    /// Sets the title for formats with wide tables, and for lists of values.
    pub(crate) fn long(self, title: impl Into<Cow<'static, str>>) -> Self {
        Self { long: title.into(), ..self }
    }

    /// Sets the title for lists of values in a terminal.
    pub(crate) fn in_list(self, title: &'static str) -> Self {
        Self { in_list: Some(title), ..self }
    }

    /// Sets the title on a page.
    pub(crate) fn on_page(self, title: &'static str) -> Self {
        Self { on_page: Some(title), ..self }
    }

    pub(crate) fn with_end(self) -> Self {
        Self { keeps_end: true, ..self }
    }

    /// Restricts the column to some formats.
    pub(crate) fn only(self, media: Media) -> Self {
        Self { media, ..self }
    }
}

/// A row.
pub(crate) struct Row<'a> {
    /// A cell for each column, whether or not a format shows it.
    pub(super) cells: Vec<Cell<'a>>,
    /// Sentences below the row in a terminal, which has no room for their columns.
    pub(super) below: Vec<String>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(cells: impl IntoIterator<Item = Cell<'a>>) -> Self {
        Self { cells: cells.into_iter().collect(), below: Vec::new() }
    }

    pub(crate) fn below(mut self, sentence: impl Into<Option<String>>) -> Self {
        self.below.extend(sentence.into());
        self
    }
}

/// A table.
pub(crate) struct Table<'a> {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row<'a>>,
    pub(super) is_sortable: bool,
}

impl<'a> Table<'a> {
    pub(crate) fn new(
        columns: impl IntoIterator<Item = Column>,
        rows: impl IntoIterator<Item = Row<'a>>,
    ) -> Self {
        let (columns, rows) = (columns.into_iter().collect(), rows.into_iter().collect());
        Self { columns, rows, is_sortable: true }
    }

    pub(crate) fn in_order(self) -> Self {
        Self { is_sortable: false, ..self }
    }

    /// The columns that a format shows.
    pub(super) fn columns(&self, medium: Media) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(move |column| column.media.has(medium))
    }

    /// The rows that a format shows, with the column of each cell.
    pub(super) fn cells<'t>(
        &'t self,
        row: &'t Row<'a>,
        medium: Media,
    ) -> impl Iterator<Item = (&'t Column, &'t Cell<'a>)> {
        self.columns.iter().zip(&row.cells).filter(move |(column, _)| column.media.has(medium))
    }
}
