//! Turns Hadoop 1 records into the events that later versions write.
//!
//! Source: `org.apache.hadoop.mapred.JobHistory.{JobInfo, Task, MapAttempt, ReduceAttempt}`, whose `log…`
//! methods each write one record.

use std::borrow::Cow;

use super::lexer::Record;
use crate::event::{EventFields, EventKind, Unreadable};
use crate::hosts::host_and_rack;
use crate::problem::{Position, Problems};

/// One record as an event.
#[derive(Debug, Clone)]
pub struct Event<'r> {
    /// What happened.
    pub kind: EventKind,
    /// The scalar fields. The job's id is present only in records of type `Job`.
    pub fields: EventFields<'r>,
    /// The text of `COUNTERS`.
    pub counters: Option<&'r str>,
    /// The text of `MAP_COUNTERS`.
    pub map_counters: Option<&'r str>,
    /// The text of `REDUCE_COUNTERS`.
    pub reduce_counters: Option<&'r str>,
    /// Numbers that cannot be read.
    pub unreadable: Unreadable,
}

/// The event of a record; `None` for records that say nothing about a job or its tasks.
///
/// Unreadable numbers cause a `bad-number` warning. Empty values count as absent, since Hadoop 1 writes `""`
/// for unknown values.
pub fn to_event<'r>(record: &'r Record<'_>, at: Position, problems: &mut Problems) -> Option<Event<'r>> {
    let mut event = Event {
        kind: EventKind::JobInfoChanged,
        fields: EventFields::default(),
        counters: None,
        map_counters: None,
        reduce_counters: None,
        unreadable: Unreadable::default(),
    };
    for (key, value) in &record.fields {
        if !value.trim_start().is_empty() {
            set_text(&mut event, key, value);
            set_number(&mut event, key, value, at, problems);
        }
    }
    event.kind = match record.kind {
        "Job" => job_event(record, &event.fields)?,
        "Task" => task_event(&mut event.fields)?,
        "MapAttempt" => attempt_event(&mut event.fields, "MAP")?,
        "ReduceAttempt" => attempt_event(&mut event.fields, "REDUCE")?,
        _ => return None,
    };
    Some(event)
}

/// The common part of the ids of a job, its tasks and attempts: `201302211535_0024`.
pub(super) fn job_key<'e>(fields: &'e EventFields<'_>) -> Option<&'e str> {
    if let Some(job) = fields.job_id.as_deref() {
        return Some(job.strip_prefix("job_").unwrap_or(job));
    }
    let of_task = |id: &'e str| {
        let (_, parts) = id.split_once('_')?;
        let (parts, _number) = parts.rsplit_once('_')?;
        let (job, _kind) = parts.rsplit_once('_')?;
        Some(job)
    };
    let task = fields.task_id.as_deref().and_then(of_task);
    task.or_else(|| of_task(fields.attempt_id.as_deref()?.rsplit_once('_')?.0))
}

fn set_text<'r>(event: &mut Event<'r>, key: &str, value: &'r str) {
    let fields = &mut event.fields;
    let slot = match key {
        "JOBID" => &mut fields.job_id,
        "TASKID" => &mut fields.task_id,
        "TASK_ATTEMPT_ID" => &mut fields.attempt_id,
        "TASK_TYPE" => &mut fields.task_type,
        "JOBNAME" => &mut fields.job_name,
        "USER" => &mut fields.user,
        "JOB_QUEUE" => &mut fields.queue,
        "ERROR" | "FAIL_REASON" | "error" => &mut fields.error,
        "SPLITS" => &mut fields.split_locations,
        "LOCALITY" => &mut fields.locality,
        "AVATAAR" => &mut fields.avataar,
        "JOB_STATUS" | "TASK_STATUS" => {
            fields.status = Some(Cow::Borrowed(if value == "SUCCESS" { "SUCCEEDED" } else { value }));
            return;
        }
        "HOSTNAME" => {
            set_host(fields, value);
            return;
        }
        "TRACKER_NAME" => {
            if fields.host.is_none() {
                set_host(fields, value);
            }
            return;
        }
        "COUNTERS" => {
            event.counters = Some(value);
            return;
        }
        "MAP_COUNTERS" => {
            event.map_counters = Some(value);
            return;
        }
        "REDUCE_COUNTERS" => {
            event.reduce_counters = Some(value);
            return;
        }
        _ => return,
    };
    *slot = Some(Cow::Borrowed(value));
}

