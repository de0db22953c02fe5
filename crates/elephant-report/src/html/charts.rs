//! Charts as tables and SVG. Drawings stretch with the page, so all text is outside of them.

use askama::Template;

use super::draw::{HEIGHT, MIN_BAR, Part, WIDTH, amount_text};
use super::filters::{self, cut_text, grouped};
use super::links::Links;
use super::phases::PhasesView;
use super::queries::QueriesView;
use super::scatter::ScatterView;
use super::timeline::TimelineView;
use elephant_base::units::Bytes;
use elephant_rule::finding::{Condition, Finding};
use elephant_verdict::charts::{
    Amount, Bucket, Charts, Group, Groups, Histogram, Holder, Limit, MeanOf, MemoryUse, NodeAttempts,
    Quantity, Scale,
};

/// A chart of containers has room for at least this many bars.
const LEAST_RANKED: usize = 16;

#[derive(Template)]
#[template(path = "charts.html")]
pub(super) struct ChartsView<'a> {
    pub(super) charts: &'a Charts,
    pub(super) links: Links<'a>,
}

impl askama::filters::HtmlSafe for ChartsView<'_> {}

impl ChartsView<'_> {
    fn timeline(&self) -> Option<TimelineView<'_>> {
        let Self { charts, links } = *self;
        charts.timeline.as_ref().map(|chart| TimelineView { chart, phases: &charts.phases, links })
    }

    fn phases(&self) -> Option<PhasesView<'_>> {
        PhasesView::of(&self.charts.phases, self.charts.timeline.as_ref(), self.links)
    }

    fn queries(&self) -> Option<QueriesView<'_>> {
        self.charts.queries.as_ref().map(|charts| QueriesView { charts, links: self.links })
    }

    /// The scatter charts that are not next to a histogram of their phase.
    fn other_scatters(&self) -> impl Iterator<Item = ScatterView<'_>> {
        let Charts { scatters, histograms, .. } = self.charts;
        let others =
            scatters.iter().filter(|chart| !histograms.iter().any(|other| other.subject == chart.subject));
        others.map(|chart| ScatterView { chart, links: self.links })
    }

    fn histograms(&self) -> impl Iterator<Item = HistogramView<'_>> {
        self.charts.histograms.iter().map(|chart| HistogramView { chart, links: self.links })
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

struct HistogramView<'a> {
    chart: &'a Histogram,
    links: Links<'a>,
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
            MeanOf::Largest => "largest value",
        };
        let [value, mean] =
            [limit.value, limit.mean].map(|value| amount_text(self.chart.quantity.amount(value)));
        let holds = holds(limit.holds());
        let text = format!("{} {direction} a {of} of {value}; it is {mean}: this {holds}", limit.severity);
        // A drawn limit alone must not look like the verdict: other conditions decide, too.
        if limit.holds() && !limit.conditions.is_empty() {
            let other =
                |condition: &Condition| format!("{} ({})", condition.text, self::holds(condition.holds));
            let others: Vec<String> = limit.conditions.iter().map(other).collect();
            return format!("{text}. The rule also needs: {}", others.join("; "));
        }
        match (&limit.contrary, limit.holds()) {
            (Some(why), true) => format!("{text}, but other conditions of the rule do not hold ({why})"),
            (Some(why), false) => format!("{text}, but other conditions of the rule do ({why})"),
            (None, _) => text,
        }
    }

    /// The finding that a limit belongs to, if it is in the report.
    fn limit_link(&self, limit: &Limit) -> Option<&String> {
        let Links { app, ids } = self.links;
        let findings = app.findings.iter().zip(&ids.findings);
        let is_it = |finding: &Finding| finding.rule == limit.rule && finding.subject == self.chart.subject;
        findings.filter(|(finding, _)| is_it(finding)).map(|(_, id)| id).next()
    }

    /// The row of the phase in the table.
    fn phase_link(&self) -> Option<String> {
        self.links.phase(&self.chart.subject)
    }

    /// Whether it is the first of its phase.
    fn is_first(&self) -> bool {
        let charts = self.links.app.charts.as_deref();
        let mut histograms = charts.into_iter().flat_map(|charts| &charts.histograms);
        let first = histograms.find(|other| other.subject == self.chart.subject);
        first.is_some_and(|first| std::ptr::eq(first, self.chart))
    }

    /// The points of its phase, if it is the first histogram.
    fn scatter(&self) -> Option<ScatterView<'_>> {
        let scatters = &self.links.app.charts.as_deref()?.scatters;
        let chart = scatters.iter().find(|other| other.subject == self.chart.subject)?;
        self.is_first().then_some(ScatterView { chart, links: self.links })
    }

    /// The id of the first chart of a phase.
    fn id(&self) -> Option<String> {
        let is_first = self.is_first() && self.scatter().is_none();
        is_first.then(|| self.links.tasks_id(&self.chart.subject))
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

const fn holds(holds: bool) -> &'static str {
    if holds { "holds" } else { "does not hold" }
}

struct MemoryView<'a> {
    memory: &'a MemoryUse,
    most: f64,
}

impl MemoryView<'_> {
    fn holder(&self) -> String {
        match self.memory.holder {
            Holder::Tasks(kind) => format!("{} container", kind.name()),
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

    /// One bar for each container, largest first; none for a single container.
    fn bars(&self) -> Vec<RankedBar> {
        let ranked = &self.memory.ranked;
        let width = WIDTH / ranked.len().max(LEAST_RANKED) as f64;
        let bar = |(place, (id, used)): (usize, &(Option<String>, Bytes))| {
            let height = (self.x(*used) / WIDTH * HEIGHT).max(MIN_BAR);
            let name = id.as_ref().map(|id| format!("executor {}: ", cut_text(id, 60)));
            RankedBar {
                x: (place as f64 + 0.1) * width,
                width: 0.8 * width,
                y: HEIGHT - height,
                height,
                text: format!("{}{used}", name.unwrap_or_default()),
            }
        };
        let several = ranked.iter().enumerate().filter(|_| ranked.len() > 1);
        several.map(bar).collect()
    }

    /// The height of the request.
    fn requested_y(&self) -> f64 {
        HEIGHT - self.requested() / WIDTH * HEIGHT
    }

    /// Labels of the vertical axis, from its top.
    fn heights(&self) -> [String; 3] {
        let [top, half] = [1.0, 0.5].map(|part| Bytes::from_f64(self.most * part).unwrap_or_default());
        [top.to_string(), half.to_string(), "0".to_owned()]
    }

    /// The ranked values in words.
    fn sentence(&self) -> String {
        let MemoryUse { requested, median, ranked, measured, .. } = self.memory;
        let named = |(id, used): &(Option<String>, Bytes)| match id {
            Some(id) => format!("{used} (executor {})", cut_text(id, 60)),
            None => used.to_string(),
        };
        let [most, least] = [ranked.first(), ranked.last()].map(|end| end.map(named).unwrap_or_default());
        let (count, holder) = (grouped(*measured), self.holder());
        format!(
            "The most that each of {count} {holder}s of {requested} used: from {least} to {most}, median {median}"
        )
    }
}

/// The memory of one container.
struct RankedBar {
    x: f64,
    width: f64,
    y: f64,
    height: f64,
    text: String,
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
