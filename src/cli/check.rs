//! `elephant-rs check PATH… --baseline FILE`

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::Exit;
use super::counts::positive_count;
use super::finding_args::FindingArgs;
use super::input_args::InputArgs;
use super::output::{Output, OutputError};
use crate::baseline::Tolerance;
use crate::baseline::update;
use crate::baseline::{Baseline, BaselineError, compare};
use crate::engine::{self, Options};
use crate::report::{counted, unjudged_summary};
use crate::results::Comparison;
use crate::results::Metric;
use crate::results::SuppressionUse;
use crate::severity::Severity;

pub(super) const EXAMPLES: &str = "\
A job is identified by its engine and its name without dates, times, ids and counters, so a new run is compared with \
the accepted runs of the same job. A finding is worse if its severity is higher, or if its key value is worse than \
accepted by more than the tolerance. The costs of each run are compared separately: with 5 or more accepted runs, the \
limit is their median plus 3 scaled median absolute deviations; with fewer, it is their median plus the tolerance. If \
a run read more input, its limits rise in proportion. Failed and incomplete runs are judged by rules only, and cannot \
make a finding better or gone.

Examples:
  elephant-rs check --baseline accepted.yaml --update history/
      accept the present state; commit the file
  elephant-rs check --baseline accepted.yaml history/
      exit status 1 if something is new or worse
  elephant-rs check --baseline accepted.yaml --fail-on severe history/
      only severe and critical findings fail
  elephant-rs check --baseline accepted.yaml --tolerance runtime_ms=50 history/
      allow run times to grow by 50 %

Exit status: 0 nothing is new or worse; 1 something is new or worse, or a suppression has expired; 2 the run failed, \
there is no baseline, or a run is too incomplete to judge (with --strict: any run is incomplete).";

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // options
pub(super) struct Check {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    findings: FindingArgs,
    /// The baseline: a file with accepted findings and costs
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,
    /// Accept the present state and write it to the baseline
    #[arg(long)]
    update: bool,
    /// With --update: remove jobs that are not in the input
    #[arg(long, requires = "update")]
    prune: bool,
    /// With --update: keep the last N runs of each job [default: the number in the baseline, or 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count, requires = "update")]
    keep_runs: Option<NonZeroUsize>,
    /// Allowed increase, in percent [default: 20]; METRIC=PERCENT for one of `runtime_ms`,
    /// `resource_used_gb_hours`, `resource_wasted_gb_hours`, `task_time_ms`, `failed_attempts_count`; repeatable
    #[arg(long, value_name = "[METRIC=]PERCENT", allow_negative_numbers = true, value_parser = parse_tolerance)]
    tolerance: Vec<(Option<Metric>, f64)>,
    /// Compare findings only, not costs
    #[arg(long)]
    no_metrics: bool,
    /// Do not fail on runs too incomplete to judge
    #[arg(long)]
    allow_unjudged: bool,
}

impl Check {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let Self { input, findings, .. } = self;
        let rules = findings.rules.load()?;
        let mut accepted = self.accepted()?;
        let output = input.open_output(Some(&self.baseline))?;
        let open = || Output::open(Some(&self.baseline)).map_err(OutputError::of_baseline);
        let file = self.update.then(open).transpose()?;
        let shown = findings.options(input);
        // Compare all findings; `--min-severity` and `--top` apply afterwards.
        let options = Options { min_severity: shown.min_severity.min(Severity::Low), top: None, ..shown };
        let mut report =
            input.run(|progress| engine::analyze_with(&input.paths, &rules, options, progress))?;
        input.warn(&report.problems);
        input.warn_of_suppressions(&report.suppressions);
        let unfinished = if input.failed(&report.problems, report.named_input_failed) {
            Some("some input could not be read")
        } else if report.summary.applications == 0 {
            Some("no event log or job history was recognised")
        } else {
            None
        };
        let failed = unfinished.is_some();
        if let Some(keep) = self.keep_runs {
            accepted.keep_runs = keep.get();
        }
        let mut comparison = compare(&report, &accepted, &self.tolerance());
        // Findings that are not shown do not fail.
        let limit = findings.limit(Severity::Low).map(|limit| limit.max(shown.min_severity));
        comparison.worse = comparison.is_worse(limit);
        comparison.unfinished = unfinished;
        comparison.expired = expired(&report.suppressions);
        comparison.failed = !self.update && (comparison.worse || !comparison.expired.is_empty());
        // An update ignores unjudged runs, so it only needs one other run to accept.
        let is_open =
            if self.update { comparison.judges_nothing() } else { accepted.leaves_open(&comparison) };
        comparison.undecided = is_open && !self.allow_unjudged;
        // Do not accept a state that was read only in part.
        if let Some(file) = file.filter(|_| !failed && !comparison.undecided) {
            let updated = update(&accepted, &report, &comparison, self.prune).to_yaml()?;
            file.write(|out| out.write_all(updated.as_bytes())).map_err(OutputError::of_baseline)?;
            comparison.updated = true;
        }
        let exit = exit(failed, comparison.failed, comparison.undecided);
        input.conclude(&verdict(&comparison));
        report.comparison = Some(comparison);
        report.narrow(shown.min_severity, shown.top);
        findings.write(&report, input, output)?;
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

/// The verdict of the text report in one line, printed when the report goes to a file.
fn verdict(comparison: &Comparison) -> String {
    let counts = counted(comparison.counts);
    match comparison.unfinished {
        Some(why) => format!("check: the run failed, {why}; {counts}"),
        None if comparison.failed => format!("check: FAILED, {counts}"),
        None if comparison.undecided => format!("check: NOT PASSED, {counts}"),
        None if comparison.updated => format!("check: the baseline was updated, {counts}"),
        None if unjudged_summary(comparison.counts).is_some() => {
            format!("check: passed as far as it could be judged, {counts}")
        }
        None => format!("check: passed, {counts}"),
    }
}

/// Expired suppressions. They fail a check, so that their findings do not stay hidden for good.
fn expired(uses: &[SuppressionUse]) -> Vec<String> {
    let expired = uses.iter().filter(|used| used.expired);
    expired.map(|used| format!("{} ({})", used.origin, used.rules)).collect()
}

/// The exit status. A finding that is new or worse counts even if others could not be judged.
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
    let share = share
        .ok_or_else(|| format!("\"{percent}\" is not a percentage; expected 0 to 100000, such as 20"))?;
    Ok((metric, share / 100.0))
}
