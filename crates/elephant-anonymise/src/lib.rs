//! Rewrites histories so that they can be given away: the same findings without the names.
//!
//! A value stays only if it is known to be harmless (`vocabulary`, `settings`); everything else becomes a pseudonym, derived
//! from a key (`pseudonyms`), and all times move together (`clock`). Each format (`formats`) says what its fields mean, and
//! `mask` what is left of a text with that meaning. `files` reads the histories and writes the results, in bounded memory.

mod clock;
mod files;
mod formats;
mod json;
mod key;
mod mask;
mod names;
mod pseudonyms;
mod report;
mod settings;
mod text;
mod vocabulary;

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use elephant_input::error::InputError;

pub use files::{Options, anonymise, rewritten};
pub use key::Key;
pub use report::{Count, FileReport, Report};

/// Why nothing was written, or not all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnonymiseError {
    /// The system has no random bytes for a key.
    #[error("cannot make a random key: {0}; pass a key")]
    NoRandomness(String),
    /// The input cannot be read at all.
    #[error(transparent)]
    Input(#[from] InputError),
    /// There is nothing to rewrite.
    #[error("{} has no event log and no job history: nothing was written", path.display())]
    NoHistory {
        /// The input.
        path: PathBuf,
    },
    /// The output would be read as input.
    #[error("{} is inside of {}: choose a folder outside of it", output.display(), input.display())]
    OutputInInput {
        /// The output.
        output: PathBuf,
        /// The input.
        input: PathBuf,
    },
    /// The output exists.
    #[error("{} exists and is not replaced: choose another place, or pass --force", path.display())]
    Exists {
        /// The file or folder.
        path: PathBuf,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
