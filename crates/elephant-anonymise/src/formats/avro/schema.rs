//! The writer's schema (Avro specification 1.11, "Schema Declaration").

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The deepest nesting of types.
const DEEPEST: usize = 64;

/// Index of a type within its [`Schema`].
pub(super) type TypeId = usize;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    /// `int`, `long`.
    Whole,
    Float,
    Double,
    Bytes,
    Text,
    Fixed(usize),
    /// The number of its symbols.
    Enum(usize),
    Array(TypeId),
    Map(TypeId),
    Union(Vec<TypeId>),
    Record(Vec<(String, TypeId)>),
}

/// The types of a schema, named ones by their index.
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub(super) types: Vec<Type>,
    pub(super) root: TypeId,
    names: BTreeMap<String, TypeId>,
}

impl Schema {
    /// `None` if it cannot be used.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let mut types = Self::default();
        types.root = types.add(schema, 0)?;
        Some(types)
    }

    fn add(&mut self, schema: &Value, depth: usize) -> Option<TypeId> {
        if depth > DEEPEST {
            return None;
        }
        match schema {
            Value::String(name) => self.named(name),
            Value::Array(branches) => {
                let branches: Option<Vec<TypeId>> =
                    branches.iter().map(|branch| self.add(branch, depth + 1)).collect();
                Some(self.push(Type::Union(branches?)))
            }
            Value::Object(object) => self.object(object, depth),
            _ => None,
        }
    }

    fn object(&mut self, object: &Map<String, Value>, depth: usize) -> Option<TypeId> {
        match object.get("type")? {
            Value::String(kind) => match kind.as_str() {
                "record" | "error" => self.record(object, depth),
                "enum" => {
                    let symbols = object.get("symbols")?.as_array()?.len();
                    self.define(object, Type::Enum(symbols))
                }
                "fixed" => {
                    let size = usize::try_from(object.get("size")?.as_u64()?).ok()?;
                    self.define(object, Type::Fixed(size))
                }
                "array" => {
                    let items = self.add(object.get("items")?, depth + 1)?;
                    Some(self.push(Type::Array(items)))
                }
                "map" => {
                    let values = self.add(object.get("values")?, depth + 1)?;
                    Some(self.push(Type::Map(values)))
                }
                name => self.named(name),
            },
            inner => self.add(inner, depth + 1),
        }
    }

    fn record(&mut self, object: &Map<String, Value>, depth: usize) -> Option<TypeId> {
        // Its fields may name it.
        let id = self.define(object, Type::Record(Vec::new()))?;
        let mut fields = Vec::new();
        for field in object.get("fields")?.as_array()? {
            let name = field.get("name")?.as_str()?.to_owned();
            fields.push((name, self.add(field.get("type")?, depth + 1)?));
        }
        *self.types.get_mut(id)? = Type::Record(fields);
        Some(id)
    }

    fn define(&mut self, object: &Map<String, Value>, kind: Type) -> Option<TypeId> {
        let id = self.push(kind);
        let name = object.get("name")?.as_str()?;
        // Names are unique without their namespace in Hadoop's schemas.
        self.names.insert(last(name).to_owned(), id);
        Some(id)
    }

    fn named(&mut self, name: &str) -> Option<TypeId> {
        let kind = match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "int" | "long" => Type::Whole,
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" => Type::Bytes,
            "string" => Type::Text,
            name => return self.names.get(last(name)).copied(),
        };
        Some(self.push(kind))
    }

    fn push(&mut self, kind: Type) -> TypeId {
        self.types.push(kind);
        self.types.len() - 1
    }
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
