//! Truncated logs: what they show counts; what they do not show proves nothing.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Gate, healthy, on_day, skewed};

/// A recording of Spark 3.5.9, decompressed.
fn recording(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/spark/3.5.9").join(name);
    let file = std::fs::File::open(&elephant_testing::files_below(&folder)[0]).unwrap();
    let mut text = String::new();
    zstd::Decoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The first `percent` of a log, as after a full disk or a killed driver.
fn cut(log: &str, percent: usize) -> String {
    let mut end = log.len() * percent / 100;
    while !log.is_char_boundary(end) {
        end -= 1;
    }
    log[..end].to_owned()
}

fn stderr(gate: &Gate, arguments: &[&str]) -> String {
    String::from_utf8(gate.run(arguments).stderr).unwrap()
}

fn last_line(text: &str) -> String {
    let last = text.trim_end().rsplit('\n').take_while(|line| !line.contains("against the baseline"));
    let mut lines: Vec<&str> = last.collect();
    lines.reverse();
    lines.join(" ")
}

/// A baseline without its notes on runs that could not be judged.
fn without_notes(baseline: &str) -> String {
    let Some((before, rest)) = baseline.split_once("not_judged:\n") else { return baseline.to_owned() };
    let (_, jobs) = rest.split_once("jobs:").unwrap();
    format!("{before}jobs:{jobs}")
}

fn finding<'a>(job: &'a Value, rule: &str) -> &'a Value {
    let mut findings = job["findings"].as_array().unwrap().iter();
    findings.find(|finding| finding["rule"] == rule).unwrap()
}

