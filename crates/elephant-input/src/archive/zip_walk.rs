//! Lists the members of a truncated zip file, which has lost the central directory at its end, by walking
//! from header to header.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use crate::budget::{Budget, Metered};
use elephant_base::limits::behind;

use super::inflate::Inflate;
use super::region::Region;
use super::{Entry, Listing, MAX_MEMBERS, Packing};

const HEADER_LEN: usize = 30;
pub(super) const MEMBER: &[u8] = b"PK\x03\x04";
/// Signature after the last member.
const DIRECTORY: &[u8] = b"PK\x01\x02";
const ENCRYPTED: u16 = 1;
/// Flag: the lengths follow the member's data, because they were unknown when its header was written.
const LENGTHS_FOLLOW: u16 = 8;
/// Possible sizes of the record with these lengths: with or without a signature, with 4-byte or 8-byte lengths.
const RECORD_LENS: [u64; 4] = [16, 24, 12, 20];
const DEFLATE: u16 = 8;
/// Marks a length that does not fit and stands in a separate record.
const LONG: u32 = u32::MAX;

pub(super) fn list(bytes: &Arc<File>, budget: &Budget) -> io::Result<Listing> {
    let len = bytes.metadata()?.len();
    let mut listing = Listing { truncated: true, ..Listing::default() };
    let mut at = 0;
    loop {
        let Ok(Some((entry, flags))) = header(bytes, at) else {
            listing.truncated = !starts_with(bytes, at, DIRECTORY);
            return Ok(listing);
        };
        if listing.entries.len() == MAX_MEMBERS {
            return Ok(Listing { truncated: false, more: true, ..listing });
        }
        let end = end_of(bytes, &entry, budget)?;
        let is_whole = end.is_some_and(|end| end <= len);
        let stored_len =
            if is_whole || flags & LENGTHS_FOLLOW == 0 { end.map(|end| end - entry.at) } else { None };
        let next = end.and_then(|end| after_record(bytes, end, flags));
        if !entry.name.ends_with('/') {
            listing.entries.push(Entry { stored_len, ..entry });
        }
        match next {
            Some(next) if is_whole => at = next,
            _ => return Ok(listing),
        }
    }
}

/// The member whose header is at `at`, and its flags; `None` if there is no header.
fn header(bytes: &Arc<File>, at: u64) -> io::Result<Option<(Entry, u16)>> {
    let mut region = Region::new(bytes, at, None);
    let mut header = [0; HEADER_LEN];
    region.read_exact(&mut header)?;
    if !header.starts_with(MEMBER) {
        return Ok(None);
    }
    let (flags, method) = (u16_at(&header, 6), u16_at(&header, 8));
    let (checksum, stored_len) = (u32_at(&header, 14), u32_at(&header, 18));
    let (name_len, extra_len) = (u16_at(&header, 26), u16_at(&header, 28));
    let mut name = vec![0; usize::from(name_len)];
    region.read_exact(&mut name)?;
    let packing = match method {
        _ if flags & ENCRYPTED != 0 => Packing::Foreign,
        0 => Packing::Stored,
        DEFLATE => Packing::Deflated,
        _ => Packing::Foreign,
    };
    let lengths_follow = flags & LENGTHS_FOLLOW != 0 || stored_len == LONG;
    let entry = Entry {
        name: String::from_utf8_lossy(&name).into_owned(),
        at: at + HEADER_LEN as u64 + u64::from(name_len) + u64::from(extra_len),
        stored_len: (!lengths_follow).then_some(u64::from(stored_len)),
        packing,
        checksum: (!lengths_follow).then_some(checksum),
    };
    Ok(Some((entry, flags)))
}

/// Offset after the last byte of a member; `None` if the archive is truncated before that is known.
fn end_of(bytes: &Arc<File>, entry: &Entry, budget: &Budget) -> io::Result<Option<u64>> {
    if let Some(len) = entry.stored_len {
        return Ok(Some(entry.at.saturating_add(len)));
    }
    if entry.packing != Packing::Deflated {
        return Ok(None);
    }
    let mut member = Inflate::new(Region::new(bytes, entry.at, None), None);
    // An archive that exceeds its budget counts as truncated.
    match io::copy(&mut Metered::new(&mut member, budget.clone(), None), &mut io::sink()) {
        Err(error) if behind(&error).is_some() => Ok(None),
        Ok(_) if member.has_ended() => Ok(Some(entry.at + member.used())),
        Err(error) if !matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) => {
            Err(error)
        }
        _ => Ok(None),
    }
}

/// Possible places of the next header after a member whose data ends at `end`.
pub(super) fn ends_of_record(end: u64) -> impl Iterator<Item = u64> {
    RECORD_LENS.into_iter().chain([0]).map(move |len| end.saturating_add(len))
}

/// Offset of the next header.
fn after_record(bytes: &Arc<File>, end: u64, flags: u16) -> Option<u64> {
    if flags & LENGTHS_FOLLOW == 0 {
        return Some(end);
    }
    let is_header = |at: u64| starts_with(bytes, at, MEMBER) || starts_with(bytes, at, DIRECTORY);
    RECORD_LENS.into_iter().map(|len| end + len).find(|at| is_header(*at))
}

pub(super) fn starts_with(bytes: &Arc<File>, at: u64, magic: &[u8]) -> bool {
    let mut head = [0; 4];
    Region::new(bytes, at, None).read_exact(&mut head).is_ok() && head == magic
}

fn u16_at(header: &[u8], at: usize) -> u16 {
    header.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(header: &[u8], at: usize) -> u32 {
    header.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
