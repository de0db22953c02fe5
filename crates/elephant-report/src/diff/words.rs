//! Values and phrases.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::words::plural;
use crate::wrap::clean;
use elephant_base::units::{Bytes, Millis, three_digits, three_digits_grouped};
use elephant_engine::diff::{
    Diff, Figure, FindingPair, JobPairs, Label, Move, Pair, PhasePair, Setting, Total, Unit,
};
use elephant_model::model::conf::secrets;

/// Maximum number of phases shown. JSON has all.
const PHASES: usize = 20;
/// Figures that differ by less than this share count as equal.
pub(super) const NOTABLE: f64 = 0.05;

/// Stands for an unknown value.
pub(super) const UNKNOWN: &str = "–";

pub(super) fn value(unit: Unit, value: Option<f64>) -> String {
    let Some(value) = value else { return UNKNOWN.to_owned() };
    match unit {
        Unit::Millis => Millis::from_f64(value).unwrap_or_default().to_string(),
        Unit::Bytes => Bytes::from_f64(value).unwrap_or_default().to_string(),
        Unit::GbHours => format!("{} GB·h", small(value)),
        Unit::CoreHours => format!("{} core·h", small(value)),
        Unit::Count => whole_number(value),
    }
}

/// A value above zero is never rounded to zero.
fn small(value: f64) -> String {
    if value > 0.0 && value < 0.01 { "<0.01".to_owned() } else { three_digits_grouped(value) }
}

fn whole_number(value: f64) -> String {
    format!("{value:.0}")
}

/// "+43 %", "−12 %", "3.2×", or "=" for a change of less than half a percent. Empty if the change is unknown,
/// or if both values have the same text, such as "<0.01".
pub(super) fn change(figure: &Figure) -> String {
    let read_the_same = value(figure.unit, figure.a) == value(figure.unit, figure.b);
    match (figure.change(), figure.a, figure.b) {
        (Some(change), ..) if change.abs() < 0.005 => "=".to_owned(),
        (Some(_), ..) if read_the_same => String::new(),
        (Some(change), ..) if change >= 2.0 => format!("{}×", three_digits(change + 1.0)),
        (Some(change), ..) if change > 0.0 => format!("+{:.0} %", change * 100.0),
        (Some(change), ..) => format!("−{:.0} %", -change * 100.0),
        (None, Some(a), Some(b)) if a.total_cmp(&b) == Ordering::Equal => "=".to_owned(),
        _ => String::new(),
    }
}

/// "4 pairs of runs, 1 changed; 5 runs only in A, 2 only in B", or "No job in common; 9 jobs (12 runs) only in A".
pub(super) fn paired(diff: &Diff) -> String {
    let sides = [("A", &diff.only_a), ("B", &diff.only_b)].into_iter().filter(|(_, runs)| !runs.is_empty());
    if diff.pairs.is_empty() {
        let of_side = |(side, runs): (&str, &Vec<Label>)| {
            let (jobs, runs) = (plural(by_job(runs).len() as u64, "job"), plural(runs.len() as u64, "run"));
            format!("{jobs} ({runs}) only in {side}")
        };
        let sides: Vec<String> = sides.map(of_side).collect();
        let sides = if sides.is_empty() { "no run was read".to_owned() } else { sides.join(", ") };
        return format!("No job in common; {sides}");
    }
    let changed = diff.pairs.iter().filter(|pair| pair.changed()).count();
    let sides: Vec<String> =
        sides.map(|(side, runs)| format!("{} only in {side}", plural(runs.len() as u64, "run"))).collect();
    let sides = if sides.is_empty() { String::new() } else { format!("; {}", sides.join(", ")) };
    format!("{} of runs, {changed} changed{sides}", plural(diff.pairs.len() as u64, "pair"))
}

