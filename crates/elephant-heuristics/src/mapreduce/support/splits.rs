//! The size of splits that advice names. All rules ask here, so that no two of them advise different sizes.

mod limits;

pub(in crate::mapreduce) use limits::{SplitLimits, divided_otherwise, reads_gzip};

use super::counters::{MissingCounters, input_bytes, is_unreadable, run_time};
use super::sort_buffer;
use elephant_analysis::task_time::time_of_tasks;
use elephant_base::stats::max_concurrent::max_concurrent;
use elephant_base::stats::split::{TwoGroups, above_median, two_groups};
use elephant_base::stats::truncated_mean;
use elephant_base::units::{Bytes, Millis};
use elephant_base::whole::Whole;
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_rule::params::Positive;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio};

/// How long tasks should run.
#[derive(Debug, Clone, Copy)]
pub(in crate::mapreduce) struct Target {
    /// The run time per task in a long job.
    pub(in crate::mapreduce) run_time: Positive<Duration>,
    /// The largest share of the time in which tasks of the job ran.
    pub(in crate::mapreduce) share: Positive<Ratio>,
    /// The part of a task's run time that does not depend on its input.
    pub(in crate::mapreduce) start_up: Quantity<Duration>,
}

impl Target {
    /// The run time per task that fits this job, in milliseconds: tasks of 12 minutes would leave a job of 3 minutes
    /// without parallelism. Tasks that run longer than the target are not made shorter than the target: a quarter of a
    /// job of 25 minutes would be too short.
    fn for_job(self, app: &Application, mean: i64) -> f64 {
        if mean as f64 > self.run_time.get() {
            return self.run_time.get();
        }
        let span = time_of_tasks(app);
        let most = if span > Millis::ZERO { self.share.get() * span.as_f64() } else { f64::INFINITY };
        // A task that mostly starts up is too short in any job.
        self.run_time.get().min(most.max(2.0 * self.start_up.get()))
    }

    /// The part of the mean run time that is start-up; at most half, because nothing says how long it took.
    fn start_up(self, mean: f64) -> f64 {
        self.start_up.get().min(mean / 2.0)
    }

    /// How many times the work per task must grow, so that tasks with this mean run time reach the target. At least as
    /// many tasks remain as the job ran at once, and they fill whole waves: otherwise containers would be idle.
    pub(in crate::mapreduce) fn growth(self, app: &Advised<'_>, group: &TaskGroup, mean: i64) -> f64 {
        let aim = self.for_job(app, mean);
        let mean = mean.max(1) as f64;
        let start_up = self.start_up(mean);
        let growth = (aim - start_up).max(0.0) / (mean - start_up);
        if growth <= 1.0 {
            return growth;
        }
        let waves = group.tasks.len() as f64 / at_once(group).max(1) as f64;
        let most = growth.min(growth_by_blocks(app, group)).min(growth_by_buffer(app, group));
        (waves / full_waves(waves / most)).max(1.0)
    }

    /// The mean run time in milliseconds, once the work per task has grown.
    pub(in crate::mapreduce) fn mean_after(self, mean: i64, growth: f64) -> f64 {
        let mean = mean.max(1) as f64;
        let start_up = self.start_up(mean);
        start_up + growth * (mean - start_up)
    }

    /// The run time per task that fits this job, for messages.
    pub(in crate::mapreduce) fn shown(self, app: &Advised<'_>, group: &TaskGroup, mean: i64) -> Millis {
        let after = self.mean_after(mean, self.growth(app, group, mean));
        Millis::from_f64(after.round()).unwrap_or_default()
    }
}

/// The whole waves for this many of them.
fn full_waves(waves: f64) -> f64 {
    (waves - 0.01).ceil().max(1.0)
}

/// How many times the input of map tasks may grow until most of it comes from other nodes. No limit if they read less than
/// half a block: then they read small files, which may be combined.
fn growth_by_blocks(app: &Advised<'_>, group: &TaskGroup) -> f64 {
    let is_split = group.kind == TaskKind::Map && SplitLimits::of(app).largest().is_some();
    let block = app.conf.bytes(ConfKey::BlockSize).filter(|block| is_split && block.get() > 1);
    let inputs = || {
        let inputs = group.winners().filter_map(|row| input_bytes(group, row, MissingCounters::Unknown));
        truncated_mean(&inputs.collect::<Vec<_>>())
    };
    let Some((block, input)) = block.and_then(|block| Some((block.as_f64(), inputs()? as f64))) else {
        return f64::INFINITY;
    };
    if 2.0 * input < block { f64::INFINITY } else { app.advice.blocks_per_task.get() * block / input }
}

