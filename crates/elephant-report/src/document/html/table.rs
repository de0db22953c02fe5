//! Tables of a page. Wide ones scroll in their own box, so that the keyboard must reach it.

use std::fmt::Write as _;

use super::super::table::{Axis, Kind};
use super::super::{Column, Media, Row, Table};
use super::drawing::Scale;
use super::escape::{escaped, prose};
use super::{SENTENCE, legend, value};
use crate::words::capital;

/// Longer tables scroll in their own box.
const LONG: usize = 30;

/// A table; one with a title is a figure. `id` is the section's.
pub(super) fn html(table: &Table<'_>, id: &str) -> String {
    let Some((kind, caption)) = &table.caption else {
        let class = if table.is_sortable { "plain stacked sortable" } else { "plain stacked" };
        let long = if table.rows.len() > LONG { " long" } else { "" };
        let label = match table.name {
            Some(name) => format!("aria-label=\"{name}\""),
            None => format!("aria-labelledby=\"h-{id}\""),
        };
        return scrolling(&rows(table, class), long, &label);
    };
    let caption = escaped(caption);
    let is_drawn = table.columns(Media::HTML).any(|column| column.kind == Kind::Drawn);
    let rows = if is_drawn {
        rows(table, &format!("bars {kind}"))
    } else {
        scrolling(&rows(table, "plain"), "", &format!("aria-label=\"{caption}\""))
    };
    let mut html = format!("<figure><figcaption>{caption}</figcaption>\n{rows}");
    if !table.legend.is_empty() {
        let keys = table.legend.iter().map(|(class, text)| (*class, text.as_str()));
        let _ = write!(html, "\n<p class=\"legend\">{}</p>", legend(keys));
    }
    for note in &table.notes {
        let _ = write!(html, "\n<p class=\"note\">{}</p>", prose(note, SENTENCE));
    }
    html + "\n</figure>"
}

fn scrolling(table: &str, long: &str, label: &str) -> String {
    format!("<div class=\"scroll{long}\" role=\"group\" {label} tabindex=\"0\">\n{table}\n</div>")
}

fn rows(table: &Table<'_>, class: &str) -> String {
    let scales: Vec<Option<Scale<'_>>> = (0..table.columns.len()).map(|place| scale(table, place)).collect();
    let columns = table.columns.iter().zip(&scales).filter(|(column, _)| column.media.has(Media::HTML));
    let heads: String =
        columns.map(|(column, scale)| head(column, scale.as_ref(), table.is_sortable)).collect();
    let row = |row: &Row<'_>| {
        let cells = table.columns.iter().zip(&row.cells).zip(&scales);
        let shown = cells.filter(|((column, _), _)| column.media.has(Media::HTML));
        let cells: String = shown
            .map(|((column, cell), scale)| value::cell(column, cell, scale.as_ref(), table.is_sortable))
            .collect();
        let id = row.id.as_ref().map(|id| format!(" id=\"{id}\" tabindex=\"-1\"")).unwrap_or_default();
        let class = if row.is_current { " class=\"current\"" } else { "" };
        format!("\n<tr{id}{class}>{cells}</tr>")
    };
    let rows: String = table.rows(Media::HTML).map(row).collect();
    format!("<table class=\"{class}\">\n<thead><tr>{heads}</tr></thead>\n<tbody>{rows}\n</tbody>\n</table>")
}

impl Column {
    /// What is above the column, as HTML.
    pub(super) fn heading(&self) -> String {
        escaped(&self.on_page.map_or_else(|| capital(&self.long), str::to_owned))
    }
}

/// The scale of the drawings in a column.
fn scale<'t>(table: &'t Table<'_>, place: usize) -> Option<Scale<'t>> {
    let axis: &Axis = table.columns.get(place)?.axis.as_ref()?;
    let values = table.rows(Media::HTML).filter_map(|row| row.cells.get(place)).map(|cell| &cell.value);
    Scale::of(axis, values)
}

fn head(column: &Column, scale: Option<&Scale<'_>>, is_sortable: bool) -> String {
    let kind = match column.kind {
        Kind::Number if is_sortable => " class=\"n\" data-kind=\"number\"",
        Kind::Number => " class=\"n\"",
        Kind::Drawn => " class=\"draw\"",
        Kind::Key | Kind::Text => "",
    };
    let title = match scale {
        Some(scale) => scale.head(),
        None => column.heading(),
    };
    format!("<th scope=\"col\"{kind}>{title}</th>")
}
