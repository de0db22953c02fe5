//! A vertex of a DAG while its records are read.

use rustc_hash::FxHashMap;

use super::info::Info;
use crate::OtherCounters;
use crate::counter_names::CounterNames;
use crate::hosts::host_and_rack;
use crate::reading::{MAX_TEXT_LEN, Moments, truncate};
use elephant_model::model::Interner;
use elephant_model::model::counters::CounterSet;
use elephant_model::model::table::{EndReason, Outcome, TaskGroup, TaskKind, TimePoint};

/// A vertex with its tasks.
pub(super) struct VertexDraft {
    pub(super) info: Info,
    pub(super) events: Events,
    pub(super) group: TaskGroup,
    pub(super) counters: Option<CounterSet>,
    tasks: FxHashMap<u32, u32>,
    attempts: FxHashMap<(u32, u32), u32>,
}

/// Times of events about a thing: its facts may lack them.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Events {
    pub(super) submitted: Option<i64>,
    pub(super) init: Option<i64>,
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
}

impl Events {
    /// The times of the events of one record, by the ends of their names (`HistoryEventType` of Tez).
    pub(super) fn add(&mut self, events: &[(String, i64)]) {
        for (kind, time) in events {
            let slot = match kind.rsplit('_').next() {
                Some("SUBMITTED") => &mut self.submitted,
                Some("INITIALIZED") => &mut self.init,
                Some("STARTED") => &mut self.start,
                Some("FINISHED") => &mut self.end,
                _ => continue,
            };
            *slot = Some(*time);
        }
    }
}

/// What is shared by the vertices of a DAG.
pub(super) struct Shared<'a> {
    pub(super) names: &'a mut CounterNames,
    pub(super) strings: &'a mut Interner,
    pub(super) others: OtherCounters,
}

impl VertexDraft {
    pub(super) fn new(number: u32) -> Self {
        Self {
            info: Info::default(),
            events: Events::default(),
            group: TaskGroup::new(TaskKind::Vertex(number)),
            counters: None,
            tasks: FxHashMap::default(),
            attempts: FxHashMap::default(),
        }
    }

    /// Adds what a record tells about the vertex itself.
    pub(super) fn add(&mut self, mut info: Info, events: &[(String, i64)], shared: &mut Shared<'_>) {
        if let Some(counters) = info.counters.take() {
            self.counters = Some(counters.record(shared.names, shared.strings));
        }
        self.events.add(events);
        self.info.merge(info);
    }

    pub(super) fn has_task(&self, number: u32) -> bool {
        self.tasks.contains_key(&number)
    }

    pub(super) fn has_attempt(&self, task: u32, number: u32) -> bool {
        self.attempts.contains_key(&(task, number))
    }

    /// The row of a task, added if it is new.
    fn task(&mut self, number: u32) -> u32 {
        let group = &mut self.group;
        *self
            .tasks
            .entry(number)
            .or_insert_with(|| u32::try_from(group.tasks.push(number)).unwrap_or(u32::MAX))
    }

    /// The row of an attempt, added if it is new.
    fn attempt(&mut self, task: u32, number: u32) -> usize {
        let task_row = self.task(task);
        let group = &mut self.group;
        let row = self.attempts.entry((task, number));
        let added = || u32::try_from(group.attempts.push(task_row, number)).unwrap_or(u32::MAX);
        *row.or_insert_with(added) as usize
    }

    /// Adds what a record tells about a task. The counters of a task are those of its successful attempt.
    pub(super) fn add_task(
        &mut self,
        number: u32,
        mut info: Info,
        events: &[(String, i64)],
        shared: &mut Shared<'_>,
    ) {
        let row = self.task(number) as usize;
        let mut times = Events::default();
        times.add(events);
        let moments = Moments::default();
        let tasks = &mut self.group.tasks;
        if let Some(at) = moments.read(info.start.or(times.start)) {
            tasks.set_start(row, Some(at));
        }
        if let Some(at) = moments.read(info.end.or(times.end)) {
            tasks.set_finish(row, Some(at));
        }
        if let Some(outcome) = outcome(info.status.as_deref()) {
            tasks.set_outcome(row, outcome);
        }
        let winner = info.successful_attempt.as_deref().and_then(|id| id.rsplit('_').next()?.parse().ok());
        let Some(winner) = winner else { return };
        let attempt = self.attempt(number, winner);
        self.group.tasks.set_representative(row, Some(attempt));
        if self.group.attempts.outcome(attempt) == Outcome::Unfinished {
            self.group.attempts.set_outcome(attempt, Outcome::Succeeded);
        }
        if let Some(counters) = info.counters.take()
            && !self.group.attempts.has_counters(attempt)
        {
            self.set_counters(attempt, &counters.record(shared.names, shared.strings), shared.others);
        }
    }

