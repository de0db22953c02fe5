//! Would a task have been a straggler without one component of its time?
//!
//! Let `d` be durations, `Inp` inputs and `c` one component of the duration, for the tasks of one group. Task
//! `i` is slow for its input if `d_i / Inp_i >= k · median(d / Inp)`. Component `c` explains that if the task
//! is no longer slow once `c` is subtracted from **all** tasks: `(d_i − c_i) / Inp_i < k · median((d − c) /
//! Inp)`. If inputs are unknown, durations replace rates.
//!
//! The rule follows the trace analysis of K. Ousterhout et al., "Making Sense of Performance in Data
//! Analytics Frameworks", NSDI 2015, section 5.

use elephant_base::whole::Whole;
use std::cell::OnceCell;

use crate::stragglers::labels::{just_below, multiple};
use elephant_base::stats::descriptive::{median, median_in_place};

/// One task of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparedTask {
    /// Seconds.
    pub duration: f64,
    /// Input, in a unit common to the group.
    pub input: Option<f64>,
    /// Whether other durations can be compared with this one, i.e. it is not a lower bound.
    pub comparable: bool,
}

/// The divisor of times before they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// None: durations are compared directly.
    Duration,
    /// The task's input.
    Input,
}

/// In which respect a task is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// It took long.
    pub slow: bool,
    /// It took long for its input; the same as `slow` if inputs are unknown.
    pub slow_for_input: bool,
}

impl Verdict {
    /// It took long, but not longer than others with the same input.
    #[must_use]
    pub const fn explained_by_input(self) -> bool {
        self.slow && !self.slow_for_input
    }
}

/// The tasks of a group and their medians.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    tasks: Vec<ComparedTask>,
    factor: f64,
    median_duration: Option<f64>,
    /// `None` if the input is known for less than half of the tasks.
    median_rate: Option<f64>,
    median_input: Option<f64>,
}

/// A value of each task, with the medians it is compared with. Each median is computed once, because a group
/// may have as many stragglers as tasks, and only on demand, because in most groups all stragglers are slow
/// in the same scale.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ComparedValues {
    values: Vec<Option<f64>>,
    /// In the order of [`Scale`]; `None` if less than half of the tasks have a value.
    medians: [OnceCell<Option<f64>>; 2],
}

impl ComparedValues {
    /// A value of each task of a comparison, in task order.
    #[must_use]
    pub(crate) const fn of(values: Vec<Option<f64>>) -> Self {
        Self { values, medians: [const { OnceCell::new() }; 2] }
    }

    /// The value of the task at this index.
    #[must_use]
    pub(crate) fn value(&self, place: usize) -> Option<f64> {
        self.values.get(place).copied().flatten()
    }

    fn median(&self, comparison: &Comparison, scale: Scale) -> Option<f64> {
        *self.medians.get(scale as usize)?.get_or_init(|| comparison.median_of(&self.values, scale))
    }
}

/// A component of the tasks' durations, and the durations without the component, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentTimes {
    times: ComparedValues,
    rest: ComparedValues,
}

/// A task without one of its components.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Without {
    /// Seconds that the component took.
    pub time: f64,
    /// Seconds that the task took.
    pub duration: f64,
    /// Seconds without the component.
    pub rest: f64,
    /// Seconds from which a task with this input would be slow, with the component subtracted from all tasks.
    pub limit: f64,
    /// Seconds that the component took beyond its time in the group's median task, for this input.
    pub excess: f64,
}

impl Without {
    /// Whether the task would not have been a straggler without the component.
    #[must_use]
    pub fn explains(&self) -> bool {
        self.rest < just_below(self.limit)
    }
}

impl Comparison {
    /// Compares tasks. A task is slow from `factor` times the median.
    #[must_use]
    pub fn new(tasks: Vec<ComparedTask>, factor: f64) -> Self {
        let compared = || tasks.iter().filter(|task| task.comparable);
        let of =
            |value: fn(&ComparedTask) -> Option<f64>| -> Vec<f64> { compared().filter_map(value).collect() };
        let durations = of(|task| Some(task.duration));
        let rates = of(|task| Some(task.duration / positive(task.input)?));
        // Rates of a few tasks do not represent the group.
        let enough = 2 * rates.len() >= durations.len();
        Self {
            factor,
            median_duration: median(&durations),
            median_rate: median(&rates).filter(|_| enough),
            median_input: median(&of(|task| task.input)).filter(|_| enough),
            tasks,
        }
    }

    /// In which respect the task at this index is slow.
    #[must_use]
    pub fn verdict(&self, place: usize) -> Verdict {
        let slow = self.is_slow(place, Scale::Duration).unwrap_or(false);
        Verdict { slow, slow_for_input: self.is_slow(place, Scale::Input).unwrap_or(slow) }
    }

    /// The scale in which the task at this index is slow; `None` if it is not slow.
    #[must_use]
    pub(crate) fn scale(&self, place: usize) -> Option<Scale> {
        let slow = |scale: &Scale| self.is_slow(place, *scale) == Some(true);
        [Scale::Input, Scale::Duration].into_iter().find(slow)
    }

