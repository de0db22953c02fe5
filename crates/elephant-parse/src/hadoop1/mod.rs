//! Text job histories of Hadoop 0.18 to 1: one job each, or several in a job tracker's log.
//!
//! Source: `org.apache.hadoop.mapred.JobHistory` of Hadoop 1 (`parseHistoryFromFS`, `parseLine`).

mod counters;
mod events;
mod lexer;
mod reader;

use std::borrow::Cow;
use std::io::Read;

use rustc_hash::FxHashMap;

pub use events::{Event, to_event};
pub use lexer::Record;
pub use reader::{Ending, Visitor, read};

use super::build::{Clocks, HistoryBuilder};
use super::event::{EventKind, EventPayload, Observer};
use super::problem::{Level, Position, Problems};
use super::{OtherCounters, Parsed, ToldByName};
use elephant_base::limits::{self, Held, LimitReached, Limits};
use elephant_input::window::ByteWindow;
use elephant_model::model::conf::Conf;
use elephant_model::model::counters::CounterSet;

/// Jobs after this many in one source are skipped, so that a source full of one-record jobs cannot fill the
/// memory. A job tracker's log of a busy month has about ten thousand.
const MAX_JOBS: usize = 1 << 14;

/// Bytes of a job without its tables: its ids, names and first rows.
const PER_JOB: usize = 4 << 10;
/// What a property of a configuration takes, about.
const PER_PROPERTY: usize = 160;

/// Parses a history. Jobs are returned in the order in which the source first names them.
#[must_use]
pub fn parse<R: Read>(window: ByteWindow<R>) -> Parsed {
    parse_within(window, &Limits::default(), OtherCounters::Kept, ToldByName::default())
}

/// Parses a history within `limits` on lines, records and tasks.
#[must_use]
pub fn parse_within<R: Read>(
    window: ByteWindow<R>,
    limits: &Limits,
    others: OtherCounters,
    name: ToldByName,
) -> Parsed {
    let jobs = Jobs { limits: *limits, others, name, held: Held::within(limits), ..Jobs::default() };
    read_into(jobs, window, limits)
}

/// Shows each event of a history to `observer`. The events of all jobs have the ids of their jobs. Returns what could not be
/// read.
pub fn observe<R: Read>(window: ByteWindow<R>, limits: &Limits, observer: &mut dyn Observer) -> Problems {
    let jobs = Jobs {
        observer: Some(observer),
        limits: *limits,
        others: OtherCounters::Dropped,
        held: Held::within(limits),
        ..Jobs::default()
    };
    read_into(jobs, window, limits).problems
}

fn read_into<R: Read>(mut jobs: Jobs<'_>, window: ByteWindow<R>, limits: &Limits) -> Parsed {
    let ending = reader::read_within(window, &mut jobs, limits);
    jobs.finish(ending)
}

/// Whether a source that starts with `head` is a Hadoop 1 history: its first non-blank line must start like a
/// record or like a separator of a job tracker's log.
#[must_use]
pub fn looks_like_history(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let line = text.split(|&b| b == b'\n').next().unwrap_or_default();
    let first_key = line.split(|&b| b == b' ').nth(1).and_then(<[u8]>::first);
    let has_key = first_key.is_some_and(u8::is_ascii_uppercase);
    (has_key && lexer::starts_known_record(line))
        || reader::separator(line).is_some_and(|name| !name.is_empty())
}

struct Job {
    key: Box<str>,
    id: String,
    builder: HistoryBuilder,
    ended: bool,
}

/// Passes each record to the builder of its job.
#[derive(Default)]
struct Jobs<'o> {
    observer: Option<&'o mut dyn Observer>,
    list: Vec<Job>,
    by_key: FxHashMap<Box<str>, usize>,
    /// The job of the last record.
    current: Option<usize>,
    payload: EventPayload,
    confs: Vec<(String, Conf)>,
    problems: Problems,
    others: OtherCounters,
    name: ToldByName,
    limits: Limits,
    /// The bytes of all jobs.
    held: Held,
}

