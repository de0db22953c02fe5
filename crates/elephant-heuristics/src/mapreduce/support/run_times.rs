//! How long tasks work. Reduce tasks that start before the last map task ends hold their containers and wait.

use super::counters::run_time;
use super::role::Role;
use elephant_base::units::Timestamp;
use elephant_model::model::Application;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};

/// The run times of a kind of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mapreduce) struct RunTimes {
    /// The end of the last map task, if waiting for it does not count as run time.
    last_map: Option<Timestamp>,
}

impl RunTimes {
    /// Run times with or without the time in which reduce tasks wait for map tasks.
    pub(in crate::mapreduce) fn of(app: &Application, role: Role, without_waiting: bool) -> Self {
        let is_left_out = without_waiting && role == Role::Reduce;
        Self { last_map: if is_left_out { last_map(app) } else { None } }
    }

    /// The run time of an attempt in milliseconds.
    pub(in crate::mapreduce) fn of_attempt(self, group: &TaskGroup, row: usize) -> Option<i64> {
        let time = run_time(group, row)?;
        let waiting = self.last_map.map_or(0, |last_map| waiting_until(last_map, group, row));
        Some(time - waiting.min(time))
    }
}

/// The end of the last map task.
fn last_map(app: &Application) -> Option<Timestamp> {
    let maps = app.group(TaskKind::Map)?;
    maps.winners().filter_map(|row| maps.attempts.time(row, TimePoint::Finish)).max()
}

/// How long an attempt waited for map tasks, in milliseconds: until the last map task or its own shuffle ended.
fn waiting_until(last_map: Timestamp, group: &TaskGroup, row: usize) -> i64 {
    let time = |point| group.attempts.time(row, point).map(Timestamp::as_millis);
    let Some(start) = time(TimePoint::Start) else { return 0 };
    let last_map = last_map.as_millis();
    let until = match time(TimePoint::ShuffleFinish) {
        Some(shuffled) => last_map.min(shuffled),
        // A reduce task cannot end before the map tasks that it waits for, so these times cannot be used.
        None if time(TimePoint::Finish).is_none_or(|finish| finish <= last_map) => return 0,
        None => last_map,
    };
    until.saturating_sub(start).max(0)
}

/// How long the attempts of a group waited for map tasks, by row, in milliseconds; 0 in groups other than reduce tasks.
pub(crate) fn waiting_for_maps(app: &Application, group: &TaskGroup) -> impl Fn(usize) -> i64 {
    let last_map = if group.kind == TaskKind::Reduce { last_map(app) } else { None };
    move |row| last_map.map_or(0, |last_map| waiting_until(last_map, group, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_maps_is_no_run_time() {
        let maps = elephant_sample::tasks(TaskKind::Map, [(0, Some(100)), (0, Some(600))]);
        let mut reduces =
            elephant_sample::tasks(TaskKind::Reduce, [(200, Some(660)), (610, Some(650)), (200, Some(300))]);
        // The last one ends its shuffle before the last map task ends, by another clock.
        for (row, seconds) in [(0, 605), (1, 640), (2, 250)] {
            let at = Some(Timestamp::from_millis(1000 * seconds));
            reduces.attempts.set_time(row, TimePoint::ShuffleFinish, at);
        }
        let app = elephant_sample::job(vec![maps, reduces], &[]);
        let reduces = app.group(TaskKind::Reduce).unwrap();
        let times = |without_waiting| {
            let times = RunTimes::of(&app, Role::Reduce, without_waiting);
            [0, 1, 2].map(|row| times.of_attempt(reduces, row).unwrap() / 1000)
        };
        assert_eq!((times(false), times(true)), ([460, 40, 100], [60, 40, 50]));
        let waiting = waiting_for_maps(&app, reduces);
        assert_eq!([0, 1, 2].map(waiting), [400_000, 0, 50_000]);
        assert_eq!(waiting_for_maps(&app, app.group(TaskKind::Map).unwrap())(0), 0);
    }
}
