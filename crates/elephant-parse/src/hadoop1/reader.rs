//! Splits lines into records and embedded configurations.

use std::borrow::Cow;
use std::io::{self, Read};

use super::lexer::{Dialect, Record, parse_record, starts_known_record, starts_record, value_len};
use crate::problem::{Level, Position, Problems};
use crate::{jobconf, too_long};
use elephant_base::limits::{self, LimitReached, Limits};
use elephant_input::window::{ByteWindow, LineReader, NextLine};
use elephant_model::model::conf::Conf;

/// Receives the contents of a history in order.
pub trait Visitor {
    /// A record.
    fn record(&mut self, at: Position, record: &Record<'_>);
    /// A configuration inside a job tracker's log, with the job's id from its separator (may be empty).
    fn conf(&mut self, job_id: &str, conf: Conf);
    /// The limit on memory, if what was received takes more.
    fn beyond_memory(&self) -> Option<LimitReached> {
        None
    }
}

/// How reading a source ended.
#[derive(Debug, Clone, Default)]
pub struct Ending {
    /// Problems below the level of records.
    pub problems: Problems,
    /// Whether the source could not be read to its end, or ended inside a record.
    pub truncated: bool,
    /// The option whose limit ended the reading.
    pub limit: Option<&'static str>,
    /// Whether an overlong line or record was skipped.
    pub too_long: bool,
}

/// Reads a source to its end.
pub fn read<R: Read>(window: ByteWindow<R>, visitor: &mut impl Visitor) -> Ending {
    read_within(window, visitor, &Limits::default())
}

/// Reads all records within `limits`: longer lines, records and configurations are skipped.
pub(super) fn read_within<R: Read>(
    window: ByteWindow<R>,
    visitor: &mut impl Visitor,
    limits: &Limits,
) -> Ending {
    let mut lines = LineReader::new(window, limits.line_len());
    let mut assembler = Assembler::new(visitor, *limits);
    loop {
        match lines.next_line() {
            Ok(NextLine::Line(line)) => assembler.line(line.number, line.bytes, line.terminated),
            Ok(NextLine::TooLong { number }) => assembler.too_long(number),
            Ok(NextLine::End) => return assembler.finish(),
            // What was read before the error still counts as a line.
            Err(error) => assembler.stopped(&error),
        }
        if let Some(reached) = assembler.visitor.beyond_memory() {
            assembler.stopped(&reached.into());
            return assembler.finish();
        }
    }
}

/// The name in a `!!FILE=name!!` line, which separates the files of a job tracker's log.
pub(super) fn separator(line: &[u8]) -> Option<&[u8]> {
    line.trim_ascii().strip_prefix(b"!!FILE=")?.strip_suffix(b"!!")
}

/// What the current lines belong to.
enum Chunk {
    /// Only blank lines followed the separator of the job with this id.
    New {
        job_id: String,
    },
    Records,
    Conf {
        job_id: String,
        line: u64,
        text: Vec<u8>,
    },
}

struct Assembler<'v, V> {
    visitor: &'v mut V,
    ending: Ending,
    chunk: Chunk,
    /// How values are encoded, once a record has shown it.
    dialect: Option<Dialect>,
    /// The lines of a record whose last value has not ended yet.
    pending: Vec<u8>,
    pending_line: u64,
    pending_dialect: Dialect,
    open: bool,
    /// Whether lines up to the next record belong to a broken one.
    skipping: bool,
    limits: Limits,
    max_len: usize,
}

impl<'v, V: Visitor> Assembler<'v, V> {
    fn new(visitor: &'v mut V, limits: Limits) -> Self {
        Self {
            visitor,
            ending: Ending::default(),
            chunk: Chunk::Records,
            dialect: None,
            pending: Vec::new(),
            pending_line: 0,
            pending_dialect: Dialect::Escaped,
            open: false,
            skipping: false,
            limits,
            max_len: limits.line_len(),
        }
    }

    fn line(&mut self, number: u64, bytes: &[u8], terminated: bool) {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let bytes = if number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        if let Some(name) = separator(bytes) {
            self.end_of_file();
            self.dialect = None;
            self.chunk = Chunk::New { job_id: job_id_in(&String::from_utf8_lossy(name)).unwrap_or_default() };
            return;
        }
        if let Chunk::New { job_id } = &mut self.chunk {
            match bytes.trim_ascii_start().first() {
                None => return,
                Some(b'<') => {
                    let job_id = std::mem::take(job_id);
                    self.chunk = Chunk::Conf { job_id, line: number, text: Vec::new() };
                }
                Some(_) => self.chunk = Chunk::Records,
            }
        }
        if let Chunk::Conf { text, .. } = &mut self.chunk {
            if text.len() + bytes.len() < self.max_len {
                text.extend_from_slice(bytes);
                text.push(b'\n');
            }
            return;
        }
        // Within a value, the quote after `KEY=` would be escaped, so this is the next record.
        if self.open && starts_known_record(bytes) {
            self.break_off();
        }
        if self.open {
            self.continue_record(bytes, terminated);
        } else {
            self.start_record(number, bytes, terminated);
        }
    }

    /// Records that reading stopped because of `error`.
    fn stopped(&mut self, error: &io::Error) {
        let code = limits::code_of(error, "truncated");
        self.ending.limit = limits::behind(error).map(LimitReached::option);
        self.report_truncated(code, None, || format!("reading stopped: {error}; the part before it is used"));
    }

