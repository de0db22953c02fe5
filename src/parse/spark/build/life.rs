//! When the application began and ended: the log tells both in several ways.

use super::possible::{TOLERANCE, apart, later};
use super::{Builder, StageRecord};
use crate::model::conf::ConfKey;
use crate::model::spark::{ClusterManager, Executor, Stage};
use crate::units::{Millis, Timestamp};

/// Where the driver sets the time of `SparkListenerApplicationStart` (since Spark 3.1).
const START_TIME: &str = "spark.app.startTime";
/// How long a driver may take from its start to its id and to the registration of its own block manager.
const UNTIL_STARTED: Millis = Millis::from_secs(10 * 60);
/// The same where the application may wait in a queue in between: with a driver outside of YARN, or on Mesos.
const UNTIL_STARTED_IN_QUEUE: Millis = Millis::from_secs(24 * 60 * 60);
/// Tolerance after the application's end: the driver still records the ends of tasks and executors.
pub(super) const AFTER_THE_END: Millis = Millis::from_secs(60);
/// How far the clock of the resource manager may be from the driver's: Kerberos allows no more.
const MACHINES_APART: Millis = Millis::from_secs(5 * 60);
/// Time zones are at most so far from UTC; ids of Spark's own manager have its local time.
const TIME_ZONES: Millis = Millis::from_secs(14 * 60 * 60);
/// A shell may be idle for days, and logs nothing then. Delegation tokens last no longer, so that a driver on a cluster with
/// Kerberos could not write its log any more.
const LONGEST_SILENCE: Millis = Millis::from_secs(7 * 24 * 60 * 60);

impl Builder {
    /// Forgets the start and the end of the application if the rest of the log contradicts them.
    pub(super) fn forget_times_of_application(&mut self) {
        let start = self.doubt_of_start();
        if start.is_some() {
            self.app.submitted_at = None;
            self.seen.doubts[0] = start;
        }
        let end = self.doubt_of_end();
        if end.is_some() {
            self.app.finished_at = None;
            self.seen.doubts[1] = end;
        }
        if later(self.app.submitted_at, self.app.finished_at, Millis::ZERO) {
            (self.app.submitted_at, self.app.finished_at) = (None, None);
            self.seen.doubts = [Some("it ended before it began"), None];
        }
    }

    /// Whether most stages that ran tasks are outside, in this sense.
    fn most(&self, is_outside: impl Fn(&StageRecord) -> bool) -> bool {
        let timed = self.stages.iter().filter(|record| record.first_launch().is_some());
        let (mut count, mut outside) = (0, 0);
        for record in timed {
            count += 1;
            outside += usize::from(is_outside(record));
        }
        2 * outside > count
    }

    fn doubt_of_start(&self) -> Option<&'static str> {
        let start = self.app.submitted_at?;
        let driver = self.executors.iter().position(Executor::is_driver);
        let driver = driver.and_then(|place| self.registered.get(&place)).copied();
        if later(Some(start), driver, TOLERANCE)
            || self.most(|record| later(Some(start), record.last_launch(), TOLERANCE))
        {
            return Some("its start is after the driver's or the tasks'");
        }
        if later(driver, Some(start), self.until_started()) {
            return Some("its start is long before the driver's");
        }
        let set = self.app.conf.raw(START_TIME).and_then(|text| text.trim().parse().ok());
        let set = set.and_then(|at| super::moment(Some(at)));
        let of_id = of_id(&self.app.id, start);
        match set.map(|set| apart(set, start) <= TOLERANCE) {
            Some(true) => None,
            Some(false) if of_id != Some(IdSays::Exactly) => {
                Some("its start differs from spark.app.startTime")
            }
            _ => (of_id == Some(IdSays::No)).then_some("its start contradicts its id"),
        }
    }

    fn until_started(&self) -> Millis {
        let in_cluster = self.app.conf.text(ConfKey::SparkDeployMode).is_some_and(|mode| mode == "cluster");
        match ClusterManager::of_application(&self.app) {
            Some(ClusterManager::Local | ClusterManager::Standalone | ClusterManager::Kubernetes) => {
                UNTIL_STARTED
            }
            Some(ClusterManager::Yarn) if in_cluster => UNTIL_STARTED,
            _ => UNTIL_STARTED_IN_QUEUE,
        }
    }

    fn doubt_of_end(&self) -> Option<&'static str> {
        let end = self.app.finished_at?;
        if self.most(|record| later(record.first_launch(), Some(end), AFTER_THE_END)) {
            return Some("its end is before its tasks");
        }
        let last = self.moments().chain(self.app.submitted_at).max();
        later(Some(end), last, LONGEST_SILENCE)
            .then_some("its end is more than a week after everything else in the log")
    }

    /// The times of everything within the application.
    pub(super) fn moments(&self) -> impl Iterator<Item = Timestamp> {
        let of_jobs = self.jobs.iter().flat_map(|job| [job.submitted_at, job.completed_at]);
        let of_stages = self.stages.iter().flat_map(|record| {
            let Stage { submitted_at, completed_at, .. } = record.stage;
            [submitted_at, completed_at, record.last_launch(), record.last_end()]
        });
        let of_executors =
            self.executors.iter().flat_map(|executor| [executor.added_at, executor.removed_at]);
        of_jobs.chain(of_stages).chain(of_executors).flatten()
    }
}

