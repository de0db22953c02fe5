//! Where an application comes from.

use elephant_base::state::State;
use elephant_input::trace_table::TraceFormat;
use elephant_model::model::Engine;

/// Where an application comes from: the history of an engine, or a cluster trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
pub enum Origin {
    /// A history of this engine.
    Engine(Engine),
    /// A cluster trace, which does not name an engine.
    Trace(TraceFormat),
}

#[doc(hidden)]
impl Origin {
    /// The name in reports: "spark", "google-2011 trace".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine(engine) => engine.name(),
            Self::Trace(format) => format.origin(),
        }
    }

    /// One word for it.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Engine(engine) => engine.name(),
            Self::Trace(format) => format.name(),
        }
    }

    /// The engine; `None` for a trace.
    #[must_use]
    pub const fn engine(self) -> Option<Engine> {
        match self {
            Self::Engine(engine) => Some(engine),
            Self::Trace(_) => None,
        }
    }
}
