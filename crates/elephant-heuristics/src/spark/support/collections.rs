//! Garbage collection with more heap: how far it falls, and which executor size that takes.
//!
//! An event log does not show how much of a heap is in use after a full collection. What is known: a collection takes
//! time for the data that it keeps, and it starts when the rest of the heap is full. So with n times the heap,
//! collections take at most 1/n of the time for the same work. On `gc-heap512m` that is 21 % of task time with five
//! times the heap; 19.5 % were measured.

use super::memory::{BEYOND, ExecutorSize, FULL, in_force, peak_heap, resized, rounded_up};
use super::stage_figures::spilled;
use elephant_base::units::{Bytes, Millis};
use elephant_catalogue::Advised;
use elephant_model::engine_facts::process::LARGEST_COMPRESSED_HEAP;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{ClusterManager, Executor, Spark};
use elephant_rule::finding::Advice;

const LESS_DATA: &str = "give each task less data: more partitions, fewer columns, less cached data";
/// The same where the heap is so large already that hardly a larger one makes sense.
const FEWER_OBJECTS: &str = "the heap is as large as makes sense: run fewer tasks at a time in each executor \
                             (spark.executor.cores), give each task less data, create fewer objects, or compare another \
                             collector";

/// The garbage collection of an application's executors, and their present size.
pub(crate) struct Collections {
    now: ExecutorSize,
    /// The share of task time.
    share: f64,
    peak: Option<Bytes>,
    /// Whether there can be more executors where each has fewer cores, so that as many tasks run at once.
    can_spread: bool,
    /// Whether tasks spilled: with more heap they would keep more data in it.
    spills: bool,
    /// Up to this size, a heap may grow by any factor, and up to the next, it may double.
    small_heap: Bytes,
    large_heap: Bytes,
    /// A heap that grows by less than this factor is no remedy.
    worth_growth: f64,
}

impl Collections {
    /// `None` if no task reports the time of collections.
    pub(crate) fn of(app: &Advised<'_>, spark: &Spark) -> Option<Self> {
        let sum = |of: fn(&Executor) -> Option<Millis>| spark.workers().filter_map(of).reduce(|a, b| a + b);
        let (collections, time) = (sum(|it| it.totals.gc_time)?, sum(|it| it.totals.task_time)?);
        Some(Self {
            now: ExecutorSize::now(app, spark),
            share: (collections.as_f64() / time.as_f64().max(1.0)).min(BEYOND.recip()),
            peak: peak_heap(spark),
            can_spread: app.allocates_dynamically()
                || in_force(app, ConfKey::ExecutorInstances).is_some()
                || ClusterManager::of_application(app) == Some(ClusterManager::Standalone),
            spills: app.groups.iter().filter_map(spilled).any(|spilled| spilled > Bytes::default()),
            small_heap: app.advice.small_heap.bytes(),
            large_heap: app.advice.large_heap.bytes(),
            worth_growth: app.advice.worth_growth.get(),
        })
    }

    /// The share of task time that garbage collection took.
    pub(crate) const fn share(&self) -> f64 {
        self.share
    }

    /// The peak of the heap, if it was never full.
    fn not_full(&self) -> Option<Bytes> {
        self.peak.filter(|peak| peak.as_f64() < FULL * self.now.heap.as_f64())
    }

    /// Whether more heap is known to reduce collections.
    fn is_known(&self) -> bool {
        self.peak.is_some() && self.not_full().is_none() && !self.spills
    }

    /// The highest share of task time with another size; `None` if the log does not tell.
    fn share_with(&self, size: ExecutorSize) -> Option<f64> {
        let of_task = |size: ExecutorSize| size.heap.as_f64() / f64::from(size.cores.max(1));
        let work = 1.0 - self.share;
        let left = self.share * of_task(self.now) / of_task(size).max(1.0);
        self.is_known().then(|| left / (left + work))
    }

