//! Maximises a function of one variable.

/// Points closer than this are treated as equal.
const TOLERANCE: f64 = 1e-7;

/// A point with its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Valued {
    pub(super) at: f64,
    pub(super) value: f64,
}

/// The maximum between `low` and `high`. `middle` must lie between them and be at least as high as both.
///
/// Uses parabolas through the three best points, and golden sections where parabolas fail: Brent, "Algorithms
/// for Minimization without Derivatives" (1973), chapter 5.
pub(super) fn maximise(
    low: Valued,
    middle: Valued,
    high: Valued,
    mut function: impl FnMut(f64) -> f64,
) -> Valued {
    const GOLDEN: f64 = 0.381_966_011_250_105_1;
    let (mut a, mut b) = (low.at, high.at);
    let mut best = middle;
    let (mut second, mut third) = if low.value > high.value { (low, high) } else { (high, low) };
    let (mut step, mut before) = (b - a, b - a);
    for _ in 0..100 {
        let centre = f64::midpoint(a, b);
        if (best.at - centre).abs() <= 2.0 * TOLERANCE - 0.5 * (b - a) {
            break;
        }
        let last = before;
        before = step;
        let parabola = vertex(best, second, third).map(|at| at - best.at);
        step = match parabola {
            Some(step) if step.abs() < 0.5 * last.abs() && a < best.at + step && best.at + step < b => {
                let at = best.at + step;
                let near_an_end = at - a < 2.0 * TOLERANCE || b - at < 2.0 * TOLERANCE;
                if near_an_end { TOLERANCE.copysign(centre - best.at) } else { step }
            }
            _ => {
                before = if best.at < centre { b - best.at } else { a - best.at };
                GOLDEN * before
            }
        };
        let at = best.at + if step.abs() < TOLERANCE { TOLERANCE.copysign(step) } else { step };
        let found = Valued { at, value: function(at) };
        if found.value >= best.value {
            if at < best.at {
                b = best.at;
            } else {
                a = best.at;
            }
            (third, second, best) = (second, best, found);
        } else {
            if at < best.at {
                a = at;
            } else {
                b = at;
            }
            if found.value >= second.value {
                (third, second) = (second, found);
            } else if found.value >= third.value {
                third = found;
            }
        }
    }
    best
}

/// The maximum of the parabola through three points; `None` if it has none.
fn vertex(best: Valued, second: Valued, third: Valued) -> Option<f64> {
    let (to_second, to_third) = (second.at - best.at, third.at - best.at);
    let left = to_second * (best.value - third.value);
    let right = to_third * (best.value - second.value);
    let denominator = 2.0 * (left - right);
    let numerator = to_second * left - to_third * right;
    let step = numerator / denominator;
    // The sign of the curvature separates a maximum from a minimum.
    let curvature = (left - right) / (to_second * to_third * (to_second - to_third));
    (step.is_finite() && curvature < 0.0).then_some(best.at + step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(function: impl Fn(f64) -> f64, low: f64, middle: f64, high: f64) -> (f64, u32) {
        let point = |at: f64| Valued { at, value: function(at) };
        let mut calls = 0;
        let best = maximise(point(low), point(middle), point(high), |at| {
            calls += 1;
            function(at)
        });
        (best.at, calls)
    }

    #[test]
    fn smooth_and_kinked_maxima_are_found() {
        let (at, calls) = of(|x| -(x - 0.3).powi(2), 0.0, 0.4, 1.0);
        assert!((at - 0.3).abs() < 1e-6 && calls < 8, "{at} after {calls}");
        let (at, calls) = of(f64::sin, 1.0, 1.5, 2.5);
        assert!((at - std::f64::consts::FRAC_PI_2).abs() < 1e-6 && calls < 12, "{at} after {calls}");
        let (at, _) = of(|x| -(x - 0.7).abs(), 0.0, 0.5, 1.0);
        assert!((at - 0.7).abs() < 1e-6, "{at}");
        let (at, _) = of(|_| 1.0, 0.0, 0.5, 1.0);
        assert!((0.0..=1.0).contains(&at));
    }
}
