//! Phrases for changes.

use crate::words::{millis, plural, small};
use crate::wrap::clean;
use elephant_engine::whatif::{
    Change, ChangeTotal, Job, PathStage, Prediction, Range, Replays, Scenario, WhatIfReport, most_frequent,
};
use elephant_model::model::spark::without_folders;

/// The effect of a change on the run time.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Saved {
    /// The change leaves everything as it is.
    Nothing,
    /// Too little to be sure of.
    WithinError,
    /// "9.1 s ± 2.3 s" less.
    Less(String),
    /// "9.1 s ± 2.3 s" more.
    More(String),
}

impl Saved {
    /// The words for a prediction.
    pub(super) fn of(prediction: &Prediction) -> Self {
        let saves = &prediction.saves.wall_ms;
        match prediction.within_error {
            _ if saves.half_width() <= 0.0 && saves.point.abs() <= 0.0 => Self::Nothing,
            true => Self::WithinError,
            false if saves.point > 0.0 => Self::Less(with_error(saves)),
            false => Self::More(with_error(saves)),
        }
    }
}

/// "9.1 s ± 2.3 s", without a sign.
pub(super) fn with_error(range: &Range) -> String {
    format!("{} ± {}", millis(range.point.abs()), millis(range.half_width()))
}

/// What stands for the best change if there is none.
pub(super) const NONE: &str = "none beyond the error";

/// The kinds of changes from which the best is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    /// Leaves out troubles.
    Trouble,
    /// Has other executors, cores, memory or tasks.
    Resources,
}

impl Kind {
    pub(super) fn holds(self, change: &Change) -> bool {
        let leaves_out = !change.without.is_empty();
        self == Self::Any || leaves_out == (self == Self::Trouble)
    }
}

/// The change of this kind that saves the most time beyond the error.
pub(super) fn best(replays: &Replays, kind: Kind) -> Option<(&Scenario, &Prediction)> {
    let scenarios = replays.scenarios.iter().filter(|scenario| kind.holds(&scenario.change));
    let known = scenarios.filter_map(|scenario| {
        let prediction = scenario.prediction.as_ref().ok()?;
        matches!(Saved::of(prediction), Saved::Less(_)).then_some((scenario, prediction))
    });
    // On a tie, the first: a single trouble comes before all troubles together.
    known.reduce(|best, other| {
        let saves = |(_, prediction): (_, &Prediction)| prediction.saves.wall_ms.point;
        if saves(other) > saves(best) { other } else { best }
    })
}

/// The effect of a change on the run time: "no skew: 45.2 s instead of 57.7 s".
pub(super) fn outcome(replays: &Replays, scenario: &Scenario) -> String {
    let what = change(scenario);
    match &scenario.prediction {
        Ok(prediction) if matches!(Saved::of(prediction), Saved::Less(_) | Saved::More(_)) => {
            format!("{what}: {} instead of {}", takes(prediction), replays.replayed)
        }
        Ok(_) => format!("{what}: no difference beyond the error"),
        Err(_) => format!("{what}: what that would do is unknown"),
    }
}

/// From this share of the run time, the error is too large for the likely value to say anything alone.
const WIDE: f64 = 0.25;

/// What the application takes: the likely time, or the range if the change is within an error that is much larger than
/// usual.
pub(super) fn takes(prediction: &Prediction) -> String {
    let wall = &prediction.takes.wall_ms;
    let is_wide = prediction.within_error && wall.half_width() > WIDE * wall.point;
    if is_wide { format!("{} to {}", millis(wall.low), millis(wall.high)) } else { millis(wall.point) }
}

/// Lower bounds of the run time: with unlimited slots, with slots that are always busy, and for the driver
/// alone. They are replays, not the recorded run.
pub(super) fn bounds(replays: &Replays) -> Vec<String> {
    let Replays { critical_path, ideal, driver, .. } = replays;
    let mut bounds = vec![
        format!("{critical_path} with unlimited slots (critical path)"),
        format!("{ideal} if these slots were always busy (ideal)"),
    ];
    bounds.extend(driver.map(|driver| format!("driver alone {driver}")));
    bounds
}

