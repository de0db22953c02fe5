//! Reads an event log while it is written: what detectors of stragglers need, in the order of the log.

use std::sync::Arc;

use super::block::{Block, ItemKind, ReadOptions};
use super::build::{moment, outcome};
use super::event::{Event, StageInfo};
use super::stage_attempt::stage_attempt;
use super::strings::{Local, Strings};
use super::task::{TaskEnd, TaskInfo};
use super::task_metrics::TaskMetrics;
use elephant_base::limits::Limits;
use elephant_base::units::Timestamp;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::Outcome;

/// Something that happened in an application.
#[derive(Debug, Clone, PartialEq)]
pub enum LiveEvent {
    /// The application began.
    Application {
        /// Its id.
        id: Option<String>,
        /// Its name.
        name: Option<String>,
        /// Its user.
        user: Option<String>,
        /// Its attempt.
        attempt: Option<String>,
        /// When.
        at: Option<Timestamp>,
    },
    /// The application ended.
    ApplicationEnd {
        /// When.
        at: Option<Timestamp>,
    },
    /// A stage attempt was submitted.
    Stage {
        /// The stage attempt.
        stage: StageAttempt,
        /// The name, usually a call site.
        name: Option<Arc<str>>,
        /// The number of its tasks.
        tasks: Option<u32>,
    },
    /// A stage attempt ended.
    StageEnd {
        /// The stage attempt.
        stage: StageAttempt,
        /// When.
        at: Option<Timestamp>,
    },
    /// A task attempt began.
    Launch(LiveTask),
    /// A task attempt ended.
    End {
        /// The attempt.
        task: LiveTask,
        /// When.
        at: Timestamp,
        /// How.
        outcome: Outcome,
        /// The records that it read.
        records: Option<f64>,
    },
}

/// A task attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveTask {
    /// Its stage attempt.
    pub stage: StageAttempt,
    /// Its id within the application.
    pub id: u64,
    /// The task's index within the stage.
    pub index: u32,
    /// The attempt's number.
    pub attempt: Option<u32>,
    /// When it was launched.
    pub launched: Timestamp,
    /// Its host.
    pub host: Option<Arc<str>>,
    /// Whether it is a speculative copy.
    pub speculative: bool,
}

/// Reads whole lines, a piece of the log at a time.
pub struct LiveReader {
    block: Block,
    options: ReadOptions,
    hosts: Hosts,
}

impl LiveReader {
    /// Reads within the limit on the length of lines.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            block: Block::default(),
            options: ReadOptions { max_line_len: limits.line_len() },
            hosts: Hosts::default(),
        }
    }

    /// Reads whole lines, and returns the number of those that are not Spark events.
    pub fn read(&mut self, lines: &[u8], mut take: impl FnMut(LiveEvent)) -> u64 {
        self.block.clear();
        self.hosts.of_block.clear();
        self.block.read(lines, self.options);
        let Self { block, hosts, .. } = self;
        let (mut starts, mut ends) = (block.starts.drain(..), block.ends.drain(..));
        let mut unreadable = 0;
        for item in block.items.drain(..) {
            let event = match item.kind {
                ItemKind::Start => starts.next().and_then(|start| {
                    let stage = stage_attempt(start.stage, start.stage_attempt)?;
                    Some(LiveEvent::Launch(task(stage, &start.info, &block.strings, hosts)?))
                }),
                ItemKind::End => ends.next().and_then(|end| ended(&end, &block.strings, hosts)),
                ItemKind::Event(event) => {
                    take_event(*event).into_iter().for_each(&mut take);
                    continue;
                }
                ItemKind::Malformed { .. } | ItemKind::TooLong | ItemKind::ListsTooMuch => None,
            };
            match event {
                Some(event) => take(event),
                None => unreadable += 1,
            }
        }
        unreadable
    }
}

/// Names of hosts, which repeat on every line.
#[derive(Default)]
struct Hosts {
    known: rustc_hash::FxHashSet<Arc<str>>,
    /// By their number in the current block.
    of_block: Vec<Option<Arc<str>>>,
}

impl Hosts {
    fn get(&mut self, local: Local, strings: &Strings) -> Arc<str> {
        if let Some(Some(host)) = self.of_block.get(local.index()) {
            return Arc::clone(host);
        }
        let text = strings.get(local);
        let known = self.known.get(text).map(Arc::clone);
        let host = known.unwrap_or_else(|| {
            let host: Arc<str> = text.into();
            self.known.insert(Arc::clone(&host));
            host
        });
        let len = self.of_block.len().max(local.index() + 1);
        self.of_block.resize(len, None);
        if let Some(slot) = self.of_block.get_mut(local.index()) {
            *slot = Some(Arc::clone(&host));
        }
        host
    }
}

fn take_event(event: Event) -> Option<LiveEvent> {
    let stage = |info: &StageInfo| stage_attempt(info.id, info.attempt);
    Some(match event {
        Event::ApplicationStart(start) => LiveEvent::Application {
            id: start.id,
            name: start.name,
            user: start.user,
            attempt: start.attempt,
            at: moment(start.at),
        },
        Event::ApplicationEnd { at, .. } => LiveEvent::ApplicationEnd { at: moment(at) },
        Event::StageSubmitted(info) => LiveEvent::Stage {
            stage: stage(&info)?,
            tasks: info.tasks.and_then(|tasks| u32::try_from(tasks).ok()),
            name: info.name.map(Arc::from),
        },
        Event::StageCompleted(info) => {
            LiveEvent::StageEnd { stage: stage(&info)?, at: moment(info.completed) }
        }
        _ => return None,
    })
}

fn task(stage: StageAttempt, info: &TaskInfo, strings: &Strings, hosts: &mut Hosts) -> Option<LiveTask> {
    let attempt = info.attempt.and_then(|attempt| u32::try_from(attempt).ok());
    Some(LiveTask {
        stage,
        id: info.id.and_then(|id| u64::try_from(id).ok())?,
        index: info.index.and_then(|index| u32::try_from(index).ok())?,
        attempt,
        launched: moment(info.launched)?,
        host: info.host.map(|host| hosts.get(host, strings)),
        speculative: info.speculative == Some(true),
    })
}

fn ended(end: &TaskEnd, strings: &Strings, hosts: &mut Hosts) -> Option<LiveEvent> {
    let stage = stage_attempt(end.stage, end.stage_attempt)?;
    let task = task(stage, &end.info, strings, hosts)?;
    // Attempts that are killed before they begin to run have no end.
    let at = moment(end.info.finished).filter(|&at| at >= task.launched)?;
    Some(LiveEvent::End { task, at, outcome: outcome(end), records: records(&end.metrics) })
}

/// The records that a task read, as in `Timeline` of the crate `elephant-analysis`.
fn records(metrics: &TaskMetrics) -> Option<f64> {
    let read = [Counter::InputRecords, Counter::ShuffleRecordsRead];
    if metrics.unreadable().any(|counter| read.contains(&counter)) {
        return None;
    }
    let known = metrics.iter().filter(|(counter, ..)| read.contains(counter)).map(|(.., value)| value);
    known.reduce(i64::saturating_add).map(|records| records as f64)
}
