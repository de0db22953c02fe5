use super::*;
use crate::savings::{Cause, Removal};
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{ExecutorMetric, SqlExecution, StageAttempt};
use elephant_model::model::table::{Outcome, TaskKind, TimePoint};
use elephant_model::model::{Status, Subject};
use elephant_rule::finding::{
    Advice, Cap, CapReason, Caps, Failure, Measure, Repartition, RuleFacts, SettingChange, TroubleKind,
};
use elephant_ruleset::settings::TroubleParams;

mod executors;
mod fewer_executors;

fn change(setting: &str, from: &str, to: &str) -> SettingChange {
    let from = Some(from.to_owned()).filter(|from| !from.is_empty());
    SettingChange { setting: setting.to_owned(), from, to: to.to_owned() }
}

fn stage(id: u32) -> Subject {
    Subject::Stage(StageAttempt { stage: id, attempt: 0 })
}

/// The parameters of `rules/troubles.yaml`.
pub(super) fn built_in() -> TroubleParams {
    elephant_ruleset::RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().troubles().clone()
}

pub(crate) fn finding(
    rule: &'static str,
    tells: TroubleKind,
    subject: Subject,
    severity: Severity,
) -> Finding {
    Finding {
        rule: rule.into(),
        title: rule.into(),
        rule_facts: RuleFacts::USER,
        tells,
        repartition: None,
        of_more_parts: false,
        also_about: Vec::new(),
        in_queries: Vec::new(),
        conditions: Vec::new(),
        raw_severity: severity,
        caps: Caps::default(),
        failure: None,
        severity,
        score: severity.score(10),
        subject,
        message: format!("{rule} found something"),
        statement: format!("{rule} found something"),
        evidence: vec![("x_count".into(), Measure::Count(1))],
        thresholds: [].into(),
        advice: Vec::new(),
    }
}

fn advised(finding: Finding, changes: &[SettingChange]) -> Finding {
    Finding { advice: vec![Advice::new("change").set(changes.to_vec())], ..finding }
}

fn app() -> Application {
    elephant_sample::app(&[("spark.master", "yarn"), ("spark.executor.memory", "8g")])
}

fn diagnosed(app: &Application, findings: &mut [Finding]) -> Diagnosed {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    diagnose(
        app,
        Basis { rules: &rules, prices: None },
        (&Metrics::default(), RecordedOnce::default()),
        findings,
    )
}

#[test]
fn findings_of_one_kind_and_subject_are_one_trouble() {
    let mut findings = [
        finding("spark-executor-gc", TroubleKind::GarbageCollection, Subject::Application, Severity::Low),
        finding("other-gc", TroubleKind::GarbageCollection, Subject::Application, Severity::Severe),
        finding("spark-skew", TroubleKind::Skew, stage(1), Severity::Low),
        finding("spark-skew", TroubleKind::Skew, stage(4), Severity::Moderate),
        finding("quiet", TroubleKind::Waiting, Subject::Application, Severity::None),
    ];
    let troubles = diagnosed(&app(), &mut findings).troubles;
    let ids: Vec<&str> = troubles.iter().map(|trouble| trouble.id.as_str()).collect();
    assert_eq!(ids, ["garbage-collection", "skew:stage 4.0", "skew:stage 1.0"]);
    let told: Vec<_> = troubles[0].findings.iter().map(|told| (&*told.rule, told.is_consequence)).collect();
    assert_eq!(told, [("other-gc", false), ("spark-executor-gc", true)]);
    assert_eq!(troubles[0].tells(&findings[0]), Some(true));
    assert_eq!(troubles[0].tells(&findings[2]), None);
}

#[test]
fn stages_with_the_same_remedy_are_one_trouble() {
    let more = [change("spark.sql.shuffle.partitions", "8", "96")];
    let mut app = app();
    app.spark.as_deref_mut().unwrap().sql.push(SqlExecution::new(1));
    let few = |id, severity| advised(finding("r", TroubleKind::FewTasks, stage(id), severity), &more);
    let mut findings = [few(1, Severity::Low), few(3, Severity::Severe), few(2, Severity::Low)];
    let Diagnosed { troubles, configuration, .. } = diagnosed(&app, &mut findings);
    assert_eq!(troubles.len(), 1);
    assert_eq!(troubles[0].subjects, [stage(1), stage(2), stage(3)]);
    assert_eq!(troubles[0].id, "few-tasks:stage 3.0");
    assert_eq!(configuration[0].change, more[0]);
    assert_eq!(configuration[0].why, ["few-tasks:stage 3.0"]);
}

#[test]
fn consequences_are_listed_under_their_cause() {
    let mut findings = [
        finding("long", TroubleKind::LongRun, stage(4), Severity::Critical),
        finding("skew", TroubleKind::Skew, stage(4), Severity::Moderate),
        finding("late", TroubleKind::Stragglers, stage(4), Severity::Low),
        finding("elsewhere", TroubleKind::LongRun, stage(5), Severity::Low),
    ];
    let troubles = diagnosed(&app(), &mut findings).troubles;
    // The long run of the other stage is the same trouble as that of stage 4, and not explained by skew there.
    let skew = troubles.iter().find(|trouble| trouble.kind == TroubleKind::Skew).unwrap();
    assert!(skew.tells(&findings[2]).unwrap());
    assert_eq!(skew.tells(&findings[1]), Some(false));
}

/// Forty maps of a minute, ten of which failed once, and one on node n9 that takes ten.
#[test]
fn stragglers_are_no_consequence_of_failures_of_other_tasks() {
    let mut maps = elephant_sample::tasks(
        TaskKind::Map,
        (0..40).map(|task| (60, Some(if task == 39 { 660 } else { 120 }))),
    );
    for task in 0..10 {
        let row = maps.attempts.push(task, 1);
        maps.attempts.set_outcome(row, Outcome::Failed);
    }
    let app = elephant_sample::job(vec![maps], &[]);
    let failed = finding("failed", TroubleKind::Failures, Subject::Application, Severity::Low);
    let late = finding("late", TroubleKind::Stragglers, Subject::Tasks("map"), Severity::Critical);
    let kinds = |findings: &[Finding]| {
        let troubles = diagnosed(&app, &mut findings.to_vec()).troubles;
        troubles.iter().map(|trouble| (trouble.kind, trouble.severity)).collect::<Vec<_>>()
    };
    let mut apart = kinds(&[failed.clone(), late.clone()]);
    apart.sort();
    let expected = [(TroubleKind::Failures, Severity::Low), (TroubleKind::Stragglers, Severity::Critical)];
    assert_eq!(apart, expected);
    // A slow node on which tasks fail, too, is one trouble.
    let of_node = Finding { also_about: vec![Subject::Node("n9".to_owned())], ..late };
    assert_eq!(kinds(&[failed.clone(), of_node.clone()]).len(), 2);
    let evidence = vec![("worst_host_text".into(), Measure::Text("n9".to_owned()))];
    assert_eq!(kinds(&[Finding { evidence, ..failed }, of_node]).len(), 1);
}

