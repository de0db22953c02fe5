//! Joins the files of a history that is spread over several: each form of Tez's spreads a DAG, its application and the query
//! that it ran, and servers answer for each part of a job.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::codec::Codec;
use super::inventory::by_bytes;
use super::kind::SourceKind;
use super::source::{Source, SourcePath};

/// Precede the start and the number of an application in names that Tez gives to files
/// (`history.txt.appattempt_T_A_000001`, `application_T_A_1`, `dag_T_A_1_1`).
const PREFIXES: [&str; 3] = ["appattempt_", "application_", "dag_"];
/// Begin the names of folders that hold one type of entities, below the folder of all.
const TYPES: [&str; 2] = ["TEZ_", "HIVE_QUERY_ID"];

/// What files of one application have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Common {
    /// The application, by the names of the files.
    Application(PathBuf, String),
    /// The folder: answers of the timeline server have any name.
    Folder(PathBuf),
    /// The folder of answers of other servers, which tell of which application they are.
    Answers(PathBuf),
}

/// Joins the histories among `histories` that are spread over files, by path.
pub(super) fn join(histories: &mut Vec<Source>) {
    let is_file = |source: &Source| !matches!(source.path, SourcePath::Stdin(_));
    let is_spread = |source: &mut Source| source.kind.is_some_and(SourceKind::is_spread) && is_file(source);
    let mut groups: BTreeMap<Common, Vec<Source>> = BTreeMap::new();
    for source in histories.extract_if(.., is_spread) {
        groups.entry(common(&source)).or_default().push(source);
    }
    histories.extend(groups.into_iter().filter_map(|(common, sources)| one(&common, sources)));
}

/// What the files of one history have in common if it is spread over several: its application, or their folder. `None` for
/// other histories, and in archives, whose files are read together in any case.
#[must_use]
pub fn group(source: &Source) -> Option<PathBuf> {
    let is_file = matches!(source.path, SourcePath::File(_));
    if !is_file || !source.kind.is_some_and(SourceKind::is_spread) {
        return None;
    }
    // The path of a history of several files may be their folder.
    Some(match common_of(source.files().next()?, source.kind, PathBuf::new) {
        Common::Application(_, id) => PathBuf::from(id),
        Common::Folder(folder) | Common::Answers(folder) => folder,
    })
}

fn common(source: &Source) -> Common {
    common_of(source.path.as_path(), source.kind, || archive(source))
}

/// What a file has in common with others, which may be in an archive.
fn common_of(path: &Path, kind: Option<SourceKind>, archive: impl Fn() -> PathBuf) -> Common {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    if kind == Some(SourceKind::Answers) {
        return Common::Answers(folder.to_path_buf());
    }
    let is_named = kind == Some(SourceKind::TezProto) || name.starts_with("history.txt");
    if let Some(id) = application(name).filter(|_| is_named) {
        // Files of an archive belong together, and not to those outside.
        return Common::Application(archive(), id.to_owned());
    }
    let of_type = folder
        .file_name()
        .and_then(|name| name.to_str())
        .filter(|name| TYPES.iter().any(|prefix| name.starts_with(prefix)));
    Common::Folder(of_type.and_then(|_| folder.parent()).unwrap_or(folder).to_path_buf())
}

/// The archive that holds a source; an empty path if none does.
fn archive(source: &Source) -> PathBuf {
    match (&source.path, source.parts.first()) {
        (SourcePath::Member(_), Some(part)) => part.file().to_path_buf(),
        _ => PathBuf::new(),
    }
}

/// The start and the number of the application in a name.
fn application(name: &str) -> Option<&str> {
    let rest = PREFIXES.iter().find_map(|prefix| Some(name.split_once(prefix)?.1))?;
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = rest.split('_');
    let len = parts.next().filter(is_number)?.len() + 1 + parts.next().filter(is_number)?.len();
    rest.get(..len)
}

/// One source of several.
fn one(common: &Common, mut sources: Vec<Source>) -> Option<Source> {
    sources.sort_by(|a, b| by_bytes(a.path.as_path(), b.path.as_path()));
    if sources.len() == 1 {
        return sources.pop();
    }
    let codec = sources.iter().filter_map(|source| source.codec).find(|codec| *codec != Codec::Plain);
    let named_by_user = sources.iter().any(|source| source.named_by_user);
    let mut sources = sources.into_iter();
    let mut first = sources.next()?;
    first.path = match (common, first.path) {
        (Common::Folder(folder) | Common::Answers(folder), SourcePath::Member(_)) => {
            SourcePath::Member(folder.clone())
        }
        (Common::Folder(folder) | Common::Answers(folder), _) if folder.as_os_str().is_empty() => {
            SourcePath::File(PathBuf::from("."))
        }
        (Common::Folder(folder) | Common::Answers(folder), _) => SourcePath::File(folder.clone()),
        (Common::Application(..), path) => path,
    };
    first.parts.extend(sources.flat_map(|source| source.parts));
    Some(Source { codec: codec.or(first.codec), named_by_user, ..first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Part;
    use crate::source::LogFolder;

    fn source(path: &str, kind: SourceKind) -> Source {
        Source {
            path: SourcePath::File(path.into()),
            kind: Some(kind),
            codec: Some(Codec::Plain),
            named_by_user: false,
            parts: vec![Part::new_file(path.into())],
            log: LogFolder::default(),
        }
    }

    fn joined(files: &[(&str, SourceKind)]) -> Vec<(String, usize)> {
        let mut sources = files.iter().map(|(path, kind)| source(path, *kind)).collect();
        join(&mut sources);
        sources.iter().map(|source| (source.path.to_string(), source.parts.len())).collect()
    }

    #[test]
    fn files_are_joined_by_folder_or_by_application() {
        use SourceKind::{SparkEventLog, TezJson, TezProto};
        let files = [
            ("x/tez/app_data/date=2026-01-01/application_7_0001_1", TezProto),
            ("x/tez/dag_data/date=2026-01-02/dag_7_0001_2_1", TezProto),
            ("x/tez/dag_data/date=2026-01-02/dag_7_0002_1_1", TezProto),
            ("x/b/history.txt.appattempt_7_0003_000001", TezJson),
            ("x/b/history.txt.appattempt_7_0004_000001", TezJson),
            ("x/a/dag.json", TezJson),
            ("x/a/TEZ_VERTEX_ID/1.json", TezJson),
            ("x/a/spark", SparkEventLog),
        ];
        let expected = [
            ("x/a/spark", 1),
            ("x/tez/app_data/date=2026-01-01/application_7_0001_1", 2),
            ("x/tez/dag_data/date=2026-01-02/dag_7_0002_1_1", 1),
            ("x/b/history.txt.appattempt_7_0003_000001", 1),
            ("x/b/history.txt.appattempt_7_0004_000001", 1),
            ("x/a", 2),
        ];
        assert_eq!(joined(&files), expected.map(|(path, parts)| (path.to_owned(), parts)));
    }
}
