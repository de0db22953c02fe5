//! `elephant-rs prune --store FILE --before TIME`

use std::error::Error;

use clap::{Args, ValueHint};

use super::super::Exit;
use super::super::filter_args::moment;
use super::super::output::Output;
use super::StoreArgs;
use elephant_base::units::Timestamp;

pub(crate) const EXAMPLES: &str = "\
Removes old applications. Their histories stay known, so that the next ingest does not read them again. If it is unknown
when an application was submitted, the time when it finished counts, or else when it was stored.

Examples:
  elephant-rs prune --store fleet.db --before 2025-11-01
      keep what was submitted since that day

Exit status: 0 done, 2 the run failed.";

#[derive(Debug, Args)]
pub(crate) struct Prune {
    #[command(flatten)]
    store: StoreArgs,
    /// Remove applications that were submitted before this time, such as 2025-11-01
    #[arg(long, value_name = "TIME", value_parser = moment, value_hint = ValueHint::Other)]
    before: Timestamp,
}

impl Prune {
    pub(crate) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let store = self.store.open()?;
        let removed = store.prune(self.before).map_err(|error| self.store.failed("change", &error))?;
        let plural = if removed == 1 { "" } else { "s" };
        Output::open(None)?.write(|out| writeln!(out, "{removed} application{plural} removed"))?;
        Ok(Exit::Clean)
    }
}
