//! Where a store is.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::{fmt, fs};

use super::StoreError;
use super::database::Database;
#[cfg(feature = "postgres")]
use super::database::postgres::{self, Postgres};
use super::database::sqlite::Sqlite;

/// Suffixes of the names of a database's files: SQLite writes some next to the main file.
pub(super) const ENDINGS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The file or the server of a store. Its text has no password.
#[derive(Clone)]
pub enum Place {
    /// A file of SQLite.
    File(PathBuf),
    /// An address of PostgreSQL, which may contain a password.
    // Without a client, there is only an error.
    Server(#[cfg_attr(not(feature = "postgres"), allow(dead_code))] String),
    /// The scheme of another address, whose rest may contain a password, too.
    Other(String),
}

/// The scheme of an address such as `mysql://host/name`.
fn scheme(written: &str) -> Option<&str> {
    let (scheme, _) = written.split_once("://")?;
    let is_scheme = scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    (is_scheme && !scheme.is_empty()).then_some(scheme)
}

impl From<OsString> for Place {
    fn from(written: OsString) -> Self {
        match written.to_str() {
            Some(address) if ["postgres://", "postgresql://"].iter().any(|it| address.starts_with(it)) => {
                Self::Server(address.to_owned())
            }
            Some(address) => match (address.strip_prefix("sqlite:"), scheme(address)) {
                (Some(path), _) => Self::File(path.strip_prefix("//").unwrap_or(path).into()),
                (None, Some(scheme)) => Self::Other(scheme.to_owned()),
                (None, None) => Self::File(written.into()),
            },
            None => Self::File(written.into()),
        }
    }
}

impl Place {
    /// All files that the database may consist of, if it is in files.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let Self::File(path) = self else { return Vec::new() };
        // SQLite derives the other names from the target of a link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.clone()).into_os_string();
        let with =
            |ending: &&str| [path.as_os_str(), OsStr::new(ending)].into_iter().collect::<OsString>().into();
        ENDINGS.iter().map(with).collect()
    }

    /// Opens the database, and makes the file if there is none.
    pub(super) fn create(&self) -> Result<Database, StoreError> {
        match self {
            Self::File(path) => Ok(Database::new(Sqlite::create(path)?)),
            #[cfg(feature = "postgres")]
            Self::Server(address) => Ok(Database::new(Postgres::connect(address)?)),
            #[cfg(not(feature = "postgres"))]
            Self::Server(_) => Err(StoreError::NoClient),
            Self::Other(scheme) => Err(StoreError::Unknown(scheme.clone())),
        }
    }

    /// Opens the database of a store that must exist.
    pub(super) fn open(&self) -> Result<Database, StoreError> {
        match self {
            Self::File(path) => Ok(Database::new(Sqlite::open(path)?)),
            #[cfg(feature = "postgres")]
            Self::Server(address) => {
                let database = Postgres::connect(address)?;
                if database.is_empty()? {
                    return Err(StoreError::Missing(self.to_string()));
                }
                Ok(Database::new(database))
            }
            #[cfg(not(feature = "postgres"))]
            Self::Server(_) => Err(StoreError::NoClient),
            Self::Other(scheme) => Err(StoreError::Unknown(scheme.clone())),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            #[cfg(feature = "postgres")]
            Self::Server(address) => f.write_str(&postgres::shown(address)),
            #[cfg(not(feature = "postgres"))]
            Self::Server(_) => f.write_str("postgres://…"),
            Self::Other(scheme) => write!(f, "{scheme}://…"),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_store_is_a_file_or_the_address_of_a_server() {
        let of = |written: &str| Place::from(OsString::from(written));
        for (written, path) in [
            ("fleet.db", "fleet.db"),
            ("/a/b:c.db", "/a/b:c.db"),
            ("sqlite:fleet.db", "fleet.db"),
            ("sqlite://fleet.db", "fleet.db"),
            ("sqlite:///a/b.db", "/a/b.db"),
        ] {
            assert!(matches!(of(written), Place::File(file) if file == Path::new(path)), "{written}");
        }
        assert!(matches!(of("postgresql://etl@db/fleet"), Place::Server(_)));
        let other = of("mysql://root:secret@db/fleet");
        let told = format!("{other} {}", other.open().err().unwrap());
        assert!(told.starts_with("mysql://… mysql:// is not a store") && !told.contains("secret"), "{told}");
    }
}
