//! `mapper-spill`: map output is written to disk more than once (Dr. Elephant `MapperSpillHeuristic`).

mod on_disk;

use std::sync::Arc;

use on_disk::OnDisk;

use super::support::counters::{MissingCounters, counter, is_unreadable, unreadable};
use super::support::heap::Heap;
use super::support::role::Role;
use super::support::sort_buffer::{SortBuffer, is_too_large, largest_output};
use super::support::tasks::{no_task_reports, tasks, without_tasks};
use crate::declare::mapreduce as rule;
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskGroup;
use elephant_rule::finding::{Advice, Judgement, Measure, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Ratio, Size};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{change, grouped, limit};

rule_params! {
    /// Parameters of `mapper-spill`.
    pub(super) struct MapperSpill / MapperSpillLayer {
        /// Whether only succeeded jobs are judged. If false, failed and killed jobs are judged by their
        /// succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Spilled records / map output records. A ratio of 1 is normal.
        spill_ratio: Ascending<Ratio>,
        /// Bytes that all map tasks spilled beyond their output: each record counts as often as it was written more
        /// than once.
        spilled_again: Ascending<Size>,
        /// Number of map tasks.
        num_tasks: Ascending<Count>,
        /// (Bytes that map tasks wrote to local disks - bytes of their output) / bytes of their output, whatever the
        /// conditions above.
        written_again: Ascending<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "master" }, "mapper-spill", "Mapper Spill", tells Spill, MapperSpill, |layers, advice| load_advised(
        layers, advice, Spilling
    ))
    .measured_by("spill_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "{maps} spilled {spilled} records for {output} output records, a ratio of {each}[ ({limit})][; {on_disk}]";

struct Spilling(MapperSpill, Arc<AdviceParams>);

impl MapperSpill {
    /// The severity that the bytes spilled again allow. If they are unknown, it is low: records alone do not show the
    /// cost.
    fn by_bytes(&self, again: Option<f64>) -> Severity {
        let at_least = || self.spilled_again.severity(0.0).max(Severity::Low);
        again.map_or_else(at_least, |bytes| self.spilled_again.severity(bytes))
    }
}

impl Check for Spilling {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let Some(group) = tasks(app, Role::Map.kind(), params.only_succeeded_jobs) else {
            return without_tasks(app, Role::Map.kind(), params.only_succeeded_jobs);
        };
        if let Some(reason) =
            unreadable(app, Role::Map.kind(), &[Counter::SpilledRecords, Counter::MapOutputRecords])
        {
            return Verdict::NotEvaluated(reason);
        }
        let missing = params.missing_counters;
        let (spilled, output) = match (sums(group, missing), missing) {
            (Some(sums), _) => sums,
            (None, MissingCounters::Zero) => (0, 0),
            (None, MissingCounters::Unknown) => {
                let what = "SPILLED_RECORDS and MAP_OUTPUT_RECORDS";
                return Verdict::NotEvaluated(no_task_reports(Role::Map, group, what));
            }
        };
        let ratio = if spilled == 0 { 0.0 } else { spilled as f64 / output as f64 };
        let total = group.tasks.len() as u64;
        let low = Severity::Low;
        let again = spilled_again(group, ratio);
        let conditions = [
            ("spill_ratio", four_decimals(&params.spill_ratio, ratio), params.spill_ratio.describe(low)),
            ("spilled_again", params.by_bytes(again), params.spilled_again.describe(low)),
            ("num_tasks", params.num_tasks.severity(total as f64), params.num_tasks.describe(low)),
        ];
        let by_spills = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let on_disk = OnDisk::of(app, group, &params.written_again).filter(|it| it.severity > by_spills);
        let severity = on_disk.as_ref().map_or(by_spills, |it| it.severity);
        // Only the condition that decides has its limit.
        let of_spills = limit(by_spills, params.spill_ratio.describe(by_spills), &conditions);
        let of_spills = if on_disk.is_some() { String::new() } else { of_spills };
        let count = |n: i128| Measure::Count(u64::try_from(n).unwrap_or(u64::MAX));
        let each = if ratio.is_finite() { format!("{ratio:.2}") } else { "infinity".to_owned() };
        Judgement::of(Role::Map.subject(), severity)
            .tasks(total)
            .fact("tasks_count", Measure::Count(total))
            .fact("spilled_records_count", count(spilled))
            .fact("output_records_count", count(output))
            .fact("spill_ratio", Measure::Ratio(ratio.is_finite().then_some(ratio)))
            .facts(again.and_then(Bytes::from_f64).map(|bytes| ("spilled_again_bytes", Measure::Size(bytes))))
            .message(
                MESSAGE,
                &[
                    ("maps", &Role::Map.count(total)),
                    ("spilled", &grouped(spilled)),
                    ("output", &grouped(output)),
                    ("each", &each),
                    ("limit", &of_spills),
                    ("on_disk", &on_disk.map(|it| it.words).unwrap_or_default()),
                ],
            )
            .advice(|| advice(app, group))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

/// The records spilled and those of the output, of the tasks that report both.
fn sums(group: &TaskGroup, missing: MissingCounters) -> Option<(i128, i128)> {
    let both = group.winners().filter_map(|row| {
        let spilled = counter(group, row, Counter::SpilledRecords, missing)?;
        Some((spilled, counter(group, row, Counter::MapOutputRecords, missing)?))
    });
    both.fold(None, |sum: Option<(i128, i128)>, (spilled, output)| {
        let (s, o) = sum.unwrap_or_default();
        Some((s + i128::from(spilled), o + i128::from(output)))
    })
}

/// The bytes of records that were written more than once, by the mean size of an output record.
fn spilled_again(group: &TaskGroup, ratio: f64) -> Option<f64> {
    let output = group.winners().filter_map(|row| group.attempts.count(row, Counter::MapOutputBytes));
    let output = output.fold(None, |sum: Option<f64>, bytes| Some(sum.unwrap_or_default() + bytes as f64));
    let known = output.filter(|_| !is_unreadable(group, &[Counter::MapOutputBytes]) && ratio.is_finite());
    known.map(|output| output * (ratio - 1.0).max(0.0))
}

/// Dr. Elephant compares four decimals; both values are truncated.
pub(crate) fn four_decimals(cutoffs: &Ascending<Ratio>, ratio: f64) -> Severity {
    let values = cutoffs.values();
    let passed = |cutoff: f64| (ratio * 10_000.0).trunc() >= (cutoff * 10_000.0).trunc();
    match values {
        None => Severity::Critical,
        Some(values) => {
            // Cut-offs rise, so the passed ones come first.
            let count = values.into_iter().take_while(|&cutoff| passed(cutoff)).count();
            Severity::ALL.into_iter().nth(count).unwrap_or_default()
        }
    }
}

/// Advises a sort buffer that holds the output of the largest map task at once, with a heap and a container that hold
/// the buffer.
fn advice(app: &Advised<'_>, group: &TaskGroup) -> Vec<Advice> {
    let heap = Heap::of(app, Role::Map, group);
    let mut advice = Vec::new();
    if let Some(sort) = heap.sort.or_else(|| SortBuffer::for_output(app, group)) {
        let changes = [sort.change(app)].into_iter().chain(heap.growth(app));
        let needed = format!(" (the largest map output needs {})", sort.needed);
        let buffer = Advice::new("avoid repeated spills").set_for_first(changes).and(&needed);
        advice.push(if heap.holds(sort) {
            buffer
        } else {
            let more = format!(", if the heap and the container have room for {} more", sort.more());
            buffer.and(&more).conditional()
        });
    }
    if largest_output(app, group).is_some_and(is_too_large) {
        advice.push(
            "the largest output exceeds the maximum sort buffer: use smaller splits, or reduce the output with a combiner"
                .into(),
        );
    }
    if app.conf.flag(ConfKey::MapOutputCompress) != Some(true) {
        let compress = change(app, ConfKey::MapOutputCompress, true);
        advice.push(Advice::new("make each spill smaller").set([compress]));
    }
    if advice.is_empty() {
        advice.push(
            "the sort buffer is large enough for the map output: look for records that are far larger than others, \
             and for a combiner that does not reduce its input"
                .into(),
        );
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = RULE.id;

    /// This many map tasks that each wrote three times their output, with this many MiB of output if it is known.
    fn spilling(maps: usize, output: Option<i64>) -> Application {
        let mut group = elephant_sample::maps(&vec![(60, 64); maps]);
        for row in 0..maps {
            group.attempts.set_counter(row, Counter::SpilledRecords, Some(3_000_000));
            group.attempts.set_counter(row, Counter::MapOutputRecords, Some(1_000_000));
            group.attempts.set_counter(row, Counter::MapOutputBytes, output.map(|mib| mib << 20));
        }
        elephant_sample::job(vec![group], &[])
    }

    #[test]
    fn bytes_decide_and_not_the_number_of_tasks() {
        let severity = |maps, output| elephant_sample::severity(&spilling(maps, output), ID, false);
        assert_eq!(severity(20, Some(300)), Some(Severity::Critical));
        assert_eq!(severity(20, Some(30)), Some(Severity::Severe));
        assert_eq!(severity(1000, Some(0)), Some(Severity::None));
        // Records without bytes do not tell how much it costs.
        assert_eq!(severity(1000, None), Some(Severity::Low));
        assert_eq!(elephant_sample::severity(&spilling(20, Some(300)), ID, true), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&spilling(1000, Some(0)), ID, true), Some(Severity::Critical));
    }
}
