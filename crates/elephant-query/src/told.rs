//! What is worth telling of a query in one line.

use std::cmp::Reverse;

use crate::summary::OperatorSummary;
use crate::wall::Wall;
use elephant_base::state::State;
use elephant_base::units::Millis;

/// A part of a query's time is told from this share on.
const WORTH_TELLING: f64 = 0.05;
/// So many operators are told.
const OPERATORS: usize = 2;

/// A fact that is worth telling of a query.
#[derive(Debug, Clone, PartialEq, State)]
pub enum Told {
    /// The time from its start to its first job.
    Planning(Millis),
    /// The time between its jobs.
    BetweenJobs(Millis),
    /// The time from its last job to its end.
    AfterJobs(Millis),
    /// An operator, and its share of the time of all tasks of the query.
    Operator(String, f64),
    /// It ended with an error.
    Failed,
    /// The number of stage attempts that ran for it.
    Stages(u64),
}

/// What is worth telling of a query: the parts of its wall time without a job, the operators that took most of the time of
/// its tasks, how it ended, and how many stages it had.
pub(crate) fn told(
    wall: Option<Wall>,
    task_time: Option<Millis>,
    operators: &[OperatorSummary],
    failed: bool,
    stages: usize,
) -> Vec<Told> {
    let mut told = Vec::new();
    if let Some(Wall { total, planning, gaps, after, .. }) = wall {
        let parts = [
            (planning, Told::Planning(planning)),
            (gaps, Told::BetweenJobs(gaps)),
            (after, Told::AfterJobs(after)),
        ];
        let is_much = |time: Millis| time > Millis::ZERO && time.as_f64() >= WORTH_TELLING * total.as_f64();
        told.extend(parts.into_iter().filter(|(time, _)| is_much(*time)).map(|(_, part)| part));
    }
    let mut costly: Vec<(Millis, &OperatorSummary)> =
        operators.iter().filter_map(|operator| Some((operator.time?, operator))).collect();
    costly.sort_by_key(|(time, operator)| (Reverse(*time), operator.place));
    let shares = costly.into_iter().filter_map(|(time, operator)| {
        let all = task_time.filter(|all| *all > Millis::ZERO)?;
        let share = time.as_f64() / all.as_f64();
        (share >= WORTH_TELLING).then(|| Told::Operator(operator.timed_name(), share))
    });
    told.extend(shares.take(OPERATORS));
    told.extend(failed.then_some(Told::Failed));
    told.extend((stages > 0).then_some(Told::Stages(stages as u64)));
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(place: u32, time: u64) -> OperatorSummary {
        OperatorSummary { time: Some(Millis::new(time)), ..OperatorSummary::named(place, "Sort") }
    }

    #[test]
    fn parts_from_five_percent_on_are_told() {
        let ms = Millis::new;
        let wall = Wall { total: ms(100), planning: ms(5), jobs: ms(91), gaps: ms(4), after: ms(0) };
        let operators = [operator(0, 4), operator(1, 10), operator(2, 40), operator(3, 10)];
        let told = told(Some(wall), Some(ms(100)), &operators, true, 3);
        let sort = |share| Told::Operator("Sort".to_owned(), share);
        assert_eq!(told, [Told::Planning(ms(5)), sort(0.4), sort(0.1), Told::Failed, Told::Stages(3)]);
    }

    #[test]
    fn a_time_that_contains_others_is_told_as_such() {
        let aggregate = OperatorSummary { time_includes: vec![1], ..operator(0, 40) };
        let told = told(None, Some(Millis::new(100)), &[aggregate], false, 0);
        assert_eq!(told, [Told::Operator("Sort with what feeds it".to_owned(), 0.4)]);
    }

    #[test]
    fn nothing_is_told_of_what_is_unknown() {
        assert_eq!(told(None, None, &[operator(0, 4)], false, 0), []);
        assert_eq!(told(Some(Wall::default()), Some(Millis::ZERO), &[operator(0, 0)], false, 0), []);
    }
}
