//! The file that says who is told what: receivers, and routes to them. All its problems are reported at once, each with
//! its position and what to write instead.

mod endpoint;
mod entries;
mod quiet;
mod receiver;
mod route;

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use super::Alert;
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_rule::params::words::did_you_mean;
use elephant_rule::params::yaml::{Kind, Node, documents};
use elephant_rule::params::{Importance, Problems, RuleFile, RuleProblem};

#[cfg(feature = "http")]
pub(crate) use endpoint::{Endpoint, Source};
use entries::Reader;
pub(crate) use receiver::{Mail, Receiver, To};
use route::Route;

/// Larger files are no lists of receivers.
const MAX_LEN: u64 = 1 << 20;

const KEYS: [&str; 5] = ["receivers", "routes", "ended_within", "first_run", "within"];
const EXAMPLE: &str =
    "write for example receivers: {team: {slack: {url_env: SLACK_WEBHOOK}}} and routes: [{to: team}]";

/// A history that ended longer ago is no news.
const ENDED_WITHIN: Millis = Millis::new(86_400_000);
/// All receivers together take at most so long after a reading.
const WITHIN: Millis = Millis::new(30_000);
/// The most that can be meant by it: the next reading waits for it.
const MOST_WITHIN: Millis = Millis::new(600_000);

/// Why there are no receivers.
#[derive(Debug, Error)]
pub enum AlertFileError {
    /// The file could not be read.
    #[error("cannot read the receivers of alerts in {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is too large for a list of receivers.
    #[error("{} is larger than 1 MiB, which is too large for a list of receivers", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It has errors.
    #[error("{}", Lines(.0))]
    Invalid(Vec<RuleProblem>),
    /// A receiver cannot be used: a secret is missing, or this build cannot send to it.
    #[error("the receiver {receiver} cannot be used: {why}")]
    Unusable {
        /// Its name.
        receiver: String,
        /// Why, and what to do.
        why: String,
    },
}

struct Lines<'p>(&'p [RuleProblem]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for problem in self.0 {
            write!(f, "{separator}{problem}")?;
            separator = "\n";
        }
        Ok(())
    }
}

/// Receivers of alerts, and what each of them gets.
#[derive(Debug, Clone)]
pub struct AlertFile {
    /// In the order of the file.
    pub(crate) receivers: Vec<Receiver>,
    routes: Vec<Route>,
    /// Only runs are told that ended so long ago at most.
    pub(crate) ended_within: Millis,
    /// What is told of a run that has nothing to be compared with: troubles of at least this severity.
    pub(crate) first_run: Severity,
    /// How long all receivers together may take.
    pub(crate) within: Millis,
}

