//! `spark-skew`: a task has far more data than the others of its stage, which waits for it.

mod advice;
mod uneven;
mod unsplit;

use std::cmp::Reverse;
use std::sync::Arc;

use uneven::{Least, LostTime, Read, Reads, Times};

use super::support::application::spark;
use super::support::memory;
use super::support::stage_figures::scored_tasks;
use super::support::stage_text::label;
use crate::declare::spark as rule;
use crate::shown::FINDINGS;
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis, three_digits};
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, chart_limit, load_advised};
use elephant_model::model::Application;
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::{Facet, Spark, Stage};
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::finding::{
    ComparedWith, Condition, Judgement, Measure, Measured, Phrase, Subject, Verdict, Worse, and_more,
};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Size};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{condition, decisive, percent, plural};

pub(super) use advice::{Skewed, against};

rule_params! {
    /// Parameters of `spark-skew`.
    pub(super) struct Skew / SkewLayer {
        /// Bytes or records that the slowest task reads / median over the tasks of its stage: how much more
        /// makes the data uneven.
        data_ratio: Quantity<Ratio>,
        /// Share of the slowest task's additional time that its additional data must explain. Otherwise it is
        /// a straggler.
        explained_share: Quantity<Ratio>,
        /// A task that reads fewer bytes is not slow because of them.
        min_bytes: Quantity<Size>,
        /// A task that reads fewer records is not slow because of them.
        min_records: Quantity<Count>,
        /// How much longer the stage takes than with even data.
        lost_time: Ascending<Duration>,
        /// The time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Most bytes that a task reads / median over the tasks, if little time is lost yet.
        uneven_ratio: Ascending<Ratio>,
        /// Most bytes that a task reads / most bytes that any stage reads or writes.
        uneven_share: Ascending<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-skew", "Spark Skew", tells Skew, Skew, |layers, advice| load_advised(layers, advice, Skewness))
        .measured_by("lost_ms", Worse::Higher)
        .charted(&[chart_limit(UNEVEN_RATIO, ComparedWith::LargestByMedian)]);

/// The key of the limit that charts draw.
const UNEVEN_RATIO: &str = "uneven_ratio";

/// The message of a finding; there is no multiple if the median task reads nothing.
const LATE: &str = "a task of {stage} {reads}[, {times}× the median of {median}][, {none}], and takes {longest_run_time_ms}; the stage \
                    takes {lost_ms} longer than with even data[, {share} of the run time][, {aside}][; with {others}, {together}] \
                    ({limit})";

/// What skewed stages lose together.
const TOGETHER: &str = "{time} are lost[, {share} of the run time]";

/// The message if the stage hardly waits for the task.
const UNEVEN: &str =
    "a task of {stage} {reads}, {times}× the median of {median}, but costs little time ({limit})";

/// The message if nothing was found.
const EVEN: &str = "no stage waits for a task that has far more data than the others";

struct Skewness(Skew, Arc<AdviceParams>);

impl Check for Skewness {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        if spark.stages.iter().all(|stage| stage.group.is_none()) {
            return Verdict::NotEvaluated("no stage ran a task".to_owned());
        }
        let most = uneven::most_data(app);
        let mut found: Vec<Found<'_>> =
            spark.stages.iter().filter_map(|stage| params.judge(app, spark, stage, most)).collect();
        params.judge_together(app, &mut found);
        found.retain(|found| found.severity > Severity::None);
        found.sort_by_key(|found| (Reverse(found.severity), Reverse(found.lost_time()), found.stage.id));
        let more = found.len().saturating_sub(FINDINGS);
        found.truncate(FINDINGS);
        if found.is_empty() {
            return Judgement::of(Subject::Application, Severity::None)
                .tasks(app.task_count())
                .message(EVEN, &[])
                .into();
        }
        let mut judgements: Vec<Judgement> = found.iter().map(|found| found.judgement(app, spark)).collect();
        and_more(&mut judgements, more, "stage");
        Verdict::Several(judgements)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks, Facet::Stages]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        uneven::COUNTERS
    }
}

/// A stage with uneven data.
struct Found<'a> {
    stage: &'a Stage,
    tasks: u64,
    severity: Severity,
    times: Times,
    /// Whether no other task takes longer.
    is_slowest: bool,
    read: Read,
    /// The time that the stage loses; `None` if it hardly waits.
    lost: Option<LostTime>,
    limit: String,
    /// The further conditions on the data, if the data decides the severity.
    conditions: Vec<Condition>,
    /// The data that makes the slowest task late, and the time that it costs, even if that is too little to be a
    /// finding.
    late: Option<(Read, LostTime)>,
    /// The number of other skewed stages and the time that all of them lose together, if that decides the severity.
    together: Option<(u64, LostTime)>,
}

