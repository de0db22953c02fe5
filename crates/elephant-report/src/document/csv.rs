//! Tables for spreadsheets (RFC 4180, but lines end with LF): values in full, without units. An unknown value is an empty
//! cell.

use std::io::{self, Write};

use super::Value;
use crate::wrap::clean;
use elephant_base::units::Timestamp;

/// A column: its title, and its value in the row of an item. Scripts rely on titles and their order, so add columns at the
/// end of a table.
pub(crate) type Column<T> = (&'static str, for<'a> fn(&'a T) -> Value<'a>);

/// Writes a row for each item.
pub(crate) fn write<'a, T: 'a>(
    columns: &[Column<T>],
    items: impl IntoIterator<Item = &'a T>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{}", titles(columns))?;
    items.into_iter().try_for_each(|item| writeln!(out, "{}", row(columns, item)))
}

pub(crate) fn titles<T>(columns: &[Column<T>]) -> String {
    columns.iter().map(|(title, _)| *title).collect::<Vec<_>>().join(",")
}

pub(crate) fn row<T>(columns: &[Column<T>], item: &T) -> String {
    columns.iter().map(|(_, value)| cell(&value(item))).collect::<Vec<_>>().join(",")
}

/// The cells of a row with their titles.
#[cfg(feature = "store")]
pub(crate) fn cells<T>(columns: &[Column<T>], item: &T) -> Vec<(&'static str, String)> {
    columns.iter().map(|(title, value)| (*title, cell(&value(item)))).collect()
}

/// A value as a cell.
pub(crate) fn cell(value: &Value<'_>) -> String {
    match value {
        Value::Nothing | Value::Unknown => String::new(),
        Value::Name(text) | Value::Words(text) | Value::Code(text) => quoted(text),
        Value::Sorted(words, _) => quoted(words),
        Value::Own(words) => (*words).to_owned(),
        Value::Range(..) => quoted(&super::text::plain(value)),
        Value::Flag(flag) => flag.to_string(),
        Value::Count(count) => count.to_string(),
        Value::Number(number) | Value::Percent(number, _) | Value::Decimal(number) => number.to_string(),
        #[cfg(feature = "store")]
        Value::Amount(number, _) => number.to_string(),
        Value::Duration(time) => time.get().to_string(),
        Value::Time(at) => Timestamp::to_rfc3339(*at).unwrap_or_default(),
        Value::Drawing(_) => String::new(),
    }
}

/// A number as a cell.
pub(crate) fn number<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A name as a cell, without control characters. A cell that a spreadsheet would read as a formula starts with `'`; some
/// spreadsheets also recognise formulas after blanks or in full-width characters.
pub(crate) fn quoted(name: &str) -> String {
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
        assert_eq!(cell(&None::<f64>.into()), "");
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
