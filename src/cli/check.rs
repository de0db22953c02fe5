//! `elephant-rs check PATH… --baseline FILE`

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::Exit;
use super::counts::positive_count;
use super::judging::Judging;
use super::output::{Output, OutputError};
use super::reading::Reading;
use crate::baseline::spread::Tolerance;
use crate::baseline::update::update;
use crate::baseline::{Baseline, BaselineError, compare};
use crate::engine::{self, Options};
use crate::report::{counted, reservations};
use crate::results::Comparison;
use crate::results::Metric;
use crate::results::SuppressionUse;
use crate::severity::Severity;

pub(super) const EXAMPLES: &str = "\
A job is known by its engine and its name without dates, times, ids and counters, so a new run of it is compared with \
the runs that were accepted. A finding is worse when its severity is higher, or its key value is worse than accepted \
by more than the tolerance. Each run's costs are compared by themselves: with 5 accepted runs or more the limit is \
their median plus 3 scaled median absolute deviations, with fewer their median plus the tolerance; a run that read \
more input may cost as much more. Runs that failed or are incomplete are judged by rules only, and prove nothing \
better or gone.

Examples:
  elephant-rs check --baseline accepted.yaml --update history/
      accept what there is now; commit the file
  elephant-rs check --baseline accepted.yaml history/
      exit status 1 when something is new or worse than that
  elephant-rs check --baseline accepted.yaml --fail-on severe history/
      only severe and critical findings fail
  elephant-rs check --baseline accepted.yaml --tolerance runtime_ms=50 history/
      a run time may be half as long again

Exit status: 0 nothing new or worse, 1 something new or worse, or a suppression that has expired, 2 the run failed, \
there is no baseline, or nothing could be judged of some run, whose history is incomplete (--strict: of any that is \
incomplete).";

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // options
pub(super) struct Check {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    judging: Judging,
    /// The file with what is accepted
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,
    /// Accept what there is now: write the baseline
    #[arg(long)]
    update: bool,
    /// With --update: drop jobs that are not in the input
    #[arg(long, requires = "update")]
    prune: bool,
    /// With --update: keep the last N runs of each job [default: what the baseline says, 10 for a new one]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count, requires = "update")]
    keep_runs: Option<NonZeroUsize>,
    /// How many percent more than accepted is no change [default: 20]; METRIC=PERCENT for one of
    /// `runtime_ms`, `resource_used_gb_hours`, `resource_wasted_gb_hours`, `task_time_ms`, `failed_attempts_count`;
    /// repeatable
    #[arg(long, value_name = "[METRIC=]PERCENT", allow_negative_numbers = true, value_parser = parse_tolerance)]
    tolerance: Vec<(Option<Metric>, f64)>,
    /// Compare findings only, not what runs cost
    #[arg(long)]
    no_metrics: bool,
    /// Let runs pass of which nothing could be judged, such as those that have only just begun
    #[arg(long)]
    allow_unjudged: bool,
}

