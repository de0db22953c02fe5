//! What is kept of the texts of failures: their start, and their last cause, which is the root of the others.

use memchr::memmem;

use crate::reading::truncate;
use crate::scan::RawStr;

/// Maximum length of the first line of a failure message, and of the line about its last cause.
pub(super) const MAX_LINE_LEN: usize = 240;

/// Maximum length of what is read of the last cause: a traceback of Python is a part of it.
const MAX_CAUSE_LEN: usize = 16 << 10;

/// Starts a cause, as in stack traces of the JVM.
pub(super) const CAUSED_BY: &str = "Caused by: ";

/// Starts a traceback of Python, whose last line says what happened.
pub(super) const TRACEBACK: &str = "Traceback (most recent call last)";

/// The lines without blank ones and without the SQLSTATE that Spark appends.
pub(super) fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("SQLSTATE"))
}

/// The last cause in a stack trace, in one line: "java.io.IOException: disk full". Only the text from its start to its
/// first frame is decoded.
pub(super) fn last_cause(trace: RawStr<'_>) -> Option<String> {
    let at = memmem::rfind(trace.bytes, CAUSED_BY.as_bytes())?;
    let cause = trace.bytes.get(at + CAUSED_BY.len()..)?;
    let end = memmem::find(cause, br"\n\tat ").unwrap_or(cause.len());
    let cause = cause.get(..end)?;
    let cause = match cause.get(..MAX_CAUSE_LEN) {
        // A line ends between two characters.
        Some(start) => start.get(..memmem::rfind(start, br"\n")?)?,
        None => cause,
    };
    let text = RawStr { bytes: cause, escaped: trace.escaped }.text();
    let first = lines(&text).next()?;
    let line = match first.split_once(TRACEBACK) {
        // "org.apache.spark.api.python.PythonException: Traceback (most recent call last):"
        Some((before, _)) => {
            let class = before.split(": ").next().unwrap_or_default().trim_end_matches([':', ' ']);
            format!("{class}: {}", lines(&text).next_back()?)
        }
        None => first.to_owned(),
    };
    Some(truncate(&line, MAX_LINE_LEN).to_owned())
}

/// Adds the last cause, unless the message contains it.
pub(super) fn with_cause(message: String, cause: Option<String>) -> String {
    match cause.filter(|cause| !message.contains(cause.as_str())) {
        Some(cause) => format!("{message}\n{CAUSED_BY}{cause}"),
        None => message,
    }
}

/// The start of a text of a failure, up to `limit` bytes, and its last cause; `None` for an empty text.
pub(super) fn shortened(raw: RawStr<'_>, limit: usize) -> Option<String> {
    let text = raw.text();
    let start = truncate(&text, limit);
    (!text.is_empty()).then(|| with_cause(start.to_owned(), last_cause(raw)))
}
