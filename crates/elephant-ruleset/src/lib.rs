//! Rule files: parameters in layers (built-in, then presets and files, the most specific last), and other
//! settings about rules: the applications they apply to, a maximum severity, and suppressed findings.
//!
//! Rules written in Rust implement [`Check`] and join a set with [`RuleSet::with_rules`]; `examples/rust-rule.rs` shows one.

mod active;
mod added;
mod assemble;
pub mod custom;
mod document;
mod exceptions;
mod file;
pub mod files;
mod hash;
mod identity;
pub mod import;
mod in_force;
mod index;
mod known;
pub mod schema;
mod scope;
mod set;
pub mod settings;
mod suppression;

use elephant_base::address::Address;
use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

pub use active::{ActiveRule, Evaluation, RuleCheck, RuleInfo};
pub use added::AddedRule;
pub use document::{Document, Selection, Target};
pub use file::{find_all_files, find_files};
pub use identity::JobIdentity;
pub use import::{Imported, Note, XmlError, import};
pub use scope::{Aspect, Pattern, Scope, Specificity};
pub use set::RuleSet;
pub use suppression::Suppression;

pub use elephant_catalogue::{Catalogue, Check, Remedy, Shared};
pub use elephant_rule::params::{Importance, RuleFile, RuleProblem};

/// Rule files that ship with the program: name, text.
pub const PRESETS: &[(&str, &str)] = &[
    ("compass", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/presets/compass.yaml"))),
    ("dr-elephant", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/presets/dr-elephant.yaml"))),
    (
        "dr-elephant-0.4",
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/presets/dr-elephant-0.4.yaml")),
    ),
    (
        "dr-elephant-2.0",
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/presets/dr-elephant-2.0.yaml")),
    ),
    (
        "dr-elephant-shs",
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/presets/dr-elephant-shs.yaml")),
    ),
    (
        "dr-elephant-tuning",
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/presets/dr-elephant-tuning.yaml")),
    ),
    ("vaidya", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/presets/vaidya.yaml"))),
];

/// Errors that prevent the use of rules.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// Documents of rule files have errors.
    #[error("{}", Lines(.0))]
    Invalid(Vec<RuleProblem>),
    /// A file could not be read.
    #[error("cannot read the rules in {path}: {source}; give a YAML file, a folder of them, or a preset ({presets})", path = Address::of(path), presets = preset_names())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no rule of this id.
    #[error("there is no rule \"{id}\"; {help}")]
    NoSuchRule {
        /// The id.
        id: String,
        /// The most similar one, or how to list all.
        help: String,
    },
    /// A folder contains no rule file.
    #[error("{} contains no rule file (*.yaml or *.yml)", Address::of(path))]
    NoFiles {
        /// The folder.
        path: PathBuf,
    },
    /// A rule written in Rust cannot be added.
    #[error("cannot add the rule \"{id}\": {problem}")]
    AddedRule {
        /// The rule's id.
        id: String,
        /// Why.
        problem: &'static str,
    },
    /// A file is too large for a rule file.
    #[error("{} is larger than 8 MiB, which is too large for a rule file", Address::of(path))]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

struct Lines<'p>(&'p [RuleProblem]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

fn preset_names() -> String {
    PRESETS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// The ids that a rule file may name, in addition to those that it defines.
fn known_ids<'s>(catalogue: Catalogue) -> impl Iterator<Item = &'s str> {
    catalogue.rules().map(|rule| rule.id).chain(settings::ALL.iter().map(|known| known.id))
}
