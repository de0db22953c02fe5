//! The replays as one HTML file: what saves most over all applications, a table of all jobs, and for each job its runs,
//! with all changes and how they scale for those that a change shortens most.

mod scaling;

use std::io::{self, Write};

use askama::Template;

use super::words::{self, Saved, takes};
use crate::html::filters;
use crate::html::frame::{self, Code};
use crate::html::links::PageIds;
use crate::words::small;
use elephant_base::units::three_digits;
use elephant_engine::whatif::{
    ApplicationReplays, Change, ChangeTotal, Job, PathStage, Prediction, Range, Replays, Scenario, Total,
    WhatIfReport,
};
use scaling::ScalingView;

/// Jobs on the first screen.
const MAX_FIRST: usize = 5;
/// Runs with all changes.
const MAX_DETAILS: usize = 50;
/// Runs of one job with all changes, if there are several jobs.
const MAX_DETAILS_OF_JOB: usize = 3;
/// Jobs that are listed.
const MAX_JOBS: usize = 500;
/// Runs of a job that are listed.
const MAX_RUNS: usize = 100;

/// Writes the first `top` jobs.
pub(super) fn write(report: &WhatIfReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    Page::new(report, top).write_into(out)
}

#[derive(Template)]
#[template(path = "whatif.html")]
struct Page<'a> {
    report: &'a WhatIfReport,
    /// The jobs that are listed, in the order of the report.
    jobs: Vec<JobView<'a>>,
    jobs_left_out: u64,
}

/// A job with its runs.
struct JobView<'a> {
    /// The id of its section, the same in each report.
    id: String,
    job: Job<'a>,
    /// The one that a change shortens most comes first.
    runs: Vec<Run<'a>>,
}

/// A run of a job.
struct Run<'a> {
    /// The id of its details, the same in each report.
    id: String,
    app: &'a ApplicationReplays,
    /// Whether all its changes are shown.
    is_detailed: bool,
}

/// A run that was replayed.
struct Replayed<'a> {
    app: &'a ApplicationReplays,
    replays: &'a Replays,
}

/// The change of an application that saves most.
struct Best<'a> {
    scenario: &'a Scenario,
    prediction: &'a Prediction,
    /// "9.1 s ± 2.3 s".
    saved: String,
}

impl<'a> Page<'a> {
    const STYLES: &'static [Code] = &[frame::STYLE, frame::CHART_STYLE];
    const SCRIPTS: &'static [Code] = &[frame::SORT, frame::JOBS];

