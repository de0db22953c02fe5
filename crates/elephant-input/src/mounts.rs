//! Pseudo file systems, such as `/proc` and `/sys`: the kernel generates their content on each read. Walking them takes
//! minutes and finds no histories, and some of their files never end.

use std::fs::Metadata;
#[cfg(target_os = "linux")]
use std::path::Path;

use rustc_hash::FxHashMap;

/// Types of pseudo file systems on Linux.
#[cfg(target_os = "linux")]
const TYPES: [&str; 20] = [
    "binder",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "efivarfs",
    "fusectl",
    "mqueue",
    "nfsd",
    "nsfs",
    "proc",
    "pstore",
    "resctrl",
    "rpc_pipefs",
    "securityfs",
    "sysfs",
    "tracefs",
];

/// The mounted pseudo file systems, by device number.
#[derive(Debug, Default)]
pub(super) struct PseudoFileSystems {
    types: FxHashMap<u64, String>,
}

impl PseudoFileSystems {
    /// Those mounted now; empty if the system does not list its mounts.
    #[cfg(target_os = "linux")]
    pub(super) fn mounted() -> Self {
        let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        Self::of_table(&String::from_utf8_lossy(&table), device_of)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn mounted() -> Self {
        Self::default()
    }

    /// The pseudo file systems in a table of mounts. `device_of` returns the device number of a mounted folder, because
    /// the table writes the number in another form.
    #[cfg(target_os = "linux")]
    fn of_table(table: &str, device_of: impl Fn(&str) -> Option<u64>) -> Self {
        // "22 27 0:21 / /proc rw,relatime - proc proc rw"
        let entry = |line: &str| {
            let (mount, file_system) = line.split_once(" - ")?;
            let kind = file_system.split(' ').next().filter(|kind| TYPES.contains(kind))?;
            let folder = mount.split(' ').nth(4)?;
            Some((device_of(folder)?, kind.to_owned()))
        };
        Self { types: table.lines().filter_map(entry).collect() }
    }

    /// The type of the pseudo file system that holds a file or folder; `None` for other file systems.
    pub(super) fn type_of(&self, metadata: &Metadata) -> Option<&str> {
        self.types.get(&device(metadata)?).map(String::as_str)
    }
}

#[cfg(target_os = "linux")]
fn device_of(folder: &str) -> Option<u64> {
    // The table writes white space and backslashes as octal escapes. Such a folder is not found here, so it is walked.
    device(&std::fs::symlink_metadata(Path::new(folder)).ok()?)
}

/// Reads the number of a device. Only Unix has such numbers.
#[cfg(unix)]
const NUMBER: Option<fn(&Metadata) -> u64> = Some(std::os::unix::fs::MetadataExt::dev);
#[cfg(not(unix))]
const NUMBER: Option<fn(&Metadata) -> u64> = None;

/// The number of the device that holds a file or folder.
pub(super) fn device(metadata: &Metadata) -> Option<u64> {
    NUMBER.map(|number| number(metadata))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_file_systems_without_files_are_listed() {
        let table = "22 27 0:21 / /proc rw,relatime - proc proc rw\n\
            23 27 0:22 / /sys rw,relatime shared:7 - sysfs sysfs rw\n\
            25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw\n\
            27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\nodd line\n";
        let device = |folder: &str| u64::try_from(folder.len()).ok();
        let found = PseudoFileSystems::of_table(table, device).types;
        assert_eq!(found.len(), 2);
        assert_eq!((found[&5].as_str(), found[&4].as_str()), ("proc", "sysfs"));
    }

    #[test]
    fn the_process_table_is_found_and_the_temporary_folder_is_not() {
        let mounted = PseudoFileSystems::mounted();
        let type_of = |path: &str| mounted.type_of(&std::fs::metadata(path).unwrap()).map(str::to_owned);
        assert_eq!(type_of("/proc/self").as_deref(), Some("proc"));
        assert_eq!(type_of("/tmp"), None);
    }
}
