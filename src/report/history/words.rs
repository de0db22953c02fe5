//! Words for answers from a store.

use super::super::words::plural;
use crate::store::{Answer, Change, Group, Grouping, Measure};
use crate::units::{Millis, Timestamp};

/// The title of the column with the names of groups.
pub(super) const fn key(grouping: Grouping) -> &'static str {
    match grouping {
        Grouping::Everything => "",
        Grouping::User => "user",
        Grouping::Queue => "queue",
        Grouping::Job => "job",
        Grouping::Day => "day",
        Grouping::Engine => "engine",
        Grouping::Status => "status",
        Grouping::Trouble => "trouble",
        Grouping::Rule => "rule",
    }
}

/// A day, without the time.
pub(super) fn day(moment: Option<Timestamp>) -> Option<String> {
    moment.and_then(Timestamp::to_rfc3339).and_then(|text| text.get(..10).map(str::to_owned))
}

/// An amount of memory over time, or of anything else with three digits.
pub(super) fn amount(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value < 0.005 => "<0.01".to_owned(),
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// What was wasted, as a share.
pub(super) fn share(group: &Group) -> Option<f64> {
    let (wasted, used) = group.wasted_gb_hours.zip(group.used_gb_hours)?;
    (used > 0.0).then(|| 100.0 * wasted / used)
}

/// How many applications there are, and when they ran.
pub(super) fn extent(answer: &Answer) -> String {
    let Answer { total, from, until, .. } = answer;
    let all = plural(total.applications, "application");
    let when = day(*from).zip(day(*until)).map(|(from, until)| {
        if from == until { format!(" of {from}") } else { format!(" from {from} to {until}") }
    });
    let failed = (total.failed > 0).then(|| format!(", {} failed", total.failed));
    let unjudged = (total.unjudged > 0).then(|| format!(", {} could not be judged", total.unjudged));
    [Some(all), when, failed, unjudged].into_iter().flatten().collect()
}

/// What they used, and what of it was wasted and could be saved.
pub(super) fn costs(total: &Group) -> String {
    let Some(used) = total.used_gb_hours else { return "the memory used is unknown".to_owned() };
    let used = format!("{} GB·h used", amount(used));
    let wasted = total.wasted_gb_hours.zip(share(total));
    let wasted =
        wasted.map(|(wasted, share)| format!(", {} GB·h of it not needed ({share:.1} %)", amount(wasted)));
    let saved = (total.saved_gb_hours > 0.0)
        .then(|| format!("; the remedies save {} GB·h", amount(total.saved_gb_hours)));
    let without = (total.unmeasured > 0)
        .then(|| format!("; without {} whose memory is unknown", plural(total.unmeasured, "application")));
    [Some(used), wasted, saved, without].into_iter().flatten().collect()
}

/// "run time changed: median 3m 20s in 14 runs, 9m 2s in the 6 runs since app-1 (2026-11-14), +171 %"
pub(super) fn change(change: &Change) -> String {
    let show = |value: f64| match change.measure {
        Measure::RunTime => Millis::from_f64(value.round()).unwrap_or_default().to_string(),
        Measure::Used => format!("{} GB·h", amount(value)),
    };
    let what = match change.measure {
        Measure::RunTime => "the run time",
        Measure::Used => "the memory used",
    };
    let since = day(change.since).map(|day| format!(" ({day})")).unwrap_or_default();
    let percent = 100.0 * (change.after / change.before - 1.0);
    let percent = if percent.is_finite() { format!(", {percent:+.0} %") } else { String::new() };
    format!(
        "{what} changed with {first}{since}: median {before} in {runs_before} before, {after} in {runs_after} since{percent}",
        first = super::super::wrap::clean(&change.first),
        before = show(change.before),
        runs_before = plural(change.runs_before, "run"),
        after = show(change.after),
        runs_after = plural(change.runs_after, "run"),
    )
}
