//! Changed numbers give no impossible results: no share above 100 %, and nothing that lasted longer than its job.

use elephant_base::units::Millis;
use elephant_model::model::{Application, Phase};
use elephant_rule::finding::Measure;
use proptest::prelude::*;
use proptest::sample::Index;

use super::recordings::{Format, Recording, recordings, rules};

/// Attempts end this much later than their job at most, and clocks differ.
const SLACK: u64 = 2 * 3600 * 1000;

/// Parts of a whole.
const SHARES: [&str; 8] = [
    "wait_ratio",
    "wasted_ratio",
    "failed_ratio",
    "lost_ratio",
    "delay_ratio",
    "recall_ratio",
    "gc_run_time_ratio",
    "idle_cores_ratio",
];

/// Times of one task or of the whole job, not sums over tasks.
const SPANS: [&str; 13] = [
    "avg_run_time_ms",
    "min_run_time_ms",
    "max_run_time_ms",
    "avg_shuffle_ms",
    "avg_sort_ms",
    "avg_reduce_ms",
    "avg_gc_time_ms",
    "run_time_ms",
    "time_small_group_avg_ms",
    "time_large_group_avg_ms",
    "first_task_after_ms",
    "master_after_ms",
    "delay_ms",
];

#[derive(Debug, Clone, Copy)]
enum Change {
    Digit(u8),
    Longer(u8),
    Negative,
    /// A power of ten is added.
    Add(u32),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<u8>().prop_map(Change::Digit),
        (1..12u8).prop_map(Change::Longer),
        Just(Change::Negative),
        (3..13u32).prop_map(Change::Add),
    ]
}

/// The history with one number changed: of a text, one with at least `digits` digits.
fn changed(recording: &Recording, at: Index, digits: usize, change: Change) -> Vec<u8> {
    let mut bytes = recording.bytes.clone();
    if recording.format == Format::Binary {
        let from = recording.records[0].start;
        let place = from + at.index(bytes.len() - from);
        bytes[place] ^= if let Change::Digit(by) = change { by | 1 } else { 0x10 };
        return bytes;
    }
    let mut numbers = Vec::new();
    let mut start = None;
    for (place, byte) in bytes.iter().enumerate().skip(recording.records[0].start) {
        match (byte.is_ascii_digit(), start) {
            (true, None) => start = Some(place),
            (false, Some(from)) => {
                if place - from >= digits && matches!(bytes[from - 1], b':' | b'"' | b'(') {
                    numbers.push(from..place);
                }
                start = None;
            }
            _ => {}
        }
    }
    if numbers.is_empty() {
        return bytes;
    }
    let number = numbers[at.index(numbers.len())].clone();
    let mut text = String::from_utf8(bytes[number.clone()].to_vec()).unwrap();
    match change {
        Change::Digit(by) => {
            let place = usize::from(by) % text.len();
            let digit = text.as_bytes()[place] - b'0';
            text.replace_range(place..=place, &((digit + 1 + by % 9) % 10).to_string());
        }
        Change::Longer(zeros) => text.extend((0..zeros).map(|_| '0')),
        Change::Negative => text.insert(0, '-'),
        Change::Add(power) => {
            text = text.parse::<u128>().map_or(text, |value| (value + 10_u128.pow(power)).to_string());
        }
    }
    bytes.splice(number, text.into_bytes());
    bytes
}

/// The numbers before a percent sign.
fn percentages(message: &str) -> impl Iterator<Item = f64> {
    message.split(" %").filter_map(|before| before.rsplit([' ', '(', '±']).next()?.parse().ok())
}

fn assert_possible(app: &Application) {
    let life = app.submitted_at.zip(app.finished_at).and_then(|(from, until)| Millis::between(from, until));
    let most = life.map_or(u64::MAX, |life| life.get() + SLACK);
    if let Some((submitted, finished)) = app.submitted_at.zip(app.finished_at) {
        assert!(finished >= submitted || !app.complete, "it ended before it started, and is complete");
    }
    let metrics = rules().measure(app);
    assert!(metrics.wasted_percent().is_none_or(|percent| percent <= 100.0), "{metrics:?}");
    for phase in Phase::all(app) {
        assert!(phase.duration().is_none_or(|time| time.get() <= most), "{life:?}: {phase:?}");
    }
    for found in rules().evaluate(app).findings {
        let shown = format!("{} {} {:?}", found.rule, found.message, found.evidence);
        // Shares of other quantities: garbage collection time per second of CPU time, memory per requested byte.
        let is_rate = found.rule.ends_with("-gc") || found.rule.ends_with("-memory");
        assert!(is_rate || percentages(&found.message).all(|percent| percent <= 100.0), "{shown}");
        for (key, value) in &found.evidence {
            match value {
                Measure::Ratio(Some(share)) if SHARES.contains(&key.as_ref()) => {
                    assert!(*share <= 1.0 + 1e-9, "{key}: {shown}");
                }
                Measure::Time(time) if SPANS.contains(&key.as_ref()) => {
                    assert!(time.get() <= most, "{key}, life {life:?}: {shown}");
                }
                _ => {}
            }
        }
    }
}

fn assert_possible_after(cases: u32) {
    let recordings = recordings();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    let seed = proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha);
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(config, seed);
    let input = (any::<Index>(), any::<Index>(), prop_oneof![Just(1_usize), Just(4), Just(10)], change());
    let result = runner.run(&input, |(which, at, digits, change)| {
        let recording = &recordings[which.index(recordings.len())];
        for app in recording.format.parse(&changed(recording, at, digits, change)).applications {
            assert_possible(&app);
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn changed_numbers_give_no_impossible_results() {
    assert_possible_after(400);
}

#[test]
#[ignore = "changes many numbers"]
fn many_changed_numbers_give_no_impossible_results() {
    assert_possible_after(20_000);
}

#[test]
fn good_recordings_give_no_impossible_results() {
    for recording in recordings() {
        for app in recording.format.parse(&recording.bytes).applications {
            assert_possible(&app);
        }
    }
}
