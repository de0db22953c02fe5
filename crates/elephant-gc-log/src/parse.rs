//! Reads a log to its summary.

use std::io::{self, BufRead, Read};

use thiserror::Error;

use crate::builder::Builder;
use crate::classic::Classic;
use crate::lines::Lines;
use crate::parts::{Part, order};
use crate::recognise::{Dialect, HEAD, NotGcLog, recognise};
use crate::summary::GcLog;
use crate::unified::Unified;

/// Why a log was not read.
#[derive(Debug, Error)]
pub enum Error {
    /// The file is no log of a collector.
    #[error(transparent)]
    NotGcLog(#[from] NotGcLog),
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads a log line by line. Memory does not grow with the log.
#[derive(Debug)]
pub struct Parser {
    builder: Builder,
    reader: Reader,
}

#[derive(Debug)]
enum Reader {
    Classic(Box<Classic>),
    Unified(Box<Unified>),
}

impl Parser {
    /// A parser for a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        let reader = match dialect {
            Dialect::Classic => Reader::Classic(Box::default()),
            Dialect::Unified => Reader::Unified(Box::default()),
        };
        Self { builder: Builder::new(dialect), reader }
    }

    /// Reads all lines of one part.
    ///
    /// # Errors
    ///
    /// If the part cannot be read. What was read before stays.
    pub fn read(&mut self, part: impl BufRead) -> io::Result<()> {
        let mut lines = Lines::new(part);
        while let Some(line) = lines.next()? {
            self.builder.log.damage.too_long += u64::from(line.is_cut);
            self.line(&String::from_utf8_lossy(line.bytes));
        }
        Ok(())
    }

    /// Reads one line without its end.
    pub fn line(&mut self, line: &str) {
        self.builder.log.damage.lines += 1;
        match &mut self.reader {
            Reader::Classic(classic) => classic.line(line, &mut self.builder),
            Reader::Unified(unified) => unified.line(line, &mut self.builder),
        }
    }

    /// The summary of all lines.
    #[must_use]
    pub fn finish(mut self) -> GcLog {
        match &mut self.reader {
            Reader::Classic(classic) => classic.finish(&mut self.builder),
            Reader::Unified(unified) => unified.finish(&mut self.builder),
        }
        self.builder.finish()
    }
}

/// Reads a log in one file.
///
/// # Errors
///
/// If it cannot be read or is no log of a collector.
pub fn parse(file: impl Read) -> Result<GcLog, Error> {
    parse_parts([("", file)])
}

/// Reads the parts of a rotated log, each with its name, in the order in which they were written.
///
/// # Errors
///
/// If a part cannot be read, or there is no log of a collector among them. Other files are left out.
pub fn parse_parts<'a, R: Read>(parts: impl IntoIterator<Item = (&'a str, R)>) -> Result<GcLog, Error> {
    let mut opened = Vec::new();
    for (name, mut file) in parts {
        let mut head = Vec::new();
        (&mut file).take(HEAD as u64).read_to_end(&mut head)?;
        opened.push((name, head, Some(file)));
    }
    let dialects: Vec<_> = opened.iter().map(|(_, head, _)| recognise(head)).collect();
    let Some(dialect) = dialects.iter().find_map(|found| found.ok()) else {
        return Err(dialects.into_iter().find_map(Result::err).unwrap_or(NotGcLog::Empty).into());
    };
    let parts: Vec<_> = opened.iter().map(|(name, head, _)| Part { name, head }).collect();
    let order = order(&parts);
    let mut parser = Parser::new(dialect);
    for at in order {
        let Some((_, head, file)) = opened.get_mut(at) else { continue };
        if let (Some(file), Some(Ok(found))) = (file.take(), dialects.get(at))
            && *found == dialect
        {
            parser.read(head.chain(io::BufReader::new(file)))?;
        }
    }
    Ok(parser.finish())
}
