//! Phrases for comparisons that several formats share.

use super::super::words::{plural, title};
use super::super::wrap::clean;
use elephant_base::units::{Bytes, Millis, three_digits};
use elephant_engine::results::{
    Absence, Change, Comparison, Counts, FindingChange, JobComparison, JobState, LimitBasis, LimitGrowth,
    MeasureChange, MetricChange, MetricVerdict, TroubleChange,
};

/// The message about an accepted history that was emptied or overwritten.
pub(crate) const LOST: &str = "an accepted history was emptied or overwritten; restore it, or accept the input without it with --update";
/// The message about an expired suppression.
pub(crate) const EXPIRED: &str = "a suppression has expired; fix its findings, or change its \"until\" date";

/// Maximum number of jobs that are named.
const NAMED: usize = 5;

/// The accepted jobs that did not run.
pub(crate) fn missing(comparison: &Comparison) -> impl Iterator<Item = &JobComparison> {
    comparison.jobs.iter().filter(|job| job.state == JobState::Absent)
}

/// "2 accepted jobs did not run: spark etl, spark daily report". `None` if all ran.
#[must_use]
pub fn missing_jobs(comparison: &Comparison) -> Option<String> {
    let count = missing(comparison).count();
    if count == 0 {
        return None;
    }
    let named: Vec<String> = missing(comparison).take(NAMED).map(|job| clean(job.key.as_str())).collect();
    let more = count - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{} did not run: {}{more}", plural(count as u64, "accepted job"), named.join(", ")))
}

/// What to do about accepted jobs that did not run.
pub(crate) const MISSING_HELP: &str = "run them, or remove them from the baseline with --update --prune";

/// That a limit rose is mentioned from this factor: less does not show in three digits.
const GROWTH: f64 = 1.005;

/// The reason why a run is not compared, rewritten for several runs.
pub(crate) fn of_several(reason: &str) -> String {
    let plural = [
        ("it is ", "they are "),
        ("it was ", "they were "),
        ("its log is ", "their logs are "),
        ("it ", "they "),
    ];
    let found = plural.iter().find_map(|(one, more)| Some(format!("{more}{}", reason.strip_prefix(one)?)));
    found.unwrap_or_else(|| reason.replace("this run", "these runs"))
}

/// "1 new trouble, 2 higher costs, 3 troubles not judged".
#[must_use]
pub fn counted(counts: Counts) -> String {
    let Counts { new, worse, better, gone, regressed, improved, .. } = counts;
    let changes = [
        (new, "new", "trouble"),
        (worse, "worse", "trouble"),
        (regressed, "higher", "cost"),
        (better, "better", "trouble"),
        (gone, "gone", "trouble"),
        (improved, "lower", "cost"),
    ];
    let parts = changes.iter().filter(|(count, ..)| *count > 0);
    let parts = parts.map(|(count, change, what)| plural(*count, &format!("{change} {what}")));
    let parts: Vec<String> = parts.chain(unjudged_summary(counts)).collect();
    if parts.is_empty() { "nothing changed".to_owned() } else { parts.join(", ") }
}

