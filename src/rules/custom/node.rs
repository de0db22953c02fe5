//! Expressions ready to be evaluated: names are found, types are checked.

use regex::Regex;

use super::names::{AppField, AttemptsField, RowField, Rows, TasksField};

/// An expression.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A text.
    Text(String),
    /// `null`: nobody knows.
    Unknown,
    /// A fact about the application.
    App(AppField),
    /// A number about the tasks of what is judged.
    Tasks(TasksField),
    /// A number about the attempts of what is judged.
    Attempts(AttemptsField),
    /// A fact about what is judged, where that is a stage or an executor.
    Subject(RowField),
    /// A fact about the row of an aggregate.
    Row(RowField),
    /// Another value of the rule, by its place.
    Value(usize),
    /// Something that is the same for all rows of an aggregate, by its place in [`Aggregate::constants`].
    Constant(usize),
    /// A setting.
    Setting(SettingKind, String),
    /// One number of many rows.
    Aggregate(Box<Aggregate>),
    /// A part of a split.
    Part(Box<Node>, Side, Part),
    /// One of the two groups; on its own nothing.
    Side(Box<Node>, Side),
    /// `-x`
    Negated(Box<Node>),
    /// `!x`
    Not(Box<Node>),
    /// Two numbers.
    Arithmetic(Arithmetic, Box<[Node; 2]>),
    /// Two values compared.
    Comparison(Comparison, Box<[Node; 2]>),
    /// `x in […]`
    In(Box<Node>, Vec<Node>),
    /// All must hold.
    And(Box<[Node; 2]>),
    /// One must hold.
    Or(Box<[Node; 2]>),
    /// `condition ? one : other`
    Choice(Box<[Node; 3]>),
    /// Two texts.
    TextTest(TextTest, Box<[Node; 2]>),
    /// A text and a pattern.
    Matches(Box<Node>, Box<Regex>),
    /// Whether a value is known.
    Known(Box<Node>),
    /// The first value that is known.
    FirstKnown(Vec<Node>),
    /// A function of one number.
    Function(Function, Box<Node>),
    /// The smallest number.
    Smallest(Vec<Node>),
    /// The largest number.
    Largest(Vec<Node>),
}

/// Arithmetic with two numbers. Products and quotients say by how many thousands the result is off, as times are stored
/// in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the words of arithmetic
pub(super) enum Arithmetic {
    Plus,
    Minus,
    Times(i32),
    Over(i32),
    Remainder,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the words of comparisons
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// A question about two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // named like their functions
pub(super) enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
}

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)] // named like their functions
pub(super) enum Function {
    Abs,
    Floor,
    Ceil,
    Round,
    Trunc,
    Sqrt,
    /// Divided by a unit.
    In(f64),
}

/// How a setting is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // named like their functions
pub(super) enum SettingKind {
    Text,
    Number,
    Flag,
    Bytes,
    Megabytes,
    Time,
    Heap,
}

/// One of the groups of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // by size
pub(super) enum Side {
    Small,
    Large,
}

/// A part of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Mean of a group.
    Mean,
    /// Values in a group.
    Count,
    /// How far the means are apart.
    Deviation,
    /// The smallest value of the large group.
    Pivot,
}

/// One number, or a split, of many rows.
#[derive(Debug, Clone)]
pub(super) struct Aggregate {
    /// How the values are put together.
    pub(super) kind: AggregateKind,
    /// The rows.
    pub(super) rows: Rows,
    /// What is taken from each row; `None` where rows are only counted.
    pub(super) value: Option<Node>,
    /// Which rows are taken.
    pub(super) condition: Option<Node>,
    /// What is the same for all rows, evaluated once.
    pub(super) constants: Vec<Node>,
    /// Steps for each row.
    pub(super) cost: u64,
    /// What the rows must tell, in the words of the history, for the reason where none does.
    pub(super) needs: Vec<String>,
}

