//! Makes the events of a history from the answers about a job.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::collect::Job;
use super::facts::{AttemptFacts, JobFacts, State, TaskFacts};
use super::ids::JobId;
use crate::build::HistoryBuilder;
use crate::event::{EventFields, EventKind, EventPayload};
use crate::ids::{AttemptId, IdSpace, TaskId};
use crate::problem::{Position, Problems};
use elephant_model::model::Application;
use elephant_model::model::counters::CounterSet;

/// Answers have no lines.
const AT: Position = Position::Byte(0);

impl Job {
    /// The job, and what its answers lack.
    pub(super) fn finish(mut self, id: JobId, is_broken: bool, problems: &mut Problems) -> Application {
        self.take_counters_of_tasks();
        let missing = self.missing(id);
        if let Some(missing) = &missing {
            problems.warn("answers-missing", None, || missing.clone());
        }
        if missing.is_some() || is_broken {
            self.builder.record_missing();
        }
        let Self { mut builder, facts, counters, masters, tasks, attempts, .. } = self;
        begin(&mut builder, id, &facts, &masters);
        let named: BTreeSet<TaskId> =
            tasks.keys().copied().chain(attempts.keys().map(|id| id.task)).collect();
        for task in named {
            let of_task = attempts.range(all_of(task));
            write_task(&mut builder, (id, task), tasks.get(&task), of_task);
        }
        let counters = counters.unwrap_or_default();
        end(
            &mut builder,
            id,
            &facts,
            &EventPayload {
                counters: counters.total,
                map_counters: counters.map,
                reduce_counters: counters.reduce,
                ..EventPayload::default()
            },
        );
        let (app, found) = builder.finish(false);
        problems.merge(found);
        Application { told_by_servers: true, ..app }
    }

    /// The counters of a task are those of its successful attempt.
    fn take_counters_of_tasks(&mut self) {
        for task in self.tasks.values() {
            let successful = task.successful.as_deref().and_then(AttemptId::parse);
            let attempt = successful.and_then(|id| self.attempts.get_mut(&id));
            if let Some(attempt) = attempt.filter(|attempt| attempt.counters.is_none()) {
                attempt.counters.clone_from(&task.counters);
            }
        }
    }

    /// What was not saved, with the addresses that tell it; `None` if nothing that rules need is missing.
    fn missing(&self, id: JobId) -> Option<String> {
        let job = format!("…/jobs/{}", id.job());
        if !self.is_of_mapreduce {
            return Some(format!(
                "only the resource manager tells of {}: how it ended, but not what it did; save the answers of the history \
                 server, too ({job})",
                id.job()
            ));
        }
        let mut missing = Vec::new();
        let announced = self.facts.maps.unwrap_or(0).saturating_add(self.facts.reduces.unwrap_or(0));
        if self.facts.state.is_none() || self.facts.maps.is_none() {
            missing.push(format!("the job itself ({job})"));
        }
        let told = self.tasks.values().filter(|task| task.is_told).count();
        let told = i64::try_from(told).unwrap_or(i64::MAX);
        if told < announced {
            missing.push(format!("{} of its {announced} tasks ({job}/tasks)", announced - told));
        }
        let has_attempt = |task: TaskId| self.attempts.range(all_of(task)).any(|(_, it)| it.is_told);
        let ran = |task: &TaskFacts| task.is_told && task.state.is_some_and(|it| it.ended().is_some());
        let without = self.tasks.iter().filter(|(task, facts)| ran(facts) && !has_attempt(**task)).count();
        if without > 0 {
            missing.push(format!("the attempts of {without} tasks ({job}/tasks/TASK/attempts)"));
        }
        let succeeded = self.attempts.values().filter(|it| it.state == Some(State::Succeeded));
        let without = succeeded.filter(|attempt| attempt.counters.is_none()).count();
        if without > 0 {
            missing.push(format!(
                "the counters of {without} attempts ({job}/tasks/TASK/attempts/ATTEMPT/counters)"
            ));
        }
        (!missing.is_empty()).then(|| {
            format!(
                "the answers about {} lack {}; what needs them is not evaluated",
                id.job(),
                missing.join(", ")
            )
        })
    }
}

/// The ids of all attempts of a task.
fn all_of(task: TaskId) -> std::ops::RangeInclusive<AttemptId> {
    AttemptId { task, number: 0 }..=AttemptId { task, number: u32::MAX }
}

fn borrowed(text: Option<&String>) -> Option<Cow<'_, str>> {
    text.map(|text| Cow::Borrowed(text.as_str()))
}