    /// Whether the task is slow in this scale; `None` if it cannot be compared.
    fn is_slow(&self, place: usize, scale: Scale) -> Option<bool> {
        let median = positive(self.median_time(scale))?;
        Some(self.time(place, scale)? >= just_below(self.factor * median))
    }

    /// The task's time in a scale: seconds, or seconds per input.
    #[must_use]
    pub(crate) fn time(&self, place: usize, scale: Scale) -> Option<f64> {
        Some(self.tasks.get(place)?.duration / self.unit(place, scale)?)
    }

    /// The task's time in a scale; `None` if other tasks cannot be compared with this one.
    #[must_use]
    pub(crate) fn comparable_time(&self, place: usize, scale: Scale) -> Option<f64> {
        self.tasks.get(place).filter(|task| task.comparable)?;
        self.time(place, scale)
    }

    /// A task is slow from this many seconds on, whatever its input.
    #[must_use]
    pub(crate) fn slow_from(&self) -> Option<f64> {
        Some(multiple(self.factor, self.median_duration?))
    }

    /// A task took as long as usual up to this many seconds: `factor` times the group's median.
    #[must_use]
    pub(crate) fn usual_to(&self, factor: f64) -> Option<f64> {
        Some(multiple(factor, self.median_duration?))
    }

    /// The task's input.
    #[must_use]
    pub(crate) fn input(&self, place: usize) -> Option<u64> {
        Some(self.tasks.get(place)?.input?.max(0.0).as_u64())
    }

    /// The task's input over the group's median.
    #[must_use]
    pub(crate) fn input_ratio(&self, place: usize) -> Option<f64> {
        Some(self.tasks.get(place)?.input? / positive(self.median_input)?)
    }

    /// The task's time per input over the group's median.
    #[must_use]
    pub(crate) fn rate_ratio(&self, place: usize) -> Option<f64> {
        Some(self.time(place, Scale::Input)? / positive(self.median_rate)?)
    }

    /// Seconds that the task took beyond the group's median task, for its input.
    #[must_use]
    pub(crate) fn delay(&self, place: usize, scale: Scale) -> Option<f64> {
        Some(self.tasks.get(place)?.duration - self.median_time(scale)? * self.unit(place, scale)?)
    }

    /// A value over the group's median, each divided by the scale's unit; `None` if the median is zero, or if
    /// less than half of the tasks have a value.
    #[must_use]
    pub(crate) fn ratio(&self, place: usize, values: &ComparedValues, scale: Scale) -> Option<f64> {
        let own = values.value(place)? / self.unit(place, scale)?;
        Some(own / positive(values.median(self, scale))?)
    }

    /// The part of a value above the group's median, each divided by the scale's unit.
    #[must_use]
    pub(crate) fn excess(&self, place: usize, values: &ComparedValues, scale: Scale) -> Option<f64> {
        let own = values.value(place)?;
        Some(own - values.median(self, scale)? * self.unit(place, scale)?)
    }

    /// The group's median of a value over its median duration.
    #[must_use]
    pub(crate) fn usual_share(&self, values: &ComparedValues) -> Option<f64> {
        Some(values.median(self, Scale::Duration)? / positive(self.median_duration)?)
    }

    /// Prepares a component, in seconds, capped at the task's duration.
    #[must_use]
    pub fn component(&self, times: &[Option<f64>]) -> ComponentTimes {
        let within = |(task, time): (&ComparedTask, &Option<f64>)| {
            time.map(|time| time.clamp(0.0, task.duration.max(0.0)))
        };
        let times: Vec<Option<f64>> = self.tasks.iter().zip(times).map(within).collect();
        let rest = self.tasks.iter().zip(&times).map(|(task, time)| Some(task.duration - (*time)?)).collect();
        ComponentTimes { times: ComparedValues::of(times), rest: ComparedValues::of(rest) }
    }

    /// The task at this index without a component, in the scale in which it is slow.
    #[must_use]
    pub fn without(&self, place: usize, component: &ComponentTimes) -> Option<Without> {
        let scale = self.scale(place)?;
        let component_median = component.times.median(self, scale)?;
        let rest_median = component.rest.median(self, scale)?;
        let unit = self.unit(place, scale)?;
        let duration = self.tasks.get(place)?.duration;
        let time = component.times.value(place)?;
        Some(Without {
            time,
            duration,
            rest: duration - time,
            limit: self.factor * rest_median * unit,
            excess: time - component_median * unit,
        })
    }

    const fn median_time(&self, scale: Scale) -> Option<f64> {
        match scale {
            Scale::Duration => self.median_duration,
            Scale::Input => self.median_rate,
        }
    }

    /// The divisor of the times of the task at this index.
    fn unit(&self, place: usize, scale: Scale) -> Option<f64> {
        let task = self.tasks.get(place)?;
        match scale {
            Scale::Duration => Some(1.0),
            Scale::Input => positive(task.input).filter(|_| self.median_rate.is_some()),
        }
    }

