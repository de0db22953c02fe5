use super::*;
use elephant_base::units::Timestamp;
use elephant_model::model::conf::Property;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Engine, MasterAttempt, Status};
use elephant_rule::finding::Finding;

const MINUTE: i64 = 60_000;

fn moment(minutes: i64) -> Timestamp {
    Timestamp::from_millis(minutes * MINUTE)
}

/// Successful tasks, each from one minute to another.
fn group(kind: TaskKind, times: &[(i64, i64)]) -> TaskGroup {
    let mut group = TaskGroup::new(kind);
    for (number, &(start, finish)) in (0..).zip(times) {
        let task = group.tasks.push(number);
        let row = group.attempts.push(number, 0);
        group.attempts.set_outcome(row, Outcome::Succeeded);
        group.attempts.set_time(row, TimePoint::Start, Some(moment(start)));
        group.attempts.set_time(row, TimePoint::Finish, Some(moment(finish)));
        group.tasks.set_representative(task, Some(row));
    }
    group
}

fn job(groups: Vec<TaskGroup>, finished: i64) -> Application {
    let mut app = Application::new(Engine::MapReduce);
    app.status = Status::Succeeded;
    app.complete = true;
    app.queue = Some("etl".to_owned());
    app.submitted_at = Some(moment(0));
    app.finished_at = Some(moment(finished));
    app.groups = groups;
    app
}

fn found(app: &Application) -> Finding {
    found_by("rule: wait-time\nwaves: [1, 1000, 1000, 1000]\n", app)
}

fn found_by(rules: &str, app: &Application) -> Finding {
    let evaluation = elephant_sample::evaluate_all(app, rules);
    evaluation.findings.into_iter().find(|finding| finding.rule == RULE.id).unwrap()
}

#[test]
fn a_first_task_that_started_late() {
    let found = found(&job(vec![group(TaskKind::Map, &[(100, 110), (100, 120)])], 120));
    // The longest map task could have finished after 20 minutes.
    assert_eq!(
        (found.severity, found.message.as_str()),
        (
            Severity::Severe,
            "waited 1h 40m of its run time of 2h, 83.3 %; its first map task started 1h 40m late \
             (severe from 70 %)"
        )
    );
    assert_eq!(
        found.advice,
        [
            "if queue etl had no free capacity for its map tasks, which the history does not show: use another queue \
             (mapreduce.job.queuename), run off-peak, or add capacity"
        ]
    );
}

#[test]
fn the_share_says_how_bad_a_wait_is() {
    // A map task of a minute after this many minutes.
    let severity = |wait: i64| {
        let app = job(vec![group(TaskKind::Map, &[(wait, wait + 1)])], wait + 1);
        elephant_sample::severity(&app, RULE.id, false).unwrap()
    };
    // Nearly all of the run. Short runs stay low.
    assert_eq!([2, 9, 29, 119, 121].map(severity), Severity::ALL);
    // Half of an hour, and less.
    let half = |wait: i64| {
        let app = job(vec![group(TaskKind::Map, &[(wait, 60)])], 60);
        elephant_sample::severity(&app, RULE.id, false).unwrap()
    };
    assert_eq!(
        [half(17), half(29), half(31), half(43)],
        [Severity::None, Severity::Low, Severity::Moderate, Severity::Severe]
    );
}

#[test]
fn the_kind_that_waited_most_is_reported() {
    // Two waves of map tasks, and a reduce task that starts an hour after the first map task ended.
    let maps = group(TaskKind::Map, &[(0, 5), (0, 5), (5, 10), (5, 10)]);
    let found = found(&job(vec![maps, group(TaskKind::Reduce, &[(65, 70)])], 70));
    assert!(found.message.contains("; its first reduce task started 1h late"), "{}", found.message);
}

#[test]
fn failed_attempts_are_not_missing_capacity() {
    let mut maps = group(TaskKind::Map, &[(0, 10), (0, 10), (120, 130)]);
    for (number, (start, finish)) in (1..).zip([(0, 60), (60, 120)]) {
        let row = maps.attempts.push(2, number);
        maps.attempts.set_outcome(row, Outcome::Failed);
        maps.attempts.set_time(row, TimePoint::Start, Some(moment(start)));
        maps.attempts.set_time(row, TimePoint::Finish, Some(moment(finish)));
    }
    let found = found(&job(vec![maps], 130));
    assert!(
        found.message.contains("; map 2 ended last, after 2 attempts that failed within 2h"),
        "{}",
        found.message
    );
    assert!(found.advice[0].starts_with("find out why the other attempts of map 2 failed"));
}

