//! Compiles metrics of operators by the names that Spark gives them.

use super::super::names::Rows;
use super::super::node::{MetricName, Node};
use super::super::syntax::{Expr, Kind};
use super::super::unit::Type;
use super::{Compiler, Over, Typed};
use elephant_query::{Amount, amount_of, metric_names, plain_name};
use elephant_rule::params::words::nearest;

/// The function that reads Spark's own metrics, whose amounts are known.
const READER: &str = "metric";
/// The functions that read metrics of connectors, with what they count.
const READERS: [(&str, Amount); 3] =
    [("metric_bytes", Amount::Bytes), ("metric_count", Amount::Count), ("metric_time", Amount::Time)];

/// Whether the function with this name reads metrics.
pub(super) fn reads_metrics(name: &str) -> bool {
    name == READER || asked_amount(name).is_some()
}

fn asked_amount(reader: &str) -> Option<Amount> {
    READERS.iter().find(|(known, _)| *known == reader).map(|&(_, amount)| amount)
}

impl<'e> Compiler<'e> {
    /// `node.metric("number of files read")`.
    pub(super) fn metric_of(
        &mut self,
        expr: &'e Expr,
        name: &str,
        target: &'e Expr,
        args: &'e [Expr],
    ) -> Typed {
        match (&target.kind, args) {
            (Kind::Name(of), [one]) if Rows::named(of) == Some(Rows::Operators) => {
                self.metric(expr, name, one)
            }
            _ => {
                let usage = format!("write node.{name}(\"name\"), or {name}(\"name\") with over: operator");
                self.wrong_with(expr, format!("wrong arguments for {name}"), usage)
            }
        }
    }

    /// `metric("number of files read")`, of the subject or, as `node.metric(…)`, of a row.
    pub(super) fn metric(&mut self, expr: &'e Expr, function: &str, name: &'e Expr) -> Typed {
        let asked = asked_amount(function);
        let Some(text) = self.literal_text(name, function) else {
            return (Node::Unknown, asked.map_or(Type::Any, kind_of));
        };
        let text = plain_name(text).to_owned();
        let known = amount_of(&text);
        match (known, asked) {
            (Some(known), Some(asked)) if known != asked => {
                let counts = kind_of(known).name();
                return self.wrong_with(
                    name,
                    format!("\"{text}\" is {counts}, not {}", kind_of(asked).name()),
                    format!("write metric(\"{text}\")"),
                );
            }
            // Connectors and extensions have metrics of their own.
            (None, None) => {
                let near = nearest(&text, metric_names()).map(|near| format!("did you mean \"{near}\"? "));
                let other = "metrics of connectors are read with metric_count, metric_bytes or metric_time";
                let help = near.unwrap_or_default() + other;
                return self.wrong_with(name, format!("Spark has no metric \"{text}\""), help);
            }
            _ => {}
        }
        let amount = known.or(asked).unwrap_or(Amount::Count);
        let kind = kind_of(amount);
        let of = MetricName { name: text.clone(), amount };
        if self.env.over == Over::Operator {
            return (Node::Metric(of), kind);
        }
        if !self.can_run_over(expr, Rows::Operators) {
            return (Node::Unknown, kind);
        }
        self.row_node(expr, Rows::Operators, text, (Node::RowMetric(of), kind))
    }
}

const fn kind_of(amount: Amount) -> Type {
    match amount {
        Amount::Count => Type::COUNT,
        Amount::Bytes => Type::SIZE,
        Amount::Time => Type::TIME,
    }
}
