//! How a rule makes its judgement: subject and severity first, then facts, the sentence and the advice.
//!
//! A check gives facts. The sentence stands beside it, once for each rule, as a template such as
//! `"executors spend {gc_time_ms} of {task_time_ms} in garbage collection, {gc_ratio:%} ({limit})"`: a key of the
//! evidence stands for its value, with `:%` in percent, and any other word for what the check gives under that name.

use std::fmt;

use super::{Judgement, Measure, Subject, Verdict};
use crate::severity::Severity;
use crate::units::three_digits;

/// A word of a template and what stands for it.
pub type Word<'a> = (&'a str, &'a dyn fmt::Display);

impl Judgement {
    /// A judgement on a subject, which has one task unless [`Judgement::tasks`] says otherwise.
    #[must_use]
    pub const fn of(subject: Subject, severity: Severity) -> Self {
        Self { severity, subject, tasks: 1, message: String::new(), evidence: Vec::new(), advice: Vec::new() }
    }

    /// How many tasks the subject has: its score grows with them.
    #[must_use]
    pub fn tasks(self, tasks: u64) -> Self {
        Self { tasks, ..self }
    }

    /// A measured value.
    #[must_use]
    pub fn fact(mut self, key: &'static str, measure: Measure) -> Self {
        self.evidence.push((key, measure));
        self
    }

    /// Measured values, in this order.
    #[must_use]
    pub fn facts(mut self, facts: impl IntoIterator<Item = (&'static str, Measure)>) -> Self {
        self.evidence.extend(facts);
        self
    }

    /// The sentence, from a template in which keys of the facts given so far, and `words`, stand in braces.
    #[must_use]
    pub fn message(self, template: &str, words: &[Word<'_>]) -> Self {
        let message = render(template, words, &self.evidence);
        Self { message, ..self }
    }

    /// The sentence, where it takes more than a template.
    #[must_use]
    pub fn worded(self, message: String) -> Self {
        Self { message, ..self }
    }

    /// What to change. It is not asked for where nothing was found.
    #[must_use]
    pub fn advice(self, advice: impl FnOnce() -> Vec<String>) -> Self {
        let advice = if self.severity > Severity::None { advice() } else { Vec::new() };
        Self { advice, ..self }
    }
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

/// A word that is not known stays as it is, which a test of all messages sees.
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
        assert_eq!(message("{gc_ratio} of it"), "0.125 of it");
        assert_eq!(message("{unknown} and {gc_ratio"), "{unknown} and {gc_ratio");
    }

    #[test]
    fn advice_is_asked_for_only_where_something_was_found() {
        let advice = |severity| judged(severity).advice(|| vec!["change it".to_owned()]).advice;
        assert_eq!(advice(Severity::Low), ["change it"]);
        assert!(advice(Severity::None).is_empty());
    }
}
