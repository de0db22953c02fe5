//! Job configuration files (`job_…_conf.xml`).
//!
//! Source: `org.apache.hadoop.conf.Configuration.loadResource` for what Hadoop reads, `writeXml` for what it
//! writes. The job history server's REST interface uses the root `<conf>` instead of `<configuration>`.

mod written;

use std::borrow::Cow;

use memchr::memmem;
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, Event};

use super::problem::{Level, Position, Problems};
use crate::model::conf::{Conf, Property};

/// The elements that hold a configuration's properties.
const ROOTS: [&str; 2] = ["configuration", "conf"];
/// A file that could not be read to its end, or is not a configuration.
const DAMAGED: &str = "conf-damaged";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a configuration. Damage keeps what was read before it and costs one `conf-damaged` warning.
#[must_use]
pub fn parse(bytes: &[u8]) -> (Conf, Problems) {
    let mut problems = Problems::default();
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let position = Some(Position::Byte(error.valid_up_to() as u64));
            problems.add(Level::Info, "invalid-utf8", position, || {
                "Bytes that are not UTF-8 were replaced; values that hold them are not as written".to_owned()
            });
            String::from_utf8_lossy(bytes)
        }
    };
    if let Some(properties) = written::properties(&text) {
        return (properties.into_iter().collect(), problems);
    }
    let mut properties = Any::default();
    if let Err(damage) = properties.read(&text) {
        let read = properties.conf.len();
        problems.warn(DAMAGED, Some(Position::Byte(damage.at)), || {
            format!(
                "Reading the job configuration stopped: {}; the {read} properties before are used",
                damage.why
            )
        });
    }
    (properties.conf, problems)
}

/// Whether a file that starts with `head` is a configuration: whether its root element is
/// `<configuration>` or `<conf>`, behind any declarations and comments.
#[must_use]
pub fn looks_like_conf(head: &[u8]) -> bool {
    let mut rest = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    loop {
        let behind = if let Some(comment) = rest.strip_prefix(b"<!--") {
            behind(comment, b"-->")
        } else if let Some(instruction) = rest.strip_prefix(b"<?") {
            behind(instruction, b"?>")
        } else if let Some(declaration) = rest.strip_prefix(b"<!DOCTYPE") {
            behind(declaration, b">")
        } else {
            return starts_with_root(rest);
        };
        let Some(behind) = behind else { return false };
        rest = behind.trim_ascii_start();
    }
}

fn behind<'a>(text: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    text.get(memmem::find(text, end)? + end.len()..)
}

fn starts_with_root(text: &[u8]) -> bool {
    let Some(tag) = text.strip_prefix(b"<") else { return false };
    ROOTS.iter().any(|root| match tag.strip_prefix(root.as_bytes()) {
        Some([next, ..]) => next.is_ascii_whitespace() || matches!(next, b'>' | b'/'),
        _ => false,
    })
}

/// Why a configuration ends early.
struct Damage {
    at: u64,
    why: String,
}

/// The parts of a `<property>` that matter.
#[derive(Debug, Clone, Copy)]
enum Part {
    Name,
    Value,
    Final,
}

/// A property whose end was not seen yet.
struct Draft {
    /// How many elements are open, the property's own included.
    depth: usize,
    part: Option<Part>,
    name: String,
    value: String,
    is_final: String,
}

impl Draft {
    fn open(&mut self, element: &str) {
        self.part = match element {
            "name" => Some(Part::Name),
            "value" => Some(Part::Value),
            "final" => Some(Part::Final),
            _ => None,
        };
        if let Some(text) = self.text() {
            text.clear();
        }
    }

    fn text(&mut self) -> Option<&mut String> {
        Some(match self.part? {
            Part::Name => &mut self.name,
            Part::Value => &mut self.value,
            Part::Final => &mut self.is_final,
        })
    }
}

/// Reads any XML.
#[derive(Default)]
struct Any {
    conf: Conf,
    depth: usize,
    draft: Option<Draft>,
}

