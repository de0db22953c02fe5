//! Removes what a file contained before it changed.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use twox_hash::XxHash3_128;

use super::StoreError;
use super::database::{Database, values};
use super::outcome::candidates;
use super::record::{self, Copy, bounded};
use elephant_engine::results::ApplicationReport;

/// The applications that this run found, by hashes of their ids and addresses, and whether each counted.
#[derive(Debug, Default)]
pub(super) struct Found(FxHashMap<u128, bool>);

impl Found {
    /// Adds an application with the address of its source. Returns whether it had been added as one that counts.
    pub(super) fn add(&mut self, app: &ApplicationReport, source: &str, counts: bool) -> bool {
        let (id, attempt) = (bounded(&app.id), bounded(app.attempt.as_deref().unwrap_or_default()));
        self.0.insert(hash(&id, &attempt, source), counts) == Some(true)
    }

    fn has(&self, id: &str, attempt: &str, source: &str) -> bool {
        self.0.contains_key(&hash(id, attempt, source))
    }
}

/// PostgreSQL returns U+FFFD for U+0000.
fn hash(id: &str, attempt: &str, source: &str) -> u128 {
    let key = format!("{id}\n{attempt}\n{source}").replace('\0', "\u{fffd}");
    XxHash3_128::oneshot(key.as_bytes())
}

/// The sources of all records of an application.
pub(super) fn sources_of(database: &Database, app: &ApplicationReport) -> Result<Vec<String>, StoreError> {
    let (id, attempt) = (bounded(&app.id), bounded(app.attempt.as_deref().unwrap_or_default()));
    let query = "SELECT source FROM application WHERE id = ?1 AND attempt = ?2";
    database.rows(query, &values![&*id, &*attempt], |row| row.get(0))
}

/// An application in the store.
struct Earlier {
    copy: Copy,
    source: String,
    is_found: bool,
}

/// Removes what a file, or a member of an archive, contained before it changed: what earlier runs recorded, and this one
/// did not find. A run that began later may have read more of the file.
///
/// Returns whether what is recorded is what this run found. It is not if an earlier run goes on at the same time, and
/// wrote what it found before the file changed.
pub(super) fn forget_others(
    database: &Database,
    (run, found): (i64, &Found),
    listed: &FxHashSet<&Path>,
    (path, address): (&Path, &Path),
) -> Result<bool, StoreError> {
    let file = address.to_string_lossy();
    // A member's name follows the archive's and `!`, and `"` is the next character after `!`. PostgreSQL indexes only
    // the beginnings.
    let query = "SELECT application, counts, id, attempt, source FROM application WHERE run < ?1 AND substr(source, 1, 500) \
                 >= substr(?2, 1, 500) AND substr(source, 1, 500) <= substr(?4, 1, 500) AND (source = ?2 OR (source >= ?3 \
                 AND source < ?4))";
    let asked = values![run, &*file, format!("{file}!"), format!("{file}\"")];
    let earlier = database.rows(query, &asked, |row| {
        let (id, attempt): (String, String) = (row.get("id")?, row.get("attempt")?);
        let source: String = row.get("source")?;
        let is_found = found.has(&id, &attempt, &source);
        Ok(Earlier { copy: (row.get("application")?, row.get("counts")?), source, is_found })
    })?;
    let mut files = Files { database, listed, path, known: FxHashMap::default() };
    let (mut gone, mut is_own) = (Vec::new(), true);
    for Earlier { copy, source, is_found } in earlier {
        if !files.owns(&file, &source)? {
            continue;
        }
        if is_found {
            is_own = false;
        } else {
            gone.push(copy);
        }
    }
    record::remove_copies(database, &gone)?;
    Ok(is_own)
}

/// Which paths are those of files: a name may contain `!` itself.
struct Files<'f> {
    database: &'f Database,
    listed: &'f FxHashSet<&'f Path>,
    /// What the user calls the file.
    path: &'f Path,
    /// Whether these files were read before.
    known: FxHashMap<String, bool>,
}

