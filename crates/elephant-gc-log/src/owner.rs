//! Whose log it is: the ids in its path.

use std::ffi::OsStr;
use std::path::Path;

/// The process that wrote the files below a folder. Resource managers name folders after it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The id of the application without its prefix: `1593014569456_34512` of YARN, `app-20240101120000-0003` of Spark's
    /// own cluster manager.
    application: String,
    /// The process within it.
    process: Process,
}

/// A process of an application.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Process {
    /// A container of YARN, by its id.
    Container {
        /// The id: `container_e17_1410901177871_0001_01_000005`.
        id: String,
        /// Its number; the first one of an attempt runs the application master.
        number: u64,
    },
    /// An executor of Spark's own cluster manager, by its id.
    Executor(String),
}

impl Process {
    /// The id in reports.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Container { id, .. } | Self::Executor(id) => id,
        }
    }

    /// Whether it is the application master, which in cluster mode is also Spark's driver.
    #[must_use]
    pub const fn is_master(&self) -> bool {
        matches!(self, Self::Container { number: 1, .. })
    }
}

impl Owner {
    /// The owner by the folders of a path, and by the name of the file: the last one that tells.
    #[must_use]
    pub fn in_path(path: &Path) -> Option<Self> {
        let names: Vec<&str> = path.iter().filter_map(OsStr::to_str).collect();
        let of_container = names.iter().rev().find_map(|name| container(name));
        of_container.or_else(|| {
            let at = names.iter().rposition(|name| is_standalone(name))?;
            let executor = names.get(at + 1).filter(|_| at + 2 < names.len())?;
            let is_number = !executor.is_empty() && executor.bytes().all(|byte| byte.is_ascii_digit());
            let application = (*names.get(at)?).to_owned();
            is_number.then(|| Self { application, process: Process::Executor((*executor).to_owned()) })
        })
    }

    /// The process.
    #[must_use]
    pub const fn process(&self) -> &Process {
        &self.process
    }

    /// The id that all logs of the application have in common, for [`Owner::key_of`].
    #[must_use]
    pub fn key(&self) -> &str {
        &self.application
    }

    /// The same for an application by its id in a history: `application_1_0002` and `job_1_0002` are `1_0002`.
    #[must_use]
    pub fn key_of(application: &str) -> &str {
        application
            .strip_prefix("application_")
            .or_else(|| application.strip_prefix("job_"))
            .unwrap_or(application)
    }
}

/// The owner in `container_[eNN_]T_A_aa_nnnnnn`, which may be the start of a longer name.
fn container(name: &str) -> Option<Owner> {
    let at = name.find("container_")?;
    let rest = name.get(at + "container_".len()..)?;
    let (epoch, numbers) = match rest.strip_prefix('e') {
        Some(rest) => rest.split_once('_').filter(|(epoch, _)| is_number(epoch))?,
        None => ("", rest),
    };
    let mut parts = numbers.splitn(4, '_');
    let (cluster, application, attempt) = (parts.next()?, parts.next()?, parts.next()?);
    let last = parts.next()?;
    let digits = last.bytes().take_while(u8::is_ascii_digit).count();
    let number = last.get(..digits)?;
    if ![cluster, application, attempt, number].into_iter().all(is_number) {
        return None;
    }
    let epoch = if epoch.is_empty() { String::new() } else { format!("e{epoch}_") };
    let id = format!("container_{epoch}{cluster}_{application}_{attempt}_{number}");
    let process = Process::Container { id, number: number.parse().ok()? };
    Some(Owner { application: format!("{cluster}_{application}"), process })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a folder has the name of an application of Spark's own cluster manager: `app-20240101120000-0003`.
fn is_standalone(name: &str) -> bool {
    let numbers = name.strip_prefix("app-").and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(time, number)| is_number(time) && is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(path: &str) -> Option<(String, String, bool)> {
        let owner = Owner::in_path(Path::new(path))?;
        Some((owner.key().to_owned(), owner.process().id().to_owned(), owner.process().is_master()))
    }

    #[test]
    fn containers_and_executors_are_found_in_paths() {
        let found = |key: &str, id: &str, master| Some((key.to_owned(), id.to_owned(), master));
        assert_eq!(
            owner("logs/application_1_0002/container_1_0002_01_000001/stdout"),
            found("1_0002", "container_1_0002_01_000001", true)
        );
        assert_eq!(
            owner("a/container_e17_1410901177871_0001_01_000005/gc.log.0.current"),
            found("1410901177871_0001", "container_e17_1410901177871_0001_01_000005", false)
        );
        assert_eq!(
            owner("gc-container_1_0002_01_000003.log"),
            found("1_0002", "container_1_0002_01_000003", false)
        );
        assert_eq!(
            owner("work/app-20240101120000-0003/7/stdout"),
            found("app-20240101120000-0003", "7", false)
        );
        for path in [
            "",
            "stdout",
            "container_1_2/stdout",
            "container_e_1_2_3_4/stdout",
            "container_1_0002_01_x/stdout",
            "app-1-2/stdout",
            "app-1-2/7",
            "app-x-2/7/stdout",
            "app-1-2/driver/stdout",
        ] {
            assert_eq!(owner(path), None, "{path}");
        }
    }

    #[test]
    fn histories_have_the_same_key() {
        assert_eq!(Owner::key_of("application_1_0002"), "1_0002");
        assert_eq!(Owner::key_of("job_1_0002"), "1_0002");
        assert_eq!(Owner::key_of("app-20240101120000-0003"), "app-20240101120000-0003");
        assert_eq!(Owner::key_of("local-1"), "local-1");
    }
}
