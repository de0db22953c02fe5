//! `mapper-input-size`: splits are too small or too large (Dr. Elephant 0.4 `MapperInputSizeHeuristic`).
//!
//! Dr. Elephant replaced it by the run times of `mapper-time`; it is off unless a rule file switches it on.

use super::{
    MissingCounters, Role, change_towards, input_bytes, no_task_reports, rule, tasks, to_bytes, unread,
    without_tasks,
};
use crate::finding::{Judgement, Measure, Verdict};
use crate::heuristics::{Check, Rule, load};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::counters::Counter;
use crate::model::spark::Facet;
use crate::params::cutoffs::{Ascending, Descending};
use crate::params::quantity::{Count, Size};
use crate::params::rule_params;
use crate::severity::Severity;
use crate::stats::truncated_mean;
use crate::units::Bytes;

rule_params! {
    /// Parameters of `mapper-input-size`.
    pub(super) struct InputSize / InputSizeLayer {
        /// Whether jobs that failed or were killed are left out.
        only_succeeded_jobs: bool,
        /// What a missing counter is.
        missing_counters: MissingCounters,
        /// Mean input of small maps.
        small_input: Descending<Size>,
        /// Number of maps, for small ones to matter.
        small_num_tasks: Ascending<Count>,
        /// Mean input of large maps.
        large_input: Ascending<Size>,
        /// Number of maps, for large ones to matter.
        large_num_tasks: Descending<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "0.4.0" }, "mapper-input-size", "Mapper Input Size", InputSize, |layers| {
        load(layers, Splits)
    });

/// What a finding says.
const MESSAGE: &str = "{maps_read} {avg_input_bytes} on average ({limit})";

struct Splits(InputSize);

impl Check for Splits {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let Some(group) = tasks(app, Role::Map.kind(), params.only_succeeded_jobs) else {
            return without_tasks(app, Role::Map.kind(), params.only_succeeded_jobs);
        };
        if let Some(reason) = unread(app, Role::Map.kind(), &Counter::INPUT_BYTES) {
            return Verdict::NotEvaluated(reason);
        }
        let inputs = group.winners().filter_map(|row| input_bytes(group, row, params.missing_counters));
        let Some(mean) = truncated_mean(&inputs.collect::<Vec<_>>()) else {
            return Verdict::NotEvaluated(no_task_reports(Role::Map, group, "its input"));
        };
        let total = group.tasks.len() as u64;
        let count = total as f64;
        let small = params.small_input.severity(mean as f64).min(params.small_num_tasks.severity(count));
        let large = params.large_input.severity(mean as f64).min(params.large_num_tasks.severity(count));
        let severity = small.max(large);
        let too_small = small >= large;
        let limit = match severity {
            Severity::None => {
                format!(
                    "harmless: {}, {}",
                    params.small_input.describe(severity),
                    params.large_input.describe(severity)
                )
            }
            _ if too_small => params.small_input.describe(severity),
            _ => params.large_input.describe(severity),
        };
        let block = app.conf.bytes(ConfKey::BlockSize).unwrap_or(Bytes::from_mib(128));
        let key = if too_small { ConfKey::SplitMinSize } else { ConfKey::SplitMaxSize };
        Judgement::of(Role::Map.subject(), severity)
            .tasks(total)
            .fact("tasks_count", Measure::Count(total))
            .fact("avg_input_bytes", Measure::Size(to_bytes(mean)))
            .message(MESSAGE, &[("maps_read", &Role::Map.do_what(total, "read")), ("limit", &limit)])
            .advice(|| {
                vec![match change_towards(app, key, block.get(), too_small) {
                    Some(change) => format!("{change} ({block})"),
                    None => {
                        "the split sizes are set already: merge small files, or split large ones".to_owned()
                    }
                }]
            })
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}
