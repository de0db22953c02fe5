//! The page as rendered by `CommonMark` with GitHub's tables, and the text that GitHub would turn into links.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Panics if anything in the page is more than text, except the report's own structure.
pub(super) fn check(page: &str) {
    assert!(page.chars().count() <= 65_536, "{} characters", page.chars().count());
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH;
    let (mut text, mut details) = (String::new(), 0);
    // Nothing in a block of code is a link or a mention.
    let mut in_code = false;
    for event in Parser::new_ext(page, options) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(_) if in_code => {}
            Event::Start(
                Tag::Heading { .. }
                | Tag::Paragraph
                | Tag::Table(_)
                | Tag::TableHead
                | Tag::TableRow
                | Tag::TableCell
                | Tag::List(None)
                | Tag::Item
                | Tag::Strong
                | Tag::HtmlBlock,
            )
            | Event::End(_)
            | Event::SoftBreak => text.push('\n'),
            Event::Start(tag) => panic!("{tag:?} in\n{page}"),
            Event::Text(words) => text.push_str(&words),
            Event::Code(code) => assert_eq!(&*code, "elephant-rs rules show RULE"),
            Event::Html(html) => {
                text.push_str(&inside(&html));
                details += i32::from(html.contains("<details>")) - i32::from(html.contains("</details>"));
            }
            other => panic!("{other:?} in\n{page}"),
        }
    }
    assert_eq!(details, 0, "an unclosed details element in\n{page}");
    no_links(&text);
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{page:?}");
}

/// The words between the tags that the report writes itself.
fn inside(html: &str) -> String {
    let words = ["<details>", "</details>", "<summary>", "</summary>", "<b>", "</b>"]
        .iter()
        .fold(html.to_owned(), |html, tag| html.replace(tag, ""));
    assert!(!words.contains(['<', '>']), "{html:?}");
    let entities = [("&#8203;", "\u{200b}"), ("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">")];
    let words = entities.iter().fold(words, |words, (entity, c)| words.replace(entity, c));
    words.replace("&amp;", "&")
}

/// Mentions, issue references and addresses become links in any text.
fn no_links(text: &str) {
    let next = |at: usize| text[at..].chars().next();
    for (at, c) in text.char_indices() {
        let after = next(at + c.len_utf8());
        let is_link = match c {
            '@' | '#' => after.is_some_and(char::is_alphanumeric),
            ':' => {
                text[at..].starts_with("://")
                    && ["http", "https", "ftp"]
                        .iter()
                        .any(|scheme| text[..at].to_lowercase().ends_with(scheme))
            }
            '.' => text[..at].to_lowercase().ends_with("www") && after.is_some_and(char::is_alphanumeric),
            _ => false,
        };
        assert!(!is_link, "a link at {:?}", text[at..].chars().take(30).collect::<String>());
    }
}
