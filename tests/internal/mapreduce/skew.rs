//! A job that waits for one large task has one clear finding.

use elephant_rs::finding::TroubleKind;
use elephant_rs::internal::sample;
use elephant_rs::model::Application;
use elephant_rs::model::counters::Counter;
use elephant_rs::model::table::TaskKind;
use elephant_rs::rules::RuleSet;
use elephant_rs::severity::Severity;

/// Five reduce tasks: four of 62 s, one of 728 s. The bytes of the long one over those of the others.
fn job(bytes: i64) -> Application {
    let times = [62, 62, 62, 62, 728].map(|seconds| (0, Some(seconds)));
    let mut reduces = sample::tasks(TaskKind::Reduce, times);
    for row in 0..5 {
        let factor = if row == 4 { bytes } else { 1 };
        reduces.attempts.set_counter(row, Counter::ReduceShuffleBytes, Some(factor * (100 << 20)));
    }
    sample::job(vec![reduces], &[])
}

#[test]
fn one_large_reduce_task_is_one_critical_finding() {
    let findings = RuleSet::built_in().unwrap().evaluate(&job(12)).findings;
    let bad: Vec<_> = findings.iter().filter(|finding| finding.severity > Severity::None).collect();
    assert_eq!(bad.len(), 1, "{bad:#?}");
    assert_eq!((bad[0].rule.as_ref(), bad[0].severity), ("reducer-skew", Severity::Critical));
    assert_eq!(bad[0].tells, TroubleKind::Skew);
    assert_eq!(
        bad[0].message,
        "4 reduce tasks read 100 MiB each, 1 reads 1.17 GiB: 12×; only the large ones still ran for 11m 6s, 91.5 % of the \
         time that tasks ran (critical from 50 %)"
    );
    // The other rules on long tasks leave it to this one; none of them says that the task is like the others.
    for finding in findings.iter().filter(|finding| finding.rule.starts_with("straggler")) {
        assert!(!finding.message.contains("not reached"), "{}: {}", finding.rule, finding.message);
        assert!(finding.message.contains("input"), "{}: {}", finding.rule, finding.message);
    }
}

#[test]
fn a_long_task_without_more_input_is_a_straggler() {
    let findings = RuleSet::built_in().unwrap().evaluate(&job(1)).findings;
    let critical = findings.iter().filter(|finding| finding.severity == Severity::Critical);
    let told: Vec<_> = critical.map(|finding| (finding.rule.as_ref(), finding.tells)).collect();
    assert!(told.contains(&("reducer-skew", TroubleKind::Stragglers)), "{told:?}");
    assert!(told.iter().all(|(_, kind)| *kind == TroubleKind::Stragglers), "{told:?}");
}