    fn new(report: &'a WhatIfReport, top: Option<usize>) -> Self {
        let mut ids = PageIds::default();
        let all = report.jobs();
        let most = top.unwrap_or(MAX_JOBS).min(MAX_JOBS);
        let jobs_left_out = all.len().saturating_sub(most) as u64;
        let most_details = if all.len() == 1 { MAX_DETAILS } else { MAX_DETAILS_OF_JOB };
        let mut details_left = MAX_DETAILS;
        let mut view = |job: Job<'a>| {
            let mut runs = job.runs.clone();
            // The sort is stable: ties stay in the order of the report.
            runs.sort_by(|one, other| most_saved(other).total_cmp(&most_saved(one)));
            let details = most_details.min(details_left);
            let of_run = |(place, app): (usize, &'a ApplicationReplays)| Run {
                id: ids.application(&app.id),
                app,
                is_detailed: place < details && app.replays.is_ok(),
            };
            let runs: Vec<Run<'_>> = runs.into_iter().enumerate().map(of_run).collect();
            details_left -= runs.iter().filter(|run| run.is_detailed).count();
            let first = job.runs.first();
            let id = first
                .map(|app| ids.job_of(app.engine.name(), app.name.as_deref(), app.user.as_deref(), &app.id));
            JobView { id: id.unwrap_or_default(), job, runs }
        };
        let jobs = all.into_iter().take(most).map(&mut view).collect();
        Self { report, jobs, jobs_left_out }
    }

    /// All runs that were replayed.
    fn replayed(&self) -> impl Iterator<Item = Replayed<'a>> + use<'a> {
        self.report.applications.iter().filter_map(Replayed::of)
    }

    /// The answer in one line.
    fn headline(&self) -> String {
        let replayed: Vec<Replayed<'_>> = self.replayed().collect();
        let all = filters::counted(replayed.len() as u64, "application");
        let count = |kind: Kind| replayed.iter().filter(|item| best(item.replays, kind).is_some()).count();
        let requested: Option<Vec<&Scenario>> = replayed.iter().map(Replayed::only).collect();
        match (replayed.as_slice(), requested.as_deref()) {
            ([], _) => "No application can be replayed".to_owned(),
            ([item], Some([scenario])) => item.outcome(scenario),
            (_, Some([scenario, ..])) => {
                format!("{}: {} of {all} would be faster", change(scenario), count(Kind::Any))
            }
            _ => format!(
                "Troubles cost time in {} of {all}; other resources would shorten {}",
                count(Kind::Trouble),
                count(Kind::Resources)
            ),
        }
    }

    /// The number of applications that were replayed, and the effect of each change on all of them; `None`
    /// for a single application.
    fn totals(&self) -> Option<(String, Vec<String>)> {
        let Total { replayed, recorded, changes } = &self.report.total;
        if self.report.applications.len() < 2 || *replayed == 0 {
            return None;
        }
        let all = filters::counted(self.report.applications.len() as u64, "application");
        let heading = format!("{} of {all} replayed; they took {recorded}", filters::grouped(*replayed));
        Some((heading, changes.iter().map(words::total).collect()))
    }

    /// The jobs that can save most, with their best changes: leaving out troubles, and other resources.
    fn first(&self) -> Vec<(&JobView<'a>, Vec<&ChangeTotal>)> {
        let with = self.jobs.iter().filter_map(|view| {
            let kinds = [Kind::Trouble, Kind::Resources].into_iter();
            let best: Vec<&ChangeTotal> = kinds.filter_map(|kind| view.best(kind)).collect();
            (!best.is_empty()).then_some((view, best))
        });
        let (mut first, others): (Vec<_>, Vec<_>) =
            with.partition(|(view, _)| view.best(Kind::Trouble).is_some());
        // Jobs that only more resources shorten come last: more resources shorten almost every application,
        // and cost something.
        first.extend(others);
        first.truncate(MAX_FIRST);
        first
    }

    /// Whether there is something to compare.
    fn has_several(&self) -> bool {
        self.jobs.len() > 1
    }
}

impl<'a> JobView<'a> {
    /// "30 runs, alice". The user is named because two users may have jobs with the same name.
    fn runs_and_user(&self) -> String {
        let runs = self.runs.len() as u64;
        let runs = (runs > 1).then(|| filters::counted(runs, "run"));
        let user = self.user().map(|user| filters::cut_text(user, 80));
        runs.into_iter().chain(user).collect::<Vec<_>>().join(", ")
    }

    /// The best change, and the run in which it saves most.
    fn told(&self) -> String {
        words::of_job(&self.job)
    }

    fn user(&self) -> Option<&str> {
        self.runs.first()?.app.user.as_deref()
    }

    /// The change of this kind that saves most time over all runs.
    fn best(&self, kind: Kind) -> Option<&ChangeTotal> {
        let of_kind = self.job.total.changes.iter().filter(|total| kind.holds(&total.change));
        // On a tie, the first: a single trouble comes before all troubles together.
        of_kind
            .filter(|total| total.net_ms() > 0.0)
            .reduce(|best, other| if other.net_ms() > best.net_ms() { other } else { best })
    }

    /// The runs that are listed; empty for a job with one run that has details.
    fn rows(&self) -> &[Run<'a>] {
        match self.runs.as_slice() {
            [only] if only.is_detailed => &[],
            runs => runs.get(..MAX_RUNS).unwrap_or(runs),
        }
    }

    fn rows_left_out(&self) -> u64 {
        self.runs.len().saturating_sub(MAX_RUNS) as u64
    }

    fn details(&self) -> impl Iterator<Item = (&Run<'a>, Replayed<'a>)> {
        let detailed = self.runs.iter().filter(|run| run.is_detailed);
        detailed.filter_map(|run| Some((run, Replayed::of(run.app)?)))
    }

    /// Replayed runs without details.
    fn details_left_out(&self) -> u64 {
        self.runs.iter().filter(|run| run.app.replays.is_ok() && !run.is_detailed).count() as u64
    }
}

/// The time in milliseconds that the best change saves; −1 for a run that was not replayed, so that it comes
/// last.
fn most_saved(app: &ApplicationReplays) -> f64 {
    let saved = |replays| best(replays, Kind::Any).map_or(0.0, |best| best.prediction.saves.wall_ms.point);
    app.replays.as_ref().map_or(-1.0, saved)
}

