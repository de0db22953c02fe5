//! Values of statements.

use std::borrow::Cow;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// A value of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'v> {
    Null,
    Whole(i64),
    Number(f64),
    Truth(bool),
    Text(Cow<'v, str>),
    Bytes(Cow<'v, [u8]>),
    /// A list of ids, for `= ANY(?1)`; SQLite has none.
    #[cfg(feature = "postgres")]
    Ids(Vec<i64>),
    /// A list of texts, for `= ANY(?1)`, too.
    #[cfg(feature = "postgres")]
    Texts(Vec<Cow<'v, str>>),
}

#[cfg(feature = "postgres")]
impl Value<'_> {
    /// The same value without a reference to another one.
    pub(crate) fn to_owned(&self) -> Value<'static> {
        let owned = |text: &Cow<'_, str>| Cow::Owned(text.as_ref().to_owned());
        match self {
            Self::Null => Value::Null,
            Self::Whole(value) => Value::Whole(*value),
            Self::Number(value) => Value::Number(*value),
            Self::Truth(value) => Value::Truth(*value),
            Self::Text(value) => Value::Text(owned(value)),
            Self::Bytes(value) => Value::Bytes(Cow::Owned(value.as_ref().to_owned())),
            Self::Ids(ids) => Value::Ids(ids.clone()),
            Self::Texts(texts) => Value::Texts(texts.iter().map(owned).collect()),
        }
    }
}

/// A list of values.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        [$($crate::database::Value::from($value)),*]
    };
}
pub(crate) use values;

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Whole(value)
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Truth(value)
    }
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(value: &'v str) -> Self {
        Self::Text(Cow::Borrowed(value))
    }
}

impl<'v> From<&'v String> for Value<'v> {
    fn from(value: &'v String) -> Self {
        Self::Text(Cow::Borrowed(value))
    }
}

impl From<String> for Value<'_> {
    fn from(value: String) -> Self {
        Self::Text(Cow::Owned(value))
    }
}

impl<'v> From<Cow<'v, str>> for Value<'v> {
    fn from(value: Cow<'v, str>) -> Self {
        Self::Text(value)
    }
}

impl<'v> From<&'v [u8]> for Value<'v> {
    fn from(value: &'v [u8]) -> Self {
        Self::Bytes(Cow::Borrowed(value))
    }
}

impl<'v, T: Into<Value<'v>>> From<Option<T>> for Value<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Null => ValueRef::Null,
            Self::Whole(value) => ValueRef::Integer(*value),
            Self::Number(value) => ValueRef::Real(*value),
            Self::Truth(value) => ValueRef::Integer(i64::from(*value)),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Bytes(value) => ValueRef::Blob(value),
            #[cfg(feature = "postgres")]
            Self::Ids(_) | Self::Texts(_) => {
                return Err(rusqlite::Error::ToSqlConversionFailure("SQLite has no lists".into()));
            }
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}
