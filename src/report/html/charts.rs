//! Charts as tables and SVG. Drawings stretch with the page, so all text is outside of them.

use askama::Template;

use super::draw::{HEIGHT, MIN_BAR, Part, WIDTH};
use super::filters::{self, grouped, moment_text};
use super::links::Ids;
use crate::charts::{
    Amount, Bucket, Charts, ExecutorSpan, Group, Groups, Histogram, Holder, Limit, MeanOf, MemoryUse,
    NodeAttempts, Quantity, Scale, Timeline,
};
use crate::finding::Finding;
use crate::model::{Phase, Subject};
use crate::results::ApplicationReport;
use crate::units::{Bytes, Millis, Timestamp};

#[derive(Template)]
#[template(path = "charts.html")]
pub(super) struct ChartsView<'a> {
    pub(super) charts: &'a Charts,
    pub(super) app: &'a ApplicationReport,
    pub(super) ids: &'a Ids,
}

impl askama::filters::HtmlSafe for ChartsView<'_> {}

impl ChartsView<'_> {
    fn timeline(&self) -> Option<TimelineView<'_>> {
        self.charts.timeline.as_ref().map(TimelineView)
    }

    /// The worst finding about a phase.
    fn finding_link(&self, subject: &Subject) -> Option<&String> {
        let findings = self.app.findings.iter().zip(&self.ids.findings);
        findings.filter(|(finding, _)| finding.subject == *subject).map(|(_, id)| id).next()
    }

    fn histograms(&self) -> impl Iterator<Item = HistogramView<'_>> {
        let Self { charts, app, ids } = self;
        charts.histograms.iter().map(|chart| HistogramView { chart, app, ids })
    }

    fn memory(&self) -> impl Iterator<Item = MemoryView<'_>> {
        let most = self.most_memory().as_f64().max(1.0);
        self.charts.memory.iter().map(move |memory| MemoryView { memory, most })
    }

    /// The end of the memory axis.
    fn most_memory(&self) -> Bytes {
        let memory = self.charts.memory.iter();
        memory.map(|memory| memory.requested.max(memory.peak)).max().unwrap_or_default()
    }

    fn memory_ticks(&self) -> Vec<String> {
        let most = self.most_memory().get();
        let tick = |quarter| Bytes::new(most / 4 * quarter + most % 4 * quarter / 4);
        (0..=4).map(tick).map(|at| amount_text(Amount::Size(at))).collect()
    }

    fn nodes(&self) -> impl Iterator<Item = NodeView<'_>> {
        let all = &self.charts.nodes.shown;
        let most = self.most_attempts();
        all.iter().map(move |node| NodeView { node, most })
    }

    /// The end of the axis of attempts, a multiple of four, so that its quarters are whole numbers.
    fn most_attempts(&self) -> u64 {
        let nodes = self.charts.nodes.shown.iter();
        nodes.map(NodeAttempts::total).max().unwrap_or_default().max(1).next_multiple_of(4)
    }

    fn node_ticks(&self) -> Vec<String> {
        let quarter = self.most_attempts() / 4;
        let tick = |place| {
            if place == 4 { format!("{} attempts", grouped(4 * quarter)) } else { grouped(place * quarter) }
        };
        (0..=4).map(tick).collect()
    }
}

struct TimelineView<'a>(&'a Timeline);

