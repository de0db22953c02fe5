//! Cells of CSV tables (RFC 4180, but lines end with LF). An unknown value is an empty cell.

use super::wrap::clean;

/// A value as a cell.
pub(super) fn number<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A name as a cell, without control characters. A cell that a spreadsheet would read as a formula starts with `'`; some
/// spreadsheets also recognise formulas after blanks or in full-width characters.
pub(super) fn quoted(name: &str) -> String {
    let name = clean(name);
    let formula = name.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let special = name.contains(['"', ',']) || name != name.trim();
    if !formula && !special {
        return name;
    }
    let guard = if formula { "'" } else { "" };
    format!("\"{guard}{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_cell() {
        assert_eq!(quoted("node1"), "node1");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(quoted("a\r\nb\0"), "\"a  b \"");
        assert_eq!(number::<f64>(None), "");
    }

    #[test]
    fn no_cell_is_a_formula() {
        assert_eq!(quoted("=1+1"), "\"'=1+1\"");
        for name in ["+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u{feff}=1", "＝1"] {
            let cell = quoted(name);
            assert!(cell.starts_with("\"'"), "{name:?} became {cell}");
        }
        assert_eq!(quoted("a=1"), "a=1");
    }
}
