//! `elephant-rs mcp [PATH…] [--store FILE]`

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use tempfile::TempDir;

use super::Exit;
use super::finding_args::RuleArgs;
use super::limits::LimitArgs;
use super::{interrupt, store};
use elephant_base::limits::Limits;
use elephant_mcp::{Histories, Options, Stopper, serve_stdio};
use elephant_ruleset::RuleSet;
use elephant_store::{Place, Store};
use elephant_verdict::savings::Prices;

pub(super) const EXAMPLES: &str = "\
Answers the questions of an agent about the applications in a store, below the paths, or both: a server of the Model \
Context Protocol on standard input and output. An agent's program starts it; docs/agents.md says how. Nothing can be \
changed through it, and no question opens a file that is not named here or in the store.

Examples:
  elephant-rs mcp /spark-events /mr-history/done
      histories, which are read when the first question is asked
  elephant-rs mcp --store fleet.db
      what ingest stored, and the histories that are still there

Exit status: 0 standard input was closed, or it was stopped (Ctrl-C or SIGTERM), 2 it could not start.";

/// How long what was read counts as up to date: agents ask several questions in a row.
const FRESH: Duration = Duration::from_secs(60);

#[derive(Debug, Args)]
pub(super) struct Mcp {
    /// Files, folders and archives with event logs and job histories
    #[arg(required_unless_present = "store", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// A database of applications, which ingest makes
    #[cfg_attr(
        feature = "postgres",
        arg(help = "A database of applications: a file, which ingest makes, or postgres://USER@HOST/NAME")
    )]
    #[arg(long, value_name = "STORE", value_parser = store::place_parser(), value_hint = ValueHint::FilePath)]
    store: Option<Place>,
    /// Prices of cores and memory, as YAML, to show what remedies save in money
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    prices: Option<PathBuf>,
    /// The address under which people reach `serve` with this store: scheme and name, no path; answers have links to its
    /// pages
    #[cfg(feature = "serve")]
    #[arg(long, value_name = "URL", requires = "store", value_hint = ValueHint::Url)]
    public_url: Option<elephant_serve::PublicUrl>,
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The addresses of pages of a server.
#[cfg(feature = "serve")]
fn link(url: elephant_serve::PublicUrl) -> elephant_mcp::Link {
    Box::new(move |id| format!("{url}{}", elephant_report::site::application_address(id)))
}

impl Mcp {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        if let Some(place) = &self.store {
            drop(Store::open(place).map_err(|error| store::failed(place, "open", &error))?);
        }
        if self.paths.iter().any(|path| path.as_os_str() == "-") {
            return Err("standard input has the questions, so no history is read from it".into());
        }
        let folder = (!self.paths.is_empty()).then(|| TempDir::with_prefix("elephant-rs-")).transpose()?;
        let options = Options {
            store: self.store.clone(),
            histories: folder.as_ref().map(|folder| self.histories(folder)).transpose()?,
            rules: self.rules.load()?.into(),
            prices: self.prices.as_deref().map(Prices::read).transpose()?,
            limits: self.limits.limits(),
            fresh: FRESH,
            #[cfg(feature = "serve")]
            link: self.public_url.clone().map(link),
            #[cfg(not(feature = "serve"))]
            link: None,
        };
        let stopper = Stopper::default();
        let stop = stopper.clone();
        interrupt::stop_on_interrupt(move || stop.stop())?;
        serve_stdio(options, &stopper)?;
        Ok(Exit::Clean)
    }

    /// The histories, which are read into a store in this folder.
    fn histories(&self, folder: &TempDir) -> Result<Histories, Box<dyn Error>> {
        let place = Place::File(folder.path().join("histories.db"));
        let (to, paths, rules) = (place.clone(), self.paths.clone(), self.rules.load()?);
        let limits = self.limits.limits();
        Ok(Histories { place, turn: Box::new(move || read(&to, &paths, &rules, limits)) })
    }
}

/// Reads what is new or changed below the paths into the store; an error says why a path cannot be read.
fn read(place: &Place, paths: &[PathBuf], rules: &RuleSet, limits: Limits) -> Result<(), String> {
    let opened = store::to_write(place);
    let mut opened = opened.map_err(|error| store::failed(place, "write", &error).to_string())?;
    store::keep_new((&mut opened, place), paths, rules, limits, &|_| ()).map(drop)
}
