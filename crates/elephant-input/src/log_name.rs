//! What the names of files and folders say about a Spark event log.

use std::ffi::OsStr;

/// Prefix of the folder that holds the parts of a rolling log.
const ROLLING_FOLDER: &str = "eventlog_v2_";
/// Suffixes added by Spark's codecs and by users' tools.
const CODECS: [&str; 8] = [".lz4", ".lzf", ".snappy", ".zstd", ".zst", ".gzip", ".gz", ".json"];
const ARCHIVES: [&str; 4] = [".zip", ".tar.gz", ".tgz", ".tar"];

/// How a log is split into the files of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// `events_<n>_<application>` in `eventlog_v2_<application>`, since Spark 3.0.
    Rolling,
    /// The same files in another folder, which may hold several logs; they are told apart by the text after
    /// the number.
    Moved(String),
    /// `EVENT_LOG_<n>` and marker files, up to Spark 1.2.
    Spark1,
    /// `eventlog-<date>`, and `eventlog` for the newest.
    Databricks,
}

/// The position of a part within its log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Number(u64),
    Date(String),
    Newest,
}

/// What the name of an empty file means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Marker {
    Complete,
    InProgress,
    SparkVersion(String),
    Other,
}

/// The role of a file within a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    Part { order: Order, compacted: bool },
    Marker(Marker),
}

/// The log that a file belongs to, judged by file and folder name, and its role in it.
pub(super) fn role(folder: &str, file: &str) -> Option<(Layout, Role)> {
    if let Some(rest) = file.strip_prefix("events_") {
        let (number, log) = rest.split_once('_')?;
        let order = Order::Number(number.parse().ok()?);
        let (log, compacted) = strip_suffixes(log);
        return Some((rolling(folder, log), Role::Part { order, compacted }));
    }
    if let Some(log) = file.strip_prefix("appstatus_") {
        let (log, marker) = match log.strip_suffix(IN_PROGRESS) {
            Some(log) => (log, Marker::InProgress),
            None => (log, Marker::Complete),
        };
        return Some((rolling(folder, log), Role::Marker(marker)));
    }
    spark1(file).map(|role| (Layout::Spark1, role)).or_else(|| {
        let order = databricks(file)?;
        Some((Layout::Databricks, Role::Part { order, compacted: false }))
    })
}

/// Suffix of a log that is still being written.
pub(super) const IN_PROGRESS: &str = ".inprogress";
const COMPACT: &str = ".compact";

fn rolling(folder: &str, log: &str) -> Layout {
    if folder.starts_with(ROLLING_FOLDER) { Layout::Rolling } else { Layout::Moved(log.to_owned()) }
}

fn spark1(file: &str) -> Option<Role> {
    if let Some(number) = file.strip_prefix("EVENT_LOG_") {
        let order = Order::Number(strip_suffixes(number).0.parse().ok()?);
        return Some(Role::Part { order, compacted: false });
    }
    let marker = match file.strip_prefix("SPARK_VERSION_") {
        Some(version) => Marker::SparkVersion(version.to_owned()),
        None if file == "APPLICATION_COMPLETE" => Marker::Complete,
        None if file.starts_with("COMPRESSION_CODEC_") => Marker::Other,
        None => return None,
    };
    Some(Role::Marker(marker))
}

/// The position of `eventlog`, or of `eventlog-2022-01-14--17-00.gz` by its date.
fn databricks(file: &str) -> Option<Order> {
    const DATE: &[u8] = b"0000-00-00--00-00";
    let (name, _) = strip_suffixes(file);
    let Some(date) = name.strip_prefix("eventlog-") else {
        return (name == "eventlog").then_some(Order::Newest);
    };
    let digits = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
    date.bytes().map(digits).eq(DATE.iter().copied()).then(|| Order::Date(date.to_owned()))
}

/// A name without codec and progress suffixes, and whether `.compact` was among them.
fn strip_suffixes(name: &str) -> (&str, bool) {
    let mut rest = name;
    let mut compacted = false;
    loop {
        if let Some(shorter) = rest.strip_suffix(COMPACT) {
            (rest, compacted) = (shorter, true);
        } else if let Some(shorter) = strip_any(rest, &CODECS).or_else(|| rest.strip_suffix(IN_PROGRESS)) {
            rest = shorter;
        } else {
            return (rest, compacted);
        }
    }
}

fn strip_any<'a>(name: &'a str, suffixes: &[&str]) -> Option<&'a str> {
    suffixes.iter().find_map(|suffix| name.strip_suffix(suffix))
}

/// Whether the name marks the file as still being written; a name without the suffix says nothing.
pub(super) fn is_in_progress(file: &str) -> bool {
    file.ends_with(IN_PROGRESS)
}

/// Whether the name is that of a folder in which Spark keeps the parts of a log.
pub(super) fn is_rolling_folder(folder: &str) -> bool {
    folder.starts_with(ROLLING_FOLDER)
}

/// The application's id and attempt, from the name of a log's folder.
pub(super) fn application_of_folder(folder: &str) -> (Option<String>, Option<String>) {
    let folder = strip_any(folder, &ARCHIVES).unwrap_or(folder);
    match folder.strip_prefix(ROLLING_FOLDER) {
        Some(log) if !log.is_empty() => split_attempt(log),
        _ => application_of_file(folder),
    }
}

