//! Which files are new or changed since they were last read, and which are gone.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rustc_hash::{FxHashMap, FxHashSet};

use super::StoreError;
use super::address::{Addresses, Relative};
use super::database::{Database, values};
use elephant_input::discover::{FileList, FileState, Listed};
use elephant_input::unit::Unit;

/// Files that are renamed in one transaction.
const AT_ONCE: usize = 500;

/// A file as it was when it was last read.
struct Known {
    state: FileState,
    /// Whether it was read by this version with these rules.
    is_current: bool,
}

/// What the store knows of files.
pub(super) struct Files {
    /// Those that need not be read again.
    pub(super) unchanged: FxHashSet<PathBuf>,
    /// Paths that earlier versions stored as the user had named them.
    pub(super) relative: Relative,
    /// What is now known to be the path of a file with this address: one of them, or one stored without its cluster.
    pub(super) renamed: Vec<(Vec<u8>, PathBuf)>,
}

/// The files that need not be read again: they were read with these rules, or up to limits with the same limits.
pub(super) fn unchanged(
    database: &Database,
    (listed, addresses): (&[Listed], &Addresses),
    (tool, [rules_hash, within_limits]): (&str, [&str; 2]),
) -> Result<Files, StoreError> {
    let (mut known, mut relative) = (FxHashMap::default(), Relative::default());
    database.visit(
        "SELECT path, size, modified, etag, tool = ?1 AND rules_hash IN (?2, ?3) AS is_current FROM file JOIN run USING \
         (run)",
        &values![tool, rules_hash, within_limits],
        |row| {
            let size = row.get::<i64>("size")?.cast_unsigned();
            let state = FileState { size, modified: row.get("modified")?, etag: row.get("etag")? };
            let path = row.get::<Vec<u8>>("path")?;
            relative.take(&path);
            known.insert(path, Known { state, is_current: row.get("is_current")? });
            Ok(true)
        },
    )?;
    let mut renamed = Vec::new();
    for file in listed.iter().filter(|_| !relative.is_empty() || addresses.has_cluster()) {
        let address = addresses.of(&file.path);
        let without_cluster = || addresses.without_cluster(&address);
        let earlier = relative.of(&address).map(<[u8]>::to_vec).or_else(without_cluster);
        let Some(earlier) = earlier.filter(|_| !known.contains_key(bytes(&address))) else { continue };
        if known.get(&earlier).is_some_and(|known| known.state.is_same(&file.state))
            && let Some(state) = known.remove(&earlier)
        {
            known.insert(bytes(&address).to_vec(), state);
            renamed.push((earlier, address));
        }
    }
    let is_changed = |file: &Listed| {
        let known = known.get(bytes(&addresses.of(&file.path)));
        known.is_none_or(|known| !known.is_current || !known.state.is_same(&file.state))
    };
    // One new part of a log, or a configuration that came later, changes the whole application.
    let changed: FxHashSet<Unit> =
        listed.iter().filter(|file| is_changed(file)).map(|file| Unit::of(&file.path)).collect();
    let unchanged = listed.iter().filter(|file| !changed.contains(&Unit::of(&file.path)));
    let unchanged = unchanged.map(|file| file.path.clone()).collect();
    Ok(Files { unchanged, relative, renamed })
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Gives files that earlier versions stored by other paths their addresses, with all that was found in them.
pub(super) fn rename(
    database: &Database,
    renamed: &[(Vec<u8>, PathBuf)],
    cluster: Option<&str>,
) -> Result<(), StoreError> {
    let mut renamed: Vec<_> = renamed.iter().collect();
    // A member of an archive is named after it, and a file may be called so, too.
    renamed.sort_by_key(|(earlier, _)| std::cmp::Reverse(earlier.len()));
    for some in renamed.chunks(AT_ONCE) {
        database.writing(|| {
            for (earlier, address) in some {
                let update = "UPDATE file SET path = ?2 WHERE path = ?1";
                database.send(update, &values![earlier.as_slice(), bytes(address)])?;
                let (earlier, address) = (String::from_utf8_lossy(earlier), address.to_string_lossy());
                // PostgreSQL indexes only the beginnings.
                let update = "UPDATE application SET source = ?2 || substr(source, length(CAST(?1 AS TEXT)) + 1), cluster = \
                              coalesce(CAST(?5 AS TEXT), cluster) WHERE substr(source, 1, 500) >= substr(CAST(?1 AS \
                              TEXT), 1, 500) AND substr(source, 1, 500) <= substr(CAST(?4 AS TEXT), 1, 500) AND (source \
                              = ?1 OR source >= ?3 AND source < ?4) AND NOT EXISTS (SELECT 1 FROM application AS other \
                              WHERE other.id = application.id AND other.attempt = application.attempt AND other.source \
                              = ?2 || substr(application.source, length(CAST(?1 AS TEXT)) + 1))";
                // `\"` is the next character after `!`, which is between an archive and its member.
                let (archive, after) = (format!("{earlier}!"), format!("{earlier}\""));
                database.send(update, &values![&*earlier, &*address, archive, after, cluster])?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The addresses of files that could not be read when they were there, and are gone.
pub(super) fn gone(
    database: &Database,
    (list, addresses): (&FileList, &Addresses),
) -> Result<Vec<PathBuf>, StoreError> {
    let query = "SELECT path FROM file WHERE problem IS NOT NULL";
    let paths = database.rows(query, &[], |row| row.get::<Vec<u8>>("path"))?;
    let paths = paths.into_iter().filter_map(|path| String::from_utf8(path).ok()).map(PathBuf::from);
    let of = |folders: &[PathBuf]| folders.iter().map(|it| addresses.of_folder(it)).collect::<Vec<_>>();
    let (folders, failed) = (of(list.folders()), of(list.failed()));
    let is_below = |path: &Path, folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
    let covers = |path: &PathBuf| is_below(path, &folders) && !is_below(path, &failed);
    let mut gone: Vec<PathBuf> = paths.filter(|path| covers(path) || list.covers(path)).collect();
    if gone.is_empty() {
        return Ok(gone);
    }
    let listed: FxHashSet<PathBuf> = list.files.iter().map(|file| addresses.of(&file.path)).collect();
    let is_missing =
        |path: &Path| fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let is_gone = |address: &Path| {
        addresses.is_object(address) || is_missing(addresses.on_this_machine(address).unwrap_or(address))
    };
    gone.retain(|address| !listed.contains(address) && is_gone(address));
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
