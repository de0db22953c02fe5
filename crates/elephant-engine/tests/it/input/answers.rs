//! Saved answers of REST servers. Histories are rewritten as the history server would answer about them, event by event and
//! without our parser; both must be judged the same.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::{ApplicationReport, Report};
use elephant_model::model::{Engine, Status};
use elephant_ruleset::RuleSet;
use serde_json::{Map, Value, json};

fn report(paths: &[PathBuf]) -> Report {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    analyze(paths, &rules, Options::default())
}

fn text_of(path: &Path) -> String {
    let bytes = fs::read(path).unwrap();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
        return text;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// The value of a field, which may be in a union.
fn field(event: &Value, key: &str) -> Value {
    let value = event.get(key).cloned().unwrap_or(Value::Null);
    match &value {
        Value::Object(union) if union.len() == 1 => union.values().next().cloned().unwrap(),
        _ => value,
    }
}

/// Counters as the server writes them: `groups` and `counts` by name.
fn groups(counters: &Value, key: &str) -> Value {
    let groups = field(counters, "groups");
    let groups = groups.as_array().into_iter().flatten().map(|group| {
        let counts = group["counts"].as_array().into_iter().flatten();
        let counts: Vec<Value> =
            counts.map(|count| json!({"name": count["name"], "value": count["value"]})).collect();
        json!({"counterGroupName": group["name"], "counter": counts})
    });
    json!({ key: groups.collect::<Vec<_>>() })
}

/// The counters of a job: three sets in one.
fn job_groups(event: &Value) -> Value {
    let mut groups: BTreeMap<String, BTreeMap<String, Map<String, Value>>> = BTreeMap::new();
    let sets = [
        ("totalCounters", "totalCounterValue"),
        ("mapCounters", "mapCounterValue"),
        ("reduceCounters", "reduceCounterValue"),
    ];
    for (set, key) in sets {
        let set = field(event, set);
        for group in field(&set, "groups").as_array().into_iter().flatten() {
            let counters = groups.entry(group["name"].as_str().unwrap().to_owned()).or_default();
            for count in group["counts"].as_array().into_iter().flatten() {
                let name = count["name"].as_str().unwrap();
                let counter = counters.entry(name.to_owned()).or_default();
                counter.insert("name".to_owned(), json!(name));
                counter.insert(key.to_owned(), count["value"].clone());
            }
        }
    }
    let groups = groups.into_iter().map(|(name, counters)| {
        json!({"counterGroupName": name, "counter": counters.into_values().collect::<Vec<_>>()})
    });
    Value::Array(groups.collect())
}

/// Copies fields of an event under other names.
fn copied(event: &Value, to: &mut Map<String, Value>, pairs: &[(&str, &str)]) {
    for (from, key) in pairs {
        let value = field(event, from);
        if !value.is_null() {
            to.insert((*key).to_owned(), value);
        }
    }
}

/// The answers about the job of a history, by the names of their files.
#[derive(Default)]
struct Answers {
    job: Map<String, Value>,
    counters: Option<Value>,
    tasks: BTreeMap<String, Map<String, Value>>,
    attempts: BTreeMap<String, Map<String, Value>>,
    of_attempts: BTreeMap<String, Value>,
    of_tasks: BTreeMap<String, Value>,
}

impl Answers {
    fn of(history: &str) -> Self {
        let mut all = Self::default();
        for line in history.lines().filter(|line| line.starts_with("{\"type\":\"")) {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            let Some(event) = line["event"].as_object().and_then(|event| event.values().next()) else {
                continue;
            };
            if line["type"].is_string() {
                all.add(line["type"].as_str().unwrap(), event);
            }
        }
        for (kind, key) in [("MAP", "mapsTotal"), ("REDUCE", "reducesTotal")] {
            let of_kind = all.tasks.values().filter(|task| task["type"] == kind).count();
            all.job.entry(key).or_insert(json!(of_kind));
        }
        all
    }

    fn add(&mut self, kind: &str, event: &Value) {
        if kind.starts_with("JOB_") {
            self.add_to_job(kind, event);
        } else {
            self.add_to_task(kind, event);
        }
    }

    fn add_to_job(&mut self, kind: &str, event: &Value) {
        let copy = |to: &mut Map<String, Value>, pairs: &[(&str, &str)]| copied(event, to, pairs);
        match kind {
            "JOB_SUBMITTED" => copy(
                &mut self.job,
                &[
                    ("jobid", "id"),
                    ("jobName", "name"),
                    ("userName", "user"),
                    ("jobQueueName", "queue"),
                    ("submitTime", "submitTime"),
                ],
            ),
            "JOB_INITED" => copy(
                &mut self.job,
                &[
                    ("launchTime", "startTime"),
                    ("totalMaps", "mapsTotal"),
                    ("totalReduces", "reducesTotal"),
                    ("uberized", "uberized"),
                ],
            ),
            "JOB_INFO_CHANGED" => {
                copy(&mut self.job, &[("submitTime", "submitTime"), ("launchTime", "startTime")]);
            }
            "JOB_FINISHED" => {
                copy(
                    &mut self.job,
                    &[
                        ("finishTime", "finishTime"),
                        ("finishedMaps", "mapsCompleted"),
                        ("finishedReduces", "reducesCompleted"),
                    ],
                );
                self.job.insert("state".to_owned(), json!("SUCCEEDED"));
                self.counters = Some(job_groups(event));
            }
            "JOB_FAILED" | "JOB_KILLED" => copy(
                &mut self.job,
                &[
                    ("finishTime", "finishTime"),
                    ("finishedMaps", "mapsCompleted"),
                    ("finishedReduces", "reducesCompleted"),
                    ("jobStatus", "state"),
                    ("diagnostics", "diagnostics"),
                ],
            ),
            _ => {}
        }
    }

    fn add_to_task(&mut self, kind: &str, event: &Value) {
        let copy = |to: &mut Map<String, Value>, pairs: &[(&str, &str)]| copied(event, to, pairs);
        let text = |key: &str| field(event, key).as_str().unwrap_or_default().to_owned();
        match kind {
            "TASK_STARTED" => {
                let task = self.tasks.entry(text("taskid")).or_default();
                copy(task, &[("taskid", "id"), ("taskType", "type"), ("startTime", "startTime")]);
                task.insert("state".to_owned(), json!("RUNNING"));
            }
            "TASK_FINISHED" | "TASK_FAILED" => {
                let task = self.tasks.entry(text("taskid")).or_default();
                copy(
                    task,
                    &[
                        ("finishTime", "finishTime"),
                        ("status", "state"),
                        ("successfulAttemptId", "successfulAttempt"),
                    ],
                );
                self.of_tasks.insert(text("taskid"), groups(&field(event, "counters"), "taskCounterGroup"));
            }
            kind if kind.ends_with("_ATTEMPT_STARTED") => {
                let attempt = self.attempts.entry(text("attemptId")).or_default();
                copy(
                    attempt,
                    &[
                        ("attemptId", "id"),
                        ("taskType", "type"),
                        ("startTime", "startTime"),
                        ("trackerName", "nodeHttpAddress"),
                    ],
                );
                attempt.insert("state".to_owned(), json!("RUNNING"));
            }
            kind if kind.contains("_ATTEMPT_") => {
                let attempt = self.attempts.entry(text("attemptId")).or_default();
                copy(
                    attempt,
                    &[
                        ("attemptId", "id"),
                        ("finishTime", "finishTime"),
                        ("taskStatus", "state"),
                        ("status", "state"),
                        ("hostname", "nodeHttpAddress"),
                        ("rackname", "rack"),
                        ("shuffleFinishTime", "shuffleFinishTime"),
                        ("sortFinishTime", "mergeFinishTime"),
                        ("error", "diagnostics"),
                    ],
                );
                if kind.ends_with("_FINISHED") {
                    self.of_attempts.insert(
                        text("attemptId"),
                        groups(&field(event, "counters"), "taskAttemptCounterGroup"),
                    );
                }
            }
            _ => {}
        }
    }

    /// Writes one file for each request; the answers about a task's attempts are one.
    fn save(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        let mut number = 0;
        let mut write = |answer: Value| {
            number += 1;
            fs::write(folder.join(format!("{number:05}.json")), answer.to_string()).unwrap();
        };
        let id = self.job["id"].clone();
        write(json!({"job": self.job}));
        if let Some(counters) = &self.counters {
            write(json!({"jobCounters": {"id": id, "counterGroup": counters}}));
        }
        write(json!({"tasks": {"task": self.tasks.values().collect::<Vec<_>>()}}));
        write(json!({"taskAttempts": {"taskAttempt": self.attempts.values().collect::<Vec<_>>()}}));
        let with_id = |id: &str, counters: &Value| {
            let mut counters = counters.clone();
            counters["id"] = json!(id);
            counters
        };
        for (id, counters) in &self.of_attempts {
            write(json!({"jobTaskAttemptCounters": with_id(id, counters)}));
        }
    }
}

/// The configuration beside a history, as the server answers about it.
fn save_conf(history: &Path, folder: &Path) {
    let name = history.file_name().unwrap().to_string_lossy().into_owned();
    let id = name.split(['-', '.']).next().unwrap().to_owned();
    let Ok(conf) = fs::read_to_string(history.with_file_name(format!("{id}_conf.xml"))) else { return };
    let between = |text: &str, tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once(&format!("</{tag}>"))?.0.to_owned())
    };
    let property =
        |text: &str| Some(json!({"name": between(text, "name")?, "value": between(text, "value")?}));
    let properties: Vec<Value> = conf.split("<property>").filter_map(property).collect();
    let path = format!("hdfs://nn:8020/tmp/staging/alice/.staging/{id}/job.xml");
    let answer = json!({"conf": {"path": path, "property": properties}});
    fs::write(folder.join("conf.json"), answer.to_string()).unwrap();
}

