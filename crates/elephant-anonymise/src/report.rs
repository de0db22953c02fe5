//! What was replaced, what was kept and why, and what was left out.

use std::fmt;
use std::path::PathBuf;

use super::formats::Dropped;
use super::mask::{Kept, Tally};
use super::pseudonyms::Kind;

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The files that were written.
    pub files: Vec<FileReport>,
    /// How many values were replaced, by kind.
    pub replaced: Vec<Count>,
    /// How many texts and settings were kept, and why.
    pub kept: Vec<Count>,
    /// Lines, records and properties that could not be read, and are left out.
    pub damaged: u64,
    /// Lines and records that are longer than the limit, and are left out.
    pub too_long: u64,
    /// Files below the input that are no histories, and are left out.
    pub others: u64,
    /// Files that could not be read at all.
    pub unreadable: Vec<String>,
    /// Whether the key was random, so that no other run gives the same pseudonyms.
    pub random_key: bool,
}

/// A number of values, and what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// What they are.
    pub what: &'static str,
    /// Their number.
    pub count: u64,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// Where it is.
    pub path: PathBuf,
    /// Lines, records and properties that are left out.
    pub left_out: u64,
    /// Whether the original breaks off.
    pub broken_off: bool,
}

impl Report {
    pub(crate) const fn new(random_key: bool) -> Self {
        Self {
            files: Vec::new(),
            replaced: Vec::new(),
            kept: Vec::new(),
            damaged: 0,
            too_long: 0,
            others: 0,
            unreadable: Vec::new(),
            random_key,
        }
    }

    pub(crate) fn file(&mut self, path: PathBuf, dropped: Dropped) {
        let Dropped { damaged, too_long, broken_off } = dropped;
        self.damaged += damaged;
        self.too_long += too_long;
        self.files.push(FileReport { path, left_out: damaged + too_long, broken_off });
    }

    pub(crate) fn finish(&mut self, tally: &Tally) {
        let replaced = Kind::ALL.iter().filter_map(|kind| Some((kind.text(), *tally.replaced.get(kind)?)));
        let kept = Kept::ALL.iter().filter_map(|reason| Some((reason.text(), *tally.kept.get(reason)?)));
        let count = |(what, count)| Count { what, count };
        self.replaced = replaced.map(count).collect();
        self.kept = kept.map(count).collect();
    }

    /// The report as JSON, without the names of files of the input.
    #[must_use]
    pub fn to_json(&self) -> String {
        let counts = |counts: &[Count]| -> Vec<serde_json::Value> {
            counts
                .iter()
                .map(|Count { what, count }| serde_json::json!({"what": what, "count": count}))
                .collect()
        };
        let files = self.files.iter().map(|file| {
            serde_json::json!({"path": file.path.display().to_string(), "left_out": file.left_out, "broken_off": file.broken_off})
        });
        let report = serde_json::json!({
            "files": files.collect::<Vec<_>>(),
            "replaced": counts(&self.replaced),
            "kept": counts(&self.kept),
            "damaged": self.damaged,
            "too_long": self.too_long,
            "others": self.others,
            "unreadable": self.unreadable,
            "random_key": self.random_key,
        });
        format!("{report:#}\n")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Files written: {}", self.files.len())?;
        for FileReport { path, left_out, broken_off } in &self.files {
            write!(f, "  {}", path.display())?;
            if *left_out > 0 {
                write!(f, " ({left_out} lines or records left out)")?;
            }
            writeln!(f, "{}", if *broken_off { " (the original breaks off)" } else { "" })?;
        }
        writeln!(f, "\nReplaced by pseudonyms:")?;
        for Count { what, count } in &self.replaced {
            writeln!(f, "  {count:>9}  {what}")?;
        }
        writeln!(f, "  all times moved back by the same number of days\n\nKept as they were:")?;
        for Count { what, count } in &self.kept {
            writeln!(f, "  {count:>9}  {what}")?;
        }
        writeln!(
            f,
            "  counters, sizes, durations and ordinal numbers of the formats, on which the findings rest\n\nLeft out:"
        )?;
        writeln!(f, "  {:>9}  lines, records and properties that cannot be read", self.damaged)?;
        writeln!(f, "  {:>9}  lines and records longer than the limit", self.too_long)?;
        writeln!(f, "  {:>9}  files that are no histories", self.others)?;
        for file in &self.unreadable {
            writeln!(f, "  not readable: {file}")?;
        }
        if self.random_key {
            writeln!(
                f,
                "\nThe key was random: another run gives other pseudonyms. Pass a key to get the same ones again."
            )?;
        }
        Ok(())
    }
}