impl Skew {
    fn judge<'a>(
        &self,
        app: &Application,
        spark: &Spark,
        stage: &'a Stage,
        most: Option<Bytes>,
    ) -> Option<Found<'a>> {
        let group = app.groups.get(stage.group?)?;
        let slowest = Times::of(group)?;
        let explained = self.explained(group, slowest);
        let times = explained.map_or(slowest, |(times, _)| times);
        let found = |severity, read, lost, limit| Found {
            stage,
            tasks: scored_tasks(stage, group),
            severity,
            times,
            is_slowest: times.slowest == slowest.slowest,
            read,
            lost,
            limit,
            conditions: Vec::new(),
            late: None,
            together: None,
        };
        let mut late = None;
        if let Some((_, read)) = explained {
            let lost = times.lost(app, spark, group);
            let (severity, limit) = self.by_time(lost);
            // A single stage may lose little time, but several stages together may lose much.
            late =
                Some((read, lost)).filter(|_| self.lost_time.severity(lost.time.as_f64()) > Severity::None);
            if severity > Severity::None {
                return Some(Found { late, ..found(severity, read, Some(lost), limit) });
            }
        }
        let by_data = most.and_then(|most| {
            let matters = |largest: Bytes| {
                largest.as_f64() >= self.min_bytes.get()
                    && self.uneven_share.severity(largest.as_f64() / most.as_f64()) > Severity::None
            };
            let read = uneven::of_fullest(group, matters)?;
            let (severity, limit) = self.by_data(read, most);
            let conditions = vec![self.share_of(read, most, severity)];
            let found = Found { conditions, ..found(severity, read, None, limit) };
            // If no skewed task costs noticeable time, describe the slowest task instead.
            let found =
                if late.is_some() { found } else { Found { times: slowest, is_slowest: true, ..found } };
            (severity > Severity::None).then_some(Found { late, ..found })
        });
        by_data.or_else(|| {
            let (read, lost) = late?;
            Some(Found { late, ..found(Severity::None, read, Some(lost), String::new()) })
        })
    }

    /// Judges the time that the stage that loses most and those without a finding of their own lose together. If that is
    /// worse, the former gets this severity, and its message mentions the others.
    fn judge_together(&self, app: &Application, found: &mut [Found<'_>]) {
        let late = found.iter().enumerate();
        let late = late.filter_map(|(place, it)| Some(((it.late?.1.time, Reverse(it.stage.id)), place)));
        let Some((_, worst)) = late.max() else { return };
        let counted = found.iter().enumerate();
        let counted = counted.filter(|(place, it)| *place == worst || it.severity == Severity::None);
        let lost: Vec<Millis> = counted.filter_map(|(_, it)| Some(it.late?.1.time)).collect();
        let run_time = memory::run_time(app).filter(|whole| *whole > Millis::ZERO);
        let time: Millis = lost.iter().copied().sum();
        let time = run_time.map_or(time, |whole| time.min(whole));
        let together = LostTime { time, share: run_time.map(|whole| time.as_f64() / whole.as_f64()) };
        let Some(worst) = found.get_mut(worst).filter(|_| lost.len() > 1) else { return };
        let Some((read, of_worst)) = worst.late else { return };
        let (severity, limit) = self.by_time(together);
        if severity > worst.severity {
            (worst.severity, worst.limit) = (severity, limit);
            (worst.read, worst.lost) = (read, Some(of_worst));
            worst.together = Some((lost.len() as u64 - 1, together));
        }
    }

    /// The slowest task that takes longer because of what it reads; `None` also if its stage would lose too little to matter.
    /// A straggler with no more data than others may end after the skewed task.
    fn explained(&self, group: &TaskGroup, slowest: Times) -> Option<(Times, Read)> {
        let matters = |times: &Times| self.lost_time.severity(times.beyond().as_f64()) > Severity::None;
        if !matters(&slowest) {
            return None;
        }
        let reads = Reads::of(group);
        let least = Least { bytes: self.min_bytes.get(), records: self.min_records.get() };
        slowest.of_slow(group).into_iter().take_while(matters).find_map(|times| {
            let mut reads = reads.of_task(times.slowest, least).into_iter();
            Some((times, reads.find(|read| self.explains(*read, times))?))
        })
    }

    /// Whether the slowest task reads so much more than the others that this explains its time.
    fn explains(&self, read: Read, times: Times) -> bool {
        let enough = match read {
            Read::Bytes { .. } => self.min_bytes.get(),
            Read::Records { .. } => self.min_records.get(),
        };
        let ratio = read.ratio();
        let explained = (ratio - 1.0) / (times.ratio() - 1.0);
        read.value() >= enough && ratio >= self.data_ratio.get() && explained >= self.explained_share.get()
    }

    fn by_time(&self, lost: LostTime) -> (Severity, String) {
        let by_time = self.lost_time.severity(lost.time.as_f64());
        let by_share = lost.share.map_or(Severity::Critical, |share| self.lost_share.severity(share));
        let severity = by_time.min(by_share);
        let limits = [
            (by_time, self.lost_time.describe(severity)),
            (by_share, self.lost_share.describe_in(severity, percent)),
        ];
        (severity, decisive(severity, &limits))
    }

    /// The severity if little time is lost yet. Stages in which most tasks read nothing have few keys rather than a
    /// frequent one.
    fn by_data(&self, read: Read, most: Bytes) -> (Severity, String) {
        let by_ratio = self.uneven_ratio.severity(read.ratio());
        let by_share = self.uneven_share.severity(read.value() / most.as_f64());
        let severity = by_ratio.min(by_share);
        let matters = read.ratio().is_finite() && read.value() >= self.min_bytes.get();
        let limits = [
            (by_ratio, self.uneven_ratio.describe_in(severity, |ratio| format!("{}×", three_digits(ratio)))),
            (by_share, self.uneven_share.describe_in(severity, percent)),
        ];
        (if matters { severity } else { Severity::None }, decisive(severity, &limits))
    }
}

