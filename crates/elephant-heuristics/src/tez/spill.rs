//! `tez-mapper-spill`: map tasks write their output to disk more than once (Dr. Elephant
//! `tez.heuristics.MapperSpillHeuristic`).

use super::support::{Role, Tasks};
use crate::declare::tez as rule;
use crate::mapreduce::{MissingCounters, counter, four_decimals};
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::engine_facts::hadoop::LARGEST_SORT_BUFFER_MIB;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_rule::finding::{Advice, Judgement, Measure, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{change, grouped, limit};

rule_params! {
    /// Parameters of `tez-mapper-spill`.
    pub(super) struct Spill / SpillLayer {
        /// Whether only succeeded DAGs are judged. If false, failed and killed ones are judged by their succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Spilled records / output records. A ratio of 1 is normal.
        spill_ratio: Ascending<Ratio>,
        /// Number of map tasks.
        num_tasks: Ascending<Count>,
        /// Severity at most if records were spilled but none was written: the ratio has no value.
        without_output_at_most: Severity,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "master" }, "tez-mapper-spill", "Tez Mapper Spill", tells Spill, Spill, |layers, _| load(
        layers, Spilling
    ))
    .measured_by("spill_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str =
    "{tasks} spilled {spilled} records for {output} output records, a ratio of {each} ({limit})";

struct Spilling(Spill);

impl Check for Spilling {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let tasks = match Tasks::of(app, Role::Mapper, params.only_succeeded_jobs) {
            Ok(tasks) => tasks,
            Err(why) => return why.into(),
        };
        if let Some(verdict) = tasks.unreadable(app, &[Counter::SpilledRecords, Counter::MapOutputRecords]) {
            return verdict;
        }
        let (spilled, output) = match (sums(&tasks, params.missing_counters), params.missing_counters) {
            (Some(sums), _) => sums,
            (None, MissingCounters::Zero) => (0, 0),
            (None, MissingCounters::Unknown) => {
                return tasks.none_reports("SPILLED_RECORDS and OUTPUT_RECORDS").into();
            }
        };
        let ratio = if spilled == 0 { 0.0 } else { spilled as f64 / output as f64 };
        let total = tasks.total();
        let low = Severity::Low;
        let most = if ratio.is_finite() { Severity::Critical } else { params.without_output_at_most };
        let by_ratio = four_decimals(&params.spill_ratio, ratio).min(most);
        let conditions = [
            ("spill_ratio", by_ratio, params.spill_ratio.describe(low)),
            ("num_tasks", params.num_tasks.severity(total as f64), params.num_tasks.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let count = |n: i128| Measure::Count(u64::try_from(n).unwrap_or_default());
        let each = if ratio.is_finite() { format!("{ratio:.2}") } else { "infinity".to_owned() };
        Judgement::of(Role::Mapper.subject(), severity)
            .tasks(total)
            .fact("tasks_count", Measure::Count(total))
            .fact("spilled_records_count", count(spilled))
            .fact("output_records_count", count(output))
            .fact("spill_ratio", Measure::Ratio(ratio.is_finite().then_some(ratio)))
            .message(
                MESSAGE,
                &[
                    ("tasks", &Role::Mapper.count(total)),
                    ("spilled", &grouped(spilled)),
                    ("output", &grouped(output)),
                    ("each", &each),
                    ("limit", &limit(severity, params.spill_ratio.describe(severity), &conditions)),
                ],
            )
            .advice(|| advice(app, &tasks))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

/// The sums of spilled and of written records.
fn sums(tasks: &Tasks<'_>, missing: MissingCounters) -> Option<(i128, i128)> {
    let rows = tasks.winners().filter_map(|(group, row)| {
        let spilled = counter(group, row, Counter::SpilledRecords, missing)?;
        Some((i128::from(spilled), i128::from(counter(group, row, Counter::MapOutputRecords, missing)?)))
    });
    rows.reduce(|(spilled, output), (more, written)| (spilled + more, output + written))
}

/// A sort buffer that holds the output of the largest task at once, up to the largest that Tez allows: arrays of Java have
/// less than 2 GiB.
fn advice(app: &Application, tasks: &Tasks<'_>) -> Vec<Advice> {
    let largest = tasks.counters(Counter::MapOutputBytes, MissingCounters::Unknown).into_iter().max();
    let needed =
        largest.and_then(|bytes| u64::try_from(bytes).ok()).map(|bytes| bytes.div_ceil(Bytes::PER_MIB));
    let now = app.conf.mebibytes(ConfKey::TezSortMb).map(Bytes::whole_mib);
    let larger =
        needed.filter(|mib| (1..=LARGEST_SORT_BUFFER_MIB).contains(mib) && now.is_none_or(|now| *mib > now));
    let buffer = larger.map(|mib| {
        let buffer = change(app, ConfKey::TezSortMb, mib);
        Advice::new("if the heap has room, sort the output of a task at once").set([buffer]).conditional()
    });
    let less =
        "use smaller groups of splits (tez.grouping.max-size), or aggregate in the map tasks (hive.map.aggr)";
    buffer.into_iter().chain([Advice::new(less)]).collect()
}
