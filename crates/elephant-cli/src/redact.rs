//! `analyze --redact`: the report on histories that were written again without names.

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use tempfile::TempDir;

use super::anonymise::KeyArgs;
use super::input_args::InputArgs;
use super::output;
use super::path_args::Inputs;
use elephant_anonymise::{AnonymiseError, Key, Options, anonymise};
use elephant_base::limits::Limits;
use elephant_engine::results::Report;
use elephant_engine::storages;

#[derive(Debug, Args)]
#[command(mut_arg("key", |arg| arg.requires("redact")), mut_arg("key_file", |arg| arg.requires("redact")))]
pub(super) struct RedactArgs {
    /// Replace hosts, users, paths, names, SQL and words of messages by pseudonyms, as anonymise does
    #[arg(long, conflicts_with_all = ["partial", "merge", "logs", "gc_logs", "files_from", "stdin_name"])]
    redact: bool,
    #[command(flatten)]
    key: KeyArgs,
}

/// Histories without names, in a folder that is removed again.
pub(super) struct Redacted {
    folder: TempDir,
    paths: Vec<PathBuf>,
}

impl RedactArgs {
    pub(super) fn is_on(&self) -> bool {
        self.redact
    }

    /// Writes the histories again; `None` without `--redact`.
    ///
    /// # Errors
    /// If the key cannot be read, or nothing can be written.
    pub(super) fn rewrite(
        &self,
        inputs: &Inputs<'_>,
        (input, limits): (&InputArgs, Limits),
    ) -> Result<Option<Redacted>, Box<dyn Error>> {
        if !self.redact {
            return Ok(None);
        }
        let key = self.key.read()?.map_or_else(Key::random, Ok)?;
        let storages = storages::all(&limits);
        let options = Options { key: Some(key), force: false, limits, storages };
        let mut redacted = Redacted { folder: TempDir::new()?, paths: Vec::new() };
        for (number, path) in inputs.files().into_iter().enumerate() {
            // With a separator at its end, it is a folder, and names of files are kept as far as they can be.
            let folder = redacted.folder.path().join(format!("{}/", number + 1));
            match anonymise(path, &folder, &options) {
                Ok(report) => redacted.add(folder, &report, input),
                Err(error @ AnonymiseError::NoHistory { .. }) => {
                    output::print_message("warning", &error.to_string());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(redacted))
    }
}

impl Redacted {
    fn add(&mut self, folder: PathBuf, report: &elephant_anonymise::Report, input: &InputArgs) {
        for file in &report.unreadable {
            output::print_message("warning", &format!("{file}; it is left out"));
        }
        if report.others > 0 {
            let what = "files are left out, because they are no histories of Spark or MapReduce";
            input.note(&format!("--redact: {} {what}", report.others));
        }
        self.paths.push(folder);
    }

    pub(super) fn inputs(&self) -> Inputs<'_> {
        Inputs::of(&self.paths)
    }

    /// Removes the name of the folder, which differs from run to run.
    pub(super) fn hide_folder(&self, report: &mut Report) {
        let folder = format!("{}/", self.folder.path().display());
        let hide = |text: &mut String| {
            if text.contains(&folder) {
                *text = text.replace(&folder, "");
            }
        };
        for app in &mut report.applications {
            app.sources.iter_mut().for_each(hide);
            for explanation in &mut app.explanations {
                explanation.places_mut().for_each(|place| hide(&mut place.file));
            }
        }
        for problem in &mut report.problems {
            hide(&mut problem.source);
            hide(&mut problem.problem.message);
        }
    }
}
