//! First lines of exceptions of the JVM.

/// Class names end like this.
const ENDINGS: [&str; 4] = ["Exception", "Error", "Throwable", "Failure"];

/// What may come before the class of an exception that nothing caused.
const PREFIXES: [&str; 8] = [
    "User class threw exception: ",
    "Uncaught exception: ",
    "Error running child : ",
    "Exception running child : ",
    "Error in query: ",
    "Diagnostics: ",
    "Error: ",
    "FAILED: ",
];

/// Starts a cause.
const CAUSED_BY: [&str; 2] = ["Caused by: ", "Wrapped by: "];

/// Between the frames and what happened meanwhile: no cause.
const SUPPRESSED: &str = "Suppressed: ";

/// The longest name of a class.
const LONGEST: usize = 300;

/// How an exception begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The outermost one.
    Outermost,
    /// A cause of the one before.
    Cause,
    /// Suppressed by the one before.
    Suppressed,
}

/// The first line of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head<'l> {
    pub(crate) role: Role,
    /// The class, with its package.
    pub(crate) class: &'l str,
    /// What follows it.
    pub(crate) message: &'l str,
}

/// The head that a message begins with.
pub(crate) fn head(text: &str) -> Option<Head<'_>> {
    let indented = text.trim_start();
    if let Some(rest) = CAUSED_BY.iter().find_map(|mark| indented.strip_prefix(mark)) {
        // The class of a cause may be named in any way.
        return class(rest, true).map(|(class, message)| Head { role: Role::Cause, class, message });
    }
    if let Some(rest) = indented.strip_prefix(SUPPRESSED) {
        return class(rest, true).map(|(class, message)| Head { role: Role::Suppressed, class, message });
    }
    if text.len() > indented.len() + 1 {
        return None;
    }
    let rest = thread(indented).unwrap_or(indented);
    // Below `Py4JJavaError`, the exception of the JVM follows a colon.
    let rest = rest.strip_prefix(": ").unwrap_or(rest);
    let rest = PREFIXES.iter().find_map(|prefix| rest.strip_prefix(prefix)).unwrap_or(rest);
    class(rest, false).map(|(class, message)| Head { role: Role::Outermost, class, message })
}

/// What follows `Exception in thread "main" `.
fn thread(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Exception in thread \"")?;
    rest.split_once("\" ").map(|(_, rest)| rest)
}

/// The class that a text begins with, and the message after it.
fn class(text: &str, any_name: bool) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !is_of_class(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    let fits = if any_name { is_qualified(name) || is_named_so(name) } else { is_exception(name) };
    let message = match rest.strip_prefix(':') {
        Some(message) => message,
        None if rest.trim().is_empty() => "",
        // `org.apache.thrift.transport.TTransportException (…)` and `[Error 1]` of Hive.
        None if rest.starts_with([' ', '(']) && any_name => rest,
        None => return None,
    };
    (fits && end <= LONGEST).then(|| (name, message.trim()))
}

/// Whether a word is the class of an exception with its package: `java.io.IOException`.
pub(crate) fn is_exception(word: &str) -> bool {
    is_qualified(word) && is_named_so(word)
}

/// Whether a word has at least two parts, each an identifier.
fn is_qualified(word: &str) -> bool {
    let mut parts = word.split('.');
    let is_part = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$');
    parts.clone().count() > 1 && parts.all(is_part)
}

/// Whether a word ends like the class of an exception, and is longer than that ending.
pub(crate) fn is_named_so(word: &str) -> bool {
    ENDINGS.iter().any(|ending| word.ends_with(ending) && word.len() > ending.len())
}

const fn is_of_class(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$')
}

/// Texts in a message after which it repeats the first line of the exception that made a task fail.
const QUOTING: [&str; 3] = ["most recent failure: ", "Lost task ", "Exception in task "];

/// The exception of a task that a driver's message quotes: `Job aborted due to stage failure: … most recent failure: Lost
/// task 0.3 in stage 0.0 (TID 3) (host executor 1): my.Exception: text`.
pub(crate) fn quoted(message: &str) -> Option<Head<'_>> {
    let from = QUOTING.iter().find_map(|mark| message.find(mark))?;
    let rest = message.get(from..)?;
    let mut places = memchr::memmem::find_iter(rest.as_bytes(), "): ");
    places.find_map(|at| {
        let (class, message) = class(rest.get(at + 3..)?, false)?;
        Some(Head { role: Role::Cause, class, message })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<(Role, &str, &str)> {
        head(text).map(|head| (head.role, head.class, head.message))
    }

    #[test]
    fn exceptions_begin_in_many_ways() {
        for (text, role, class, message) in [
            ("java.lang.NullPointerException", Role::Outermost, "java.lang.NullPointerException", ""),
            (
                "Exception in thread \"main\" a.b.C$DException: x: y",
                Role::Outermost,
                "a.b.C$DException",
                "x: y",
            ),
            ("Error: java.lang.RuntimeException: x", Role::Outermost, "java.lang.RuntimeException", "x"),
            (
                ": org.apache.spark.SparkException: Job aborted",
                Role::Outermost,
                "org.apache.spark.SparkException",
                "Job aborted",
            ),
            ("Caused by: a.Odd", Role::Cause, "a.Odd", ""),
            ("\tSuppressed: java.io.IOException: x", Role::Suppressed, "java.io.IOException", "x"),
            ("User class threw exception: a.BException: c", Role::Outermost, "a.BException", "c"),
        ] {
            assert_eq!(told(text), Some((role, class, message)), "{text}");
        }
        for text in [
            "",
            "Error: could not find it",
            "a.b.C: x",
            "An Exception: x",
            "IOException: x",
            "a..Exception",
            "see java.io.IOException: x",
            "java.io.IOException is thrown",
            "    a.bException: x",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn a_driver_quotes_the_exception_of_a_task() {
        let message = "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.1 executor 1): my.own.BadException: row (7): x";
        let quoted = quoted(message).unwrap();
        assert_eq!((quoted.class, quoted.message), ("my.own.BadException", "row (7): x"));
        assert_eq!(super::quoted("Lost task 0.3 (TID 3): ExecutorLostFailure (executor 1 exited)"), None);
        assert_eq!(super::quoted("nothing (a): b.CException: d"), None);
    }
}