impl<'a> Replayed<'a> {
    fn of(app: &'a ApplicationReplays) -> Option<Self> {
        app.replays.as_ref().ok().map(|replays| Self { app, replays })
    }

    /// The change, if only one is replayed.
    fn only(&self) -> Option<&'a Scenario> {
        match self.replays.scenarios.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The effect of the change on the run time.
    fn outcome(&self, scenario: &Scenario) -> String {
        let what = change(scenario);
        match &scenario.prediction {
            Ok(prediction) if matches!(Saved::of(prediction), Saved::Less(_) | Saved::More(_)) => {
                format!("{what}: {} instead of {}", takes(prediction), self.replays.replayed)
            }
            Ok(_) => format!("{what}: no difference beyond the error"),
            Err(_) => format!("{what}: what that would do is unknown"),
        }
    }

    /// "took 1m", "replayed 1m (−0.2 %)", "2 slots", "45.2 s with unlimited slots (critical path)".
    fn facts(&self) -> Vec<String> {
        let Replays { recorded, replayed, residual_percent, slots, .. } = self.replays;
        let mut facts = vec![
            self.app.engine.name().to_owned(),
            format!("took {recorded}"),
            format!("replayed {replayed} ({}\u{a0}%)", signed(*residual_percent)),
            filters::counted(u64::from(*slots), "slot"),
        ];
        facts.extend(words::bounds(self.replays));
        facts
    }

    /// The longest stages on the critical path.
    fn path(&self) -> &[PathStage] {
        &self.replays.path
    }

    fn scaling(&self) -> Option<ScalingView<'_>> {
        self.replays.scaling.as_ref().and_then(|scaling| ScalingView::of(scaling, self.replays))
    }
}

impl Best<'_> {
    fn change(&self) -> String {
        words::change(self.scenario)
    }
}

/// The kinds of changes from which the best is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    /// Leaves out troubles.
    Trouble,
    /// Has other executors, cores, memory or tasks.
    Resources,
}

impl Kind {
    fn holds(self, change: &Change) -> bool {
        let leaves_out = !change.without.is_empty();
        self == Self::Any || leaves_out == (self == Self::Trouble)
    }
}

/// The change of this kind that saves the most time beyond the error.
fn best(replays: &Replays, kind: Kind) -> Option<Best<'_>> {
    let scenarios = replays.scenarios.iter().filter(|scenario| kind.holds(&scenario.change));
    let known = scenarios.filter_map(|scenario| {
        let prediction = scenario.prediction.as_ref().ok()?;
        let Saved::Less(saved) = Saved::of(prediction) else { return None };
        Some(Best { scenario, prediction, saved })
    });
    // On a tie, the first: a single trouble comes before all troubles together.
    known.reduce(|best, other| {
        let saves = |item: &Best<'_>| item.prediction.saves.wall_ms.point;
        if saves(&other) > saves(&best) { other } else { best }
    })
}

/// What a change saves, and the class of its cell.
fn saved(prediction: &Prediction) -> (&'static str, String) {
    match Saved::of(prediction) {
        Saved::Nothing => ("soft", "nothing".to_owned()),
        Saved::WithinError => ("soft", "within the error".to_owned()),
        Saved::Less(time) => ("better", time),
        Saved::More(time) => ("worse", format!("{time} longer")),
    }
}

/// The saved time as a sort key.
fn saved_key(prediction: &Prediction) -> String {
    format!("{:.0}", prediction.saves.wall_ms.point)
}

fn cost(amount: Option<&Range>) -> String {
    amount.map(|range| small(range.point)).unwrap_or_default()
}

/// A sort key. It is empty if unknown, so that the script sorts it last.
fn cost_key(amount: Option<&Range>) -> String {
    amount.map(|range| format!("{:.6}", range.point)).unwrap_or_default()
}

fn takes_key(prediction: &Prediction) -> String {
    format!("{:.0}", prediction.takes.wall_ms.point)
}

fn change(scenario: &Scenario) -> String {
    words::change(scenario)
}

/// "+0.1", "−0.1", "0.0".
fn signed(percent: f64) -> String {
    let text = format!("{:.1}", percent.abs());
    match percent {
        _ if text == "0.0" => text,
        0.0.. => format!("+{text}"),
        _ => format!("−{text}"),
    }
}

fn residual(replays: &Replays) -> String {
    format!("{}\u{a0}%", three_digits(replays.residual_percent.abs()))
}
