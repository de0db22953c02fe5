//! The lines of a table, split into columns.

use super::attempts::Moment;
use super::{File, Receiver, TraceReader};
use elephant_base::limits::{LimitReached, code_of};
use elephant_base::units::Bytes;
use elephant_input::budget::{Budget, Metered};
use elephant_input::codec::Codec;
use elephant_input::error::InputError;
use elephant_input::part::Part;
use elephant_input::window::{ByteWindow, LineReader, NextLine};
use elephant_parse::{Level, Position, Problems};

/// The most columns that a table has, and one more to notice those that are too many.
const COLUMNS: usize = 15;

/// The columns of a line.
pub(super) struct Columns<'a> {
    texts: [&'a [u8]; COLUMNS],
    count: usize,
}

impl<'a> Columns<'a> {
    pub(super) fn of(line: &'a [u8]) -> Self {
        let mut columns = Self { texts: [&[]; COLUMNS], count: 0 };
        let mut from = 0;
        for end in memchr::memchr_iter(b',', line).chain([line.len()]) {
            if let Some(slot) = columns.texts.get_mut(columns.count) {
                *slot = line.get(from..end).unwrap_or_default();
            }
            columns.count += 1;
            from = end + 1;
        }
        columns
    }

    /// The text of a column, counted from 1 as in the descriptions of the traces.
    pub(super) fn text(&self, number: usize) -> &'a [u8] {
        number.checked_sub(1).and_then(|place| self.texts.get(place)).copied().unwrap_or_default()
    }

    /// A text that is not empty.
    pub(super) fn name(&self, number: usize) -> Option<&'a str> {
        std::str::from_utf8(self.text(number)).ok().filter(|name| !name.is_empty())
    }

    /// A whole number; decimals after a point are ignored, as some tools write them.
    pub(super) fn whole(&self, number: usize) -> Option<u64> {
        whole(self.text(number))
    }

    /// A whole number below 2³².
    pub(super) fn small(&self, number: usize) -> Option<u32> {
        u32::try_from(self.whole(number)?).ok()
    }
}

fn whole(text: &[u8]) -> Option<u64> {
    let digits = match memchr::memchr(b'.', text) {
        Some(point) => text.get(..point)?,
        None => text,
    };
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, &digit| {
        digit.is_ascii_digit().then_some(())?;
        sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}

/// A required value that is missing or not valid: its column and its meaning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unusable(pub(super) usize, pub(super) &'static str);

/// A time in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    At(Moment),
    /// Before the trace, after it, or missing: the moment is unknown.
    Censored,
}

impl Time {
    pub(super) const fn known(self) -> Option<Moment> {
        match self {
            Self::At(moment) => Some(moment),
            Self::Censored => None,
        }
    }

    /// Microseconds of Google's trace: 0 is before the trace, 2⁶³ − 1 after its end. `None` if the text is
    /// not a time of a trace.
    pub(super) fn of_micros(text: &[u8]) -> Option<Self> {
        match whole(text)? {
            0 => Some(Self::Censored),
            micros if micros == i64::MAX.unsigned_abs() => Some(Self::Censored),
            micros => Self::at(micros / 1000),
        }
    }

    /// Seconds of Alibaba's traces: 0, a negative number or an empty text is a time before the trace or
    /// unknown.
    pub(super) fn of_seconds(text: &[u8]) -> Option<Self> {
        if text.is_empty() || text.strip_prefix(b"-").is_some_and(|rest| whole(rest).is_some()) {
            return Some(Self::Censored);
        }
        match whole(text)? {
            0 => Some(Self::Censored),
            seconds => Self::at(seconds.checked_mul(1000)?),
        }
    }

    fn at(millis: u64) -> Option<Self> {
        let moment = Moment::try_from(millis).ok()?;
        (moment < Moment::MAX).then_some(Self::At(moment))
    }
}

/// Reads a table, and hands on the jobs that are complete.
///
/// # Errors
/// If the file cannot be opened.
pub(super) fn read_table(
    reader: &mut dyn TraceReader,
    file: &File<'_>,
    problems: &mut Problems,
    receiver: &mut dyn Receiver,
) -> Result<(), InputError> {
    if !file.table.has_jobs() {
        return Ok(());
    }
    let read =
        each_row(file, problems, |columns, at, problems| reader.row(columns, file, (at, problems), receiver));
    tell_repeated(problems, reader.repeated());
    read
}

