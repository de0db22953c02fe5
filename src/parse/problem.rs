//! What went wrong without stopping the run: one entry per kind of trouble and source, not per line.

use std::fmt;

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing; nothing is missing.
    Info,
    /// Something is missing or could not be trusted; what was read is used.
    Warning,
    /// A source could not be used at all.
    Error,
}

impl Level {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A place within a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// A line, counted from 1.
    Line(u64),
    /// A byte of the decoded stream, counted from 0.
    Byte(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// One problem of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How much it matters.
    pub level: Level,
    /// A stable kebab-case name for the kind of trouble.
    pub code: &'static str,
    /// Where it showed first.
    pub position: Option<Position>,
    /// What was tried, on what, why it did not work, and what that means for the result.
    pub message: String,
    /// How often it showed.
    pub count: u64,
}

/// The problems of one source, one entry per code.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    /// Adds a problem, or counts it if its code is known already.
    pub fn add(
        &mut self,
        level: Level,
        code: &'static str,
        position: Option<Position>,
        message: impl FnOnce() -> String,
    ) {
        if let Some(known) = self.list.iter_mut().find(|problem| problem.code == code) {
            known.count += 1;
            known.level = known.level.max(level);
            return;
        }
        self.list.push(Problem { level, code, position, message: message(), count: 1 });
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: &'static str, position: Option<Position>, message: impl FnOnce() -> String) {
        self.add(Level::Warning, code, position, message);
    }

    /// Takes over the problems of a part of the same source.
    pub fn merge(&mut self, others: Self) {
        for problem in others.list {
            match self.list.iter_mut().find(|known| known.code == problem.code) {
                Some(known) => {
                    known.count += problem.count;
                    known.level = known.level.max(problem.level);
                }
                None => self.list.push(problem),
            }
        }
    }

    /// Whether any matters at least as much as `level`.
    #[must_use]
    pub fn any_at_least(&self, level: Level) -> bool {
        self.list.iter().any(|problem| problem.level >= level)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The problems in the order in which they first showed.
    #[must_use]
    pub fn into_vec(self) -> Vec<Problem> {
        self.list
    }
}
