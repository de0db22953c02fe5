//! Why something failed: the kind of a failure from its message or stack trace, and the meaning of exit codes.
//!
//! Each kind has a page in `rules/failures`. The strings that identify kinds are in `signatures`; they are texts that
//! Spark, Hadoop, the JVM and the operating system write, so users' own messages are rarely mistaken for them.

mod exit;
mod kind;
mod remedy;
mod signatures;
mod taken;
mod text;

pub use exit::{ExitCode, exit_code};
pub use kind::{Actor, FailureKind};
pub use remedy::{Standing, is_cancelled};
pub use taken::taken_away;

use crate::engine_facts::process::SIGKILL;
use signatures::{FINDERS, Rank, SIGNATURES, Signature};
use text::{Found, Part};

/// What a text about a failure says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The class of the exception that caused it, as written: `java.lang.OutOfMemoryError`. `None` if the text names
    /// no exception.
    pub exception: Option<String>,
    /// The exit code of the process or container, if the text contains one other than 0.
    pub exit_code: Option<i32>,
}

/// The kind of the failure that `text` describes: a message, a stack trace, or diagnostics of a container. `None` if
/// the text describes none.
///
/// If a text has several kinds, the most specific one counts: "heap space" over "fetch failed" over "connection reset",
/// because the first causes the others. Among equally specific ones, that of the last "Caused by:" counts, as it is the
/// root cause. Frames of stack traces are ignored. Only the first and last 32 KiB of a long text are read, so the time
/// is bounded.
#[must_use]
pub fn classify(text: &str) -> Option<Diagnosis> {
    classify_by(text, |code| exit::exit_code(code).map(|code| code.kind))
}

/// As [`classify`], for a line or an exception in a log of a process. A log has more than the one message of a history: where
/// a limit was exceeded, it says so, and a process that was killed without one may have been killed for any reason.
#[must_use]
pub fn classify_log(text: &str) -> Option<Diagnosis> {
    classify_by(text, |code| match code {
        SIGKILL => Some(FailureKind::ExecutorLost),
        code => exit::exit_code(code).map(|code| code.kind),
    })
}

fn classify_by(text: &str, kind_of: impl Fn(i32) -> Option<FailureKind>) -> Option<Diagnosis> {
    let parts = text::parts(text);
    let exit_code = text::exit_code(&parts);
    let by_code = exit_code.and_then(kind_of);
    let known = parts.iter().enumerate().filter_map(|(place, part)| {
        let (signature, at) = most_specific(part)?;
        Some(Candidate {
            rank: signature.rank,
            place,
            kind: signature.kind,
            exception: part.class_before(at),
        })
    });
    // `max_by_key` returns the last of equals: the innermost cause.
    let best = known.max_by_key(|candidate| (candidate.rank, candidate.place));
    let by_code = by_code.map(|kind| Candidate { rank: Rank::Vague, place: 0, kind, exception: None });
    let best = match best {
        Some(best) if best.rank > Rank::Vague => best,
        Some(best) if best.rank == Rank::Vague => by_code.unwrap_or(best),
        wrapper => by_code.or_else(|| thrown(&parts)).or(wrapper)?,
    };
    Some(Diagnosis { kind: best.kind, exception: best.exception.map(str::to_owned), exit_code })
}

/// What one part of a text says.
struct Candidate<'a> {
    rank: Rank,
    place: usize,
    kind: FailureKind,
    exception: Option<&'a str>,
}

/// The strings by which kinds of failures are known, those of one signature together: a text that loses all else is still
/// classified the same.
pub fn signature_strings() -> impl Iterator<Item = &'static [&'static str]> {
    SIGNATURES.iter().map(|signature| signature.strings)
}

/// The texts before the exit code of a process, which [`classify`] looks for.
pub fn exit_code_marks() -> impl Iterator<Item = &'static str> {
    text::CODE_MARKS.into_iter()
}

/// The most specific signature in a part, and where it ends; among equally specific ones, the first in the table.
fn most_specific(part: &Part<'_>) -> Option<(&'static Signature, usize)> {
    let mut best: Option<(&'static Signature, usize)> = None;
    for (signature, finders) in SIGNATURES.iter().zip(&*FINDERS) {
        if best.is_some_and(|(known, _)| known.rank >= signature.rank) {
            continue;
        }
        if let Some(at) = part.end_of(finders) {
            best = Some((signature, at));
        }
    }
    best
}

/// An exception that no signature describes, thrown by the code that ran: the innermost one.
fn thrown<'a>(parts: &[Part<'a>]) -> Option<Candidate<'a>> {
    let mut innermost = parts.iter().enumerate().rev();
    innermost.find_map(|(place, part)| Some((place, part.thrown()?))).map(|(place, found)| {
        let (kind, class) = match found {
            Found::Java(class) => (FailureKind::UserCode, class),
            Found::Python(class) => (FailureKind::PythonError, class),
        };
        Candidate { rank: Rank::Vague, place, kind, exception: Some(class) }
    })
}

#[cfg(test)]
mod tests;
