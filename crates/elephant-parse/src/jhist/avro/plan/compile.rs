//! Compiles a [`Schema`] into the steps of a plan.

use rustc_hash::FxHashMap;

use super::{Items, Lists, MAX_DEPTH, NOTHING, Step};
use crate::jhist::avro::schema::{Field, Schema, SchemaError, Type, TypeId};
use crate::jhist::fields::{Slot, slot};

/// The symbols of the event type, and the steps that decode an event.
pub(super) fn event(schema: &Schema) -> Result<(&[String], Lists), SchemaError> {
    let (kind, event) = find_fields(schema)?;
    let Type::Enum(symbols) = schema.get(kind.kind) else { return Err(SchemaError::NotEvents) };
    let mut compiler = Compiler::new(schema);
    let root = compiler.record(schema.root, 0, |field| {
        if std::ptr::eq(field, kind) {
            Purpose::Kind
        } else if std::ptr::eq(field, event) {
            Purpose::Body
        } else {
            Purpose::Skip
        }
    })?;
    compiler.lists.root = Step::Record(root);
    Ok((symbols, compiler.lists))
}

/// Finds the fields of the event's type and body: by name, or else by structure.
fn find_fields(schema: &Schema) -> Result<(&Field, &Field), SchemaError> {
    let Type::Record(fields) = schema.get(schema.root) else { return Err(SchemaError::NotEvents) };
    let find = |name: &str, fits: fn(&Type) -> bool| {
        let mut fitting = fields.iter().filter(|field| fits(schema.get(field.kind)));
        let first = fitting.clone().next();
        fitting.find(|field| field.name == name).or(first).ok_or(SchemaError::NotEvents)
    };
    let kind = find("type", |kind| matches!(kind, Type::Enum(_)))?;
    let event = find("event", |kind| matches!(kind, Type::Union(_)))?;
    let Type::Union(branches) = schema.get(event.kind) else { return Err(SchemaError::NotEvents) };
    let has_record = branches.iter().any(|&branch| matches!(schema.get(branch), Type::Record(_)));
    if has_record { Ok((kind, event)) } else { Err(SchemaError::NotEvents) }
}

/// What a value is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Purpose {
    Skip,
    Kind,
    Body,
    Field(Slot),
    Split(Slot),
    Groups,
    Group,
    GroupName,
    Counts,
    Counter,
    CounterName,
    CounterValue,
}

struct Compiler<'s> {
    schema: &'s Schema,
    lists: Lists,
    /// Compiled steps by type and purpose. Without it, types that refer to each other would be compiled once
    /// per path through the schema.
    known: FxHashMap<(TypeId, Purpose), Step>,
}

impl<'s> Compiler<'s> {
    fn new(schema: &'s Schema) -> Self {
        let lists = Lists { root: NOTHING, steps: Vec::new(), ranges: Vec::new(), items: Vec::new() };
        Self { schema, lists, known: FxHashMap::default() }
    }

    fn step(&mut self, id: TypeId, purpose: Purpose, depth: usize) -> Result<Step, SchemaError> {
        if let Some(&step) = self.known.get(&(id, purpose)) {
            return Ok(step);
        }
        if depth > MAX_DEPTH {
            return Err(SchemaError::TooDeep);
        }
        let step = match (purpose, self.schema.get(id)) {
            (Purpose::Skip, _) => self.skip(id, depth)?,
            (_, Type::Union(branches)) => self.union(branches, purpose, depth)?,
            (Purpose::Kind, Type::Enum(_)) => Step::Kind,
            (Purpose::Body, Type::Record(_)) => {
                let field = |field: &Field| slot(&field.name).map_or(Purpose::Skip, Purpose::Field);
                Step::Record(self.record(id, depth, field)?)
            }
            (Purpose::Field(slot), _) if slot.is_counters() => self.counters(id, slot, depth)?,
            (Purpose::Field(slot), &Type::Array(items)) if slot.is_splits() => {
                self.array(items, Purpose::Split(slot), depth)?
            }
            (Purpose::Field(slot), kind) if !slot.is_splits() => match kind {
                Type::String | Type::Bytes => Step::Text(slot),
                Type::Int | Type::Long => Step::Integer(slot),
                Type::Boolean => Step::Flag(slot),
                Type::Enum(_) => Step::Symbol(slot, id),
                _ => self.step(id, Purpose::Skip, depth)?,
            },
            (Purpose::Split(slot), Type::Int) => Step::Split(slot),
            _ => self.counter_part(id, purpose, depth)?,
        };
        self.known.insert((id, purpose), step);
        Ok(step)
    }

    /// `JhCounters`: a record with `groups`.
    fn counters(&mut self, id: TypeId, slot: Slot, depth: usize) -> Result<Step, SchemaError> {
        let Type::Record(_) = self.schema.get(id) else { return self.step(id, Purpose::Skip, depth) };
        let field = |field: &Field| if field.name == "groups" { Purpose::Groups } else { Purpose::Skip };
        Ok(Step::Counters(slot, self.record(id, depth, field)?))
    }

