//! The parts of an address in Hadoop's file system.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use elephant_input::storage::StorageFailure;

/// An address such as `hdfs://namenode:8020/folder/file`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// The scheme as it was written.
    scheme: &'a str,
    /// The name node or the nameservice; empty for the one in Hadoop's configuration.
    pub(super) authority: &'a str,
    /// The absolute path, without escapes.
    pub(super) path: String,
    /// Whether it can only be a folder.
    pub(super) is_folder: bool,
}

impl<'a> Place<'a> {
    pub(super) fn of(address: &'a str) -> io::Result<Self> {
        let wrong = |text: &str| StorageFailure::error(ErrorKind::InvalidInput, text);
        let (scheme, rest) = address.split_once("://").ok_or_else(|| wrong("it is not a valid address"))?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.contains(&"..") {
            return Err(wrong(
                "the path contains .., which Hadoop does not resolve; write the path without it",
            ));
        }
        let is_folder = parts.is_empty() || path.ends_with('/');
        Ok(Self { scheme, authority, path: format!("/{}", parts.join("/")), is_folder })
    }

    /// The address of another path on the same name node.
    pub(super) fn address(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("{}://{}{path}", self.scheme, self.authority))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_name_node_and_a_path() {
        let of = |text: &'static str| {
            let place = Place::of(text).ok()?;
            Some((place.authority, place.path.clone(), place.is_folder))
        };
        let expected = |authority, path: &str, is_folder| Some((authority, path.to_owned(), is_folder));
        assert_eq!(of("hdfs://nn:8020/a b/ä%20+.jhist"), expected("nn:8020", "/a b/ä%20+.jhist", false));
        assert_eq!(of("hdfs://nn"), expected("nn", "/", true));
        assert_eq!(of("hdfs:///done/"), expected("", "/done", true));
        assert_eq!(of("viewfs://cluster//done/./x"), expected("cluster", "/done/x", false));
        assert_eq!(of("hdfs://nn/a/../b"), None);
        let place = Place::of("HDFS://nn/x").unwrap();
        assert_eq!(place.address("/x/y"), PathBuf::from("HDFS://nn/x/y"));
    }
}
