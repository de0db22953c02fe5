//! Who asks, as a proxy with a login tells, and what they may see.

use std::path::Path;

use axum::http::HeaderMap;
use axum::http::header::HeaderName;
use elephant_ruleset::Pattern;
use elephant_store::Visible;
use serde::Deserialize;
use thiserror::Error;

use super::failure::Failure;

/// A larger file is no list of rules.
const MOST_BYTES: u64 = 1 << 20;
/// The longest name of a viewer.
const LONGEST: usize = 256;

/// How a proxy tells who asks, and what each viewer may see.
#[derive(Debug, Clone)]
pub struct Viewers {
    header: HeaderName,
    /// `None` lets everyone see all.
    rows: Option<Vec<RowRule>>,
}

/// Why the rules of viewers cannot be used.
#[derive(Debug, Error)]
pub enum ViewersError {
    /// There can be no such header.
    #[error("\"{0}\" is no name of an HTTP header; name one such as X-Forwarded-User")]
    Header(String),
    /// The file cannot be read.
    #[error("cannot read the rules of viewers in {0}: {1}")]
    Unreadable(String, std::io::Error),
    /// It is too large.
    #[error("the rules of viewers in {0} are larger than 1 MiB")]
    Large(String),
    /// It has other content; the problem names the line.
    #[error("the rules of viewers in {0} cannot be used: {1}")]
    Invalid(String, String),
}

/// What some viewers may see. All rules whose `viewers` match count together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowRule {
    viewers: Vec<Written>,
    /// All applications.
    #[serde(default)]
    all: bool,
    /// The applications of the user with the name of the viewer.
    #[serde(default)]
    own: bool,
    #[serde(default)]
    users: Vec<Written>,
    #[serde(default)]
    queues: Vec<Written>,
}

/// A pattern as rule files have it: a word, a glob, or a regular expression between slashes.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
struct Written(Pattern);

impl TryFrom<String> for Written {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        Pattern::parse(&written).map(Self)
    }
}

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) enum Viewer {
    /// It is not told, and everything may be seen.
    Anyone,
    /// The viewer with this name.
    Named(String, Seen),
}

/// What a viewer may see.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    All,
    Some(Visible),
}

impl Viewer {
    /// What they may see, if it is not everything.
    pub(crate) const fn visible(&self) -> Option<&Visible> {
        match self {
            Self::Named(_, Seen::Some(visible)) => Some(visible),
            Self::Anyone | Self::Named(_, Seen::All) => None,
        }
    }

    /// The name, if it is told.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Anyone => None,
            Self::Named(name, _) => Some(name),
        }
    }

    /// What distinguishes the answers that they get from those of others.
    pub(crate) fn share(&self) -> Option<String> {
        self.visible().and(self.name()).map(str::to_owned)
    }
}

impl Viewers {
    /// The proxy tells who asks in this header, and everyone sees all.
    pub fn told_by(header: &str) -> Result<Self, ViewersError> {
        let header = header.parse().map_err(|_| ViewersError::Header(header.to_owned()))?;
        Ok(Self { header, rows: None })
    }

