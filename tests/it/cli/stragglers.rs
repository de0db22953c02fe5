//! `elephant-rs stragglers` as users run it.

use std::io::Write as _;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

fn stragglers(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("stragglers").args(arguments).arg("--quiet");
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn reports() {
    let job = "testdata/done";
    let reports = [
        ("stragglers.txt", stragglers(&[job])),
        ("stragglers-usual.txt", stragglers(&[job, "--label", "usual", "--no-replay"])),
        ("stragglers.csv", stragglers(&[job, "--format", "csv"])),
        ("stragglers-applications.csv", stragglers(&[job, "--format", "csv", "--table", "applications"])),
    ];
    for (name, text) in reports {
        if Path::new(name).extension().is_some_and(|extension| extension == "txt") {
            let wide: Vec<&str> = text.lines().filter(|line| line.width() > 80).collect();
            assert!(wide.is_empty(), "{wide:#?}");
        }
        elephant_testing::with_snapshots("reports", || {
            insta::assert_snapshot!(name, text);
        });
    }
}

#[test]
fn json_has_the_fields_that_scripts_need() {
    let json: Value = serde_json::from_str(&stragglers(&["testdata/done", "--format", "json"])).unwrap();
    assert_eq!(json["schema_version"], 1);
    elephant_testing::assert_possible("", &json);
    let app = json["applications"]
        .as_array()
        .unwrap()
        .iter()
        .find(|app| app["id"] == "job_1732147200000_0004")
        .unwrap();
    let maps = &app["groups"][0];
    assert_eq!(maps["subject"], "map");
    let nodes: Vec<&str> =
        maps["stragglers"].as_array().unwrap().iter().map(|it| it["node"].as_str().unwrap()).collect();
    assert_eq!(nodes, ["node002.example.com"; 4]);
    let detectors = json["total"]["engines"]["mapreduce"]["detectors"].as_array().unwrap();
    assert_eq!(detectors[0]["id"], "actual");
    assert!(detectors.len() > 15, "{}", detectors.len());
}

#[test]
fn node_metrics_show_the_load_of_the_node() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.csv");
    let mut file = std::fs::File::create(&path).unwrap();
    writeln!(file, "ts_ms,node,cpu_util,disk_util,dfs_latency_ms,net_retrans_pct").unwrap();
    for second in (0..400).step_by(10) {
        let at = 1_732_147_200_000_i64 + 1000 * second;
        writeln!(file, "{at},node002,12.5,97,20,0.1\n{at},node001,10,5,20,0.1").unwrap();
    }
    drop(file);
    let table = stragglers(&["testdata/done", "--format", "csv", "--node-metrics", path.to_str().unwrap()]);
    let of_the_node: Vec<&str> = table.lines().filter(|line| line.contains("node002.example.com")).collect();
    assert_eq!(of_the_node.len(), 4);
    assert!(of_the_node.iter().all(|line| line.contains(",disk,measured,")), "{of_the_node:#?}");
}

#[test]
fn unmatched_node_metrics_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seconds.csv");
    let text = "ts_ms,node,cpu_util,disk_util,dfs_latency_ms,net_retrans_pct\n1732147200,node002,99,,,\n";
    std::fs::write(&path, text).unwrap();
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["stragglers", "testdata/done", "--no-replay"]);
    let assert = command.arg("--node-metrics").arg(&path).assert().success();
    let warnings = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(warnings.contains("the node metrics match none of 6 stragglers"), "{warnings}");
}

#[test]
fn spark_speculation_settings_are_swept_on_request() {
    let text = stragglers(&["testdata/done", "--sweep", "--details"]);
    assert_eq!(text.lines().filter(|line| line.starts_with("spark-sweep 0.")).count(), 12, "{text}");
}

#[test]
fn empty_and_missing_folders_fail() {
    let folder = tempfile::tempdir().unwrap();
    let empty = stragglers(&[folder.path().to_str().unwrap(), "--allow-empty"]);
    assert!(empty.contains("No task can be judged"), "{empty}");
    let missing = folder.path().join("nothing here");
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.arg("stragglers").arg(&missing).assert().code(2);
    command = Command::cargo_bin("elephant-rs").unwrap();
    let metrics = ["--node-metrics", missing.to_str().unwrap()];
    command.arg("stragglers").arg(folder.path()).args(metrics).assert().code(2);
}

/// Copies of one job of `testdata` under other ids.
fn runs_of_a_job(folder: &Path, count: u32) {
    let id = "job_1732147200000_0004";
    let from = walkdir::WalkDir::new("testdata/done").into_iter().map(Result::unwrap);
    for file in from.filter(|file| file.file_name().to_string_lossy().contains(id)) {
        let text = std::fs::read_to_string(file.path()).unwrap();
        for number in 0..count {
            let other = format!("1732147200000_{}", 5000 + number);
            let rename = |text: &str| text.replace("1732147200000_0004", &other);
            std::fs::write(folder.join(rename(&file.file_name().to_string_lossy())), rename(&text)).unwrap();
        }
    }
}

