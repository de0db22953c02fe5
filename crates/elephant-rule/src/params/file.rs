//! The text of a rule file.

/// The text of a rule file, with the name shown in errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// The path, or the name of a preset.
    pub name: String,
    /// The YAML.
    pub text: String,
}
