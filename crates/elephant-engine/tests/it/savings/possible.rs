//! What all remedies save together is possible: the work of the tasks is left, and each change counts once.

use proptest::prelude::*;

use super::*;
use elephant_analysis::metrics::executor_memory_factor;
use elephant_analysis::replay::PerMille;
use elephant_analysis::replay::spark::{Cause as Of, Change, Plan};

/// The core-hours that the application held, and the least that its tasks work after any set of the remedies.
fn cores(app: &Application, rules: &RuleSet) -> (f64, f64) {
    let metrics = rules.measure(app);
    let [used, idle] = [metrics.cores_used, metrics.cores_idle].map(|cores| cores.unwrap().as_core_hours());
    let plan = Plan::of(app).unwrap();
    let work = |change: &Change| plan.replay(change).unwrap().replayed.task_time.as_f64();
    let causes = [
        Of::Collections(None, PerMille::of_share(0.1)),
        Of::Spill(None),
        Of::Stragglers(None),
        Of::Skew(None),
    ];
    let sets = (0..1_u32 << causes.len()).map(|set| {
        let members = (0..causes.len()).filter(|place| set >> place & 1 == 1).map(|place| &causes[place]);
        plan.without(app, members).map_or(f64::INFINITY, |change| work(&change))
    });
    (used + idle, used * sets.fold(f64::INFINITY, f64::min) / work(&Change::default()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_work_of_tasks_is_left(stages in stages(), slots in 1..8_u32, idle in 0.0..1.0f64, heap in 0.0..1.0f64) {
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let causes = [Cause::Collections { limit: 0.1 }, Cause::Spill, Cause::Stragglers, Cause::Skew];
        let memory = Removal::Memory(MemoryChange { maps: Some(heap), ..MemoryChange::default() });
        let mut removals: Vec<Removal> = causes.into_iter().map(everywhere).collect();
        removals.extend([memory.clone(), memory, Removal::Idle { share: idle }, Removal::Idle { share: idle }]);
        let ((held, work), memory, savings) = judged(&application(&stages, slots), |app| {
            (cores(app, &rules), rules.measure(app).used.unwrap().as_gb_hours(), savings(app, &rules, &removals))
        });
        let joint = savings.application.joint;
        let (of_cores, of_memory) = (joint.core_hours.unwrap(), joint.gb_hours.unwrap());
        let rounding = 1e-6 * held;
        prop_assert!(of_cores.point <= held - work + rounding, "{of_cores:?} of {held}, {work} for tasks");
        prop_assert!(of_cores.high <= held - work + rounding, "{of_cores:?} of {held}, {work} for tasks");
        let left = work / held * (1.0 - heap) * memory;
        prop_assert!(of_memory.high <= memory - left + 1e-6 * memory, "{of_memory:?} of {memory}");
        savings.troubles.iter().filter(|trouble| trouble.share.is_some()).for_each(check);
    }
}

/// Without skew, less time is idle. Idle time that the removal of skew already saves must not be saved again.
#[test]
fn idle_time_that_a_remedy_ends_is_not_given_back_besides() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let mut tasks = vec![(100, 3); 40];
    tasks.push((20_000, 2));
    let (idle, found) = judged(&application(&vec![tasks], 4), |app| {
        let metrics = rules.measure(app);
        let share = metrics.idle_percent().unwrap() / 100.0;
        let removals = [everywhere(Cause::Skew), Removal::Idle { share }];
        (metrics.cores_idle.unwrap().as_core_hours(), savings(app, &rules, &removals))
    });
    let joint = found.application.joint.core_hours.unwrap();
    assert!(joint.high <= idle * (1.0 + 1e-9) && joint.point > 0.9 * idle, "{joint:?} of {idle}");
}

/// The proposals are smaller executors and, in a replay, a smaller heap.
#[test]
fn a_size_that_two_troubles_propose_counts_once() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let mut app = application(&vec![vec![(10_000, 3); 8]], 4);
    app.conf.push(("spark.executor.memory".to_owned(), "8g".to_owned()));
    let heap = Bytes::from_mib(1024);
    let (factor, held, found) = judged(&app, |app| {
        let factor = executor_memory_factor(app, rules.spark_metrics(), (Some(heap), None)).unwrap();
        let resources = Resources { memory: Some(heap), ..Resources::default() };
        let smaller =
            Removal::Memory(MemoryChange { executors: Some((resources, factor)), ..MemoryChange::default() });
        let removals = [smaller.clone(), Removal::Resized(resources, None), smaller];
        (factor, rules.measure(app).used.unwrap().as_gb_hours(), savings(app, &rules, &removals))
    });
    let saved = (1.0 - factor) * held;
    let joint = found.application.joint.gb_hours.unwrap().point;
    assert!(factor < 0.5 && (joint - saved).abs() < 1e-6 * held, "{joint} {saved}");
    for trouble in &found.troubles {
        assert!((trouble.alone.unwrap().gb_hours.unwrap().point - saved).abs() < 1e-6 * held, "{trouble:?}");
        assert!((trouble.share.unwrap().gb_hours.unwrap().point - saved / 3.0).abs() < 1e-6 * held);
    }
}

