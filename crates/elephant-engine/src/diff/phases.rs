//! Compares phases.

use super::figures::{Figure, Unit};
use super::pair::keys;
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

/// Pairs the phases of two runs.
pub(super) fn compare(a: &[Phase], b: &[Phase]) -> Vec<PhasePair> {
    let (keys_a, keys_b) = (Run::phase_keys(a), Run::phase_keys(b));
    let paired = keys(&keys_a, &keys_b).into_iter();
    let pair = |(place_a, place_b): (Option<usize>, Option<usize>)| {
        let key = place_b.and_then(|at| keys_b.get(at)).or_else(|| place_a.and_then(|at| keys_a.get(at)));
        let (a, b) = (place_a.and_then(|at| a.get(at)), place_b.and_then(|at| b.get(at)));
        PhasePair {
            key: key.cloned().unwrap_or_default(),
            a: a.map(|phase| phase.subject.clone()),
            b: b.map(|phase| phase.subject.clone()),
            figures: figures(a, b),
        }
    };
    paired.map(pair).collect()
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
