//! `elephant-rs anonymise IN OUT`

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use thiserror::Error;

use super::limits::LimitArgs;
use super::output::Output;
use super::{Exit, output};
use elephant_anonymise::{Key, Options, anonymise};
use elephant_engine::storages;

pub(super) const EXAMPLES: &str = "\
The result has the same findings, severities and figures. Hosts, users, paths, names of applications, tables and columns,
SQL, words of messages and settings that are not known to be harmless are replaced by pseudonyms, and all times are moved
back by the same number of days. Read the result before you give it away: docs/anonymise.md says what is kept, and why.

Examples:
  elephant-rs anonymise app.log given.log
      one event log, with a random key that is forgotten
  elephant-rs anonymise --key-file key.txt /mr-history/done given/
      a folder with job histories and configurations; the same key gives the same pseudonyms again
  elephant-rs analyze given/
      the same findings

Exit status: 0 everything was written, 1 some files could not be read, 2 nothing was written.";

/// The longest key file.
const LONGEST_KEY: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct Anonymise {
    /// An event log, a job history, a folder or an archive with them
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Where to write: a file for one history, otherwise a folder
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    key: KeyArgs,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    /// How to print what was replaced, kept and left out
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
    /// Print nothing about what was done
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Where the key comes from.
#[derive(Debug, Args)]
pub(super) struct KeyArgs {
    /// The secret from which pseudonyms are derived; other users of this machine may see it in the list of processes
    #[arg(long, value_name = "TEXT", conflicts_with = "key_file", value_hint = clap::ValueHint::Other)]
    key: Option<String>,
    /// Read the secret from a file; - reads standard input [default: a random secret that is forgotten]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Debug, Error)]
pub(super) enum KeyError {
    #[error(
        "the key is empty: anyone could compute the pseudonyms; pass a long one, or none for a random one"
    )]
    Empty,
    #[error("cannot read the key from {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

impl KeyArgs {
    /// The key; `None` for a random one.
    pub(super) fn read(&self) -> Result<Option<Key>, KeyError> {
        let text = match (&self.key, &self.key_file) {
            (Some(key), _) => key.clone().into_bytes(),
            (None, Some(path)) => {
                bytes_of(path).map_err(|source| KeyError::Unreadable { path: path.clone(), source })?
            }
            (None, None) => return Ok(None),
        };
        let text = text.trim_ascii_end();
        if text.is_empty() { Err(KeyError::Empty) } else { Ok(Some(Key::of_text(text))) }
    }
}

fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().take(LONGEST_KEY).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(LONGEST_KEY).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

impl Anonymise {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let limits = self.limits.limits();
        let storages = storages::all(&limits);
        let options = Options { key: self.key.read()?, force: self.force, limits, storages };
        let report = anonymise(&self.input, &self.output, &options)?;
        for file in &report.unreadable {
            output::print_message("warning", &format!("{file}; it is left out"));
        }
        if !self.quiet {
            let text = match self.format {
                Format::Text => report.to_string(),
                Format::Json => report.to_json(),
            };
            Output::open(None)?.write(|out: &mut dyn Write| out.write_all(text.as_bytes()))?;
        }
        Ok(if report.unreadable.is_empty() { Exit::Clean } else { Exit::Findings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_key_is_refused() {
        let args = |key: &str| KeyArgs { key: Some(key.to_owned()), key_file: None };
        assert!(args("a").read().is_ok_and(|key| key.is_some()));
        assert!(matches!(args(" \n").read(), Err(KeyError::Empty)));
        assert!(matches!(KeyArgs { key: None, key_file: None }.read(), Ok(None)));
        let absent = KeyArgs { key: None, key_file: Some(PathBuf::from("/nowhere/at/all")) };
        assert!(matches!(absent.read(), Err(KeyError::Unreadable { .. })));
    }
}