    fn median_of(&self, values: &[Option<f64>], scale: Scale) -> Option<f64> {
        let per_input = scale == Scale::Input;
        if per_input && self.median_rate.is_none() {
            return None;
        }
        let mut scaled = Vec::with_capacity(self.tasks.len());
        let mut compared = 0;
        for (task, value) in self.tasks.iter().zip(values).filter(|(task, _)| task.comparable) {
            compared += 1;
            let unit = if per_input { positive(task.input) } else { Some(1.0) };
            scaled.extend(value.zip(unit).map(|(value, unit)| value / unit));
        }
        (2 * scaled.len() >= compared).then(|| median_in_place(&mut scaled)).flatten()
    }
}

fn positive(value: Option<f64>) -> Option<f64> {
    value.filter(|value| *value > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compare(tasks: &[(f64, Option<f64>)]) -> Comparison {
        let task =
            |&(duration, input): &(f64, Option<f64>)| ComparedTask { duration, input, comparable: true };
        Comparison::new(tasks.iter().map(task).collect(), 1.5)
    }

    #[test]
    fn groups_that_cannot_be_compared_have_no_slow_tasks() {
        let none = Verdict { slow: false, slow_for_input: false };
        assert_eq!(compare(&[]).verdict(0), none);
        assert_eq!(compare(&[(9.0, Some(1.0))]).verdict(0), none);
        let still = compare(&[(0.0, Some(1.0)), (0.0, Some(1.0)), (5.0, Some(1.0))]);
        assert_eq!(still.verdict(2), none);
        assert_eq!(still.without(2, &still.component(&[None; 3])), None);
    }

    #[test]
    fn without_inputs_durations_are_compared() {
        for input in [None, Some(0.0)] {
            let group = compare(&[(10.0, input), (10.0, input), (40.0, input)]);
            assert_eq!(group.verdict(2), Verdict { slow: true, slow_for_input: true });
            assert_eq!(group.scale(2), Some(Scale::Duration));
            assert_eq!((group.rate_ratio(2), group.input_ratio(2)), (None, None));
            let gc = group.component(&[Some(1.0), Some(1.0), Some(30.0)]);
            let without = group.without(2, &gc).unwrap();
            assert_eq!((without.rest, without.limit, without.excess), (10.0, 13.5, 29.0));
            assert!(without.explains());
        }
    }

    #[test]
    fn a_component_that_is_unknown_explains_nothing() {
        let group = compare(&[(10.0, None), (10.0, None), (40.0, None)]);
        assert_eq!(group.without(2, &group.component(&[Some(1.0), Some(1.0), None])), None);
        assert_eq!(group.without(2, &group.component(&[None, None, Some(30.0)])), None);
    }

    #[test]
    fn lower_bounds_are_judged_but_not_compared_with() {
        let task = |duration, comparable| ComparedTask { duration, input: None, comparable };
        let tasks = vec![task(10.0, true), task(10.0, true), task(100.0, false), task(100.0, false)];
        let group = Comparison::new(tasks, 1.5);
        assert!(group.verdict(2).slow);
        assert_eq!(group.delay(2, Scale::Duration), Some(90.0));
    }

    proptest! {
        #[test]
        fn the_verdict_does_not_depend_on_units(
            tasks in prop::collection::vec((0.1f64..100.0, 1.0f64..1000.0, 0.0f64..1.0), 2..20),
            place in 0usize..20,
        ) {
            let of = |time: f64, input: f64| {
                let group = compare(&tasks.iter().map(|t| (t.0 * time, Some(t.1 * input))).collect::<Vec<_>>());
                let part: Vec<_> = tasks.iter().map(|t| Some(t.0 * t.2 * time)).collect();
                let without = group.without(place, &group.component(&part)).map(|without| without.explains());
                (group.verdict(place), without)
            };
            // Powers of two scale without rounding.
            prop_assert_eq!(of(1.0, 1.0), of(1024.0, 0.125));
        }

        #[test]
        fn a_component_that_is_the_same_share_of_every_task_explains_none(
            tasks in prop::collection::vec((1.0f64..100.0, 1.0f64..1000.0), 2..20),
            place in 0usize..20,
        ) {
            let group = compare(&tasks.iter().map(|t| (t.0, Some(t.1))).collect::<Vec<_>>());
            let half: Vec<_> = tasks.iter().map(|t| Some(t.0 / 2.0)).collect();
            if let Some(without) = group.without(place, &group.component(&half)) {
                prop_assert!(!without.explains() || (without.rest - without.limit).abs() < 1e-9);
            }
        }

        #[test]
        fn remaining_time_is_never_negative(
            tasks in prop::collection::vec((0.0f64..100.0, 0.0f64..10.0, prop::option::of(-5.0f64..200.0)), 0..20),
            place in 0usize..20,
        ) {
            let group = compare(&tasks.iter().map(|t| (t.0, Some(t.1))).collect::<Vec<_>>());
            let part: Vec<_> = tasks.iter().map(|t| t.2).collect();
            if let Some(without) = group.without(place, &group.component(&part)) {
                prop_assert!(without.rest >= 0.0 && without.limit >= 0.0 && without.limit.is_finite());
            }
        }
    }
}
