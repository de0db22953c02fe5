//! A document as one self-contained page for a browser, with tables to sort.

pub(crate) mod axis;
mod curve;
mod drawing;
pub(crate) mod escape;
pub(crate) mod frame;
mod problems;
mod table;
mod value;

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Block, Document, Figure, Finding, Media, Section};
use crate::words::capital;
use escape::{cut_text, escaped, prose};
use frame::Frame;

/// Longer sentences are cut.
const SENTENCE: usize = 1000;

/// Writes the page.
pub(crate) fn write(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (mut nav, mut main) = (String::new(), String::new());
    for section in document.sections.iter().filter(|section| section.shown(Media::HTML).next().is_some()) {
        link(&section.id, &section.link, &mut nav);
        main.push_str(if main.is_empty() { "" } else { "\n" });
        self::section(section, &mut main);
    }
    if !document.problems.is_empty() {
        link("problems", "Problems", &mut nav);
        main.push_str(&problems::section(document.problems));
    }
    Frame { title: document.title, nav: &nav, main: &main, foot: &document.foot }.write(out)
}

fn link(id: &str, text: &str, nav: &mut String) {
    if !text.is_empty() {
        let gap = if nav.is_empty() { "" } else { "\n" };
        let _ = write!(nav, "{gap}<a href=\"#{id}\">{}</a>", cut(text));
    }
}

/// A short name.
fn cut(name: &str) -> String {
    format!("<bdi>{}</bdi>", escape::escape(&cut_text(name, 160)))
}

fn section(section: &Section<'_>, html: &mut String) {
    let Section { id, title, about, .. } = section;
    let kind = if about.is_some() { " class=\"job\" tabindex=\"-1\"" } else { "" };
    let _ = write!(html, "<section{kind} id=\"{id}\" aria-labelledby=\"h-{id}\">");
    if !title.is_empty() {
        let _ = write!(html, "\n<h2 id=\"h-{id}\">{}{}</h2>", cut(title), beside(section));
    }
    section.shown(Media::HTML).for_each(|part| block(part, (id, 3), html));
    html.push_str("\n</section>");
}

fn part(section: &Section<'_>, html: &mut String) {
    let Section { id, title, .. } = section;
    let (title, beside) = (cut(title), beside(section));
    let _ = write!(
        html,
        "\n<article id=\"{id}\" aria-labelledby=\"h-{id}\" tabindex=\"-1\">\n<h3 id=\"h-{id}\">{title}{beside}</h3>"
    );
    section.shown(Media::HTML).for_each(|part| block(part, (id, 4), html));
    html.push_str("\n</article>");
}

/// What is next to the title of a job: "30 runs, alice", and a link.
fn beside(Section { id, about, .. }: &Section<'_>) -> String {
    let Some(about) = about else { return String::new() };
    let about = match about.as_str() {
        "" => String::new(),
        about => format!(" <span class=\"name\">{}</span>", cut(about)),
    };
    format!("{about} <a class=\"link\" href=\"#{id}\" aria-label=\"Link to this part\">#</a>")
}

