//! A file that grows, and its decompression.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use super::Reached;
use crate::codec::{self, Codec, Decoded};
use crate::log_name;

/// The most bytes that are read at a time.
const PIECE: usize = 256 << 10;
/// The most bytes that one call decodes; it may exceed this by what one piece decodes to.
const MOST_AT_ONCE: usize = 16 << 20;

/// Why a file cannot be read on.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    /// The file system's error.
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
    /// The codec cannot be decoded before the file is finished.
    #[error(
        "{0} cannot be decoded while the log is being written: set spark.eventLog.compression.codec=zstd, or wait until the application has ended"
    )]
    Codec(Codec),
    /// It is shorter than the part that was read.
    #[error("it became shorter: it was rewritten or truncated")]
    Shorter,
}

/// A file that grows.
pub(super) struct Growing {
    path: PathBuf,
    file: File,
    /// How many bytes of it were read.
    at: u64,
    decoding: Decoding,
    buffer: Vec<u8>,
    finished: bool,
}

enum Decoding {
    /// The bytes so far, too few to detect the codec.
    Unknown(Vec<u8>),
    Plain,
    Zstd {
        decoder: Box<Decoder<'static>>,
        out: Vec<u8>,
    },
    /// A finished file of any codec.
    Whole(Box<Decoded>),
}

impl Growing {
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let finished = !log_name::is_in_progress(name);
        Self::of(path, finished)
    }

    /// Opens a part of a rolling log, whose name does not tell whether it is finished.
    pub(super) fn open_part(path: &Path) -> Result<Self, FileError> {
        Self::of(path, false)
    }

    fn of(path: &Path, finished: bool) -> Result<Self, FileError> {
        let file = File::open(path)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            at: 0,
            decoding: Decoding::Unknown(Vec::new()),
            buffer: vec![0; PIECE],
            finished,
        })
    }

    /// Records that the file will not grow any more.
    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    pub(super) fn written_at(&self) -> Option<SystemTime> {
        self.file.metadata().ok()?.modified().ok()
    }

    /// Reads the available bytes up to a limit, and passes the decoded bytes to `take`.
    pub(super) fn read(&mut self, take: &mut impl FnMut(&[u8])) -> Result<Reached, FileError> {
        // Check the name before reading: everything that was written before the file got its final name is read below.
        self.finished |= !self.path.exists();
        let len = self.file.metadata()?.len();
        if len < self.at {
            return Err(FileError::Shorter);
        }
        let mut decoded = 0;
        while decoded < MOST_AT_ONCE {
            if let Decoding::Whole(whole) = &mut self.decoding {
                match whole.read(&mut self.buffer) {
                    Ok(0) => return Ok(Reached::End),
                    Ok(count) => {
                        take(self.buffer.get(..count).unwrap_or_default());
                        decoded += count;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
                continue;
            }
            let count = match self.file.read(&mut self.buffer) {
                Ok(0) => return self.at_end(take),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            self.at += count as u64;
            let piece = self.buffer.get(..count).unwrap_or_default();
            if let Decoding::Unknown(head) = &mut self.decoding {
                head.extend_from_slice(piece);
                if head.len() >= codec::LONG_MAGIC_LEN {
                    decoded += self.begin(take)?;
                }
            } else {
                decoded += self.decoding.pass_on(piece, take)?;
            }
        }
        Ok(Reached::Behind)
    }

    fn at_end(&mut self, take: &mut impl FnMut(&[u8])) -> Result<Reached, FileError> {
        if !self.finished {
            return Ok(Reached::Now);
        }
        if matches!(self.decoding, Decoding::Unknown(_)) {
            self.begin(take)?;
            if matches!(self.decoding, Decoding::Whole(_)) {
                return Ok(Reached::Behind);
            }
        }
        Ok(Reached::End)
    }

    /// Detects the codec from the first bytes, and decodes them.
    fn begin(&mut self, take: &mut impl FnMut(&[u8])) -> Result<usize, FileError> {
        let Decoding::Unknown(head) = &mut self.decoding else { return Ok(0) };
        let head = std::mem::take(head);
        self.decoding = match Codec::from_magic(&head) {
            Codec::Plain => Decoding::Plain,
            Codec::Zstd if !self.finished => {
                Decoding::Zstd { decoder: Box::new(Decoder::new()?), out: vec![0; PIECE] }
            }
            _ if self.finished => {
                self.decoding = Decoding::Whole(Box::new(codec::open(&self.path)?));
                return Ok(0);
            }
            codec => return Err(FileError::Codec(codec)),
        };
        self.decoding.pass_on(&head, take)
    }
}

impl Decoding {
    /// Decodes a piece, and returns the number of bytes passed on.
    fn pass_on(&mut self, piece: &[u8], take: &mut impl FnMut(&[u8])) -> Result<usize, FileError> {
        let Self::Zstd { decoder, out } = self else {
            take(piece);
            return Ok(piece.len());
        };
        let mut passed = 0;
        let mut input = InBuffer::around(piece);
        loop {
            let mut output = OutBuffer::around(out.as_mut_slice());
            decoder.run(&mut input, &mut output)?;
            let (count, room) = (output.pos(), output.capacity());
            take(out.get(..count).unwrap_or_default());
            passed += count;
            // A full buffer may mean that the decoder holds more.
            if input.pos() >= piece.len() && count < room {
                return Ok(passed);
            }
        }
    }
}
