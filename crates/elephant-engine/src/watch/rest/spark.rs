//! A Spark application, as its driver reports it (`/api/v1`, Spark's monitoring REST API).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::client::{Client, RestError};
use super::source::Source;
use crate::watch::application::{Identity, Judges, LiveApplication};
use elephant_analysis::stragglers::live::{End, Launch, Report};
use elephant_base::units::Timestamp;
use elephant_model::model::Engine;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::{Outcome, TaskKind};

/// Where a driver lists its application.
pub(super) const APPLICATIONS: &str = "api/v1/applications";
/// Tasks that are asked for at a time.
const PAGE: usize = 5000;

#[derive(Deserialize)]
struct Application {
    id: String,
    name: Option<String>,
    #[serde(default)]
    attempts: Vec<ApplicationAttempt>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApplicationAttempt {
    attempt_id: Option<String>,
    start_time: Option<String>,
    last_updated: Option<String>,
    spark_user: Option<String>,
    #[serde(default)]
    completed: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stage {
    #[serde(rename = "stageId")]
    id: u32,
    attempt_id: u32,
    num_tasks: Option<u32>,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Task {
    #[serde(rename = "taskId")]
    id: u64,
    index: u32,
    attempt: Option<u32>,
    launch_time: Option<String>,
    /// The time so far if the task is running.
    duration: Option<i64>,
    host: Option<String>,
    status: Option<String>,
    #[serde(default)]
    speculative: bool,
    #[serde(rename = "taskMetrics")]
    metrics: Option<TaskMetrics>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskMetrics {
    input_metrics: Option<RecordsRead>,
    shuffle_read_metrics: Option<RecordsRead>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordsRead {
    records_read: Option<u64>,
}

/// Whether a server is a history server of Spark, which answers like a driver. A driver lists one application that has
/// not ended, and was last updated when it began.
///
/// # Errors
/// If it does not answer.
pub(super) fn is_history_server(client: &Client, address: &str) -> Result<bool, RestError> {
    let listed: Vec<Application> = client.get(&format!("{address}/{APPLICATIONS}"))?;
    let [one] = listed.as_slice() else { return Ok(true) };
    let Some(attempt) = one.attempts.first() else { return Ok(false) };
    let was_updated = attempt.last_updated.as_ref().zip(attempt.start_time.as_ref());
    Ok(attempt.completed || was_updated.is_some_and(|(updated, started)| updated != started))
}

/// An application that runs.
pub(super) struct SparkApplication {
    /// `http://HOST/…/api/v1/applications`.
    applications: String,
    /// The part of the address that names the application, and its attempt if there are several.
    path: Option<String>,
    /// The stages that ran when last asked, and how many of their first tasks had ended.
    stages: BTreeMap<StageAttempt, usize>,
}

impl SparkApplication {
    /// The application of a driver at this address.
    pub(super) fn at(driver: &str) -> Self {
        Self { applications: format!("{driver}/{APPLICATIONS}"), path: None, stages: BTreeMap::new() }
    }
}

impl Source for SparkApplication {
    fn engine(&self) -> Engine {
        Engine::Spark
    }

    fn ask(
        &mut self,
        client: &Client,
        application: &mut LiveApplication,
        judges: &Judges,
    ) -> Result<bool, RestError> {
        let listed: Vec<Application> = client.get(&self.applications)?;
        let Some(found) = listed.into_iter().next() else { return Ok(true) };
        let attempt = found.attempts.first();
        let has_ended = attempt.is_some_and(|attempt| attempt.completed);
        if self.path.is_none() {
            let number = attempt.and_then(|attempt| attempt.attempt_id.clone());
            let path = number.as_ref().map(|number| format!("{}/{}/{number}", self.applications, found.id));
            self.path = Some(path.unwrap_or_else(|| format!("{}/{}", self.applications, found.id)));
            application.begin(Identity {
                id: Some(found.id),
                attempt: number,
                name: found.name,
                user: attempt.and_then(|attempt| attempt.spark_user.clone()),
                started_at: attempt.and_then(|attempt| moment(attempt.start_time.as_deref())),
            });
        }
        let Some(path) = self.path.clone() else { return Ok(true) };
        let active: Vec<Stage> = client.get(&format!("{path}/stages?status=active"))?;
        for stage in &active {
            let id = StageAttempt { stage: stage.id, attempt: stage.attempt_id };
            let name = stage.name.as_deref().map(Arc::from);
            application.group(TaskKind::Stage(id), name, stage.num_tasks);
            self.stages.entry(id).or_default();
        }
        let mut over = Vec::new();
        for (&id, ended) in &mut self.stages {
            tasks_of(id, ended, (&path, client), application, judges)?;
            if !active.iter().any(|stage| (stage.id, stage.attempt_id) == (id.stage, id.attempt)) {
                over.push(id);
            }
        }
        for id in over {
            self.stages.remove(&id);
            application.end_group(TaskKind::Stage(id), application.newest());
        }
        if has_ended {
            application.end(application.newest());
        }
        Ok(has_ended)
    }
}

/// Asks for the tasks of a stage, without those at the beginning of the list that had all ended before.
fn tasks_of(
    id: StageAttempt,
    ended: &mut usize,
    (path, client): (&str, &Client),
    application: &mut LiveApplication,
    judges: &Judges,
) -> Result<(), RestError> {
    let mut offset = *ended;
    let mut all_ended = true;
    loop {
        let address = format!(
            "{path}/stages/{}/{}/taskList?offset={offset}&length={PAGE}&sortBy=ID",
            id.stage, id.attempt
        );
        let tasks: Vec<Task> = client.get(&address)?;
        for task in &tasks {
            let has_ended = take(task, id, application, judges);
            all_ended &= has_ended;
            *ended += usize::from(all_ended);
        }
        offset += tasks.len();
        if tasks.len() < PAGE {
            return Ok(());
        }
    }
}

/// Processes a task. Returns whether it has ended.
fn take(task: &Task, id: StageAttempt, application: &mut LiveApplication, judges: &Judges) -> bool {
    let kind = TaskKind::Stage(id);
    let Some(launched) = moment(task.launch_time.as_deref()) else { return false };
    let launch = Launch {
        id: task.id,
        task: task.index,
        attempt: task.attempt,
        host: task.host.as_deref().map(Arc::from),
        at: launched,
        speculative: task.speculative,
    };
    application.launch(kind, launch, judges);
    let at = task.duration.map(|ran| Timestamp::from_millis(launched.as_millis().saturating_add(ran.max(0))));
    let records = task.metrics.as_ref().and_then(|metrics| {
        let read = [&metrics.input_metrics, &metrics.shuffle_read_metrics];
        let known = read.into_iter().flatten().filter_map(|read| read.records_read);
        known.reduce(u64::saturating_add).map(|records| records as f64)
    });
    let outcome = match task.status.as_deref() {
        Some("SUCCESS") => Outcome::Succeeded,
        Some("FAILED") => Outcome::Failed,
        Some("KILLED") => Outcome::Killed,
        _ => {
            if let Some(at) = at {
                application.report(kind, Report { id: task.id, at, progress: None, records });
            }
            return false;
        }
    };
    if let Some(at) = at {
        application.ended(kind, &End { id: task.id, at, outcome, records });
    }
    true
}

/// "2026-11-21T09:39:02.692GMT".
fn moment(text: Option<&str>) -> Option<Timestamp> {
    let text = text?;
    Timestamp::from_rfc3339(
        &text.strip_suffix("GMT").map_or_else(|| text.to_owned(), |text| format!("{text}Z")),
    )
}
