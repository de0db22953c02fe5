//! Which stragglers warm-up explains: the first tasks of a group on an executor load its classes, compile its code and
//! fetch its broadcast variables.
//!
//! The control is the executor itself: its later tasks of the group. Executors start at different times, so
//! the first tasks of all executors together say nothing about one that joined late. If an executor ran no later
//! tasks of the group, the log can still show that it was new: its first tasks of any group deserialize for long,
//! because that loads classes, and collect garbage while the heap grows.

use rustc_hash::FxHashMap;

use super::LabelledGroup;
use crate::stragglers::cause::counterfactual::{Comparison, Scale};
use crate::stragglers::cause::evidence::{Fact, millis};
use crate::stragglers::cause::{Confidence, Params};
use elephant_base::stats::descriptive::median_in_place;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskGroup, TimePoint};
use elephant_model::model::{Application, Symbol};

/// A straggler: the index of its group, and its place in the group.
pub(super) type Place = (usize, usize);

/// Evidence that warm-up explains a straggler.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WarmUp {
    pub(super) confidence: Confidence,
    pub(super) fact: Fact,
}

/// The stragglers that warm-up explains.
pub(super) fn warm_up(
    app: &Application,
    groups: &[LabelledGroup<'_>],
    params: &Params,
) -> FxHashMap<Place, WarmUp> {
    let mut warm = FxHashMap::default();
    let mut of_all_groups: Option<Beginnings> = None;
    let straggles = |group: &LabelledGroup<'_>| group.stragglers.contains(&Some(true));
    let attempts = |group: &LabelledGroup<'_>| 0..group.group.attempts.len();
    let in_processes =
        |group: &LabelledGroup<'_>| attempts(group).any(|row| group.group.attempts.executor(row).is_some());
    for (number, group) in groups.iter().enumerate() {
        // Most groups have no stragglers, and there may be a hundred thousand groups.
        if !straggles(group) || !in_processes(group) {
            continue;
        }
        let of_group = Beginnings::of([group.group]);
        let stragglers = group.stragglers.iter().enumerate().filter(|(_, label)| **label == Some(true));
        let mut firsts =
            stragglers.map(|(place, _)| place).filter(|&place| of_group.has_first(group, place)).peekable();
        // Medians take long, and most stragglers are not the first tasks of their executors.
        if firsts.peek().is_none() {
            continue;
        }
        let comparison = super::group::comparison(group, params);
        let of_all_groups = of_all_groups.get_or_insert_with(|| Beginnings::of(&app.groups));
        let first_tasks = FirstTasks::of(group, (&of_group, of_all_groups), &comparison);
        for place in firsts {
            if let Some(explained) = first_tasks.explain(place, group, &comparison, params) {
                warm.insert((number, place), explained);
            }
        }
    }
    warm
}

/// A task on an executor.
#[derive(Debug, Clone, Copy)]
struct Ran {
    executor: Symbol,
    /// Whether it is one of the first tasks of its group on the executor.
    first: bool,
    /// Whether it is one of the first tasks of any group on the executor.
    on_new: bool,
}

/// When each executor launched its first task, and when the first one ended.
struct Beginnings(FxHashMap<Symbol, (Timestamp, Timestamp)>);

impl Beginnings {
    fn of<'a>(groups: impl IntoIterator<Item = &'a TaskGroup>) -> Self {
        let mut firsts: FxHashMap<Symbol, (Timestamp, Timestamp)> = FxHashMap::default();
        for attempts in groups.into_iter().map(|group| &group.attempts) {
            for row in 0..attempts.len() {
                let times = attempts.time(row, TimePoint::Start).zip(attempts.time(row, TimePoint::Finish));
                if let (Some(executor), Some((start, end))) = (attempts.executor(row), times) {
                    let first = firsts.entry(executor).or_insert((start, end));
                    *first = (first.0.min(start), first.1.min(end));
                }
            }
        }
        Self(firsts)
    }

    /// Whether the task at a place of a group is one of the first.
    fn has_first(&self, group: &LabelledGroup<'_>, place: usize) -> bool {
        let is_first = |row: usize| {
            let attempts = &group.group.attempts;
            self.is_first(attempts.executor(row)?, attempts.time(row, TimePoint::Start)?)
        };
        group.executions.tasks.get(place).and_then(|task| is_first(task.attempt())) == Some(true)
    }

    /// Whether a task is one of the first: it was launched in the first half of the time until a task ended on its
    /// executor. Half, because drivers launch the next task some time before they record the end of the previous one.
    fn is_first(&self, executor: Symbol, start: Timestamp) -> Option<bool> {
        let (launched, ended) = self.0.get(&executor)?;
        let half = Millis::between(*launched, *ended)?.get() / 2;
        Some(start <= *launched + Millis::new(half))
    }
}

