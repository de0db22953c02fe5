//! The kind of a chain: by the user's rules, by the built-in ones, and by what engines write.

use elephant_base::severity::Severity;
use elephant_model::diagnosis::{Actor, Diagnosis, FailureKind, classify_log};
use regex::Regex;

use super::chain::{Raw, first_line};
use super::facts::is_harmless;
use super::origin::Origin;

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The user's code, data or queries.
    User,
    /// The cluster.
    Platform,
    /// Settings: too little memory, disk or time was asked for.
    Resource,
    /// None: it only says that something else failed.
    Echo,
}

impl Fault {
    /// Its word in rule files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Platform => "platform",
            Self::Resource => "resource",
            Self::Echo => "echo",
        }
    }

    /// All of them.
    pub const ALL: [Self; 4] = [Self::User, Self::Platform, Self::Resource, Self::Echo];

    const fn of(actor: Actor) -> Self {
        match actor {
            Actor::UserCode => Self::User,
            Actor::Cluster => Self::Platform,
            Actor::Configuration => Self::Resource,
        }
    }
}

/// The kind of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The stable id: that of a rule, or the name of the kind of failure.
    pub name: String,
    /// The kind of failure, if it is one that histories are classified by.
    pub failure: Option<FailureKind>,
    /// Whose fault it is.
    pub fault: Fault,
    /// How bad it is at most, if the rule says, and where it says so (`rules.yaml:8`).
    pub at_most: Option<(Severity, String)>,
    /// What to do, with names of facts in braces.
    pub remedy: Option<String>,
    /// Whether a rule of the user's files tells it.
    pub is_custom: bool,
}

impl Kind {
    /// The kind of a failure that histories tell, too.
    #[must_use]
    pub fn of_failure(failure: FailureKind) -> Self {
        Self {
            name: failure.name().to_owned(),
            failure: Some(failure),
            fault: Fault::of(failure.actor()),
            at_most: None,
            remedy: Some(failure.remedy().to_owned()),
            is_custom: false,
        }
    }

    /// Whether it only says that something else failed.
    #[must_use]
    pub fn is_echo(&self) -> bool {
        self.fault == Fault::Echo
    }
}

/// Which part of a chain a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The first line.
    Head,
    /// The line of the innermost cause.
    Cause,
    /// All lines but the frames.
    Chain,
}

impl Part {
    /// Its word in rule files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Cause => "cause",
            Self::Chain => "chain",
        }
    }

    /// All of them.
    pub const ALL: [Self; 3] = [Self::Head, Self::Cause, Self::Chain];
}

/// A rule that tells the kind of a chain.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The kind that it tells.
    pub kind: Kind,
    /// Rules with a smaller number come first.
    pub priority: i64,
    /// The processes whose logs it is about; empty for all. A log whose process is unknown may be of any.
    pub origins: Vec<Origin>,
    /// What the part must contain. Its named groups are the facts.
    pub regex: Regex,
    /// The part that it looks at.
    pub part: Part,
}

/// A rule that fits, with what its groups took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The kind.
    pub kind: Kind,
    /// The place of the rule in the order of evaluation; `None` if no rule but the text told the kind.
    pub rule: Option<usize>,
    /// What the groups took, as far as it may be shown.
    pub facts: Vec<(String, String)>,
    /// The exit code of a process or container that the text names.
    pub exit_code: Option<i32>,
}

/// Rules in the order of evaluation.
#[derive(Debug, Clone, Default)]
pub struct Classifier {
    rules: Vec<Rule>,
}

/// What of a chain rules look at.
struct Texts<'t> {
    head: &'t str,
    cause: &'t str,
    chain: &'t str,
    origin: Option<Origin>,
}

impl Classifier {
    /// With these rules: the user's come before the built-in ones, and among each of them smaller priorities first.
    #[must_use]
    pub fn new(mut rules: Vec<Rule>) -> Self {
        rules.sort_by_key(|rule| (!rule.kind.is_custom, rule.priority));
        Self { rules }
    }

    /// The rules in the order of evaluation.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The kind of one line, as a rule's example.
    #[must_use]
    pub fn example(&self, line: &str) -> Option<Match> {
        self.first(&Texts { head: line, cause: line, chain: line, origin: None })
    }

    /// The kind of a chain.
    pub(crate) fn kind(&self, raw: &Raw, origin: Option<Origin>) -> Option<Match> {
        let text = raw.text();
        let innermost = raw.causes.last().map(super::chain::RawCause::line).unwrap_or_default();
        let head = raw.causes.first().map(super::chain::RawCause::line).unwrap_or_default();
        let texts = Texts { head: first_line(&head), cause: first_line(&innermost), chain: &text, origin };
        self.first(&texts).or_else(|| by_text(raw, &text))
    }

    fn first(&self, texts: &Texts<'_>) -> Option<Match> {
        self.rules.iter().enumerate().find_map(|(place, rule)| rule.matches(texts, place))
    }
}

impl Rule {
    fn matches(&self, texts: &Texts<'_>, place: usize) -> Option<Match> {
        let fits =
            texts.origin.is_none_or(|origin| self.origins.is_empty() || self.origins.contains(&origin));
        let text = match self.part {
            Part::Head => texts.head,
            Part::Cause => texts.cause,
            Part::Chain => texts.chain,
        };
        let found = fits.then(|| self.regex.captures(text)).flatten()?;
        let named = self.regex.capture_names().flatten();
        let facts = named.filter_map(|name| {
            let value = found.name(name)?.as_str().trim();
            is_harmless(value).then(|| (name.to_owned(), value.to_owned()))
        });
        let facts = facts.collect();
        let exit_code = classify_log(text).and_then(|diagnosis| diagnosis.exit_code);
        Some(Match { kind: self.kind.clone(), rule: Some(place), facts, exit_code })
    }
}

/// The kind that the words of engines tell.
fn by_text(raw: &Raw, text: &str) -> Option<Match> {
    let told = classify_log(text);
    let exit_code = told.as_ref().and_then(|told| told.exit_code);
    let failure = match told {
        Some(Diagnosis { kind, .. }) if !kind.blames_code() || kind.is_about_classes() => Some(kind),
        told => raised_by_python(raw).or(told.map(|told| told.kind)).or_else(|| thrown(raw)),
    };
    failure.map(|failure| Match { kind: Kind::of_failure(failure), rule: None, facts: Vec::new(), exit_code })
}

/// An exception of Python is the innermost one.
fn raised_by_python(raw: &Raw) -> Option<FailureKind> {
    raw.causes.last().is_some_and(|cause| cause.is_python).then_some(FailureKind::PythonError)
}

/// An exception whose name says nothing.
fn thrown(raw: &Raw) -> Option<FailureKind> {
    raw.causes.iter().any(|cause| cause.class.is_some()).then_some(FailureKind::UserCode)
}

/// The kind of one line without an exception, by the words of engines.
#[must_use]
pub fn classify_line(line: &str) -> Option<FailureKind> {
    classify_log(line).map(|diagnosis| diagnosis.kind)
}
