//! `spark-python-functions`: functions in Python that take a good part of a query.

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, Site, sites};
use crate::declare::spark as rule;
use elephant_base::units::Millis;
use elephant_catalogue::{Rule, load};
use elephant_model::model::counters::Counter;
use elephant_query::{Ground, OperatorKind, SqlCounter, TaskTime, name_of_operator, name_of_query};
use elephant_rule::finding::{Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Ratio};
use elephant_rule::params::rule_params;

rule_params! {
    /// Parameters of `spark-python-functions`.
    pub(super) struct PythonFunctions / PythonFunctionsLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-python-functions", "Spark Python Functions", tells Python, PythonFunctions, |layers, _| {
        load(layers, OnQueries::<PythonFunctions>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query}: {operator} kept tasks waiting for Python for {work_ms}, {work_ratio:%} of their time, with \
                       {sent_bytes} sent to Python; up to {lost_ms}, {lost_ratio:%} of the run time ({limit})";

/// The same if the size of what was sent is unknown.
const WITHOUT_SIZE: &str = "{query}: {operator} kept tasks waiting for Python for {work_ms}, {work_ratio:%} of their time; up \
                            to {lost_ms}, {lost_ratio:%} of the run time ({limit})";

/// For functions that get one row after the other.
const BY_ROW: &str = "use built-in functions of Spark SQL instead; or let Python work on many rows at once: a pandas function, \
                      or from Spark 3.5 on udf(useArrow=True)";
/// For functions that get many rows at once.
const BY_BATCH: &str =
    "use built-in functions of Spark SQL instead, or do in them what reduces rows before the Python function";

impl Judge for PythonFunctions {
    const FITS: &'static str = "no function in Python takes long";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let wanted = |kind| kind == OperatorKind::Python;
        sites(ground, wanted).filter_map(|site| self.judge_operator(site)).collect()
    }
}

impl PythonFunctions {
    fn judge_operator(&self, Site { ground, query, place, operator }: Site<'_, '_>) -> Option<Judgement> {
        // Before Spark 4, Python workers have no times of their own.
        let measured = ground.time_of(query, place);
        let cost = ground.cost(&measured).or_else(|| ground.cost(&waiting(ground, &operator.stages)))?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(cost.wall, ground.run_time)?;
        let sent = operator.bytes(SqlCounter::PythonBytesSent);
        let judged = loss
            .judgement(Some(&cost))
            .in_query(query.execution.id, Some(place))
            .facts(sent.map(|bytes| ("sent_bytes", Measure::Size(bytes))))
            .facts(operator.total(SqlCounter::OutputRows).map(|rows| ("rows_count", Measure::Count(rows))));
        let words: [(_, &dyn std::fmt::Display); 3] = [
            ("query", &name_of_query(query.execution)),
            ("operator", &name_of_operator(operator)),
            ("limit", &loss.limit),
        ];
        let template = if sent.is_some() { MESSAGE } else { WITHOUT_SIZE };
        let by_row = operator.name.starts_with("BatchEvalPython");
        Some(judged.message(template, &words).advice(|| vec![if by_row { BY_ROW } else { BY_BATCH }]))
    }
}

/// The time in which tasks of stages neither computed in the JVM nor waited for shuffle data: the most that Python, which
/// computes in processes of its own, may have taken.
fn waiting(ground: &Ground<'_>, stages: &[u32]) -> TaskTime {
    let mut time = TaskTime::default();
    for &place in stages {
        let group = ground.stage(place).and_then(|stage| ground.app.groups.get(stage.group?));
        let Some(attempts) = group.map(|group| &group.attempts) else { continue };
        let sum = |counter| attempts.sum(&[counter]);
        let Some((run, cpu)) = sum(Counter::ExecutorRunTime).zip(sum(Counter::CpuMilliseconds)) else {
            continue;
        };
        let other = [Counter::ShuffleFetchWaitTime, Counter::GcTimeMillis].into_iter().filter_map(sum);
        time.add(place, Millis::new(other.fold(run.saturating_sub(cpu), u64::saturating_sub)));
    }
    time
}
