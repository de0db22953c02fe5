//! The new and changed files that are read together.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use elephant_input::unit::Unit;

/// The units of more than one file.
#[derive(Debug, Default)]
pub(super) struct Together<'f>(FxHashMap<Unit<'f>, Vec<&'f Path>>);

impl<'f> Together<'f> {
    pub(super) fn of(files: impl Iterator<Item = &'f Path>) -> Self {
        let mut units: FxHashMap<Unit<'f>, Vec<&'f Path>> = FxHashMap::default();
        for path in files {
            units.entry(Unit::of(path)).or_default().push(path);
        }
        units.retain(|_, files| files.len() > 1);
        Self(units)
    }

    /// All files of the units that these files belong to; a unit of one file only if it is among them.
    pub(super) fn with<'p>(&self, files: impl Iterator<Item = &'p Path>) -> FxHashSet<&'p Path>
    where
        'f: 'p,
    {
        let (mut all, mut units) = (FxHashSet::default(), FxHashSet::default());
        for path in files {
            all.insert(path);
            let unit = Unit::of(path);
            if let Some(files) = self.0.get(&unit).filter(|_| !units.contains(&unit)) {
                all.extend(files.iter().copied());
                units.insert(unit);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::{self, ErrorKind};
    use std::ops::ControlFlow;
    use std::path::PathBuf;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::Store;
    use crate::testing::{databases, ingest_by};
    use elephant_base::limits::Limits;
    use elephant_input::named::Named;
    use elephant_input::storage::{Listing, Stat, Storage, Storages};
    use elephant_testing::make::{spark_end, spark_start, stage};

    /// The name and the text of a part of a log with three stages.
    fn part(number: usize) -> (String, String) {
        let text = match number {
            1 => spark_start() + &stage(0, 0),
            2 => stage(1, 1),
            _ => stage(2, 2) + &spark_end(),
        };
        (format!("eventlog_v2_app-1/events_{number}_app-1"), text)
    }

    fn tasks(store: &Store) -> Vec<Option<i64>> {
        store.database.rows("SELECT tasks FROM application", &[], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_log_is_read_again_if_one_of_its_parts_cannot_be_opened() {
        for database in databases() {
            let mut store = Store::with(database).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = |number| folder.path().join(part(number).0);
            fs::create_dir(folder.path().join("eventlog_v2_app-1")).unwrap();
            let write = |number| fs::write(path(number), part(number).1).unwrap();
            let paths = [folder.path().to_path_buf()];
            let mut run = |missing: Option<usize>| {
                let aside = folder.path().with_extension("aside");
                let by = |read: &dyn Fn() -> elephant_engine::results::Report| {
                    if let Some(part) = missing {
                        fs::rename(path(part), &aside).unwrap();
                    }
                    let report = read();
                    if let Some(part) = missing {
                        fs::rename(&aside, path(part)).unwrap();
                    }
                    report
                };
                let (_, stored) = ingest_by(&mut store, paths[..].into(), Limits::default(), &by);
                (stored.added, stored.cut, stored.unchanged, tasks(&store))
            };
            write(1);
            write(2);
            // Nothing better is known, so a part is stored.
            assert_eq!(run(Some(2)), (1, 0, 0, vec![Some(1)]));
            assert_eq!(run(None), (1, 0, 0, vec![Some(2)]));
            write(3);
            assert_eq!(run(Some(1)), (0, 1, 0, vec![Some(2)]));
            assert_eq!(run(Some(2)), (0, 1, 0, vec![Some(2)]));
            assert_eq!(run(None), (1, 0, 0, vec![Some(3)]));
            assert_eq!(run(None), (0, 0, 3, vec![Some(3)]));
        }
    }

    /// Objects, of which one may be refused.
    #[derive(Debug, Default)]
    struct Refusing {
        objects: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
        refused: Mutex<Option<PathBuf>>,
    }

    impl Storage for Refusing {
        fn scheme(&self) -> &'static str {
            "mem"
        }

        fn list(
            &self,
            _: Listing<'_>,
            found: &mut dyn FnMut(PathBuf, Stat) -> ControlFlow<()>,
        ) -> io::Result<()> {
            for (path, bytes) in &*self.objects.lock().unwrap() {
                let stat = Stat { size: Some(bytes.len() as u64), modified: None, etag: None };
                assert!(found(path.clone(), stat).is_continue());
            }
            Ok(())
        }

        fn stat(&self, _: &Path) -> io::Result<Stat> {
            Err(ErrorKind::NotFound.into())
        }

        fn read_at(&self, path: &Path, _: &Stat, at: u64, out: &mut [u8]) -> io::Result<usize> {
            if self.refused.lock().unwrap().as_deref() == Some(path) {
                return Err(ErrorKind::ConnectionAborted.into());
            }
            let objects = self.objects.lock().unwrap();
            let rest = objects[path].get(usize::try_from(at).unwrap()..).unwrap_or_default();
            let count = rest.len().min(out.len());
            out[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        }
    }

    #[test]
    fn a_history_is_read_again_if_one_of_its_objects_broke_off() {
        for database in databases() {
            let mut store = Store::with(database).unwrap();
            let storage = Arc::new(Refusing::default());
            let storages = Storages::only(Arc::clone(&storage) as Arc<dyn Storage>);
            let paths = [PathBuf::from("mem://b")];
            let object = |name: &str| Path::new("mem://b").join(name);
            let put = |name: &str, text: &str| {
                storage.objects.lock().unwrap().insert(object(name), text.as_bytes().to_vec());
            };
            let mut run = |refused: Option<&str>| {
                *storage.refused.lock().unwrap() = refused.map(object);
                let named = Named { storages: Some(&storages), ..paths[..].into() };
                let (_, stored) = ingest_by(&mut store, named, Limits::default(), &|read| read());
                (stored.added, stored.cut, stored.unchanged)
            };
            let parts = [1, 2, 3].map(part);
            put(&parts[0].0, &parts[0].1);
            put(&parts[1].0, &parts[1].1);
            assert_eq!(run(None), (1, 0, 0));
            put(&parts[2].0, &parts[2].1);
            assert_eq!(run(Some(&parts[0].0)), (0, 1, 0));
            assert_eq!(run(None), (1, 0, 0));
            assert_eq!(run(None), (0, 0, 3));
            assert_eq!(tasks(&store), [Some(3)]);
        }
    }
}
