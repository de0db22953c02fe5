//! `elephant-rs export --store FILE --output FOLDER`

use std::error::Error;
use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::super::Exit;
use super::super::filter_args::FilterArgs;
use super::super::output::Output;
use super::StoreArgs;
use elephant_report::export::{Export as Files, ExportFormat};
use elephant_store::TABLES;

pub(crate) const EXAMPLES: &str = "\
Writes the applications, findings, troubles and queries in a database as files that Spark, Trino and DuckDB read as tables: \
FOLDER/applications/day=2026-11-25/run=ID/part-0.parquet. The day is that on which the history was found. Files appear \
when all are written. An export with the id of an earlier one replaces it.

Examples:
  elephant-rs export --store fleet.db --output /warehouse/fleet
      all applications; later exports replace this one
  elephant-rs export --store fleet.db --output /warehouse/fleet --since 2026-11-01 --run-id november
      those of a month next to it

Exit status: 0 all was written, 2 the run failed.";

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    store: StoreArgs,
    /// The folder to write to
    #[arg(long, short, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    output: PathBuf,
    /// Format of the files
    #[cfg_attr(feature = "parquet", arg(long, value_enum, default_value_t = Format::Parquet))]
    #[cfg_attr(not(feature = "parquet"), arg(long, value_enum))]
    format: Format,
    /// An export with the same id replaces this one
    #[arg(long, value_name = "ID", default_value = "store", value_parser = run_id, value_hint = ValueHint::Other)]
    run_id: String,
    #[command(flatten)]
    filters: FilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Compressed with zstd
    #[cfg(feature = "parquet")]
    Parquet,
    Csv,
    Ndjson,
}

impl Export {
    pub(crate) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let store = self.store.open()?;
        let format = match self.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => ExportFormat::Parquet,
            Format::Csv => ExportFormat::Csv,
            Format::Ndjson => ExportFormat::Ndjson,
        };
        let failed = |error: io::Error| format!("cannot write to {}: {error}", self.output.display());
        let mut files = Files::begin(&self.output, &self.run_id, format).map_err(failed)?;
        let mut counts = Vec::new();
        for table in &TABLES {
            let (mut count, mut failure) = (0_u64, None);
            let rows = store.rows(table, &self.filters.filter(), |day, row| {
                count += 1;
                failure = files.row(table, day, row).err();
                failure.is_none()
            });
            rows.map_err(|error| self.store.failed("read", &error))?;
            if let Some(error) = failure {
                return Err(failed(error).into());
            }
            let name = if count == 1 { table.row } else { table.name };
            counts.push(format!("{count} {name}"));
        }
        let written = files.finish(&TABLES).map_err(failed)?;
        let plural = if written == 1 { "" } else { "s" };
        let line = format!("{} in {written} file{plural} of run {}", counts.join(", "), self.run_id);
        Output::open(None)?.write(|out| writeln!(out, "{line}"))?;
        Ok(Exit::Clean)
    }
}

/// An id that is one name of a folder everywhere.
fn run_id(text: &str) -> Result<String, String> {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if text.is_empty() || text.len() > 100 || !text.chars().all(is_fit) {
        return Err("expected letters, digits, - and _".to_owned());
    }
    Ok(text.to_owned())
}
