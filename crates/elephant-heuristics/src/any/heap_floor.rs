//! `heap-floor`: by the GC log of a process, its heap is nearly full even after collections of the whole heap.

use super::support::gc_logs::{in_words, workers, worst};
use crate::declare::any as rule;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_rule::finding::{Advice, Judgement, Measure, Phrase, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::percent;

rule_params! {
    /// Parameters of `heap-floor`.
    pub(super) struct Floor / FloorLayer {
        /// Heap in use after the last full or major collection / largest heap, of the process with the largest share.
        floor_share: Ascending<Ratio>,
        /// From this many full or major collections on that each left more in use than the one before, the message names a
        /// leak.
        leak_floors: Quantity<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "heap-floor", "Heap Floor", tells LittleMemory, Floor, |layers, _| load(layers, Full))
        .measured_by("floor_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "by its GC log, {process} still uses {floor_bytes} of {heap_bytes} of heap after collections of all of it, \
    {floor_ratio:%} ({limit})[; {leak}]";

/// The sign of a leak.
const LEAK: &str = "{rises} collections in a row left more in use than the one before, as if objects leaked";

struct Full(Floor);

impl Check for Full {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        if workers(app).next().is_none() {
            return Verdict::NotApplicable;
        }
        let floor = |log| {
            let log: &elephant_model::model::gc_log::GcLog = log;
            Some((log.floors.last_whole()?.used, log.max_heap?.bytes, log.floor_share()?))
        };
        let Some((process, (used, heap, share))) = worst(app, floor, |(_, _, share)| *share) else {
            return Verdict::NotEvaluated("no GC log has a full or major collection".to_owned());
        };
        let severity = params.floor_share.severity(share);
        let rises = process.log.floors.rises;
        let leaks = rises as f64 >= params.leak_floors.get();
        let leak = if leaks { Phrase::new(LEAK, &[("rises", &rises)]) } else { Phrase::default() };
        Judgement::of(Subject::Application, severity)
            .tasks(workers(app).count() as u64)
            .fact("gc_logs_count", Measure::Count(workers(app).count() as u64))
            .fact("floor_bytes", Measure::Size(used))
            .fact("heap_bytes", Measure::Size(heap))
            .fact("floor_ratio", Measure::Ratio(Some(share)))
            .fact("rising_floors_count", Measure::Count(rises))
            .message(
                MESSAGE,
                &[
                    ("process", &in_words(app, process)),
                    ("limit", &params.floor_share.describe_in(severity, percent)),
                    ("leak", &leak),
                ],
            )
            .advice(|| vec![advice(leaks)])
            .into()
    }
}

fn advice(leaks: bool) -> Advice {
    let text = if leaks {
        "find what keeps the objects with a heap dump (-XX:+HeapDumpOnOutOfMemoryError, jmap -dump:live); more heap only \
         delays the end"
    } else {
        "give the JVM more heap, or less to keep: cache less or serialized, broadcast less, and run fewer tasks in it at a time"
    };
    text.to_owned().into()
}
