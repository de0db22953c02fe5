//! The members of a tar file.
//!
//! Our own reader, because the usual library reads names of any announced length into memory.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::sync::Arc;

use super::region::Region;
use super::{Entry, Listing, MAX_MEMBERS, Packing};

const BLOCK: u64 = 512;
const NAME: Range<usize> = 0..100;
const SIZE: Range<usize> = 124..136;
const CHECKSUM: Range<usize> = 148..156;
const KIND: usize = 156;
const MAGIC: Range<usize> = 257..263;
const PREFIX: Range<usize> = 345..500;
/// Set in the header of a sparse file of GNU tar, and in each block that continues it, if another block follows.
const MORE_PIECES: usize = 482;
const STILL_MORE_PIECES: usize = 504;
/// Zeros are skipped up to this many bytes to find a second archive after the first.
const MOST_PADDING: u64 = 1 << 20;
/// Longer name or attribute records are ignored.
const MAX_NOTE: u64 = 64 * 1024;

/// A record before a member that overrides its name or size.
#[derive(Default)]
struct Note {
    name: Option<String>,
    size: Option<u64>,
    /// Whether the member's data consists of the map of a sparse file and its pieces.
    sparse: bool,
}

pub(super) fn list(bytes: &Arc<File>) -> io::Result<Listing> {
    let len = bytes.metadata()?.len();
    let mut listing = Listing::default();
    let mut note = Note::default();
    let mut at = 0u64;
    while at < len {
        let header = match header(bytes, at) {
            Ok(Some(header)) => header,
            Ok(None) => match next_archive(bytes, at) {
                Some(next) => {
                    at = next;
                    continue;
                }
                None => return Ok(listing),
            },
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) => break,
            Err(error) => return Err(error),
        };
        // Without a size the next header cannot be found.
        let Some(mut size) = size(&header) else { break };
        let data = at + BLOCK + pieces_len(bytes, &header, at);
        match header.get(KIND) {
            Some(b'0' | 0 | b'7' | b'S' | b'M') if listing.entries.len() == MAX_MEMBERS => {
                return Ok(Listing { more: true, ..listing });
            }
            Some(kind @ (b'0' | 0 | b'7' | b'S' | b'M')) => {
                size = note.size.unwrap_or(size);
                let is_whole = !note.sparse && !matches!(kind, b'S' | b'M');
                let packing = if is_whole { Packing::Stored } else { Packing::Scattered };
                let name = note.name.take().unwrap_or_else(|| name_in(&header));
                listing.entries.extend(entry(name, data, size).map(|entry| Entry { packing, ..entry }));
                note = Note::default();
            }
            Some(b'L') => note.name = read_note(bytes, data, size).map(|text| until_nul(&text)),
            Some(b'x') => {
                note = read_note(bytes, data, size).map(|text| attributes(&text)).unwrap_or_default();
            }
            Some(b'g' | b'K') => {}
            _ => note = Note::default(),
        }
        at = data.saturating_add(size.div_ceil(BLOCK).saturating_mul(BLOCK));
    }
    listing.truncated = at != len;
    Ok(listing)
}

/// The header at `at`; `None` for the empty block at the end.
fn header(bytes: &Arc<File>, at: u64) -> io::Result<Option<[u8; 512]>> {
    let mut header = [0; 512];
    Region::new(bytes, at, None).read_exact(&mut header)?;
    if header.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let in_sum = |(at, byte): (usize, &u8)| u64::from(if CHECKSUM.contains(&at) { b' ' } else { *byte });
    let sum: u64 = header.iter().enumerate().map(in_sum).sum();
    if number(&header, CHECKSUM) == Some(sum) { Ok(Some(header)) } else { Err(ErrorKind::InvalidData.into()) }
}

/// Length of the blocks between the header at `at` and the data, in which GNU tar lists the pieces of a sparse file.
fn pieces_len(bytes: &Arc<File>, header: &[u8], at: u64) -> u64 {
    let mut more = header.get(KIND) == Some(&b'S') && header.get(MORE_PIECES) == Some(&1);
    let mut len = 0;
    while more {
        len += BLOCK;
        let mut block = [0; 512];
        let read = Region::new(bytes, at + len, None).read_exact(&mut block);
        more = read.is_ok() && block.get(STILL_MORE_PIECES) == Some(&1);
    }
    len
}