#[test]
fn models_are_learnt_from_other_runs() {
    let folder = tempfile::tempdir().unwrap();
    let histories = folder.path().join("histories");
    std::fs::create_dir(&histories).unwrap();
    runs_of_a_job(&histories, 3);
    let (file, histories) = (folder.path().join("models"), histories.to_str().unwrap().to_owned());
    let file = file.to_str().unwrap();
    let replay = |arguments: &[&str]| -> Value {
        let json: Value =
            serde_json::from_str(&stragglers(&[arguments, &["--format", "json"]].concat())).unwrap();
        json["total"]["replay"].clone()
    };
    let with = |arguments: &[&str]| replay(&[&[histories.as_str()], arguments].concat());
    assert_eq!(with(&[])["groups_with_models_count"], 0);
    let both = with(&["--learn", file, "--models", file]);
    // Map and reduce tasks of three runs.
    assert_eq!(both["groups_with_models_count"], 6, "{both}");
    // Each engine has its own number.
    let spark = "testdata/spark/2.4.8";
    let text = stragglers(&[&histories, spark, "--learn", file, "--models", file, "--details"]);
    let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    for groups in [6, 0] {
        let told = format!("Usual progress is from earlier runs in {groups} groups");
        assert_eq!(text.matches(&told).count(), 1, "{text}");
    }
    with(&["--learn", file]);
    let written = std::fs::read_to_string(file).unwrap();
    assert_eq!(written.lines().next(), Some("{\"models_version\":2}"));
    let runs = written.matches("\"group\":\"map\"").count();
    assert_eq!(runs, 3, "{written}");
    // The same runs replace themselves.
    with(&["--learn", file]);
    assert_eq!(std::fs::read_to_string(file).unwrap(), written);
    // If the job in testdata is read alone, usual times come from the three other runs.
    let one = folder.path().join("one");
    std::fs::create_dir(&one).unwrap();
    runs_of_a_job(&one, 1);
    let alone = replay(&[one.to_str().unwrap()]);
    let modelled = replay(&[one.to_str().unwrap(), "--models", file]);
    assert_eq!(alone["usual_sources"]["runs"], Value::Null, "{alone}");
    assert_eq!(modelled["usual_sources"]["runs"], 2, "{modelled}");
    // Labels by usual times know them, too: all tasks of a run take twice as long as in runs of half the time.
    let halved = folder.path().join("halved");
    std::fs::write(&halved, halved_times(&written)).unwrap();
    let labelled = |models: &[&str]| {
        let usual = [one.to_str().unwrap(), "--label", "usual", "--no-replay", "--format", "json"];
        let json: Value = serde_json::from_str(&stragglers(&[&usual, models].concat())).unwrap();
        let groups = json["applications"][0]["groups"].as_array().unwrap().clone();
        let stragglers: usize =
            groups.iter().map(|group| group["stragglers"].as_array().unwrap().len()).sum();
        (stragglers as u64, groups.iter().map(|group| group["judged_count"].as_u64().unwrap()).sum())
    };
    let (stragglers, judged) = labelled(&["--models", halved.to_str().unwrap()]);
    assert!(stragglers == judged && labelled(&[]).0 < judged, "{stragglers} of {judged}");
}

/// Models with half of the times.
fn halved_times(models: &str) -> String {
    let halved = |line: &str| {
        let mut run: Value = serde_json::from_str(line).unwrap();
        for time in run["durations_ms"].as_array_mut().into_iter().flatten() {
            *time = (time.as_u64().unwrap() / 2).into();
        }
        format!("{run}\n")
    };
    models.lines().map(halved).collect()
}

#[test]
fn models_that_cannot_be_used_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("elephant-rs").unwrap();
        command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("stragglers").args(arguments);
        String::from_utf8(command.assert().code(2).get_output().stderr.clone()).unwrap()
    };
    let missing = folder.path().join("models");
    let error = fails(&["testdata/done", "--models", missing.to_str().unwrap()]);
    assert!(error.contains("write them with --learn FILE"), "{error}");
    std::fs::write(&missing, "hello\n").unwrap();
    let error = fails(&["testdata/done", "--learn", missing.to_str().unwrap()]);
    assert!(error.contains("models:1: this is not a file of models"), "{error}");
    let error = fails(&["-", "--learn", "a", "--models", "b"]);
    assert!(error.contains("read twice"), "{error}");
}

#[test]
fn conditions_choose_the_groups_that_are_judged() {
    let groups = |conditions: &[&str]| {
        let conditions: Vec<&str> = conditions.iter().flat_map(|condition| ["--where", condition]).collect();
        let json =
            stragglers(&[&["testdata/done", "testdata/spark", "--format", "json"], &*conditions].concat());
        let report: Value = serde_json::from_str(&json).unwrap();
        let applications = report["applications"].as_array().unwrap().iter();
        let groups = applications.flat_map(|app| app["groups"].as_array().unwrap()).count();
        assert_eq!(report["settings"]["where"].is_null(), conditions.is_empty());
        groups
    };
    let all = groups(&[]);
    let (maps, reduces, stages) = (groups(&["kind=map"]), groups(&["kind=reduce"]), groups(&["kind=stage"]));
    assert!(maps > 0 && reduces > 0 && stages > 0 && maps + reduces + stages == all);
    assert_eq!(groups(&["kind!=map", "kind!=reduce"]), stages);
    // Each group began in one hour of the day.
    let by_half = groups(&["hour=0-11"]) + groups(&["hour=12-23"]);
    assert!(0 < by_half && by_half <= all, "{by_half} of {all}");
    let told = stragglers(&["testdata/done", "--where", "kind=map"]);
    assert!(told.contains("Only tasks with kind=map count (--where)."), "{told}");
}
