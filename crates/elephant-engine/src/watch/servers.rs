//! The servers that are asked.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::application::{Flag, Judges};
use super::rest::{AskedApplication, Client, RestError, ServerKind, kind_of, of_manager};
use super::teller::{Introduced, Teller};
use super::workers::Workers;
use super::{Status, TOO_MUCH, Tell, Told};
use crate::engine::Filter;
use elephant_base::units::Bytes;
use elephant_model::model::Engine;

/// Stop watching an application after this many requests in a row without an answer: its master is gone.
const MOST_FAILURES: u32 = 10;
/// Number of servers that are waited for at the same time, so that a server that hangs does not delay others.
const WORKERS: usize = 16;
/// The message for a history server.
const HISTORY: &str = "it is a history server, which does not know the running tasks; name the resource manager, an \
                       application master or a driver, or the folder of the event logs";

/// What to ask, and how to judge the answers.
pub struct Questions {
    /// The servers.
    pub addresses: Vec<String>,
    /// Asks them.
    pub client: Client,
    /// The time between two questions.
    pub interval: Duration,
    /// The applications to watch.
    pub filter: Filter,
    /// How tasks of MapReduce and of Spark are judged.
    pub judges: [Judges; 2],
    /// The most memory that running tasks may take.
    pub memory: Option<Bytes>,
    /// Whether each application is asked once only.
    pub once: bool,
}

/// The servers that are asked, and the applications that they report.
pub struct Servers {
    workers: Workers<Question, Answer>,
    interval: Duration,
    filter: Arc<Filter>,
    memory: Option<Bytes>,
    once: bool,
    addresses: Vec<Server>,
    /// By the order in which they were found.
    applications: BTreeMap<u64, Watched>,
    last_number: u64,
    /// The addresses of the applications that are or were watched.
    known: BTreeSet<String>,
}

struct Server {
    address: String,
    kind: Option<ServerKind>,
    is_asked: bool,
    is_silent: bool,
}

/// An application that is watched.
struct Watched {
    /// `None` while it is asked.
    at_rest: Option<Box<Asked>>,
    is_introduced: bool,
    running: usize,
    held: u64,
    ask_at: Instant,
}

struct Asked {
    application: AskedApplication,
    introduced: Introduced,
}

enum Question {
    /// The kind of a server, and the applications that it knows.
    Running(usize, String, Option<ServerKind>),
    /// What is new in an application.
    New(u64, Box<Asked>),
}

enum Answer {
    Running(usize, Result<(ServerKind, Vec<AskedApplication>), RestError>),
    New(u64, Box<Asked>, Vec<Flag>, Result<bool, RestError>),
}

impl Servers {
    /// Asks servers.
    #[must_use]
    pub fn new(questions: Questions) -> Self {
        let Questions { addresses, client, interval, filter, judges, memory, once } = questions;
        let server = |address: &String| Server {
            address: address.trim_end_matches('/').to_owned(),
            kind: None,
            is_asked: false,
            is_silent: false,
        };
        let filter = Arc::new(filter);
        let filtering = Arc::clone(&filter);
        let ask = move |question: Question| question.ask(&client, &filtering, &judges);
        Self {
            workers: Workers::new(WORKERS, ask),
            interval,
            filter,
            memory,
            once,
            addresses: addresses.iter().map(server).collect(),
            applications: BTreeMap::new(),
            last_number: 0,
            known: BTreeSet::new(),
        }
    }

    /// Asks what the servers are, and which applications run.
    pub(super) fn find(&mut self) {
        for (place, server) in self.addresses.iter_mut().enumerate() {
            if !server.is_asked && server.may_tell_more() {
                server.is_asked = true;
                self.workers.send(Question::Running(place, server.address.clone(), server.kind));
            }
        }
    }

    /// Asks each application what is new, if it is time, and reports the answers.
    pub(super) fn poll(
        &mut self,
        teller: &mut Teller,
        status: &mut Status,
        tell: &mut Tell<'_>,
    ) -> io::Result<()> {
        if self.once {
            while let Some(answer) = self.workers.wait() {
                self.take(answer, teller, tell)?;
            }
        }
        self.ask_applications();
        while let Some(answer) = if self.once { self.workers.wait() } else { self.workers.answer() } {
            self.take(answer, teller, tell)?;
        }
        self.keep_within_memory(tell)?;
        for watched in self.applications.values() {
            status.applications += usize::from(watched.is_introduced);
            status.tasks += watched.running;
        }
        status.over &= self.applications.is_empty() && !self.addresses.iter().any(Server::may_tell_more);
        Ok(())
    }

    fn ask_applications(&mut self) {
        let now = Instant::now();
        for (&number, watched) in &mut self.applications {
            if now < watched.ask_at {
                continue;
            }
            if let Some(asked) = watched.at_rest.take() {
                watched.ask_at = now + self.interval;
                self.workers.send(Question::New(number, asked));
            }
        }
    }

    fn take(&mut self, answer: Answer, teller: &mut Teller, tell: &mut Tell<'_>) -> io::Result<()> {
        match answer {
            Answer::Running(place, answer) => self.take_running(place, answer, tell),
            Answer::New(number, asked, flags, polled) => {
                self.take_new(number, asked, (flags, polled), teller, tell)
            }
        }
    }