    /// Adds what a record tells about an attempt.
    pub(super) fn add_attempt(
        &mut self,
        (task, number): (u32, u32),
        mut info: Info,
        events: &[(String, i64)],
        shared: &mut Shared<'_>,
    ) {
        let row = self.attempt(task, number);
        let mut times = Events::default();
        times.add(events);
        let moments = Moments::default();
        let attempts = &mut self.group.attempts;
        let points = [
            (TimePoint::Created, info.creation),
            (TimePoint::Start, info.start.or(times.start)),
            (TimePoint::Finish, info.end.or(times.end)),
        ];
        for (point, at) in points {
            if let Some(at) = moments.read(at) {
                attempts.set_time(row, point, Some(at));
            }
        }
        if let Some(outcome) = outcome(info.status.as_deref()) {
            attempts.set_outcome(row, outcome);
        }
        let node = info.node.as_deref().and_then(|node| host_and_rack(node).0);
        if let Some(node) = node.and_then(|node| shared.strings.intern(node)) {
            attempts.set_node(row, Some(node));
        }
        if let Some(container) = info.container.as_deref().and_then(|id| shared.strings.intern(id)) {
            attempts.set_executor(row, Some(container));
        }
        if let Some(reason) = info.error.as_deref().and_then(end_reason) {
            attempts.set_end_reason(row, Some(reason));
        }
        // The cause that the engine names says at least something.
        let text = info.diagnostics.take().or(info.error.take());
        if let Some(text) = text.and_then(|text| shared.strings.intern(truncate(text.trim(), MAX_TEXT_LEN))) {
            attempts.set_diagnostics(row, text);
        }
        if let Some(counters) = info.counters.take() {
            self.set_counters(row, &counters.record(shared.names, shared.strings), shared.others);
        }
    }

    fn set_counters(&mut self, row: usize, counters: &CounterSet, others: OtherCounters) {
        self.group.attempts.set_counters(row, counters);
        if others == OtherCounters::Kept {
            self.group.attempts.set_other_counters(row, counters);
        }
    }
}

fn outcome(status: Option<&str>) -> Option<Outcome> {
    Some(match status? {
        "SUCCEEDED" => Outcome::Succeeded,
        "FAILED" | "ERROR" => Outcome::Failed,
        "KILLED" => Outcome::Killed,
        _ => return None,
    })
}

/// What Tez says about the end of an attempt (`TaskAttemptTerminationCause`).
fn end_reason(cause: &str) -> Option<EndReason> {
    Some(match cause {
        "APPLICATION_ERROR" => EndReason::Exception,
        "INPUT_READ_ERROR" => EndReason::FetchFailed,
        "OUTPUT_LOST" => EndReason::ResultLost,
        "CONTAINER_EXITED"
        | "CONTAINER_LAUNCH_FAILED"
        | "NODE_FAILED"
        | "NODE_DISK_ERROR"
        | "TASK_HEARTBEAT_ERROR"
        | "COMMUNICATION_ERROR" => EndReason::ExecutorLost,
        "INTERNAL_PREEMPTION" | "EXTERNAL_PREEMPTION" | "CONTAINER_STOPPED" => EndReason::Killed,
        cause if cause.starts_with("TERMINATED_") => EndReason::Killed,
        "" => return None,
        _ => EndReason::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn draft(record: impl Fn(&mut VertexDraft, &mut Shared<'_>)) -> VertexDraft {
        let (mut names, mut strings) = (CounterNames::default(), Interner::default());
        let mut draft = VertexDraft::new(0);
        let shared = &mut Shared { names: &mut names, strings: &mut strings, others: OtherCounters::Kept };
        record(&mut draft, shared);
        draft
    }

    fn info(facts: &[(&str, serde_json::Value)]) -> Info {
        let mut info = Info::default();
        for (key, value) in facts {
            info.set(key, value.clone());
        }
        info
    }

    #[test]
    fn a_task_without_its_attempt_has_counters_but_no_run_time() {
        let counters = json!({"counterGroups": [{"counterGroupName": "org.apache.tez.common.counters.TaskCounter",
            "counters": [{"counterName": "SPILLED_RECORDS", "counterValue": 3}]}]});
        let draft = draft(|draft, shared| {
            let facts = [
                ("status", json!("SUCCEEDED")),
                ("successfulAttemptId", json!("attempt_1_0001_1_00_000007_1")),
                ("counters", counters.clone()),
                ("startTime", json!(1_500_000_000_000_i64)),
                ("endTime", json!(1_500_000_009_000_i64)),
            ];
            draft.add_task(7, info(&facts), &[], shared);
        });
        let attempts = &draft.group.attempts;
        assert_eq!((attempts.number(0), attempts.outcome(0)), (Some(1), Outcome::Succeeded));
        assert_eq!(attempts.count(0, elephant_model::model::counters::Counter::SpilledRecords), Some(3));
        assert_eq!((attempts.run_time(0), draft.group.winners().count()), (None, 1));
    }

    #[test]
    fn an_attempt_that_never_started_has_no_start() {
        let draft = draft(|draft, shared| {
            let facts = [
                ("status", json!("KILLED")),
                ("creationTime", json!(1_500_000_000_000_i64)),
                ("startTime", json!(0)),
                ("endTime", json!(1_500_000_000_500_i64)),
                ("taskAttemptErrorEnum", json!("TERMINATED_AT_SHUTDOWN")),
            ];
            draft.add_attempt((0, 0), info(&facts), &[], shared);
        });
        let attempts = &draft.group.attempts;
        assert_eq!((attempts.time(0, TimePoint::Start), attempts.outcome(0)), (None, Outcome::Killed));
        assert!(attempts.time(0, TimePoint::Created).is_some());
        assert_eq!((attempts.end_reason(0), attempts.diagnostics().len()), (Some(EndReason::Killed), 1));
    }
}
