//! Executors that an application does not need, next to stages with too few tasks.

use super::*;

/// The troubles of stages that lose this share of the run, with 30 executors of which 4 are enough, and the advice on each.
fn troubles(lost: f64, enough: u64, idle: &[SettingChange]) -> Diagnosed {
    let few = finding("few", TroubleKind::FewTasks, stage(1), Severity::Severe);
    let few = advised(few, &[change("spark.default.parallelism", "10", "360")]);
    let few = Finding { evidence: vec![("lost_ratio".into(), Measure::Ratio(Some(lost)))], ..few };
    let executors = finding("idle", TroubleKind::IdleExecutors, Subject::Application, Severity::Moderate);
    let executors = advised(executors, idle);
    let counts = [("executors_count", 30), ("enough_executors_count", enough)];
    let evidence = counts.map(|(name, count)| (name.into(), Measure::Count(count))).to_vec();
    diagnosed(&app(), &mut [few, Finding { evidence, ..executors }])
}

fn number() -> [SettingChange; 1] {
    [change("spark.executor.instances", "30", "4")]
}

fn recommended(diagnosed: &Diagnosed) -> Vec<&str> {
    diagnosed.configuration.iter().map(|it| it.change.setting.as_str()).collect()
}

fn advice_on_tasks(diagnosed: &Diagnosed) -> Vec<(&str, bool)> {
    let few = diagnosed.troubles.iter().find(|it| it.kind == TroubleKind::FewTasks).unwrap();
    few.advice.iter().map(|line| (line.text.as_str(), line.conditional)).collect()
}

#[test]
fn executors_that_are_not_needed_are_a_trouble_next_to_few_tasks() {
    let found = troubles(0.6, 4, &number());
    assert_eq!(found.troubles.len(), 2);
    assert_eq!(recommended(&found), ["spark.executor.instances"]);
    let advice = advice_on_tasks(&found);
    assert!(
        advice[0].1
            && advice[0].0.starts_with("if run time matters more than memory, keep the executors and change"),
        "{advice:?}"
    );
}

#[test]
fn more_tasks_come_first_where_they_save_more() {
    let found = troubles(0.95, 4, &number());
    assert_eq!(found.troubles.len(), 1);
    assert_eq!(recommended(&found), ["spark.default.parallelism"]);
    let advice = advice_on_tasks(&found);
    assert!(!advice[0].1, "{advice:?}");
    assert!(
        advice[1].1 && advice[1].0.starts_with("if memory matters more than run time, instead change"),
        "{advice:?}"
    );
}

#[test]
fn a_minimum_of_executors_has_nothing_to_do_with_the_number_of_tasks() {
    let minimum = [change("spark.dynamicAllocation.minExecutors", "40", "0")];
    let found = troubles(0.95, 4, &minimum);
    assert_eq!(found.troubles.len(), 2);
    assert!(!advice_on_tasks(&found)[0].1);
}

/// Few tasks that lose a twentieth of the run do not leave cores idle for half of it.
#[test]
fn what_is_worse_than_few_tasks_has_another_cause() {
    let few = finding("few", TroubleKind::FewTasks, stage(1), Severity::Low);
    let idle = finding("idle", TroubleKind::IdleExecutors, Subject::Application, Severity::Moderate);
    let found = diagnosed(&app(), &mut [few, idle]).troubles;
    let severities: Vec<_> = found.iter().map(|it| (it.kind, it.severity)).collect();
    assert_eq!(
        severities,
        [(TroubleKind::IdleExecutors, Severity::Moderate), (TroubleKind::FewTasks, Severity::Low)]
    );
}

#[test]
fn a_few_spare_executors_are_a_consequence_of_few_tasks() {
    let found = troubles(0.3, 20, &number());
    assert_eq!(found.troubles.len(), 1);
    assert_eq!(recommended(&found), ["spark.default.parallelism"]);
    assert_eq!(advice_on_tasks(&found).len(), 1);
}
