//! `elephant-rs rules init DIR`

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use thiserror::Error;

use super::super::Exit;
use super::super::output::Output;
use super::print;
use elephant_ruleset::files;

pub(super) const EXAMPLES: &str = "\
You can shorten each file to your changes. Parameters that are not in a file keep their built-in values.

Examples:
  elephant-rs rules init rules/
  elephant-rs rules check rules/
      check the files after your changes
  elephant-rs analyze --rules rules/ history/
      use them";

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder, which is created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Error)]
enum InitError {
    #[error("{path} already exists, so nothing was written; --force overwrites it", path = .0.display())]
    Exists(PathBuf),
    #[error("cannot write {path}: {error}", path = .path.display())]
    Write { path: PathBuf, error: io::Error },
}

impl Init {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let files = files::defaults(elephant_heuristics::BUILT_IN);
        let path = |name: &str| self.folder.join(name);
        if let Some(there) =
            files.iter().map(|file| path(&file.name)).find(|path| path.exists() && !self.force)
        {
            return Err(InitError::Exists(there).into());
        }
        for file in &files {
            write(&path(&file.name), &file.text)?;
        }
        print(&format!(
            "Wrote {} files to {folder}. Edit them, then run:\n  elephant-rs rules check {folder}\n  elephant-rs analyze --rules {folder} history/\n",
            files.len(),
            folder = self.folder.display(),
        ))?;
        Ok(Exit::Clean)
    }
}

fn write(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| InitError::Write { path: folder.to_owned(), error })?;
    }
    Ok(Output::open(Some(path))?.write(|out: &mut dyn Write| out.write_all(text.as_bytes()))?)
}
