//! A member stored without compression, with the checksum that zip keeps of it.

use std::io::{self, ErrorKind, Read};

use flate2::Crc;

use super::region::Region;

/// Reads a member, and compares its checksum at the end.
pub(super) struct StoredMember {
    region: Region,
    sum: Crc,
    expected: Option<u32>,
}

impl StoredMember {
    pub(super) fn new(region: Region, expected: Option<u32>) -> Self {
        Self { region, sum: Crc::new(), expected }
    }
}

impl Read for StoredMember {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.region.read(out)?;
        if self.expected.is_none() || out.is_empty() {
            return Ok(count);
        }
        self.sum.update(out.get(..count).unwrap_or_default());
        match self.expected {
            Some(expected) if count == 0 && expected != self.sum.sum() => {
                self.expected = None;
                Err(io::Error::new(ErrorKind::InvalidData, "the checksum of the member does not match"))
            }
            _ => Ok(count),
        }
    }
}
