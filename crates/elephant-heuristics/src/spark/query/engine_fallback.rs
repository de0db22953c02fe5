//! `spark-engine-fallback`: operators that ran in the JVM although a native engine was switched on.

use std::collections::{BTreeMap, BTreeSet};

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries};
use crate::declare::spark as rule;
use elephant_catalogue::{Rule, load};
use elephant_model::model::spark::NativeEngine;
use elephant_query::{Ground, Query, in_the_jvm, name_of_operator, name_of_query, transitions};
use elephant_rule::finding::{Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::plural;

rule_params! {
    /// Parameters of `spark-engine-fallback`.
    pub(super) struct EngineFallback / EngineFallbackLayer {
        /// Time of stages with operators in the JVM / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time of these stages.
        lost_time: Ascending<Duration>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-engine-fallback", "Spark Engine Fallback", tells Fallback, EngineFallback, |layers, _| {
        load(layers, OnQueries::<EngineFallback>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query}: {operators} ran in the JVM, not in {engine}[, with {transitions} between them]: {work_ms}, \
                       {work_ratio:%} of the tasks of their stages; at most {lost_ms}, {lost_ratio:%} of the run time[; {engine} \
                       gives as reasons: {reasons}] ({limit})";

/// How many operators and reasons a message names.
const NAMED: usize = 3;

impl Judge for EngineFallback {
    const FITS: &'static str = "no native engine is switched on, or it runs most of the work of queries";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let Some(engine) = NativeEngine::at_work(ground.app) else { return Vec::new() };
        ground.queries.iter().filter_map(|query| self.judge_query(ground, engine, query)).collect()
    }
}

impl EngineFallback {
    fn judge_query(&self, ground: &Ground<'_>, engine: NativeEngine, query: &Query<'_>) -> Option<Judgement> {
        let left = in_the_jvm(query);
        let cost = ground.cost(&ground.time_in_the_jvm(query))?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(cost.wall, ground.run_time)?;
        let converted = transitions(query) as u64;
        let judged = loss
            .judgement(Some(&cost))
            .fact("operators_count", Measure::Count(left.len() as u64))
            .fact("transitions_count", Measure::Count(converted));
        let told = Some(converted).filter(|count| *count > 0).map(|count| plural(count, "transition"));
        let words: [(_, &dyn std::fmt::Display); 6] = [
            ("query", &name_of_query(query.execution)),
            ("operators", &names(query, &left)),
            ("engine", &engine.name()),
            ("transitions", &told.unwrap_or_default()),
            ("reasons", &reasons(query)),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| vec![advice(engine)]))
    }
}

/// The operators, the most frequent names first: "`BatchEvalPython` of slow, 2 × Project".
fn names(query: &Query<'_>, places: &BTreeSet<usize>) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for operator in places.iter().filter_map(|&place| query.operators.get(place)) {
        *counts.entry(name_of_operator(operator)).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
    let more = counts.len().saturating_sub(NAMED);
    let shown = |(name, count): (String, usize)| if count > 1 { format!("{count} × {name}") } else { name };
    let mut names: Vec<String> = counts.into_iter().take(NAMED).map(shown).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

/// The reasons that the engine logged for the query, each once.
fn reasons(query: &Query<'_>) -> String {
    let mut told: Vec<String> = Vec::new();
    for fallback in &query.execution.fallbacks {
        let reason = format!("{}: {}", fallback.operator, fallback.reason);
        if !told.contains(&reason) {
            told.push(reason);
        }
    }
    let more = told.len().saturating_sub(NAMED);
    told.truncate(NAMED);
    if more > 0 {
        told.push(format!("{more} more"));
    }
    told.join("; ")
}

/// What brings operators back to an engine.
const fn advice(engine: NativeEngine) -> &'static str {
    match engine {
        NativeEngine::Photon => {
            "use what Photon runs: functions of Spark SQL instead of functions in Python or Scala, data frames instead of RDDs \
             and typed datasets, Delta or Parquet as format; the query profile names the reason for each operator"
        }
        NativeEngine::Rapids => {
            "set spark.rapids.sql.explain=NOT_ON_GPU: the driver's log then names the reason for each operator, and the setting \
             that allows it where results may differ (spark.rapids.sql.…enabled, …incompatibleOps.enabled)"
        }
        NativeEngine::Gluten => {
            "remove the reason that Gluten gives: another function, type or format; spark.gluten.sql.…fallback.threshold lets a \
             whole stage stay in the JVM where transitions cost more than the engine saves"
        }
        NativeEngine::Comet => {
            "set spark.comet.explainFallback.enabled=true: the driver's log then names the reason for each operator, and the \
             setting that allows it (spark.comet.exec.…enabled, spark.comet.expression.…)"
        }
        NativeEngine::Fabric => {
            "use what the engine runs: Parquet or Delta as format, functions of Spark SQL instead of functions in Python or \
             Scala; the Spark UI shows which operators fell back"
        }
    }
}
