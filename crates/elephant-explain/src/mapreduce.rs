//! Job histories of MapReduce: the events as their parsers read them, and the configuration beside them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::conf;
use super::gather::{Attempt, Gather, Names, Spot};
use elephant_base::limits::Limits;
use elephant_base::units::Bytes;
use elephant_input::budget::{Budget, Metered};
use elephant_input::inventory::Source;
use elephant_input::kind::SourceKind;
use elephant_input::part::Part;
use elephant_input::window::{ByteWindow, LineReader, NextLine};
use elephant_model::model::counters::Counter;
use elephant_model::model::table::Outcome;
use elephant_model::model::{Engine, Subject};
use elephant_parse::event::{EventFields, EventKind, EventPayload, Observer};
use elephant_parse::{Level, Position, hadoop1, jhist};

pub(crate) struct Keys;

impl Names for Keys {
    fn key(&self, counter: Counter) -> String {
        format!("counters.{}", counter.name_in(Engine::MapReduce))
    }

    fn run_time_key(&self) -> &'static str {
        "finishTime \u{2212} startTime"
    }

    fn per_unit(&self, _: Counter) -> u64 {
        1
    }
}

/// Reads a job history, and the configuration of its job.
///
/// # Errors
/// Why values may be missing.
pub(crate) fn read(
    (source, kind): (&Source, SourceKind),
    limits: &Limits,
    gather: &mut Gather,
) -> Result<(), String> {
    let Some(part) = source.parts.first() else { return Ok(()) };
    let file = gather.file(part.name());
    let offsets =
        if kind == SourceKind::JhistBinary { Offsets::default() } else { Offsets::of(part, limits)? };
    let window = open(part, limits)?;
    let mut job = Job { gather, file, offsets, started: BTreeMap::new() };
    let problems = match kind {
        SourceKind::JhistJson => jhist::json::observe(window, limits, &mut job),
        SourceKind::JhistBinary => jhist::avro::observe(window, limits, &mut job),
        _ => hadoop1::observe(window, limits, &mut job),
    };
    if let Some(part) = gather.conf.clone() {
        let file = gather.file(part.name());
        conf::read(open(&part, limits)?, (file, limits), gather);
    }
    let lost = problems.into_vec().into_iter().find(|problem| problem.level != Level::Info);
    lost.map_or(Ok(()), |problem| {
        Err(format!("{} could not be read as a whole: {}", part.name(), problem.message))
    })
}

type Opened = ByteWindow<Metered<elephant_input::codec::Decoded>>;

fn open(part: &Part, limits: &Limits) -> Result<Opened, String> {
    let stream = part.open().map_err(|error| error.to_string())?;
    let expected = stream.plain_len();
    let budget = Budget::new(limits, part.stored_len().map(Bytes::new));
    Ok(ByteWindow::new(Metered::new(stream, budget, expected)))
}

/// Where every so many lines begin. Parsers tell lines only.
#[derive(Default)]
struct Offsets {
    of_lines: Vec<u64>,
}

impl Offsets {
    fn of(part: &Part, limits: &Limits) -> Result<Self, String> {
        let mut lines = LineReader::new(open(part, limits)?, limits.line_len());
        let mut of_lines = Vec::new();
        loop {
            match lines.next_line() {
                Ok(NextLine::Line(line)) => of_lines.push(line.offset),
                // No event is read from it.
                Ok(NextLine::TooLong { .. }) => of_lines.push(0),
                Ok(NextLine::End) | Err(_) => return Ok(Self { of_lines }),
            }
        }
    }

    fn spot(&self, file: usize, at: Position) -> Spot {
        match at {
            Position::Byte(byte) => Spot { file, line: None, byte: Some(byte) },
            Position::Line(line) => {
                let index = line.checked_sub(1).and_then(|index| usize::try_from(index).ok());
                Spot { file, line: Some(line), byte: index.and_then(|at| self.of_lines.get(at).copied()) }
            }
        }
    }
}

struct Job<'g> {
    gather: &'g mut Gather,
    file: usize,
    offsets: Offsets,
    /// When each attempt started.
    started: BTreeMap<String, i64>,
}

impl Observer for Job<'_> {
    fn event(&mut self, at: Position, kind: EventKind, fields: &EventFields<'_>, payload: &EventPayload) {
        let job = fields.job_id.as_deref();
        if job.is_some_and(|job| job != self.gather.application) {
            return;
        }
        let spot = self.offsets.spot(self.file, at);
        match kind {
            EventKind::AttemptStarted => {
                if let (Some(id), Some(time)) = (&fields.attempt_id, fields.start_time) {
                    self.started.insert(id.as_ref().to_owned(), time);
                }
            }
            EventKind::AttemptFinished | EventKind::AttemptUnsuccessful => {
                let id = fields.attempt_id.as_deref().unwrap_or_default();
                let started = fields.start_time.or_else(|| self.started.get(id).copied());
                let outcome = match (kind, fields.status.as_deref()) {
                    (EventKind::AttemptFinished, _) => Outcome::Succeeded,
                    (_, Some("KILLED")) => Outcome::Killed,
                    _ => Outcome::Failed,
                };
                let ended = Ended { spot, id, started, outcome, fields, payload };
                self.gather.attempt(&ended);
            }
            EventKind::JobSubmitted
            | EventKind::JobInited
            | EventKind::JobFinished
            | EventKind::JobUnsuccessful => {
                self.gather.event(spot, name(kind), &|subject| {
                    matches!(subject, Subject::Application | Subject::Tasks(_))
                });
            }
            _ => {}
        }
    }
}

/// Hadoop's name of the type of an event of a job.
const fn name(kind: EventKind) -> &'static str {
    match kind {
        EventKind::JobSubmitted => "JOB_SUBMITTED",
        EventKind::JobInited => "JOB_INITED",
        EventKind::JobFinished => "JOB_FINISHED",
        _ => "JOB_FAILED",
    }
}

struct Ended<'a> {
    spot: Spot,
    id: &'a str,
    started: Option<i64>,
    outcome: Outcome,
    fields: &'a EventFields<'a>,
    payload: &'a EventPayload,
}

impl Attempt for Ended<'_> {
    fn spot(&self) -> Spot {
        self.spot
    }

    fn label(&self) -> String {
        self.id.to_owned()
    }

    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn run_time(&self) -> Option<u64> {
        let Range { start, end } = self.started?..self.fields.finish_time?;
        u64::try_from(end.checked_sub(start)?).ok()
    }

    fn counter(&self, counter: Counter) -> Option<u64> {
        u64::try_from(self.payload.counters.get(counter)?).ok()
    }

    fn is_of(&self, subject: &Subject) -> bool {
        let kind = self.fields.task_type.as_deref().unwrap_or_default();
        match subject {
            Subject::Application => true,
            Subject::Tasks(wanted) => {
                kind.eq_ignore_ascii_case(wanted) || kind.eq_ignore_ascii_case(&format!("job_{wanted}"))
            }
            Subject::Node(host) => self.fields.host.as_deref() == Some(host),
            _ => false,
        }
    }
}
