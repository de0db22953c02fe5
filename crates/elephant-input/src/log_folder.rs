//! Groups the files of an event log by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::codec::Codec;
use super::found::Found;
use super::inventory::{Inventory, by_bytes};
use super::kind::{Reason, SourceKind};
use super::log_name::{self, Layout, Marker, Order, Role};
use super::source::{LogFolder, MAX_MISSING, Source, SourcePath};

/// The number of the first part that Spark writes.
const FIRST_PART: u64 = 1;

/// The logs whose parts were found so far.
#[derive(Default)]
pub(super) struct Logs {
    logs: BTreeMap<(PathBuf, Layout), Log>,
}

#[derive(Default)]
struct Log {
    parts: Vec<LogPart>,
    markers: Vec<Marker>,
}

struct LogPart {
    order: Order,
    compacted: bool,
    found: Found,
}

impl Logs {
    /// Takes a file that belongs to a log by its name, and returns every other file.
    pub(super) fn offer(&mut self, found: Found, inventory: &mut Inventory) -> Option<Found> {
        let Some((layout, role)) = log_name::role(&found.folder_name, &found.name) else {
            return Some(found);
        };
        if matches!(role, Role::Marker(_)) && !found.is_empty() {
            return Some(found);
        }
        let log = self.logs.entry((found.folder.clone(), layout)).or_default();
        match role {
            Role::Marker(marker) => {
                log.markers.push(marker);
                inventory.skip(Reason::LogMarker, found.path.as_path(), found.named_by_user);
            }
            Role::Part { order, compacted } => log.parts.push(LogPart { order, compacted, found }),
        }
        None
    }

    /// Adds the logs to the inventory, and returns files that belong to none after all.
    pub(super) fn finish(self, named_folders: &[&Path], inventory: &mut Inventory) -> Vec<Found> {
        let mut alone = Vec::new();
        for ((folder, layout), log) in self.logs {
            if log.is_one(&layout) {
                let named_by_user = named_folders.contains(&folder.as_path());
                let source = log.into_source(folder, &layout, named_by_user, inventory);
                inventory.histories.extend(source);
            } else {
                alone.extend(log.parts.into_iter().map(|part| part.found));
            }
        }
        alone
    }
}

impl Log {
    /// Whether the parts form a log. In a folder that Spark created they do, whatever they hold: the newest
    /// part may still be empty.
    fn is_one(&self, layout: &Layout) -> bool {
        let is_single = self.parts.len() == 1 && self.markers.is_empty();
        let is_named_alone = is_single && self.parts.iter().all(|part| part.found.named_by_user);
        let is_log = match layout {
            Layout::Rolling => !self.parts.is_empty(),
            Layout::Databricks => !is_single && self.has_events(),
            Layout::Moved(_) | Layout::Spark1 => self.has_events(),
        };
        is_log && !is_named_alone
    }

    fn has_events(&self) -> bool {
        self.parts.iter().any(|part| part.found.is_spark_log())
    }

    fn into_source(
        mut self,
        folder: PathBuf,
        layout: &Layout,
        folder_named: bool,
        inventory: &mut Inventory,
    ) -> Option<Source> {
        let named_by_user = folder_named || self.parts.iter().any(|part| part.found.named_by_user);
        self.parts.sort_by(|a, b| a.rank().cmp(&b.rank()).then_with(|| by_bytes(a.path(), b.path())));
        self.drop_superseded(inventory);
        let duplicate_parts = self.drop_duplicates(inventory);
        let first = self.parts.first()?;
        let (application_id, attempt) = first.application(layout);
        let log = LogFolder {
            spark_version: self.markers.iter().find_map(version),
            in_progress: self.in_progress(layout),
            rolling: matches!(layout, Layout::Rolling | Layout::Moved(_)),
            compacted: first.compacted,
            missing_parts: self.missing(),
            duplicate_parts,
            application_id,
            attempt,
            archive_truncated: first.found.archive_truncated,
        };
        let path = match (&first.found.path, layout) {
            (path, Layout::Moved(_)) => path.clone(),
            (SourcePath::Member(_), _) => SourcePath::Member(folder),
            _ => SourcePath::File(folder),
        };
        // If one part is compressed, the log can decode to more than its stored size.
        let mut codecs = self.parts.iter().filter_map(|part| Some(part.found.detected.as_ref().ok()?.0));
        let codec = codecs.find(|codec| *codec != Codec::Plain).unwrap_or(Codec::Plain);
        let parts = self.parts.into_iter().map(|part| part.found.part).collect();
        let (kind, codec) = (Some(SourceKind::SparkEventLog), Some(codec));
        Some(Source { path, kind, codec, named_by_user, parts, log })
    }

