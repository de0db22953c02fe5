//! The number of tasks of a stage: what sets it, which number to aim at, and how to change it. One place for every rule that
//! advises on it.

mod fixed;

pub(in crate::spark) use fixed::of_stage;

use super::adaptive;
use super::application::runs_sql;
use super::memory::{Setting, in_force, most_cores, most_slots, shuffle_partitions};
use super::slots::Slots;
use super::stage_figures::{Figures, FlowKind};
use super::stage_text::label;
use elephant_base::stats::descriptive::{mean, median, quantile};
use elephant_base::units::{Bytes, Millis};
use elephant_base::whole::Whole;
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Spark, Stage};
use elephant_model::model::table::{TaskGroup, TimePoint};
use elephant_query::{FixedBy, Purpose};
use elephant_rule::finding::Advice;
use elephant_rule::wording::{change, grouped, plural};

/// What sets the number of tasks of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::spark) enum Source {
    /// `spark.sql.shuffle.partitions`.
    ShufflePartitions,
    /// `spark.sql.adaptive.advisoryPartitionSizeInBytes`: adaptive execution merged partitions.
    AdvisorySize,
    /// `spark.default.parallelism`.
    DefaultParallelism,
    /// `spark.sql.files.maxPartitionBytes`.
    FileSplits,
    /// Files of the input, or a number in the code that reads them.
    Input,
    /// A number in the application's code.
    Code,
    /// What the plan or the RDDs of the stage tell.
    Fixed(FixedBy),
    /// Spark, for work that it does of its own accord.
    Chosen(Purpose),
}

impl Source {
    pub(in crate::spark) fn of(app: &Application, spark: &Spark, stage: &Stage, group: &TaskGroup) -> Self {
        let purpose = Purpose::of(app, spark, stage);
        if !purpose.is_chosen() {
            return Self::Chosen(purpose);
        }
        let figures = Figures::of(app, stage, group);
        let is_sql = runs_sql(spark, stage);
        let fixed = FixedBy::of(app, spark, stage);
        // Without a number in the code, a collection has as many slices as the default.
        let by_default = fixed == Some(FixedBy::Parallelized)
            && in_force(app, ConfKey::DefaultParallelism) == Some(figures.tasks);
        match fixed {
            Some(FixedBy::Parallelized) if by_default => return Self::DefaultParallelism,
            Some(fixed) => return Self::Fixed(fixed),
            None => {}
        }
        let reads_input = figures.flow(FlowKind::Input).is_some_and(|flow| flow.total > Bytes::default());
        if reads_input {
            if is_sql && reads_full_splits(app, &figures) { Self::FileSplits } else { Self::Input }
        } else if is_sql && figures.reads_shuffle_only() && figures.tasks == shuffle_partitions(app) {
            Self::ShufflePartitions
        } else if is_sql && adaptive::is_merged(app, &figures) {
            Self::AdvisorySize
        } else if !is_sql && follows_default(app, spark, stage, &figures) {
            Self::DefaultParallelism
        } else {
            Self::Code
        }
    }

    /// Whether another number of tasks is possible, and makes sense.
    pub(in crate::spark) const fn can_change(self) -> bool {
        match self {
            Self::Fixed(fixed) => fixed.can_change(),
            Self::Chosen(_) => false,
            _ => true,
        }
    }

    /// The most tasks that make sense for the data, if a split holds at least this much.
    fn most_tasks(self, group: &TaskGroup, least: f64) -> f64 {
        let of_files = matches!(self, Self::FileSplits | Self::Input);
        let read = group.attempts.sum(&[Counter::InputBytes]).filter(|_| of_files);
        read.map_or(f64::INFINITY, |bytes| (bytes as f64 / least).ceil())
    }
}

