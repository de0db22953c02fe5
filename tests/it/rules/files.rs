//! Rule files as users write them: errors, scopes, suppressions, the schema, exported rules, and migration.

use std::path::Path;
use std::sync::LazyLock;

use assert_cmd::Command;
use chrono::NaiveDate;
use elephant_rs::engine::{Options, analyze};
use elephant_rs::results::Report;
use elephant_rs::rules::{PRESETS, RuleFile, RuleProblem, RuleSet, import};
use elephant_rs::severity::Severity;
use predicates::prelude::*;
use proptest::prelude::*;
use serde_json::Value;

const DONE: &str = "testdata/done";

fn file(text: &str) -> RuleFile {
    RuleFile { name: "own.yaml".to_owned(), text: text.to_owned() }
}

fn rules(text: &str) -> RuleSet {
    RuleSet::with_files(elephant_rs::rules::BUILT_IN, &[file(text)])
        .unwrap()
        .on(NaiveDate::from_ymd_opt(2026, 11, 21).unwrap())
}

fn problems(text: &str) -> Vec<RuleProblem> {
    RuleSet::read(elephant_rs::rules::BUILT_IN, &[file(text)]).1
}

fn report(rules: &RuleSet) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DONE);
    analyze(&[path], rules, Options::default())
}

fn elephant() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

