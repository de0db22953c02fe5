//! Finds and reads rule files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use super::{PRESETS, RuleError};
use elephant_rule::params::RuleFile;

/// Larger files are not rule files, but were given by mistake.
const MAX_LEN: u64 = 8 << 20;

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().first() == Some(&b'.')
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("yaml") || e.eq_ignore_ascii_case("yml"))
}

/// Finds a preset by name, a YAML file, or all `*.yaml` and `*.yml` files below a folder in name order.
/// Hidden files are skipped.
///
/// # Errors
/// The first file that cannot be read, or an error if a folder has no rule file.
pub fn find_files(path: &Path) -> Result<Vec<RuleFile>, RuleError> {
    let (files, errors) = find_all_files(path);
    errors.into_iter().next().map_or(Ok(files), Err)
}

/// Like [`find_files`], with all files that can be read and an error for each of the others.
#[must_use]
pub fn find_all_files(path: &Path) -> (Vec<RuleFile>, Vec<RuleError>) {
    let preset = PRESETS.iter().find(|(name, _)| path.as_os_str() == *name);
    if let Some((name, text)) = preset
        && !path.exists()
    {
        return (vec![RuleFile { name: format!("preset {name}"), text: (*text).to_owned() }], Vec::new());
    }
    let unreadable = |source| RuleError::Unreadable { path: path.to_owned(), source };
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    let mut take = |read: Result<RuleFile, RuleError>| match read {
        Ok(file) => files.push(file),
        Err(error) => errors.push(error),
    };
    match std::fs::metadata(path) {
        Err(error) => take(Err(unreadable(error))),
        Ok(meta) if !meta.is_dir() => take(read(path)),
        Ok(_) => {
            // Mounted configurations are links to files in a hidden folder.
            let walk = WalkDir::new(path).follow_links(true).sort_by_file_name().into_iter();
            for entry in walk.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry)) {
                match entry {
                    Ok(entry) if entry.file_type().is_file() && is_yaml(entry.path()) => {
                        take(read(entry.path()));
                    }
                    Err(error) if error.loop_ancestor().is_none() => take(Err(RuleError::Unreadable {
                        path: error.path().unwrap_or(path).to_owned(),
                        source: error.into(),
                    })),
                    _ => {}
                }
            }
            if files.is_empty() && errors.is_empty() {
                errors.push(RuleError::NoFiles { path: path.to_owned() });
            }
        }
    }
    (files, errors)
}

fn read(path: &Path) -> Result<RuleFile, RuleError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_LEN + 1).read_to_string(&mut text));
    read.map_err(|source| RuleError::Unreadable { path: path.to_owned(), source })?;
    if text.len() as u64 > MAX_LEN {
        return Err(RuleError::TooLarge { path: path.to_owned() });
    }
    Ok(RuleFile { name: path.display().to_string(), text })
}
