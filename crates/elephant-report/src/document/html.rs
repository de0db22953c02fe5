//! A document as one self-contained page for a browser, with tables to sort.

mod drawing;
mod value;

use std::fmt::Write as _;
use std::io::{self, Write};

use askama::Template;

use super::table::Kind;
use super::{Block, Column, Document, Figure, Media, Section, Table};
use crate::html::filters::{prose_html, shown_html};
use crate::html::frame::{self, Code};
use crate::words::capital;

pub(crate) fn write(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (mut nav, mut main) = (String::new(), String::new());
    for section in &document.sections {
        if section.shown(Media::HTML).next().is_some() {
            let gap = if nav.is_empty() { "" } else { "\n" };
            let _ = write!(nav, "{gap}<a href=\"#{}\">{}</a>", section.id, escaped(section.link));
            main.push_str(if main.is_empty() { "" } else { "\n" });
            self::section(section, &mut main);
        }
    }
    Page { document, nav, main }.write_into(out)
}

#[derive(Template)]
#[template(path = "document.html")]
struct Page<'a> {
    document: &'a Document<'a>,
    nav: String,
    main: String,
}

impl Page<'_> {
    const STYLES: &'static [Code] = &[frame::STYLE, frame::CHART_STYLE];
    const SCRIPTS: &'static [Code] = &[frame::SORT];
}

/// Own words or a name as HTML.
fn escaped(text: &str) -> String {
    shown_html(text)
}

fn section(section: &Section<'_>, html: &mut String) {
    let Section { id, title, .. } = section;
    let _ = write!(html, "<section id=\"{id}\" aria-labelledby=\"h-{id}\">");
    if !title.is_empty() {
        let _ = write!(html, "\n<h2 id=\"h-{id}\">{}</h2>", escaped(title));
    }
    section.shown(Media::HTML).for_each(|part| block(part, id, html));
    html.push_str("\n</section>");
}

fn block(block: &Block<'_>, id: &str, html: &mut String) {
    let _ = match block {
        Block::Headline(text) => write!(html, "\n<h1 id=\"h-{id}\">{}</h1>", escaped(text)),
        Block::Lead(text) => write!(html, "\n<p class=\"lead\">{}</p>", escaped(text)),
        Block::Note(text) => write!(html, "\n<p class=\"note\">{}</p>", prose_html(text)),
        Block::Label(title) => write!(html, "\n<h3>{}</h3>", escaped(&capital(title))),
        Block::List(sentences) => {
            let items: String =
                sentences.iter().map(|item| format!("\n<li>{}</li>", escaped(item))).collect();
            write!(html, "\n<ul>{items}\n</ul>")
        }
        Block::Figures(figures) => {
            let figures: String = figures.iter().map(figure).collect();
            write!(html, "\n<dl class=\"tiles\">{figures}\n</dl>")
        }
        Block::Table(table) => write!(html, "\n{}", self::table(table, id)),
        Block::Chart(chart) => write!(html, "\n{}", drawing::figure(chart)),
    };
}

fn figure(figure: &Figure<'_>) -> String {
    let remark = |remark: &String| format!(" <small>{}</small>", escaped(remark));
    let remarks: String = figure.remarks.iter().map(remark).collect();
    format!("\n<div><dt>{}</dt><dd>{}{remarks}</dd></div>", figure.name, value::shown(&figure.value))
}

fn table(table: &Table<'_>, id: &str) -> String {
    let heads: String = table.columns(Media::HTML).map(|column| head(column, table.is_sortable)).collect();
    let row = |row| {
        let cells = table.cells(row, Media::HTML);
        format!("\n<tr>{}</tr>", cells.map(|(column, cell)| value::cell(column, cell)).collect::<String>())
    };
    let rows: String = table.rows.iter().map(row).collect();
    let class = if table.is_sortable { "plain sortable" } else { "plain" };
    format!(
        "<div class=\"scroll\" role=\"group\" aria-labelledby=\"h-{id}\" tabindex=\"0\">\n<table class=\"{class}\">\n<thead><tr>{heads}</tr></thead>\n<tbody>{rows}\n</tbody>\n</table>\n</div>"
    )
}

fn head(column: &Column, is_sortable: bool) -> String {
    let kind = match column.kind {
        Kind::Number if is_sortable => " class=\"n\" data-kind=\"number\"",
        Kind::Number => " class=\"n\"",
        _ => "",
    };
    let title = column.on_page.map_or_else(|| capital(&column.long), str::to_owned);
    format!("<th scope=\"col\"{kind}>{}</th>", escaped(&title))
}