/// How many times the output of map tasks may grow until that of the largest one does not fit the sort buffer any more,
/// and is written to disk several times. No limit if it does not fit now.
fn growth_by_buffer(app: &Application, group: &TaskGroup) -> f64 {
    let output = if group.kind == TaskKind::Map { sort_buffer::largest_output(app, group) } else { None };
    let buffer = app.in_force(ConfKey::SortMb, Conf::mebibytes);
    match output.filter(|output| output.get() > 0).zip(buffer) {
        Some((output, buffer)) if output <= buffer => buffer.as_f64() / output.as_f64(),
        _ => f64::INFINITY,
    }
}

/// The most attempts of a group that ran at once.
pub(in crate::mapreduce) fn at_once(group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    let span = |row| {
        let start = attempts.time(row, TimePoint::Start)?;
        Some((start, Some(attempts.time(row, TimePoint::Finish)?)))
    };
    max_concurrent((0..attempts.len()).filter_map(span))
}

/// The input with which a map task would run for the target. `None` if the times or inputs of the map tasks
/// are unknown.
///
/// If a few map tasks read much more than the others, the split is at most what the others read, so that all tasks take
/// as long. But it is not so small that starting up takes much of the time, and at most half of what the
/// large tasks read: larger splits would not split them.
pub(in crate::mapreduce) fn split_for(app: &Advised<'_>, group: &TaskGroup, target: Target) -> Option<Bytes> {
    if is_unreadable(group, &Counter::INPUT_BYTES) {
        return None;
    }
    let input = |row| input_bytes(group, row, MissingCounters::Unknown);
    let inputs: Vec<i64> = group.winners().filter_map(input).collect();
    let times: Vec<i64> = group.winners().filter_map(|row| run_time(group, row)).collect();
    let (input, time) = (truncated_mean(&inputs)?, truncated_mean(&times)?);
    if input <= 0 || time <= 0 {
        return None;
    }
    let size = Bytes::new((input as f64 * target.growth(app, group, time)).as_u64());
    let by_means = two_groups(&inputs);
    // Among many tasks, the means may not show a few large ones.
    let apart =
        if by_means.deviation() == 0 { above_median(&inputs, app.advice.large_input.get()) } else { None };
    let most = largest_if_skewed(app, group, (apart.unwrap_or(by_means), target)).unwrap_or(size);
    Some(whole_mib(size.min(most)))
}

/// The largest split that makes the large map tasks like the others; `None` if all are alike.
fn largest_if_skewed(
    app: &Advised<'_>,
    group: &TaskGroup,
    (groups, target): (TwoGroups, Target),
) -> Option<Bytes> {
    let TwoGroups { small, large, pivot } = groups;
    if small.count == 0 || groups.deviation() == 0 {
        return None;
    }
    let is_large =
        |row: &usize| input_bytes(group, *row, MissingCounters::Unknown).is_some_and(|input| input >= pivot);
    let times = group.winners().filter(is_large).filter_map(|row| run_time(group, row));
    let time = truncated_mean(&times.collect::<Vec<_>>())?.max(1) as f64;
    let least = Bytes::from_f64(
        large.mean as f64 * app.advice.start_ups_per_task.get() * target.start_up.get() / time,
    )?;
    let bytes = |mean: i64| u64::try_from(mean).map(Bytes::new).unwrap_or_default();
    Some(bytes(small.mean).max(least).min(bytes(large.mean / 2)))
}

/// Why map tasks that read so much cannot get smaller splits: they read at least twice the largest split that
/// the settings allow, so their files cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mapreduce) struct Unsplittable {
    read: Bytes,
    /// The largest split that the settings allow.
    pub(in crate::mapreduce) split: Bytes,
    /// Only the block size limits the splits. The files may have other blocks than those that the job writes.
    pub(in crate::mapreduce) by_block: bool,
}

impl Unsplittable {
    /// `None` if `read` fits the splits, or if the settings do not limit them.
    pub(in crate::mapreduce) fn of(app: &Application, read: Bytes) -> Option<Self> {
        let limits = SplitLimits::of(app);
        let split = limits.largest()?;
        let by_block = limits.maximum.is_none();
        (read.get() / 2 >= split.get()).then_some(Self { read, split, by_block })
    }

    pub(in crate::mapreduce) fn advice(self) -> String {
        let Self { read, split, by_block } = self;
        let why = if by_block { "cannot be split or have larger blocks" } else { "cannot be split" };
        format!(
            "splits are at most {split}, but map tasks read {read}: their files {why}; write gzip files and other \
             formats that cannot be split as ORC, Parquet or bzip2, or as more and smaller files"
        )
    }
}

