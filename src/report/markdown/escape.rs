//! Names of others in GitHub's Markdown: no markup, no links, no mentions.

use super::super::wrap::clean;

/// Breaks what GitHub would link wherever it stands: it looks at the text that is left once escapes are gone.
const NOTHING: &str = "&#8203;";

/// `name`, cut to `length` characters, as text that is shown as it is.
pub(in crate::report) fn text(name: &str, length: usize) -> String {
    let mut escaped = String::new();
    each_char(name, length, |c, breaks| {
        match c {
            '\\' | '`' | '*' | '_' | '~' | '[' | ']' | '|' | '$' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
        if breaks {
            escaped.push_str(NOTHING);
        }
    });
    escaped
}

/// The same within a block of HTML, where Markdown is not read.
pub(super) fn html(name: &str, length: usize) -> String {
    let mut escaped = String::new();
    each_char(name, length, |c, breaks| {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
        if breaks {
            escaped.push_str(NOTHING);
        }
    });
    escaped
}

/// Shows each character to `write`, with whether something has to break the text behind it: `@user`, `#1`, `GH-1`,
/// `https://…` and `www.…` become links otherwise.
fn each_char(name: &str, length: usize, mut write: impl FnMut(char, bool)) {
    let clean = clean(name);
    let mut before = String::new();
    for (place, c) in clean.chars().enumerate() {
        if place == length {
            write('…', false);
            return;
        }
        let word = before.to_ascii_lowercase();
        let breaks = match c {
            '@' | '#' => true,
            ':' => ["http", "https", "ftp", "mailto", "xmpp"].iter().any(|scheme| word.ends_with(scheme)),
            '.' => word.ends_with("www"),
            '-' => word.ends_with("gh"),
            _ => false,
        };
        write(c, breaks);
        if c.is_alphanumeric() { before.push(c) } else { before.clear() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_as_they_are() {
        assert_eq!(
            text("200 maps read 1.0 MiB each, 99 times (critical from 16)", 100).replace('\\', ""),
            "200 maps read 1.0 MiB each, 99 times (critical from 16)"
        );
        assert_eq!(text("hdfs://namenode:8020/x", 100), "hdfs://namenode:8020/x");
        assert_eq!(text("häuser", 3), "häu…");
    }

    #[test]
    fn names_are_no_markup() {
        assert_eq!(text("[x](y) `a` *b* _c_ | <b>", 100), "\\[x\\](y) \\`a\\` \\*b\\* \\_c\\_ \\| &lt;b&gt;");
        assert_eq!(text("a\nb\0", 100), "a b ");
        assert_eq!(html("<b a=\"1\">&'", 100), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;");
    }

    #[test]
    fn names_link_nowhere() {
        assert_eq!(text("@torvalds", 100), "@&#8203;torvalds");
        assert_eq!(text("rust-lang/rust#1 GH-2", 100), "rust-lang/rust#&#8203;1 GH-&#8203;2");
        assert_eq!(text("see HTTPS://example.com", 100), "see HTTPS:&#8203;//example.com");
        assert_eq!(html("www.example.com", 100), "www.&#8203;example.com");
    }
}
