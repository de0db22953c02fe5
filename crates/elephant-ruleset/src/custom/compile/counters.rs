//! Compiles counters by group and name.

use super::super::names::{ATTEMPT, AttemptField, RowField, Rows};
use super::super::node::{CounterName, Node};
use super::super::syntax::Expr;
use super::super::unit::Type;
use super::{Compiler, Typed};
use elephant_model::model::Engine;
use elephant_model::model::counters::{Counter, is_framework_group};

/// Counters that are the sum of counters of several file systems.
const SUMS: [Counter; 2] = [Counter::OtherFsBytesRead, Counter::RemoteBytesWritten];

impl<'e> Compiler<'e> {
    /// `counter("group", "name")`: the total of the subject; with `rows`, the value in each of them.
    pub(super) fn counter(
        &mut self,
        expr: &'e Expr,
        rows: Option<Rows>,
        group: &'e Expr,
        name: &'e Expr,
    ) -> Typed {
        let texts = (self.literal_text(group, "counter"), self.literal_text(name, "counter"));
        let (Some(of_group), Some(of_name)) = texts else { return (Node::Unknown, Type::Any) };
        let typed = typed(of_group, of_name);
        if let Some(counter) = typed
            && (!is_framework_group(of_group) || SUMS.contains(&counter))
        {
            let why = if SUMS.contains(&counter) {
                "is kept only as a part of a sum over file systems"
            } else {
                "is a counter of Hadoop, whatever its group"
            };
            let message = format!("{of_name} {why}");
            return match name_of(counter) {
                Some(own) => self.wrong_with(name, message, format!("write sum(task.{own})")),
                None => self.wrong(name, message),
            };
        }
        let kind = typed.map_or(Type::COUNT, super::super::names::type_of);
        let of = CounterName { group: of_group.to_owned(), name: of_name.to_owned(), typed };
        match (rows, typed) {
            (None, _) if self.env.over.engine() == Some(Engine::Spark) => self.wrong_with(
                expr,
                "counter is about MapReduce jobs",
                "Spark has task metrics instead, such as sum(task.input_bytes)",
            ),
            (None, _) => (Node::Counter(of), kind),
            (Some(rows), _) if !self.can_run_over(expr, rows) => (Node::Unknown, kind),
            (Some(rows), Some(counter)) => {
                let node = Node::Row(RowField::Attempt(AttemptField::Counter(counter)));
                self.row_node(expr, rows, counter.name().to_owned(), (node, kind))
            }
            (Some(rows), None) => self.row_node(expr, rows, of.name.clone(), (Node::RowCounter(of), kind)),
        }
    }
}

/// The counter with its own type that histories call by this name.
fn typed(group: &str, name: &str) -> Option<Counter> {
    let displayed = || Counter::from_display_name(name).filter(|_| is_framework_group(group));
    Counter::from_name(group, name).or_else(displayed)
}

/// The name of a counter in expressions.
fn name_of(counter: Counter) -> Option<&'static str> {
    let named = ATTEMPT.iter().find(|named| named.field == AttemptField::Counter(counter));
    named.map(|named| named.name.as_str())
}
