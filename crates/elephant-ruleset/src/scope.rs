//! The applications that a document of a rule file applies to.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use super::RuleFile;
use elephant_model::model::{Application, Engine, job_type};
use elephant_rule::params::Problems;
use elephant_rule::params::words::{did_you_mean, one_of};
use elephant_rule::params::yaml::{Kind, Node};

/// The memory limit of each compiled expression: a file may have thousands of scopes. Expressions for names take some
/// kilobytes.
const MAX_REGEX: usize = 128 << 10;

/// The aspects of an application that scopes can test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// `mapreduce` or `spark`.
    Engine,
    /// Hive, Pig and others, as reports name it.
    JobType,
    /// Its queue.
    Queue,
    /// Its user.
    User,
    /// Its name.
    Name,
}

impl Aspect {
    /// Every aspect, the least specific first.
    pub const ALL: [Self; 5] = [Self::Engine, Self::JobType, Self::Queue, Self::User, Self::Name];

    /// The key in rule files.
    #[must_use]
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::JobType => "job_type",
            Self::Queue => "queue",
            Self::User => "user",
            Self::Name => "name",
        }
    }

    /// The same as words.
    #[must_use]
    pub fn words(self) -> String {
        self.key().replace('_', " ")
    }

    /// The value for `app`; `None` if its history does not contain it.
    #[must_use]
    pub fn of(self, app: &Application) -> Option<&str> {
        match self {
            Self::Engine => Some(app.engine.name()),
            Self::JobType => job_type(app),
            Self::Queue => app.queue.as_deref(),
            Self::User => app.user.as_deref(),
            Self::Name => app.name.as_deref(),
        }
    }
}

/// A word, a glob (`*` any text, `?` one character), or a regular expression between slashes.
#[derive(Debug, Clone)]
pub struct Pattern {
    written: String,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Word,
    Glob,
    Regex(Regex),
}

#[doc(hidden)]
impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If the regular expression is invalid.
    pub fn parse(written: &str) -> Result<Self, String> {
        let between_slashes = written.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let form = match between_slashes.filter(|expression| !expression.is_empty()) {
            Some(expression) => {
                let regex = RegexBuilder::new(expression).size_limit(MAX_REGEX).build();
                Form::Regex(regex.map_err(|error| in_one_line(&error))?)
            }
            None if written.contains(['*', '?']) => Form::Glob,
            None => Form::Word,
        };
        Ok(Self { written: written.to_owned(), form })
    }

    /// The pattern that only this text matches, whatever characters it has.
    #[must_use]
    pub fn exactly(text: &str) -> Self {
        Self { written: text.to_owned(), form: Form::Word }
    }

    /// Whether `text` matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        match &self.form {
            Form::Word => self.written == text,
            Form::Glob => glob_matches(&self.written, text),
            Form::Regex(regex) => regex.is_match(text),
        }
    }

    /// Whether it matches only one text.
    #[must_use]
    pub(crate) const fn is_exact(&self) -> bool {
        matches!(self.form, Form::Word)
    }
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        Self::parse(written)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// Whether a text matches a glob: there may be thousands of them, and an expression takes much longer to compile. After a
/// `*`, the rest of the glob is tried at each place of the text; the last `*` alone is moved, since earlier ones gain
/// nothing.
fn glob_matches(glob: &str, text: &str) -> bool {
    let (mut glob, mut text) = (glob.chars(), text.chars());
    let mut last_star = None;
    loop {
        let (at, rest) = (glob.clone(), text.clone());
        match (glob.next(), text.next()) {
            (Some('*'), _) => {
                text = rest;
                last_star = Some((glob.clone(), text.clone()));
            }
            (Some('?'), Some(_)) => {}
            (Some(wanted), Some(found)) if wanted == found => {}
            (None, None) => return true,
            (_, None) => return at.as_str().chars().all(|left| left == '*'),
            _ => {
                let Some((behind, from)) = &mut last_star else { return false };
                if from.next().is_none() {
                    return false;
                }
                (glob, text) = (behind.clone(), from.clone());
            }
        }
    }
}

fn in_one_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    format!("invalid regular expression: {}", last.strip_prefix("error: ").unwrap_or(last))
}

/// One pattern, or a list in which one must match.
#[derive(Debug, Clone)]
struct Patterns(Vec<Pattern>);

