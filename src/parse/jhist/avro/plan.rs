//! A schema compiled into the steps that decode one event.
//!
//! Whatever no rule reads becomes a step that passes over it; neighbours of fixed size become one step,
//! and what takes no bytes becomes none, so that every step that runs consumes input.

use serde_json::Value;

use super::compile;
use super::schema::{Schema, SchemaError, Type, TypeId};
use crate::parse::event::EventKind;
use crate::parse::jhist::fields::Slot;

/// How deeply types, and values of recursive types, may nest.
pub(super) const MAX_DEPTH: usize = 200;

/// What to do with the next value. Numbers name an entry in one of the lists of the [`Plan`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Pass over so many bytes.
    Fixed(usize),
    /// Pass over an `int` or `long`.
    Varint,
    /// Pass over a `string` or `bytes`.
    Prefixed,
    /// Pass over an enum with so many symbols.
    Choice(usize),
    /// Do the steps of [`Plan::list`].
    Record(usize),
    /// Do one of the steps of [`Plan::list`].
    Union(usize),
    /// Do the step of [`Plan::items`] for each item.
    Array(usize),
    /// Pass over each key and do the step of [`Plan::items`] for each value.
    Map(usize),
    /// Keep a `string` or `bytes`.
    Text(Slot),
    /// Keep an `int` or `long`.
    Integer(Slot),
    /// Keep a `boolean`.
    Flag(Slot),
    /// Keep the symbol of the enum with this [`TypeId`].
    Symbol(Slot, TypeId),
    /// Add an `int` to a progress array.
    Split(Slot),
    /// Keep the type of the event.
    Kind,
    /// Do the steps of a record; counters in it go to this slot.
    Counters(Slot, usize),
    /// A group of counters.
    Group(usize),
    /// A group's name.
    GroupName,
    /// The counters of a group; the second step passes over them.
    Counts { read: usize, skip: usize },
    /// A counter.
    Counter(usize),
    /// A counter's name.
    CounterName,
    /// A counter's value.
    CounterValue,
}

pub(super) const NOTHING: Step = Step::Fixed(0);

/// The step for the items of an array or the values of a map.
#[derive(Debug, Clone, Copy)]
pub(super) struct Items {
    pub(super) step: Step,
    /// Whether blocks of known size can be passed over as a whole.
    pub(super) skip: bool,
}

/// The lists that steps name their entries of.
#[derive(Debug, Clone)]
pub(super) struct Lists {
    pub(super) root: Step,
    pub(super) steps: Vec<Step>,
    pub(super) ranges: Vec<(usize, usize)>,
    pub(super) items: Vec<Items>,
}

impl Lists {
    #[inline]
    pub(super) fn list(&self, id: usize) -> &[Step] {
        let (start, end) = self.ranges.get(id).copied().unwrap_or_default();
        self.steps.get(start..end).unwrap_or_default()
    }
}

/// How to decode the events of a history: its schema, compiled.
#[derive(Debug, Clone)]
pub struct Plan {
    lists: Lists,
    kinds: Vec<(String, Option<EventKind>)>,
    schema: Schema,
}

impl Plan {
    /// Compiles the schema of Hadoop's `Event` record.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let schema = Schema::parse(schema)?;
        let (kinds, lists) = compile::event(&schema)?;
        let kinds = kinds.iter().map(|name| (name.clone(), EventKind::from_hadoop_name(name))).collect();
        Ok(Self { lists, kinds, schema })
    }

    pub(super) fn root(&self) -> Step {
        self.lists.root
    }

    #[inline]
    pub(super) fn list(&self, id: usize) -> &[Step] {
        self.lists.list(id)
    }

    #[inline]
    pub(super) fn items(&self, id: usize) -> Items {
        self.lists.items.get(id).copied().unwrap_or(Items { step: NOTHING, skip: true })
    }

    /// The event types of the schema, in its order.
    pub(super) fn kinds(&self) -> &[(String, Option<EventKind>)] {
        &self.kinds
    }

    pub(super) fn symbols(&self, id: TypeId) -> &[String] {
        if let Type::Enum(symbols) = self.schema.get(id) { symbols } else { &[] }
    }
}
