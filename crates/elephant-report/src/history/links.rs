//! Where names in answers lead to: in a file nowhere, on a server to their pages.

use crate::document::Cell;
use elephant_store::Grouping;

/// The addresses of pages, if there are any.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Links(pub(crate) Option<Addresses>);

/// The addresses of the pages of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addresses {
    /// That of a group, if it has one.
    pub(crate) group: fn(Grouping, &str) -> Option<String>,
    pub(crate) application: fn(&str) -> String,
}

impl Links {
    /// The cell with a link to the page of a group.
    pub(crate) fn group<'c>(self, cell: Cell<'c>, grouping: Grouping, key: Option<&str>) -> Cell<'c> {
        cell.page(self.0.zip(key).and_then(|(addresses, key)| (addresses.group)(grouping, key)))
    }

    /// The cell with a link to the page of an application.
    pub(crate) fn application<'c>(self, cell: Cell<'c>, id: &str) -> Cell<'c> {
        cell.page(self.0.map(|addresses| (addresses.application)(id)))
    }

    /// What is said of lines that are not shown.
    pub(crate) const fn more(self) -> &'static str {
        if self.0.is_some() { "more" } else { "more (`--top`)" }
    }

    /// The same of runs.
    pub(crate) const fn earlier(self) -> &'static str {
        if self.0.is_some() { "earlier" } else { "earlier (`--top`)" }
    }
}
