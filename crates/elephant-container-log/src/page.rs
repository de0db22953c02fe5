//! Pages of the node manager and of the history server around a log: without tags, with their entities decoded.

/// The named entities that Hadoop's pages have.
const ENTITIES: [(&str, char); 6] =
    [("quot;", '"'), ("lt;", '<'), ("gt;", '>'), ("amp;", '&'), ("nbsp;", ' '), ("apos;", '\'')];

/// An entity is no longer.
const LONGEST: usize = 10;

/// The text with its entities decoded, once: `&amp;lt;` is `&lt;`.
pub(crate) fn decoded(text: &str) -> String {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match entity(part) {
            Some((character, rest)) => {
                plain.push(character);
                plain += rest;
            }
            None => plain.extend(["&", part]),
        }
    }
    plain
}

/// The character of the entity that a text after `&` begins with, and what follows it.
fn entity(text: &str) -> Option<(char, &str)> {
    if let Some((name, character)) = ENTITIES.iter().find(|(name, _)| text.starts_with(name)) {
        return Some((*character, text.get(name.len()..)?));
    }
    let end = text.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let number = text.get(..end)?.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    Some((char::from_u32(code).filter(|c| !c.is_control())?, text.get(end + 1..)?))
}

/// What a page has in its `<pre>` elements, line by line.
#[derive(Debug, Default)]
pub(crate) struct Page {
    in_log: bool,
    in_script: bool,
}

/// A line of a page.
pub(crate) enum PageLine {
    /// A line of a log.
    Log(String),
    /// Text around the logs, without tags.
    Around(String),
}

impl Page {
    /// What a line of the page is.
    pub(crate) fn line(&mut self, line: &str) -> PageLine {
        if self.in_log {
            return self.within(line);
        }
        let Some((before, after)) = split_tag(line, "<pre") else {
            return PageLine::Around(self.around(line));
        };
        let text = self.around(before);
        if !text.trim().is_empty() {
            return PageLine::Around(text);
        }
        self.in_log = true;
        self.within(after.split_once('>').map_or(after, |(_, text)| text))
    }

    fn within(&mut self, line: &str) -> PageLine {
        let text = match split_tag(line, "</pre") {
            Some((before, _)) => {
                self.in_log = false;
                before
            }
            None => line,
        };
        PageLine::Log(decoded(text))
    }

    /// The text of a line outside logs and scripts.
    fn around(&mut self, line: &str) -> String {
        let starts = ["<script", "<style"].iter().any(|tag| line.contains(tag));
        let ends = ["</script", "</style"].iter().any(|tag| line.contains(tag));
        let is_script = self.in_script || starts;
        self.in_script = is_script && !ends;
        if is_script { String::new() } else { decoded(&without_tags(line)) }
    }
}

/// The text before a tag, and what follows its name.
fn split_tag<'t>(line: &'t str, tag: &str) -> Option<(&'t str, &'t str)> {
    line.split_once(tag)
}

fn without_tags(line: &str) -> String {
    let mut parts = line.split('<');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part.split_once('>').map_or("", |(_, after)| after);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_decoded_once() {
        for (text, plain) in [
            ("&lt;init&gt; &amp;lt; &#39;a&#x27; &quot;", "<init> &lt; 'a' \""),
            ("a & b &unknown; &#0; &#99999999999; &", "a & b &unknown; &#0; &#99999999999; &"),
        ] {
            assert_eq!(decoded(text), plain);
        }
    }

    #[test]
    fn only_what_is_preformatted_is_a_log() {
        let mut page = Page::default();
        let lines = [
            "<p>",
            "Log Type: stderr",
            "<style>",
            "a { b }",
            "</style>",
            "<pre class=x>first &lt;",
            "second",
            "</pre>",
            "<b>end</b>",
        ];
        let told: Vec<String> = lines
            .iter()
            .map(|line| match page.line(line) {
                PageLine::Log(text) => format!("log {text}"),
                PageLine::Around(text) => text,
            })
            .collect();
        let expected = ["", "Log Type: stderr", "", "", "", "log first <", "log second", "log ", "end"];
        assert_eq!(told, expected);
    }
}