impl Visitor for Jobs<'_> {
    fn record(&mut self, at: Position, record: &Record<'_>) {
        if !lexer::KNOWN_TYPES.contains(&record.kind) {
            self.problems.add(Level::Info, "unknown-record", Some(at), || {
                format!("records of the unknown type {} were skipped", record.kind)
            });
            return;
        }
        if record.is_two() {
            self.problems.warn("broken-record", Some(at), || {
                "two records have run together; they were skipped".to_owned()
            });
            return;
        }
        let mut problems = Problems::default();
        let Some(mut event) = to_event(record, at, &mut problems) else {
            self.problems.merge(problems);
            return;
        };
        let Some(index) = self.job(at, events::job_key(&event.fields)) else { return };
        let Some(job) = self.list.get_mut(index) else { return };
        job.builder.problems().merge(problems);
        self.payload.clear();
        self.payload.unreadable = event.unreadable;
        let texts = [
            (event.counters, &mut self.payload.counters),
            (event.map_counters, &mut self.payload.map_counters),
            (event.reduce_counters, &mut self.payload.reduce_counters),
        ];
        for (text, set) in texts {
            read_counters(text, &mut job.builder, set);
        }
        // If the start of the history is missing, no `Job` record precedes its tasks.
        event.fields.job_id.get_or_insert(Cow::Borrowed(&job.id));
        job.ended |= matches!(event.kind, EventKind::JobFinished | EventKind::JobUnsuccessful);
        let before = job.builder.measured();
        if let Some(observer) = &mut self.observer {
            observer.event(at, event.kind, &event.fields, &self.payload);
        }
        job.builder.event(at, event.kind, &event.fields, &self.payload);
        self.held.change(before, job.builder.measured());
    }

    fn beyond_memory(&self) -> Option<LimitReached> {
        self.held.beyond()
    }

    fn conf(&mut self, job_id: &str, conf: Conf) {
        self.held.add(conf.len() * PER_PROPERTY);
        self.confs.push((job_id.to_owned(), conf));
    }
}

impl Jobs<'_> {
    /// The job with this key, added if new; without a key, the job of the previous record.
    fn job(&mut self, at: Position, key: Option<&str>) -> Option<usize> {
        let Some(key) = key else {
            if self.current.is_none() {
                self.problems.warn("record-without-job", Some(at), || {
                    "a record without a job id, before the first job's records, was skipped".to_owned()
                });
            }
            return self.current;
        };
        let is_current = |&index: &usize| self.list.get(index).is_some_and(|job| *job.key == *key);
        let known = self.current.filter(is_current).or_else(|| self.by_key.get(key).copied());
        let job = known.or_else(|| self.add_job(at, key));
        self.current = job.or(self.current);
        job
    }

    fn add_job(&mut self, at: Position, key: &str) -> Option<usize> {
        if self.list.len() >= MAX_JOBS {
            self.problems.warn("too-many-jobs", Some(at), || {
                format!("the source has more than {MAX_JOBS} jobs; records of later jobs were skipped")
            });
            return None;
        }
        let index = self.list.len();
        let mut builder = HistoryBuilder::with_clocks(Clocks::Trackers);
        builder.keep_within(&self.limits, self.others);
        builder.named(self.name.clone());
        self.list.push(Job { key: key.into(), id: format!("job_{key}"), builder, ended: false });
        self.by_key.insert(key.into(), index);
        self.held.add(size_of::<Job>() + PER_JOB);
        Some(index)
    }

    fn finish(mut self, ending: Ending) -> Parsed {
        let mut problems = ending.problems;
        problems.merge(std::mem::take(&mut self.problems));
        let mut applications = Vec::with_capacity(self.list.len());
        // Skipped text may have belonged to any job.
        let gap = problems.any_at_least(Level::Warning);
        for mut job in self.list {
            if gap {
                job.builder.record_lost_event();
            }
            if let Some(option) = ending.limit.filter(|_| !job.ended) {
                job.builder.reach_limit(option);
            }
            if ending.too_long {
                job.builder.reach_limit(limits::LINE);
            }
            let (application, found) = job.builder.finish(ending.truncated && !job.ended);
            applications.push(application);
            problems.merge(found);
        }
        let beyond_memory = self.held.beyond().is_some();
        Parsed { applications, confs: self.confs, problems, beyond_memory, ..Parsed::default() }
    }
}

fn read_counters(text: Option<&str>, builder: &mut HistoryBuilder, set: &mut CounterSet) {
    if let Some(text) = text {
        let (names, strings) = builder.counter_names();
        counters::read(text, &mut counters::Recorder::new(names, strings, set));
    }
}

#[cfg(test)]
mod tests;
