//! Tables of a store as files: one for each day, in a folder layout that Spark and Trino read as partitions.

mod csv;
mod ndjson;
#[cfg(feature = "parquet")]
mod parquet;
mod partitions;

use std::fs::File;
use std::io;

use elephant_store::{Table, Value};

pub use partitions::Export;

/// The formats of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Apache Parquet, one file for each table.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object on each line.
    Ndjson,
}

/// A file that takes rows.
trait Sink {
    fn row(&mut self, row: Vec<Option<Value>>) -> io::Result<()>;

    /// Writes the rest.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

impl ExportFormat {
    /// The ending of file names.
    const fn ending(self) -> &'static str {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
        }
    }

    fn sink(self, table: &'static Table, file: File) -> io::Result<Box<dyn Sink>> {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet => Ok(Box::new(parquet::Parquet::new(table, file)?)),
            Self::Csv => Ok(Box::new(csv::Csv::new(table, file)?)),
            Self::Ndjson => Ok(Box::new(ndjson::Ndjson::new(table, file))),
        }
    }
}
