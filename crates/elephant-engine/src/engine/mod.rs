//! Histories × rules → report. Files are read in parallel; the result does not depend on the number of
//! threads.
//!
//! [`analyze`] evaluates rules and returns a [`Report`]. [`visit()`] passes each application to a function instead, for
//! figures that you compute yourself:
//!
//! Histories that cannot be read, or not to their end, are [`problems`](Visited::problems), never a panic.

mod collected;
mod copies;
mod evaluate;
mod filter;
mod part_file;
mod parts;
mod pieces;
mod process_logs;
mod progress;
mod rank;
mod read;
mod totals;
mod traces;
mod visit;
mod waiting;
mod worst;
mod worst_charts;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::results::{ApplicationReport, Report, Summary, SuppressionUse};
use rustc_hash::FxHashSet;

use elephant_base::limits::Limits;
use elephant_base::severity::Severity;
use elephant_input::discover::discover as discover_with;
use elephant_input::inventory::Inventory;
use elephant_input::named::Named;
use elephant_parse::OtherCounters;
use elephant_ruleset::{RuleSet, Suppression};
use elephant_verdict::troubles::Basis;

use collected::{Collected, Collector, Judged};
use copies::Counted;
use evaluate::evaluate;
use process_logs::ProcessLogs;
use read::{Extent, Wanted};
use visit::{histories_with_logs, may_be_superseded, visit_again};
use worst_charts::WorstCharts;

pub use crate::results::Sort;
pub use collected::Keeper;
pub use copies::{Content, Run, RunCopy, counted};
pub use filter::{Filter, Identity};
pub use part_file::{PartError, PartKind};
pub use parts::{Part, analyze_part, analyze_parts};
pub use pieces::{Pieces, Render};
pub use progress::{Progress, SoFar};
pub(crate) use traces::{Before, visit_traces};
pub use visit::{
    DUPLICATE, SUPERSEDED, Visit, Visited, discover, visit, visit_beside_traces, visit_for_rules, visit_with,
};
pub(crate) use visit::{Gathered, gather_beside_traces};

/// What [`analyze`] keeps.
#[derive(Debug, Clone)]
pub struct Options {
    /// Findings below this severity are counted, but not kept.
    pub min_severity: Severity,
    /// Only this many applications, the worst ones, are kept. All are counted.
    pub top: Option<usize>,
    /// Whether phases and the configuration are kept. They need memory for each stage and property.
    pub details: bool,
    /// Whether it is kept what the largest phases read, by which costs are compared with those of other runs.
    pub phase_work: bool,
    /// This many applications, the worst ones, have charts.
    pub charts: usize,
    /// The plans of this many queries of an application with charts are drawn.
    pub plans: usize,
    /// The order of applications; `None` for that of the rule set (document `order`).
    pub sort: Option<Sort>,
    /// Limits on what reading one history may cost.
    pub limits: Limits,
    /// The applications to read.
    pub filter: Filter,
    /// Logs of containers, drivers and executors, or folders with such logs, in addition to those that are found beside
    /// histories.
    pub logs: Vec<PathBuf>,
    /// Whether the messages of exceptions in these logs are shown, masked.
    pub messages: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            min_severity: Severity::Low,
            top: None,
            details: false,
            phase_work: false,
            charts: 0,
            plans: 10,
            sort: None,
            limits: Limits::default(),
            filter: Filter::default(),
            logs: Vec::new(),
            messages: false,
        }
    }
}

/// Finds the histories below `paths` and runs `rules` on them.
#[must_use]
pub fn analyze(paths: &[PathBuf], rules: &RuleSet, options: Options) -> Report {
    analyze_with(paths, rules, options, &Progress::default())
}

/// Like [`analyze`], and reports how far it is to `progress`.
#[must_use]
#[allow(clippy::needless_pass_by_value)] // options are usually written in place
pub fn analyze_with(paths: &[PathBuf], rules: &RuleSet, options: Options, progress: &Progress) -> Report {
    analyze_by(paths.into(), Basis { rules, prices: None }, &options, progress)
}

/// Like [`analyze_with`], with prices.
pub fn analyze_by(named: Named<'_>, basis: Basis<'_>, options: &Options, progress: &Progress) -> Report {
    analyze_into((None, None), named, basis, options, progress).0
}

