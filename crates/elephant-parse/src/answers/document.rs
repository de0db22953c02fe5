//! Reads an answer object by object, so that a list of many tasks takes no more memory than one of them.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::roots::{About, root};
use crate::json_records::Progress;

/// Gets the objects. `serde_json::Value` keeps the last of equal keys: attempts of reduce tasks have `type` twice.
pub(super) type Sink<'s> = &'s mut dyn FnMut(About, Value);

/// An answer.
pub(super) struct Answer<'a, 's> {
    pub(super) sink: Sink<'s>,
    pub(super) progress: &'a Progress,
}

impl<'de> DeserializeSeed<'de> for Answer<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Answer<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer of a history server, an application master or a resource manager")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { sink, progress } = self;
        while let Some(key) = map.next_key::<String>()? {
            match root(&key) {
                Some((None, about)) => sink(about, map.next_value()?),
                Some((Some(key), about)) => {
                    map.next_value_seed(Object { key, list: List { about, sink: &mut *sink, progress } })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The object that holds a list.
struct Object<'a, 's> {
    key: &'static str,
    list: List<'a, 's>,
}

impl<'de> DeserializeSeed<'de> for Object<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        // An empty list is `null`.
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Object<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the list \"{}\"", self.key)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { key: wanted, list: List { about, sink, progress } } = self;
        while let Some(key) = map.next_key::<String>()? {
            if key == wanted {
                map.next_value_seed(List { about, sink: &mut *sink, progress })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// A list of objects, or a single one, which some servers write instead of a list of one.
struct List<'a, 's> {
    about: About,
    sink: Sink<'s>,
    progress: &'a Progress,
}

impl<'de> DeserializeSeed<'de> for List<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(value) = seq.next_element()? {
            (self.sink)(self.about, value);
            self.progress.record_ended();
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let value = Value::deserialize(MapAccessDeserializer::new(map))?;
        (self.sink)(self.about, value);
        Ok(())
    }
}
