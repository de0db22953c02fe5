//! Streams of several gzip members or frames, each decoded by a library.

use std::io::{self, ErrorKind, Read};

use super::{Codec, LONG_MAGIC_LEN, MAGIC_LEN, Tail};
use crate::lookahead::Lookahead;

pub(super) type Bzip2 = bzip2::bufread::BzDecoder<Lookahead>;
pub(super) type Gzip = flate2::bufread::GzDecoder<Lookahead>;
pub(super) type Zstd = zstd::stream::read::Decoder<'static, Lookahead>;

/// Decodes one gzip member or one frame.
pub(super) trait Member: Read + Sized {
    const CODEC: Codec;
    fn start(input: Lookahead) -> io::Result<Self>;
    /// The bytes after its end; `None` if it did not reach its end.
    fn into_input(self) -> Option<Lookahead>;
}

impl Member for Bzip2 {
    const CODEC: Codec = Codec::Bzip2;

    fn start(input: Lookahead) -> io::Result<Self> {
        Ok(Self::new(input))
    }

    fn into_input(self) -> Option<Lookahead> {
        Some(self.into_inner())
    }
}

impl Member for Gzip {
    const CODEC: Codec = Codec::Gzip;

    fn start(input: Lookahead) -> io::Result<Self> {
        Ok(Self::new(input))
    }

    fn into_input(self) -> Option<Lookahead> {
        Some(self.into_inner())
    }
}

impl Member for Zstd {
    const CODEC: Codec = Codec::Zstd;

    fn start(input: Lookahead) -> io::Result<Self> {
        Ok(Self::with_buffer(input)?.single_frame())
    }

    fn into_input(self) -> Option<Lookahead> {
        Some(self.finish())
    }
}

/// Decodes members one after another. The libraries could do so too, but they reject the padding that tapes
/// and block stores leave after the last member.
pub(super) struct Members<M> {
    next: Option<Lookahead>,
    current: Option<M>,
    tail: Tail,
}

impl<M: Member> Members<M> {
    pub(super) fn new(input: Lookahead, tail: &Tail) -> Self {
        Self { next: Some(input), current: None, tail: tail.clone() }
    }

    /// Starts the next member; `false` if there is none.
    fn advance(&mut self) -> io::Result<bool> {
        let Some(mut input) = self.next.take() else { return Ok(false) };
        // A following member may be damaged or truncated, so look at no more than needed.
        let len = if matches!(M::CODEC, Codec::Bzip2 | Codec::Xz) { LONG_MAGIC_LEN } else { MAGIC_LEN };
        let magic = input.peek(len);
        if Codec::from_magic(magic) == M::CODEC {
            self.current = Some(M::start(input)?);
            return Ok(true);
        }
        self.tail.classify(&mut input)?;
        Ok(false)
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
                Ok(0) => self.next = self.current.take().and_then(M::into_input),
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    self.current = None;
                    return Err(error);
                }
                result => return result,
            }
        }
    }
}
