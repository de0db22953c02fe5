//! The time that a job lost because a few of its tasks were larger than the others.

use super::run_times::RunTimes;
use elephant_analysis::task_time::time_of_tasks;
use elephant_base::stats::descriptive::median_in_place;
use elephant_base::units::Millis;
use elephant_model::model::Application;
use elephant_model::model::table::{TaskGroup, TimePoint};

/// What large tasks cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::mapreduce) struct LostTime {
    /// From the end of the last small task to the end of the last large one, but at most as long as the longest large
    /// task ran beyond the median of all. Zero if most tasks are large: then large tasks are the usual ones.
    pub(in crate::mapreduce) time: Millis,
    /// The same as a share of the time in which tasks of the job ran.
    pub(in crate::mapreduce) share: f64,
}

impl LostTime {
    /// `values` pairs the value of each task with the row of its attempt; tasks with values of at least `pivot` are
    /// large. With `most_may_be_large`, something explains why most tasks are large, so the time lost counts all the
    /// same. `None` if the times of small or of large tasks are unknown.
    pub(in crate::mapreduce) fn of(
        (app, group, run_times): (&Application, &TaskGroup, RunTimes),
        values: &[(i64, usize)],
        (pivot, most_may_be_large): (i64, bool),
    ) -> Option<Self> {
        let rows = |large: bool| values.iter().filter(move |&&(value, _)| (value >= pivot) == large);
        let last =
            |large| rows(large).filter_map(|&(_, row)| group.attempts.time(row, TimePoint::Finish)).max();
        let longest = rows(true).filter_map(|&(_, row)| run_times.of_attempt(group, row)).max()?;
        let mut times: Vec<f64> =
            values.iter().filter_map(|&(_, row)| Some(run_times.of_attempt(group, row)? as f64)).collect();
        let beyond = longest as f64 - median_in_place(&mut times)?;
        // `None` if the large tasks ended first: then they cost nothing.
        let tail = Millis::between(last(false)?, last(true)?).unwrap_or_default();
        let counts = most_may_be_large || 2 * rows(true).count() <= values.len();
        let beyond = Millis::from_f64(beyond).filter(|_| counts);
        let time = beyond.map_or(Millis::ZERO, |beyond| beyond.min(tail));
        let span = time_of_tasks(app);
        (span > Millis::ZERO).then(|| Self { time, share: time.as_f64() / span.as_f64() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::support::role::Role;
    use elephant_model::model::table::TaskKind;

    /// Seconds and share lost, with the last task as the large one.
    fn lost(tasks: &[(i64, Option<i64>)]) -> Option<(u64, f64)> {
        let group = elephant_sample::tasks(TaskKind::Reduce, tasks.iter().copied());
        let app = elephant_sample::job(vec![group], &[]);
        let values: Vec<(i64, usize)> =
            (0..tasks.len()).map(|row| (i64::from(row + 1 == tasks.len()), row)).collect();
        let run_times = RunTimes::of(&app, Role::Reduce, true);
        let lost = LostTime::of((&app, app.groups.first()?, run_times), &values, (1, false))?;
        Some((lost.time.get() / 1000, (100.0 * lost.share).round()))
    }

    #[test]
    fn a_large_task_costs_the_time_in_which_it_ran_alone() {
        let small = (0, Some(62));
        assert_eq!(lost(&[small, small, small, small, (0, Some(728))]), Some((666, 91.0)));
        assert_eq!(lost(&[small, (0, Some(400)), small, (0, Some(728))]), Some((328, 45.0)));
    }

    #[test]
    fn a_majority_is_no_group_of_stragglers() {
        let tasks = [(0, Some(30)), (0, Some(60)), (0, Some(60)), (0, Some(140))];
        let app = elephant_sample::job(vec![elephant_sample::tasks(TaskKind::Reduce, tasks)], &[]);
        let run_times = RunTimes::of(&app, Role::Reduce, true);
        let lost = |most_may_be_large| {
            let values = [(0, 0), (1, 1), (1, 2), (1, 3)];
            let job = (&app, &app.groups[0], run_times);
            LostTime::of(job, &values, (1, most_may_be_large)).unwrap().time.get() / 1000
        };
        assert_eq!((lost(false), lost(true)), (0, 80));
    }

    #[test]
    fn a_large_task_that_ends_first_costs_nothing() {
        assert_eq!(lost(&[(0, Some(100)), (100, Some(200)), (0, Some(150))]), Some((0, 0.0)));
    }

    #[test]
    fn a_late_start_is_not_the_fault_of_the_task() {
        assert_eq!(lost(&[(0, Some(100)), (0, Some(100)), (900, Some(1100))]), Some((100, 33.0)));
    }

    #[test]
    fn unknown_times_have_no_known_cost() {
        assert_eq!(lost(&[]), None);
        assert_eq!(lost(&[(0, Some(10))]), None);
        assert_eq!(lost(&[(0, Some(10)), (0, None)]), None);
        assert_eq!(lost(&[(0, None), (0, Some(10))]), None);
        assert_eq!(lost(&[(5, Some(5)), (5, Some(5))]), None);
    }
}