/// What the id of an application says of its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdSays {
    /// The id was made at that time.
    Exactly,
    /// It may have been that time.
    Possibly,
    No,
}

/// Compares the start of an application with the time in its id: `local-<milliseconds>`, `application_<start of the resource
/// manager>_<n>`, or `app-<year, month, day, hour, minute, second>-<n>` in the time zone of Spark's own manager.
fn of_id(id: &str, start: Timestamp) -> Option<IdSays> {
    let millis = |text: &str| {
        let text = text.split('_').next().filter(|text| text.len() == 13)?;
        super::moment(text.parse().ok())
    };
    let says = |possible: bool, otherwise| Some(if possible { otherwise } else { IdSays::No });
    if let Some(made) = id.strip_prefix("local-") {
        let made = millis(made)?;
        return says(start <= made + TOLERANCE && made <= start + UNTIL_STARTED, IdSays::Exactly);
    }
    if let Some(manager) = id.strip_prefix("application_") {
        return says(millis(manager)? <= start + MACHINES_APART, IdSays::Possibly);
    }
    let digits = id.strip_prefix("app-")?.split('-').next().filter(|digits| digits.len() == 14)?;
    let [year, month, day, hour, minute, second] =
        [(0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14)].map(|(from, to)| digits.get(from..to));
    let text = format!("{}-{}-{}T{}:{}:{}Z", year?, month?, day?, hour?, minute?, second?);
    let made = Timestamp::from_rfc3339(&text)?;
    let is_possible = start <= made + TIME_ZONES + TOLERANCE && made <= start + UNTIL_STARTED + TIME_ZONES;
    says(is_possible, IdSays::Possibly)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_tell_when_an_application_began() {
        let says = |id: &str, start: i64| of_id(id, Timestamp::from_millis(start));
        const MADE: i64 = 1_515_496_548_000; // 2018-01-09T11:15:48Z
        const HOUR: i64 = 3_600_000;
        let local = format!("local-{MADE}");
        assert_eq!(says(&local, MADE - 6_000), Some(IdSays::Exactly));
        assert_eq!(says(&local, MADE - 1_000_000), Some(IdSays::No));
        assert_eq!(says(&local, MADE + 2_000), Some(IdSays::No));
        let yarn = format!("application_{MADE}_0001");
        assert_eq!(says(&yarn, MADE - 5_000), Some(IdSays::Possibly));
        assert_eq!(says(&yarn, MADE + 1000 * HOUR), Some(IdSays::Possibly));
        assert_eq!(says(&yarn, MADE - HOUR), Some(IdSays::No));
        let standalone = "app-20180109111548-0000";
        assert_eq!(says(standalone, MADE + 7 * HOUR), Some(IdSays::Possibly));
        assert_eq!(says(standalone, MADE - 13 * HOUR), Some(IdSays::Possibly));
        assert_eq!(says(standalone, MADE + 15 * HOUR), Some(IdSays::No));
        assert_eq!(says(standalone, MADE - 277 * HOUR), Some(IdSays::No));
        for id in [
            "",
            "local-1",
            "app-2018-1",
            "app-20181309111548-0000",
            "spark-195580588c0f4597",
            "application_1_1",
        ] {
            assert_eq!(says(id, MADE), None, "{id}");
        }
    }
}
