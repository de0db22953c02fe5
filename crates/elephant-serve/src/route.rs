//! What a route is: its path, its parameters, and who answers it.

use super::failure::Failure;
use super::ingest::Progress;
use super::query::Asked;
use super::reply::{Audience, Reply};
use super::server::Shared;
use super::viewers::Viewer;
use elephant_ruleset::{RuleInfo, RuleSet};
use elephant_store::Store;

/// A route. The router, the reading of parameters and the description of the API are made from these.
pub(crate) struct Route {
    /// The path, with the names of its parameters in braces.
    pub(crate) path: &'static str,
    /// What it answers, in a few words.
    pub(crate) about: &'static str,
    pub(crate) audience: Audience,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) run: Run,
    pub(crate) for_whom: ForWhom,
}

/// Who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForWhom {
    /// Viewers, each of whom may see some applications.
    Viewers,
    /// Those who may see all, and programs of operators, which have no login.
    Operators,
    /// Everyone: the answer tells of no application.
    Everyone,
}

/// Who answers.
pub(crate) enum Run {
    /// The server itself, at once.
    Server(fn(&Shared) -> Result<Reply, Failure>),
    /// A question to the store.
    Store(fn(&Context<'_>, &Asked) -> Result<Reply, Failure>),
}

/// What questions are answered from.
pub(crate) struct Context<'a> {
    pub(crate) store: &'a Store,
    pub(crate) rules: &'a RuleSet,
    pub(crate) shared: &'a Shared,
    pub(crate) viewer: &'a Viewer,
}

impl Context<'_> {
    /// What is known of the rules.
    pub(crate) fn infos(&self) -> Vec<&RuleInfo> {
        self.rules.rules().iter().map(|active| &active.info).collect()
    }

    /// How the loop that reads histories is doing, if there is one.
    pub(crate) fn ingest(&self) -> Option<Progress> {
        self.shared.ingest.as_ref().map(super::ingest::Loop::progress)
    }
}

/// A parameter of a path or a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) kind: Kind,
}

impl Parameter {
    /// Whether it is a part of the path.
    pub(crate) const fn is_in_path(&self) -> bool {
        matches!(self.kind, Kind::Path | Kind::PathAmong(_))
    }
}

/// The values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A part of the path.
    Path,
    /// A part of the path that is one of a few words.
    PathAmong(&'static [&'static str]),
    /// Any text.
    Text,
    /// A word, a glob or a regular expression between slashes.
    Pattern,
    /// A day or a time with its zone.
    Moment,
    /// A number of lines from 1 up to a limit, and the usual one.
    Count { usual: usize, most: usize },
    /// One of a few words.
    Among(&'static [&'static str]),
}
