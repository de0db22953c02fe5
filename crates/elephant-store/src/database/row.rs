//! Rows of answers.

use rusqlite::types::FromSql;

use super::super::StoreError;

/// A row of an answer.
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    #[cfg(feature = "postgres")]
    Postgres(&'r tokio_postgres::Row),
}

/// A type of a column in Rust.
#[cfg(not(feature = "postgres"))]
pub(crate) trait Column: FromSql {}
#[cfg(not(feature = "postgres"))]
impl<T: FromSql> Column for T {}

/// A type of a column in Rust.
#[cfg(feature = "postgres")]
pub(crate) trait Column: FromSql + for<'a> tokio_postgres::types::FromSql<'a> {}
#[cfg(feature = "postgres")]
impl<T: FromSql + for<'a> tokio_postgres::types::FromSql<'a>> Column for T {}

/// The name of a column, or its place.
#[cfg(not(feature = "postgres"))]
pub(crate) trait At: rusqlite::RowIndex {}
#[cfg(not(feature = "postgres"))]
impl<T: rusqlite::RowIndex> At for T {}

/// The name of a column, or its place.
#[cfg(feature = "postgres")]
pub(crate) trait At: rusqlite::RowIndex + tokio_postgres::row::RowIndex + std::fmt::Display {}
#[cfg(feature = "postgres")]
impl<T: rusqlite::RowIndex + tokio_postgres::row::RowIndex + std::fmt::Display> At for T {}

impl Row<'_> {
    /// The value of a column.
    pub(crate) fn get<T: Column>(&self, at: impl At) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(row) => Ok(row.get(at)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(row) => row.try_get(at).map_err(|error| super::postgres::failure(&error)),
        }
    }

    /// A number that is never negative.
    pub(crate) fn amount(&self, at: impl At) -> Result<Option<u64>, StoreError> {
        Ok(self.get::<Option<i64>>(at)?.map(|value| value.max(0).cast_unsigned()))
    }

    /// A number of things.
    pub(crate) fn count(&self, at: impl At) -> Result<u64, StoreError> {
        Ok(self.amount(at)?.unwrap_or_default())
    }
}