/// How values of rows become one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)] // named like their functions
pub(super) enum AggregateKind {
    Sum,
    Mean,
    Median,
    /// With the share of values below.
    Percentile(f64),
    Min,
    Max,
    Count,
    Stddev,
    Split,
}

impl Node {
    /// Calls `see` with each direct part of the expression, those of aggregates included.
    pub(super) fn parts<'n>(&'n self, see: &mut dyn FnMut(&'n Self)) {
        match self {
            Self::Number(_)
            | Self::Flag(_)
            | Self::Text(_)
            | Self::Unknown
            | Self::App(_)
            | Self::Tasks(_)
            | Self::Attempts(_)
            | Self::Subject(_)
            | Self::Row(_)
            | Self::Value(_)
            | Self::Constant(_)
            | Self::Setting(..) => {}
            Self::Aggregate(aggregate) => {
                aggregate.value.iter().chain(&aggregate.condition).chain(&aggregate.constants).for_each(see);
            }
            Self::Part(node, ..)
            | Self::Side(node, _)
            | Self::Negated(node)
            | Self::Not(node)
            | Self::Matches(node, _)
            | Self::Known(node)
            | Self::Function(_, node) => see(node),
            Self::Arithmetic(_, two)
            | Self::Comparison(_, two)
            | Self::And(two)
            | Self::Or(two)
            | Self::TextTest(_, two) => two.iter().for_each(see),
            Self::In(node, list) => {
                see(node);
                list.iter().for_each(see);
            }
            Self::Choice(three) => three.iter().for_each(see),
            Self::FirstKnown(list) | Self::Smallest(list) | Self::Largest(list) => list.iter().for_each(see),
        }
    }

    /// Replaces each direct part by what `change` makes of it; aggregates are left alone.
    fn map_parts(&mut self, change: &mut dyn FnMut(&mut Self)) {
        match self {
            Self::Part(node, ..)
            | Self::Side(node, _)
            | Self::Negated(node)
            | Self::Not(node)
            | Self::Matches(node, _)
            | Self::Known(node)
            | Self::Function(_, node)
            // The list behind "in" holds literals.
            | Self::In(node, _) => change(node),
            Self::Arithmetic(_, two)
            | Self::Comparison(_, two)
            | Self::And(two)
            | Self::Or(two)
            | Self::TextTest(_, two) => two.iter_mut().for_each(change),
            Self::Choice(three) => three.iter_mut().for_each(change),
            Self::FirstKnown(list) | Self::Smallest(list) | Self::Largest(list) => {
                list.iter_mut().for_each(change);
            }
            _ => {}
        }
    }

    /// Whether a row of an aggregate is needed.
    #[must_use]
    pub(super) fn depends_on_row(&self) -> bool {
        match self {
            Self::Row(_) => true,
            Self::Aggregate(_) => false,
            _ => {
                let mut depends = false;
                self.parts(&mut |part| depends |= part.depends_on_row());
                depends
            }
        }
    }

    /// Steps that one evaluation takes, aggregates not counted.
    #[must_use]
    pub(super) fn cost(&self) -> u64 {
        let own = match self {
            // Texts may be long, and settings name others.
            Self::Matches(..) | Self::TextTest(..) | Self::Setting(..) => 50,
            Self::In(_, list) => list.len() as u64,
            _ => 1,
        };
        let mut cost = own;
        if !matches!(self, Self::Aggregate(_)) {
            self.parts(&mut |part| cost += part.cost());
        }
        cost
    }

    /// Moves what no row changes into `constants`.
    pub(super) fn move_constants(&mut self, constants: &mut Vec<Self>) {
        match self {
            Self::Number(_) | Self::Flag(_) | Self::Text(_) | Self::Unknown | Self::Row(_) => {}
            _ if self.depends_on_row() => self.map_parts(&mut |part| part.move_constants(constants)),
            _ => {
                let place = constants.len();
                constants.push(std::mem::replace(self, Self::Constant(place)));
            }
        }
    }
}