#[test]
fn all_errors_of_a_file_are_reported_at_once_with_positions() {
    let text = "\
rule: maper-skew
deviation: [1, 2, 3]
---
rule: mapper-skew
deviatoin: [2, 4, 8, 16]
group_tasks: [10, 50, 100, many]
lost_time: [10s, 5s, 20s, 30s]
large_group_blocks: [1, 2, 3]
missing_counters: unknwon
for: {queu: root, name: /(/, user: []}
max_severity: sever
---
rule: spark-*
enabled: maybe
deviation: 3
---
rules: x
---
- a
---
suppress: mapper-skew
until: 31.1.2027
reasn: x
---
rule: mapper-time
num_tasks: [1, 2
---
rule: metrics
for: {user: a}
---
rule: mapper-gc
run_time: [1min, 2min, 3min, 4min]
run_time: [1min, 2min, 3min, 4min]
";
    let lines: Vec<String> = problems(text).iter().map(ToString::to_string).collect();
    elephant_testing::with_snapshots("rules", || {
        insta::assert_snapshot!("mistakes", lines.join("\n"));
    });
}

#[test]
fn common_mistakes_are_told_with_their_remedy() {
    let skew = "rule: mapper-skew\n";
    let own = "rule: a-b\nvalues: {x: tasks.total}\nthresholds: {x: {rising: [1, 2, 3, 4]}}\nmessage: m\n";
    let bare = "the regular expression is not in quotes, so YAML reads a part of it as its own syntax; write";
    for (text, expected) in [
        (
            format!("{skew}enabled: yes\n"),
            "2:10: expected true or false, got \"yes\"; write true, in small letters and without quotes".to_owned(),
        ),
        (
            format!("{skew}enabled: 'false'\n"),
            "2:10: expected true or false, got 'false'; write false, in small letters and without quotes".to_owned(),
        ),
        (format!("{skew}enabled: maybe\n"), "2:10: expected true or false, got \"maybe\"".to_owned()),
        (
            format!("{own}---\n{own}"),
            "6:7: the rule \"a-b\" is in this file already, in line 1; merge the two documents, give this one another id, or restrict it to some applications with the key \"for\"".to_owned(),
        ),
        (
            format!("{skew}for: {{name: /^etl-[a-z]{{2,3}}$/}}\n"),
            format!("2:13: {bare} '/^etl-[a-z]{{2,3}}$/'"),
        ),
        (format!("{skew}for:\n  name: /^etl #1/\n"), format!("3:9: {bare} '/^etl #1/'")),
        (
            format!("{skew}for: {{name: \"/\\d/\"}}\n"),
            "2:13: between double quotes, YAML reads a backslash as the start of an escape sequence; use single quotes: between them, a backslash is only a backslash".to_owned(),
        ),
        (
            format!("{own}when: app.name.matches(/^a/)\n"),
            "5:24: expected a value after \"(\", found \"/\"; write a regular expression as a text in quotes, such as name.matches(\"^etl\")".to_owned(),
        ),
        (
            format!("{skew}for:\n\tuser: a\n"),
            "3:1: a tab is used for indentation; indent with spaces; YAML allows no tabs there".to_owned(),
        ),
        (
            format!("{own}over: map\nscore_tasks: counter(\"my.Group\", \"SPILLED_RECORDS\")\n"),
            "6:34: SPILLED_RECORDS is a counter of Hadoop, whatever its group; write sum(task.spilled_records)".to_owned(),
        ),
        (
            format!("{own}over: stage\nscore_tasks: counter(\"my.Group\", \"ROWS\")\n"),
            "6:14: counter is about MapReduce jobs; Spark has task metrics instead, such as sum(task.input_bytes)".to_owned(),
        ),
        (
            format!("{own}score_tasks: task.counter(\"my.Group\", \"ROWS\")\n"),
            "5:19: task.counter(\"my.Group\", \"ROWS\") differs for each task; use it in an aggregate, such as mean(task.counter(\"my.Group\", \"ROWS\"))".to_owned(),
        ),
    ] {
        let told: Vec<String> = problems(&text).iter().map(ToString::to_string).collect();
        assert_eq!(told, [format!("own.yaml:{expected}")], "{text}");
    }
    // Other applications, or several rules, are no repetition.
    assert_eq!(
        problems(&format!(
            "{own}---\nrule: a-b\nfor: {{user: a}}\nenabled: false\n---\nrule: a-*\nenabled: false\n"
        )),
        []
    );
}

#[test]
fn counters_of_tasks_are_there_when_a_rule_names_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/examples/words-in-maps.yaml");
    let rules =
        RuleSet::with_files(elephant_rs::rules::BUILT_IN, &elephant_rs::rules::find_files(&path).unwrap())
            .unwrap();
    let report = report(&rules);
    let app = report.applications.iter().find(|app| app.id == "job_1795255830918_0001").unwrap();
    let finding = app.findings.iter().find(|finding| finding.rule == "words-in-maps").unwrap();
    assert_eq!(finding.severity, Severity::Low);
    assert!(finding.message.contains(" of 18,336,080 words"), "{}", finding.message);
}

#[test]
fn lists_and_reference_fit_a_terminal() {
    let text = |args: &[&str]| {
        let output = elephant().args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        text
    };
    let all = text(&["rules", "list"]);
    let row = all.lines().find(|line| line.starts_with("mapper-skew ")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["mapper-skew", "mapreduce", "time", "built-in"]);
    let row = all.lines().find(|line| line.starts_with("spark-event-log-limit ")).unwrap();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["spark-event-log-limit", "spark", "-", "built-in"]
    );
    let skew = text(&["rules", "list", "Skew"]);
    assert!(skew.contains("\nmapper-skew ") && skew.contains("\nspark-skew "), "{skew}");
    assert!(!skew.contains("\nmapper-gc "), "{skew}");
    assert!(skew.contains("\n    Mapper Skew: Finds jobs in which a few map tasks read far more"), "{skew}");
    let by_setting = text(&["rules", "list", "spark.sql.shuffle.partitions"]);
    assert!(by_setting.contains("\nspark-parallelism "), "{by_setting}");
    let preset = text(&["rules", "list", "--rules", "dr-elephant", "spark-skew"]);
    assert!(preset.contains("preset\n") && preset.contains("    off: preset dr-elephant:"), "{preset}");
    let own = text(&["rules", "list", "--rules", "rules/examples/etl-at-night.yaml", "night"]);
    assert!(own.contains("\netl-at-night ") && own.contains(" -             file\n"), "{own}");
    elephant().args(["rules", "list", "no-such-word"]).assert().code(2).stdout("");
    let reference = text(&["rules", "reference"]);
    assert!(reference.contains("\n  app.submit_hour "), "{reference}");
    elephant().args(["rules", "reference", "no-such-word"]).assert().code(2).stdout("");
}

