//! Finds the documents about a rule. There may be thousands of rules with a few documents each, so no rule may search
//! all documents.

use std::collections::BTreeMap;

use super::document::{Document, Target};
use elephant_rule::finding::Provenance;

/// The documents by the rule they are about.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Places of the documents about one rule, by its id.
    single: BTreeMap<String, Vec<usize>>,
    /// Places of the documents about several rules.
    several: Vec<usize>,
}

impl Index {
    pub(crate) fn of<'d>(documents: impl IntoIterator<Item = &'d Document>) -> Self {
        let mut index = Self::default();
        for (place, document) in documents.into_iter().enumerate() {
            match &document.target {
                Target::Rule(id) => match index.single.get_mut(id) {
                    Some(places) => places.push(place),
                    None => {
                        index.single.insert(id.clone(), vec![place]);
                    }
                },
                Target::Every(_) => index.several.push(place),
            }
        }
        index
    }

    /// The documents about a rule with their places, in order. `documents` are those that the index was made of.
    pub(crate) fn about<'s, 'd: 's>(
        &'s self,
        id: &'s str,
        provenance: Provenance,
        document: impl Fn(usize) -> Option<&'d Document> + 's,
    ) -> impl Iterator<Item = (usize, &'d Document)> + 's {
        let single = self.single.get(id).map(Vec::as_slice).unwrap_or_default();
        let mut places: Vec<usize> = single.iter().chain(&self.several).copied().collect();
        // Both are in order, mostly with one of them empty.
        places.sort_unstable();
        let found = places.into_iter().filter_map(move |place| Some((place, document(place)?)));
        found.filter(move |(_, document)| document.target.includes(id, provenance))
    }
}

/// Documents with their index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Indexed<'s, 'd> {
    pub(crate) documents: &'s [&'d Document],
    pub(crate) index: &'s Index,
}

impl<'s, 'd> Indexed<'s, 'd> {
    /// The documents about a rule with their places, in order.
    pub(crate) fn about(
        self,
        id: &'s str,
        provenance: Provenance,
    ) -> impl Iterator<Item = (usize, &'d Document)> + use<'s, 'd> {
        self.index.about(id, provenance, move |place| self.documents.get(place).copied())
    }
}
