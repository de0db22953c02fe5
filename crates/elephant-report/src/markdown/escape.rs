//! Escapes text from histories for GitHub's Markdown: no markup, no links, no mentions.

use super::super::wrap::clean;

/// A zero-width space, which breaks automatic links. Backslashes do not, because GitHub removes them before it looks for
/// links.
const ZERO_WIDTH_SPACE: &str = "&#8203;";

/// Cuts `name` to `length` characters and escapes it, so that it is shown as it is.
pub(crate) fn text(name: &str, length: usize) -> String {
    escaped(name, length, |at, escaped| match at.c {
        '_' if at.is_in_word => escaped.push('_'),
        '\\' | '`' | '*' | '_' | '~' | '[' | ']' | '|' | '$' => {
            escaped.push('\\');
            escaped.push(at.c);
        }
        '<' => escaped.push_str("&lt;"),
        '>' => escaped.push_str("&gt;"),
        '&' => escaped.push_str("&amp;"),
        c => escaped.push(c),
    })
}

/// Like [`text`], for a sentence of advice, in which commands are between backticks.
pub(super) fn sentence(advice: &str, length: usize) -> String {
    let parts: Vec<&str> = advice.split('`').collect();
    let is_code = |place: usize| place % 2 == 1;
    // Names from histories may have backticks, too.
    let is_foreign = |(place, part): (usize, &&str)| is_code(place) && !part.starts_with("elephant-rs ");
    if parts.len().is_multiple_of(2)
        || advice.chars().count() > length
        || parts.iter().enumerate().any(is_foreign)
    {
        return text(advice, length);
    }
    let shown = parts
        .iter()
        .enumerate()
        .map(|(place, part)| if is_code(place) { format!("`{}`", clean(part)) } else { text(part, length) });
    shown.collect()
}

/// Like [`text`], for a block of HTML, in which Markdown has no effect.
pub(super) fn html(name: &str, length: usize) -> String {
    escaped(name, length, |at, escaped| match at.c {
        '<' => escaped.push_str("&lt;"),
        '>' => escaped.push_str("&gt;"),
        '&' => escaped.push_str("&amp;"),
        '"' => escaped.push_str("&quot;"),
        '\'' => escaped.push_str("&#39;"),
        c => escaped.push(c),
    })
}

/// A character of a name, with its context.
struct CharInContext {
    c: char,
    /// Whether there are letters or digits on both sides.
    is_in_word: bool,
}

fn escaped(name: &str, length: usize, write: impl Fn(&CharInContext, &mut String)) -> String {
    let clean = clean(name);
    let mut escaped = String::new();
    let mut word = String::new();
    let mut chars = clean.chars().peekable();
    let mut place = 0;
    while let Some(c) = chars.next() {
        if place == length {
            escaped.push('…');
            break;
        }
        place += 1;
        let is_in_word = !word.is_empty() && chars.peek().is_some_and(|next| next.is_alphanumeric());
        write(&CharInContext { c, is_in_word }, &mut escaped);
        if would_link(c, &word.to_ascii_lowercase()) {
            escaped.push_str(ZERO_WIDTH_SPACE);
        }
        if c.is_alphanumeric() { word.push(c) } else { word.clear() }
    }
    escaped
}

/// Whether `c` after `word` begins a link: `@user`, `#1`, `GH-1`, `https://…`, `www.…`.
fn would_link(c: char, word: &str) -> bool {
    match c {
        '@' | '#' => true,
        ':' => ["http", "https", "ftp", "mailto", "xmpp"].iter().any(|scheme| word.ends_with(scheme)),
        '.' => word.ends_with("www"),
        '-' => word.ends_with("gh"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_unchanged() {
        assert_eq!(
            text("200 maps read 1.0 MiB each, 99 times (critical from 16)", 100).replace('\\', ""),
            "200 maps read 1.0 MiB each, 99 times (critical from 16)"
        );
        assert_eq!(text("hdfs://namenode:8020/x", 100), "hdfs://namenode:8020/x");
        assert_eq!(text("job_1_2", 100), "job_1_2");
        assert_eq!(text("häuser", 3), "häu…");
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(text("[x](y) `a` *b* _c_ | <b>", 100), "\\[x\\](y) \\`a\\` \\*b\\* \\_c\\_ \\| &lt;b&gt;");
        assert_eq!(text("a\nb\0", 100), "a b ");
        assert_eq!(html("<b a=\"1\">&'", 100), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;");
    }

    #[test]
    fn commands_in_advice_are_code() {
        assert_eq!(sentence("see `elephant-rs a_b | c`, *now*", 100), "see `elephant-rs a_b | c`, \\*now\\*");
        assert_eq!(sentence("one ` alone", 100), "one \\` alone");
        assert_eq!(sentence("a `name` of a stage", 100), "a \\`name\\` of a stage");
        assert_eq!(sentence("`elephant-rs a`, but too long", 5), "\\`elep…");
    }

    #[test]
    fn automatic_links_are_broken() {
        assert_eq!(text("@torvalds", 100), "@&#8203;torvalds");
        assert_eq!(text("rust-lang/rust#1 GH-2", 100), "rust-lang/rust#&#8203;1 GH-&#8203;2");
        assert_eq!(text("see HTTPS://example.com", 100), "see HTTPS:&#8203;//example.com");
        assert_eq!(html("www.example.com", 100), "www.&#8203;example.com");
    }
}
