//! The writer's schema (Avro specification 1.11, "Schema Declaration") as a flat list of types.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use thiserror::Error;

/// Index of a type within its [`Schema`].
pub(super) type TypeId = usize;

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// A required part of the schema is missing.
    #[error("{0} is missing or has the wrong type")]
    Missing(&'static str),
    /// A type name that is neither built into Avro nor defined earlier.
    #[error("the type `{0}` is not defined")]
    UnknownType(String),
    /// The schema does not describe events of a job history.
    #[error("it is not a record with an enum `type` and a union `event`")]
    NotEvents,
    /// Types are nested deeper than in any real schema.
    #[error("its types are nested too deeply")]
    TooDeep,
}

/// An Avro type. Logical types appear as their storage types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Fixed(usize),
    Enum(Vec<String>),
    Array(TypeId),
    Map(TypeId),
    Union(Vec<TypeId>),
    Record(Vec<Field>),
}

/// A field of a record, in the order of the encoded values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: TypeId,
}

/// The types of a schema.
#[derive(Debug, Clone)]
pub(super) struct Schema {
    pub(super) types: Vec<Type>,
    pub(super) root: TypeId,
}

impl Schema {
    /// Parses a schema. The nesting of `json` bounds the recursion; `serde_json` stops at 128 levels.
    pub(super) fn parse(json: &Value) -> Result<Self, SchemaError> {
        let mut reader = SchemaReader::default();
        let root = reader.read(json, "")?;
        Ok(Self { types: reader.types, root })
    }

    pub(super) fn get(&self, id: TypeId) -> &Type {
        self.types.get(id).unwrap_or(&Type::Null)
    }
}

#[derive(Default)]
struct SchemaReader {
    types: Vec<Type>,
    named: FxHashMap<String, TypeId>,
}

impl SchemaReader {
    fn read(&mut self, json: &Value, namespace: &str) -> Result<TypeId, SchemaError> {
        match json {
            Value::String(name) => self.by_name(name, namespace),
            Value::Array(branches) => {
                let ids = branches.iter().map(|branch| self.read(branch, namespace));
                let union = Type::Union(ids.collect::<Result<_, _>>()?);
                Ok(self.add(union))
            }
            Value::Object(object) => self.read_object(object, namespace),
            _ => Err(SchemaError::Missing("a type")),
        }
    }

    fn read_object(&mut self, object: &Map<String, Value>, namespace: &str) -> Result<TypeId, SchemaError> {
        let kind = object.get("type").ok_or(SchemaError::Missing("`type`"))?;
        let kind_name = kind.as_str().unwrap_or_default();
        match kind_name {
            "record" | "error" => self.read_record(object, namespace),
            "enum" => {
                let symbols = list(object, "symbols")?;
                let symbols = symbols.iter().map(|symbol| symbol.as_str().map(str::to_owned));
                let symbols = symbols.collect::<Option<_>>().ok_or(SchemaError::Missing("a symbol"))?;
                self.add_named(object, namespace, Type::Enum(symbols)).map(|(id, _)| id)
            }
            "fixed" => {
                let size =
                    object.get("size").and_then(Value::as_u64).and_then(|size| usize::try_from(size).ok());
                let size = size.ok_or(SchemaError::Missing("the `size` of a fixed"))?;
                self.add_named(object, namespace, Type::Fixed(size)).map(|(id, _)| id)
            }
            "array" => {
                let items = object.get("items").ok_or(SchemaError::Missing("the `items` of an array"))?;
                let items = self.read(items, namespace)?;
                Ok(self.add(Type::Array(items)))
            }
            "map" => {
                let values = object.get("values").ok_or(SchemaError::Missing("the `values` of a map"))?;
                let values = self.read(values, namespace)?;
                Ok(self.add(Type::Map(values)))
            }
            _ => self.read(kind, namespace),
        }
    }

    fn read_record(&mut self, object: &Map<String, Value>, namespace: &str) -> Result<TypeId, SchemaError> {
        let (id, inner) = self.add_named(object, namespace, Type::Record(Vec::new()))?;
        let mut fields = Vec::new();
        for field in list(object, "fields")? {
            let name = field.get("name").and_then(Value::as_str);
            let kind = field.get("type").ok_or(SchemaError::Missing("the type of a field"))?;
            fields.push(Field {
                name: name.ok_or(SchemaError::Missing("the name of a field"))?.to_owned(),
                kind: self.read(kind, &inner)?,
            });
        }
        if let Some(slot) = self.types.get_mut(id) {
            *slot = Type::Record(fields);
        }
        Ok(id)
    }

