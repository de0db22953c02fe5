//! Problems that do not stop the run: one entry per kind of problem and source, not per line.

use std::borrow::Cow;
use std::fmt;

use elephant_base::state::State;

/// How serious a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, State)]
pub enum Level {
    /// For information; nothing is missing.
    Info,
    /// Something is missing or unreliable; the rest is used.
    Warning,
    /// A source could not be used at all.
    Error,
}

#[doc(hidden)]
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

/// A position within a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, State)]
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
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct Problem {
    /// How much it matters.
    pub level: Level,
    /// A stable kebab-case code for the kind of problem.
    pub code: Cow<'static, str>,
    /// Where it occurred first.
    pub position: Option<Position>,
    /// What was tried, on what, why it failed, and what that means for the result.
    pub message: String,
    /// How often it occurred.
    pub count: u64,
}

#[doc(hidden)]
impl Problem {
    /// Its code as the program has it; an empty text if it was read from a partial result.
    #[must_use]
    pub const fn known_code(&self) -> &'static str {
        match self.code {
            Cow::Borrowed(code) => code,
            Cow::Owned(_) => "",
        }
    }
}

/// The problems of one source, one entry per code.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    /// Adds a problem, or counts it if its code is already known.
    pub fn add(
        &mut self,
        level: Level,
        code: impl Into<Cow<'static, str>>,
        position: Option<Position>,
        message: impl FnOnce() -> String,
    ) {
        let code = code.into();
        if let Some(known) = self.list.iter_mut().find(|problem| problem.code == code) {
            known.count += 1;
            known.level = known.level.max(level);
            return;
        }
        self.list.push(Problem { level, code, position, message: message(), count: 1 });
    }

    /// Adds a problem that occurred `count` times; nothing if that is 0.
    pub fn add_times(
        &mut self,
        count: u64,
        level: Level,
        code: impl Into<Cow<'static, str>>,
        message: impl FnOnce() -> String,
    ) {
        if count == 0 {
            return;
        }
        let code = code.into();
        self.add(level, code.clone(), None, message);
        if let Some(known) = self.list.iter_mut().find(|problem| problem.code == code) {
            known.count += count - 1;
        }
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: &'static str, position: Option<Position>, message: impl FnOnce() -> String) {
        self.add(Level::Warning, code, position, message);
    }

    /// Adds the problems of a part of the same source.
    pub(crate) fn merge(&mut self, others: Self) {
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

    /// Whether any problem is at least as serious as `level`.
    #[must_use]
    pub fn any_at_least(&self, level: Level) -> bool {
        self.list.iter().any(|problem| problem.level >= level)
    }

    /// Whether there are no problems.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The problems in the order of their first occurrence.
    #[must_use]
    pub fn into_vec(self) -> Vec<Problem> {
        self.list
    }
}
