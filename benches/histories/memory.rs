//! Memory by size of one application.

use std::fs;
use std::io;
use std::path::Path;

use crate::costs::Costs;
use crate::input::Content;
use crate::large::THREADS;
use crate::markdown::{NOTHING, Table, mebibytes, megabytes};
use crate::tools::Tools;
use crate::trial::{Id, Trials};

/// One log, read with a number of threads.
pub(crate) struct Row {
    content: Content,
    threads: u32,
    bytes: u64,
    analyze: Id,
}

/// Adds the runs for one log.
pub(crate) fn add(content: Content, data: &Path, tools: &Tools, trials: &mut Trials) -> io::Result<Vec<Row>> {
    let path = content.path(data);
    let bytes = fs::metadata(&path)?.len();
    let rows = THREADS.map(|threads| Row {
        content,
        threads,
        bytes,
        analyze: tools.analyze(vec![path.clone()], threads, trials),
    });
    Ok(rows.into())
}

/// For each number of threads, from small to large. The first log is the base.
pub(crate) fn table(rows: &[Row], trials: &Trials) -> Table {
    let head = vec![
        "event log",
        "MB",
        "tasks",
        "threads",
        "peak MiB",
        "bytes per task above the base",
        "bytes per additional task",
    ];
    let mut lines = Vec::new();
    for threads in THREADS {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.threads == threads).collect();
        let growth = |row: &Row, from: Option<&&Row>| {
            let peak = |row: &Row| trials.costs(row.analyze).and_then(Costs::peak_bytes);
            let (from, tasks) = (from?, row.content.tasks());
            let more = peak(row)? as f64 - peak(from)? as f64;
            Some(more / f64::from(tasks.checked_sub(from.content.tasks())?))
        };
        let cell =
            |growth: Option<f64>| growth.map_or_else(|| NOTHING.to_owned(), |bytes| format!("{bytes:.0}"));
        for (place, row) in rows.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|before| rows.get(before));
            lines.push(vec![
                row.content.name(),
                megabytes(row.bytes),
                row.content.tasks().to_string(),
                threads.to_string(),
                mebibytes(trials.costs(row.analyze).and_then(Costs::peak_bytes)),
                cell(growth(row, rows.first().filter(|_| before.is_some()))),
                cell(growth(row, before)),
            ]);
        }
    }
    Table { head, rows: lines }
}
