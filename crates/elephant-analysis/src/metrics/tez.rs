//! Cost of a DAG of Tez: its attempts in containers of the size that its settings ask for.
//!
//! Source: Dr. Elephant's `TezTaskLevelAggregatedMetrics`. Tez reuses containers and holds idle ones for a while
//! (`tez.am.container.idle.release-timeout-min.millis`), which no history tells, so the real cost is higher.

use std::borrow::Cow;

use super::mapreduce::{MetricParams, Usage};
use super::{Metrics, TaskCounts, run_time};
use elephant_base::units::{Bytes, MbMillis};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::table::TaskKind;
use elephant_model::model::tez::Processor;
use elephant_rule::params::Assumed;
use elephant_rule::params::quantity::Size;

impl Metrics {
    /// The metrics of a DAG. How long it waited is unknown: Dr. Elephant's ideal starts hold for jobs of two phases.
    #[must_use]
    pub fn of_dag(app: &Application, params: &MetricParams) -> Self {
        let usages: Vec<Usage> = app.groups.iter().map(|group| Usage::of(app, group, params)).collect();
        let skips = params.skips_without_data();
        let whole = skips || (!app.events_missing && app.limit.is_none() && app.finished_at.is_some());
        let total = |part: fn(&Usage) -> Option<MbMillis>| {
            if whole { usages.iter().map(part).sum::<Option<MbMillis>>() } else { None }
        };
        Self {
            run_time: run_time(app),
            used: total(|usage| usage.used),
            wasted: total(|usage| usage.wasted),
            failed_attempts: total(|usage| usage.failed),
            killed_attempts: total(|usage| usage.killed),
            losing_attempts: total(|usage| usage.losing),
            tasks: task_counts(app),
            ..Self::default()
        }
    }
}

/// Counts by what the tasks do. Unknown if a limit cut the history off.
fn task_counts(app: &Application) -> Vec<(Cow<'static, str>, Option<TaskCounts>)> {
    let is_cut = app.limit.is_some_and(|limit| limit.cuts_off());
    let kinds = [Processor::Mapper, Processor::Reducer, Processor::Scope, Processor::Other];
    let of_kind = |kind: Processor| {
        let is_of_kind = |of: TaskKind| {
            app.vertex_of(of).and_then(|vertex| vertex.processor).unwrap_or(Processor::Other) == kind
        };
        let counts = app.groups.iter().filter(|group| is_of_kind(group.kind)).map(TaskCounts::of);
        let sum = counts.reduce(TaskCounts::plus)?;
        Some((task_name(kind).into(), (!is_cut).then_some(sum)))
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

/// The name of a task with this processor.
const fn task_name(processor: Processor) -> &'static str {
    match processor {
        Processor::Mapper => "map",
        Processor::Reducer => "reduce",
        Processor::Scope => "scope",
        Processor::Other => "task",
    }
}

/// The container that the tasks of a vertex ask for: the first of these settings that is positive, as Dr. Elephant reads
/// them, or else `default`.
pub(super) fn container_of_vertex(
    app: &Application,
    kind: TaskKind,
    default: Assumed<Size>,
) -> Option<Bytes> {
    let is_scope = app.vertex_of(kind).and_then(|vertex| vertex.processor) == Some(Processor::Scope);
    container_of_tasks(app, is_scope).or_else(|| default.0.and_then(|size| Bytes::from_f64(size.get())))
}

/// The container that tasks of Pig (`is_scope`) or of others ask for; `None` if no setting tells it.
#[must_use]
pub fn container_of_tasks(app: &Application, is_scope: bool) -> Option<Bytes> {
    let last = if is_scope { ConfKey::TezMasterMemoryMb } else { ConfKey::MapMemoryMb };
    let keys = [ConfKey::TezTaskMemoryMb, ConfKey::HiveContainerMb, last];
    keys.into_iter().find_map(|key| app.conf.mebibytes(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::Engine;
    use elephant_model::model::conf::Property;

    #[test]
    fn the_first_positive_setting_is_the_container() {
        let container = |settings: &[(&str, &str)], is_scope| {
            let mut app = Application::new(Engine::Tez);
            for (name, value) in settings {
                app.conf.insert((*name).to_owned(), Property { value: (*value).to_owned(), is_final: false });
            }
            container_of_tasks(&app, is_scope).map(Bytes::whole_mib)
        };
        let all = [
            ("tez.task.resource.memory.mb", "-1"),
            ("hive.tez.container.size", "-1"),
            ("mapreduce.map.memory.mb", "1536"),
            ("tez.am.resource.memory.mb", "3072"),
        ];
        assert_eq!((container(&all, false), container(&all, true)), (Some(1536), Some(3072)));
        assert_eq!(container(&[("hive.tez.container.size", "4096"), all[2]], false), Some(4096));
        assert_eq!(container(&[("tez.task.resource.memory.mb", "512"), all[2]], true), Some(512));
        assert_eq!(container(&[], false), None);
    }
}