#[test]
fn a_heap_stays_with_its_container() {
    let failed = finding("failed", TroubleKind::Failures, Subject::Application, Severity::Severe);
    let unused = finding("unused", TroubleKind::MuchMemory, Subject::Tasks("map"), Severity::Severe);
    let memory = |to| change("mapreduce.map.memory.mb", "4096", to);
    let smaller = memory("1024");
    let heap = Advice::new("with a heap that fits the container")
        .set([change("mapreduce.map.java.opts", "-Xmx3276m", "-Xmx819m")])
        .for_other(&smaller);
    let less = Finding { advice: vec![Advice::default().set([smaller]), heap], ..unused };
    let Diagnosed { troubles, configuration, .. } = diagnosed(
        &elephant_sample::job(Vec::new(), &[]),
        &mut [advised(failed, &[memory("6144")]), less.clone()],
    );
    let settings: Vec<&SettingChange> = configuration.iter().map(|it| &it.change).collect();
    assert_eq!(settings, [&memory("6144")]);
    let much = troubles.iter().find(|trouble| trouble.kind == TroubleKind::MuchMemory).unwrap();
    assert_eq!(much.advice, ["not less, but more, because of failures: mapreduce.map.memory.mb 4096 → 6144"]);
    assert_eq!(much.severity, Severity::Low);
    assert!(much.cause.ends_with("; low, because another trouble needs the memory"), "{}", much.cause);
    // Alone, both shrink.
    let alone = diagnosed(&elephant_sample::job(Vec::new(), &[]), &mut [less]);
    assert_eq!(alone.configuration.len(), 2);
}

#[test]
fn one_value_for_each_setting() {
    let gc = finding("gc", TroubleKind::GarbageCollection, Subject::Application, Severity::Low);
    let unused = finding("unused", TroubleKind::MuchMemory, Subject::Application, Severity::Critical);
    let failed = finding("failed", TroubleKind::Failures, stage(1), Severity::Severe);
    let memory = |to| [change("spark.executor.memory", "8g", to)];
    let mut findings =
        [advised(gc, &memory("10g")), advised(unused, &memory("3g")), advised(failed, &memory("12g"))];
    let Diagnosed { troubles, configuration, .. } = diagnosed(&app(), &mut findings);
    assert_eq!(configuration.len(), 1);
    assert_eq!(configuration[0].change.to, "12g");
    // Afterwards both have the same change.
    assert_eq!(configuration[0].why, ["failures"]);
    for advice in findings.iter().map(|finding| &finding.advice[0]) {
        assert!(advice.text.ends_with("spark.executor.memory=12g (now 8g)"), "{advice}");
        assert!(advice.settings.iter().all(|change| change.to == "12g"), "{advice}");
    }
    assert!(findings[1].advice[0].starts_with("not less, but more, because of failures: "));
    assert!(troubles.iter().flat_map(|trouble| &trouble.change).all(|change| change.to == "12g"));
}

#[test]
fn less_memory_is_never_advised_next_to_less_garbage_collection() {
    let gc = finding("gc", TroubleKind::GarbageCollection, Subject::Application, Severity::Low);
    let unused = finding("unused", TroubleKind::MuchMemory, Subject::Application, Severity::Critical);
    let mut findings = [
        advised(gc, &[change("spark.executor.cores", "8", "4")]),
        advised(unused, &[change("spark.executor.memory", "8g", "3g")]),
    ];
    let configuration = diagnosed(&app(), &mut findings).configuration;
    assert_eq!(configuration.len(), 1);
    assert_eq!(configuration[0].change.setting, "spark.executor.cores");
    assert_eq!(findings[1].advice, ["keep spark.executor.memory: less would make garbage collection worse"]);
}

#[test]
fn tasks_that_collect_much_garbage_keep_their_heap() {
    let reduces = Subject::Tasks("reduce");
    let container = change("mapreduce.reduce.memory.mb", "4096", "3072");
    let heap = change("mapreduce.reduce.java.opts", "-Xmx3276m", "-Xmx2457m");
    let collector = change("mapreduce.reduce.java.opts", "-Xmx3276m", "-Xmx3276m -XX:+UseParallelGC");
    let of = |severity| {
        let mut collects = finding("reducer-gc", TroubleKind::GarbageCollection, reduces.clone(), severity);
        collects.advice =
            vec![Advice::new("or try another collector").set([collector.clone()]).conditional()];
        let less = finding("reducer-memory", TroubleKind::MuchMemory, reduces.clone(), Severity::Moderate);
        let findings = &mut [collects, advised(less, &[container.clone(), heap.clone()])];
        diagnosed(&elephant_sample::job(Vec::new(), &[]), findings)
    };
    let severe = of(Severity::Severe);
    assert!(severe.configuration.is_empty(), "{:?}", severe.configuration);
    let lines: Vec<&str> =
        severe.troubles.iter().flat_map(|it| &it.advice).map(|line| line.text.as_str()).collect();
    assert!(lines.iter().any(|line| line.contains("-Xmx3276m -XX:+UseParallelGC")), "{lines:?}");
    assert_eq!(of(Severity::Low).configuration.len(), 2);
}

/// Ten maps of a minute, of which this many failed once for lack of heap.
fn out_of_heap(failed: u32) -> Application {
    let mut maps = elephant_sample::tasks(TaskKind::Map, (0..10).map(|_| (60, Some(120))));
    let rows: Vec<usize> = (0..failed).map(|task| maps.attempts.push(task, 1)).collect();
    for row in &rows {
        maps.attempts.set_outcome(*row, Outcome::Failed);
    }
    let settings = [("mapreduce.map.memory.mb", "4096"), ("mapreduce.map.java.opts", "-Xmx3276m")];
    let mut app = elephant_sample::job(vec![maps], &settings);
    let text = app.strings.intern("Error: java.lang.OutOfMemoryError: Java heap space").unwrap();
    for row in rows {
        app.groups[0].attempts.set_diagnostics(row, text);
    }
    app
}

/// With what the application used, so that less memory saves something.
fn measured(app: &Application, findings: &mut [Finding]) -> Diagnosed {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let metrics = rules.measure(app);
    diagnose(app, Basis { rules: &rules, prices: None }, (&metrics, RecordedOnce::default()), findings)
}