impl Files<'_> {
    /// Whether a source is `file`, an address, or one of its members, not another file whose name begins with `file` and `!`, or one of
    /// that one's members.
    fn owns(&mut self, file: &str, source: &str) -> Result<bool, StoreError> {
        for other in candidates(source).filter_map(Path::to_str).filter(|other| other.len() > file.len()) {
            if self.has(other, other.get(file.len()..).unwrap_or_default())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether there is a file with this address, which is that of the file with something after it.
    fn has(&mut self, path: &str, after: &str) -> Result<bool, StoreError> {
        let mut called = self.path.as_os_str().to_owned();
        called.push(after);
        if self.listed.contains(Path::new(&called)) {
            return Ok(true);
        }
        if let Some(is_known) = self.known.get(path) {
            return Ok(*is_known);
        }
        let query = "SELECT count(*) FROM file WHERE path = ?1";
        let is_known = self.database.count(query, &values![path.as_bytes()])? > 0;
        self.known.insert(path.to_owned(), is_known);
        Ok(is_known)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Barrier;
    use std::thread;

    use crate::testing::{ingest_by, places};
    use crate::{Place, Store, Stored};
    use elephant_base::limits::Limits;
    use elephant_engine::results::Report;
    use elephant_testing::make::{Zip, spark_end, spark_start, stage};

    type Read<'r> = &'r dyn Fn(&dyn Fn() -> Report) -> Report;

    fn sources(store: &Store) -> Vec<String> {
        let query = "SELECT source FROM application WHERE counts ORDER BY source";
        let sources = store.database.rows(query, &[], |row| row.get::<String>(0)).unwrap();
        sources.iter().map(|source| source.rsplit('/').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn runs_at_the_same_time_keep_what_the_other_found() {
        let folder = tempfile::tempdir().unwrap();
        let archive = |ids: &[&str]| {
            let log = |id: &str| (spark_start() + &stage(0, 0) + &spark_end()).replace("app-1", id);
            let add = |zip: Zip, id: &&str| zip.member(id, log(id).as_bytes());
            fs::write(folder.path().join("a.zip"), ids.iter().fold(Zip::new(), add).finish()).unwrap();
        };
        let paths = [folder.path().to_path_buf()];
        let ingest = |place: &Place, by: Read<'_>| -> Stored {
            let mut store = Store::create(place).unwrap();
            ingest_by(&mut store, paths[..].into(), Limits::default(), by).1
        };
        for older_writes_first in [true, false] {
            let (places, _databases) = places();
            for place in &places {
                // The last application of the store is one that both replace.
                archive(&["app-3", "app-1"]);
                ingest(place, &|read| read());
                archive(&["app-1", "app-22"]);
                let both = || Barrier::new(2);
                let (older_began, newer_began, one_wrote, both_wrote) = (both(), both(), both(), both());
                let read_in_turn = |is_first: bool, read: &dyn Fn() -> Report| {
                    if !is_first {
                        one_wrote.wait();
                    }
                    let report = read();
                    if is_first {
                        one_wrote.wait();
                    }
                    both_wrote.wait();
                    report
                };
                let (newer, older) = thread::scope(|scope| {
                    let newer = scope.spawn(|| {
                        older_began.wait();
                        ingest(place, &|read| {
                            newer_began.wait();
                            read_in_turn(!older_writes_first, read)
                        })
                    });
                    let older = ingest(place, &|read| {
                        older_began.wait();
                        newer_began.wait();
                        read_in_turn(older_writes_first, read)
                    });
                    (newer.join().unwrap(), older)
                });
                assert_eq!((newer.added, older.added), (2, 2));
                let store = Store::open(place).unwrap();
                assert_eq!(sources(&store), ["a.zip!app-1", "a.zip!app-22"]);
                let again = ingest(place, &|read| read());
                assert_eq!((again.unchanged, again.added, again.applications), (1, 0, 2));
            }
        }
    }
}
