//! Messages and advice: text with `{expressions}`, each shown in its unit.

use super::compile::{Compiled, Env, compile};
use super::mistake::Mistake;
use super::node::Node;
use super::scope::{Inner, Scope};
use super::unit::{Type, Unit, percent};
use super::value::Value;

/// The maximum length of a template in bytes.
const MAX_LENGTH: usize = 4000;
/// The maximum number of characters of a history's text that a message shows.
const MAX_SHOWN: usize = 200;

/// A text with placeholders for values.
#[derive(Debug, Clone)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Value { node: Node, kind: Type, style: Style },
}

/// How a number is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// In its unit.
    Unit,
    /// A share in percent.
    Percent,
    /// Digits only, as settings need them: bytes, milliseconds.
    Plain,
}

impl Template {
    /// Parses a template; `in_percent` says which values are shares that are shown in percent.
    ///
    /// # Errors
    /// Every mistake in its expressions.
    pub(super) fn parse(
        source: &str,
        env: Env<'_>,
        in_percent: &dyn Fn(usize) -> bool,
    ) -> Result<Self, Vec<Mistake>> {
        if source.len() > MAX_LENGTH {
            return Err(vec![Mistake::new(0, 0, format!("the text is longer than {MAX_LENGTH} bytes"))]);
        }
        let (mut parts, mut mistakes) = (Vec::new(), Vec::new());
        let mut text = String::new();
        let mut from = 0;
        while let Some(rest) = source.get(from..).filter(|rest| !rest.is_empty()) {
            let Some(at) = rest.find(['{', '}']) else {
                text.push_str(rest);
                break;
            };
            text.push_str(rest.get(..at).unwrap_or_default());
            let brace = rest.get(at..).unwrap_or_default();
            if brace.starts_with("{{") || brace.starts_with("}}") {
                text.push_str(brace.get(..1).unwrap_or_default());
                from += at + 2;
                continue;
            }
            let start = from + at + 1;
            let Some(len) = brace.find('}').filter(|_| brace.starts_with('{')) else {
                let mistake = Mistake::new(from + at, 1, "unmatched brace");
                mistakes.push(mistake.help("write {{ or }} for a literal brace"));
                break;
            };
            let inner = brace.get(1..len).unwrap_or_default();
            match Part::parse(inner, env, in_percent) {
                Ok(part) => {
                    parts.extend((!text.is_empty()).then(|| Part::Text(std::mem::take(&mut text))));
                    parts.push(part);
                }
                Err(found) => {
                    mistakes.extend(
                        found.into_iter().map(|mistake| Mistake { at: start + mistake.at, ..mistake }),
                    );
                }
            }
            from = start + len;
        }
        parts.extend((!text.is_empty()).then_some(Part::Text(text)));
        if mistakes.is_empty() { Ok(Self { parts }) } else { Err(mistakes) }
    }

    /// Parses the value of a setting: numbers are digits only, unless they say otherwise.
    ///
    /// # Errors
    /// Every mistake in its expressions.
    pub(super) fn of_setting(source: &str, env: Env<'_>) -> Result<Self, Vec<Mistake>> {
        let mut template = Self::parse(source, env, &|_| false)?;
        for part in &mut template.parts {
            if let Part::Value { style: style @ Style::Unit, .. } = part {
                *style = Style::Plain;
            }
        }
        Ok(template)
    }

    /// The text with the values of `scope`; `None` if one of them is unknown.
    #[must_use]
    pub(super) fn fill_known(&self, scope: &Scope<'_, '_>) -> Option<String> {
        let part = |part: &Part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Value { node, kind, style } => {
                Some(show(&node.eval(scope, Inner::default()).ok()?, *kind, *style))
            }
        };
        self.parts.iter().map(part).collect()
    }

    /// The text with the values of `scope`.
    #[must_use]
    pub(super) fn fill(&self, scope: &Scope<'_, '_>) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Value { node, kind, style } => match node.eval(scope, Inner::default()) {
                Ok(value) => show(&value, *kind, *style),
                Err(_) => "unknown".to_owned(),
            },
        };
        self.parts.iter().map(part).collect()
    }

    /// The expressions in it.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value { node, .. } => Some(node),
        })
    }
}

impl Part {
    fn parse(source: &str, env: Env<'_>, in_percent: &dyn Fn(usize) -> bool) -> Result<Self, Vec<Mistake>> {
        let styles = [(":%", Style::Percent), (":plain", Style::Plain)];
        let styled =
            styles.into_iter().find_map(|(ending, style)| Some((source.strip_suffix(ending)?, Some(style))));
        let (expression, style) = styled.unwrap_or((source, None));
        let Compiled { node, kind } = compile(expression, env)?;
        let wrong = |message: String| Err(vec![Mistake::new(0, expression.len(), message)]);
        match kind {
            Type::Groups(_) | Type::Group(_) => {
                return wrong("a split cannot be shown as a whole".to_owned());
            }
            Type::Number(unit) if !unit.is_shown() => {
                return wrong(format!("{} cannot be shown", unit.name()));
            }
            Type::Number(unit) if style == Some(Style::Percent) && !unit.fits(Unit::NUMBER) => {
                return wrong(format!("{} cannot be shown in percent", unit.name()));
            }
            _ => {}
        }
        let share = matches!(node, Node::Value(place) if in_percent(place));
        let style = style.unwrap_or(if share { Style::Percent } else { Style::Unit });
        Ok(Self::Value { node, kind, style })
    }
}

/// A value as text.
#[must_use]
pub(super) fn show(value: &Value<'_>, kind: Type, style: Style) -> String {
    match value {
        Value::Number(number) if style == Style::Percent => percent(*number),
        Value::Number(number) if style == Style::Plain => number.to_string(),
        Value::Number(number) => kind.unit().unwrap_or(Unit::NUMBER).show(*number),
        Value::Text(text) => shorten(text),
        Value::Flag(flag) => flag.to_string(),
        Value::Groups(_) => String::new(),
    }
}

/// A text of a history, shortened for a message.
#[must_use]
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
