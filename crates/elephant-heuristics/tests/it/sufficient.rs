//! Advice must be enough: with its settings, a finding falls by at least one level, or the advice also says what else to
//! change. And it must be a change: no setting is advised that the application has already.
//!
//! Findings that follow from settings are evaluated again with the new ones. Those on numbers of tasks and on the sort
//! buffer are evaluated on the tasks that the new settings would make, by arithmetic.

use elephant_base::whole::Whole;
use std::collections::{BTreeMap, BTreeSet};

use elephant_base::severity::Severity;
use elephant_engine::engine::visit;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_rule::finding::{Finding, SettingChange, Subject};
use elephant_ruleset::RuleSet;

/// The verdict follows from settings and measurements that they do not change.
const BY_SETTINGS: [&str; 3] = ["mapper-memory", "reducer-memory", "wasted-resources"];
/// The verdict on the tasks that the settings would make follows by arithmetic.
const BY_ARITHMETIC: [&str; 5] =
    ["mapper-time", "reducer-time", "mapper-speed", "mapper-skew", "mapper-spill"];
/// Why an evaluation with the new settings cannot show that the advice of these rules is enough. A rule that is in no list
/// is evaluated again with the settings that it advises.
const NOT_SHOWN: &[(&str, &[&str])] = &[
    (
        "its advice changes the input, the data or the code, not settings",
        &[
            "reducer-skew",
            "job-exception",
            "distributed-cache-limit",
            "job-queue-limit",
            "mapper-side-reads",
            "large-scan",
            "spark-stage-metrics",
            "spark-job-metrics",
            "spark-job-runtime",
            "spark-event-log-limit",
        ],
    ),
    (
        "garbage collection with another heap is not known before it is measured",
        &["mapper-gc", "reducer-gc", "spark-executor-gc"],
    ),
    (
        "the times of tasks and phases are measured",
        &["shuffle-sort", "spark-parallelism", "spark-skew", "spark-stage-runtime"],
    ),
    (
        "the tasks that copies would overtake, and the copies that would lose, are measured",
        &["straggler-dos-index", "straggler-impact", "straggler-detection", "speculation-waste"],
    ),
    ("failures are measured", &["failed-attempts", "spark-stages-with-failed-tasks"]),
    ("it names no setting", &["unfinished", "gc-stops", "heap-floor", "gc-failures", "gc-requests"]),
    ("how long tasks wait depends on other applications", &["wait-time"]),
    ("how long tasks wait for shuffle data depends on disks and network", &["spark-fetch-wait"]),
    (
        "heaps and their use are measured per executor",
        &[
            "spark-jvm-used-memory",
            "spark-executor-metrics",
            "spark-executor-load-balance",
            "spark-memory-limit",
            "spark-peak-unified-memory",
            "spark-driver-metrics",
        ],
    ),
    ("spilled data is measured", &["spark-executor-spill"]),
    (
        "it tells of several troubles at once, some of which are measured",
        &["spark-configuration", "spark-configuration-parameters", "mapper-input-size"],
    ),
];

/// How long a task runs before it reads, in milliseconds, as the rules assume.
const START_UP: f64 = 5000.0;

/// The unconditional settings of a finding's advice.
fn settings(finding: &Finding) -> Vec<&SettingChange> {
    let certain = finding.advice.iter().filter(|advice| !advice.conditional);
    certain.flat_map(|advice| &advice.settings).collect()
}

/// Whether the advice also says something that no setting does.
fn says_more(finding: &Finding) -> bool {
    finding.advice.iter().any(|advice| advice.settings.is_empty() && !advice.conditional)
}

/// The application with the settings of a finding.
fn with_settings(app: &Application, settings: &[&SettingChange]) -> Application {
    let mut new = app.clone();
    let values: Vec<(&str, &str)> =
        settings.iter().map(|change| (change.setting.as_str(), change.to.as_str())).collect();
    elephant_sample::set(&mut new, &values);
    new
}

