//! Curves of run time and cost over the number of executors, cores or tasks.

use std::fmt::Write as _;

use crate::html::draw::{Axis, WIDTH};
use crate::html::filters::grouped;
use crate::words::{millis, small};
use elephant_base::units::Millis;
use elephant_engine::whatif::{Range, Replays, Resource, Scaling, ScalingPoint};

/// How an application scales, as one or two curves.
pub(super) struct ScalingView<'a> {
    pub(super) scaling: &'a Scaling,
    /// The ends of the axis of numbers, as powers of two of the recorded number.
    octaves: (i32, i32),
    pub(super) curves: Vec<Curve>,
}

/// One curve with its range.
pub(super) struct Curve {
    pub(super) title: String,
    /// From the top to the bottom.
    pub(super) ticks: Vec<String>,
    /// The heights of the lines at the ticks.
    pub(super) grid: Vec<f64>,
    pub(super) band: String,
    pub(super) line: String,
    pub(super) dots: Vec<Dot>,
    /// The recorded value.
    pub(super) recorded: Option<f64>,
    pub(super) sentence: String,
}

/// A replay.
pub(super) struct Dot {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) text: String,
}

/// A number as text.
type Show = fn(f64) -> String;

/// A value of the curve.
struct Value {
    count: u32,
    range: Range,
}

impl<'a> ScalingView<'a> {
    /// `None` if there is nothing to draw.
    pub(super) fn of(scaling: &'a Scaling, replays: &Replays) -> Option<Self> {
        let octave = |point: &ScalingPoint| (f64::from(point.count) / f64::from(scaling.now.max(1))).log2();
        let octaves: Vec<f64> = scaling.points.iter().map(octave).collect();
        let low = octaves.iter().copied().fold(0.0, f64::min).floor();
        let high = octaves.iter().copied().fold(0.0, f64::max).ceil();
        #[allow(clippy::cast_possible_truncation)] // between -32 and 32
        let octaves = (low as i32, (high as i32).max(low as i32 + 1));
        let mut view = Self { scaling, octaves, curves: Vec::new() };
        let time = |point: &ScalingPoint| Some(point.takes.wall_ms);
        let recorded = Some(replays.recorded.as_f64());
        view.curves.extend(view.curve("Run time", &time, time_unit, (millis, Some(millis)), recorded));
        let cores = |point: &ScalingPoint| point.takes.core_hours;
        let memory = |point: &ScalingPoint| point.takes.gb_hours;
        let hours = |_: f64| 1.0;
        let cost = view.curve("Core-hours", &cores, hours, (small, None), None);
        let cost = cost.or_else(|| view.curve("Memory, GB·h", &memory, hours, (small, None), None));
        view.curves.extend(cost);
        (!view.curves.is_empty()).then_some(view)
    }

    fn curve(
        &self,
        title: &str,
        pick: &dyn Fn(&ScalingPoint) -> Option<Range>,
        unit: fn(f64) -> f64,
        (show, tick): (Show, Option<Show>),
        recorded: Option<f64>,
    ) -> Option<Curve> {
        let value = |point: &ScalingPoint| Some(Value { count: point.count, range: pick(point)? });
        let values: Vec<Value> = self.scaling.points.iter().filter_map(value).collect();
        let most = values.iter().map(|value| value.range.high).chain(recorded).fold(0.0, f64::max);
        let axis = Axis::over([most].into_iter(), unit(most))?;
        let ticks = tick.map_or_else(
            || axis.ticks(),
            |tick| {
                let at = |value: f64| if value <= 0.0 { "0".to_owned() } else { tick(value) };
                axis.values().into_iter().map(at).collect()
            },
        );
        let dot = |value: &Value| Dot {
            x: self.x(value.count),
            y: axis.y(value.range.point),
            text: self.text(value, show),
        };
        let dots: Vec<Dot> = values.iter().map(dot).collect();
        Some(Curve {
            title: title.to_owned(),
            ticks: ticks.into_iter().rev().collect(),
            grid: axis.values().into_iter().map(|value| axis.y(value)).collect(),
            band: self.band(&values, axis),
            line: path(dots.iter().map(|dot| (dot.x, dot.y))),
            sentence: dots.iter().map(|dot| dot.text.as_str()).collect::<Vec<_>>().join("; "),
            recorded: recorded.map(|value| axis.y(value)),
            dots,
        })
    }

