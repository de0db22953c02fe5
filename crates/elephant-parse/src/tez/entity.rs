//! Entities of YARN's timeline server as JSON, and lists of them.
//!
//! Source: `TimelineEntity` and `TimelineEntities` of `org.apache.hadoop.yarn.api.records.timeline`, and
//! `HistoryEventJsonConversion` of Tez, whose keys differ between versions. An entity may have several records, each with a
//! part of its facts.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::id::Id;
use super::info::{Info, MAX_VERTICES};
use super::query;
use super::record::{Record, Sink, Subject};
use crate::json_records::Progress;
use crate::json_value::whole;

/// A document: an entity, `{"entities": […]}`, `{"queries": […]}`, or a list of entities.
pub(super) struct Document<'a, 's> {
    pub(super) sink: Sink<'s>,
    pub(super) progress: &'a Progress,
}

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entity of the timeline server, or a list of them")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { sink, progress } = self;
        let mut draft = Draft::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "entities" => map.next_value_seed(Entities { sink: &mut *sink, progress })?,
                "queries" => map.next_value_seed(Queries { sink: &mut *sink, progress })?,
                key => draft.read(key, &mut map)?,
            }
        }
        draft.finish(sink);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        Entities { sink: self.sink, progress: self.progress }.visit_seq(seq)
    }
}

/// A list of entities.
struct Entities<'a, 's> {
    sink: Sink<'s>,
    progress: &'a Progress,
}

impl<'de> DeserializeSeed<'de> for Entities<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entities<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entities")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(draft) = seq.next_element_seed(OneEntity)? {
            draft.finish(&mut *self.sink);
            self.progress.record_ended();
        }
        Ok(())
    }
}

struct OneEntity;

impl<'de> DeserializeSeed<'de> for OneEntity {
    type Value = Draft;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Draft, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OneEntity {
    type Value = Draft;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entity")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Draft, A::Error> {
        let mut draft = Draft::default();
        while let Some(key) = map.next_key::<String>()? {
            draft.read(&key, &mut map)?;
        }
        Ok(draft)
    }
}

/// The queries of Hive with their DAGs, as the Data Analytics Studio and Hue list them.
struct Queries<'a, 's> {
    sink: Sink<'s>,
    progress: &'a Progress,
}

impl<'de> DeserializeSeed<'de> for Queries<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Queries<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of queries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(query) = seq.next_element::<Value>()? {
            query::records(query, self.sink);
            self.progress.record_ended();
        }
        Ok(())
    }
}

/// The `otherinfo` of an entity: only what is kept.
struct OtherInfo<'a>(&'a mut Info);

impl<'de> DeserializeSeed<'de> for OtherInfo<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OtherInfo<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("facts about an entity")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if Info::keeps(&key) {
                self.0.set(&key, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// An entity while its fields are read, which come in any order.
#[derive(Default)]
struct Draft {
    id: Option<String>,
    kind: Option<String>,
    info: Info,
    events: Vec<(String, i64)>,
    vertices: Vec<(String, String)>,
}

impl Draft {
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "entity" | "entityId" => self.id = string(map.next_value()?),
            "entitytype" | "entityType" => self.kind = string(map.next_value()?),
            "otherinfo" | "otherInfo" => map.next_value_seed(OtherInfo(&mut self.info))?,
            "events" => self.add_events(map.next_value()?),
            "starttime" | "startTime" => self.info.first = whole(&map.next_value()?),
            "primaryfilters" | "primaryFilters" => self.add_filters(map.next_value()?),
            "relatedentities" | "relatedEntities" => self.add_related(map.next_value()?),
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn add_events(&mut self, events: Value) {
        let Value::Array(events) = events else { return };
        for mut event in events {
            let mut field =
                |names: [&str; 2]| names.into_iter().find_map(|name| Some(event.get_mut(name)?.take()));
            let kind = field(["eventtype", "eventType"]).and_then(string);
            let time = field(["timestamp", "ts"]).and_then(|time| whole(&time));
            self.events.extend(kind.zip(time));
            let info = event.get_mut("eventinfo").map(Value::take);
            let info = info.or_else(|| event.get_mut("eventInfo").map(Value::take));
            if let Some(tasks) = info.as_ref().and_then(|info| info.get("numTasks")) {
                self.info.set("numTasks", tasks.clone());
            }
        }
    }

    /// The user, the name and the caller of a DAG: lists of one value, or the value itself.
    fn add_filters(&mut self, filters: Value) {
        let Value::Object(filters) = filters else { return };
        for (key, value) in filters {
            let value = match value {
                Value::Array(values) => values.into_iter().next().unwrap_or_default(),
                value => value,
            };
            if matches!(
                key.as_str(),
                "user" | "requestuser" | "dagName" | "callerId" | "callerType" | "queueName"
            ) {
                self.info.set(&key, value);
            } else if key == "applicationId" {
                self.info.application_id = self.info.application_id.take().or_else(|| string(value));
            }
        }
    }

    /// The timeline server lists the vertices of a DAG; simple histories name its user.
    fn add_related(&mut self, related: Value) {
        match related {
            Value::Object(mut related) => {
                if let Some(Value::Array(ids)) = related.remove("TEZ_VERTEX_ID") {
                    let ids = ids.into_iter().filter_map(string).take(MAX_VERTICES);
                    self.vertices = ids.map(|id| (String::new(), id)).collect();
                }
            }
            Value::Array(related) => {
                for mut one in related {
                    let kind =
                        ["entitytype", "entityType"].into_iter().find_map(|name| one.get(name)?.as_str());
                    if kind == Some("user") {
                        let user = ["entity", "entityId"]
                            .into_iter()
                            .find_map(|name| Some(one.get_mut(name)?.take()));
                        self.info.user = user.and_then(string).or_else(|| self.info.user.take());
                    }
                }
            }
            _ => {}
        }
    }

    fn finish(mut self, sink: Sink<'_>) {
        let Some(id) = self.id else { return };
        let subject = match self.kind.as_deref() {
            Some("HIVE_QUERY_ID") => Subject::Query(id),
            _ => match Id::parse(&id) {
                Some(id) => Subject::Tez(id),
                None => return,
            },
        };
        if self.info.vertex_ids.is_empty() && matches!(subject, Subject::Tez(Id::Dag(_))) {
            self.info.vertex_ids = self.vertices;
        }
        sink(Record { subject, info: self.info, events: self.events });
    }
}

fn string(value: Value) -> Option<String> {
    if let Value::String(text) = value { Some(text) } else { None }
}
