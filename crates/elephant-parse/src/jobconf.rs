//! Job configuration files (`job_…_conf.xml`).
//!
//! Source: `org.apache.hadoop.conf.Configuration.loadResource` for what Hadoop reads, `writeXml` for what it
//! writes. The job history server's REST interface uses the root `<conf>` instead of `<configuration>`.

mod encoding;
mod fast_path;
mod left_out;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use memchr::memmem;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use rustc_hash::FxHashSet;

use self::left_out::LeftOut;
use super::problem::{Level, Position, Problems};
use elephant_model::model::conf::{Conf, Property, SetBy};

/// The root elements of configurations.
const ROOTS: [&str; 2] = ["configuration", "conf"];
/// Code for a file that is broken off, or is not a configuration.
const DAMAGED: &str = "conf-damaged";
/// Code for a file with settings that were not read.
const INCOMPLETE: &str = "conf-incomplete";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Parses a configuration in UTF-8 or UTF-16. The properties before damage are kept, with one `conf-damaged`
/// warning; properties that cannot be interpreted are left out, with a `conf-incomplete` warning.
#[must_use]
pub fn parse<'a>(bytes: impl Into<Cow<'a, [u8]>>) -> (Conf, Problems) {
    let mut problems = Problems::default();
    let encoding::Text { characters: text, encoding, replaced_at } = encoding::decode(bytes.into());
    if replaced_at.is_some() {
        problems.add(Level::Info, "invalid-utf8", replaced_at.map(Position::Byte), || {
            format!("Invalid {encoding} was replaced; the affected values differ from the file")
        });
    }
    if let Some(found) = fast_path::properties(&text).filter(|found| !found.is_empty()) {
        return (found.in_text(text.into_owned()), problems);
    }
    let mut properties = XmlParser::default();
    if let Err(damage) = properties.read(&text) {
        let read = properties.conf.len();
        problems.warn(DAMAGED, Some(Position::Byte(damage.at)), || {
            format!(
                "Reading the job configuration stopped: {}; the {read} properties before are used",
                damage.why
            )
        });
    }
    if let Some(left_out) = properties.left_out.text() {
        problems.warn(INCOMPLETE, None, || left_out);
    }
    if properties.conf.is_empty() && !problems.any_at_least(Level::Warning) {
        problems.warn(INCOMPLETE, None, || {
            "The job configuration has no named property; all settings are unknown".to_owned()
        });
    }
    (properties.conf, problems)
}

/// Whether a file that starts with `head` is a configuration: its root element, after declarations and
/// comments, must be `<configuration>` or `<conf>`.
#[must_use]
pub fn looks_like_conf(head: &[u8]) -> bool {
    if let Some(text) = utf16_text(head) {
        return looks_like_conf(text.as_bytes());
    }
    let mut rest = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    loop {
        let after = if let Some(comment) = rest.strip_prefix(b"<!--") {
            after(comment, b"-->")
        } else if let Some(instruction) = rest.strip_prefix(b"<?") {
            after(instruction, b"?>")
        } else if let Some(declaration) = rest.strip_prefix(b"<!DOCTYPE") {
            behind_doctype(declaration)
        } else {
            return starts_with_root(rest);
        };
        let Some(after) = after else { return false };
        rest = after.trim_ascii_start();
    }
}

/// The text of a file that starts with `head`, if it is UTF-16.
#[must_use]
pub(crate) fn utf16_text(head: &[u8]) -> Option<String> {
    let text = encoding::is_utf16(head).then(|| encoding::decode(head.into()).characters.into_owned())?;
    // Reject text that is UTF-16 again after decoding; otherwise the caller could recurse for ever.
    (!encoding::is_utf16(text.as_bytes())).then_some(text)
}

fn after<'a>(text: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    text.get(memmem::find(text, end)? + end.len()..)
}

