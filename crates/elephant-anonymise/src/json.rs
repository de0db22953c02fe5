//! Rewrites JSON: values are replaced by the meaning of their keys, and everything between them stays byte by byte.
//!
//! Values are read one after the other and not as a tree, so plans of any depth need little memory.

use super::clock::Clock;
use super::mask::{Mask, Meaning};
use super::pseudonyms::Kind;
use super::vocabulary::is_known;

/// The deepest nesting; plans of Spark nest some hundreds of levels.
const DEEPEST: usize = 40_000;
/// The longest number under an unknown key.
const LONGEST_NUMBER: usize = 6;

/// Keys that only name the type of their value.
const UNION: [&str; 7] = ["string", "long", "int", "boolean", "array", "map", "bytes"];

/// What the texts and numbers of a value are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) texts: Texts,
    pub(crate) numbers: Numbers,
    pub(crate) members: Members,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    Of(Meaning),
    /// The value of a setting whose name is its key.
    Setting,
    /// The scope of an RDD: JSON in a text.
    Scope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    Kept,
    Time,
    /// Only short ones are kept.
    Short,
}

/// What the keys of an object are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Members {
    /// Fields of the format.
    Fields,
    /// Fields of the format within this one, in which some have another meaning.
    Within(&'static str),
    /// Names of settings.
    Settings,
    /// Names that users chose, with values of the same meaning.
    Names,
}

/// The contexts of the values of a format, by their keys.
pub(crate) type Fields = fn(Members, &str) -> Option<Context>;

/// It is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged;

impl Context {
    pub(crate) const fn of(meaning: Meaning) -> Self {
        Self { texts: Texts::Of(meaning), numbers: Numbers::Kept, members: Members::Fields }
    }

    pub(crate) const fn within(meaning: Meaning, name: &'static str) -> Self {
        Self { members: Members::Within(name), ..Self::of(meaning) }
    }

    pub(crate) const fn names(meaning: Meaning) -> Self {
        Self { members: Members::Names, ..Self::of(meaning) }
    }

    pub(crate) const TIME: Self = Self { numbers: Numbers::Time, ..Self::of(Meaning::Time) };
    pub(crate) const SETTINGS: Self =
        Self { texts: Texts::Setting, numbers: Numbers::Kept, members: Members::Settings };
    const UNKNOWN: Self = Self { numbers: Numbers::Short, ..Self::of(Meaning::Unknown) };

    /// Of a key that the format does not list. If an engine uses all its words, so are probably those of its value.
    pub(crate) fn of_other_key(key: &str) -> Self {
        if is_known(key) { Self::of(Meaning::Word) } else { Self::UNKNOWN }
    }
}

/// Rewrites a value, and appends it to `out`.
pub(crate) fn rewrite(
    mask: &mut Mask,
    text: &str,
    top: Context,
    fields: Fields,
    out: &mut String,
) -> Result<(), Damaged> {
    let mut rewriter = Rewriter { mask, rest: text, out, fields, open: Vec::new(), key: String::new() };
    rewriter.values(top)?;
    rewriter.space();
    if rewriter.rest.is_empty() { Ok(()) } else { Err(Damaged) }
}

/// The scope of an RDD: `{"id":"3","name":"textFile"}`.
pub(crate) fn scope(mask: &mut Mask, text: &str) -> String {
    let fields: Fields = |_, key| match key {
        "id" => Some(Context::of(Meaning::Id)),
        "name" => Some(Context::of(Meaning::Plan)),
        _ => None,
    };
    inner(mask, text, fields)
}

/// JSON in a text, of which no key is known; other texts are messages.
pub(crate) fn embedded(mask: &mut Mask, text: &str) -> String {
    if text.trim_start().starts_with(['{', '[']) { inner(mask, text, |_, _| None) } else { mask.figure(text) }
}

fn inner(mask: &mut Mask, text: &str, fields: Fields) -> String {
    let mut out = String::with_capacity(text.len());
    match rewrite(mask, text, Context::of(Meaning::Word), fields, &mut out) {
        Ok(()) => out,
        Err(Damaged) => mask.name(Kind::Value, text),
    }
}

struct Rewriter<'m, 't, 'o> {
    mask: &'m mut Mask,
    rest: &'t str,
    out: &'o mut String,
    fields: Fields,
    open: Vec<Open>,
    /// The key of the value, as it was.
    key: String,
}

