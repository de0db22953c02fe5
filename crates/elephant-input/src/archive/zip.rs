//! Lists the members of a zip file from its central directory.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use zip::read::ZipFile;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::{Entry, Listing, MAX_MEMBERS, Packing, zip_walk};

pub(super) fn list(bytes: &Arc<File>) -> Result<Listing, ZipError> {
    let mut archive = ZipArchive::new(BufReader::new(&**bytes))?;
    let directory = archive.central_directory_start();
    let (mut entries, mut places, mut lost) = (Vec::new(), Vec::new(), false);
    for index in 0..archive.len().min(MAX_MEMBERS) {
        // A member with a damaged header is left out; the others can still be read.
        let Ok(file) = archive.by_index_raw(index) else {
            lost = true;
            continue;
        };
        let Some(entry) = entry(&file) else { continue };
        places.push((file.header_start(), end(&entry)));
        // A length that is too large by mistake does not disturb the decoder.
        lost |= end(&entry) > directory;
        if !file.is_dir() || entry.stored_len > Some(0) {
            entries.push(entry);
        }
    }
    let more = archive.len() > MAX_MEMBERS;
    lost = lost || (!more && has_unlisted_member(bytes, &places));
    let overlap = leave_out_overlaps(&mut entries);
    Ok(Listing { entries, truncated: false, overlap, more, lost })
}

/// Whether a member at the start of the archive, or right after another member, is missing in the directory. `places`
/// has the start of each listed member's header and the end of its data.
fn has_unlisted_member(bytes: &Arc<File>, places: &[(u64, u64)]) -> bool {
    let known: FxHashSet<u64> = places.iter().map(|(start, _)| *start).collect();
    let ends = places.iter().map(|(_, end)| *end);
    let mut may_start = ends.flat_map(zip_walk::ends_of_record).chain([0]);
    may_start.any(|at| !known.contains(&at) && zip_walk::starts_with(bytes, at, zip_walk::MEMBER))
}

/// Removes members whose bytes overlap another's; `true` if there were any.
fn leave_out_overlaps(entries: &mut Vec<Entry>) -> bool {
    let mut order: Vec<(u64, u64)> = entries.iter().map(|entry| (entry.at, end(entry))).collect();
    order.sort_unstable();
    let mut taken = FxHashSet::default();
    let (mut behind, mut overlap) = (0, false);
    for place in order {
        if place.0 >= behind {
            behind = place.1;
            overlap |= !taken.insert(place);
        } else {
            overlap = true;
        }
    }
    if overlap {
        entries.retain(|entry| taken.remove(&(entry.at, end(entry))));
    }
    overlap
}

fn end(entry: &Entry) -> u64 {
    entry.at.saturating_add(entry.stored_len.unwrap_or_default())
}

fn entry<R: std::io::Read>(file: &ZipFile<'_, R>) -> Option<Entry> {
    let packing = match file.compression() {
        _ if file.encrypted() => Packing::Foreign,
        CompressionMethod::STORE => Packing::Stored,
        CompressionMethod::DEFLATE => Packing::Deflated,
        _ => Packing::Foreign,
    };
    Some(Entry {
        name: String::from_utf8_lossy(file.name_raw()).into_owned(),
        at: file.data_start()?,
        stored_len: Some(file.compressed_size()),
        packing,
        checksum: Some(file.crc32()),
    })
}
