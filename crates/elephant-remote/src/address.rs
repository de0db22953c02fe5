//! The parts of an address in an object store.

use std::io::{self, ErrorKind};
use std::path::Path;

use object_store::path::Path as Key;

use elephant_input::storage::StorageFailure;

/// An address such as `s3://bucket/folder/file`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address<'a> {
    /// The scheme as it was written.
    pub(super) scheme: &'a str,
    /// The bucket, or the container and the account.
    pub(super) authority: &'a str,
    /// The name of the object, or of a folder.
    pub(super) key: Key,
    /// Whether it can only be a folder.
    pub(super) is_folder: bool,
}

impl<'a> Address<'a> {
    pub(super) fn of(path: &'a Path) -> io::Result<Self> {
        let wrong = |text: &str| StorageFailure::error(ErrorKind::InvalidInput, text);
        let parts = path.to_str().and_then(|text| text.split_once("://"));
        let (scheme, rest) = parts.ok_or_else(|| wrong("it is not a valid address"))?;
        let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.is_empty() {
            return Err(wrong("the address does not name a bucket; write SCHEME://BUCKET/NAME"));
        }
        let trimmed = key.trim_start_matches('/');
        let key = Key::parse(trimmed).map_err(|_| {
            wrong("the name has an empty part, . or .., so it cannot be read; name the folder above it")
        })?;
        Ok(Self { scheme, authority, key, is_folder: trimmed.is_empty() || trimmed.ends_with('/') })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_bucket_and_a_name() {
        let of = |text: &str| {
            let address = Address::of(Path::new(text)).ok()?;
            Some((address.authority.to_owned(), address.key.to_string(), address.is_folder))
        };
        let expected =
            |authority: &str, key: &str, is_folder| Some((authority.to_owned(), key.to_owned(), is_folder));
        assert_eq!(of("s3://b/x y/ä%20.log"), expected("b", "x y/ä%20.log", false));
        assert_eq!(of("s3a://b"), expected("b", "", true));
        assert_eq!(of("gs://b/x/"), expected("b", "x", true));
        assert_eq!(
            of("abfss://c@a.dfs.core.windows.net/x"),
            expected("c@a.dfs.core.windows.net", "x", false)
        );
        for wrong in ["s3://", "s3:///x", "s3://b/x//y", "s3://b/../x", "b/x"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
