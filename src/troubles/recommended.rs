//! A setting that is recommended to an application.

use crate::finding::SettingChange;
use crate::state::state;

/// A setting with the value that is right for all troubles.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recommended {
    /// The change.
    pub change: SettingChange,
    /// The ids of the troubles that call for it.
    pub why: Vec<String>,
}

state!(struct Recommended { change, why });