/// An object or array that has begun.
struct Open {
    is_object: bool,
    context: Context,
    /// The number of values so far.
    values: usize,
}

impl<'t> Rewriter<'_, 't, '_> {
    /// Rewrites one value, with all values in it.
    fn values(&mut self, top: Context) -> Result<(), Damaged> {
        let mut context = top;
        loop {
            let begins = self.value(context)?;
            // Where nothing has begun, the next value follows in what is open, or this was the last.
            let mut is_first = begins;
            loop {
                let Some(open) = self.open.last() else { return Ok(()) };
                let (is_object, inner) = (open.is_object, open.context);
                self.space();
                let close = if is_object { '}' } else { ']' };
                if self.take(close) {
                    self.open.pop();
                    is_first = false;
                    continue;
                }
                if !is_first && !self.take(',') {
                    return Err(Damaged);
                }
                context = if is_object { self.key(inner)? } else { inner };
                if let Some(open) = self.open.last_mut() {
                    open.values += 1;
                }
                break;
            }
        }
    }

    /// Rewrites a scalar, or begins an object or array; returns whether one began.
    fn value(&mut self, context: Context) -> Result<bool, Damaged> {
        self.space();
        let first = self.rest.chars().next().ok_or(Damaged)?;
        match first {
            '{' | '[' => {
                if self.open.len() >= DEEPEST {
                    return Err(Damaged);
                }
                self.take(first);
                self.open.push(Open { is_object: first == '{', context, values: 0 });
                return Ok(true);
            }
            '"' => self.text(context)?,
            _ => self.scalar(context)?,
        }
        Ok(false)
    }

    /// Rewrites a key and its colon; returns the context of its value.
    fn key(&mut self, inner: Context) -> Result<Context, Damaged> {
        self.space();
        let (raw, key) = self.string()?;
        let (masked, context) = match inner.members {
            Members::Settings => {
                (self.mask.setting_name(&key), Context { members: Members::Settings, ..inner })
            }
            Members::Names => (self.mask.text(Meaning::Plan, &key).into_owned(), inner),
            // The branch of a union, in Avro's JSON.
            Members::Fields | Members::Within(_) if UNION.contains(&key.as_str()) => (key.clone(), inner),
            Members::Fields | Members::Within(_) => {
                let context = (self.fields)(inner.members, &key);
                let masked = match context {
                    Some(_) => key.clone(),
                    None => self.mask.word_or(Kind::Name, &key),
                };
                (masked, context.unwrap_or_else(|| Context::of_other_key(&key)))
            }
        };
        self.write(raw, &key, &masked);
        self.key = key;
        self.space();
        if self.take(':') { Ok(context) } else { Err(Damaged) }
    }

    fn text(&mut self, context: Context) -> Result<(), Damaged> {
        let (raw, text) = self.string()?;
        let masked = match context.texts {
            Texts::Of(meaning) => self.mask.text(meaning, &text).into_owned(),
            Texts::Scope => scope(self.mask, &text),
            Texts::Setting => match self.place_in_pair() {
                // Before Spark 1.0, settings were pairs in arrays.
                Some(1) => {
                    self.key.clone_from(&text);
                    self.mask.setting_name(&text)
                }
                _ => self.mask.setting_value(&self.key, &text),
            },
        };
        self.write(raw, &text, &masked);
        Ok(())
    }

    /// The place of a text in an array within an array.
    fn place_in_pair(&self) -> Option<usize> {
        match self.open.as_slice() {
            [.., outer, inner] if !outer.is_object && !inner.is_object => Some(inner.values),
            _ => None,
        }
    }

    /// A number, `true`, `false` or `null`.
    fn scalar(&mut self, context: Context) -> Result<(), Damaged> {
        let is_of_scalar = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let len = self.rest.find(|c| !is_of_scalar(c)).unwrap_or(self.rest.len());
        let (scalar, rest) = self.rest.split_at(len);
        self.rest = rest;
        if matches!(scalar, "true" | "false" | "null" | "NaN" | "Infinity" | "-Infinity") {
            self.out.push_str(scalar);
            return Ok(());
        }
        let is_number = scalar.bytes().any(|byte| byte.is_ascii_digit())
            && scalar
                .bytes()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
        if !is_number || scalar.len() > 40 {
            return Err(Damaged);
        }
        let whole: Option<i64> = scalar.parse().ok();
        match (context.numbers, whole) {
            (Numbers::Time, Some(time)) => self.out.push_str(&self.mask.clock.millis(time).to_string()),
            (Numbers::Short, Some(time)) if Clock::is_time(time) => {
                self.out.push_str(&self.mask.clock.millis(time).to_string());
            }
            (Numbers::Short, _) if scalar.len() > LONGEST_NUMBER => {
                let digits = self
                    .mask
                    .digits(scalar.trim_start_matches('-').split(['.', 'e', 'E']).next().unwrap_or_default());
                self.out.push_str(&digits);
            }
            _ => self.out.push_str(scalar),
        }
        Ok(())
    }

