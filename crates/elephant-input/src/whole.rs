//! Reads small files, such as rule files, into memory.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use elephant_base::units::Bytes;

/// The bytes of a file; an error if there are more than `most`, since a path may name an endless device.
pub fn read(path: &Path, most: Bytes) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.get().saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most.get() {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {most}")));
    }
    Ok(bytes)
}

/// As [`read`], decoded as UTF-8.
pub fn read_text(path: &Path, most: Bytes) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_above_the_maximum_size_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        assert_eq!(read_text(file.path(), Bytes::new(3)).unwrap(), "abc");
        let error = read(file.path(), Bytes::new(2)).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 2 B");
        std::fs::write(file.path(), b"a\xff").unwrap();
        assert!(read_text(file.path(), Bytes::new(9)).unwrap_err().to_string().contains("UTF-8"));
    }
}