/// A task as start, milliseconds and bytes read.
type Task = (i64, f64, f64);

fn tasks_of(group: &TaskGroup) -> Vec<Task> {
    let rows = group.winners().filter_map(|row| {
        let start = group.attempts.time(row, TimePoint::Start)?.as_millis();
        let bytes = group.attempts.total(row, &Counter::INPUT_BYTES).unwrap_or_default();
        Some((start, group.attempts.run_time(row)?.as_f64(), bytes as f64))
    });
    rows.collect()
}

/// A group of these tasks.
fn group_of(kind: TaskKind, tasks: &[Task]) -> TaskGroup {
    let times = tasks
        .iter()
        .map(|&(start, time, _)| (start / 1000, Some(start / 1000 + (time / 1000.0).round().as_i64())));
    let mut group = elephant_sample::tasks(kind, times);
    for (row, &(_, _, bytes)) in tasks.iter().enumerate() {
        group.attempts.set_counter(row, Counter::HdfsBytesRead, Some(bytes.round().as_i64()));
    }
    group
}

/// `count` parts of a task, or of all tasks together.
fn parts((start, time, bytes): Task, count: f64) -> Vec<Task> {
    let start_up = START_UP.min(time / 2.0);
    let part = (start, start_up + (time - start_up) / count, bytes / count);
    let mut all = Vec::new();
    while (all.len() as f64) < count {
        all.push(part);
    }
    all
}

/// The tasks with the split sizes and the number of reduce tasks that `new` sets. `alone`: each map task reads a file of
/// its own; otherwise all read one large file.
fn resized(app: &Application, new: &Application, settings: &[&SettingChange], alone: bool) -> Application {
    let sets = |key: ConfKey| settings.iter().any(|change| key.names().contains(&change.setting.as_str()));
    let value =
        |key: ConfKey| new.conf.bytes(key).filter(|_| sets(key)).map(elephant_base::units::Bytes::as_f64);
    let mut resized = new.clone();
    for group in &mut resized.groups {
        let Some(old) = app.group(group.kind) else { continue };
        let tasks = tasks_of(old);
        let whole = tasks.iter().fold((0, 0.0, 0.0), |(_, time, bytes), task| {
            let start_up = START_UP.min(task.1 / 2.0);
            (task.0, time + task.1 - start_up, bytes + task.2)
        });
        let together = |count: f64| parts((whole.0, whole.1 + START_UP * count, whole.2), count.max(1.0));
        let (most, least) = (value(ConfKey::SplitMaxSize), value(ConfKey::SplitMinSize));
        let tasks = match (group.kind, most, least, value(ConfKey::Reduces)) {
            (TaskKind::Map, Some(size), ..) if alone => {
                tasks.into_iter().flat_map(|task| parts(task, (task.2 / size).ceil().max(1.0))).collect()
            }
            (TaskKind::Map, Some(size), ..) | (TaskKind::Map, None, Some(size), _) => {
                together((whole.2 / size).ceil())
            }
            (TaskKind::Reduce, _, _, Some(count)) => together(count),
            _ => continue,
        };
        *group = group_of(group.kind, &tasks);
    }
    resized
}

/// The map tasks with a sort buffer of the new size: output that fits is spilled once.
fn sorted(new: &Application) -> Application {
    let mut sorted = new.clone();
    let buffer = new.conf.integer(ConfKey::SortMb).unwrap_or(100) as f64 * 0.8 * f64::from(1 << 20);
    for group in sorted.groups.iter_mut().filter(|group| group.kind == TaskKind::Map) {
        for row in 0..group.attempts.len() {
            let count = |counter| group.attempts.count(row, counter);
            let (Some(bytes), Some(records)) =
                (count(Counter::MapOutputBytes), count(Counter::MapOutputRecords))
            else {
                continue;
            };
            if (bytes + 16 * records) as f64 <= buffer {
                group.attempts.set_counter(row, Counter::SpilledRecords, i64::try_from(records).ok());
            }
        }
    }
    sorted
}

