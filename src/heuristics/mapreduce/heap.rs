//! The recommended heap and container of a role: the same answer for every rule that advises on them.

use super::{Role, container_for, is_unreadable, own_java_opts, run_time};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::counters::Counter;
use crate::model::table::TaskGroup;
use crate::units::Bytes;

/// The share of a container that Hadoop gives to the heap (`mapreduce.job.heap.memory-mb.ratio`).
pub(super) const HEAP_SHARE: f64 = 0.8;
/// A process whose use stayed below this share of its heap limit did not need the whole heap.
const FULL_HEAP: f64 = 0.7;
/// From this share of the run time, garbage collection is a sign of a heap that is too small.
const GC_PRESSURE: f64 = 0.01;

/// The memory that the tasks of a role use, and the recommended heap.
pub(super) struct Heap {
    /// The effective limit: `-Xmx`, or the heap that the JVMs had committed.
    pub(super) limit: Option<Bytes>,
    /// The highest resident memory of any task.
    pub(super) peak: Option<Bytes>,
    /// The recommended limit, if tasks fill their heap and collect garbage all the time.
    pub(super) larger: Option<Bytes>,
    /// The name of the setting with the JVM options of this role.
    pub(super) opts: &'static str,
}

impl Heap {
    pub(super) fn of(app: &Application, role: Role, group: &TaskGroup) -> Self {
        let largest = |counter| {
            let rows = group.winners().filter(|_| !is_unreadable(group, &[counter]));
            rows.filter_map(|row| group.attempts.bytes(row, counter)).max()
        };
        let known = |bytes: &Bytes| bytes.get() > 0;
        let limit = app.conf.heap_limit(role.java_opts()).or_else(|| largest(Counter::CommittedHeapBytes));
        let limit = limit.filter(known);
        let peak = largest(Counter::PhysicalMemoryBytes).max(largest(Counter::PeakPhysicalMemoryBytes));
        let peak = peak.filter(known);
        // Without a limit, the peak is the best estimate of the heap size.
        let base = limit.or(peak);
        let full = peak.zip(base).is_none_or(|(peak, base)| peak.as_f64() >= FULL_HEAP * base.as_f64());
        let larger = base
            .filter(|_| full && collects_much(group))
            .map(|base| Bytes::from_mib(base.whole_mib().saturating_mul(3).div_ceil(2).max(1)));
        Self { limit, peak, larger, opts: own_java_opts(app, role) }
    }

    /// The heap of the application master of an uberized job, which runs all its tasks. Whether it should
    /// grow is unknown: its collections are those of map and reduce tasks together.
    pub(super) fn of_master(app: &Application) -> Self {
        let of = |role: Role| Some(Self::of(app, role, app.group(role.kind())?));
        let peak = [Role::Map, Role::Reduce].into_iter().filter_map(|role| of(role)?.peak).max();
        let key = ConfKey::MasterJavaOpts;
        let limit = app.conf.heap_limit(key).filter(|limit| limit.get() > 0);
        Self { limit, peak, larger: None, opts: key.name() }
    }

    /// The container that the larger heap requires.
    pub(super) fn container(&self, app: &Application) -> Option<Bytes> {
        let larger = self.larger?;
        Some(container_for(app, Bytes::from_f64(larger.as_f64() / HEAP_SHARE).unwrap_or(larger)))
    }
}

/// Whether the tasks together spent a significant share of their run time in garbage collection.
fn collects_much(group: &TaskGroup) -> bool {
    if is_unreadable(group, &[Counter::GcTimeMillis]) {
        return false;
    }
    let sums = group.winners().filter_map(|row| {
        let gc = group.attempts.counter(row, Counter::GcTimeMillis)?;
        Some((gc as f64, run_time(group, row)? as f64))
    });
    let (gc, run) = sums.fold((0.0, 0.0), |(gc, run), (g, r)| (gc + g, run + r));
    gc > 0.0 && gc >= GC_PRESSURE * run
}
