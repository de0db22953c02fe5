//! Repairs checksums, which a fuzzer cannot guess, so that inputs get past their check.

use twox_hash::XxHash32;

const LZ4_HEADER: usize = 21;

/// Sets the checksum of each block that can be decompressed, in the format of Java's `LZ4BlockOutputStream`.
pub fn lz4_blocks(bytes: &[u8]) -> Vec<u8> {
    let mut repaired = bytes.to_vec();
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + LZ4_HEADER) {
        let number = |from: usize| u32::from_le_bytes(header[from..from + 4].try_into().unwrap()) as usize;
        let (packed_len, len) = (number(9), number(13));
        let Some(packed) = bytes.get(at + LZ4_HEADER..).and_then(|rest| rest.get(..packed_len)) else {
            break;
        };
        let block = match header[8] & 0xf0 {
            0x20 if len <= 1 << 20 => lz4_flex::block::decompress(packed, len).unwrap_or_default(),
            _ => packed.to_vec(),
        };
        let checksum = XxHash32::oneshot(0x9747_b28c, &block) & 0x0fff_ffff;
        repaired[at + 17..at + LZ4_HEADER].copy_from_slice(&checksum.to_le_bytes());
        at += LZ4_HEADER + packed_len;
    }
    repaired
}

/// Sets the checksums of tar headers, following the member sizes from one header to the next.
pub fn tar_headers(bytes: &[u8]) -> Vec<u8> {
    let mut repaired = bytes.to_vec();
    let mut at = 0;
    while let Some(header) = repaired.get_mut(at..).and_then(|rest| rest.get_mut(..512)) {
        if header.iter().all(|byte| *byte == 0) {
            break;
        }
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        let size = std::str::from_utf8(&header[124..135]).ok();
        let size = size.and_then(|size| usize::from_str_radix(size.trim_matches(['\0', ' ']), 8).ok());
        at += 512 + size.unwrap_or(0).div_ceil(512) * 512;
    }
    repaired
}
