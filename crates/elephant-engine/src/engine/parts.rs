//! An analysis in parts: each run judges its histories and writes what it found, and another makes one report of all.

use std::path::Path;

use super::collected::{Collector, Judged};
use super::copies::Counted;
use super::part_file::{PartError, PartKind};
use super::process_logs::LogsTold;
use super::rank::Place;
use super::read::{Extent, Wanted};
use super::visit::{Gathered, Turn, Visit, gather_in_turn, histories_with_logs, may_be_superseded};
use super::worst_charts::{Copied, WorstCharts};
use super::{Options, Pieces, Progress, Render, conclude, evaluate, read_logs};
use crate::results::{ApplicationReport, Report, SourceProblem};
use elephant_base::state::State;
use elephant_input::named::Named;
use elephant_model::model::Application;
use elephant_parse::OtherCounters;
use elephant_ruleset::RuleSet;
use elephant_verdict::troubles::Basis;

/// What one of several runs found.
pub struct Part {
    /// What another run needs to make a report of it.
    pub body: Vec<u8>,
    /// The input that could not be read.
    pub problems: Vec<SourceProblem>,
}

impl Part {
    /// The part that consists of what was gathered, and of something else.
    pub(crate) fn of<T: State>(gathered: &Gathered<'_, T>, with: &impl State) -> Self {
        let mut body = Vec::new();
        with.put(&mut body);
        gathered.put(&mut body);
        Self { body, problems: gathered.problems() }
    }
}

/// A judged application of a part. All are kept, because a part does not know which of them are copies.
#[derive(State)]
struct Kept {
    /// Its place in its history.
    nth: usize,
    report: ApplicationReport,
    suppressed_by: Vec<usize>,
    /// Its turn in the run of the part.
    #[state(skip)]
    turn: Turn,
}

/// Judges the histories below the paths, for a report on them and others.
pub fn analyze_part(named: Named<'_>, basis: Basis<'_>, options: &Options, progress: &Progress) -> Part {
    let worst_charts = WorstCharts::new(options.charts);
    let others = if basis.rules.names_counters() { OtherCounters::Kept } else { OtherCounters::Dropped };
    let extent =
        Extent { wanted: Wanted::ForRules(others), limits: &options.limits, filter: &options.filter };
    let inventory = histories_with_logs(named, extent);
    let logs = read_logs(&inventory, basis, options);
    let look = |app: &Application, sources: &[String], turn: Turn| {
        let (report, suppressed_by) = evaluate(app, (sources, turn), (basis, &logs), options, &worst_charts);
        progress.findings(report.counts.iter().skip(1).sum());
        Kept { nth: turn.nth, report, suppressed_by, turn }
    };
    let mut gathered = gather_in_turn(&inventory, extent, progress, look).with_logs(logs.beside());
    worst_charts.hand_out_all(gathered.values_mut().map(|kept| (&mut kept.report, kept.turn)));
    Part::of(&gathered, &logs.told())
}

/// The same, with the facts of the rules, which parts leave out: they are those of the same rules. `None` if a finding is
/// of no rule.
fn with_rule_facts<'a>(mut gathered: Gathered<'a, Kept>, rules: &RuleSet) -> Option<Gathered<'a, Kept>> {
    for Kept { report, .. } in gathered.values_mut() {
        let suppressed = report.suppressed.iter_mut().map(|suppressed| &mut suppressed.finding);
        for finding in report.findings.iter_mut().chain(suppressed) {
            finding.rule_facts = rules.rule(&finding.rule).ok()?.facts;
        }
    }
    Some(gathered)
}

/// The report on all that the parts have judged. With `render`, applications are rendered, as
/// [`super::analyze_in_pieces`] does.
///
/// # Errors
/// If a file is not such a part, or two parts have read the same history.
pub fn analyze_parts(
    (kind, files): (&PartKind<'_>, &[&Path]),
    basis: Basis<'_>,
    options: &Options,
    render: Option<Render<'_>>,
) -> Result<(Report, Pieces), PartError> {
    let mut logs = LogsTold::default();
    let gathered: Gathered<'_, Kept> = kind.merge(files, |(told, gathered)| {
        logs.add(told);
        with_rule_facts(gathered, basis.rules)
    })?;
    let worst_charts = WorstCharts::new(options.charts);
    let collector = match render {
        Some(render) => Collector::rendering(render, options.charts),
        None => Collector::new(options.top),
    };
    let gathered = gathered.look(
        |kept| kept.nth,
        |visit, turn| {
            let Visit { id, copy, sources, value: Kept { mut report, suppressed_by, .. } } = visit;
            if let Some(charts) = report.charts.take() {
                let replaceable = may_be_superseded(&sources);
                let copied = Copied::of(&copy, turn, Place::of(&report), replaceable);
                worst_charts.offer(Place::of(&report), turn, copied, || *charts);
            }
            let judged = Judged { report, turn, suppressed_by };
            if may_be_superseded(&sources) || turn.may_be_copied {
                return Some(Visit { id, copy, sources, value: judged });
            }
            collector.add(judged);
            None
        },
    );
    // All that may be copies have waited.
    let mut concluded = conclude(collector, gathered.visited(), &Counted::default(), worst_charts, basis);
    logs.tell(&mut concluded.0);
    Ok(concluded)
}
