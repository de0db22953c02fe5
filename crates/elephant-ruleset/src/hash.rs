//! A short text that identifies the rules in force, so that results by different rules are not mixed.

use std::sync::Arc;

use elephant_catalogue::Catalogue;
use twox_hash::XxHash3_128;

use super::added::AddedRule;
use super::{RuleFile, settings};

/// A hash of all texts that the rules are made of, in the order in which they apply. Names of files do not count: the
/// same rules may be in another folder on another machine.
pub(super) fn hash(catalogue: Catalogue, added: &[AddedRule], files: &[Arc<RuleFile>]) -> String {
    let built_in =
        catalogue.rules().map(|rule| rule.defaults).chain(settings::ALL.iter().map(|s| s.defaults));
    let texts = built_in.chain(added.iter().map(AddedRule::id)).chain(files.iter().map(|file| &*file.text));
    let mut whole = Vec::new();
    for text in texts {
        whole.extend_from_slice(&(text.len() as u64).to_le_bytes());
        whole.extend_from_slice(text.as_bytes());
    }
    format!("{:032x}", XxHash3_128::oneshot(&whole))
}

#[cfg(test)]
mod tests {
    use crate::{RuleFile, RuleSet};

    fn hash(files: &[(&str, &str)]) -> String {
        let file = |&(name, text): &(&str, &str)| RuleFile { name: name.to_owned(), text: text.to_owned() };
        let files: Vec<RuleFile> = files.iter().map(file).collect();
        RuleSet::with_files(elephant_heuristics::BUILT_IN, &files).unwrap().hash().to_owned()
    }

    #[test]
    fn other_rules_have_another_hash_and_other_names_have_not() {
        let off = "rule: mapper-skew\nenabled: false\n";
        let low = "rule: mapper-skew\nmax_severity: low\n";
        assert_eq!(hash(&[("a.yaml", off)]), hash(&[("b.yaml", off)]));
        let all = [
            hash(&[]),
            hash(&[("a", off)]),
            hash(&[("a", off), ("b", low)]),
            hash(&[("a", low), ("b", off)]),
        ];
        for (place, one) in all.iter().enumerate() {
            assert!(one.len() == 32 && all.iter().skip(place + 1).all(|other| one != other), "{all:?}");
        }
    }
}
