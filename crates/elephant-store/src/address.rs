//! The addresses by which a store knows files: absolute, with scheme and host, whatever the user called them. If the user
//! named their cluster, it comes first, because two clusters may have the same paths: `etl hdfs://nameservice1/logs/app-1`.
//!
//! Files of this machine have no host: that of a container changes with each run. Named clusters tell machines apart.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::outcome::file_of;
use elephant_input::discover::Listed;
use elephant_input::storage::Storages;

/// The scheme of the files of this machine.
const FILE: &str = "file://";

/// The addresses of files that were listed, and of what is in them.
pub(super) struct Addresses {
    /// The cluster with a space, or nothing.
    cluster: String,
    storages: Storages,
    /// The absolute paths of their folders, by what the user called these.
    folders: FxHashMap<PathBuf, PathBuf>,
}

impl Addresses {
    pub(super) fn of_files(files: &[Listed], cluster: Option<&str>, storages: &Storages) -> Self {
        let mut folders = FxHashMap::default();
        for folder in files.iter().filter(|file| !storages.has(&file.path)).map(|file| folder_of(&file.path))
        {
            if !folders.contains_key(folder) {
                folders.insert(folder.to_path_buf(), absolute(folder));
            }
        }
        let cluster = cluster.map(|cluster| format!("{cluster} ")).unwrap_or_default();
        Self { cluster, storages: storages.clone(), folders }
    }

    /// The address of a file.
    pub(super) fn of(&self, file: &Path) -> PathBuf {
        if self.storages.has(file) {
            return self.in_cluster(file.as_os_str());
        }
        let Some(name) = file.file_name() else { return self.of_folder(file) };
        let folder = folder_of(file);
        let absolute = self.folders.get(folder).cloned().unwrap_or_else(|| absolute(folder));
        self.on_machine(&absolute.join(name))
    }

    /// The address of a folder that the user named.
    pub(super) fn of_folder(&self, folder: &Path) -> PathBuf {
        if self.storages.has(folder) {
            self.in_cluster(folder.as_os_str())
        } else {
            self.on_machine(&absolute(folder))
        }
    }

    /// The address of a source: of a file among those that were `listed`, or of a member of an archive. A stream has the
    /// name that the user gave it.
    pub(super) fn of_source(&self, listed: &FxHashSet<&Path>, source: &str) -> String {
        let file = file_of(listed, source);
        if !listed.contains(file) {
            return self.in_cluster(OsStr::new(source)).to_string_lossy().into_owned();
        }
        let member = file.to_str().and_then(|file| source.strip_prefix(file)).unwrap_or_default();
        format!("{}{member}", self.of(file).to_string_lossy())
    }

    /// Whether the user named a cluster.
    pub(super) const fn has_cluster(&self) -> bool {
        !self.cluster.is_empty()
    }

    /// An address as the store has it if no cluster was named.
    pub(super) fn without_cluster(&self, address: &Path) -> Option<Vec<u8>> {
        let rest = address.as_os_str().as_encoded_bytes().strip_prefix(self.cluster.as_bytes())?;
        self.has_cluster().then(|| rest.to_vec())
    }

    fn on_machine(&self, absolute: &Path) -> PathBuf {
        let mut address = OsString::from(FILE);
        address.push(absolute);
        self.in_cluster(&address)
    }

    fn in_cluster(&self, address: &OsStr) -> PathBuf {
        let mut named = OsString::from(&self.cluster);
        named.push(address);
        named.into()
    }

    /// The path on this machine of a file with this address, if it is one of the cluster's.
    pub(super) fn on_this_machine<'a>(&self, address: &'a Path) -> Option<&'a Path> {
        let path = address.to_str()?.strip_prefix(&self.cluster)?.strip_prefix(FILE)?;
        Some(Path::new(path))
    }

    /// Whether an address is that of an object in a storage.
    pub(super) fn is_object(&self, address: &Path) -> bool {
        let own = address.to_str().and_then(|address| address.strip_prefix(&self.cluster));
        own.is_some_and(|object| self.storages.has(Path::new(object)))
    }
}

