//! Turns of phrase for comparisons that several formats share.

use super::super::words::plural;
use super::super::wrap::clean;
use crate::results::{Absence, Change, Counts, FindingChange, MeasureChange, MetricChange, MetricVerdict};
use crate::units::{Bytes, Millis, three_digits};

/// What is wrong about a suppression that silences nothing more, and what to do.
pub(crate) const EXPIRED: &str = "a suppression has expired: fix its findings, or give it another \"until\"";

/// Growth of the input below this is not worth a word.
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
    let told = changes.iter().filter(|(count, ..)| *count > 0);
    let told = told.map(|(count, change, what)| plural(*count, &format!("{change} {what}")));
    let told: Vec<String> = told.chain(reservations(counts)).collect();
    if told.is_empty() { "nothing changed".to_owned() } else { told.join(", ") }
}

/// "3 findings not judged, 1 run judged in part", or nothing where everything was judged.
pub(crate) fn reservations(counts: Counts) -> Option<String> {
    let Counts { not_judged, incomplete_runs, unjudged_runs, .. } = counts;
    let counts = [
        (not_judged, "finding", "not judged"),
        (incomplete_runs - unjudged_runs.min(incomplete_runs), "run", "judged in part"),
        (unjudged_runs, "run", "not judged at all"),
    ];
    let told = counts.iter().filter(|(count, ..)| *count > 0);
    let told: Vec<String> =
        told.map(|(count, what, how)| format!("{} {how}", plural(*count, what))).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// What to do where nothing could be judged of some runs.
pub(in crate::report) const DECIDE: &str =
    "check a history that is whole, or let such runs pass with --allow-unjudged";

/// Why an update has left something as it was, in a sentence; `None` where it accepted everything.
pub(in crate::report) fn left_out(counts: Counts) -> Option<String> {
    let Counts { worse_in_part, not_judged, unjudged_runs, .. } = counts;
    let worse = "worse finding";
    let left = [
        (worse_in_part > 0).then(|| {
            format!("{} of incomplete runs, where a whole run was accepted", plural(worse_in_part, worse))
        }),
        (not_judged > 0).then(|| format!("{} not judged", plural(not_judged, "finding"))),
        (unjudged_runs > 0).then(|| format!("{} not judged at all", plural(unjudged_runs, "run"))),
    ];
    let left: Vec<String> = left.into_iter().flatten().collect();
    (!left.is_empty()).then(|| left.join(", "))
}

/// Why an accepted finding is not there, in words behind a colon; nothing where it is gone.
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

/// A key of evidence without its unit, in words.
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

/// "run time 19m 3s; up to 14m 24s is accepted (median 12m and spread of 5 runs)".
pub(in crate::report) fn cost(change: &MetricChange) -> String {
    let MetricChange { metric, value, range, .. } = change;
    let median = metric.show(range.median);
    let basis = match range.runs {
        1 => format!("{median} in the accepted run, and the tolerance"),
        runs if range.by_spread => {
            format!("{median} in the median of {runs} accepted runs, and their spread")
        }
        runs => format!("{median} in the median of {runs} accepted runs, and the tolerance"),
    };
    let limit = match change.verdict {
        MetricVerdict::Improved => format!("{} or more was usual", metric.show(range.low)),
        _ => format!("up to {} is accepted", metric.show(range.high)),
    };
    let mut parts = vec![format!("{} {}", metric.name(), metric.show(*value)), format!("{limit} ({basis})")];
    if change.runs > 1 {
        let id = clean(&change.application);
        parts.push(format!("worst of {} runs ({id}), {} beyond", change.runs, change.regressed_runs));
    }
    let growth = change.input_growth.filter(|&growth| growth >= GROWTH && metric.grows_with_input());
    parts.extend(growth.map(|growth| {
        format!("it read {} times the input, which the limit allows for", three_digits(growth))
    }));
    parts.join("; ")
}
