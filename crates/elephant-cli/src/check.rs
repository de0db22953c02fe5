//! `elephant-rs check PATH… --baseline FILE`

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Exit;
use super::accepted::Source;
use super::counts::positive_count;
use super::finding_args::FindingArgs;
use super::input_args::InputArgs;
use super::output::{Output, OutputError};
use super::part_args::{PartArgs, write_part};
use super::path_args::{Inputs, PathArgs};
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_engine::baseline::{Baseline, Tolerance, compare, lost_histories, update};
use elephant_engine::engine::{self, Filter, Options, PartKind, Progress};
use elephant_engine::results::{
    Comparison, Floors, Level, Metric, Problem, Report, SourceProblem, SuppressionUse,
};
use elephant_report::{counted, missing_jobs, unjudged_summary};
use elephant_rule::params::quantity::{Duration, Quantity};
use elephant_ruleset::RuleSet;
use elephant_ruleset::settings::GateParams;
#[cfg(feature = "store")]
use elephant_store::{Place, Store};
use elephant_verdict::troubles::Basis;

pub(super) const EXAMPLES: &str = "\
A job is identified by its engine and its name without dates, times, ids and counters, so a new run is compared with \
the accepted runs of the same job. A finding is worse if its severity is higher, or if its key value is worse than \
accepted by more than the tolerance. The costs of each run are compared separately: with 5 or more accepted runs, the \
limit is their median plus 3 scaled median absolute deviations; with fewer, it is their median plus the tolerance. If \
a run read more input, its limits rise in proportion. Differences below the floors of the document `gate` in rule files \
(10 s of run time, 0.02 GB-hours, 30 s of task time, one failed attempt) do not count, unless the tolerance is 0. Failed \
and incomplete runs are judged by rules only; they never show that a finding is better or gone. --fail-on applies to \
findings only. Higher costs fail whatever its level, except with --fail-on none; --costs changes that.

With --engine, --user, --queue, --name or --app, accepted jobs that did not run are not reported: they may be left out. \
--since and --until leave out runs, not jobs: a job without a run in that time did not run. With --rule, accepted \
findings of other rules stay accepted, and costs are compared as always (--costs).

Examples:
  elephant-rs check --baseline accepted.yaml --update history/
      accept the present state; commit the file
  elephant-rs check --baseline accepted.yaml history/
      exit status 1 if something is new or worse
  elephant-rs check --baseline accepted.yaml --fail-on severe history/
      only severe and critical findings fail
  elephant-rs check --baseline accepted.yaml --tolerance runtime_ms=50 history/
      allow run times to grow by 50 %
  elephant-rs check --baseline accepted.yaml --costs show --require-all nightly/
      higher costs are shown but do not fail; a job that did not run fails

Exit status: 0 nothing is new or worse; 1 something is new or worse, a suppression has expired, an accepted history was \
emptied or overwritten, or with --require-all a job did not run; 2 the run failed, no application was read (--allow-empty accepts that), there is no baseline, or a run \
is too incomplete to judge (with --strict: any run is incomplete).";

#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    paths: PathArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    findings: FindingArgs,
    #[command(flatten)]
    parts: PartArgs,
    /// The baseline: a file with accepted findings and costs
    #[cfg_attr(not(feature = "store"), arg(long, value_name = "FILE", required_unless_present = "partial"))]
    #[cfg_attr(
        feature = "store",
        arg(long, value_name = "FILE", required_unless_present_any = ["partial", "store"])
    )]
    baseline: Option<PathBuf>,
    /// Compare with the last complete runs of each job in a database that `ingest` fills
    #[cfg(feature = "store")]
    #[arg(
        long,
        value_name = "STORE",
        value_parser = super::store::place_parser(),
        group = "keeper",
        conflicts_with_all = ["baseline", "partial", "prune", "require_all"]
    )]
    store: Option<Place>,
    /// With --store: the cluster that the histories are from, as ingest was told; only its runs are compared [default:
    /// what the configuration of each application tells]
    #[cfg(feature = "store")]
    #[arg(long, value_name = "NAME", value_parser = super::store::cluster_name, requires = "store", value_hint = clap::ValueHint::Other)]
    cluster: Option<String>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    alerts: super::store::alerts::DryRunArgs,
    /// Accept the present state and write it to the baseline
    #[arg(long, conflicts_with = "partial", group = "keeper")]
    update: bool,
    /// With --update: remove jobs that are not in the input; cannot be combined with filters, which leave out jobs
    #[arg(long, requires = "update", conflicts_with = "FilterArgs")]
    prune: bool,
    /// Keep the last N runs of each job in the baseline, or compare with the last N in the store [default: the number in
    /// the baseline, or 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count, requires = "keeper")]
    keep_runs: Option<NonZeroUsize>,
    /// Allowed increase, in percent [default: 20]; METRIC=PERCENT for one of `runtime_ms`,
    /// `resource_used_gb_hours`, `resource_wasted_gb_hours`, `task_time_ms`, `failed_attempts_count`; repeatable
    #[arg(long, value_name = "[METRIC=]PERCENT", allow_negative_numbers = true, value_parser = parse_tolerance)]
    tolerance: Vec<(Option<Metric>, f64)>,
    /// What happens if costs are higher than accepted [default: fail; with --fail-on none: show]
    #[arg(long, value_enum, value_name = "WHAT")]
    costs: Option<Costs>,
    /// The same as --costs ignore
    #[arg(long, conflicts_with = "costs")]
    no_metrics: bool,
    /// Fail if a job of the baseline did not run; cannot be combined with --user, --queue, --name or --app, because the
    /// baseline does not say which of its jobs they leave out
    #[arg(long, conflicts_with_all = ["users", "queues", "names", "ids"])]
    require_all: bool,
    /// Do not fail on runs too incomplete to judge
    #[arg(long)]
    allow_unjudged: bool,
}

