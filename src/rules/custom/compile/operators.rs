//! Arithmetic, comparisons and logic, with units.

use cel::common::ast::{Expr, IdedExpr, operators};

use super::super::node::{Arithmetic, Comparison, Node};
use super::super::unit::{Type, Unit};
use super::{Compiler, Typed, WRONG};

impl<'e> Compiler<'e> {
    /// The operator `name`; `None` where it is none.
    pub(super) fn operator(&mut self, expr: &'e IdedExpr, name: &str, args: &'e [IdedExpr]) -> Option<Typed> {
        Some(match (name, args) {
            (operators::ADD, [left, right]) => self.sum(expr, Arithmetic::Plus, left, right),
            (operators::SUBSTRACT, [left, right]) => self.sum(expr, Arithmetic::Minus, left, right),
            (operators::MODULO, [left, right]) => self.sum(expr, Arithmetic::Remainder, left, right),
            (operators::MULTIPLY, [left, right]) => self.product(left, right),
            (operators::DIVIDE, [left, right]) => self.quotient(left, right),
            (operators::EQUALS, [left, right]) => self.equal(expr, Comparison::Equal, left, right),
            (operators::NOT_EQUALS, [left, right]) => self.equal(expr, Comparison::NotEqual, left, right),
            (operators::LESS, [left, right]) => self.ordered(expr, Comparison::Less, left, right),
            (operators::LESS_EQUALS, [left, right]) => self.ordered(expr, Comparison::AtMost, left, right),
            (operators::GREATER, [left, right]) => self.ordered(expr, Comparison::Greater, left, right),
            (operators::GREATER_EQUALS, [left, right]) => {
                self.ordered(expr, Comparison::AtLeast, left, right)
            }
            (operators::LOGICAL_AND, [left, right]) => {
                let two = [self.condition(left, "&&"), self.condition(right, "&&")];
                (Node::And(two.into()), Type::Flag)
            }
            (operators::LOGICAL_OR, [left, right]) => {
                let two = [self.condition(left, "||"), self.condition(right, "||")];
                (Node::Or(two.into()), Type::Flag)
            }
            (operators::LOGICAL_NOT, [one]) => (Node::Not(self.condition(one, "!").into()), Type::Flag),
            (operators::NEGATE, [one]) => {
                let (node, unit) = self.number(one, "-");
                (Node::Negated(node.into()), Type::Number(unit))
            }
            (operators::CONDITIONAL, [condition, one, other]) => self.choice(expr, condition, one, other),
            (operators::IN, [one, list]) => self.is_in(one, list),
            (operators::INDEX, _) => self.wrong(expr, "there are no lists to take an element of"),
            _ => return None,
        })
    }

    fn sum(&mut self, expr: &'e IdedExpr, how: Arithmetic, left: &'e IdedExpr, right: &'e IdedExpr) -> Typed {
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

    fn product(&mut self, left: &'e IdedExpr, right: &'e IdedExpr) -> Typed {
        let (one, unit) = self.number(left, "*");
        let (other, by) = self.number(right, "*");
        let product = unit.times(by);
        let thousands = product.thousands() - unit.thousands() - by.thousands();
        (Node::Arithmetic(Arithmetic::Times(thousands), [one, other].into()), Type::Number(product))
    }

    fn quotient(&mut self, left: &'e IdedExpr, right: &'e IdedExpr) -> Typed {
        let (one, unit) = self.number(left, "/");
        let (other, by) = self.number(right, "/");
        let quotient = unit.over(by);
        let thousands = quotient.thousands() - unit.thousands() + by.thousands();
        (Node::Arithmetic(Arithmetic::Over(thousands), [one, other].into()), Type::Number(quotient))
    }

    fn equal(
        &mut self,
        expr: &'e IdedExpr,
        how: Comparison,
        left: &'e IdedExpr,
        right: &'e IdedExpr,
    ) -> Typed {
        let (one, kind) = self.expression(left);
        let (other, other_kind) = self.expression(right);
        if matches!((&left.expr, &right.expr), (_, Expr::Literal(cel::common::ast::LiteralValue::Null))) {
            return self.wrong_with(expr, "nothing equals null", "known(x) tells whether x is known");
        }
        match kind.common(other_kind) {
            Some(Type::Groups(_) | Type::Group(_)) => self.wrong(expr, "splits cannot be compared"),
            Some(_) => (Node::Comparison(how, [one, other].into()), Type::Flag),
            None => self.different(expr, "a comparison", kind, other_kind),
        }
    }

    fn ordered(
        &mut self,
        expr: &'e IdedExpr,
        how: Comparison,
        left: &'e IdedExpr,
        right: &'e IdedExpr,
    ) -> Typed {
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

    fn choice(
        &mut self,
        expr: &'e IdedExpr,
        condition: &'e IdedExpr,
        one: &'e IdedExpr,
        other: &'e IdedExpr,
    ) -> Typed {
        let condition = self.condition(condition, "? :");
        let (one, kind) = self.expression(one);
        let (other, other_kind) = self.expression(other);
        match kind.common(other_kind) {
            Some(Type::Group(_)) => self.wrong(expr, "a group of a split has a mean and a count; say which"),
            Some(common) => (Node::Choice([condition, one, other].into()), common),
            None => self.different(expr, "? :", kind, other_kind),
        }
    }

    fn is_in(&mut self, one: &'e IdedExpr, list: &'e IdedExpr) -> Typed {
        let (node, kind) = self.expression(one);
        let Expr::List(list_of) = &list.expr else {
            return self.wrong_with(list, "\"in\" takes a list", "write app.queue in [\"etl\", \"adhoc\"]");
        };
        let mut items = Vec::with_capacity(list_of.elements.len());
        for element in &list_of.elements {
            let Expr::Literal(literal) = &element.expr else {
                self.wrong(element, "a list behind \"in\" holds texts and numbers");
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

    /// Says that two kinds of values do not go together, and what may have been meant.
    fn different(&mut self, expr: &'e IdedExpr, sign: &str, one: Type, other: Type) -> Typed {
        let message = format!("{sign} does not go with {} and {}", one.name(), other.name());
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
