//! Takes compression off, by what the bytes say and never by what the file is called.
//!
//! A cut or damaged stream gives all bytes that can be decoded, then the decoder's error, also if that error
//! was met while looking ahead.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::InputError;
use super::lookahead::Lookahead;

/// Longest magic number of the codecs, in bytes.
const MAGIC_LEN: usize = 4;
/// Compression within compression is taken off this often. Real files need two at most; more is a trap.
const MAX_LAYERS: usize = 3;

/// How a stream was compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Codec {
    /// Not at all.
    Plain,
    /// gzip, of any number of members.
    Gzip,
    /// Zstandard, of any number of frames.
    Zstd,
}

impl Codec {
    /// The compression that a stream with these first bytes has.
    #[must_use]
    pub fn from_magic(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// The decoded bytes of a source.
pub struct Decoded {
    stream: Lookahead,
    codec: Codec,
    ignored_tail: Arc<AtomicBool>,
}

/// What [`Decoded::peek`] shows.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// The next bytes of the stream.
    pub bytes: &'a [u8],
    /// Whether nothing follows them, be it that the stream ends or that it breaks there.
    pub complete: bool,
}

/// Opens a file for reading what is in it once decompressed.
///
/// # Errors
/// If the file cannot be opened. Errors while reading come out of [`Decoded`].
pub fn open(path: &Path) -> Result<Decoded, InputError> {
    let file = File::open(path).map_err(|error| InputError::from_io(path, error))?;
    Ok(decode(Box::new(file)))
}

/// Decodes a stream. It is read at once as far as its first bytes.
#[must_use]
pub fn decode(reader: Box<dyn Read + Send>) -> Decoded {
    let ignored_tail = Arc::new(AtomicBool::new(false));
    let mut stream = Lookahead::new(reader);
    let mut outermost = Codec::Plain;
    for _ in 0..MAX_LAYERS {
        let codec = Codec::from_magic(stream.peek(MAGIC_LEN));
        let layer: Box<dyn Read + Send> = match codec {
            Codec::Plain => break,
            Codec::Gzip => Box::new(Members::<Gzip>::new(stream, &ignored_tail)),
            Codec::Zstd => Box::new(Members::<Zstd>::new(stream, &ignored_tail)),
        };
        stream = Lookahead::new(layer);
        if outermost == Codec::Plain {
            outermost = codec;
        }
    }
    Decoded { stream, codec: outermost, ignored_tail }
}

impl Decoded {
    /// The compression of the stream as it was stored.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Shows the next `limit` bytes, or fewer at the end, and leaves them to be read.
    pub fn peek(&mut self, limit: usize) -> Head<'_> {
        self.stream.peek(limit);
        let unread = self.stream.unread();
        let bytes = unread.get(..limit).unwrap_or(unread);
        Head { bytes, complete: self.stream.has_ended() && bytes.len() == unread.len() }
    }

    /// Takes the error that follows the bytes seen by [`Self::peek`], if they end in one.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.stream.take_error()
    }

    /// Whether bytes that are not compressed data, mostly padding, followed the last member and were left
    /// out. Known once the stream was read to its end.
    #[must_use]
    pub fn ignored_tail(&self) -> bool {
        self.ignored_tail.load(Ordering::Relaxed)
    }
}

impl Read for Decoded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.stream.read(out)
    }
}

impl fmt::Debug for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoded").field("codec", &self.codec).finish_non_exhaustive()
    }
}

type Gzip = flate2::bufread::GzDecoder<Lookahead>;
type Zstd = zstd::stream::read::Decoder<'static, Lookahead>;

/// Decodes one gzip member or one zstd frame.
trait Member: Read + Sized {
    const CODEC: Codec;
    fn start(input: Lookahead) -> io::Result<Self>;
    fn into_input(self) -> Lookahead;
}

impl Member for Gzip {
    const CODEC: Codec = Codec::Gzip;

    fn start(input: Lookahead) -> io::Result<Self> {
        Ok(Self::new(input))
    }

    fn into_input(self) -> Lookahead {
        self.into_inner()
    }
}

impl Member for Zstd {
    const CODEC: Codec = Codec::Zstd;

    fn start(input: Lookahead) -> io::Result<Self> {
        Ok(Self::with_buffer(input)?.single_frame())
    }

    fn into_input(self) -> Lookahead {
        self.finish()
    }
}

/// Decodes members one after the other. The decoders could do that themselves, but would call the padding
/// that tapes and block stores leave behind the last member an error.
struct Members<M> {
    next: Option<Lookahead>,
    current: Option<M>,
    ignored_tail: Arc<AtomicBool>,
}

impl<M: Member> Members<M> {
    fn new(input: Lookahead, ignored_tail: &Arc<AtomicBool>) -> Self {
        Self { next: Some(input), current: None, ignored_tail: Arc::clone(ignored_tail) }
    }

    /// Starts the next member; `false` if there is none.
    fn advance(&mut self) -> io::Result<bool> {
        let Some(mut input) = self.next.take() else { return Ok(false) };
        let magic = input.peek(MAGIC_LEN);
        if Codec::from_magic(magic) == M::CODEC {
            self.current = Some(M::start(input)?);
            return Ok(true);
        }
        if !magic.is_empty() {
            self.ignored_tail.store(true, Ordering::Relaxed);
        }
        input.take_error().map_or(Ok(false), Err)
    }
}

impl<M: Member> Read for Members<M> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            let Some(member) = &mut self.current else {
                if self.advance()? {
                    continue;
                }
                return Ok(0);
            };
            match member.read(out) {
                Ok(0) => self.next = self.current.take().map(M::into_input),
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    self.current = None;
                    return Err(error);
                }
                result => return result,
            }
        }
    }
}