fn set_host<'r>(fields: &mut EventFields<'r>, text: &'r str) {
    let (host, rack) = host_and_rack(text);
    fields.host = host.map(Cow::Borrowed);
    fields.rack = rack.map(Cow::Borrowed);
}

fn set_number(event: &mut Event<'_>, key: &str, value: &str, at: Position, problems: &mut Problems) {
    let fields = &mut event.fields;
    let slot = match key {
        "SUBMIT_TIME" => &mut fields.submit_time,
        "LAUNCH_TIME" => &mut fields.launch_time,
        "START_TIME" => &mut fields.start_time,
        "FINISH_TIME" => &mut fields.finish_time,
        "SHUFFLE_FINISHED" => &mut fields.shuffle_finish_time,
        "SORT_FINISHED" => &mut fields.sort_finish_time,
        "TOTAL_MAPS" => &mut fields.total_maps,
        "TOTAL_REDUCES" => &mut fields.total_reduces,
        "FINISHED_MAPS" => &mut fields.finished_maps,
        "FINISHED_REDUCES" => &mut fields.finished_reduces,
        "FAILED_MAPS" => &mut fields.failed_maps,
        "FAILED_REDUCES" => &mut fields.failed_reduces,
        _ => return,
    };
    *slot = value.trim().parse().ok();
    if slot.is_none() {
        if key.ends_with("_MAPS") || key.ends_with("_REDUCES") {
            event.unreadable.task_count = true;
        } else {
            event.unreadable.time = true;
        }
        problems.warn("bad-number", Some(at), || {
            let shown: String = value.chars().take(40).collect();
            format!("{key} should be a whole number but is \"{shown}\"; it is unknown")
        });
    }
}

/// The end event for a status, if it is a final one.
fn end(status: Option<&str>, finished: EventKind, unsuccessful: EventKind) -> Option<EventKind> {
    match status {
        Some("SUCCEEDED") => Some(finished),
        Some("FAILED" | "KILLED") => Some(unsuccessful),
        _ => None,
    }
}

fn job_event(record: &Record<'_>, fields: &EventFields<'_>) -> Option<EventKind> {
    if let Some(end) = end(fields.status.as_deref(), EventKind::JobFinished, EventKind::JobUnsuccessful) {
        return Some(end);
    }
    let (submitted, launched) = (fields.submit_time.is_some(), fields.launch_time.is_some());
    if fields.job_name.is_some() || fields.user.is_some() || (submitted && !launched) {
        Some(EventKind::JobSubmitted)
    } else if fields.total_maps.is_some() || fields.total_reduces.is_some() || (launched && !submitted) {
        Some(EventKind::JobInited)
    } else if launched {
        // Written when a restarted job tracker resumes a job.
        Some(EventKind::JobInfoChanged)
    } else if record.get("JOB_PRIORITY").is_some() {
        Some(EventKind::JobPriorityChanged)
    } else if fields.queue.is_some() {
        Some(EventKind::JobQueueChanged)
    } else {
        fields.status.is_some().then_some(EventKind::JobStatusChanged)
    }
}

fn task_event(fields: &mut EventFields<'_>) -> Option<EventKind> {
    let end = end(fields.status.as_deref(), EventKind::TaskFinished, EventKind::TaskFailed);
    // A task's record names an attempt only if it caused the failure.
    let attempt = fields.attempt_id.take();
    match end {
        Some(EventKind::TaskFailed) => fields.failed_due_to_attempt = attempt,
        _ => fields.successful_attempt_id = attempt,
    }
    end.or_else(|| fields.start_time.map(|_| EventKind::TaskStarted))
        .or_else(|| fields.finish_time.map(|_| EventKind::TaskUpdated))
}

fn attempt_event<'r>(fields: &mut EventFields<'r>, task_type: &'r str) -> Option<EventKind> {
    fields.task_type.get_or_insert(Cow::Borrowed(task_type));
    end(fields.status.as_deref(), EventKind::AttemptFinished, EventKind::AttemptUnsuccessful)
        .or_else(|| fields.start_time.map(|_| EventKind::AttemptStarted))
}

#[cfg(test)]
mod tests {
    use super::super::lexer::{Dialect, parse_record};
    use super::*;