/// A map task that uses little of 4 GiB: a smaller container, with a heap that fits it.
fn much_memory() -> Finding {
    let smaller = change("mapreduce.map.memory.mb", "4096", "1024");
    let heap = Advice::new("with a heap that fits the container")
        .set([change("mapreduce.map.java.opts", "-Xmx3276m", "-Xmx819m")])
        .for_other(&smaller);
    let found = finding("mapper-memory", TroubleKind::MuchMemory, Subject::Tasks("map"), Severity::Critical);
    Finding { advice: vec![Advice::default().set([smaller]), heap], ..found }
}

#[test]
fn a_container_stays_with_the_heap_that_collects_much_garbage() {
    let of = |severity| {
        let collects = finding("mapper-gc", TroubleKind::GarbageCollection, Subject::Tasks("map"), severity);
        measured(&out_of_heap(0), &mut [collects, much_memory()])
    };
    let severe = of(Severity::Severe);
    assert!(severe.configuration.is_empty(), "{:?}", severe.configuration);
    let much = severe.troubles.iter().find(|it| it.kind == TroubleKind::MuchMemory).unwrap();
    assert_eq!(much.advice, ["keep mapreduce.map.memory.mb: less would make garbage collection worse"]);
    assert_eq!(much.severity, Severity::Low);
    assert_eq!(of(Severity::Low).configuration.len(), 2);
}

#[test]
fn what_makes_tasks_long_comes_before_their_number() {
    use TroubleKind::{FewTasks, GarbageCollection, Skew, Spill};
    let of = |kind, severity, tasks| Trouble {
        kind,
        severity,
        subjects: vec![Subject::Tasks(tasks)],
        ..Trouble::named("a")
    };
    let order = |troubles: [Trouble; 3]| {
        let mut troubles = troubles;
        reasons_first::order(&mut troubles);
        troubles.map(|trouble| trouble.kind)
    };
    let few = of(FewTasks, Severity::Severe, "map");
    let skew = of(Skew, Severity::Low, "reduce");
    for kind in [GarbageCollection, Spill] {
        let worse = of(kind, Severity::Critical, "map");
        assert_eq!(order([few.clone(), skew.clone(), worse]), [kind, FewTasks, Skew]);
        // As severe, and of other tasks.
        for other in [of(kind, Severity::Severe, "map"), of(kind, Severity::Critical, "reduce")] {
            assert_eq!(order([few.clone(), skew.clone(), other]), [FewTasks, Skew, kind]);
        }
    }
}

#[test]
fn memory_in_which_attempts_failed_does_not_shrink() {
    let of = |failed| measured(&out_of_heap(failed), &mut [much_memory()]);
    assert_eq!(of(0).configuration.len(), 2);
    let Diagnosed { troubles, configuration, .. } = of(3);
    assert!(configuration.is_empty(), "{configuration:?}");
    let why = "3 map attempts ran out of memory with this much";
    assert_eq!(troubles[0].advice, [format!("keep mapreduce.map.memory.mb: {why}").as_str()]);
    assert_eq!(troubles[0].severity, Severity::Low);
    assert!(troubles[0].cause.ends_with(&format!("; low, because {why}")), "{}", troubles[0].cause);
}

#[test]
fn conditional_changes_are_advised_and_not_recommended() {
    let late = finding("late", TroubleKind::Stragglers, Subject::Application, Severity::Low);
    let speculate =
        Advice::new("if a host is slow, copy").set([change("spark.speculation", "", "true")]).conditional();
    let mut findings = [Finding { advice: vec![speculate.clone()], ..late }];
    let Diagnosed { troubles, configuration, .. } = diagnosed(&app(), &mut findings);
    assert!(configuration.is_empty() && troubles[0].change.is_empty());
    assert_eq!(findings[0].advice, [speculate]);
}

#[test]
fn other_numbers_of_map_tasks_have_a_saving() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    // A thousand maps on ten slots. Those with 6 MiB take 9 s, those with 10 MiB 11 s.
    let time = |task: i64| if task / 10 % 2 == 0 { 9 } else { 11 };
    let start = |task: i64| task / 20 * 20 + if task / 10 % 2 == 0 { 0 } else { 9 };
    let times = (0..1000).map(|task| (start(task), Some(start(task) + time(task))));
    let mut maps = elephant_sample::tasks(TaskKind::Map, times);
    for (row, task) in (0..maps.attempts.len()).zip(0..) {
        maps.attempts.set_counter(row, Counter::HdfsBytesRead, Some((2 * time(task) - 12) << 20));
    }
    let mut job = elephant_sample::job(vec![maps], &[]);
    job.finished_at = Some(Timestamp::from_millis(1_000_000));
    let split = SettingChange {
        setting: "mapreduce.input.fileinputformat.split.minsize".to_owned(),
        from: None,
        to: (512_u64 << 20).to_string(),
    };
    let told = |finding| {
        let found = &mut [finding];
        diagnose(
            &job,
            Basis { rules: &rules, prices: None },
            (&rules.measure(&job), RecordedOnce::default()),
            found,
        )
        .troubles
        .remove(0)
    };
    let many = || {
        finding("mapper-time", TroubleKind::ManyTasks, Subject::Tasks(TaskKind::Map.name()), Severity::Severe)
    };
    let by_setting = told(advised(many(), &[split]));
    assert_ne!(by_setting.savings.status.name(), "unknown", "{:?}", by_setting.savings);
    let repartition = Some(Repartition { stages: Vec::new(), tasks: 16 });
    let by_number = told(Finding { repartition, ..many() });
    // 8000 MiB are 16 splits of 512 MiB.
    assert_eq!(by_number.savings.alone, by_setting.savings.alone);
    assert_eq!(told(many()).savings.status.name(), "unknown");
}

/// Two executors of which one works to the end of an hour, and the other for a minute; with the peak of their heaps, in MiB.
fn half_idle(peak: i64) -> Application {
    let settings = [("spark.master", "yarn"), ("spark.executor.memory", "4g"), ("spark.executor.cores", "1")];
    let mut app = elephant_sample::app(&settings);
    (app.status, app.complete) = (Status::Succeeded, true);
    app.submitted_at = Some(Timestamp::from_millis(0));
    app.finished_at = Some(Timestamp::from_millis(3_600_000));
    for id in ["1", "2"] {
        let executor = elephant_sample::executor(&mut app, id);
        executor.cores = Some(1);
        elephant_sample::peaks(executor, &[(ExecutorMetric::JvmHeapMemory, peak << 20)]);
    }
    elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 3_600_000), (Outcome::Succeeded, 60_000)]);
    let names = ["1", "2"].map(|id| app.strings.intern(id));
    for (row, name) in names.into_iter().enumerate() {
        app.groups[0].attempts.set_executor(row, name);
    }
    app
}

