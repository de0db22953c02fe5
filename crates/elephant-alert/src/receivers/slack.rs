//! Slack: a message of an incoming webhook in Block Kit.
//!
//! Names from histories are text only: `&`, `<` and `>` are escaped, so that no name is a link, a mention or a command, and
//! texts are verbatim, so that no address in a name becomes a link.

use serde::Serialize;

use super::texts::{MOST_TROUBLES, about, change, headline, not_shown};
use crate::{Alert, News};
use elephant_report::wrap::clean;

/// Slack's limits: letters of a header, of a text, and of a field, and fields of a section.
const HEADER: usize = 150;
const TEXT: usize = 3000;
const FIELD: usize = 2000;
const FIELDS: usize = 10;
/// Longer causes are cut, so that settings and savings of a trouble are shown.
const CAUSE: usize = 1000;
const SETTINGS: usize = 1000;

/// A message.
#[derive(Serialize)]
pub(super) struct Message {
    /// What notifications show.
    text: String,
    unfurl_links: bool,
    unfurl_media: bool,
    blocks: Vec<Block>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Block {
    Header {
        text: Text,
    },
    Section {
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<Text>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        fields: Vec<Text>,
    },
    Context {
        elements: Vec<Text>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Text {
    PlainText { text: String, emoji: bool },
    Mrkdwn { text: String, verbatim: bool },
}

impl Text {
    /// A text in which names are escaped already.
    fn marked(text: String) -> Self {
        Self::Mrkdwn { text, verbatim: true }
    }
}

pub(super) fn message(alert: &Alert) -> Message {
    let headline = headline(alert);
    let fields = about(alert).into_iter().take(FIELDS);
    let fields = fields.map(|(label, value)| {
        let start = format!("*{label}*\n");
        let room = FIELD - start.chars().count();
        Text::marked(start + &escaped(&value, room))
    });
    let mut blocks = vec![
        Block::Header { text: Text::PlainText { text: escaped(&headline, HEADER), emoji: false } },
        Block::Section { text: None, fields: fields.collect() },
    ];
    let shown = alert.troubles.iter().take(MOST_TROUBLES);
    blocks.extend(
        shown.map(|news| Block::Section { text: Some(Text::marked(trouble(news))), fields: Vec::new() }),
    );
    let more = not_shown(alert, MOST_TROUBLES).map(Text::marked);
    // The address is made from that of the server and an id in which all but letters and digits are encoded.
    let link = alert.run.link.as_ref().map(|link| Text::marked(format!("<{link}|Page of the application>")));
    let elements: Vec<Text> = more.into_iter().chain(link).collect();
    blocks.extend((!elements.is_empty()).then_some(Block::Context { elements }));
    Message { text: escaped(&headline, TEXT), unfurl_links: false, unfurl_media: false, blocks }
}

fn trouble(news: &News) -> String {
    let title = format!("*{} · {} · ", news.severity.name().to_uppercase(), change(news));
    let mut text = title + &escaped(&news.title, 300) + "*\n" + &escaped(&news.cause, CAUSE);
    if let Some(advice) = news.advice.as_ref().filter(|_| news.settings.is_empty()) {
        text = text + "\n→ " + &escaped(advice, SETTINGS);
    }
    if !news.settings.is_empty() {
        // A name with backticks would end the block.
        let settings: Vec<String> = news.settings.iter().map(|set| clean(set).replace('`', "'")).collect();
        let settings = settings.join("\n");
        text = text + "\n```" + &escaped_lines(&settings, SETTINGS) + "```";
    }
    if let Some(saves) = &news.saves {
        text = text + "\n" + &escaped(saves, 300);
    }
    text
}

/// The text without control characters, and with at most so many letters once it is escaped.
fn escaped(text: &str, most: usize) -> String {
    escaped_lines(&clean(text), most)
}

/// The same of lines that have no control characters.
fn escaped_lines(text: &str, most: usize) -> String {
    let (mut escaped, mut length) = (String::new(), 0);
    // The last one is for the sign that something is missing.
    let room = most.saturating_sub(1);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let entity = match letter {
            '&' => Some("&amp;"),
            '<' => Some("&lt;"),
            '>' => Some("&gt;"),
            _ => None,
        };
        length += entity.map_or(1, str::len);
        if length > room && !(length == most && letters.peek().is_none()) {
            escaped.push('…');
            return escaped;
        }
        match entity {
            Some(entity) => escaped.push_str(entity),
            None => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_letters() {
        assert_eq!(escaped("<a&b>", 100), "&lt;a&amp;b&gt;");
        assert_eq!(escaped("abcde", 5), "abcde");
        assert_eq!(escaped("abcdef", 5), "abcd…");
        assert_eq!(escaped("ab<<<", 9), "ab&lt;…");
        assert_eq!(escaped("ab<", 6), "ab&lt;");
        assert_eq!(escaped("ab<", 5), "ab…");
    }
}
