//! Cleans up when a run is interrupted.
//!
//! On Ctrl-C, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU, and on the signals that job schedulers and scripts use to end a
//! process (SIGALRM, SIGUSR1, SIGUSR2), temporary files are removed and the progress bar is cleared. Then the signal has
//! its default effect. A signal that was ignored when the run began, as under `nohup`, stays ignored. SIGKILL cannot be
//! handled.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::ProgressBar;
use tempfile::NamedTempFile;

static CLEANUP: Mutex<Cleanup> = Mutex::new(Cleanup { watching: false, files: Vec::new(), bar: None });

/// What to clean up on an interruption.
struct Cleanup {
    /// Whether a thread waits for signals.
    watching: bool,
    files: Vec<PathBuf>,
    bar: Option<ProgressBar>,
}

fn cleanup() -> MutexGuard<'static, Cleanup> {
    CLEANUP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is removed on drop or when the run is interrupted, unless it was persisted before.
#[derive(Debug)]
pub(super) struct Temporary {
    /// Declared before `path`, so that the file is removed before its path is unregistered.
    file: NamedTempFile,
    path: Registered,
}

/// The path of a file that an interruption removes.
#[derive(Debug)]
struct Registered(PathBuf);

impl Drop for Registered {
    fn drop(&mut self) {
        cleanup().files.retain(|path| *path != self.0);
    }
}

impl Temporary {
    /// Registers the file that `create` creates.
    pub(super) fn create(create: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<Self> {
        let mut cleanup = cleanup();
        watch(&mut cleanup);
        // The lock is held, so no signal is handled before the file is registered.
        let file = create()?;
        // A relative path stays valid, because the program never changes its working directory.
        let path = file.path().to_owned();
        cleanup.files.push(path.clone());
        Ok(Self { file, path: Registered(path) })
    }

    pub(super) fn file(&self) -> &NamedTempFile {
        &self.file
    }

    /// Moves the file to `place` and replaces an existing file.
    pub(super) fn persist(self, place: &Path) -> io::Result<()> {
        let Self { file, path } = self;
        let persisted = file.persist(place).map(drop).map_err(|error| error.error);
        drop(path);
        persisted
    }
}

/// Turns a write beyond the file size limit into an error, instead of a signal that ends the process.
#[cfg(unix)]
pub(super) fn handle_file_size_signal() {
    let flag = std::sync::Arc::default();
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag) {
        log::debug!("cannot handle SIGXFSZ, so a file beyond the size limit ends the run: {error}");
    }
}

/// Other systems have no such signal.
#[cfg(not(unix))]
pub(super) fn handle_file_size_signal() {}

/// Removes copies of objects on an interruption.
#[cfg(feature = "remote")]
pub(super) fn remove_copies_on_interrupt() {
    watch(&mut cleanup());
}

/// Clears this bar on an interruption. There is only one bar at a time.
pub(super) fn clear_on_interrupt(bar: &ProgressBar) {
    let mut cleanup = cleanup();
    watch(&mut cleanup);
    cleanup.bar = Some(bar.clone());
}

/// Calls `stop` on Ctrl-C and SIGTERM, instead of ending the process; a second signal ends it at once. Other signals keep
/// their default effect.
#[cfg(all(any(feature = "mcp", feature = "serve"), unix))]
pub(super) fn stop_on_interrupt(stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    // Temporary files are removed by their owners, which are completed.
    cleanup().watching = true;
    let stopping = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stopping))?;
        signal_hook::flag::register(signal, Arc::clone(&stopping))?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let wait = move || {
        if signals.forever().next().is_some() {
            stop();
        }
    };
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).map(drop)
}

/// Windows ends the process on Ctrl-C; what was stored before stays.
#[cfg(all(any(feature = "mcp", feature = "serve"), not(unix)))]
pub(super) fn stop_on_interrupt(_: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Ok(())
}

/// Cleans up and ends the process with the default effect of the signal.
fn clean_up_and_end(signal: i32) {
    let cleanup = cleanup();
    for file in &cleanup.files {
        if let Err(error) = std::fs::remove_file(file) {
            log::debug!("cannot remove {}: {error}", file.display());
        }
    }
    #[cfg(feature = "remote")]
    elephant_input::storage::remove_fetched();
    if let Some(bar) = &cleanup.bar {
        bar.finish_and_clear();
    }
    // Still locked, so no new file can be registered.
    if let Err(error) = signal_hook::low_level::emulate_default_handler(signal) {
        log::debug!("signal {signal} has no default effect: {error}");
    }
}

/// Waits for signals on a separate thread. If it cannot start, signals have their default effect.
fn watch(cleanup: &mut Cleanup) {
    if std::mem::replace(&mut cleanup.watching, true) {
        return;
    }
    if let Err(error) = spawn_watch() {
        log::debug!("cannot wait for signals, so an interrupted run leaves temporary files: {error}");
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
        // If the mask is unknown, leave SIGHUP alone because of `nohup`.
        None => signal == SIGHUP,
    };
    let fatal = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2];
    let watched = fatal.into_iter().filter(|signal| !is_ignored(*signal));
    // A second signal ends the process at once, because a dead file system or terminal can block the cleanup.
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in watched.clone() {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupted))?;
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    let mut signals = Signals::new(watched)?;
    let wait = move || signals.forever().for_each(clean_up_and_end);
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).map(drop)
}

/// The signals that the process ignores, one bit each from SIGHUP on. `None` if the system does not report them.
#[cfg(unix)]
fn ignored_signals() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// Windows has only Ctrl-C, and no blocking wait for it.
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
        clean_up_and_end(signal_hook::consts::SIGINT);
    };
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_registered_until_it_is_dropped_or_persisted() {
        let folder = tempfile::tempdir().unwrap();
        let create = || Temporary::create(|| NamedTempFile::new_in(folder.path())).unwrap();
        let is_registered = |path: &Path| cleanup().files.iter().any(|registered| registered == path);
        let dropped = create();
        let path = dropped.file().path().to_owned();
        assert!(is_registered(&path));
        drop(dropped);
        assert!(!is_registered(&path) && !path.exists());
        let persisted = create();
        let path = persisted.file().path().to_owned();
        let place = folder.path().join("place");
        persisted.persist(&place).unwrap();
        assert!(!is_registered(&path) && !path.exists() && place.exists());
    }
}
