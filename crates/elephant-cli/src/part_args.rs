//! Options for results in parts: several runs read their histories, and another makes one report of all.

use std::error::Error;
use std::path::PathBuf;
use std::{fs, io};

use clap::Args;
use twox_hash::XxHash3_128;

use super::Exit;
use super::input_args::InputArgs;
use super::output::{Output, OutputError};
use elephant_engine::engine::{Part, PartKind};

/// The heading of these options in the help.
const HEADING: &str = "Results in parts";

#[derive(Debug, Args)]
pub(super) struct PartArgs {
    /// Write a partial result for --merge to this file instead of a report; - is standard output. The exit status is
    /// 0 if the file was written; the run that merges the parts judges findings and unreadable files
    #[arg(long, value_name = "FILE", conflicts_with_all = ["merge", "output"], help_heading = HEADING)]
    partial: Option<PathBuf>,
    /// The paths are partial results: write the report that one run over all their histories would write. Give filters,
    /// rules and limits as for the parts
    #[arg(long, help_heading = HEADING)]
    merge: bool,
}

impl PartArgs {
    /// Where the partial result goes, if one is wanted.
    pub(super) fn open(&self) -> Result<Option<Output>, OutputError> {
        self.partial.as_deref().map(|path| Output::open(Some(path))).transpose()
    }

    /// Whether the paths are partial results.
    pub(super) const fn merges(&self) -> bool {
        self.merge
    }
}

/// A hash of what files contain, so that parts with other data are told apart.
pub(super) fn hash_of_files(paths: &[PathBuf]) -> io::Result<String> {
    let hash = |path: &PathBuf| Ok(format!("{:032x}", XxHash3_128::oneshot(&fs::read(path)?)));
    Ok(paths.iter().map(hash).collect::<io::Result<Vec<String>>>()?.join(" "))
}

/// Writes a partial result.
pub(super) fn write_part(
    part: &Part,
    kind: &PartKind<'_>,
    input: &InputArgs,
    file: Output,
) -> Result<Exit, Box<dyn Error>> {
    input.warn(&part.problems, None);
    file.write(|out| kind.write(&part.body, out))?;
    Ok(Exit::Clean)
}