    /// The outline of the ranges: along the upper ends, and back along the lower ones.
    fn band(&self, values: &[Value], axis: Axis) -> String {
        let upper = values.iter().map(|value| (self.x(value.count), axis.y(value.range.high)));
        let lower = values.iter().rev().map(|value| (self.x(value.count), axis.y(value.range.low)));
        path(upper.chain(lower)) + "Z"
    }

    /// "8 executors: 33.1 s (30 s to 36 s)".
    fn text(&self, value: &Value, show: fn(f64) -> String) -> String {
        let Range { low, point, high, .. } = value.range;
        let [low, point, high] = [low, point, high].map(show);
        let range = if low == high { String::new() } else { format!(" ({low} to {high})") };
        format!("{}: {point}{range}", self.counted(value.count))
    }

    /// "8 executors".
    pub(super) fn counted(&self, count: u32) -> String {
        let what = match self.scaling.resource {
            Resource::Executors => "executor",
            Resource::Cores => "core",
            Resource::Reduces => "reduce task",
            Resource::MapsAtOnce => "map task",
        };
        let rest = if self.scaling.resource == Resource::MapsAtOnce { " at once" } else { "" };
        format!("{} {what}{}{rest}", grouped(u64::from(count)), if count == 1 { "" } else { "s" })
    }

    /// The unit of the axis of numbers.
    pub(super) const fn what(&self) -> &'static str {
        match self.scaling.resource {
            Resource::Executors => "executors",
            Resource::Cores => "cores",
            Resource::Reduces => "reduce tasks",
            Resource::MapsAtOnce => "map tasks at once",
        }
    }

    /// A limitation of the numbers.
    pub(super) const fn caveat(&self) -> &'static str {
        match self.scaling.resource {
            Resource::Executors => "A fixed number from the first executor on.",
            Resource::Cores => "Cores of the driver, which runs the tasks.",
            Resource::Reduces => "The data is spread evenly over the reduce tasks.",
            Resource::MapsAtOnce => "The same containers for the whole job.",
        }
    }

    /// The place of a number: each step to the right doubles it.
    fn x(&self, count: u32) -> f64 {
        let (low, high) = self.octaves;
        let octave = (f64::from(count) / f64::from(self.scaling.now.max(1))).log2();
        ((octave - f64::from(low)) / f64::from(high - low)).clamp(0.0, 1.0) * WIDTH
    }

    pub(super) fn now(&self) -> f64 {
        self.x(self.scaling.now)
    }

    pub(super) fn proposed(&self) -> Option<f64> {
        let proposed = self.scaling.proposed.filter(|count| *count != self.scaling.now);
        proposed.map(|count| self.x(count))
    }

    /// "¼ ×", "½ ×", "now: 4", "2 ×", "4 ×".
    pub(super) fn ticks(&self) -> Vec<String> {
        let (low, high) = self.octaves;
        let tick = |octave: i32| match octave {
            0 => format!("now: {}", grouped(u64::from(self.scaling.now))),
            -1 => "½ ×".to_owned(),
            -2 => "¼ ×".to_owned(),
            ..0 => format!("1/{} ×", 1u64 << octave.unsigned_abs().min(63)),
            _ => format!("{} ×", grouped(1u64 << octave.unsigned_abs().min(63))),
        };
        (low..=high).map(tick).collect()
    }
}

/// The unit in which times of this length have round numbers, in milliseconds.
fn time_unit(most: f64) -> f64 {
    let time = Millis::from_f64(most).unwrap_or_default();
    match time.whole_secs() {
        0..3 => 1.0,
        3..90 => 1000.0,
        90..5400 => 60_000.0,
        _ => 3_600_000.0,
    }
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let command = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{command}{x:.1} {y:.1}");
    }
    path
}