/// Whether tasks read about as much as a split of files may have. Smaller reads have another reason, and larger ones are
/// files that cannot be split.
fn reads_full_splits(app: &Application, figures: &Figures) -> bool {
    let most = split_size(app);
    let read = figures.flow(FlowKind::Input).map(|flow| (flow.median.get(), flow.largest.get()));
    read.zip(most).is_some_and(|((median, largest), most)| {
        let most = most.get();
        median.saturating_mul(2) >= most && largest <= most.saturating_add(most / 10)
    })
}

fn split_size(app: &Application) -> Option<Bytes> {
    app.in_force(ConfKey::FilesMaxPartitionBytes, |conf, key| conf.spark_size(key, Bytes::new(1)))
}

/// Whether `spark.default.parallelism` decides. Where it is not set, a shuffle without a number in the code has as many
/// partitions as the largest stage before it.
fn follows_default(app: &Application, spark: &Spark, stage: &Stage, figures: &Figures) -> bool {
    match in_force(app, ConfKey::DefaultParallelism) {
        Some(set) => set == figures.tasks,
        None if !figures.reads_shuffle_only() => false,
        None => {
            let before = stage.parents.iter().flat_map(|&parent| spark.attempts_of(parent));
            before.filter_map(|other| other.announced_tasks).max() == Some(figures.tasks)
        }
    }
}

/// The successful tasks of a stage; times in milliseconds.
pub(in crate::spark) struct StageTasks {
    pub(in crate::spark) from: i64,
    pub(in crate::spark) to: i64,
    pub(in crate::spark) times: Vec<f64>,
    /// The median overhead: time from launch to end that is not run time.
    pub(in crate::spark) overhead: f64,
}

impl StageTasks {
    pub(in crate::spark) fn of(group: &TaskGroup) -> Option<Self> {
        let attempts = &group.attempts;
        let (mut from, mut to, mut times, mut overheads) = (i64::MAX, i64::MIN, Vec::new(), Vec::new());
        for row in group.winners() {
            let start = attempts.time(row, TimePoint::Start)?.as_millis();
            let end = attempts.time(row, TimePoint::Finish)?.as_millis();
            (from, to) = (from.min(start), to.max(end));
            let time = (end - start).max(0) as f64;
            let run = attempts.millis(row, Counter::ExecutorRunTime).map_or(time, Millis::as_f64);
            times.push(time);
            overheads.push((time - run).max(0.0));
        }
        let overhead = median(&overheads)?;
        Some(Self { from, to, times, overhead })
    }

    /// The overhead of each task if tasks are small: the time of the smallest `share` of them, which hardly work. If all tasks are
    /// alike, the smallest ones work, too, so the overhead is at most `most`.
    pub(in crate::spark) fn overhead_of_small(&self, share: f64, median: f64, most: f64) -> f64 {
        let small = quantile(&self.times, share).unwrap_or_default().min(most);
        small.max(self.overhead).min(median)
    }

    /// The time of all tasks without their overhead.
    pub(in crate::spark) fn work(&self) -> Option<f64> {
        Some((mean(&self.times)? - self.overhead).max(0.0) * self.times.len() as f64)
    }
}

/// The number of tasks that advice aims at.
#[derive(Debug, Clone, Copy)]
pub(in crate::spark) struct Aim {
    /// Tasks for each task slot, so that they balance, unless they would become small.
    pub(in crate::spark) tasks_per_slot: f64,
    /// Tasks of less than this time, in milliseconds, are small.
    pub(in crate::spark) small_task_time: f64,
}

impl Aim {
    /// The maximum number of tasks to aim at with this many task slots, whatever the work.
    pub(in crate::spark) fn most_splits(self, slots: f64) -> f64 {
        (slots * self.tasks_per_slot.max(1.0)).ceil().max(1.0)
    }

    /// The number of tasks for a stage whose tasks work for `work` milliseconds in total, with this many task slots.
    pub(in crate::spark) fn splits(
        self,
        app: &Advised<'_>,
        (slots, work): (f64, f64),
        (source, group): (Source, &TaskGroup),
    ) -> f64 {
        let for_each = (work / slots / (app.advice.small_tasks_apart.get() * self.small_task_time)).floor();
        let wanted = slots * for_each.clamp(1.0, self.tasks_per_slot.max(1.0));
        wanted.ceil().min(source.most_tasks(group, app.advice.least_split.get())).max(1.0)
    }

