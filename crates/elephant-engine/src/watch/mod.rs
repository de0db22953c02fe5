//! Watches applications while they run, and reports the tasks that detectors flag as early as possible.
//!
//! The detectors and scans are those of [`crate::survey`]: watching a finished log gives the same flags, as far as a
//! source has the data that a detector needs. Event logs do not contain the progress of running tasks, so only
//! detectors that compare times can judge them. Servers provide more.

mod application;
mod followed;
mod log;
#[cfg(feature = "http")]
mod rest;
#[cfg(feature = "http")]
mod servers;
mod state;
mod teller;
#[cfg(feature = "http")]
mod webhook;
#[cfg(feature = "http")]
mod workers;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use application::{Flag, Identity, Judges, LiveApplication};
pub use log::WatchedLog;
#[cfg(feature = "http")]
pub use rest::TIMEOUT;
#[cfg(feature = "http")]
pub use rest::{Client, Unaccepted};
#[cfg(feature = "http")]
pub use servers::Questions;
#[cfg(feature = "http")]
pub use servers::Servers;
pub use state::{State, StateError};
#[cfg(feature = "http")]
pub use webhook::Outcome;
#[cfg(feature = "http")]
pub use webhook::Webhook;

use crate::engine::Filter;
use elephant_base::limits::Limits;
use elephant_base::units::Timestamp;
pub use elephant_input::follow::Reached;
use followed::FollowedLogs;
use teller::Teller;

/// The message for the application that takes most memory, if all together take too much.
const TOO_MUCH: &str = "it is no longer watched: its running stages take most of the memory that --max-memory allows for \
                        all applications";

/// What to watch.
pub struct Settings {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// The applications to watch.
    pub filter: Filter,
    /// Limits for each log.
    pub limits: Limits,
    /// Logs that were last written longer ago are not followed: their writer is gone.
    pub stale: Duration,
    /// Whether time passes between events, too, by our clock.
    pub by_our_clock: bool,
}

/// Something to report.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// An application is watched from now on.
    Application {
        /// The application.
        identity: Arc<Identity>,
        /// Its log, or the address of its master or driver.
        source: String,
    },
    /// A task is flagged, or it turned out that it had ended before.
    Flag(Box<Flag>),
    /// An application has ended, or its log.
    End {
        /// The application.
        identity: Arc<Identity>,
        /// Its log, or the address of its master or driver.
        source: String,
        /// When, as far as that is known.
        at: Option<Timestamp>,
    },
    /// Something could not be read.
    Problem {
        /// The file, the folder or the address.
        source: String,
        /// What is wrong, and what to do.
        message: String,
    },
}

/// Makes the message that a flag is sent as.
#[cfg(feature = "http")]
pub(crate) type ToMessage = fn(&Told) -> io::Result<Box<serde_json::value::RawValue>>;

/// Receives the reports.
pub(crate) type Tell<'a> = dyn FnMut(&Told) -> io::Result<()> + 'a;

/// What is watched at the moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// Applications that run.
    pub applications: usize,
    /// Their task attempts that run.
    pub tasks: usize,
    /// Tasks that were flagged since the start.
    pub flagged: u64,
    /// Whether more can be read at once.
    pub behind: bool,
    /// Whether nothing is left to watch.
    pub over: bool,
}

/// Watches logs and servers.
pub struct Watch {
    teller: Teller,
    logs: FollowedLogs,
    #[cfg(feature = "http")]
    servers: Option<Servers>,
}

impl Watch {
    /// Watches logs with these detectors, and goes on where `state` ends.
    pub fn new(settings: Settings, judges: Judges, state: State) -> Self {
        // Logs that ended since the last run are reported, too, if the time of that run is known.
        let since = state.seen_at().unwrap_or_else(SystemTime::now);
        Self {
            teller: Teller::of(state),
            logs: FollowedLogs::new(settings, judges, since),
            #[cfg(feature = "http")]
            servers: None,
        }
    }

    /// Also watches the applications of `servers`.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn and(self, servers: Servers) -> Self {
        Self { servers: Some(servers), ..self }
    }

    /// Also queues each flag as a message in the state.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn with_messages(mut self, to_message: ToMessage) -> Self {
        self.teller.to_message = Some(to_message);
        self
    }

    /// Looks for applications that are not watched yet.
    ///
    /// # Errors
    /// If `tell` fails, or the state cannot be written.
    pub fn find(&mut self, tell: &mut Tell<'_>) -> io::Result<()> {
        #[cfg(feature = "http")]
        if let Some(servers) = &mut self.servers {
            servers.find();
        }
        self.logs.find(&mut self.teller, tell)?;
        self.teller.state.is_alive();
        Ok(())
    }

    /// Reads what is new, and reports it. A flag that this run, or an earlier run with the same state, has reported is
    /// not reported again.
    ///
    /// # Errors
    /// If `tell` fails, or the state cannot be written.
    pub fn poll(&mut self, now: Timestamp, tell: &mut Tell<'_>) -> io::Result<Status> {
        let mut status = Status { over: true, ..Status::default() };
        self.logs.poll(now, &mut self.teller, &mut status, tell)?;
        #[cfg(feature = "http")]
        if let Some(servers) = &mut self.servers {
            servers.poll(&mut self.teller, &mut status, tell)?;
        }
        status.flagged = self.teller.flagged;
        Ok(status)
    }

    /// The record of what was reported. Write it with [`State::flush`] after all receivers have the reports.
    pub const fn state(&mut self) -> &mut State {
        &mut self.teller.state
    }
}
