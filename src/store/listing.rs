//! Which files are new or changed since they were last read.

use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};

use super::StoreError;
use super::database::{Database, values};
use crate::input::discover::{FileState, Listed};
use crate::input::unit::Unit;

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
