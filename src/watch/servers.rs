//! The servers that are asked.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::application::Judges;
use super::rest::{AskedApplication, Client, RestError, ServerKind, kind_of, of_manager};
use super::teller::{Introduced, Teller};
use super::{Status, Tell, Told};
use crate::engine::Filter;
use crate::model::Engine;

/// After so many requests in a row without an answer, an application is given up: its master is gone.
const MOST_FAILURES: u32 = 10;

/// The servers that are asked, and the applications that they tell about.
pub(crate) struct Servers {
    client: Client,
    filter: Filter,
    /// How tasks of MapReduce and of Spark are judged.
    judges: [Judges; 2],
    interval: Duration,
    asked_at: Option<Instant>,
    addresses: Vec<Server>,
    applications: Vec<Asked>,
    /// The addresses of the applications that are or were watched.
    known: BTreeSet<String>,
}

struct Server {
    address: String,
    kind: Option<ServerKind>,
    is_silent: bool,
}

/// What is to be done with an application.
enum Next {
    Ask,
    Ended,
    GivenUp,
}

struct Asked {
    application: AskedApplication,
    introduced: Introduced,
}

impl Servers {
    /// Asks the servers at these addresses this often. `judges` are those for MapReduce and for Spark.
    pub(crate) fn new(
        addresses: &[String],
        (client, interval): (Client, Duration),
        filter: Filter,
        judges: [Judges; 2],
    ) -> Self {
        let server = |address: &String| Server {
            address: address.trim_end_matches('/').to_owned(),
            kind: None,
            is_silent: false,
        };
        Self {
            client,
            filter,
            judges,
            interval,
            asked_at: None,
            addresses: addresses.iter().map(server).collect(),
            applications: Vec::new(),
            known: BTreeSet::new(),
        }
    }

    /// Finds out what the servers are, and which applications run.
    pub(super) fn find(&mut self, tell: &mut Tell<'_>) -> io::Result<()> {
        let Self { client, filter, addresses, applications, known, .. } = self;
        for server in addresses {
            match server.running(client, filter) {
                Ok(running) => {
                    server.is_silent = false;
                    let new = running.into_iter().filter(|app| known.insert(app.address().to_owned()));
                    applications.extend(
                        new.map(|application| Asked { application, introduced: Introduced::default() }),
                    );
                }
                // Told once until it answers.
                Err(_) if server.is_silent => {}
                Err(error) => {
                    server.is_silent = true;
                    let source = server.address.clone();
                    tell(&Told::Problem { source, message: format!("{error}; it is asked again") })?;
                }
            }
        }
        Ok(())
    }

    /// Asks each application what is new, if it is time.
    pub(super) fn poll(
        &mut self,
        teller: &mut Teller,
        status: &mut Status,
        tell: &mut Tell<'_>,
    ) -> io::Result<()> {
        if self.asked_at.is_none_or(|at| at.elapsed() >= self.interval) {
            self.asked_at = Some(Instant::now());
            let mut place = 0;
            while let Some(asked) = self.applications.get_mut(place) {
                match asked.poll(&self.client, (&self.filter, &self.judges), teller, tell)? {
                    Next::Ask => place += 1,
                    Next::Ended => drop(self.applications.remove(place)),
                    Next::GivenUp => {
                        // If a resource manager still lists it, it is asked again.
                        let given_up = self.applications.remove(place);
                        self.known.remove(given_up.application.address());
                    }
                }
            }
        }
        for asked in &self.applications {
            status.applications += usize::from(asked.introduced.is_done());
            status.tasks += asked.application.application().running();
        }
        let is_manager =
            |server: &Server| !matches!(server.kind, Some(ServerKind::MapReduce | ServerKind::Spark));
        status.over &= self.applications.is_empty() && !self.addresses.iter().any(is_manager);
        Ok(())
    }
}

impl Server {
    /// The applications that it tells about.
    fn running(&mut self, client: &Client, filter: &Filter) -> Result<Vec<AskedApplication>, RestError> {
        let kind = match self.kind {
            Some(kind) => kind,
            None => kind_of(client, &self.address)?,
        };
        self.kind = Some(kind);
        match AskedApplication::at(&self.address, kind) {
            Some(application) => Ok(vec![application]),
            None => of_manager(client, &self.address, filter),
        }
    }
}

impl Asked {
    /// Asks what is new, and tells it.
    fn poll(
        &mut self,
        client: &Client,
        (filter, [mapreduce, spark]): (&Filter, &[Judges; 2]),
        teller: &mut Teller,
        tell: &mut Tell<'_>,
    ) -> io::Result<Next> {
        let engine = self.application.engine();
        let judges = if engine == Engine::MapReduce { mapreduce } else { spark };
        let mut flags = Vec::new();
        let polled = self.application.poll(client, judges, |flag| flags.push(flag));
        let source = self.application.address().to_owned();
        let application = self.application.application();
        let (identity, newest) = (Arc::clone(application.identity()), application.newest());
        let is_selected = identity.id.is_none() || filter.admits(identity.filtered(engine));
        if is_selected && identity.id.is_some() {
            self.introduced.introduce(&identity, &source, tell)?;
            flags.into_iter().try_for_each(|flag| teller.flag(flag, &source, tell))?;
        }
        match polled {
            Ok(false) if is_selected => Ok(Next::Ask),
            Ok(_) => {
                self.introduced.end(identity, source, newest, tell)?;
                Ok(Next::Ended)
            }
            Err(error) if self.application.failures() >= MOST_FAILURES => {
                let message = format!("{error}; it does not answer any more and is given up");
                tell(&Told::Problem { source, message })?;
                Ok(Next::GivenUp)
            }
            Err(error) => {
                if self.application.failures() == 1 {
                    tell(&Told::Problem { source, message: format!("{error}; it is asked again") })?;
                }
                Ok(Next::Ask)
            }
        }
    }
}
