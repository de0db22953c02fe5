//! `elephant-rs ingest --store FILE PATH…`

use std::error::Error;

use clap::Args;

use super::super::Exit;
use super::super::finding_args::RuleArgs;
use super::super::input_args::InputArgs;
use super::super::path_args::PathArgs;
use super::StoreArgs;
use crate::engine::Options;
use crate::store::Ingested;
use crate::troubles::Basis;
use crate::units::Timestamp;

pub(in crate::cli) const EXAMPLES: &str = "\
Reads the histories that are new or changed since the last time, and keeps what was found in a database. Files that did \
not change are not opened. A run that was killed keeps what it had stored, and the next one reads the rest.

Examples:
  elephant-rs ingest --store fleet.db /spark-events /mr-history/done
      every hour: the new histories of both history servers
  elephant-rs history --store fleet.db
      what they used and wasted, and where

Exit status: 0 all histories were read, 2 the run failed.";

#[derive(Debug, Args)]
pub(in crate::cli) struct Ingest {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    paths: PathArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    rules: RuleArgs,
}

impl Ingest {
    pub(in crate::cli) fn run(&self, now: Timestamp) -> Result<Exit, Box<dyn Error>> {
        let rules = self.rules.load()?;
        let inputs = self.paths.read()?;
        let output = self.input.open_output(&inputs.files(), self.store.store.file())?;
        let filter = self.input.filters.filter();
        let options = Options { limits: self.input.limits.limits(), filter, ..Options::default() };
        if !options.filter.is_everything() {
            return Err("a store keeps all applications, so ingest takes no filters; history has them".into());
        }
        let mut store = self.store.create()?;
        let basis = Basis { rules: &rules, prices: None };
        let named = inputs.named();
        let ingested = self.input.run(|progress| store.ingest(named, basis, options, progress, now))?;
        let ingested = ingested.map_err(|error| self.store.failed("write", &error))?;
        self.input.warn(&ingested.report.problems);
        output.write(|out| writeln!(out, "{}", self.result(&ingested)))?;
        let Ingested { report, unchanged, cut, .. } = &ingested;
        // A run that finds nothing new has read what there is.
        let nothing_new = *unchanged > 0 && report.summary.applications == 0;
        let failed = if *cut > 0 {
            true
        } else if nothing_new {
            self.input.failed(&report.problems, report.named_input_failed)
        } else {
            self.input.failure(&report.problems, report.named_input_failed, &report.summary).is_some()
        };
        Ok(if failed { Exit::Failure } else { Exit::Clean })
    }

    /// What was read, and what the store has now.
    fn result(&self, ingested: &Ingested) -> String {
        let Ingested { report, unchanged, cut, applications } = ingested;
        let summary = &report.summary;
        let plural = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let stored = summary.applications.saturating_sub(*cut);
        let cut = match cut {
            0 => String::new(),
            cut => format!(", {cut} broken off, which the next run reads again"),
        };
        format!(
            "{} read, {} skipped, {} failed, {unchanged} unchanged · {} stored{cut}; {} has {}",
            plural(summary.files_analysed, "file"),
            summary.files_skipped,
            summary.files_failed,
            plural(stored, "application"),
            self.store.store,
            applications
        )
    }
}