/// The worst severity that a rule gives a subject.
fn severity(rules: &RuleSet, app: &Application, rule: &str, subject: &Subject) -> Severity {
    let findings = rules.evaluate(app).findings;
    let own = findings.into_iter().filter(|finding| finding.rule == rule && finding.subject == *subject);
    own.map(|finding| finding.severity).max().unwrap_or_default()
}

/// How many findings were checked by rule, and what is wrong with the advice.
type Checked = (BTreeMap<String, u64>, Vec<String>);

fn check(rules: &RuleSet, app: &Application) -> Checked {
    let (mut checked, mut wrong) = (BTreeMap::new(), Vec::new());
    for finding in rules.evaluate(app).findings.iter().filter(|it| it.severity > Severity::None) {
        for change in finding.advice.iter().flat_map(|advice| &advice.settings) {
            if app.conf.raw(&change.setting).as_deref() == Some(&change.to) {
                wrong.push(format!("{}: {} has the present value {change}", app.id, finding.rule));
            }
        }
        let settings = settings(finding);
        let rule = finding.rule.as_ref();
        // A larger sort buffer is needed, although the measured tasks did not use it.
        if rule == "wasted-resources" && finding.advice.iter().any(|advice| advice.contains("sort buffer")) {
            continue;
        }
        // Other executors would have run, or more tasks on each, which no setting of a recorded application shows.
        let of_executors = [
            "spark.dynamicAllocation.",
            "spark.executor.instances",
            "spark.cores.max",
            "spark.task.resource.",
        ];
        if settings.iter().any(|change| of_executors.iter().any(|name| change.setting.starts_with(name))) {
            continue;
        }
        if settings.is_empty() || excused().any(|excused| excused == rule) {
            continue;
        }
        let new = with_settings(app, &settings);
        let new = match rule {
            "mapper-spill" => sorted(&new),
            rule if BY_ARITHMETIC.contains(&rule) => resized(app, &new, &settings, rule == "mapper-skew"),
            _ => new,
        };
        *checked.entry(rule.to_owned()).or_default() += 1;
        let after = severity(rules, &new, rule, &finding.subject);
        if after >= finding.severity && !says_more(finding) {
            let advice: Vec<&str> = finding.advice.iter().map(|advice| advice.text.as_str()).collect();
            let line = line_of_not_shown();
            wrong.push(format!(
                "{}: {rule} stays {after} with its own advice: {}: {advice:?}\n  Advise enough, or add \"{rule}\" with the \
                 reason to NOT_SHOWN, {}:{line}",
                app.id,
                finding.message,
                file!()
            ));
        }
    }
    (checked, wrong)
}

fn assert_enough(all: impl IntoIterator<Item = Checked>) -> BTreeMap<String, u64> {
    let (mut sums, mut all_wrong) = (BTreeMap::new(), Vec::new());
    for (checked, wrong) in all {
        for (rule, count) in checked {
            *sums.entry(rule).or_default() += count;
        }
        all_wrong.extend(wrong);
    }
    assert!(all_wrong.is_empty(), "{} of {sums:?}:\n{}", all_wrong.len(), all_wrong.join("\n"));
    sums
}

fn excused() -> impl Iterator<Item = &'static str> {
    NOT_SHOWN.iter().flat_map(|(_, rules)| rules.iter().copied())
}

/// The line of this file on which `NOT_SHOWN` starts.
fn line_of_not_shown() -> usize {
    let before = include_str!("sufficient.rs").split("const NOT_SHOWN").next().unwrap_or_default();
    before.lines().count() + 1
}