    /// The size with which the share of collections falls by one level of `cutoffs`. Twice the heap for each task if
    /// that size is unknown or too large. The present size if more heap would not help.
    pub(crate) fn wanted(&self, cutoffs: Option<[f64; 4]>) -> ExecutorSize {
        if self.not_full().is_some() {
            return self.now;
        }
        let passed = cutoffs.into_iter().flatten().filter(|&cutoff| self.share >= cutoff);
        let target = passed.reduce(f64::max).filter(|target| *target > 0.0 && self.is_known());
        let enough = target.and_then(|target| {
            let times = self.share / (1.0 - self.share) * (1.0 - target) / target;
            Bytes::from_f64(self.now.heap.as_f64() * times * BEYOND).map(rounded_up)
        });
        let twice = Bytes::new(self.now.heap.get().saturating_mul(2));
        let heap =
            enough.filter(|&heap| heap <= self.small_heap || (heap <= self.large_heap && heap <= twice));
        let size = heap.map_or_else(|| self.doubled(), |heap| ExecutorSize { heap, ..self.now });
        size.with_room(self.now, self.peak)
    }

    /// Twice the heap for each task. Up to four tasks share a heap well, so fewer cores come first only where there are
    /// more, or where the heap is large already. Otherwise, a large heap grows as far as it can.
    fn doubled(&self) -> ExecutorSize {
        let twice = Bytes::new(self.now.heap.get().saturating_mul(2));
        let ExecutorSize { heap, cores, cores_can_change } = self.now;
        let fewer = ExecutorSize { cores: cores.div_ceil(2), ..self.now };
        let can_be_fewer = cores_can_change && self.can_spread;
        match cores {
            5.. if can_be_fewer => fewer,
            _ if heap < self.large_heap => ExecutorSize { heap: twice, ..self.now },
            3.. if can_be_fewer => fewer,
            _ if self.grows(heap) => ExecutorSize { heap: twice.min(LARGEST_COMPRESSED_HEAP), ..self.now },
            2.. if can_be_fewer => fewer,
            _ => self.now,
        }
    }

    /// Whether a heap of this size can grow so much that it matters.
    fn grows(&self, heap: Bytes) -> bool {
        LARGEST_COMPRESSED_HEAP.as_f64() >= heap.as_f64() * self.worth_growth
    }

    /// Whether collections fall by a level of `cutoffs` with this heap and these cores, as far as the log tells.
    fn fall(&self, heap: Option<Bytes>, cores: Option<u32>, cutoffs: &[f64]) -> bool {
        let size = ExecutorSize {
            heap: heap.unwrap_or(self.now.heap),
            cores: cores.unwrap_or(self.now.cores),
            ..self.now
        };
        let level = |share: f64| cutoffs.iter().filter(|&&cutoff| share >= cutoff).count();
        self.share_with(size).is_some_and(|share| level(share) < level(self.share))
    }