impl TimelineView<'_> {
    fn span(&self) -> String {
        let Self(timeline) = self;
        format!("{} to {}, {}", moment_text(timeline.from), moment_text(timeline.to), timeline.length())
    }

    fn part(&self, from: Option<Timestamp>, to: Option<Timestamp>) -> Part {
        let Self(timeline) = self;
        let place = |at: Timestamp| {
            let at = at.clamp(timeline.from, timeline.to);
            let offset = Millis::between(timeline.from, at).unwrap_or_default();
            offset.as_f64() / timeline.length().as_f64().max(1.0) * WIDTH
        };
        let start = from.map_or(0.0, place);
        let width = (to.map_or(WIDTH, place) - start).max(MIN_BAR);
        Part { x: start.min(WIDTH - MIN_BAR), width }
    }

    fn phase(&self, phase: &Phase) -> Part {
        self.part(phase.started_at, phase.finished_at)
    }

    fn executor(&self, executor: &ExecutorSpan) -> Part {
        self.part(Some(executor.from), Some(executor.to))
    }

    /// "+12 s": a time after the start of the timeline.
    fn offset(&self, at: impl filters::Is<Timestamp>) -> String {
        match Millis::between(self.0.from, at.get()) {
            Some(offset) => format!("+{offset}"),
            None => "before".to_owned(),
        }
    }

    /// Axis labels at quarters of the timeline.
    fn ticks(&self) -> Vec<String> {
        let length = self.0.length().get();
        let tick = |quarter| Millis::new(length / 4 * quarter + length % 4 * quarter / 4);
        (0..=4).map(tick).map(|at| amount_text(Amount::Time(at))).collect()
    }

    fn most(&self) -> f64 {
        let cores = self.0.cores.iter().flatten();
        self.0.running.iter().chain(cores).copied().fold(0.0, f64::max)
    }

    /// The end of the vertical axis: "12 tasks".
    fn height(&self) -> String {
        let most = crate::units::three_digits(self.most());
        format!("{most} {}", if self.0.cores.is_some() { "tasks or cores" } else { "tasks" })
    }

    /// The outline of the area below a curve.
    fn area(&self, values: &[f64]) -> String {
        format!("M0 {HEIGHT}{}V{HEIGHT}Z", self.steps(values))
    }

    fn line(&self, values: &[f64]) -> String {
        self.steps(values).replacen('V', "M0 ", 1)
    }

    fn steps(&self, values: &[f64]) -> String {
        let (most, width) = (self.most().max(f64::MIN_POSITIVE), WIDTH / values.len().max(1) as f64);
        let step = |(place, value): (usize, &f64)| {
            format!("V{:.1}H{:.1}", HEIGHT - value / most * (HEIGHT - 2.0), (place + 1) as f64 * width)
        };
        values.iter().enumerate().map(step).collect()
    }
}

/// An axis label. Zero has no unit.
fn amount_text(amount: Amount) -> String {
    match amount {
        Amount::Time(time) if time.get() == 0 => "0".to_owned(),
        Amount::Size(size) if size.get() == 0 => "0".to_owned(),
        amount => amount.to_string(),
    }
}

struct HistogramView<'a> {
    chart: &'a Histogram,
    app: &'a ApplicationReport,
    ids: &'a Ids,
}

/// One bar: the tasks of the small group, and above them those of the large group.
struct Bar {
    x: f64,
    width: f64,
    small_y: f64,
    small_height: f64,
    large_y: f64,
    large_height: f64,
    text: String,
}

