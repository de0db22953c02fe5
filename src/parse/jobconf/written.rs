//! Configurations as Hadoop writes them: `<property><name>…</name><value>…</value>…</property>`, with nothing but
//! blanks in between (`Configuration.writeXml`, and `<final>` and `<source>` behind the value).
//!
//! A job has some 1,500 properties of which a few matter, so that reading them takes longer than the history of a small
//! job. Any surprise (a comment, an attribute, an entity of its own, another order) is for the parser of any XML.

use std::ops::Range;

use memchr::{memchr, memchr3};

use crate::model::conf::{Conf, Listing};

/// The configuration that a text is; `None` at any surprise.
pub(super) fn conf(text: &str) -> Option<Conf> {
    let mut scanner = Scanner { text, at: 0 };
    if scanner.take("<?xml ") {
        let end = memchr(b'>', scanner.rest().as_bytes())?;
        scanner.rest().get(..end)?.ends_with('?').then_some(())?;
        scanner.at += end + 1;
        scanner.blanks();
    }
    let end = ["configuration>", "conf>"].into_iter().find(|root| {
        let start = scanner.rest().strip_prefix('<');
        start.is_some_and(|start| start.starts_with(root))
    })?;
    scanner.at += 1 + end.len();
    let mut listing = Listing::of(text.to_owned());
    scanner.blanks();
    while scanner.take("<property>") {
        scanner.property(&mut listing)?;
        scanner.blanks();
    }
    // What follows the root element is not read by the other parser, either.
    (scanner.take("</") && scanner.take(end)).then(|| listing.finish().into())
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn take(&mut self, expected: &str) -> bool {
        let is_next = self.rest().starts_with(expected);
        if is_next {
            self.at += expected.len();
        }
        is_next
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n']).len();
    }

    /// A property behind its opening tag.
    fn property(&mut self, listing: &mut Listing) -> Option<()> {
        self.blanks();
        let name = self.element("<name>", "</name>", listing)?;
        let name = trimmed(listing.text(&name), name.start);
        self.blanks();
        let value = self.element("<value>", "</value>", listing)?;
        self.blanks();
        let mut is_final = false;
        if self.rest().starts_with("<final>") {
            let content = self.element("<final>", "</final>", listing)?;
            is_final = listing.text(&content).trim() == "true";
            self.blanks();
        }
        while self.rest().starts_with("<source>") {
            self.element("<source>", "</source>", listing)?;
            self.blanks();
        }
        // The other parser passes over properties without names.
        (self.take("</property>") && !name.is_empty()).then(|| listing.add(&name, &value, is_final))?
    }

    /// Where the text of an element is that comes next, by its tags.
    fn element(&mut self, start: &str, end: &str, listing: &mut Listing) -> Option<Range<usize>> {
        if !self.take(start) {
            let empty = start.strip_suffix('>')?;
            return (self.take(empty) && self.take("/>")).then_some(self.at..self.at);
        }
        let first = self.at;
        let mut meant: Option<String> = None;
        loop {
            let (plain, rest) =
                self.rest().split_at_checked(memchr3(b'<', b'&', b'\r', self.rest().as_bytes())?)?;
            if let Some(meant) = &mut meant {
                meant.push_str(plain);
            }
            self.at += plain.len();
            match rest.as_bytes().first()? {
                b'<' => break,
                b'&' => {
                    let before = self.text.get(first..self.at)?;
                    meant.get_or_insert_with(|| before.to_owned()).push(self.character()?);
                }
                // Line ends become line feeds, which is for the other parser to know.
                _ => return None,
            }
        }
        let content = meant.map_or(first..self.at, |meant| listing.keep(&meant));
        self.take(end).then_some(content)
    }

    /// One of the characters that XML writes by name.
    fn character(&mut self) -> Option<char> {
        let named = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')];
        let (written, character) = named.into_iter().find(|(written, _)| self.rest().starts_with(written))?;
        self.take(written).then_some(character)
    }
}

/// Where `text`, which begins at `start`, is without blanks around it.
fn trimmed(text: &str, start: usize) -> Range<usize> {
    let end = start + text.trim_end().len();
    let start = start + text.len() - text.trim_start().len();
    start.min(end)..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::jobconf::{Any, parse};
    use proptest::prelude::*;

    /// What the parser of any XML makes of it, and what this one does, if it does.
    fn both(text: &str) -> (Option<Conf>, Conf) {
        let mut any = Any::default();
        let _ = any.read(text);
        (conf(text), any.conf)
    }

    #[test]
    fn what_hadoop_writes_is_read_as_any_xml() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><configuration>\n\
                    <property><name>a</name><value>1 &amp; &lt;2&gt;</value><final>true</final><source>x.xml</source>\
                    <source>y</source></property>\n<property><name>b</name><value/></property>\
                    <property><name>a</name><value>later</value></property>\n</configuration>";
        let (read, any) = both(text);
        assert_eq!(read, Some(any));
        assert_eq!(parse(text.as_bytes()).0.raw("a").as_deref(), Some("1 & <2>"));
    }

    #[test]
    fn surprises_are_for_the_other_parser() {
        assert_eq!(conf("<?xml version=\"1.0\"><configuration></configuration>"), None);
        for inside in [
            "<!-- x --><property><name>a</name><value>1</value></property>",
            "<property><value>1</value><name>a</name></property>",
            "<property><name>a</name><value>1</value><description/></property>",
            "<property><name>a</name><value>&eacute;</value></property>",
            "<property><name>a</name><value>&#65;</value></property>",
            "<property><name>a</name><value><![CDATA[1]]></value></property>",
            "<property><name>a</name><value>1\r\n</value></property>",
            "<property name='a'><value>1</value></property>",
            "<property><name>a</name><value>1</value>",
        ] {
            let text = format!("<configuration>{inside}</configuration>");
            assert_eq!(conf(&text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_what_any_xml_reader_reads(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "<property>", "</property>", "<name>", "</name>", "<value>", "</value>", "<final>", "</final>", "true",
                "<source>", "</source>", "<value/>", "a", "b", " ", "\n", "&amp;", "&", ";", "\u{e9}", "<", ">", "/",
                "<property><name>a</name><value>1</value></property>",
                "<property><name>a</name><value>2</value><final>true</final></property>",
                "<property><name> b </name><value> 3 </value></property>", "]]>", "<!-- -->",
            ]), 0..20),
            closed in any::<bool>(),
        ) {
            let end = if closed { "</configuration>" } else { "" };
            let text = format!("<configuration>{}{end}", pieces.concat());
            let (read, any) = both(&text);
            if let Some(read) = read {
                prop_assert_eq!(read, any);
            }
        }
    }
}
