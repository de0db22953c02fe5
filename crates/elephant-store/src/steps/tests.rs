use super::*;

/// Runs with the same settings: these, the memory of a run, and how many there are.
type Alike<'a> = (&'a [(&'a str, &'a str)], f64, usize);

fn found(sections: &[Alike<'_>]) -> Vec<Step> {
    let mut runs = Vec::new();
    let mut settings = BTreeMap::new();
    for (configuration, (values, used, count)) in (0_i64..).zip(sections) {
        let values = values.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        settings.insert(configuration, values.collect());
        for _ in 0..*count {
            let n = runs.len();
            runs.push(MeasuredRun {
                configuration,
                id: format!("app_{n}"),
                submitted: Timestamp::from_millis(i64::try_from(n).unwrap()),
                used_gb_hours: *used,
                run_time: None,
                core_hours: None,
                input: None,
            });
        }
    }
    steps(&runs, &settings)
}

fn saved(steps: &[Step]) -> f64 {
    steps.iter().map(|step| (step.used_gb_hours.0 - step.used_gb_hours.1) * step.runs_since as f64).sum()
}

const HEAP: &str = "spark.executor.memory";
const WAIT: &str = "spark.locality.wait";

#[test]
fn a_change_saves_until_it_is_undone_whatever_else_changes() {
    let other = found(&[
        (&[(HEAP, "8g")], 320.0, 10),
        (&[(HEAP, "4g")], 160.0, 10),
        (&[(HEAP, "4g"), (WAIT, "1s")], 160.0, 10),
    ]);
    assert_eq!((other.len(), other[0].runs_since, saved(&other)), (1, 20, 3200.0));
    assert_eq!(other[0].settings, [HEAP]);
    let undone =
        found(&[(&[(HEAP, "8g")], 320.0, 10), (&[(HEAP, "4g")], 160.0, 10), (&[(HEAP, "8g")], 320.0, 10)]);
    assert_eq!((undone.len(), undone[0].runs_since, saved(&undone)), (1, 10, 1600.0));
    assert_eq!(undone[0].undone, Some(Timestamp::from_millis(20)));
    // Each of two changes goes on saving.
    let twice =
        found(&[(&[(HEAP, "8g")], 320.0, 10), (&[(HEAP, "6g")], 240.0, 10), (&[(HEAP, "4g")], 160.0, 10)]);
    assert_eq!((twice.len(), saved(&twice)), (2, 80.0 * 20.0 + 80.0 * 10.0));
}

#[test]
fn a_value_that_is_written_differently_did_not_change() {
    assert_eq!(found(&[(&[(HEAP, "8g")], 320.0, 10), (&[(HEAP, "8192m")], 160.0, 10)]), []);
}

#[test]
fn one_odd_run_and_values_of_each_run_hide_nothing() {
    let odd =
        found(&[(&[(HEAP, "8g")], 320.0, 10), (&[(HEAP, "7g")], 280.0, 1), (&[(HEAP, "4g")], 160.0, 10)]);
    // The odd run has the old level of memory, or nearly.
    assert_eq!((odd.len(), odd[0].runs_since), (1, 10));
    let ids: Vec<String> = (0..20).map(|n| format!("-Drun.id={n}")).collect();
    let each: Vec<[(&str, &str); 2]> = (0..20)
        .map(|n| {
            [(HEAP, if n < 10 { "8g" } else { "4g" }), ("spark.executor.extraJavaOptions", ids[n].as_str())]
        })
        .collect();
    let each: Vec<Alike<'_>> =
        each.iter().zip(0..).map(|(set, n)| (&set[..], if n < 10 { 320.0 } else { 160.0 }, 1)).collect();
    let found = found(&each);
    assert_eq!((found.len(), found[0].runs_since), (1, 10));
    assert_eq!(found[0].settings, [HEAP]);
}

#[test]
fn few_runs_and_small_differences_tell_nothing() {
    let pair = |before: (f64, usize), after: (&str, f64, usize)| {
        found(&[(&[(HEAP, "4g")], before.0, before.1), (&[(HEAP, after.0)], after.1, after.2)])
    };
    assert_eq!(pair((40.0, 2), ("2g", 20.0, 9)), []);
    assert_eq!(pair((40.0, 9), ("2g", 20.0, 2)), []);
    assert_eq!(pair((40.0, 9), ("2g", 38.0, 9)), []);
    assert_eq!(pair((40.0, 9), ("4g", 20.0, 9)), []);
    // A change for the worse is one, too.
    assert!(saved(&pair((20.0, 3), ("8g", 40.0, 3))) < 0.0);
}

/// Runs with a configuration, their memory and what they read.
fn found_with_input(sections: &[(&str, &[(f64, f64)])]) -> Vec<Step> {
    let mut runs = Vec::new();
    let mut settings = BTreeMap::new();
    for (configuration, (heap, measured)) in (0_i64..).zip(sections) {
        settings.insert(configuration, [(HEAP.to_owned(), (*heap).to_owned())].into_iter().collect());
        for &(used_gb_hours, input) in *measured {
            let n = runs.len();
            runs.push(MeasuredRun {
                configuration,
                id: format!("app_{n}"),
                submitted: Timestamp::from_millis(i64::try_from(n).unwrap()),
                used_gb_hours,
                run_time: None,
                core_hours: Some(used_gb_hours / 4.0),
                input: (input > 0.0).then_some(input),
            });
        }
    }
    steps(&runs, &settings)
}

#[test]
fn growth_of_the_input_hides_no_change() {
    let before = [(320.0, 100.0); 10];
    let grown: Vec<(f64, f64)> = [(160.0, 100.0); 5].into_iter().chain([(480.0, 300.0); 15]).collect();
    let [step] = &found_with_input(&[("8g", &before), ("4g", &grown)])[..] else { panic!() };
    assert_eq!((step.input, step.runs_since), (Some((100.0, 300.0)), 20));
    // Each byte costs half as much: 5 runs save 160, and 15 save 480.
    assert!((saved(std::slice::from_ref(step)) - (5.0 * 160.0 + 15.0 * 480.0)).abs() < 1e-6, "{step:?}");
    let cores = step.core_hours.unwrap();
    assert!((cores.0 - 2.0 * cores.1).abs() < 1e-9);
    // Also if it is unknown how much was read: the level changed again later.
    let unknown = |runs: &[(f64, f64)]| runs.iter().map(|run| (run.0, 0.0)).collect::<Vec<_>>();
    let found = found_with_input(&[("8g", &unknown(&before[..])[..]), ("4g", &unknown(&grown[..])[..])]);
    assert_eq!((found.len(), found[0].used_gb_hours, found[0].input), (1, (320.0, 160.0), None));
}

#[test]
fn a_setting_is_not_credited_with_what_the_data_or_another_change_did() {
    // Half of the data.
    assert_eq!(found_with_input(&[("8g", &[(320.0, 100.0); 10]), ("4g", &[(160.0, 50.0); 10])]), []);
    // The cost fell later, or earlier.
    for late in [3, 4, 10] {
        let costs = |first: f64, then: f64| {
            let costs: Vec<(f64, f64)> = (0..20)
                .map(|run| (if run < late { first } else { then } + f64::from(run % 3), 100.0))
                .collect();
            costs
        };
        let constant = |cost: f64| (0..10).map(|run| (cost + f64::from(run % 3), 100.0)).collect::<Vec<_>>();
        assert_eq!(found_with_input(&[("8g", &constant(320.0)), ("4g", &costs(320.0, 160.0))]), []);
        let earlier: Vec<_> = costs(160.0, 320.0).into_iter().rev().collect();
        assert_eq!(found_with_input(&[("8g", &earlier), ("4g", &constant(160.0))]), [], "{late}");
    }
}

#[test]
fn more_runs_make_a_change_more_certain() {
    let noisy =
        |cost: f64, runs: u8| (0..runs).map(|run| (cost + f64::from(run % 4), 0.0)).collect::<Vec<_>>();
    let p = |runs: u8| {
        let found = found_with_input(&[("8g", &noisy(320.0, runs)), ("4g", &noisy(160.0, runs))]);
        found.first().map(|step| step.p)
    };
    assert_eq!(p(3), None, "three of each differ so by chance");
    assert!(p(4).unwrap() < 0.05 && p(4).unwrap() > 0.01 && p(12).unwrap() < 0.001);
}
