//! Templates of messages.
//!
//! A check returns facts. The message is a template next to the check, one for each kind of trouble, such as
//! `"executors spend {gc_time_ms} of {task_time_ms} in garbage collection, {gc_ratio:%} ({limit})"`. A key of
//! the evidence is replaced by its value, with `:%` in percent. Any other name is replaced by the text that
//! the check passes under that name.
//!
//! A part in square brackets is optional: `"{failed} of {tasks} failed[, mostly with \"{error}\"]"` ends with
//! `failed` if the error is an empty text. If the number of parts varies, as with the troubles of a stage,
//! each of them is a [`Phrase`] with its own template.

use std::fmt;

use super::Measure;
use elephant_base::units::three_digits;

/// A name in a template, and its replacement.
pub type Word<'a> = (&'a str, &'a dyn fmt::Display);

/// A part of a message, made from a template and its words. It serves as a word in other templates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Phrase {
    text: String,
    without_limits: String,
}

impl Phrase {
    /// Fills in `template`.
    pub fn new(template: &'static str, words: &[Word<'_>]) -> Self {
        Self { text: render(template, words, &[]), without_limits: without_limits(template, words, &[]) }
    }

    /// The phrases with `separator` between them; empty if there are none.
    pub fn list(separator: &'static str, phrases: impl IntoIterator<Item = Self>) -> Self {
        let (texts, statements): (Vec<String>, Vec<String>) =
            phrases.into_iter().map(|phrase| (phrase.text, phrase.without_limits)).unzip();
        Self { text: texts.join(separator), without_limits: statements.join(separator) }
    }
}

/// The alternate form is without limits.
impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if f.alternate() { &self.without_limits } else { &self.text })
    }
}

/// Fills in a template. Unknown names stay as they are; a test of all messages finds them.
pub(super) fn render(template: &str, words: &[Word<'_>], evidence: &[(&'static str, Measure)]) -> String {
    filled(template, &Names { words, evidence, limits: true })
}

/// The same without the parentheses in which a limit stands: `({limit})`, `(not reached: {size_limit})`.
pub(super) fn without_limits(
    template: &str,
    words: &[Word<'_>],
    evidence: &[(&'static str, Measure)],
) -> String {
    let mut plain = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, inside, after)) = enclosed(rest, '(', ')') {
        if inside.contains("limit") && inside.contains('{') {
            plain.push_str(before.trim_end());
        } else {
            plain.extend([before, "(", inside, ")"]);
        }
        rest = after;
    }
    plain.push_str(rest);
    filled(&plain, &Names { words, evidence, limits: false })
}

fn filled(template: &str, names: &Names<'_>) -> String {
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, optional, after)) = enclosed(rest, '[', ']') {
        names.fill(&mut text, before);
        let start = text.len();
        if !names.fill(&mut text, optional) {
            text.truncate(start);
        }
        rest = after;
    }
    names.fill(&mut text, rest);
    text
}

/// The text before the first pair of brackets, in it, and after it.
fn enclosed(text: &str, open: char, close: char) -> Option<(&str, &str, &str)> {
    let (before, from) = text.split_once(open)?;
    let (inside, after) = from.split_once(close)?;
    Some((before, inside, after))
}

/// The names that a template can use.
struct Names<'a> {
    words: &'a [Word<'a>],
    evidence: &'a [(&'static str, Measure)],
    /// Whether phrases tell their limits.
    limits: bool,
}

impl Names<'_> {
    /// Appends `part` with its names replaced. False if one of them is empty.
    fn fill(&self, text: &mut String, part: &str) -> bool {
        let mut complete = true;
        let mut rest = part;
        while let Some((before, name, after)) = enclosed(rest, '{', '}') {
            text.push_str(before);
            match self.shown(name) {
                Some(shown) => {
                    complete &= !shown.is_empty();
                    text.push_str(&shown);
                }
                None => text.extend(["{", name, "}"]),
            }
            rest = after;
        }
        text.push_str(rest);
        complete
    }

    /// The replacement of a name; `None` if it is unknown.
    fn shown(&self, name: &str) -> Option<String> {
        if let Some((_, word)) = self.words.iter().find(|(word, _)| *word == name) {
            return Some(if self.limits { word.to_string() } else { format!("{word:#}") });
        }
        let (key, in_percent) = name.strip_suffix(":%").map_or((name, false), |key| (key, true));
        let (_, measure) = self.evidence.iter().find(|(known, _)| *known == key)?;
        Some(match measure {
            Measure::Ratio(Some(share)) if in_percent => percent(*share),
            measure => measure.to_string(),
        })
    }
}

