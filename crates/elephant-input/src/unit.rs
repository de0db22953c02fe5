//! Which files are read together, by their names alone.

use std::path::Path;

use super::found::folder_name;
use super::job_id::job_id_in;
use super::log_name;
pub use super::log_name::Layout;

/// A history with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Unit<'p> {
    /// The parts and markers of an event log in a folder.
    Log(&'p Path, Layout),
    /// The job histories of all application masters, and the configuration, which may be in another folder.
    Job(String),
    /// A single file.
    File(&'p Path),
}

impl<'p> Unit<'p> {
    /// The unit of a file.
    pub fn of(path: &'p Path) -> Self {
        let name = path.file_name();
        let (folder, text) = (path.parent().unwrap_or(path), name.and_then(|name| name.to_str()));
        let folder_name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some((layout, _)) = text.and_then(|text| log_name::role(folder_name, text)) {
            return Self::Log(folder, layout);
        }
        match name.and_then(job_id_in) {
            Some(id) => Self::Job(id),
            None => Self::File(path),
        }
    }
}

/// The name of the history that a path leads to, however the path is written: of a part of a log, that of the log's folder.
#[must_use]
pub fn history_name(path: &Path) -> Option<String> {
    let folder = path.parent().unwrap_or(path);
    let role = path.file_name().and_then(|name| log_name::role(&folder_name(folder), name.to_str()?));
    let is_part = role.is_some_and(|(layout, _)| !matches!(layout, Layout::Moved(_)));
    let name = folder_name(if is_part { folder } else { path });
    (!name.is_empty()).then_some(name)
}

/// What a log is called until it ends.
#[must_use]
pub fn in_progress(path: &str) -> String {
    format!("{path}{}", log_name::IN_PROGRESS)
}

/// Whether two paths are those of one event log at different times: Spark renames a log at its end, and replaces parts
/// of a rolling one.
#[must_use]
pub fn is_same_log(earlier: &Path, now: &Path) -> bool {
    let was_renamed =
        || earlier.to_str()?.strip_suffix(log_name::IN_PROGRESS).map(|name| Some(name) == now.to_str());
    let unit = Unit::of(now);
    was_renamed() == Some(true) || matches!(unit, Unit::Log(..)) && Unit::of(earlier) == unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_renamed_and_its_parts_are_replaced() {
        let same = |a: &str, b: &str| is_same_log(Path::new(a), Path::new(b));
        assert!(same("a/app-1.lz4.inprogress", "a/app-1.lz4"));
        assert!(same("a/eventlog_v2_app-1/events_1_app-1", "a/eventlog_v2_app-1/events_3_app-1.compact"));
        assert!(!same("a/app-1", "a/app-1") && !same("b/app-1.inprogress", "a/app-1"));
        assert!(!same("job_1_0001-2-bob.jhist", "job_1_0001.jhist"));
    }

    #[test]
    fn the_name_of_a_history_does_not_depend_on_how_it_is_named() {
        let name = |path: &str| history_name(Path::new(path)).unwrap();
        let paths = ["logs/app-x", "logs/app-x/.", "logs/app-x/EVENT_LOG_1", "logs/app-x/eventlog"];
        assert!(paths.iter().all(|path| name(path) == "app-x"));
        assert_eq!(name("a/eventlog_v2_app-1/events_1_app-1"), "eventlog_v2_app-1");
        assert_eq!(name("copies/events_1_app-1"), "events_1_app-1");
        // Tests run in the folder of the crate.
        for path in [".", "", "EVENT_LOG_1", "./EVENT_LOG_1", "src/.."] {
            assert_eq!(name(path), "elephant-input", "{path}");
        }
    }

    #[test]
    fn files_that_are_read_together_are_one_unit() {
        let together = |a: &str, b: &str| Unit::of(Path::new(a)) == Unit::of(Path::new(b));
        assert!(together("a/eventlog_v2_app-1/events_1_app-1", "a/eventlog_v2_app-1/events_2_app-1.zstd"));
        assert!(together("a/eventlog_v2_app-1/events_1_app-1", "a/eventlog_v2_app-1/appstatus_app-1"));
        assert!(!together("a/eventlog_v2_app-1/events_1_app-1", "b/eventlog_v2_app-1/events_2_app-1"));
        assert!(!together("x/events_1_app-1", "x/events_1_app-2"));
        assert!(together("done/job_1_0001-2-bob.jhist", "conf/job_1_0001_conf.xml"));
        assert!(!together("job_1_0001.jhist", "job_1_0002.jhist"));
        assert!(together("a/app-1", "a/app-1") && !together("a/app-1", "b/app-1"));
    }
}
