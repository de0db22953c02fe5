use super::*;
use proptest::prelude::*;

fn phase(name: &str, input: u64, shuffled: u64, ms: u64) -> ReadPhase {
    let some = |bytes: u64| (bytes > 0).then_some(bytes);
    ReadPhase {
        phase: name.to_owned(),
        input_bytes: some(input),
        shuffle_read_bytes: some(shuffled),
        runtime_ms: Some(ms),
        task_time_ms: Some(4 * ms),
    }
}

/// A run of this length whose input is that of its phases.
fn run(ms: u64, phases: Vec<ReadPhase>) -> Run {
    Run {
        run: String::new(),
        started_at: None,
        runtime_ms: Some(ms),
        resource_used_gb_hours: None,
        resource_wasted_gb_hours: None,
        task_time_ms: Some(4 * ms),
        failed_attempts_count: None,
        input_bytes: Some(phases.iter().filter_map(|phase| phase.input_bytes).sum()),
        phases,
    }
}

fn factor(accepted: &Run, now: &Run, metric: Metric) -> f64 {
    Growth::of(std::slice::from_ref(accepted), now).of_limit(metric).factor
}

#[test]
fn only_the_phase_that_read_more_may_take_longer() {
    let accepted = run(39_500, vec![phase("small", 100, 0, 1_400), phase("large", 132, 0, 36_000)]);
    let now = run(71_900, vec![phase("small", 290, 0, 4_000), phase("large", 132, 0, 66_000)]);
    let limit = Growth::of(std::slice::from_ref(&accepted), &now).of_limit(Metric::Runtime);
    assert!((39_500.0 * limit.factor - (39_500.0 + 1.9 * 1_400.0)).abs() < 1e-6, "{limit:?}");
    assert_eq!(limit.phases, [GrownPhase { phase: "small".to_owned(), read_ratio: 2.9 }]);
    assert_eq!(factor(&accepted, &now, Metric::FailedAttempts), 1.0);
    let doubled = run(76_000, vec![phase("small", 100, 0, 1_400), phase("large", 264, 0, 72_000)]);
    let limit = factor(&accepted, &doubled, Metric::Runtime);
    assert!((39_500.0 * limit - (39_500.0 + 36_000.0)).abs() < 1e-6, "{limit}");
}

#[test]
fn shuffled_data_counts_as_far_as_the_input_grew() {
    let of = |input, shuffled| run(100, vec![phase("map", input, 0, 50), phase("join", 0, shuffled, 50)]);
    let before = of(100, 100);
    for (now, expected) in [
        (of(100, 300), 1.0),
        (of(200, 200), 2.0),
        (of(200, 500), 2.0),
        (of(200, 150), 1.75),
        (of(50, 50), 1.0),
    ] {
        assert_eq!(factor(&before, &now, Metric::Runtime), expected, "{now:?}");
    }
}

#[test]
fn new_and_unknown_phases_do_not_grow() {
    let before = run(100, vec![phase("stage \"count at A.scala:10\"", 100, 0, 80)]);
    let other = run(100, vec![phase("stage \"show at A.scala:10\"", 900, 0, 80)]);
    assert_eq!(factor(&before, &other, Metric::Runtime), 1.0);
    let moved = run(100, vec![phase("stage \"count at A.scala:12\"", 200, 0, 80)]);
    assert!(factor(&before, &moved, Metric::Runtime) > 1.7);
    let two = |lines: [u32; 2]| {
        let phases = lines.map(|line| phase(&format!("stage \"count at A.scala:{line}\""), 100, 0, 40));
        run(100, phases.into())
    };
    let mut now = two([20, 30]);
    now.phases.iter_mut().for_each(|phase| phase.input_bytes = Some(900));
    assert_eq!(factor(&two([10, 15]), &now, Metric::Runtime), 1.0, "which of them moved is unknown");
}

/// Phases that run at the same time take longer at the same time.
#[test]
fn limits_rise_at_most_with_the_phase_that_grew_most() {
    let both = |bytes| run(100, vec![phase("a", bytes, 0, 100), phase("b", bytes, 0, 100)]);
    assert_eq!(factor(&both(10), &both(20), Metric::Runtime), 2.0);
}

#[test]
fn without_phases_the_input_of_the_run_counts() {
    let told = run(100, vec![phase("a", 100, 0, 10)]);
    let accepted = Run { phases: Vec::new(), ..told };
    let now = run(100, vec![phase("a", 300, 0, 10)]);
    let limit = Growth::of(std::slice::from_ref(&accepted), &now).of_limit(Metric::Used);
    assert_eq!(limit, LimitGrowth { factor: 3.0, phases: Vec::new() });
}

proptest! {
    #[test]
    fn limits_rise_with_what_was_read_and_never_fall(
        before in prop::collection::vec((0_u64..1000, 0_u64..1000, 0_u64..1000), 1..6),
        more in prop::collection::vec((0_u64..5000, 0_u64..5000), 1..6),
        length in 0_u64..5000,
    ) {
        let phases = before.iter().zip(0..).map(|(&(input, shuffled, ms), n)| phase(&format!("p{n}"), input, shuffled, ms));
        let accepted = run(length, phases.collect());
        prop_assert_eq!(factor(&accepted, &accepted, Metric::Runtime), 1.0);
        let mut now = accepted.clone();
        for (phase, (input, shuffled)) in now.phases.iter_mut().zip(more) {
            phase.input_bytes = phase.input_bytes.map(|bytes| bytes + input);
            phase.shuffle_read_bytes = phase.shuffle_read_bytes.map(|bytes| bytes + shuffled);
        }
        now.input_bytes = Some(now.phases.iter().filter_map(|phase| phase.input_bytes).sum());
        for metric in Metric::ALL {
            let limit = Growth::of(std::slice::from_ref(&accepted), &now).of_limit(metric);
            let most = limit.phases.iter().map(|phase| phase.read_ratio).fold(1.0, f64::max);
            prop_assert!(limit.factor >= 1.0 && limit.factor <= most, "{:?}", limit);
        }
    }
}
