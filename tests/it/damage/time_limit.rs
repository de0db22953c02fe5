//! The time limit for reading.

use elephant_rs::engine::{self, Options};
use elephant_rs::limits::Limits;
use elephant_rs::rules::RuleSet;
use elephant_rs::units::Millis;

use elephant_testing::make::{spark_end, spark_start, stage};

#[test]
fn time_limit_stops_reading_and_warns_that_results_vary() {
    let folder = tempfile::tempdir().unwrap();
    let spark = folder.path().join("app-1");
    let stages: String = (0..2000).map(|id| stage(id, 0)).collect();
    std::fs::write(&spark, spark_start() + &stages + &spark_end()).unwrap();
    let rules = RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap();
    let codes_within = |time| {
        let limits = Limits { time: Some(time), ..Limits::default() };
        let report =
            engine::analyze(std::slice::from_ref(&spark), &rules, Options { limits, ..Options::default() });
        report
            .problems
            .into_iter()
            .map(|entry| (entry.problem.code.into_owned(), entry.problem.message))
            .collect::<Vec<_>>()
    };
    // The time is over before the first byte is read.
    let codes = codes_within(Millis::ZERO);
    assert_eq!(codes.iter().map(|(code, _)| &**code).collect::<Vec<_>>(), ["limit-reached", "no-events"]);
    assert!(codes[0].1.contains("--max-time") && codes[0].1.contains("differs from run to run"), "{codes:?}");
    assert!(codes_within(Millis::from_secs(3600)).iter().all(|(code, _)| *code != "limit-reached"));
}
