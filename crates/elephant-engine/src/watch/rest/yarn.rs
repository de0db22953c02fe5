//! The running applications, as YARN's resource manager reports them (`/ws/v1/cluster/apps`).

use serde::Deserialize;

use super::client::{Client, RestError};

#[derive(Deserialize)]
struct Answer {
    apps: Option<Apps>,
}

#[derive(Deserialize)]
struct Apps {
    #[serde(default)]
    app: Vec<App>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct App {
    id: String,
    application_type: Option<String>,
    name: Option<String>,
    user: Option<String>,
    queue: Option<String>,
    started_time: Option<i64>,
}

/// The engine of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    MapReduce,
    Spark,
}

/// An application that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Running {
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) name: Option<String>,
    pub(super) user: Option<String>,
    pub(super) queue: Option<String>,
    pub(super) started_ms: Option<i64>,
}

/// The applications of MapReduce and Spark that run, by id.
pub(super) fn running(client: &Client, manager: &str) -> Result<Vec<Running>, RestError> {
    let answer: Answer = client.get(&format!("{manager}/ws/v1/cluster/apps?states=RUNNING"))?;
    let apps = answer.apps.map(|apps| apps.app).unwrap_or_default();
    let mut running: Vec<Running> = apps
        .into_iter()
        .filter_map(|app| {
            let kind = match app.application_type.as_deref()? {
                "MAPREDUCE" => Kind::MapReduce,
                "SPARK" => Kind::Spark,
                _ => return None,
            };
            let App { id, name, user, queue, started_time: started_ms, .. } = app;
            Some(Running { id, kind, name, user, queue, started_ms })
        })
        .collect();
    running.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(running)
}

/// Where the resource manager passes on requests to an application's master or driver.
pub(super) fn proxy(manager: &str, id: &str) -> String {
    format!("{manager}/proxy/{id}")
}
