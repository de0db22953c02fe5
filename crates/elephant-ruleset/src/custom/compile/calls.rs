//! Compiles function calls other than aggregates.

use regex::RegexBuilder;

use super::super::names::Rows;
use super::super::node::{AggregateKind, Function, Node, SettingKind, TextTest};
use super::super::syntax::{Expr, Kind};
use super::super::unit::{Type, Unit};
use super::functions::FUNCTIONS;
use super::metrics::reads_metrics;
use super::{Compiler, Typed};
use elephant_rule::params::quantity::{Duration, Quantity, Size};
use elephant_rule::params::words::nearest;

/// The largest compiled pattern in bytes.
const MAX_PATTERN: usize = 1 << 18;

impl<'e> Compiler<'e> {
    /// `name(args)`
    pub(super) fn call(&mut self, expr: &'e Expr, name: &str, args: &'e [Expr]) -> Typed {
        if let Some(kind) = setting_kind(name) {
            return self.setting(expr, name, kind, args);
        }
        if let (true, [one]) = (reads_metrics(name), args) {
            return self.metric(expr, name, one);
        }
        match (name, args) {
            ("sum", _) => self.aggregate(expr, name, AggregateKind::Sum, args),
            ("mean", _) => self.aggregate(expr, name, AggregateKind::Mean, args),
            ("median", _) => self.aggregate(expr, name, AggregateKind::Median, args),
            ("stddev", _) => self.aggregate(expr, name, AggregateKind::Stddev, args),
            ("split", _) => self.aggregate(expr, name, AggregateKind::Split, args),
            ("percentile", _) => self.percentile(expr, args),
            ("count", _) => self.count(expr, args),
            ("min", _) => self.extreme(expr, name, AggregateKind::Min, args),
            ("max", _) => self.extreme(expr, name, AggregateKind::Max, args),
            ("abs", [one]) => self.function(Function::Abs, one, name),
            ("floor", [one]) => self.function(Function::Floor, one, name),
            ("ceil", [one]) => self.function(Function::Ceil, one, name),
            ("round", [one]) => self.function(Function::Round, one, name),
            ("trunc", [one]) => self.function(Function::Trunc, one, name),
            ("sqrt", [one]) => self.in_unit(one, name, Unit::NUMBER, Function::Sqrt),
            ("in_ms", [one]) => self.in_unit(one, name, Unit::TIME, Function::In(1.0)),
            ("in_seconds", [one]) => self.in_unit(one, name, Unit::TIME, Function::In(1e3)),
            ("in_minutes", [one]) => self.in_unit(one, name, Unit::TIME, Function::In(6e4)),
            ("in_hours", [one]) => self.in_unit(one, name, Unit::TIME, Function::In(3.6e6)),
            ("in_bytes", [one]) => self.in_unit(one, name, Unit::SIZE, Function::In(1.0)),
            ("in_mb", [one]) => self.in_unit(one, name, Unit::SIZE, Function::In(1024f64.powi(2))),
            ("in_gb", [one]) => self.in_unit(one, name, Unit::SIZE, Function::In(1024f64.powi(3))),
            ("time", [one]) => {
                let read = |text: &str| Quantity::<Duration>::parse(text).map(Quantity::get);
                self.quantity(one, name, Type::TIME, read)
            }
            ("size", [one]) => {
                let read = |text: &str| Quantity::<Size>::parse(text).map(Quantity::get);
                self.quantity(one, name, Type::SIZE, read)
            }
            ("is_set", [one]) => match self.literal_text(one, name) {
                Some(text) => (Node::IsSet(text.trim().to_owned()), Type::Flag),
                None => (Node::Unknown, Type::Flag),
            },
            ("counter", [group, of]) => self.counter(expr, None, group, of),
            ("known", [one]) => {
                let (node, _) = self.expression(one);
                (Node::Known(node.into()), Type::Flag)
            }
            ("coalesce", [_, _, ..]) => self.coalesce(args),
            ("has", _) => {
                self.wrong_with(expr, "has() is not supported", "use known(x) to test whether x is known")
            }
            _ => self.no_such_call(expr, name),
        }
    }

    fn no_such_call(&mut self, expr: &'e Expr, name: &str) -> Typed {
        if let Some((_, usage, ..)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) {
            return self.wrong_with(expr, format!("wrong arguments for {name}"), format!("write {usage}"));
        }
        let help = match (name, nearest(name, FUNCTIONS.iter().map(|(known, ..)| *known))) {
            ("avg" | "average", _) => "did you mean mean(x)?".to_owned(),
            (_, Some(near)) => format!("did you mean {near}?"),
            (_, None) => "`elephant-rs rules reference` lists the functions".to_owned(),
        };
        self.wrong_with(expr, format!("there is no function \"{name}\""), help)
    }

    fn function(&mut self, function: Function, one: &'e Expr, name: &str) -> Typed {
        let (node, unit) = self.number(one, name);
        (Node::Function(function, node.into()), Type::Number(unit))
    }

    /// A function that takes numbers of one unit and returns plain numbers.
    fn in_unit(&mut self, one: &'e Expr, name: &str, unit: Unit, function: Function) -> Typed {
        let (node, kind) = self.expression(one);
        if kind.common(Type::Number(unit)).is_none() {
            return self.wrong(one, format!("{name} takes {}, but this is {}", unit.name(), kind.name()));
        }
        (Node::Function(function, node.into()), Type::NUMBER)
    }

