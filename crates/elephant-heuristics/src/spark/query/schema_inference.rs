//! `spark-schema-inference`: jobs that only find out which files and columns there are.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries};
use crate::declare::spark as rule;
use elephant_base::units::{Millis, Timestamp};
use elephant_catalogue::{Rule, load};
use elephant_model::engine_facts::spark::CALL_THROUGH_REFLECTION;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Facet, Job, Spark, Stage, StageAttempt, without_folders};
use elephant_query::{Cost, Ground, OperatorKind, Purpose, name_of_source};
use elephant_rule::finding::{Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::plural;

rule_params! {
    /// Parameters of `spark-schema-inference`.
    pub(super) struct SchemaInference / SchemaInferenceLayer {
        /// Time of these jobs / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time of these jobs.
        lost_time: Ascending<Duration>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-schema-inference", "Spark Schema Inference", tells Schema, SchemaInference, |layers, _| {
        load(layers, OnQueries::<SchemaInference>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{jobs} only {what}[ of {paths}][, called by {call}]: {lost_ms}, {lost_ratio:%} of the run time, before \
                       queries read anything ({limit})";

/// How many paths a message names.
const NAMED: usize = 3;

/// What such a job is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    Columns,
    Files,
}

impl Looks {
    const ALL: [Self; 2] = [Self::Columns, Self::Files];

    fn of(purpose: Purpose) -> Option<Self> {
        match purpose {
            Purpose::SchemaInference => Some(Self::Columns),
            Purpose::FileListing => Some(Self::Files),
            _ => None,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Columns => "looked for the columns",
            Self::Files => "listed the files",
        }
    }

    const fn advice(self) -> &'static str {
        match self {
            Self::Columns => {
                "give the reader its columns (spark.read.schema(…)) or read a table of the catalogue: then no file is opened for \
                 them; leave out inferSchema for CSV and JSON and mergeSchema for Parquet in runs that repeat"
            }
            Self::Files => {
                "read a table whose partitions the catalogue knows, or a table format with its own list of files (Delta Lake, \
                 Iceberg), or fewer paths; read each path once and reuse the data frame"
            }
        }
    }
}

impl Judge for SchemaInference {
    const RESTS_ON: &'static [Facet] = &[Facet::Stages, Facet::Jobs];
    const FITS: &'static str = "looking for files and columns does not take long";

    fn applies(spark: &Spark) -> bool {
        !spark.jobs.is_empty()
    }

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let looks = |stage: &Stage| Looks::of(Purpose::of(ground.app, ground.spark, stage));
        let found: Vec<(Looks, &Stage)> =
            ground.spark.stages.iter().filter_map(|stage| Some((looks(stage)?, stage))).collect();
        let of =
            |wanted: Looks| found.iter().filter(move |(looks, _)| *looks == wanted).map(|(_, stage)| *stage);
        Looks::ALL
            .into_iter()
            .filter_map(|looks| self.judge_kind(ground, looks, &of(looks).collect::<Vec<_>>()))
            .collect()
    }
}

impl SchemaInference {
    fn judge_kind(&self, ground: &Ground<'_>, looks: Looks, stages: &[&Stage]) -> Option<Judgement> {
        let spark = ground.spark;
        let jobs: BTreeSet<usize> = stages.iter().filter_map(|stage| stage.job).collect();
        let jobs: Vec<&Job> = jobs.into_iter().filter_map(|place| spark.jobs.get(place)).collect();
        let wall =
            together(jobs.iter().filter_map(|job| Some((job.submitted_at?, job.completed_at?))).collect());
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(wall.min(ground.run_time), ground.run_time)?;
        let cost = cost(ground, stages, loss.time);
        let judged = loss
            .judgement(Some(&cost))
            .fact("jobs_count", Measure::Count(jobs.len() as u64))
            .fact("stages_count", Measure::Count(stages.len() as u64));
        let words: [(_, &dyn std::fmt::Display); 5] = [
            ("jobs", &plural(jobs.len() as u64, "job")),
            ("what", &looks.words()),
            ("paths", &paths(ground, looks, &jobs)),
            ("call", &call(stages, &cost)),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| vec![looks.advice()]))
    }
}

