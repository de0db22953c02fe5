//! Compresses bytes in every codec, and puts files into archives.

use std::io::{Cursor, Write};

use twox_hash::XxHash32;

/// Block size in the framed codecs, small so that an input has several blocks.
const BLOCK: usize = 400;

/// Compresses bytes.
pub(crate) type Pack = fn(&[u8]) -> Vec<u8>;

/// The codecs by their target.
pub(crate) const CODECS: [(&str, Pack); 9] = [
    ("gzip", gzip),
    ("zstd", zstd),
    ("lz4", lz4),
    ("lz4_frame", lz4_frame),
    ("snappy", snappy),
    ("lzf", lzf),
    ("snappy_frame", snappy_frame),
    ("bzip2", bzip2),
    ("xz", xz),
];

/// One gzip member.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// One Zstandard frame.
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

fn lz4_frame(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn snappy_frame(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = snap::write::FrameEncoder::new(Vec::new());
    for block in bytes.chunks(BLOCK) {
        encoder.write_all(block).unwrap();
        encoder.flush().unwrap();
    }
    encoder.into_inner().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let block = |block: &[u8]| {
        let packed = lz4_flex::block::compress(block);
        let (method, packed) = if packed.len() < block.len() { (0x20, &packed[..]) } else { (0x10, block) };
        let sum = XxHash32::oneshot(0x9747_b28c, block) & 0x0fff_ffff;
        let numbers = [number(packed.len()), number(block.len()), sum].map(u32::to_le_bytes).concat();
        [b"LZ4Block", &[method | 5][..], &numbers, packed].concat()
    };
    let blocks = bytes.chunks(BLOCK).flat_map(block);
    blocks.chain(*b"LZ4Block\x10\0\0\0\0\0\0\0\0\0\0\0\0").collect()
}

fn snappy(bytes: &[u8]) -> Vec<u8> {
    let block = |block: &[u8]| {
        let packed = snap::raw::Encoder::new().compress_vec(block).unwrap();
        [&number(packed.len()).to_be_bytes()[..], &packed].concat()
    };
    let header = *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";
    header.into_iter().chain(bytes.chunks(BLOCK).flat_map(block)).collect()
}

/// Alternately stored and compressed chunks. Compressed ones contain literals, and repeat the previous byte
/// where possible.
fn lzf(bytes: &[u8]) -> Vec<u8> {
    let len = |bytes: &[u8]| u16::try_from(bytes.len()).unwrap().to_be_bytes();
    let chunk = |(place, chunk): (usize, &[u8])| {
        if place % 2 == 1 {
            return [b"ZV\0", &len(chunk)[..], chunk].concat();
        }
        let mut packed = Vec::new();
        for run in chunk.chunks(32) {
            if run.len() > 9 && !packed.is_empty() && run.iter().all(|byte| *byte == 0) {
                packed.extend([0xe0, u8::try_from(run.len() - 9).unwrap(), 0]);
            } else {
                packed.push(u8::try_from(run.len() - 1).unwrap());
                packed.extend(run);
            }
        }
        [b"ZV\x01", &len(&packed)[..], &len(chunk), &packed].concat()
    };
    bytes.chunks(BLOCK).enumerate().flat_map(chunk).collect()
}

fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap()
}

/// A zip archive.
pub(crate) fn zip(members: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in members {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A tar archive.
pub(crate) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut all = Vec::new();
    for (name, bytes) in members {
        if name.len() > 100 {
            all.extend(tar_member("././@LongLink", b'L', name.as_bytes()));
            let attribute = format!("path={name}\n");
            all.extend(tar_member("pax", b'x', format!("{} {attribute}", attribute.len() + 4).as_bytes()));
        }
        all.extend(tar_member(name.get(..100).unwrap_or(name), b'0', bytes));
    }
    all.extend([0; 1024]);
    all
}

fn tar_member(name: &str, kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut member = vec![0; 512];
    member[..name.len()].copy_from_slice(name.as_bytes());
    member[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
    member[156] = kind;
    member[257..263].copy_from_slice(b"ustar\0");
    member.extend(bytes);
    member.resize(512 + bytes.len().div_ceil(512) * 512, 0);
    elephant_rs_fuzz::targets::repair::tar_headers(&member)
}
