//! `mapper-input-size`: splits are too small or too large (Dr. Elephant 0.4 `MapperInputSizeHeuristic`).
//!
//! Dr. Elephant replaced it with the run times of `mapper-time`. It is off unless a rule file switches it
//! on.

use super::support::counters::{MissingCounters, input_bytes, to_bytes, unreadable};
use super::support::role::Role;
use super::support::splits::{SplitLimits, Unsplittable, divided_otherwise};
use super::support::tasks::{no_task_reports, tasks, without_tasks};
use crate::declare::mapreduce as rule;
use elephant_base::severity::Severity;
use elephant_base::stats::truncated_mean;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::conf::{ConfKey, defaults};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_rule::finding::{Advice, Judgement, Measure, TroubleKind, Verdict};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Count, Size};
use elephant_rule::params::rule_params;

rule_params! {
    /// Parameters of `mapper-input-size`.
    pub(super) struct InputSize / InputSizeLayer {
        /// Whether only succeeded jobs are judged. If false, failed and killed jobs are judged by their
        /// succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Mean input per map task if map tasks are too small.
        small_input: Descending<Size>,
        /// Number of map tasks from which small ones matter.
        small_num_tasks: Ascending<Count>,
        /// Mean input per map task if map tasks are too large.
        large_input: Ascending<Size>,
        /// Number of map tasks up to which large ones matter. With few map tasks there is room for more.
        large_num_tasks: Descending<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "0.4.0" }, "mapper-input-size", "Mapper Input Size", tells ManyTasks, InputSize, |layers, _| {
        load(layers, Splits)
    })
    .also_telling(&[TroubleKind::FewTasks]);

/// The message of a finding.
const MESSAGE: &str = "{maps_read} {avg_input_bytes} on average ({limit})";

struct Splits(InputSize);

impl Check for Splits {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let Some(group) = tasks(app, Role::Map.kind(), params.only_succeeded_jobs) else {
            return without_tasks(app, Role::Map.kind(), params.only_succeeded_jobs);
        };
        if let Some(reason) = unreadable(app, Role::Map.kind(), &Counter::INPUT_BYTES) {
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
                    "not reached: {}, {}",
                    params.small_input.describe(severity),
                    params.large_input.describe(severity)
                )
            }
            _ if too_small => params.small_input.describe(severity),
            _ => params.large_input.describe(severity),
        };
        let block = app.conf.bytes(ConfKey::BlockSize).unwrap_or(defaults::BLOCK);
        Judgement::of(Role::Map.subject(), severity)
            .tasks(total)
            .fact("tasks_count", Measure::Count(total))
            .fact("avg_input_bytes", Measure::Size(to_bytes(mean)))
            .message(MESSAGE, &[("maps_read", &Role::Map.do_what(total, "read")), ("limit", &limit)])
            .tells(if too_small { TroubleKind::ManyTasks } else { TroubleKind::FewTasks })
            .advice(|| {
                if let Some(otherwise) = divided_otherwise(app) {
                    return vec![otherwise.into()];
                }
                let unsplittable = Unsplittable::of(app, to_bytes(mean)).filter(|_| !too_small);
                if let Some(unsplittable) = unsplittable {
                    return vec![Advice::from(unsplittable.advice())];
                }
                let limits = SplitLimits::of(app);
                let changes = if too_small {
                    limits.larger(app, block).into_iter().collect()
                } else {
                    limits.smaller(app, block)
                };
                vec![if changes.is_empty() {
                    "the split sizes already fit: merge small files, or split large ones".into()
                } else {
                    Advice::default().set(changes).and(&format!(" ({block})"))
                }]
            })
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}