#[test]
fn idle_executors_are_found_with_and_without_measured_memory() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let found = |peak: i64| {
        let app = half_idle(peak);
        let found = rules.evaluate(&app).findings.into_iter().find(|it| it.rule == "wasted-resources");
        let found = found.unwrap_or_else(|| panic!("nothing found with a peak of {peak} MiB"));
        (found.severity, found.tells, found.advice)
    };
    // Unknown, full, and half used heaps.
    let (severity, kind, advice) = found(0);
    assert!(severity > Severity::None);
    assert_eq!(kind, TroubleKind::IdleExecutors);
    assert!(advice[0].starts_with("release idle executors: --conf spark.dynamicAllocation.enabled=true"));
    for peak in [4000, 2600] {
        assert_eq!(found(peak), (severity, kind, advice.clone()));
    }
}

#[test]
fn a_change_that_is_not_recommended_has_no_saving() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let app = half_idle(4000);
    let metrics = rules.measure(&app);
    let unused = finding("unused", TroubleKind::MuchMemory, Subject::Application, Severity::Severe);
    // It already has this heap.
    let found = &mut [advised(unused, &[change("spark.executor.memory", "4g", "4096m")])];
    let told =
        diagnose(&app, Basis { rules: &rules, prices: None }, (&metrics, RecordedOnce::default()), found)
            .troubles
            .remove(0);
    assert_eq!(told.advice, ["keep spark.executor.memory: it already has this value"]);
    assert_eq!(told.savings.status.name(), "unknown");
}

#[test]
fn giving_back_idle_executors_saves_what_they_held() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let settings = [("spark.master", "yarn"), ("spark.executor.memory", "4g"), ("spark.executor.cores", "1")];
    let mut app = elephant_sample::app(&settings);
    app.status = Status::Succeeded;
    app.complete = true;
    app.submitted_at = Some(Timestamp::from_millis(0));
    app.finished_at = Some(Timestamp::from_millis(3_600_000));
    for id in ["1", "2"] {
        let executor = elephant_sample::executor(&mut app, id);
        executor.added_at = Some(Timestamp::from_millis(0));
        executor.cores = Some(1);
    }
    // Both work for a minute; the first goes on to the end.
    elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 3_600_000), (Outcome::Succeeded, 60_000)]);
    let names = ["1", "2"].map(|id| app.strings.intern(id));
    let group = &mut app.groups[0];
    for (row, name) in names.into_iter().enumerate() {
        group.attempts.set_executor(row, name);
        let end = group.attempts.run_time(row).unwrap().get();
        group.attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(0)));
        group.attempts.set_time(row, TimePoint::Finish, i64::try_from(end).ok().map(Timestamp::from_millis));
    }
    let metrics = rules.measure(&app);
    let release = [change("spark.dynamicAllocation.enabled", "", "true")];
    let unused =
        finding("spark-memory-limit", TroubleKind::MuchMemory, Subject::Application, Severity::Severe);
    let found = &mut [advised(unused, &release)];
    let savings =
        diagnose(&app, Basis { rules: &rules, prices: None }, (&metrics, RecordedOnce::default()), found)
            .troubles
            .remove(0)
            .savings;
    // The second idles for 59 minutes, and is given back after the first of them.
    let saved = savings.alone.unwrap().gb_hours.unwrap().point;
    assert!((saved - 5.0 * 58.0 / 60.0).abs() < 1e-6, "{saved} {savings:?}");
    assert_eq!(savings.method.to_string(), "measured idle time");
}

#[test]
fn findings_on_a_part_belong_to_the_finding_on_all_parts() {
    let id = |stage: u32| StageAttempt { stage, attempt: 0 };
    let all = Finding {
        repartition: Some(Repartition { stages: vec![id(1), id(3)], tasks: 48 }),
        ..finding("spark-parallelism", TroubleKind::FewTasks, stage(1), Severity::Moderate)
    };
    let part = finding("long-tasks", TroubleKind::FewTasks, stage(3), Severity::Severe);
    for mut findings in [[all.clone(), part.clone()], [part, all]] {
        let troubles = diagnosed(&app(), &mut findings).troubles;
        assert_eq!(troubles.len(), 1);
        assert_eq!(troubles[0].subjects, [stage(1), stage(3)]);
        assert_eq!(
            (&*troubles[0].findings[0].rule, troubles[0].severity),
            ("spark-parallelism", Severity::Severe)
        );
    }
}

#[test]
fn a_setting_that_another_trouble_calls_for_is_no_trouble_of_its_own() {
    let overhead = |to| [change("spark.executor.memoryOverhead", "1g", to)];
    let killed = finding("killed", TroubleKind::Failures, stage(1), Severity::Severe);
    let little = finding("settings", TroubleKind::LittleMemory, Subject::Application, Severity::Low);
    let mut findings = [advised(killed.clone(), &overhead("2g")), advised(little.clone(), &overhead("3g"))];
    let troubles = diagnosed(&app(), &mut findings).troubles;
    assert_eq!(troubles.len(), 1);
    assert_eq!(troubles[0].tells(&findings[1]), Some(true));
    // Another setting, or less of it, is another trouble.
    for other in [overhead("512m"), [change("spark.executor.memory", "8g", "10g")]] {
        let mut findings = [advised(killed.clone(), &overhead("2g")), advised(little.clone(), &other)];
        assert_eq!(diagnosed(&app(), &mut findings).troubles.len(), 2);
    }
}

#[test]
fn a_task_that_is_late_because_of_its_data_is_no_straggler_besides() {
    let timed = |finding: Finding, key: &'static str, seconds: u64| Finding {
        evidence: vec![(key.into(), Measure::Time(elephant_base::units::Millis::from_secs(seconds)))],
        ..finding
    };
    let troubles = |straggler: u64| {
        let skew = finding("skew", TroubleKind::Skew, stage(1), Severity::Severe);
        let late = finding("late", TroubleKind::Stragglers, stage(1), Severity::Low);
        // Another stage has stragglers, too.
        let other = finding("late", TroubleKind::Stragglers, stage(2), Severity::Low);
        let mut findings =
            [timed(skew, "longest_run_time_ms", 100), timed(late, "task_time_ms", straggler), other];
        let troubles = diagnosed(&app(), &mut findings).troubles;
        troubles.iter().map(|it| (it.kind, it.subjects.clone())).collect::<Vec<_>>()
    };
    let skew = (TroubleKind::Skew, vec![stage(1)]);
    assert_eq!(troubles(101), [skew.clone(), (TroubleKind::Stragglers, vec![stage(2)])]);
    assert_eq!(troubles(60), [skew, (TroubleKind::Stragglers, vec![stage(1), stage(2)])]);
}