/// Like [`analyze_with`], but renders each application as soon as it is judged. The pieces are all applications, so
/// [`Options::top`] does not apply; the report has only those with charts.
pub fn analyze_in_pieces(
    named: Named<'_>,
    basis: Basis<'_>,
    options: Options,
    progress: &Progress,
    render: Render<'_>,
) -> (Report, Pieces) {
    let options = Options { top: None, ..options };
    analyze_into((None, Some(render)), named, basis, &options, progress)
}

/// Like [`analyze_by`], or with `render` like [`analyze_in_pieces`], and passes each application to `keeper`. It may get
/// an application twice, the second time as one that counts or as a copy.
pub fn analyze_keeping(
    named: Named<'_>,
    basis: Basis<'_>,
    options: &Options,
    progress: &Progress,
    (keeper, render): (Keeper<'_>, Option<Render<'_>>),
) -> (Report, Pieces) {
    analyze_into((Some(keeper), render), named, basis, options, progress)
}

/// Judges all histories. An application whose id one history has is reported while the others are read. A file of several
/// applications may turn out to have a copy of it, which may be the more complete one: then all are read again, and
/// applications with its id wait until all are known.
fn analyze_into(
    (keeper, render): (Option<Keeper<'_>>, Option<Render<'_>>),
    named: Named<'_>,
    basis: Basis<'_>,
    options: &Options,
    progress: &Progress,
) -> (Report, Pieces) {
    let others = if basis.rules.names_counters() { OtherCounters::Kept } else { OtherCounters::Dropped };
    let wanted = Wanted::ForRules(others);
    let extent = Extent { wanted, limits: &options.limits, filter: &options.filter };
    let inventory = histories_with_logs(named, extent);
    let logs = read_logs(&inventory, basis, options);
    let first = Try { keeper, render, repeated: &FxHashSet::default(), logs: &logs };
    let judged = first.judge(&inventory, extent, (basis, options), progress);
    // Whoever only keeps applications chooses among all copies.
    let reports = options.top != Some(0) || render.is_some();
    let repeated = if reports { judged.repeated() } else { FxHashSet::default() };
    if repeated.is_empty() {
        return judged.conclude(basis);
    }
    log::info!("reading again: files of several applications have copies of {} others", repeated.len());
    progress.start_again();
    // The others have been kept.
    let keep = |app: &ApplicationReport| {
        if let Some(keeper) = keeper.filter(|_| repeated.contains(&app.id)) {
            (keeper.keep)(app);
        }
    };
    let keeper = keeper.map(|keeper| Keeper { keep: &keep, ..keeper });
    let again = Try { keeper, render, repeated: &repeated, logs: &logs };
    again.judge(&inventory, extent, (basis, options), progress).conclude(basis)
}

/// One reading of all histories.
struct Try<'t> {
    keeper: Option<Keeper<'t>>,
    render: Option<Render<'t>>,
    /// The ids that several histories have, although only one tells it by its name or its beginning.
    repeated: &'t FxHashSet<String>,
    logs: &'t ProcessLogs,
}

/// What was judged, before copies are left out.
struct AllJudged<'t> {
    collector: Collector<'t>,
    /// Applications that wait until it is known which of them are copies.
    visited: Visited<Judged>,
    /// Those that do not.
    counted: Counted,
    worst_charts: WorstCharts,
    logs: &'t ProcessLogs,
}