impl Skew {
    /// The condition that the data of a stage with uneven data matters to the application.
    fn share_of(&self, read: Read, most: Bytes, severity: Severity) -> Condition {
        let share = read.value() / most.as_f64();
        condition(
            (UNEVEN_RATIO, Measured::Bytes),
            ("share of the most data that a stage reads or writes", &percent(share)),
            &self.uneven_share.describe_in(severity, percent),
            self.uneven_share.severity(share) >= severity,
        )
    }
}

impl Found<'_> {
    fn lost_time(&self) -> Millis {
        self.lost.map(|lost| lost.time).unwrap_or_default()
    }

    fn judgement(&self, app: &Advised<'_>, spark: &Spark) -> Judgement {
        let ratio = self.read.ratio();
        let times = if ratio.is_finite() { three_digits(ratio) } else { String::new() };
        let (others, together) = self.together.unzip();
        let others = others.map(|others| plural(others, "other stage")).unwrap_or_default();
        let together = together.map(|LostTime { time, share }| {
            Phrase::new(TOGETHER, &[("time", &time), ("share", &share.map(percent).unwrap_or_default())])
        });
        let none = if ratio.is_finite() { "" } else { "while most tasks read none" };
        let share = self.lost.and_then(|lost| lost.share);
        let aside = if self.is_slowest { "" } else { "apart from slower tasks without more data" };
        Judgement::of(Subject::Stage(self.stage.id), self.severity)
            .tasks(self.tasks)
            .facts(self.evidence())
            .conditions(self.conditions.clone())
            .of_more_parts(self.together.is_some())
            .message(
                if self.lost.is_some() { LATE } else { UNEVEN },
                &[
                    ("stage", &label(self.stage)),
                    ("reads", &self.reads()),
                    ("times", &times),
                    ("none", &none),
                    ("median", &self.read.median()),
                    ("share", &share.map(percent).unwrap_or_default()),
                    ("aside", &aside),
                    ("others", &others),
                    ("together", &together.unwrap_or_default()),
                    ("limit", &self.limit),
                ],
            )
            .advice(|| against(app, spark, self.stage, self.skewed(app)))
    }

    fn reads(&self) -> Phrase {
        let template = match self.read {
            Read::Bytes { input: true, .. } => "reads {amount}",
            Read::Bytes { input: false, .. } => "reads {amount} of shuffle data",
            Read::Records { input: true, .. } => "reads {amount} records",
            Read::Records { input: false, .. } => "reads {amount} records of shuffle data",
        };
        Phrase::new(template, &[("amount", &self.read.amount())])
    }

    /// The data for advice, in bytes even if records explain the time.
    fn skewed(&self, app: &Application) -> Skewed {
        let input = self.read.is_input();
        let group = self.stage.group.and_then(|group| app.groups.get(group));
        let bytes = group.and_then(|group| uneven::bytes_of(group, self.times.slowest, input));
        let own = match self.read {
            Read::Bytes { largest, median, .. } => Some((largest, median)),
            Read::Records { .. } => None,
        };
        Skewed { input, bytes: own.or(bytes) }
    }

    fn evidence(&self) -> Vec<(&'static str, Measure)> {
        let ratio = Some(self.read.ratio()).filter(|ratio| ratio.is_finite());
        let mut evidence = match self.read {
            Read::Bytes { largest, median, .. } => vec![
                ("largest_read_bytes", Measure::Size(largest)),
                ("median_read_bytes", Measure::Size(median)),
            ],
            Read::Records { largest, median, .. } => vec![
                ("largest_records_count", Measure::Count(largest)),
                ("median_records_count", Measure::Count(median)),
            ],
        };
        evidence.extend([
            ("data_ratio", Measure::Ratio(ratio)),
            ("longest_run_time_ms", Measure::Time(self.times.longest)),
            ("median_run_time_ms", Measure::Time(self.times.median)),
        ]);
        if let Some(lost) = self.lost {
            evidence.push(("lost_ms", Measure::Time(lost.time)));
            evidence.push(("lost_ratio", Measure::Ratio(lost.share)));
        }
        if let Some((others, together)) = self.together {
            evidence.push(("skewed_stages_count", Measure::Count(others + 1)));
            evidence.push(("lost_together_ms", Measure::Time(together.time)));
            evidence.push(("lost_together_ratio", Measure::Ratio(together.share)));
        }
        evidence
    }
}

#[cfg(test)]
mod tests;