/// Cores stay as they are, so the smaller heap that went with fewer of them has no reason.
#[test]
fn settings_that_serve_one_that_stays_are_dropped_with_it() {
    let limit = change("spark.dynamicAllocation.maxExecutors", "", "9");
    let heap = |to| change("spark.executor.memory", "8g", to);
    let package = finding("a", TroubleKind::Settings, Subject::Application, Severity::Severe);
    let advice = vec![Advice::new("change").set_for_first([limit.clone(), heap("6g")])];
    let package = Finding { advice, ..package };
    let mut findings = [package.clone()];
    let Diagnosed { troubles, configuration, .. } = diagnosed(&app(), &mut findings);
    assert_eq!(configuration, []);
    assert!(troubles.is_empty(), "{troubles:?}");
    assert!(findings[0].advice.is_empty());
    // Another trouble keeps its own value.
    let other = finding("b", TroubleKind::MuchMemory, Subject::Application, Severity::Low);
    let mut findings = [package, advised(other, &[heap("4g")])];
    let Diagnosed { configuration, .. } = diagnosed(&app(), &mut findings);
    let values: Vec<&str> = configuration.iter().map(|it| it.change.to.as_str()).collect();
    assert_eq!(values, ["4g"]);
}

#[test]
fn later_reduces_are_replayed() {
    let later = change("mapreduce.job.reduce.slowstart.completedmaps", "0.05", "0.80");
    let reduces = Subject::Tasks(TaskKind::Reduce.name());
    let slow = finding("shuffle-sort", TroubleKind::Shuffle, reduces, Severity::Low);
    let job = elephant_sample::job(Vec::new(), &[]);
    let troubles = diagnosed(&job, &mut [advised(slow, &[later])]).troubles;
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let removal = removal::of(&job, &rules, &Metrics::default(), (&troubles[0], &[]), &[]);
    assert!(
        matches!(removal, Removal::Replay(crate::savings::Cause::SlowStart { share }, _) if (share - 0.8).abs() < 1e-9)
    );
}

#[test]
fn a_trouble_tells_the_finding_that_decides_its_severity() {
    let node = Finding {
        of_more_parts: true,
        ..finding("impact", TroubleKind::Stragglers, Subject::Application, Severity::Low)
    };
    let late = finding("late", TroubleKind::Stragglers, stage(1), Severity::Severe);
    let cause = |findings: &mut [Finding]| diagnosed(&app(), findings).troubles[0].cause.clone();
    assert_eq!(cause(&mut [node.clone(), late]), "impact found something; severe: late found something");
    assert_eq!(cause(&mut [node]), "impact found something");
}

/// Speculation that wastes more than the stragglers cost is a trouble of its own.
#[test]
fn mild_stragglers_do_not_hide_wasted_copies() {
    let kinds = |stragglers, copies| {
        let late = finding("late", TroubleKind::Stragglers, Subject::Application, stragglers);
        let wasted = finding("speculation-waste", TroubleKind::Speculation, Subject::Application, copies);
        diagnosed(&app(), &mut [late, wasted]).troubles.len()
    };
    assert_eq!(kinds(Severity::Low, Severity::Moderate), 2);
    assert_eq!(kinds(Severity::Moderate, Severity::Low), 1);
}