    /// Like Spark, uses the last compacted part in place of all parts up to it.
    fn drop_superseded(&mut self, inventory: &mut Inventory) {
        let compacted = self.parts.iter().filter(|part| part.compacted);
        let Some(start) = compacted.map(|part| part.order.clone()).max() else { return };
        let is_current = |part: &LogPart| part.order > start || (part.order == start && part.compacted);
        let (current, superseded) = std::mem::take(&mut self.parts).into_iter().partition(is_current);
        self.parts = current;
        skip_all(superseded, Reason::SupersededPart, inventory);
    }

    fn drop_duplicates(&mut self, inventory: &mut Inventory) -> Vec<String> {
        let mut duplicates = Vec::new();
        let mut kept: Vec<LogPart> = Vec::new();
        for part in std::mem::take(&mut self.parts) {
            let is_new = kept.last().is_none_or(|last| last.order != part.order);
            if is_new { kept.push(part) } else { duplicates.push(part) }
        }
        self.parts = kept;
        let names = duplicates.iter().map(|part| part.found.part.name()).collect();
        skip_all(duplicates, Reason::DuplicatePart, inventory);
        names
    }

    fn in_progress(&self, layout: &Layout) -> Option<bool> {
        if self.markers.contains(&Marker::Complete) {
            return Some(false);
        }
        let is_open = match layout {
            // In Spark 1, a version marker means that a completion marker would follow.
            Layout::Spark1 => self.markers.iter().any(|marker| version(marker).is_some()),
            _ => self.markers.contains(&Marker::InProgress),
        };
        is_open.then_some(true)
    }

    fn missing(&self) -> Vec<u64> {
        let mut missing = Vec::new();
        let mut next = self.parts.first().filter(|part| part.compacted).map_or(FIRST_PART, LogPart::number);
        for number in self.parts.iter().map(LogPart::number) {
            let room = MAX_MISSING - missing.len();
            missing.extend((next..number).take(room));
            next = number.saturating_add(1);
        }
        missing
    }
}

impl LogPart {
    /// Sorts parts by number; of duplicates, the one with events comes first.
    fn rank(&self) -> (&Order, bool, bool) {
        (&self.order, !self.compacted, !self.found.is_spark_log())
    }

    fn path(&self) -> &Path {
        self.found.path.as_path()
    }

    /// Its number; 0 if parts are numbered by date.
    fn number(&self) -> u64 {
        match self.order {
            Order::Number(number) => number,
            Order::Date(_) | Order::Newest => 0,
        }
    }

    fn application(&self, layout: &Layout) -> (Option<String>, Option<String>) {
        match layout {
            Layout::Moved(_) => log_name::application_of_file(&self.found.name),
            _ => log_name::application_of_folder(&self.found.folder_name),
        }
    }
}

fn version(marker: &Marker) -> Option<String> {
    match marker {
        Marker::SparkVersion(version) => Some(version.clone()),
        _ => None,
    }
}

fn skip_all(parts: Vec<LogPart>, reason: Reason, inventory: &mut Inventory) {
    for LogPart { found, .. } in parts {
        inventory.skip(reason, found.path.as_path(), found.named_by_user);
    }
}
