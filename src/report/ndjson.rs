//! One application a line, with the keys of `applications` in the JSON report. Every line is of that one kind, so
//! the summary and the problems are left to the JSON report and to standard error.

use std::io::{self, Write};

use super::json::application;
use crate::engine::Report;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for app in &report.applications {
        serde_json::to_writer(&mut *out, &application(app)).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