    /// The same for a stage of an application; `None` if the stage has as many tasks already, or cannot have another number.
    pub(in crate::spark) fn more_than(self, app: &Advised<'_>, spark: &Spark, stage: &Stage) -> Option<u64> {
        let group = app.groups.get(stage.group?)?;
        let tasks = StageTasks::of(group)?;
        let slots = Slots::of(app, spark).within(tasks.from, tasks.to)?.round().max(1.0);
        let source = Some(Source::of(app, spark, stage, group)).filter(|source| source.can_change())?;
        let wanted = self.splits(app, (slots, tasks.work()?), (source, group));
        (wanted > tasks.times.len() as f64).then_some(wanted.as_u64())
    }
}

/// How a stage gets `wanted` tasks instead of `tasks`, depending on what sets their number.
pub(in crate::spark) fn advice(
    app: &Advised<'_>,
    spark: &Spark,
    stage: &Stage,
    source: Source,
    (tasks, wanted): (u64, u64),
) -> Advice {
    let advice = by_source(app, spark, stage, source, (tasks, wanted));
    if tasks < wanted && advice.settings.is_empty() { advice.for_tasks(stage.id, wanted) } else { advice }
}

fn by_source(
    app: &Advised<'_>,
    spark: &Spark,
    stage: &Stage,
    source: Source,
    (tasks, wanted): (u64, u64),
) -> Advice {
    let few = tasks < wanted;
    let what = if few { "use more tasks" } else { "use fewer tasks" };
    let is_sql = runs_sql(spark, stage);
    match source {
        Source::Code if few && tasks == 1 => Advice::new(format!(
            "a single task does all the work of the stage: avoid coalesce(1), sorting without partitions, and aggregates \
             and windows without a key; repartition({wanted}) distributes the work"
        )),
        Source::Fixed(fixed) => fixed::advice(fixed, (tasks, wanted)),
        Source::Chosen(purpose) => fixed::of_purpose(purpose).unwrap_or_default(),
        Source::ShufflePartitions | Source::AdvisorySize if few => {
            let group = stage.group.and_then(|group| app.groups.get(group));
            let read = group.and_then(|group| Figures::of(app, stage, group).flow(FlowKind::ShuffleRead));
            let more = adaptive::more_partitions(app, read.map(|read| read.total), wanted);
            fixed::in_stream(app, spark, stage, Advice::new(what).set_for_first(more))
        }
        Source::ShufflePartitions => {
            let set = Advice::new(what).set([change(app, ConfKey::ShufflePartitions, wanted)]);
            fixed::in_stream(app, spark, stage, set)
        }
        // The setting counts for every shuffle without a number of its own: less than the default would harm others.
        Source::DefaultParallelism if few && wanted < default_parallelism(app, spark) => {
            in_code(what, wanted)
        }
        Source::DefaultParallelism => {
            Advice::new(what).set([change(app, ConfKey::DefaultParallelism, wanted)])
        }
        Source::FileSplits => match split_for(app, tasks, wanted) {
            Some(size) => cut_too(app, spark, stage, (tasks, wanted)).unwrap_or_else(|| {
                let split = change(app, ConfKey::FilesMaxPartitionBytes, Setting(size));
                Advice::new(format!("{what}: about {wanted} splits of the files")).set([split])
            }),
            None => of_files(few, is_sql, tasks, wanted),
        },
        Source::Input => of_files(few, is_sql, tasks, wanted),
        Source::Code | Source::AdvisorySize if is_sql => Advice::new(format!(
            "{what}: change repartition or coalesce before the stage to {wanted} partitions"
        )),
        Source::Code | Source::AdvisorySize => in_code(what, wanted),
    }
}

