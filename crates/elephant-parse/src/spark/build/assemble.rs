//! Final assembly: sorts and links what was collected.

use super::{Builder, StageRecord};
use crate::spark::numbered::Numbered;
use crate::spark::{executors, outcomes};
use elephant_base::units::Timestamp;
use elephant_model::model::Application;
use elephant_model::model::spark::{Executor, Job};
use elephant_model::model::table::TimePoint;

/// A job that needs a stage.
struct NeedingJob {
    stage: u32,
    place: u32,
    /// The earliest submission among this job and those with larger ids that need the stage.
    earliest_from_here: Option<Timestamp>,
}

impl Builder {
    /// Sorts everything and sums up the executors.
    pub(in crate::spark) fn assemble(&mut self) {
        self.attempts = Numbered::default();
        self.stages.sort_unstable_by_key(|record| record.stage.id);
        for record in &mut self.stages {
            if let Some(work) = &mut record.work {
                work.task_rows = Numbered::default();
            }
            record.group.sort_rows();
            outcomes::set_outcomes(&mut record.group);
            record.group.shrink();
        }
        self.forget_impossible_times();
        executors::sum_up(&self.stages, &mut self.executors, &self.app.strings);
        self.forget_impossible_executors();
        for place in std::mem::take(&mut self.storage).unknown() {
            if let Some(executor) = self.executors.get_mut(place) {
                executor.storage.peak_used = None;
            }
        }
        let mut executors = std::mem::take(&mut self.executors);
        let drivers = executors.extract_if(.., |executor| executor.is_driver());
        self.spark.driver = drivers.reduce(executors::merge).unwrap_or_default();
        for executor in executors.iter_mut().chain([&mut self.spark.driver]) {
            executors::drop_unreadable_sums(&mut executor.totals);
        }
        executors.sort_by(|a, b| {
            Executor::order(&a.id).cmp(&Executor::order(&b.id)).then(a.added_at.cmp(&b.added_at))
        });
        self.spark.executors = executors;
        self.jobs.sort_by_key(|job| job.id);
        self.link_jobs();
        self.forget_unused_operators();
        self.sql.sort_by_key(|execution| execution.id);
        self.rdds.sort_by_key(|rdd| rdd.id);
        self.spark.sql = std::mem::take(&mut self.sql);
        self.spark.rdds = std::mem::take(&mut self.rdds);
        self.spark.resource_profiles.sort_by_key(|profile| profile.id);
        let first_task = |record: &StageRecord| {
            let attempts = &record.group.attempts;
            (0..attempts.len()).filter_map(|row| attempts.time(row, TimePoint::Start)).min()
        };
        self.app.launched_at = self.stages.iter().filter_map(first_task).min();
    }

    /// Links each stage attempt to the job that ran it.
    fn link_jobs(&mut self) {
        let of_job = |(place, job): (usize, &Job)| {
            let (place, submitted_at) = (u32::try_from(place).unwrap_or(u32::MAX), job.submitted_at);
            let needing = move |&stage| NeedingJob { stage, place, earliest_from_here: submitted_at };
            job.stages.iter().map(needing).collect::<Vec<_>>()
        };
        let mut needing: Vec<NeedingJob> = self.jobs.iter().enumerate().flat_map(of_job).collect();
        needing.sort_unstable_by_key(|job| (job.stage, job.place));
        for jobs in needing.chunk_by_mut(|one, other| one.stage == other.stage) {
            let mut earliest = None;
            for job in jobs.iter_mut().rev() {
                earliest = job.earliest_from_here.into_iter().chain(earliest).min();
                job.earliest_from_here = earliest;
            }
        }
        // Both are in the order of stages.
        let mut needing = needing.as_slice();
        for record in &mut self.stages {
            let stage = &mut record.stage;
            let before = needing.partition_point(|job| job.stage < stage.id.stage);
            needing = needing.get(before..).unwrap_or_default();
            let count = needing.partition_point(|job| job.stage == stage.id.stage);
            let Some(needed_by) = needing.get(..count).filter(|jobs| !jobs.is_empty()) else { continue };
            // The last job that existed then. Submission times may be out of order, so compare the minimum
            // over all later jobs.
            let existed = |job: &NeedingJob| {
                job.earliest_from_here.zip(stage.submitted_at).is_some_and(|(job, stage)| job <= stage)
            };
            let behind = needed_by.partition_point(existed);
            let last = behind.checked_sub(1).and_then(|last| needed_by.get(last));
            stage.job = last.or(needed_by.first()).map(|job| job.place as usize);
        }
    }

    /// The finished application with its stages and jobs in order.
    pub(in crate::spark) fn finish(mut self) -> Application {
        let groups = &mut self.app.groups;
        // The list of stages takes the place of the records in memory.
        let finished = |record: StageRecord| {
            let mut stage = record.stage;
            if !record.group.tasks.is_empty() {
                stage.group = Some(groups.len());
                groups.push(record.group);
            }
            stage
        };
        self.spark.stages = self.stages.into_iter().map(finished).collect();
        self.spark.stages.shrink_to_fit();
        self.spark.jobs = self.jobs;
        self.app.limit = self.spark.gaps.limit;
        self.app.spark = Some(Box::new(self.spark));
        self.app
    }
}
