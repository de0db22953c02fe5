//! Problems in rule files. Each has a file, line and column, and reading continues after it.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::RuleFile;
use super::lines::Place;
use super::yaml::{ReadError, Span, SyntaxError};

/// The importance of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Importance {
    /// The rules can be used, but the file should be changed.
    Warning,
    /// The rules cannot be used.
    Error,
}

/// One problem in a rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleProblem {
    /// Its importance.
    pub importance: Importance,
    /// The file.
    pub file: Arc<RuleFile>,
    /// The part of the file's text, in bytes.
    pub span: Span,
    /// The problem, and what was expected.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
    /// Line and column.
    place: (usize, usize),
}

#[doc(hidden)]
impl RuleProblem {
    /// Line and column, counted from 1; columns count characters.
    #[must_use]
    pub const fn place(&self) -> (usize, usize) {
        self.place
    }
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.place();
        write!(f, "{}:{line}:{column}: {}", self.file.name, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

/// Collects problems.
#[derive(Debug, Default)]
pub struct Problems {
    found: Vec<RuleProblem>,
}

impl Problems {
    /// Adds an error.
    pub fn error(
        &mut self,
        file: &Arc<RuleFile>,
        span: &Span,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.push(Importance::Error, file, span, message.into(), help);
    }

    /// Adds a warning: the file works, but should be changed.
    pub(crate) fn warning(
        &mut self,
        file: &Arc<RuleFile>,
        span: &Span,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.push(Importance::Warning, file, span, message.into(), help);
    }

    /// Adds an error for a value that does not fit. `whole` is its position if the error has none.
    pub fn unreadable(&mut self, file: &Arc<RuleFile>, whole: &Span, error: ReadError) {
        let span = error.span.unwrap_or_else(|| whole.clone());
        self.push(Importance::Error, file, &span, error.message, error.help);
    }

    /// Adds an error for a file that is not YAML.
    pub fn syntax(&mut self, file: &Arc<RuleFile>, error: SyntaxError) {
        self.push(Importance::Error, file, &error.span, error.message, error.help);
    }

    fn push(
        &mut self,
        importance: Importance,
        file: &Arc<RuleFile>,
        span: &Span,
        message: String,
        help: Option<String>,
    ) {
        self.found.push(RuleProblem {
            importance,
            file: Arc::clone(file),
            span: span.clone(),
            message,
            help,
            place: (1, 1),
        });
    }

    /// All problems without duplicates, in the order of the files.
    #[must_use]
    pub fn into_vec(mut self, order: &[Arc<RuleFile>]) -> Vec<RuleProblem> {
        let places: FxHashMap<*const RuleFile, usize> =
            order.iter().enumerate().rev().map(|(place, file)| (Arc::as_ptr(file), place)).collect();
        let place = |problem: &RuleProblem| places.get(&Arc::as_ptr(&problem.file)).copied();
        self.found.sort_by_key(|problem| (place(problem), problem.span.start, problem.span.end));
        self.found.dedup();
        for of_file in self.found.chunk_by_mut(|a, b| Arc::ptr_eq(&a.file, &b.file)) {
            let Some(file) = of_file.first().map(|problem| Arc::clone(&problem.file)) else { continue };
            let mut counted = Place::start(&file.text);
            // Only problems of built-in files are not sorted by file.
            let mut last = 0;
            for problem in of_file {
                if problem.span.start < last {
                    counted = Place::start(&file.text);
                }
                last = problem.span.start;
                problem.place = counted.of(last);
            }
        }
        self.found
    }
}
