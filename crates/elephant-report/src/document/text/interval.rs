//! Charts of intervals in ASCII.

use elephant_base::whole::Whole;

/// The axis that all intervals of a chart share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    columns: usize,
}

impl Axis {
    /// An axis that shows all intervals and 0; `None` without intervals or room.
    pub(super) fn over(intervals: impl Iterator<Item = (f64, f64)>, columns: usize) -> Option<Self> {
        let (mut low, mut high, mut any) = (0.0f64, 0.0f64, false);
        for (from, to) in intervals {
            low = low.min(from);
            high = high.max(to);
            any = true;
        }
        let sound = any && columns >= 16 && (high - low).is_finite() && high > low;
        sound.then_some(Self { low, high, columns })
    }

    fn column(self, value: f64) -> usize {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        (share * (self.columns - 1) as f64).round().as_usize()
    }

    /// Labels for both ends and for 0, above their columns.
    pub(super) fn labels(self) -> String {
        let zero = self.column(0.0);
        let mut line = " ".repeat(self.columns);
        let mut put = |label: &str, at: usize| {
            let start = at.saturating_sub(label.len() / 2).min(self.columns.saturating_sub(label.len()));
            let end = start + label.len();
            // Labels that would touch are left out.
            let around = line.get(start.saturating_sub(1)..(end + 1).min(self.columns));
            if around.is_some_and(|around| around.trim().is_empty()) {
                line.replace_range(start..end, label);
            }
        };
        put("0", zero);
        put(&format!("{:.2}", self.low), 0);
        put(&format!("{:.2}", self.high), self.columns - 1);
        line
    }

    /// `[--o--]` for an interval and its mean, `|` for 0.
    pub(super) fn draw(self, (low, high): (f64, f64), mean: Option<f64>) -> String {
        let (low, high) = (self.column(low), self.column(high));
        let (zero, mean) = (self.column(0.0), mean.map(|mean| self.column(mean)));
        let character = |at: usize| {
            if Some(at) == mean {
                'o'
            } else if at == low {
                '['
            } else if at == high {
                ']'
            } else if low < at && at < high {
                '-'
            } else if at == zero {
                '|'
            } else {
                ' '
            }
        };
        (0..self.columns).map(character).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_lie_on_one_axis() {
        let wide = (-1.0, 1.0);
        let axis = Axis::over([wide].into_iter(), 21).unwrap();
        assert_eq!(axis.labels(), "-1.00     0      1.00");
        assert_eq!(axis.draw(wide, Some(0.0)), "[---------o---------]");
        assert_eq!(axis.draw((0.2, 0.6), Some(0.4)), "          | [-o-]    ");
        assert_eq!(axis.draw((9.0, 9.0), None).trim(), "|         [");
    }

    #[test]
    fn axis_needs_a_finite_range() {
        assert_eq!(Axis::over([].into_iter(), 40), None);
        assert_eq!(Axis::over([(0.0, 0.0)].into_iter(), 40), None);
        assert_eq!(Axis::over([(0.0, f64::INFINITY)].into_iter(), 40), None);
    }
}
