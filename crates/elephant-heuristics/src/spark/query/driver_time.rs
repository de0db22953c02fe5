//! `spark-driver-time`: time in which no job ran: the driver planned, collected, committed, or ran the user's own code.

use super::commit::{Commit, writes};
use super::loss::Limits;
use super::on_queries::{Judge, OnQueries};
use crate::declare::spark as rule;
use crate::spark::support::by_design::Waits;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_catalogue::{Rule, load};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Facet, Job, Spark, SqlExecution};
use elephant_query::{Ground, name_of_query};
use elephant_rule::finding::{Advice, Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio, Size};
use elephant_rule::params::rule_params;

rule_params! {
    /// Parameters of `spark-driver-time`.
    pub(super) struct DriverTime / DriverTimeLayer {
        /// Time of one kind without a job / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time of one kind without a job.
        lost_time: Ascending<Duration>,
        /// In this time after its start, an application does not plan its first query for long: it loads classes.
        start_up: Quantity<Duration>,
        /// A job whose tasks return at least this much collects its rows.
        large_result: Quantity<Size>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-driver-time", "Spark Driver Time", tells DriverTime, DriverTime, |layers, _| {
        load(layers, OnQueries::<DriverTime>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "no job ran for {driver_ms}, {lost_ratio:%} of the run time, while the driver {what}[ {how}]; the \
                       longest time, {longest_ms}, {place} ({limit})";

/// What a driver does while no job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doing {
    /// Receives the rows of a query.
    Collecting,
    /// Plans a query: from its start to its first job.
    Planning,
    /// Ends a query that writes: from its last job to its end.
    Committing,
    /// Ends another query.
    Ending,
    /// Runs code between queries.
    OwnCode,
}

impl Doing {
    const ALL: [Self; 5] = [Self::Collecting, Self::Planning, Self::Committing, Self::Ending, Self::OwnCode];

    const fn words(self) -> &'static str {
        match self {
            Self::Collecting => "took in the rows of a job",
            Self::Planning => "planned queries",
            Self::Committing => "committed what queries wrote",
            Self::Ending => "ended queries that write nothing",
            Self::OwnCode => "ran code of its own, or waited for something else",
        }
    }

    fn advice(self, commit: &Commit) -> Vec<Advice> {
        let text = match self {
            Self::Committing => return commit.advice(),
            Self::Collecting => {
                "collect less: aggregate, filter or limit in Spark before collect() or toPandas(), or write the rows to files"
            }
            Self::Planning => {
                "list fewer files and partitions: filter on the columns of partitions, use a table with statistics, and give \
                 each query fewer columns and steps, such as by a checkpoint in a loop"
            }
            Self::Ending => {
                "look at what follows the last job of these queries: rows that the driver takes in, listeners, calls to a \
                 metastore"
            }
            Self::OwnCode => {
                "look at what the program does between these jobs: do it in Spark, do it while a job runs, or run it before \
                 executors are held"
            }
        };
        vec![text.into()]
    }
}

/// A span without a job.
struct Span<'a> {
    doing: Doing,
    time: Millis,
    /// The job whose end began it, and the one whose start ended it.
    before: Option<&'a Job>,
    after: Option<&'a Job>,
    /// The query in which it lies, or after which it begins.
    query: Option<&'a SqlExecution>,
    /// What the tasks of the job before returned.
    returned: Option<Bytes>,
}

impl Judge for DriverTime {
    const RESTS_ON: &'static [Facet] = &[Facet::Jobs, Facet::End];
    const FITS: &'static str = "the driver does not work alone for long, or waits by design";

    fn applies(_: &Spark) -> bool {
        true
    }

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        if Waits::of(ground.app, ground.spark).is_some() {
            return Vec::new();
        }
        let spans = self.spans(ground).unwrap_or_default();
        let of = |doing: Doing| spans.iter().filter(|span| span.doing == doing).collect::<Vec<_>>();
        Doing::ALL.into_iter().filter_map(|doing| self.judge_kind(ground, doing, &of(doing))).collect()
    }
}

