//! Values of statements, as PostgreSQL takes them.

use std::borrow::Cow;
use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::super::Value;

impl ToSql for Value<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Whole(value) => value.to_sql(kind, out),
            Self::Number(value) => value.to_sql(kind, out),
            Self::Truth(value) => value.to_sql(kind, out),
            Self::Text(value) => storable(value).to_sql(kind, out),
            Self::Bytes(value) => value.as_ref().to_sql(kind, out),
            Self::Ids(ids) => ids.to_sql(kind, out),
            Self::Texts(texts) => {
                texts.iter().map(|text| storable(text)).collect::<Vec<_>>().to_sql(kind, out)
            }
        }
    }

    /// Each statement casts to the types that its values have.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Text in PostgreSQL cannot contain NUL.
fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}
