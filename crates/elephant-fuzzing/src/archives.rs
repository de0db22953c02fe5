//! Targets for archives: `discover` lists them, and all members are read.

use std::io::Cursor;

use elephant_engine::engine::discover;
use elephant_input::codec;

use super::repair;
use super::same::{assert_same, drain};

/// Maximum number of members read per archive.
const MEMBERS: usize = 50;

pub fn zip(bytes: &[u8]) {
    let is_zip = [b"PK\x03\x04", b"PK\x05\x06"].iter().any(|magic| bytes.starts_with(*magic));
    let mut archive = bytes.to_vec();
    if !is_zip {
        archive.resize(archive.len().max(4), 0);
        archive[..4].copy_from_slice(b"PK\x03\x04");
    }
    read(&archive);
}

pub fn tar(bytes: &[u8]) {
    let mut archive = bytes.to_vec();
    archive.resize(archive.len().max(512), 0);
    archive[257..262].copy_from_slice(b"ustar");
    read(&archive);
    read(&repair::tar_headers(&archive));
}

/// Reads all members twice: directly, and from a compressed archive, which is unpacked to a temporary file.
fn read(archive: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let contents = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let inventory = discover(std::slice::from_ref(&path));
        assert_eq!(inventory.found, 1);
        let sources = inventory.histories.iter().flat_map(|source| &source.parts);
        let confs = inventory.confs.iter().map(|conf| &conf.part);
        let read = |part: &elephant_input::part::Part| {
            let drained = part.open().map(|stream| drain(stream, 1 << 14)).map_err(|error| error.to_string());
            (
                part.name(),
                drained.map(|drained| (drained.bytes.len(), drained.error.map(|error| error.to_string()))),
            )
        };
        let skipped: Vec<_> =
            inventory.skipped.iter().map(|skipped| (skipped.reason, skipped.count)).collect();
        let failures: Vec<_> = inventory.failures.iter().map(|failure| failure.error.to_string()).collect();
        (sources.chain(confs).take(MEMBERS).map(read).collect::<Vec<_>>(), skipped, failures)
    };
    // Errors of damaged streams name the outermost codec, so compressed input would differ.
    if codec::decode(Box::new(Cursor::new(archive.to_vec()))).codec() != codec::Codec::Plain {
        return;
    }
    let plain = contents(archive);
    let packed = lz4_frame(archive);
    assert_eq!(codec::decode(Box::new(Cursor::new(packed.clone()))).codec(), codec::Codec::Lz4Frame);
    assert_same("a compressed archive has different contents", &plain, &contents(&packed));
}

fn lz4_frame(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}