#[test]
fn excerpts_point_at_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own rules.yaml");
    std::fs::write(&path, "# größer\nrule: mapper-skew\ndeviation: [2, vier, 8, 16]\nx: 1\n").unwrap();
    let expected = predicate::str::contains("own rules.yaml:3:16")
        .and(predicate::str::contains("3 | deviation: [2, vier, 8, 16]"))
        .and(predicate::str::contains("^^^^"))
        .and(predicate::str::contains("own rules.yaml:4:1"))
        .and(predicate::str::contains("2 errors in 1 file"));
    elephant().args(["rules", "check"]).arg(&path).assert().code(2).stdout("").stderr(expected);
    let expected =
        predicate::str::contains("own rules.yaml:3:16").and(predicate::str::contains("own rules.yaml:4:1"));
    elephant().args(["analyze", DONE, "--rules"]).arg(&path).assert().code(2).stdout("").stderr(expected);
}

#[test]
fn rules_can_be_disabled_or_limited_by_scope() {
    let all = report(&RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap());
    let limited = report(&rules("rule: '*'\nfor: {user: alice}\nmax_severity: low\n"));
    let off = report(&rules("rule: '*'\nenabled: false\n---\nrule: job-exception\nenabled: true\n"));
    assert!(all.summary.findings[2..].iter().sum::<u64>() > 0);
    for app in &limited.applications {
        assert!(app.user.as_deref() != Some("alice") || app.severity <= Severity::Low, "{}", app.id);
        assert_eq!(app.score, 0);
    }
    let capped = limited.applications.iter().flat_map(|app| &app.findings);
    let capped: Vec<_> =
        capped.filter(|finding| finding.message.contains("without the limit in own.yaml:3")).collect();
    assert!(!capped.is_empty());
    let found: Vec<_> = off.applications.iter().flat_map(|app| &app.findings).collect();
    assert!(!found.is_empty() && found.iter().all(|finding| finding.rule == "job-exception"));
    assert_eq!(off.rules.iter().map(|rule| rule.id.as_ref()).collect::<Vec<_>>(), ["job-exception"]);
}

#[test]
fn suppressed_findings_are_hidden_until_expiry() {
    let text = "suppress: straggler-*\nfor: {name: 'word count*'}\nreason: node002 is being replaced, OPS-7\nuntil: 2026-12-31\n---\n\
                suppress: mapper-skew\nsubject: reduce\nreason: never fits\n";
    let all = report(&RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap());
    let silent = report(&rules(text));
    let suppressed: Vec<_> = silent.applications.iter().flat_map(|app| &app.suppressed).collect();
    assert!(suppressed.len() >= 3, "{suppressed:?}");
    assert!(suppressed.iter().all(|s| s.origin == "own.yaml:1" && s.reason.contains("OPS-7")));
    let sum = |report: &Report| report.summary.findings[1..].iter().sum::<u64>();
    assert_eq!(sum(&silent) + suppressed.len() as u64, sum(&all));
    let uses: Vec<(u64, bool)> = silent.suppressions.iter().map(|s| (s.findings, s.expired)).collect();
    assert_eq!(uses, [(suppressed.len() as u64, false), (0, false)]);
    let last_day = report(&rules(text).on(NaiveDate::from_ymd_opt(2026, 12, 31).unwrap()));
    assert_eq!(sum(&last_day), sum(&silent));
    let later = report(&rules(text).on(NaiveDate::from_ymd_opt(2027, 1, 1).unwrap()));
    assert_eq!(sum(&later), sum(&all));
    assert!(later.suppressions[0].expired);
}

