//! Configurations as Hadoop writes them: `<property><name>…</name><value>…</value>…</property>`, with nothing but
//! blanks in between (`Configuration.writeXml`, and `<final>` and `<source>` behind the value).
//!
//! A job has some 1,500 properties of which a few matter, so that reading them takes longer than the history of a small
//! job. Any surprise (a comment, an attribute, an entity of its own, another order) is for the parser of any XML.

use std::borrow::Cow;

use memchr::{memchr, memchr3};

use crate::model::conf::Property;

/// The properties of a configuration, in its order; `None` at any surprise.
pub(super) fn properties(text: &str) -> Option<Vec<(String, Property)>> {
    let mut scanner = Scanner { rest: text };
    if let Some(declaration) = scanner.rest.strip_prefix("<?xml ") {
        let end = memchr(b'>', declaration.as_bytes())?;
        scanner.rest = declaration.get(..end)?.ends_with('?').then(|| declaration.get(end + 1..))??;
        scanner.blanks();
    }
    let end = ["configuration", "conf"].into_iter().find_map(|root| {
        let behind = scanner.rest.strip_prefix('<')?.strip_prefix(root)?.strip_prefix('>')?;
        scanner.rest = behind;
        Some(root)
    })?;
    let mut properties = Vec::new();
    scanner.blanks();
    while scanner.take("<property>") {
        properties.push(scanner.property()?);
        scanner.blanks();
    }
    // What follows the root element is not read by the other parser, either.
    (scanner.take("</") && scanner.take(end) && scanner.take(">")).then_some(properties)
}

struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    #[inline]
    fn take(&mut self, expected: &str) -> bool {
        self.rest.strip_prefix(expected).map(|rest| self.rest = rest).is_some()
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n']);
    }

    /// A property behind its opening tag.
    fn property(&mut self) -> Option<(String, Property)> {
        self.blanks();
        let name = self.element("<name>", "</name>")?.trim().to_owned();
        self.blanks();
        let value = self.element("<value>", "</value>")?.into_owned();
        self.blanks();
        let mut is_final = false;
        if self.rest.starts_with("<final>") {
            is_final = self.element("<final>", "</final>")?.trim() == "true";
            self.blanks();
        }
        while self.rest.starts_with("<source>") {
            self.element("<source>", "</source>")?;
            self.blanks();
        }
        // The other parser passes over properties without names.
        (self.take("</property>") && !name.is_empty()).then_some((name, Property { value, is_final }))
    }

    /// The text of an element that comes next, by its tags.
    fn element(&mut self, start: &str, end: &str) -> Option<Cow<'a, str>> {
        if !self.take(start) {
            let empty = start.strip_suffix('>')?;
            return (self.take(empty) && self.take("/>")).then_some(Cow::Borrowed(""));
        }
        let mut text = Cow::Borrowed("");
        loop {
            let at = memchr3(b'<', b'&', b'\r', self.rest.as_bytes())?;
            let (plain, rest) = self.rest.split_at_checked(at)?;
            match &mut text {
                Cow::Borrowed("") => text = Cow::Borrowed(plain),
                text => text.to_mut().push_str(plain),
            }
            self.rest = rest;
            match rest.as_bytes().first()? {
                b'<' => break,
                b'&' => text.to_mut().push(self.character()?),
                // Line ends become line feeds, which is for the other parser to know.
                _ => return None,
            }
        }
        self.take(end).then_some(text)
    }

    /// One of the characters that XML writes by name.
    fn character(&mut self) -> Option<char> {
        let named = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')];
        let (written, character) = named.into_iter().find(|(written, _)| self.rest.starts_with(written))?;
        self.take(written).then_some(character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::jobconf::{Any, parse};
    use proptest::prelude::*;

    /// What the parser of any XML makes of it, and what this one does, if it does.
    fn both(text: &str) -> (Option<Vec<(String, Property)>>, crate::model::conf::Conf) {
        let mut any = Any::default();
        let _ = any.read(text);
        (properties(text), any.conf)
    }

    #[test]
    fn what_hadoop_writes_is_read_as_any_xml() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><configuration>\n\
                    <property><name>a</name><value>1 &amp; &lt;2&gt;</value><final>true</final><source>x.xml</source>\
                    <source>y</source></property>\n<property><name>b</name><value/></property>\
                    <property><name>a</name><value>later</value></property>\n</configuration>";
        let (read, any) = both(text);
        assert_eq!(read.map(|read| read.into_iter().collect()), Some(any));
        assert_eq!(parse(text.as_bytes()).0.raw("a").as_deref(), Some("1 & <2>"));
    }

    #[test]
    fn surprises_are_for_the_other_parser() {
        assert_eq!(properties("<?xml version=\"1.0\"><configuration></configuration>"), None);
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
            assert_eq!(properties(&text), None, "{text}");
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
                prop_assert_eq!(read.into_iter().collect::<crate::model::conf::Conf>(), any);
            }
        }
    }
}
