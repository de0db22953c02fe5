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