#[test]
fn lists_name_rules_once() {
    let mut seen = BTreeSet::new();
    for id in BY_SETTINGS.into_iter().chain(BY_ARITHMETIC).chain(excused()) {
        let place = format!("{}:{}", file!(), line_of_not_shown());
        assert!(
            elephant_heuristics::BUILT_IN.rule(id).is_some(),
            "{place}: there is no rule {id}; remove it"
        );
        assert!(seen.insert(id), "{place}: {id} is listed twice; remove one");
    }
}

#[test]
fn advice_on_recordings_is_enough() {
    let Some((corpus, runs)) = elephant_testing::shared("corpus").zip(elephant_testing::shared("runs"))
    else {
        return;
    };
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let visited = visit(&[corpus, runs], |app, _| check(&rules, app));
    let sums = assert_enough(visited.applications.into_iter().map(|application| application.value));
    assert!(sums.values().sum::<u64>() >= 2, "{sums:?}");
}

/// Jobs of many kinds: with few and many, short and long, small and large tasks; with a giant among them, or none.
fn jobs() -> impl Iterator<Item = Application> {
    let shapes = [5, 60, 150, 700, 1500, 4000]
        .into_iter()
        .flat_map(|tasks| [4, 20, 55, 100, 300, 800, 1500, 4000, 9000].map(|seconds| (tasks, seconds)));
    let sizes = [(1, 600, 2560), (100, 1000, 4096), (1400, 3000, 9000), (300, 4200, 16_384)];
    let jobs = shapes.flat_map(move |(tasks, seconds)| sizes.map(|size| (tasks, seconds, size)));
    jobs.flat_map(|(tasks, seconds, size)| [1, 4, 30].map(|giant| job(tasks, seconds, size, giant)))
}

/// A job whose last map task reads `giant` times as much as the others, and takes as many times as long.
fn job(tasks: usize, seconds: i64, (mib, peak, container): (i64, i64, i64), giant: i64) -> Application {
    // Two hundred at a time.
    let start = |place: usize| i64::try_from(place / 200).unwrap() * seconds;
    let times = |giant: i64| {
        (0..tasks).map(move |place| {
            let factor = if place + 1 == tasks { giant } else { 1 };
            (start(place), Some(start(place) + seconds * factor))
        })
    };
    let mut maps = elephant_sample::tasks(TaskKind::Map, times(giant));
    let mut reduces = elephant_sample::tasks(TaskKind::Reduce, times(1));
    for row in 0..tasks {
        let last = row + 1 == tasks;
        for group in [&mut maps, &mut reduces] {
            let used = if last { peak } else { peak / 4 };
            group.attempts.set_counter(row, Counter::PhysicalMemoryBytes, Some(used << 20));
        }
        let read = mib * if last { giant } else { 1 };
        maps.attempts.set_counter(row, Counter::HdfsBytesRead, Some(read << 20));
        maps.attempts.set_counter(row, Counter::MapOutputBytes, Some(read << 20));
        maps.attempts.set_counter(row, Counter::MapOutputRecords, Some(1000));
        maps.attempts.set_counter(row, Counter::SpilledRecords, Some(3000));
    }
    let (container, heap) = (container.to_string(), format!("-Xmx{}m", container * 4 / 5));
    let mut app = elephant_sample::job(
        vec![maps, reduces],
        &[
            ("mapreduce.map.memory.mb", &container),
            ("mapreduce.reduce.memory.mb", &container),
            ("mapreduce.map.java.opts", &heap),
        ],
    );
    app.id = format!("{tasks} tasks of {seconds} s, {mib} MiB, {peak} MiB of {container}, giant {giant}");
    app
}

#[test]
fn advice_on_jobs_of_many_kinds_is_enough() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let sums = assert_enough(jobs().map(|app| check(&rules, &app)));
    for rule in BY_SETTINGS.into_iter().chain(BY_ARITHMETIC) {
        assert!(sums.get(rule).is_some_and(|&count| count >= 10), "{rule}: {sums:?}");
    }
}
