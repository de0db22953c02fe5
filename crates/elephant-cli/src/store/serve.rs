//! `elephant-rs serve --store FILE`

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

use super::super::finding_args::RuleArgs;
use super::super::stragglers::duration;
use super::super::{Exit, interrupt, output, warnings};
use super::{StoreArgs, now};
use elephant_base::units::Millis;
use elephant_engine::engine::{self, Options, Progress};
use elephant_input::named::Named;
use elephant_ruleset::RuleSet;
use elephant_serve::{Access, Ingest, Limits, Server, Turn};
use elephant_store::{Place, Store};
use elephant_verdict::troubles::Basis;

pub(crate) const EXAMPLES: &str = "\
Shows what ingest stored: where the waste is and what is new, each application, job, user, queue, node and rule, and a
search. /api/v1 has the same for programs, /metrics the figures for Prometheus. Nothing can be changed through it.

Examples:
  elephant-rs serve --store fleet.db
      then open http://127.0.0.1:8750 on this machine
  elephant-rs serve --store fleet.db --ingest /spark-events /mr-history/done --every 10m
      reads new and changed histories every ten minutes, too
  elephant-rs serve --store fleet.db --listen 0.0.0.0:8750 --trust-proxy 10.0.0.7
      only the proxy at 10.0.0.7 is answered, which has the login

Exit status: 0 it was stopped (Ctrl-C or SIGTERM), 2 it could not start.";

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    store: StoreArgs,
    /// Where to listen; port 0 takes a free one, which the first line of the output names
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8750", value_hint = ValueHint::Other)]
    listen: SocketAddr,
    /// Answer only this machine and the proxy at this address, which has a login; repeatable
    #[arg(long = "trust-proxy", value_name = "ADDRESS", value_hint = ValueHint::Other)]
    proxies: Vec<IpAddr>,
    /// Answer everyone who reaches the server, without a login
    #[arg(long, conflicts_with = "proxies")]
    allow_anyone: bool,
    /// Also read the new and changed histories below these paths, again and again
    #[arg(long, value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    ingest: Vec<PathBuf>,
    /// How long after the end of such a turn the next one begins
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration, requires = "ingest", value_hint = ValueHint::Other)]
    every: Millis,
    #[command(flatten)]
    rules: RuleArgs,
}

impl Serve {
    pub(crate) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let place = self.store.store.clone();
        if !self.ingest.is_empty() {
            // The first turn may take long, and the pages work meanwhile.
            drop(self.store.create()?);
        }
        let server = Server::bind(elephant_serve::Options {
            listen: self.listen,
            access: Access { proxies: self.proxies.clone(), anyone: self.allow_anyone },
            store: place,
            rules: self.rules.load()?,
            limits: Limits::default(),
            ingest: self.ingest_loop()?,
            tell: |problem| output::print_message("warning", problem),
        })?;
        let stopper = server.stopper();
        interrupt::stop_on_interrupt(move || stopper.stop())?;
        let address = server.address()?;
        output::Output::open(None)?
            .write(|out| writeln!(out, "elephant-rs: {} is at http://{address}/", self.store.store))?;
        server.run()?;
        Ok(Exit::Clean)
    }

    /// What reads the histories, if any are named.
    fn ingest_loop(&self) -> Result<Option<Ingest>, Box<dyn Error>> {
        if self.ingest.is_empty() {
            return Ok(None);
        }
        let (place, paths, rules) = (self.store.store.clone(), self.ingest.clone(), self.rules.load()?);
        let turn = move || ingest(&place, &paths, &rules);
        Ok(Some(Ingest { every: Duration::from_millis(self.every.get()), turn: Box::new(turn) }))
    }
}

fn counted(applications: u64) -> String {
    if applications == 1 { "1 application".to_owned() } else { format!("{applications} applications") }
}

/// Reads what is new or changed, and stores it.
fn ingest(place: &Place, paths: &[PathBuf], rules: &RuleSet) -> Turn {
    let options = Options { top: Some(0), ..Options::default() };
    let basis = Basis { rules, prices: None };
    let failed = |error| super::failed(place, "write", &error).to_string();
    let mut store = Store::create(place).map_err(failed)?;
    let (known, progress) = ((rules.hash(), now()), Progress::default());
    let named = Named { paths, ..Named::default() };
    let kept = store.keep_changed(named, &options.limits, known, |named, keeper| {
        engine::analyze_keeping(named, basis, &options, &progress, (keeper, None)).0
    });
    let (read, stored) = kept.map_err(failed)?;
    let stored = stored.map_err(failed)?;
    warnings::print(&read.problems, None);
    if read.named_input_failed {
        let first = read.problems.first().map(|entry| entry.problem.message.clone());
        return Err(first.unwrap_or_else(|| "a path cannot be read".to_owned()));
    }
    let kept = if stored.cut > 0 { ", and some not whole" } else { "" };
    Ok(format!("{} stored{kept}, {} in all", counted(stored.added), stored.applications))
}