impl<'de> Deserialize<'de> for Patterns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Patterns;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word, a glob such as etl-*, a regular expression such as /^etl-\\d+$/, or a list of them")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Patterns, E> {
                Pattern::parse(text).map(|pattern| Patterns(vec![pattern])).map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Patterns, E> {
                self.visit_str(&number.to_string())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Patterns, A::Error> {
                let mut patterns = Vec::new();
                while let Some(Patterns(more)) = list.next_element()? {
                    patterns.extend(more);
                }
                Ok(Patterns(patterns))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

/// The applications that a document applies to; all if it says nothing.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    conditions: Vec<(Aspect, Patterns)>,
}

/// How specific a scope is. For each aspect, from the most specific one on: 2 for words, 1 for patterns, 0
/// for nothing. Compared from the front.
pub type Specificity = [u8; Aspect::ALL.len()];

#[doc(hidden)]
impl Scope {
    /// Reads the value of `for`.
    pub fn read(file: &Arc<RuleFile>, node: &Node, problems: &mut Problems) -> Self {
        let Kind::Map(entries) = &node.kind else {
            let message = format!("for selects the applications; expected a mapping, got {}", node.what());
            problems.error(
                file,
                &node.span,
                message,
                Some("write for example for: {queue: root.etl.*}".to_owned()),
            );
            return Self::default();
        };
        let mut scope = Self::default();
        for (key, value) in entries {
            let Some(aspect) = Aspect::ALL.into_iter().find(|aspect| aspect.key() == key.value) else {
                let keys = Aspect::ALL.map(Aspect::key);
                let message =
                    format!("applications cannot be selected by \"{}\"; use {}", key.value, one_of(&keys));
                problems.error(file, &key.span, message, did_you_mean(&key.value, keys.into_iter()));
                continue;
            };
            match value.read::<Patterns>() {
                Ok(patterns) if patterns.0.is_empty() => {
                    problems.error(file, &value.span, "an empty list matches no application", None);
                }
                Ok(patterns) => {
                    if aspect == Aspect::Engine
                        && !patterns
                            .0
                            .iter()
                            .any(|p| Engine::ALL.iter().any(|engine| p.matches(engine.name())))
                    {
                        let help = did_you_mean(
                            value.as_text().unwrap_or_default(),
                            Engine::ALL.iter().map(|engine| engine.name()),
                        );
                        problems.error(file, &value.span, "the engine must be mapreduce, spark or tez", help);
                    }
                    scope.conditions.push((aspect, patterns));
                }
                Err(error) => problems.unreadable(file, &value.span, error),
            }
        }
        scope.conditions.sort_by_key(|(aspect, _)| std::cmp::Reverse(*aspect));
        scope
    }

    /// Whether it applies to all applications.
    #[must_use]
    pub const fn is_everything(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Whether it applies to `app`. A value that the history lacks matches no condition.
    #[must_use]
    pub fn applies_to(&self, app: &Application) -> bool {
        self.misfit(app).is_none()
    }

    /// The first condition that `app` does not meet.
    #[must_use]
    pub fn misfit(&self, app: &Application) -> Option<Aspect> {
        let fits = |(aspect, patterns): &(Aspect, Patterns)| {
            aspect.of(app).is_some_and(|text| patterns.0.iter().any(|pattern| pattern.matches(text)))
        };
        self.conditions.iter().find(|condition| !fits(condition)).map(|(aspect, _)| *aspect)
    }

    /// Whether it tests this aspect.
    #[must_use]
    pub fn tests(&self, aspect: Aspect) -> bool {
        self.conditions.iter().any(|(tested, _)| *tested == aspect)
    }

    /// Its specificity.
    #[must_use]
    pub fn specificity(&self) -> Specificity {
        let weigh = |wanted: Aspect| {
            let condition = self.conditions.iter().find(|(aspect, _)| *aspect == wanted);
            condition.map_or(0, |(_, patterns)| if patterns.0.iter().all(Pattern::is_exact) { 2 } else { 1 })
        };
        let mut specificity = Aspect::ALL.map(weigh);
        specificity.reverse();
        specificity
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (aspect, Patterns(patterns))) in self.conditions.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
            write!(f, "{separator}{} {}", aspect.words(), patterns.join(" or "))?;
        }
        if self.is_everything() { f.write_str("all applications") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_words_globs_and_expressions() {
        let fits = |pattern: &str, text: &str| Pattern::parse(pattern).unwrap().matches(text);
        assert!(fits("etl", "etl") && !fits("etl", "etl-2"));
        assert!(fits("root.*.etl", "root.a.b.etl") && !fits("root.*.etl", "rootXaXetl"));
        assert!(fits("job ?", "job 7") && !fits("job ?", "job 77"));
        assert!(fits("/\\d{3}/", "etl-123-x") && !fits("/^\\d+$/", "a1"));
        assert!(fits("*", "a\nb") && fits("/", "/") && fits("//", "//"));
        assert!(fits("*.etl*", "etl.etl.etl") && fits("a*", "a") && fits("**", "") && fits("?", "ü"));
        assert!(!fits("a*b?c", "a-bc") && fits("a*b?c", "a-b-bxc") && !fits("?*", "") && !fits("a?", "a"));
        assert!(Pattern::parse("/(/").unwrap_err().contains("invalid regular expression"));
        assert!(Pattern::parse("/^etl-\\d{4}-\\d{2}-\\d{2}(-[a-z]+)*$/").is_ok());
        assert!(Pattern::parse("/\\w{20}/").unwrap_err().contains("size limit"));
        assert!(Pattern::parse("/(\\w{1000}){1000}/").is_err());
    }
}
