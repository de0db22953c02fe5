//! Folders of an export: `TABLE/day=2026-11-25/run=ID/part-0.parquet`.
//!
//! All files are written to a staging folder first, and then renamed, so that readers never see a part of one. An
//! export with the id of an earlier one replaces it. If it is killed between two renames, the next one with this id
//! completes it. The staging folder of a killed export is removed by the next one.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{ExportFormat, Sink};
use elephant_store::{Table, Value};

/// Prefix of the names of staging folders. Readers skip names that start with an underscore.
const STAGING: &str = "_staging-";

/// An export while it is written.
pub struct Export {
    folder: PathBuf,
    run: String,
    format: ExportFormat,
    staging: tempfile::TempDir,
    /// Shows other exports that this one is running; `None` where folders cannot be locked.
    lock: Option<File>,
    open: Option<Open>,
    written: Vec<(&'static Table, String)>,
}

/// The file that takes rows.
struct Open {
    table: &'static Table,
    day: String,
    sink: Box<dyn Sink>,
}

impl Export {
    /// Begins an export with this id below `folder`.
    pub fn begin(folder: &Path, run: &str, format: ExportFormat) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        // While this is locked, no other export begins. So an export never sees an unlocked folder of a
        // running export.
        let beginning = File::open(folder).and_then(|folder| folder.lock().map(|()| folder)).ok();
        if beginning.is_some() {
            remove_left(folder)?;
        }
        let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(folder)?;
        let lock = File::open(staging.path()).and_then(|staging| staging.lock().map(|()| staging)).ok();
        drop(beginning);
        let (folder, run) = (folder.to_path_buf(), format!("run={run}"));
        Ok(Self { folder, run, format, staging, lock, open: None, written: Vec::new() })
    }

    /// Adds a row. Rows of a table come together, and so do those of a day.
    pub fn row(&mut self, table: &'static Table, day: &str, row: Vec<Option<Value>>) -> io::Result<()> {
        let is_open = self.open.as_ref().is_some_and(|open| open.table.name == table.name && open.day == day);
        if !is_open {
            self.close()?;
            let place = self.staged(table, day);
            fs::create_dir_all(&place)?;
            let file = File::create(place.join(format!("part-0.{}", self.format.ending())))?;
            self.open = Some(Open { table, day: day.to_owned(), sink: self.format.sink(table, file)? });
        }
        self.open.as_mut().map_or(Ok(()), |open| open.sink.row(row))
    }

    /// Moves all files into place, and removes the other files of an earlier export with this id. Returns how
    /// many files there are.
    pub fn finish(mut self, tables: &'static [Table]) -> io::Result<usize> {
        self.close()?;
        let mut own = BTreeSet::new();
        for (at, (table, day)) in self.written.iter().enumerate() {
            let place = self.folder.join(table.name).join(format!("day={day}"));
            fs::create_dir_all(&place)?;
            let place = place.join(&self.run);
            if place.exists() {
                fs::rename(&place, self.staging.path().join(format!("old-{at}")))?;
            }
            fs::rename(self.staged(table, day), &place)?;
            own.insert(place);
        }
        for table in tables {
            remove_others(&self.folder.join(table.name), &self.run, &own)?;
        }
        self.staging.close()?;
        drop(self.lock);
        Ok(own.len())
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(Open { table, day, sink }) = self.open.take() else { return Ok(()) };
        self.written.push((table, day));
        sink.finish()
    }

    fn staged(&self, table: &Table, day: &str) -> PathBuf {
        self.staging.path().join(table.name).join(day)
    }
}

/// Removes the staging folders of exports that were killed. The folder of a running export is locked, and a
/// lock ends with its program.
fn remove_left(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let place = entry?.path();
        let is_staging =
            place.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(STAGING.as_bytes()));
        if is_staging && place.is_dir() && File::open(&place).is_ok_and(|place| place.try_lock().is_ok()) {
            fs::remove_dir_all(&place)?;
        }
    }
    Ok(())
}

/// Removes the folders of this run that are not in `own`, and the folders of their days if these are then
/// empty.
fn remove_others(table: &Path, run: &str, own: &BTreeSet<PathBuf>) -> io::Result<()> {
    let days = match fs::read_dir(table) {
        Ok(days) => days,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for day in days {
        let day = day?.path();
        let place = day.join(run);
        if !own.contains(&place) && place.is_dir() {
            fs::remove_dir_all(&place)?;
            // Fails if the folder has files of other runs, which stay.
            let _ = fs::remove_dir(&day);
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn staging_folders(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn an_export_removes_what_killed_ones_left_and_nothing_of_running_ones() {
        let folder = tempfile::tempdir().unwrap();
        let running = Export::begin(folder.path(), "a", ExportFormat::Csv).unwrap();
        let killed = Export::begin(folder.path(), "b", ExportFormat::Csv).unwrap();
        assert_eq!(staging_folders(folder.path()), 2);
        // A killed program leaves the folder without a lock.
        let Export { staging, lock, .. } = killed;
        let left = staging.keep();
        fs::write(left.join("rows"), "1").unwrap();
        drop(lock);
        let other = Export::begin(folder.path(), "b", ExportFormat::Csv).unwrap();
        assert!(!left.exists() && running.staging.path().exists());
        assert_eq!(other.finish(&[]).unwrap() + running.finish(&[]).unwrap(), 0);
        assert_eq!(staging_folders(folder.path()), 0);
    }
}
