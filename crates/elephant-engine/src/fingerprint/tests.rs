use proptest::prelude::*;

use super::*;
use crate::results::ApplicationReport;
use elephant_base::severity::Severity;
use elephant_model::model::spark::StageAttempt;
use elephant_rule::finding::{Caps, Finding, RuleFacts, TroubleKind};

fn app(name: Option<&str>) -> ApplicationReport {
    ApplicationReport { name: name.map(str::to_owned), ..ApplicationReport::blank("application_1_1") }
}

fn finding(rule: &'static str, subject: Subject) -> Finding {
    Finding {
        rule: rule.into(),
        title: "".into(),
        rule_facts: RuleFacts::USER,
        tells: TroubleKind::Other,
        repartition: None,
        of_more_parts: false,
        also_about: Vec::new(),
        in_queries: Vec::new(),
        conditions: Vec::new(),
        raw_severity: Severity::Low,
        caps: Caps::default(),
        severity: Severity::Low,
        score: 0,
        subject,
        message: String::new(),
        statement: String::new(),
        evidence: Vec::new(),
        thresholds: [].into(),
        advice: Vec::new(),
        failure: None,
    }
}

fn stage(stage: u32, name: &str, ordinal: u64) -> StageName {
    StageName { id: StageAttempt { stage, attempt: 0 }, name: Some(name.to_owned()), ordinal }
}

/// Users keep files with these hashes: the hash may only change together with the version prefix.
#[test]
fn the_hash_never_changes() {
    let job = JobKey::new(Engine::Spark, Some("nightly 2026-11-20"));
    assert_eq!(job.as_str(), "spark · nightly <date>");
    let fingerprint = Fingerprint::of("straggler-impact", "application", &job);
    assert_eq!(
        fingerprint.as_str(),
        format!("v1-{}", hash("finding\nstraggler-impact\napplication\nspark · nightly <date>"))
    );
    // The output of the reference implementation for the empty text and for "abc".
    assert_eq!(hash(""), "99aa06d3014798d86001c324468d497f");
    assert_eq!(hash("abc"), "06b05ab6733a618578af5f94892f3950");
}

#[test]
fn stages_are_identified_by_name_and_ordinal() {
    let subject = |id| Subject::Stage(StageAttempt { stage: id, attempt: 0 });
    let key = |stages: &[StageName], id| {
        let mut app = app(Some("a"));
        app.stage_names = stages.to_vec();
        app.subject_key(&subject(id))
    };
    let first = key(&[stage(3, "count at App.scala:10", 1)], 3);
    assert_eq!(first, "stage \"count at App.scala:10\"");
    assert_eq!(first, key(&[stage(9, "count at App.scala:10", 1)], 9));
    assert_eq!(key(&[stage(3, "count at App.scala:10", 2)], 3), "stage \"count at App.scala:10\" #2");
    let script = "collect at /mnt/cache/application_1_2/job.py:32";
    assert_eq!(key(&[stage(3, script, 1)], 3), "stage \"collect at job.py:32\"");
    assert_eq!(key(&[], 3), "stage 3");
    let retried = Subject::Stage(StageAttempt { stage: 3, attempt: 1 });
    assert!(app(None).subject_key(&retried).ends_with("retried"));
}

#[test]
fn all_executors_share_a_key_and_so_do_jobs_without_a_name() {
    let one = app(None).fingerprint(&finding("a", Subject::Executor("1".to_owned())));
    assert_eq!(one, app(Some(" \u{1b} ")).fingerprint(&finding("a", Subject::Executor("77".to_owned()))));
    assert_ne!(one, app(None).fingerprint(&finding("a", Subject::Driver)));
    assert_eq!(app(None).job_key().as_str(), "spark · (no name)");
    assert_ne!(JobKey::new(Engine::Spark, Some("a")), JobKey::new(Engine::MapReduce, Some("a")));
}