impl HistogramView<'_> {
    fn title(&self) -> String {
        let what = match self.chart.quantity {
            Quantity::RunTime => "Run time",
            Quantity::Input => "Input",
            Quantity::ShuffleRead => "Shuffle read",
        };
        format!("{what} per task: {}", self.chart.subject.name())
    }

    fn most(&self) -> u64 {
        self.chart.buckets.iter().map(|bucket| bucket.small + bucket.large).max().unwrap_or_default().max(1)
    }

    fn bars(&self) -> Vec<Bar> {
        let (most, width) = (self.most() as f64, WIDTH / self.chart.buckets.len().max(1) as f64);
        let height = |count: u64| if count == 0 { 0.0 } else { (count as f64 / most * HEIGHT).max(MIN_BAR) };
        let bar = |(place, bucket): (usize, &Bucket)| {
            let (small, large) = (height(bucket.small), height(bucket.large));
            let gap = width * 0.06;
            Bar {
                x: place as f64 * width + gap,
                width: width - 2.0 * gap,
                small_y: HEIGHT - small,
                small_height: small,
                large_y: (HEIGHT - small - large).max(0.0),
                large_height: large,
                text: self.bar_text(bucket),
            }
        };
        let with_tasks = |(_, bucket): &(usize, &Bucket)| bucket.small + bucket.large > 0;
        self.chart.buckets.iter().enumerate().filter(with_tasks).map(bar).collect()
    }

    fn bar_text(&self, bucket: &Bucket) -> String {
        let amount = |value| self.chart.quantity.amount(value);
        let tasks = bucket.small + bucket.large;
        let plural = if tasks == 1 { "task" } else { "tasks" };
        format!("{} to {}: {tasks} {plural}", amount_text(amount(bucket.from)), amount(bucket.to))
    }

    /// Values at the quarters of the axis: the number of buckets is a multiple of four.
    fn ticks(&self) -> Vec<String> {
        let buckets = &self.chart.buckets;
        let edges: Vec<u64> =
            buckets.iter().map(|bucket| bucket.from).chain(buckets.last().map(|bucket| bucket.to)).collect();
        let quarters = edges.iter().step_by((buckets.len() / 4).max(1));
        quarters.map(|&edge| amount_text(self.chart.quantity.amount(edge))).collect()
    }

    fn is_logarithmic(&self) -> bool {
        self.chart.scale == Scale::Logarithmic
    }

    /// The position of a value on the axis.
    fn x(&self, value: u64) -> f64 {
        let buckets = &self.chart.buckets;
        let place = buckets.partition_point(|bucket| bucket.to <= value);
        let within = buckets.get(place).map_or(0.0, |bucket| {
            let width = bucket.to.saturating_sub(bucket.from).max(1);
            value.saturating_sub(bucket.from) as f64 / width as f64
        });
        (place as f64 + within) / buckets.len().max(1) as f64 * WIDTH
    }

    /// The position of a limit. `None` if it is beyond the axis.
    fn limit_x(&self, limit: &Limit) -> Option<f64> {
        let (first, last) = self.chart.buckets.first().zip(self.chart.buckets.last())?;
        (first.from..=last.to).contains(&limit.value).then(|| self.x(limit.value))
    }

    fn limit_text(&self, limit: &Limit) -> String {
        let direction = if limit.is_upper { "from" } else { "up to" };
        let of = match limit.of {
            MeanOf::Tasks => "mean",
            MeanOf::LargeGroup => "mean of the large group",
        };
        let [value, mean] =
            [limit.value, limit.mean].map(|value| amount_text(self.chart.quantity.amount(value)));
        let holds = if limit.holds() { "this holds" } else { "this does not hold" };
        let text = format!("{} {direction} a {of} of {value}; it is {mean}: {holds}", limit.severity);
        // A drawn limit must not contradict the verdict: other conditions decide, too.
        match (&limit.contrary, limit.holds()) {
            (Some(why), true) => format!("{text}, but not the rule's other conditions ({why})"),
            (Some(why), false) => format!("{text}, but other conditions of the rule do ({why})"),
            (None, _) => text,
        }
    }

    /// The finding that a limit belongs to, if it is in the report.
    fn limit_link(&self, limit: &Limit) -> Option<&String> {
        let findings = self.app.findings.iter().zip(&self.ids.findings);
        let is_it = |finding: &Finding| finding.rule == limit.rule && finding.subject == self.chart.subject;
        findings.filter(|(finding, _)| is_it(finding)).map(|(_, id)| id).next()
    }

    /// The row of the phase in the timeline.
    fn phase_link(&self) -> Option<String> {
        let timeline = self.app.charts.as_ref()?.timeline.as_ref()?;
        let is_shown = timeline.phases.shown.iter().any(|phase| phase.subject == self.chart.subject);
        is_shown.then(|| self.ids.phase(&self.chart.subject))
    }

    /// A description of the histogram for screen readers.
    fn sentence(&self) -> String {
        let Histogram { groups, tasks, median, largest, .. } = self.chart;
        let group = |group: Group| {
            let plural = if group.count == 1 { "task" } else { "tasks" };
            format!("{} {plural} with a mean of {}", grouped(group.count), group.mean)
        };
        let groups = groups.map_or_else(
            || format!("{} tasks", grouped(*tasks)),
            |Groups { small, large }| format!("{}, {}", group(small), group(large)),
        );
        format!("{groups}; median {median}, largest {largest}")
    }
}

struct MemoryView<'a> {
    memory: &'a MemoryUse,
    most: f64,
}

impl MemoryView<'_> {
    fn holder(&self) -> String {
        match self.memory.holder {
            Holder::Tasks(kind) => format!("{kind} container"),
            Holder::Executors => "executor container".to_owned(),
        }
    }

    fn x(&self, bytes: Bytes) -> f64 {
        bytes.as_f64() / self.most * WIDTH
    }

    fn requested(&self) -> f64 {
        self.x(self.memory.requested)
    }

    fn mean(&self) -> f64 {
        self.x(self.memory.mean)
    }

    fn peak(&self) -> f64 {
        self.x(self.memory.peak)
    }
}

struct NodeView<'a> {
    node: &'a NodeAttempts,
    most: u64,
}

impl NodeView<'_> {
    /// Succeeded, failed, killed and unfinished attempts, one after the other.
    fn parts(&self) -> Vec<(&'static str, Part)> {
        let NodeAttempts { succeeded, failed, killed, unfinished, .. } = self.node;
        let mut x = 0.0;
        let counts = [("ok", succeeded), ("bad", failed), ("killed", killed), ("open", unfinished)];
        let parts = counts.into_iter().filter(|(_, count)| **count > 0).map(|(class, &count)| {
            let width = (count as f64 / self.most as f64 * WIDTH).max(MIN_BAR);
            let part = Part { x, width };
            x += width;
            (class, part)
        });
        parts.collect()
    }
}
