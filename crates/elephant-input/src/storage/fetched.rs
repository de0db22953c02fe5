//! Objects that had to be copied to this machine, because their storage gives them only as a whole.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::{TempDir, TempPath};

/// The folder of the copies, while there are any.
static FOLDER: Mutex<Weak<TempDir>> = Mutex::new(Weak::new());

/// A copy, removed with its last clone. It is a named file and not an open one, because systems do not allow thousands
/// of open files.
#[derive(Debug, Clone)]
pub(crate) struct Fetched(Arc<Copied>);

#[derive(Debug)]
struct Copied {
    /// Declared before the folder, so that it is removed first.
    path: TempPath,
    len: u64,
    _folder: Arc<TempDir>,
}

impl Fetched {
    /// The copy that `write` makes.
    pub(super) fn new(write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<Self> {
        let folder = folder()?;
        let mut file = tempfile::NamedTempFile::new_in(folder.path())?;
        write(file.as_file_mut())?;
        let len = file.as_file().metadata()?.len();
        Ok(Self(Arc::new(Copied { path: file.into_temp_path(), len, _folder: folder })))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Its length in bytes.
    pub(super) fn size(&self) -> u64 {
        self.0.len
    }
}

fn folder() -> io::Result<Arc<TempDir>> {
    let mut known = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = known.upgrade() {
        return Ok(folder);
    }
    let folder = Arc::new(tempfile::Builder::new().prefix("elephant-rs-").tempdir()?);
    *known = Arc::downgrade(&folder);
    Ok(folder)
}

/// Removes all copies, when a run is interrupted.
pub fn remove_all() {
    // A thread that is making the folder holds the lock for a moment only.
    let known = FOLDER.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
    if let Some(folder) = known
        && let Err(error) = std::fs::remove_dir_all(folder.path())
    {
        log::debug!("cannot remove {}: {error}", folder.path().display());
    }
}
