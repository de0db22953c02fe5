//! Servers that report running tasks: YARN's resource manager, application masters of MapReduce, and drivers of Spark.

mod client;
mod mapreduce;
mod source;
mod spark;
mod yarn;

use std::time::Duration;

pub(crate) use client::RestError;
pub use client::{Client, Unaccepted};
use mapreduce::MapReduceJob;
use source::Source;
use spark::SparkApplication;
use yarn::Kind;

use super::application::{Flag, Judges, LiveApplication};
use crate::engine::{Filter, Identity as Filtered};
use elephant_base::units::Timestamp;
use elephant_model::model::Engine;

/// The longest time to wait for an answer.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// The kind of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerKind {
    /// YARN's resource manager.
    ResourceManager,
    /// The application master of a MapReduce job.
    MapReduce,
    /// The driver of a Spark application.
    Spark,
    /// A history server, which knows nothing of running tasks.
    History,
}

/// Finds out what answers at an address.
///
/// # Errors
/// The error of the last attempt, if it is none of them.
pub(crate) fn kind_of(client: &Client, address: &str) -> Result<ServerKind, RestError> {
    let attempts = [
        ("ws/v1/cluster/info", ServerKind::ResourceManager),
        ("ws/v1/mapreduce/info", ServerKind::MapReduce),
        (spark::APPLICATIONS, ServerKind::Spark),
        ("ws/v1/history/info", ServerKind::History),
    ];
    let mut error = None;
    for (path, kind) in attempts {
        match client.get::<serde::de::IgnoredAny>(&format!("{address}/{path}")) {
            Ok(_) if kind == ServerKind::Spark && spark::is_history_server(client, address)? => {
                return Ok(ServerKind::History);
            }
            Ok(_) => return Ok(kind),
            Err(other) if error.is_none() || other.is_unknown() => error = Some(other),
            Err(_) => {}
        }
    }
    error.map_or(Ok(ServerKind::Spark), Err)
}

/// An application that is watched through a server.
pub(crate) struct AskedApplication {
    /// The address of its master or driver.
    address: String,
    source: Box<dyn Source>,
    application: LiveApplication,
    failures: u32,
}

impl AskedApplication {
    /// The application of the master or driver at an address; `None` for a resource manager or a history server.
    pub(crate) fn at(address: &str, kind: ServerKind) -> Option<Self> {
        let source: Box<dyn Source> = match kind {
            ServerKind::MapReduce => Box::new(MapReduceJob::at(address)),
            ServerKind::Spark => Box::new(SparkApplication::at(address)),
            ServerKind::ResourceManager | ServerKind::History => return None,
        };
        let address = address.to_owned();
        Some(Self { address, source, application: LiveApplication::default(), failures: 0 })
    }

    /// The address of its master or driver.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The application.
    pub(crate) const fn application(&self) -> &LiveApplication {
        &self.application
    }

    /// The engine.
    pub(crate) fn engine(&self) -> Engine {
        self.source.engine()
    }

    /// How often in a row the server did not answer.
    pub(crate) const fn failures(&self) -> u32 {
        self.failures
    }

    /// Asks what is new, and makes the scans up to then. Returns whether the application has ended.
    ///
    /// # Errors
    /// If the server does not answer; it is asked again the next time.
    pub(crate) fn poll(
        &mut self,
        client: &Client,
        judges: &Judges,
        mut take: impl FnMut(Flag),
    ) -> Result<bool, RestError> {
        let Self { source, application, failures, .. } = self;
        let has_ended = match source.ask(client, application, judges) {
            Ok(has_ended) => {
                *failures = 0;
                has_ended
            }
            Err(error) => {
                *failures += 1;
                return Err(error);
            }
        };
        let until = application.newest().filter(|_| !has_ended);
        application.advance(until, judges, |mut flag| {
            let launch = &mut flag.flagged.launch;
            let missing = launch.host.is_none().then(|| source.attempt_of(client, flag.group, launch.task));
            if let Some((attempt, host)) = missing.flatten() {
                launch.attempt = Some(attempt);
                launch.host = Some(host.into());
            }
            take(flag);
        });
        Ok(has_ended)
    }
}

/// The applications of a resource manager that run and that a filter selects.
///
/// # Errors
/// If it does not answer.
pub(crate) fn of_manager(
    client: &Client,
    manager: &str,
    filter: &Filter,
) -> Result<Vec<AskedApplication>, RestError> {
    let running = yarn::running(client, manager)?.into_iter().filter(|app| {
        filter.admits(Filtered {
            engine: match app.kind {
                Kind::MapReduce => Engine::MapReduce.name(),
                Kind::Spark => Engine::Spark.name(),
            },
            id: &app.id,
            user: app.user.as_deref(),
            queue: app.queue.as_deref(),
            name: app.name.as_deref(),
            start: app.started_ms.map(Timestamp::from_millis),
        })
    });
    let asked = running.filter_map(|app| {
        let kind = match app.kind {
            Kind::MapReduce => ServerKind::MapReduce,
            Kind::Spark => ServerKind::Spark,
        };
        AskedApplication::at(&yarn::proxy(manager, &app.id), kind)
    });
    Ok(asked.collect())
}