#[test]
fn run_without_judgement_fails_and_leaves_the_baseline_unchanged() {
    let skew = recording("skew");
    let gate = Gate::accepting(std::slice::from_ref(&skew));
    let accepted = gate.baseline_text();
    // The log has the job name, but no task has ended.
    gate.put(&[cut(&skew, 24)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 2, "{text}");
    assert_eq!(
        last_line(&text),
        "NOT PASSED: 2 troubles not judged, 1 run not judged at all: check a complete log, or use \
         --allow-unjudged to let such runs pass."
    );
    assert!(!text.contains("nothing changed") && text.contains("UNJUDGED  all of app-"), "{text}");
    let (code, report) = gate.json(&[]);
    let baseline = &report["baseline"];
    assert_eq!((code, &baseline["failed"], &baseline["undecided"]), (2, &true.into(), &true.into()));
    assert_eq!(baseline["summary"]["not_judged_count"], 2);
    assert_eq!(baseline["summary"]["unjudged_runs_count"], 1);
    assert_eq!(baseline["summary"]["gone_count"], 0);
    assert_eq!(gate.check(&["--update"]).0, 2);
    assert_eq!(gate.baseline_text(), accepted);
    let (code, text) = gate.check(&["--allow-unjudged"]);
    assert_eq!(code, 0, "{text}");
    let wanted = "PASSED as far as it could be judged: 2 troubles not judged, 1 run not judged at all.";
    assert_eq!(last_line(&text), wanted);
    let error = stderr(&gate, &["--format", "junit", "--output", "gate.xml"]);
    assert!(error.contains("check: NOT PASSED, 2 troubles not judged"), "{error}");
    // The accepted values of the job stay. This run is now known; another such run is not.
    assert_eq!(gate.check(&["--allow-unjudged", "--update", "--prune"]).0, 0);
    let noted = gate.baseline_text();
    assert_eq!(without_notes(&noted), accepted);
    assert_ne!(noted, accepted);
    let (code, text) = gate.check(&[]);
    assert_eq!((code, last_line(&text).as_str()), (0, wanted));
    // An update from another folder keeps the note, until --prune.
    let this = std::fs::read_to_string(gate.folder.path().join("history/log-0")).unwrap();
    gate.put(&[on_day(&healthy(8, 1_000), 9)]);
    assert_eq!(gate.check(&["--update"]).0, 0);
    let note = noted.split_once("not_judged:\n- ").unwrap().1.lines().next().unwrap();
    assert!(gate.baseline_text().contains(note), "{}", gate.baseline_text());
    gate.put(&[this]);
    assert_eq!(gate.check(&[]).0, 0);
    let id = report["applications"][0]["id"].as_str().unwrap();
    gate.put(&[cut(&skew, 24).replace(id, "app-20300101000000-0001")]);
    assert_eq!(gate.check(&[]).0, 2);
}

#[test]
fn new_job_without_judgement_is_not_reported_as_without_findings() {
    let gate = Gate::accepting(&[on_day(&healthy(40, 2_000), 1)]);
    let accepted = gate.baseline_text();
    gate.put(&[on_day(&healthy(40, 2_000), 1), cut(&recording("healthy"), 30)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 2, "{text}");
    assert!(!text.contains("without findings") && text.contains("a new job"), "{text}");
    // An update accepts the rest and omits this job.
    let (code, text) = gate.check(&["--update"]);
    assert_eq!(code, 0, "{text}");
    assert!(last_line(&text).contains("except: 1 run not judged at all"), "{text}");
    assert_eq!(without_notes(&gate.baseline_text()), accepted);
    // The same run again is not new.
    let (code, text) = gate.check(&[]);
    assert_eq!((code, last_line(&text).contains("PASSED as far as")), (0, true), "{text}");
}

#[test]
fn log_truncated_before_its_job_name_is_not_a_new_job() {
    let skew = recording("skew");
    let gate = Gate::accepting(std::slice::from_ref(&skew));
    let accepted = gate.baseline_text();
    gate.put(&[cut(&skew, 1)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 2, "{text}");
    assert!(!text.contains("new job"), "{text}");
    assert!(text.contains("spark · (name unknown)") && text.contains("a job with an unknown name"), "{text}");
    // The job of this run is unknown, so the job that seems to be missing must not be pruned.
    gate.put(&[cut(&skew, 1), on_day(&healthy(8, 1_000), 2)]);
    assert_eq!(gate.check(&["--update", "--prune"]).0, 0);
    assert!(gate.baseline_text().contains("skew-3.5.9") && !gate.baseline_text().contains("unknown"));
    assert!(gate.baseline_text().len() > accepted.len());
}

#[test]
fn healthy_log_without_its_last_line_passes_as_far_as_judged() {
    let whole = recording("healthy");
    let gate = Gate::accepting(std::slice::from_ref(&whole));
    let end = whole.trim_end().rfind('\n').unwrap();
    gate.put(&[whole[..=end].to_owned()]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(last_line(&text), "PASSED as far as it could be judged: 1 run judged in part.");
    assert_eq!(gate.check(&["--strict"]).0, 2);
    // With only the first third of the lines, no rule on tasks reports that all is well.
    gate.put(&[cut(&whole, 30)]);
    assert_eq!(gate.check(&[]).0, 2);
    // The whole log next to it is another run: a copy would count once.
    let id = "app-20261121085752-0000";
    assert!(whole.contains(id));
    gate.put(&[cut(&whole, 30), whole.replace(id, "app-20261121085752-0001")]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 2, "each run counts: {text}");
}

#[test]
fn findings_missing_from_a_truncated_log_are_neither_gone_nor_better() {
    let gc = recording("gc");
    let gate = Gate::accepting(&[recording("skew"), gc.clone()]);
    let accepted = gate.baseline_text();
    gate.put(&[cut(&recording("skew"), 60), cut(&gc, 60)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("GONE") && !text.contains("BETTER"), "{text}");
    let wanted = "PASSED as far as it could be judged: 2 troubles not judged, 2 runs judged in part.";
    assert_eq!(last_line(&text), wanted);
    let (_, report) = gate.json(&[]);
    let jobs = report["baseline"]["jobs"].as_array().unwrap();
    let job = jobs.iter().find(|job| job["job"] == "spark · gc-3.5.9").unwrap();
    let better = finding(job, "spark-executor-gc");
    assert_eq!((&better["change"], &better["severity"]), (&"not-judged".into(), &"low".into()), "{better:#}");
    assert_eq!(better["accepted_severity"], "moderate");
    assert!(better["reason"].as_str().unwrap().starts_with("its log is incomplete: "), "{better:#}");
    let (code, text) = gate.check(&["--update"]);
    assert_eq!(code, 0, "{text}");
    assert!(last_line(&text).contains("except: 2 troubles not judged"), "{text}");
    assert_eq!(
        without_incomplete_runs(&gate.baseline_text()),
        accepted,
        "values of an incomplete run do not replace those of a complete run"
    );
}

/// A baseline without the lists of incomplete runs.
fn without_incomplete_runs(baseline: &str) -> String {
    let mut is_listed = false;
    let is_kept = |line: &&str| {
        let is_head = line.trim() == "incomplete_runs:";
        is_listed = is_head || (is_listed && line.starts_with("  - "));
        !is_listed
    };
    baseline.split_inclusive('\n').filter(is_kept).collect()
}

#[test]
fn regression_in_a_truncated_log_fails_and_does_not_replace_a_complete_run() {
    let killed = recording("execkill");
    let gate = Gate::accepting(std::slice::from_ref(&killed));
    let accepted = gate.baseline_text();
    gate.put(&[cut(&killed, 60)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 1, "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("moderate, was low, in an incomplete run"), "{text}");
    assert!(last_line(&text).ends_with("Not everything could be judged: 1 run judged in part."));
    let (_, report) = gate.json(&[]);
    let worse = finding(&report["baseline"]["jobs"][0], "spark-stage-metrics");
    assert_eq!((&worse["change"], &worse["incomplete"]), (&"worse".into(), &true.into()), "{worse:#}");
    let (code, text) = gate.check(&["--update"]);
    assert_eq!(code, 0, "{text}");
    assert!(last_line(&text).contains("1 worse trouble of incomplete runs"), "{text}");
    let after = gate.baseline_text();
    assert_eq!(without_incomplete_runs(&after), accepted, "the complete run stays");
    assert!(after.contains("  incomplete_runs:\n"), "{after}");
    assert_eq!(gate.check(&[]).0, 0, "what was accepted passes");
}

#[test]
fn findings_of_incomplete_runs_are_marked_until_a_complete_run_confirms_them() {
    let killed = recording("execkill");
    let gate = Gate::accepting(&[cut(&killed, 60)]);
    let part = gate.baseline_text();
    assert!(part.contains("incomplete: true") && !part.contains("\n  runs:"), "{part}");
    // An accepted incomplete run may be replaced by a longer part of it.
    gate.put(&[cut(&killed, 80)]);
    assert_eq!(gate.check(&["--update"]).0, 0);
    assert_eq!(gate.check(&[]).0, 0);
    gate.put(&[killed]);
    assert_eq!(gate.check(&["--update"]).0, 0);
    let whole = gate.baseline_text();
    assert!(!whole.contains("incomplete") && whole.contains("\n  runs:"), "{whole}");
}

#[test]
fn one_complete_run_shows_which_findings_are_gone() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    let calm = on_day(&healthy(40, 2_000), 2);
    gate.put(&[cut(&on_day(&healthy(40, 2_000), 3), 60), calm]);
    let (_, report) = gate.json(&["--allow-unjudged"]);
    let summary = &report["baseline"]["summary"];
    assert!(summary["gone_count"].as_u64().unwrap() > 0, "{summary:#}");
    assert_eq!(summary["not_judged_count"], 0, "{summary:#}");
    gate.put(&[cut(&on_day(&healthy(40, 2_000), 3), 60)]);
    let (_, report) = gate.json(&[]);
    assert_eq!(report["baseline"]["summary"]["gone_count"], 0);
}

#[test]
fn limit_is_named_for_everything_it_left_unjudged() {
    let gate = Gate::accepting(&[recording("skew")]);
    for (format, expected) in [
        ("text", "--max-decoded kept only part"),
        ("json", "--max-decoded kept only part"),
        ("html", ">--max-decoded</span> kept only part"),
        ("markdown", "max-decoded kept only part"),
        (
            "junit",
            "<error message=\"too incomplete to judge: app-20261121094318-0000: --max-decoded kept only part",
        ),
        ("sarif", "\"id\": \"not-judged\""),
    ] {
        let (code, text) = gate.check(&["--max-decoded", "98KB", "--format", format]);
        assert_eq!(code, 2, "{text}");
        let text =
            if format == "text" { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { text };
        assert!(text.contains(expected), "{expected} is missing in {text}");
    }
    let (_, sarif) = gate.check(&["--max-decoded", "98KB", "--format", "sarif"]);
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn truncated_mapreduce_history_is_not_judged() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/done");
    let files = elephant_testing::files_below(&testdata);
    let named = |part: &str| -> &PathBuf {
        files
            .iter()
            .find(|file| file.to_string_lossy().contains(part) && file.extension().unwrap() == "jhist")
            .unwrap()
    };
    let whole = std::fs::read_to_string(named("1732147200000_0004")).unwrap();
    let gate = Gate::accepting(std::slice::from_ref(&whole));
    gate.put(&[cut(&whole, 25)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("UNJUDGED  stragglers in node: mapper-skew (map), was severe;"), "{text}");
    gate.put(&[cut(&whole, 80)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 0, "{text}");
    assert!(last_line(&text).starts_with("PASSED as far as it could be judged: "), "{text}");
}

#[test]
fn reports() {
    let (skew, gc, killed) = (recording("skew"), recording("gc"), recording("execkill"));
    let gate = Gate::accepting(&[skew.clone(), gc.clone(), killed.clone(), recording("healthy")]);
    gate.put(&[
        cut(&skew, 60),
        cut(&gc, 60),
        cut(&killed, 60),
        cut(&recording("healthy"), 30),
        cut(&skew, 1),
    ]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 1);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let (_, json) = gate.json(&[]);
    let (_, markdown) = gate.check(&["--format", "markdown"]);
    let (_, junit) = gate.check(&["--format", "junit"]);
    let unjudged = junit.split_once("  <testsuite name=\"not judged\"").unwrap().1;
    let (_, updated) = gate.check(&["--update"]);
    elephant_testing::with_snapshots("reports/check", || {
        insta::assert_snapshot!("incomplete.txt", text);
        insta::assert_snapshot!("incomplete.json", serde_json::to_string_pretty(&json["baseline"]).unwrap());
        insta::assert_snapshot!("incomplete.md", markdown);
        insta::assert_snapshot!("incomplete.junit.xml", unjudged);
        insta::assert_snapshot!("incomplete-updated.txt", updated);
    });
}
