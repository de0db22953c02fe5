//! A job that waits for one large task has one clear finding.

use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskKind, TimePoint};
use elephant_rule::finding::{Measured, TroubleKind};
use elephant_ruleset::RuleSet;

/// Five reduce tasks: four of 62 s, one of 728 s, which reads `bytes` times as much as each of the others.
fn job(bytes: i64) -> Application {
    let times = [62, 62, 62, 62, 728].map(|seconds| (0, Some(seconds)));
    let mut reduces = elephant_sample::tasks(TaskKind::Reduce, times);
    for row in 0..5 {
        let factor = if row == 4 { bytes } else { 1 };
        reduces.attempts.set_counter(row, Counter::ReduceShuffleBytes, Some(factor * (100 << 20)));
    }
    elephant_sample::job(vec![reduces], &[])
}

#[test]
fn one_large_reduce_task_is_one_critical_finding() {
    let findings = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().evaluate(&job(12)).findings;
    let bad: Vec<_> = findings.iter().filter(|finding| finding.severity > Severity::None).collect();
    assert_eq!(bad.len(), 1, "{bad:#?}");
    assert_eq!((bad[0].rule.as_ref(), bad[0].severity), ("reducer-skew", Severity::Critical));
    assert_eq!(bad[0].tells, TroubleKind::Skew);
    assert_eq!(
        bad[0].message,
        "4 reduce tasks read 100 MiB each, 1 reads 1.17 GiB: 12×; only the large ones still ran for 11m 6s, 91.5 % of the \
         time that tasks ran (critical from 40 %)"
    );
    // The other rules on long tasks leave it to this one; none of them says that the task is like the others.
    for finding in findings.iter().filter(|finding| finding.rule.starts_with("straggler")) {
        assert!(!finding.message.contains("not reached"), "{}: {}", finding.rule, finding.message);
        assert!(finding.message.contains("input"), "{}: {}", finding.rule, finding.message);
    }
}

#[test]
fn a_long_task_without_more_input_is_a_straggler() {
    let findings = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().evaluate(&job(1)).findings;
    let critical = findings.iter().filter(|finding| finding.severity == Severity::Critical);
    let told: Vec<_> = critical.map(|finding| (finding.rule.as_ref(), finding.tells)).collect();
    assert!(told.contains(&("reducer-skew", TroubleKind::Stragglers)), "{told:?}");
    assert!(told.iter().all(|(_, kind)| *kind == TroubleKind::Stragglers), "{told:?}");
}

/// The conditions on the data read, in addition to the ratio, and whether they hold.
fn conditions(app: &Application) -> Vec<(String, bool)> {
    let findings = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().evaluate(app).findings;
    let skew = findings.into_iter().find(|finding| finding.rule == "reducer-skew").unwrap();
    let of_data = skew.conditions.into_iter().filter(|condition| condition.of == Measured::Bytes);
    of_data.map(|condition| (condition.text, condition.holds)).collect()
}

#[test]
fn a_limit_in_a_chart_says_what_else_the_rule_needs() {
    let found = conditions(&job(12));
    assert!(!found.is_empty() && found.iter().all(|(_, holds)| *holds), "{found:?}");
    // The last task reads twelve times as much and takes as long as the others.
    let mut even = job(12);
    for row in 0..5 {
        even.groups[0].attempts.set_time(row, TimePoint::Finish, Some(Timestamp::from_millis(62_000)));
    }
    let harmless = conditions(&even);
    assert!(
        harmless.contains(&("share of the time lost: 0 %, low from 10 %".to_owned(), false)),
        "{harmless:?}"
    );
    let findings = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().evaluate(&even).findings;
    let skew = findings.iter().find(|finding| finding.rule == "reducer-skew").unwrap();
    assert!(skew.message.contains("(share of the time lost not reached: low from 10 %)"), "{}", skew.message);
    assert!(!skew.message.contains('_'), "{}", skew.message);
}

#[test]
fn short_tasks_that_are_too_few_say_so() {
    let few = elephant_sample::job(
        vec![elephant_sample::tasks(TaskKind::Map, [(0, Some(20)), (0, Some(20))])],
        &[],
    );
    let findings = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().evaluate(&few).findings;
    let time = findings.iter().find(|finding| finding.rule == "mapper-time").unwrap();
    assert_eq!(time.message, "2 map tasks run 20 s on average (number of tasks not reached: low from 50)");
    let conditions: Vec<_> =
        time.conditions.iter().map(|condition| (condition.text.as_str(), condition.holds)).collect();
    assert_eq!(conditions.first(), Some(&("number of map tasks: 2, low from 50", false)));
}
