//! Opens a source and passes it to the parser of its format.

use std::io::Read;
use std::sync::OnceLock;

use super::Filter;
use elephant_base::limits::Limits;
use elephant_base::units::Bytes;
use elephant_input::budget::{Budget, Metered};
use elephant_input::codec::{Codec, Tail};
use elephant_input::error::InputError;
use elephant_input::inventory::Source;
use elephant_input::kind::SourceKind;
use elephant_input::part::Part;
use elephant_input::window::ByteWindow;
use elephant_parse::spark::{self, Completeness, Feed, Log, Names};
use elephant_parse::{
    FilePart, Level, OtherCounters, Parsed, Problems, ToldByName, answers, hadoop1, identify, jhist, tez,
};

/// How much of a history is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    All,
    /// Only the data that rules use.
    ForRules(OtherCounters),
}

impl Wanted {
    const fn other_counters(self) -> OtherCounters {
        match self {
            Self::All => OtherCounters::Kept,
            Self::ForRules(others) => others,
        }
    }
}

/// Which applications are read, which data of each history, and the limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent<'a> {
    pub(super) wanted: Wanted,
    pub(super) limits: &'a Limits,
    pub(super) filter: &'a Filter,
}

/// Reads and parses the source.
///
/// # Errors
/// If it cannot be opened.
pub(super) fn read(source: &Source, extent: Extent<'_>) -> Result<Parsed, InputError> {
    let limits = extent.limits;
    let stored = || source.parts.iter().map(Part::stored_len).sum::<Option<u64>>().map(Bytes::new);
    let is_compressed =
        source.codec.is_some_and(|codec| codec != Codec::Plain) || source.parts.iter().any(Part::is_packed);
    let is_event_log = source.kind == Some(SourceKind::SparkEventLog);
    let stored = if is_compressed || is_event_log { stored() } else { None };
    let budget = Budget::new(limits, stored.filter(|_| is_compressed));
    if is_event_log {
        return Ok(read_event_log(source, stored, extent, &budget));
    }
    if source.parts.len() > 1 {
        return Ok(read_parts(source, extent, &budget));
    }
    let (stream, kind) = source.open(identify)?;
    let (tail, expected) = (stream.tail(), stream.plain_len());
    let window = ByteWindow::expecting(expected, Metered::new(stream, budget, expected));
    let others = extent.wanted.other_counters();
    let name = ToldByName::read(&name_of(source));
    let mut parsed = match kind {
        SourceKind::JhistJson => jhist::json::parse_within(window, limits, others, name),
        SourceKind::JhistBinary => jhist::avro::parse_within(window, limits, others, name),
        SourceKind::Hadoop1History => hadoop1::parse_within(window, limits, others, name),
        SourceKind::TezJson | SourceKind::TezProto => tez::parse_one(name_of(source), window, limits, others),
        SourceKind::Answers => answers::parse_one(name_of(source), window, limits, others),
        SourceKind::JobConf
        | SourceKind::GcLog
        | SourceKind::ProcessLog
        | SourceKind::SparkEventLog
        | SourceKind::Trace(_)
        | SourceKind::Unrelated(_) => Parsed::default(),
    };
    warn_about_tail(&tail, &mut parsed.problems);
    Ok(parsed)
}

fn name_of(source: &Source) -> String {
    source.parts.first().map(Part::name).unwrap_or_default()
}

/// Reads the files of a history that is spread over several.
fn read_parts(source: &Source, extent: Extent<'_>, budget: &Budget) -> Parsed {
    let tails: Vec<OnceLock<Tail>> = source.parts.iter().map(|_| OnceLock::new()).collect();
    let parts: Vec<FilePart<'_>> =
        source.parts.iter().zip(&tails).map(|(part, tail)| file_part(part, tail, budget)).collect();
    let others = extent.wanted.other_counters();
    let mut parsed = if source.kind == Some(SourceKind::Answers) {
        answers::parse_within(&parts, extent.limits, others)
    } else {
        tez::parse_within(&parts, extent.limits, others)
    };
    for ((_, problems), tail) in parsed.part_problems.iter_mut().zip(&tails) {
        if let Some(tail) = tail.get() {
            warn_about_tail(tail, problems);
        }
    }
    parsed
}

