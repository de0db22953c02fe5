//! Files that claim to be regular, but whose reads may block for ever, such as `/proc/kmsg`: the kernel answers a read
//! only when it has data.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use std::{fs, thread};

use super::error::InputError;
use super::mounts::PseudoFileSystems;

/// How long the first bytes of such a file may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Whether reading a file may block: it is in a pseudo file system, or its length is 0, as for files whose content the
/// kernel generates when they are read.
pub(super) fn may_block(path: &Path, pseudo: &PseudoFileSystems) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0 || pseudo.type_of(&metadata).is_some())
}

/// Runs `work` on its own thread. After `time`, the thread is abandoned: a blocking read cannot be cancelled.
pub(super) fn within<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, result) = sync_channel(1);
    let worker = move || drop(sender.send(work()));
    thread::Builder::new().name("file".to_owned()).spawn(worker).ok()?;
    result.recv_timeout(time).ok()
}

/// The error for a file that delivered no data in that time.
pub(super) fn gave_nothing(path: &Path, time: Duration) -> InputError {
    let text = format!("no data arrived within {} s", time.as_secs().max(1));
    InputError::from_io(path, io::Error::new(ErrorKind::TimedOut, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_blocks_is_left_alone() {
        assert_eq!(within(Duration::from_secs(3600), || 7), Some(7));
        let (keep, blocked) = sync_channel::<()>(0);
        assert_eq!(within(Duration::ZERO, move || blocked.recv()), None);
        drop(keep);
    }

    #[test]
    fn only_files_that_the_kernel_makes_up_may_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "x").unwrap();
        let mounted = PseudoFileSystems::mounted();
        assert!(!may_block(&path, &mounted));
        assert!(!may_block(&folder.path().join("none"), &mounted));
        fs::write(&path, "").unwrap();
        assert!(may_block(&path, &mounted));
        #[cfg(target_os = "linux")]
        assert!(may_block(Path::new("/proc/self/status"), &mounted));
    }
}
