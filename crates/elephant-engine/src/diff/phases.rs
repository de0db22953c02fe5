//! Compares phases.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::{Figure, Unit};
use super::pair::{Way, by_name, matched};
use super::side::{Phase, Run};

/// A phase of both sides, or of only one.
#[derive(Debug, Clone, PartialEq)]
pub struct PhasePair {
    /// Its key, without ids that change from run to run: `map`, `stage "count at App.scala:10" #2`.
    pub key: String,
    /// Its name on the first side, such as `stage 3.0`; `None` if that side lacks it.
    pub a: Option<String>,
    /// Its name on the second side.
    pub b: Option<String>,
    /// Its numbers, the duration first.
    pub figures: Vec<Figure>,
}

#[doc(hidden)]
impl PhasePair {
    /// Time from start to end on both sides, in milliseconds; 0 if a side lacks it.
    #[must_use]
    pub fn durations(&self) -> (f64, f64) {
        let duration = self.figures.iter().find(|figure| figure.key == "duration_ms");
        duration.map_or((0.0, 0.0), |figure| (figure.a.unwrap_or_default(), figure.b.unwrap_or_default()))
    }
}

/// Pairs the phases of two runs; `None` if a side does not have them. `queries` are the ids of the queries that are the same.
pub(super) fn compare(a: &Run, b: &Run, queries: &[(u64, u64)]) -> Option<Vec<PhasePair>> {
    let (phases_a, phases_b) = (a.phases.as_deref()?, b.phases.as_deref()?);
    let (keys_a, keys_b) = (Run::phase_keys(phases_a), Run::phase_keys(phases_b));
    // The plan tells stages apart that have one name, such as every stage of a query from Python.
    let mut ways = vec![[operators(a, phases_a, queries, 0), operators(b, phases_b, queries, 1)]];
    ways.extend(by_name(&keys_a, &keys_b));
    ways.push(calls(phases_a, phases_b));
    let paired = matched(phases_a.len(), phases_b.len(), &ways).into_iter();
    let pair = |(place_a, place_b): (Option<usize>, Option<usize>)| {
        let key = place_b.and_then(|at| keys_b.get(at)).or_else(|| place_a.and_then(|at| keys_a.get(at)));
        let (a, b) = (place_a.and_then(|at| phases_a.get(at)), place_b.and_then(|at| phases_b.get(at)));
        PhasePair {
            key: key.cloned().unwrap_or_default(),
            a: a.map(|phase| phase.subject.clone()),
            b: b.map(|phase| phase.subject.clone()),
            figures: figures(a, b),
        }
    };
    Some(paired.map(pair).collect())
}

/// The query that a stage worked for, and the kinds of operators that ran in it. They stay the same if a call site gets
/// another name.
fn operators(run: &Run, phases: &[Phase], queries: &[(u64, u64)], side: usize) -> Vec<Option<String>> {
    let mut kinds: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for query in &run.queries {
        let same = |(a, b): &(u64, u64)| query.id == if side == 0 { *a } else { *b };
        let Some(place) = queries.iter().position(same) else { continue };
        for operator in query.operators.iter().filter(|operator| !operator.replaced) {
            let kind = operator.text.split([' ', '(', '[']).next().unwrap_or_default();
            for stage in &operator.stages {
                kinds.entry(stage).or_insert_with(|| (place, BTreeSet::new())).1.insert(kind);
            }
        }
    }
    let key = |phase: &Phase| {
        let (place, kinds) = kinds.get(phase.subject.strip_prefix("stage ")?)?;
        Some(format!("{place} {}", kinds.iter().copied().collect::<Vec<_>>().join(" ")))
    };
    phases.iter().map(key).collect()
}

/// The calls without their places, such as `count`, if both sides have as many stages of a call.
fn calls(a: &[Phase], b: &[Phase]) -> Way {
    let of = |phases: &[Phase]| -> Vec<Option<String>> {
        let call = |phase: &Phase| Some(phase.name.as_deref()?.rsplit_once(" at ")?.0.to_owned());
        phases.iter().map(call).collect()
    };
    let (calls_a, calls_b) = (of(a), of(b));
    let count = |calls: &[Option<String>]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for call in calls.iter().flatten() {
            *counts.entry(call.clone()).or_default() += 1;
        }
        counts
    };
    let (counts_a, counts_b) = (count(&calls_a), count(&calls_b));
    let alike = |call: &String| counts_a.get(call) == counts_b.get(call);
    [calls_a, calls_b].map(|calls| calls.into_iter().map(|call| call.filter(alike)).collect())
}

fn figures(a: Option<&Phase>, b: Option<&Phase>) -> Vec<Figure> {
    type Pick = fn(&Phase) -> Option<f64>;
    let rows: [(&str, &str, Unit, Pick); 10] = [
        ("duration_ms", "duration", Unit::Millis, |phase| phase.duration_ms),
        ("tasks_count", "tasks", Unit::Count, |phase| phase.tasks.total_count),
        ("failed_tasks_count", "failed tasks", Unit::Count, |phase| phase.tasks.failed_count),
        ("task_time_ms", "task time", Unit::Millis, |phase| phase.task_time_ms),
        ("gc_time_ms", "garbage collection", Unit::Millis, |phase| phase.gc_time_ms),
        ("input_bytes", "input", Unit::Bytes, |phase| phase.input_bytes),
        ("output_bytes", "output", Unit::Bytes, |phase| phase.output_bytes),
        ("shuffle_read_bytes", "shuffle read", Unit::Bytes, |phase| phase.shuffle_read_bytes),
        ("shuffle_write_bytes", "shuffle write", Unit::Bytes, |phase| phase.shuffle_write_bytes),
        ("spilled_bytes", "spilled", Unit::Bytes, |phase| phase.spilled_bytes),
    ];
    let row = |(key, name, unit, pick): (&str, &str, Unit, Pick)| {
        Figure::new(key, name, unit, a.and_then(pick), b.and_then(pick))
    };
    rows.into_iter().filter_map(row).collect()
}