fn begin(
    builder: &mut HistoryBuilder,
    id: JobId,
    facts: &JobFacts,
    masters: &[(Option<String>, Option<i64>)],
) {
    let payload = EventPayload::default();
    for (host, start_time) in masters {
        let fields =
            EventFields { host: borrowed(host.as_ref()), start_time: *start_time, ..EventFields::default() };
        builder.event(AT, EventKind::MasterStarted, &fields, &payload);
    }
    let job_id = Some(Cow::Owned(id.job()));
    let told = [facts.name.is_some(), facts.submit.is_some(), facts.start.is_some()];
    if told.contains(&true) {
        // An application master does not say when its job was submitted.
        let submitted = facts.submit.or(facts.start);
        let fields = EventFields {
            job_id: job_id.clone(),
            job_name: borrowed(facts.name.as_ref()),
            user: borrowed(facts.user.as_ref()),
            queue: borrowed(facts.queue.as_ref()),
            submit_time: submitted,
            ..EventFields::default()
        };
        builder.event(AT, EventKind::JobSubmitted, &fields, &payload);
    }
    let fields = EventFields {
        job_id,
        launch_time: facts.start,
        total_maps: facts.maps,
        total_reduces: facts.reduces,
        uberized: facts.uberized,
        ..EventFields::default()
    };
    builder.event(AT, EventKind::JobInited, &fields, &payload);
    // What servers tell is corrected already.
    let corrected =
        EventFields { submit_time: facts.submit, launch_time: facts.start, ..EventFields::default() };
    builder.event(AT, EventKind::JobInfoChanged, &corrected, &payload);
}

fn end(builder: &mut HistoryBuilder, id: JobId, facts: &JobFacts, payload: &EventPayload) {
    let Some(status) = facts.state.and_then(State::ended) else { return };
    let fields = EventFields {
        job_id: Some(Cow::Owned(id.job())),
        status: Some(Cow::Borrowed(status)),
        finish_time: facts.finish,
        finished_maps: facts.finished_maps,
        finished_reduces: facts.finished_reduces,
        error: borrowed(facts.diagnostics.as_ref()),
        ..EventFields::default()
    };
    let kind = if facts.state == Some(State::Succeeded) {
        EventKind::JobFinished
    } else {
        EventKind::JobUnsuccessful
    };
    builder.event(AT, kind, &fields, payload);
}

fn write_task<'a>(
    builder: &mut HistoryBuilder,
    (job, task): (JobId, TaskId),
    facts: Option<&TaskFacts>,
    attempts: impl Iterator<Item = (&'a AttemptId, &'a AttemptFacts)> + Clone,
) {
    let payload = EventPayload::default();
    let kind = Cow::Borrowed(match task.space {
        IdSpace::Map => "MAP",
        IdSpace::Reduce => "REDUCE",
    });
    let of_task = EventFields {
        task_id: Some(Cow::Owned(job.task(task))),
        task_type: Some(kind),
        ..EventFields::default()
    };
    let first = attempts.clone().filter_map(|(_, attempt)| attempt.start).min();
    let start_time = facts.and_then(|facts| facts.start).or(first);
    let started = EventFields { start_time, ..of_task.clone() };
    builder.event(AT, EventKind::TaskStarted, &started, &payload);
    for (id, attempt) in attempts.filter(|(_, attempt)| attempt.is_told) {
        write_attempt(builder, (job, *id), attempt, &of_task);
    }
    let Some(facts) = facts else { return };
    let Some(status) = facts.state.and_then(State::ended) else { return };
    let successful = facts.successful.as_deref().and_then(AttemptId::parse).map(|id| job.attempt(id));
    let ended = EventFields {
        status: Some(Cow::Borrowed(status)),
        finish_time: facts.finish,
        successful_attempt_id: successful.map(Cow::Owned),
        ..of_task
    };
    if facts.state == Some(State::Succeeded) {
        let payload = with_counters(facts.counters.as_ref());
        builder.event(AT, EventKind::TaskFinished, &ended, &payload);
    } else {
        builder.event(AT, EventKind::TaskFailed, &ended, &payload);
    }
}

fn write_attempt(
    builder: &mut HistoryBuilder,
    (job, id): (JobId, AttemptId),
    attempt: &AttemptFacts,
    of_task: &EventFields<'_>,
) {
    let of_attempt = EventFields {
        attempt_id: Some(Cow::Owned(job.attempt(id))),
        host: borrowed(attempt.host.as_ref()),
        rack: borrowed(attempt.rack.as_ref()),
        ..of_task.clone()
    };
    if attempt.start.is_some() {
        let started = EventFields { start_time: attempt.start, ..of_attempt.clone() };
        builder.event(AT, EventKind::AttemptStarted, &started, &EventPayload::default());
    }
    let Some(status) = attempt.state.and_then(State::ended) else { return };
    let is_map = id.task.space == IdSpace::Map;
    let ended = EventFields {
        status: Some(Cow::Borrowed(status)),
        finish_time: attempt.finish,
        map_finish_time: attempt.finish.filter(|_| is_map),
        shuffle_finish_time: attempt.shuffled,
        sort_finish_time: attempt.merged,
        error: borrowed(attempt.diagnostics.as_ref()),
        ..of_attempt
    };
    let kind = match attempt.state {
        Some(State::Succeeded) => EventKind::AttemptFinished,
        _ => EventKind::AttemptUnsuccessful,
    };
    builder.event(AT, kind, &ended, &with_counters(attempt.counters.as_ref()));
}

fn with_counters(counters: Option<&CounterSet>) -> EventPayload {
    EventPayload { counters: counters.cloned().unwrap_or_default(), ..EventPayload::default() }
}
