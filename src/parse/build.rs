//! Events in, [`Application`] out: the one place that knows what a MapReduce history means.

use super::event::{CounterNames, EventFields, EventKind, EventPayload};
use super::problem::{Position, Problems};
use crate::model::{Application, Engine, Interner};

/// Builds one application from the events of its history.
pub struct HistoryBuilder {
    app: Application,
    names: CounterNames,
    problems: Problems,
}

impl Default for HistoryBuilder {
    fn default() -> Self {
        Self {
            app: Application::new(Engine::MapReduce),
            names: CounterNames::default(),
            problems: Problems::default(),
        }
    }
}

impl HistoryBuilder {
    /// What a decoder needs to record counters into an [`EventPayload`].
    pub fn counter_names(&mut self) -> (&mut CounterNames, &mut Interner) {
        (&mut self.names, &mut self.app.strings)
    }

    /// The problems found so far, for decoders to add to.
    pub fn problems(&mut self) -> &mut Problems {
        &mut self.problems
    }

    /// Takes one event.
    pub fn event(
        &mut self,
        at: Position,
        kind: EventKind,
        fields: &EventFields<'_>,
        payload: &EventPayload,
    ) {
        let _ = (at, kind, fields, payload);
    }

    /// Ends the history. `damaged` says that the source ended or broke before its own end.
    #[must_use]
    pub fn finish(self, damaged: bool) -> (Application, Problems) {
        let _ = damaged;
        (self.app, self.problems)
    }
}
