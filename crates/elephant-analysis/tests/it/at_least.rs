//! Lower limits of what incomplete applications cost.

use elephant_analysis::metrics::AtLeast;
use elephant_base::units::Bytes;
use elephant_base::units::{MbMillis, Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::spark::{Executor, Spark};
use elephant_model::model::table::TaskKind;
use elephant_model::model::table::{TaskGroup, TimePoint};
use elephant_model::model::{Engine, Status};
use elephant_ruleset::RuleSet;

const fn minute(minutes: i64) -> Timestamp {
    Timestamp::from_millis(60_000 * minutes)
}

fn at_least(app: &Application) -> AtLeast {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    AtLeast::of(app, &rules.measure(app), (rules.metrics(), rules.spark_metrics()))
}

#[test]
fn attempts_with_known_ends_cost_at_least_their_containers() {
    let mut app = Application::new(Engine::MapReduce);
    app.status = Status::Running;
    app.events_missing = true;
    app.submitted_at = Some(minute(0));
    elephant_sample::set(&mut app, &[("mapreduce.map.memory.mb", "2048")]);
    let mut group = TaskGroup::new(TaskKind::Map);
    for (number, end) in [(0, Some(minute(4))), (1, Some(minute(9))), (2, None)] {
        group.tasks.push(number);
        let row = group.attempts.push(number, 0);
        group.attempts.set_time(row, TimePoint::Start, Some(minute(1)));
        group.attempts.set_time(row, TimePoint::Finish, end);
    }
    app.groups = vec![group];
    let used = MbMillis::of(Bytes::from_mib(2048), Millis::from_secs(11 * 60));
    assert_eq!(at_least(&app), AtLeast { run_time: Some(Millis::from_secs(9 * 60)), used: Some(used) });
}

/// That no attempt is left of an incomplete history does not mean that none ran.
#[test]
fn costs_of_which_nothing_is_left_are_unknown() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let mut app = Application::new(Engine::MapReduce);
    (app.status, app.finished_at) = (Status::Failed, Some(minute(9)));
    elephant_sample::set(&mut app, &[("mapreduce.map.memory.mb", "2048")]);
    let costs = |app: &Application| {
        let metrics = rules.measure(app);
        [metrics.used, metrics.wasted, metrics.failed_attempts, metrics.killed_attempts]
    };
    assert_eq!(costs(&app), [Some(MbMillis::ZERO); 4]);
    app.events_missing = true;
    assert_eq!(costs(&app), [None; 4]);
}

#[test]
fn executors_cost_at_least_what_they_held_until_the_last_event() {
    let mut app = Application::new(Engine::Spark);
    app.status = Status::Running;
    app.submitted_at = Some(minute(0));
    let settings = [
        ("spark.master", "spark://a:7077"),
        ("spark.submit.deployMode", "client"),
        ("spark.executor.memory", "1g"),
        ("spark.driver.memory", "1g"),
    ];
    elephant_sample::set(&mut app, &settings);
    let executor = |added_at, removed_at| Executor {
        id: "1".to_owned(),
        cores: Some(1),
        added_at,
        removed_at,
        ..Executor::default()
    };
    let mut spark = Spark { executors: vec![executor(Some(minute(1)), Some(minute(5)))], ..Spark::default() };
    spark.log.last_event = Some(minute(10));
    spark.gaps.end = true;
    app.spark = Some(Box::new(spark));
    let one = at_least(&app).used.unwrap();
    assert_eq!(at_least(&app).run_time, Some(Millis::from_secs(600)));
    let spark = app.spark.as_mut().unwrap();
    spark.executors.extend([executor(Some(minute(1)), None), executor(None, None)]);
    let two = at_least(&app).used.unwrap();
    // Four minutes of one executor, and nine of another.
    let four = MbMillis::of(Bytes::from_mib(1024), Millis::from_secs(4 * 60));
    let nine = MbMillis::of(Bytes::from_mib(1024), Millis::from_secs(9 * 60));
    assert!(one >= four && two - one >= nine, "{one:?} {two:?}");
    // A lost line may have been the removal of the executor, on which no task is known.
    app.spark.as_mut().unwrap().gaps.unreadable = 1;
    assert_eq!(at_least(&app).used, Some(one));
}