fn in_code(what: &str, wanted: u64) -> Advice {
    Advice::new(format!(
        "{what}: pass {wanted} as the number of partitions to the operation that creates the stage, or use \
         repartition({wanted}) before it"
    ))
}

/// `spark.default.parallelism`, or the number of cores, which is its default.
fn default_parallelism(app: &Application, spark: &Spark) -> u64 {
    let cores = || most_cores(app, spark).unwrap_or_else(|| most_slots(app, spark));
    in_force(app, ConfKey::DefaultParallelism).unwrap_or_else(cores)
}

/// Advice without the setting, if a split size that gives one stage more tasks would give another stage far too many.
fn cut_too(app: &Advised<'_>, spark: &Spark, stage: &Stage, (tasks, wanted): (u64, u64)) -> Option<Advice> {
    let of_files = |other: &&Stage| {
        let group = other.group.and_then(|group| app.groups.get(group));
        group.is_some_and(|group| Source::of(app, spark, other, group) == Source::FileSplits)
    };
    let cut = |count: u64| count.saturating_mul(wanted) / tasks.max(1);
    let most = app.advice.cut_too_much.get() * wanted as f64;
    let too_many = |count: &u64| *count >= wanted && cut(*count) as f64 >= most;
    let others = spark.stages.iter().filter(|other| other.id != stage.id);
    let others = others.filter_map(|other| Some((other.announced_tasks.filter(too_many)?, other)));
    let of_files = others.filter(|(_, other)| of_files(other));
    let (count, other) = of_files.max_by_key(|(count, other)| (*count, std::cmp::Reverse(other.id)))?;
    Some(Advice::new(format!(
        "use more tasks: repartition({wanted}) after reading the files; a smaller {} would also cut the {} of {} into about {}",
        ConfKey::FilesMaxPartitionBytes.name(),
        plural(count, "task"),
        label(other),
        grouped(i128::from(cut(count))),
    )))
}

/// The size of splits with which files have `wanted` instead of `tasks`.
fn split_for(app: &Application, tasks: u64, wanted: u64) -> Option<Bytes> {
    let size = split_size(app)?.as_f64() * tasks as f64 / wanted.max(1) as f64;
    let mib = Bytes::from_f64(size)?.whole_mib();
    (mib > 0).then(|| Bytes::from_mib(mib))
}

