//! Lists of paths, as `find` writes them: one a line, or each followed by a NUL byte.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The paths of a list with their lines, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathList {
    /// The name of the list in messages.
    pub(crate) name: String,
    /// The paths and their lines, or places in a list with NUL bytes.
    pub paths: Vec<(PathBuf, u64)>,
}

/// A list that cannot be read.
#[derive(Debug, Error)]
#[error("cannot read the list of paths {name}: {source}; --files-from takes a file with one path per line")]
pub struct ListError {
    name: String,
    source: io::Error,
}

/// Longer than any path, so a list with NUL separators has a NUL byte within this many bytes.
const LONGEST_PATH: usize = 64 << 10;

impl PathList {
    /// Reads the list in this file; `-` is standard input.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(file: &Path) -> Result<Self, ListError> {
        let is_stdin = file == Path::new("-");
        let name = if is_stdin { "standard input".to_owned() } else { file.display().to_string() };
        let opened: io::Result<Box<dyn Read>> = if is_stdin {
            Ok(Box::new(io::stdin()))
        } else {
            File::open(file).map(|file| Box::new(file) as _)
        };
        match opened.and_then(paths) {
            Ok(paths) => Ok(Self { name, paths }),
            Err(source) => Err(ListError { name, source }),
        }
    }
}

/// The paths of a list, read piece by piece: it may have a million of them.
fn paths(list: impl Read) -> io::Result<Vec<(PathBuf, u64)>> {
    let mut list = BufReader::with_capacity(LONGEST_PATH, list);
    let mut head = Vec::new();
    list.by_ref().take(LONGEST_PATH as u64).read_to_end(&mut head)?;
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head);
    let end = if head.contains(&0) { 0 } else { b'\n' };
    let mut list = head.chain(list);
    let (mut paths, mut line, mut number) = (Vec::new(), Vec::new(), 0);
    // A file that is no list, such as a device, may have no end of line.
    while list.by_ref().take(LONGEST_PATH as u64 + 1).read_until(end, &mut line)? > 0 {
        number += 1;
        if line.len() > LONGEST_PATH {
            let message = format!("path {number} is longer than {LONGEST_PATH} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let path = line.strip_suffix(&[end]).unwrap_or(&line);
        let path = if end == 0 { path } else { path.strip_suffix(b"\r").unwrap_or(path) };
        if !path.is_empty() {
            paths.push((path_of(path), number));
        }
        line.clear();
    }
    Ok(paths)
}

/// Some editors begin a text with this mark.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &[u8]) -> Vec<(String, u64)> {
        let show = |(path, line): (PathBuf, u64)| (path.display().to_string(), line);
        paths(list).unwrap().into_iter().map(show).collect()
    }

    fn expected(paths: &[(&str, u64)]) -> Vec<(String, u64)> {
        paths.iter().map(|(path, line)| ((*path).to_owned(), *line)).collect()
    }

    #[test]
    fn lines_may_end_like_on_windows_and_may_be_empty() {
        let both = expected(&[("a b.log", 1), ("c", 3)]);
        for list in ["a b.log\n\nc\n", "a b.log\n\nc", "a b.log\r\n\r\nc\r\n", "\u{feff}a b.log\n\nc"] {
            assert_eq!(read(list.as_bytes()), both, "{list:?}");
        }
        assert_eq!(read(b"\n\r\n"), []);
    }

    #[test]
    fn a_nul_byte_shows_that_lines_are_part_of_names() {
        assert_eq!(read(b"a\nb\0c\r\0\0d"), expected(&[("a\nb", 1), ("c\r", 2), ("d", 4)]));
    }

    #[test]
    fn a_path_without_end_is_an_error() {
        let endless = io::repeat(b'a').take(1 << 40);
        let error = paths(endless).unwrap_err().to_string();
        assert_eq!(error, "path 1 is longer than 65536 bytes");
        assert!(paths(io::repeat(b'a').take(LONGEST_PATH as u64)).is_ok());
    }

    #[test]
    fn long_lists_are_read_to_the_end() {
        let list: Vec<String> = (0..50_000).map(|number| format!("history/{number}.log")).collect();
        let paths = read(list.join("\n").as_bytes());
        assert_eq!((paths.len(), paths.last()), (50_000, Some(&("history/49999.log".to_owned(), 50_000))));
    }

    #[cfg(unix)]
    #[test]
    fn names_need_not_be_utf8() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(paths(&b"\xff\n"[..]).unwrap()[0].0.as_os_str().as_bytes(), b"\xff");
    }
}
