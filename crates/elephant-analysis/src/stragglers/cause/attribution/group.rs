//! A group of tasks with what its stragglers are compared by.

use super::neighbours::Neighbours;
use super::{Context, LabelledGroup};
use crate::stragglers::cause::components::{Clocks, Component};
use crate::stragglers::cause::counterfactual::{
    ComparedTask, ComparedValues, Comparison, ComponentTimes, Scale,
};
use crate::stragglers::cause::{Params, hints};
use crate::stragglers::executions::{AttemptsByTask, Certainty, Execution, InputUnit, records};
use elephant_base::units::Timestamp;
use elephant_model::model::table::{TaskGroup, TimePoint};
use elephant_model::model::{Collector, Symbol};

/// A group with the columns used to compare its stragglers.
pub(super) struct Group<'a> {
    /// Its index in the application.
    pub(super) number: usize,
    pub(super) labelled: LabelledGroup<'a>,
    pub(super) comparison: Comparison,
    /// The comparison by records, if `comparison` is by bytes and records are logged as well.
    by_records: Option<Comparison>,
    pub(super) components: Vec<(Component, ComponentTimes)>,
    pub(super) cpu: ComparedValues,
    pub(super) spill: ComparedValues,
    pub(super) beginning: Option<ComponentTimes>,
    pub(super) local_share: Option<f64>,
    pub(super) attempts: AttemptsByTask,
    pub(super) neighbours: Neighbours,
}

/// CPU time relative to the group.
pub(super) struct CpuTime {
    pub(super) ratio: f64,
    pub(super) share_of_delay: f64,
    /// CPU time over duration.
    of_duration: f64,
    /// The group's median CPU time over its median duration.
    usual_of_duration: f64,
}

impl CpuTime {
    /// Whether the task did not get the CPU: the group's tasks compute most of the time, and its own CPU time would not have
    /// made it slow. Where tasks mostly wait, or compute in processes whose CPU time is not logged, time without CPU time
    /// proves nothing.
    pub(super) fn is_far_below(&self, params: &Params) -> bool {
        self.usual_of_duration >= super::HALF && self.of_duration * params.slow_factor < 1.0
    }
}

impl<'g> Group<'g> {
    /// Compares the tasks of a group; `stragglers` are the places of its stragglers.
    pub(super) fn of(
        context: &Context<'_>,
        number: usize,
        labelled: LabelledGroup<'g>,
        stragglers: &[usize],
    ) -> Self {
        let LabelledGroup { group, executions, basis, .. } = labelled;
        let comparison = comparison(&labelled, context.params);
        let collector = Collector::of_tasks(context.app, group.kind);
        let clocks = Clocks {
            group,
            engine: context.app.engine,
            basis,
            collects_concurrently: collector.is_some_and(Collector::is_concurrent),
            last_map: context.last_map,
        };
        let column = |value: &dyn Fn(usize) -> Option<f64>| -> Vec<Option<f64>> {
            let of = |task: &Execution| Some(value(task.attempt())? * stretch(group, task)?);
            executions.tasks.iter().map(of).collect()
        };
        // A component that took no time in any straggler cannot explain one.
        let takes_time = |value: &dyn Fn(usize) -> Option<f64>| {
            let tasks = stragglers.iter().filter_map(|&place| executions.tasks.get(place));
            tasks
                .filter_map(|task| Some(value(task.attempt())? * stretch(group, task)?))
                .any(|time| time > 0.0)
        };
        let times = |value: &dyn Fn(usize) -> Option<f64>| {
            takes_time(value).then(|| comparison.component(&column(value)))
        };
        let components = Component::ALL
            .into_iter()
            .filter_map(|component| Some((component, times(&|row| clocks.seconds(component, row))?)));
        Self {
            components: components.collect(),
            cpu: ComparedValues::of(column(&|row| clocks.cpu_seconds(row))),
            spill: ComparedValues::of(
                executions.tasks.iter().map(|task| clocks.spill(task.attempt())).collect(),
            ),
            beginning: times(&|row| hints::beginning(group, row)),
            local_share: hints::local_share(group, executions),
            attempts: AttemptsByTask::of(group),
            neighbours: Neighbours::of(&labelled, comparison.usual_to(context.params.neighbour_factor)),
            by_records: by_records(&labelled, context.params),
            comparison,
            number,
            labelled,
        }
    }

