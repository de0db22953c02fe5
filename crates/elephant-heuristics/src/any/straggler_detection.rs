//! `straggler-detection`: how well the cluster's own speculation found the stragglers (S0 eq 2 to 4).

use super::support::causes::Causes;
use super::support::groups::tasks;
use super::support::speculation_settings::{Candidates, better_settings, is_on, time_lost};
use super::support::working_times::working_times;
use crate::declare::any as rule;
use elephant_analysis::stragglers::evaluation::actual;
use elephant_analysis::stragglers::executions::input_counters;
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_analysis::stragglers::labels::Labelling;
use elephant_base::severity::Severity;
use elephant_base::stats::descriptive::median;
use elephant_base::units::Millis;
use elephant_catalogue::{Check, Rule, Shared, load};
use elephant_model::model::Application;
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::{ClusterManager, Facet};
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{decisive, percent, plural};

rule_params! {
    /// Parameters of `straggler-detection`.
    pub(super) struct Detection / DetectionLayer {
        /// Stragglers that the cluster's own speculation copied in time / all stragglers.
        recall: Descending<Ratio>,
        /// Longest excess over its group's median among stragglers that were not copied in time.
        missed_time: Ascending<Duration>,
        /// A task is a straggler from this multiple of its group's median duration.
        median_factor: Quantity<Ratio>,
        /// Groups with fewer tasks are not judged.
        min_tasks: Quantity<Count>,
    }
}

pub(super) const RULE: Rule = rule!(Own, "straggler-detection", "Straggler Detection", tells Speculation, Detection, |layers, _| load(
    layers,
    OwnSpeculation
));

/// The message of a finding.
const MESSAGE: &str = "speculation copied {copied_in_time_count} of {stragglers} in time, {recall_ratio:%} ({limit})[; \
    the worst missed straggler ran {missed} longer than the median]";

struct OwnSpeculation(Detection);

/// The results of speculation on the stragglers that it could have helped.
#[derive(Debug, Clone, Copy, Default)]
struct Caught {
    stragglers: u64,
    /// Copied while at least the group's median duration remained for the original, or with a copy that won.
    in_time: u64,
    /// Copied too late to help.
    late: u64,
    /// Sum of the times until the copy, in multiples of the group's median.
    latency: f64,
    worst_missed: Millis,
}

impl Caught {
    /// "12 s"; empty if none was missed.
    fn missed_in_words(&self) -> String {
        match self.worst_missed {
            Millis::ZERO => String::new(),
            worst => worst.to_string(),
        }
    }
}

impl Caught {
    fn add(&mut self, app: &Application, view: &GroupStragglers<'_>, factor: f64) {
        let Some(limit) = view.labels.limit else { return };
        let worked = Worked::of(app, view);
        let detections = actual(view.group, &view.executions);
        for (place, task) in view.executions.tasks.iter().enumerate() {
            let straggler = view.labels.stragglers.get(place) == Some(&Some(true));
            if !straggler || view.is_explained(place) || !worked.is_long(place, factor) {
                continue;
            }
            self.stragglers += 1;
            let detected = detections.get(place).copied().flatten().map(|at| at.as_f64() / 1000.0);
            if let Some(at) = detected {
                self.latency += at / limit.reference;
            }
            // A copy takes as long as the other tasks, so a later one cannot win (S0 §6.2).
            let gains = detected.is_some_and(|at| task.duration - at >= limit.reference)
                || (task.attempt() != task.winner() && detected.is_some());
            match (gains, detected) {
                (true, _) => self.in_time += 1,
                (false, at) => {
                    self.late += u64::from(at.is_some());
                    let beyond = worked.beyond(place).unwrap_or(task.duration - limit.reference);
                    let beyond = Millis::from_seconds(beyond);
                    self.worst_missed = self.worst_missed.max(beyond.unwrap_or_default());
                }
            }
        }
    }
}

/// How long reduce tasks worked after the last map task had ended. The first reduce tasks wait for it, so they run longer
/// than later ones without being slower. `None` for other tasks, which wait for nothing.
struct Worked(Option<(Vec<f64>, f64)>);

impl Worked {
    fn of(app: &Application, view: &GroupStragglers<'_>) -> Self {
        let times = (view.group.kind == TaskKind::Reduce).then(|| working_times(app, view));
        Self(times.and_then(|times| median(&times).map(|middle| (times, middle))))
    }

    /// Whether a straggler is still one without the time in which it only waited.
    fn is_long(&self, place: usize, factor: f64) -> bool {
        let Some((times, middle)) = &self.0 else { return true };
        times.get(place).is_some_and(|time| *time >= factor * middle)
    }