/// A share as text: "12.5 %".
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{} %", three_digits(100.0 * share))
}

/// A ratio of two amounts of which neither is part of the other, to follow a comma: "12.5 % of" or "2.5× ".
#[must_use]
pub fn multiple(ratio: f64) -> String {
    if ratio > 1.0 { format!("{}×", three_digits(ratio)) } else { format!("{} of", percent(ratio)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Millis;

    fn shown(template: &str, words: &[Word<'_>]) -> String {
        let evidence = [
            ("gc_time_ms", Measure::Time(Millis::new(61_000))),
            ("gc_ratio", Measure::Ratio(Some(0.125))),
            ("error_text", Measure::Text(String::new())),
        ];
        render(template, words, &evidence)
    }

    #[test]
    fn templates_show_facts_and_words() {
        let message = |template| shown(template, &[("limit", &"low from 8 %")]);
        assert_eq!(message("{gc_time_ms} is {gc_ratio:%} ({limit})"), "1m 1s is 12.5 % (low from 8 %)");
        assert_eq!(message("{gc_ratio} of it"), "0.12 of it");
        assert_eq!(message("{unknown} and {gc_ratio"), "{unknown} and {gc_ratio");
        assert_eq!(message(""), "");
    }

    #[test]
    fn statements_have_no_limits() {
        let words: [Word<'_>; 2] = [("limit", &"low from 8 %"), ("use_limit", &"low from 2")];
        let statement = |template| without_limits(template, &words, &[]);
        assert_eq!(statement("GC ({limit}); heap (not reached: {use_limit}) of (all)"), "GC; heap of (all)");
        assert_eq!(statement("{limit} (limit) x"), "low from 8 % (limit) x");
        assert_eq!(statement("a (b"), "a (b");
        // Also in phrases that are words of other templates, and only there.
        let phrase = Phrase::new("slow ({limit})", &words);
        let words: [Word<'_>; 1] = [("causes", &phrase)];
        assert_eq!(without_limits("stage 1: {causes}", &words, &[]), "stage 1: slow");
        assert_eq!(render("stage 1: {causes}", &words, &[]), "stage 1: slow (low from 8 %)");
    }

    #[test]
    fn optional_parts_need_all_their_names() {
        let failed = |times: &str, error: &str| {
            shown("failed[ {times}][, {times} with \"{error}\"]", &[("times", &times), ("error", &error)])
        };
        assert_eq!(failed("twice", "no disk"), "failed twice, twice with \"no disk\"");
        assert_eq!(failed("twice", ""), "failed twice");
        assert_eq!(failed("", "no disk"), "failed");
        assert_eq!(shown("failed[: {error_text}]", &[]), "failed", "also for facts");
        // A wrong name must not hide a part.
        assert_eq!(shown("failed[: {eror_text}]", &[]), "failed: {eror_text}");
        assert_eq!(shown("failed[: {gc_time_ms}", &[]), "failed[: 1m 1s");
    }

    #[test]
    fn replacements_are_no_templates() {
        assert_eq!(
            shown("{host}[ at {place}]", &[("host", &"[{gc_ratio}]"), ("place", &"{host}]")]),
            "[{gc_ratio}] at {host}]"
        );
    }

    #[test]
    fn phrases_are_words_of_other_templates() {
        let cause = |text: &'static str| Phrase::new("because of {text}", &[("text", &text)]);
        let causes =
            |phrases: Vec<Phrase>| shown("slow[, {causes}]", &[("causes", &Phrase::list(" and ", phrases))]);
        assert_eq!(causes(vec![cause("data"), cause("GC")]), "slow, because of data and because of GC");
        assert_eq!(causes(Vec::new()), "slow");
    }
}
