//! What changes save, in words: over all applications, over the runs of a job, and besides time.

use super::memory::{counted, sentence};
use super::words::{self, with_error};
use crate::words::{plural, small};
use elephant_engine::whatif::{
    ApplicationReplays, ChangeTotal, Job, MemoryCheck, Prediction, Range, Scenario,
};

/// "no skew: saves 12m ± 2m in 3 applications; takes 46.7 s longer in 1 application; 0.3 core-hours
/// less; unknown in 2 applications".
pub(super) fn total(total: &ChangeTotal, currency: Option<&str>) -> String {
    format!("{}: {}", of_total(total), effect(total, currency))
}

/// The same for several changes; those with the same effect share a line.
pub(super) fn totals(changes: &[ChangeTotal], currency: Option<&str>) -> Vec<String> {
    let mut lines: Vec<(Vec<&ChangeTotal>, String)> = Vec::new();
    for change in changes {
        let effect = effect(change, currency);
        match lines.iter_mut().find(|(_, known)| *known == effect) {
            Some((alike, _)) => alike.push(change),
            None => lines.push((vec![change], effect)),
        }
    }
    let line = |(alike, effect): (Vec<&ChangeTotal>, String)| match alike.as_slice() {
        [one] => total(one, currency),
        several => {
            let names: Vec<String> = several.iter().map(|change| of_total(change)).collect();
            format!("{}: {effect}", names.join("; "))
        }
    };
    lines.into_iter().map(line).collect()
}

