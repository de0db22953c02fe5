//! Reads parts of the file, and collects what is wrong with them.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_rule::params::quantity::{Duration, Quantity};
use elephant_rule::params::words::did_you_mean;
use elephant_rule::params::yaml::{Kind, Node, Span, Spanned};
use elephant_rule::params::{Problems, RuleFile};

/// An entry of a mapping.
pub(super) type Entry<'n> = (&'n Spanned<String>, &'n Node);

/// The file that is read, and its problems so far.
pub(super) struct Reader<'r> {
    pub(super) file: &'r Arc<RuleFile>,
    pub(super) problems: &'r mut Problems,
}

impl Reader<'_> {
    pub(super) fn error(&mut self, span: &Span, message: impl Into<String>, help: Option<String>) {
        self.problems.error(self.file, span, message, help);
    }

    /// The entries of a mapping with these keys. Other keys are errors.
    pub(super) fn entries<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        keys: &[&str],
        example: &str,
    ) -> Option<Vec<Entry<'n>>> {
        let Kind::Map(entries) = &node.kind else {
            let message = format!("expected {what}, got {}", node.what());
            self.error(&node.span, message, Some(example.to_owned()));
            return None;
        };
        for (key, _) in entries.iter().filter(|(key, _)| !keys.contains(&key.value.as_str())) {
            let message = format!("there is no key \"{}\" here; the keys are {}", key.value, keys.join(", "));
            self.error(&key.span, message, did_you_mean(&key.value, keys.iter().copied()));
        }
        Some(entries.iter().map(|(key, node)| (key, node)).collect())
    }

    /// A value of this type.
    pub(super) fn value<T: DeserializeOwned>(&mut self, node: &Node) -> Option<T> {
        let read = node.read();
        read.map_err(|error| self.problems.unreadable(self.file, &node.span, error)).ok()
    }

    /// A text on one line that is not empty.
    pub(super) fn text(&mut self, node: &Node) -> Option<String> {
        let text: String = self.value(node)?;
        if text.trim().is_empty() || text.chars().any(char::is_control) {
            self.error(&node.span, "expected a text on one line", None);
            return None;
        }
        Some(text)
    }

    pub(super) fn time(&mut self, node: &Node) -> Option<Millis> {
        self.value::<Quantity<Duration>>(node).map(Quantity::millis)
    }

    pub(super) fn severity(&mut self, node: &Node) -> Option<Severity> {
        self.value(node)
    }
}