    /// `JhCounterGroup`, `JhCounter` and their fields.
    fn counter_part(&mut self, id: TypeId, purpose: Purpose, depth: usize) -> Result<Step, SchemaError> {
        Ok(match (purpose, self.schema.get(id)) {
            (Purpose::Groups, &Type::Array(items)) => self.array(items, Purpose::Group, depth)?,
            (Purpose::Group, Type::Record(_)) => {
                let list = self.record(id, depth, |field| match field.name.as_str() {
                    "name" => Purpose::GroupName,
                    "counts" => Purpose::Counts,
                    _ => Purpose::Skip,
                })?;
                self.unless_empty(list, Step::Group(list))
            }
            (Purpose::Counts, &Type::Array(items)) => {
                let (read, skip) =
                    (self.array(items, Purpose::Counter, depth)?, self.array(items, Purpose::Skip, depth)?);
                match (read, skip) {
                    (Step::Array(read), Step::Array(skip)) => Step::Counts { read, skip },
                    _ => skip,
                }
            }
            (Purpose::Counter, Type::Record(_)) => {
                let list = self.record(id, depth, |field| match field.name.as_str() {
                    "name" => Purpose::CounterName,
                    "value" => Purpose::CounterValue,
                    _ => Purpose::Skip,
                })?;
                self.unless_empty(list, Step::Counter(list))
            }
            (Purpose::GroupName, Type::String | Type::Bytes) => Step::GroupName,
            (Purpose::CounterName, Type::String | Type::Bytes) => Step::CounterName,
            (Purpose::CounterValue, Type::Int | Type::Long) => Step::CounterValue,
            _ => self.step(id, Purpose::Skip, depth)?,
        })
    }

    /// A record without bytes must not become a step, because an array may claim to hold any number of them.
    fn unless_empty(&self, list: usize, step: Step) -> Step {
        if self.lists.list(list).is_empty() { NOTHING } else { step }
    }

    fn skip(&mut self, id: TypeId, depth: usize) -> Result<Step, SchemaError> {
        Ok(match self.schema.get(id) {
            Type::Null => NOTHING,
            Type::Boolean => Step::Fixed(1),
            Type::Float => Step::Fixed(4),
            Type::Double => Step::Fixed(8),
            Type::Fixed(size) => Step::Fixed(*size),
            Type::Int | Type::Long => Step::Varint,
            Type::Bytes | Type::String => Step::Prefixed,
            Type::Enum(symbols) => Step::Choice(symbols.len()),
            &Type::Array(items) => self.array(items, Purpose::Skip, depth)?,
            &Type::Map(values) => {
                let step = self.step(values, Purpose::Skip, depth + 1)?;
                self.lists.items.push(Items { step, skip: true });
                Step::Map(self.lists.items.len() - 1)
            }
            Type::Union(branches) => self.union(branches, Purpose::Skip, depth)?,
            Type::Record(_) => {
                let list = self.reserve();
                // The record may contain itself; recursive uses get this list, which is filled below.
                self.known.insert((id, Purpose::Skip), Step::Record(list));
                self.fields(list, id, depth, |_| Purpose::Skip)?;
                match *self.lists.list(list) {
                    [] => NOTHING,
                    [Step::Fixed(size)] => Step::Fixed(size),
                    _ => Step::Record(list),
                }
            }
        })
    }

    fn array(&mut self, items: TypeId, purpose: Purpose, depth: usize) -> Result<Step, SchemaError> {
        let step = self.step(items, purpose, depth + 1)?;
        self.lists.items.push(Items { step, skip: purpose == Purpose::Skip });
        Ok(Step::Array(self.lists.items.len() - 1))
    }

    fn union(&mut self, branches: &[TypeId], purpose: Purpose, depth: usize) -> Result<Step, SchemaError> {
        let steps = branches.iter().map(|&branch| self.step(branch, purpose, depth + 1));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        let list = self.reserve();
        self.fill(list, &steps);
        Ok(Step::Union(list))
    }

    /// Compiles the fields of record `id`.
    fn record(
        &mut self,
        id: TypeId,
        depth: usize,
        purpose: impl Fn(&Field) -> Purpose,
    ) -> Result<usize, SchemaError> {
        let list = self.reserve();
        self.fields(list, id, depth, purpose)?;
        Ok(list)
    }

    fn fields(
        &mut self,
        list: usize,
        id: TypeId,
        depth: usize,
        purpose: impl Fn(&Field) -> Purpose,
    ) -> Result<(), SchemaError> {
        let Type::Record(fields) = self.schema.get(id) else { return Ok(()) };
        let mut steps: Vec<Step> = Vec::with_capacity(fields.len());
        for field in fields {
            let step = self.step(field.kind, purpose(field), depth + 1)?;
            match (steps.last_mut(), step) {
                (_, NOTHING) => {}
                (Some(Step::Fixed(sum)), Step::Fixed(size)) => *sum = sum.saturating_add(size),
                _ => steps.push(step),
            }
        }
        self.fill(list, &steps);
        Ok(())
    }

    fn reserve(&mut self) -> usize {
        self.lists.ranges.push((0, 0));
        self.lists.ranges.len() - 1
    }

    fn fill(&mut self, list: usize, steps: &[Step]) {
        let start = self.lists.steps.len();
        self.lists.steps.extend_from_slice(steps);
        if let Some(range) = self.lists.ranges.get_mut(list) {
            *range = (start, self.lists.steps.len());
        }
    }
}
