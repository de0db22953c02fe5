//! A run of a simulated cluster as a job history, which `stragglers` and the other commands read like any other.

use elephant_base::whole::Whole;
use std::io::{self, Write};

use serde_json::{Value, json};

use elephant_lab::cluster::attempt::Attempt;
use elephant_lab::cluster::run::Run;
use elephant_lab::cluster::scenario::Scenario;

/// The time of the job's submission: simulated jobs begin on January 1, 2020.
const SUBMITTED: i64 = 1_577_836_800_000;
/// The parts of a task's progress whose times Hadoop records.
const PARTS: u32 = 12;
/// The line that Hadoop uses to describe the events; readers of JSON do not need it.
const SCHEMA: &str =
    r#"{"type":"record","name":"Event","namespace":"org.apache.hadoop.mapreduce.jobhistory","fields":[]}"#;

/// A run under the name of its job.
struct History<'a> {
    scenario: &'a Scenario,
    run: &'a Run,
    /// The job's id without `job_`.
    id: String,
    name: &'a str,
}

/// Writes the run as a job history in JSON. `number` tells the jobs of one seed apart.
pub fn write(
    scenario: &Scenario,
    run: &Run,
    name: &str,
    (seed, number): (u64, usize),
    out: &mut dyn Write,
) -> io::Result<()> {
    let id = format!("{seed}_{number:04}");
    let history = History { scenario, run, id, name };
    writeln!(out, "Avro-Json\n{SCHEMA}")?;
    history.begin(out)?;
    let mut order: Vec<(i64, bool, usize)> = Vec::new();
    for (place, attempt) in run.attempts.iter().enumerate() {
        order.push((millis(attempt.start), false, place));
        order.extend(attempt.end.map(|end| (millis(end), true, place)));
    }
    order.sort_unstable();
    for (_, ended, place) in order {
        let Some(attempt) = run.attempts.get(place) else { continue };
        if ended { history.ended(attempt, out)? } else { history.launched(attempt, out)? }
    }
    history.finish(out)
}

impl History<'_> {
    fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        let job = format!("job_{}", self.id);
        let submitted = json!({
            "jobid": job, "jobName": self.name, "userName": "simulation", "submitTime": SUBMITTED, "jobConfPath": "",
            "acls": {}, "jobQueueName": "default",
        });
        event("JOB_SUBMITTED", "JobSubmitted", submitted, out)?;
        let inited = json!({
            "jobid": job, "launchTime": SUBMITTED, "totalMaps": self.scenario.job.tasks, "totalReduces": 0,
            "jobStatus": "RUNNING", "uberized": false,
        });
        event("JOB_INITED", "JobInited", inited, out)
    }

    fn task(&self, attempt: &Attempt) -> String {
        format!("task_{}_m_{:06}", self.id, attempt.task)
    }

    fn attempt(&self, attempt: &Attempt) -> String {
        format!("attempt_{}_m_{:06}_{}", self.id, attempt.task, u8::from(attempt.copy))
    }

    fn launched(&self, attempt: &Attempt, out: &mut dyn Write) -> io::Result<()> {
        let (task, start) = (self.task(attempt), at(attempt.start));
        if !attempt.copy {
            let started =
                json!({"taskid": task, "taskType": "MAP", "startTime": start, "splitLocations": ""});
            event("TASK_STARTED", "TaskStarted", started, out)?;
        }
        let started = json!({
            "taskid": task, "taskType": "MAP", "attemptId": self.attempt(attempt), "startTime": start,
            "trackerName": host(attempt), "httpPort": 8042, "shufflePort": 13562, "containerId": "",
            "locality": {"string": "NODE_LOCAL"},
            "avataar": {"string": if attempt.copy { "SPECULATIVE" } else { "VIRGIN" }},
        });
        event("MAP_ATTEMPT_STARTED", "TaskAttemptStarted", started, out)
    }

    fn ended(&self, attempt: &Attempt, out: &mut dyn Write) -> io::Result<()> {
        let (task, id) = (self.task(attempt), self.attempt(attempt));
        let (host, end) = (host(attempt), at(attempt.end.unwrap_or_default()));
        let splits = self.splits(attempt);
        if !attempt.won {
            let killed = json!({
                "taskid": task, "taskType": "MAP", "attemptId": id, "finishTime": end, "hostname": host, "port": 8041,
                "rackname": "/default-rack", "status": "KILLED",
                "error": "Speculation: the other attempt of this task succeeded first!",
                "counters": null, "clockSplits": splits, "cpuUsages": [], "vMemKbytes": [], "physMemKbytes": [],
            });
            return event("MAP_ATTEMPT_KILLED", "TaskAttemptUnsuccessfulCompletion", killed, out);
        }
        let counters = self.counters();
        let finished = json!({
            "taskid": task, "attemptId": id, "taskType": "MAP", "taskStatus": "SUCCEEDED", "mapFinishTime": end,
            "finishTime": end, "hostname": host, "port": 8041, "rackname": "/default-rack", "state": "map",
            "counters": counters, "clockSplits": splits, "cpuUsages": [], "vMemKbytes": [], "physMemKbytes": [],
        });
        event("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", finished, out)?;
        let finished = json!({
            "taskid": task, "taskType": "MAP", "finishTime": end, "status": "SUCCEEDED", "counters": self.counters(),
            "successfulAttemptId": {"string": id},
        });
        event("TASK_FINISHED", "TaskFinished", finished, out)
    }

    /// Milliseconds that each twelfth of progress took; −1 for those that were not reached.
    fn splits(&self, attempt: &Attempt) -> Vec<i64> {
        let mut before = millis(attempt.start);
        let part = |part: u32| {
            let reached = if part == PARTS && attempt.won {
                attempt.end
            } else {
                self.run.time_at(attempt, f64::from(part) / f64::from(PARTS))
            };
            let Some(reached) = reached.map(millis) else { return -1 };
            let took = (reached - before).max(0);
            before = before.max(reached);
            took
        };
        (1..=PARTS).map(part).collect()
    }

    /// A task reads its split.
    fn counters(&self) -> Value {
        let read =
            json!({"name": "BYTES_READ", "displayName": "Bytes Read", "value": self.scenario.split_size()});
        json!({
            "name": "COUNTERS",
            "groups": [{
                "name": "org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter",
                "displayName": "File Input Format Counters",
                "counts": [read],
            }],
        })
    }

    fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        let finished = json!({
            "jobid": format!("job_{}", self.id), "finishTime": at(self.run.makespan),
            "finishedMaps": self.scenario.job.tasks, "finishedReduces": 0, "failedMaps": 0, "failedReduces": 0,
            "totalCounters": null, "mapCounters": null, "reduceCounters": null,
        });
        event("JOB_FINISHED", "JobFinished", finished, out)
    }
}

