//! The cyclic redundancy checks that framed Snappy and xz use, by a table of bytes.

/// The reflected polynomial of CRC-32C.
const CASTAGNOLI: u64 = 0x82f6_3b78;
/// The reflected polynomial of the CRC-64 of ECMA-182.
const ECMA: u64 = 0xc96c_5795_d787_0f42;

/// The CRC-32C of the bytes.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u64; 256] = table(CASTAGNOLI);
    let [a, b, c, d, ..] = (!update(&TABLE, u64::from(u32::MAX), bytes)).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Continues the CRC-64 of ECMA-182 with more bytes.
pub(super) fn crc64(before: u64, bytes: &[u8]) -> u64 {
    const TABLE: [u64; 256] = table(ECMA);
    !update(&TABLE, !before, bytes)
}

fn update(table: &[u64; 256], before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |crc, byte| {
        let [low, ..] = crc.to_le_bytes();
        // A byte is always a place in the table.
        table.get(usize::from(low ^ byte)).copied().unwrap_or_default() ^ (crc >> 8)
    })
}

const fn table(polynomial: u64) -> [u64; 256] {
    let mut table = [0; 256];
    let (mut byte, mut rest) = (0, table.as_mut_slice());
    while let [entry, others @ ..] = rest {
        let mut crc = byte;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ polynomial } else { crc >> 1 };
            bit += 1;
        }
        *entry = crc;
        byte += 1;
        rest = others;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the catalogue of CRC algorithms.
    #[test]
    fn checksums_are_those_of_the_catalogue() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc64(0, b"123456789"), 0x995d_c9bb_df19_39fa);
        assert_eq!(crc64(crc64(0, b"1234"), b"56789"), 0x995d_c9bb_df19_39fa);
    }
}
