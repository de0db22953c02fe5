//! One application a line, with the keys of `applications` in the JSON report. Every line is of that one kind, so
//! the summary and the problems are left to the JSON report and to standard error.

use std::io::{self, Write};

use super::json::{application, write_line};
use crate::results::Report;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    report.applications.iter().try_for_each(|app| write_line(&application(app), out))
}
