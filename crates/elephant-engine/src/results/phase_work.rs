//! What the phases of a run read and how long they took. A run that read more may cost more, but only in the phases that
//! read more.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Phase, Subject};

use crate::fingerprint::{StageName, subject_key};

/// The most phases of a run that are kept, those with the most task time: the others hardly change what a run costs.
const MOST_PHASES: usize = 16;

/// What a phase read and how long it took.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct PhaseWork {
    /// The phase, as the subject of findings about it in all runs of the job.
    pub key: String,
    /// Bytes read from files and other sources.
    pub input: Option<Bytes>,
    /// Bytes that came through a shuffle.
    pub shuffle_read: Option<Bytes>,
    /// From the launch of its first task to its end.
    pub time: Option<Millis>,
    /// Total run time of its attempts.
    pub task_time: Option<Millis>,
}

impl PhaseWork {
    /// The phases of `app` that took the most time of tasks, by key. Phases that read nothing are left out: nothing
    /// explains why they take longer.
    #[must_use]
    pub(crate) fn of(app: &Application) -> Vec<Self> {
        let mut phases: Vec<Phase> = Phase::all(app);
        let reads = |phase: &Phase| phase.input.max(phase.shuffle_read) > Some(Bytes::new(0));
        phases.retain(|phase| phase.has_whole_sums && reads(phase));
        // The sort is stable: of phases with the same time, the first ones stay.
        phases.sort_by_key(|phase| Reverse(phase.task_time));
        phases.truncate(MOST_PHASES);
        let stages: BTreeSet<_> = phases.iter().filter_map(|phase| stage(&phase.subject)).collect();
        let names = StageName::of_stages(app, &stages);
        let mut all: Vec<Self> = phases
            .into_iter()
            .map(|phase| Self {
                key: subject_key(&names, &phase.subject),
                input: phase.input,
                shuffle_read: phase.shuffle_read,
                time: time(app, &phase),
                task_time: phase.task_time,
            })
            .collect();
        all.sort_by(|a, b| a.key.cmp(&b.key));
        // Later attempts of a stage have one key, and the first of them did the most.
        all.dedup_by(|a, b| a.key == b.key);
        all
    }
}

const fn stage(subject: &Subject) -> Option<elephant_model::model::spark::StageAttempt> {
    match subject {
        Subject::Stage(id) => Some(*id),
        _ => None,
    }
}

/// Before its first task, a phase waits for others. Reduces wait for all maps.
fn time(app: &Application, phase: &Phase) -> Option<Millis> {
    let group = |wanted: &Subject| app.groups.iter().find(|group| Phase::subject(group.kind) == *wanted);
    let point = |group: &TaskGroup, row, point| group.attempts.time(row, point);
    let own = group(&phase.subject)?;
    let first = (0..own.attempts.len()).filter_map(|row| point(own, row, TimePoint::Start)).min()?;
    let maps = group(&Phase::subject(TaskKind::Map)).filter(|_| own.kind == TaskKind::Reduce);
    let last_map = maps.and_then(|maps| {
        (0..maps.attempts.len()).filter_map(|row| point(maps, row, TimePoint::Finish)).max()
    });
    Millis::between(last_map.map_or(first, |maps| maps.max(first)), phase.finished_at?)
}
