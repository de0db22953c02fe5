//! Compiles arithmetic, comparisons and logic, with units.

use super::super::node::{Arithmetic, Comparison, Node};
use super::super::syntax::{Expr, Infix, Kind, Literal, Prefix};
use super::super::unit::{Type, Unit};
use super::{Compiler, Typed, WRONG};

impl<'e> Compiler<'e> {
    /// `!of` or `-of`
    pub(super) fn prefix(&mut self, prefix: Prefix, of: &'e Expr) -> Typed {
        match prefix {
            Prefix::Not => (Node::Not(self.condition(of, "!").into()), Type::Flag),
            Prefix::Minus => {
                let (node, unit) = self.number(of, "-");
                (Node::Negated(node.into()), Type::Number(unit))
            }
        }
    }

    /// `left + right` and other infix operators.
    pub(super) fn infix(&mut self, expr: &'e Expr, infix: Infix, [left, right]: &'e [Expr; 2]) -> Typed {
        match infix {
            Infix::Plus => self.sum(expr, Arithmetic::Plus, left, right),
            Infix::Minus => self.sum(expr, Arithmetic::Minus, left, right),
            Infix::Remainder => self.sum(expr, Arithmetic::Remainder, left, right),
            Infix::Times => self.product(left, right),
            Infix::Over => self.quotient(left, right),
            Infix::Equal => self.equal(expr, Comparison::Equal, left, right),
            Infix::NotEqual => self.equal(expr, Comparison::NotEqual, left, right),
            Infix::Less => self.ordered(expr, Comparison::Less, left, right),
            Infix::AtMost => self.ordered(expr, Comparison::AtMost, left, right),
            Infix::Greater => self.ordered(expr, Comparison::Greater, left, right),
            Infix::AtLeast => self.ordered(expr, Comparison::AtLeast, left, right),
            Infix::And => {
                let two = [self.condition(left, "&&"), self.condition(right, "&&")];
                (Node::And(two.into()), Type::Flag)
            }
            Infix::Or => {
                let two = [self.condition(left, "||"), self.condition(right, "||")];
                (Node::Or(two.into()), Type::Flag)
            }
            Infix::In => self.is_in(left, right),
        }
    }

    fn sum(&mut self, expr: &'e Expr, how: Arithmetic, left: &'e Expr, right: &'e Expr) -> Typed {
        let (one, kind) = self.expression(left);
        let (other, other_kind) = self.expression(right);
        let sign = match how {
            Arithmetic::Plus => "+",
            Arithmetic::Minus => "-",
            _ => "%",
        };
        self.unit_of(left, kind, sign);
        self.unit_of(right, other_kind, sign);
        let Some(common) = kind.common(other_kind) else {
            return self.different(expr, sign, kind, other_kind);
        };
        (Node::Arithmetic(how, [one, other].into()), common)
    }

    fn product(&mut self, left: &'e Expr, right: &'e Expr) -> Typed {
        let (one, unit) = self.number(left, "*");
        let (other, by) = self.number(right, "*");
        let product = unit.times(by);
        let thousands = product.thousands() - unit.thousands() - by.thousands();
        (Node::Arithmetic(Arithmetic::Times(thousands), [one, other].into()), Type::Number(product))
    }

    fn quotient(&mut self, left: &'e Expr, right: &'e Expr) -> Typed {
        let (one, unit) = self.number(left, "/");
        let (other, by) = self.number(right, "/");
        let quotient = unit.over(by);
        let thousands = quotient.thousands() - unit.thousands() + by.thousands();
        (Node::Arithmetic(Arithmetic::Over(thousands), [one, other].into()), Type::Number(quotient))
    }

    fn equal(&mut self, expr: &'e Expr, how: Comparison, left: &'e Expr, right: &'e Expr) -> Typed {
        let (one, kind) = self.expression(left);
        let (other, other_kind) = self.expression(right);
        if right.kind == Kind::Literal(Literal::Null) {
            return self.wrong_with(expr, "nothing equals null", "use known(x) to test whether x is known");
        }
        match kind.common(other_kind) {
            Some(Type::Groups(_) | Type::Group(_)) => self.wrong(expr, "splits cannot be compared"),
            Some(_) => (Node::Comparison(how, [one, other].into()), Type::Flag),
            None => self.different(expr, "a comparison", kind, other_kind),
        }
    }

    fn ordered(&mut self, expr: &'e Expr, how: Comparison, left: &'e Expr, right: &'e Expr) -> Typed {
        let (one, kind) = self.expression(left);
        let (other, other_kind) = self.expression(right);
        self.unit_of(left, kind, "a comparison");
        self.unit_of(right, other_kind, "a comparison");
        if kind.unit().is_none() || other_kind.unit().is_none() {
            return WRONG;
        }
        if kind.common(other_kind).is_none() {
            return self.different(expr, "a comparison", kind, other_kind);
        }
        (Node::Comparison(how, [one, other].into()), Type::Flag)
    }

    /// `condition ? one : other`
    pub(super) fn choice(&mut self, expr: &'e Expr, [condition, one, other]: &'e [Expr; 3]) -> Typed {
        let condition = self.condition(condition, "? :");
        let (one, kind) = self.expression(one);
        let (other, other_kind) = self.expression(other);
        match kind.common(other_kind) {
            Some(Type::Group(_)) => self.wrong(expr, "a group of a split has a mean and a count; choose one"),
            Some(common) => (Node::Choice([condition, one, other].into()), common),
            None => self.different(expr, "? :", kind, other_kind),
        }
    }

    fn is_in(&mut self, one: &'e Expr, list: &'e Expr) -> Typed {
        let (node, kind) = self.expression(one);
        let Kind::List(elements) = &list.kind else {
            return self.wrong_with(list, "\"in\" takes a list", "write app.queue in [\"etl\", \"adhoc\"]");
        };
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            let Kind::Literal(literal) = &element.kind else {
                self.wrong(element, "a list after \"in\" may contain only texts and numbers");
                continue;
            };
            let (item, item_kind) = self.literal(element, literal);
            if kind.common(item_kind).is_none() {
                self.different(element, "in", kind, item_kind);
            }
            items.push(item);
        }
        (Node::In(node.into(), items), Type::Flag)
    }

    /// Reports that two types do not fit, with a suggestion.
    fn different(&mut self, expr: &'e Expr, sign: &str, one: Type, other: Type) -> Typed {
        let message = format!("{sign} cannot combine {} and {}", one.name(), other.name());
        let plain = |kind: Type| matches!(kind, Type::Number(unit) if unit.fits(Unit::NUMBER));
        let help = match (one, other) {
            (Type::TIME, bare) | (bare, Type::TIME) if plain(bare) => Some("write a time as time(\"5min\")"),
            (Type::SIZE, bare) | (bare, Type::SIZE) if plain(bare) => Some("write a size as size(\"64MB\")"),
            (Type::Text, bare) | (bare, Type::Text) if plain(bare) => Some("write a text in quotes"),
            _ => None,
        };
        match help {
            Some(help) => self.wrong_with(expr, message, help),
            None => self.wrong(expr, message),
        }
    }
}