/// The time in which at least one of these spans lies.
fn together(mut spans: Vec<(Timestamp, Timestamp)>) -> Millis {
    spans.sort_unstable();
    let mut until = None;
    let mut time = Millis::ZERO;
    for (from, to) in spans {
        let from = until.map_or(from, |until: Timestamp| from.max(until));
        time = time + Millis::between(from, to).unwrap_or_default();
        until = until.max(Some(to));
    }
    time
}

/// All work of these stages, the longest first.
fn cost(ground: &Ground<'_>, stages: &[&Stage], wall: Millis) -> Cost {
    let time = |stage: &Stage| {
        let attempts = &ground.app.groups.get(stage.group?)?.attempts;
        attempts.sum(&[Counter::ExecutorRunTime])
    };
    let mut timed: Vec<(Reverse<u64>, StageAttempt)> =
        stages.iter().map(|stage| (Reverse(time(stage).unwrap_or_default()), stage.id)).collect();
    timed.sort_unstable();
    let tasks = timed.iter().map(|(Reverse(time), _)| Millis::new(*time)).sum();
    Cost { tasks, share: 1.0, wall, stages: timed.into_iter().map(|(_, id)| id).collect() }
}

/// Where the longest stage was called: "load at Sales.scala:12", or the method of Spark if only the call through Python is known.
fn call(stages: &[&Stage], cost: &Cost) -> String {
    let longest = cost.stages.first().and_then(|id| stages.iter().find(|stage| stage.id == *id));
    let name = longest
        .and_then(|stage| stage.name.as_deref())
        .filter(|name| !name.contains(CALL_THROUGH_REFLECTION));
    let method = || {
        let call = longest?.first_call.as_deref()?.split('(').next()?;
        let mut parts = call.rsplit('.');
        let (method, class) = (parts.next()?, parts.next()?);
        Some(format!("{class}.{method}"))
    };
    name.map(without_folders).or_else(method).unwrap_or_default()
}

/// The paths: those that a listing names, or those that queries read without a table after a schema was looked for.
fn paths(ground: &Ground<'_>, looks: Looks, jobs: &[&Job]) -> String {
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !found.contains(&name) {
            found.push(name);
        }
    };
    if looks == Looks::Files {
        // "Listing leaf files and directories for 200 paths:<br/>file:/a, ...".
        let told = jobs.iter().filter_map(|job| job.description.as_deref()?.split_once("paths:"));
        told.for_each(|(_, paths)| {
            let paths = paths.trim_start_matches("<br/>").trim();
            if let Some(first) = paths.split(", ").next().filter(|first| !first.is_empty()) {
                add(first.to_owned());
            }
        });
    } else {
        let begin = jobs.iter().filter_map(|job| job.submitted_at).min();
        let later = ground.queries.iter().filter(|query| query.execution.started_at >= begin);
        let scans = later.flat_map(|query| &query.operators).filter(|it| it.kind == OperatorKind::Scan);
        // The files of a table of the catalogue are in another kind of index.
        let of_files = |location: &str| location.starts_with("InMemoryFileIndex");
        scans
            .filter(|scan| scan.fact("Location").is_some_and(of_files))
            .for_each(|scan| add(name_of_source(scan)));
    }
    let more = found.len() > NAMED;
    found.truncate(NAMED);
    let names = found.join(", ");
    if more { format!("{names} and others") } else { names }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_at_the_same_time_count_once() {
        let span = |from, to| (Timestamp::from_millis(from), Timestamp::from_millis(to));
        assert_eq!(together(vec![span(10, 20), span(0, 15), span(30, 40), span(32, 35)]), Millis::new(30));
        assert_eq!(together(Vec::new()), Millis::ZERO);
    }

    #[test]
    fn calls_through_python_are_named_by_their_method() {
        let mut stage = Stage::new(StageAttempt { stage: 3, attempt: 0 });
        stage.first_call =
            Some("org.apache.spark.sql.classic.DataFrameReader.load(DataFrameReader.scala:186)".into());
        let cost = Cost { tasks: Millis::ZERO, share: 1.0, wall: Millis::ZERO, stages: vec![stage.id] };
        stage.name = Some("load at NativeMethodAccessorImpl.java:0".into());
        assert_eq!(call(&[&stage], &cost), "DataFrameReader.load");
        stage.name = Some("load at Sales.scala:12".into());
        assert_eq!(call(&[&stage], &cost), "load at Sales.scala:12");
        assert_eq!(call(&[], &cost), "");
    }
}