fn event(kind: &str, record: &str, fields: Value, out: &mut dyn Write) -> io::Result<()> {
    let record = format!("org.apache.hadoop.mapreduce.jobhistory.{record}");
    let mut union = serde_json::Map::new();
    union.insert(record, fields);
    serde_json::to_writer(&mut *out, &json!({"type": kind, "event": union})).map_err(io::Error::from)?;
    writeln!(out)
}

fn host(attempt: &Attempt) -> String {
    format!("node{:03}", attempt.node)
}

/// Seconds since the start of the job as a time.
fn at(seconds: f64) -> i64 {
    SUBMITTED.saturating_add(millis(seconds))
}

fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0).round().as_i64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_engine::engine::visit;
    use elephant_lab::cluster::policy::Policy;
    use elephant_lab::cluster::study::single;
    use elephant_model::model::table::{Outcome, TimePoint};

    /// Everything that is written about each attempt is read again.
    #[test]
    fn a_history_is_read_as_the_run_was() {
        let scenario = Scenario::shipped("C3").unwrap().unwrap();
        let run = single(&scenario, Policy::Reserve(90), "default", 1).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job_1_0001.jhist");
        let mut bytes = Vec::new();
        write(&scenario, &run, "C3", (1, 1), &mut bytes).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let visited = visit(&[path], |app, _| {
            let group = app.groups.first().unwrap();
            assert_eq!((app.complete, app.groups.len(), group.tasks.len()), (true, 1, scenario.job.tasks));
            let attempts = &group.attempts;
            let mut read: Vec<_> = (0..attempts.len())
                .map(|row| {
                    let time = |point| attempts.time(row, point).map(|at| at.as_millis() - SUBMITTED);
                    (
                        (attempts.task(row), attempts.is_speculative(row) == Some(true)),
                        (time(TimePoint::Start), time(TimePoint::Finish)),
                        attempts.outcome(row) == Outcome::Succeeded,
                        attempts.progress(row).map(|progress| progress.clock_ms).unwrap_or_default(),
                    )
                })
                .collect();
            read.sort();
            read
        });
        assert!(visited.problems.is_empty(), "{:?}", visited.problems);
        let history = History { scenario: &scenario, run: &run, id: String::new(), name: "" };
        let mut ran: Vec<_> = run
            .attempts
            .iter()
            .map(|attempt| {
                let splits = history.splits(attempt).into_iter().map(|split| i32::try_from(split).unwrap());
                (
                    (Some(attempt.task), attempt.copy),
                    (Some(millis(attempt.start)), attempt.end.map(millis)),
                    attempt.won,
                    splits.collect::<Vec<i32>>(),
                )
            })
            .collect();
        ran.sort();
        assert_eq!(visited.applications[0].value, ran);
        assert!(ran.iter().any(|attempt| !attempt.2 && attempt.3.contains(&-1)));
        // A task that ran to its end took as long as its parts, up to rounding.
        let whole = ran.iter().filter(|attempt| attempt.2);
        assert!(whole.clone().all(|((_, _), (start, end), _, splits)| {
            let sum: i64 = splits.iter().map(|&split| i64::from(split)).sum();
            (end.unwrap() - start.unwrap() - sum).abs() <= 1
        }));
    }
}
