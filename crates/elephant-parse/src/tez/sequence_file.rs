//! Hadoop's `SequenceFile`, as far as the histories of Tez need it: without compression, or with compressed records.
//!
//! Source: `org.apache.hadoop.io.SequenceFile` (version 6), `Text`, `WritableUtils`. A header names the classes of keys and
//! values and the codec, and holds a mark of 16 bytes, which also stands between records every 2 kB or so; after damage,
//! reading goes on behind the next mark.

use std::io::{self, Read};

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use memchr::memmem;

use elephant_input::window::ByteWindow;

/// The first bytes of every sequence file; the version follows.
const MAGIC: &[u8] = b"SEQ";
/// The first version with metadata in the header, and the only one since Hadoop 0.8.
const VERSION: u8 = 6;
const MARK_LEN: usize = 16;
/// Stands for the length of a record where a mark follows.
const ESCAPE: i32 = -1;
/// The longest header that is read: classes and metadata are short texts.
const LONGEST_HEADER: usize = 64 << 10;

/// How the values of records are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    None,
    /// `DefaultCodec`, `DeflateCodec`: zlib.
    Zlib,
    Gzip,
}

/// Why a sequence file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum HeaderError {
    /// It ends within its header, or the header is no such thing.
    #[error("the header of the sequence file is incomplete or damaged")]
    Damaged,
    /// Another version.
    #[error("sequence files of version {0} are not read, only those of version 6")]
    Version(u8),
    /// Blocks of records are compressed together.
    #[error("sequence files with compressed blocks are not read; Tez compresses records")]
    Blocks,
    /// A codec that is not read.
    #[error("values compressed with {0} are not read, only those of DefaultCodec and GzipCodec")]
    Codec(String),
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// How many of the first bytes tell whether the values are messages of Tez's histories.
pub(super) const NAMES_LEN: usize = 512;

/// Whether these are the first bytes of a sequence file whose values are messages of Tez's histories.
#[must_use]
pub(crate) fn is_of_tez(head: &[u8]) -> bool {
    const VALUE: &[u8] = b"history.logging.proto.ProtoMessageWritable";
    head.starts_with(MAGIC) && memmem::find(head.get(..NAMES_LEN).unwrap_or(head), VALUE).is_some()
}

/// The values of a sequence file.
pub(super) struct Values<R> {
    window: ByteWindow<R>,
    mark: [u8; MARK_LEN],
    compression: Compression,
    /// The longest value, stored or decompressed.
    most: usize,
}

/// The next value, or what is there instead.
pub(super) enum Next {
    Value(Vec<u8>),
    /// Records from this byte on could not be read; reading goes on behind a mark.
    Lost {
        at: u64,
    },
    End,
}

impl<R: Read> Values<R> {
    /// Reads the header.
    pub(super) fn open(mut window: ByteWindow<R>, most: usize) -> Result<Self, HeaderError> {
        while window.bytes().len() < LONGEST_HEADER && window.extend()? {}
        let mut header = Cursor(window.bytes().get(..LONGEST_HEADER).unwrap_or(window.bytes()));
        let len = header.0.len();
        let (mark, compression) = read_header(&mut header)?;
        let used = len - header.0.len();
        window.consume(used);
        Ok(Self { window, mark, compression, most })
    }

    /// The next value.
    ///
    /// # Errors
    /// The reader's error.
    pub(super) fn next(&mut self) -> io::Result<Next> {
        let at = self.window.offset();
        if !self.has(4)? {
            let rest = self.window.bytes().len();
            self.window.consume(rest);
            return Ok(if rest == 0 { Next::End } else { Next::Lost { at } });
        }
        let mut record = Cursor(self.window.bytes());
        let Some(len) = record.int() else { return Ok(Next::End) };
        if len == ESCAPE {
            return self.pass_mark(at);
        }
        let stored = usize::try_from(len).ok().filter(|len| *len <= self.most);
        let Some(len) = stored else { return self.resume(at) };
        // The length of the record is that of key and value; that of the key precedes the key.
        if !self.has(8 + len)? {
            let rest = self.window.bytes().len();
            self.window.consume(rest);
            return Ok(Next::Lost { at });
        }
        let mut record = Cursor(self.window.bytes().get(4..8 + len).unwrap_or_default());
        let value = record.int().and_then(|key| {
            record.take(usize::try_from(key).ok()?)?;
            decompressed(record.0, self.compression, self.most)
        });
        let Some(value) = value else { return self.resume(at) };
        self.window.consume(8 + len);
        Ok(Next::Value(value))
    }

