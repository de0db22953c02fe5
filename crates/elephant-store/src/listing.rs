//! Which files are new or changed since they were last read, and which are gone.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rustc_hash::{FxHashMap, FxHashSet};

use super::StoreError;
use super::database::{Database, values};
use elephant_input::discover::{FileList, FileState, Listed};
use elephant_input::storage::Storages;
use elephant_input::unit::Unit;

/// A file as it was when it was last read.
struct Known {
    state: FileState,
    /// Whether it was read by this version with these rules.
    is_current: bool,
}

/// The files that need not be read again: they were read with these rules, or up to limits with the same limits.
pub(super) fn unchanged(
    database: &Database,
    listed: &[Listed],
    (tool, [rules_hash, within_limits]): (&str, [&str; 2]),
) -> Result<FxHashSet<PathBuf>, StoreError> {
    let mut known = FxHashMap::default();
    database.visit(
        "SELECT path, size, modified, tool = ?1 AND rules_hash IN (?2, ?3), etag FROM file JOIN run USING (run)",
        &values![tool, rules_hash, within_limits],
        |row| {
            let size = row.get::<i64>(1)?.cast_unsigned();
            let state = FileState { size, modified: row.get(2)?, etag: row.get(4)? };
            known.insert(row.get::<Vec<u8>>(0)?, Known { state, is_current: row.get(3)? });
            Ok(true)
        },
    )?;
    let is_changed = |file: &Listed| {
        let known = known.get(file.path.as_os_str().as_encoded_bytes());
        known.is_none_or(|known| !known.is_current || !known.state.is_same(&file.state))
    };
    // One new part of a log, or a configuration that came later, changes the whole application.
    let changed: FxHashSet<Unit> =
        listed.iter().filter(|file| is_changed(file)).map(|file| Unit::of(&file.path)).collect();
    let unchanged = listed.iter().filter(|file| !changed.contains(&Unit::of(&file.path)));
    Ok(unchanged.map(|file| file.path.clone()).collect())
}

/// The files that could not be read when they were there, and are gone.
pub(super) fn gone(
    database: &Database,
    list: &FileList,
    storages: &Storages,
) -> Result<Vec<PathBuf>, StoreError> {
    let paths = database.rows("SELECT path FROM file WHERE problem IS NOT NULL", &[], |row| row.get(0))?;
    let paths = paths.into_iter().filter_map(|path| String::from_utf8(path).ok()).map(PathBuf::from);
    let mut gone: Vec<PathBuf> = paths.filter(|path| list.covers(path)).collect();
    if gone.is_empty() {
        return Ok(gone);
    }
    let listed: FxHashSet<&Path> = list.files.iter().map(|file| file.path.as_path()).collect();
    let is_missing =
        |path: &Path| fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    gone.retain(|path| !listed.contains(path.as_path()) && (storages.has(path) || is_missing(path)));
    Ok(gone)
}

/// Forgets files that are gone.
pub(super) fn forget(database: &Database, gone: &[PathBuf]) -> Result<(), StoreError> {
    if gone.is_empty() {
        return Ok(());
    }
    database.writing(|| {
        gone.iter().try_for_each(|path| {
            let path = path.as_os_str().as_encoded_bytes();
            database.send("DELETE FROM file WHERE path = ?1 AND problem IS NOT NULL", &values![path])
        })
    })
}