#[test]
fn expired_and_unused_suppressions_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("accepted.yaml");
    std::fs::write(
        &path,
        "suppress: mapper-*\nreason: x\nuntil: 2026-01-31\n---\nsuppress: spark-*\nreason: y\n",
    )
    .unwrap();
    let day = |day: &str| ["--today".to_owned(), day.to_owned()];
    let expected = || predicate::str::contains("accepted.yaml:1").and(predicate::str::contains("2026-01-31"));
    elephant()
        .args(["rules", "check"])
        .arg(&path)
        .args(day("2026-02-01"))
        .assert()
        .code(1)
        .stderr(expected());
    elephant().args(["rules", "check"]).arg(&path).args(day("2026-01-31")).assert().code(0).stderr("");
    let unused = predicate::str::contains("accepted.yaml:5").and(predicate::str::contains("matched nothing"));
    let analyze = || {
        let mut command = elephant();
        command.args(["analyze", DONE, "--rules"]).arg(&path).args(day("2026-02-01"));
        command
    };
    analyze().assert().code(0).stderr(expected().and(unused));
    analyze().arg("--quiet").assert().code(0).stderr("");
    let output = analyze().args(["--format", "json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["suppressions"][0]["expired"], true);
    assert_eq!(json["suppressions"][1]["findings_count"], 0);
}

#[test]
fn show_explains_which_values_apply_to_a_job_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.yaml");
    let text = "rule: mapper-skew\nfor: {queue: root.*}\ndeviation: [3, 5, 9, 17]\n---\nrule: mapper-skew\nfor: {user: bob}\nenabled: false\n";
    std::fs::write(&path, text).unwrap();
    let show = |more: &[&str]| {
        let output = elephant()
            .args(["rules", "show", "mapper-skew", "--rules"])
            .arg(&path)
            .args(more)
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let outcome = show(&["--for", "testdata/done/2026"]);
    assert!(outcome.contains("own.yaml:3, for queue root.*"), "{outcome}");
    assert!(
        outcome.contains("deviation: [3, 5, 9, 17]") && outcome.contains("does not apply: the user differs")
    );
    let page = show(&[]);
    assert!(page.contains("# Mapper Skew") && page.contains("user bob: off"), "{page}");
    elephant().args(["rules", "show", "mapper-skew", "--for", "Cargo.toml"]).assert().code(2);
}

fn schema_text() -> String {
    let output = elephant().args(["rules", "schema"]).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// The rule files bundled with the program.
static DEFAULTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    elephant().args(["rules", "init"]).arg(folder.path().join("rules")).assert().code(0);
    let files = elephant_testing::files_below(folder.path()).into_iter();
    let yaml = files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    let texts: Vec<String> = yaml.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert!(texts.len() > 30, "{}", texts.len());
    texts
});

#[test]
fn schema_accepts_bundled_files_and_rejects_errors() {
    let schema: Value = serde_json::from_str(&schema_text()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let documents = |text: &str| -> Vec<Value> {
        use serde::Deserialize;
        serde_yaml::Deserializer::from_str(text)
            .map(|document| Value::deserialize(document).unwrap())
            .collect()
    };
    let yaml = DEFAULTS.iter().map(String::as_str);
    let examples =
        elephant_rs::rules::find_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/examples"))
            .unwrap();
    let examples = examples.iter().map(|file| file.text.as_str());
    for text in yaml.chain(examples).chain(PRESETS.iter().map(|(_, text)| *text)) {
        for document in documents(text) {
            let errors: Vec<String> =
                validator.iter_errors(&document).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}\n{text}");
        }
    }
    for good in [
        "rule: mapper-skew\nfor: {queue: [a, b*], engine: mapreduce}\nmax_severity: low\ndeviation: off",
        "rule: spark-*\nenabled: false",
        "suppress: mapper-skew\nreason: x\nuntil: 2027-01-31",
    ] {
        assert!(documents(good).iter().all(|document| validator.is_valid(document)), "{good}");
        assert!(problems(good).is_empty(), "{good}: {:?}", problems(good));
    }
    for bad in [
        "rule: mapper-skew\ndeviatoin: [2, 4, 8, 16]",
        "rule: mapper-skew\ndeviation: [2, 4, 8]",
        "rule: mapper-time\nlong_run_time: [15m, 30 bananas, 1h, 2h]",
        "rule: mapper-skew\nfor: {queu: a}",
        "rule: mapper-skew\nmax_severity: sever",
        "rule: mapper-skew\nmissing_counters: maybe",
        "rule: spark-*\ndeviation: 3",
        "suppress: mapper-skew",
        "suppress: mapper-skew\nreason: x\nuntil: 31.1.2027",
        "deviation: [2, 4, 8, 16]",
        "rule: own-rule\nvalues: {a: sum(task.gc_time)}\nthresholds: {a: {rising: [1min, 2min, 3min]}}\nmessage: x",
        "rule: own-rule\nvalues: {a: sum(task.gc_time)}\nthresholds: {a: {rising: [1min, 2min, 3min, 4min]}}\nmesage: x",
    ] {
        assert!(documents(bad).iter().all(|document| !validator.is_valid(document)), "{bad}");
        assert!(!problems(bad).is_empty(), "{bad}");
    }
}