/// Advice on input whose splits no setting bounds.
fn of_files(few: bool, is_sql: bool, tasks: u64, wanted: u64) -> Advice {
    let text = match (few, is_sql) {
        (true, true) => format!(
            "split the input into about {wanted} tasks instead of {tasks}: more files, or files that can be split; or use \
             repartition({wanted}) after reading them"
        ),
        (true, false) => format!(
            "split the input into about {wanted} tasks instead of {tasks}: pass {wanted} as the minimum number of partitions \
             to the operation that reads it, if its files can be split; otherwise use repartition({wanted}) after it"
        ),
        (false, _) => format!(
            "read the input with about {wanted} tasks instead of {tasks}: merge small files into larger ones"
        ),
    };
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;
    use elephant_base::severity::Severity;
    use elephant_base::units::Timestamp;
    use elephant_model::model::spark::{Job, SqlExecution};
    use elephant_model::model::table::Outcome;
    use elephant_rule::finding::TroubleKind;

    /// A stage of this many tasks that take 190 s on 16 cores and read a shuffle, or input, of this many MiB each.
    fn stage(tasks: usize, read: (Counter, i64), settings: &[(&str, &str)], sql: bool) -> Application {
        let mut app = elephant_sample::app(settings);
        for id in ["1", "2", "3", "4"] {
            elephant_sample::executor(&mut app, id).cores = Some(4);
        }
        elephant_sample::stage(&mut app, 0, &vec![(Outcome::Succeeded, 190_000); tasks]);
        elephant_sample::count(&mut app, read.0, read.1 << 20);
        elephant_sample::succeed(&mut app);
        app.finished_at = Some(Timestamp::from_millis(200_000));
        if sql {
            let spark = elephant_sample::spark(&mut app);
            spark.sql.push(SqlExecution::new(1));
            let mut job = Job::new(0);
            job.sql_execution = Some(1);
            job.stages = vec![0];
            spark.jobs.push(job);
            spark.stages[0].job = Some(0);
        }
        app
    }

    /// The settings that rules on the number of tasks propose, and their texts without settings.
    fn advice_on(app: &Application) -> (Vec<String>, Vec<String>) {
        let findings = elephant_sample::evaluate_all(app, "").findings;
        let few =
            findings.iter().filter(|it| it.tells == TroubleKind::FewTasks && it.severity > Severity::None);
        let rules: Vec<&str> = few.clone().map(|it| &*it.rule).collect();
        assert!(rules.contains(&"spark-parallelism"), "{rules:?}");
        assert!(rules.contains(&"spark-configuration-parameters"), "{rules:?}");
        let advice: Vec<&Advice> = few.flat_map(|it| &it.advice).collect();
        let settings = advice.iter().flat_map(|it| &it.settings).map(ToString::to_string);
        let (mut settings, mut texts): (Vec<String>, Vec<String>) = (
            settings.collect(),
            advice.iter().filter(|it| it.settings.is_empty()).map(|it| it.text.clone()).collect(),
        );
        for list in [&mut settings, &mut texts] {
            list.sort();
            list.dedup();
        }
        (settings, texts)
    }

    const SHUFFLE: (Counter, i64) = (Counter::ShuffleRemoteBytesRead, 1000);

    #[test]
    fn all_rules_name_one_number_and_only_settings_that_reach_the_stage() {
        // The code gives the number: more than the default changes nothing.
        let (settings, texts) = advice_on(&stage(4, SHUFFLE, &[("spark.default.parallelism", "96")], false));
        assert_eq!(settings, [""; 0]);
        assert!(texts.len() == 1 && texts[0].contains("repartition(48)"), "{texts:?}");
        let (settings, _) = advice_on(&stage(4, SHUFFLE, &[("spark.default.parallelism", "4")], false));
        assert_eq!(settings, ["--conf spark.default.parallelism=48 (now 4)"]);
        let (settings, _) = advice_on(&stage(4, SHUFFLE, &[("spark.sql.shuffle.partitions", "4")], true));
        assert_eq!(settings, ["--conf spark.sql.shuffle.partitions=48 (now 4)"]);
        let (settings, texts) =
            advice_on(&stage(4, SHUFFLE, &[("spark.sql.shuffle.partitions", "96")], true));
        assert_eq!(settings, [""; 0]);
        assert!(texts[0].ends_with("before the stage to 48 partitions"), "{texts:?}");
    }

    #[test]
    fn merged_partitions_follow_the_advisory_size() {
        let size = [("spark.sql.adaptive.advisoryPartitionSizeInBytes", "1200m")];
        let mut app = stage(4, SHUFFLE, &size, true);
        app.engine_version = Some("3.5.1".to_owned());
        let settings = advice_on(&app).0;
        assert_eq!(settings, ["--conf spark.sql.adaptive.advisoryPartitionSizeInBytes=83m (now 1200m)"]);
        // Partitions that are much smaller, or larger, have another reason.
        elephant_sample::count(&mut app, SHUFFLE.0, 500 << 20);
        assert_eq!(advice_on(&app).0, [""; 0]);
    }

    #[test]
    fn a_shuffle_without_a_number_follows_the_default() {
        let mut app = stage(4, SHUFFLE, &[], false);
        assert_eq!(advice_on(&app).0, [""; 0]);
        let before = elephant_sample::stage(&mut app, 1, &[(Outcome::Succeeded, 1000); 4]);
        elephant_sample::spark(&mut app).stages[0].parents = vec![before.stage].into();
        elephant_sample::succeed(&mut app);
        assert_eq!(advice_on(&app).0, ["--conf spark.default.parallelism=48"]);
    }

    /// The setting counts for all shuffles: with fewer tasks than cores, others would get fewer.
    #[test]
    fn the_default_is_never_set_below_itself() {
        let mut app = stage(4, SHUFFLE, &[], false);
        let before = elephant_sample::stage(&mut app, 1, &[(Outcome::Succeeded, 1000); 4]);
        elephant_sample::spark(&mut app).stages[0].parents = vec![before.stage].into();
        let spark = app.spark.as_deref().unwrap();
        let of = |wanted| {
            let source = Source::DefaultParallelism;
            advice(&advised(&app), spark, &spark.stages[0], source, (4, wanted))
        };
        assert!(of(15).settings.is_empty() && of(15).text.contains("pass 15 as the number"), "{:?}", of(15));
        assert_eq!(of(16).settings[0].to, "16");
    }

    #[test]
    fn the_size_of_splits_is_advised_only_if_it_bounds_them() {
        let input = |mib| (Counter::InputBytes, mib);
        let (settings, _) = advice_on(&stage(4, input(128), &[], true));
        assert_eq!(settings, ["--conf spark.sql.files.maxPartitionBytes=10m"]);
        // A file that cannot be split; and files that Spark SQL does not read.
        for app in [stage(4, input(5000), &[], true), stage(4, input(128), &[], false)] {
            let (settings, texts) = advice_on(&app);
            assert_eq!(settings, [""; 0]);
            assert!(texts[0].contains("repartition(48)"), "{texts:?}");
        }
    }

    #[test]
    fn the_size_of_splits_stays_where_it_would_cut_another_stage_into_far_too_many() {
        let advice_with = |others: usize| {
            let mut app = stage(4, (Counter::InputBytes, 128), &[], true);
            elephant_sample::stage(&mut app, 1, &vec![(Outcome::Succeeded, 100); others]);
            for row in 0..others {
                app.groups[1].attempts.set_counter(row, Counter::InputBytes, Some(128 << 20));
            }
            let spark = elephant_sample::spark(&mut app);
            spark.jobs[0].stages.push(1);
            spark.stages[1].job = Some(0);
            elephant_sample::succeed(&mut app);
            let spark = app.spark.as_deref().unwrap();
            advice(&advised(&app), spark, &spark.stages[0], Source::FileSplits, (4, 48))
        };
        assert_eq!(advice_with(10).settings[0].to, "10m");
        let other = advice_with(60);
        assert_eq!(other.settings, []);
        assert_eq!(
            other.text,
            "use more tasks: repartition(48) after reading the files; a smaller spark.sql.files.maxPartitionBytes would also cut \
             the 60 tasks of stage 1.0 (count at App.scala:1) into about 720"
        );
    }

    /// All tasks of a barrier stage must run at once: Spark fails a stage with more tasks than slots.
    #[test]
    fn a_barrier_stage_keeps_its_tasks() {
        let mut app = stage(4, SHUFFLE, &[("spark.default.parallelism", "4")], false);
        assert_eq!(advice_on(&app).0.len(), 1);
        elephant_sample::spark(&mut app).stages[0].is_barrier = true;
        let findings = elephant_sample::evaluate_all(&app, "").findings;
        let few = findings.iter().filter(|it| it.tells == TroubleKind::FewTasks);
        assert!(few.clone().all(|it| it.severity == Severity::None), "{:?}", few.collect::<Vec<_>>());
    }

    #[test]
    fn long_tasks_that_leave_no_slot_idle_are_no_trouble() {
        let app = stage(64, SHUFFLE, &[("spark.default.parallelism", "64")], false);
        let severity = |dr_elephant| {
            let rule = "spark-configuration-parameters";
            let found = elephant_sample::evaluate(&app, rule, dr_elephant).findings;
            found.iter().map(|it| it.severity).max()
        };
        assert_eq!((severity(false), severity(true)), (Some(Severity::None), Some(Severity::Low)));
    }
}