/// The effect of higher costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Costs {
    /// They fail, whatever --fail-on says about findings
    Fail,
    /// They are compared and shown, but do not fail
    Show,
    /// They are not compared
    Ignore,
}

impl Check {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let Self { input, findings, .. } = self;
        let rules = findings.load()?;
        let prices = findings.prices()?;
        #[cfg(feature = "store")]
        let told = Told::load(self)?;
        let basis = Basis { rules: &rules, prices: prices.as_ref() };
        let inputs = self.paths.read()?;
        let shown = findings.options(input);
        let options = all_findings(shown.clone());
        let kind = findings.kind_of_part("check", (&rules, prices.as_ref()), &options, input);
        if let Some(file) = self.parts.open()? {
            let options = all_findings(findings.options_of_part(input));
            let work = |progress: &Progress| engine::analyze_part(inputs.named(), basis, &options, progress);
            return write_part(&input.run(work)?, &kind, input, file);
        }
        let source = self.source()?;
        let path = source.file_path();
        let output = input.open_output(&inputs.files(), &source.files())?;
        let open = || Output::open(path).map_err(OutputError::of_baseline);
        let file = self.update.then(open).transpose()?;
        let mut report = self.report((&inputs, &kind), basis, &options)?;
        input.warn(&report.problems, None);
        #[cfg(feature = "store")]
        let would_be_sent = told.tell(self, &report, &rules)?;
        #[cfg(not(feature = "store"))]
        let would_be_sent: Option<String> = None;
        input.warn_of_suppressions(&report.suppressions, findings.reports_all_rules());
        let unfinished = input.failure(&report.problems, report.named_input_failed, &report.summary);
        let failed = unfinished.is_some();
        let accepted = source.accepted(&report, self.keep_runs.map(NonZeroUsize::get))?;
        let baseline = &accepted.baseline;
        let mut comparison = compare(&report, baseline, &self.tolerance(rules.gate()));
        accepted.explain(&mut comparison);
        if !self.parts.merges() {
            comparison.lost = lost_histories(baseline, &report, &inputs.parts());
        }
        let lost: Vec<SourceProblem> = comparison.lost.iter().map(|path| lost_problem(path)).collect();
        input.warn(&lost, None);
        report.problems.extend(lost);
        let updated = self.update.then(|| update(baseline, &report, &comparison, self.prune));
        comparison.unfinished = unfinished;
        comparison.expired = expired(&report.suppressions);
        self.decide(&mut comparison, (&options.filter, &rules), baseline, shown.min_severity);
        // Do not accept a state that was read only in part.
        if let Some((file, updated)) = file.zip(updated).filter(|_| !failed && !comparison.undecided) {
            let text = updated.to_yaml()?;
            file.write(|out| out.write_all(text.as_bytes())).map_err(OutputError::of_baseline)?;
            comparison.updated = true;
        }
        let exit = exit(failed, comparison.failed, comparison.undecided);
        input.conclude(&verdict(&comparison));
        report.comparison = Some(comparison);
        report.narrow(shown.min_severity, shown.top);
        match would_be_sent {
            Some(text) => output.write(|out| write!(out, "{text}"))?,
            None => findings.write(&report, input, output)?,
        }
        Ok(exit)
    }

    /// Reads and judges the histories, or puts parts together.
    fn report(
        &self,
        (inputs, kind): (&Inputs<'_>, &PartKind<'_>),
        basis: Basis<'_>,
        options: &Options,
    ) -> Result<Report, Box<dyn Error>> {
        let input = &self.input;
        if self.parts.merges() {
            let parts = (kind, &*inputs.parts());
            return Ok(input.run(|_| engine::analyze_parts(parts, basis, options, None))??.0);
        }
        Ok(input.run(|progress| engine::analyze_by(inputs.named(), basis, options, progress))?)
    }

    /// Decides from what was asked for whether the check has failed.
    fn decide(
        &self,
        comparison: &mut Comparison,
        (filter, rules): (&Filter, &RuleSet),
        accepted: &Baseline,
        shown: Severity,
    ) {
        comparison.select(
            |job| !filter.has_patterns() && filter.admits_engine(job.engine()),
            |rule| rules.reports(rule),
        );
        // Findings that are not shown do not fail.
        let limit = self.findings.limit(Severity::Low).map(|limit| limit.max(shown));
        let costs_fail = self.costs.map_or(limit.is_some(), |costs| costs == Costs::Fail);
        comparison.worse = comparison.is_worse(limit, costs_fail);
        comparison.requires_all = self.require_all;
        let missing = self.require_all && comparison.counts.absent_jobs > 0;
        let gone = !comparison.expired.is_empty() || !comparison.lost.is_empty();
        comparison.failed = !self.update && (comparison.worse || missing || gone);
        // An update ignores unjudged runs, so it only needs one other run to accept.
        let is_open =
            if self.update { comparison.judges_nothing() } else { accepted.leaves_open(comparison) };
        comparison.undecided = is_open && !self.allow_unjudged;
    }

    fn source(&self) -> Result<Source<'_>, Box<dyn Error>> {
        #[cfg(feature = "store")]
        if let Some(place) = &self.store {
            let mut store =
                Store::open(place).map_err(|error| super::store::failed(place, "open", &error))?;
            store.set_cluster(self.cluster.clone());
            return Ok(Source::Store(place, store));
        }
        let baseline = self.baseline.as_deref().ok_or("--baseline FILE is missing")?;
        Ok(Source::file(baseline, self.update)?)
    }

    /// The tolerances of the rule files, and those of the command line on top.
    fn tolerance(&self, gate: &GateParams) -> Tolerance {
        let time = |floor: Quantity<Duration>| Millis::from_f64(floor.get()).unwrap_or(Millis::new(u64::MAX));
        let mut tolerance = Tolerance {
            metrics: !self.no_metrics && self.costs != Some(Costs::Ignore),
            usual: gate.tolerance.get(),
            floors: Floors {
                run_time: time(gate.run_time_floor),
                memory_gb_hours: gate.memory_floor.get(),
                task_time: time(gate.task_time_floor),
                failed_attempts: gate.failed_attempts_floor.get(),
            },
            ..Tolerance::default()
        };
        for &(metric, share) in &self.tolerance {
            match metric {
                Some(metric) => drop(tolerance.of.insert(metric, share)),
                None => tolerance.general = Some(share),
            }
        }
        tolerance
    }
}

