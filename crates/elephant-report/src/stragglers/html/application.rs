//! One application: a histogram of task durations for its worst groups, coloured by cause, and the slowest tasks.

use super::super::{sentences, words};
use super::causes::Palette;
use crate::html::draw::{HEIGHT, MIN_BAR, WIDTH};
use crate::html::filters::{counted, grouped};
use elephant_analysis::stragglers::cause::Confidence;
use elephant_analysis::stragglers::executions::Certainty;
use elephant_base::units::{Millis, three_digits};
use elephant_engine::survey::{
    ApplicationStragglers, CauseCount, CauseCounts, GroupReport, Method, Settings, Straggler, StragglerCause,
};

/// Groups with a histogram.
const MAX_GROUPS: usize = 4;

/// One application.
pub(super) struct ApplicationView<'a> {
    pub(super) app: &'a ApplicationStragglers,
    /// The ids of the groups that are shown.
    pub(super) ids: &'a [String],
    pub(super) settings: &'a Settings,
    pub(super) palette: &'a Palette,
    /// Tasks that are listed for each group.
    pub(super) most_tasks: usize,
}

impl<'a> ApplicationView<'a> {
    /// "12 of 200 tasks were stragglers", and what else is known.
    pub(super) fn facts(&self) -> Vec<String> {
        let app = self.app;
        let were = if app.stragglers() == 1 { "was a straggler" } else { "were stragglers" };
        let mut facts = vec![
            app.origin.name().to_owned(),
            app.status.name().to_owned(),
            format!("{} of {} {were}", grouped(app.stragglers()), counted(app.judged(), "task")),
        ];
        if self.settings.method == Method::Median && app.delay > Millis::ZERO {
            let why = sentences::mainly(app).filter(|_| app.waited_for.is_some());
            let why =
                why.map(|why| format!(": {}", why.trim_start_matches("waited for "))).unwrap_or_default();
            facts.push(format!("waited {} only for stragglers{why}", app.delay));
        }
        if app.copies.launched > 0 {
            facts.push(format!(
                "{} speculative copies, {} won; losing attempts took {}",
                grouped(app.copies.launched),
                grouped(app.copies.won),
                app.copies.lost
            ));
        }
        facts
    }

    /// The groups that have histograms.
    pub(super) fn shown(app: &'a ApplicationStragglers) -> Vec<&'a GroupReport> {
        Self::with_stragglers(app).into_iter().take(MAX_GROUPS).collect()
    }

    /// Groups with stragglers, the one with the longest first.
    fn with_stragglers(app: &'a ApplicationStragglers) -> Vec<&'a GroupReport> {
        let mut groups: Vec<&GroupReport> =
            app.groups.iter().filter(|group| !group.stragglers.is_empty()).collect();
        let longest = |group: &GroupReport| group.stragglers.first().map(|straggler| straggler.duration);
        groups.sort_by_key(|group| (std::cmp::Reverse(longest(group)), group.kind));
        groups
    }

    pub(super) fn groups(&self) -> Vec<GroupView<'_>> {
        let groups = Self::shown(self.app).into_iter().zip(self.ids);
        groups.map(|(group, id)| GroupView { group, id, view: self }).collect()
    }

    /// "3 more groups with 7 stragglers".
    pub(super) fn left_out(&self) -> Option<String> {
        let groups = Self::with_stragglers(self.app);
        let rest = groups.get(MAX_GROUPS..).filter(|rest| !rest.is_empty())?;
        let stragglers: usize = rest.iter().map(|group| group.stragglers.len()).sum();
        Some(format!(
            "{} with {}",
            counted(rest.len() as u64, "more group"),
            counted(stragglers as u64, "straggler")
        ))
    }
}

/// One group of tasks.
pub(super) struct GroupView<'a> {
    group: &'a GroupReport,
    pub(super) id: &'a str,
    view: &'a ApplicationView<'a>,
}

/// One bar: the tasks that are no stragglers, and above them the stragglers by cause.
pub(super) struct Bar {
    pub(super) parts: Vec<BarPart>,
    pub(super) text: String,
}

/// A part of a bar, in SVG units.
pub(super) struct BarPart {
    pub(super) class: &'static str,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl<'a> GroupView<'a> {
    pub(super) fn title(&self) -> String {
        format!("Time per task: {}", words::of(self.group))
    }

    /// "200 tasks, median 5.2 s, stragglers from 7.8 s".
    pub(super) fn sentence(&self) -> String {
        sentences::limit(self.group, self.view.settings)
    }

    fn most(&self) -> u64 {
        self.group.histogram.steps.iter().map(|step| step.1).max().unwrap_or_default().max(1)
    }

    /// "41 tasks in the highest bar".
    pub(super) fn height(&self) -> String {
        format!("{} in the highest bar", counted(self.most(), "task"))
    }

    fn step_width(&self) -> f64 {
        WIDTH / self.group.histogram.steps.len().max(1) as f64
    }

