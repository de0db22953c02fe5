//! Builds the judgement of a rule: subject and severity first, then facts, message and advice.
//!
//! A check returns facts. The message is a template next to the check, one per rule, such as
//! `"executors spend {gc_time_ms} of {task_time_ms} in garbage collection, {gc_ratio:%} ({limit})"`. A key of
//! the evidence is replaced by its value, with `:%` in percent. Any other name is replaced by the text that
//! the check passes under that name.

use std::fmt;

use super::{Judgement, Measure, Subject, Verdict};
use crate::severity::Severity;
use crate::units::three_digits;

/// A name in a template, and its replacement.
pub type Word<'a> = (&'a str, &'a dyn fmt::Display);

impl Judgement {
    /// A judgement on a subject. It has one task, unless [`Judgement::tasks`] changes that.
    #[must_use]
    pub const fn of(subject: Subject, severity: Severity) -> Self {
        Self { severity, subject, tasks: 1, message: String::new(), evidence: Vec::new(), advice: Vec::new() }
    }

    /// Sets the number of tasks of the subject, which multiplies its score.
    #[must_use]
    pub fn tasks(self, tasks: u64) -> Self {
        Self { tasks, ..self }
    }

    /// Adds a measured value.
    #[must_use]
    pub fn fact(mut self, key: &'static str, measure: Measure) -> Self {
        self.evidence.push((key, measure));
        self
    }

    /// Adds measured values, in this order.
    #[must_use]
    pub fn facts(mut self, facts: impl IntoIterator<Item = (&'static str, Measure)>) -> Self {
        self.evidence.extend(facts);
        self
    }

    /// Sets the message from a template with names in braces: keys of the facts added so far, and `words`.
    #[must_use]
    pub fn message(self, template: &str, words: &[Word<'_>]) -> Self {
        let message = render(template, words, &self.evidence);
        Self { message, ..self }
    }

    /// Sets the message directly, if a template is not enough.
    #[must_use]
    pub fn worded(self, message: String) -> Self {
        Self { message, ..self }
    }

    /// Sets the advice. `advice` is called only if something was found.
    #[must_use]
    pub fn advice(self, advice: impl FnOnce() -> Vec<String>) -> Self {
        let advice = if self.severity > Severity::None { advice() } else { Vec::new() };
        Self { advice, ..self }
    }
}

/// Says in the last message that `more` like it are not reported; nothing if there are none.
pub(crate) fn and_more(judgements: &mut [Judgement], more: usize, noun: &str) {
    let Some(last) = judgements.last_mut() else { return };
    let others = match more {
        0 => return,
        1 => format!("; 1 more {noun} is similar"),
        _ => format!("; {more} more {noun}s are similar"),
    };
    last.message.push_str(&others);
}

impl From<Judgement> for Verdict {
    fn from(judgement: Judgement) -> Self {
        Self::Judged(judgement)
    }
}

/// A share as text: "12.5 %".
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", three_digits(100.0 * share))
}

/// A ratio of two amounts of which neither is part of the other, to follow a comma: "12.5 % of" or "2.5× ".
pub(crate) fn multiple(ratio: f64) -> String {
    if ratio > 1.0 { format!("{}×", three_digits(ratio)) } else { format!("{} of", percent(ratio)) }
}

/// Fills in a template. Unknown names stay as they are; a test of all messages finds them.
fn render(template: &str, words: &[Word<'_>], evidence: &[(&'static str, Measure)]) -> String {
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, from)| Some((before, from.split_once('}')?)))
    {
        text += before;
        let (key, in_percent) = name.strip_suffix(":%").map_or((name, false), |key| (key, true));
        let word = words.iter().find(|(word, _)| *word == name).map(|(_, value)| value.to_string());
        let measure = || evidence.iter().find(|(known, _)| *known == key).map(|(_, measure)| measure);
        let shown = word.or_else(|| {
            Some(match measure()? {
                Measure::Ratio(Some(share)) if in_percent => percent(*share),
                measure => measure.to_string(),
            })
        });
        match shown {
            Some(shown) => text += &shown,
            None => text.extend(["{", name, "}"]),
        }
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Millis;

    fn judged(severity: Severity) -> Judgement {
        Judgement::of(Subject::Application, severity)
            .fact("gc_time_ms", Measure::Time(Millis::new(61_000)))
            .fact("gc_ratio", Measure::Ratio(Some(0.125)))
    }

    #[test]
    fn templates_show_facts_and_words() {
        let message =
            |template| judged(Severity::Low).message(template, &[("limit", &"low from 8 %")]).message;
        assert_eq!(message("{gc_time_ms} is {gc_ratio:%} ({limit})"), "1m 1s is 12.5 % (low from 8 %)");
        assert_eq!(message("{gc_ratio} of it"), "0.12 of it");
        assert_eq!(message("{unknown} and {gc_ratio"), "{unknown} and {gc_ratio");
    }

    #[test]
    fn advice_is_computed_only_if_something_was_found() {
        let advice = |severity| judged(severity).advice(|| vec!["change it".to_owned()]).advice;
        assert_eq!(advice(Severity::Low), ["change it"]);
        assert!(advice(Severity::None).is_empty());
    }
}
