//! The text of a rule file, and positions in it.

/// The text of a rule file, with the name shown in errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// The path, or the name of a preset.
    pub name: String,
    /// The YAML.
    pub text: String,
}

impl RuleFile {
    /// Line and column of a byte of the text, counted from 1; columns count characters.
    #[must_use]
    pub(crate) fn place(&self, byte: usize) -> (usize, usize) {
        let before = self.text.get(..byte).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column =
            before.get(line_start..).unwrap_or_default().chars().filter(|&c| c != '\u{feff}').count();
        (before.matches('\n').count() + 1, column + 1)
    }
}
