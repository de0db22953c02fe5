//! How memory grows with the size of one application.

use std::fs;
use std::io;
use std::path::Path;

use crate::costs::Costs;
use crate::input::Content;
use crate::large::THREADS;
use crate::markdown::{Table, mebibytes, megabytes, thousands};
use crate::plan::SMALLEST;
use crate::tools::Tools;
use crate::trial::{Id, Trials};

/// One history, read by so many threads.
pub(crate) struct Row {
    content: Content,
    threads: u32,
    bytes: u64,
    analyze: Id,
    /// The run on a history of one task.
    base: Id,
}

/// The runs that a history needs.
pub(crate) fn add(content: Content, data: &Path, tools: &Tools, trials: &mut Trials) -> io::Result<Vec<Row>> {
    let (path, smallest) = (content.path(data), SMALLEST.path(data));
    let bytes = fs::metadata(&path)?.len();
    let rows = THREADS.map(|threads| Row {
        content,
        threads,
        bytes,
        analyze: tools.analyze(vec![path.clone()], threads, trials),
        base: tools.analyze(vec![smallest.clone()], threads, trials),
    });
    Ok(rows.into())
}

pub(crate) fn table(rows: &[Row], trials: &Trials) -> Table {
    let head =
        vec!["event log", "MB", "tasks", "threads", "peak MiB", "base MiB", "bytes per task above the base"];
    let line = |row: &Row| {
        let peak = |id: Id| trials.costs(id).and_then(Costs::peak_bytes);
        let (own, base) = (peak(row.analyze), peak(row.base));
        let above = own.unwrap_or_default().saturating_sub(base.unwrap_or_default());
        vec![
            row.content.name(),
            megabytes(row.bytes),
            thousands(row.content.tasks().into()),
            row.threads.to_string(),
            mebibytes(own),
            mebibytes(base),
            thousands(above as f64 / f64::from(row.content.tasks())),
        ]
    };
    Table { head, rows: rows.iter().map(line).collect() }
}