    fn pass_mark(&mut self, at: u64) -> io::Result<Next> {
        let is_mark =
            self.has(4 + MARK_LEN)? && self.window.bytes().get(4..4 + MARK_LEN) == Some(&self.mark[..]);
        if !is_mark {
            return self.resume(at);
        }
        self.window.consume(4 + MARK_LEN);
        self.next_after_mark()
    }

    /// Two marks never follow each other, so a chain of them is damage, and recursion would be as deep as it is long.
    fn next_after_mark(&mut self) -> io::Result<Next> {
        let at = self.window.offset();
        let is_escape = self.has(4)? && Cursor(self.window.bytes()).int() == Some(ESCAPE);
        if is_escape { self.resume(at) } else { self.next() }
    }

    /// Goes to the next mark.
    fn resume(&mut self, at: u64) -> io::Result<Next> {
        self.window.consume(1);
        loop {
            if let Some(found) = memmem::find(self.window.bytes(), &self.mark) {
                self.window.consume(found + MARK_LEN);
                return Ok(Next::Lost { at });
            }
            let kept = MARK_LEN - 1;
            self.window.consume(self.window.bytes().len().saturating_sub(kept));
            if !self.window.extend()? {
                self.window.consume(self.window.bytes().len());
                return Ok(Next::Lost { at });
            }
        }
    }

