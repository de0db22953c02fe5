//! Builds the judgement of a rule: subject and severity first, then facts, message and advice.

use super::template::{Word, render, without_limits};
use super::{
    Advice, Condition, Failure, InQuery, Judgement, Measure, Repartition, Subject, TroubleKind, Verdict,
};
use elephant_base::severity::Severity;

/// The end of the last message, if there are more like it.
const ONE_MORE: &str = "; 1 more {noun} is similar";
/// The same for several.
const SEVERAL_MORE: &str = "; {more} more {noun}s are similar";

impl Judgement {
    /// A judgement on a subject. It has one task, unless [`Judgement::tasks`] changes that.
    #[must_use]
    pub const fn of(subject: Subject, severity: Severity) -> Self {
        Self {
            severity,
            subject,
            tasks: 1,
            message: String::new(),
            statement: String::new(),
            evidence: Vec::new(),
            advice: Vec::new(),
            tells: None,
            repartition: None,
            of_more_parts: false,
            also_about: Vec::new(),
            in_queries: Vec::new(),
            conditions: None,
            failure: None,
        }
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

    /// Sets the message from a template with names in braces: keys of the facts added so far, and `words`. A
    /// part in square brackets is left out if one of its names stands for an empty text. In the statement, text in
    /// parentheses with the name of a limit is left out.
    #[must_use]
    pub fn message(self, template: &'static str, words: &[Word<'_>]) -> Self {
        let message = render(template, words, &self.evidence);
        let statement = without_limits(template, words, &self.evidence);
        Self { message, statement, ..self }
    }

    /// Sets the advice. `advice` is called only if something was found.
    #[must_use]
    pub fn advice<A: Into<Advice>>(self, advice: impl FnOnce() -> Vec<A>) -> Self {
        let advice = if self.severity > Severity::None { advice() } else { Vec::new() };
        Self { advice: advice.into_iter().map(Into::into).collect(), ..self }
    }

    /// Names other numbers of tasks that would remove the trouble.
    #[must_use]
    #[doc(hidden)]
    pub fn repartition(self, repartition: Repartition) -> Self {
        Self { repartition: Some(repartition), ..self }
    }

    /// Says that the judgement is also about parts without one of their own.
    #[must_use]
    #[doc(hidden)]
    pub fn of_more_parts(self, of_more_parts: bool) -> Self {
        Self { of_more_parts, ..self }
    }

    /// Names other parts that the trouble shows in, or comes from.
    #[must_use]
    #[doc(hidden)]
    pub fn also_about(self, parts: Vec<Subject>) -> Self {
        Self { also_about: parts, ..self }
    }

    /// Names a query, or an operator of it by its place, that the judgement is about.
    #[must_use]
    #[doc(hidden)]
    pub fn in_query(mut self, query: u64, operator: Option<usize>) -> Self {
        let operator = operator.and_then(|place| u32::try_from(place).ok());
        self.in_queries.push(InQuery { query, operator });
        self
    }

    /// Adds the conditions that must hold in addition to the limits that charts draw.
    #[must_use]
    #[doc(hidden)]
    pub fn conditions(self, conditions: Vec<Condition>) -> Self {
        Self { conditions: Some(conditions.into()), ..self }
    }

    /// Sets the kind of trouble that this judgement indicates, if it is not the one that the rule is about.
    #[must_use]
    pub fn tells(self, kind: TroubleKind) -> Self {
        Self { tells: Some(kind), ..self }
    }

    /// Sets the root cause of a failure, and adds it to the evidence.
    #[must_use]
    #[doc(hidden)]
    pub fn failed_by(mut self, failure: Option<Failure>) -> Self {
        self.evidence.extend(failure.iter().flat_map(Failure::evidence));
        Self { failure, ..self }
    }
}

/// Says in the last message that `more` like it are not reported; nothing if there are none.
pub fn and_more(judgements: &mut [Judgement], more: usize, noun: &str) {
    let Some(last) = judgements.last_mut() else { return };
    let template = match more {
        0 => return,
        1 => ONE_MORE,
        _ => SEVERAL_MORE,
    };
    let told = render(template, &[("more", &more), ("noun", &noun)], &[]);
    last.message += &told;
    last.statement += &told;
}

impl From<Judgement> for Verdict {
    fn from(judgement: Judgement) -> Self {
        Self::Judged(judgement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Millis;

    fn judged(severity: Severity) -> Judgement {
        Judgement::of(Subject::Application, severity).fact("gc_time_ms", Measure::Time(Millis::new(61_000)))
    }

    #[test]
    fn messages_show_facts_and_words() {
        let judged = judged(Severity::Low).message("{gc_time_ms} of {what}", &[("what", &"GC")]);
        assert_eq!(judged.message, "1m 1s of GC");
    }

    #[test]
    fn the_last_message_counts_the_others() {
        let last = |more| {
            let mut judgements = [judged(Severity::Low), judged(Severity::Low)];
            and_more(&mut judgements, more, "stage");
            let [first, last] = judgements;
            assert_eq!(first.message, "");
            last.message
        };
        assert_eq!(last(0), "");
        assert_eq!(last(1), "; 1 more stage is similar");
        assert_eq!(last(2), "; 2 more stages are similar");
        and_more(&mut [], 2, "stage");
    }

    #[test]
    fn advice_is_computed_only_if_something_was_found() {
        let advice = |severity| judged(severity).advice(|| vec!["change it"]).advice;
        assert_eq!(advice(Severity::Low), [Advice::new("change it")]);
        assert!(advice(Severity::None).is_empty());
    }
}