/// The effect of a change over all applications.
fn effect(total: &ChangeTotal, currency: Option<&str>) -> String {
    if total.known == 0 && (total.unknown > 0 || !total.memory.is_empty()) {
        let unknown = (total.unknown > 0).then(|| unknown(total));
        let parts = unknown.into_iter().chain(counted(&total.memory));
        return parts.collect::<Vec<_>>().join("; ");
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
    parts.extend(saved_besides_time(total, currency));
    parts.extend(counted(&total.memory));
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
    words::in_words(&total.change, false)
}

/// "0.3 core-hours and 0.4 GB·h less", "3 core-hours more"; without amounts that read as zero.
fn saved_besides_time(total: &ChangeTotal, currency: Option<&str>) -> Vec<String> {
    let cost = total.cost.filter(|_| currency.is_some());
    amounts([
        (total.core_hours, "core-hours"),
        (total.gb_hours, "GB·h"),
        (cost, currency.unwrap_or_default()),
    ])
}

/// What a change saves of each unit, in words.
fn amounts<const N: usize>(saves: [(Option<Range>, &str); N]) -> Vec<String> {
    let amount = |less: bool| {
        let of = saves.iter().filter_map(|(range, unit)| Some((range.as_ref()?.point, *unit)));
        let of = of.filter(|(point, _)| (*point > 0.0) == less && point.abs() >= LEAST_HOURS);
        let of: Vec<String> = of.map(|(point, unit)| format!("{} {unit}", small(point.abs()))).collect();
        (!of.is_empty()).then(|| format!("{} {}", words::in_a_row(&of), if less { "less" } else { "more" }))
    };
    [true, false].into_iter().filter_map(amount).collect()
}

/// What a change saves besides time, as far as it is more than the error.
pub(super) fn besides_time(
    scenario: &Scenario,
    prediction: &Prediction,
    currency: Option<&str>,
) -> Option<String> {
    let sure = |range: Option<Range>| range.filter(|range| !range.contains_zero());
    let Prediction { saves, .. } = prediction;
    let cost = scenario.cost.map(|cost| cost.saves).filter(|_| currency.is_some());
    let parts = amounts([
        (sure(saves.core_hours), "core-hours"),
        (sure(saves.gb_hours), "GB·h"),
        (sure(cost), currency.unwrap_or_default()),
    ]);
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whether a change costs more or less than the run as it was.
pub(super) fn changes_cost(prediction: &Prediction) -> bool {
    let saves = &prediction.saves;
    [saves.core_hours, saves.gb_hours].into_iter().flatten().any(|hours| hours.point.abs() >= LEAST_HOURS)
}

/// The best change for a job, and the run in which it saves most: "no skew: 12 of 30 runs, most in app-7 (9.1
/// s ± 2.3 s of 1m); 0.3 core-hours less". If there is none, the reason.
pub(super) fn of_job(job: &Job<'_>, currency: Option<&str>) -> String {
    let several = job.runs.len() > 1;
    let Some(best) = job.total.best() else { return without_saved_time(job, currency) };
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
    parts.extend(saved_besides_time(best, currency));
    if best.unknown > 0 && several {
        parts.push(format!("unknown in {}", plural(best.unknown, "run")));
    }
    parts.join("; ")
}

/// What is known of a job that no change makes faster.
fn without_saved_time(job: &Job<'_>, currency: Option<&str>) -> String {
    const NONE: &str = "no change saves time beyond the error of the model";
    let id = job.runs.first().map(|run| run.id.as_str()).unwrap_or_default();
    let why = job.runs.iter().find_map(|run| run.replays.as_ref().err());
    let of_run = |text: String| if job.runs.len() > 1 { text } else { format!("{id}: {text}") };
    if let Some(why) = why.filter(|_| job.total.replayed == 0) {
        let alone = [format!("{id}: cannot be replayed: {why}")].into_iter();
        let memory = match job.runs.as_slice() {
            [run] => of_memory(&run.memory),
            _ => job
                .total
                .changes
                .iter()
                .filter(|total| total.matters())
                .map(|it| total(it, currency))
                .collect(),
        };
        return alone.chain(memory).collect::<Vec<_>>().join("; ");
    }
    // What was asked for may save something else.
    let besides = match (job.total.changes.as_slice(), job.runs.as_slice()) {
        ([_], [run]) => only_scenario(run, currency),
        ([only], _) if only.matters() => Some(total(only, currency)),
        _ => None,
    };
    let unknown = || unknown_to_all(job).map(|why| format!("effects unknown ({why})"));
    of_run(besides.or_else(unknown).unwrap_or_else(|| NONE.to_owned()))
}

/// "with 512 MiB of memory: would break: …", of a run that cannot be replayed.
pub(super) fn of_memory(checks: &[MemoryCheck]) -> Vec<String> {
    checks
        .iter()
        .map(|check| format!("with {}: {}", words::in_words(&check.change, false), sentence(&check.fit)))
        .collect()
}

/// The effect of the only change of a run besides time, and whether memory would be enough; `None` if neither is known.
fn only_scenario(run: &ApplicationReplays, currency: Option<&str>) -> Option<String> {
    let [scenario] = run.replays.as_ref().ok()?.scenarios.as_slice() else { return None };
    let known = scenario.prediction.as_ref().ok().filter(|_| !scenario.would_break());
    let besides = known.map(|it| besides_time(scenario, it, currency));
    let parts: Vec<String> =
        scenario.memory.as_ref().map(sentence).into_iter().chain(besides.flatten()).collect();
    (!parts.is_empty()).then(|| format!("{}: {}", words::change(scenario), parts.join("; ")))
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
    use elephant_engine::whatif::{Change, MemoryVerdict, Trouble};

    #[test]
    fn a_total_says_where_the_change_helps() {
        let change = Change::without(&[Trouble::Skew]);
        let saves = Range { low: 50_000.0, point: 60_000.0, high: 70_000.0 };
        let nothing = ChangeTotal { known: 3, ..ChangeTotal::blank(change) };
        let hours = |point: f64| Some(Range { low: point, point, high: point });
        let helps = ChangeTotal { shortened: 1, saves_ms: Some(saves), ..nothing.clone() };
        let mixed =
            ChangeTotal { lengthened: 2, longer_ms: Some(saves), gb_hours: hours(-1.5), ..helps.clone() };
        let all = ChangeTotal { core_hours: hours(0.25), gb_hours: hours(2.0), ..helps };
        let none = ChangeTotal { unknown: 3, ..nothing.clone() };
        let reasons = BTreeMap::from([("local mode".to_owned(), 2), ("a".to_owned(), 1)]);
        let unknown = ChangeTotal { known: 0, unknown: 3, reasons, ..nothing };
        assert_eq!(
            total(&mixed, None),
            "no skew: saves 1m ± 10 s in 1 application; takes 1m ± 10 s longer in 2 applications; 1.5 GB·h more"
        );
        assert_eq!(
            total(&all, None),
            "no skew: saves 1m ± 10 s in 1 application; 0.25 core-hours and 2 GB·h less"
        );
        assert_eq!(
            total(&none, None),
            "no skew: saves nothing beyond the error of the model; unknown in 3 applications"
        );
        let memory = BTreeMap::from([(MemoryVerdict::Safe, 1), (MemoryVerdict::WouldBreak, 2)]);
        let breaks = ChangeTotal { memory, cost: hours(0.5), ..all.clone() };
        assert!(
            total(&breaks, Some("EUR")).ends_with(
                "; 0.25 core-hours, 2 GB·h and 0.5 EUR less; would break 2 applications; safe in 1"
            )
        );
        assert_eq!(total(&unknown, None), "no skew: unknown in 3 applications (mostly: local mode)");
        assert_eq!(totals(&[none.clone(), all.clone(), none], None).len(), 2, "equal effects share a line");
    }
}