#[test]
fn killed_attempts_are_not_failures() {
    // Killed for others after a minute, then two hours without capacity.
    let mut maps = group(TaskKind::Map, &[(0, 10), (0, 10), (120, 130)]);
    let row = maps.attempts.push(2, 1);
    maps.attempts.set_outcome(row, Outcome::Killed);
    maps.attempts.set_time(row, TimePoint::Start, Some(moment(0)));
    maps.attempts.set_time(row, TimePoint::Finish, Some(moment(1)));
    let found = found(&job(vec![maps], 130));
    assert!(found.message.contains("; map tasks started late"), "{}", found.message);
}

#[test]
fn attempts_that_the_cluster_killed_are_not_missing_capacity() {
    let mut maps = group(TaskKind::Map, &[(0, 10), (0, 10), (120, 130)]);
    let rows: Vec<usize> = [(0, 60), (60, 120)]
        .into_iter()
        .map(|(start, finish)| {
            let row = maps.attempts.push(2, 1);
            maps.attempts.set_outcome(row, Outcome::Killed);
            maps.attempts.set_time(row, TimePoint::Start, Some(moment(start)));
            maps.attempts.set_time(row, TimePoint::Finish, Some(moment(finish)));
            row
        })
        .collect();
    let mut job = job(Vec::new(), 130);
    let text = job.strings.intern("Container preempted by scheduler").unwrap();
    for row in rows {
        maps.attempts.set_diagnostics(row, text);
    }
    job.groups.push(maps);
    let found = found(&job);
    assert!(
        found.message.contains("; map 2 ended last, after 2 attempts that the cluster killed within 2h"),
        "{}",
        found.message
    );
    assert_eq!(found.time("failed_before_ms"), Some(Millis::from_secs(7200)));
}

#[test]
fn an_application_master_that_started_late() {
    let mut job = job(vec![group(TaskKind::Map, &[(100, 120)])], 120);
    job.masters.push(MasterAttempt { started_at: Some(moment(90)), node: None });
    let found = found(&job);
    assert!(found.message.contains("; its application master started after 1h 30m"), "{}", found.message);
    assert!(
        found.advice[0].starts_with("if queue etl had no free capacity for its application master"),
        "{:?}",
        found.advice
    );
}

#[test]
fn an_application_master_that_was_started_again() {
    // The first master died after 89 minutes, and its work was lost.
    let mut restarted = job(vec![group(TaskKind::Map, &[(91, 110)])], 110);
    for minutes in [1, 90] {
        restarted.masters.push(MasterAttempt { started_at: Some(moment(minutes)), node: None });
    }
    let found = found(&restarted);
    assert!(
        found.message.contains(
            "; its application master was started again after 1h 30m, and the work of 1h 30m before that was lost"
        ),
        "{}",
        found.message
    );
    assert!(found.advice[0].starts_with("find out why the application master before the last one ended"));
    // Its work was kept.
    restarted.groups = vec![group(TaskKind::Map, &[(1, 30), (30, 60), (60, 90), (91, 110)])];
    let waves = self::found(&restarted);
    assert!(waves.message.contains("; at most 1 of 4 map tasks ran concurrently"), "{}", waves.message);
}

#[test]
fn reduces_that_wait_for_containers_of_maps_do_not_blame_the_queue() {
    // Maps keep both containers busy for two hours. Reduces could start after ten minutes.
    let maps: Vec<(i64, i64)> = (0..24).map(|map| (map / 2 * 10, map / 2 * 10 + 10)).collect();
    let reduces = group(TaskKind::Reduce, &[(120, 130), (125, 255)]);
    let job = job(vec![group(TaskKind::Map, &maps), reduces], 255);
    let told = found(&job).message;
    assert!(told.contains("; its own tasks held its containers: at most 2 of 26 ran concurrently"), "{told}");
    // A few waves are usual.
    assert_eq!(found_by("", &job).severity, Severity::None);
}

#[test]
fn few_containers_at_first_are_no_waves() {
    // One at a time for two hours, then twelve.
    let slow = (0..12).map(|map| (map * 10, map * 10 + 10));
    let maps: Vec<(i64, i64)> =
        slow.chain((0..36).map(|map| (120 + map / 12 * 10, 130 + map / 12 * 10))).collect();
    let found = found_by("", &job(vec![group(TaskKind::Map, &maps)], 150));
    assert_eq!(found.severity, Severity::Critical, "{}", found.message);
    assert!(
        found.message.contains(
            "; for 2h of it, about 1 of its tasks ran at a time while others waited; at other times up \
                                to 12 did"
        ),
        "{}",
        found.message
    );
    // The job's own limit comes first.
    let mut limited = job(vec![group(TaskKind::Map, &maps)], 150);
    let property = Property { value: "12".to_owned(), is_final: false };
    limited.conf.insert("mapreduce.job.running.map.limit".to_owned(), property);
    assert!(found_by("", &limited).message.contains("at most 12 of 48"));
}

