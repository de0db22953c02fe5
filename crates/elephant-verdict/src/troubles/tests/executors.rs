//! Executors of one configuration, and troubles with the same change.

use super::*;

fn large_executors() -> Application {
    let settings = [
        ("spark.master", "yarn"),
        ("spark.executor.memory", "16g"),
        ("spark.executor.cores", "16"),
        ("spark.executor.instances", "4"),
    ];
    elephant_sample::app(&settings)
}

fn executors(cores: &str, instances: &str, heap: Option<&str>) -> Vec<SettingChange> {
    let mut changes =
        vec![change("spark.executor.cores", "16", cores), change("spark.executor.instances", "4", instances)];
    changes.extend(heap.map(|heap| change("spark.executor.memory", "16g", heap)));
    changes
}

fn values(configuration: &[Recommended]) -> Vec<&str> {
    configuration.iter().map(|it| it.change.to.as_str()).collect()
}

fn out_of_memory(severity: Severity) -> Finding {
    let failure = Failure {
        kind: elephant_model::diagnosis::FailureKind::HeapSpace,
        exception: None,
        exit_code: None,
        message: None,
    };
    Finding { failure: Some(failure), ..finding("failed", TroubleKind::Failures, stage(1), severity) }
}

#[test]
fn executors_come_from_one_trouble_as_a_whole() {
    let settings = finding("settings", TroubleKind::Settings, Subject::Application, Severity::Critical);
    let settings = advised(settings, &executors("4", "16", Some("4g")));
    let gc = finding("gc", TroubleKind::GarbageCollection, Subject::Application, Severity::Moderate);
    for pressing in [out_of_memory(Severity::Moderate), gc] {
        let mut findings = [settings.clone(), advised(pressing, &executors("8", "8", None))];
        let Diagnosed { troubles, configuration, .. } = diagnosed(&large_executors(), &mut findings);
        assert_eq!(values(&configuration), ["8", "8"]);
        // What is left of the other one is the same change.
        assert_eq!(troubles.len(), 1, "{troubles:?}");
        assert_eq!(troubles[0].tells(&findings[0]), Some(true));
        assert!(configuration.iter().all(|it| it.why == [troubles[0].id.clone()]), "{configuration:?}");
    }
    // Alone, it has its own executors.
    let configuration = diagnosed(&large_executors(), &mut [settings]).configuration;
    assert_eq!(values(&configuration), ["4", "16", "4g"]);
}

#[test]
fn tasks_never_get_less_heap_where_it_is_short() {
    let much = finding("unused", TroubleKind::MuchMemory, Subject::Application, Severity::Critical);
    let much = advised(much, &[change("spark.executor.memory", "16g", "13g")]);
    let settings = finding("settings", TroubleKind::Settings, Subject::Application, Severity::Severe);
    let settings = advised(settings, &executors("8", "8", Some("4g")));
    let gc = |severity| finding("gc", TroubleKind::GarbageCollection, Subject::Application, severity);
    for short in [out_of_memory(Severity::Low), gc(Severity::Moderate)] {
        let short_is_gc = short.tells == TroubleKind::GarbageCollection;
        let mut findings = [much.clone(), settings.clone(), short];
        let Diagnosed { troubles, configuration, .. } = diagnosed(&large_executors(), &mut findings);
        assert_eq!(values(&configuration), [""; 0]);
        let place = |kind| troubles.iter().position(|it| it.kind == kind).unwrap();
        // Without a larger heap as its remedy, nothing tells that a smaller one makes collections worse.
        let why = if short_is_gc { "in garbage collection" } else { "less would make " };
        assert!(findings[0].advice[0].text.contains(why), "{}", findings[0].advice[0]);
        if let Some(collects) = troubles.iter().position(|it| it.kind == TroubleKind::GarbageCollection) {
            assert!(collects < place(TroubleKind::MuchMemory), "{troubles:?}");
        }
    }
}

