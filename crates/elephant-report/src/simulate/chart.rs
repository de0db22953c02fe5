//! The content of a chart, before it is drawn.

/// A chart with a title.
pub(super) struct Chart {
    pub(super) title: String,
    /// Name of the vertical axis.
    pub(super) axis: &'static str,
    pub(super) plot: Plot,
}

pub(super) enum Plot {
    Bars(Bars),
    Lines(Lines),
}

/// Groups of bars, one bar of each series in each group.
pub(super) struct Bars {
    pub(super) series: Vec<String>,
    pub(super) groups: Vec<(String, Vec<Option<Bar>>)>,
    /// The meaning of the darker part of each bar, if bars have parts.
    pub(super) part: Option<&'static str>,
}

/// A bar with its standard deviation.
#[derive(Clone, Copy)]
pub(super) struct Bar {
    pub(super) value: f64,
    pub(super) deviation: Option<f64>,
    /// The part of the value that is drawn darker.
    pub(super) part: Option<f64>,
}

/// Lines over a common axis.
pub(super) struct Lines {
    /// Name of the horizontal axis.
    pub(super) axis: &'static str,
    pub(super) lines: Vec<(String, Vec<Point>)>,
}

/// A point of a line, with its standard deviation.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) deviation: Option<f64>,
}

impl Plot {
    /// The greatest value that is drawn.
    pub(super) fn top(&self) -> f64 {
        let reach = |value: f64, deviation: Option<f64>| value + deviation.unwrap_or_default();
        let values: Vec<f64> = match self {
            Self::Bars(bars) => {
                let all = bars.groups.iter().flat_map(|(_, bars)| bars).flatten();
                all.map(|bar| reach(bar.value, bar.deviation)).collect()
            }
            Self::Lines(lines) => {
                let all = lines.lines.iter().flat_map(|(_, points)| points);
                all.map(|point| reach(point.y, point.deviation)).collect()
            }
        };
        values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max)
    }

    /// The names of the series.
    pub(super) fn series(&self) -> Vec<&str> {
        match self {
            Self::Bars(bars) => bars.series.iter().map(String::as_str).collect(),
            Self::Lines(lines) => lines.lines.iter().map(|(name, _)| name.as_str()).collect(),
        }
    }
}

/// The distance of ticks on an axis to `top`: 1, 2 or 5 times a power of ten, so that there are at most six.
pub(super) fn tick(top: f64) -> f64 {
    if !(top > 0.0 && top.is_finite()) {
        return 1.0;
    }
    let mut power = 1.0;
    while power * 10.0 <= top / 6.0 {
        power *= 10.0;
    }
    while power > top / 6.0 && power > f64::MIN_POSITIVE * 100.0 {
        power /= 10.0;
    }
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| step * 6.0 >= top).unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_few_round_ticks() {
        for (top, expected) in
            [(1.0, 0.2), (0.17, 0.05), (260.0, 50.0), (6.0, 1.0), (1.4, 0.5), (464.0, 100.0)]
        {
            assert!((tick(top) - expected).abs() < 1e-9 * expected, "{top}: {}", tick(top));
        }
        assert!((tick(0.0) - 1.0).abs() < f64::EPSILON && (tick(f64::NAN) - 1.0).abs() < f64::EPSILON);
    }
}
