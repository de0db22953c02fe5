//! Merges several documents about one rule: later ones override earlier ones, key by key.

use std::collections::BTreeMap;

use super::Reader;
use elephant_rule::params::words::nearest;
use elephant_rule::params::yaml::{Kind, Node, Spanned};

/// The keys of a rule's definition.
pub(in crate::custom) const KEYS: [&str; 12] = [
    "title",
    "engine",
    "over",
    "when",
    "description",
    "values",
    "thresholds",
    "severity",
    "score_tasks",
    "message",
    "advice",
    "examples",
];

/// The value of a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'d> {
    /// The index of the document.
    pub(super) source: usize,
    /// The value.
    pub(super) node: &'d Node,
}

/// The maximum number of values, and of thresholds, of a rule. Each name is searched among all others.
const MOST_NAMES: usize = 1000;

type Name<'d> = &'d Spanned<String>;

/// The merged documents.
#[derive(Debug, Default)]
pub(super) struct Layered<'d> {
    single: BTreeMap<&'d str, Entry<'d>>,
    /// Values in the order of their first document; a later one replaces the expression.
    pub(super) values: Vec<(Name<'d>, Entry<'d>)>,
    /// Thresholds, each with the entries of all documents in order.
    pub(super) thresholds: Vec<(Name<'d>, Vec<Entry<'d>>)>,
    /// Lists of examples.
    pub(super) examples: Vec<Entry<'d>>,
}

impl<'d> Layered<'d> {
    pub(super) fn of(reader: &mut Reader<'d, '_>) -> Self {
        let mut layered = Self::default();
        for (source, document) in reader.sources.iter().enumerate() {
            for (key, node) in document.entries {
                layered.add(reader, key, Entry { source, node });
            }
        }
        layered
    }

    /// The value of a key.
    pub(super) fn entry(&self, key: &str) -> Option<Entry<'d>> {
        self.single.get(key).copied()
    }

    fn add(&mut self, reader: &mut Reader<'d, '_>, key: &'d Spanned<String>, entry: Entry<'d>) {
        match key.value.as_str() {
            "values" => {
                for (name, node) in mapping(reader, entry) {
                    let entry = Entry { node, ..entry };
                    match self.values.iter_mut().find(|(known, _)| known.value == name.value) {
                        Some((_, known)) => *known = entry,
                        None => self.values.push((name, entry)),
                    }
                }
            }
            "thresholds" => {
                for (name, node) in mapping(reader, entry) {
                    let entry = Entry { node, ..entry };
                    match self.thresholds.iter_mut().find(|(known, _)| known.value == name.value) {
                        Some((_, known)) => known.push(entry),
                        None => self.thresholds.push((name, vec![entry])),
                    }
                }
            }
            "examples" => self.examples.push(entry),
            known if KEYS.contains(&known) => {
                self.single.insert(known, entry);
            }
            unknown => {
                let near = nearest(unknown, KEYS.into_iter());
                let help = near.map_or_else(
                    || format!("its keys are {}", KEYS.join(", ")),
                    |near| format!("did you mean \"{near}\"?"),
                );
                reader.at(entry.source, &key.span, format!("a rule has no \"{unknown}\""), Some(help));
            }
        }
    }
}

fn mapping<'d>(reader: &mut Reader<'d, '_>, entry: Entry<'d>) -> &'d [(Spanned<String>, Node)] {
    if let Kind::Map(entries) = &entry.node.kind {
        if entries.len() > MOST_NAMES {
            reader.error(
                entry,
                format!("a rule has at most {MOST_NAMES} of them, not {}", entries.len()),
                None,
            );
        }
        return entries.get(..MOST_NAMES).unwrap_or(entries);
    }
    reader.error(entry, format!("expected a mapping of names, got {}", entry.node.what()), None);
    &[]
}
