//! Whether the histories have a place.

use std::io;
use std::path::Path;
use std::process::Command;

use crate::plan::Plan;

/// Tells what is needed, and fails where it is not there.
pub(crate) fn check(plan: &Plan, data: &Path) -> io::Result<()> {
    let needed = plan.missing_bytes(data);
    if needed == 0 {
        return Ok(());
    }
    let (gigabytes, place) = (needed as f64 / 1e9, data.display());
    eprintln!(
        "the histories take about {gigabytes:.1} GB more, in {place} (--data FOLDER for another place)"
    );
    match free_bytes(data) {
        None => eprintln!("whether they have a place is unknown: `df` does not tell"),
        Some(free) if free < needed + needed / 4 => {
            let message = format!("{place} has {:.1} GB free, too little for them", free as f64 / 1e9);
            return Err(io::Error::new(io::ErrorKind::StorageFull, message));
        }
        Some(_) => (),
    }
    Ok(())
}

fn free_bytes(folder: &Path) -> Option<u64> {
    let run = Command::new("df").args(["-P", "-k"]).arg(folder).output().ok()?;
    let told = String::from_utf8(run.stdout).ok()?;
    // The columns are fixed by POSIX; a name before them may have spaces, the numbers have none.
    let numbers: Vec<u64> =
        told.lines().nth(1)?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [.., available] = numbers.as_slice() else { return None };
    Some(available * 1024)
}