/// `size` rounded to whole MiB, at least one: splits need no more precision.
pub(in crate::mapreduce) fn whole_mib(size: Bytes) -> Bytes {
    Bytes::from_mib(((size.get() + Bytes::PER_MIB / 2) / Bytes::PER_MIB).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;

    fn job(tasks: &[(i64, i64)], settings: &[(&str, &str)]) -> Application {
        elephant_sample::job(vec![elephant_sample::maps(tasks)], settings)
    }

    fn target() -> Target {
        let read = |text: &str| serde_yaml::from_str(text).unwrap();
        Target {
            run_time: read("12min"),
            share: serde_yaml::from_str("25%").unwrap(),
            start_up: serde_yaml::from_str("5s").unwrap(),
        }
    }

    fn split(tasks: &[(i64, i64)]) -> Option<u64> {
        let app = job(tasks, &[]);
        split_for(&advised(&app), app.groups.first()?, target()).map(Bytes::whole_mib)
    }

    #[test]
    fn short_jobs_get_short_tasks() {
        let shown = |seconds: i64| {
            let app = job(&[(seconds, 1)], &[]);
            target().shown(&advised(&app), &app.groups[0], 1000 * seconds).get() / 1000
        };
        // Three minutes: 45 s per task, of which 5 s start up.
        assert_eq!(shown(180), 45);
        assert_eq!(split(&[(180, 700), (180, 700)]), Some(160));
        // Two hours allow 12 minutes. So do long tasks in a shorter job.
        assert_eq!((shown(7200), shown(1500)), (720, 720));
    }

    /// Ten tasks of 8 s, this many at once.
    fn in_waves(at_once: i64) -> Application {
        let start = |place: i64| 8 * (place / at_once);
        let times = (0..10).map(|place| (start(place), Some(start(place) + 8)));
        elephant_sample::job(vec![elephant_sample::tasks(TaskKind::Map, times)], &[])
    }

    #[test]
    fn a_map_task_reads_few_blocks() {
        // A hundred map tasks of 20 s, one at a time.
        let growth = |mib: i64| {
            let times = (0..100).map(|place| (20 * place, Some(20 * place + 20)));
            let mut maps = elephant_sample::tasks(TaskKind::Map, times);
            for row in 0..100 {
                maps.attempts.set_counter(row, Counter::HdfsBytesRead, Some(mib << 20));
            }
            let app = elephant_sample::job(vec![maps], &[("dfs.blocksize", "128m")]);
            target().growth(&advised(&app), &app.groups[0], 20_000)
        };
        assert_eq!((growth(128), growth(256), growth(1024)), (4.0, 2.0, 1.0));
        // Small files.
        assert!(growth(10) >= 25.0, "{}", growth(10));
    }

    #[test]
    fn the_output_of_a_map_task_stays_in_the_sort_buffer() {
        // A hundred map tasks of 20 s, one at a time, with this output in MiB. A buffer of 100 MiB spills at 80 MiB.
        let growth = |mib: i64| {
            let times = (0..100).map(|place| (20 * place, Some(20 * place + 20)));
            let mut maps = elephant_sample::tasks(TaskKind::Map, times);
            for row in 0..100 {
                maps.attempts.set_counter(row, Counter::MapOutputBytes, Some(mib << 20));
                maps.attempts.set_counter(row, Counter::MapOutputRecords, Some(1));
            }
            let app = elephant_sample::job(vec![maps], &[("mapreduce.task.io.sort.mb", "100")]);
            target().growth(&advised(&app), &app.groups[0], 20_000)
        };
        assert!((growth(40) - 2.0).abs() < 0.001 && (growth(79) - 1.0).abs() < 0.02, "{}", growth(40));
        // Without output, and with one that is spilled anyway.
        assert!(growth(0) > 10.0 && growth(200) > 10.0);
    }

    #[test]
    fn containers_that_a_job_gets_are_not_left_idle() {
        let growth = |at_once| {
            let app = in_waves(at_once);
            target().growth(&advised(&app), &app.groups[0], 8000)
        };
        // Of 8 s, 4 s depend on the input: tasks of 20 s in the longest of these jobs, of 10 s in the others. Three, four, two
        // and one whole waves remain.
        assert_eq!((growth(1), growth(2), growth(5), growth(10)), (10.0 / 3.0, 1.25, 1.0, 1.0));
    }

    #[test]
    fn a_few_large_tasks_always_get_smaller_splits() {
        let tasks = [(20, 1), (20, 1), (20, 1), (20, 1), (7200, 10)];
        assert!(split(&tasks) <= Some(5), "{:?}", split(&tasks));
        assert_eq!(split(&[]), None);
        assert_eq!(split(&[(10, 0)]), None);
    }

    #[test]
    fn far_more_than_a_split_cannot_be_split() {
        let read = Bytes::from_mib(1500);
        let of = |settings: &[(&str, &str)]| Unsplittable::of(&job(&[], settings), read);
        let max = ("mapreduce.input.fileinputformat.split.maxsize", "134217728");
        let block = ("dfs.blocksize", "128m");
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[max]).map(|it| it.by_block), Some(false));
        assert_eq!(of(&[block]).map(|it| it.by_block), Some(true));
        assert_eq!(of(&[block, ("hive.input.format", "org.apache.CombineHiveInputFormat")]), None);
        assert_eq!(of(&[max, ("mapreduce.input.fileinputformat.split.minsize", "1g")]), None);
    }
}
