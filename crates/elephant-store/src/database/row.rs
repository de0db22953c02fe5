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

impl Row<'_> {
    /// The value at a place.
    pub(crate) fn get<T: Column>(&self, place: usize) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(row) => Ok(row.get(place)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(row) => row.try_get(place).map_err(super::postgres::failure),
        }
    }

    /// A number that is never negative.
    pub(crate) fn amount(&self, place: usize) -> Result<Option<u64>, StoreError> {
        Ok(self.get::<Option<i64>>(place)?.map(|value| value.max(0).cast_unsigned()))
    }

    /// A number of things.
    pub(crate) fn count(&self, place: usize) -> Result<u64, StoreError> {
        Ok(self.amount(place)?.unwrap_or_default())
    }
}
