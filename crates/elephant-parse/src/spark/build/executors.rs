//! Executors, their cached blocks, and excluded nodes.

use super::{Builder, Symbols, held, moment};
use crate::spark::event::{BlockManagerAdded, ExecutorAdded, RddInfo};
use crate::spark::storage::{BlockMemory, RddBlock};
use elephant_base::units::{Bytes, Timestamp};
use elephant_model::model::Symbol;
use elephant_model::model::spark::{Exclusion, Executor, PersistedRdd, StorageMemory};

impl Builder {
    pub(super) fn executor_place(&mut self, id: Option<Symbol>) -> Option<usize> {
        let id = id?;
        if let Some(&place) = self.executor_places.get(&id) {
            return Some(place);
        }
        let name = self.app.strings.get(id).filter(|name| !name.is_empty())?.to_owned();
        let place = self.new_place::<Executor>(self.executors.len())?;
        let executor = Executor { id: name, ..Executor::default() };
        self.held.add(held::of_executor(&executor));
        self.executors.push(executor);
        self.executor_places.insert(id, place);
        Some(place)
    }

    pub(super) fn executor(&mut self, id: Option<Symbol>) -> Option<&mut Executor> {
        let place = self.executor_place(id)?;
        self.executors.get_mut(place)
    }

    pub(super) fn executor_added(&mut self, added: &ExecutorAdded, symbols: &Symbols<'_>) {
        let at = moment(added.at);
        self.saw(at);
        let Some(id) = symbols.symbol(added.id) else { return };
        // Mesos reused ids, so this may be a new executor with an old id.
        let gone = self
            .executor(Some(id))
            .is_some_and(|executor| executor.removed_at.is_some_and(|gone| at > Some(gone)));
        if gone {
            self.executor_places.remove(&id);
        }
        let Some(executor) = self.executor(Some(id)) else { return };
        executor.added_at = at.or(executor.added_at);
        executor.host = symbols.symbol(added.host).or(executor.host);
        let cores = added.cores.and_then(|cores| u32::try_from(cores).ok()).filter(|&cores| cores > 0);
        let is_impossible = at.is_none() || (added.cores.is_some() && cores.is_none());
        executor.cores = cores.or(executor.cores);
        executor.resource_profile =
            added.resource_profile.and_then(|id| u32::try_from(id).ok()).or(executor.resource_profile);
        let before = held::of_executor(executor);
        if !added.resources.is_empty() {
            executor.resources = added.resources.clone().into();
        }
        let after = held::of_executor(executor);
        self.held.change(before, after);
        self.seen.outside.executors += u64::from(is_impossible);
    }

    pub(super) fn executor_removed(
        &mut self,
        id: Option<Symbol>,
        at: Option<Timestamp>,
        reason: Option<String>,
    ) {
        self.saw(at);
        self.seen.outside.executors += u64::from(at.is_none());
        if let Some(executor) = self.executor(id) {
            // Its block manager's removal has a timestamp from another clock.
            executor.removed_at = at.or(executor.removed_at);
            let before = held::of_executor(executor);
            executor.removed_reason = reason.or(executor.removed_reason.take());
            let after = held::of_executor(executor);
            self.held.change(before, after);
        }
    }

    pub(super) fn block_manager_removed(&mut self, id: Option<Symbol>, at: Option<Timestamp>) {
        if let Some(executor) = self.executor(id) {
            executor.removed_at = executor.removed_at.or(at);
        }
    }

    pub(super) fn block_manager_added(&mut self, added: &BlockManagerAdded, symbols: &Symbols<'_>) {
        let at = moment(added.at);
        self.saw(at);
        let size = |bytes: Option<i64>| bytes.and_then(|bytes| u64::try_from(bytes).ok()).map(Bytes::new);
        let (on_heap, off_heap) = (size(added.on_heap), size(added.off_heap));
        // Since Spark 2.2, the memory is logged as a sum and in two parts.
        let parts = on_heap.zip(off_heap).map(|(on, off)| on + off);
        let total = match added.memory {
            Some(BlockMemory::Known(total)) if parts.is_none_or(|parts| parts == total) => Some(total),
            Some(BlockMemory::Known(_)) => {
                self.seen.differing_managers += 1;
                None
            }
            Some(BlockMemory::Unreadable) => {
                self.seen.unreadable_managers += 1;
                None
            }
            None => None,
        };
        let host = symbols.symbol(added.host);
        let place = self.executor_place(symbols.symbol(added.id));
        if let Some((place, at)) = place.zip(at) {
            self.registered.entry(place).or_insert(at);
        }
        if let Some(executor) = place.and_then(|place| self.executors.get_mut(place)) {
            // Up to Spark 1.2 this is the only event about an executor's start.
            executor.added_at = executor.added_at.or(at);
            executor.host = executor.host.or(host);
            let peak_used = executor.storage.peak_used;
            executor.storage = StorageMemory { total, on_heap, off_heap, peak_used }.into();
        }
    }

