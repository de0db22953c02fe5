//! `elephant-rs prune --store FILE --before TIME`, or `--keep TIME`

use std::error::Error;

use clap::{Args, ValueHint};

use super::super::Exit;
use super::super::counts::duration;
use super::super::filter_args::moment;
use super::super::output::Output;
use super::{StoreArgs, now};
use elephant_base::units::{Millis, Timestamp};

pub(crate) const EXAMPLES: &str = "\
Removes old applications. Their histories stay known, so that the next ingest does not read them again. If it is unknown
when an application was submitted, the time when it finished counts, or else when it was stored.

Examples:
  elephant-rs prune --store fleet.db --before 2025-11-01
      keep what was submitted since that day
  elephant-rs prune --store fleet.db --keep 400d
      keep the last 400 days, from the time of the command on

Exit status: 0 done, 2 the run failed.";

#[derive(Debug, Args)]
pub(crate) struct Prune {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    old: Old,
}

/// Which applications are old.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Old {
    /// Remove applications that were submitted before this time, such as 2025-11-01
    #[arg(long, value_name = "TIME", value_parser = moment, value_hint = ValueHint::Other)]
    before: Option<Timestamp>,
    /// Remove applications that were submitted longer ago than this, such as 400d
    #[arg(long, value_name = "DURATION", value_parser = kept, value_hint = ValueHint::Other)]
    keep: Option<Millis>,
}

/// How long applications are kept. Zero would remove all of them, which is rather a slip.
pub(super) fn kept(text: &str) -> Result<Millis, String> {
    match duration(text)? {
        Millis::ZERO => Err("this would remove all applications".to_owned()),
        keep => Ok(keep),
    }
}

/// The moment so long ago.
pub(super) fn before(keep: Millis) -> Timestamp {
    let keep = i64::try_from(keep.get()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now().as_millis().saturating_sub(keep))
}

impl Old {
    /// From when on applications are kept.
    fn since(&self) -> Timestamp {
        // One of the two is required.
        self.before.or_else(|| self.keep.map(before)).unwrap_or(Timestamp::from_millis(i64::MIN))
    }
}

impl Prune {
    pub(crate) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let store = self.store.open()?;
        let removed = store.prune(self.old.since()).map_err(|error| self.store.failed("change", &error))?;
        let plural = if removed == 1 { "" } else { "s" };
        Output::open(None)?.write(|out| writeln!(out, "{removed} application{plural} removed"))?;
        Ok(Exit::Clean)
    }
}