/// Reads the rows of a table. Rows that `each` cannot use are counted in `problems`; if `each` reaches a
/// limit, reading stops.
///
/// # Errors
/// If the file cannot be opened.
fn each_row(
    file: &File<'_>,
    problems: &mut Problems,
    mut each: impl FnMut(&Columns<'_>, Position, &mut Problems) -> Result<(), Refusal>,
) -> Result<(), InputError> {
    let Some(part) = file.source.parts.first() else { return Ok(()) };
    let mut lines = open(file, part)?;
    let expected = file.table.columns();
    loop {
        let (line, number) = match lines.next_line() {
            Ok(NextLine::Line(line)) => (line.bytes, line.number),
            Ok(NextLine::TooLong { number }) => {
                problems.warn("line-too-long", Some(Position::Line(number)), || {
                    "a line is longer than --max-line and was skipped".to_owned()
                });
                continue;
            }
            Ok(NextLine::End) => return Ok(()),
            Err(error) => {
                problems.warn(code_of(&error, "truncated"), None, || {
                    format!("the rest of the file cannot be read: {error}; its tasks are missing")
                });
                return Ok(());
            }
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let (columns, at) = (Columns::of(line), Position::Line(number));
        if columns.count != expected {
            problems.warn("trace-columns", Some(at), || {
                let (count, s) = (columns.count, if columns.count == 1 { "" } else { "s" });
                format!("a line has {count} column{s}, not {expected}; it was skipped")
            });
            continue;
        }
        match each(&columns, at, problems) {
            Ok(()) => {}
            Err(Refusal::Value(Unusable(column, meaning))) => {
                problems.warn("trace-value", Some(at), || {
                    format!("column {column} of a line is not {meaning}; the line was skipped")
                });
            }
            Err(Refusal::Limit(reached)) => {
                problems.warn(elephant_base::limits::REACHED, Some(at), || {
                    format!("the rest of the file was not read: {reached}")
                });
                return Ok(());
            }
        }
    }
}

/// Adds a note on lines that occur several times.
pub(super) fn tell_repeated(problems: &mut Problems, repeated: u64) {
    problems.add_times(repeated, Level::Info, "trace-duplicate", || {
        "an attempt is in the trace more than once; it was counted once".to_owned()
    });
}

/// Why a row is not used.
pub(super) enum Refusal {
    Value(Unusable),
    /// The row and the rest of the file are not used, because a limit was reached.
    Limit(LimitReached),
}

impl From<Unusable> for Refusal {
    fn from(unusable: Unusable) -> Self {
        Self::Value(unusable)
    }
}

fn open(file: &File<'_>, part: &Part) -> Result<LineReader<impl std::io::Read + use<>>, InputError> {
    let is_compressed = part.is_packed() || file.source.codec.is_some_and(|codec| codec != Codec::Plain);
    let stored = part.stored_len().map(Bytes::new).filter(|_| is_compressed);
    let stream = part.open()?;
    let expected = stream.plain_len();
    let metered = Metered::new(stream, Budget::new(file.limits, stored), expected);
    Ok(LineReader::new(ByteWindow::expecting(expected, metered), file.limits.line_len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn censored_times_are_unknown_and_others_are_milliseconds() {
        let micros = |text: &str| Time::of_micros(text.as_bytes());
        assert_eq!(micros("0"), Some(Time::Censored));
        assert_eq!(micros("9223372036854775807"), Some(Time::Censored));
        assert_eq!(micros("600000123"), Some(Time::At(600_000)));
        assert_eq!(
            (micros(""), micros("-5"), micros("x"), micros("9223372036854775806")),
            (None, None, None, None)
        );
        let seconds = |text: &str| Time::of_seconds(text.as_bytes());
        assert_eq!([seconds("0"), seconds(""), seconds("-12")], [Some(Time::Censored); 3]);
        assert_eq!([seconds("41562"), seconds("41562.0")], [Some(Time::At(41_562_000)); 2]);
        // Times of a trace are relative to its beginning; an absolute time is not valid.
        assert_eq!([seconds("1500000000"), seconds("-"), seconds("1e5")], [None; 3]);
    }

    #[test]
    fn columns_are_counted_whatever_the_line() {
        for (line, count) in [("", 1), (",", 2), ("a,b,c", 3), (",,,,,,,,,,,,,,,,,,,,", 21)] {
            let columns = Columns::of(line.as_bytes());
            assert_eq!(columns.count, count);
            assert_eq!(columns.text(0), b"");
            assert_eq!(columns.text(99), b"");
        }
        let columns = Columns::of(b"7,,x");
        assert_eq!((columns.whole(1), columns.whole(2), columns.name(3)), (Some(7), None, Some("x")));
    }
}
