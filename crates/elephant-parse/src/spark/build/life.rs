//! When the application began and ended: the log contains both in several forms.

use super::possible::{AFTER_THE_END, TOLERANCE, apart, later};
use super::{Builder, StageRecord};
use crate::reading::latest_believed;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{ClusterManager, Executor, Stage};

/// Where the driver sets the time of `SparkListenerApplicationStart` (since Spark 3.1).
const START_TIME: &str = "spark.app.startTime";
/// How long a driver may take from its start to its id and to the registration of its own block manager.
const UNTIL_STARTED: Millis = Millis::from_secs(10 * 60);
/// The same where the application may wait in a queue in between: with a driver outside of YARN, or on Mesos.
const UNTIL_STARTED_IN_QUEUE: Millis = Millis::from_secs(24 * 60 * 60);
/// A shell may be idle for days, and logs nothing then. Delegation tokens last no longer, so that a driver on a cluster with
/// Kerberos could not write its log any more.
const LONGEST_SILENCE: Millis = Millis::from_secs(7 * 24 * 60 * 60);
/// An end that nothing confirms is believed up to this long after everything else in the log. In recordings it is at most
/// ten minutes.
const LONG_AFTER: Millis = Millis::from_secs(3 * 60 * 60);
/// A driver may wait for its user all day, so the end must also be this many times as long after everything else as
/// everything else took.
const MANY_TIMES: u64 = 30;

/// A start this long before everything else in the log is doubted if anything contradicts it.
const LONG_BEFORE: Millis = Millis::from_secs(60 * 60);
/// How far the clock of the resource manager may be from the driver's (Kerberos allows no more), and the time zone of Spark's
/// own manager from UTC.
const MACHINES_APART: Millis = Millis::from_secs(5 * 60);
const TIME_ZONES: Millis = Millis::from_secs(14 * 60 * 60);

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

    /// Whether `is_outside` holds for most stages that ran tasks.
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
            return Some("its start is later than that of the driver or the tasks");
        }
        if later(driver, Some(start), self.until_started()) {
            return Some("its start is long before that of the driver");
        }
        // Tools that make a log anonymous change its id, but not the start alone.
        let first = self.moments().min();
        let is_lonely = later(first, Some(start), LONG_BEFORE);
        if is_lonely && earliest_by_id(&self.app.id).is_some_and(|earliest| start < earliest) {
            return Some("its start is before its id, and long before everything else");
        }
        let set = self.app.conf.raw(START_TIME).and_then(|text| text.trim().parse().ok());
        let set = set.and_then(|at| super::moment(Some(at)));
        (set.is_some_and(|set| apart(set, start) > TOLERANCE) && !is_confirmed_by_id(&self.app.id, start))
            .then_some("its start differs from spark.app.startTime")
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
        let seen = || self.moments().chain(self.spark.log.last_event).chain(self.app.submitted_at);
        let (first, last) = (seen().min()?, seen().max()?);
        if later(Some(end), Some(last), LONGEST_SILENCE) {
            return Some("its end is more than a week after everything else in the log");
        }
        // A driver may work alone, or wait for its user. Costs that rest on nothing else must not outweigh those that do.
        let silence = Millis::between(last, end).unwrap_or_default();
        let times_as_long = Millis::new(apart(first, last).get().saturating_mul(MANY_TIMES));
        (silence > LONG_AFTER && silence > times_as_long).then_some(
            "its end is hours after everything else in the log, and 30 times as long after it as everything else took; \
             nothing confirms that the application was idle for so long",
        )
    }

    /// Sets the time of the last event to the end, or to the last time that is believed.
    pub(super) fn find_last_event(&mut self) {
        let believed = latest_believed(self.moments());
        let last = match self.app.finished_at {
            None if believed.is_some() => self.moments().filter(|at| Some(*at) <= believed).max(),
            end => self.spark.log.last_event.max(end),
        };
        self.spark.log.last_event = last;
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

/// Whether the id of an application in local mode was made when it began: `local-<milliseconds>`. Other ids contain the
/// start of the resource manager, or a time in an unknown time zone.
fn is_confirmed_by_id(id: &str, start: Timestamp) -> bool {
    let millis = id.strip_prefix("local-").filter(|text| text.len() == 13);
    let made = millis.and_then(|text| super::moment(text.parse().ok()));
    made.is_some_and(|made| start <= made + TOLERANCE && made <= start + UNTIL_STARTED)
}

/// The earliest start that the id of an application allows: `application_<start of the resource manager>_<n>`, or
/// `app-<year, month, day, hour, minute, second>-<n>`, made when the application registered.
fn earliest_by_id(id: &str) -> Option<Timestamp> {
    let before = |at: Timestamp, by: Millis| {
        Some(Timestamp::from_millis(at.as_millis().saturating_sub(i64::try_from(by.get()).ok()?)))
    };
    if let Some(manager) = id.strip_prefix("application_") {
        let digits = manager.split('_').next().filter(|digits| digits.len() == 13)?;
        return before(super::moment(digits.parse().ok())?, MACHINES_APART);
    }
    let digits = id.strip_prefix("app-")?.split('-').next().filter(|digits| digits.len() == 14)?;
    let [year, month, day, hour, minute, second] =
        [(0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14)].map(|(from, to)| digits.get(from..to));
    let text = format!("{}-{}-{}T{}:{}:{}Z", year?, month?, day?, hour?, minute?, second?);
    before(Timestamp::from_rfc3339(&text)?, TIME_ZONES + UNTIL_STARTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_tell_before_which_time_no_application_began() {
        let earliest = |id: &str| earliest_by_id(id).and_then(Timestamp::to_rfc3339);
        assert_eq!(earliest("app-20180109111548-0000").as_deref(), Some("2018-01-08T21:05:48.000Z"));
        assert_eq!(earliest("application_1515496548000_0001").as_deref(), Some("2018-01-09T11:10:48.000Z"));
        for id in
            ["", "local-1515496548000", "app-20181309111548-0000", "app-2018é109111548-0", "application_1_1"]
        {
            assert_eq!(earliest(id), None, "{id}");
        }
    }

    #[test]
    fn ids_of_local_mode_tell_when_an_application_began() {
        const MADE: i64 = 1_515_496_548_000; // 2018-01-09T11:15:48Z
        let confirms = |id: &str, start: i64| is_confirmed_by_id(id, Timestamp::from_millis(start));
        let local = format!("local-{MADE}");
        assert!(confirms(&local, MADE - 6_000));
        assert!(!confirms(&local, MADE - 1_000_000));
        assert!(!confirms(&local, MADE + 2_000));
        for id in ["", "local-1", "app-20180109111548-0000", "application_1515496548000_0001"] {
            assert!(!confirms(id, MADE), "{id}");
        }
    }
}
