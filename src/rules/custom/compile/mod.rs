//! Syntax trees into expressions that can be evaluated: finds names, checks types and units, and tells every mistake
//! with its place.

mod aggregates;
mod calls;
mod functions;
mod names;
mod operators;

use cel::common::ast::{Expr, IdedExpr, LiteralValue};

pub(super) use functions::FUNCTIONS;

use super::names::Rows;
use super::node::Node;
use super::parse::{Mistake, Parsed, parse};
use super::unit::Type;
use crate::model::Engine;

/// What a rule judges, each on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// The application as a whole.
    #[default]
    Application,
    /// The maps of a MapReduce job.
    Map,
    /// The reduces of a MapReduce job.
    Reduce,
    /// Each stage attempt of a Spark application that ran tasks.
    Stage,
    /// Each executor of a Spark application.
    Executor,
}

impl Over {
    /// The engine that has such subjects alone.
    #[must_use]
    pub const fn engine(self) -> Option<Engine> {
        match self {
            Self::Application => None,
            Self::Map | Self::Reduce => Some(Engine::MapReduce),
            Self::Stage | Self::Executor => Some(Engine::Spark),
        }
    }
}

/// What an expression may refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Env<'e> {
    /// What is judged.
    pub(super) over: Over,
    /// The values that stand above it, with their types.
    pub(super) values: &'e [(String, Type)],
    /// The names of those below it.
    pub(super) later: &'e [String],
}

/// An expression with its type.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    /// The expression.
    pub(super) node: Node,
    /// What it gives.
    pub(super) kind: Type,
}

/// Compiles an expression.
///
/// # Errors
/// Every mistake in it.
pub(super) fn compile(source: &str, env: Env<'_>) -> Result<Compiled, Vec<Mistake>> {
    let parsed = parse(source)?;
    let mut compiler = Compiler { source, parsed: &parsed, env, mistakes: Vec::new(), row: None };
    let (node, kind) = compiler.expression(&parsed.tree);
    if let Type::Group(_) = kind {
        compiler.wrong(&parsed.tree, "a group of a split has a mean and a count; say which");
    }
    let mut mistakes = compiler.mistakes;
    mistakes.sort_by_key(|mistake| mistake.at);
    if mistakes.is_empty() { Ok(Compiled { node, kind }) } else { Err(mistakes) }
}

/// The rows that the argument of an aggregate runs over, once it names one of their facts.
#[derive(Debug, Default)]
struct RowUse {
    rows: Option<Rows>,
    needs: Vec<String>,
}

struct Compiler<'e> {
    source: &'e str,
    parsed: &'e Parsed,
    env: Env<'e>,
    mistakes: Vec<Mistake>,
    /// Set within the arguments of an aggregate.
    row: Option<RowUse>,
}

type Typed = (Node, Type);

/// What stands for an expression with a mistake, which is told once.
const WRONG: Typed = (Node::Unknown, Type::Any);

impl<'e> Compiler<'e> {
    fn expression(&mut self, expr: &'e IdedExpr) -> Typed {
        match &expr.expr {
            Expr::Literal(literal) => self.literal(expr, literal),
            Expr::Ident(name) => self.identifier(expr, name),
            Expr::Select(select) if select.test => {
                self.wrong_with(expr, "has() is not known here", "known(x) tells whether x is known")
            }
            Expr::Select(select) => self.select(expr, &select.operand, &select.field),
            Expr::Call(call) => self.call(expr, call),
            Expr::Comprehension(_) => self.wrong_with(
                expr,
                "all, exists, filter and map walk lists, which there are none of",
                "aggregates run over tasks: count(task.run_time > time(\"1h\")) > 0, sum(task.gc_time, task.run_time > 0)",
            ),
            Expr::List(_) => self.wrong(expr, "a list stands only behind \"in\""),
            Expr::Map(_) | Expr::Struct(_) => self.wrong(expr, "there are no maps and no messages here"),
            Expr::Unspecified => self.wrong(expr, "this is no expression"),
        }
    }

    fn literal(&mut self, expr: &IdedExpr, literal: &LiteralValue) -> Typed {
        match literal {
            LiteralValue::Boolean(flag) => (Node::Flag(*flag.inner()), Type::Flag),
            LiteralValue::Int(number) => whole(*number.inner() as f64),
            LiteralValue::UInt(number) => whole(*number.inner() as f64),
            LiteralValue::Double(number) => (Node::Number(*number.inner()), Type::NUMBER),
            LiteralValue::String(text) => (Node::Text(text.inner().to_owned()), Type::Text),
            LiteralValue::Null => (Node::Unknown, Type::Any),
            LiteralValue::Bytes(_) => self.wrong(expr, "there are no texts of bytes here"),
        }
    }

    fn wrong(&mut self, expr: &IdedExpr, message: impl Into<String>) -> Typed {
        let (at, len) = self.place(expr);
        self.mistakes.push(Mistake::new(at, len, message));
        WRONG
    }

    fn wrong_with(&mut self, expr: &IdedExpr, message: impl Into<String>, help: impl Into<String>) -> Typed {
        let (at, len) = self.place(expr);
        self.mistakes.push(Mistake::new(at, len, message).help(help));
        WRONG
    }

    /// Where a part stands: the parser points at brackets, dots and operators.
    fn place(&self, expr: &IdedExpr) -> (usize, usize) {
        let Some((start, stop)) = self.parsed.places.offset_for(expr.id) else {
            return (0, self.source.len());
        };
        let (start, stop) = (start as usize, stop as usize);
        let whole = (start, (stop + 1).saturating_sub(start));
        match &expr.expr {
            Expr::Select(select) => {
                let (from, _) = self.place(&select.operand);
                (from, (start + 1 + select.field.len()).saturating_sub(from))
            }
            Expr::Call(call) if call.func_name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                let before = self.source.get(..start).unwrap_or_default();
                before.rfind(&call.func_name).map_or(whole, |at| (at, call.func_name.len()))
            }
            _ => whole,
        }
    }

    /// A number with its unit. What is none is told.
    fn number(&mut self, expr: &'e IdedExpr, whose: &str) -> (Node, super::unit::Unit) {
        let (node, kind) = self.expression(expr);
        (node, self.unit_of(expr, kind, whose))
    }

    fn unit_of(&mut self, expr: &'e IdedExpr, kind: Type, whose: &str) -> super::unit::Unit {
        kind.unit().unwrap_or_else(|| {
            self.wrong(expr, format!("{whose} takes a number, this is {}", kind.name()));
            super::unit::Unit::NUMBER
        })
    }

    fn condition(&mut self, expr: &'e IdedExpr, whose: &str) -> Node {
        let (node, kind) = self.expression(expr);
        if !matches!(kind, Type::Flag | Type::Any) {
            self.wrong_with(
                expr,
                format!("{whose} takes a condition, this is {}", kind.name()),
                "a condition compares, such as task.run_time > time(\"1min\")",
            );
        }
        node
    }

    /// A text that stands in the rule as it is.
    fn literal_text(&mut self, expr: &'e IdedExpr, whose: &str) -> Option<&'e str> {
        if let Expr::Literal(LiteralValue::String(text)) = &expr.expr {
            return text.as_borrowed().or_else(|| Some(text.inner()));
        }
        self.wrong(expr, format!("{whose} takes a text in quotes"));
        None
    }
}

/// A whole number; 0 has any unit.
fn whole(number: f64) -> Typed {
    (Node::Number(number), if number == 0.0 { Type::Any } else { Type::COUNT })
}
