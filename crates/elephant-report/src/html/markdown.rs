//! Rule pages as HTML. Pages may come from users' files, so HTML in them stays text. Links are written as text, so that
//! the report does not refer to other resources.

use std::borrow::Cow;

use askama::filters::HtmlSafe;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use elephant_ruleset::RuleInfo;

/// One rule with its page.
pub(super) struct RulePage<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) html: Html,
}

/// Text that is HTML already.
pub(super) struct Html(String);

impl HtmlSafe for Html {}

impl std::fmt::Display for Html {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'a> RulePage<'a> {
    pub(super) fn of(info: &'a RuleInfo) -> Self {
        Self { id: &info.id, title: &info.title, html: Html(render(&info.page)) }
    }
}

/// A page as HTML without its title, which stands above it.
#[cfg(feature = "site")]
pub(crate) fn below_title(page: &str) -> String {
    rendered(page, |level| level)
}

/// Renders `page` with headings two levels deeper, and without its title, which the template writes.
fn render(page: &str) -> String {
    rendered(page, deeper)
}

fn rendered(page: &str, level_of: fn(HeadingLevel) -> HeadingLevel) -> String {
    let events = Parser::new_ext(page, Options::ENABLE_TABLES);
    let mut out: Vec<Event<'_>> = Vec::new();
    let mut targets: Vec<CowStr<'_>> = Vec::new();
    let mut in_title = false;
    for event in events {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => in_title = true,
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => in_title = false,
            _ if in_title => {}
            Event::Start(Tag::Heading { level, .. }) => {
                out.push(Event::Start(Tag::Heading {
                    level: level_of(level),
                    id: None,
                    classes: Vec::new(),
                    attrs: Vec::new(),
                }));
            }
            Event::End(TagEnd::Heading(level)) => out.push(Event::End(TagEnd::Heading(level_of(level)))),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => targets.push(dest_url),
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some(target) = targets.pop().filter(|target| !target.is_empty()) {
                    out.push(Event::Text(format!(" ({target})").into()));
                }
            }
            Event::Start(Tag::HtmlBlock) => out.push(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => out.push(Event::End(TagEnd::Paragraph)),
            Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => {
                out.push(Event::Text(visible_text(text)));
            }
            Event::Code(text) => out.push(Event::Code(visible_text(text))),
            event => out.push(event),
        }
    }
    let mut html = String::new();
    html::push_html(&mut html, out.into_iter());
    // Elements that scroll must be reachable by keyboard.
    html.replace("<pre>", "<pre tabindex=\"0\">")
}

/// Makes hidden characters visible, and keeps the line breaks of code blocks.
fn visible_text(text: CowStr<'_>) -> CowStr<'_> {
    match super::filters::visible_lines(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => text.into(),
    }
}

const fn deeper(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 | HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_go_below_those_of_the_report() {
        assert_eq!(render("# Title\n\ntext\n\n## What\n"), "<p>text</p>\n<h4>What</h4>\n");
    }

    #[cfg(feature = "site")]
    #[test]
    fn headings_stay_below_a_title() {
        assert_eq!(below_title("# Title\n\ntext\n\n## What\n"), "<p>text</p>\n<h2>What</h2>\n");
    }

    #[test]
    fn html_stays_text() {
        let html = render("<script>alert(1)</script>\n\na <b onclick=x>b</b> `</code><i>`");
        assert!(!html.contains("<script") && !html.contains("<b ") && !html.contains("<i>"), "{html}");
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
    }

    #[test]
    fn links_become_text() {
        let html =
            render("[a](javascript:alert(1)) ![b](http://c/d.png) <http://e/>\n\n[f]\n\n[f]: http://g");
        assert_eq!(
            html,
            "<p>a (javascript:alert(1)) b (http://c/d.png) http://e/ (http://e/)</p>\n<p>f (http://g)</p>\n"
        );
    }
}