/// The finding with these times, in milliseconds, as its evidence.
fn with_times(finding: Finding, times: &[(&'static str, u64)]) -> Finding {
    let time =
        |&(key, ms): &(&'static str, u64)| (key.into(), Measure::Time(elephant_base::units::Millis::new(ms)));
    Finding { evidence: times.iter().map(time).collect(), ..finding }
}

/// Reduce tasks that wait for one long map task do not fetch slowly.
#[test]
fn a_shuffle_that_waits_for_skewed_maps_is_their_consequence() {
    let time = with_times;
    let kinds = |waited: u64| {
        let of = |kind: TaskKind| Subject::Tasks(kind.name());
        let skew = finding("mapper-skew", TroubleKind::Skew, of(TaskKind::Map), Severity::Severe);
        let shuffle = finding("shuffle-sort", TroubleKind::Shuffle, of(TaskKind::Reduce), Severity::Severe);
        let shuffle = time(shuffle, &[("avg_shuffle_ms", 100), ("avg_map_wait_ms", waited)]);
        diagnosed(&app(), &mut [time(skew, &[("lost_ms", 90)]), shuffle]).troubles.len()
    };
    assert_eq!((kinds(95), kinds(30)), (1, 2));
}

#[test]
fn a_shuffle_that_waits_for_straggling_maps_is_their_consequence() {
    let kinds = |delay: u64| {
        let late = finding("late", TroubleKind::Stragglers, Subject::Application, Severity::Severe);
        let reduces = Subject::Tasks(TaskKind::Reduce.name());
        let shuffle = finding("shuffle-sort", TroubleKind::Shuffle, reduces, Severity::Severe);
        let shuffle = with_times(shuffle, &[("avg_shuffle_ms", 100), ("avg_map_wait_ms", 95)]);
        diagnosed(&app(), &mut [with_times(late, &[("map_delay_ms", delay)]), shuffle]).troubles.len()
    };
    assert_eq!((kinds(90), kinds(30), kinds(0)), (1, 2, 2));
}

/// What early reduces cost stays if the skew or the failures are removed.
#[test]
fn a_shuffle_with_a_remedy_that_a_replay_shows_to_save_is_no_consequence() {
    let kinds = |cause: TroubleKind, is_replayed: bool| {
        let reduces = || Subject::Tasks(TaskKind::Reduce.name());
        let mut shuffle = finding("shuffle-sort", TroubleKind::Shuffle, reduces(), Severity::Low);
        if is_replayed {
            shuffle.evidence.push(("lost_held_ratio".into(), Measure::Ratio(Some(0.4))));
        }
        let later = change("mapreduce.job.reduce.slowstart.completedmaps", "0.05", "0.95");
        let cause = finding("cause", cause, reduces(), Severity::Severe);
        diagnosed(&app(), &mut [cause, advised(shuffle, &[later])]).troubles.len()
    };
    for cause in [TroubleKind::Skew, TroubleKind::Failures] {
        assert_eq!((kinds(cause, false), kinds(cause, true)), (1, 2), "{cause:?}");
    }
}

/// Retries start as soon as they can, so more capacity would not shorten the wait for them.
#[test]
fn a_wait_for_retries_is_a_consequence_of_the_failures() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let wait = |retries: bool| {
        let key = if retries { "failed_before_ms" } else { "first_task_after_ms" };
        let evidence = vec![(key.into(), Measure::Time(elephant_base::units::Millis::new(90)))];
        let told = finding("wait-time", TroubleKind::Waiting, Subject::Application, Severity::Low);
        Finding { evidence, ..told }
    };
    let failures = || {
        let maps = Subject::Tasks(TaskKind::Map.name());
        finding("failed-attempts", TroubleKind::Failures, maps, Severity::Moderate)
    };
    let troubles = |retries| diagnosed(&app(), &mut [wait(retries), failures()]).troubles;
    assert_eq!((troubles(true).len(), troubles(false).len()), (1, 2));
    // Without a trouble of its own, the failures are still all that can be saved.
    let trouble = Trouble { kind: TroubleKind::Waiting, ..Trouble::named("a") };
    let metrics = Metrics { wait_time: Some(elephant_base::units::Millis::new(90)), ..Metrics::default() };
    let removal = |retries| removal::of(&app(), &rules, &metrics, (&trouble, &[]), &[&wait(retries)]);
    assert_eq!(removal(true), Removal::Replay(Cause::Failures, Vec::new()));
    assert!(matches!(removal(false), Removal::Waiting { .. }));
}

#[test]
fn a_wait_for_too_many_tasks_is_their_consequence() {
    let kinds = |severity, which: &str| {
        let many = finding("mapper-time", TroubleKind::ManyTasks, Subject::Tasks("map"), severity);
        let mut waits = finding("wait-time", TroubleKind::Waiting, Subject::Application, Severity::Moderate);
        waits.evidence = vec![
            ("waiting_tasks_text".into(), Measure::Text(which.to_owned())),
            ("at_a_time_count".into(), Measure::Count(40)),
        ];
        let troubles = diagnosed(&elephant_sample::job(Vec::new(), &[]), &mut [many, waits]).troubles;
        troubles.into_iter().map(|it| it.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(Severity::Critical, "maps"), [TroubleKind::ManyTasks]);
    assert_eq!(kinds(Severity::Critical, "reduces").len(), 2);
    assert_eq!(kinds(Severity::Low, "maps").len(), 2);
}

/// Less garbage collection ends map tasks earlier, but not twice as early.
#[test]
fn larger_containers_of_a_job_take_more_memory() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let times = (0..40).map(|task| (task / 10 * 60, Some(task / 10 * 60 + 60)));
    let mut maps = elephant_sample::tasks(TaskKind::Map, times);
    for row in 0..maps.attempts.len() {
        maps.attempts.set_counter(row, Counter::GcTimeMillis, Some(24_000));
    }
    let mut job = elephant_sample::job(vec![maps], &[("mapreduce.map.memory.mb", "1024")]);
    job.finished_at = Some(Timestamp::from_millis(240_000));
    let larger = |to| change("mapreduce.map.memory.mb", "1024", to);
    let found = |kind, to| {
        let told = finding("mapper-gc", kind, Subject::Tasks(TaskKind::Map.name()), Severity::Severe);
        let basis = Basis { rules: &rules, prices: None };
        let measured = (&rules.measure(&job), RecordedOnce::default());
        diagnose(&job, basis, measured, &mut [advised(told, &[larger(to)])]).troubles.remove(0).savings
    };
    let savings = found(TroubleKind::GarbageCollection, "2048");
    assert!(savings.alone.unwrap().wall_ms.high > 0.0);
    assert!(savings.more_gb_hours.is_some_and(|more| more.low > 0.0), "{:?}", savings.more_gb_hours);
    assert!(found(TroubleKind::Spill, "4096").more_gb_hours.is_some_and(|more| more.low > 0.0));
}

/// A sort buffer for the present output is too small for that of larger splits.
#[test]
fn splits_do_not_grow_with_the_sort_buffer() {
    let buffer = change("mapreduce.task.io.sort.mb", "100", "720");
    let splits = change("mapreduce.input.fileinputformat.split.minsize", "0", "529530880");
    let maps = || Subject::Tasks(TaskKind::Map.name());
    let spill = finding("mapper-spill", TroubleKind::Spill, maps(), Severity::Critical);
    // The saving is unknown, so larger splits are recommended only against very short tasks.
    let short = finding("mapper-time", TroubleKind::ManyTasks, maps(), Severity::Severe);
    let settled = |findings: &mut [Finding]| -> Vec<String> {
        let configuration = diagnosed(&elephant_sample::job(Vec::new(), &[]), findings).configuration;
        configuration.into_iter().map(|it| it.change.to).collect()
    };
    let short = advised(short, &[splits]);
    assert_eq!(settled(&mut [advised(spill, &[buffer]), short.clone()]), ["720"]);
    assert_eq!(settled(&mut [short]), ["529530880"]);
}

/// Fifty map tasks of a minute and a block each on ten containers are as fast as ten large ones.
#[test]
fn normal_tasks_are_no_trouble() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let diagnosed = |seconds: i64| {
        let start = |place: i64| (seconds + 1) * (place / 10);
        let times = (0..60).map(|place| (start(place), Some(start(place) + seconds)));
        let mut maps = elephant_sample::tasks(TaskKind::Map, times);
        for row in 0..maps.attempts.len() {
            maps.attempts.set_counter(row, Counter::HdfsBytesRead, Some(128 << 20));
        }
        let mut app = elephant_sample::job(vec![maps], &[]);
        app.finished_at = Some(Timestamp::from_millis(6000 * (seconds + 1)));
        let splits = change("mapreduce.input.fileinputformat.split.minsize", "0", "805306368");
        let maps = Subject::Tasks(TaskKind::Map.name());
        let short = finding("mapper-time", TroubleKind::ManyTasks, maps, Severity::Severe);
        let combine = Advice::new("combine small files").set([change("a", "", "b")]).conditional();
        let mut short = advised(short, &[splits]);
        short.advice.push(combine);
        let mut findings = [short];
        let basis = Basis { rules: &rules, prices: None };
        let recorded = (&Metrics::default(), RecordedOnce::default());
        let troubles = diagnose(&app, basis, recorded, &mut findings).troubles;
        (troubles.len(), findings[0].severity, findings[0].raw_severity)
    };
    assert_eq!(diagnosed(180), (0, Severity::None, Severity::Severe));
    // Starting up is half of six seconds.
    assert_eq!(diagnosed(6), (1, Severity::Severe, Severity::Severe));
}

/// The thresholds of the rule have not changed.
#[test]
fn an_excused_finding_keeps_its_raw_severity() {
    let settings = finding("a", TroubleKind::Settings, Subject::Application, Severity::Severe);
    let limit = change("spark.dynamicAllocation.maxExecutors", "", "9");
    let mut findings = [advised(settings, &[limit])];
    diagnosed(&app(), &mut findings);
    assert_eq!((findings[0].severity, findings[0].raw_severity), (Severity::None, Severity::Severe));
    // It would be excused in a larger run, too.
    assert_eq!(findings[0].severity_in_larger_run(), Severity::None);
}

#[test]
fn stragglers_next_to_skewed_tasks_keep_their_own_remedy() {
    let salt = change("spark.sql.adaptive.skewJoin.enabled", "", "true");
    let copy = change("spark.speculation", "", "true");
    let skew = finding("spark-skew", TroubleKind::Skew, stage(4), Severity::Severe);
    let late = Finding {
        advice: vec![
            Advice::new("data skew: `elephant-rs rules show spark-skew`").see_rule("spark-skew"),
            Advice::new("copy them").set([copy.clone()]),
            "contention: examine n3".into(),
        ],
        ..finding("late", TroubleKind::Stragglers, stage(4), Severity::Moderate)
    };
    let mut app = app();
    app.spark.as_deref_mut().unwrap().sql.push(SqlExecution::new(1));
    let mut findings = [advised(skew, std::slice::from_ref(&salt)), late];
    let Diagnosed { troubles, configuration, .. } = diagnosed(&app, &mut findings);
    assert_eq!((troubles.len(), troubles[0].tells(&findings[1])), (1, Some(true)));
    assert_eq!(troubles[0].change, [salt, copy]);
    assert_eq!(troubles[0].advice.len(), 3, "{:?}", troubles[0].advice);
    assert_eq!(troubles[0].advice[2], "contention: examine n3");
    assert_eq!(configuration.len(), 2);
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let removal = removal::of(&app, &rules, &Metrics::default(), (&troubles[0], &[]), &[&findings[0]]);
    assert!(matches!(removal, Removal::Replay(crate::savings::Cause::Uneven, _)));
}

/// Executors of two cores less, as a rule of thumb proposes them.
#[test]
fn executors_that_hardly_worked_keep_their_cores() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let settled = |busy: i64| {
        let settings =
            [("spark.master", "yarn"), ("spark.executor.memory", "4g"), ("spark.executor.cores", "16")];
        let mut app = elephant_sample::app(&settings);
        (app.status, app.complete) = (Status::Succeeded, true);
        app.submitted_at = Some(Timestamp::from_millis(0));
        app.finished_at = Some(Timestamp::from_millis(3_600_000));
        let executor = elephant_sample::executor(&mut app, "1");
        executor.added_at = Some(Timestamp::from_millis(0));
        executor.cores = Some(1);
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, busy)]);
        let name = app.strings.intern("1");
        app.groups[0].attempts.set_executor(0, name);
        app.groups[0].attempts.set_time(0, TimePoint::Start, Some(Timestamp::from_millis(0)));
        app.groups[0].attempts.set_time(0, TimePoint::Finish, Some(Timestamp::from_millis(busy)));
        let metrics = rules.measure(&app);
        let thumb = finding("a", TroubleKind::Settings, Subject::Application, Severity::Severe);
        let mut findings = [advised(thumb, &[change("spark.executor.cores", "16", "4")])];
        let basis = Basis { rules: &rules, prices: None };
        let diagnosed = diagnose(&app, basis, (&metrics, RecordedOnce::default()), &mut findings);
        (metrics.idle_percent().unwrap().round(), diagnosed.configuration.len())
    };
    assert_eq!(settled(60_000), (98.0, 0));
    assert_eq!(settled(3_000_000), (17.0, 1));
}

