//! Lost records are noticed: a MapReduce history without some of its records gives the report of the whole history,
//! or says that something is missing.
//!
//! The quick test drops a sample. `cargo test --lib -- --ignored every_record --nocapture` drops each record, and prints
//! the share of unnoticed losses by format and by kind of record.

use std::collections::BTreeMap;
use std::ops::Range;

use super::recordings::{Recording, recordings};

/// A share of losses that change the report may stay unnoticed: the kinds in `docs/limits.md`.
const MOST_UNNOTICED: f64 = 0.01;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }
}

/// The number of losses tried, and the kinds of those that the report does not mention.
#[derive(Default)]
struct Tally {
    tried: usize,
    unnoticed: BTreeMap<String, usize>,
}

impl Tally {
    fn share(&self) -> f64 {
        self.unnoticed.values().sum::<usize>() as f64 / self.tried.max(1) as f64
    }
}

/// Tries each loss: of one record if `single`, otherwise of a block of records.
fn measure(
    single: bool,
    losses: impl Fn(&Recording, &mut Dice) -> Vec<Range<usize>>,
) -> BTreeMap<&'static str, Tally> {
    let mut tallies = BTreeMap::<&'static str, Tally>::new();
    let mut dice = Dice(18);
    for recording in recordings() {
        let whole = recording.view(&recording.bytes);
        for lost in losses(&recording, &mut dice) {
            let tally = tallies.entry(recording.format.name()).or_default();
            tally.tried += 1;
            if recording.view(&recording.without(lost.clone())).hides_a_change_from(&whole) {
                let kind = if single { recording.kind(lost.start) } else { recording.name.clone() };
                *tally.unnoticed.entry(kind).or_default() += 1;
            }
        }
    }
    tallies
}

fn each_record(recording: &Recording) -> Vec<Range<usize>> {
    (0..recording.records.len()).map(|at| at..at + 1).collect()
}

fn blocks(recording: &Recording, dice: &mut Dice, count: usize) -> Vec<Range<usize>> {
    let len = recording.records.len();
    let block = |_| {
        let size = (2 + dice.below(29)).min(len.saturating_sub(1));
        let start = dice.below(len - size + 1);
        start..start + size
    };
    (0..count).map(block).collect()
}

fn assert_noticed(what: &str, tallies: &BTreeMap<&'static str, Tally>, most: f64) {
    for (format, tally) in tallies {
        assert!(tally.share() < most, "{what}, {format}: {:?} of {}", tally.unnoticed, tally.tried);
    }
}

#[test]
fn a_lost_record_is_noticed() {
    let sample = |recording: &Recording, dice: &mut Dice| {
        let all = each_record(recording);
        (0..8).filter_map(|_| all.get(dice.below(all.len())).cloned()).collect()
    };
    // One unnoticed loss in a small sample is more than the share of all.
    assert_noticed("one record", &measure(true, sample), 0.04);
}

#[test]
fn a_lost_block_of_records_is_noticed() {
    assert_noticed("a block", &measure(false, |recording, dice| blocks(recording, dice, 8)), 0.04);
}

#[test]
#[ignore = "drops each record of each recording"]
fn every_record_and_many_blocks() {
    let single = measure(true, |recording, _| each_record(recording));
    let block = measure(false, |recording, dice| blocks(recording, dice, 60));
    assert_noticed("one record", &single, MOST_UNNOTICED);
    assert_noticed("a block", &block, MOST_UNNOTICED);
}

/// A recording of `testdata/done`.
fn recording(name: &str) -> Recording {
    recordings().into_iter().find(|recording| recording.name.contains(name)).unwrap()
}

#[test]
fn an_event_that_is_logged_twice_counts_once() {
    let retries = recording("-retries-");
    let whole = retries.view(&retries.bytes);
    for kind in ["MAP_ATTEMPT_FAILED", "REDUCE_ATTEMPT_FAILED"] {
        let record = (0..retries.records.len()).find(|&at| retries.kind(at) == kind).unwrap();
        let record = retries.records[record].clone();
        let again = [&retries.bytes[..record.end], &retries.bytes[record.start..]].concat();
        assert_eq!(retries.view(&again).facts, whole.facts, "{kind}");
    }
}

/// The history with another number after the first `"key":` of the records of a kind.
fn with_number(recording: &Recording, kind: &str, key: &str, change: impl Fn(i64) -> i64) -> Vec<u8> {
    let record = (0..recording.records.len()).find(|&at| recording.kind(at) == kind).unwrap();
    let record = recording.records[record].clone();
    let text = String::from_utf8(recording.bytes[record.clone()].to_vec()).unwrap();
    let (before, rest) = text.split_once(&format!("\"{key}\":")).unwrap();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = change(rest[..digits].parse().unwrap());
    let changed = format!("{before}\"{key}\":{number}{}", &rest[digits..]);
    [&recording.bytes[..record.start], changed.as_bytes(), &recording.bytes[record.end..]].concat()
}

#[test]
fn corrected_submission_is_no_disagreement() {
    let healthy = recording("-healthy-");
    let whole = healthy.view(&healthy.bytes);
    let early = with_number(&healthy, "JOB_SUBMITTED", "submitTime", |at| at - 1_000_000_000);
    let view = healthy.view(&early);
    assert!(view.complete && !view.hides_a_change_from(&whole), "{}", view.facts);
    assert_eq!(view.facts, whole.facts);
}

#[test]
fn impossible_times_are_not_complete() {
    let healthy = recording("-healthy-");
    for (kind, key, off) in [
        ("JOB_FINISHED", "finishTime", -1_000_000_000),
        ("JOB_INFO_CHANGED", "submitTime", 1_000_000_000),
        ("JOB_INFO_CHANGED", "submitTime", -1_000_000_000),
        ("MAP_ATTEMPT_STARTED", "startTime", -1_000_000_000),
        ("MAP_ATTEMPT_STARTED", "startTime", 1_000_000_000),
        ("MAP_ATTEMPT_FINISHED", "finishTime", 1_000_000_000),
        ("MAP_ATTEMPT_FINISHED", "mapFinishTime", 1_000_000_000),
        ("TASK_FINISHED", "finishTime", 5),
    ] {
        let view = healthy.view(&with_number(&healthy, kind, key, |at| at + off));
        assert!(!view.complete, "{kind} {key} {off}: {}", view.facts);
    }
}
