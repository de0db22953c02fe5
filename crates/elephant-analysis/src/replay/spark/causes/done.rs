//! A task that succeeded, and how it started.

use elephant_model::model::Symbol;

/// A task is slow if it takes more than this multiple of the median, and of the time that its data explain.
pub(super) const SLOWER: f64 = 1.5;

/// What a task that starts before another one has ended on its executor in the stage has to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// All of it: no task of the application had ended there.
    NewExecutor,
    /// What is new in the stage.
    NewStage,
}

/// A successful attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) place: u32,
    pub(super) time: f64,
    /// The part of the time before and after its run time: launch, deserialization, result.
    pub(super) overhead: f64,
    pub(super) bytes: f64,
    pub(super) records: f64,
    pub(super) executor: Option<Symbol>,
    /// How it starts if no task of the stage attempt had ended on its executor when it was launched: such tasks load classes
    /// and open connections.
    pub(super) warms_up: Option<Start>,
}

#[cfg(test)]
impl Done {
    /// A task without data that takes this long.
    pub(super) const fn later(time: f64) -> Self {
        Self { place: 0, time, overhead: 10.0, bytes: 0.0, records: 0.0, executor: None, warms_up: None }
    }

    /// The same, the first of the stage on this executor.
    pub(super) fn first(executor: u32, time: f64) -> Self {
        let executor = Some(Symbol::from_index(executor));
        Self { executor, warms_up: Some(Start::NewStage), ..Self::later(time) }
    }
}
