//! Node ranking on synthetic clusters.

use elephant_base::units::{Millis, Timestamp};
use elephant_engine::nodes::cluster::Cluster;
use elephant_engine::nodes::collect::{Hosts, Sample};
use elephant_engine::nodes::run::Run;
use elephant_engine::nodes::settings::{Indicator, Settings};
use elephant_engine::nodes::{self, NodeTypes, Ranking};
use proptest::prelude::*;

/// Jobs in reading order: tasks as host, start day, and milliseconds.
type Jobs = Vec<Vec<(u8, u16, u64)>>;

fn rank(jobs: &Jobs, order_of_hosts: &[u8], settings: &Settings) -> Ranking {
    let hosts = Hosts::default();
    let name = |host: u8| format!("node{host}");
    for &host in order_of_hosts {
        let _ = hosts.host(&name(host), None);
    }
    let mut cluster = Cluster::default();
    for job in jobs {
        let run = |&(host, day, time): &(u8, u16, u64)| Run {
            host: hosts.host(&name(host), None),
            start: Some(Timestamp::from_millis(i64::from(day) * 86_400_000)),
            time: Millis::new(time),
            overtaken: false,
        };
        let mut sample = Sample::default();
        sample.add_group(&job.iter().map(run).collect::<Vec<_>>(), settings);
        cluster.add(&sample);
    }
    nodes::rank(cluster, hosts, &NodeTypes::default(), settings)
}

/// Forty jobs on four hosts; host 2 takes 50 % longer.
fn slow_cluster() -> Jobs {
    let time = |job: u64, task: u64| 10_000 + (job * 7919 + task * 104_729) % 4_000;
    let task = |job: u64, task: u64| {
        let host = u8::try_from(task % 4).unwrap();
        let factor = if host == 2 { 3 } else { 2 };
        (host, u16::try_from(20_000 + job / 10).unwrap(), time(job, task) * factor / 2)
    };
    (0..40).map(|job| (0..12).map(|index| task(job, index)).collect()).collect()
}

#[test]
fn slow_node_is_the_only_straggler() {
    let ranking = rank(&slow_cluster(), &[], &Settings::default());
    let worst = &ranking.nodes[0];
    assert_eq!((&*worst.name, worst.level, worst.tasks), ("node2", Some(0), 120));
    assert!(worst.is_straggler() && worst.mean.unwrap() > 1.0);
    assert_eq!(ranking.summary.stragglers, 1);
    assert!(ranking.nodes[1..].iter().all(|node| !node.is_straggler() && node.level > Some(0)));
    assert_eq!(worst.trend.days.len(), 4);
    assert_eq!(worst.trend.slow_days, Some(1.0));
    assert!(!worst.trend.transient);
}

#[test]
fn a_node_that_was_slow_in_one_application_is_not_excluded() {
    let all: Vec<(u8, u16, u64)> = slow_cluster().concat();
    let once = rank(&vec![all], &[], &Settings::default());
    let worst = &once.nodes[0];
    assert_eq!((worst.is_straggler(), worst.applications, worst.to_exclude), (true, 1, false));
    let often = rank(&slow_cluster(), &[], &Settings::default());
    assert_eq!((often.nodes[0].applications, often.nodes[0].to_exclude), (40, true));
}

#[test]
fn nodes_with_few_tasks_are_not_ranked() {
    let mut jobs = slow_cluster();
    jobs.push(vec![(9, 20_000, 90_000), (0, 20_000, 1_000), (1, 20_000, 1_100)]);
    let ranking = rank(&jobs, &[], &Settings::default());
    let last = ranking.nodes.last().unwrap();
    assert_eq!((&*last.name, last.level, last.is_straggler()), ("node9", None, false));
    assert_eq!(last.mean_interval, None, "one value has no confidence interval");
    assert_eq!(ranking.summary.ranked, 4);
}

#[test]
fn a_small_difference_is_significant_but_makes_no_straggler() {
    // 2 % slower than the others on 4,000 tasks.
    let time = |job: u64, task: u64| 10_000 + (job * 7919 + task * 104_729) % 1_000;
    let task = |job: u64, task: u64| {
        let host = u8::try_from(task % 4).unwrap();
        (host, 20_000, time(job, task) * if host == 2 { 102 } else { 100 } / 100)
    };
    let jobs: Jobs = (0..400).map(|job| (0..40).map(|index| task(job, index)).collect()).collect();
    let exact = Settings { slow_mean: 0.0, ..Settings::default() };
    assert_eq!(rank(&jobs, &[], &exact).summary.stragglers, 1);
    let settings = Settings { slow_mean: 0.8, ..Settings::default() };
    let ranking = rank(&jobs, &[], &settings);
    assert_eq!((&*ranking.nodes[0].name, ranking.nodes[0].is_significantly_slow()), ("node2", true));
    assert_eq!((ranking.summary.stragglers, ranking.summary.slightly_slow), (0, 1));
}

