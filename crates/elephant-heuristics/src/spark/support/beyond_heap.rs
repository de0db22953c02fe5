//! Memory of executors outside their heaps: overhead and Spark's off-heap memory.

use super::application::{change_to, spark};
use super::memory::{
    self, Overhead, ROOM, Setting, default_overhead, heap, heap_key, in_containers, is_python, overhead,
    overhead_for, resident, room_for, rounded_up,
};
use elephant_base::units::Bytes;
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{Executor, ExecutorMetric, Spark};
use elephant_rule::finding::{Advice, SettingChange};
use elephant_rule::wording::change;

/// A line that keeps enough memory for all processes, if the heap shrinks to `new_heap` and the overhead
/// with it.
pub(crate) fn overhead_to_keep(app: &Application, spark: &Spark, new_heap: Bytes) -> Option<Advice> {
    if !in_containers(app, spark) {
        return None;
    }
    let (wanted, processes) = match Overhead::of(app, spark, new_heap) {
        Overhead::Measured(wanted) => {
            let used = resident(spark).map(|used| format!(", which used {used}")).unwrap_or_default();
            (wanted, format!("all processes of an executor{used}"))
        }
        Overhead::Unknown => (rounded_up(overhead(app)), "Python workers, which nothing measured".to_owned()),
        Overhead::Estimated(_) => return None,
    };
    (overhead_for(app, new_heap) < wanted).then(|| {
        Advice::new(format!("with it, keep enough memory for {processes}")).set([change(
            app,
            ConfKey::ExecutorMemoryOverhead,
            Setting(wanted),
        )])
    })
}

/// Settings to reduce if executors have more memory than they need.
pub(crate) fn memory_to_reduce(app: &Application) -> Vec<Advice> {
    let reducible = |spark: &&Spark| in_containers(app, spark) && !memory::was_short(app, spark);
    let Some(spark) = spark(app).filter(reducible) else { return Vec::new() };
    let now = heap(app, heap_key(app, spark));
    let fitting = memory::heap_that_fits(app, spark).map_or(now, |fits| fits.min(now));
    [less_overhead(app, spark, (now, fitting)), less_off_heap(app, spark)].into_iter().flatten().collect()
}

fn less_overhead(app: &Application, spark: &Spark, (now, heap): (Bytes, Bytes)) -> Option<Advice> {
    // The default overhead shrinks with the heap, without a setting.
    let held = Some(overhead(app)).filter(|&held| held > default_overhead(now))?;
    let Some(resident) = resident(spark) else {
        let python = if is_python(app, spark) { " (Python workers use it, too)" } else { "" };
        let what =
            format!("measure the memory used outside the heap{python}, for which executors have {held}");
        return change_to(app, ConfKey::ProcessTreeMetrics, true).map(|on| Advice::new(what).set([on]));
    };
    let wanted = Some(room_for(resident, heap)).filter(|&wanted| wanted < held)?;
    let less = change(app, ConfKey::ExecutorMemoryOverhead, Setting(wanted));
    Some(Advice::new("reduce the memory overhead").set([less]))
}

fn less_off_heap(app: &Application, spark: &Spark) -> Option<Advice> {
    if app.conf.flag(ConfKey::OffHeapEnabled) != Some(true) {
        return None;
    }
    let held = app.conf.spark_size(ConfKey::OffHeapSize, Bytes::new(1))?;
    // A measured use of 0 is also a measurement.
    let used = |worker: &Executor| worker.peaks.get(ExecutorMetric::OffHeapUnifiedMemory).map(Bytes::new);
    let used = memory::workers(spark).filter_map(used).max()?;
    let wanted = rounded_up(Bytes::from_f64(used.as_f64() * ROOM)?);
    let less = match wanted.get() {
        0 => change(app, ConfKey::OffHeapEnabled, false),
        _ => change(app, ConfKey::OffHeapSize, Setting(wanted)),
    };
    let what = format!("reduce off-heap memory, of which at most {used} are used");
    (wanted < held).then(|| Advice::new(what).set([less]))
}

