//! Compiles syntax trees into expressions that can be evaluated: resolves names, checks types and units,
//! and reports every mistake with its position.

mod aggregates;
mod calls;
mod counters;
mod functions;
mod metrics;
mod names;
mod operators;

pub(super) use functions::FUNCTIONS;

use super::mistake::Mistake;
use super::names::Rows;
use super::node::Node;
use super::syntax::{Expr, Kind, Literal, Span, parse};
use super::unit::Type;
use elephant_model::model::Engine;

/// The subjects of a rule. Each is judged separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// The application as a whole.
    #[default]
    Application,
    /// The map tasks of a MapReduce job.
    Map,
    /// The reduce tasks of a MapReduce job.
    Reduce,
    /// Each stage attempt of a Spark application that ran tasks.
    Stage,
    /// Each executor of a Spark application.
    Executor,
    /// Each job of a Spark application.
    Job,
    /// Each query of a Spark application.
    Query,
    /// Each operator of each query of a Spark application.
    Operator,
}

impl Over {
    /// The only engine that has such subjects.
    #[must_use]
    pub(crate) const fn engine(self) -> Option<Engine> {
        match self {
            Self::Application => None,
            Self::Map | Self::Reduce => Some(Engine::MapReduce),
            Self::Stage | Self::Executor | Self::Job | Self::Query | Self::Operator => Some(Engine::Spark),
        }
    }
}

/// The names that an expression may refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Env<'e> {
    /// The subject of the rule.
    pub(super) over: Over,
    /// The values defined above it, with their types.
    pub(super) values: &'e [(String, Type)],
    /// The names of the values defined below it.
    pub(super) later: &'e [String],
}

/// An expression with its type.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    /// The expression.
    pub(super) node: Node,
    /// Its type.
    pub(super) kind: Type,
}

/// Compiles an expression.
///
/// # Errors
/// Every mistake in it.
pub(super) fn compile(source: &str, env: Env<'_>) -> Result<Compiled, Vec<Mistake>> {
    let tree = parse(source).map_err(|mistake| vec![mistake])?;
    let mut compiler = Compiler { source, env, mistakes: Vec::new(), row: None };
    let (node, kind) = compiler.expression(&tree);
    if let Type::Group(_) = kind {
        compiler.wrong(&tree, "a group of a split has a mean and a count; choose one");
    }
    let mut mistakes = compiler.mistakes;
    mistakes.sort_by_key(|mistake| mistake.at);
    if mistakes.is_empty() { Ok(Compiled { node, kind }) } else { Err(mistakes) }
}

/// The rows that the argument of an aggregate runs over, set by the first fact that it names.
#[derive(Debug, Default)]
struct RowUse {
    rows: Option<Rows>,
    needs: Vec<String>,
}

struct Compiler<'e> {
    source: &'e str,
    env: Env<'e>,
    mistakes: Vec<Mistake>,
    /// Set inside the arguments of an aggregate.
    row: Option<RowUse>,
}

type Typed = (Node, Type);

/// The result for an expression with a mistake, so that the mistake is reported once.
const WRONG: Typed = (Node::Unknown, Type::Any);

impl<'e> Compiler<'e> {
    fn expression(&mut self, expr: &'e Expr) -> Typed {
        match &expr.kind {
            Kind::Literal(literal) => self.literal(expr, literal),
            Kind::Name(name) => self.identifier(expr, name),
            Kind::Field { of, name } => self.select(expr, of, name),
            Kind::Call { name, args } => self.call(expr, name, args),
            Kind::Method { of, name, args } => self.method(expr, name, of, args),
            Kind::Prefix(prefix, of) => self.prefix(*prefix, of),
            Kind::Infix(infix, sides) => self.infix(expr, *infix, sides),
            Kind::Choice(parts) => self.choice(expr, parts),
            Kind::Index(_) => self.wrong(expr, "indexing is not supported: values are never lists"),
            Kind::List(_) => self.wrong(expr, "a list is allowed only after \"in\""),
            Kind::Map(_) | Kind::Message { .. } => {
                self.wrong(expr, "map literals and messages are not supported")
            }
        }
    }

    fn literal(&mut self, expr: &Expr, literal: &Literal) -> Typed {
        match literal {
            Literal::Flag(flag) => (Node::Flag(*flag), Type::Flag),
            Literal::Int(number) => whole(*number as f64),
            Literal::Uint(number) => whole(*number as f64),
            Literal::Double(number) => (Node::Number(*number), Type::NUMBER),
            Literal::Text(text) => (Node::Text(text.clone()), Type::Text),
            Literal::Null => (Node::Unknown, Type::Any),
            Literal::Bytes => self.wrong(expr, "bytes are not supported"),
        }
    }

    fn wrong(&mut self, expr: &Expr, message: impl Into<String>) -> Typed {
        let Span { start, end } = expr.mark;
        self.mistakes.push(Mistake::new(start, end - start, message));
        WRONG
    }

    fn wrong_with(&mut self, expr: &Expr, message: impl Into<String>, help: impl Into<String>) -> Typed {
        let Span { start, end } = expr.mark;
        self.mistakes.push(Mistake::new(start, end - start, message).help(help));
        WRONG
    }

    /// A number with its unit. Anything else is reported.
    fn number(&mut self, expr: &'e Expr, whose: &str) -> (Node, super::unit::Unit) {
        let (node, kind) = self.expression(expr);
        (node, self.unit_of(expr, kind, whose))
    }

    fn unit_of(&mut self, expr: &'e Expr, kind: Type, whose: &str) -> super::unit::Unit {
        kind.unit().unwrap_or_else(|| {
            self.wrong(expr, format!("{whose} takes a number, but this is {}", kind.name()));
            super::unit::Unit::NUMBER
        })
    }

    fn condition(&mut self, expr: &'e Expr, whose: &str) -> Node {
        let (node, kind) = self.expression(expr);
        if !matches!(kind, Type::Flag | Type::Any) {
            self.wrong_with(
                expr,
                format!("{whose} takes a condition, but this is {}", kind.name()),
                "a condition compares values, such as task.run_time > time(\"1min\")",
            );
        }
        node
    }

    /// A text literal.
    fn literal_text(&mut self, expr: &'e Expr, whose: &str) -> Option<&'e str> {
        if let Kind::Literal(Literal::Text(text)) = &expr.kind {
            return Some(text);
        }
        self.wrong(expr, format!("{whose} takes a text in quotes"));
        None
    }
}

/// A whole number; 0 fits any unit.
fn whole(number: f64) -> Typed {
    (Node::Number(number), if number == 0.0 { Type::Any } else { Type::COUNT })
}
