//! `spark-executor-gc`: executors spend much task time in garbage collection (Dr. Elephant
//! `ExecutorGcHeuristic`).

use std::sync::Arc;

use super::support::application::spark;
use super::support::collections::Collections;
use super::support::jvms::doubt_of_pauses;
use super::support::memory::unreadable;
use super::support::stage_text::label;
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::Application;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::{Executor, Facet, Spark, Stage};
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{Judgement, Measure, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{limit, percent};

rule_params! {
    /// Parameters of `spark-executor-gc`.
    pub(super) struct Gc / GcLayer {
        /// GC time / task time, over all executors.
        gc_ratio: Ascending<Ratio>,
        /// Task time of all executors. A young JVM collects often, so short applications say little.
        task_time: Ascending<Duration>,
        /// Low GC time / task time. It causes a remark that the heap may be too large, but never a
        /// finding.
        gc_low_ratio: Descending<Ratio>,
        /// A stage with a larger share of the garbage collection than this is named.
        stage_share: Quantity<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "master" }, "spark-executor-gc", "Spark Executor GC", tells GarbageCollection, Gc, |layers, advice| load_advised(
        layers, advice, Collection
    ))
    .measured_by("gc_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "executors spend {gc_time_ms} of {task_time_ms} of task time in garbage collection, {gc_ratio:%} \
    ({limit})[; {share} of it in {stage}]";

struct Collection(Gc, Arc<AdviceParams>);

impl Check for Collection {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        if spark.any_unreadable(&[Counter::GcTimeMillis]) {
            return Verdict::NotEvaluated(unreadable(app, &[Counter::GcTimeMillis]));
        }
        let workers: Vec<&Executor> = spark.workers().collect();
        let sum =
            |of: fn(&Executor) -> Option<Millis>| workers.iter().filter_map(|w| of(w)).reduce(|a, b| a + b);
        let (Some(gc), Some(time)) = (sum(|w| w.totals.gc_time), sum(|w| w.totals.task_time)) else {
            return Verdict::NotEvaluated("no task reports its JVM GC time".to_owned());
        };
        if time == Millis::ZERO {
            return Verdict::NotEvaluated("the task time is 0".to_owned());
        }
        // Collections may take slightly longer than the tasks that they stop, as executors and drivers measure them.
        let ratio = (gc.as_f64() / time.as_f64()).min(1.0);
        let low = Severity::Low;
        let conditions = [
            ("gc_ratio", params.gc_ratio.severity(ratio), params.gc_ratio.describe_in(low, percent)),
            ("task_time", params.task_time.severity(time.as_f64()), params.task_time.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let mut evidence = vec![
            ("executors_count", Measure::Count(workers.len() as u64)),
            ("gc_time_ms", Measure::Time(gc)),
            ("task_time_ms", Measure::Time(time)),
            ("gc_ratio", Measure::Ratio(ratio.is_finite().then_some(ratio))),
        ];
        evidence.extend(self.remark(ratio, time).map(|text| ("gc_low_text", Measure::Text(text))));
        let passed = params.gc_ratio.describe_in(severity, percent);
        let (stage, share) = most_collecting(app, spark, params.stage_share.get()).unzip();
        Judgement::of(Subject::Application, severity)
            .tasks(workers.len() as u64)
            .facts(evidence)
            .message(
                MESSAGE,
                &[
                    ("limit", &limit(severity, passed, &conditions)),
                    ("share", &share.map(percent).unwrap_or_default()),
                    ("stage", &stage.map(label).unwrap_or_default()),
                ],
            )
            .advice(|| {
                let collections = Collections::of(app, spark);
                let advice = collections.map(|it| it.advice(app, spark, params.gc_ratio.values()));
                advice.unwrap_or_default()
            })
            .into()
    }

    fn doubt(&self, app: &Application) -> Option<String> {
        doubt_of_pauses(app)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        CounterMask::of(&[Counter::GcTimeMillis])
    }
}

/// The stage with most of the collections, and its share; `None` if no stage has more than the share `from` of them, or if it is the only one.
fn most_collecting<'a>(app: &Application, spark: &'a Spark, from: f64) -> Option<(&'a Stage, f64)> {
    let of_stage = |stage: &'a Stage| {
        let attempts = &app.groups.get(stage.group?)?.attempts;
        Some((attempts.sum(&[Counter::GcTimeMillis])?, stage))
    };
    let each: Vec<(u64, &Stage)> = spark.stages.iter().filter_map(of_stage).collect();
    let all: u64 = each.iter().map(|(time, _)| time).sum();
    let (most, stage) = each.iter().max_by_key(|(time, _)| *time).filter(|_| each.len() > 1)?;
    Some((*stage, *most as f64 / all.max(1) as f64)).filter(|(_, share)| *share > from)
}

impl Collection {
    /// The remark that little GC may mean too large a heap, if the tasks ran long enough.
    fn remark(&self, ratio: f64, time: Millis) -> Option<String> {
        let Self(params, _) = self;
        let level = params.gc_low_ratio.severity(ratio);
        let told = level > Severity::None
            && params.gc_low_ratio.values().is_some()
            && params.task_time.severity(time.as_f64()) > Severity::None;
        told.then(|| {
            let passed = params.gc_low_ratio.describe_in(level, percent);
            format!("GC takes {} of task time ({passed}): the heap may be larger than needed", percent(ratio))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::table::Outcome;

    /// The message about stages with these times of collections, in seconds, of an hour of task time.
    fn message(stages: &[i64]) -> String {
        let mut app = elephant_sample::app(&[]);
        for (id, gc) in (0..).zip(stages) {
            elephant_sample::stage(&mut app, id, &[(Outcome::Succeeded, 1_800_000)]);
            let group = app.groups.last_mut().unwrap();
            group.attempts.set_counter(0, Counter::GcTimeMillis, Some(gc * 1000));
        }
        let totals = &mut elephant_sample::executor(&mut app, "1").totals;
        let all: i64 = stages.iter().sum();
        totals.gc_time = Some(Millis::from_secs(all.unsigned_abs()));
        totals.task_time = Some(Millis::from_secs(3600));
        let found = elephant_sample::evaluate(&app, RULE.id, false).findings;
        found.into_iter().next().map(|it| it.message).unwrap_or_default()
    }

    #[test]
    fn the_stage_with_most_collections_is_named() {
        let of_one = message(&[120, 880]);
        assert!(of_one.ends_with("; 88 % of it in stage 1.0 (count at App.scala:1)"), "{of_one}");
        // No stage has most of them, or there is only one.
        for stages in [&[500, 500][..], &[1000]] {
            let message = message(stages);
            assert!(message.contains("in garbage collection") && !message.contains("of it in"), "{message}");
        }
    }
}