/// How to compare runs that are not paired, if there are some on both sides.
pub(super) fn hint(diff: &Diff) -> Option<&'static str> {
    const HINT: &str =
        "Runs are paired by engine and name; to compare two runs with different names, pass their files";
    let is_apart = diff.pairs.is_empty() && !diff.only_a.is_empty() && !diff.only_b.is_empty();
    is_apart.then_some(HINT)
}

/// The runs of each job, in the order of the first ones.
pub(super) fn by_job(runs: &[Label]) -> Vec<Vec<&Label>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut jobs: Vec<Vec<&Label>> = Vec::new();
    for run in runs {
        let place = *places.entry(&run.job).or_insert(jobs.len());
        match jobs.get_mut(place) {
            Some(job) => job.push(run),
            None => jobs.push(vec![run]),
        }
    }
    jobs
}

/// "B took 46.2 s instead of 57.7 s (−20 %)".
pub(super) fn run_times(pair: &Pair) -> String {
    let Some(figure) = pair.run_time() else { return "The run times are unknown".to_owned() };
    let (a, b) = (value(figure.unit, figure.a), value(figure.unit, figure.b));
    match (figure.a, figure.b, figure.change()) {
        (Some(_), Some(_), Some(share)) if share.abs() < NOTABLE => {
            format!("Both runs took about the same time: {a} and {b}")
        }
        (Some(_), Some(_), _) => {
            let change = change(figure).replace(' ', "\u{a0}");
            let change = if change.is_empty() { change } else { format!(" ({change})") };
            format!("B took {b} instead of {a}{change}")
        }
        _ => "The run time of one side is unknown".to_owned(),
    }
}

/// "Worse: B took 58m 7s instead of 30m 12s (+92 %) in total, with 2 GB·h instead of 1 GB·h (+92 %); 30 of 30 pairs slower".
pub(super) fn answer(total: &Total) -> String {
    let Some(figure) = total.run_time() else { return "The run times are unknown".to_owned() };
    let direction = match figure.change() {
        Some(share) if share >= NOTABLE => "Worse",
        Some(share) if share <= -NOTABLE => "Better",
        _ => "No large change",
    };
    let instead = |figure: &Figure| {
        let (a, b) = (value(figure.unit, figure.a), value(figure.unit, figure.b));
        let change = Some(change(figure)).filter(|change| !change.is_empty() && change != "=");
        let change = change.map(|change| format!(" ({})", change.replace(' ', "\u{a0}"))).unwrap_or_default();
        (a != b).then(|| format!("{b} instead of {a}{change}"))
    };
    let took = match instead(figure) {
        Some(instead) => format!("B took {instead} in total"),
        None => format!("both sides took {} in total", value(figure.unit, figure.b)),
    };
    let memory = total.figure("resource_used_gb_hours").and_then(instead);
    let memory = memory.map(|instead| format!(", with {instead}")).unwrap_or_default();
    let Total { slower, faster, known, .. } = total;
    let pairs = match (slower, faster) {
        (0, 0) => format!("none of {known} pairs slower or faster"),
        (_, 0) => format!("{slower} of {known} pairs slower"),
        (0, _) => format!("{faster} of {known} pairs faster"),
        _ => format!("{slower} of {known} pairs slower, {faster} faster"),
    };
    format!("{direction}: {took}{memory}; {pairs}")
}

/// The phases whose durations differ most, the one that differs most first, and the number of phases left out.
pub(super) fn largest_differences(phases: &[PhasePair]) -> (Vec<&PhasePair>, usize) {
    let difference = |phase: &PhasePair| {
        let (a, b) = phase.durations();
        (a - b).abs()
    };
    let mut shown: Vec<&PhasePair> = phases.iter().collect();
    // The sort is stable: equal differences stay in the order of the phases.
    shown.sort_by(|one, other| difference(other).total_cmp(&difference(one)));
    shown.truncate(PHASES);
    let left_out = phases.len() - shown.len();
    (shown, left_out)
}