    /// Seconds by which a task worked longer than the median.
    fn beyond(&self, place: usize) -> Option<f64> {
        let (times, middle) = self.0.as_ref()?;
        Some(times.get(place)? - middle)
    }
}

impl Check for OwnSpeculation {
    fn check(&self, app: &Application) -> Verdict {
        self.check_among(app, &Shared::of(app))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        let Self(params) = self;
        let local = app.spark.is_some() && ClusterManager::of_application(app) == Some(ClusterManager::Local);
        if local {
            return Verdict::NotApplicable;
        }
        let labelling = Labelling { factor: params.median_factor.get(), ..Labelling::MEDIAN };
        let stragglers = shared.stragglers(labelling, params.min_tasks.get());
        let views = &stragglers.groups;
        if views.is_empty() {
            return Verdict::NotApplicable;
        }
        let watched: Vec<&GroupStragglers<'_>> =
            views.iter().filter(|view| is_on(app, view.group) == Some(true)).collect();
        if watched.is_empty() {
            // If speculation is off, straggler-impact reports what it could have gained.
            return if views.iter().any(|view| is_on(app, view.group).is_some()) {
                Verdict::NotApplicable
            } else {
                Verdict::NotEvaluated("the history does not show whether speculation was on".to_owned())
            };
        }
        let mut caught = Caught::default();
        for view in &watched {
            caught.add(app, view, params.median_factor.get());
        }
        if caught.stragglers == 0 {
            return Verdict::NotApplicable;
        }
        let recall = caught.in_time as f64 / caught.stragglers as f64;
        let by_recall = params.recall.severity(recall);
        let by_time = params.missed_time.severity(caught.worst_missed.as_f64());
        let severity = by_recall.min(by_time);
        let level = severity.max(Severity::Low);
        let limits = [
            (by_recall, params.recall.describe_in(level, percent)),
            (by_time, params.missed_time.describe(level)),
        ];
        let copied = caught.in_time + caught.late;
        let latency = (copied > 0).then(|| caught.latency / copied as f64);
        Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .fact("stragglers_count", Measure::Count(caught.stragglers))
            .fact("copied_in_time_count", Measure::Count(caught.in_time))
            .fact("copied_late_count", Measure::Count(caught.late))
            .fact("recall_ratio", Measure::Ratio(Some(recall)))
            .fact("detection_latency_ratio", Measure::Ratio(latency))
            .fact("worst_missed_ms", Measure::Time(caught.worst_missed))
            .message(
                MESSAGE,
                &[
                    ("stragglers", &plural(caught.stragglers, "straggler")),
                    ("limit", &decisive(severity, &limits)),
                    ("missed", &caught.missed_in_words()),
                ],
            )
            .advice(|| advice(app, views, &Causes::of(&stragglers), caught.in_time))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }

    fn reads(&self, kind: TaskKind) -> CounterMask {
        input_counters(kind)
    }
}

fn advice(app: &Application, views: &[GroupStragglers<'_>], causes: &Causes, in_time: u64) -> Vec<Advice> {
    let watched = Candidates::of(views, causes, true, |view| is_on(app, view.group) == Some(true));
    better_settings(app, &watched, in_time, time_lost(views))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::Application;
    use elephant_model::model::table::TimePoint;

    /// Maps until second 600. Reduces of 100 s each after that, of which the first five start early and wait; the first
    /// one works for `first` seconds.
    fn job(first: i64) -> Application {
        let early = (0..5).map(|row| (60, Some(600 + if row == 0 { first } else { 100 })));
        let late = (0..20).map(|_| (700, Some(800)));
        let mut reduces = elephant_sample::tasks(TaskKind::Reduce, early.chain(late));
        for row in 0..25 {
            let fetched = if row < 5 { 630 } else { 730 };
            let at = Some(Timestamp::from_millis(1000 * fetched));
            reduces.attempts.set_time(row, TimePoint::ShuffleFinish, at);
        }
        let maps = elephant_sample::tasks(TaskKind::Map, (0..60).map(|map| (10 * map, Some(10 * map + 10))));
        elephant_sample::job(vec![maps, reduces], &[("mapreduce.reduce.speculative", "true")])
    }

    #[test]
    fn waiting_for_maps_makes_no_straggler() {
        assert!(elephant_sample::evaluate(&job(100), RULE.id, false).findings.is_empty());
        let slow = elephant_sample::evaluate(&job(500), RULE.id, false).findings;
        let found = slow.first().unwrap();
        assert_eq!(found.count("stragglers_count"), Some(1), "{}", found.message);
        assert_eq!(found.time("worst_missed_ms"), Some(Millis::from_secs(400)), "{}", found.message);
    }
}