    fn start_record(&mut self, number: u64, bytes: &[u8], terminated: bool) {
        let bytes = bytes.trim_ascii_start();
        if bytes.is_empty() {
            return;
        }
        if !starts_record(bytes) {
            if !terminated {
                self.truncated_inside_record(number);
            } else if !self.skipping {
                self.broken(number);
            }
            self.skipping = true;
            return;
        }
        self.skipping = false;
        if bytes.starts_with(b"Meta ") {
            self.dialect = None;
        }
        let dialect = self.dialect.unwrap_or_else(|| Dialect::guess(bytes));
        if dialect == Dialect::Escaped && self.whole_line(number, bytes) {
            return;
        }
        if ends_inside_value(bytes, false, dialect) {
            self.open = true;
            self.pending.extend_from_slice(bytes);
            self.pending_line = number;
            self.pending_dialect = dialect;
        } else {
            self.complete(number, bytes, dialect, terminated);
        }
    }

    /// Fast path for a line that is a complete record, as nearly all are: it does not search for the ends of
    /// values first. Returns whether it was one.
    fn whole_line(&mut self, number: u64, bytes: &[u8]) -> bool {
        let record = std::str::from_utf8(bytes).ok().and_then(|text| parse_record(text, Dialect::Escaped));
        let Some(record) = record.filter(|record| record.closed) else { return false };
        self.dialect.get_or_insert(Dialect::Escaped);
        self.visitor.record(Position::Line(number), &record);
        true
    }

    fn continue_record(&mut self, bytes: &[u8], terminated: bool) {
        if self.pending.len() + bytes.len() >= self.max_len {
            self.ending.too_long = true;
            self.break_off();
            self.skipping = true;
            return;
        }
        self.pending.push(b'\n');
        self.pending.extend_from_slice(bytes);
        if !ends_inside_value(bytes, true, self.pending_dialect) {
            let text = std::mem::take(&mut self.pending);
            self.open = false;
            self.complete(self.pending_line, &text, self.pending_dialect, terminated);
        }
    }

    fn complete(&mut self, number: u64, text: &[u8], dialect: Dialect, terminated: bool) {
        // Checking for invalid UTF-8 is much faster than replacing it.
        let text = std::str::from_utf8(text).map_or_else(|_| String::from_utf8_lossy(text), Cow::Borrowed);
        if matches!(text, Cow::Owned(_)) {
            self.ending.problems.add(Level::Info, "invalid-utf8", Some(Position::Line(number)), || {
                "invalid UTF-8 was replaced; the affected values differ from the file".to_owned()
            });
        }
        let record = parse_record(&text, dialect);
        // Only a closing dot proves that the last line of a source is complete.
        let may_be_truncated = !terminated && (dialect == Dialect::Escaped || self.ending.truncated);
        match record {
            Some(record) if record.closed || !may_be_truncated => {
                self.dialect.get_or_insert(if record.closed { Dialect::Escaped } else { dialect });
                self.visitor.record(Position::Line(number), &record);
            }
            _ if !terminated => self.truncated_inside_record(number),
            _ => {
                self.broken(number);
                self.skipping = true;
            }
        }
    }

    fn too_long(&mut self, number: u64) {
        if self.open {
            self.break_off();
        }
        self.skipping = true;
        self.ending.too_long = true;
        self.ending
            .problems
            .warn("line-too-long", Some(Position::Line(number)), || too_long("a line", &self.limits));
    }

    /// Abandons the open record.
    fn break_off(&mut self) {
        self.open = false;
        self.pending = Vec::new();
        self.broken(self.pending_line);
    }

    fn broken(&mut self, number: u64) {
        self.ending.problems.warn("broken-record", Some(Position::Line(number)), || {
            "text that is not a complete record was skipped; its contents are missing".to_owned()
        });
    }

    fn truncated_inside_record(&mut self, number: u64) {
        self.report_truncated("truncated", Some(Position::Line(number)), || {
            "the source ends inside a record; the part before it is used".to_owned()
        });
    }

    /// Reports a truncated source once, whether it shows as an error, as half a record, or both.
    fn report_truncated(
        &mut self,
        code: &'static str,
        at: Option<Position>,
        message: impl FnOnce() -> String,
    ) {
        if !self.ending.truncated {
            self.ending.truncated = true;
            self.ending.problems.warn(code, at, message);
        }
    }

    /// Ends one of the files of a job tracker's log.
    fn end_of_file(&mut self) {
        if self.open {
            self.break_off();
        }
        self.skipping = false;
        if let Chunk::Conf { job_id, line, text } = std::mem::replace(&mut self.chunk, Chunk::Records) {
            let (conf, problems) = jobconf::parse(text);
            for problem in problems.into_vec() {
                self.ending
                    .problems
                    .add(problem.level, problem.code, Some(Position::Line(line)), || problem.message);
            }
            self.visitor.conf(&job_id, conf);
        }
    }

    fn finish(mut self) -> Ending {
        if self.open {
            self.open = false;
            self.truncated_inside_record(self.pending_line);
        }
        self.end_of_file();
        self.ending
    }
}

/// Whether the text is inside a value at the end of `line`; `inside` is its state at the start.
fn ends_inside_value(line: &[u8], mut inside: bool, dialect: Dialect) -> bool {
    let mut rest = line;
    loop {
        let end = if inside { value_len(rest, dialect) } else { memchr::memchr(b'"', rest) };
        let Some(behind) = end.and_then(|end| rest.get(end + 1..)) else { return inside };
        rest = behind;
        inside = !inside;
    }
}

/// The first `job_<digits>_<digits>` in `name`.
fn job_id_in(name: &str) -> Option<String> {
    name.match_indices("job_").find_map(|(at, _)| {
        let (cluster, rest) = name.get(at + 4..)?.split_once('_')?;
        let serial: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let is_number =
            !cluster.is_empty() && cluster.bytes().all(|b| b.is_ascii_digit()) && !serial.is_empty();
        is_number.then(|| format!("job_{cluster}_{serial}"))
    })
}
