//! One application per line, with the keys of `applications` in the JSON report. All lines are of one kind, so the
//! summary and the problems are only in the JSON report and on standard error.

use std::io::{self, Write};

use super::json::{application, write_line};
use elephant_engine::results::{ApplicationReport, Report};

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    report.applications.iter().try_for_each(|app| piece(app, out))
}

/// One application as JSON, with the keys of `applications` in the JSON report.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn json_of(app: &ApplicationReport) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    piece(app, &mut out)?;
    Ok(out)
}

/// The line of one application.
pub(super) fn piece(app: &ApplicationReport, out: &mut dyn Write) -> io::Result<()> {
    write_line(&application(app), out)
}