#[test]
fn one_straggler_more_than_others_is_no_reason_to_exclude_a_node() {
    // 3 % slower than the others, which is significant on 400 tasks.
    let time = |job: u64, task: u64| 10_000 + (job * 7919 + task * 104_729) % 1_000;
    let jobs = |slow: u64| -> Jobs {
        let task = |job: u64, task: u64| {
            let host = u8::try_from(task % 4).unwrap();
            let slower = if host == 2 { 103 } else { 100 };
            let straggles = host == 2 && task < 4 && job < slow;
            (host, 20_000, time(job, task) * slower / 100 * if straggles { 16 } else { 10 } / 10)
        };
        (0..40).map(|job| (0..40).map(|index| task(job, index)).collect()).collect()
    };
    // The mean z-score alone is no reason in this test.
    let settings = Settings { slow_mean: 5.0, ..Settings::default() };
    for (slow, expected) in [(0, false), (1, false), (20, true)] {
        let ranking = rank(&jobs(slow), &[], &settings);
        let worst = &ranking.nodes[0];
        assert_eq!((&*worst.name, worst.stragglers), ("node2", slow));
        assert!(worst.is_significantly_slow());
        assert_eq!(
            worst.is_straggler(),
            expected,
            "{slow} stragglers: {:?}",
            worst.more_stragglers_by_chance
        );
    }
}

#[test]
fn a_node_with_few_tasks_that_are_mostly_slow_is_suspected_and_comes_first() {
    let mut jobs = slow_cluster();
    let slow =
        |time| vec![(9, 20_000, 90_000), (0, 20_000, time), (1, 20_000, time + 100), (3, 20_000, time)];
    jobs.extend([slow(1000), slow(1100)]);
    assert_eq!(rank(&jobs, &[], &Settings::default()).summary.suspected, 0, "two tasks may be chance");
    jobs.push(slow(1200));
    let ranking = rank(&jobs, &[], &Settings::default());
    let first = &ranking.nodes[0];
    assert_eq!((&*first.name, first.suspected, first.is_straggler()), ("node9", true, false));
    assert_eq!((ranking.summary.suspected, ranking.summary.stragglers), (1, 1));
    let usual = vec![(9, 20_000, 1000), (0, 20_000, 1_000), (1, 20_000, 1_100)];
    jobs.push(usual.clone());
    assert_eq!(rank(&jobs, &[], &Settings::default()).summary.suspected, 1, "one of four was fast");
    let all = Settings { suspect_share: 1.0, ..Settings::default() };
    assert_eq!(rank(&jobs, &[], &all).summary.suspected, 0, "not all were slow");
    jobs.extend(vec![usual; 4]);
    assert_eq!(rank(&jobs, &[], &Settings::default()).summary.suspected, 0, "most of eight were fast");
}

#[test]
fn value_indicators_rank_by_descending_value() {
    let value = |node: &nodes::indicators::Node, order| match order {
        Indicator::Deviation => node.deviation,
        Indicator::Quantile => node.quantile,
        Indicator::ExtremeValue => node.extreme_value,
        Indicator::StragglerShare => node.straggler_share,
        _ => node.mean,
    };
    for order in [
        Indicator::Mean,
        Indicator::Deviation,
        Indicator::Quantile,
        Indicator::ExtremeValue,
        Indicator::StragglerShare,
    ] {
        let ranking = rank(&slow_cluster(), &[], &Settings { order, ..Settings::default() });
        let values: Vec<f64> = ranking.nodes.iter().map(|node| value(node, order).unwrap()).collect();
        assert!(values.windows(2).all(|pair| pair[0] >= pair[1]), "{order:?} {values:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn host_order_does_not_matter(
        jobs in prop::collection::vec(
            prop::collection::vec((0u8..5, 20_000u16..20_004, 1u64..100_000), 0..30),
            0..12,
        ),
        order in Just((0u8..5).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let settings = Settings { min_node_tasks: 5, ..Settings::default() };
        let ranking = rank(&jobs, &[], &settings);
        prop_assert_eq!(&rank(&jobs, &order, &settings), &ranking);
        let tasks: u64 = ranking.nodes.iter().map(|node| node.tasks).sum();
        prop_assert_eq!(tasks, ranking.summary.groups.tasks);
        for node in &ranking.nodes {
            prop_assert!(node.level.is_some() == (node.tasks >= 5 && node.interval().is_some()));
            prop_assert!(node.stragglers <= node.tasks);
        }
    }
}
