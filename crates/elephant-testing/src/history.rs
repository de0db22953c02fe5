//! Writes small job histories in Hadoop's own format, for tests and for `testdata/heuristics`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

/// Start time of all jobs.
pub const EPOCH: i64 = 1_500_000_000_000;

/// A job whose tasks come in groups of equal tasks: `[{"role": "map", "count": 3, "time": {"total_ms": 5,
/// "shuffle_ms": 0, "sort_ms": 0}, "counters": {…}}]`, the format of the oracle. The tasks of a group without time
/// and counters are counted in the job's total, but have no events.
#[derive(Debug, Clone)]
pub struct Job {
    groups: Value,
    id: String,
    name: String,
    queue: Value,
    status: &'static str,
    diagnostics: String,
}

impl Job {
    /// A job that succeeded.
    pub fn succeeded(groups: &Value) -> Self {
        Self {
            groups: groups.clone(),
            id: "1500000000000_0001".into(),
            name: "oracle".into(),
            queue: Value::Null,
            status: "SUCCEEDED",
            diagnostics: String::new(),
        }
    }

    /// Sets the job number and name.
    #[must_use]
    pub fn named(self, serial: u32, name: &str) -> Self {
        Self { id: format!("1500000000000_{serial:04}"), name: name.into(), ..self }
    }

    /// Sets the queue; null means none.
    #[must_use]
    pub fn queue(self, queue: &Value) -> Self {
        Self { queue: queue.clone(), ..self }
    }

    /// Sets the final status: FAILED or KILLED.
    #[must_use]
    pub fn ended(self, status: &'static str, diagnostics: &str) -> Self {
        Self { status, diagnostics: diagnostics.into(), ..self }
    }

    /// The job's id.
    pub fn job_id(&self) -> String {
        format!("job_{}", self.id)
    }

    /// The complete history.
    pub fn history(&self) -> String {
        let mut out = String::from("Avro-Json\n{\"type\":\"record\",\"name\":\"Event\",\"fields\":[]}\n");
        let job = self.job_id();
        let submitted = json!({"jobid": job, "jobName": self.name, "userName": "dr", "submitTime": EPOCH,
            "jobConfPath": "", "acls": {}, "jobQueueName": self.queue});
        event(&mut out, "JOB_SUBMITTED", "JobSubmitted", submitted);
        let mut number = 0;
        for group in self.groups.as_array().into_iter().flatten() {
            let role = group["role"].as_str().unwrap().to_uppercase();
            for _ in 0..group["count"].as_u64().unwrap() {
                task(&mut out, &self.id, &role, number, &group["time"], &group["counters"]);
                number += 1;
            }
        }
        let finish = EPOCH + 400_000_000;
        if self.status == "SUCCEEDED" {
            let finished = json!({"jobid": job, "finishTime": finish, "finishedMaps": 0,
                "finishedReduces": 0, "failedMaps": 0, "failedReduces": 0, "totalCounters": counters(None),
                "mapCounters": counters(None), "reduceCounters": counters(None)});
            event(&mut out, "JOB_FINISHED", "JobFinished", finished);
        } else {
            let ended = json!({"jobid": job, "finishTime": finish, "finishedMaps": 0, "finishedReduces": 0,
                "jobStatus": self.status, "diagnostics": {"string": self.diagnostics}});
            event(&mut out, &format!("JOB_{}", self.status), "JobUnsuccessfulCompletion", ended);
        }
        out
    }
}

/// One event line in Hadoop's own format.
pub fn event(out: &mut String, kind: &str, record: &str, fields: Value) {
    let mut body = serde_json::Map::new();
    body.insert(format!("org.apache.hadoop.mapreduce.jobhistory.{record}"), fields);
    writeln!(out, "{}", json!({"type": kind, "event": body})).unwrap();
}

pub fn counters(values: Option<&Value>) -> Value {
    let group = |name: &str| match name {
        n if n.ends_with("_BYTES_READ") => "org.apache.hadoop.mapreduce.FileSystemCounter",
        _ => "org.apache.hadoop.mapreduce.TaskCounter",
    };
    let mut groups: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (name, value) in values.and_then(Value::as_object).into_iter().flatten() {
        let counter = json!({"name": name, "displayName": name, "value": value});
        groups.entry(group(name)).or_default().push(counter);
    }
    let groups: Vec<Value> = groups
        .into_iter()
        .map(|(name, counts)| json!({"name": name, "displayName": name, "counts": counts}))
        .collect();
    json!({"name": "COUNTERS", "groups": groups})
}

fn task(out: &mut String, job: &str, role: &str, number: u64, time: &Value, values: &Value) {
    let letter = if role == "MAP" { "m" } else { "r" };
    let id = format!("task_{job}_{letter}_{number:06}");
    let attempt = id.replace("task_", "attempt_") + "_0";
    let started = json!({"taskid": id, "taskType": role, "startTime": EPOCH, "splitLocations": ""});
    event(out, "TASK_STARTED", "TaskStarted", started);
    if time.is_null() && values.is_null() {
        return;
    }
    let values = counters(Some(values));
    let total = time["total_ms"].as_i64();
    let finish = EPOCH + total.unwrap_or_default();
    if total.is_some() {
        let launched = json!({"taskid": id, "taskType": role, "attemptId": attempt, "startTime": EPOCH,
            "trackerName": "n1", "httpPort": 1, "shufflePort": 1, "containerId": ""});
        event(out, &format!("{role}_ATTEMPT_STARTED"), "TaskAttemptStarted", launched);
    }
    let shuffled = EPOCH + time["shuffle_ms"].as_i64().unwrap_or_default();
    let sorted = shuffled + time["sort_ms"].as_i64().unwrap_or_default();
    let (record, phases) = if role == "MAP" {
        ("MapAttemptFinished", json!({"mapFinishTime": finish}))
    } else {
        ("ReduceAttemptFinished", json!({"shuffleFinishTime": shuffled, "sortFinishTime": sorted}))
    };
    let mut ended = json!({"taskid": id, "attemptId": attempt, "taskType": role, "taskStatus": "SUCCEEDED",
        "finishTime": finish, "hostname": "n1", "port": 1, "rackname": "/r", "state": "", "counters": values});
    for (key, value) in phases.as_object().unwrap() {
        ended[key] = value.clone();
    }
    event(out, &format!("{role}_ATTEMPT_FINISHED"), record, ended);
    let ended = json!({"taskid": id, "taskType": role, "finishTime": finish, "status": "SUCCEEDED",
        "counters": values, "successfulAttemptId": attempt});
    event(out, "TASK_FINISHED", "TaskFinished", ended);
}
