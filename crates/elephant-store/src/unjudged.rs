//! Applications that could not be judged, and files that could not be read, with the reasons.

use super::address::without_cluster;
use super::database::values;
use super::selection::Selection;
use super::{Store, StoreError};
use elephant_base::units::Timestamp;

/// What could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unjudged {
    /// The applications, the last one first.
    pub applications: Vec<UnjudgedRun>,
    /// How many there are, shown or not.
    pub of: u64,
    /// Files of which nothing could be read, in the order of their addresses. No filter applies to them, because nothing else
    /// is known of them.
    pub files: Vec<UnreadFile>,
    /// How many there are, shown or not.
    pub files_of: u64,
}

/// An application that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnjudgedRun {
    /// The id of the application.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// Who ran it.
    pub user: Option<String>,
    /// When it was submitted.
    pub submitted: Option<Timestamp>,
    /// The file that it was read from.
    pub source: String,
    /// Why its history is incomplete; `None` of what an earlier version stored.
    pub reason: Option<String>,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadFile {
    /// Its address.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Store {
    /// What could not be judged among the selected applications.
    pub(super) fn unjudged(&self, selection: &Selection, most: usize) -> Result<Unjudged, StoreError> {
        let statement = format!(
            "SELECT id, name, \"user\", submitted, source, incomplete FROM application WHERE {} AND NOT \
             application.judged ORDER BY submitted DESC NULLS LAST, id, attempt, source",
            selection.condition
        );
        let mut applications = self.database.rows(&statement, &selection.values, |row| {
            Ok(UnjudgedRun {
                id: row.get(0)?,
                name: row.get(1)?,
                user: row.get(2)?,
                submitted: row.get::<Option<i64>>(3)?.map(Timestamp::from_millis),
                source: without_cluster(&row.get::<String>(4)?).to_owned(),
                reason: row.get(5)?,
            })
        })?;
        let of = applications.len() as u64;
        applications.truncate(most);
        // Whose they are is not known.
        let mut files = if self.sees_all() { self.unread_files()? } else { Vec::new() };
        let files_of = files.len() as u64;
        files.truncate(most);
        Ok(Unjudged { applications, of, files, files_of })
    }

    /// How many files could not be read when they were last looked at, whatever this store may show of them.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the database fails.
    pub fn unread_count(&self) -> Result<u64, StoreError> {
        let count = "SELECT count(*) FROM file WHERE problem IS NOT NULL";
        Ok(self.database.first(count, &values![], |row| row.count(0))?.unwrap_or_default())
    }

    fn unread_files(&self) -> Result<Vec<UnreadFile>, StoreError> {
        let files = "SELECT path, problem FROM file WHERE problem IS NOT NULL ORDER BY path";
        self.database.rows(files, &values![], |row| {
            let path: Vec<u8> = row.get(0)?;
            let file = without_cluster(&String::from_utf8_lossy(&path)).to_owned();
            Ok(UnreadFile { file, problem: row.get(1)? })
        })
    }
}
