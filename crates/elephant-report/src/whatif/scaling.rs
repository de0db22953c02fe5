//! Curves of run time and cost over the number of executors, cores or tasks, and the same in numbers.

use super::replay::cost;
use crate::document::html::axis::time_unit;
use crate::document::{Block, Cell, Column, Curve, Point, Row, Table, Value};
use crate::words::{grouped, millis, plural, small};
use elephant_base::whole::Whole;
use elephant_engine::whatif::{Range, Replays, Resource, Scaling, ScalingPoint};

/// How an application scales, as one or two curves and a table.
pub(super) fn curves<'a>(scaling: &'a Scaling, replays: &Replays) -> Vec<Block<'a>> {
    let axis = Octaves::of(scaling);
    let time = |point: &ScalingPoint| Some(point.takes.wall_ms);
    let cores = |point: &ScalingPoint| point.takes.core_hours;
    let memory = |point: &ScalingPoint| point.takes.gb_hours;
    let recorded = Some(replays.recorded.as_f64());
    let run_time = axis.curve("Run time", time, millis);
    let run_time =
        run_time.map(|curve| Curve { level: recorded, unit: time_unit, tick: Some(millis), ..curve });
    let cost = axis.curve("Core-hours", cores, small);
    let cost = cost.or_else(|| axis.curve("Memory, GB·h", memory, small));
    let mut blocks: Vec<Block<'_>> = run_time.into_iter().chain(cost).map(Block::Curve).collect();
    if !blocks.is_empty() {
        blocks.push(Block::Table(numbers(scaling)));
    }
    blocks
}

fn numbers(scaling: &Scaling) -> Table<'_> {
    let columns = [
        Column::key("with", 0, 0),
        Column::number("takes", 0),
        Column::number("core-hours", 0),
        Column::number("GB·h", 0),
    ];
    let row = |point: &'_ ScalingPoint| {
        let is_now = point.count == scaling.now;
        let name = Cell::from(counted(scaling.resource, point.count));
        let wall = point.takes.wall_ms.point;
        let row = Row::new([
            name.remark(is_now.then(|| Value::words("now"))),
            Value::Sorted(millis(wall), Some(wall)).into(),
            cost(point.takes.core_hours),
            cost(point.takes.gb_hours),
        ]);
        if is_now { row.current() } else { row }
    };
    Table::new(columns, scaling.points.iter().map(row)).figure("numbers", "The same in numbers")
}

/// "8 executors".
fn counted(resource: Resource, count: u32) -> String {
    let what = match resource {
        Resource::Executors => "executor",
        Resource::Cores => "core",
        Resource::Reduces => "reduce task",
        Resource::MapsAtOnce => "map task",
    };
    let rest = if resource == Resource::MapsAtOnce { " at once" } else { "" };
    format!("{}{rest}", plural(u64::from(count), what))
}

/// An axis of numbers, on which each step to the right doubles the number.
struct Octaves<'a> {
    scaling: &'a Scaling,
    /// The ends, as powers of two of the recorded number.
    low: i32,
    high: i32,
}

impl<'a> Octaves<'a> {
    fn of(scaling: &'a Scaling) -> Self {
        let octave = |point: &ScalingPoint| (f64::from(point.count) / f64::from(scaling.now.max(1))).log2();
        let octaves: Vec<f64> = scaling.points.iter().map(octave).collect();
        let low = octaves.iter().copied().fold(0.0, f64::min).floor();
        let high = octaves.iter().copied().fold(0.0, f64::max).ceil();
        let (low, high) = (low.as_i32(), high.as_i32());
        Self { scaling, low, high: high.max(low + 1) }
    }

    /// `None` if nothing is known.
    fn curve(
        &self,
        title: &str,
        pick: impl Fn(&ScalingPoint) -> Option<Range>,
        show: fn(f64) -> String,
    ) -> Option<Curve> {
        let point = |point: &ScalingPoint| {
            let Range { low, point: value, high, .. } = pick(point)?;
            let text = self.text(point.count, [low, value, high].map(show));
            Some(Point { x: self.x(point.count), range: (low, high), value, text })
        };
        let points: Vec<Point> = self.scaling.points.iter().filter_map(point).collect();
        let proposed = self.scaling.proposed;
        let other = proposed.filter(|count| *count != self.scaling.now);
        let lines = [Some(("now", self.x(self.scaling.now))), other.map(|count| ("proposed", self.x(count)))];
        let mut legend = vec![("dot", "replays".to_owned()), ("band", "their error".to_owned())];
        legend.push(("now", "now".to_owned()));
        legend.extend(
            proposed
                .map(|count| ("proposed", format!("proposed: {}", counted(self.scaling.resource, count)))),
        );
        let (what, caveat) = self.what();
        (!points.is_empty()).then(|| Curve {
            title: format!("{title} by number of {what}"),
            ticks: self.ticks(),
            points,
            lines: lines.into_iter().flatten().collect(),
            level: None,
            unit: |_| 1.0,
            tick: None,
            legend,
            note: format!("{caveat} Each step to the right doubles the number."),
        })
    }

    /// "8 executors: 33.1 s (30 s to 36 s)".
    fn text(&self, count: u32, [low, point, high]: [String; 3]) -> String {
        let range = if low == high { String::new() } else { format!(" ({low} to {high})") };
        format!("{}: {point}{range}", counted(self.scaling.resource, count))
    }

    /// The unit of the axis, and a limitation of the numbers.
    const fn what(&self) -> (&'static str, &'static str) {
        match self.scaling.resource {
            Resource::Executors => ("executors", "A fixed number from the first executor on."),
            Resource::Cores => ("cores", "Cores of the driver, which runs the tasks."),
            Resource::Reduces => ("reduce tasks", "The data is spread evenly over the reduce tasks."),
            Resource::MapsAtOnce => ("map tasks at once", "The same containers for the whole job."),
        }
    }

    /// The place of a number, as a share of the axis.
    fn x(&self, count: u32) -> f64 {
        let octave = (f64::from(count) / f64::from(self.scaling.now.max(1))).log2();
        ((octave - f64::from(self.low)) / f64::from(self.high - self.low)).clamp(0.0, 1.0)
    }

    /// "¼ ×", "½ ×", "now: 4", "2 ×", "4 ×".
    fn ticks(&self) -> Vec<String> {
        let tick = |octave: i32| match octave {
            0 => format!("now: {}", grouped(u64::from(self.scaling.now))),
            -1 => "½ ×".to_owned(),
            -2 => "¼ ×".to_owned(),
            ..0 => format!("1/{} ×", 1u64 << octave.unsigned_abs().min(63)),
            _ => format!("{} ×", grouped(1u64 << octave.unsigned_abs().min(63))),
        };
        (self.low..=self.high).map(tick).collect()
    }
}