impl Check {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let Self { reading, judging, .. } = self;
        let rules = judging.rules.load()?;
        let mut accepted = self.accepted()?;
        let output = reading.open_output(Some(&self.baseline))?;
        let open = || Output::open(Some(&self.baseline)).map_err(OutputError::of_baseline);
        let file = self.update.then(open).transpose()?;
        let shown = judging.options(reading);
        // All findings are compared; what is shown is chosen afterwards.
        let options = Options { min_severity: shown.min_severity.min(Severity::Low), top: None, ..shown };
        let mut report =
            reading.run(|progress| engine::analyze_with(&reading.paths, &rules, options, progress))?;
        reading.warn(&report.problems);
        reading.warn_of_suppressions(&report.suppressions);
        let unfinished = if reading.failed(&report.problems, report.named_input_failed) {
            Some("some input could not be read")
        } else if report.summary.applications == 0 {
            Some("no job history was recognised below the paths")
        } else {
            None
        };
        let failed = unfinished.is_some();
        if let Some(keep) = self.keep_runs {
            accepted.keep_runs = keep.get();
        }
        let mut comparison = compare(&report, &accepted, &self.tolerance());
        // What is not shown does not fail either.
        let limit = judging.limit(Severity::Low).map(|limit| limit.max(shown.min_severity));
        comparison.worse = comparison.is_worse(limit);
        comparison.unfinished = unfinished;
        comparison.expired = expired(&report.suppressions);
        comparison.failed = !self.update && (comparison.worse || !comparison.expired.is_empty());
        // An update leaves unjudged runs alone, so it only needs something else to accept.
        let is_open =
            if self.update { comparison.judges_nothing() } else { accepted.leaves_open(&comparison) };
        comparison.undecided = is_open && !self.allow_unjudged;
        // What was read in part only is not accepted.
        if let Some(file) = file.filter(|_| !failed && !comparison.undecided) {
            let updated = update(&accepted, &report, &comparison, self.prune).to_yaml()?;
            file.write(|out| out.write_all(updated.as_bytes())).map_err(OutputError::of_baseline)?;
            comparison.updated = true;
        }
        let exit = exit(failed, comparison.failed, comparison.undecided);
        reading.conclude(&verdict(&comparison));
        report.comparison = Some(comparison);
        report.narrow(shown.min_severity, shown.top);
        judging.write(&report, reading, output)?;
        Ok(exit)
    }

    fn accepted(&self) -> Result<Baseline, BaselineError> {
        match Baseline::load(&self.baseline)? {
            Some(baseline) => Ok(baseline),
            None if self.update => Ok(Baseline::default()),
            None => Err(BaselineError::Missing { path: self.baseline.clone() }),
        }
    }

    fn tolerance(&self) -> Tolerance {
        let mut tolerance = Tolerance { metrics: !self.no_metrics, ..Tolerance::default() };
        for &(metric, share) in &self.tolerance {
            match metric {
                Some(metric) => drop(tolerance.of.insert(metric, share)),
                None => tolerance.general = Some(share),
            }
        }
        tolerance
    }
}

/// The end of the text report in one line, for those who look at another format.
fn verdict(comparison: &Comparison) -> String {
    let counts = counted(comparison.counts);
    match comparison.unfinished {
        Some(why) => format!("check: the run failed, {why}; {counts}"),
        None if comparison.failed => format!("check: FAILED, {counts}"),
        None if comparison.undecided => format!("check: NOT PASSED, {counts}"),
        None if comparison.updated => format!("check: the baseline was updated, {counts}"),
        None if reservations(comparison.counts).is_some() => {
            format!("check: passed as far as it could be judged, {counts}")
        }
        None => format!("check: passed, {counts}"),
    }
}

/// The suppressions that have ended: what they silenced may not stay unseen for good.
fn expired(uses: &[SuppressionUse]) -> Vec<String> {
    let expired = uses.iter().filter(|used| used.expired);
    expired.map(|used| format!("{} ({})", used.origin, used.rules)).collect()
}

/// How the command ends. What is worse is certain, whatever could not be judged.
const fn exit(run_failed: bool, check_failed: bool, undecided: bool) -> Exit {
    match (run_failed, check_failed) {
        (true, _) => Exit::Failure,
        (false, true) => Exit::Findings,
        (false, false) if undecided => Exit::Failure,
        (false, false) => Exit::Clean,
    }
}

fn parse_tolerance(text: &str) -> Result<(Option<Metric>, f64), String> {
    let (metric, percent) = match text.split_once('=') {
        Some((key, percent)) => (Some(key.trim().parse()?), percent),
        None => (None, text),
    };
    let percent = percent.trim().trim_end_matches('%').trim_end();
    let share = percent.parse::<f64>().ok().filter(|percent| (0.0..=100_000.0).contains(percent));
    let share = share.ok_or_else(|| format!("\"{percent}\" is no percentage from 0 on, such as 20"))?;
    Ok((metric, share / 100.0))
}
