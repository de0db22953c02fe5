//! Forgets impossible numbers of cores, and decides by the cores whether tasks without an end may still have run.

use super::Builder;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Symbol;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{Executor, Placement};
use elephant_model::model::table::{Attempts, TimePoint};

/// No machine has more cores.
const MOST_CORES: u32 = 1024;

/// The driver launches the next task on a core before it records the end of the last one. Recorded: 0.1 s.
const OVERLAP: i64 = 200;

/// An executor that is removed within this time before the end of the application is removed because of that end.
const AT_THE_END: Millis = Millis::from_secs(5);

impl Builder {
    /// Forgets numbers of cores that no machine has. If other executors of the same profile have the requested number,
    /// also forgets larger numbers that the tasks do not confirm.
    pub(super) fn forget_impossible_cores(&mut self) {
        let requested: Vec<Option<u32>> =
            self.executors.iter().map(|executor| self.requested_cores(executor)).collect();
        let is_given = |profile: Option<u32>, requested: u32| {
            self.executors.iter().any(|executor| {
                executor.resource_profile == profile
                    && !executor.is_driver()
                    && executor.cores == Some(requested)
            })
        };
        let is_wrong = |(executor, requested): (&Executor, &Option<u32>)| {
            let Some(cores) = executor.cores else { return false };
            let beyond = requested.filter(|&requested| cores > requested);
            cores > MOST_CORES
                || beyond.is_some_and(|requested| {
                    is_given(executor.resource_profile, requested)
                        && self.tasks_at_once(executor) <= requested
                })
        };
        let wrong: Vec<bool> = self.executors.iter().zip(&requested).map(is_wrong).collect();
        for (executor, _) in self.executors.iter_mut().zip(wrong).filter(|(_, is_wrong)| *is_wrong) {
            executor.cores = None;
            self.seen.outside.executors += 1;
            self.seen.outside.cores += 1;
        }
    }

    /// The cores that an executor was requested with, if the application states them: in its resource profile, or, for
    /// the default profile, in the setting. (That profile itself says 1 where Spark's own manager gives all cores of a
    /// worker.) `None` for a driver: its master determines its cores.
    fn requested_cores(&self, executor: &Executor) -> Option<u32> {
        if executor.is_driver() {
            return None;
        }
        match executor.resource_profile.unwrap_or_default() {
            0 => u32::try_from(self.app.conf.integer(ConfKey::ExecutorCores)?).ok(),
            id => self.spark.resource_profiles.iter().find(|profile| profile.id == id)?.cores,
        }
    }

    /// The most tasks that ran on an executor at the same time.
    fn tasks_at_once(&self, executor: &Executor) -> u32 {
        self.app.strings.find(&executor.id).map_or(0, |id| self.at_once(id, None))
    }

    /// Whether an attempt without an end may still have run when the application ended: its executor was not lost before, and
    /// did not use all of its cores for later tasks.
    pub(in crate::spark) fn may_run_to_the_end(&self, attempts: &Attempts, row: usize) -> bool {
        let Some(id) = attempts.executor(row) else { return true };
        let name = self.app.strings.get(id);
        let Some(executor) = self.spark.executors.iter().find(|executor| name == Some(&*executor.id)) else {
            return true;
        };
        let last = self.app.finished_at.max(self.spark.log.last_event);
        if executor.removed_at.zip(last).is_some_and(|(removed, last)| removed + AT_THE_END < last) {
            return false;
        }
        Placement::by(&self.app.conf, &self.spark.resource_profiles)
            .slots(executor)
            .zip(attempts.time(row, TimePoint::Start))
            .is_none_or(|(slots, start)| self.at_once(id, Some(start)) < slots)
    }

    /// The most tasks that ran on an executor at the same time, of those that were launched after a time.
    fn at_once(&self, executor: Symbol, after: Option<Timestamp>) -> u32 {
        let mut changes: Vec<(i64, i32)> = Vec::new();
        for attempts in self.stages.iter().map(|record| &record.group.attempts) {
            let own = (0..attempts.len()).filter(|&row| attempts.executor(row) == Some(executor));
            for row in own {
                let ends = [attempts.time(row, TimePoint::Start), attempts.work_end(row)];
                if ends[0] > after
                    && let [Some(start), Some(end)] = ends.map(|time| time.map(Timestamp::as_millis))
                    && end - OVERLAP > start
                {
                    changes.extend([(start, 1), (end - OVERLAP, -1)]);
                }
            }
        }
        // At the same moment, ends come first.
        changes.sort_unstable();
        let running = changes.iter().scan(0_i32, |running, (_, change)| {
            *running = running.saturating_add(*change);
            Some(*running)
        });
        running.max().and_then(|most| u32::try_from(most).ok()).unwrap_or_default()
    }
}
