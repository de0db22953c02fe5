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
    /// Drawings on an axis that all rows share.
    Drawn,
}

/// The axis of a column of drawings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Axis {
    /// From the lowest to the highest value.
    Values,
    /// From 0 to 100 %.
    Shares,
    /// From 0 to the longest time.
    Times,
    /// Days, and gaps between them.
    Days(Vec<AxisDay>),
}

/// A column of an axis of days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AxisDay {
    pub(crate) class: &'static str,
    /// The day, where there is room for it.
    pub(crate) day: Option<String>,
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
    /// Whether longer names continue below their row in a terminal.
    pub(super) wraps: bool,
    pub(super) axis: Option<Axis>,
    /// Whether a terminal without room may leave it out.
    pub(super) is_expendable: bool,
    pub(super) media: Media,
}

impl Column {
    fn new(kind: Kind, title: impl Into<Cow<'static, str>>, least: usize) -> Self {
        let short = title.into();
        let (long, most, media) = (short.clone(), usize::MAX, Media::ALL);
        Self {
            kind,
            short,
            long,
            in_list: None,
            on_page: None,
            least,
            most,
            keeps_end: false,
            wraps: false,
            axis: None,
            is_expendable: false,
            media,
        }
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

    pub(crate) fn drawn(axis: Axis) -> Self {
        Self { axis: Some(axis), ..Self::new(Kind::Drawn, "", 0) }
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

    /// Lets a terminal without room leave the column out if it has the same value everywhere.
    pub(crate) fn expendable(self) -> Self {
        Self { is_expendable: true, ..self }
    }

    pub(crate) fn wrapped(self) -> Self {
        Self { wraps: true, ..self }
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
    pub(super) media: Media,
    /// What links lead to.
    pub(super) id: Option<String>,
    /// Whether it is the row of the present state.
    pub(super) is_current: bool,
}

impl<'a> Row<'a> {
    pub(crate) fn new(cells: impl IntoIterator<Item = Cell<'a>>) -> Self {
        Self {
            cells: cells.into_iter().collect(),
            below: Vec::new(),
            media: Media::ALL,
            id: None,
            is_current: false,
        }
    }

    pub(crate) fn id(self, id: &str) -> Self {
        Self { id: Some(id.to_owned()), ..self }
    }

    pub(crate) fn current(self) -> Self {
        Self { is_current: true, ..self }
    }

    /// Restricts the row to some formats.
    pub(crate) fn only(self, media: Media) -> Self {
        Self { media, ..self }
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
    /// What it has, if not what its section's title says.
    pub(super) name: Option<&'static str>,
    /// The title of a figure, and the class of its drawings.
    pub(super) caption: Option<(&'static str, String)>,
    /// Colours and what they stand for.
    pub(super) legend: Vec<(&'static str, String)>,
    /// Sentences below the table of a figure.
    pub(super) notes: Vec<String>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(
        columns: impl IntoIterator<Item = Column>,
        rows: impl IntoIterator<Item = Row<'a>>,
    ) -> Self {
        let (columns, rows) = (columns.into_iter().collect(), rows.into_iter().collect());
        Self {
            columns,
            rows,
            is_sortable: true,
            name: None,
            caption: None,
            legend: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(crate) fn in_order(self) -> Self {
        Self { is_sortable: false, ..self }
    }

    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Makes the table a figure with a title, whose drawings have the class `kind`.
    pub(crate) fn figure(self, kind: &'static str, caption: impl Into<String>) -> Self {
        Self { is_sortable: false, caption: Some((kind, caption.into())), ..self }
    }

    pub(crate) fn legend(self, legend: Vec<(&'static str, String)>) -> Self {
        Self { legend, ..self }
    }

    pub(crate) fn note(mut self, note: impl Into<Option<String>>) -> Self {
        self.notes.extend(note.into());
        self
    }

    /// The rows that a format shows.
    pub(super) fn rows(&self, medium: Media) -> impl Iterator<Item = &Row<'a>> {
        self.rows.iter().filter(move |row| row.media.has(medium))
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
