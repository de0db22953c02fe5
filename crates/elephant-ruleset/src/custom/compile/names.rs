//! Resolves names: values of the rule, facts by namespace, parts of splits.

use super::super::names::{self, NAMESPACES, RowField, Rows};
use super::super::node::{Node, Part, Side};
use super::super::syntax::{Expr, Kind};
use super::super::unit::Type;
use super::{Compiler, Over, RowUse, Typed, WRONG};
use elephant_rule::params::words::nearest;

impl<'e> Compiler<'e> {
    pub(super) fn identifier(&mut self, expr: &Expr, name: &str) -> Typed {
        let found = self.env.values.iter().enumerate().find(|(_, (known, _))| known == name);
        if let Some((place, (_, kind))) = found {
            return (Node::Value(place), *kind);
        }
        if self.env.later.iter().any(|later| later == name) {
            let message = format!("the value \"{name}\" is defined further down");
            return self.wrong_with(expr, message, "a value can use only those above it");
        }
        if NAMESPACES.contains(&name) {
            let first = names::lines(name).into_iter().next().map(|(field, ..)| field).unwrap_or_default();
            let message = format!("\"{name}\" alone is not a value");
            return self.wrong_with(expr, message, format!("write one of its names, such as {name}.{first}"));
        }
        let values = self.env.values.iter().map(|(name, _)| name.as_str());
        let known = values.chain(NAMESPACES);
        let help = nearest(name, known).map(|near| format!("did you mean \"{near}\"?"));
        let help =
            help.unwrap_or_else(|| format!("the names are {} and the values above", NAMESPACES.join(", ")));
        self.wrong_with(expr, format!("there is no \"{name}\""), help)
    }

    pub(super) fn select(&mut self, expr: &'e Expr, operand: &'e Expr, field: &str) -> Typed {
        if let Kind::Name(namespace) = &operand.kind
            && NAMESPACES.contains(&namespace.as_str())
            && !self.env.values.iter().any(|(name, _)| name == namespace)
        {
            return self.fact(expr, namespace, field);
        }
        let (node, kind) = self.expression(operand);
        match (kind, field, node) {
            (Type::Groups(unit), "small", node) => (Node::Side(node.into(), Side::Small), Type::Group(unit)),
            (Type::Groups(unit), "large", node) => (Node::Side(node.into(), Side::Large), Type::Group(unit)),
            (Type::Groups(_), "deviation", node) => {
                (Node::Part(node.into(), Side::Large, Part::Deviation), Type::NUMBER)
            }
            (Type::Groups(unit), "pivot", node) => {
                (Node::Part(node.into(), Side::Large, Part::Pivot), Type::Number(unit))
            }
            (Type::Group(unit), "mean", Node::Side(split, side)) => {
                (Node::Part(split, side, Part::Mean), Type::Number(unit))
            }
            (Type::Group(_), "count", Node::Side(split, side)) => {
                (Node::Part(split, side, Part::Count), Type::COUNT)
            }
            (Type::Any, ..) => WRONG,
            (Type::Groups(_), ..) => self.wrong_with(
                expr,
                format!("a split has no \"{field}\""),
                "its parts are small.mean, small.count, large.mean, large.count, deviation and pivot",
            ),
            (Type::Group(_), ..) => {
                self.wrong_with(expr, format!("a group has no \"{field}\""), "its parts are mean and count")
            }
            (kind, ..) => self.wrong(expr, format!("{} has no parts, so no \"{field}\"", kind.name())),
        }
    }

    fn fact(&mut self, expr: &Expr, namespace: &str, field: &str) -> Typed {
        let found = match namespace {
            "app" => names::app_field(field).map(|(field, kind)| (Node::App(field), kind)),
            "tasks" => names::tasks_field(field).map(|(field, kind)| (Node::Tasks(field), kind)),
            "attempts" => names::attempts_field(field).map(|(field, kind)| (Node::Attempts(field), kind)),
            _ => {
                let rows = Rows::named(namespace);
                let found = rows.and_then(|rows| Some((rows, names::row_field(rows, field)?)));
                if let Some((rows, (field, kind))) = found {
                    return self.row_fact(expr, rows, field, kind);
                }
                None
            }
        };
        let Some((node, kind)) = found else {
            let lines = names::lines(namespace);
            let near = nearest(field, lines.iter().map(|(name, ..)| name.as_str()));
            // For `app.tasks.total` and similar names, the field may belong to another namespace.
            let elsewhere =
                NAMESPACES.iter().find(|other| names::lines(other).iter().any(|(name, ..)| name == field));
            let help = match (near, elsewhere) {
                (Some(near), _) => format!("did you mean \"{namespace}.{near}\"?"),
                (None, Some(other)) => format!("there is \"{other}.{field}\""),
                (None, None) => "`elephant-rs rules reference` lists the names".to_owned(),
            };
            return self.wrong_with(expr, format!("{namespace} has no \"{field}\""), help);
        };
        if matches!(node, Node::Tasks(_) | Node::Attempts(_)) && self.env.over == Over::Executor {
            return self.no_tasks_of_executors(expr, namespace);
        }
        (node, kind)
    }

