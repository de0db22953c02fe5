//! `elephant-rs ingest --store FILE PATH…`

use std::error::Error;

use clap::Args;

use super::super::Exit;
use super::super::filter_args::HEADING as FILTERS;
use super::super::finding_args::RuleArgs;
use super::super::input_args::InputArgs;
use super::super::output::Output;
use super::super::path_args::{Inputs, PathArgs};
use super::alerts::{Alerts, DryRunArgs};
use super::{ClusterArg, StoreArgs, nothing_shown, now, seeing, stored_in, without_filters};
use elephant_engine::engine::{self, Keeper, Options};
use elephant_engine::results::ApplicationReport;
use elephant_store::{Read, Stored};
use elephant_verdict::troubles::Basis;

pub(crate) const EXAMPLES: &str = "\
Reads the histories that are new or changed since the last time, and keeps what was found in a database. Files that did \
not change are not opened. A run that was killed keeps what it had stored, and the next one reads the rest.

Examples:
  elephant-rs ingest --store fleet.db /spark-events /mr-history/done
      every hour: the new histories of both history servers
  elephant-rs history --store fleet.db
      what they used and wasted, and where
  elephant-rs ingest --store fleet.db --alerts alerts.yaml --alerts-dry-run /spark-events
      what would be sent about new and worse troubles; without --alerts-dry-run, it is

Exit status: 0 all histories were read, 2 the run failed.";

// Filters are refused, so the help does not have them.
#[derive(Debug, Args)]
#[command(mut_args(|arg| {
    let is_filter = arg.get_help_heading() == Some(FILTERS);
    arg.hide(is_filter)
}))]
pub(crate) struct Ingest {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    cluster: ClusterArg,
    #[command(flatten)]
    paths: PathArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    alerts: DryRunArgs,
}

impl Ingest {
    pub(crate) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let rules = self.rules.load()?;
        let inputs = self.paths.read()?;
        let output = self.input.open_output(&inputs.files(), &self.store.store.files())?;
        let (limits, filter) = (self.input.limits.limits(), self.input.filters.filter());
        let options = Options { limits, filter, ..nothing_shown() };
        without_filters(&options, "ingest")?;
        let alerts = self.alerts.alerts.load(self.alerts.alerts_dry_run)?;
        let (place, cluster) = (&self.store.store, self.cluster.cluster.as_deref());
        let basis = Basis { rules: &rules, prices: None };
        if let Some(alerts) = alerts.as_ref().filter(|_| self.alerts.alerts_dry_run) {
            return self.dry_run(alerts, &inputs, basis, &options, output);
        }
        let mut store = self.store.create()?;
        store.set_cluster(self.cluster.cluster.clone());
        let begin = |alerts: &Alerts| alerts.begin(place, cluster);
        let recent =
            alerts.as_ref().map(begin).transpose().map_err(|error| self.store.failed("read", &error))?;
        let see = |app: &ApplicationReport| recent.iter().for_each(|recent| recent.see(app));
        let kept = self.input.run(|progress| {
            store.keep_changed(inputs.named(), &options.limits, (rules.hash(), now()), |named, keeper| {
                seeing(keeper, &see, |keeper| {
                    engine::analyze_keeping(named, basis, &options, progress, (keeper, None)).0
                })
            })
        })?;
        let failed = |error| self.store.failed("write", &error);
        let (read, stored) = kept.map_err(failed)?;
        let stored = stored.map_err(failed)?;
        self.input.warn(&read.problems, None);
        output.write(|out| writeln!(out, "{}", self.result(&read, &stored)))?;
        if let Some((alerts, recent)) = alerts.zip(recent) {
            self.input.tell_of_alerts(&alerts.tell((place, cluster), recent, &rules));
        }
        let Stored { unchanged, cut, .. } = stored;
        // It is not an error if all files are unchanged.
        let nothing_new = unchanged > 0 && read.summary.applications == 0;
        let failed = if cut > 0 {
            true
        } else if nothing_new {
            self.input.failed(&read.problems, read.named_input_failed)
        } else {
            self.input.failure(&read.problems, read.named_input_failed, &read.summary).is_some()
        };
        Ok(if failed { Exit::Failure } else { Exit::Clean })
    }

    /// Reads all histories, without storing anything, and prints what would be sent.
    fn dry_run(
        &self,
        alerts: &Alerts,
        inputs: &Inputs<'_>,
        basis: Basis<'_>,
        options: &Options,
        output: Output,
    ) -> Result<Exit, Box<dyn Error>> {
        let cluster = self.cluster.cluster.as_deref();
        let (recent, place, _folder) = alerts.begin_dry(&self.store.store, cluster)?;
        let (see, forget) = (|app: &ApplicationReport| recent.see(app), |_: &ApplicationReport| ());
        let keeper = Keeper { by_node: |_| Vec::new(), keep: &see, keep_copy: &forget };
        let read = self.input.run(|progress| {
            engine::analyze_keeping(inputs.named(), basis, options, progress, (keeper, None)).0
        })?;
        self.input.warn(&read.problems, None);
        let text = alerts.dry_run((&place, cluster), recent, basis.rules);
        let text = text.map_err(|error| self.store.failed("read", &error))?;
        output.write(|out| write!(out, "{text}"))?;
        let failed = self.input.failure(&read.problems, read.named_input_failed, &read.summary).is_some();
        Ok(if failed { Exit::Failure } else { Exit::Clean })
    }

    /// What was read, and what the store has now.
    fn result(&self, read: &Read, stored: &Stored) -> String {
        let summary = &read.summary;
        let analysed = summary.files_analysed;
        let plural = if analysed == 1 { "" } else { "s" };
        let Stored { unchanged, .. } = stored;
        format!(
            "{analysed} file{plural} read, {} skipped, {} failed, {unchanged} unchanged · {}",
            summary.files_skipped,
            summary.files_failed,
            stored_in(&self.store.store, stored)
        )
    }
}
