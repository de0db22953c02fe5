//! Size and start-up time of the executable.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::costs::Costs;
use crate::machine;
use crate::markdown::{NOTHING, Table, mebibytes, seconds};
use crate::plan::SMALLEST;
use crate::tools::Tools;
use crate::trial::{Id, Trials};

/// Runs that do almost nothing.
pub(crate) struct Starts {
    version: Id,
    smallest: Id,
    smallest_bytes: u64,
}

pub(crate) fn add(data: &Path, tools: &Tools, trials: &mut Trials) -> io::Result<Starts> {
    let path = SMALLEST.path(data);
    let smallest_bytes = fs::metadata(&path)?.len();
    let smallest = tools.analyze(vec![path], 1, trials);
    Ok(Starts { version: tools.version(trials), smallest, smallest_bytes })
}

pub(crate) fn table(program: &Path, starts: &Starts, trials: &Trials) -> Table {
    let row = |name: String, id: Id| {
        let costs = trials.costs(id);
        let runs = costs.map_or(0, Costs::runs);
        vec![
            name,
            seconds(costs.and_then(Costs::cpu), runs),
            seconds(costs.and_then(Costs::wall), runs),
            mebibytes(costs.and_then(Costs::peak_bytes)),
        ]
    };
    let size = |bytes: Option<u64>| mebibytes(bytes);
    let nothing = || NOTHING.to_owned();
    let built = fs::metadata(program).ok().map(|file| file.len());
    let bytes = starts.smallest_bytes / 1000;
    Table {
        head: vec!["the program itself", "CPU s", "wall s", "MiB"],
        rows: vec![
            row("`--version`, memory".to_owned(), starts.version),
            row(format!("an event log of {bytes} kB, memory"), starts.smallest),
            vec!["executable, with symbols".to_owned(), nothing(), nothing(), size(built)],
            vec!["executable, stripped".to_owned(), nothing(), nothing(), size(stripped_bytes(program))],
        ],
    }
}

/// Warns if the smallest peak may be this process's own, which child processes inherit.
pub(crate) fn check_peaks(starts: &Starts, trials: &Trials) {
    let smallest = trials.costs(starts.version).and_then(Costs::peak_bytes);
    if let (Some(own), Some(smallest)) = (machine::own_peak_bytes(), smallest)
        && own >= smallest
    {
        eprintln!("the smallest memory peaks are those of the benchmark itself, {own} bytes");
    }
}

/// `None` if `strip` is not installed.
fn stripped_bytes(program: &Path) -> Option<u64> {
    let stripped = std::env::temp_dir().join(format!("elephant-rs-stripped-{}", std::process::id()));
    let run = Command::new("strip").arg("-o").arg(&stripped).arg(program).status();
    let size = fs::metadata(&stripped).ok().map(|file| file.len());
    fs::remove_file(&stripped).ok();
    size.filter(|_| run.is_ok_and(|status| status.success()))
}