/// The first header after the zeros at the end of an archive, if another archive was appended.
fn next_archive(bytes: &Arc<File>, end: u64) -> Option<u64> {
    let blocks = (1..MOST_PADDING / BLOCK).map(|block| end + block * BLOCK);
    for at in blocks {
        match header(bytes, at) {
            Ok(None) => {}
            Ok(Some(_)) => return Some(at),
            Err(_) => return None,
        }
    }
    None
}

fn entry(name: String, at: u64, size: u64) -> Option<Entry> {
    // Old tar files have no type for folders; their names end with a slash.
    let is_file = !name.ends_with('/');
    is_file.then_some(Entry { name, at, stored_len: Some(size), packing: Packing::Stored, checksum: None })
}

/// A number in octal digits or, if the field's first bit is set, in binary.
fn number(header: &[u8], field: Range<usize>) -> Option<u64> {
    let field = header.get(field)?;
    if let Some((first, rest)) = field.split_first()
        && first & 0x80 != 0
    {
        let start = u64::from(first & 0x7f);
        return rest.iter().try_fold(start, |sum, byte| Some(sum.checked_mul(256)? + u64::from(*byte)));
    }
    let text = until_nul(field);
    u64::from_str_radix(text.trim(), 8).ok()
}

/// The size of the member; a blank field means 0.
fn size(header: &[u8]) -> Option<u64> {
    let is_blank = header.get(SIZE)?.iter().all(|byte| matches!(byte, b' ' | 0));
    if is_blank { Some(0) } else { number(header, SIZE) }
}

fn name_in(header: &[u8]) -> String {
    let field = |range: Range<usize>| until_nul(header.get(range).unwrap_or_default());
    let (name, prefix) = (field(NAME), field(PREFIX));
    let is_posix = header.get(MAGIC) == Some(b"ustar\0");
    if is_posix && !prefix.is_empty() { format!("{prefix}/{name}") } else { name }
}

fn until_nul(field: &[u8]) -> String {
    let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

fn read_note(bytes: &Arc<File>, at: u64, size: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut region = Region::new(bytes, at, Some(size).filter(|size| *size <= MAX_NOTE).or(Some(0)));
    region.read_to_end(&mut text).ok()?;
    (!text.is_empty()).then_some(text)
}

/// Parses lines such as `26 path=a/long/name`, each of which starts with its own length.
fn attributes(text: &[u8]) -> Note {
    let mut note = Note::default();
    let mut rest = text;
    while let Some((line, next)) = attribute(rest) {
        if line.starts_with(b"GNU.sparse.") {
            note.sparse = true;
        }
        let path = line.strip_prefix(b"path=").filter(|_| note.name.is_none());
        if let Some(path) = path.or_else(|| line.strip_prefix(b"GNU.sparse.name=")) {
            note.name = Some(String::from_utf8_lossy(path).into_owned());
        } else if let Some(size) = line.strip_prefix(b"size=") {
            note.size = std::str::from_utf8(size).ok().and_then(|size| size.parse().ok());
        }
        rest = next;
    }
    note
}

fn attribute(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let len: usize = std::str::from_utf8(text.get(..digits)?).ok()?.parse().ok()?;
    let (line, rest) = text.split_at_checked(len)?;
    Some((line.get(digits + 1..)?.strip_suffix(b"\n")?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_octal_or_binary() {
        assert_eq!(number(b"0000644\0", 0..8), Some(0o644));
        assert_eq!(number(b"   644 \0", 0..8), Some(0o644));
        assert_eq!(number(b"\x80\0\0\0\0\0\x01\0", 0..8), Some(256));
        assert_eq!(number(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 0..12), None);
        assert_eq!(number(b"\0\0\0\0", 0..4), None);
    }

    #[test]
    fn one_member_more_than_the_limit_is_reported() {
        use std::io::Write;
        let mut header = [0; 512];
        header[0] = b'x';
        header[KIND] = b'0';
        header[CHECKSUM].fill(b' ');
        let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
        header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        for (members, more) in [(MAX_MEMBERS, false), (MAX_MEMBERS + 1, true)] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&header.repeat(members)).unwrap();
            let listing = list(&Arc::new(file)).unwrap();
            assert_eq!((listing.entries.len(), listing.more, listing.truncated), (MAX_MEMBERS, more, false));
        }
    }

    #[test]
    fn attributes_start_with_their_length() {
        let note = attributes(b"14 path=a=b/c\n12 size=900\nbroken");
        assert_eq!((note.name.as_deref(), note.size), (Some("a=b/c"), Some(900)));
        assert_eq!(attributes(b"3 a").name, None);
        assert_eq!(attributes(b"99999999999999999999 path=a\n").name, None);
    }
}
