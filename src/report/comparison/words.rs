//! Phrases for comparisons that several formats share.

use super::super::words::plural;
use super::super::wrap::clean;
use crate::results::{Absence, Change, Counts, FindingChange, MeasureChange, MetricChange, MetricVerdict};
use crate::units::{Bytes, Millis, three_digits};

/// The message about an expired suppression.
pub(crate) const EXPIRED: &str = "a suppression has expired; fix its findings, or change its \"until\" date";

/// Growth of the input is mentioned from this factor.
const GROWTH: f64 = 1.05;

/// "1 new finding, 2 higher costs, 3 findings not judged".
pub(crate) fn counted(counts: Counts) -> String {
    let Counts { new, worse, better, gone, regressed, improved, .. } = counts;
    let changes = [
        (new, "new", "finding"),
        (worse, "worse", "finding"),
        (regressed, "higher", "cost"),
        (better, "better", "finding"),
        (gone, "gone", "finding"),
        (improved, "lower", "cost"),
    ];
    let parts = changes.iter().filter(|(count, ..)| *count > 0);
    let parts = parts.map(|(count, change, what)| plural(*count, &format!("{change} {what}")));
    let parts: Vec<String> = parts.chain(unjudged_summary(counts)).collect();
    if parts.is_empty() { "nothing changed".to_owned() } else { parts.join(", ") }
}

/// "3 findings not judged, 1 run judged in part". `None` if everything was judged.
pub(crate) fn unjudged_summary(counts: Counts) -> Option<String> {
    let Counts { not_judged, incomplete_runs, unjudged_runs, .. } = counts;
    let counts = [
        (not_judged, "finding", "not judged"),
        (incomplete_runs - unjudged_runs.min(incomplete_runs), "run", "judged in part"),
        (unjudged_runs, "run", "not judged at all"),
    ];
    let parts = counts.iter().filter(|(count, ..)| *count > 0);
    let parts: Vec<String> =
        parts.map(|(count, what, how)| format!("{} {how}", plural(*count, what))).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What to do about runs that are too incomplete to judge.
pub(in crate::report) const UNDECIDED_HELP: &str =
    "check a complete log, or use --allow-unjudged to let such runs pass";

/// What an update did not accept. `None` if it accepted everything.
pub(in crate::report) fn left_out(counts: Counts) -> Option<String> {
    let Counts { worse_in_part, not_judged, unjudged_runs, .. } = counts;
    let worse = "worse finding";
    let left = [
        (worse_in_part > 0).then(|| {
            format!("{} of incomplete runs, where a complete run was accepted", plural(worse_in_part, worse))
        }),
        (not_judged > 0).then(|| format!("{} not judged", plural(not_judged, "finding"))),
        (unjudged_runs > 0).then(|| format!("{} not judged at all", plural(unjudged_runs, "run"))),
    ];
    let left: Vec<String> = left.into_iter().flatten().collect();
    (!left.is_empty()).then(|| left.join(", "))
}

/// Why an accepted finding is absent. `None` if it is gone.
pub(in crate::report) fn why_absent(absence: &Absence) -> Option<String> {
    match absence {
        Absence::Gone => None,
        Absence::RuleOff => Some("the rule is switched off".to_owned()),
        Absence::Suppressed => Some("a rule file suppresses it".to_owned()),
        Absence::NotJudged(why) => Some(clean(why)),
    }
}

/// "mapper-skew (map)  severe, was moderate; `deviation_ratio` 9.6, accepted 4.2".
pub(in crate::report) fn head(found: &FindingChange) -> String {
    let severity = match found.accepted_severity() {
        Some(accepted) if accepted != found.finding.severity => {
            format!("{}, was {accepted}", found.finding.severity)
        }
        _ => found.finding.severity.to_string(),
    };
    let measure = found.measure.as_ref().and_then(|measure| Some((measure, measure.accepted?)));
    let measure = measure.filter(|(measure, accepted)| (measure.value - accepted).abs() > f64::EPSILON);
    let measure = measure.map(|(measure, accepted)| {
        let MeasureChange { key, value, .. } = measure;
        format!("; {} {}, accepted {}", words(key), show(key, *value), show(key, accepted))
    });
    let rule = clean(&found.finding.rule);
    let doubt = found.doubt.as_deref().filter(|_| found.change == Change::NotJudged);
    let doubt = doubt.map(|why| format!("; {}", clean(why)));
    let part = (found.change.is_bad() && found.incomplete).then(|| ", in an incomplete run".to_owned());
    let rest: String = [measure, part, doubt].into_iter().flatten().collect();
    format!("{rule} ({}), {severity}{rest}", clean(&found.subject))
}

/// An evidence key as words, without its unit.
fn words(key: &str) -> String {
    let units = ["_bytes_per_second", "_bytes", "_ratio", "_count", "_ms"];
    let bare = units.iter().find_map(|unit| key.strip_suffix(unit)).unwrap_or(key);
    bare.replace('_', " ")
}

fn show(key: &str, value: f64) -> String {
    let bytes = || Bytes::from_f64(value).unwrap_or_default();
    match key {
        _ if key.ends_with("_bytes_per_second") => format!("{}/s", bytes()),
        _ if key.ends_with("_bytes") => bytes().to_string(),
        _ if key.ends_with("_ms") => Millis::from_f64(value).unwrap_or_default().to_string(),
        _ => three_digits(value),
    }
}

/// "run time 19m 3s; up to 14m 24s is accepted (median 12m of 5 accepted runs, and their spread)".
pub(in crate::report) fn cost(change: &MetricChange) -> String {
    let MetricChange { metric, value, range, .. } = change;
    let median = metric.show(range.median);
    let basis = match range.runs {
        1 => format!("{median} in the accepted run, and the tolerance"),
        runs if range.by_spread => format!("median {median} of {runs} accepted runs, and their spread"),
        runs => format!("median {median} of {runs} accepted runs, and the tolerance"),
    };
    let limit = match change.verdict {
        MetricVerdict::Improved => format!("usually {} or more", metric.show(range.low)),
        _ => format!("up to {} is accepted", metric.show(range.high)),
    };
    let mut parts = vec![format!("{} {}", metric.name(), metric.show(*value)), format!("{limit} ({basis})")];
    if change.runs > 1 {
        let id = clean(&change.application);
        parts.push(format!(
            "worst of {} runs ({id}), {} beyond the limit",
            change.runs, change.regressed_runs
        ));
    }
    let growth = change.input_growth.filter(|&growth| growth >= GROWTH && metric.grows_with_input());
    parts.extend(growth.map(|growth| {
        format!("it read {}× the input, which the limit takes into account", three_digits(growth))
    }));
    parts.join("; ")
}
