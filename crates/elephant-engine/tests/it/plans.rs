//! Plans that changed between two runs, on real recordings.

use std::path::{Path, PathBuf};

use elephant_engine::diff::{Diff, Options as DiffOptions, PlanChange, Queries, Side, diff};
use elephant_engine::engine::{Options, analyze};
use elephant_ruleset::RuleSet;
use elephant_testing::shared;

fn side(path: PathBuf) -> Side {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let report = analyze(&[path], &rules, Options { details: true, ..Options::default() });
    assert_eq!(report.applications.len(), 1);
    Side::of(&report)
}

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(name)
}

fn queries(diff: &Diff) -> &Queries {
    let [pair] = diff.pairs.as_slice() else { panic!("{diff:?}") };
    pair.queries.as_ref().expect("both sides have plans")
}

/// One program without and with broadcasts: only the query that joins has another plan.
#[test]
fn a_join_that_is_broadcast_is_a_changed_plan() {
    let (merge, broadcast) = (side(recording("sort-merge.zstd")), side(recording("broadcast.zstd")));
    let faster = diff(&merge, &broadcast, DiffOptions::default());
    let of = queries(&faster);
    assert_eq!((of.pairs, of.only_a, of.only_b), (3, 0, 0));
    let [pair] = of.changed.as_slice() else { panic!("{of:?}") };
    assert_eq!(pair.b, "query 0 \"sales by customer\"");
    assert_eq!(pair.alike, 1);
    // It took 2m 15s and then 1m 20s.
    assert!(!pair.is_cause());
    let added = PlanChange::Added { operator: "BroadcastExchange".to_owned(), count: 1 };
    let join = |a: &str, b: &str| PlanChange::Join { on: "c".to_owned(), a: a.to_owned(), b: b.to_owned() };
    let lost = PlanChange::Lost { operator: "Exchange hashpartitioning(c)".to_owned(), count: 2 };
    assert_eq!(pair.changes, [join("SortMergeJoin", "BroadcastHashJoin"), added, lost]);

    let slower = diff(&broadcast, &merge, DiffOptions::default());
    let pair = &queries(&slower).changed[0];
    assert!(pair.is_cause());
    assert!(pair.changes.contains(&join("BroadcastHashJoin", "SortMergeJoin")));
    assert!(slower.pairs[0].changed());
    let same = diff(&merge, &merge, DiffOptions::default());
    assert_eq!((queries(&same).pairs, queries(&same).changed.len()), (3, 0));
}

/// Pairs of runs with and without one factor that does not change plans.
#[test]
fn plans_of_runs_that_differ_elsewhere_are_the_same() {
    let Some(pairs) = shared("runs/spark-3.5.7-pairs") else { return };
    for factor in ["collect", "gap"] {
        let [with, without] = ["with", "without"].map(|side_| side(pairs.join(format!("{factor}-{side_}"))));
        let compared = diff(&with, &without, DiffOptions::default());
        let Some(of) = compared.pairs[0].queries.as_ref() else { continue };
        assert!(
            of.changed.iter().all(|pair| !pair.is_cause() || !pair.changes.is_empty()),
            "{factor}: {of:?}"
        );
        let itself = diff(&with, &with, DiffOptions::default());
        assert!(queries(&itself).changed.is_empty(), "{factor}");
    }
}