/// The advice on executors whose containers were killed for their memory, with the overhead that is wanted. A heap that was
/// hardly used gives up memory: `fit_overhead` of the recommended configuration adds it to the overhead, so that containers stay
/// as large.
pub(crate) fn against_kills(app: &Advised<'_>, wanted: SettingChange) -> Advice {
    const MORE: &str = "increase the memory overhead of containers";
    let Some(spark) = spark(app) else { return Advice::new(MORE).set([wanted]) };
    let python = if is_python(app, spark) { ", which Python workers use" } else { "" };
    let now = heap(app, heap_key(app, spark));
    let peak =
        memory::peak_heap(spark).filter(|peak| peak.as_f64() <= app.advice.spare_heap.get() * now.as_f64());
    let smaller =
        peak.filter(|_| in_containers(app, spark)).map(|peak| (peak, rounded_up(memory::heap_for(peak))));
    match smaller.filter(|(_, heap)| *heap < now) {
        Some((peak, heap)) => {
            let heap = change(app, heap_key(app, spark), Setting(heap));
            Advice::new(format!(
                "{MORE}{python}, and take it from the heap, of which at most {peak} of {now} were in use"
            ))
            .set([wanted, heap])
        }
        None => Advice::new(format!("{MORE}{python}")).set([wanted]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ExecutorMetric::{JvmHeapMemory, OffHeapUnifiedMemory, ProcessTreeJvmRssMemory};

    fn app(settings: &[(&str, &str)], peaks: &[(ExecutorMetric, i64)]) -> Application {
        let mut app = elephant_sample::app(&[&[("spark.master", "yarn")], settings].concat());
        let peaks: Vec<(ExecutorMetric, i64)> =
            peaks.iter().map(|(metric, gib)| (*metric, gib << 30)).collect();
        elephant_sample::peaks(elephant_sample::executor(&mut app, "1"), &peaks);
        app
    }

    #[test]
    fn the_overhead_covers_the_resident_memory() {
        let settings = [("spark.executor.memory", "4g"), ("spark.executor.memoryOverhead", "40g")];
        let measured = app(&settings, &[(JvmHeapMemory, 3), (ProcessTreeJvmRssMemory, 12)]);
        // 15 GiB, including 4 GiB of heap.
        assert_eq!(
            memory_to_reduce(&measured),
            ["reduce the memory overhead: --conf spark.executor.memoryOverhead=11g (now 40g)"]
        );
        let unmeasured = app(&settings, &[(JvmHeapMemory, 3)]);
        assert_eq!(
            memory_to_reduce(&unmeasured),
            ["measure the memory used outside the heap, for which executors have 40 GiB: --conf \
              spark.executor.processTreeMetrics.enabled=true"]
        );
    }

    #[test]
    fn a_smaller_heap_keeps_memory_for_other_processes() {
        let measured =
            app(&[("spark.executor.memory", "40g")], &[(JvmHeapMemory, 3), (ProcessTreeJvmRssMemory, 14)]);
        let spark = measured.spark.as_deref().unwrap();
        let new_heap = Bytes::from_mib(5 * 1024);
        assert_eq!(
            overhead_to_keep(&measured, spark, new_heap).as_deref(),
            Some(
                "with it, keep enough memory for all processes of an executor, which used 14 GiB: --conf \
                 spark.executor.memoryOverhead=12800m"
            )
        );
        let by_factor = app(
            &[("spark.executor.memory", "40g"), ("spark.executor.memoryOverheadFactor", "3")],
            &[(JvmHeapMemory, 3), (ProcessTreeJvmRssMemory, 14)],
        );
        assert_eq!(overhead_to_keep(&by_factor, by_factor.spark.as_deref().unwrap(), new_heap), None);
        let small = app(&[("spark.executor.memory", "40g")], &[(ProcessTreeJvmRssMemory, 4)]);
        assert_eq!(overhead_to_keep(&small, small.spark.as_deref().unwrap(), new_heap), None);
        assert_eq!(memory_to_reduce(&small), [""; 0]);
    }

    #[test]
    fn unused_off_heap_memory_is_found() {
        let settings = [("spark.memory.offHeap.enabled", "true"), ("spark.memory.offHeap.size", "40g")];
        assert_eq!(
            memory_to_reduce(&app(&settings, &[(JvmHeapMemory, 1), (OffHeapUnifiedMemory, 4)])),
            [
                "reduce off-heap memory, of which at most 4 GiB are used: --conf spark.memory.offHeap.size=5g (now \
              40g)"
            ]
        );
        assert_eq!(
            memory_to_reduce(&app(&settings, &[(JvmHeapMemory, 1), (OffHeapUnifiedMemory, 0)])),
            [
                "reduce off-heap memory, of which at most 0 B are used: --conf spark.memory.offHeap.enabled=false (now \
              true)"
            ]
        );
        assert_eq!(memory_to_reduce(&app(&settings, &[])), [""; 0]);
    }

    #[test]
    fn stages_that_hand_data_to_python_workers_leave_the_need_unknown() {
        let mut python = app(&[("spark.executor.memory", "8g")], &[(JvmHeapMemory, 3)]);
        elephant_sample::stage(&mut python, 0, &[(elephant_model::model::table::Outcome::Succeeded, 1000)]);
        let is_unknown = |app: &Application| {
            let spark = app.spark.as_deref().unwrap();
            matches!(Overhead::of(app, spark, Bytes::from_mib(8192)), Overhead::Unknown)
        };
        assert!(!is_unknown(&python));
        elephant_sample::spark(&mut python).stages[0].name = Some("runJob at PythonRDD.scala:179".into());
        assert!(is_unknown(&python));
        elephant_sample::set(&mut python, &[("spark.executor.memoryOverhead", "40g")]);
        assert!(memory_to_reduce(&python)[0].contains("(Python workers use it, too)"));
        let overhead = |app: &mut Application| {
            elephant_sample::set(app, &[("spark.executor.memoryOverhead", "12g")]);
            let found = elephant_sample::evaluate(app, "spark-configuration", false).findings;
            found.into_iter().flat_map(|it| it.advice).map(|it| it.text).collect::<String>()
        };
        let advice = overhead(&mut python);
        assert!(advice.contains("Python workers") && !advice.contains("memoryOverhead="), "{advice}");
    }
}