fn file_part<'a>(part: &'a Part, tail: &'a OnceLock<Tail>, budget: &'a Budget) -> FilePart<'a> {
    let open = move || {
        let stream = part.open().map_err(|error| error.to_string())?;
        tail.get_or_init(|| stream.tail());
        let expected = stream.plain_len();
        Ok(Box::new(Metered::new(stream, budget.clone(), expected)) as Box<dyn Read + 'a>)
    };
    FilePart { name: part.name(), open: Box::new(open) }
}

/// Warns if the skipped bytes may be another history with damaged compression.
fn warn_about_tail(tail: &Tail, problems: &mut Problems) {
    if tail.is_foreign() {
        problems.warn("trailing-bytes", None, || {
            "the bytes after the compressed data were skipped; if they contain a history, its data is missing"
                .to_owned()
        });
    }
}

fn read_event_log(source: &Source, stored: Option<Bytes>, extent: Extent<'_>, budget: &Budget) -> Parsed {
    let Source { parts, log, .. } = source;
    let tails: Vec<OnceLock<Tail>> = parts.iter().map(|_| OnceLock::new()).collect();
    let log = Log {
        parts: parts
            .iter()
            .zip(&tails)
            .map(|(part, tail)| spark_part(part, tail, source.codec, budget))
            .collect(),
        names: Names {
            application_id: log.application_id.clone(),
            attempt: log.attempt.clone(),
            spark_version: log.spark_version.clone(),
            stored,
            rolling: log.rolling,
        },
        completeness: Completeness {
            in_progress: log.in_progress,
            compacted: log.compacted,
            missing_parts: log.missing_parts.len() as u64 + u64::from(log.archive_truncated),
        },
    };
    let mut parsed = spark::parse_within(&log, extent.limits, budget);
    for ((_, problems), tail) in parsed.part_problems.iter_mut().zip(&tails) {
        if let Some(tail) = tail.get() {
            warn_about_tail(tail, problems);
        }
    }
    check_names(source, &mut parsed.problems);
    parsed
}

/// Problems that the names of the parts alone show.
fn check_names(source: &Source, problems: &mut Problems) {
    let log = &source.log;
    if let (Some(first), count) = (log.missing_parts.first(), log.missing_parts.len()) {
        problems.warn("parts-missing", None, || {
            match count {
                1 => format!(
                    "part {first} of the event log is missing, judging by the numbers of the others; its events are unknown"
                ),
                _ => format!(
                    "{count} parts of the event log are missing, judging by the numbers of the others; the first is {first}; \
                     their events are unknown"
                ),
            }
        });
    }
    for name in &log.duplicate_parts {
        problems.warn("part-doubled", None, || format!("a part exists twice; {name} was skipped"));
    }
    if log.archive_truncated {
        problems.warn("truncated", None, || {
            "the archive is cut; parts of the event log after the cut may be missing".to_owned()
        });
    }
    if log.compacted {
        problems.add(Level::Info, "compacted", None, || {
            "a history server has compacted the event log; compaction removed the tasks of jobs that had finished"
                .to_owned()
        });
    }
}

fn spark_part<'a>(
    part: &'a Part,
    tail: &'a OnceLock<Tail>,
    codec: Option<Codec>,
    budget: &'a Budget,
) -> spark::Part<'a> {
    let open = move || feed(part, codec, budget, tail).map_err(|error| error.to_string());
    spark::Part { name: part.name(), open: Box::new(open) }
}

/// Opens a part of an event log. If some part is compressed, `codec` is the codec; `tail` receives what
/// follows the compressed data.
fn feed(
    part: &Part,
    codec: Option<Codec>,
    budget: &Budget,
    tail: &OnceLock<Tail>,
) -> Result<Feed, InputError> {
    // In such a log, an uncompressed part is read as a stream, too.
    let may_be_plain = codec.is_none_or(|codec| codec == Codec::Plain);
    if may_be_plain && let Some(file) = part.plain_file() {
        let (file, len) = file.map_err(|error| InputError::from_io(part.file(), error))?;
        return Ok(Feed::File(file, len));
    }
    let stream = part.open()?;
    tail.get_or_init(|| stream.tail());
    let expected = stream.plain_len();
    Ok(Feed::Stream(Box::new(Metered::new(stream, budget.clone(), expected))))
}
