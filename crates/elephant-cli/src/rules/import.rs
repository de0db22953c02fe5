//! `elephant-rs rules import HeuristicConf.xml`

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::Args;
use thiserror::Error;

use super::super::Exit;
use super::super::output::{self, Output};
use elephant_ruleset::import::{self, XmlError};

pub(super) const EXAMPLES: &str = "\
Notes on standard error list the settings that had no effect in Dr. Elephant, and what they mean here.

Examples:
  elephant-rs rules import app-conf/HeuristicConf.xml --output rules/dr-elephant.yaml
  elephant-rs analyze --rules dr-elephant --rules rules/dr-elephant.yaml history/
      use the rules of Dr. Elephant with this configuration
  elephant-rs analyze --rules rules/dr-elephant.yaml history/
      use only the thresholds of this configuration";

/// Far above the size of a configuration, which is about ten kilobytes.
const MAX_LEN: u64 = 8 << 20;

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Dr. Elephant's heuristics configuration; - reads standard input
    #[arg(value_name = "HeuristicConf.xml")]
    configuration: PathBuf,
    /// Write the rule file to this path
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Error)]
enum ImportError {
    #[error("cannot read {path}: {error}", path = .path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{path} is not a configuration of Dr. Elephant: {error}", path = .path.display())]
    NoConfiguration { path: PathBuf, error: XmlError },
}

impl Import {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let path = || self.configuration.clone();
        let text = self.text().map_err(|error| ImportError::Unreadable { path: path(), error })?;
        let imported = import::import(elephant_heuristics::BUILT_IN, &text);
        let imported = imported.map_err(|error| ImportError::NoConfiguration { path: path(), error })?;
        for note in &imported.notes {
            output::print_message(
                "note",
                &format!("{}:{}: {}", self.configuration.display(), note.line, note.message),
            );
        }
        Output::open(self.output.as_deref())?.write(|out| out.write_all(imported.yaml.as_bytes()))?;
        Ok(Exit::Clean)
    }

    fn text(&self) -> io::Result<String> {
        let mut text = String::new();
        if self.configuration.as_os_str() == "-" {
            io::stdin().take(MAX_LEN).read_to_string(&mut text)?;
        } else {
            File::open(&self.configuration)?.take(MAX_LEN).read_to_string(&mut text)?;
        }
        Ok(text)
    }
}
