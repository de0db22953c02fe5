//! Checks that there is disk space for the generated logs.

use std::io;
use std::path::Path;
use std::process::Command;

use crate::plan::Plan;

/// Prints the space needed, and fails if it is not available.
pub(crate) fn check(plan: &Plan, data: &Path) -> io::Result<()> {
    let needed = plan.missing_bytes(data);
    if needed == 0 {
        return Ok(());
    }
    let (gigabytes, place) = (needed as f64 / 1e9, data.display());
    eprintln!(
        "the generated logs need another {gigabytes:.1} GB in {place} (choose another folder with --data FOLDER)"
    );
    match free_bytes(data) {
        None => eprintln!("free disk space is unknown: `df` failed"),
        Some(free) if free < needed + needed / 4 => {
            let message = format!("{place} has only {:.1} GB free", free as f64 / 1e9);
            return Err(io::Error::new(io::ErrorKind::StorageFull, message));
        }
        Some(_) => (),
    }
    Ok(())
}

fn free_bytes(folder: &Path) -> Option<u64> {
    let run = Command::new("df").args(["-P", "-k"]).arg(folder).output().ok()?;
    let output = String::from_utf8(run.stdout).ok()?;
    // POSIX fixes the columns. The file system name before them may contain spaces, the numbers do not.
    let numbers: Vec<u64> =
        output.lines().nth(1)?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [.., available] = numbers.as_slice() else { return None };
    Some(available * 1024)
}