/// The same from a file name. Only ids made by cluster managers are accepted, since files can have any name.
pub(super) fn application_of_file(file: &str) -> (Option<String>, Option<String>) {
    let (name, _) = strip_suffixes(file);
    let log = match role("", name) {
        Some((Layout::Moved(log), _)) => log,
        _ => name.to_owned(),
    };
    let (id, attempt) = split_attempt(&log);
    if id.as_deref().is_some_and(is_known_id) { (id, attempt) } else { (None, None) }
}

/// Splits off the attempt: 2 in `application_1700000000000_0001_2` and in `local-1430917381535_2`.
fn split_attempt(log: &str) -> (Option<String>, Option<String>) {
    let underscores_in_id = if log.starts_with("application_") { 2 } else { 0 };
    match log.rsplit_once('_') {
        Some((id, attempt)) if log.matches('_').count() > underscores_in_id && is_number(attempt) => {
            (Some(id.to_owned()), Some(attempt.to_owned()))
        }
        _ => (Some(log.to_owned()), None),
    }
}

fn is_known_id(id: &str) -> bool {
    let numbers = |rest: &str, separator| rest.split(separator).all(is_number);
    if let Some(rest) = id.strip_prefix("application_") {
        return rest.contains('_') && numbers(rest, '_');
    }
    ["app-", "local-"].iter().any(|prefix| id.strip_prefix(prefix).is_some_and(|rest| numbers(rest, '-')))
        || id
            .strip_prefix("spark-")
            .is_some_and(|rest| rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Files that archivers and desktops leave in an archive, and checksums; skipped without reading.
pub(super) fn is_litter(member: &str) -> bool {
    let name = member.rsplit('/').next().unwrap_or(member);
    let hidden_checksum = name.starts_with('.') && OsStr::new(name).as_encoded_bytes().ends_with(b".crc");
    member.split('/').any(|folder| folder == "__MACOSX")
        || name.starts_with("._")
        || name == ".DS_Store"
        || hidden_checksum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(folder: &str, file: &str) -> Option<(u64, bool)> {
        match role(folder, file)?.1 {
            Role::Part { order: Order::Number(number), compacted } => Some((number, compacted)),
            _ => None,
        }
    }

    #[test]
    fn parts_of_rolling_logs() {
        let folder = "eventlog_v2_local-1";
        assert_eq!(number(folder, "events_10_local-1"), Some((10, false)));
        assert_eq!(number(folder, "events_2_local-1.zstd"), Some((2, false)));
        assert_eq!(number(folder, "events_5_local-1.lz4.compact"), Some((5, true)));
        assert_eq!(number(folder, "events_5_local-1.compact"), Some((5, true)));
        assert_eq!(number(folder, "events_x_local-1"), None);
        assert_eq!(number(folder, "events_99999999999999999999_local-1"), None);
        assert_eq!(role(folder, "events_1_local-1").unwrap().0, Layout::Rolling);
        assert_eq!(role("copy", "events_1_local-1.lz4").unwrap().0, Layout::Moved("local-1".into()));
        assert_eq!(role("copy", "appstatus_local-1.inprogress").unwrap().0, Layout::Moved("local-1".into()));
    }

    #[test]
    fn markers() {
        let marker = |file| match role("eventlog_v2_a", file) {
            Some((_, Role::Marker(marker))) => Some(marker),
            _ => None,
        };
        assert_eq!(marker("appstatus_a"), Some(Marker::Complete));
        assert_eq!(marker("appstatus_a.inprogress"), Some(Marker::InProgress));
        assert_eq!(marker("SPARK_VERSION_1.2.0"), Some(Marker::SparkVersion("1.2.0".into())));
        assert_eq!(marker("APPLICATION_COMPLETE"), Some(Marker::Complete));
        assert_eq!(marker("COMPRESSION_CODEC_org.apache.spark.io.LZFCompressionCodec"), Some(Marker::Other));
        assert_eq!(marker("_SUCCESS"), None);
    }

    #[test]
    fn databricks_parts_with_a_date_come_before_the_newest() {
        let date = databricks("eventlog-2022-01-14--17-00.gz").unwrap();
        assert_eq!(date, Order::Date("2022-01-14--17-00".into()));
        assert_eq!(databricks("eventlog-2022-01-14--17-00").unwrap(), date);
        assert!(date < databricks("eventlog").unwrap());
        assert_eq!(databricks("eventlog-2"), None);
        assert_eq!(databricks("eventlog_0"), None);
    }

    #[test]
    fn application_ids_in_names() {
        let pair = |id: &str, attempt: Option<&str>| (Some(id.to_owned()), attempt.map(str::to_owned));
        assert_eq!(application_of_folder("eventlog_v2_local-1"), pair("local-1", None));
        assert_eq!(application_of_folder("eventlog_v2_my.app_2"), pair("my.app", Some("2")));
        assert_eq!(
            application_of_folder("eventlog_v2_application_17_0001_1.zip"),
            pair("application_17_0001", Some("1"))
        );
        assert_eq!(application_of_file("application_17_0001"), pair("application_17_0001", None));
        assert_eq!(application_of_file("application_17_0001_2.zstd"), pair("application_17_0001", Some("2")));
        assert_eq!(application_of_file("app-2026-0000.lz4.inprogress"), pair("app-2026-0000", None));
        assert_eq!(application_of_file("events_3_local-7.lz4"), pair("local-7", None));
        let kubernetes = "spark-110be3a8424d4a2789cb88134418217b";
        assert_eq!(application_of_file(kubernetes), pair(kubernetes, None));
        assert_eq!(application_of_file("eventlog"), (None, None));
        assert_eq!(application_of_file("loggerParser"), (None, None));
    }
}