#[test]
fn settings_of_the_job_itself_come_before_its_queue() {
    let rounds: Vec<(i64, i64)> = (0..6).map(|map| (map * 20, map * 20 + 20)).collect();
    let mut limited = job(vec![group(TaskKind::Map, &rounds)], 120);
    let property = Property { value: "1".to_owned(), is_final: false };
    limited.conf.insert("mapreduce.job.running.map.limit".to_owned(), property);
    assert_eq!(
        found(&limited).advice,
        ["allow more concurrent tasks: mapreduce.job.running.map.limit 1 → 2"]
    );
    let mut uber = job(vec![group(TaskKind::Map, &rounds)], 120);
    uber.uberized = Some(true);
    let found = found(&uber);
    assert!(
        found.message.contains("; its tasks ran one after another in its application master"),
        "{}",
        found.message
    );
    assert_eq!(found.advice, ["run its tasks in parallel: mapreduce.job.ubertask.enable → false"]);
}

#[test]
fn without_limits_a_wait_of_zero_is_not_a_finding() {
    let text = "rule: wait-time\nwait_share: off\nwait_time: off\n";
    let severity = |app: &Application| {
        let findings = elephant_sample::evaluate_all(app, text).findings;
        findings.into_iter().find(|finding| finding.rule == RULE.id).map(|finding| finding.severity)
    };
    assert_eq!(severity(&job(vec![group(TaskKind::Map, &[(0, 60)])], 60)), Some(Severity::None));
    assert_eq!(severity(&job(vec![group(TaskKind::Map, &[(1, 60)])], 60)), Some(Severity::Critical));
}

#[test]
fn waves_of_tasks() {
    // Six waves of two map tasks each.
    let maps: Vec<(i64, i64)> = (0..12).map(|map| (map / 2 * 10, map / 2 * 10 + 10)).collect();
    let reduces = group(TaskKind::Reduce, &[(10, 60)]);
    let found = found(&job(vec![group(TaskKind::Map, &maps), reduces], 60));
    assert_eq!(
        found.message,
        "waited 50m of its run time of 1h, 83.3 %; at most 2 of 12 map tasks ran concurrently (low from 1 wave)"
    );
    // The job worked all the time.
    assert_eq!(found.severity, Severity::Low);
    let evidence = |key: &str| found.evidence.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    assert_eq!(evidence("at_a_time_count"), Some(&Measure::Count(2)));
    assert_eq!(evidence("waiting_tasks_count"), Some(&Measure::Count(12)));
    assert!(
        found.advice[0].starts_with("if queue etl had capacity for only 2 of its map tasks"),
        "{:?}",
        found.advice
    );
}

#[test]
fn a_few_waves_are_usual() {
    let severity = |waves: i64| {
        let maps: Vec<(i64, i64)> = (0..2 * waves).map(|map| (map / 2 * 10, map / 2 * 10 + 10)).collect();
        found_by("", &job(vec![group(TaskKind::Map, &maps)], 10 * waves)).severity
    };
    assert_eq!((severity(49), severity(50)), (Severity::None, Severity::Low));
    // Very many waves are a job that hardly gets containers.
    assert_eq!((severity(149), severity(150)), (Severity::Low, Severity::Moderate));
}

#[test]
fn time_in_which_maps_and_reduces_wait_counts_once() {
    // Reduce tasks could start after five minutes, when the first map task ended.
    let maps = group(TaskKind::Map, &[(0, 5), (55, 60)]);
    let reduces = group(TaskKind::Reduce, &[(60, 65)]);
    let found = found(&job(vec![maps, reduces], 65));
    assert_eq!(
        found.message,
        "map tasks waited 55m and reduce tasks 55m of its run time of 1h 5m, together 92.3 %; for 50m of it, none \
         of its tasks ran while others waited; at other times up to 1 did (severe from 30m)"
    );
}

#[test]
fn a_job_that_starts_at_once_does_not_wait() {
    let found = found(&job(vec![group(TaskKind::Map, &[(0, 60), (0, 30)])], 60));
    assert_eq!((found.severity, found.advice.len()), (Severity::None, 0));
    assert_eq!(found.message, "waited 0 ms of its run time of 1h, 0 % (low from 30 %)");
}

#[test]
fn unknown_values_are_reported() {
    let reason = |app: &Application| {
        let evaluation = elephant_sample::evaluate_all(app, "");
        let own = evaluation.not_evaluated.into_iter().find(|missing| missing.rule == RULE.id);
        own.map(|missing| missing.reason).unwrap_or_default()
    };
    let mut without_submission = job(vec![group(TaskKind::Map, &[(0, 60)])], 60);
    without_submission.submitted_at = None;
    assert_eq!(
        reason(&without_submission),
        "the history does not contain the start or end of the application"
    );
    let mut untold = group(TaskKind::Reduce, &[(0, 60)]);
    untold.attempts.set_time(0, TimePoint::Start, None);
    let untold = job(vec![group(TaskKind::Map, &[(0, 60)]), untold], 60);
    assert_eq!(reason(&untold), "no reduce task reports its start and end");
}
