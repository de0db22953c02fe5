//! Progress of usual tasks and of stragglers over time, and the noise of its reports.

/// Points of a curve that is made from a formula.
const POINTS: u32 = 200;

/// A function of the seconds since a task's launch: straight lines between points, constant before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// A curve through points in order of time.
    pub(super) const fn new(points: Vec<(f64, f64)>) -> Self {
        Self(points)
    }

    /// The curve of a formula, up to an end.
    pub(super) fn of(end: f64, value: impl Fn(f64) -> f64) -> Self {
        let point = |place: u32| {
            let time = end * f64::from(place) / f64::from(POINTS);
            (time, value(time))
        };
        Self((0..=POINTS).map(point).collect())
    }

    /// The value at a time.
    #[must_use]
    pub(crate) fn at(&self, time: f64) -> f64 {
        let next = self.0.partition_point(|&(at, _)| at < time);
        let before = next.checked_sub(1).and_then(|place| self.0.get(place));
        match (before, self.0.get(next)) {
            (Some(&(t0, v0)), Some(&(t1, v1))) => v0 + (v1 - v0) * ((time - t0) / (t1 - t0)),
            (None, Some(&(_, value))) | (Some(&(_, value)), None) => value,
            (None, None) => 0.0,
        }
    }

    /// The time of the last point.
    #[must_use]
    pub fn end(&self) -> f64 {
        self.0.last().map_or(0.0, |point| point.0)
    }

    /// The points.
    #[must_use]
    pub fn points(&self) -> &[(f64, f64)] {
        &self.0
    }
}

/// How the tasks of a workload behave.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// Progress of a usual task, up to its end.
    pub usual: Curve,
    /// Progress of a straggler, up to its end.
    pub straggler: Curve,
    /// The standard deviation of the logarithm of the factor between reported and true progress.
    pub noise: Curve,
    /// The correlation of a task's noise from one scan to the next.
    pub correlation: f64,
    /// The probability that a task is a straggler.
    pub straggler_share: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_straight_between_points() {
        let curve = Curve::new(vec![(0.0, 0.0), (10.0, 0.5), (20.0, 1.0), (20.0, 2.0)]);
        for (time, value) in [(-1.0, 0.0), (5.0, 0.25), (10.0, 0.5), (15.0, 0.75), (30.0, 2.0)] {
            assert!((curve.at(time) - value).abs() < 1e-12, "{time}");
        }
        assert!(Curve::new(Vec::new()).at(1.0).abs() < 1e-12);
    }
}
