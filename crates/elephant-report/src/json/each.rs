//! Lists of report data, converted one by one while they are written.

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

/// Serialises a slice through a view of each element, one at a time.
pub(crate) struct Each<'a, T, V>(pub(crate) &'a [T], pub(crate) fn(&'a T) -> V);

impl<T, V: Serialize> Serialize for Each<'_, T, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(items, view) = self;
        let mut list = serializer.serialize_seq(Some(items.len()))?;
        for item in *items {
            list.serialize_element(&view(item))?;
        }
        list.end()
    }
}
