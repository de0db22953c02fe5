//! The durations of phases on both sides as bars.

use super::super::words::{change, details, largest_differences, value};
use crate::html::draw::{Axis, MIN_BAR};
use elephant_engine::diff::{Pair, PhasePair, Unit};

/// The phases that differ most, and their axis.
pub(super) struct Phases<'a> {
    axis: Axis,
    pub(super) shown: Vec<&'a PhasePair>,
    pub(super) left_out: u64,
}

impl<'a> Phases<'a> {
    /// `None` if no phase has a duration.
    pub(super) fn of(pair: &'a Pair) -> Option<Self> {
        let (shown, left_out) = largest_differences(pair.phases.as_deref()?);
        let ends = shown.iter().flat_map(|phase| <[f64; 2]>::from(phase.durations()));
        let most = ends.fold(0.0, f64::max);
        let unit = match most {
            0.0..3000.0 => 1.0,
            3000.0..90_000.0 => 1000.0,
            90_000.0..5_400_000.0 => 60_000.0,
            _ => 3_600_000.0,
        };
        Some(Self { axis: Axis::over([most].into_iter(), unit)?, shown, left_out: left_out as u64 })
    }

    pub(super) fn ticks(&self) -> Vec<String> {
        let tick = |at: f64| if at <= 0.0 { "0".to_owned() } else { value(Unit::Millis, Some(at)) };
        self.axis.values().into_iter().map(tick).collect()
    }

    /// The lengths of both bars; `None` for a side that lacks the phase.
    pub(super) fn bars(&self, phase: &PhasePair) -> [Option<f64>; 2] {
        let (a, b) = phase.durations();
        let bar = |side: Option<&String>, time: f64| side.map(|_| self.axis.x(time).max(MIN_BAR));
        [bar(phase.a.as_ref(), a), bar(phase.b.as_ref(), b)]
    }

    /// The name without the kind of phase, which is the same for all.
    pub(super) fn name(phase: &PhasePair) -> &str {
        phase.key.strip_prefix("stage ").unwrap_or(&phase.key)
    }

    /// The durations and the change.
    pub(super) fn texts(phase: &PhasePair) -> (String, String, String) {
        let duration = phase.figures.iter().find(|figure| figure.key == "duration_ms");
        let shown = |at: Option<f64>| value(Unit::Millis, at);
        let (a, b) = duration.map_or((None, None), |figure| (figure.a, figure.b));
        let change = match (&phase.a, &phase.b) {
            (Some(_), None) => "only in A".to_owned(),
            (None, Some(_)) => "only in B".to_owned(),
            _ => duration.map(change).unwrap_or_default(),
        };
        (shown(a), shown(b), change)
    }

    /// The other figures that differ.
    pub(super) fn others(phase: &PhasePair) -> String {
        details(phase)
    }
}