    /// The next string with its quotes, and its text.
    fn string(&mut self) -> Result<(&'t str, String), Damaged> {
        let inner = self.rest.strip_prefix('"').ok_or(Damaged)?;
        let bytes = inner.as_bytes();
        let mut at = 0;
        let end = loop {
            let found = memchr::memchr2(b'"', b'\\', bytes.get(at..).ok_or(Damaged)?).ok_or(Damaged)? + at;
            match bytes.get(found) {
                Some(b'"') => break found,
                _ => at = found + 2,
            }
        };
        let (raw, rest) = self.rest.split_at_checked(end + 2).ok_or(Damaged)?;
        self.rest = rest;
        let plain = inner.get(..end).ok_or(Damaged)?;
        if !plain.contains('\\') && !plain.contains(|c: char| c.is_ascii_control()) {
            return Ok((raw, plain.to_owned()));
        }
        serde_json::from_str(raw).map(|text| (raw, text)).map_err(|_| Damaged)
    }

    /// Writes a text, as it was if it is the same.
    fn write(&mut self, raw: &str, text: &str, masked: &str) {
        if text == masked {
            self.out.push_str(raw);
        } else {
            match serde_json::to_string(masked) {
                Ok(quoted) => self.out.push_str(&quoted),
                Err(_) => self.out.push_str("\"\""),
            }
        }
    }

    fn space(&mut self) {
        let rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        self.out.push_str(self.rest.get(..self.rest.len() - rest.len()).unwrap_or_default());
        self.rest = rest;
    }

    fn take(&mut self, sign: char) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                self.out.push(sign);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use proptest::prelude::*;
    use serde_json::Value;

    fn rewritten(text: &str) -> Option<String> {
        let mut out = String::new();
        let fields: Fields = |_, key| (key == "kept").then_some(Context::of(Meaning::Figure));
        rewrite(&mut Mask::new(Key::of_text(b"k")), text, Context::of(Meaning::Word), fields, &mut out)
            .ok()?;
        Some(out)
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 30, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((".{0,6}", inner), 0..5)
                    .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_result_is_json_of_the_same_form(value in any_value(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let masked = rewritten(&text).unwrap();
            let read: Value = serde_json::from_str(&masked).unwrap();
            let form = |text: &str| text.chars().filter(|c| "{}[]".contains(*c)).count();
            prop_assert_eq!(read.is_object(), value.is_object());
            prop_assert!(form(&masked) <= form(&text));
        }

        #[test]
        fn any_text_ends(text in ".{0,60}") {
            rewritten(&text);
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "{",
            "{\"a\":1",
            "{\"a\" 1}",
            "[1 2]",
            "{\"a\":secret}",
            "\"a",
            "{}x",
            "[\"\\ud800\"]",
            "[1,]",
            "{,}",
        ] {
            assert_eq!(rewritten(text), None, "{text}");
        }
        assert_eq!(rewritten(&"[".repeat(DEEPEST + 1)), None);
        let deep = "[".repeat(DEEPEST) + &"]".repeat(DEEPEST);
        assert_eq!(rewritten(&deep).as_deref(), Some(deep.as_str()));
    }

    #[test]
    fn everything_else_stays_byte_by_byte() {
        let text = "{ \"kept\" : \"1.5\",\t\"memory\":[ 1 , -2.5e3,true , null ],\"metrics\":{} }";
        assert_eq!(rewritten(text).as_deref(), Some(text));
        let unknown = rewritten("{\"acmeKey\":\"x\",\"acmeId\":123456789012,\"n\":7}").unwrap();
        assert!(
            !unknown.contains("acme") && !unknown.contains("123456789012") && unknown.ends_with(":7}"),
            "{unknown}"
        );
    }
}
