use proptest::prelude::*;

use super::pair::keys;
use super::*;

fn side(text: &str) -> Side {
    serde_json::from_str(text).unwrap()
}

fn run(id: &str, name: &str, start: &str, rest: &str) -> String {
    format!(
        r#"{{"id":"{id}","engine":"spark","name":"{name}","status":"succeeded","complete":true,"submitted_at":"{start}","unknown":[1]{rest}}}"#
    )
}

fn document(runs: &[String]) -> Side {
    side(&format!(r#"{{"schema_version":1,"other":2,"applications":[{}]}}"#, runs.join(",")))
}

#[test]
fn single_runs_are_a_pair_whatever_their_names() {
    let diff = diff(
        &document(&[run("1", "a", "2026", "")]),
        &document(&[run("2", "b", "2026", "")]),
        Options::default(),
    );
    assert_eq!(diff.pairs.len(), 1);
    assert!(diff.pairs[0].phases.is_none());
    assert_eq!(diff.pairs[0].notes.len(), 2, "{:?}", diff.pairs[0].notes);
}

#[test]
fn several_runs_are_paired_by_job_and_start() {
    let a =
        document(&[run("3", "x 2026-11-20", "2026-11-20", ""), run("2", "x 2026-11-19", "2026-11-19", "")]);
    let b = document(&[run("9", "y", "2026", ""), run("8", "x 2026-11-21", "2026-11-21", "")]);
    let diff = diff(&a, &b, Options::default());
    let pairs: Vec<(&str, &str)> =
        diff.pairs.iter().map(|pair| (pair.a.id.as_str(), pair.b.id.as_str())).collect();
    assert_eq!(pairs, [("2", "8")]);
    assert_eq!(diff.only_a[0].id, "3");
    assert_eq!(diff.only_b[0].id, "9");
}

/// Two users have a job of one name; on the other side one of them runs it, and a service.
#[test]
fn runs_of_one_user_are_a_pair() {
    let by = |id: &str, user: &str, start: &str| run(id, "x", start, &format!(r#","user":"{user}""#));
    let a = document(&[by("1", "alice", "2026-11-19"), by("2", "bob", "2026-11-20")]);
    let b =
        document(&[by("3", "bob", "2026-11-21"), by("4", "ci", "2026-11-22"), by("5", "ci", "2026-11-23")]);
    let diff = diff(&a, &b, Options::default());
    let pairs: Vec<(&str, &str)> =
        diff.pairs.iter().map(|pair| (pair.a.id.as_str(), pair.b.id.as_str())).collect();
    assert_eq!(pairs, [("1", "4"), ("2", "3")]);
    assert_eq!((diff.only_a.len(), diff.only_b[0].id.as_str()), (0, "5"));
}

/// Jobs of one name that a scheduler tells apart.
#[test]
fn runs_of_one_task_of_a_scheduler_are_a_pair() {
    let of = |id: &str, task: &str, start: &str| {
        let identity =
            format!(r#","identity":{{"scheduler":"airflow","flow":"etl","task":"{task}","run":"{id}"}}"#);
        run(id, "app.py", start, &identity)
    };
    let a = document(&[of("1", "load", "2026-11-19"), of("2", "check", "2026-11-20")]);
    let b = document(&[of("3", "check", "2026-11-21"), of("4", "load", "2026-11-22")]);
    let diff = diff(&a, &b, Options::default());
    let pairs: Vec<(&str, &str)> =
        diff.pairs.iter().map(|pair| (pair.a.id.as_str(), pair.b.id.as_str())).collect();
    assert_eq!(pairs, [("2", "3"), ("1", "4")]);
    assert_eq!(diff.pairs[0].a.job, "spark · flow etl, task check · app.py");
}

fn query(id: u64, name: &str, wall_ms: u64, texts: &[&str]) -> serde_json::Value {
    let operators = texts.iter().map(|text| serde_json::json!({"text": text, "replaced": false}));
    serde_json::json!({
        "id": id, "name": name, "wall": {"total_ms": wall_ms}, "operators": operators.collect::<Vec<_>>(),
    })
}

/// The queries of two runs with these queries.
fn queries(a: &[serde_json::Value], b: &[serde_json::Value]) -> Option<Queries> {
    let of = |queries: &[serde_json::Value]| {
        let rest = format!(r#","phases":[],"queries":{}"#, serde_json::to_string(queries).unwrap());
        document(&[run("1", "x", "2026", &rest)])
    };
    diff(&of(a), &of(b), Options::default()).pairs.remove(0).queries
}

const SALES: &str =
    "FileScan parquet db.sales[c#1L] PushedFilters: [EqualTo(c,17)], ReadSchema: struct<c:bigint>";
const SALES_LATER: &str =
    "FileScan parquet db.sales[c#9L] PushedFilters: [EqualTo(c,23)], ReadSchema: struct<c:bigint>";
const NAMES: &str = "FileScan parquet db.names[id#2L] PushedFilters: [], ReadSchema: struct<id:bigint>";

#[test]
fn a_join_with_another_strategy_is_a_cause_where_its_query_slowed() {
    let hash =
        ["BroadcastHashJoin [c#1L], [id#2L], Inner, BuildRight, false", SALES, "BroadcastExchange X", NAMES];
    let merge = [
        "SortMergeJoin [c#9L], [id#2L], Inner",
        "Sort [c#9L ASC NULLS FIRST], false, 0",
        "Exchange hashpartitioning(c#9L, 200), ENSURE_REQUIREMENTS, [plan_id=7]",
        SALES_LATER,
        "Exchange hashpartitioning(id#2L, 200), ENSURE_REQUIREMENTS, [plan_id=8]",
        NAMES,
    ];
    let slower = queries(&[query(3, "query 3", 1000, &hash)], &[query(5, "query 5", 1050, &merge)]).unwrap();
    let [pair] = slower.changed.as_slice() else { panic!("{slower:?}") };
    assert_eq!((pair.a.as_str(), pair.b.as_str(), pair.alike), ("query 3", "query 5", 1));
    assert!(pair.is_cause());
    let join = PlanChange::Join {
        on: "c".to_owned(),
        a: "BroadcastHashJoin".to_owned(),
        b: "SortMergeJoin".to_owned(),
    };
    let added = |operator: &str| PlanChange::Added { operator: operator.to_owned(), count: 1 };
    let lost = PlanChange::Lost { operator: "BroadcastExchange".to_owned(), count: 1 };
    let exchanges = [added("Exchange hashpartitioning(c)"), added("Exchange hashpartitioning(id)")];
    assert_eq!(pair.changes, [join].into_iter().chain(exchanges).chain([lost]).collect::<Vec<_>>());
    let same = queries(&[query(3, "query 3", 1000, &hash)], &[query(5, "query 5", 1049, &merge)]).unwrap();
    assert!(!same.changed[0].is_cause());
}

#[test]
fn literals_ids_and_numbers_of_partitions_are_no_change() {
    let of = |scan: &'static str, partitions: &'static str| [partitions, scan];
    let a = of(SALES, "Exchange hashpartitioning(c#1L, 200), ENSURE_REQUIREMENTS, [plan_id=7]");
    let b = of(SALES_LATER, "Exchange hashpartitioning(c#9L, 100), ENSURE_REQUIREMENTS, [plan_id=70]");
    let pairs = queries(&[query(0, "query 0", 1, &a)], &[query(0, "query 0", 2, &b)]).unwrap();
    assert_eq!((pairs.pairs, pairs.changed.len(), pairs.only_a, pairs.only_b), (1, 0, 0, 0));
}

#[test]
fn queries_that_are_alike_are_paired_by_order_and_said_to_be() {
    let scan = |filter: &str| {
        format!("FileScan parquet db.sales[c#1L] PushedFilters: [{filter}], ReadSchema: struct<c:bigint>")
    };
    let (with, without) = (scan("EqualTo(c,17)"), scan(""));
    let a = [query(1, "query 1", 10, &[&with]), query(2, "query 2", 10, &[&with])];
    let b = [
        query(4, "query 4", 90, &[&without]),
        query(6, "query 6", 20, &[&with]),
        query(8, "query 8", 1, &[NAMES]),
    ];
    let pairs = queries(&a, &b).unwrap();
    assert_eq!((pairs.pairs, pairs.only_a, pairs.only_b), (2, 0, 1));
    let [pair] = pairs.changed.as_slice() else { panic!("{pairs:?}") };
    assert_eq!((pair.a.as_str(), pair.b.as_str(), pair.alike), ("query 1", "query 4", 2));
    assert!(!pair.is_cause());
    // Names tell them apart.
    let named = |id, told: &str, scan: &str| query(id, &format!("query {id} \"{told}\""), 10, &[scan]);
    let a = [named(1, "one", &with), named(2, "two", &without)];
    let b = [named(1, "two", &without), named(2, "one", &with)];
    let pairs = queries(&a, &b).unwrap();
    assert_eq!((pairs.pairs, pairs.changed.len()), (2, 0));
}

#[test]
fn a_query_whose_tables_changed_is_found_by_its_name() {
    let name = "query 1 \"daily import\"";
    let pairs = queries(&[query(1, name, 10, &[SALES])], &[query(1, name, 30, &[NAMES])]).unwrap();
    let [pair] = pairs.changed.as_slice() else { panic!("{pairs:?}") };
    let told = |name: &str| format!("scan of {name}");
    let expected = [
        PlanChange::Added { operator: told("db.names"), count: 1 },
        PlanChange::Lost { operator: told("db.sales"), count: 1 },
    ];
    assert_eq!(pair.changes, expected);
    assert!(queries(&[], &[query(1, name, 30, &[NAMES])]).is_none());
}

proptest! {
    /// Whatever the queries, the order of a report decides nothing, no query is paired twice, and a run has the plans of
    /// itself.
    #[test]
    fn any_queries_are_paired_once(
        a in prop::collection::vec(("[a-c]", prop::collection::vec("[A-Za-z (\\[\\]#0-9,=]{0,20}", 0..4)), 1..6),
        b in prop::collection::vec(("[a-c]", prop::collection::vec("[A-Za-z (\\[\\]#0-9,=]{0,20}", 0..4)), 1..6),
    ) {
        let side = |side: &[(String, Vec<String>)]| -> Vec<serde_json::Value> {
            let of = |(id, (name, texts)): (usize, &(String, Vec<String>))| {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                query(id as u64, &format!("query {id} \"{name}\""), 10, &texts)
            };
            side.iter().enumerate().map(of).collect()
        };
        let (one, other) = (side(&a), side(&b));
        let pairs = queries(&one, &other).unwrap();
        prop_assert_eq!(pairs.pairs + pairs.only_a, a.len());
        prop_assert_eq!(pairs.pairs + pairs.only_b, b.len());
        let reversed = |side: &[serde_json::Value]| side.iter().rev().cloned().collect::<Vec<_>>();
        prop_assert_eq!(&queries(&reversed(&one), &reversed(&other)).unwrap(), &pairs);
        let same = queries(&one, &one).unwrap();
        prop_assert_eq!((same.pairs, same.changed.len()), (a.len(), 0));
    }
}

#[test]
fn stages_are_paired_by_name_whatever_their_ids() {
    let phases = |list: &[(&str, &str, u64)]| {
        let phases: Vec<String> = list
            .iter()
            .map(|(id, name, ms)| format!(r#"{{"subject":"stage {id}","name":"{name}","duration_ms":{ms}}}"#))
            .collect();
        format!(r#","phases":[{}]"#, phases.join(","))
    };
    let a =
        run("1", "x", "2026", &phases(&[("0.0", "load at A.scala:3", 5), ("1.0", "count at A.scala:9", 7)]));
    let b = run(
        "2",
        "x",
        "2026",
        &phases(&[
            ("4.0", "count at A.scala:9", 70),
            ("5.0", "load at A.scala:4", 50),
            ("6.0", "save at A.scala:9", 1),
        ]),
    );
    let diff = diff(&document(&[a]), &document(&[b]), Options::default());
    let phases = diff.pairs[0].phases.as_ref().unwrap();
    let rows: Vec<_> =
        phases.iter().map(|phase| (phase.a.as_deref(), phase.b.as_deref(), phase.durations())).collect();
    assert_eq!(
        rows,
        [
            (Some("stage 0.0"), Some("stage 5.0"), (5.0, 50.0)),
            (Some("stage 1.0"), Some("stage 4.0"), (7.0, 70.0)),
            (None, Some("stage 6.0"), (0.0, 1.0)),
        ]
    );
}

/// How the finding of rule `gc` changed. Each side has it at the given severity or lacks it; the second
/// text is added to the run.
fn change_of(a: (&str, &str), b: (&str, &str)) -> (Move, Option<String>) {
    let side = |(severity, rest): (&str, &str)| {
        let finding = format!(r#"{{"rule":"gc","severity":"{severity}","subject":"map"}}"#);
        let findings = if severity.is_empty() { String::new() } else { finding };
        let run = run("1", "x", "2026", &format!(r#","findings":[{findings}]{rest}"#));
        document(&[run.replace(
            r#""complete":true"#,
            if rest.is_empty() { r#""complete":true"# } else { r#""complete":false"# },
        )])
    };
    let diff = diff(&side(a), &side(b), Options::default());
    let pair = &diff.pairs[0].findings[0];
    (pair.moved, pair.reason.clone())
}

#[test]
fn findings_missing_in_an_incomplete_run_are_not_judged() {
    const PART: &str = r#","not_evaluated":[]"#;
    const SKIPPED: &str = r#","not_evaluated":[{"rule":"gc","reason":"2 tasks have no known end"}]"#;
    let not_judged = |why: &str| (Move::NotJudged, Some(why.to_owned()));
    assert_eq!(change_of(("low", ""), ("", "")), (Move::Went, None));
    assert_eq!(change_of(("low", ""), ("", PART)), not_judged("the log of B is incomplete"));
    let why = "not evaluated in B: 2 tasks have no known end";
    assert_eq!(change_of(("low", ""), ("", SKIPPED)), not_judged(why));
    assert_eq!(change_of(("", PART), ("low", "")), not_judged("the log of A is incomplete"));
    assert_eq!(change_of(("severe", ""), ("low", PART)), not_judged("the log of B is incomplete"));
    assert_eq!(change_of(("low", PART), ("severe", "")), not_judged("the log of A is incomplete"));
    // A finding in an incomplete run counts.
    assert_eq!(change_of(("", ""), ("low", PART)), (Move::Came, None));
    assert_eq!(change_of(("low", ""), ("severe", PART)), (Move::Worse, None));
    assert_eq!(change_of(("low", PART), ("low", PART)), (Move::Same, None));
    assert_eq!(change_of(("low", PART), ("", "")), (Move::Went, None));
}

proptest! {
    #[test]
    fn every_index_occurs_once(
        a in prop::collection::vec("[ab](:[0-9])?", 0..12), b in prop::collection::vec("[ab](:[0-9])?", 0..12),
    ) {
        let paired = keys(&a, &b);
        let mut left: Vec<usize> = paired.iter().filter_map(|(a, _)| *a).collect();
        let mut right: Vec<usize> = paired.iter().filter_map(|(_, b)| *b).collect();
        left.sort_unstable();
        right.sort_unstable();
        prop_assert_eq!(left, (0..a.len()).collect::<Vec<_>>());
        prop_assert_eq!(right, (0..b.len()).collect::<Vec<_>>());
    }
}

/// A run with a run time in milliseconds.
fn timed(id: &str, name: &str, day: u32, runtime_ms: u64) -> String {
    let metrics = format!(r#","metrics":{{"runtime_ms":{runtime_ms},"resource_used_gb_hours":2.0}}"#);
    run(id, name, &format!("2026-11-{day:02}"), &metrics)
}

#[test]
fn pairs_of_one_job_are_one_entry_with_sums() {
    let a: Vec<String> = (1..=3).map(|day| timed(&format!("a{day}"), "etl", day, 1000)).collect();
    let b =
        [("b1", 1, 1010), ("b2", 2, 1500), ("b3", 3, 4000)].map(|(id, day, ms)| timed(id, "etl", day, ms));
    let [a, b] = [a, b.to_vec()].map(|mut runs| {
        runs.push(timed("s", "sales", 1, if runs[0].contains("a1") { 9000 } else { 8000 }));
        document(&runs)
    });
    let diff = diff(&a, &b, Options::default());
    let jobs = diff.jobs();
    let of = |job: &JobPairs<'_>| {
        let ids: Vec<String> = job.changed.iter().map(|pair| pair.b.id.clone()).collect();
        let sums = job.total.run_time().map(|figure| (figure.a, figure.b));
        (job.pairs.len(), ids, sums)
    };
    let found: Vec<_> = jobs.iter().map(of).collect();
    assert_eq!(
        found,
        [
            (3, vec!["b3".to_owned(), "b2".to_owned()], Some((Some(3000.0), Some(6510.0)))),
            (1, vec!["s".to_owned()], Some((Some(9000.0), Some(8000.0)))),
        ]
    );
    let total = diff.total();
    assert_eq!((total.slower, total.faster, total.known), (2, 1, 4));
    assert_eq!(total.run_time().map(|figure| (figure.a, figure.b)), Some((Some(12_000.0), Some(14_510.0))));
    assert_eq!(total.figure("resource_used_gb_hours").and_then(|figure| figure.b), Some(8.0));
    let top: Vec<&str> = diff.pairs_of(Some(1)).iter().map(|pair| pair.b.id.as_str()).collect();
    assert_eq!(top, ["b1", "b2", "b3"]);
    assert_eq!(diff.pairs_of(None).len(), 4);
}

#[test]
fn a_cost_that_only_one_side_knows_is_in_no_sum() {
    let a = document(&[timed("a", "x", 1, 1000), timed("c", "x", 2, 1000)]);
    let b = document(&[timed("b", "x", 1, 2000), run("d", "x", "2026-11-02", "")]);
    let total = diff(&a, &b, Options::default()).total();
    assert_eq!(total.run_time().map(|figure| (figure.a, figure.b)), Some((Some(1000.0), Some(2000.0))));
    assert_eq!((total.known, total.slower), (1, 1));
}

/// A run with these stages: their names and durations.
fn with_stages(id: &str, stages: &[(&str, u64)]) -> Side {
    let stages = stages.iter().enumerate().map(|(number, (name, ms))| {
        serde_json::json!({"subject": format!("stage {number}.0"), "name": name, "duration_ms": ms})
    });
    let stages: Vec<serde_json::Value> = stages.collect();
    document(&[run(id, "x", "2026", &format!(r#","phases":{}"#, serde_json::to_string(&stages).unwrap()))])
}

#[test]
fn stages_are_the_same_work_if_only_their_file_has_another_name() {
    let a = with_stages("a", &[("count at Old.scala:10", 5), ("collect at Old.scala:12", 7)]);
    let b = with_stages("b", &[("count at New.scala:31", 50), ("collect at New.scala:40", 8)]);
    let phases = diff(&a, &b, Options::default()).pairs.remove(0).phases.unwrap();
    let names: Vec<_> = phases.iter().map(|phase| (phase.a.as_deref(), phase.b.as_deref())).collect();
    assert_eq!(names, [(Some("stage 0.0"), Some("stage 0.0")), (Some("stage 1.0"), Some("stage 1.0"))]);
    // Which of two counts is the one of the other side is not known.
    let b = with_stages("b", &[("count at New.scala:31", 50), ("count at New.scala:33", 8)]);
    let phases = diff(&a, &b, Options::default()).pairs.remove(0).phases.unwrap();
    assert!(phases.iter().all(|phase| phase.a.is_none() || phase.b.is_none()), "{phases:?}");
}