    pub(super) fn block_updated(
        &mut self,
        executor: Option<Symbol>,
        block: Option<RddBlock>,
        memory: Option<BlockMemory>,
    ) {
        if let (Some(block), Some(memory)) = (block, memory)
            && let Some(place) = self.executor_place(executor)
        {
            self.block_memory(place, block, memory);
        }
    }

    pub(super) fn block_memory(&mut self, executor: usize, block: RddBlock, memory: BlockMemory) {
        let BlockMemory::Known(memory) = memory else {
            self.storage.mark_unreadable(executor);
            self.seen.unreadable_blocks += 1;
            return;
        };
        let before = self.storage.held();
        let used = self.storage.note(executor, block, memory, &self.limits);
        self.held.change(before, self.storage.held());
        self.seen.beyond_limit.blocks += u64::from(used.is_none());
        if let Some(executor) = self.executors.get_mut(executor) {
            executor.storage.peak_used = executor.storage.peak_used.max(used);
        }
    }

    pub(super) fn executor_excluded(&mut self, id: Option<Symbol>, failures: Option<i64>) {
        if let Some(executor) = self.executor(id) {
            executor.exclusions += 1;
            let failures = failures.and_then(|count| u64::try_from(count).ok());
            executor.failures_before_exclusion = executor.failures_before_exclusion.max(failures);
        }
    }

    pub(super) fn node_excluded(
        &mut self,
        name: String,
        at: Option<i64>,
        task_failures: Option<u64>,
        lifted: bool,
    ) {
        if lifted {
            for place in self.excluded.remove(name.as_str()).unwrap_or_default() {
                if let Some(node) = self.spark.excluded_nodes.get_mut(place) {
                    node.lifted = true;
                }
            }
            return;
        }
        let Some(place) = self.new_place::<Exclusion>(self.spark.excluded_nodes.len()) else { return };
        self.held.add(held::of_key(&name));
        self.excluded.entry(name.as_str().into()).or_default().push(place);
        self.spark.excluded_nodes.push(Exclusion { name, at: moment(at), task_failures, lifted: false });
    }

    /// A log may exclude the same node for many stages; it is kept once.
    pub(super) fn node_excluded_for_stage(&mut self, name: String, failures: Option<u64>) {
        if let Some(known) = self.spark.nodes_excluded_for_stages.get_mut(&name) {
            *known = (*known).max(failures);
            return;
        }
        let known = self.spark.nodes_excluded_for_stages.len();
        if self.new_place::<Option<u64>>(known).is_some() {
            self.held.add(held::of_key(&name));
            self.spark.nodes_excluded_for_stages.insert(name, failures);
        }
    }

    pub(super) fn unpersisted(&mut self, id: Option<i64>) {
        if let Some(rdd) = id.and_then(|id| self.rdd(id)) {
            rdd.unpersisted = true;
        }
    }

    pub(super) fn rdd(&mut self, id: i64) -> Option<&mut PersistedRdd> {
        let place = *self.rdd_places.get(&u32::try_from(id).ok()?)?;
        self.rdds.get_mut(place)
    }

    /// Adds the persisted RDDs of a stage with this number of tasks. Returns whether no stage before it had one of them, and
    /// it computes all partitions of that one. With fewer tasks than partitions, it may leave some to others.
    pub(super) fn all_persisted(&mut self, rdds: Vec<RddInfo>, tasks: Option<i64>) -> bool {
        let mut is_first = false;
        for info in rdds {
            let is_whole = info.partitions.zip(tasks).is_some_and(|(all, tasks)| all > 0 && tasks >= all);
            is_first |= self.persisted(info) && is_whole;
        }
        is_first
    }

    /// Adds a persisted RDD; returns whether it is new.
    fn persisted(&mut self, info: RddInfo) -> bool {
        let Some(id) = info.id.and_then(|id| u32::try_from(id).ok()) else { return false };
        let count = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let rdd = PersistedRdd {
            id,
            name: info.name,
            partitions: count(info.partitions),
            cached_partitions: count(info.cached),
            memory: count(info.memory).map(Bytes::new),
            disk: count(info.disk).map(Bytes::new),
            unpersisted: false,
        };
        let after = held::of_rdd(&rdd);
        if let Some(known) = self.rdd(i64::from(id)) {
            let before = held::of_rdd(known);
            *known = PersistedRdd { unpersisted: known.unpersisted, ..rdd };
            self.held.change(before, after);
            return false;
        }
        let Some(place) = self.new_place::<PersistedRdd>(self.rdds.len()) else { return false };
        self.held.add(after);
        self.rdd_places.insert(id, place);
        self.rdds.push(rdd);
        true
    }
}