#[test]
fn troubles_with_the_same_change_are_one() {
    let heap = [change("spark.executor.memory", "8g", "3g")];
    let much = finding("unused", TroubleKind::MuchMemory, Subject::Application, Severity::Moderate);
    let settings = finding("settings", TroubleKind::Settings, Subject::Application, Severity::Critical);
    let mut findings = [advised(settings.clone(), &heap), advised(much.clone(), &heap)];
    let Diagnosed { troubles, configuration, .. } = diagnosed(&app(), &mut findings);
    assert_eq!(troubles.len(), 1);
    assert_eq!((troubles[0].kind, troubles[0].severity), (TroubleKind::MuchMemory, Severity::Critical));
    assert_eq!(configuration[0].why, ["much-memory"]);
    // A failure and the garbage collection before it.
    let heap = [change("spark.executor.memory", "8g", "16g")];
    let gc = finding("gc", TroubleKind::GarbageCollection, Subject::Application, Severity::Severe);
    let mut findings = [advised(gc, &heap), advised(out_of_memory(Severity::Severe), &heap)];
    let troubles = diagnosed(&app(), &mut findings).troubles;
    assert_eq!(troubles.iter().map(|it| it.kind).collect::<Vec<_>>(), [TroubleKind::Failures]);
}

#[test]
fn a_remedy_of_a_cause_is_not_repeated() {
    let heap = change("spark.executor.memory", "8g", "16g");
    let mut app = app();
    app.spark.as_deref_mut().unwrap().sql.push(SqlExecution::new(1));
    let gc = finding("gc", TroubleKind::GarbageCollection, Subject::Application, Severity::Severe);
    let spill = finding("spill", TroubleKind::Spill, Subject::Application, Severity::Severe);
    let partitions = change("spark.sql.shuffle.partitions", "8", "96");
    let lines = [heap.clone(), partitions.clone()].map(|change| Advice::new("change").set([change]));
    let spill = Finding { advice: lines.to_vec(), ..spill };
    let troubles = diagnosed(&app, &mut [advised(gc, std::slice::from_ref(&heap)), spill]).troubles;
    let changes: Vec<_> = troubles.iter().map(|it| (it.kind, it.change.clone())).collect();
    assert!(changes.contains(&(TroubleKind::GarbageCollection, vec![heap])), "{changes:?}");
    assert!(changes.contains(&(TroubleKind::Spill, vec![partitions])), "{changes:?}");
}

/// Rules compute the overhead for their own heap.
#[test]
fn the_overhead_fits_the_heap_that_is_settled() {
    let app =
        |settings: &[(&str, &str)]| elephant_sample::app(&[&[("spark.master", "yarn")], settings].concat());
    let heap = |to| change("spark.executor.memory", "20g", to);
    let overhead = |to| change("spark.executor.memoryOverhead", "", to);
    let larger = finding("gc", TroubleKind::GarbageCollection, Subject::Application, Severity::Severe);
    let smaller = finding("unused", TroubleKind::MuchMemory, Subject::Application, Severity::Severe);
    let killed = finding("killed", TroubleKind::Failures, stage(1), Severity::Severe);
    let settled = |settings: &[(&str, &str)], mut findings: [Finding; 2]| {
        let configuration = diagnosed(&app(settings), &mut findings).configuration;
        let of = |key: &str| configuration.iter().find(|it| it.change.setting == key);
        let of = |key: &str| of(key).map(|it| it.change.to.clone()).unwrap_or_default();
        (of("spark.executor.memory"), of("spark.executor.memoryOverhead"))
    };
    let memory = [("spark.executor.memory", "20g")];
    // The default would be a tenth of the larger heap.
    let little = advised(
        finding("pools", TroubleKind::LittleMemory, Subject::Application, Severity::Low),
        &[overhead("2g")],
    );
    let both = settled(&memory, [advised(larger, &[heap("40g")]), little]);
    assert_eq!(both, ("40g".to_owned(), "4g".to_owned()));
    // After kills, the container keeps what the heap gives up.
    let both = settled(&memory, [advised(smaller, &[heap("8g")]), advised(killed, &[overhead("3g")])]);
    assert_eq!(both, ("8g".to_owned(), "15g".to_owned()));
}