/// Executors are idle while only stragglers run.
#[test]
fn idle_executors_are_a_consequence_of_the_stragglers_that_they_wait_for() {
    let share = |finding: Finding, key: &'static str, share: f64| Finding {
        evidence: vec![(key.into(), Measure::Ratio(Some(share)))],
        ..finding
    };
    let late = |waited| {
        share(
            finding("late", TroubleKind::Stragglers, Subject::Application, Severity::Low),
            "delay_ratio",
            waited,
        )
    };
    let skewed =
        |lost| share(finding("skew", TroubleKind::Skew, stage(1), Severity::Low), "lost_ratio", lost);
    let kinds = |findings: &[Finding], idle: f64| {
        let unused = finding("idle", TroubleKind::IdleExecutors, Subject::Application, Severity::Low);
        let mut findings = findings.to_vec();
        findings.push(share(unused, "idle_cores_ratio", idle));
        let troubles = diagnosed(&app(), &mut findings).troubles;
        troubles.iter().map(|trouble| trouble.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&[late(0.2)], 0.3), [TroubleKind::Stragglers]);
    assert_eq!(kinds(&[late(0.2)], 0.8).len(), 2);
    assert_eq!(kinds(&[late(0.6)], 0.9), [TroubleKind::Stragglers]);
    // Tasks with more data are waited for, too, alone or with stragglers.
    assert_eq!(kinds(&[skewed(0.2)], 0.3), [TroubleKind::Skew]);
    assert!(kinds(&[skewed(0.2)], 0.8).contains(&TroubleKind::IdleExecutors));
    assert!(!kinds(&[skewed(0.2), late(0.2)], 0.8).contains(&TroubleKind::IdleExecutors));
    // One skewed stage after the other is waited for.
    let other = Finding { subject: stage(2), ..skewed(0.2) };
    assert_eq!(kinds(&[skewed(0.2), other], 0.5), [TroubleKind::Skew; 2]);
    // Nothing else runs while attempts run that fail in the end; alone, or not at all.
    let failed = |lost| {
        let failed = finding("failed-attempts", TroubleKind::Failures, Subject::Application, Severity::Low);
        share(failed, "lost_ratio", lost)
    };
    assert_eq!(kinds(&[failed(0.7)], 0.8), [TroubleKind::Failures]);
    assert!(kinds(&[failed(0.2)], 0.8).contains(&TroubleKind::IdleExecutors));
    assert!(kinds(&[failed(0.3), late(0.2)], 0.8).contains(&TroubleKind::IdleExecutors));
}