    /// The comparisons by input: by the group's unit, and by records if bytes and records are both logged.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (InputUnit, &Comparison)> {
        let own = self.labelled.executions.input_unit.map(|unit| (unit, &self.comparison));
        own.into_iter().chain(self.by_records.iter().map(|comparison| (InputUnit::Records, comparison)))
    }

    /// Seconds that a task took beyond the group's median task, in the scale in which it is slow; `None` if
    /// it is not slow.
    pub(super) fn delay(&self, place: usize) -> Option<f64> {
        self.comparison.delay(place, self.comparison.scale(place)?)
    }

    pub(super) fn cpu_time(&self, place: usize) -> Option<CpuTime> {
        let scale = self.comparison.scale(place)?;
        let delay = self.delay(place).filter(|delay| *delay > 0.0)?;
        let excess = self.comparison.excess(place, &self.cpu, scale)?;
        let ratio = self.comparison.ratio(place, &self.cpu, scale)?;
        let duration = self.comparison.time(place, Scale::Duration).filter(|duration| *duration > 0.0)?;
        Some(CpuTime {
            ratio,
            // More CPU time than the delay explains all of it: the task waited less than the others, or computed with
            // several threads.
            share_of_delay: (excess / delay).clamp(0.0, 1.0),
            of_duration: self.cpu.value(place)? / duration,
            usual_of_duration: self.comparison.usual_share(&self.cpu)?,
        })
    }

    /// Share of the delay spent on disks and the network, as far as measured.
    pub(super) fn io_share(&self, place: usize) -> f64 {
        let delay = self.delay(place).filter(|delay| *delay > 0.0);
        let io = self.components.iter().filter(|(component, _)| component.is_io());
        let excess = io.filter_map(|(_, times)| self.comparison.without(place, times));
        let excess: f64 = excess.map(|without| without.excess.max(0.0)).sum();
        delay.map_or(0.0, |delay| excess / delay)
    }

    /// Stragglers that lost their time in the first twelfth of their progress, with node and launch time.
    pub(super) fn slow_at_beginning(&self, places: &[usize]) -> Vec<(usize, Symbol, Timestamp)> {
        let attempts = &self.labelled.group.attempts;
        let found = |&place: &usize| {
            let without = self.comparison.without(place, self.beginning.as_ref()?)?;
            let explains = without.explains() && without.time > 0.0;
            let row = self.labelled.executions.tasks.get(place).filter(|_| explains)?.attempt();
            Some((place, attempts.node(row)?, attempts.time(row, TimePoint::Start)?))
        };
        places.iter().filter_map(found).collect()
    }
}

/// Compares the tasks of a group.
pub(super) fn comparison(labelled: &LabelledGroup<'_>, params: &Params) -> Comparison {
    compared_by(labelled, params, Execution::input)
}

/// Compares the tasks by records, if the group's unit is bytes and records are logged as well.
fn by_records(labelled: &LabelledGroup<'_>, params: &Params) -> Option<Comparison> {
    let of = |task: &Execution| records(labelled.group, labelled.executions, task.winner());
    labelled.executions.tasks.iter().any(|task| of(task).is_some()).then(|| compared_by(labelled, params, of))
}

fn compared_by(
    labelled: &LabelledGroup<'_>,
    params: &Params,
    input: impl Fn(&Execution) -> Option<u64>,
) -> Comparison {
    let compared = |task: &Execution| ComparedTask {
        duration: task.duration,
        input: input(task).map(|input| input as f64),
        comparable: task.certainty != Certainty::AtLeast,
    };
    Comparison::new(labelled.executions.tasks.iter().map(compared).collect(), params.slow_factor)
}

/// Whether the duration of a task is not measured.
pub(super) fn is_estimated(execution: &Execution) -> bool {
    execution.certainty != Certainty::Measured
}

/// Factor that scales measurements of a killed attempt to the whole time it would have taken.
fn stretch(group: &TaskGroup, task: &Execution) -> Option<f64> {
    if !is_estimated(task) {
        return Some(1.0);
    }
    let elapsed = group.attempts.run_time(task.attempt())?.as_f64() / 1000.0;
    (elapsed > 0.0).then(|| task.duration / elapsed)
}

/// When the last of the tasks ended.
pub(super) fn last_end(group: &TaskGroup) -> Option<Timestamp> {
    group.winners().filter_map(|row| group.attempts.time(row, TimePoint::Finish)).max()
}
