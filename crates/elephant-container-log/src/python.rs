//! First and last lines of Python's tracebacks.

use super::head::is_named_so;

/// Starts a traceback.
const TRACEBACK: &str = "Traceback (most recent call last)";
/// Between two tracebacks: the exception above caused the one below.
const DIRECT: &str = "The above exception was the direct cause of the following exception";
/// The same, while the one above was handled.
const DURING: &str = "During handling of the above exception, another exception occurred";

/// What follows the start of a traceback in its line, if the line has one: `…PythonException: Traceback (most …`.
pub(crate) fn starts_traceback(text: &str) -> bool {
    text.contains(TRACEBACK)
}

/// Whether the line is between the traceback of a cause and that of its effect.
pub(crate) fn joins(text: &str) -> bool {
    text.contains(DIRECT) || text.contains(DURING)
}

/// The class and the message of the line that ends a traceback: `ValueError: text`, `KeyError`.
pub(crate) fn raised(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_'))).unwrap_or(text.len());
    let (class, rest) = text.split_at_checked(end)?;
    let is_class = class.starts_with(|c: char| c.is_alphabetic() || c == '_') && !class.contains("..");
    let last = class.rsplit('.').next().unwrap_or(class);
    let exits = ["KeyboardInterrupt", "SystemExit", "StopIteration", "Warning"]
        .iter()
        .any(|name| last.ends_with(name));
    match rest.strip_prefix(':') {
        // Users name their exceptions as they like.
        Some(message) if is_class && !class.is_empty() => Some((class, message.trim())),
        None if rest.trim().is_empty() && is_class && (is_named_so(last) || exits) => Some((class, "")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_traceback_names_what_was_raised() {
        assert_eq!(raised("ValueError: no price"), Some(("ValueError", "no price")));
        assert_eq!(
            raised("py4j.protocol.Py4JJavaError: An error"),
            Some(("py4j.protocol.Py4JJavaError", "An error"))
        );
        assert_eq!(raised("KeyError"), Some(("KeyError", "")));
        assert_eq!(raised("shop.NoPrice: 7"), Some(("shop.NoPrice", "7")));
        assert_eq!(raised("    raise ValueError(x)"), None);
        assert_eq!(raised("done"), None);
        assert_eq!(raised(""), None);
    }
}