/// Severity, subject and score of each finding that does not rest on what servers do not tell.
fn findings(app: &ApplicationReport) -> Vec<String> {
    let figures = app.findings.iter().map(|finding| {
        format!("{} {:?} {} {}", finding.rule, finding.severity, finding.score, finding.subject.name())
    });
    let mut figures: Vec<String> = figures.collect();
    figures.sort();
    figures
}

fn jobs_of_rules() -> Vec<PathBuf> {
    let cases = elephant_testing::root().join("testdata/heuristics");
    let of_mapreduce = ["mapper-", "reducer-", "shuffle-", "job-", "exception", "hadoop-", "distributed-"];
    let folders = fs::read_dir(cases).unwrap().map(|entry| entry.unwrap().path());
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        of_mapreduce.iter().any(|start| name.starts_with(start))
    };
    let files = folders.filter(is_wanted).flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| text_of(path).starts_with("Avro-Json"));
    files.sort();
    files
}

#[test]
fn answers_are_judged_like_the_histories_that_they_tell() {
    let mut compared = 0;
    for path in jobs_of_rules() {
        let answers = Answers::of(&text_of(&path));
        let folder = tempfile::tempdir().unwrap();
        answers.save(folder.path());
        save_conf(&path, folder.path());
        let (before, after) = (report(std::slice::from_ref(&path)), report(&[folder.path().to_path_buf()]));
        let name = path.display();
        assert_eq!(after.applications.len(), before.applications.len(), "{name}: {:?}", after.problems);
        for (before, after) in before.applications.iter().zip(&after.applications) {
            assert_eq!(
                (&after.id, after.status, after.engine),
                (&before.id, before.status, before.engine),
                "{name}"
            );
            assert_eq!(findings(after), findings(before), "{name}: {:?}", after.not_evaluated);
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn answers_of_a_running_job_have_no_end_and_no_date_in_1970() {
    let Some(folder) = elephant_testing::shared("corpus/yarn-jhs-rest/apache__eagle") else { return };
    let report = report(&[folder.join("mrjob_30784.json")]);
    let app = &report.applications[0];
    assert_eq!(
        (app.id.as_str(), app.status, app.complete),
        ("job_1479206441898_30784", Status::Running, false)
    );
    assert!(app.finished_at.is_none(), "{:?}", app.finished_at);
    let told = report.problems.iter().find(|problem| problem.problem.code == "answers-missing").unwrap();
    assert!(
        told.problem.message.contains("…/jobs/job_1479206441898_30784/tasks"),
        "{}",
        told.problem.message
    );
}

#[test]
fn a_byte_order_mark_and_equal_keys_are_read() {
    let Some(corpus) = elephant_testing::shared("corpus/yarn-jhs-rest") else { return };
    let tasks = report(&[corpus.join("apache__eagle/mrtasks_30784.json")]);
    assert_eq!(tasks.applications[0].id, "job_1479206441898_164690");
    let attempts = report(&[corpus.join("apache__knox/proxy-mapreduce-task-attempts.json")]);
    assert_eq!(attempts.applications[0].id, "job_1399541193872_0036");
    assert_eq!(attempts.applications[0].status, Status::Running);
}

#[test]
fn what_the_resource_manager_tells_ends_an_application_and_a_history_counts_more() {
    let folder = tempfile::tempdir().unwrap();
    let app = |kind: &str, status: &str| {
        json!({"apps": {"app": [{"id": "application_1732147200000_0004", "user": "alice", "name": "n", "queue": "q",
            "state": "FINISHED", "finalStatus": status, "diagnostics": "Application failed 2 times", "applicationType": kind,
            "startedTime": 1_732_147_200_000_i64, "finishedTime": 1_732_147_260_000_i64}]}})
    };
    let file = folder.path().join("apps.json");
    fs::write(&file, app("SPARK", "FAILED").to_string()).unwrap();
    let alone = report(std::slice::from_ref(&file));
    let found = &alone.applications[0];
    assert_eq!((found.engine, found.status, found.complete), (Engine::Spark, Status::Failed, false));
    assert_eq!(found.queue.as_deref(), Some("q"));
    fs::write(&file, app("MAPREDUCE", "SUCCEEDED").to_string()).unwrap();
    let both = report(&[file, elephant_testing::root().join("testdata/done")]);
    let jobs: Vec<_> = both.applications.iter().filter(|app| app.id == "job_1732147200000_0004").collect();
    assert_eq!(jobs.len(), 1);
    assert!(jobs[0].complete, "the history is more complete");
}
