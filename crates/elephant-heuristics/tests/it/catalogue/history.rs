//! Small `Avro-Json` histories: just enough for every rule to have a finding.

use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_model::model::conf::Property;
use elephant_parse::jhist::json;
use serde_json::{Value, json};

const SUBMITTED: i64 = 1_526_555_215_992;
const MIB: i64 = 1 << 20;
const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;

/// The work of one task: its duration and counters.
#[derive(Clone, Default)]
struct Work {
    run_time: i64,
    shuffle: i64,
    counters: Vec<(&'static str, i64)>,
    /// The task fails with this error.
    error: Option<&'static str>,
}

/// A job to write as a history.
struct Job {
    end: &'static str,
    diagnostics: &'static str,
    maps: Vec<Work>,
    reduces: Vec<Work>,
    conf: &'static [(&'static str, &'static str)],
}

impl Job {
    fn of(maps: Vec<Work>, reduces: Vec<Work>) -> Self {
        Self { end: "JOB_FINISHED", diagnostics: "", maps, reduces, conf: &[] }
    }

    fn history(&self) -> String {
        let mut lines = vec!["Avro-Json".to_owned(), r#"{"type":"record","name":"Event"}"#.to_owned()];
        let mut event = |kind: &str, fields: Value| {
            lines.push(json!({"type": kind, "event": {"org.apache.hadoop.Event": fields}}).to_string());
        };
        event(
            "JOB_SUBMITTED",
            json!({"jobid": "job_1_0001", "jobName": "word count", "userName": "alice",
                   "submitTime": SUBMITTED, "jobQueueName": "default"}),
        );
        for (kind, letter, tasks) in [("MAP", 'm', &self.maps), ("REDUCE", 'r', &self.reduces)] {
            for (number, work) in tasks.iter().enumerate() {
                let task = format!("task_1_0001_{letter}_{number:06}");
                work.events(kind, &task, &mut event);
            }
        }
        let longest = self.maps.iter().chain(&self.reduces).map(|work| work.run_time).max().unwrap_or(0);
        event(
            self.end,
            json!({"jobid": "job_1_0001", "finishTime": SUBMITTED + longest + MINUTE,
                   "diagnostics": self.diagnostics}),
        );
        lines.join("\n") + "\n"
    }

    fn read(&self) -> Application {
        let mut parsed = json::parse(ByteWindow::new(self.history().as_bytes()));
        assert_eq!(parsed.applications.len(), 1);
        let mut app = parsed.applications.remove(0);
        for (name, value) in self.conf {
            app.conf.insert((*name).to_owned(), Property { value: (*value).to_owned(), is_final: false });
        }
        app
    }
}

impl Work {
    fn events(&self, kind: &str, task: &str, event: &mut impl FnMut(&str, Value)) {
        let attempt = task.replacen("task", "attempt", 1) + "_0";
        let start = SUBMITTED + SECOND;
        let finish = start + self.run_time;
        event(
            &format!("{kind}_ATTEMPT_STARTED"),
            json!({"taskid": task, "taskType": kind, "attemptId": attempt, "startTime": start}),
        );
        if let Some(error) = self.error {
            event(
                &format!("{kind}_ATTEMPT_FAILED"),
                json!({"taskid": task, "taskType": kind, "attemptId": attempt, "finishTime": finish,
                       "status": "FAILED", "error": error}),
            );
            event(
                "TASK_FAILED",
                json!({"taskid": task, "taskType": kind, "finishTime": finish, "status": "FAILED",
                       "failedDueToAttempt": attempt}),
            );
            return;
        }
        let counts: Vec<Value> = self
            .counters
            .iter()
            .map(|(name, value)| json!({"name": name, "displayName": name, "value": value}))
            .collect();
        let group =
            json!({"name": "org.apache.hadoop.mapreduce.TaskCounter", "displayName": "", "counts": counts});
        let shuffled = start + self.shuffle;
        event(
            &format!("{kind}_ATTEMPT_FINISHED"),
            json!({"taskid": task, "taskType": kind, "attemptId": attempt, "finishTime": finish,
                   "taskStatus": "SUCCEEDED", "shuffleFinishTime": shuffled, "sortFinishTime": shuffled,
                   "counters": {"name": "COUNTERS", "groups": [group]}}),
        );
        event(
            "TASK_FINISHED",
            json!({"taskid": task, "taskType": kind, "finishTime": finish, "status": "SUCCEEDED",
                   "successfulAttemptId": attempt}),
        );
    }
}

/// Work that is bad for every rule that looks at long tasks.
fn heavy(run_time: i64) -> Work {
    Work {
        run_time,
        shuffle: run_time * 9 / 10,
        counters: vec![
            ("HDFS_BYTES_READ", 100 * MIB),
            ("REDUCE_SHUFFLE_BYTES", 100 * MIB),
            ("GC_TIME_MILLIS", run_time / 10),
            ("CPU_MILLISECONDS", run_time / 2),
            ("PHYSICAL_MEMORY_BYTES", 1024 * MIB),
            ("SPILLED_RECORDS", 3_000_000),
            ("MAP_OUTPUT_RECORDS", 1_000_000),
            ("MAP_OUTPUT_BYTES", 200 * MIB),
        ],
        error: None,
    }
}

fn light(run_time: i64, bytes: i64) -> Work {
    let counters = vec![("HDFS_BYTES_READ", bytes), ("REDUCE_SHUFFLE_BYTES", bytes)];
    Work { run_time, counters, ..Work::default() }
}

fn failing(error: &'static str) -> Work {
    Work { run_time: SECOND, error: Some(error), ..Work::default() }
}

fn many_and_one(many: Work, one: Work) -> Vec<Work> {
    let mut tasks = vec![many; 200];
    tasks.push(one);
    tasks
}

const ROOMY: &[(&str, &str)] = &[
    ("mapreduce.map.memory.mb", "8192"),
    ("mapreduce.reduce.memory.mb", "4096"),
    ("mapreduce.map.java.opts", "-Xmx6g"),
    ("mapreduce.job.cache.files", "hdfs:/small.jar,hdfs:/model.bin"),
    ("mapreduce.job.cache.files.filesizes", "1024,1073741824"),
];

const MISMATCHED: &[(&str, &str)] = &[("mapreduce.job.cache.files", "hdfs:/small.jar,hdfs:/model.bin")];

/// All kinds of jobs: bad in every way, healthy, failed, killed, empty.
pub(crate) fn applications() -> Vec<Application> {
    let skewed_bytes = many_and_one(light(SECOND, MIB), light(40 * SECOND, 100 * MIB));
    let skewed_times = many_and_one(light(10 * SECOND, MIB), light(20 * MINUTE, MIB));
    let errors = ["Error: Java heap space", "Exception from container-launch", "Error: Java heap space"];
    [
        Job { conf: ROOMY, ..Job::of(vec![heavy(20 * MINUTE); 120], vec![heavy(20 * MINUTE); 60]) },
        Job { conf: ROOMY, ..Job::of(vec![heavy(7 * MINUTE); 60], vec![heavy(7 * MINUTE); 60]) },
        Job { conf: MISMATCHED, ..Job::of(skewed_bytes.clone(), skewed_times.clone()) },
        Job::of(skewed_times, skewed_bytes),
        Job::of(vec![light(11 * MINUTE, 48 * MIB); 4], vec![light(11 * MINUTE, 48 * MIB); 4]),
        Job { end: "JOB_FAILED", ..Job::of(errors.map(failing).to_vec(), Vec::new()) },
        Job {
            end: "JOB_KILLED",
            diagnostics: "Kill job received from alice",
            ..Job::of(vec![Work::default()], vec![])
        },
        Job::of(vec![Work { run_time: MINUTE, ..Work::default() }; 20], vec![Work::default(); 20]),
        Job::of(Vec::new(), Vec::new()),
    ]
    .iter()
    .map(Job::read)
    .collect()
}