impl AlertFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or has errors; the error lists all of them.
    pub fn read(path: &Path) -> Result<Self, AlertFileError> {
        let mut text = String::new();
        let file = File::open(path);
        file.and_then(|file| file.take(MAX_LEN + 1).read_to_string(&mut text))
            .map_err(|source| AlertFileError::Unreadable { path: path.to_owned(), source })?;
        if text.len() as u64 > MAX_LEN {
            return Err(AlertFileError::TooLarge { path: path.to_owned() });
        }
        Self::of(RuleFile { name: path.display().to_string(), text }).map_err(AlertFileError::Invalid)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// All errors in it.
    pub fn of(file: RuleFile) -> Result<Self, Vec<RuleProblem>> {
        let file = Arc::new(file);
        let mut problems = Problems::default();
        let read = Self::from_documents(&mut Reader { file: &file, problems: &mut problems });
        let problems = problems.into_vec(&[file]);
        let is_error = problems.iter().any(|problem| problem.importance == Importance::Error);
        read.filter(|_| !is_error).ok_or(problems)
    }

    /// Checks that everything can be sent: the secrets are there, and this build has what it takes.
    ///
    /// # Errors
    /// The first receiver that cannot be used.
    pub fn check(&self) -> Result<(), AlertFileError> {
        self.receivers.iter().try_for_each(|receiver| {
            let unusable = |why| AlertFileError::Unusable { receiver: receiver.name.clone(), why };
            receiver.check().map_err(unusable)
        })
    }

    /// The severity of a run without earlier ones from which on it is told.
    #[must_use]
    pub const fn first_run(&self) -> Severity {
        self.first_run
    }

    /// The least severity that any route sends.
    pub(crate) fn least_severity(&self) -> Severity {
        self.routes.iter().map(|route| route.severity).min().unwrap_or(Severity::Critical)
    }

    /// The receivers of an alert, each once, in the order of the file.
    pub(crate) fn receivers_of<'f>(&'f self, alert: &Alert) -> impl Iterator<Item = &'f Receiver> + use<'f> {
        let fitting = self.routes.iter().filter(|route| route.admits(alert));
        let names: BTreeSet<String> = fitting.flat_map(|route| route.to.iter().cloned()).collect();
        self.receivers.iter().filter(move |receiver| names.contains(&receiver.name))
    }

    fn from_documents(reader: &mut Reader<'_>) -> Option<Self> {
        let (nodes, errors) = documents(&reader.file.text);
        let is_yaml = errors.is_empty();
        for error in errors {
            reader.problems.syntax(reader.file, error);
        }
        let Some(first) = nodes.first() else {
            if is_yaml {
                reader.error(&(0..0), "the file names no receivers", Some(EXAMPLE.to_owned()));
            }
            return None;
        };
        if let Some(second) = nodes.get(1) {
            let help = Some("put all receivers and routes into one document".to_owned());
            reader.error(&(second.span.start..second.span.start), "the file has several documents", help);
        }
        Self::from_document(first, reader)
    }

    fn from_document(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let entries = reader.entries(node, "receivers and routes", &KEYS, EXAMPLE)?;
        let mut file = Self {
            receivers: Vec::new(),
            routes: Vec::new(),
            ended_within: ENDED_WITHIN,
            first_run: Severity::Critical,
            within: WITHIN,
        };
        let (mut routes, mut names) = (None, Vec::new());
        for (key, node) in entries {
            match key.value.as_str() {
                "receivers" => {
                    file.receivers = receiver::read_all(node, reader);
                    names = names_of(node);
                }
                "routes" => routes = Some(node),
                "ended_within" => file.ended_within = reader.time(node).unwrap_or(ENDED_WITHIN),
                "first_run" => file.first_run = reader.severity(node).unwrap_or(Severity::Critical),
                "within" => file.within = reader.time(node).unwrap_or(WITHIN),
                _ => {}
            }
            if key.value == "within" && !(Millis::new(1000)..=MOST_WITHIN).contains(&file.within) {
                let help = Some("write 1s to 10min: the next reading waits for it".to_owned());
                reader.error(&node.span, "receivers cannot have so long or so short a time", help);
            }
        }
        file.routes = routes.map(|node| route::read_all(node, reader)).unwrap_or_default();
        file.check_routes((node, &names), reader);
        Some(file)
    }

    /// Whether all receivers that routes name exist, and each gets something.
    fn check_routes(&self, (node, names): (&Node, &[&str]), reader: &mut Reader<'_>) {
        let start = node.span.start..node.span.start;
        if names.is_empty() {
            reader.error(&start, "the file names no receivers", Some(EXAMPLE.to_owned()));
        } else if self.routes.is_empty() {
            let help = Some("add for example routes: [{to: team, severity: severe}]".to_owned());
            reader.error(&start, "no route says what receivers get", help);
        }
        let names = || names.iter().copied();
        for (span, to) in self.routes.iter().flat_map(|route| &route.named) {
            if !names().any(|name| name == to) {
                let message = format!("there is no receiver \"{to}\"");
                reader.error(span, message, did_you_mean(to, names()));
            }
        }
        let used: BTreeSet<&String> = self.routes.iter().flat_map(|route| &route.to).collect();
        for receiver in self.receivers.iter().filter(|_| !self.routes.is_empty()) {
            if !used.contains(&receiver.name) {
                let help = Some(format!("add for example {{to: {}}} to routes", receiver.name));
                reader.error(&receiver.span, "no route names this receiver", help);
            }
        }
    }
}

/// The names of all receivers, also of those that cannot be read.
fn names_of(node: &Node) -> Vec<&str> {
    match &node.kind {
        Kind::Map(entries) => entries.iter().map(|(name, _)| name.value.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// The list that a node is, or the node alone.
fn listed(node: &Node) -> Vec<&Node> {
    match &node.kind {
        Kind::List(nodes) => nodes.iter().collect(),
        _ => vec![node],
    }
}

#[cfg(test)]
mod tests;