#[test]
fn exported_rules_change_nothing_until_edited() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules");
    elephant().args(["rules", "init"]).arg(&rules).assert().code(0);
    elephant()
        .args(["rules", "init"])
        .arg(&rules)
        .assert()
        .code(2)
        .stderr(predicate::str::contains("--force"));
    elephant().args(["rules", "init", "--force"]).arg(&rules).assert().code(0);
    elephant().args(["rules", "check"]).arg(&rules).assert().code(0).stderr("");
    let with = |args: &[&str]| {
        elephant().args(["analyze", "--format", "json", "testdata"]).args(args).output().unwrap().stdout
    };
    assert_eq!(with(&[]), with(&["--rules", rules.to_str().unwrap()]));
    let text = std::fs::read_to_string(rules.join("mapreduce/mapper-skew.yaml")).unwrap();
    assert!(text.starts_with("# yaml-language-server: $schema=../rules.schema.json\n"));
    assert!(
        text.contains("# Mapper Skew\n") && text.contains("\n# Difference of the two groups' means"),
        "{text}"
    );
    let schema = std::fs::read_to_string(rules.join("rules.schema.json")).unwrap();
    assert_eq!(schema, schema_text());
}

#[test]
fn non_dr_elephant_configuration_is_rejected() {
    for (text, expected) in [
        ("", "expected <heuristics>"),
        ("<configuration/>", "line 1: expected <heuristics>"),
        ("<heuristics><heuristic>", "cut"),
        ("<heuristics>\n</heuristic>", "line 2"),
        ("no xml", "expected <heuristics>"),
    ] {
        let error = import(elephant_rs::rules::BUILT_IN, text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    elephant().args(["rules", "import", "Cargo.toml"]).assert().code(2).stdout("");
    elephant().args(["rules", "import", "-"]).write_stdin("<heuristics/>").assert().code(0);
}

#[test]
fn custom_rule_survives_a_scoped_document() {
    let base = "rule: my-b\nover: reduce\nvalues: {c: cout(task)}\nthresholds: {c: {rising: [1, 2, 3, 4]}}\nmessage: \"{c}\"\n";
    let scoped = "---\nrule: my-b\nfor: {queue: adhoc}\nvalues: {c: count(task) * 2}\n";
    let found_problems = problems(&format!("{base}{scoped}"));
    assert!(found_problems.iter().any(|problem| problem.message.contains("cout")), "{found_problems:?}");
    let good = base.replace("cout", "count");
    assert!(problems(&format!("{good}{scoped}")).is_empty());
    let no_name = "---\nrule: my-b\nfor: {queue: adhoc}\nmessage: \"{mid}\"\n";
    assert!(!problems(&format!("{good}{no_name}")).is_empty());
    // Other units for some jobs: valid on its own.
    let units = "---\nrule: my-b\nfor: {queue: adhoc}\nvalues: {c: sum(task.run_time)}\nthresholds: {c: {rising: [1s, 2s, 3s, 4s]}}\n";
    assert!(problems(&format!("{good}{units}")).is_empty(), "{:?}", problems(&format!("{good}{units}")));
}

#[test]
fn rule_with_contradicting_layers_is_not_evaluated() {
    let base = "rule: my-b\nover: map\nvalues: {c: count(task)}\nthresholds: {c: {rising: [1, 2, 3, 4]}}\nmessage: \"{c}\"\n";
    let time = "---\nrule: my-b\nfor: {user: alice}\nvalues: {c: sum(task.run_time)}\nthresholds: {c: {rising: [1s, 2s, 3s, 4s]}}\n";
    let counts = "---\nrule: my-b\nfor: {name: '*'}\nthresholds: {c: {rising: [5, 6, 7, 8]}}\n";
    let together = report(&rules(&format!("{base}{time}{counts}")));
    let reasons: Vec<&str> = together
        .applications
        .iter()
        .flat_map(|app| &app.not_evaluated)
        .filter(|rule| rule.rule == "my-b")
        .map(|rule| rule.reason.as_str())
        .collect();
    assert!(
        !reasons.is_empty() && reasons.iter().all(|reason| reason.contains("contradict each other")),
        "{reasons:?}"
    );
}

#[cfg(unix)]
#[test]
fn rule_folders_follow_links_and_skip_hidden_files() {
    let folder = tempfile::tempdir().unwrap();
    let (real, mount) = (folder.path().join("real"), folder.path().join("mount"));
    for path in [&real, &mount, &mount.join("..data")] {
        std::fs::create_dir_all(path).unwrap();
    }
    std::fs::write(real.join("own.yaml"), "rule: mapper-time\nlong_run_time: [1s, 2s, 3s, 4s]\n").unwrap();
    std::fs::write(mount.join("..data/own.yaml"), "rule: no-such-rule\n").unwrap();
    elephant()
        .args(["rules", "check"])
        .arg(&mount)
        .assert()
        .code(2)
        .stderr(predicate::str::contains("contains no rule file"));
    std::os::unix::fs::symlink(real.join("own.yaml"), mount.join("own.YML")).unwrap();
    std::os::unix::fs::symlink(&mount, mount.join("loop")).unwrap();
    let list = elephant().args(["rules", "list", "--rules"]).arg(&mount).assert().code(0);
    list.stdout(
        predicate::str::contains("long_run_time: [1s, 2s, 3s, 4s]")
            .and(predicate::str::contains("own.YML:2")),
    );
    std::fs::write(mount.join("a.yaml"), [0xff, 0xfe]).unwrap();
    std::fs::write(mount.join("b.yaml"), "rule: maper-time\n").unwrap();
    let all = predicate::str::contains("a.yaml").and(predicate::str::contains("b.yaml:1:7"));
    elephant().args(["rules", "check"]).arg(&mount).assert().code(2).stderr(all);
}

#[test]
fn divisors_must_be_greater_than_zero() {
    let found_problems =
        problems("rule: mapper-time\ntarget_run_time: 0s\n---\nrule: mapper-skew\nblock_size: 0MB\n");
    assert_eq!(
        found_problems.iter().filter(|problem| problem.message.contains("greater than 0")).count(),
        2,
        "{found_problems:?}"
    );
}

#[test]
fn multiline_values_are_imported_as_one_line() {
    let text = std::fs::read_to_string("testdata/dr-elephant/HeuristicConf.xml").unwrap();
    let broken = text.replace("2, 4, 2*4, 16", "2, 4,\n   2*4, 16");
    assert_ne!(text, broken);
    assert_eq!(
        import(elephant_rs::rules::BUILT_IN, &text).unwrap().yaml,
        import(elephant_rs::rules::BUILT_IN, &broken).unwrap().yaml
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn rule_file_reader_never_panics(text in "(rule|for|enabled|suppress|[a-z*/&!|>{}\\[\\]:,'\"# \n\t-]|\\PC){0,120}") {
        let _ = RuleSet::read(elephant_rs::rules::BUILT_IN, &[file(&text)]);
        let _ = RuleSet::read(elephant_rs::rules::BUILT_IN, &[file(&format!("rule: mapper-skew\n{text}"))]);
        let _ = import(elephant_rs::rules::BUILT_IN, &text);
    }

    #[test]
    fn every_problem_has_a_position_in_its_file(cut in 0usize..4000) {
        let whole = DEFAULTS[..8].join("---\n");
        let end = (0..=cut.min(whole.len())).rev().find(|&end| whole.is_char_boundary(end)).unwrap();
        for problem in problems(&whole[..end]) {
            prop_assert!(problem.span.start <= end && problem.span.end <= end, "{problem}");
        }
    }
}
