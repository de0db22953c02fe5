//! What is left behind when a run is interrupted: nothing.
//!
//! Ctrl-C, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, and the signals by which job schedulers and scripts end a process that
//! knows nothing of them (SIGALRM, SIGUSR1, SIGUSR2), end it as they would without this, but temporary files and the
//! progress bar go first. A signal that was ignored when the run began, as `nohup` has it, stays ignored. Against SIGKILL
//! nothing helps.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::ProgressBar;
use tempfile::NamedTempFile;

static LEFT: Mutex<Left> = Mutex::new(Left { watching: false, files: Vec::new(), bar: None });

/// What an interruption would leave behind.
struct Left {
    /// Whether somebody waits for signals.
    watching: bool,
    files: Vec<PathBuf>,
    bar: Option<ProgressBar>,
}

fn left() -> MutexGuard<'static, Left> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that goes when it is dropped or the run is interrupted, unless it found its place before.
#[derive(Debug)]
pub(super) struct Temporary {
    /// In front of its path, so that it goes before the path is forgotten.
    file: NamedTempFile,
    path: Registered,
}

/// A path that an interruption removes.
#[derive(Debug)]
struct Registered(PathBuf);

impl Drop for Registered {
    fn drop(&mut self) {
        left().files.retain(|path| *path != self.0);
    }
}

impl Temporary {
    /// Takes charge of what `make` makes.
    pub(super) fn make(make: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<Self> {
        let mut left = left();
        watch(&mut left);
        // No signal is handled before the file is known.
        let file = make()?;
        // A relative path would lead elsewhere from another folder, which nothing here enters.
        let path = file.path().to_owned();
        left.files.push(path.clone());
        Ok(Self { file, path: Registered(path) })
    }

    /// The file.
    pub(super) fn file(&self) -> &NamedTempFile {
        &self.file
    }

    /// Moves the file to its place, over what is there.
    pub(super) fn persist(self, place: &Path) -> io::Result<()> {
        let Self { file, path } = self;
        let persisted = file.persist(place).map(drop).map_err(|error| error.error);
        drop(path);
        persisted
    }
}

/// Lets a write beyond the largest file that is allowed fail, where it would end the process.
#[cfg(unix)]
pub(super) fn outlive_large_files() {
    let noted = std::sync::Arc::default();
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, noted) {
        log::debug!("a file that becomes too large would end the run: {error}");
    }
}

/// There is no such end here.
#[cfg(not(unix))]
pub(super) fn outlive_large_files() {}

/// Lets an interruption clear the line of this bar, the only one.
pub(super) fn clear_on_interrupt(bar: &ProgressBar) {
    let mut left = left();
    watch(&mut left);
    left.bar = Some(bar.clone());
}

/// Removes everything and ends the process as the signal does.
fn end(signal: i32) {
    let left = left();
    for file in &left.files {
        if let Err(error) = std::fs::remove_file(file) {
            log::debug!("{} is left behind: {error}", file.display());
        }
    }
    if let Some(bar) = &left.bar {
        bar.finish_and_clear();
    }
    // Still locked: nothing new may come to be left.
    if let Err(error) = signal_hook::low_level::emulate_default_handler(signal) {
        log::debug!("the signal {signal} has no default: {error}");
    }
}

/// Waits for signals on a thread of its own. Without one a run is interrupted as ever.
fn watch(left: &mut Left) {
    if std::mem::replace(&mut left.watching, true) {
        return;
    }
    if let Err(error) = spawn_watch() {
        log::debug!("an interrupted run would leave temporary files behind: {error}");
    }
}

#[cfg(unix)]
fn spawn_watch() -> io::Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
    use signal_hook::iterator::Signals;

    let ignored = ignored_signals();
    let is_ignored = |signal: i32| match ignored {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        // Where nobody tells, a hang-up stays what it was, for the sake of `nohup`.
        None => signal == SIGHUP,
    };
    let ending = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2];
    let watched = ending.into_iter().filter(|signal| !is_ignored(*signal));
    // A second one ends the process at once: a dead file system or terminal could hold up what the first one does.
    let again = Arc::new(AtomicBool::new(false));
    for signal in watched.clone() {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&again))?;
        signal_hook::flag::register(signal, Arc::clone(&again))?;
    }
    let mut signals = Signals::new(watched)?;
    let wait = move || signals.forever().for_each(end);
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).map(drop)
}

/// The signals that the process ignores, a bit each from SIGHUP on, where the system tells them.
#[cfg(unix)]
fn ignored_signals() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// Windows has Ctrl-C alone, and no way to wait for it.
#[cfg(not(unix))]
fn spawn_watch() -> io::Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted))?;
    let wait = move || {
        while !interrupted.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
        end(signal_hook::consts::SIGINT);
    };
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_as_long_as_it_has_no_place() {
        let folder = tempfile::tempdir().unwrap();
        let make = || Temporary::make(|| NamedTempFile::new_in(folder.path())).unwrap();
        let known = |path: &Path| left().files.iter().any(|known| known == path);
        let dropped = make();
        let path = dropped.file().path().to_owned();
        assert!(known(&path));
        drop(dropped);
        assert!(!known(&path) && !path.exists());
        let kept = make();
        let path = kept.file().path().to_owned();
        let place = folder.path().join("place");
        kept.persist(&place).unwrap();
        assert!(!known(&path) && !path.exists() && place.exists());
    }
}