/// The text after a document type declaration, which may declare entities in brackets.
#[must_use]
pub(crate) fn behind_doctype(declaration: &[u8]) -> Option<&[u8]> {
    let (mut rest, mut brackets) = (declaration, 0usize);
    loop {
        let at = rest.iter().position(|byte| matches!(byte, b'[' | b']' | b'>' | b'"' | b'\'' | b'<'))?;
        let (mark, next) = rest.get(at..)?.split_first()?;
        rest = match (mark, next.strip_prefix(b"!--")) {
            (b'<', Some(comment)) => after(comment, b"-->")?,
            (b'"' | b'\'', _) => after(next, std::slice::from_ref(mark))?,
            (b'>', _) if brackets == 0 => return Some(next),
            _ => next,
        };
        match mark {
            b'[' => brackets += 1,
            b']' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
    }
}

fn starts_with_root(text: &[u8]) -> bool {
    let Some(tag) = text.strip_prefix(b"<") else { return false };
    ROOTS.iter().any(|root| match tag.strip_prefix(root.as_bytes()) {
        Some([next, ..]) => next.is_ascii_whitespace() || matches!(next, b'>' | b'/'),
        _ => false,
    })
}

/// Why and where reading a configuration stopped.
struct Damage {
    at: u64,
    why: String,
}

/// The child elements of `<property>` that matter.
#[derive(Debug, Clone, Copy)]
enum Part {
    Name,
    Value,
    Final,
    Source,
}

impl Part {
    /// The part with this element or attribute name.
    fn called(name: &str) -> Option<Self> {
        Some(match name {
            "name" => Self::Name,
            "value" => Self::Value,
            "final" => Self::Final,
            "source" => Self::Source,
            _ => return None,
        })
    }
}

/// A property whose end tag has not been read yet.
struct Draft {
    /// Number of open elements, including the property itself.
    depth: usize,
    part: Option<Part>,
    name: String,
    value: String,
    is_final: String,
    /// The first source.
    source: String,
    has_source: bool,
    /// Whether its text refers to an entity that XML does not predefine.
    has_entity: bool,
}

impl Draft {
    /// A property with its attributes, which Hadoop reads since 3.0 like elements; elements take precedence.
    fn of(tag: &BytesStart<'_>, depth: usize) -> Self {
        let mut draft = Self {
            depth,
            part: None,
            name: String::new(),
            value: String::new(),
            is_final: String::new(),
            source: String::new(),
            has_source: false,
            has_entity: false,
        };
        for attribute in tag.attributes().with_checks(false).flatten() {
            draft.part = Part::called(attribute.key.as_ref());
            draft.has_source |= matches!(draft.part, Some(Part::Source));
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            draft.has_entity |= draft.is_in_setting() && value.is_err();
            if let Some(text) = draft.text() {
                *text = value.unwrap_or(attribute.value).into_owned();
            }
        }
        draft.part = None;
        draft
    }

    fn open(&mut self, element: &str) {
        self.part = Part::called(element);
        if matches!(self.part, Some(Part::Source)) && std::mem::replace(&mut self.has_source, true) {
            self.part = None;
        }
        if let Some(text) = self.text() {
            text.clear();
        }
    }

    /// Whether the text belongs to what is set.
    const fn is_in_setting(&self) -> bool {
        matches!(self.part, Some(Part::Name | Part::Value | Part::Final))
    }

    fn text(&mut self) -> Option<&mut String> {
        Some(match self.part? {
            Part::Name => &mut self.name,
            Part::Value => &mut self.value,
            Part::Final => &mut self.is_final,
            Part::Source => &mut self.source,
        })
    }
}

/// Parser for arbitrary XML.
#[derive(Default)]
struct XmlParser {
    conf: Conf,
    depth: usize,
    draft: Option<Draft>,
    left_out: LeftOut,
    /// Final properties that were left out; later values of them are ignored.
    unknown: FxHashSet<String>,
}

impl XmlParser {
    fn read(&mut self, text: &str) -> Result<(), Damage> {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        loop {
            let at = reader.buffer_position();
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => return Err(Damage { at: reader.error_position(), why: error.to_string() }),
            };
            match event {
                Event::Start(tag) => {
                    let name = tag.local_name();
                    let name: &str = name.as_ref();
                    if self.depth == 0 && !ROOTS.contains(&name) {
                        return Err(Damage { at, why: format!("its root element is <{name}>") });
                    }
                    self.open(name, &tag);
                }
                Event::End(_) => {
                    self.close();
                    if self.depth == 0 {
                        return Ok(());
                    }
                }
                Event::Text(text) => self.append(&text.xml10_content()),
                Event::CData(text) => self.append(&text.xml10_content()),
                Event::GeneralRef(reference) => self.append_reference(&reference),
                Event::Eof => {
                    return Err(Damage { at, why: "the root element is not closed".to_owned() });
                }
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }

    fn open(&mut self, element: &str, tag: &BytesStart<'_>) {
        self.depth += 1;
        match &mut self.draft {
            Some(draft) if self.depth == draft.depth + 1 => draft.open(element),
            None if element == "property" => self.draft = Some(Draft::of(tag, self.depth)),
            None if element == "include" => self.left_out.include(),
            _ => {}
        }
    }

    fn close(&mut self) {
        match &mut self.draft {
            Some(draft) if self.depth == draft.depth => {
                if let Some(draft) = self.draft.take() {
                    self.keep(draft);
                }
            }
            Some(draft) if self.depth == draft.depth + 1 => draft.part = None,
            _ => {}
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn keep(&mut self, draft: Draft) {
        let name = draft.name.trim();
        let is_final = draft.is_final.trim() == "true";
        if name.is_empty() {
            return;
        }
        if draft.has_entity {
            self.left_out.property(name);
            self.conf.forget(name);
            if is_final {
                self.unknown.insert(name.to_owned());
            }
        } else if !self.unknown.contains(name) {
            let property = Property { value: draft.value, is_final };
            self.conf.insert_by(name.to_owned(), property, SetBy::source(&draft.source));
        }
    }

    /// Adds text, which counts only directly inside a part of a property.
    fn append(&mut self, text: &str) {
        let depth = self.depth;
        if let Some(draft) = &mut self.draft
            && depth == draft.depth + 1
            && let Some(part) = draft.text()
        {
            part.push_str(text);
        }
    }

    /// Entities declared by a document type are not expanded: a few of them can expand to gigabytes.
    fn append_reference(&mut self, reference: &BytesRef<'_>) {
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            self.append(character.encode_utf8(&mut [0; 4]));
        } else if let Some(text) = resolve_xml_entity(reference) {
            self.append(text);
        } else {
            let is_numbered = reference.starts_with('#');
            if let Some(draft) = &mut self.draft
                && draft.is_in_setting()
            {
                draft.has_entity |= !is_numbered;
            }
            self.append("&");
            self.append(reference);
            self.append(";");
        }
    }
}
