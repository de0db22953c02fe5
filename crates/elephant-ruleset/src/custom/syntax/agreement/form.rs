//! A common text form for the trees of both parsers.

use cel::common::ast::{self, EntryExpr, IdedExpr, LiteralValue, operators};

use super::super::{Expr, Infix, Kind, Literal, Prefix};

/// A comprehension of `cel`, from its parts.
fn each(range: &str, name: &str, [start, condition, step, result]: [&str; 4]) -> String {
    format!("(each {name} {range} {start} {condition} {step} {result})")
}

fn node(parts: &[String]) -> String {
    format!("({})", parts.join(" "))
}

fn double(number: f64) -> String {
    format!("{number:?}#{:x}", number.to_bits())
}

/// The form of our tree; `None` if `cel` rejects the expression because it looks like a macro.
pub(super) fn of_ours(expr: &Expr) -> Option<String> {
    let all = |parts: &[Expr]| parts.iter().map(of_ours).collect::<Option<Vec<String>>>();
    Some(match &expr.kind {
        Kind::Literal(literal) => match literal {
            Literal::Flag(flag) => flag.to_string(),
            Literal::Int(number) => number.to_string(),
            Literal::Uint(number) => format!("{number}u"),
            Literal::Double(number) => double(*number),
            Literal::Text(text) => format!("{text:?}"),
            Literal::Bytes => "bytes".to_owned(),
            Literal::Null => "null".to_owned(),
        },
        Kind::Name(name) => name.clone(),
        Kind::Field { of, name } => format!("(. {} {name})", of_ours(of)?),
        Kind::Index(parts) => format!("([] {})", all(parts.as_slice())?.join(" ")),
        Kind::Call { name, args } if name == "has" && args.len() == 1 => {
            all(args)?;
            let mut of = args.first()?;
            while let Kind::Call { args, .. } = &of.kind {
                of = args.first()?;
            }
            let Kind::Field { of, name } = &of.kind else { return None };
            format!("(has {} {name})", of_ours(of)?)
        }
        Kind::Call { name, args } => format!("(call {name} {})", node(&all(args)?)),
        Kind::Method { of, name, args } => match (name.as_str(), args.as_slice()) {
            ("all" | "exists" | "exists_one" | "existsOne" | "filter", [_, _])
            | ("map", [_, _] | [_, _, _]) => expansion(name, &of_ours(of)?, args)?,
            _ => format!("(method {} {name} {})", of_ours(of)?, node(&all(args)?)),
        },
        Kind::Prefix(prefix, of) => {
            let sign = match prefix {
                Prefix::Not => "!",
                Prefix::Minus => "-",
            };
            format!("({sign} {})", of_ours(of)?)
        }
        Kind::Infix(infix, sides) => format!("({} {})", sign(*infix), all(sides.as_slice())?.join(" ")),
        Kind::Choice(parts) => format!("(? {})", all(parts.as_slice())?.join(" ")),
        Kind::List(elements) => format!("[{}]", all(elements)?.join(" ")),
        Kind::Map(entries) => {
            let entries =
                entries.iter().map(|entry| Some(all(entry)?.join(": "))).collect::<Option<Vec<_>>>();
            format!("{{{}}}", entries?.join(" "))
        }
        Kind::Message { name, fields } => {
            let fields = fields.iter().map(|(name, value)| Some(format!("{name}: {}", of_ours(value)?)));
            format!("{name}{{{}}}", fields.collect::<Option<Vec<_>>>()?.join(" "))
        }
    })
}

/// The expansion that `cel` makes of a macro call.
fn expansion(macro_name: &str, range: &str, args: &[Expr]) -> Option<String> {
    let Kind::Name(name) = &args.first()?.kind else { return None };
    let value = of_ours(args.last()?)?;
    let add = |element: &str| format!("(+ @result [{element}])");
    let add_if = |condition: &str, element: &str| format!("(? {condition} {} @result)", add(element));
    let strict = |flag: &str| format!("(call @not_strictly_false ({flag}))");
    let (start, condition, step, result) = match macro_name {
        "all" => ("true", strict("@result"), format!("(&& @result {value})"), "@result"),
        "exists" => ("false", strict("(! @result)"), format!("(|| @result {value})"), "@result"),
        "filter" => ("[]", "true".to_owned(), add_if(&value, name), "@result"),
        "map" if args.len() == 3 => {
            ("[]", "true".to_owned(), add_if(&of_ours(args.get(1)?)?, &value), "@result")
        }
        "map" => ("[]", "true".to_owned(), add(&value), "@result"),
        _ => ("0", "true".to_owned(), format!("(? {value} (+ @result 1) @result)"), "(== @result 1)"),
    };
    Some(each(range, name, [start, &condition, &step, result]))
}