/// "tasks 200 → 400, spilled 0 B → 1.2 GiB": the other figures in which a phase of both sides differs.
pub(super) fn details(phase: &PhasePair) -> String {
    if phase.a.is_none() || phase.b.is_none() {
        return String::new();
    }
    let others = phase.figures.iter().filter(|figure| figure.key != "duration_ms" && figure.differs());
    let notable = others.filter(|figure| figure.change().is_none_or(|change| change.abs() >= NOTABLE));
    let parts = notable.map(|figure| {
        let (a, b) = (value(figure.unit, figure.a), value(figure.unit, figure.b));
        format!("{} {a} → {b}", figure.name)
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// The values of a setting, without secrets.
pub(super) fn setting(setting: &Setting) -> (Option<&str>, Option<&str>) {
    let a = setting.a.as_deref().map(|value| secrets::shown(&setting.name, value));
    let b = setting.b.as_deref().map(|value| secrets::shown(&setting.name, value));
    (a, b)
}

/// The label of a finding.
pub(super) const fn label(moved: Move) -> &'static str {
    match moved {
        Move::NotJudged => "unjudged",
        known => known.name(),
    }
}

/// "severe, was moderate".
pub(super) fn severity(pair: &FindingPair) -> String {
    match (pair.moved, pair.a, pair.b) {
        (Move::Worse | Move::Better | Move::NotJudged, Some(a), Some(b)) => format!("{b}, was {a}"),
        (Move::NotJudged, Some(a), None) => format!("{a} in A"),
        (Move::NotJudged, None, Some(b)) => format!("{b} in B"),
        (_, a, b) => b.or(a).map(|severity| severity.to_string()).unwrap_or_default(),
    }
}

/// "new: spark-skew; gone: spark-executor-gc": the rules whose findings are new, worse, better or gone.
pub(super) fn moved<'f>(findings: impl IntoIterator<Item = &'f FindingPair>) -> String {
    let findings: Vec<&FindingPair> = findings.into_iter().collect();
    let of = |wanted: Move| {
        let mut rules: Vec<String> = Vec::new();
        for pair in findings.iter().filter(|pair| pair.moved == wanted) {
            let rule = clean(&pair.rule);
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        (!rules.is_empty()).then(|| format!("{}: {}", wanted.name(), rules.join(", ")))
    };
    let parts = [Move::Came, Move::Worse, Move::Better, Move::Went].into_iter().filter_map(of);
    parts.collect::<Vec<_>>().join("; ")
}

/// The names of both jobs, or one name if both are the same.
pub(super) fn title(pair: &Pair) -> String {
    if pair.a.job == pair.b.job { pair.a.job.clone() } else { format!("{} and {}", pair.a.job, pair.b.job) }
}

/// "run times from −3 % to +44 %"; `None` unless two pairs have different changes.
pub(super) fn range(pairs: &[&Pair]) -> Option<String> {
    let known = pairs.iter().filter_map(|pair| pair.run_time().filter(|figure| figure.change().is_some()));
    let mut known: Vec<&Figure> = known.collect();
    known.sort_by(|one, other| {
        one.change().unwrap_or_default().total_cmp(&other.change().unwrap_or_default())
    });
    let (least, most) =
        (known.first().map(|figure| change(figure))?, known.last().map(|figure| change(figure))?);
    let named = |text: String| if text == "=" { "0 %".to_owned() } else { text };
    (least != most && !least.is_empty() && !most.is_empty())
        .then(|| format!("run times from {} to {}", named(least), named(most)))
}

/// "largest change: app-1 took 59.4 s, app-2 3m 51s".
pub(super) fn largest(pair: &Pair) -> String {
    let (a, b) = (clean(&pair.a.id), clean(&pair.b.id));
    match pair.run_time() {
        Some(figure) if figure.a.is_some() && figure.b.is_some() => {
            let (took, takes) = (value(figure.unit, figure.a), value(figure.unit, figure.b));
            format!("largest change: {a} took {took}, {b} took {takes}")
        }
        _ => format!("largest change: from {a} to {b}"),
    }
}

/// "new: spark-skew in 3; gone: spark-executor-gc": the rules whose findings changed, and in how many pairs of several.
pub(super) fn moved_in(job: &JobPairs<'_>) -> String {
    let of = |wanted: Move| {
        let named = job.moved(wanted).into_iter().map(|(rule, pairs)| match job.pairs.len() {
            1 => clean(rule),
            _ => format!("{} in {pairs}", clean(rule)),
        });
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| format!("{}: {}", wanted.name(), named.join(", ")))
    };
    [Move::Came, Move::Worse, Move::Better, Move::Went]
        .into_iter()
        .filter_map(of)
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(unit: Unit, a: f64, b: f64) -> Figure {
        Figure { key: "x".into(), name: "x".into(), unit, a: Some(a), b: Some(b) }
    }

    fn total(runtime: (f64, f64), slower: usize, faster: usize) -> Total {
        let figure = |key: &str, unit, (a, b): (f64, f64)| Figure { key: key.into(), ..figure(unit, a, b) };
        let figures = vec![
            figure("runtime_ms", Unit::Millis, runtime),
            figure("resource_used_gb_hours", Unit::GbHours, (1.0, 2.0)),
        ];
        Total { figures, slower, faster, known: 30 }
    }

    #[test]
    fn the_answer_says_whether_b_is_better_or_worse() {
        assert_eq!(
            answer(&total((100_000.0, 150_000.0), 30, 0)),
            "Worse: B took 2m 30s instead of 1m 40s (+50\u{a0}%) in total, with 2 GB·h instead of 1 GB·h (+100\u{a0}%); \
             30 of 30 pairs slower"
        );
        assert!(answer(&total((100_000.0, 50_000.0), 2, 28)).starts_with("Better: B took 50 s instead of"));
        assert!(answer(&total((100_000.0, 50_000.0), 2, 28)).ends_with("; 2 of 30 pairs slower, 28 faster"));
        assert!(answer(&total((100_000.0, 101_000.0), 0, 0)).starts_with("No large change: "));
        assert!(
            answer(&total((100_000.0, 100_000.0), 0, 0))
                .starts_with("No large change: both sides took 1m 40s in")
        );
        assert_eq!(answer(&Total::default()), "The run times are unknown");
    }

    #[test]
    fn phases_come_in_the_order_of_their_title() {
        let phase = |key: &str, a: f64, b: f64| PhasePair {
            key: key.into(),
            a: Some(key.into()),
            b: Some(key.into()),
            figures: vec![Figure { key: "duration_ms".into(), ..figure(Unit::Millis, a, b) }],
        };
        let phases = [phase("a", 1.0, 2.0), phase("b", 9.0, 9.0), phase("c", 9.0, 1.0), phase("d", 2.0, 1.0)];
        let (shown, left_out) = largest_differences(&phases);
        let keys: Vec<&str> = shown.iter().map(|phase| phase.key.as_str()).collect();
        assert_eq!((keys.as_slice(), left_out), (&["c", "a", "d", "b"][..], 0));
        let many: Vec<PhasePair> = (0..25).map(|ms| phase("x", 0.0, f64::from(ms))).collect();
        assert_eq!(largest_differences(&many).1, 5);
    }

    #[test]
    fn values_that_read_the_same_have_no_change() {
        assert_eq!(change(&figure(Unit::GbHours, 0.001, 0.0043)), "");
        assert_eq!(change(&figure(Unit::GbHours, 0.001, 0.043)), "43×");
        assert_eq!(change(&figure(Unit::GbHours, 1.0, 1.5)), "+50 %");
        assert_eq!(change(&figure(Unit::Count, 5.0, 5.0)), "=");
    }
}
