//! Numbers of cores that executors cannot have.

use super::Builder;
use crate::model::conf::ConfKey;
use crate::model::spark::Executor;
use crate::model::table::TimePoint;
use crate::units::Timestamp;

/// No machine has more cores.
const MOST_CORES: u32 = 1024;

/// The driver launches the next task on a core before it records the end of the last one. Recorded: 0.1 s.
const OVERLAP: i64 = 200;

impl Builder {
    /// Forgets numbers of cores that no machine has, and those beyond what was requested that the tasks do not confirm.
    pub(super) fn forget_impossible_cores(&mut self) {
        let is_wrong = |executor: &Executor| {
            let cores = executor.cores?;
            let beyond = self.requested_cores(executor).filter(|&requested| cores > requested);
            Some(
                cores > MOST_CORES
                    || beyond.is_some_and(|requested| self.tasks_at_once(executor) <= requested),
            )
        };
        let wrong: Vec<bool> =
            self.executors.iter().map(|executor| is_wrong(executor).unwrap_or_default()).collect();
        for (executor, _) in self.executors.iter_mut().zip(wrong).filter(|(_, is_wrong)| *is_wrong) {
            executor.cores = None;
            self.seen.outside.executors += 1;
            self.seen.outside.cores += 1;
        }
    }

    /// The cores that an executor was requested with, if the application says: by its resource profile, or by the setting for
    /// the default profile. That profile itself says 1 where Spark's own manager gives all cores of a worker. A driver has as
    /// many as its master says.
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
        let Some(id) = self.app.strings.find(&executor.id) else { return 0 };
        let mut changes: Vec<(i64, i32)> = Vec::new();
        for attempts in self.stages.iter().map(|record| &record.group.attempts) {
            let own = (0..attempts.len()).filter(|&row| attempts.executor(row) == Some(id));
            for row in own {
                let ends = [TimePoint::Start, TimePoint::Finish].map(|point| attempts.time(row, point));
                if let [Some(start), Some(end)] = ends.map(|time| time.map(Timestamp::as_millis))
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
