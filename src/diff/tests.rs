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
fn one_run_each_is_a_pair_whatever_its_name() {
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

proptest! {
    #[test]
    fn every_position_is_there_once(
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