/// The title of the stages that [`Replays::path`] names: of the recorded run, not of the one with unlimited slots.
pub(super) const PATH: &str = "Longest stages on the critical path of the recorded run";

/// "stage 3.0 (count at App.scala:10)".
pub(super) fn stage(stage: &PathStage) -> String {
    let subject = stage.subject.name();
    match stage.name.as_deref().map(without_folders) {
        Some(name) if !name.is_empty() => format!("{subject} ({name})"),
        _ => subject.into_owned(),
    }
}

/// The change in words: "no skew", "8 executors, 4 cores each".
pub(super) fn change(scenario: &Scenario) -> String {
    in_words(&scenario.change, scenario.is_local)
}

/// The effects that a replay of the change leaves out.
pub(super) fn note(change: &Change) -> Option<&'static str> {
    const HEAP: &str =
        "a replay does not model less garbage collection or spill: analyze says what they cost";
    change.memory.map(|_| HEAP)
}

fn in_words(change: &Change, is_local: bool) -> String {
    let Change { executors, cores, memory, partitions, reducers, split_size, slow_start, without } = change;
    let each = if is_local { "" } else { " each" };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(executors.map(|count| plural(count.into(), "executor")));
    parts.extend(cores.map(|count| format!("{}{each}", plural(count.into(), "core"))));
    parts.extend(memory.map(|heap| format!("{heap} of heap")));
    parts.extend(
        partitions
            .iter()
            .map(|(stage, tasks)| format!("{} in stage {stage}", plural((*tasks).into(), "task"))),
    );
    parts.extend(reducers.map(|count| plural(count.into(), "reduce task")));
    parts.extend(split_size.map(|size| format!("splits of {size}")));
    parts.extend(slow_start.map(|share| format!("slow start {share}")));
    let names: Vec<&str> = without.iter().map(|trouble| trouble.name()).collect();
    if let Some((last, others)) = names.split_last() {
        let list =
            if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) };
        parts.push(format!("no {list}"));
    }
    parts.join(", ")
}

/// "no skew: saves 12m ± 2m in 3 applications; takes 46.7 s longer in 1 application; 0.3 core-hours
/// less; unknown in 2 applications".
pub(super) fn total(total: &ChangeTotal) -> String {
    format!("{}: {}", of_total(total), effect(total))
}

/// The same for several changes; those with the same effect share a line.
pub(super) fn totals(changes: &[ChangeTotal]) -> Vec<String> {
    let mut lines: Vec<(Vec<&ChangeTotal>, String)> = Vec::new();
    for change in changes {
        let effect = effect(change);
        match lines.iter_mut().find(|(_, known)| *known == effect) {
            Some((alike, _)) => alike.push(change),
            None => lines.push((vec![change], effect)),
        }
    }
    let line = |(alike, effect): (Vec<&ChangeTotal>, String)| match alike.as_slice() {
        [one] => total(one),
        several => {
            let names: Vec<String> = several.iter().map(|change| of_total(change)).collect();
            format!("{}: {effect}", names.join("; "))
        }
    };
    lines.into_iter().map(line).collect()
}

/// "; what changes would save is unknown (the event log is incomplete)"; empty without applications.
pub(super) fn not_replayed(report: &WhatIfReport) -> String {
    let reasons = report.not_replayed();
    let mostly = if reasons.len() > 1 { "mostly: " } else { "" };
    let why = most_frequent(&reasons).map(clean);
    why.map(|why| format!("; what changes would save is unknown ({mostly}{why})")).unwrap_or_default()
}

/// The effect of a change over all applications.
fn effect(total: &ChangeTotal) -> String {
    if total.known == 0 && total.unknown > 0 {
        return unknown(total);
    }
    let mut parts = vec![match &total.saves_ms {
        Some(saves) => {
            format!("saves {} in {}", with_error(saves), plural(total.shortened, "application"))
        }
        None if total.lengthened > 0 => "saves no time".to_owned(),
        None if total.core_hours.or(total.gb_hours).is_some() => "saves no time".to_owned(),
        None => "saves nothing beyond the error of the model".to_owned(),
    }];
    let longer = total.longer_ms.as_ref().map(with_error);
    let lengthened = plural(total.lengthened, "application");
    parts.extend(longer.map(|longer| format!("takes {longer} longer in {lengthened}")));
    parts.extend(hours(total));
    if total.unknown > 0 {
        parts.push(unknown(total));
    }
    parts.join("; ")
}