    fn by_name(&mut self, name: &str, namespace: &str) -> Result<TypeId, SchemaError> {
        let primitive = match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "int" => Type::Int,
            "long" => Type::Long,
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" => Type::Bytes,
            "string" => Type::String,
            _ => {
                let known = self.named.get(&full_name(name, namespace)).or_else(|| self.named.get(name));
                return known.copied().ok_or_else(|| SchemaError::UnknownType(name.to_owned()));
            }
        };
        Ok(self.add(primitive))
    }

    fn add(&mut self, kind: Type) -> TypeId {
        self.types.push(kind);
        self.types.len() - 1
    }

    /// Adds a named type and returns the namespace of its parts.
    fn add_named(
        &mut self,
        object: &Map<String, Value>,
        namespace: &str,
        kind: Type,
    ) -> Result<(TypeId, String), SchemaError> {
        let name =
            object.get("name").and_then(Value::as_str).ok_or(SchemaError::Missing("the name of a type"))?;
        let namespace = object.get("namespace").and_then(Value::as_str).unwrap_or(namespace);
        let name = full_name(name, namespace);
        let inner = name.rsplit_once('.').map(|(namespace, _)| namespace.to_owned()).unwrap_or_default();
        let id = self.add(kind);
        self.named.insert(name, id);
        Ok((id, inner))
    }
}

fn full_name(name: &str, namespace: &str) -> String {
    if namespace.is_empty() || name.contains('.') { name.to_owned() } else { format!("{namespace}.{name}") }
}

fn list<'a>(object: &'a Map<String, Value>, key: &'static str) -> Result<&'a Vec<Value>, SchemaError> {
    object.get(key).and_then(Value::as_array).ok_or(SchemaError::Missing(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record_fields(schema: &Schema) -> Vec<(&str, &Type)> {
        let Type::Record(fields) = schema.get(schema.root) else { panic!("not a record") };
        fields.iter().map(|field| (field.name.as_str(), schema.get(field.kind))).collect()
    }

    #[test]
    fn names_resolve_with_and_without_namespace() {
        let schema = Schema::parse(&json!({"type": "record", "name": "A", "namespace": "x.y", "fields": [
            {"name": "a", "type": {"type": "fixed", "name": "F", "size": 3}},
            {"name": "b", "type": "F"},
            {"name": "c", "type": "x.y.F"},
            {"name": "d", "type": {"type": "record", "name": "z.B", "fields": [
                {"name": "e", "type": {"type": "fixed", "name": "F", "size": 4}}]}},
            {"name": "f", "type": ["null", "z.F", "F"]},
        ]}))
        .unwrap();
        let fields = record_fields(&schema);
        assert_eq!((fields[1].1, fields[2].1), (&Type::Fixed(3), &Type::Fixed(3)));
        let Type::Union(branches) = fields[4].1 else { panic!() };
        let branches: Vec<_> = branches.iter().map(|&id| schema.get(id)).collect();
        assert_eq!(branches, [&Type::Null, &Type::Fixed(4), &Type::Fixed(3)]);
    }

    #[test]
    fn annotated_types_become_their_storage_types() {
        let schema = Schema::parse(&json!({"type": "record", "name": "A", "fields": [
            {"name": "a", "type": {"type": "string", "avro.java.string": "String"}},
            {"name": "b", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "c", "type": {"type": {"type": "int"}}},
            {"name": "d", "type": {"type": ["null", "int"]}},
        ]}))
        .unwrap();
        let fields = record_fields(&schema);
        assert_eq!([fields[0].1, fields[1].1, fields[2].1], [&Type::String, &Type::Long, &Type::Int]);
        assert!(matches!(fields[3].1, Type::Union(branches) if branches.len() == 2));
    }

    #[test]
    fn a_type_may_contain_itself() {
        let schema = Schema::parse(&json!({"type": "record", "name": "A", "fields": [
            {"name": "next", "type": ["null", "A"]}]}))
        .unwrap();
        assert!(matches!(record_fields(&schema)[0].1, Type::Union(branches) if branches[1] == schema.root));
    }

    #[test]
    fn unusable_schemas_give_the_reason() {
        let unknown = Schema::parse(&json!(["null", "Nowhere"])).unwrap_err();
        assert_eq!(unknown, SchemaError::UnknownType("Nowhere".to_owned()));
        let incomplete = json!({"type": "array"});
        assert!(matches!(Schema::parse(&incomplete), Err(SchemaError::Missing(_))));
        assert!(matches!(Schema::parse(&json!(7)), Err(SchemaError::Missing(_))));
    }
}
