//! Opens a source and gives it to the parser of its format.

use crate::input::error::InputError;
use crate::input::inventory::Source;
use crate::input::kind::SourceKind;
use crate::input::part::Part;
use crate::input::window::ByteWindow;
use crate::parse::spark::{self, Feed, Log, Names, Wholeness};
use crate::parse::{Level, Parsed, Problems, hadoop1, jhist};
use crate::units::Bytes;

/// What the source tells.
///
/// # Errors
/// If it cannot be opened.
pub(super) fn read(source: &Source) -> Result<Parsed, InputError> {
    if source.kind == Some(SourceKind::SparkEventLog) {
        return Ok(read_event_log(source));
    }
    let (stream, kind) = source.open()?;
    let window = ByteWindow::new(stream);
    Ok(match kind {
        SourceKind::JhistJson => jhist::json::parse(window),
        SourceKind::JhistBinary => jhist::avro::parse(window),
        SourceKind::Hadoop1History => hadoop1::parse(window),
        SourceKind::JobConf | SourceKind::SparkEventLog | SourceKind::Unrelated(_) => Parsed::default(),
    })
}

fn read_event_log(source: &Source) -> Parsed {
    let Source { parts, log, .. } = source;
    let stored = parts.iter().map(Part::stored_len).sum::<Option<u64>>();
    let part = |part: &'_ Part| spark::Part {
        name: part.name(),
        open: {
            let part = part.clone();
            Box::new(move || feed(&part).map_err(|error| error.to_string()))
        },
    };
    let mut parsed = spark::parse(&Log {
        parts: parts.iter().map(part).collect(),
        names: Names {
            application_id: log.application_id.clone(),
            attempt: log.attempt.clone(),
            spark_version: log.spark_version.clone(),
            stored: stored.map(Bytes::new),
            rolling: log.rolling,
        },
        wholeness: Wholeness {
            in_progress: log.in_progress,
            compacted: log.compacted,
            missing_parts: log.missing_parts.len() as u64 + u64::from(log.archive_cut),
        },
    });
    names_tell(source, &mut parsed.problems);
    parsed
}

/// What is wrong by the names of the parts alone.
fn names_tell(source: &Source, problems: &mut Problems) {
    let log = &source.log;
    if let (Some(first), count) = (log.missing_parts.first(), log.missing_parts.len()) {
        problems.warn("parts-missing", None, || {
            format!("{count} parts of the log are missing, by their numbers, the first is {first}; what they tell is missing")
        });
    }
    for name in &log.doubled_parts {
        problems.warn("part-doubled", None, || format!("a part is there twice; {name} was left out"));
    }
    if log.archive_cut {
        problems.warn("truncated", None, || {
            "the archive is cut; parts of the log behind the cut would be missing".to_owned()
        });
    }
    if log.compacted {
        problems.add(Level::Info, "compacted", None, || {
            "a history server has compacted the log: the tasks of jobs that had ended by then are gone"
                .to_owned()
        });
    }
}

fn feed(part: &Part) -> Result<Feed, InputError> {
    match part.plain_file() {
        Some(file) => file
            .map(|(file, len)| Feed::File(file, len))
            .map_err(|error| InputError::from_io(part.file(), error)),
        None => Ok(Feed::Stream(Box::new(part.open()?))),
    }
}
