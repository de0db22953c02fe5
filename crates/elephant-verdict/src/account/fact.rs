//! What is most worth knowing of the tasks of a phase, for the line that tells how long it took.

use elephant_analysis::executors::most_slots;
use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::counters::Counter;
use elephant_model::model::table::TaskGroup;
use elephant_model::model::{Application, Phase, Subject};

use crate::charts::durations;

/// A task that took this share of its phase kept the phase waiting.
const LONG: f64 = 0.5;
/// It is told if it took this many times the median.
const UNEVEN: f64 = 3.0;
/// Slots are mostly idle if fewer tasks than this share of them run.
const FEW: f64 = 0.5;

/// What is most worth knowing of the tasks of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum PhaseFact {
    /// The longest task took most of the time, and much longer than the others.
    LongTask {
        /// Its run time.
        longest: Millis,
        /// That of the median.
        median: Millis,
    },
    /// What the tasks spilled, if it is more than they read.
    Spilled(Bytes),
    /// More tasks than slots.
    Waves {
        /// The tasks.
        tasks: u64,
        /// The most that could run at once.
        slots: u64,
    },
    /// Most slots had no task.
    FewTasks {
        /// The tasks.
        tasks: u64,
        /// The most that could run at once.
        slots: u64,
    },
    /// The number of tasks, where slots are unknown.
    Tasks(u64),
}

impl PhaseFact {
    /// `None` if the log has no tasks of the phase.
    pub(super) fn of(app: &Application, subject: &Subject) -> Option<Self> {
        let group = app.groups.iter().find(|group| Phase::subject(group.kind) == *subject)?;
        long_task(group).or_else(|| spilled(group)).or_else(|| Some(number_of_tasks(app, group)))
    }
}

fn long_task(group: &TaskGroup) -> Option<PhaseFact> {
    let durations = durations(group).filter(|_| group.tasks.len() > 1)?;
    let (longest, median) = (durations.longest, durations.median);
    let phase = super::first_launch(group).zip(super::last_end(group));
    let phase = phase.and_then(|(from, until)| Millis::between(from, until))?;
    let is_long = longest.share_of(phase)? >= LONG && longest.as_f64() >= UNEVEN * median.as_f64();
    is_long.then_some(PhaseFact::LongTask { longest, median })
}

fn spilled(group: &TaskGroup) -> Option<PhaseFact> {
    const READ: [Counter; 3] =
        [Counter::InputBytes, Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead];
    let sum = |counters: &[Counter]| group.attempts.sum(counters);
    let spilled = sum(&[Counter::MemoryBytesSpilled]).filter(|bytes| *bytes > 0)?;
    (spilled > sum(&READ)?).then_some(PhaseFact::Spilled(Bytes::new(spilled)))
}

fn number_of_tasks(app: &Application, group: &TaskGroup) -> PhaseFact {
    let tasks = group.tasks.len() as u64;
    let Some(spark) = app.spark.as_deref() else { return PhaseFact::Tasks(tasks) };
    let slots = most_slots(app, spark);
    if tasks > slots {
        PhaseFact::Waves { tasks, slots }
    } else if (tasks as f64) < FEW * slots as f64 {
        PhaseFact::FewTasks { tasks, slots }
    } else {
        PhaseFact::Tasks(tasks)
    }
}
