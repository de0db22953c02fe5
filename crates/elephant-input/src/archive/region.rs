//! A byte range of a file that several threads can read at once.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

/// Reads from an offset without using or moving the file's own position.
pub(super) struct Region {
    file: Arc<File>,
    at: u64,
    /// Bytes that must still follow; `None` to read to the end of the file.
    left: Option<u64>,
}

impl Region {
    pub(super) fn new(file: &Arc<File>, at: u64, len: Option<u64>) -> Self {
        Self { file: Arc::clone(file), at, left: len }
    }
}

impl Read for Region {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let room =
            self.left.map_or(out.len(), |left| usize::try_from(left).unwrap_or(usize::MAX).min(out.len()));
        let out = out.get_mut(..room).unwrap_or_default();
        if out.is_empty() {
            return Ok(0);
        }
        let count = read_at(&self.file, out, self.at)?;
        if count == 0 && self.left.is_some() {
            self.left = None;
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the archive is truncated in this member"));
        }
        self.at += count as u64;
        self.left = self.left.map(|left| left.saturating_sub(count as u64));
        Ok(count)
    }
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, at)
}

#[cfg(windows)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, at)
}
