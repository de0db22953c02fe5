//! The queries that took longest, one line each.

use super::application::hanging;
use crate::queries::line;
use crate::wrap::clean;
use elephant_engine::results::ApplicationReport;
use std::io::{self, Write};

/// "query 12 "daily import" took 5m 2s (41 % of the run), planning 20.1 s; `SortMergeJoin` on k 40 %".
pub(super) fn write(app: &ApplicationReport, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    app.queries.iter().try_for_each(|query| hanging(&clean(&line(query)), columns, out))
}
