//! Where figures come from, in words.

use elephant_explain::{Explanation, Figure, How, Origin, Place, Rest, Setting, Term, Values};

use crate::words::{grouped, plural};

/// "line 104, byte 48213".
pub(crate) fn place(place: &Place) -> String {
    let line = place.line.map(|line| format!("line {line}"));
    let byte = place.byte.map(|byte| format!("byte {byte}"));
    line.into_iter().chain(byte).collect::<Vec<_>>().join(", ")
}

/// "the sum of Task Metrics.JVM GC Time of 1,200 ended attempts: 1,264,000 ms".
pub(crate) fn origin(figure: &Figure) -> String {
    match (&figure.origin, figure.values.first()) {
        (Origin::Figures(formula), _) => (*formula).to_owned(),
        (Origin::Attempts(How::Count, _), Some(values)) => {
            format!("the number of {} attempts", values.which.name())
        }
        (Origin::Attempts(how, _), Some(values)) => format!("{} of {}", how.words(), of(values)),
        (Origin::Attempts(..) | Origin::Rule, None) => "computed by the rule".to_owned(),
        (Origin::Rule, Some(values)) => format!("computed by the rule from {}", of(values)),
    }
}

/// "Task Metrics.JVM GC Time of 1,200 ended attempts, 1,264,000 ms in all".
pub(crate) fn of(values: &Values) -> String {
    let unit = if values.unit.is_empty() { String::new() } else { format!(" {}", values.unit) };
    let attempts = plural(values.count, &format!("{} attempt", values.which.name()));
    format!("{} of {attempts}, {}{unit} in all", values.key, grouped(values.sum))
}

/// "12,345 in stage 3.0 task 17 attempt 0".
pub(crate) fn term(term: &Term) -> String {
    format!("{} in {}", grouped(term.value), term.of)
}

/// "the other 1,190 add up to 1,111,111"; `None` if there are no others.
pub(crate) fn rest(rest: &Rest) -> Option<String> {
    (rest.count > 0).then(|| format!("the other {} add up to {}", grouped(rest.count), grouped(rest.sum)))
}

/// "spark.executor.memory=8g", or that it is not set.
pub(crate) fn setting(setting: &Setting) -> String {
    match &setting.value {
        Some(value) => format!("{}={value}", setting.name),
        None => format!("{} is not set in the history", setting.name),
    }
}

/// "spark-executor-gc of application".
pub(crate) fn title(explanation: &Explanation) -> String {
    format!("{} of {}", explanation.rule, explanation.subject.name())
}
