//! Why a question has no answer.

use elephant_store::StoreError;
use thiserror::Error;

use super::page::MOST_BYTES;
use super::told::Told;

/// Why a question has no answer. Each says what to do, as far as that is known.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// An argument has no meaning.
    #[error("{0}")]
    Bad(String),
    /// There is no such application, job, rule or finding.
    #[error("there is no {0}")]
    Missing(String),
    /// The answer needs more than a store has.
    #[error("{0}")]
    Gone(String),
    /// There was no turn for it, or no answer in time.
    #[error("{0}")]
    Refused(String),
    /// The store cannot be read.
    #[error("the store cannot be read: {0}")]
    Store(#[from] StoreError),
    /// No history can be read.
    #[error("the histories cannot be read: {0}")]
    Histories(String),
    /// A report is not what its reader expects.
    #[error("a report cannot be read: {0}; please report this")]
    Report(#[from] serde_json::Error),
    /// An answer does not fit, whatever part of it is asked for.
    #[error("the answer has {0} bytes, more than {MOST_BYTES}; please report this")]
    Large(usize),
    /// A report cannot be written.
    #[error("a report cannot be written: {0}")]
    Written(#[from] std::io::Error),
}

impl Failure {
    /// The message, which may repeat an argument or a path.
    pub(crate) fn words(&self) -> String {
        Told::<1000>::of(&self.to_string()).to_string()
    }
}
