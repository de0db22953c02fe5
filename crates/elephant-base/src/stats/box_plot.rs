//! Box plots after Tukey, "Exploratory Data Analysis" (1977).

use super::descriptive::quantile_of_sorted;

/// A whisker ends within this many interquartile ranges of the box (Tukey's inner fences).
const FENCE: f64 = 1.5;

/// The five numbers of some values, and the ends of the whiskers of their box plot.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxPlot {
    /// The number of values.
    pub count: u64,
    /// The smallest value.
    pub minimum: f64,
    /// The first quartile: the 0.25-quantile, interpolated like all quantiles here
    /// ([`quantile`](super::descriptive::quantile)). Tukey's hinges are not interpolated; with few values they differ a
    /// little.
    pub first_quartile: f64,
    /// The median.
    pub median: f64,
    /// The third quartile.
    pub third_quartile: f64,
    /// The largest value.
    pub maximum: f64,
    /// Where the whiskers end: at the last values that are at most 1.5 times the distance of the quartiles away from the box.
    pub whiskers: (f64, f64),
    /// The values beyond the whiskers, in ascending order.
    pub outliers: Vec<f64>,
}

#[doc(hidden)]
impl BoxPlot {
    /// The box plot of these values; those that are not finite are left out. `None` if there are no others.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let first_quartile = quantile_of_sorted(&sorted, 0.25)?;
        let third_quartile = quantile_of_sorted(&sorted, 0.75)?;
        let reach = FENCE * (third_quartile - first_quartile);
        let fences = first_quartile - reach..=third_quartile + reach;
        let inside = || sorted.iter().copied().filter(|value| fences.contains(value));
        // An interpolated quartile may have no value between it and its fence. Then there is no whisker.
        let low = inside().next().map_or(first_quartile, |low| low.min(first_quartile));
        let high = inside().next_back().map_or(third_quartile, |high| high.max(third_quartile));
        Some(Self {
            count: sorted.len() as u64,
            minimum: *sorted.first()?,
            first_quartile,
            median: quantile_of_sorted(&sorted, 0.5)?,
            third_quartile,
            maximum: *sorted.last()?,
            whiskers: (low, high),
            outliers: sorted.iter().copied().filter(|value| !fences.contains(value)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn five(plot: &BoxPlot) -> [f64; 5] {
        let BoxPlot { minimum, first_quartile, median, third_quartile, maximum, .. } = *plot;
        [minimum, first_quartile, median, third_quartile, maximum]
    }

    #[test]
    fn numbers_of_a_small_sample_are_exact() {
        // numpy.percentile([1, 2, 3, 4, 20], [0, 25, 50, 75, 100])
        let plot = BoxPlot::of([20.0, 1.0, 3.0, 2.0, 4.0]).unwrap();
        assert_eq!((plot.count, five(&plot)), (5, [1.0, 2.0, 3.0, 4.0, 20.0]));
        assert_eq!((plot.whiskers, plot.outliers), ((1.0, 4.0), vec![20.0]));
    }

    #[test]
    fn degenerate_samples_have_boxes_without_whiskers() {
        assert_eq!(BoxPlot::of([]), None);
        assert_eq!(BoxPlot::of([f64::NAN, f64::INFINITY]), None);
        let one = BoxPlot::of([7.0, f64::NAN]).unwrap();
        assert_eq!((one.count, five(&one), one.whiskers), (1, [7.0; 5], (7.0, 7.0)));
        // Of equal values, every other one is an outlier.
        let ties = BoxPlot::of([2.0, 2.0, 2.0, 2.0, 2.0, 3.0]).unwrap();
        assert_eq!(
            (five(&ties), ties.whiskers, ties.outliers),
            ([2.0, 2.0, 2.0, 2.0, 3.0], (2.0, 2.0), vec![3.0])
        );
        // The first quartile lies between an outlier and the next value.
        let gap = BoxPlot::of([-100.0, 10.0, 10.0, 10.0]).unwrap();
        assert_eq!((gap.first_quartile, gap.whiskers, gap.outliers), (-17.5, (-17.5, 10.0), vec![-100.0]));
    }

    proptest! {
        #[test]
        fn a_box_plot_follows_from_ranks(values in prop::collection::vec(-50..50i32, 1..60)) {
            let values: Vec<f64> = values.into_iter().map(|value| f64::from(value) / 4.0).collect();
            let plot = BoxPlot::of(values.clone()).unwrap();
            // The same from a sorted list, with a quartile as a weighted mean of two neighbours.
            let mut sorted = values;
            sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let last = sorted.len() - 1;
            let quartile = |quarters: usize| {
                let (place, rest) = (quarters * last / 4, quarters * last % 4);
                let next = sorted[(place + 1).min(last)];
                (sorted[place] * (4 - rest) as f64 + next * rest as f64) / 4.0
            };
            let expected = [0, 1, 2, 3, 4].map(quartile);
            for (one, other) in five(&plot).into_iter().zip(expected) {
                prop_assert!((one - other).abs() < 1e-9, "{plot:?} {expected:?}");
            }
            // Every value is in the box, on a whisker, or an outlier.
            let (low, high) = plot.whiskers;
            prop_assert!(low <= plot.first_quartile && plot.third_quartile <= high);
            let covered = sorted.iter().filter(|value| (low..=high).contains(*value)).count();
            prop_assert_eq!(covered + plot.outliers.len(), sorted.len());
            let reach = 1.5 * (plot.third_quartile - plot.first_quartile) + 1e-9;
            prop_assert!(plot.first_quartile - low <= reach && high - plot.third_quartile <= reach);
        }
    }
}
