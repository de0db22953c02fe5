//! Whole files: secrets do not survive, the same key gives the same bytes, nothing is overwritten.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod output;
mod planted;
mod secrets;

use std::path::Path;

use elephant_anonymise::{AnonymiseError, Key, Options, Report, anonymise};
use elephant_base::limits::Limits;
use elephant_input::storage::Storages;

/// Rewrites with this key.
pub(crate) fn rewrite(input: &Path, output: &Path, key: &str) -> Result<Report, AnonymiseError> {
    anonymise(
        input,
        output,
        &Options {
            key: Some(Key::of_text(key.as_bytes())),
            force: false,
            limits: Limits::default(),
            storages: Storages::default(),
        },
    )
}

/// The result of a file with this name and these bytes: all names and bytes of the files written.
pub(crate) fn rewritten(name: &str, bytes: &[u8], key: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    std::fs::create_dir(&input).unwrap();
    std::fs::write(input.join(name), bytes).unwrap();
    let output = folder.path().join("out");
    rewrite(&input, &output, key).unwrap();
    everything_in(&output)
}

/// The names and texts of all files below a folder.
pub(crate) fn everything_in(folder: &Path) -> String {
    let mut all = String::new();
    for file in elephant_testing::files_below(folder) {
        all.push_str(&file.strip_prefix(folder).unwrap().to_string_lossy());
        all.push('\n');
        all.push_str(&String::from_utf8_lossy(&std::fs::read(&file).unwrap()));
    }
    all
}