impl<'t> Try<'t> {
    fn judge(
        self,
        inventory: &Inventory,
        extent: Extent<'_>,
        (basis, options): (Basis<'_>, &Options),
        progress: &Progress,
    ) -> AllJudged<'t> {
        let collector = match self.render {
            Some(render) => Collector::rendering(render, options.charts),
            None => Collector::new(options.top),
        };
        let collector = match self.keeper {
            Some(keeper) => collector.keeping(keeper),
            None => collector,
        };
        let worst_charts = WorstCharts::new(options.charts);
        let counted = Mutex::new(Counted::default());
        let visited = visit_again(inventory, extent, progress, self.repeated, |app, sources, turn| {
            let started = Instant::now();
            let (mut report, suppressed_by) =
                evaluate(app, (sources, turn), (basis, self.logs), options, &worst_charts);
            if let Some(keeper) = collector.keeper() {
                keeper.complete(app, &mut report);
            }
            let judged = Judged { report, turn, suppressed_by };
            progress.findings(judged.report.counts.iter().skip(1).sum());
            log::debug!("{}: judged in {:.1?}", judged.report.id, started.elapsed());
            // A later attempt of the application master may replace this history, or a copy of it. That is known after all
            // files are read.
            if may_be_superseded(sources) || turn.may_be_copied {
                return Some(judged);
            }
            collector.add(judged);
            counted.lock().unwrap_or_else(PoisonError::into_inner).add(&RunCopy::of(app, sources));
            None
        });
        let counted = counted.into_inner().unwrap_or_else(PoisonError::into_inner);
        AllJudged { collector, visited, counted, worst_charts, logs: self.logs }
    }
}

impl AllJudged<'_> {
    /// The ids of waiting applications that others which did not wait have, too.
    fn repeated(&self) -> FxHashSet<String> {
        let waiting = self.visited.applications.iter();
        let repeated = waiting.filter(|visit| self.counted.has_id_of(&visit.copy));
        repeated.map(|visit| visit.id.clone()).collect()
    }

    fn conclude(self, basis: Basis<'_>) -> (Report, Pieces) {
        let logs = self.logs;
        let (mut report, pieces) =
            conclude(self.collector, self.visited, &self.counted, self.worst_charts, basis);
        logs.told().tell(&mut report);
        (report, pieces)
    }
}

/// Reads the logs of processes: those among the files found, and those that the user named as logs.
fn read_logs(inventory: &Inventory, basis: Basis<'_>, options: &Options) -> ProcessLogs {
    let named = if options.logs.is_empty() {
        Inventory::default()
    } else {
        discover_with(options.logs.as_slice().into(), &options.limits, process_logs::identify)
    };
    if inventory.logs.is_empty() && named.logs.is_empty() && named.failures.is_empty() {
        return ProcessLogs::default();
    }
    let reading = elephant_container_log::Options { messages: options.messages };
    ProcessLogs::read(inventory, &named, &basis.rules.exceptions(), (&options.limits, reading))
}

/// Adds the applications that wait until it is known which of them are copies.
fn conclude(
    collector: Collector<'_>,
    mut visited: Visited<Judged>,
    counted: &Counted,
    worst_charts: WorstCharts,
    basis: Basis<'_>,
) -> (Report, Pieces) {
    let mut copies = visited.take_copies();
    // Only if all copies are kept: otherwise, all of them have waited.
    copies.extend(visited.leave_out_copies(|visit| {
        counted.contains(&visit.copy).then(|| "in a history that was counted".to_owned())
    }));
    for visit in visited.applications {
        collector.add(visit.value);
    }
    if let Some(keeper) = collector.keeper() {
        for copy in &copies {
            (keeper.keep_copy)(&copy.value.report);
        }
    }
    let Collected { mut applications, pieces, totals, findings, suppressed } = collector.finish();
    worst_charts.hand_out(&mut applications);
    let applications = applications.into_iter().map(|(report, _)| report).collect();
    let report = Report {
        rules: basis.rules.infos(),
        rules_hash: basis.rules.hash().to_owned(),
        suppressions: suppression_uses(basis.rules, &suppressed),
        currency: basis.prices.map(|prices| prices.currency().to_owned()),
        summary: Summary { findings, ..visited.summary },
        totals,
        applications,
        problems: visited.problems,
        skipped: visited.skipped,
        named_input_failed: visited.named_input_failed,
        comparison: None,
    };
    (report, pieces)
}

/// How many findings each suppression matched; `silenced` has these counts by the suppression's index.
fn suppression_uses(rules: &RuleSet, silenced: &[u64]) -> Vec<SuppressionUse> {
    let status = |(place, suppression): (usize, &Suppression)| SuppressionUse {
        origin: suppression.origin(),
        rules: suppression.rules.to_string(),
        reason: suppression.reason.clone(),
        until: suppression.until,
        expired: suppression.is_expired(rules.today()),
        findings: silenced.get(place).copied().unwrap_or_default(),
    };
    rules.suppressions().iter().enumerate().map(status).collect()
}