    fn has(&mut self, len: usize) -> io::Result<bool> {
        while self.window.bytes().len() < len {
            if !self.window.extend()? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn read_header(header: &mut Cursor<'_>) -> Result<([u8; MARK_LEN], Compression), HeaderError> {
    let damaged = || HeaderError::Damaged;
    if header.take(MAGIC.len()) != Some(MAGIC) {
        return Err(HeaderError::Damaged);
    }
    match header.byte().ok_or_else(damaged)? {
        VERSION => {}
        version => return Err(HeaderError::Version(version)),
    }
    for _class in ["key", "value"] {
        header.text().ok_or_else(damaged)?;
    }
    let is_compressed = header.byte().ok_or_else(damaged)? != 0;
    if header.byte().ok_or_else(damaged)? != 0 {
        return Err(HeaderError::Blocks);
    }
    let mut compression = Compression::None;
    if is_compressed {
        let codec = header.text().ok_or_else(damaged)?;
        compression = match codec.rsplit('.').next() {
            Some("DefaultCodec" | "DeflateCodec") => Compression::Zlib,
            Some("GzipCodec") => Compression::Gzip,
            _ => return Err(HeaderError::Codec(codec.to_owned())),
        };
    }
    let pairs = header.int().ok_or_else(damaged)?;
    for _text in 0..pairs.saturating_mul(2) {
        header.text().ok_or_else(damaged)?;
    }
    let mark = header.take(MARK_LEN).and_then(|mark| mark.try_into().ok()).ok_or_else(damaged)?;
    Ok((mark, compression))
}

fn decompressed(stored: &[u8], compression: Compression, most: usize) -> Option<Vec<u8>> {
    let limit = most as u64 + 1;
    let mut value = Vec::new();
    let read = match compression {
        Compression::None => return Some(stored.to_owned()),
        Compression::Zlib => ZlibDecoder::new(stored).take(limit).read_to_end(&mut value),
        Compression::Gzip => MultiGzDecoder::new(stored).take(limit).read_to_end(&mut value),
    };
    read.ok().filter(|len| *len <= most)?;
    Some(value)
}

/// The bytes that are still to be read.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn int(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// A `Text`: its length as a number of variable length, then UTF-8.
    fn text(&mut self) -> Option<&'a str> {
        let len = self.variable()?;
        std::str::from_utf8(self.take(usize::try_from(len).ok()?)?).ok()
    }

    /// `WritableUtils.writeVInt`, of numbers that are not negative.
    fn variable(&mut self) -> Option<u64> {
        let first = i8::from_be_bytes([self.byte()?]);
        if first >= -112 {
            return u64::try_from(first).ok();
        }
        // From -113 to -120, the number of bytes that follow.
        let len = usize::try_from(-112 - i32::from(first)).ok().filter(|len| *len <= 8)?;
        Some(self.take(len)?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const MARK: [u8; MARK_LEN] = *b"0123456789abcdef";

    fn file(codec: Option<&str>, records: &[Vec<u8>]) -> Vec<u8> {
        let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        let mut file = [MAGIC, &[VERSION]].concat();
        file.extend(text("org.apache.hadoop.io.NullWritable"));
        file.extend(text("org.apache.tez.dag.history.logging.proto.ProtoMessageWritable"));
        file.extend([u8::from(codec.is_some()), 0]);
        file.extend(codec.map(text).unwrap_or_default());
        file.extend(0_i32.to_be_bytes());
        file.extend(MARK);
        for record in records {
            file.extend(i32::try_from(record.len()).unwrap().to_be_bytes());
            file.extend(0_i32.to_be_bytes());
            file.extend(record);
            file.extend(ESCAPE.to_be_bytes());
            file.extend(MARK);
        }
        file
    }

    fn values(file: &[u8], most: usize) -> (Vec<Vec<u8>>, usize) {
        let mut values = Values::open(ByteWindow::new(file), most).unwrap();
        let (mut all, mut lost) = (Vec::new(), 0);
        loop {
            match values.next().unwrap() {
                Next::Value(value) => all.push(value),
                Next::Lost { .. } => lost += 1,
                Next::End => return (all, lost),
            }
        }
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn records_are_read_compressed_or_not() {
        let plain = [b"one".to_vec(), b"two".to_vec()];
        assert_eq!(values(&file(None, &plain), 100), (plain.to_vec(), 0));
        let packed = plain.clone().map(|value| zlib(&value));
        let codec = "org.apache.hadoop.io.compress.DefaultCodec";
        assert_eq!(values(&file(Some(codec), &packed), 100), (plain.to_vec(), 0));
        assert!(is_of_tez(&file(Some(codec), &packed)));
    }

    #[test]
    fn a_damaged_record_costs_only_itself() {
        let codec = "org.apache.hadoop.io.compress.DefaultCodec";
        let records = [zlib(b"one"), b"no zlib".to_vec(), zlib(b"three")];
        assert_eq!(values(&file(Some(codec), &records), 100), (vec![b"one".to_vec(), b"three".to_vec()], 1));
        let mut cut = file(None, &[b"one".to_vec(), b"two".to_vec()]);
        cut.truncate(cut.len() - 25);
        assert_eq!(values(&cut, 100).1, 1);
        // A bomb is a damaged record, too.
        assert_eq!(
            values(&file(Some(codec), &[zlib(&[0; 5000]), zlib(b"x")]), 100),
            (vec![b"x".to_vec()], 1)
        );
    }

    #[test]
    fn other_codecs_are_refused_by_name() {
        let opened =
            |codec| Values::open(ByteWindow::new(file(Some(codec), &[]).as_slice()), 100).err().unwrap();
        assert!(opened("org.apache.hadoop.io.compress.SnappyCodec").to_string().contains("SnappyCodec"));
        let mut blocks = file(None, &[]);
        let at = blocks.iter().rposition(|&byte| byte == b'e').unwrap();
        let at = blocks[..at].iter().rposition(|&byte| byte == b'e').unwrap_or(at);
        assert!(at > 0);
        blocks.truncate(20);
        assert!(matches!(Values::open(ByteWindow::new(blocks.as_slice()), 100), Err(HeaderError::Damaged)));
    }
}
