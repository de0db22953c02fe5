//! The timeline of an application: its load, its phases in lanes, its executors.

use std::fmt::Write as _;

use askama::Template;

use super::draw::{HEIGHT, MIN_BAR, Part, WIDTH, amount_text};
use super::filters::{self, grouped, moment_text};
use super::links::Links;
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp, three_digits};
use elephant_verdict::charts::{Amount, Durations, ExecutorSpan, Load, LoadOf, PhaseRow, Phases, Timeline};

/// The height of a lane, in pixels.
const LANE: u64 = 24;
/// A bar in a lane is at least so wide, in percent of the timeline.
const LEAST_PERCENT: f64 = 0.2;
/// Bars from this width on have marks and a label.
const MARKED_PERCENT: f64 = 2.5;

#[derive(Template)]
#[template(path = "timeline.html")]
pub(super) struct TimelineView<'a> {
    pub(super) chart: &'a Timeline,
    pub(super) phases: &'a Phases,
    pub(super) links: Links<'a>,
}

impl askama::filters::HtmlSafe for TimelineView<'_> {}

/// A phase in its lane, in percent of the timeline's width and in pixels.
struct Bar {
    href: String,
    severity: Severity,
    /// A description of the bar, for a tooltip and for screen readers.
    text: String,
    label: String,
    x: f64,
    y: u64,
    width: f64,
    is_marked: bool,
    /// Median and 95th percentile of the durations of tasks, in percent of the bar.
    marks: Option<(f64, f64)>,
    on_path: bool,
}