    /// The advice against collections, with the size that is wanted.
    pub(crate) fn advice(&self, app: &Application, spark: &Spark, cutoffs: Option<[f64; 4]>) -> Vec<Advice> {
        if let Some(peak) = self.not_full() {
            return vec![
                format!(
                    "create fewer objects, or compare another collector: a larger heap would hardly help, because at most {peak} \
                     of {} were in use",
                    self.now.heap
                )
                .into(),
            ];
        }
        let to = self.wanted(cutoffs);
        let settings = resized(app, spark, self.now, to);
        if settings.is_empty() {
            return vec![if self.grows(self.now.heap) { LESS_DATA } else { FEWER_OBJECTS }.into()];
        }
        let what =
            if to.cores < self.now.cores { "run fewer tasks per heap" } else { "give tasks more heap" };
        let cutoffs = cutoffs.unwrap_or_default();
        if self.fall(Some(to.heap), Some(to.cores), &cutoffs) {
            return vec![Advice::new(what).set_for_first(settings)];
        }
        let first = Advice::new(format!("as a first step, {what}")).set_for_first(settings);
        vec![first.and("; then look again: the event log does not tell how much heap is enough")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;
    use elephant_model::model::spark::ExecutorMetric;

    const CUTOFFS: [f64; 4] = [0.08, 0.1, 0.15, 0.2];

    /// The advice for an executor with this heap and cores, its peak in MiB, and a share of garbage collection.
    fn advice(settings: &[(&str, &str)], peak: i64, percent: u64) -> String {
        let mut app = elephant_sample::app(settings);
        let executor = elephant_sample::executor(&mut app, "1");
        executor.totals.task_time = Some(Millis::from_secs(100));
        executor.totals.gc_time = Some(Millis::from_secs(percent));
        elephant_sample::peaks(executor, &[(ExecutorMetric::JvmHeapMemory, peak << 20)]);
        let spark = app.spark.as_deref().unwrap();
        let advice = Collections::of(&advised(&app), spark).unwrap().advice(&app, spark, Some(CUTOFFS));
        advice.iter().map(|line| line.text.clone()).collect::<Vec<_>>().join("\n")
    }

    fn heap(heap: &'static str, cores: &'static str) -> [(&'static str, &'static str); 4] {
        [
            ("spark.master", "yarn"),
            ("spark.executor.memory", heap),
            ("spark.executor.cores", cores),
            ("spark.executor.instances", "4"),
        ]
    }

    /// With 2560 MiB, 19.5 % were measured.
    #[test]
    fn a_heap_is_enough_with_which_the_rule_falls() {
        assert_eq!(
            advice(&heap("512m", "1"), 468, 57),
            "give tasks more heap: --conf spark.executor.memory=2816m (now 512m)"
        );
        assert_eq!(
            advice(&heap("8g", "4"), 8000, 30),
            "give tasks more heap: --conf spark.executor.memory=14336m (now 8g)".replace("14336m", "14g")
        );
    }

    #[test]
    fn where_the_log_does_not_tell_what_is_enough_twice_as_much_is_a_first_step() {
        for (peak, percent) in [(8000, 60), (0, 30)] {
            assert_eq!(
                advice(&heap("8g", "4"), peak, percent),
                "as a first step, give tasks more heap: --conf spark.executor.memory=16g (now 8g); then look again: \
                 the event log does not tell how much heap is enough"
            );
        }
        let large = advice(&heap("16g", "5"), 16_000, 60);
        assert!(
            large.contains("spark.executor.cores=3 (now 5) --conf spark.executor.instances=7"),
            "{large}"
        );
        assert!(advice(&heap("4g", "4"), 4000, 60).contains("spark.executor.memory=8g (now 4g)"));
        let fewer = advice(&heap("32g", "2"), 32_000, 60);
        assert!(
            fewer.contains("spark.executor.cores=1 (now 2) --conf spark.executor.instances=8"),
            "{fewer}"
        );
    }

    /// From 31 GiB on, the JVM needs more memory for references.
    #[test]
    fn a_heap_that_can_hardly_grow_stays() {
        for size in ["30g", "31g", "40g"] {
            assert_eq!(advice(&heap(size, "1"), 30_000, 60), FEWER_OBJECTS);
        }
        assert_eq!(advice(&heap("30g", "8")[..3], 30_000, 60), FEWER_OBJECTS);
        assert!(advice(&heap("20g", "1"), 20_000, 60).contains("spark.executor.memory=31g (now 20g)"));
    }

    #[test]
    fn a_heap_that_was_not_full_stays() {
        let advice = advice(&heap("8g", "4"), 3072, 60);
        assert!(
            advice.contains("at most 3 GiB of 8 GiB were in use") && !advice.contains("--conf"),
            "{advice}"
        );
    }

    #[test]
    fn a_limit_of_dynamic_allocation_grows_with_fewer_cores() {
        let mut settings = heap("16g", "4").to_vec();
        settings.extend([
            ("spark.dynamicAllocation.enabled", "true"),
            ("spark.dynamicAllocation.maxExecutors", "1"),
        ]);
        assert!(
            advice(&settings, 16_000, 60).contains("--conf spark.dynamicAllocation.maxExecutors=2 (now 1)")
        );
    }

    /// Without a number of executors that can grow, fewer cores would only run fewer tasks at once.
    #[test]
    fn cores_stay_if_no_setting_gives_more_executors() {
        let alone = |memory| {
            let settings = heap(memory, "8");
            advice(&settings[..3], 16_000, 60)
        };
        assert!(alone("8g").contains("--conf spark.executor.memory=20g (now 8g)"), "{}", alone("8g"));
        assert!(alone("16g").contains("--conf spark.executor.memory=31g (now 16g)"), "{}", alone("16g"));
    }
}