fn all(blocks: &[Block<'_>], (id, level): (&str, u8), html: &mut String) {
    for one in blocks {
        block(one, (id, level), html);
    }
}

/// Writes a block of the section with this id, in which titles have this level.
fn block(one: &Block<'_>, (id, level): (&str, u8), html: &mut String) {
    let sentence = |text: &str| prose(text, SENTENCE);
    let _ = match one {
        Block::Headline(text) => write!(html, "\n<h1 id=\"h-{id}\">{}</h1>", escaped(text)),
        Block::Lead(text) => write!(html, "\n<p class=\"lead\"><bdi>{}</bdi></p>", sentence(text)),
        Block::Strong(strong, text) => write!(html, "\n<p><strong>{strong}</strong>{}</p>", sentence(text)),
        Block::Note(text) => write!(html, "\n<p class=\"note\">{}</p>", sentence(text)),
        Block::Told(text) => write!(html, "\n<p class=\"told\"><bdi>{}</bdi></p>", sentence(text)),
        Block::Warning(text) => write!(html, "\n<p class=\"warn\"><bdi>{}</bdi></p>", sentence(text)),
        Block::Heading(id, title) => write!(html, "\n<h{level} id=\"{id}\">{}</h{level}>", escaped(title)),
        Block::Facts(facts) => {
            let facts: Vec<String> =
                facts.iter().map(|fact| format!("<li>{}</li>", sentence(fact))).collect();
            let facts = facts.concat();
            write!(html, "\n<ul class=\"facts\">{facts}</ul>")
        }
        Block::Advice(text) => {
            write!(html, "\n<ul class=\"advice\"><li><bdi>{}</bdi></li></ul>", sentence(text))
        }
        Block::Label(title) => write!(html, "\n<h{level}>{}</h{level}>", escaped(&capital(title))),
        Block::List(sentences) => write!(html, "\n{}", list(sentences)),
        Block::Finding(finding) => write!(html, "\n{}", self::finding(finding)),
        Block::Figures(figures) => {
            let figures: String = figures.iter().map(figure).collect();
            write!(html, "\n<dl class=\"tiles\">{figures}\n</dl>")
        }
        Block::Table(table) => write!(html, "\n{}", table::html(table, id)),
        Block::Curve(curve) => write!(html, "\n{}", curve::figure(curve)),
        Block::Beside(blocks) => {
            html.push_str("\n<div class=\"charts pair\">");
            all(blocks, (id, level), html);
            write!(html, "\n</div>")
        }
        Block::Command(lines) => write!(html, "\n{}", command(lines)),
        Block::Folded(summary, blocks) => {
            let _ = write!(html, "\n<details><summary>{summary}</summary>");
            all(blocks, (id, level), html);
            write!(html, "\n</details>")
        }
        Block::Group(id, blocks) => {
            let _ = write!(html, "\n<div class=\"charts group\" id=\"{id}\" tabindex=\"-1\">");
            all(blocks, (id, level), html);
            write!(html, "\n</div>")
        }
        Block::Part(section) => {
            part(section, html);
            Ok(())
        }
        Block::Chart(chart) => write!(html, "\n{}", drawing::figure(chart)),
    };
}

fn list(sentences: &[String]) -> String {
    let item = |item: &String| format!("\n<li><bdi>{}</bdi></li>", prose(item, SENTENCE));
    let items: Vec<String> = sentences.iter().map(item).collect();
    format!("<ul class=\"totals\">{}\n</ul>", items.concat())
}

/// Lines to paste.
fn command(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
    let lines = lines.join(" \\\n");
    format!("<div class=\"configuration\"><pre tabindex=\"0\"><code>{lines}</code></pre></div>")
}

fn finding(Finding { severity, name, label, link, place, text, more }: &Finding) -> String {
    let label = label.as_ref().map(|label| format!("<span class=\"badge {severity}\">{label}</span> "));
    let name = match link {
        Some(id) => format!("<a href=\"#{id}\">{}</a>", cut(name)),
        None => cut(name),
    };
    let place = place.as_ref().map(|place| format!(" <span class=\"subject\">{}</span>", cut(place)));
    let more =
        more.iter().map(|text| format!("\n<p class=\"message\"><bdi>{}</bdi></p>", prose(text, SENTENCE)));
    format!(
        "<div class=\"finding {severity}\"><p class=\"message\">{}<strong>{name}</strong>{}{}</p>{}</div>",
        label.unwrap_or_default(),
        place.unwrap_or_default(),
        prose(text, SENTENCE),
        more.collect::<String>()
    )
}

fn figure(figure: &Figure<'_>) -> String {
    let remark = |remark: &String| format!(" <small>{}</small>", escaped(remark));
    let remarks: String = figure.remarks.iter().map(remark).collect();
    format!("\n<div><dt>{}</dt><dd>{}{remarks}</dd></div>", figure.name, value::shown(&figure.value))
}

/// Colours and what they stand for. A sentence has no colour.
fn legend<'l>(keys: impl Iterator<Item = (&'l str, &'l str)>) -> String {
    let key = |(class, text): (&str, &str)| match class {
        "" => escaped(text),
        _ => format!("<span class=\"key {class}\"></span>{}", escaped(text)),
    };
    keys.map(key).collect::<Vec<_>>().join(" ")
}
