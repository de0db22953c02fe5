//! Filters with a baseline: jobs and findings that they leave out are neither missing nor gone.

use super::{Gate, healthy, named, on_day, skewed};

fn nightly(day: u32) -> String {
    on_day(&skewed(healthy(40, 10_000)), day)
}

fn weekly(day: u32) -> String {
    named(&healthy(40, 10_000), "weekly report", day)
}

/// A gate that accepts a run of each job, and has another one of each in its folder.
fn gate() -> Gate {
    let gate = Gate::accepting(&[nightly(1), weekly(2)]);
    gate.put(&[nightly(3), weekly(4)]);
    gate
}

#[test]
fn jobs_that_are_left_out_did_not_fail_to_run() {
    let gate = gate();
    for filter in
        [["--name", "nightly *"], ["--app", "application_1803*"], ["--app", "job_1803000000000_0003"]]
    {
        let (code, report) = gate.json(&filter);
        let baseline = &report["baseline"];
        assert_eq!(
            (code, &baseline["summary"]["absent_jobs_count"]),
            (0, &0.into()),
            "{filter:?}: {baseline}"
        );
        assert_eq!(baseline["jobs"].as_array().unwrap().len(), 1, "{filter:?}");
        assert_eq!(report["summary"]["applications_left_out"], 1, "{filter:?}");
        let (code, text) = gate.check(&filter);
        assert_eq!((code, text.contains("did not run")), (0, false), "{filter:?}: {text}");
    }
}

#[test]
fn jobs_that_no_filter_can_leave_out_did_not_run() {
    let gate = gate();
    gate.put(&[nightly(3)]);
    for filter in [&[][..], &["--engine", "spark"], &["--since", "2023-01-01"]] {
        let (code, text) = gate.check(&[filter, &["--require-all"]].concat());
        assert_eq!((code, text.contains("1 accepted job did not run")), (1, true), "{filter:?}: {text}");
    }
    // The baseline does not say which of its jobs these leave out.
    for filter in ["--name", "--user", "--queue", "--app"] {
        assert_eq!(gate.check(&[filter, "*", "--require-all"]).0, 2, "{filter}");
    }
    // A job without a run in the window did not run in it.
    gate.put(&[nightly(3), weekly(4)]);
    let start = gate.json(&["--name", "weekly*"]).1["applications"][0]["submitted_at"].clone();
    let (code, text) = gate.check(&["--require-all", "--since", start.as_str().unwrap()]);
    assert_eq!((code, text.contains("1 accepted job did not run: spark · nightly")), (1, true), "{text}");
    assert_eq!(gate.check(&["--engine", "mapreduce"]).0, 2, "no application was read");
}

#[test]
fn an_update_keeps_what_the_filters_leave_out() {
    let gate = gate();
    let before = gate.baseline_text();
    let job = |text: &str, name: &str| {
        let jobs: Vec<&str> = text.split("\n- job: ").collect();
        jobs.into_iter()
            .find(|job| job.starts_with(&format!("spark · {name}")))
            .unwrap()
            .trim_end()
            .to_owned()
    };
    assert_eq!(gate.check(&["--name", "nightly*", "--update"]).0, 0);
    let after = gate.baseline_text();
    assert_eq!(job(&after, "weekly"), job(&before, "weekly"));
    assert_eq!(job(&after, "nightly").matches("- run: ").count(), 2, "{after}");
    assert_eq!(gate.check(&["--name", "nightly*", "--update", "--prune"]).0, 2);
    assert_eq!(gate.baseline_text(), after);
}

#[test]
fn findings_of_other_rules_stay_accepted() {
    let gate = gate();
    let accepted = |text: &str| text.lines().filter(|line| line.contains("rule: ")).count();
    let before = accepted(&gate.baseline_text());
    assert!(before > 1, "{}", gate.baseline_text());
    let (code, report) = gate.json(&["--rule", "spark-skew"]);
    assert_eq!(code, 0, "{report}");
    let counts = &report["baseline"]["summary"];
    assert_eq!((&counts["gone_count"], &counts["not_judged_count"]), (&0.into(), &0.into()));
    for job in report["baseline"]["jobs"].as_array().unwrap() {
        assert!(job["absent"].as_array().unwrap().is_empty(), "{job}");
        let rules = job["findings"].as_array().unwrap().iter().map(|finding| &finding["rule"]);
        assert!(rules.clone().all(|rule| rule == "spark-skew"), "{job}");
    }
    assert_eq!(gate.check(&["--rule", "spark-skew", "--update"]).0, 0);
    assert_eq!(accepted(&gate.baseline_text()), before, "{}", gate.baseline_text());
    // Without the filter, nothing is new.
    assert_eq!(gate.check(&[]).0, 0);
}

#[test]
fn the_summary_of_a_check_has_the_verdict_and_no_job() {
    let gate = Gate::accepting(&[weekly(2)]);
    gate.put(&[nightly(3), weekly(4)]);
    let (code, text) = gate.check(&["--summary"]);
    assert_eq!((code, text.contains("FAILED"), text.contains("spark-skew")), (1, true, false), "{text}");
    let (code, report) = gate.json(&["--summary"]);
    assert_eq!(code, 1);
    assert!(report["applications"].as_array().unwrap().is_empty());
    assert!(report["baseline"]["jobs"].as_array().unwrap().is_empty());
    assert!(report["baseline"]["summary"]["new_count"].as_u64() > Some(0));
}
