//! Rule files: where they come from, and where in them something stands.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use walkdir::WalkDir;

use super::{PRESETS, RuleError};

/// Larger files are something else, given by mistake.
const MAX_LEN: u64 = 8 << 20;

/// A rule file's text under the name to show in errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// The path, or the name of a preset.
    pub name: String,
    /// The YAML.
    pub text: String,
}

impl RuleFile {
    /// The preset of this name, or the YAML file, or all `*.yaml` and `*.yml` files below a folder by name.
    pub fn find(path: &Path) -> Result<Vec<Self>, RuleError> {
        let preset = PRESETS.iter().find(|(name, _)| path.as_os_str() == *name);
        if let Some((name, text)) = preset
            && !path.exists()
        {
            return Ok(vec![Self { name: format!("preset {name}"), text: (*text).to_owned() }]);
        }
        let unreadable = |source| RuleError::Unreadable { path: path.to_owned(), source };
        if !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
            return Ok(vec![Self::read(path)?]);
        }
        let mut files = Vec::new();
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.map_err(|error| unreadable(error.into()))?;
            let is_yaml = entry.path().extension().is_some_and(|e| e == "yaml" || e == "yml");
            if entry.file_type().is_file() && is_yaml {
                files.push(Self::read(entry.path())?);
            }
        }
        Ok(files)
    }

    fn read(path: &Path) -> Result<Self, RuleError> {
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAX_LEN + 1).read_to_string(&mut text));
        read.map_err(|source| RuleError::Unreadable { path: path.to_owned(), source })?;
        if text.len() as u64 > MAX_LEN {
            return Err(RuleError::TooLarge { path: path.to_owned() });
        }
        Ok(Self { name: path.display().to_string(), text })
    }

    /// Line and column of a byte of the text, counted from 1; columns count characters.
    #[must_use]
    pub fn place(&self, byte: usize) -> (usize, usize) {
        let before = self.text.get(..byte).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column =
            before.get(line_start..).unwrap_or_default().chars().filter(|&c| c != '\u{feff}').count();
        (before.matches('\n').count() + 1, column + 1)
    }
}
