//! A compiled schema: the steps that decode one event.
//!
//! Fields that no rule reads become skip steps; adjacent fields of fixed size are merged into one step, and
//! fields without bytes are dropped, so that every step consumes input.

mod compile;

use serde_json::Value;

use super::schema::{Schema, SchemaError, Type, TypeId};
use crate::event::EventKind;
use crate::jhist::fields::Slot;

/// Maximum nesting of types, and of values of recursive types.
pub(super) const MAX_DEPTH: usize = 200;

/// How to decode the next value. Numbers are indices into the lists of the [`Plan`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Skip this many bytes.
    Fixed(usize),
    /// Skip an `int` or `long`.
    Varint,
    /// Skip a `string` or `bytes`.
    Prefixed,
    /// Skip an enum with this many symbols.
    Choice(usize),
    /// Run the steps of [`Plan::list`].
    Record(usize),
    /// Run one of the steps of [`Plan::list`].
    Union(usize),
    /// Run the step of [`Plan::items`] for each item.
    Array(usize),
    /// Skip each key and run the step of [`Plan::items`] for each value.
    Map(usize),
    /// Store a `string` or `bytes`.
    Text(Slot),
    /// Store an `int` or `long`.
    Integer(Slot),
    /// Store a `boolean`.
    Flag(Slot),
    /// Store the symbol of the enum with this [`TypeId`].
    Symbol(Slot, TypeId),
    /// Append an `int` to a progress array.
    Split(Slot),
    /// Store the event type.
    Kind,
    /// Run the steps of a record whose counters go to this slot.
    Counters(Slot, usize),
    /// A group of counters.
    Group(usize),
    /// A group's name.
    GroupName,
    /// The counters of a group; `skip` is the step that skips them.
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
    /// Whether blocks of known size can be skipped as a whole.
    pub(super) skip: bool,
}

/// The lists that steps refer to.
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

/// How to decode the events of a history: the compiled schema.
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

    /// The event types of the schema, in schema order.
    pub(super) fn kinds(&self) -> &[(String, Option<EventKind>)] {
        &self.kinds
    }

    pub(super) fn symbols(&self, id: TypeId) -> &[String] {
        if let Type::Enum(symbols) = self.schema.get(id) { symbols } else { &[] }
    }
}
