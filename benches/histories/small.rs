//! Folders of many small logs of all kinds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::costs::Costs;
use crate::input::Folder;
use crate::large::THREADS;
use crate::markdown::{Table, mebibytes, megabytes, per_second, seconds, significant, thousands, times};
use crate::tools::Tools;
use crate::trial::{Id, Trials};

/// One folder, read with a number of threads.
pub(crate) struct Row {
    folder: Folder,
    threads: u32,
    /// Stored size.
    bytes: u64,
    analyze: Id,
    analyze_worst: Id,
    count_lines: Option<Id>,
}

/// Adds the runs for one folder.
pub(crate) fn add(folder: Folder, data: &Path, tools: &Tools, trials: &mut Trials) -> io::Result<Vec<Row>> {
    let paths = folder.paths(data);
    let bytes = paths.iter().map(|path| bytes_below(path)).sum::<io::Result<u64>>()?;
    let rows = THREADS.map(|threads| Row {
        folder,
        threads,
        bytes,
        analyze: tools.analyze(paths.clone(), threads, trials),
        analyze_worst: tools.analyze_worst(paths.clone(), threads, trials),
        count_lines: tools.count_all_lines(&paths, trials),
    });
    Ok(rows.into())
}

fn bytes_below(folder: &Path) -> io::Result<u64> {
    let files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.iter().map(|file| Ok(fs::metadata(file)?.len())).sum()
}

pub(crate) fn table(rows: &[Row], trials: &Trials) -> Table {
    let head = vec![
        "logs",
        "MB stored",
        "threads",
        "CPU s",
        "wall s",
        "jobs/s",
        "CPU ms/job",
        "peak MiB",
        "peak MiB, `--top 100`",
        "× `wc -l`",
    ];
    let line = |row: &Row| {
        let analyze = trials.costs(row.analyze);
        let (runs, jobs) = (analyze.map_or(0, Costs::runs), f64::from(row.folder.histories));
        let cpu = analyze.and_then(Costs::cpu);
        vec![
            thousands(jobs),
            megabytes(row.bytes),
            row.threads.to_string(),
            seconds(cpu, runs),
            seconds(analyze.and_then(Costs::wall), runs),
            per_second(jobs, analyze),
            significant(cpu.map_or(0.0, |cpu| cpu.seconds * 1e3 / jobs)),
            mebibytes(analyze.and_then(Costs::peak_bytes)),
            mebibytes(trials.costs(row.analyze_worst).and_then(Costs::peak_bytes)),
            times(analyze, row.count_lines.and_then(|id| trials.costs(id))),
        ]
    };
    Table { head, rows: rows.iter().map(line).collect() }
}
