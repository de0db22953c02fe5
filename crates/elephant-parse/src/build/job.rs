//! The job itself: its submission, its application masters, its end.

use super::numbers::impossible_task_count;
use super::{HistoryBuilder, SYNTHETIC_BEFORE};
use crate::event::{EventFields, EventPayload};
use crate::problem::Position;
use crate::reading::set_text;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::counters::CounterSet;
use elephant_model::model::{MasterAttempt, Status};

/// How far the corrected submission of a job may be from the first one.
const CORRECTION: Millis = Millis::from_secs(24 * 60 * 60);

impl HistoryBuilder {
    pub(super) fn job_id(&mut self, fields: &EventFields<'_>) {
        if let Some(id) = fields.job_id.as_deref()
            && self.app.id.is_empty()
        {
            id.clone_into(&mut self.app.id);
        }
    }

    pub(super) fn master_started(&mut self, fields: &EventFields<'_>) {
        let moments = self.moments;
        let node = self.node(fields.host.as_ref());
        self.app.masters.push(MasterAttempt { started_at: moments.read(fields.start_time), node });
    }

    pub(super) fn job_submitted(&mut self, at: Position, fields: &EventFields<'_>) {
        self.seen_submission = true;
        self.moments.zero_is_one |= fields.submit_time == Some(0);
        let moments = self.moments;
        self.job_id(fields);
        set_text(&mut self.app.name, fields.job_name.as_ref());
        set_text(&mut self.app.user, fields.user.as_ref());
        set_text(&mut self.app.queue, fields.queue.as_ref());
        self.app.submitted_at = moments.read(fields.submit_time).or(self.app.submitted_at);
        let missing = [
            ("jobid", fields.job_id.is_none()),
            ("jobName", fields.job_name.is_none()),
            ("userName", fields.user.is_none()),
            ("submitTime", fields.submit_time.is_none()),
        ];
        for (field, _) in missing.into_iter().filter(|(_, missing)| *missing) {
            self.missing_field(at, "the submission of the job", field);
        }
    }

    /// The application master logs the submission again, corrected, once it knows it. A time that is much farther from the
    /// launch than the first one is no correction.
    pub(super) fn correct_submission(&mut self, at: Position, again: Option<Timestamp>) {
        let again = again.filter(|&again| again > SYNTHETIC_BEFORE || self.moments.zero_is_one);
        let apart = |one: Timestamp, other: Timestamp| Millis::between(one.min(other), one.max(other));
        let worse = again.zip(self.app.submitted_at).zip(self.app.launched_at).is_some_and(
            |((again, first), launched)| {
                apart(again, first) > Some(CORRECTION) && apart(again, launched) > apart(first, launched)
            },
        );
        if worse {
            self.app.submitted_at = None;
            self.lost.numbers = true;
            self.problems.warn("submissions-disagree", Some(at), || {
                "the job has two submission times that are more than a day apart; its submission time is unknown"
                    .to_owned()
            });
            return;
        }
        self.app.submitted_at = again.or(self.app.submitted_at);
    }

    /// A history whose times count from 0 is synthetic and ends soon after. Next to present-day times, 0
    /// means that Hadoop did not know the time.
    pub(super) fn drop_submission_in_1970(&mut self, fields: &EventFields<'_>) {
        let ours = fields.launch_time.is_some_and(|launched| launched > SYNTHETIC_BEFORE.as_millis());
        if ours && self.app.submitted_at.is_some_and(|submitted| submitted <= SYNTHETIC_BEFORE) {
            self.app.submitted_at = None;
            self.seen_submission = false;
            self.moments.zero_is_one = false;
        }
    }

    pub(super) fn job_inited(&mut self, at: Position, fields: &EventFields<'_>) {
        let moments = self.moments;
        self.job_id(fields);
        self.drop_submission_in_1970(fields);
        self.app.launched_at = moments.read(fields.launch_time).or(self.app.launched_at);
        let possible = |tasks: i64| i32::try_from(tasks).ok().and_then(|tasks| u64::try_from(tasks).ok());
        if [fields.total_maps, fields.total_reduces].into_iter().flatten().any(|n| possible(n).is_none()) {
            self.lost.numbers = true;
            self.problems.warn("impossible-task-count", Some(at), impossible_task_count);
        }
        let count = |n: Option<i64>| n.and_then(possible);
        self.app.announced.maps = count(fields.total_maps).or(self.app.announced.maps);
        self.app.announced.reduces = count(fields.total_reduces).or(self.app.announced.reduces);
        self.app.uberized = fields.uberized.or(self.app.uberized);
        self.told.inited = true;
    }

    pub(super) fn job_ended(
        &mut self,
        at: Position,
        status: Status,
        fields: &EventFields<'_>,
        payload: &EventPayload,
    ) {
        let moments = self.moments;
        self.job_id(fields);
        self.seen_end = true;
        self.app.status = status;
        self.app.finished_at = moments.read(fields.finish_time).or(self.app.finished_at);
        if moments.read(fields.finish_time).is_none() {
            self.lost.numbers = true;
            self.missing_field(at, "the end of the job", "finishTime");
        }
        self.told.job_ended(fields);
        set_text(&mut self.app.diagnostics, fields.error.as_ref());
        let keep = |set: &CounterSet| (!set.is_empty()).then(|| set.clone());
        self.app.counters.total = keep(&payload.counters);
        self.app.counters.map = keep(&payload.map_counters);
        self.app.counters.reduce = keep(&payload.reduce_counters);
    }
}
