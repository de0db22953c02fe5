//! Containers of map and reduce tasks, and of those of DAGs.

use super::{MemoryFit, MemoryHolder, with_room};
use crate::metrics::MetricParams;
use crate::root_cause::ran_out_of_memory;
use elephant_base::units::Bytes;
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskGroup, TaskKind};

#[doc(hidden)]
impl MemoryFit {
    /// Whether containers of this size would hold the tasks of a MapReduce job, or of a DAG of Tez.
    #[must_use]
    pub fn of_tasks(app: &Application, params: &MetricParams, container: Bytes) -> Self {
        if app.uberized == Some(true) {
            return Self::unknown("all tasks ran in the container of the application master");
        }
        let fits = app.groups.iter().filter(|group| !group.tasks.is_empty()).filter_map(|group| {
            let of = match group.kind {
                TaskKind::Map => MemoryHolder::MapContainer,
                TaskKind::Reduce => MemoryHolder::ReduceContainer,
                TaskKind::Vertex(_) => MemoryHolder::TaskContainer,
                TaskKind::Setup | TaskKind::Cleanup | TaskKind::Stage(_) => return None,
            };
            Some(Self::of_kind(app, (group, of), params.container(app, group.kind), container))
        });
        let fit = fits.reduce(Self::or_worse);
        fit.unwrap_or_else(|| Self::unknown("the job history has no tasks")).of_whole_run(app)
    }

    fn of_kind(
        app: &Application,
        (group, of): (&TaskGroup, MemoryHolder),
        now: Option<Bytes>,
        container: Bytes,
    ) -> Self {
        if ran_out_of_memory(app, group.kind).is_some() {
            return Self::of_shortage(of, now, container);
        }
        match peak(group) {
            Some(peak) => Self::of_peak(of, (peak, with_room(peak)), container),
            None => Self::unknown(format!(
                "no {}task reports {}",
                match group.kind {
                    TaskKind::Map => "map ",
                    TaskKind::Reduce => "reduce ",
                    _ => "",
                },
                Counter::PhysicalMemoryBytes.name()
            )),
        }
    }
}

/// The highest physical memory of a successful task. Clusters that cannot measure it log 0.
fn peak(group: &TaskGroup) -> Option<Bytes> {
    let largest = |counter| group.winners().filter_map(|row| group.attempts.bytes(row, counter)).max();
    let peak = largest(Counter::PhysicalMemoryBytes).max(largest(Counter::PeakPhysicalMemoryBytes));
    peak.filter(|peak| peak.get() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_fit::{MemoryReason, MemoryVerdict};
    use elephant_model::model::table::Outcome;

    /// Two map tasks with this physical memory in MiB, in containers of 1 GiB.
    fn fit(peaks: [i64; 2], fails: bool, container: u64) -> MemoryFit {
        let mut maps = elephant_sample::maps(&[(10, 1), (10, 1)]);
        for (row, mib) in peaks.into_iter().enumerate() {
            maps.attempts.set_counter(row, Counter::PhysicalMemoryBytes, Some(mib << 20));
        }
        let mut app = elephant_sample::job(vec![maps], &[]);
        if fails {
            let text = app.strings.intern("Container is running beyond physical memory limits");
            let group = app.groups.first_mut().unwrap();
            group.attempts.set_outcome(1, Outcome::Failed);
            group.attempts.set_diagnostics(1, text.unwrap());
        }
        let group = app.groups.first().unwrap();
        let of = (group, MemoryHolder::MapContainer);
        MemoryFit::of_kind(&app, of, Some(Bytes::from_mib(1024)), Bytes::from_mib(container))
    }

    #[test]
    fn the_largest_task_decides() {
        assert_eq!(fit([100, 700], false, 512).fit, MemoryVerdict::WouldBreak);
        assert_eq!(fit([100, 700], false, 768).fit, MemoryVerdict::Near);
        assert_eq!(fit([100, 700], false, 900).fit, MemoryVerdict::Safe);
        assert_eq!(
            fit([0, 0], false, 900).fit,
            MemoryVerdict::Unknown,
            "a cluster that cannot measure memory logs 0"
        );
    }

    #[test]
    fn where_memory_ran_out_only_more_may_be_enough() {
        let with = Some(Bytes::from_mib(1024));
        let why = MemoryReason::RanOut { of: MemoryHolder::MapContainer, with };
        assert_eq!(
            fit([100, 700], true, 1024),
            MemoryFit { fit: MemoryVerdict::WouldBreak, why: why.clone() }
        );
        assert_eq!(fit([100, 700], true, 2048), MemoryFit { fit: MemoryVerdict::Unknown, why });
    }
}
