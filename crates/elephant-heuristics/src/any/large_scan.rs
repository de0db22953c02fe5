//! `large-scan`: very many rows are read (Compass, `LargeTableScan`).

use crate::declare::any as rule;
use elephant_analysis::metrics::run_time;
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_base::whole::Whole as _;
use elephant_catalogue::{Check, Rule, Shared, load};
use elephant_model::model::counters::{Counter, CounterSet};
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, Engine};
use elephant_query::{Ground, OperatorKind, SqlCounter, name_of_query, name_of_source};
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{grouped, limit};

rule_params! {
    /// Parameters of `large-scan`.
    pub(super) struct LargeScan / LargeScanLayer {
        /// Rows that a scan of a query of Spark reads.
        spark_rows: Ascending<Count>,
        /// Rows that the map tasks of a MapReduce job, or Hive in a DAG of Tez, read.
        hive_rows: Ascending<Count>,
        /// Run time of the application. A scan in a short one was no burden.
        run_time: Ascending<Duration>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "large-scan", "Large Scan", tells Scan, LargeScan, |layers, _| load(layers, Scans))
        .measured_by("rows_count", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "{reader} reads {rows} rows[ of {source}], in a run of {run_time_ms} ({limit})";

struct Scans(LargeScan);

/// The largest scan.
struct Scan {
    rows: u64,
    reader: String,
    source: String,
    /// The query and the place of the operator in its plan.
    in_query: Option<(u64, usize)>,
}

impl Check for Scans {
    fn check(&self, app: &Application) -> Verdict {
        self.check_among(app, &Shared::of(app))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        let scan = match app.engine {
            Engine::Spark => shared.queries().and_then(of_queries),
            Engine::MapReduce | Engine::Tez => of_job(app),
        };
        let Some(scan) = scan else { return Verdict::NotApplicable };
        let Some(time) = run_time(app) else {
            return Verdict::NotEvaluated("the run time is unknown".to_owned());
        };
        self.judge(app, &scan, time).into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks, Facet::Stages, Facet::Jobs]
    }
}

impl Scans {
    fn judge(&self, app: &Application, scan: &Scan, time: Millis) -> Judgement {
        let Self(params) = self;
        let (key, rows) = match app.engine {
            Engine::Spark => ("spark_rows", &params.spark_rows),
            Engine::MapReduce | Engine::Tez => ("hive_rows", &params.hive_rows),
        };
        let show = |rows: f64| format!("{} rows", grouped(rows.as_i128()));
        let low = Severity::Low;
        let conditions = [
            (key, rows.severity(scan.rows as f64), rows.describe_in(low, show)),
            ("run_time", params.run_time.severity(time.as_f64()), params.run_time.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let judged = Judgement::of(Subject::Application, severity)
            .fact("rows_count", Measure::Count(scan.rows))
            .fact("run_time_ms", Measure::Time(time));
        let judged = match scan.in_query {
            Some((query, place)) => judged.in_query(query, Some(place)),
            None => judged,
        };
        judged
            .message(
                MESSAGE,
                &[
                    ("reader", &scan.reader),
                    ("rows", &grouped(i128::from(scan.rows))),
                    ("source", &scan.source),
                    ("limit", &limit(severity, rows.describe_in(severity, show), &conditions)),
                ],
            )
            .advice(|| {
                vec![Advice::new(
                    "read less: a condition on the partition columns, fewer days, or a table that holds what changed or is \
                     already aggregated",
)]
            })
    }
}

/// The scan with most rows among the queries that cost most; the first one of equal scans.
fn of_queries(ground: &Ground<'_>) -> Option<Scan> {
    let scans = ground.queries.iter().flat_map(|query| {
        let operators = query.operators.iter().enumerate();
        let scans = operators.filter(|(_, operator)| operator.kind == OperatorKind::Scan);
        scans.filter_map(move |(place, scan)| Some((scan.total(SqlCounter::OutputRows)?, query, place, scan)))
    });
    let largest = scans.reduce(|most, next| if next.0 > most.0 { next } else { most });
    largest.map(|(rows, query, place, operator)| Scan {
        rows,
        reader: name_of_query(query.execution),
        source: name_of_source(operator),
        in_query: Some((query.execution.id, place)),
    })
}

/// What Hive counts, or else the map tasks: with vectors, Hive reads a thousand rows as one record of a map task.
fn of_job(app: &Application) -> Option<Scan> {
    let hive = app.counters.total.as_ref().and_then(|counters| of_hive(app, counters));
    let rows = hive.max(of_maps(app))?;
    Some(Scan { rows, reader: "the job".to_owned(), source: String::new(), in_query: None })
}

/// `RECORDS_IN`, on Tez `RECORDS_IN_Map_1` for each vertex, in the group of Hive's counters.
fn of_hive(app: &Application, counters: &CounterSet) -> Option<u64> {
    let group = app.strings.find("HIVE")?;
    let of_scans = counters.others.iter().filter(|counter| counter.group == group);
    let rows = of_scans.filter_map(|counter| {
        let name = app.strings.get(counter.name)?;
        let is_scan = name == "RECORDS_IN" || name.starts_with("RECORDS_IN_Map");
        u64::try_from(counter.value).ok().filter(|_| is_scan)
    });
    rows.fold(None, |sum: Option<u64>, rows| Some(sum.unwrap_or_default().saturating_add(rows)))
}

fn of_maps(app: &Application) -> Option<u64> {
    if app.engine != Engine::MapReduce {
        return None;
    }
    let group = app.group(TaskKind::Map)?;
    let rows = group.winners().filter_map(|row| group.attempts.count(row, Counter::MapInputRecords));
    rows.fold(None, |sum: Option<u64>, rows| Some(sum.unwrap_or_default().saturating_add(rows)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::counters::OtherCounter;

    /// A job of an hour whose map tasks read these records.
    fn job(records: &[i64]) -> Application {
        let mut group = elephant_sample::maps(&vec![(60, 64); records.len()]);
        for (row, records) in records.iter().enumerate() {
            group.attempts.set_counter(row, Counter::MapInputRecords, Some(*records));
        }
        elephant_sample::job(vec![group], &[])
    }

    fn count(app: &mut Application, group: &str, name: &str, value: i64) {
        let (group, name) = (app.strings.intern(group).unwrap(), app.strings.intern(name).unwrap());
        app.counters.total.get_or_insert_default().others.push(OtherCounter { group, name, value });
    }

    fn told(app: &Application) -> Option<(Severity, String)> {
        let found = elephant_sample::evaluate_with(app, RULE.id, "enabled: true").findings;
        found.into_iter().next().map(|found| (found.severity, found.message))
    }

    #[test]
    fn five_billion_rows_are_many() {
        let (severity, message) = told(&job(&[2_500_000_000, 2_500_000_000])).unwrap();
        assert_eq!(severity, Severity::Low);
        assert_eq!(message, "the job reads 5,000,000,000 rows, in a run of 1h (low from 5,000,000,000 rows)");
        assert_eq!(told(&job(&[2_500_000_000, 2_499_999_999])).unwrap().0, Severity::None);
    }

    #[test]
    fn hive_counts_rows_that_map_tasks_count_as_vectors() {
        let mut app = job(&[5_000_000]);
        count(&mut app, "HIVE", "RECORDS_OUT_0", 90_000_000_000);
        count(&mut app, "mine", "RECORDS_IN", 90_000_000_000);
        count(&mut app, "HIVE", "RECORDS_IN", -1);
        assert_eq!(of_job(&app).unwrap().rows, 5_000_000);
        count(&mut app, "HIVE", "RECORDS_IN_Map_1", 4_000_000_000);
        count(&mut app, "HIVE", "RECORDS_IN_Map_2", 2_000_000_000);
        assert_eq!(of_job(&app).unwrap().rows, 6_000_000_000);
        assert_eq!(told(&app).unwrap().0, Severity::Low);
    }

    #[test]
    fn short_runs_and_runs_without_rows_are_not_judged() {
        let mut short = job(&[9_000_000_000]);
        short.finished_at = Some(Timestamp::from_millis(600_000));
        assert_eq!(told(&short).unwrap().0, Severity::None);
        assert_eq!(told(&elephant_sample::job(vec![elephant_sample::maps(&[(60, 64)])], &[])), None);
        assert_eq!(told(&elephant_sample::job(Vec::new(), &[])), None);
        assert_eq!(told(&elephant_sample::app(&[])), None);
        assert_eq!(of_maps(&job(&[1 << 40; 3])), Some(3 << 40));
    }
}