impl DriverTime {
    fn judge_kind(&self, ground: &Ground<'_>, doing: Doing, spans: &[&Span<'_>]) -> Option<Judgement> {
        let time: Millis = spans.iter().map(|span| span.time).sum();
        let longest = spans.iter().max_by_key(|span| span.time)?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(time, ground.run_time)?;
        let judged = loss
            .judgement(None)
            .fact("driver_ms", Measure::Time(time))
            .fact("longest_ms", Measure::Time(longest.time))
            .fact("pauses_count", Measure::Count(spans.len() as u64))
            .facts(longest.returned.map(|bytes| ("returned_bytes", Measure::Size(bytes))));
        let judged = match longest.query {
            Some(query) => judged.in_query(query.id, None),
            None => judged,
        };
        let commit = Commit::of(ground.app, longest.query);
        let how = commit.words().filter(|_| doing == Doing::Committing);
        let words: [(_, &dyn std::fmt::Display); 4] = [
            ("what", &doing.words()),
            ("how", &how.unwrap_or_default()),
            ("place", &place(longest)),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| doing.advice(&commit)))
    }

    /// The time without a job, span by span; `None` if there is no job, or if the time of one is unknown.
    fn spans<'a>(&self, ground: &Ground<'a>) -> Option<Vec<Span<'a>>> {
        let (start, end) = (ground.app.submitted_at?, ground.app.finished_at?);
        let mut jobs: Vec<(Timestamp, Timestamp, &Job)> = Vec::new();
        for job in &ground.spark.jobs {
            jobs.push((job.submitted_at?, job.completed_at?, job));
        }
        jobs.sort_by_key(|(from, to, job)| (*from, *to, job.id));
        let mut spans = Vec::new();
        let start_up = Millis::from_f64(self.start_up.get()).unwrap_or_default();
        // Before the first query, the application starts, or waits for resources.
        let &(first, _, job) = jobs.first()?;
        let planned = job.sql_execution.and_then(|id| ground.spark.query(id)?.started_at);
        let mut free = planned.map_or(first, |at| at.max(start + start_up)).min(first);
        let mut before: Option<&Job> = None;
        for &(from, to, job) in &jobs {
            self.add_span(ground, (free, from), (before, Some(job)), &mut spans);
            if to >= free {
                (free, before) = (to, Some(job));
            }
        }
        self.add_span(ground, (free, end), (before, None), &mut spans);
        Some(spans)
    }

    /// Divides a span without a job by the queries that end or begin in it.
    fn add_span<'a>(
        &self,
        ground: &Ground<'a>,
        (from, to): (Timestamp, Timestamp),
        (before, after): (Option<&'a Job>, Option<&'a Job>),
        spans: &mut Vec<Span<'a>>,
    ) {
        if to <= from {
            return;
        }
        let query = |job: Option<&Job>| ground.spark.query(job?.sql_execution?);
        let (of_before, of_after) = (query(before), query(after));
        let returned = before.and_then(|job| returned(ground, job));
        let collects = returned.is_some_and(|bytes| bytes.as_f64() >= self.large_result.get());
        let ended = of_before.and_then(|query| query.finished_at).map_or(from, |at| at.clamp(from, to));
        let began = of_after.and_then(|query| query.started_at).map_or(to, |at| at.clamp(ended, to));
        let same = of_before.zip(of_after).is_some_and(|(one, other)| one.id == other.id);
        let mut add = |doing, from, to, query| {
            let time = Millis::between(from, to).filter(|time| *time > Millis::ZERO);
            spans.extend(time.map(|time| Span { doing, time, before, after, query, returned }));
        };
        let unless_collecting = |doing| if collects { Doing::Collecting } else { doing };
        if same {
            return add(unless_collecting(Doing::Planning), from, to, of_before);
        }
        let is_written = of_before.is_some_and(writes);
        let ending = if is_written { Doing::Committing } else { unless_collecting(Doing::Ending) };
        add(ending, from, ended, of_before);
        add(unless_collecting(Doing::OwnCode), ended, began, of_before);
        add(Doing::Planning, began, to, of_after);
    }
}

/// What the tasks of a job's last stage returned to the driver.
fn returned(ground: &Ground<'_>, job: &Job) -> Option<Bytes> {
    let last = ground.spark.attempts_of(*job.stages.last()?).last()?;
    let attempts = &ground.app.groups.get(last.group?)?.attempts;
    attempts.sum(&[Counter::ResultSize]).map(Bytes::new)
}

/// Where the longest span lies: "between job 6 (query 21 "work", whose tasks returned 45.2 MiB) and job 7".
fn place(span: &Span<'_>) -> String {
    let returned = span.returned.filter(|_| span.doing == Doing::Collecting);
    let of_job = |job: &Job| {
        let query = span.query.map(name_of_query).unwrap_or_default();
        let told = returned.map(|bytes| format!("whose tasks returned {bytes}"));
        let about: Vec<String> =
            [Some(query).filter(|query| !query.is_empty()), told].into_iter().flatten().collect();
        if about.is_empty() {
            format!("job {}", job.id)
        } else {
            format!("job {} ({})", job.id, about.join(", "))
        }
    };
    match (span.doing, span.before, span.after) {
        (Doing::Planning, _, Some(after)) => format!("before {}", of_job(after)),
        (_, Some(before), Some(after)) => format!("between {} and job {}", of_job(before), after.id),
        (_, Some(before), None) => format!("after the last job, {}", of_job(before)),
        (_, None, _) => "before the first job".to_owned(),
    }
}