/// Whom a check tells what is new or worse.
#[cfg(feature = "store")]
struct Told(Option<super::store::alerts::Alerts>);

#[cfg(feature = "store")]
impl Told {
    fn load(check: &Check) -> Result<Self, Box<dyn Error>> {
        let alerts = check.alerts.alerts.load(check.alerts.alerts_dry_run)?;
        if alerts.is_some() && check.store.is_none() {
            return Err("--alerts compares with a store; name it by --store".into());
        }
        Ok(Self(alerts))
    }

    /// Tells what is new or worse in the runs that the store does not know, or returns what would be sent.
    fn tell(self, check: &Check, report: &Report, rules: &RuleSet) -> Result<Option<String>, Box<dyn Error>> {
        let Some((alerts, place)) = self.0.zip(check.store.as_ref()) else { return Ok(None) };
        let failed = |error| super::store::failed(place, "read", &error);
        let of_cluster = (place, check.cluster.as_deref());
        let recent = alerts.begin(place, of_cluster.1).map_err(failed)?;
        report.applications.iter().for_each(|app| recent.see(app));
        if check.alerts.alerts_dry_run {
            return Ok(Some(alerts.dry_run(of_cluster, recent, rules).map_err(failed)?));
        }
        check.input.tell_of_alerts(&alerts.tell(of_cluster, recent, rules));
        Ok(None)
    }
}

/// Options that keep all that is compared: findings are, before `--min-severity` and `--top` apply.
fn all_findings(shown: Options) -> Options {
    Options { min_severity: shown.min_severity.min(Severity::Low), top: None, phase_work: true, ..shown }
}

/// The verdict of the text report in one line, printed when the report goes to a file.
fn verdict(comparison: &Comparison) -> String {
    let counts = counted(comparison.counts);
    match comparison.unfinished {
        Some(why) => format!("check: the run failed, {why}; {counts}"),
        None if comparison.failed => match missing_jobs(comparison).filter(|_| comparison.requires_all) {
            Some(missing) => format!("check: FAILED, {counts}; {missing}"),
            None => format!("check: FAILED, {counts}"),
        },
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

/// The problem of an accepted history that was emptied or overwritten.
fn lost_problem(path: &str) -> SourceProblem {
    let message = "a file of this name was an event log or job history when it was accepted, and is not one now; restore it, or accept the \
                   loss with --update";
    let problem = Problem {
        level: Level::Error,
        code: LOST.into(),
        position: None,
        message: message.to_owned(),
        count: 1,
    };
    SourceProblem { source: path.to_owned(), problem }
}

/// The code of that problem.
const LOST: &str = "lost-history";

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