/// What a scheduler calls the runs tells jobs of one name apart; its ids of runs, owners and links do not.
#[test]
fn the_job_of_a_scheduler_is_a_part_of_the_key() {
    let run = |flow: Option<&str>, task: Option<&str>, run: &str| {
        let own = |text: &str| Some(text.to_owned());
        let mut app = app(Some("app.py"));
        app.identity = Some(JobIdentity {
            scheduler: format!("airflow {run}"),
            flow: flow.and_then(own),
            task: task.and_then(own),
            run: own(run),
            owner: own(run),
            ..JobIdentity::default()
        });
        app
    };
    let key = |flow, task, of| run(flow, task, of).job_key().to_string();
    assert_eq!(
        key(Some("daily"), Some("load 2026-11-20"), "1"),
        "spark · flow daily, task load <date> · app.py"
    );
    assert_eq!(key(Some("daily"), Some("load"), "1"), key(Some("daily"), Some("load"), "2"));
    assert_ne!(key(Some("daily"), Some("load"), "1"), key(Some("weekly"), Some("load"), "1"));
    // Numbers of jobs stay, however long they are.
    assert_eq!(key(Some("123456789"), None, "1"), "spark · flow 123456789 · app.py");
    assert_eq!(key(None, None, "1"), "spark · app.py");
    assert_eq!(run(Some("daily"), None, "1").job_key().engine(), "spark");
    // Another job of the same name does not share its findings.
    let fingerprint = |flow| run(Some(flow), None, "1").fingerprint(&finding("a", Subject::Driver));
    assert_ne!(fingerprint("daily"), fingerprint("weekly"));
    let mut lost = run(Some("daily"), None, "1");
    (lost.name, lost.complete) = (None, false);
    assert!(lost.is_unnamed());
}

#[test]
fn long_names_are_shortened_and_stay_distinct() {
    let long = |end: char| format!("{}{end}", "word ".repeat(2000));
    let (a, b) = (JobKey::new(Engine::Spark, Some(&long('a'))), JobKey::new(Engine::Spark, Some(&long('b'))));
    assert_ne!(a, b);
    assert!(a.as_str().chars().count() < MAX_NAME + 20);
}

proptest! {
    #[test]
    fn a_new_run_of_the_same_job_has_the_same_fingerprint(
        words in "[a-z]{3,8}( [a-z]{3,8}){0,2}",
        (year, month, day) in (2000u32..2090, 1u32..=12, 1u32..=28),
        (clock, sequence, epoch) in (0u64..86_400, 1u64..99_999, 1_000_000_000_000u64..1_999_999_999_999),
        uuid in "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        executor in 0u32..10_000,
    ) {
        let (hour, minute) = (clock / 3600, clock / 60 % 60);
        let runs = [
            (format!("{words} {year}-{month:02}-{day:02}"), format!("{words} 2026-11-20")),
            (format!("{words}_{year}{month:02}{day:02}_{hour:02}_{minute:02}"), format!("{words}_20090309_14_59")),
            (format!("{words}__{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:00+00:00"), format!("{words}__2026-11-20T00:00:00+00:00")),
            (format!("{words} job_{epoch}_{sequence:04}"), format!("{words} job_1526555215992_0001")),
            (format!("{words} application_{epoch}_{sequence:04}"), format!("{words} application_1526555215992_0001")),
            (format!("{words} {epoch}"), format!("{words} 1526555215992")),
            (format!("{words} run {sequence}"), format!("{words} run 1")),
            (format!("{words} {uuid}"), format!("{words} 123e4567-e89b-12d3-a456-426614174000")),
            (format!("{words} step 3 of {sequence}"), format!("{words} step 3 of 12")),
            (format!("{words}/part-{sequence:05}"), format!("{words}/part-00000")),
        ];
        for (this, other) in runs {
            let subject = Subject::Executor(executor.to_string());
            let one = app(Some(&this)).fingerprint(&finding("mapper-skew", subject));
            let two = app(Some(&other)).fingerprint(&finding("mapper-skew", Subject::Executor("1".to_owned())));
            prop_assert_eq!(one, two, "{} and {}", this, other);
        }
    }

    #[test]
    fn other_rules_jobs_and_phases_have_other_fingerprints(
        (a, b) in ("[a-z]{1,10}", "[a-z]{1,10}"), (one, two) in (1u32..=9, 1u32..=9),
    ) {
        prop_assume!(a != b && one != two);
        let map = || finding("mapper-skew", Subject::Tasks("map"));
        let base = app(Some(&a)).fingerprint(&map());
        prop_assert_ne!(&base, &app(Some(&b)).fingerprint(&map()));
        prop_assert_ne!(&base, &app(Some(&a)).fingerprint(&finding("mapper-gc", Subject::Tasks("map"))));
        prop_assert_ne!(&base, &app(Some(&a)).fingerprint(&finding("mapper-skew", Subject::Tasks("reduce"))));
        let hive = |stage: u32| JobKey::new(Engine::MapReduce, Some(&format!("{a}(Stage-{stage})")));
        prop_assert_ne!(hive(one), hive(two));
    }

    #[test]
    fn any_name_gives_a_key_of_one_printable_line(name in "\\PC{0,40}|[ -~\\x00-\\x1f\u{202e}]{0,60}") {
        let key = JobKey::new(Engine::Spark, Some(&name));
        let harmful = key.as_str().contains(|c: char| c.is_control() || c == '\u{202e}');
        prop_assert!(!harmful);
        prop_assert_eq!(&key, &JobKey::new(Engine::Spark, Some(&name)));
    }
}