/// Four tasks of a minute, of which four fifths are garbage collection, on one executor of four cores.
#[test]
fn fewer_cores_against_collections_are_judged_without_them() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let settled = |kind: TroubleKind| {
        let settings =
            [("spark.master", "yarn"), ("spark.executor.memory", "16g"), ("spark.executor.cores", "4")];
        let mut app = elephant_sample::app(&settings);
        (app.status, app.complete) = (Status::Succeeded, true);
        app.finished_at = Some(Timestamp::from_millis(61_000));
        elephant_sample::executor(&mut app, "1").cores = Some(4);
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 60_000); 4]);
        elephant_sample::count(&mut app, Counter::ExecutorRunTime, 60_000);
        elephant_sample::count(&mut app, Counter::GcTimeMillis, 48_000);
        elephant_sample::succeed(&mut app);
        let name = app.strings.intern("1");
        (0..4).for_each(|row| app.groups[0].attempts.set_executor(row, name));
        let found = finding("a", kind, Subject::Application, Severity::Severe);
        let mut findings = [advised(found, &[change("spark.executor.cores", "4", "2")])];
        let recorded = (&rules.measure(&app), RecordedOnce::default());
        diagnose(&app, Basis { rules: &rules, prices: None }, recorded, &mut findings).configuration.len()
    };
    assert_eq!(settled(TroubleKind::GarbageCollection), 1);
    assert_eq!(settled(TroubleKind::Imbalance), 0);
}

#[test]
fn advice_on_a_condition_is_not_said_to_name_no_setting() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let idle = finding("idle", TroubleKind::IdleExecutors, Subject::Application, Severity::Low);
    let why = |advice: Vec<Advice>| {
        let mut findings = [Finding { advice, ..idle.clone() }];
        let trouble = diagnosed(&app(), &mut findings).troubles.remove(0);
        match removal::of(&app(), &rules, &Metrics::default(), (&trouble, &[]), &[&findings[0]]) {
            Removal::Unknown(why) => why.to_string(),
            _ => String::new(),
        }
    };
    assert!(why(vec!["give cores work".into()]).contains("names no setting"));
    let dynamic = change("spark.dynamicAllocation.enabled", "", "true");
    assert!(why(vec![Advice::new("if").set([dynamic]).conditional()]).contains("does not show"));
}

/// The trouble that asks for less memory comes under another one with the same change, so nothing names it.
#[test]
fn advice_names_only_troubles_that_are_shown() {
    let heap = |to| change("spark.executor.memory", "8g", to);
    let failed =
        advised(finding("failed", TroubleKind::Failures, stage(1), Severity::Moderate), &[heap("12g")]);
    let gc = finding("gc", TroubleKind::GarbageCollection, Subject::Application, Severity::Severe);
    let gc = advised(gc, &[heap("12g")]);
    let unused = finding("unused", TroubleKind::MuchMemory, Subject::Application, Severity::Low);
    let mut findings = [failed, gc, advised(unused, &[heap("3g")])];
    let Diagnosed { troubles, configuration, .. } = diagnosed(&app(), &mut findings);
    let ids: Vec<&str> = troubles.iter().map(|trouble| trouble.id.as_str()).collect();
    assert!(!ids.contains(&"garbage-collection"), "{ids:?}");
    assert_eq!(configuration[0].why, ["failures"]);
    let lines = findings.iter().flat_map(|finding| &finding.advice);
    let lines: Vec<&Advice> = lines.chain(troubles.iter().flat_map(|trouble| &trouble.advice)).collect();
    assert!(lines.iter().any(|line| line.contains("because of failures: ")), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("garbage-collection")), "{lines:?}");
}

/// Two rules give the same setting to two stages, in other words.
#[test]
fn equal_advice_of_two_rules_appears_once() {
    let more = change("spark.sql.shuffle.partitions", "200", "400");
    let told = |rule, id, words: &str| {
        let told = finding(rule, TroubleKind::FewTasks, stage(id), Severity::Moderate);
        Finding { advice: vec![Advice::new(words).set([more.clone()])], ..told }
    };
    let troubles =
        groups::of(&[told("a", 1, "use more tasks"), told("b", 2, "divide the data further")], &built_in());
    assert_eq!((troubles.len(), troubles[0].advice.len()), (1, 1), "{troubles:?}");
    assert_eq!(troubles[0].findings.len(), 2);
}

/// Advice on stragglers that only points to the rule on skew is not repeated next to skew, whatever its words are.
#[test]
fn a_consequence_is_recognised_whatever_its_text() {
    let lines = |words: &str, see: Option<&'static str>| {
        let skew = Finding {
            advice: vec!["salt the keys".into()],
            ..finding("spark-skew", TroubleKind::Skew, stage(4), Severity::Severe)
        };
        let late = finding("late", TroubleKind::Stragglers, stage(4), Severity::Low);
        let advice = Advice::new(words);
        let advice = vec![see.map_or(advice.clone(), |rule| advice.see_rule(rule))];
        let troubles = diagnosed(&app(), &mut [skew, Finding { advice, ..late }]).troubles;
        assert_eq!(troubles.len(), 1);
        troubles[0].advice.len()
    };
    assert_eq!(lines("spread the data (`rules show spark-skew`)", Some("spark-skew")), 1);
    assert_eq!(lines("spread the data", Some("spark-skew")), 1);
    assert_eq!(lines("spread the data", Some("spark-fetch-wait")), 2);
    assert_eq!(lines("replace the disk", None), 2);
}

/// A small application whose settings stay: both caps bound the finding, and the lower one decides.
#[test]
fn of_two_caps_the_lower_one_decides() {
    let mut settings = finding("a", TroubleKind::Settings, Subject::Application, Severity::Severe);
    settings.cap(Cap { at_most: Severity::Moderate, why: CapReason::SmallRun });
    let limit = change("spark.dynamicAllocation.maxExecutors", "", "9");
    let mut findings = [advised(settings, &[limit])];
    diagnosed(&app(), &mut findings);
    let [found] = findings;
    assert_eq!((found.severity, found.raw_severity), (Severity::None, Severity::Severe));
    assert_eq!(found.caps.deciding().map(|cap| &cap.why), Some(&CapReason::SettingsStay));
    assert_eq!(found.caps.iter().count(), 2);
}

/// "Keep it" is no advice.
#[test]
fn settings_that_stay_are_no_trouble_if_nothing_else_is_advised() {
    let settings = finding("a", TroubleKind::Settings, Subject::Application, Severity::Severe);
    let mut findings = [advised(settings, &[change("spark.dynamicAllocation.maxExecutors", "", "9")])];
    assert!(diagnosed(&app(), &mut findings).troubles.is_empty());
    let [found] = findings;
    assert_eq!(
        (found.severity, found.raw_severity, found.advice.len()),
        (Severity::None, Severity::Severe, 0)
    );
}
