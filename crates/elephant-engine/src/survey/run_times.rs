//! Run times of applications with the copies that a detector asks for, by replay.

use std::collections::BTreeMap;

use super::evaluated::offered;
use super::group::GroupReport;
use super::settings::Settings;
use elephant_analysis::replay::{Micros, mapreduce, spark};
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_base::state::State;
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, Engine, Status};
use elephant_verdict::savings::error_of_replay;

/// Run times of applications with copies, compared with those without. A copy starts at the flag, finds a
/// slot, and takes the median time of its group; the task ends with the attempt that ends first. Tasks that
/// are slow because of their data or code get no copies, which would be as slow.
#[derive(Debug, Clone, Copy, Default, PartialEq, State)]
pub struct RunTimes {
    /// Applications with flagged tasks that can be replayed.
    pub applications: u64,
    /// Applications with flagged tasks that cannot be replayed.
    pub unknown: u64,
    /// The sum of the recorded run times of the replayed applications.
    pub recorded_ms: f64,
    /// The time that the copies would have saved in them.
    pub saved_ms: f64,
    /// The error of `saved_ms`.
    pub error_ms: f64,
}

impl RunTimes {
    /// Adds the run times of other applications. The errors of one model are not independent, so they add up.
    pub(super) fn add(&mut self, other: Self) {
        self.applications += other.applications;
        self.unknown += other.unknown;
        self.recorded_ms += other.recorded_ms;
        self.saved_ms += other.saved_ms;
        self.error_ms += other.error_ms;
    }

    /// The run times of one application by the detectors that its engine ships, as their index among all.
    pub(super) fn of(
        app: &Application,
        views: &[GroupStragglers<'_>],
        reports: &[GroupReport],
        settings: &Settings,
    ) -> BTreeMap<u8, Self> {
        let mut replays = None;
        let mut results = BTreeMap::new();
        for detector in offered(settings, app.engine) {
            let cuts = cuts(views, reports, detector);
            if cuts.is_empty() {
                continue;
            }
            let replays = replays.get_or_insert_with(|| Replays::of(app));
            let result = replays.as_ref().and_then(|replays| replays.with(&cuts));
            let unknown = Self { unknown: 1, ..Self::default() };
            results.insert(detector, result.unwrap_or(unknown));
        }
        results
    }
}

/// By how much attempts would be shorter, by the kind of their group and their row in it.
pub(crate) type Cuts = BTreeMap<(TaskKind, usize), Micros>;

fn cuts(views: &[GroupStragglers<'_>], reports: &[GroupReport], detector: u8) -> Cuts {
    let mut cuts = Cuts::new();
    for (view, report) in views.iter().zip(reports) {
        let Some(median) = view.labels.limit.map(|limit| limit.reference) else { continue };
        let beyond_copies = report.beyond_copies();
        for (place, after) in report.flagged(detector) {
            let Some(task) = view.executions.tasks.get(place) else { continue };
            if beyond_copies.contains(&task.task()) {
                continue;
            }
            let less = task.duration - (after.as_f64() / 1000.0 + median);
            if less > 0.0 {
                cuts.insert((view.group.kind, task.attempt()), Micros::from_f64(1e6 * less));
            }
        }
    }
    cuts
}

/// An application that can be replayed.
struct Replays {
    plan: Plan,
    recorded: Micros,
    replayed: Micros,
}

enum Plan {
    Spark(spark::Plan),
    MapReduce(mapreduce::Plan),
}

impl Replays {
    fn of(app: &Application) -> Option<Self> {
        if app.status != Status::Succeeded {
            return None;
        }
        let (plan, recorded) = match app.engine {
            Engine::Spark => {
                let plan = spark::Plan::of(app).ok()?;
                let recorded = plan.recorded;
                (Plan::Spark(plan), recorded)
            }
            Engine::MapReduce => {
                let plan = mapreduce::Plan::of(app).ok()?;
                let recorded = plan.recorded();
                (Plan::MapReduce(plan), recorded)
            }
            Engine::Tez => return None,
        };
        let replayed = plan.replay(&Cuts::new())?;
        Some(Self { plan, recorded, replayed })
    }

    fn with(&self, cuts: &Cuts) -> Option<RunTimes> {
        let wall = self.plan.replay(cuts)?;
        let error = error_of_replay(self.recorded.to_millis(), self.replayed.to_millis(), wall.to_millis())?;
        let ms = |time: Micros| time.as_f64() / 1000.0;
        // Scheduling has anomalies: shorter tasks may make an application longer.
        let saved_ms = (ms(self.replayed) - ms(wall)).max(0.0);
        Some(RunTimes {
            applications: 1,
            unknown: 0,
            recorded_ms: ms(self.recorded),
            saved_ms,
            error_ms: if saved_ms > 0.0 { error } else { 0.0 },
        })
    }
}

impl Plan {
    fn replay(&self, cuts: &Cuts) -> Option<Micros> {
        Some(match self {
            Self::Spark(plan) => plan.replay(&plan.shortened(cuts)).ok()?.replayed.wall,
            Self::MapReduce(plan) => plan.replay(&plan.shortened(cuts)).wall,
        })
    }
}
