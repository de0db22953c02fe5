//! Rules on plans whose scans are pruned by joins while the query runs.

use elephant_base::severity::Severity;
use elephant_rule::finding::Finding;
use elephant_sample::judge::{judge, rules};
use elephant_testing::spark_log::{App, Job, Operator, Query, Stage, Task};

/// The findings of a rule on a query of 100 seconds with this plan.
fn found(rule: &str, conf: &[(&str, &str)], plan: Operator) -> Vec<Finding> {
    let tasks = (0..4).map(|_| Task::new("1", 90_000)).collect();
    let app = App {
        jobs: vec![Job { stages: vec![Stage::new(0, tasks)], ..Job::default() }],
        queries: vec![Query {
            id: 0,
            description: "sales".to_owned(),
            start: 0,
            end: 100_000,
            jobs: vec![0],
            plan,
        }],
        ..App::with(conf, 1, 4)
    };
    let report = judge(&app, &rules(&[], ""));
    let findings = report.findings.into_iter();
    findings.filter(|finding| finding.rule == rule && finding.severity > Severity::None).collect()
}

fn with_facts(mut scan: Operator, facts: &[(&str, &str)]) -> Operator {
    scan.metadata = facts.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    scan
}

/// A scan of a table with partitions by day, which these conditions choose, with what is below it.
fn sales(filters: &str, below: Vec<Operator>) -> Operator {
    let text = "FileScan parquet default.sales[id#1L,day#3] Batched: true, PartitionFilters: [isnotnull(day#3), dynamicpr...";
    let scan = Operator::new(text, below)
        .named("Scan parquet default.sales")
        .told("number of files read", "sum", 800)
        .told("number of partitions read", "sum", 365)
        .counts("number of output rows", "sum", 0, 3_650_000)
        .counts("scan time", "timing", 0, 300_000);
    with_facts(scan, &[("PartitionFilters", filters), ("ReadSchema", "struct<id:bigint>")])
}

const PRUNED: &str = "[isnotnull(day#3), dynamicpruningexpression(day#3 IN dynamicpruning#9)]";

/// A join that broadcasts days, whose keys may choose the partitions of the other side.
fn joined(is_pruned: bool) -> Operator {
    let days = Operator::new("Scan parquet default.days", Vec::new());
    let sent =
        Operator::new("BroadcastExchange HashedRelationBroadcastMode(List(input[0, date]))", vec![days])
            .told("data size", "size", 200 << 20)
            .told("time to collect", "timing", 40_000);
    let (subqueries, side) = if is_pruned {
        let keys = Operator::new("SubqueryBroadcast dynamicpruning#9, 0, [d#7], [id=#4]", vec![sent])
            .told("data size (bytes)", "size", 300 << 20)
            .told("time to collect (ms)", "timing", 41_000);
        (vec![keys], Operator::new("ReusedExchange [d#7], BroadcastExchange", Vec::new()))
    } else {
        (Vec::new(), sent)
    };
    let filters = if is_pruned { PRUNED } else { "[]" };
    let text = "BroadcastHashJoin [day#3], [d#7], Inner, BuildRight, false";
    Operator::new(text, vec![sales(filters, subqueries), side])
}

#[test]
fn a_broadcast_that_chooses_partitions_stays_one() {
    let large = [("spark.sql.autoBroadcastJoinThreshold", "1g")];
    let advice = |is_pruned| {
        // What collects the keys in the driver is no second broadcast.
        let [finding] = found("spark-broadcast", &large, joined(is_pruned)).try_into().unwrap();
        finding.advice.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let plain = advice(false);
    assert!(plain.contains("autoBroadcastJoinThreshold") && plain.contains("remove the hint"), "{plain}");
    let pruned = advice(true);
    assert!(
        !pruned.contains("autoBroadcastJoinThreshold") && !pruned.contains("remove the hint"),
        "{pruned}"
    );
    assert!(pruned.contains("choose the partitions of default.sales"), "{pruned}");
}

#[test]
fn a_scan_that_a_join_prunes_does_not_read_all_partitions() {
    let filtered = |filters: &str| {
        let filter =
            Operator::new("Filter (isnotnull(id#1L) AND (id#1L > 5))", vec![sales(filters, Vec::new())]);
        found("spark-partition-pruning", &[], filter.counts("number of output rows", "sum", 0, 3650))
    };
    assert_eq!(filtered(PRUNED).len(), 0);
    // Spark gave up to prune it.
    assert_eq!(filtered("[isnotnull(day#3), dynamicpruningexpression(true)]").len(), 1);
    assert_eq!(filtered("[]").len(), 1);
}