/// Giving up slots of as many executors frees no memory, so it is not a saving.
#[test]
fn fewer_cores_of_as_many_executors_save_nothing_if_the_run_is_longer() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let resources = Resources { cores: Some(4), ..Resources::default() };
    let saved = judged(&application(&vec![vec![(1000, 3); 10]; 2], 16), |app| {
        savings(app, &rules, &[Removal::Resized(resources, None)])
    });
    assert_eq!(saved.troubles[0].status, SavingStatus::WithinError, "{saved:?}");
    assert!(saved.application.joint.is_nothing(), "{saved:?}");
}

/// Two hundred short tasks; one with much more data and one straggler end at about the same time.
fn held_up_twice() -> App {
    let mut tasks = vec![(100, 3); 200];
    tasks.splice(100..100, [(20_000, 3), (20_000, 2)]);
    application(&vec![tasks], 4)
}

#[test]
fn troubles_that_save_nothing_alone_may_save_together() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let removals = [everywhere(Cause::Skew), everywhere(Cause::Failures), everywhere(Cause::Stragglers)];
    let found = judged(&held_up_twice(), |app| savings(app, &rules, &removals));
    let [skew, failures, stragglers] = &found.troubles[..] else { panic!("{found:?}") };
    assert_eq!(failures.status, SavingStatus::WithinError, "there were none: {failures:?}");
    for trouble in [skew, stragglers] {
        assert_eq!(trouble.status, SavingStatus::Estimated, "{trouble:?}");
        assert!(trouble.besides().is_some_and(|words| words.contains("other remedies")), "{trouble:?}");
        assert!(seconds(trouble).1 < 1.0 && trouble.share.unwrap().wall_ms.point > 4000.0, "{trouble:?}");
    }
    assert!(found.application.joint.wall_ms.point > 10_000.0, "{found:?}");
    check_sum(&found.application, &found.troubles);
}

#[test]
fn skew_beside_a_straggler_is_told_with_both() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let both = judged(&held_up_twice(), |app| savings(app, &rules, &[everywhere(Cause::Uneven)]));
    let trouble = &both.troubles[0];
    assert_eq!(trouble.status, SavingStatus::Estimated, "{trouble:?}");
    assert!(seconds(trouble).1 > 10.0 && trouble.besides().is_some(), "{trouble:?}");
    // Without a straggler, only the skew is reported.
    let mut tasks = vec![(100, 3); 200];
    tasks.push((20_000, 2));
    let skew =
        judged(&application(&vec![tasks], 4), |app| savings(app, &rules, &[everywhere(Cause::Uneven)]));
    assert!(skew.troubles[0].besides().is_none() && seconds(&skew.troubles[0]).1 > 10.0, "{skew:?}");
}
