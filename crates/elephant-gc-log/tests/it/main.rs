//! Reads logs of every collector: forms written after the sources of the JDK, recordings, and other projects' samples.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod corpus;
mod damage;
mod forms;
mod recorded;
mod second;

use elephant_gc_log::{Error, GcLog, NotGcLog, parse};

/// The summary of a text.
pub(crate) fn read(text: &str) -> GcLog {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Why a text is refused.
pub(crate) fn refused(text: &[u8]) -> Option<NotGcLog> {
    match parse(text) {
        Err(Error::NotGcLog(reason)) => Some(reason),
        _ => None,
    }
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64()
}

/// Whether two numbers are equal to a millionth.
pub(crate) fn is_close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-6 * right.abs().max(1.0)
}