    fn quantity(
        &mut self,
        one: &'e Expr,
        name: &str,
        kind: Type,
        read: impl Fn(&str) -> Result<f64, String>,
    ) -> Typed {
        let Some(text) = self.literal_text(one, name) else { return (Node::Unknown, kind) };
        match read(text) {
            Ok(value) => (Node::Number(value), kind),
            Err(message) => {
                self.wrong(one, message);
                (Node::Unknown, kind)
            }
        }
    }

    fn coalesce(&mut self, args: &'e [Expr]) -> Typed {
        let mut nodes = Vec::with_capacity(args.len());
        let mut common = Type::Any;
        for arg in args {
            let (node, kind) = self.expression(arg);
            match common.common(kind) {
                Some(Type::Group(_)) => {
                    self.wrong(arg, "a group of a split has a mean and a count; choose one");
                }
                Some(both) => common = both,
                None => {
                    let message = format!("coalesce mixes {} and {}", common.name(), kind.name());
                    self.wrong(arg, message);
                }
            }
            nodes.push(node);
        }
        (Node::FirstKnown(nodes), common)
    }

    fn setting(&mut self, expr: &'e Expr, name: &str, kind: SettingKind, args: &'e [Expr]) -> Typed {
        let of = match kind {
            SettingKind::Text => Type::Text,
            SettingKind::Number => Type::NUMBER,
            SettingKind::Flag => Type::Flag,
            SettingKind::Bytes | SettingKind::Megabytes | SettingKind::Heap => Type::SIZE,
            SettingKind::Time => Type::TIME,
        };
        let [setting] = args else {
            self.no_such_call(expr, name);
            return (Node::Unknown, of);
        };
        match self.literal_text(setting, name) {
            Some(text) => (Node::Setting(kind, text.trim().to_owned()), of),
            None => (Node::Unknown, of),
        }
    }

    /// `target.name(args)`
    pub(super) fn method(&mut self, expr: &'e Expr, name: &str, target: &'e Expr, args: &'e [Expr]) -> Typed {
        if let ("counter", Kind::Name(rows), [group, of]) = (name, &target.kind, args)
            && let Some(rows @ (Rows::Tasks | Rows::Attempts)) = Rows::named(rows)
        {
            return self.counter(expr, Some(rows), group, of);
        }
        if reads_metrics(name) {
            return self.metric_of(expr, name, target, args);
        }
        if name == "counter" {
            let usage =
                "write task.counter(\"group\", \"name\"), or counter(\"group\", \"name\") for the total";
            return self.wrong_with(expr, "wrong arguments for counter", usage);
        }
        let test = match name {
            "all" | "exists" | "exists_one" | "existsOne" | "filter" | "map" => {
                return self.wrong_with(
                    expr,
                    "all, exists, filter and map need lists, which do not exist here",
                    "aggregates run over tasks: count(task.run_time > time(\"1h\")) > 0, sum(task.gc_time, task.run_time > 0)",
                );
            }
            "startsWith" => Some(TextTest::StartsWith),
            "endsWith" => Some(TextTest::EndsWith),
            "contains" => Some(TextTest::Contains),
            "matches" => None,
            _ => {
                let known = ["startsWith", "endsWith", "contains", "matches"];
                let help = match nearest(name, known.into_iter()) {
                    Some(near) => format!("did you mean {near}?"),
                    None if FUNCTIONS.iter().any(|(known, ..)| *known == name) => format!("write {name}(…)"),
                    None => "the methods of texts are startsWith, endsWith, contains and matches".to_owned(),
                };
                return self.wrong_with(expr, format!("there is no \".{name}(…)\""), help);
            }
        };
        let (node, kind) = self.expression(target);
        if kind.common(Type::Text).is_none() {
            return self.wrong(target, format!("{name} needs a text, but this is {}", kind.name()));
        }
        let [arg] = args else { return self.no_such_call(expr, name) };
        match test {
            Some(test) => {
                let (other, kind) = self.expression(arg);
                if kind.common(Type::Text).is_none() {
                    return self.wrong(arg, format!("{name} takes a text, but this is {}", kind.name()));
                }
                (Node::TextTest(test, [node, other].into()), Type::Flag)
            }
            None => self.matches(node, arg),
        }
    }

    fn matches(&mut self, node: Node, pattern: &'e Expr) -> Typed {
        let Some(text) = self.literal_text(pattern, "matches") else { return (Node::Unknown, Type::Flag) };
        let regex = RegexBuilder::new(text).size_limit(MAX_PATTERN).dfa_size_limit(MAX_PATTERN).build();
        match regex {
            Ok(regex) => (Node::Matches(node.into(), regex.into()), Type::Flag),
            Err(error) => {
                let error = error.to_string();
                let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                self.wrong(pattern, format!("invalid regular expression: {why}"))
            }
        }
    }
}

fn setting_kind(name: &str) -> Option<SettingKind> {
    Some(match name {
        "conf" => SettingKind::Text,
        "conf_number" => SettingKind::Number,
        "conf_flag" => SettingKind::Flag,
        "conf_bytes" => SettingKind::Bytes,
        "conf_mb" => SettingKind::Megabytes,
        "conf_time" => SettingKind::Time,
        "conf_heap" => SettingKind::Heap,
        _ => return None,
    })
}
