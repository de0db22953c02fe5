//! Fast path for configurations as Hadoop writes them:
//! `<property><name>…</name><value>…</value>…</property>`, separated only by white space
//! (`Configuration.writeXml`, with `<final>` and `<source>` after the value).
//!
//! A job has about 1,500 properties, of which few matter, so full XML parsing would take longer than reading
//! a small job's history. Anything unusual (a comment, an attribute, a declared entity, another order) is
//! left to the XML parser.

use std::ops::Range;

use memchr::{memchr, memchr3};

use elephant_model::model::conf::{Found, Listing, SetBy};

/// The properties of a configuration; `None` if the text is unusual.
pub(super) fn properties(text: &str) -> Option<Found> {
    let mut scanner = Scanner { text, at: 0 };
    if scanner.take(b"<?xml ") {
        let end = memchr(b'>', scanner.rest())?;
        scanner.rest().get(..end)?.ends_with(b"?").then_some(())?;
        scanner.at += end + 1;
        scanner.blanks();
    }
    let end: &[u8] = if scanner.next_is(b"<configuration>") { b"</configuration>" } else { b"</conf>" };
    // The opening tag is the closing one without its slash.
    scanner.take(b"<").then_some(())?;
    scanner.take_all(end.get(2..)?).then_some(())?;
    let mut listing = Listing::of(text);
    scanner.blanks();
    while scanner.take(b"<property>") {
        scanner.property(&mut listing)?;
        scanner.blanks();
    }
    // Like the XML parser, ignore everything after the root element.
    scanner.take_all(end).then(|| listing.finish())
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn next_is<const LEN: usize>(&self, expected: &[u8; LEN]) -> bool {
        self.rest().first_chunk() == Some(expected)
    }

    #[inline]
    fn take<const LEN: usize>(&mut self, expected: &[u8; LEN]) -> bool {
        let is_next = self.next_is(expected);
        if is_next {
            self.at += LEN;
        }
        is_next
    }

    fn take_all(&mut self, expected: &[u8]) -> bool {
        let is_next = self.rest().starts_with(expected);
        if is_next {
            self.at += expected.len();
        }
        is_next
    }

    #[inline]
    fn blanks(&mut self) {
        while let [b' ' | b'\t' | b'\n', ..] = self.rest() {
            self.at += 1;
        }
    }

    /// Reads a property after its opening tag.
    fn property(&mut self, listing: &mut Listing<'_>) -> Option<()> {
        self.blanks();
        let name = self.element(b"<name", b"</name>", listing)?;
        let name = trimmed(listing.text(&name), name.start);
        self.blanks();
        let value = self.element(b"<value", b"</value>", listing)?;
        self.blanks();
        let mut is_final = false;
        if self.next_is(b"<final>") {
            let content = self.element(b"<final", b"</final>", listing)?;
            is_final = listing.text(&content).trim() == "true";
            self.blanks();
        }
        let mut set_by = None;
        while self.next_is(b"<source>") {
            let content = self.element(b"<source", b"</source>", listing)?;
            set_by.get_or_insert_with(|| SetBy::source(listing.text(&content)));
            self.blanks();
        }
        // The XML parser skips properties without names.
        let set_by = set_by.unwrap_or_default();
        (self.take(b"</property>") && !name.is_empty())
            .then(|| listing.add(&name, &value, is_final, set_by))?
    }

    /// The byte range of the next element's text; `start` is its opening tag without the closing bracket.
    #[inline]
    fn element<const START: usize, const END: usize>(
        &mut self,
        start: &[u8; START],
        end: &[u8; END],
        listing: &mut Listing<'_>,
    ) -> Option<Range<usize>> {
        self.take(start).then_some(())?;
        if !self.take(b">") {
            return self.take(b"/>").then_some(self.at..self.at);
        }
        let first = self.at;
        let len = memchr3(b'<', b'&', b'\r', self.rest())?;
        self.at += len;
        if self.take(end) {
            return Some(first..first + len);
        }
        let content = self.with_entities(first, listing)?;
        self.take(end).then_some(content)
    }

    /// The byte range of the unescaped text of an element that begins at `first` and has a special character
    /// here.
    #[cold]
    fn with_entities(&mut self, first: usize, listing: &mut Listing<'_>) -> Option<Range<usize>> {
        self.next_is(b"&").then_some(())?;
        let mut unescaped = self.text.get(first..self.at)?.to_owned();
        while self.next_is(b"&") {
            unescaped.push(self.character()?);
            // Leave the conversion of line ends to the XML parser.
            let len = memchr3(b'<', b'&', b'\r', self.rest())?;
            unescaped.push_str(self.text.get(self.at..self.at + len)?);
            self.at += len;
        }
        Some(listing.keep(&unescaped))
    }

    /// Reads a character that XML writes by name.
    fn character(&mut self) -> Option<char> {
        let named: [(&[u8], char); 5] =
            [(b"&amp;", '&'), (b"&lt;", '<'), (b"&gt;", '>'), (b"&quot;", '"'), (b"&apos;", '\'')];
        named.into_iter().find(|(written, _)| self.take_all(written)).map(|(_, character)| character)
    }
}

/// The range of `text`, which begins at `start`, without surrounding white space.
fn trimmed(text: &str, start: usize) -> Range<usize> {
    if let ([b'!'..=b'~', ..], [.., b'!'..=b'~']) = (text.as_bytes(), text.as_bytes()) {
        return start..start + text.len();
    }
    let end = start + text.trim_end().len();
    let start = start + text.len() - text.trim_start().len();
    start.min(end)..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobconf::{XmlParser, parse};
    use elephant_model::model::conf::Conf;
    use proptest::prelude::*;

    fn conf(text: &str) -> Option<Conf> {
        properties(text).map(|found| found.in_text(text.to_owned()))
    }

    /// The results of this module (if any) and of the XML parser.
    fn both(text: &str) -> (Option<Conf>, Conf) {
        let mut any = XmlParser::default();
        let _ = any.read(text);
        (conf(text), any.conf)
    }

    #[test]
    fn hadoops_own_layout_is_read_like_any_xml() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><configuration>\n\
                    <property><name>a</name><value>1 &amp; &lt;2&gt;</value><final>true</final><source>x.xml</source>\
                    <source>y</source></property>\n<property><name>b</name><value/></property>\
                    <property><name>a</name><value>later</value></property>\n</configuration>";
        let (read, any) = both(text);
        assert_eq!(read, Some(any));
        assert_eq!(parse(text.as_bytes()).0.raw("a").as_deref(), Some("1 & <2>"));
    }

    #[test]
    fn unusual_text_is_left_to_the_xml_parser() {
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
        fn the_fast_path_agrees_with_the_xml_parser(
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