    /// The same with the rules in a file.
    pub fn with_rows(self, path: &Path) -> Result<Self, ViewersError> {
        let name = || path.display().to_string();
        let mut text = String::new();
        let read = std::fs::File::open(path).and_then(|file| {
            std::io::Read::read_to_string(&mut std::io::Read::take(file, MOST_BYTES + 1), &mut text)
        });
        read.map_err(|error| ViewersError::Unreadable(name(), error))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(ViewersError::Large(name()));
        }
        self.with_rules(&text).map_err(|problem| ViewersError::Invalid(name(), problem))
    }

    fn with_rules(self, text: &str) -> Result<Self, String> {
        let rows: Vec<RowRule> = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        let shows_nothing =
            |rule: &RowRule| !rule.all && !rule.own && rule.users.is_empty() && rule.queues.is_empty();
        if let Some(at) = rows.iter().position(|rule| rule.viewers.is_empty() || shows_nothing(rule)) {
            return Err(format!(
                "rule {} must have viewers, and what they see: all, own, users or queues",
                at + 1
            ));
        }
        Ok(Self { rows: Some(rows), ..self })
    }

    /// Who asks, by the head of a request from a proxy that is trusted.
    pub(crate) fn told(&self, headers: &HeaderMap) -> Result<Viewer, Failure> {
        let mut values = headers.get_all(&self.header).iter();
        let name = values.next().and_then(|value| value.to_str().ok()).map(str::trim);
        let name = name.filter(|name| !name.is_empty() && name.len() <= LONGEST);
        // A second one may be the viewer's own, which the proxy passed on.
        match (name, values.next()) {
            (Some(name), None) => Ok(Viewer::Named(name.to_owned(), self.seen_by(name))),
            _ => Err(Failure::Forbidden("the proxy does not say who asks")),
        }
    }

    /// Whether somebody does not see all.
    pub(crate) const fn have_rows(&self) -> bool {
        self.rows.is_some()
    }

    fn seen_by(&self, name: &str) -> Seen {
        let Some(rows) = &self.rows else { return Seen::All };
        let mut visible = Visible::default();
        for rule in rows.iter().filter(|rule| rule.viewers.iter().any(|viewer| viewer.0.matches(name))) {
            if rule.all {
                return Seen::All;
            }
            if rule.own {
                visible.users.push(Pattern::exactly(name));
            }
            let patterns = |written: &[Written]| written.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
            visible.users.extend(patterns(&rule.users));
            visible.queues.extend(patterns(&rule.queues));
        }
        Seen::Some(visible)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const RULES: &str = "
- viewers: [root, platform-*]
  all: true
- viewers: ['*']
  own: true
  queues: [root.public.*]
- viewers: [alice]
  users: [etl]
";

    fn viewers(rules: &str) -> Result<Viewers, String> {
        Viewers::told_by("X-Forwarded-User").unwrap().with_rules(rules)
    }

    fn asked(names: &[&'static str]) -> HeaderMap {
        let name = HeaderName::from_static("x-forwarded-user");
        let mut headers = HeaderMap::new();
        for value in names {
            headers.append(&name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn rules_of_a_viewer_count_together() {
        let viewers = viewers(RULES).unwrap();
        let seen = |name| viewers.told(&asked(&[name])).unwrap();
        for name in ["root", "platform-7"] {
            assert!(seen(name).visible().is_none(), "{name}");
        }
        let alice = seen("alice");
        let visible = alice.visible().unwrap();
        let texts = |patterns: &[Pattern]| patterns.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(texts(&visible.users), ["alice", "etl"]);
        assert_eq!(texts(&visible.queues), ["root.public.*"]);
        // A name that looks like a pattern is none.
        assert!(!seen("*").visible().unwrap().users.iter().any(|user| user.matches("alice")));
    }

    #[test]
    fn who_is_not_named_once_is_refused() {
        let viewers = viewers(RULES).unwrap();
        for names in [&[][..], &[""], &[" "], &["alice", "root"]] {
            assert!(matches!(viewers.told(&asked(names)), Err(Failure::Forbidden(_))), "{names:?}");
        }
    }

    #[test]
    fn mistakes_in_rules_are_told() {
        for (rules, expected) in [
            ("- viewers: [a]", "rule 1 must have viewers"),
            ("- viewers: []\n  all: true", "rule 1 must have viewers"),
            ("- viewers: [a]\n  queue: [b]", "unknown field `queue`"),
            ("- viewers: ['/(/']\n  all: true", "unclosed group"),
            ("all: true", "invalid type: map"),
        ] {
            let problem = viewers(rules).map(|_| ()).unwrap_err();
            assert!(problem.contains(expected), "{rules}: {problem}");
        }
        assert!(Viewers::told_by("no header").is_err());
    }
}