    /// A fact about a row of the enclosing aggregate, or about the subject.
    fn row_fact(&mut self, expr: &Expr, rows: Rows, field: RowField, kind: Type) -> Typed {
        let is_subject = matches!(
            (self.env.over, rows),
            (Over::Stage, Rows::Stages)
                | (Over::Executor, Rows::Executors)
                | (Over::Job, Rows::Jobs)
                | (Over::Query | Over::Operator, Rows::Queries)
                | (Over::Operator, Rows::Operators)
        );
        if is_subject {
            return (Node::Subject(field), kind);
        }
        if !self.can_run_over(expr, rows) {
            return WRONG;
        }
        let needs = need(field, self.written(expr));
        self.row_node(expr, rows, needs, (Node::Row(field), kind))
    }

    /// A node whose value differs for each row. The enclosing aggregate then runs over these rows.
    pub(super) fn row_node(&mut self, expr: &Expr, rows: Rows, needs: String, typed: Typed) -> Typed {
        let name = rows.name();
        let Some(use_) = &mut self.row else {
            let written = self.written(expr);
            return self.wrong_with(
                expr,
                format!("{written} differs for each {name}"),
                format!("use it in an aggregate, such as mean({written})"),
            );
        };
        match use_.rows {
            Some(other) if other != rows => {
                let other = other.name();
                self.wrong(
                    expr,
                    format!("an aggregate runs over one kind of row, not over both {other} and {name}"),
                )
            }
            _ => {
                let RowUse { rows: known, needs: all } = use_;
                *known = Some(rows);
                if !all.contains(&needs) {
                    all.push(needs);
                }
                typed
            }
        }
    }

    /// Whether the subject has such rows; if not, reports it.
    pub(super) fn can_run_over(&mut self, expr: &Expr, rows: Rows) -> bool {
        let name = rows.name();
        match (self.env.over, rows) {
            (Over::Executor, Rows::Tasks | Rows::Attempts) => {
                self.no_tasks_of_executors(expr, name);
                false
            }
            (Over::Query, Rows::Operators | Rows::Jobs)
            | (Over::Query | Over::Operator | Over::Job, Rows::Stages)
            | (_, Rows::Tasks | Rows::Attempts) => true,
            (_, Rows::Queries) => {
                let help = "write over: query, or over: operator";
                self.wrong_with(expr, "this rule does not judge queries", help);
                false
            }
            (_, Rows::Operators) => {
                let help =
                    "write over: operator, or over: query for aggregates over the operators of a query";
                self.wrong_with(expr, "this rule does not judge operators of queries", help);
                false
            }
            (Over::Application, _) => true,
            (_, Rows::Stages | Rows::Jobs | Rows::Executors) => {
                self.wrong_with(
                    expr,
                    format!("{name} belongs to the application, which this rule does not judge"),
                    "write over: application, or omit over",
                );
                false
            }
        }
    }

    fn no_tasks_of_executors(&mut self, expr: &Expr, name: &str) -> Typed {
        let message = format!("{name} has no data per executor");
        self.wrong_with(expr, message, "use the sums over the executor's tasks, such as executor.task_time")
    }

    /// The source text of an expression.
    pub(super) fn written(&self, expr: &Expr) -> &'e str {
        self.source.get(expr.span.clone()).unwrap_or("it")
    }
}

/// What a row must have for a fact to be known, with the names that histories use.
fn need(field: RowField, written: &str) -> String {
    if let RowField::Attempt(names::AttemptField::Counter(counter)) = field {
        return counter.name().to_owned();
    }
    written.rsplit('.').next().unwrap_or_default().to_owned()
}