/// "3 troubles not judged, 1 run judged in part, 1 file not read". `None` if everything was judged.
#[must_use]
pub fn unjudged_summary(counts: Counts) -> Option<String> {
    let Counts { not_judged, incomplete_runs, unjudged_runs, unread_files, .. } = counts;
    let counts = [
        (not_judged, "trouble", "not judged"),
        (incomplete_runs - unjudged_runs.min(incomplete_runs), "run", "judged in part"),
        (unjudged_runs, "run", "not judged at all"),
        (unread_files, "file", "not read"),
    ];
    let parts = counts.iter().filter(|(count, ..)| *count > 0);
    let parts: Vec<String> =
        parts.map(|(count, what, how)| format!("{} {how}", plural(*count, what))).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What to do about runs that are too incomplete to judge.
pub(crate) const UNDECIDED_HELP: &str = "check a complete log, or use --allow-unjudged to let such runs pass";

/// The troubles and runs that an update did not accept. `None` if it accepted everything.
pub(crate) fn left_out(counts: Counts) -> Option<String> {
    let Counts { worse_in_part, not_judged, unjudged_runs, unread_files, .. } = counts;
    let worse = "worse trouble";
    let left = [
        (worse_in_part > 0).then(|| {
            format!("{} of incomplete runs, where a complete run was accepted", plural(worse_in_part, worse))
        }),
        (not_judged > 0).then(|| format!("{} not judged", plural(not_judged, "trouble"))),
        (unjudged_runs > 0).then(|| format!("{} not judged at all", plural(unjudged_runs, "run"))),
        (unread_files > 0).then(|| format!("{} not read", plural(unread_files, "file"))),
    ];
    let left: Vec<String> = left.into_iter().flatten().collect();
    (!left.is_empty()).then(|| left.join(", "))
}

/// Why an accepted finding is absent. `None` if it is gone.
pub(crate) fn why_absent(absence: &Absence) -> Option<String> {
    match absence {
        Absence::Gone => None,
        Absence::RuleOff => Some("the rule is switched off".to_owned()),
        Absence::Suppressed => Some("a rule file suppresses it".to_owned()),
        Absence::NotJudged(why) => Some(clean(why)),
    }
}

/// Baselines keep only a few digits, so smaller differences do not count.
const ROUNDING: f64 = 1e-4;

/// "mapper-skew (map)  severe, was moderate; `deviation_ratio` 9.6, accepted 4.2".
pub(crate) fn head(found: &FindingChange) -> String {
    let severity = match found.accepted_severity() {
        Some(accepted) if accepted != found.finding.severity => {
            format!("{}, was {accepted}", found.finding.severity)
        }
        _ => found.finding.severity.to_string(),
    };
    let measure = found.measure.as_ref().and_then(|measure| Some((measure, measure.accepted?)));
    let differs = |value: f64, accepted: f64| (value - accepted).abs() > ROUNDING * accepted.abs();
    let measure = measure.filter(|(measure, accepted)| differs(measure.value, *accepted));
    let measure = measure.map(|(measure, accepted)| {
        let MeasureChange { key, value, .. } = measure;
        let (value, accepted) =
            apart(*value, accepted, |value| show(key, value), |value| exactly(key, value));
        format!("; {} {value}, accepted {accepted}", words(key))
    });
    let rule = clean(&found.finding.rule);
    let doubt = found.doubt.as_deref().filter(|_| found.change == Change::NotJudged);
    let doubt = doubt.map(|why| format!("; {}", clean(why)));
    let part = (found.change.is_bad() && found.incomplete).then(|| ", in an incomplete run".to_owned());
    let rest: String = [measure, part, doubt].into_iter().flatten().collect();
    format!("{rule} ({}), {severity}{rest}", clean(&found.subject))
}

/// "Skew in stage 4.0, severe", or a finding that belongs to no trouble.
pub(crate) fn headline(trouble: &TroubleChange) -> String {
    match (&trouble.told, trouble.findings.first()) {
        (Some(told), _) => format!("{}, {}", title(&told.trouble), trouble.severity()),
        (None, found) => found.map(head).unwrap_or_default(),
    }
}

/// What is wrong, in a sentence.
pub(crate) fn cause(trouble: &TroubleChange) -> &str {
    match (&trouble.told, trouble.findings.first()) {
        (Some(told), _) => &told.trouble.cause,
        (None, found) => found.map(|found| found.finding.message.as_str()).unwrap_or_default(),
    }
}

/// How the findings about a trouble compare, those with the same change together: "new: spark-skew (stage "load"), severe".
/// None for a finding that belongs to no trouble, because its headline says it.
pub(crate) fn members(trouble: &TroubleChange) -> Vec<String> {
    if trouble.told.is_none() {
        return Vec::new();
    }
    let alike = trouble.findings.chunk_by(|one, other| one.change == other.change);
    let told = alike.filter_map(|alike| {
        let heads: Vec<String> = alike.iter().map(head).collect();
        Some(format!("{}: {}", alike.first()?.change.name(), heads.join("; ")))
    });
    told.collect()
}

/// The headline with the findings about the trouble.
pub(crate) fn in_one_line(trouble: &TroubleChange) -> String {
    let members = members(trouble).join("; ");
    if members.is_empty() { headline(trouble) } else { format!("{} ({members})", headline(trouble)) }
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

/// The value without rounding, with its unit.
fn exactly(key: &str, value: f64) -> String {
    let unit = match key {
        _ if key.ends_with("_bytes_per_second") => " B/s",
        _ if key.ends_with("_bytes") => " B",
        _ if key.ends_with("_ms") => " ms",
        _ => "",
    };
    format!("{value}{unit}")
}

/// Both numbers as text: rounded, or exact if the rounded texts are the same.
fn apart(
    one: f64,
    other: f64,
    rounded: impl Fn(f64) -> String,
    exact: impl Fn(f64) -> String,
) -> (String, String) {
    let texts = (rounded(one), rounded(other));
    if texts.0 == texts.1 { (exact(one), exact(other)) } else { texts }
}

/// "run time 19m 3s; up to 14m 24s is accepted (median 12m of 5 accepted runs, and their spread)".
pub(crate) fn cost(change: &MetricChange) -> String {
    let MetricChange { metric, value, range, .. } = change;
    let median = metric.show(range.median);
    let of_runs = match range.runs {
        1 => format!("{median} in the accepted run"),
        runs => format!("median {median} of {runs} accepted runs"),
    };
    let basis = match range.basis {
        LimitBasis::Tolerance => format!("{of_runs}, and the tolerance"),
        LimitBasis::Spread => format!("{of_runs}, and their spread"),
        LimitBasis::Floor => {
            format!("{of_runs}; differences below {} do not count", metric.show(range.floor))
        }
    };
    let bound = if change.verdict == MetricVerdict::Improved { range.low } else { range.high };
    let (value, bound) = apart(*value, bound, |value| metric.show(value), |value| metric.show_exactly(value));
    let limit = match change.verdict {
        MetricVerdict::Improved => format!("usually {bound} or more"),
        _ => format!("up to {bound} is accepted"),
    };
    let at_least = if change.at_least { "at least " } else { "" };
    let mut parts = vec![format!("{} {at_least}{value}", metric.name()), format!("{limit} ({basis})")];
    if change.at_least {
        parts.push("the log is incomplete".to_owned());
    }
    if change.runs > 1 {
        let id = clean(&change.application);
        parts.push(format!(
            "worst of {} runs ({id}), {} beyond the limit",
            change.runs, change.regressed_runs
        ));
    }
    parts.extend(limit_growth(change));
    parts.join("; ")
}

/// "2.7 s of it because stage "load" read 2.9× as much". `None` if the limit did not rise.
fn limit_growth(change: &MetricChange) -> Option<String> {
    let LimitGrowth { factor, phases, .. } = &change.limit_growth;
    if *factor < GROWTH {
        return None;
    }
    let Some(first) = phases.first() else {
        let ratio = three_digits(*factor);
        return Some(format!(
            "the limit is for {ratio}× the input: the accepted runs do not tell their stages"
        ));
    };
    let more = change.metric.show(change.range.high - change.usual_limit());
    let (phase, ratio) = (clean(&first.phase), three_digits(first.read_ratio));
    let others = match phases.len() - 1 {
        0 => String::new(),
        others => format!(" and {} read more", plural(others as u64, "other phase")),
    };
    Some(format!("{more} of the limit because {phase} read {ratio}× as much{others}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_said_of_several_runs() {
        for (one, several) in [
            ("it is older than the accepted runs", "they are older than the accepted runs"),
            ("it was killed", "they were killed"),
            ("it failed", "they failed"),
            ("its log is incomplete", "their logs are incomplete"),
            ("the baseline already contains this run", "the baseline already contains these runs"),
        ] {
            assert_eq!(of_several(one), several);
        }
    }
}
