//! Markdown tables and their cells.

use std::fmt::{self, Display};

use crate::costs::{Best, Costs};

const MEBIBYTE: f64 = (1 << 20) as f64;

/// A table; an empty one prints nothing.
pub(crate) struct Table {
    pub(crate) head: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        writeln!(out, "| {} |", self.head.join(" | "))?;
        writeln!(out, "|{}", " --- |".repeat(self.head.len()))?;
        self.rows.iter().try_for_each(|row| writeln!(out, "| {} |", row.join(" | ")))
    }
}

/// Cell for a missing value.
pub(crate) const NOTHING: &str = "–";

fn cell(value: Option<String>) -> String {
    value.unwrap_or_else(|| NOTHING.to_owned())
}

/// Seconds, with the spread if there was more than one run.
pub(crate) fn seconds(best: Option<Best>, runs: usize) -> String {
    let spread =
        |best: Best| if runs > 1 { format!(" (+{:.0} %)", best.spread * 100.0) } else { String::new() };
    cell(best.map(|best| format!("{}{}", significant(best.seconds), spread(best))))
}

/// Ratio of the CPU times, for a cell.
pub(crate) fn times(costs: Option<&Costs>, other: Option<&Costs>) -> String {
    cell(cpu_ratio(costs, other).map(significant))
}

/// Ratio of the CPU times.
pub(crate) fn cpu_ratio(costs: Option<&Costs>, other: Option<&Costs>) -> Option<f64> {
    Some(costs?.cpu()?.seconds / other?.cpu()?.seconds)
}

pub(crate) fn mebibytes(bytes: Option<u64>) -> String {
    cell(bytes.map(|bytes| format!("{:.1}", bytes as f64 / MEBIBYTE)))
}

pub(crate) fn megabytes(bytes: u64) -> String {
    thousands(bytes as f64 / 1e6)
}

/// Units per second of wall time.
pub(crate) fn per_second(number: f64, costs: Option<&Costs>) -> String {
    cell(costs.and_then(Costs::wall).map(|wall| thousands(number / wall.seconds)))
}

/// Formats with at least three digits.
pub(crate) fn significant(value: f64) -> String {
    let decimals = match value {
        ..0.1 => 4,
        0.1..1.0 => 3,
        1.0..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Formats with thousands separators, and without decimals from 100.
pub(crate) fn thousands(value: f64) -> String {
    if value < 100.0 {
        return significant(value);
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