/// Seconds that a task spent on what a new process does.
#[derive(Debug, Clone, Copy)]
struct StartUp {
    deserialize: f64,
    gc: f64,
}

impl StartUp {
    fn of(group: &TaskGroup, row: usize) -> Option<Self> {
        let seconds = |counter| Some(group.attempts.millis(row, counter)?.as_f64() / 1000.0);
        Some(Self {
            deserialize: seconds(Counter::ExecutorDeserializeTime)?,
            gc: seconds(Counter::GcTimeMillis)?,
        })
    }

    /// The median of both over the tasks of a group.
    fn usual(group: &LabelledGroup<'_>) -> Option<Self> {
        let tasks = group.executions.tasks.iter();
        let known = tasks.filter_map(|task| Self::of(group.group, task.attempt()));
        let (mut deserialize, mut gc): (Vec<f64>, Vec<f64>) =
            known.map(|start_up| (start_up.deserialize, start_up.gc)).unzip();
        Some(Self { deserialize: median_in_place(&mut deserialize)?, gc: median_in_place(&mut gc)? })
    }

    const fn seconds(self) -> f64 {
        self.deserialize + self.gc
    }
}

/// Medians of first and of later tasks; `None` without first tasks or with fewer than two later ones.
type Medians = Option<(f64, f64)>;

/// The group's first tasks on each executor, compared with its later tasks.
struct FirstTasks {
    ran: Vec<Option<Ran>>,
    /// `None` if it is unknown, or if no task ran on a new executor.
    usual_start_up: Option<StartUp>,
    scales: [InScale; 2],
}

/// The medians of first and later tasks in one [`Scale`].
#[derive(Default)]
struct InScale {
    /// For each executor: its medians, and how many of its tasks were first.
    executors: FxHashMap<Symbol, (Medians, usize)>,
    /// The medians over all executors; `None` with fewer than two first or two later tasks.
    all: Medians,
}

impl FirstTasks {
    /// First tasks are those of the group: an executor that has run other stages still has to load the code of this one
    /// and fetch its broadcast variables.
    fn of(
        group: &LabelledGroup<'_>,
        (of_group, of_all_groups): (&Beginnings, &Beginnings),
        comparison: &Comparison,
    ) -> Self {
        let attempts = &group.group.attempts;
        let ran = |row: usize| {
            let executor = attempts.executor(row)?;
            let start = attempts.time(row, TimePoint::Start)?;
            let first = of_group.is_first(executor, start)?;
            Some(Ran { executor, first, on_new: of_all_groups.is_first(executor, start)? })
        };
        let ran: Vec<Option<Ran>> = group.executions.tasks.iter().map(|task| ran(task.attempt())).collect();
        let scales = [Scale::Duration, Scale::Input].map(|scale| InScale::of(&ran, comparison, scale));
        let any_on_new = ran.iter().flatten().any(|ran| ran.on_new);
        Self { usual_start_up: any_on_new.then(|| StartUp::usual(group)).flatten(), ran, scales }
    }

