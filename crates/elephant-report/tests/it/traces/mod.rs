//! Cluster traces: told apart, read, and compared with figures that are computed here from the lines alone.

mod damage;
mod figures;
mod job_names;
mod plots;
mod told_apart;

use std::fs;
use std::path::{Path, PathBuf};

use elephant_engine::survey::{self, Settings, StragglerReport};
use elephant_generate::trace_folder::Folder;
use elephant_generate::traces::{Size, Trace};

const ALL: [Trace; 3] = [Trace::Google2011, Trace::Alibaba2017, Trace::Alibaba2018];

/// Forty jobs of about forty tasks on twenty machines.
const SMALL: Size = Size { jobs: 40, tasks: 1600, machines: 20, days: 2, seed: 7 };

/// Writes a trace to a folder.
fn write(trace: Trace, size: Size, folder: &Path) -> PathBuf {
    let path = folder.join(format!("{trace:?}"));
    // Several parts of the tasks.
    trace.write(size, &mut Folder::new(trace, &path, false, 2000)).unwrap();
    path
}

fn survey_of(path: &Path) -> StragglerReport {
    let settings = Settings { replay: false, ..Settings::default() };
    survey::report(&[path.to_owned()], &settings, None)
}

/// All files of a trace that hold a part of a table.
fn files(folder: &Path, table: &str) -> Vec<PathBuf> {
    let all = elephant_testing::files_below(folder);
    all.into_iter().filter(|path| path.to_str().unwrap().contains(table)).collect()
}

/// The lines of a table, split into columns.
fn rows(folder: &Path, table: &str) -> Vec<Vec<String>> {
    let texts = files(folder, table).into_iter().map(|path| fs::read_to_string(path).unwrap());
    let lines: Vec<String> =
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.iter().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}