    pub(super) fn bars(&self) -> Vec<Bar> {
        let steps = self.group.histogram.steps.iter().zip(self.group.causes_by_step()).enumerate();
        let with_tasks = steps.filter(|(_, ((_, count), _))| *count > 0);
        with_tasks.map(|(place, (&(_, count), causes))| self.bar(place, count, &causes)).collect()
    }

    fn bar(&self, place: usize, count: u64, counts: &CauseCounts) -> Bar {
        let palette = self.view.palette;
        let mut parts: Vec<(&'static str, u64)> = vec![("ok", count.saturating_sub(counts.stragglers()))];
        let mut causes = counts.by_frequency();
        causes.sort_by_key(|(count, _)| palette.order(count.cause));
        parts.extend(causes.iter().map(|(count, _)| (palette.class(count.cause), count.primary)));
        let (width, mut top) = (self.step_width(), HEIGHT);
        let gap = width * 0.06;
        let drawn = parts.into_iter().filter(|(_, count)| *count > 0).map(|(class, count)| {
            let height = (count as f64 / self.most() as f64 * HEIGHT).max(MIN_BAR).min(top);
            top -= height;
            BarPart { class, x: place as f64 * width + gap, y: top, width: width - 2.0 * gap, height }
        });
        let parts = drawn.collect();
        let named = sentences::causes(counts);
        let why = if named.is_empty() { String::new() } else { format!("; {named}") };
        Bar { parts, text: format!("{}: {}{why}", self.range(place), counted(count, "task")) }
    }

    /// "5 s to 6 s", "from 10 s".
    fn range(&self, place: usize) -> String {
        let from = |place: usize| self.group.histogram.steps.get(place).map(|step| step.0);
        let start = from(place).unwrap_or_default();
        from(place + 1).map_or_else(|| format!("from {start}"), |end| format!("{start} to {end}"))
    }

    /// A tick at the start of each step, with a label at every third; the limit has one.
    pub(super) fn ticks(&self) -> Vec<String> {
        let histogram = &self.group.histogram;
        let tick = |(place, (from, _)): (usize, &(Millis, u64))| match place {
            0 => "0".to_owned(),
            place if place % 3 == 0 => from.to_string(),
            _ => String::new(),
        };
        histogram.steps.iter().enumerate().map(tick).chain([String::new()]).collect()
    }

    /// Whether the last bar holds all longer tasks.
    pub(super) const fn is_open(&self) -> bool {
        self.group.histogram.open
    }

    /// The place of the limit.
    pub(super) fn limit(&self) -> Option<f64> {
        self.group.histogram.limit.map(|place| place as f64 * self.step_width())
    }

    /// The causes of the stragglers with their colours: "data skew: 12 (10 measured, 2 inferred)".
    pub(super) fn legend(&self) -> Vec<(&'static str, String)> {
        let palette = self.view.palette;
        let mut counts = CauseCounts::default();
        counts.add(self.group.stragglers.iter().filter_map(|straggler| straggler.cause.as_ref()));
        let mut causes = counts.by_frequency();
        causes.sort_by_key(|(count, _)| palette.order(count.cause));
        let entry = |(count, _): (CauseCount, f64)| {
            let sure = count.confidence().to_string();
            let sure = if sure.is_empty() { String::new() } else { format!(" ({sure})") };
            let name = count.cause.display_name();
            (palette.class(count.cause), format!("{name}: {}{sure}", grouped(count.primary)))
        };
        causes.into_iter().map(entry).collect()
    }

    pub(super) fn tasks(&self) -> &'a [Straggler] {
        let all = &self.group.stragglers;
        all.get(..self.view.most_tasks).unwrap_or(all)
    }

    pub(super) fn tasks_left_out(&self) -> u64 {
        self.group.stragglers.len().saturating_sub(self.view.most_tasks) as u64
    }

    pub(super) fn name(&self) -> String {
        words::of(self.group)
    }
}

/// ">12 s" if it would have taken at least so long.
pub(super) fn took(straggler: &Straggler) -> String {
    let sign = match straggler.certainty {
        Certainty::AtLeast => ">",
        Certainty::Estimated => "~",
        Certainty::Measured => "",
    };
    format!("{sign}{}", sentences::exact(straggler.duration))
}

/// "2.3×"; a task without input that took time has an infinite index.
pub(super) fn times(value: Option<&f64>) -> String {
    match value {
        Some(value) if value.is_finite() => format!("{}×", three_digits(*value)),
        Some(_) => "no input".to_owned(),
        None => String::new(),
    }
}

/// The fact that supports the cause.
pub(super) fn fact(cause: &StragglerCause) -> String {
    sentences::fact(cause).unwrap_or_default()
}

/// "measured".
pub(super) fn confidence(cause: &StragglerCause) -> &'static str {
    cause.confidence.map(Confidence::name).unwrap_or_default()
}
