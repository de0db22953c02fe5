//! A mail for a program that sends what it reads (sendmail). Headers have ASCII only: other characters are encoded as RFC
//! 2047 has it, and no name can begin a header, because texts have no line ends.

use std::fmt::Write as _;

use super::identity;
use super::texts::{MOST_TROUBLES, about, change, headline, not_shown};
use crate::file::Mail;
use crate::{Alert, News};
use elephant_report::wrap::{clean, lines};

/// Letters of a line of text.
const COLUMNS: usize = 76;
/// Bytes of a line in the text, which must have fewer than 998.
const MOST_BYTES: usize = 900;
/// Letters of the subject.
const SUBJECT: usize = 200;
/// Bytes of an encoded word, without the beginning `=?UTF-8?Q?` and the end `?=`. All of it may have 75.
const WORD: usize = 63;

/// The program with its arguments. Recipients are arguments, so that the program reads none from the headers.
pub(super) fn command(mail: &Mail) -> Vec<String> {
    let sender = mail.from.iter().flat_map(|from| ["-f".to_owned(), from.clone()]);
    let recipients = std::iter::once("--".to_owned()).chain(mail.to.iter().cloned());
    mail.command.iter().cloned().chain(sender).chain(recipients).collect()
}

pub(super) fn message(mail: &Mail, alert: &Alert) -> String {
    let subject: String = format!("[elephant-rs] {}", headline(alert)).chars().take(SUBJECT).collect();
    let mut text = String::new();
    // Writing to a text does not fail.
    if let Some(from) = &mail.from {
        let _ = writeln!(text, "From: {from}");
    }
    let _ = writeln!(text, "To: {}", mail.to.join(",\n "));
    let _ = writeln!(text, "Subject: {}", encoded(&subject));
    let _ = writeln!(text, "Message-ID: <{:032x}@elephant-rs.invalid>", identity(alert));
    let headers = "Auto-Submitted: auto-generated\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\
                   Content-Transfer-Encoding: 8bit\n\n";
    text += headers;
    for (label, value) in about(alert) {
        wrapped(&mut text, "", &format!("{label}: {value}"));
    }
    if let Some(link) = identity_link(alert) {
        wrapped(&mut text, "", &format!("Scheduler: {link}"));
    }
    for news in alert.troubles.iter().take(MOST_TROUBLES) {
        text.push('\n');
        trouble(&mut text, news);
    }
    let more = not_shown(alert, MOST_TROUBLES).map(|more| format!("\n{more}\n"));
    let page = alert.run.link.as_ref().map(|link| format!("\nPage of the application: {link}\n"));
    text + &more.unwrap_or_default() + &page.unwrap_or_default()
}

fn identity_link(alert: &Alert) -> Option<String> {
    alert.run.identity.as_ref()?.link.as_deref().map(clean)
}

fn trouble(text: &mut String, news: &News) {
    let title = format!("{} ({}): {}", news.severity.name().to_uppercase(), change(news), news.title);
    wrapped(text, "", &title);
    wrapped(text, "  ", &news.cause);
    if let Some(advice) = &news.advice {
        wrapped(text, "  ", &format!("-> {advice}"));
    }
    for setting in &news.settings {
        // A line to paste is not broken.
        pieces(text, "     ", &clean(setting));
    }
    if let Some(saves) = &news.saves {
        wrapped(text, "  ", saves);
    }
}

/// Adds a text in lines.
fn wrapped(text: &mut String, indent: &str, added: &str) {
    for line in lines(&clean(added), COLUMNS - indent.len()) {
        pieces(text, indent, &line);
    }
}

/// Adds a line, or several if it has too many bytes for mail.
fn pieces(text: &mut String, indent: &str, line: &str) {
    let mut rest = line;
    while !rest.is_empty() {
        let end = (0..=rest.len().min(MOST_BYTES)).rev().find(|end| rest.is_char_boundary(*end));
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        let _ = writeln!(text, "{indent}{piece}");
        rest = after;
    }
}

/// The value of a header: as it is, if that is safe, or in encoded words.
fn encoded(text: &str) -> String {
    let text = clean(text);
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && !text.contains("=?");
    if is_plain && text.len() <= COLUMNS {
        return text;
    }
    let mut words = vec![String::new()];
    for letter in text.chars() {
        let mut written = String::new();
        let mut bytes = [0; 4];
        for byte in letter.encode_utf8(&mut bytes).bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'!' | b'*' | b'+' | b'-' | b'/' => {
                    written.push(char::from(byte));
                }
                b' ' => written.push('_'),
                byte => drop(write!(written, "={byte:02X}")),
            }
        }
        // A letter is in one word.
        match words.last_mut() {
            Some(word) if word.len() + written.len() <= WORD => word.push_str(&written),
            _ => words.push(written),
        }
    }
    let words: Vec<String> = words.into_iter().map(|word| format!("=?UTF-8?Q?{word}?=")).collect();
    words.join("\n ")
}