/// "unknown in 4 applications (local mode has no executors; the number of cores can change)".
fn unknown(total: &ChangeTotal) -> String {
    let mostly = if total.reasons.len() > 1 { "mostly: " } else { "" };
    let why = total.mostly_unknown_because().map(|why| format!(" ({mostly}{why})")).unwrap_or_default();
    format!("unknown in {}{why}", plural(total.unknown, "application"))
}

/// The change of a total in words.
pub(super) fn of_total(total: &ChangeTotal) -> String {
    in_words(&total.change, false)
}

/// "0.3 core-hours and 0.4 GB·h less", "3 core-hours more"; without amounts that read as zero.
pub(super) fn hours(total: &ChangeTotal) -> Vec<String> {
    let amounts = [(total.core_hours, "core-hours"), (total.gb_hours, "GB·h")];
    let amount = |less: bool| {
        let of = amounts.iter().filter_map(|(range, unit)| Some((range.as_ref()?.point, *unit)));
        let of = of.filter(|(point, _)| (*point > 0.0) == less && point.abs() >= LEAST_HOURS);
        let of: Vec<String> = of.map(|(point, unit)| format!("{} {unit}", small(point.abs()))).collect();
        (!of.is_empty()).then(|| format!("{} {}", of.join(" and "), if less { "less" } else { "more" }))
    };
    [true, false].into_iter().filter_map(amount).collect()
}

/// The best change for a job, and the run in which it saves most: "no skew: 12 of 30 runs, most in app-7 (9.1
/// s ± 2.3 s of 1m); 0.3 core-hours less". If there is none, the reason.
pub(super) fn of_job(job: &Job<'_>) -> String {
    let several = job.runs.len() > 1;
    let Some(best) = job.total.best() else {
        let why = job.runs.iter().find_map(|run| run.replays.as_ref().err());
        let id = job.runs.first().map(|run| run.id.as_str()).unwrap_or_default();
        return match why.filter(|_| job.total.replayed == 0) {
            Some(why) => format!("{id}: cannot be replayed: {why}"),
            None if unknown_to_all(job).is_some() => {
                let id = if several { String::new() } else { format!("{id}: ") };
                format!("{id}effects unknown ({})", unknown_to_all(job).unwrap_or_default())
            }
            None if several => "no change saves time beyond the error of the model".to_owned(),
            None => format!("{id}: no change saves time beyond the error of the model"),
        };
    };
    let most = job.runs.iter().filter_map(|run| {
        let replays = run.replays.as_ref().ok()?;
        let scenario = replays.scenarios.iter().find(|scenario| scenario.change == best.change)?;
        let saves = scenario.prediction.as_ref().ok().filter(|it| !it.within_error)?.saves.wall_ms;
        Some((run.id.as_str(), replays.recorded, saves))
    });
    // On a tie, the first run in the report.
    let most = most.reduce(|best, next| if next.2.point > best.2.point { next } else { best });
    let mut parts = match most {
        Some((id, took, saves)) if several => {
            let (runs, saves) = (job.runs.len(), with_error(&saves));
            vec![format!(
                "{}: {} of {runs} runs, most in {id} ({saves} of {took})",
                of_total(best),
                best.shortened
            )]
        }
        Some((id, ..)) => vec![format!("{id}: {}", of_total(best))],
        None => vec![of_total(best)],
    };
    parts.extend(hours(best));
    if best.unknown > 0 && several {
        parts.push(format!("unknown in {}", plural(best.unknown, "run")));
    }
    parts.join("; ")
}

