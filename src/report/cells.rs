//! Cells of CSV tables (RFC 4180). Unknown is an empty cell.

use std::borrow::Cow;

/// A value as a cell.
pub(super) fn number<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A name as a cell. Spreadsheets take a cell that starts like a formula for one.
pub(super) fn quoted(name: &str) -> Cow<'_, str> {
    let formula = name.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let special = name.contains(['"', ',', '\n', '\r']);
    if !formula && !special {
        return Cow::Borrowed(name);
    }
    let guard = if formula { "'" } else { "" };
    Cow::Owned(format!("\"{guard}{}\"", name.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_cell() {
        assert_eq!(quoted("node1"), "node1");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(quoted("=1+1"), "\"'=1+1\"");
        assert_eq!(number::<f64>(None), "");
    }
}
