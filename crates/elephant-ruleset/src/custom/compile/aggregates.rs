//! Compiles aggregates: one number from many rows.

use super::super::names::Rows;
use super::super::node::{Aggregate, AggregateKind, Node};
use super::super::syntax::{Expr, Kind, Literal};
use super::super::unit::{Type, Unit};
use super::{Compiler, RowUse, Typed, WRONG};

impl<'e> Compiler<'e> {
    /// `sum(x)`, `sum(x, condition)` and similar aggregates.
    pub(super) fn aggregate(
        &mut self,
        expr: &'e Expr,
        name: &str,
        kind: AggregateKind,
        args: &'e [Expr],
    ) -> Typed {
        let (value, condition) = match args {
            [value] => (value, None),
            [value, condition] => (value, Some(condition)),
            _ => {
                let usage = format!("write {name}(x), or {name}(x, condition) to select rows");
                return self.wrong_with(expr, format!("wrong arguments for {name}"), usage);
            }
        };
        if !self.enter(expr, name) {
            return WRONG;
        }
        let (node, unit) = self.number(value, name);
        let condition = condition.map(|condition| self.condition(condition, name));
        self.leave(expr, name, kind, Some(node), condition, unit)
    }

    pub(super) fn percentile(&mut self, expr: &'e Expr, args: &'e [Expr]) -> Typed {
        let [value, percent, rest @ ..] = args else {
            return self.wrong_with(expr, "wrong arguments for percentile", "write percentile(x, 95)");
        };
        let percent = match &percent.kind {
            Kind::Literal(Literal::Int(number)) => *number as f64,
            Kind::Literal(Literal::Double(number)) => *number,
            _ => f64::NAN,
        };
        if !(0.0..=100.0).contains(&percent) || rest.len() > 1 {
            return self.wrong_with(
                expr,
                "percentile takes a value and a number from 0 to 100",
                "write percentile(x, 95), or percentile(x, 95, condition) to select rows",
            );
        }
        if !self.enter(expr, "percentile") {
            return WRONG;
        }
        let (node, unit) = self.number(value, "percentile");
        let condition = rest.first().map(|condition| self.condition(condition, "percentile"));
        self.leave(
            expr,
            "percentile",
            AggregateKind::Percentile(percent / 100.0),
            Some(node),
            condition,
            unit,
        )
    }

    /// `count(condition)`, `count(task)`, `count(task, condition)`.
    pub(super) fn count(&mut self, expr: &'e Expr, args: &'e [Expr]) -> Typed {
        let rows = match args.first().map(|first| &first.kind) {
            Some(Kind::Name(name)) => Rows::named(name),
            _ => None,
        };
        let condition = match (rows, args) {
            (Some(_), [_]) => None,
            (Some(_), [_, condition]) | (None, [condition]) => Some(condition),
            _ => {
                let usage = "write count(condition), or count(task) for all tasks";
                return self.wrong_with(expr, "wrong arguments for count", usage);
            }
        };
        if !self.enter(expr, "count") {
            return WRONG;
        }
        if let (Some(rows), Some(first)) = (rows, args.first())
            && self.can_run_over(first, rows)
            && let Some(row) = &mut self.row
        {
            row.rows = Some(rows);
        }
        let condition = condition.map(|condition| self.condition(condition, "count"));
        self.leave(expr, "count", AggregateKind::Count, None, condition, Unit::COUNT)
    }

    /// `min` and `max`, of rows or of several numbers.
    pub(super) fn extreme(
        &mut self,
        expr: &'e Expr,
        name: &str,
        kind: AggregateKind,
        args: &'e [Expr],
    ) -> Typed {
        let outer = self.row.is_some();
        if !outer {
            self.row = Some(RowUse::default());
        }
        let typed: Vec<Typed> = args.iter().map(|arg| self.expression(arg)).collect();
        let over_rows = !outer && self.row.as_ref().is_some_and(|row| row.rows.is_some());
        match (over_rows, typed.as_slice(), args) {
            (true, [(node, of)], [value]) => {
                let unit = self.unit_of(value, *of, name);
                self.leave(expr, name, kind, Some(node.clone()), None, unit)
            }
            (true, [(node, of), (condition, Type::Flag | Type::Any)], [value, _]) => {
                let unit = self.unit_of(value, *of, name);
                self.leave(expr, name, kind, Some(node.clone()), Some(condition.clone()), unit)
            }
            (true, ..) => {
                self.row = None;
                self.wrong_with(
                    expr,
                    format!("{name} over rows takes a value and a condition"),
                    format!("for the {name} of two facts per row, use it in an aggregate: sum({name}(x, y))"),
                )
            }
            (false, [] | [_], _) => {
                if !outer {
                    self.row = None;
                }
                self.wrong_with(
                    expr,
                    format!("{name} of one number is that number"),
                    format!("write {name}(task.run_time) over rows, or {name}(x, y)"),
                )
            }
            (false, ..) => {
                if !outer {
                    self.row = None;
                }
                self.of_several(name, kind, &typed, args)
            }
        }
    }

    fn of_several(&mut self, name: &str, kind: AggregateKind, typed: &[Typed], args: &'e [Expr]) -> Typed {
        let mut common = Type::Any;
        for ((_, of), arg) in typed.iter().zip(args) {
            self.unit_of(arg, *of, name);
            match common.common(*of) {
                Some(both) => common = both,
                None if of.unit().is_some() => {
                    let message = format!("{name} mixes {} and {}", common.name(), of.name());
                    self.wrong(arg, message);
                }
                None => {}
            }
        }
        let nodes = typed.iter().map(|(node, _)| node.clone()).collect();
        let node = if kind == AggregateKind::Min { Node::Smallest(nodes) } else { Node::Largest(nodes) };
        (node, common)
    }

    fn enter(&mut self, expr: &'e Expr, name: &str) -> bool {
        if self.row.is_some() {
            self.wrong_with(
                expr,
                format!("{name} is inside another aggregate"),
                "define it as a separate value above this one",
            );
            return false;
        }
        self.row = Some(RowUse::default());
        true
    }

    fn leave(
        &mut self,
        expr: &'e Expr,
        name: &str,
        kind: AggregateKind,
        mut value: Option<Node>,
        mut condition: Option<Node>,
        unit: Unit,
    ) -> Typed {
        let RowUse { rows, needs } = self.row.take().unwrap_or_default();
        let Some(rows) = rows else {
            if self.mistakes.is_empty() {
                self.wrong_with(
                    expr,
                    format!("{name} runs over rows, but this is a single value"),
                    format!("write for example {name}(task.run_time)"),
                );
            }
            return WRONG;
        };
        let mut constants = Vec::new();
        for node in value.iter_mut().chain(&mut condition) {
            node.move_constants(&mut constants);
        }
        let cost = 1 + value.iter().chain(&condition).map(Node::cost).sum::<u64>();
        let of = match kind {
            AggregateKind::Count => Type::COUNT,
            AggregateKind::Split => Type::Groups(unit),
            AggregateKind::Sum | AggregateKind::Min | AggregateKind::Max | AggregateKind::Percentile(_) => {
                Type::Number(unit)
            }
            AggregateKind::Mean | AggregateKind::Median | AggregateKind::Stddev => {
                Type::Number(unit.of_a_mean())
            }
        };
        (Node::Aggregate(Aggregate { kind, rows, value, condition, constants, cost, needs }.into()), of)
    }
}