fn sign(infix: Infix) -> &'static str {
    match infix {
        Infix::Or => "||",
        Infix::And => "&&",
        Infix::Equal => "==",
        Infix::NotEqual => "!=",
        Infix::Less => "<",
        Infix::AtMost => "<=",
        Infix::Greater => ">",
        Infix::AtLeast => ">=",
        Infix::In => "in",
        Infix::Plus => "+",
        Infix::Minus => "-",
        Infix::Times => "*",
        Infix::Over => "/",
        Infix::Remainder => "%",
    }
}

/// The form of the tree of `cel`.
pub(super) fn of_theirs(expr: &IdedExpr) -> String {
    let all = |parts: &[IdedExpr]| parts.iter().map(of_theirs).collect::<Vec<String>>();
    match &expr.expr {
        ast::Expr::Literal(literal) => match literal {
            LiteralValue::Boolean(flag) => flag.inner().to_string(),
            LiteralValue::Int(number) => number.inner().to_string(),
            LiteralValue::UInt(number) => format!("{}u", number.inner()),
            LiteralValue::Double(number) => double(*number.inner()),
            LiteralValue::String(text) => format!("{:?}", text.inner()),
            LiteralValue::Bytes(_) => "bytes".to_owned(),
            LiteralValue::Null => "null".to_owned(),
        },
        ast::Expr::Ident(name) => name.clone(),
        ast::Expr::Select(select) => {
            let what = if select.test { "has" } else { "." };
            format!("({what} {} {})", of_theirs(&select.operand), select.field)
        }
        ast::Expr::Call(call) => {
            let args = all(&call.args);
            match (&call.target, their_sign(&call.func_name)) {
                (Some(of), _) => format!("(method {} {} {})", of_theirs(of), call.func_name, node(&args)),
                (None, Some(sign)) => format!("({sign} {})", args.join(" ")),
                (None, None) => format!("(call {} {})", call.func_name, node(&args)),
            }
        }
        ast::Expr::Comprehension(of) => {
            let parts = [&of.accu_init, &of.loop_cond, &of.loop_step, &of.result].map(of_theirs);
            each(&of_theirs(&of.iter_range), &of.iter_var, parts.each_ref().map(String::as_str))
        }
        ast::Expr::List(list) => format!("[{}]", all(&list.elements).join(" ")),
        ast::Expr::Map(map) => {
            format!(
                "{{{}}}",
                map.entries.iter().map(|entry| their_entry(&entry.expr)).collect::<Vec<_>>().join(" ")
            )
        }
        ast::Expr::Struct(of) => {
            let fields: Vec<_> = of.entries.iter().map(|entry| their_entry(&entry.expr)).collect();
            format!("{}{{{}}}", of.type_name, fields.join(" "))
        }
        ast::Expr::Unspecified => "nothing".to_owned(),
    }
}

fn their_entry(entry: &EntryExpr) -> String {
    match entry {
        EntryExpr::StructField(field) => format!("{}: {}", field.field, of_theirs(&field.value)),
        EntryExpr::MapEntry(entry) => format!("{}: {}", of_theirs(&entry.key), of_theirs(&entry.value)),
    }
}

fn their_sign(name: &str) -> Option<&'static str> {
    Some(match name {
        operators::CONDITIONAL => "?",
        operators::LOGICAL_AND => "&&",
        operators::LOGICAL_OR => "||",
        operators::LOGICAL_NOT => "!",
        operators::SUBSTRACT | operators::NEGATE => "-",
        operators::ADD => "+",
        operators::MULTIPLY => "*",
        operators::DIVIDE => "/",
        operators::MODULO => "%",
        operators::EQUALS => "==",
        operators::NOT_EQUALS => "!=",
        operators::GREATER_EQUALS => ">=",
        operators::LESS_EQUALS => "<=",
        operators::GREATER => ">",
        operators::LESS => "<",
        operators::INDEX => "[]",
        operators::IN => "in",
        _ => return None,
    })
}