impl TimelineView<'_> {
    fn span(&self) -> String {
        let Timeline { from, to, .. } = self.chart;
        format!("{} to {}, {}", moment_text(*from), moment_text(*to), self.chart.length())
    }

    /// The place of a time, from 0 to 1.
    fn share(&self, at: Timestamp) -> f64 {
        let at = at.clamp(self.chart.from, self.chart.to);
        let offset = Millis::between(self.chart.from, at).unwrap_or_default();
        offset.as_f64() / self.chart.length().as_f64().max(1.0)
    }

    fn executor(&self, executor: &ExecutorSpan) -> Part {
        let [from, to] = [executor.from, executor.to].map(|at| self.share(at) * WIDTH);
        Part { x: from.min(WIDTH - MIN_BAR), width: (to - from).max(MIN_BAR) }
    }

    /// "+12 s": a time after the start of the timeline.
    fn offset(&self, at: impl filters::Is<Timestamp>) -> String {
        match Millis::between(self.chart.from, at.get()) {
            Some(offset) => format!("+{offset}"),
            None => "before".to_owned(),
        }
    }

    /// Axis labels at quarters of the timeline.
    fn ticks(&self) -> Vec<String> {
        let length = self.chart.length().get();
        let tick = |quarter| Millis::new(length / 4 * quarter + length % 4 * quarter / 4);
        (0..=4).map(tick).map(|at| amount_text(Amount::Time(at))).collect()
    }

    fn bars(&self) -> Vec<Bar> {
        self.phases.shown.iter().filter_map(|row| self.bar(row)).collect()
    }

    fn bar(&self, row: &PhaseRow) -> Option<Bar> {
        let (lane, from) = row.lane.zip(row.phase.started_at)?;
        let [from, to] =
            [from, row.phase.finished_at.unwrap_or(self.chart.to)].map(|at| 100.0 * self.share(at));
        let width = (to - from).max(LEAST_PERCENT);
        let took = row.phase.duration().filter(|took| took.get() > 0);
        let mark = |time: Millis| took.map(|took| (100.0 * time.as_f64() / took.as_f64()).min(100.0));
        let marks = row.durations.and_then(|Durations { median, p95, .. }| mark(median).zip(mark(p95)));
        let name = row.phase.subject.name();
        Some(Bar {
            href: self.links.phase(&row.phase.subject)?,
            severity: row.severity,
            text: self.sentence(row),
            label: name.strip_prefix("stage ").unwrap_or(&name).to_owned(),
            x: from.min(100.0 - LEAST_PERCENT),
            y: lane * LANE,
            width,
            is_marked: width >= MARKED_PERCENT,
            marks,
            on_path: row.on_path == Some(true),
        })
    }

    /// A description of the bar of a phase.
    fn sentence(&self, row: &PhaseRow) -> String {
        let mut parts = vec![row.phase.subject.name().into_owned()];
        if row.severity > Severity::None {
            parts.push(row.severity.to_string());
        }
        if row.failed {
            parts.push("failed".to_owned());
        }
        parts.extend(row.phase.started_at.map(|at| format!("starts {}", self.offset(at))));
        parts.push(row.phase.duration().map_or("unfinished".to_owned(), |took| format!("takes {took}")));
        if let Some(Durations { median, p95, .. }) = row.durations {
            parts.push(format!("median task {median}, 95th percentile {p95}"));
        }
        if row.on_path == Some(true) {
            parts.push("on the critical path".to_owned());
        }
        parts.join(", ")
    }

    /// The height of the lanes, in pixels.
    fn lanes_height(&self) -> u64 {
        self.phases.lanes * LANE
    }

    /// The severities that bars have, worst first.
    fn severities(&self) -> Vec<Severity> {
        let shown = |severity: &Severity| {
            self.phases.shown.iter().any(|row| row.severity == *severity && row.lane.is_some())
        };
        Severity::ALL.into_iter().rev().filter(shown).collect()
    }

    /// Whether the phases on the critical path are known.
    fn knows_path(&self) -> bool {
        self.phases.shown.iter().any(|row| row.on_path == Some(true))
    }

    /// The end of the vertical axis: a number whose half is easy to read, too.
    fn top(&self) -> u64 {
        const LOW: [u64; 6] = [1, 2, 4, 6, 8, 10];
        const HIGH: [u64; 10] = [12, 16, 20, 24, 30, 40, 50, 60, 80, 100];
        let most = self.chart.load.iter().flat_map(|load| &load.means).copied().fold(0.0, f64::max);
        let units = std::iter::successors(Some(1u64), |unit| unit.checked_mul(10));
        let high = units.flat_map(|unit| HIGH.map(|top| top.saturating_mul(unit)));
        LOW.into_iter().chain(high).find(|&top| top as f64 >= most).unwrap_or(u64::MAX)
    }

    /// Labels of the vertical axis, from its top.
    fn heights(&self) -> [String; 3] {
        let unit = match self.chart.load.first().map(|load| load.of) {
            Some(LoadOf::CoresHeld | LoadOf::CoresBusy) => "cores",
            _ => "tasks",
        };
        let top = self.top();
        let half = if top == 1 { String::new() } else { grouped(top / 2) };
        [
            format!("{} {}", grouped(top), unit.trim_end_matches(if top == 1 { "s" } else { "" })),
            half,
            "0".to_owned(),
        ]
    }

    /// How many executors are shown and were lost, in words.
    fn executors_title(&self) -> String {
        let executors = &self.chart.executors;
        let count = executors.shown.len() as u64 + executors.left_out;
        let lost = self.lost();
        let lost = if lost > 0 { format!(", {} lost", grouped(lost)) } else { String::new() };
        format!("Executors: {}{lost}", grouped(count))
    }

    /// How many of the executors that are shown were lost; these come first.
    fn lost(&self) -> u64 {
        self.chart.executors.shown.iter().filter(|executor| executor.lost).count() as u64
    }

    /// The outline of the area below a curve.
    fn area(&self, load: &Load) -> String {
        let (width, top) = (WIDTH / load.means.len().max(1) as f64, self.top() as f64);
        let mut path = format!("M0 {HEIGHT}");
        let mut before = None;
        for (place, mean) in load.means.iter().enumerate() {
            let y = format!("{:.1}", HEIGHT - mean / top * HEIGHT);
            if before.as_ref() != Some(&y) {
                if place > 0 {
                    let _ = write!(path, "H{:.1}", place as f64 * width);
                }
                let _ = write!(path, "V{y}");
                before = Some(y);
            }
        }
        path + &format!("H{WIDTH}V{HEIGHT}Z")
    }

    /// All curves in words.
    fn load_sentence(&self) -> String {
        self.chart.load.iter().map(load_text).collect::<Vec<_>>().join("; ")
    }
}

/// The class of a curve.
fn load_class(load: &Load) -> &'static str {
    match load.of {
        LoadOf::CoresHeld => "held",
        LoadOf::MapsAndReduces => "large",
        LoadOf::CoresBusy | LoadOf::Tasks | LoadOf::Maps => "ok",
    }
}

fn load_text(load: &Load) -> String {
    let what = match load.of {
        LoadOf::CoresHeld => "cores held",
        LoadOf::CoresBusy => "cores with a running task",
        LoadOf::Tasks => "running tasks",
        LoadOf::MapsAndReduces => "running maps and reduces together",
        LoadOf::Maps => "running maps",
    };
    format!("{what}: at most {}, {} on average", grouped(load.most), three_digits(load.mean))
}