    fn take_running(
        &mut self,
        place: usize,
        answer: Result<(ServerKind, Vec<AskedApplication>), RestError>,
        tell: &mut Tell<'_>,
    ) -> io::Result<()> {
        let Some(server) = self.addresses.get_mut(place) else { return Ok(()) };
        server.is_asked = false;
        let (kind, running) = match answer {
            Ok(answer) => answer,
            // Report this once, until the server answers again.
            Err(_) if server.is_silent => return Ok(()),
            Err(error) => {
                server.is_silent = true;
                let message = format!("{error}{}", again(self.once));
                return tell(&Told::Problem { source: server.address.clone(), message });
            }
        };
        server.is_silent = false;
        server.kind = Some(kind);
        if kind == ServerKind::History {
            let (source, message) = (server.address.clone(), HISTORY.to_owned());
            tell(&Told::Problem { source, message })?;
        }
        for application in running {
            if self.known.insert(application.address().to_owned()) {
                self.last_number += 1;
                let asked = Box::new(Asked { application, introduced: Introduced::default() });
                let ask_at = Instant::now();
                let new = Watched { at_rest: Some(asked), is_introduced: false, running: 0, held: 0, ask_at };
                self.applications.insert(self.last_number, new);
            }
        }
        Ok(())
    }

    fn take_new(
        &mut self,
        number: u64,
        mut asked: Box<Asked>,
        (flags, polled): (Vec<Flag>, Result<bool, RestError>),
        teller: &mut Teller,
        tell: &mut Tell<'_>,
    ) -> io::Result<()> {
        let engine = asked.application.engine();
        let source = asked.application.address().to_owned();
        let application = asked.application.application();
        let (identity, newest) = (Arc::clone(application.identity()), application.newest());
        let is_selected = identity.id.is_none() || self.filter.admits(identity.filtered(engine));
        if is_selected && identity.id.is_some() {
            asked.introduced.introduce(&identity, &source, tell)?;
            flags.into_iter().try_for_each(|flag| teller.flag(flag, &source, tell))?;
        }
        match polled {
            Ok(false) if is_selected => {}
            Ok(_) => {
                self.applications.remove(&number);
                return asked.introduced.end(identity, source, newest, tell);
            }
            Err(error) if asked.application.failures() >= MOST_FAILURES => {
                // If a resource manager still lists it, it is asked again.
                self.applications.remove(&number);
                self.known.remove(&source);
                let message = format!("{error}; it no longer answers and is no longer watched");
                return tell(&Told::Problem { source, message });
            }
            Err(error) => {
                if asked.application.failures() == 1 {
                    let message = format!("{error}{}", again(self.once));
                    tell(&Told::Problem { source, message })?;
                }
                if let Some(watched) = self.applications.get_mut(&number) {
                    watched.ask_at = Instant::now() + self.interval;
                }
            }
        }
        if let Some(watched) = self.applications.get_mut(&number) {
            watched.is_introduced = asked.introduced.is_done();
            watched.running = asked.application.application().running();
            watched.held = asked.application.application().held();
            watched.at_rest = Some(asked);
        }
        Ok(())
    }

    /// Stops watching the application that takes most memory, if all together take too much.
    fn keep_within_memory(&mut self, tell: &mut Tell<'_>) -> io::Result<()> {
        let Some(most) = self.memory else { return Ok(()) };
        while self.applications.values().map(|watched| watched.held).sum::<u64>() > most.get() {
            let at_rest = self.applications.iter().filter(|(_, watched)| watched.at_rest.is_some());
            let Some((_, number)) = at_rest.map(|(&number, watched)| (watched.held, number)).max() else {
                return Ok(());
            };
            if let Some(asked) = self.applications.remove(&number).and_then(|watched| watched.at_rest) {
                let source = asked.application.address().to_owned();
                tell(&Told::Problem { source, message: TOO_MUCH.to_owned() })?;
            }
        }
        Ok(())
    }
}

const fn again(once: bool) -> &'static str {
    if once { "" } else { "; it is asked again" }
}

impl Server {
    /// Whether it may report applications that are not known yet.
    const fn may_tell_more(&self) -> bool {
        matches!(self.kind, None | Some(ServerKind::ResourceManager))
    }
}

impl Question {
    fn ask(self, client: &Client, filter: &Filter, [mapreduce, spark]: &[Judges; 2]) -> Answer {
        match self {
            Self::Running(place, address, kind) => {
                Answer::Running(place, running(&address, kind, client, filter))
            }
            Self::New(number, mut asked) => {
                let judges = if asked.application.engine() == Engine::MapReduce { mapreduce } else { spark };
                let mut flags = Vec::new();
                let polled = asked.application.poll(client, judges, |flag| flags.push(flag));
                Answer::New(number, asked, flags, polled)
            }
        }
    }
}

/// The kind of a server, and the applications that it reports.
fn running(
    address: &str,
    kind: Option<ServerKind>,
    client: &Client,
    filter: &Filter,
) -> Result<(ServerKind, Vec<AskedApplication>), RestError> {
    let kind = kind.map_or_else(|| kind_of(client, address), Ok)?;
    Ok((
        kind,
        match kind {
            ServerKind::History => Vec::new(),
            ServerKind::ResourceManager => of_manager(client, address, filter)?,
            ServerKind::MapReduce | ServerKind::Spark => {
                AskedApplication::at(address, kind).into_iter().collect()
            }
        },
    ))
}