/// An address without the cluster that the user named.
pub(super) fn without_cluster(address: &str) -> &str {
    let place = address.find("://").unwrap_or_default();
    let scheme = address.get(..place).and_then(|before| before.rfind(' '));
    scheme.and_then(|space| address.get(space + 1..)).unwrap_or(address)
}

/// The absolute path of a file of this machine, by an address of the store without its cluster, or by what earlier versions
/// stored; `None` of what is elsewhere.
#[must_use]
pub fn local_path(address: &str) -> Option<&Path> {
    let path = address.strip_prefix(FILE).or_else(|| (!address.contains("://")).then_some(address))?;
    Some(Path::new(path)).filter(|path| path.is_absolute())
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

/// The absolute path of a folder, without links.
fn absolute(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let absolute = fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
    absolute.unwrap_or_else(|_| folder.to_path_buf())
}

/// Paths that earlier versions stored as the user had named them. A file has such a path if its address ends with it.
#[derive(Debug, Default)]
pub(super) struct Relative {
    /// By the path without leading `.` and `..`.
    paths: FxHashMap<PathBuf, Vec<u8>>,
}

impl Relative {
    /// Takes a path from the store, unless it is an address.
    pub(super) fn take(&mut self, path: &[u8]) {
        if let Some(plain) = str::from_utf8(path).ok().filter(|path| !path.contains("://")) {
            self.paths.insert(plain_components(Path::new(plain)), path.to_vec());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The earlier path of a file with this address.
    pub(super) fn of(&self, address: &Path) -> Option<&[u8]> {
        let components: Vec<_> = address.components().collect();
        let ends = (0..components.len()).map(|from| components.iter().skip(from).collect::<PathBuf>());
        ends.filter_map(|end| self.paths.get(&end)).map(Vec::as_slice).next()
    }
}

/// A path without what leads to other folders.
fn plain_components(path: &Path) -> PathBuf {
    path.components().filter(|part| matches!(part, std::path::Component::Normal(_))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_input::discover::FileState;

    #[test]
    fn a_file_has_one_address_whatever_it_is_called() {
        let here = fs::canonicalize(".").unwrap();
        let wanted = format!("file://{}/src/a.zip", here.display());
        let absolute = format!("{}/src/a.zip", here.display());
        for path in ["src/a.zip", "./src/a.zip", "src/../src/a.zip", &absolute] {
            let state = FileState { size: 0, modified: None, etag: None };
            let files = [Listed { path: path.into(), state }];
            let storages = Storages::default();
            let listed = files.iter().map(|file| file.path.as_path()).collect();
            let of = |cluster| Addresses::of_files(&files, cluster, &storages);
            assert_eq!(of(None).of(Path::new(path)), Path::new(&wanted), "{path}");
            let member = of(Some("etl")).of_source(&listed, &format!("{path}!b/c"));
            assert_eq!(member, format!("etl {wanted}!b/c"));
            assert_eq!(without_cluster(&member), format!("{wanted}!b/c"));
            assert_eq!(of(None).of_source(&listed, "-"), "-");
            let address = of(Some("etl")).of(Path::new(path));
            assert_eq!(of(Some("etl")).on_this_machine(&address), Some(Path::new(&absolute)));
            assert_eq!(of(None).on_this_machine(&address), None);
        }
    }

    #[test]
    fn an_earlier_path_is_the_end_of_an_address() {
        let mut relative = Relative::default();
        for path in ["./logs/app-1", "../x/app-2", "s3://b/app-3", "file:///logs/app-4"] {
            relative.take(path.as_bytes());
        }
        let of = |address: &str| relative.of(Path::new(address)).map(|path| str::from_utf8(path).unwrap());
        assert_eq!(of("file:///a/logs/app-1"), Some("./logs/app-1"));
        assert_eq!(of("etl file:///a/x/app-2"), Some("../x/app-2"));
        assert_eq!((of("file:///a/app-1"), of("s3://b/app-3"), of("file:///logs/app-4")), (None, None, None));
    }

    #[test]
    fn files_of_this_machine_have_a_path() {
        let paths =
            ["file:///logs/a", "/logs/a", "logs/a", "hdfs://ns/logs/a", "s3://bucket/a"].map(local_path);
        let here = Some(Path::new("/logs/a"));
        assert_eq!(paths, [here, here, None, None, None]);
    }
}
