//! Expressions ready for evaluation: names are resolved and types are checked.

use regex::Regex;

use super::names::{AppField, AttemptsField, RowField, Rows, TasksField};
use elephant_model::model::counters::Counter;
use elephant_query::Amount;

/// An expression.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A text.
    Text(String),
    /// `null`: an unknown value.
    Unknown,
    /// A fact about the application.
    App(AppField),
    /// A number about the subject's tasks.
    Tasks(TasksField),
    /// A number about the subject's attempts.
    Attempts(AttemptsField),
    /// A fact about the subject, if it is a stage or an executor.
    Subject(RowField),
    /// A fact about the row of an aggregate.
    Row(RowField),
    /// Another value of the rule, by index.
    Value(usize),
    /// A value that is the same for all rows of an aggregate, by index in [`Aggregate::constants`].
    Constant(usize),
    /// A setting.
    Setting(SettingKind, String),
    /// Whether a setting is set.
    IsSet(String),
    /// A counter of the job, as the history sums it up over the subject's tasks.
    Counter(CounterName),
    /// A counter of the row of an aggregate that has no name of its own.
    RowCounter(CounterName),
    /// A metric of the subject, if it is an operator.
    Metric(MetricName),
    /// A metric of the row of an aggregate.
    RowMetric(MetricName),
    /// One number from many rows.
    Aggregate(Box<Aggregate>),
    /// A part of a split.
    Part(Box<Node>, Side, Part),
    /// One of the two groups. It has no value of its own.
    Side(Box<Node>, Side),
    /// `-x`
    Negated(Box<Node>),
    /// `!x`
    Not(Box<Node>),
    /// An operation on two numbers.
    Arithmetic(Arithmetic, Box<[Node; 2]>),
    /// A comparison of two values.
    Comparison(Comparison, Box<[Node; 2]>),
    /// `x in […]`
    In(Box<Node>, Vec<Node>),
    /// Both must hold.
    And(Box<[Node; 2]>),
    /// At least one must hold.
    Or(Box<[Node; 2]>),
    /// `condition ? one : other`
    Choice(Box<[Node; 3]>),
    /// A test on two texts.
    TextTest(TextTest, Box<[Node; 2]>),
    /// A test of a text against a pattern.
    Matches(Box<Node>, Box<Regex>),
    /// Whether a value is known.
    Known(Box<Node>),
    /// The first known value.
    FirstKnown(Vec<Node>),
    /// A function of one number.
    Function(Function, Box<Node>),
    /// The smallest number.
    Smallest(Vec<Node>),
    /// The largest number.
    Largest(Vec<Node>),
}

/// Arithmetic with two numbers. Times are stored in milliseconds, so products and quotients carry the power
/// of 1000 that corrects the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Plus,
    Minus,
    Times(i32),
    Over(i32),
    Remainder,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// A test on two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
}

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Function {
    Abs,
    Floor,
    Ceil,
    Round,
    Trunc,
    Sqrt,
    /// Division by a unit.
    In(f64),
}

/// How a setting is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingKind {
    Text,
    Number,
    Flag,
    Bytes,
    Megabytes,
    Time,
    Heap,
}

/// A counter by its group and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CounterName {
    pub(super) group: String,
    pub(super) name: String,
    /// The counter, if it has a type of its own.
    pub(super) typed: Option<Counter>,
}

/// A metric of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MetricName {
    /// Spark's name for it, without what versions add.
    pub(super) name: String,
    /// What it counts.
    pub(super) amount: Amount,
}

/// One of the groups of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Small,
    Large,
}

/// A part of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Mean of a group.
    Mean,
    /// The number of values in a group.
    Count,
    /// The distance of the means.
    Deviation,
    /// The smallest value of the large group.
    Pivot,
}

/// One number, or a split, from many rows.
#[derive(Debug, Clone)]
pub(super) struct Aggregate {
    /// How the values are combined.
    pub(super) kind: AggregateKind,
    /// The rows.
    pub(super) rows: Rows,
    /// The value of each row; `None` if rows are only counted.
    pub(super) value: Option<Node>,
    /// Selects the rows.
    pub(super) condition: Option<Node>,
    /// Values that are the same for all rows, evaluated once.
    pub(super) constants: Vec<Node>,
    /// Steps per row.
    pub(super) cost: u64,
    /// The data that rows need, with the names that histories use. Given as the reason if no row has it.
    pub(super) needs: Vec<String>,
}

/// How the values of rows are combined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AggregateKind {
    Sum,
    Mean,
    Median,
    /// With the share of values below it.
    Percentile(f64),
    Min,
    Max,
    Count,
    Stddev,
    Split,
}

impl Node {
    /// Calls `see` with each direct part of the expression, including those of aggregates.
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
            | Self::Setting(..)
            | Self::IsSet(_)
            | Self::Counter(_)
            | Self::RowCounter(_)
            | Self::Metric(_)
            | Self::RowMetric(_) => {}
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

    /// Replaces each direct part with the result of `change`; aggregates are not changed.
    fn map_parts(&mut self, change: &mut dyn FnMut(&mut Self)) {
        match self {
            Self::Part(node, ..)
            | Self::Side(node, _)
            | Self::Negated(node)
            | Self::Not(node)
            | Self::Matches(node, _)
            | Self::Known(node)
            | Self::Function(_, node)
            // The list after "in" holds literals.
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

    /// Whether the expression needs a row of an aggregate.
    #[must_use]
    pub(super) fn depends_on_row(&self) -> bool {
        match self {
            Self::Row(_) | Self::RowCounter(_) | Self::RowMetric(_) => true,
            Self::Aggregate(_) => false,
            _ => {
                let mut depends = false;
                self.parts(&mut |part| depends |= part.depends_on_row());
                depends
            }
        }
    }

    /// The steps of one evaluation, without aggregates.
    #[must_use]
    pub(super) fn cost(&self) -> u64 {
        let own = match self {
            // Texts may be long, and settings refer to others.
            Self::Matches(..)
            | Self::TextTest(..)
            | Self::Setting(..)
            | Self::IsSet(_)
            | Self::Counter(_)
            | Self::RowCounter(_)
            | Self::Metric(_)
            | Self::RowMetric(_) => 50,
            Self::In(_, list) => list.len() as u64,
            _ => 1,
        };
        let mut cost = own;
        if !matches!(self, Self::Aggregate(_)) {
            self.parts(&mut |part| cost += part.cost());
        }
        cost
    }

    /// Moves parts that no row changes into `constants`.
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
