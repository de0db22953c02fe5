//! `spark-fetch-wait`: tasks of a stage wait for shuffle data.

use std::cmp::Reverse;

use super::support::application::spark;
use super::support::stage_figures::scored_tasks;
use super::support::stage_text::label;
use crate::declare::spark as rule;
use crate::shown::FINDINGS;
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis};
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::{Facet, Stage};
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::finding::{Advice, Judgement, Measure, Phrase, Subject, Verdict, Worse, and_more};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio, Size};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{change, decisive, percent, plural};

rule_params! {
    /// Parameters of `spark-fetch-wait`.
    pub(super) struct FetchWait / FetchWaitLayer {
        /// Time that the tasks of a stage waited for shuffle data / their run time.
        wait_share: Ascending<Ratio>,
        /// The same / run time of all tasks of the application.
        whole_share: Ascending<Ratio>,
        /// Time that the tasks of a stage waited for shuffle data.
        wait_time: Ascending<Duration>,
        /// Blocks of fewer bytes on average are too many rather than too slow.
        small_block: Quantity<Size>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-fetch-wait", "Spark Fetch Wait", tells Shuffle, FetchWait, |layers, _| load(layers, Waiting))
        .measured_by("wait_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "tasks of {stage} waited {waiting_task_time_ms} for shuffle data, {wait_ratio:%} of their run time \
                       ({limit})[; {blocks}]";

/// What they fetched.
const BLOCKS: &str = "they fetched {count} of {size} on average from other executors";

/// The message if nothing was found.
const SHORT: &str = "no stage waits long for shuffle data";

const WAITED: &[Counter] = &[Counter::ShuffleFetchWaitTime];
const RUN: &[Counter] = &[Counter::ExecutorRunTime];

struct Waiting(FetchWait);

impl Check for Waiting {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        if app.groups.iter().all(|group| group.attempts.sum(WAITED).is_none()) {
            return Verdict::NotEvaluated("no task reports its Fetch Wait Time".to_owned());
        }
        let whole = app.groups.iter().filter_map(|group| group.attempts.sum(RUN)).map(Millis::new).sum();
        let stages = spark.stages.iter().filter_map(|stage| Waits::of(app, stage));
        let judged = stages.map(|waits| (params.severity(&waits, whole), waits));
        let mut found: Vec<(Severity, Waits<'_>)> =
            judged.filter(|(severity, _)| *severity > Severity::None).collect();
        found.sort_by_key(|(severity, waits)| (Reverse(*severity), Reverse(waits.wait), waits.stage.id));
        let more = found.len().saturating_sub(FINDINGS);
        found.truncate(FINDINGS);
        if found.is_empty() {
            return Judgement::of(Subject::Application, Severity::None)
                .tasks(app.task_count())
                .message(SHORT, &[])
                .into();
        }
        let mut judgements: Vec<Judgement> =
            found.iter().map(|(severity, waits)| params.judgement(app, *severity, waits, whole)).collect();
        and_more(&mut judgements, more, "stage");
        Verdict::Several(judgements)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks, Facet::Stages]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        CounterMask::of(&[Counter::ShuffleFetchWaitTime, Counter::ExecutorRunTime])
    }
}

/// How long the tasks of a stage waited.
struct Waits<'a> {
    stage: &'a Stage,
    group: &'a TaskGroup,
    wait: Millis,
    run: Millis,
}

impl<'a> Waits<'a> {
    /// `None` if no task reports its wait or its run time.
    fn of(app: &'a Application, stage: &'a Stage) -> Option<Self> {
        let group = app.groups.get(stage.group?)?;
        let sum = |counters| group.attempts.sum(counters).map(Millis::new);
        let run = sum(RUN).filter(|run| *run > Millis::ZERO)?;
        // A task waits within its run time.
        Some(Self { stage, group, wait: sum(WAITED)?.min(run), run })
    }

    fn share(&self) -> f64 {
        self.wait.as_f64() / self.run.as_f64()
    }

    fn share_of(&self, whole: Millis) -> f64 {
        self.wait.as_f64() / whole.as_f64()
    }

    /// The blocks that were fetched from other executors, and their mean size; `None` if there were none.
    fn remote_blocks(&self) -> Option<(u64, Bytes)> {
        let sum = |counter| self.group.attempts.sum(&[counter]);
        let blocks = sum(Counter::ShuffleRemoteBlocks).filter(|blocks| *blocks > 0)?;
        Some((blocks, Bytes::new(sum(Counter::ShuffleRemoteBytesRead)? / blocks)))
    }
}

impl FetchWait {
    fn severities(&self, waits: &Waits<'_>, whole: Millis) -> [Severity; 3] {
        [
            self.wait_share.severity(waits.share()),
            self.whole_share.severity(waits.share_of(whole)),
            self.wait_time.severity(waits.wait.as_f64()),
        ]
    }

    fn severity(&self, waits: &Waits<'_>, whole: Millis) -> Severity {
        // Even with all limits off, a wait of 0 is not a finding.
        if waits.wait == Millis::ZERO {
            return Severity::None;
        }
        self.severities(waits, whole).into_iter().min().unwrap_or_default()
    }

    fn judgement(
        &self,
        app: &Application,
        severity: Severity,
        waits: &Waits<'_>,
        whole: Millis,
    ) -> Judgement {
        let [by_share, by_whole, by_time] = self.severities(waits, whole);
        let limits = [
            (by_share, self.wait_share.describe_in(severity, percent)),
            (by_whole, format!("{} of all task time", self.whole_share.describe_in(severity, percent))),
            (by_time, self.wait_time.describe(severity)),
        ];
        let blocks = waits.remote_blocks();
        let mut evidence = vec![
            ("waiting_task_time_ms", Measure::Time(waits.wait)),
            ("task_time_ms", Measure::Time(waits.run)),
            ("wait_ratio", Measure::Ratio(Some(waits.share()))),
            ("whole_ratio", Measure::Ratio(Some(waits.share_of(whole)))),
        ];
        evidence.extend(blocks.iter().flat_map(|(count, size)| {
            [("remote_blocks_count", Measure::Count(*count)), ("block_bytes", Measure::Size(*size))]
        }));
        let fetched = blocks
            .map(|(count, size)| Phrase::new(BLOCKS, &[("count", &plural(count, "block")), ("size", &size)]));
        Judgement::of(Subject::Stage(waits.stage.id), severity)
            .tasks(scored_tasks(waits.stage, waits.group))
            .facts(evidence)
            .message(
                MESSAGE,
                &[
                    ("stage", &label(waits.stage)),
                    ("limit", &decisive(severity, &limits)),
                    ("blocks", &fetched.unwrap_or_default()),
                ],
            )
            .advice(|| self.advice(app, blocks.map(|(_, size)| size)))
    }

    fn advice(&self, app: &Application, block: Option<Bytes>) -> Vec<Advice> {
        if block.is_some_and(|block| block.as_f64() < self.small_block.get()) {
            return vec![
                "fetch fewer and larger blocks: there is one for each task that writes and each task that reads, so use fewer \
                 partitions on either side of the shuffle"
                    .into(),
            ];
        }
        let size = |conf: &Conf, key| conf.spark_size(key, Bytes::from_mib(1));
        let more = app.in_force(ConfKey::MaxSizeInFlight, size).map(|now| {
            let twice = format!("{}m", (now + now).whole_mib());
            Advice::new("if disks and network are not busy, fetch more at once")
                .set([change(app, ConfKey::MaxSizeInFlight, twice)])
                .conditional()
        });
        let less = "check the disks and the network of the nodes that hold the data, and shuffle less: filter, drop columns and \
             aggregate before the shuffle, and broadcast small tables";
        std::iter::once(less.into()).chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::table::Outcome;
    use elephant_rule::finding::Finding;

    const MINUTE: u64 = 60_000;

    /// Two stages with tasks of an hour; those of the second wait this many minutes for blocks of this size.
    fn app(waits: [u64; 4], block: Bytes) -> Application {
        let mut app = elephant_sample::app(&[]);
        let hours = [(Outcome::Succeeded, 3_600_000); 4];
        elephant_sample::stage(&mut app, 0, &hours);
        elephant_sample::stage(&mut app, 1, &hours);
        for (number, group) in app.groups.iter_mut().enumerate() {
            for (row, minutes) in waits.into_iter().enumerate() {
                let wait = if number == 1 { minutes * MINUTE } else { 0 };
                let values = [
                    (Counter::ExecutorRunTime, 60 * MINUTE),
                    (Counter::ShuffleFetchWaitTime, wait),
                    (Counter::ShuffleRemoteBlocks, 1000),
                    (Counter::ShuffleRemoteBytesRead, 1000 * block.get()),
                ];
                for (counter, value) in values {
                    group.attempts.set_counter(row, counter, i64::try_from(value).ok());
                }
            }
        }
        app
    }

    fn found(app: &Application) -> Vec<Finding> {
        let found = elephant_sample::evaluate(app, RULE.id, false).findings.into_iter();
        found.filter(|finding| finding.severity > Severity::None).collect()
    }

    #[test]
    fn waits_are_measured_against_run_times() {
        let found = found(&app([30, 40, 50, 24], Bytes::from_mib(1)));
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "tasks of stage 1.0 (count at App.scala:1) waited 2h 24m for shuffle data, 60 % of their run time (severe from \
             50 %); they fetched 4000 blocks of 1 MiB on average from other executors"
        );
        assert_eq!(
            (found[0].severity, found[0].tells),
            (Severity::Severe, elephant_rule::finding::TroubleKind::Shuffle)
        );
        let settings: Vec<String> =
            found[0].advice.iter().flat_map(|line| &line.settings).map(ToString::to_string).collect();
        assert_eq!(settings, ["--conf spark.reducer.maxSizeInFlight=96m"]);
    }

    #[test]
    fn small_blocks_are_too_many() {
        let found = found(&app([40; 4], Bytes::new(20_000)));
        assert!(found[0].advice[0].starts_with("fetch fewer and larger blocks"), "{:?}", found[0].advice);
        assert_eq!(found[0].advice.len(), 1);
    }

    #[test]
    fn short_waits_are_usual() {
        assert!(found(&app([6; 4], Bytes::from_mib(1))).is_empty());
        assert!(found(&app([0; 4], Bytes::from_mib(1))).is_empty());
    }

    #[test]
    fn a_log_without_the_metric_is_not_judged() {
        let mut app = elephant_sample::app(&[]);
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 1000)]);
        let evaluation = elephant_sample::evaluate(&app, RULE.id, false);
        assert_eq!(evaluation.not_evaluated[0].reason, "no task reports its Fetch Wait Time");
    }
}
