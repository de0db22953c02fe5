//! Why a request to a storage failed, with advice.

use std::{fmt, io};

/// See the module. It travels inside an [`io::Error`], so that readers need not know storages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageFailure {
    text: String,
}

impl StorageFailure {
    /// As an error of this kind. The text continues "cannot read ADDRESS:".
    #[must_use]
    pub fn error(kind: io::ErrorKind, text: impl Into<String>) -> io::Error {
        io::Error::new(kind, Self { text: text.into() })
    }

    /// The failure that caused an error.
    pub(crate) fn behind(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for StorageFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for StorageFailure {}