    /// Evidence that a slow task is one of the first, that first tasks are slow, and that it is not slow
    /// among them.
    fn explain(
        &self,
        place: usize,
        group: &LabelledGroup<'_>,
        comparison: &Comparison,
        params: &Params,
    ) -> Option<WarmUp> {
        let factor = params.slow_factor;
        let ran = self.ran.get(place).copied().flatten().filter(|ran| ran.first)?;
        let scale = comparison.scale(place)?;
        let in_scale = self.scales.get(scale as usize)?;
        let own = comparison.time(place, scale)?;
        let slow = |&(first, later): &(f64, f64)| first >= factor * later;
        let everywhere = in_scale.all.filter(slow);
        // A task that is slow even among first tasks has another cause, such as a slow node.
        if everywhere.is_some_and(|(first, _)| own >= factor * first) {
            return None;
        }
        let (of_executor, firsts) = in_scale.executors.get(&ran.executor).copied().unwrap_or_default();
        let (medians, confidence) = match (of_executor, everywhere) {
            (None, Some(everywhere)) => (everywhere, Confidence::Inferred),
            (None, None) if ran.on_new => return self.start_up(place, group, comparison, params),
            (None, None) => return None,
            (Some(medians), Some(_)) => (medians, Confidence::Inferred),
            (Some(medians), None) if firsts > 1 => (medians, Confidence::Inferred),
            // A single slow task may be chance. First tasks elsewhere tell that it is, unless only its executor is new.
            (Some(_), None) if in_scale.all.is_some() && !ran.on_new => return None,
            (Some(_), None) if in_scale.all.is_some() && self.usual_start_up.is_some() => {
                return self.start_up(place, group, comparison, params);
            }
            (Some(medians), None) => (medians, Confidence::Weak),
        };
        let (first, later) = Some(medians).filter(slow).filter(|(first, _)| own < factor * first)?;
        let fact = Fact::FirstOnExecutor { ratio: first / later, limit: factor };
        Some(WarmUp { confidence, fact })
    }

    /// Evidence that a task on a new executor spent a part of its delay on what new processes do. The rest of the
    /// delay is not measured: the process also compiles code, so the task takes more CPU time. A slow node delays all
    /// parts alike, and deserializing is a small one.
    fn start_up(
        &self,
        place: usize,
        group: &LabelledGroup<'_>,
        comparison: &Comparison,
        params: &Params,
    ) -> Option<WarmUp> {
        let usual = self.usual_start_up?;
        let own = StartUp::of(group.group, group.executions.tasks.get(place)?.attempt())?;
        let delay = comparison.delay(place, comparison.scale(place)?)?;
        let loads =
            own.deserialize > usual.deserialize && own.deserialize >= params.slow_factor * usual.deserialize;
        let matters = own.seconds() - usual.seconds() >= params.reported_share * delay;
        let fact = Fact::NewExecutor { time: millis(own.seconds())?, usual: millis(usual.seconds())? };
        (loads && matters).then_some(WarmUp { confidence: Confidence::Inferred, fact })
    }
}

impl InScale {
    fn of(ran: &[Option<Ran>], comparison: &Comparison, scale: Scale) -> Self {
        let mut executors: FxHashMap<Symbol, [Vec<f64>; 2]> = FxHashMap::default();
        let mut all: [Vec<f64>; 2] = Default::default();
        for (place, ran) in ran.iter().enumerate() {
            let Some((ran, time)) = ran.zip(comparison.comparable_time(place, scale)) else { continue };
            let [first, later] = executors.entry(ran.executor).or_default();
            if ran.first { first } else { later }.push(time);
            let [first, later] = &mut all;
            if ran.first { first } else { later }.push(time);
        }
        let all = if all.iter().all(|times| times.len() >= ENOUGH) { medians(&mut all) } else { None };
        let of_executor = |(executor, mut times): (Symbol, [Vec<f64>; 2])| {
            let firsts = times.first().map_or(0, Vec::len);
            (executor, (medians(&mut times), firsts))
        };
        Self { executors: executors.into_iter().map(of_executor).collect(), all }
    }
}

/// A single task proves nothing: medians need at least this many later tasks.
const ENOUGH: usize = 2;

fn medians([first, later]: &mut [Vec<f64>; 2]) -> Medians {
    let later = Some(later).filter(|later| later.len() >= ENOUGH)?;
    // The lower of the middle two: of two first tasks, a single slow one is not enough.
    first.sort_unstable_by(f64::total_cmp);
    let first = *first.get(first.len().checked_sub(1)? / 2)?;
    Some((first, median_in_place(later).filter(|median| *median > 0.0)?))
}