impl Any {
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
                    self.open(name);
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
                    return Err(Damage { at, why: "it ends before its root element does".to_owned() });
                }
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }

    fn open(&mut self, element: &str) {
        self.depth += 1;
        match &mut self.draft {
            Some(draft) if self.depth == draft.depth + 1 => draft.open(element),
            None if element == "property" => {
                self.draft = Some(Draft {
                    depth: self.depth,
                    part: None,
                    name: String::new(),
                    value: String::new(),
                    is_final: String::new(),
                });
            }
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
        if !name.is_empty() {
            let is_final = draft.is_final.trim() == "true";
            self.conf.insert(name.to_owned(), Property { value: draft.value, is_final });
        }
    }

    /// Text counts only directly inside a part of a property.
    fn append(&mut self, text: &str) {
        let depth = self.depth;
        if let Some(draft) = &mut self.draft
            && depth == draft.depth + 1
            && let Some(part) = draft.text()
        {
            part.push_str(text);
        }
    }

    /// Entities that a document type might declare are not expanded but kept as they are written.
    fn append_reference(&mut self, reference: &BytesRef<'_>) {
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            self.append(character.encode_utf8(&mut [0; 4]));
        } else if let Some(text) = resolve_xml_entity(reference) {
            self.append(text);
        } else {
            self.append("&");
            self.append(reference);
            self.append(";");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clean(xml: &str) -> Conf {
        let (conf, problems) = parse(xml.as_bytes());
        assert!(problems.is_empty(), "{xml}: {problems:?}");
        conf
    }

    fn value(conf: &Conf, name: &str) -> Option<String> {
        conf.iter().find(|(n, _)| *n == name).map(|(_, property)| property.value.clone())
    }

    #[test]
    fn properties_with_entities_cdata_and_sources() {
        let conf = clean(
            "<?xml version=\"1.0\"?><configuration>\n<property><name> a </name><value>x &lt; y &amp;&#65;&#x42;\
             <![CDATA[<&>]]></value><final>true</final><source>job.xml</source></property>\
             <property><name>empty</name><value/></property><property><name>none</name></property>\
             <property><value>nameless</value></property></configuration>",
        );
        assert_eq!(value(&conf, "a").as_deref(), Some("x < y &AB<&>"));
        assert!(conf.iter().any(|(name, property)| name == "a" && property.is_final));
        assert_eq!(value(&conf, "empty").as_deref(), Some(""));
        assert_eq!(value(&conf, "none").as_deref(), Some(""));
        assert_eq!(conf.len(), 3);
    }

    #[test]
    fn a_final_property_keeps_its_value() {
        let conf = clean(
            "<conf><property><name>a</name><value>1</value><final>true</final></property>\
             <property><name>a</name><value>2</value></property></conf>",
        );
        assert_eq!(value(&conf, "a").as_deref(), Some("1"));
    }

    #[test]
    fn what_comes_before_the_root_does_not_matter() {
        for prefix in [
            "\u{feff}",
            "\n  <?xml version=\"1.0\"?>\n",
            "<!-- licence <conf> --><?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>",
            "<?xml-stylesheet href=\"x\"?><!DOCTYPE configuration SYSTEM \"x\">",
        ] {
            let xml = format!(
                "{prefix}<configuration><property><name>a</name><value>1</value></property></configuration>"
            );
            assert!(looks_like_conf(xml.as_bytes()), "{xml}");
            assert_eq!(clean(&xml).len(), 1, "{xml}");
        }
        assert!(looks_like_conf(b"<conf\n>"));
    }

    #[test]
    fn other_text_is_no_configuration() {
        for head in [
            "",
            "<",
            "<configurations>",
            "<confidential/>",
            "<project><configuration/>",
            "<!-- <conf>",
            "<?xml",
            "{\"conf\":1}",
            "configuration",
            "<conf",
        ] {
            assert!(!looks_like_conf(head.as_bytes()), "{head}");
        }
        let (conf, problems) = parse(b"<html><property><name>a</name></property></html>");
        assert!(conf.is_empty());
        assert_eq!(problems.into_vec()[0].code, DAMAGED);
    }

    #[test]
    fn declared_entities_are_not_expanded() {
        let conf = clean(
            "<!DOCTYPE conf [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><conf><property><name>x</name>\
             <value>&b; &#0; a & b &unknown;</value></property></conf>",
        );
        assert_eq!(value(&conf, "x").as_deref(), Some("&b; &#0; a & b &unknown;"));
    }

    #[test]
    fn damage_keeps_the_properties_before_it() {
        let first = "<conf><property><name>a</name><value>1</value></property>";
        let second = "<property><name>b</name><value>2</val";
        for tail in [second, "<property><name>b</value></property></conf>", "<", ""] {
            let (conf, problems) = parse(format!("{first}{tail}").as_bytes());
            assert_eq!(conf.len(), 1, "{tail}");
            let problems = problems.into_vec();
            assert_eq!((problems.len(), problems[0].code, problems[0].count), (1, DAMAGED, 1), "{tail}");
            assert!(matches!(problems[0].position, Some(Position::Byte(at)) if at >= first.len() as u64));
        }
    }

    #[test]
    fn nested_elements_are_not_part_of_a_value() {
        let conf = clean(
            "<configuration><configuration><property><name>a</name><value>1<b>2</b>3</value>\
             <x><name>n</name></x></property></configuration></configuration>",
        );
        assert_eq!(value(&conf, "a").as_deref(), Some("13"));
    }

    proptest! {
        #[test]
        fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (parse(&bytes), looks_like_conf(&bytes));
        }

        #[test]
        fn no_markup_panics(pieces in prop::collection::vec(prop::sample::select(vec![
            "<conf>", "<property>", "<name>", "</name>", "<value>", "</value>", "</property>", "</conf>", "<value/>",
            "&", "&amp;", "&#", "&#x110000;", ";", "<![CDATA[", "]]>", "<!--", "-->", "<?xml", "?>", "<!DOCTYPE", "é",
            "a", " ", "<", ">", "/>", "\"", "'", "[", "]",
        ]), 0..40)) {
            let text = pieces.concat();
            let _ = (parse(text.as_bytes()), looks_like_conf(text.as_bytes()));
        }
    }
}
