//! Phrases for changes.

use super::effects::besides_time;
use super::memory;
use crate::words::{millis, plural};
use crate::wrap::clean;
use elephant_engine::whatif::{
    Change, MemoryVerdict, PathStage, Prediction, Range, Replays, Scenario, WhatIfReport, most_frequent,
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
pub(super) fn outcome(replays: &Replays, scenario: &Scenario, currency: Option<&str>) -> String {
    let what = change(scenario);
    if let Some(memory) = scenario.memory.as_ref().filter(|memory| memory.fit == MemoryVerdict::WouldBreak) {
        return format!("{what} {}", memory::sentence(memory));
    }
    match &scenario.prediction {
        Ok(prediction) if matches!(Saved::of(prediction), Saved::Less(_) | Saved::More(_)) => {
            format!("{what}: {} instead of {}", takes(prediction), replays.replayed)
        }
        Ok(prediction) => match besides_time(scenario, prediction, currency) {
            Some(besides) => format!("{what}: the same time; {besides}"),
            None => format!("{what}: no difference beyond the error"),
        },
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

pub(super) fn in_words(change: &Change, is_local: bool) -> String {
    let Change { executors, cores, memory, partitions, reducers, split_size, slow_start, without } = change;
    let each = if is_local { "" } else { " each" };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(executors.map(|count| plural(count.into(), "executor")));
    parts.extend(cores.map(|count| format!("{}{each}", plural(count.into(), "core"))));
    parts.extend(memory.map(|memory| format!("{memory} of memory")));
    parts.extend(
        partitions
            .iter()
            .map(|(stage, tasks)| format!("{} in stage {stage}", plural((*tasks).into(), "task"))),
    );
    parts.extend(reducers.map(|count| plural(count.into(), "reduce task")));
    parts.extend(split_size.map(|size| format!("splits of {size}")));
    parts.extend(slow_start.map(|share| format!("slow start {share}")));
    let names: Vec<String> = without.iter().map(|trouble| trouble.name().to_owned()).collect();
    if !names.is_empty() {
        parts.push(format!("no {}", in_a_row(&names)));
    }
    parts.join(", ")
}

/// "; what changes would save is unknown (the event log is incomplete)"; empty without applications.
pub(super) fn not_replayed(report: &WhatIfReport) -> String {
    let reasons = report.not_replayed();
    let mostly = if reasons.len() > 1 { "mostly: " } else { "" };
    let why = most_frequent(&reasons).map(clean);
    why.map(|why| format!("; what changes would save is unknown ({mostly}{why})")).unwrap_or_default()
}

/// "a", "a and b", "a, b and c".
pub(super) fn in_a_row(parts: &[String]) -> String {
    match parts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => parts.concat(),
    }
}

#[cfg(test)]
mod tests {
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
    fn all_parts_of_a_change_are_named() {
        let several = Change {
            executors: Some(8),
            cores: Some(1),
            memory: Some(Bytes::from_mib(2048)),
            partitions: vec![(4, 200)],
            without: Trouble::ALL.to_vec(),
            ..Change::default()
        };
        let expected = "8 executors, 1 core each, 2 GiB of memory, 200 tasks in stage 4, no skew, stragglers, failures and speculation";
        let scenario = |change, is_local| Scenario {
            change,
            is_local,
            prediction: Err(String::new()),
            cost: None,
            memory: None,
        };
        assert_eq!(change(&scenario(several, false)), expected);
        let slow_start = Change { slow_start: Some(0.8), ..Change::default() };
        assert_eq!(change(&scenario(slow_start, false)), "slow start 0.8");
        let cores = Change { cores: Some(16), ..Change::default() };
        assert_eq!(change(&scenario(cores, true)), "16 cores");
    }
}
