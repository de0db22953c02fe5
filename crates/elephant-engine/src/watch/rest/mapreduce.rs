//! A MapReduce job, as its application master reports it (`AMWebServices`).

use serde::Deserialize;

use super::client::{Client, RestError};
use super::source::Source;
use crate::watch::application::{Identity, Judges, LiveApplication};
use elephant_analysis::stragglers::live::{End, Launch, Report};
use elephant_base::units::Timestamp;
use elephant_model::model::Engine;
use elephant_model::model::table::{Outcome, TaskKind};

#[derive(Deserialize)]
struct Jobs {
    jobs: Option<JobList>,
}

#[derive(Deserialize)]
struct JobList {
    #[serde(default)]
    job: Vec<Job>,
}

/// A job in the answer to `/ws/v1/mapreduce/jobs`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job {
    id: String,
    name: Option<String>,
    user: Option<String>,
    state: Option<String>,
    start_time: Option<i64>,
    finish_time: Option<i64>,
    maps_total: Option<u32>,
    reduces_total: Option<u32>,
}

#[derive(Deserialize)]
struct Tasks {
    tasks: Option<TaskList>,
}

#[derive(Deserialize)]
struct TaskList {
    #[serde(default)]
    task: Vec<Task>,
}

/// A task in the answer to `/jobs/ID/tasks`. Its progress is that of its best attempt, in percent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Task {
    id: String,
    r#type: String,
    state: String,
    /// Hadoop writes a text for a progress that is not a number.
    progress: Option<serde_json::Value>,
    start_time: Option<i64>,
    finish_time: Option<i64>,
    elapsed_time: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempts {
    task_attempts: Option<AttemptList>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttemptList {
    #[serde(default)]
    task_attempt: Vec<Attempt>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempt {
    id: String,
    state: String,
    node_http_address: Option<String>,
}

/// A job that runs.
pub(super) struct MapReduceJob {
    /// `http://HOST/…/ws/v1/mapreduce/jobs`.
    jobs: String,
    id: Option<String>,
}

impl MapReduceJob {
    /// The job of an application master at this address.
    pub(super) fn at(master: &str) -> Self {
        Self { jobs: format!("{master}/ws/v1/mapreduce/jobs"), id: None }
    }
}

impl Source for MapReduceJob {
    fn engine(&self) -> Engine {
        Engine::MapReduce
    }

    fn ask(
        &mut self,
        client: &Client,
        application: &mut LiveApplication,
        judges: &Judges,
    ) -> Result<bool, RestError> {
        let jobs: Jobs = client.get(&self.jobs)?;
        let Some(job) = jobs.jobs.and_then(|jobs| jobs.job.into_iter().next()) else { return Ok(true) };
        let (maps, reduces) = (job.maps_total, job.reduces_total);
        application.group(TaskKind::Map, None, maps);
        application.group(TaskKind::Reduce, None, reduces);
        if self.id.is_none() {
            application.begin(Identity {
                id: Some(job.id.clone()),
                attempt: None,
                name: job.name,
                user: job.user,
                started_at: moment(job.start_time),
            });
            self.id = Some(job.id.clone());
        }
        let tasks: Tasks = client.get(&format!("{}/{}/tasks", self.jobs, job.id))?;
        let tasks = tasks.tasks.map(|tasks| tasks.task).unwrap_or_default();
        // Tasks that run show the clock of the application master.
        let clock = tasks.iter().filter(|task| task.state == "RUNNING").filter_map(|task| {
            moment(task.start_time.zip(task.elapsed_time).map(|(start, ran)| start.saturating_add(ran)))
        });
        let now = clock.chain(moment(job.finish_time)).max();
        for task in &tasks {
            take(task, now, application, judges);
        }
        let has_ended = matches!(job.state.as_deref(), Some("SUCCEEDED" | "FAILED" | "KILLED" | "ERROR"));
        if has_ended {
            application.end(now.or(application.newest()));
        }
        Ok(has_ended)
    }

    fn attempt_of(&self, client: &Client, kind: TaskKind, task: u32) -> Option<(u32, String)> {
        let job = self.id.as_deref()?;
        let letter = if kind == TaskKind::Map { 'm' } else { 'r' };
        let id = format!("task_{}_{letter}_{task:06}", job.strip_prefix("job_")?);
        let attempts: Attempts = client.get(&format!("{}/{job}/tasks/{id}/attempts", self.jobs)).ok()?;
        let attempts = attempts.task_attempts?.task_attempt;
        let running = attempts.into_iter().find(|attempt| attempt.state == "RUNNING")?;
        let number = running.id.rsplit('_').next()?.parse().ok()?;
        let address = running.node_http_address?;
        let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
        Some((number, host.to_owned()))
    }
}

fn take(task: &Task, now: Option<Timestamp>, application: &mut LiveApplication, judges: &Judges) {
    let kind = match task.r#type.as_str() {
        "MAP" => TaskKind::Map,
        "REDUCE" => TaskKind::Reduce,
        _ => return,
    };
    let number: Option<u32> = task.id.rsplit('_').next().and_then(|number| number.parse().ok());
    // A task that waits has no start.
    let (Some(number), Some(at)) = (number, moment(task.start_time)) else { return };
    let id = u64::from(number);
    let launch = Launch { id, task: number, attempt: None, host: None, at, speculative: false };
    application.launch(kind, launch, judges);
    let outcome = match task.state.as_str() {
        "SUCCEEDED" => Outcome::Succeeded,
        "FAILED" => Outcome::Failed,
        "KILLED" => Outcome::Killed,
        _ => {
            if let (Some(at), Some(percent)) =
                (now, task.progress.as_ref().and_then(serde_json::Value::as_f64))
            {
                let progress = (percent / 100.0).clamp(0.0, 1.0);
                application.report(kind, Report { id, at, progress: Some(progress), records: None });
            }
            return;
        }
    };
    if let Some(at) = moment(task.finish_time).filter(|&end| end >= at) {
        application.ended(kind, &End { id, at, outcome, records: None });
    }
}

fn moment(ms: Option<i64>) -> Option<Timestamp> {
    ms.filter(|&ms| ms > 0).map(Timestamp::from_millis)
}
