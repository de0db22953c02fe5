//! Phrases for changes.

use crate::report::words::millis;
use crate::whatif::{Change, ChangeTotal, Prediction, Range, Replays, Scenario};

/// What a change does to the run time.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Saved {
    /// The change leaves everything as it is.
    Nothing,
    /// Too little to be sure of.
    WithinError,
    /// "9.1 s ± 2.3 s" less.
    Less(String),
    /// The same more.
    More(String),
}

impl Saved {
    /// Of a prediction.
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
fn with_error(range: &Range) -> String {
    format!("{} ± {}", millis(range.point.abs()), millis(range.half_width()))
}

/// What the application takes at least: with unlimited slots, with these always busy, and the driver alone. They are
/// replays, not the recorded run.
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
pub(super) const PATH: &str = "Longest stages on the way from start to end, as recorded";

/// The change in words: "no skew", "8 executors, 4 cores each".
pub(super) fn change(scenario: &Scenario) -> String {
    in_words(&scenario.change, scenario.is_local)
}

fn in_words(change: &Change, is_local: bool) -> String {
    let Change { executors, cores, memory, partitions, reducers, split_size, slow_start, without } = change;
    let each = if is_local { "" } else { " each" };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(executors.map(|count| plural(count, "executor")));
    parts.extend(cores.map(|count| format!("{}{each}", plural(count, "core"))));
    parts.extend(memory.map(|heap| format!("{heap} of heap")));
    parts.extend(
        partitions.iter().map(|(stage, tasks)| format!("{} in stage {stage}", plural(*tasks, "task"))),
    );
    parts.extend(reducers.map(|count| plural(count, "reduce task")));
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

/// "no skew saves 12m ± 2m in 3 applications; takes longer in 1; unknown in 2".
pub(super) fn total(total: &ChangeTotal) -> String {
    let ChangeTotal { change: what, shortened, saves_ms, lengthened, unknown } = total;
    let what = in_words(what, false);
    let applications = if *shortened == 1 { "application" } else { "applications" };
    let mut parts = vec![match saves_ms {
        Some(saves) => format!("{what} saves {} in {shortened} {applications}", with_error(saves)),
        None => format!("{what} saves nothing beyond the error of the model"),
    }];
    if *lengthened > 0 {
        parts.push(format!("takes longer in {lengthened}"));
    }
    if *unknown > 0 {
        parts.push(format!("unknown in {unknown}"));
    }
    parts.join("; ")
}

fn plural(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;
    use crate::whatif::Trouble;

    #[test]
    fn a_total_says_where_the_change_helps() {
        let change = Change::without(&[Trouble::Skew]);
        let saves = Range { low: 50_000.0, point: 60_000.0, high: 70_000.0 };
        let of = |saves_ms, shortened, lengthened, unknown| {
            total(&ChangeTotal { change: change.clone(), shortened, saves_ms, lengthened, unknown })
        };
        assert_eq!(of(Some(saves), 1, 2, 0), "no skew saves 1m ± 10 s in 1 application; takes longer in 2");
        assert_eq!(of(None, 0, 0, 3), "no skew saves nothing beyond the error of the model; unknown in 3");
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