    /// The kind of a record's event and its present fields as text.
    fn event(text: &str) -> Option<(EventKind, String)> {
        let record = parse_record(text, Dialect::Escaped).unwrap();
        let event = to_event(&record, Position::Line(1), &mut Problems::default())?;
        let f = &event.fields;
        let texts = [
            ("job", &f.job_id),
            ("task", &f.task_id),
            ("attempt", &f.attempt_id),
            ("type", &f.task_type),
            ("status", &f.status),
            ("host", &f.host),
            ("rack", &f.rack),
            ("error", &f.error),
            ("splits", &f.split_locations),
            ("name", &f.job_name),
            ("user", &f.user),
            ("queue", &f.queue),
            ("locality", &f.locality),
            ("avataar", &f.avataar),
        ];
        let numbers = [
            ("submit", f.submit_time),
            ("launch", f.launch_time),
            ("start", f.start_time),
            ("finish", f.finish_time),
            ("shuffle", f.shuffle_finish_time),
            ("sort", f.sort_finish_time),
            ("maps", f.total_maps),
            ("reduces", f.total_reduces),
        ];
        let counters = [("c", event.counters), ("mc", event.map_counters), ("rc", event.reduce_counters)];
        let texts = texts.iter().filter_map(|(k, v)| Some(format!("{k}={}", v.as_deref()?)));
        let numbers = numbers.iter().filter_map(|(k, v)| Some(format!("{k}={}", v.as_ref()?)));
        let counters = counters.iter().filter_map(|(k, v)| Some(format!("{k}={}", v.as_ref()?)));
        Some((event.kind, texts.chain(numbers).chain(counters).collect::<Vec<_>>().join(" ")))
    }

