//! Patterns learnt from recorded runs: how the usual tasks of a group and its stragglers progressed.

use std::cmp::Reverse;

use super::pattern::{Curve, Pattern};
use super::settings::Settings;
use elephant_analysis::stragglers::executions::{Basis, Execution};
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_analysis::stragglers::labels::Labelling;
use elephant_analysis::stragglers::progress::{ProgressCurve, ProgressSource};
use elephant_base::stats::descriptive::{median, pearson, standard_deviation};
use elephant_model::model::Application;
use elephant_model::model::table::TaskKind;

/// Groups with fewer tasks do not show what is usual.
const MIN_TASKS: usize = 10;
/// Points of a learnt curve.
const POINTS: u32 = 50;
/// With fewer scans than this during a usual task, detectors have no chance.
const MIN_SCANS: u32 = 3;
/// Later scans of very long tasks are not needed to know the noise.
const MOST_SCANS: u32 = 1000;
/// Reports of less progress than this are left out of the noise: their logarithms say little.
const LEAST_PROGRESS: f64 = 0.001;

/// A pattern, and the tasks that it was learnt from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Learnt {
    pub(crate) name: String,
    pub(crate) pattern: Pattern,
    pub(crate) basis: Sample,
}

/// The tasks that a pattern comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// How many tasks were looked at.
    pub tasks: usize,
    /// Stragglers among them.
    pub stragglers: usize,
    /// Whether most of the tasks have a start and an end only, so that progress is a straight line to a known
    /// end and detectors look better than they are.
    pub straight: bool,
}

/// Groups without a pattern, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Too few tasks.
    pub small: u64,
    /// None of the tasks is a straggler.
    pub without_stragglers: u64,
    /// Usual tasks end before the third scan.
    pub short: u64,
    /// The progress of too few tasks is known.
    pub unknown: u64,
}

impl Skipped {
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            small: self.small + other.small,
            without_stragglers: self.without_stragglers + other.without_stragglers,
            short: self.short + other.short,
            unknown: self.unknown + other.unknown,
        }
    }
}

/// The progress of one task over seconds, and its duration.
struct Progress {
    curve: ProgressCurve,
    seconds: f64,
}

impl Progress {
    /// `None` if the execution was cut short or its progress is unknown.
    fn of(view: &GroupStragglers<'_>, execution: &Execution) -> Option<Self> {
        let curve = ProgressCurve::of_attempt(view.group, execution.attempt())?;
        let (end, progress) = curve.last_known()?;
        (progress >= 1.0 && end > 0.0).then(|| Self { curve, seconds: end / 1000.0 })
    }

    fn at(&self, seconds: f64) -> f64 {
        if seconds >= self.seconds { 1.0 } else { self.curve.at(seconds * 1000.0) }
    }
}

/// The patterns of an application's groups.
pub(super) fn learn(app: &Application, settings: &Settings) -> (Vec<Learnt>, Skipped) {
    let (mut found, mut skipped) = (Vec::new(), Skipped::default());
    for view in GroupStragglers::of_application(app, Labelling::MEDIAN, Basis::Wall) {
        let part = match view.group.kind {
            TaskKind::Stage(stage) => format!("stage {}.{}", stage.stage, stage.attempt),
            kind => kind.name().to_owned(),
        };
        if view.executions.tasks.len() < MIN_TASKS {
            skipped.small += 1;
        } else if view.labels.count() == 0 {
            skipped.without_stragglers += 1;
        } else {
            match pattern(&view, settings) {
                Ok((pattern, basis)) => {
                    found.push(Learnt { name: format!("{} {part}", app.id), pattern, basis });
                }
                Err(reason) => skipped = skipped.and(reason),
            }
        }
    }
    (found, skipped)
}

/// The order of reports: most stragglers first.
pub(super) fn most_stragglers_first(learnt: &mut [Learnt]) {
    learnt
        .sort_by(|a, b| (Reverse(a.basis.stragglers), &a.name).cmp(&(Reverse(b.basis.stragglers), &b.name)));
}

fn pattern(view: &GroupStragglers<'_>, settings: &Settings) -> Result<(Pattern, Sample), Skipped> {
    let (mut usual, mut stragglers) = (Vec::new(), Vec::new());
    for (execution, label) in view.executions.tasks.iter().zip(&view.labels.stragglers) {
        match (label, Progress::of(view, execution)) {
            (Some(true), Some(progress)) => stragglers.push(progress),
            (Some(false), Some(progress)) => usual.push(progress),
            _ => {}
        }
    }
    let unknown = Skipped { unknown: 1, ..Skipped::default() };
    let durations = |tasks: &[Progress]| median(&tasks.iter().map(|task| task.seconds).collect::<Vec<_>>());
    let (Some(usual_s), Some(straggler_s)) = (durations(&usual), durations(&stragglers)) else {
        return Err(unknown);
    };
    if usual_s < settings.first_scan_s + f64::from(MIN_SCANS - 1) * settings.scan_s {
        return Err(Skipped { short: 1, ..Skipped::default() });
    }
    let straight = usual.iter().chain(&stragglers).filter(|task| task.curve.source == ProgressSource::Linear);
    let straight = straight.count() * 2 > usual.len() + stragglers.len();
    let (usual_curve, straggler_curve) = (typical(&usual, usual_s), typical(&stragglers, straggler_s));
    let (noise, correlation) = noise(&usual, &usual_curve, settings);
    let all = view.executions.tasks.len();
    let pattern = Pattern {
        usual: usual_curve,
        straggler: straggler_curve,
        noise,
        correlation: correlation.unwrap_or(settings.correlation),
        straggler_share: view.labels.count() as f64 / all as f64,
    };
    let stragglers = view.labels.places().count();
    Ok((pattern, Sample { tasks: all, stragglers, straight }))
}

/// The median progress of tasks at the same share of their time, over `seconds`.
fn typical(tasks: &[Progress], seconds: f64) -> Curve {
    let point = |place: u32| {
        let share = f64::from(place) / f64::from(POINTS);
        let values: Vec<f64> = tasks.iter().map(|task| task.at(share * task.seconds)).collect();
        (share * seconds, median(&values).unwrap_or_default())
    };
    Curve::new((0..=POINTS).map(point).collect())
}

/// The distance of usual tasks from the typical progress at the times of scans, and its correlation from one
/// scan to the next; `None` if the correlation is unknown.
fn noise(tasks: &[Progress], typical: &Curve, settings: &Settings) -> (Curve, Option<f64>) {
    let scan = |number: u32| settings.first_scan_s + f64::from(number) * settings.scan_s;
    let scans: Vec<f64> = (0..MOST_SCANS).map(scan).take_while(|&at| at < typical.end()).collect();
    let residual = |task: &Progress, at: f64| {
        let (own, usual) = (task.at(at), typical.at(at));
        (own.min(usual) > LEAST_PROGRESS && own < 1.0).then(|| (own / usual).ln())
    };
    let mut points = vec![];
    for &at in &scans {
        let residuals: Vec<f64> = tasks.iter().filter_map(|task| residual(task, at)).collect();
        if let Some(deviation) = standard_deviation(&residuals, 1) {
            points.push((at, deviation));
        }
    }
    let pairs = scans.windows(2).flat_map(|pair| match pair {
        &[one, next] => {
            tasks.iter().filter_map(|task| Some((residual(task, one)?, residual(task, next)?))).collect()
        }
        _ => Vec::new(),
    });
    let (one, next): (Vec<f64>, Vec<f64>) = pairs.unzip();
    (Curve::new(points), pearson(&one, &next).map(|correlation| correlation.clamp(0.0, 1.0)))
}