/// Why no change has a known effect on a job; `None` if one has.
fn unknown_to_all<'a>(job: &'a Job<'_>) -> Option<&'a str> {
    let known = job.total.changes.iter().any(|total| total.known > 0);
    let most = job.total.changes.iter().max_by_key(|total| total.unknown).filter(|_| !known)?;
    most.mostly_unknown_because()
}

/// Fewer hours are not named.
const LEAST_HOURS: f64 = 0.0001;

/// "9.1 s ± 2.3 s" that a change saves over several runs.
pub(super) fn saved(total: &ChangeTotal) -> String {
    total.saves_ms.as_ref().map(with_error).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use elephant_base::units::Bytes;
    use elephant_engine::whatif::Trouble;
    use elephant_verdict::savings::Amounts;

    #[test]
    fn a_time_that_may_be_anything_is_a_range() {
        let of = |low: f64, high: f64| {
            let wall_ms = Range { low, point: f64::midpoint(low, high), high };
            let takes = Amounts { wall_ms, ..Amounts::default() };
            takes_of(takes)
        };
        assert_eq!(of(50_000.0, 578_000.0), "50 s to 9m 38s");
        assert_eq!(of(95_000.0, 105_000.0), "1m 40s");
    }

    fn takes_of(takes: Amounts) -> String {
        super::takes(&Prediction { takes, saves: Amounts::default(), within_error: true })
    }

    #[test]
    fn a_total_says_where_the_change_helps() {
        let change = Change::without(&[Trouble::Skew]);
        let saves = Range { low: 50_000.0, point: 60_000.0, high: 70_000.0 };
        let nothing = ChangeTotal {
            change,
            shortened: 0,
            saves_ms: None,
            lengthened: 0,
            longer_ms: None,
            core_hours: None,
            gb_hours: None,
            known: 3,
            unknown: 0,
            reasons: BTreeMap::new(),
        };
        let hours = |point: f64| Some(Range { low: point, point, high: point });
        let helps = ChangeTotal { shortened: 1, saves_ms: Some(saves), ..nothing.clone() };
        let mixed =
            ChangeTotal { lengthened: 2, longer_ms: Some(saves), gb_hours: hours(-1.5), ..helps.clone() };
        let all = ChangeTotal { core_hours: hours(0.25), gb_hours: hours(2.0), ..helps };
        let none = ChangeTotal { unknown: 3, ..nothing.clone() };
        let reasons = BTreeMap::from([("local mode".to_owned(), 2), ("a".to_owned(), 1)]);
        let unknown = ChangeTotal { known: 0, unknown: 3, reasons, ..nothing };
        assert_eq!(
            total(&mixed),
            "no skew: saves 1m ± 10 s in 1 application; takes 1m ± 10 s longer in 2 applications; 1.5 GB·h more"
        );
        assert_eq!(total(&all), "no skew: saves 1m ± 10 s in 1 application; 0.25 core-hours and 2 GB·h less");
        assert_eq!(
            total(&none),
            "no skew: saves nothing beyond the error of the model; unknown in 3 applications"
        );
        assert_eq!(total(&unknown), "no skew: unknown in 3 applications (mostly: local mode)");
        assert_eq!(totals(&[none.clone(), all.clone(), none]).len(), 2, "equal effects share a line");
    }

    #[test]
    fn all_parts_of_a_change_are_named() {
        let several = Change {
            executors: Some(8),
            cores: Some(1),
            memory: Some(Bytes::from_mib(2048)),
            partitions: vec![(4, 200)],
            without: Trouble::ALL.to_vec(),
            ..Change::default()
        };
        let expected = "8 executors, 1 core each, 2 GiB of heap, 200 tasks in stage 4, no skew, stragglers, failures and speculation";
        let scenario = |change, is_local| Scenario { change, is_local, prediction: Err(String::new()) };
        assert_eq!(change(&scenario(several, false)), expected);
        let slow_start = Change { slow_start: Some(0.8), ..Change::default() };
        assert_eq!(change(&scenario(slow_start, false)), "slow start 0.8");
        let cores = Change { cores: Some(16), ..Change::default() };
        assert_eq!(change(&scenario(cores, true)), "16 cores");
    }
}