    #[test]
    fn records_of_a_job() {
        use EventKind as K;
        for (text, kind, fields) in [
            (
                r#"JOBNAME="n" USER="u" SUBMIT_TIME="5" JOBCONF="x" JOB_QUEUE="q""#,
                K::JobSubmitted,
                "name=n user=u queue=q submit=5",
            ),
            (
                r#"LAUNCH_TIME="6" TOTAL_MAPS="2" TOTAL_REDUCES="1" JOB_STATUS="PREP""#,
                K::JobInited,
                "status=PREP launch=6 maps=2 reduces=1",
            ),
            (r#"JOB_PRIORITY="NORMAL""#, K::JobPriorityChanged, ""),
            (r#"JOB_QUEUE="q""#, K::JobQueueChanged, "queue=q"),
            (r#"SUBMIT_TIME="5" LAUNCH_TIME="6" RESTART_COUNT="1""#, K::JobInfoChanged, "submit=5 launch=6"),
            (r#"JOB_STATUS="RUNNING""#, K::JobStatusChanged, "status=RUNNING"),
            (
                r#"FINISH_TIME="9" JOB_STATUS="SUCCESS" MAP_COUNTERS="m" REDUCE_COUNTERS="r" COUNTERS="t""#,
                K::JobFinished,
                "status=SUCCEEDED finish=9 c=t mc=m rc=r",
            ),
            (
                r#"FINISH_TIME="9" JOB_STATUS="FAILED" FAIL_REASON="why""#,
                K::JobUnsuccessful,
                "status=FAILED error=why finish=9",
            ),
            (r#"FINISH_TIME="9" JOB_STATUS="KILLED""#, K::JobUnsuccessful, "status=KILLED finish=9"),
        ] {
            let expected = format!("job=job_1_2 {fields}").trim_end().to_owned();
            assert_eq!(event(&format!("Job JOBID=\"job_1_2\" {text} .")), Some((kind, expected)), "{text}");
        }
        assert_eq!(event(r#"Job JOBID="job_1_2" ."#), None);
        assert_eq!(event(r#"Jobtracker START_TIME="1" ."#), None);
        assert_eq!(event(r#"Meta VERSION="1" ."#), None);
    }

    #[test]
    fn records_of_tasks_and_attempts() {
        use EventKind as K;
        for (text, kind, fields) in [
            (r#"Task TASK_TYPE="SETUP" START_TIME="1" SPLITS="""#, K::TaskStarted, "type=SETUP start=1"),
            (
                r#"Task TASK_TYPE="MAP" START_TIME="1" SPLITS="/r/a,/r/b""#,
                K::TaskStarted,
                "type=MAP splits=/r/a,/r/b start=1",
            ),
            (r#"Task FINISH_TIME="2""#, K::TaskUpdated, "finish=2"),
            (
                r#"Task TASK_STATUS="SUCCESS" FINISH_TIME="2" COUNTERS="c""#,
                K::TaskFinished,
                "status=SUCCEEDED finish=2 c=c",
            ),
            (
                r#"Task TASK_STATUS="FAILED" FINISH_TIME="2" ERROR="e""#,
                K::TaskFailed,
                "status=FAILED error=e finish=2",
            ),
            (
                r#"MapAttempt START_TIME="1" TRACKER_NAME="tracker_h\.dom:localhost/127\.0\.0\.1:57217" LOCALITY="OFF_SWITCH" AVATAAR="VIRGIN""#,
                K::AttemptStarted,
                "type=MAP host=h.dom locality=OFF_SWITCH avataar=VIRGIN start=1",
            ),
            (
                r#"ReduceAttempt START_TIME="1" TRACKER_NAME="localhost/127\.0\.0\.1:1""#,
                K::AttemptStarted,
                "type=REDUCE host=localhost start=1",
            ),
            (
                r#"MapAttempt TASK_TYPE="CLEANUP" START_TIME="1" HOSTNAME="/dc/r1/h""#,
                K::AttemptStarted,
                "type=CLEANUP host=h rack=/dc/r1 start=1",
            ),
            (
                r#"ReduceAttempt TASK_STATUS="SUCCESS" SHUFFLE_FINISHED="2" SORT_FINISHED="3" FINISH_TIME="4" HOSTNAME="/localhost""#,
                K::AttemptFinished,
                "type=REDUCE status=SUCCEEDED host=localhost finish=4 shuffle=2 sort=3",
            ),
            (
                r#"MapAttempt TASK_STATUS="KILLED" FINISH_TIME="4" HOSTNAME="h" ERROR="""#,
                K::AttemptUnsuccessful,
                "type=MAP status=KILLED host=h finish=4",
            ),
        ] {
            assert_eq!(event(&format!("{text} .")), Some((kind, fields.to_owned())), "{text}");
        }
    }

    #[test]
    fn a_failed_task_names_the_attempt_that_caused_it() {
        let text = r#"Task TASKID="task_1_2_m_3" TASK_STATUS="FAILED" TASK_ATTEMPT_ID="attempt_1_2_m_3_0" ."#;
        let record = parse_record(text, Dialect::Escaped).unwrap();
        let fields = to_event(&record, Position::Line(1), &mut Problems::default()).unwrap().fields;
        assert_eq!(fields.failed_due_to_attempt.as_deref(), Some("attempt_1_2_m_3_0"));
        assert_eq!(fields.attempt_id, None);
    }

    #[test]
    fn an_unreadable_number_is_unknown() {
        let text = r#"Task TASKID="task_1_2_m_3" START_TIME="1" FINISH_TIME="soon" ."#;
        let mut problems = Problems::default();
        let record = parse_record(text, Dialect::Escaped).unwrap();
        let fields = to_event(&record, Position::Line(7), &mut problems).unwrap().fields;
        assert_eq!((fields.start_time, fields.finish_time), (Some(1), None));
        let problems = problems.into_vec();
        assert_eq!((&*problems[0].code, problems[0].position), ("bad-number", Some(Position::Line(7))));
    }

    #[test]
    fn the_job_is_found_in_ids_of_every_version() {
        let key = |task: Option<&'static str>, attempt: Option<&'static str>| {
            let fields = EventFields {
                task_id: task.map(Cow::Borrowed),
                attempt_id: attempt.map(Cow::Borrowed),
                ..EventFields::default()
            };
            job_key(&fields).map(str::to_owned)
        };
        assert_eq!(key(Some("task_200903_0016_m_000001"), None).as_deref(), Some("200903_0016"));
        assert_eq!(key(Some("tip_200709_0007_r_000001"), None).as_deref(), Some("200709_0007"));
        assert_eq!(key(Some("tip_0007_m_000001"), None).as_deref(), Some("0007"));
        assert_eq!(key(None, Some("attempt_200903_0016_m_000001_1")).as_deref(), Some("200903_0016"));
        assert_eq!(key(Some("x"), Some("y")), None);
        let fields = EventFields { job_id: Some(Cow::Borrowed("job_1_2")), ..EventFields::default() };
        assert_eq!(job_key(&fields), Some("1_2"));
    }
}
