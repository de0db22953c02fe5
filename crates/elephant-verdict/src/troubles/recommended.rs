//! A setting that is recommended to an application.

use elephant_base::state::State;
use elephant_rule::finding::SettingChange;

/// A setting with the value that is right for all troubles.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct Recommended {
    /// The change.
    pub change: SettingChange,
    /// The ids of the troubles that call for it.
    pub why: Vec<String>,
}
