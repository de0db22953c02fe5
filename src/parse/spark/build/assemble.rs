//! Final assembly: sorts and links what was collected.

use std::collections::BTreeMap;

use super::{Builder, StageRecord};
use crate::model::Application;
use crate::model::spark::Executor;
use crate::model::table::TimePoint;
use crate::parse::spark::numbered::Numbered;
use crate::parse::spark::{executors, outcomes};
use crate::units::Timestamp;

/// A job that needs a stage.
struct NeedingJob {
    place: usize,
    /// The earliest submission among this job and those with larger ids that need the stage.
    earliest_from_here: Option<Timestamp>,
}

impl Builder {
    /// Sorts everything and sums up the executors.
    pub(in crate::parse::spark) fn assemble(&mut self) {
        self.attempts = Numbered::default();
        self.stages.sort_unstable_by_key(|record| record.stage.id);
        for record in &mut self.stages {
            record.task_rows = Numbered::default();
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
        let executors = std::mem::take(&mut self.executors);
        let (drivers, mut executors): (Vec<_>, Vec<_>) = executors.into_iter().partition(Executor::is_driver);
        self.spark.driver = drivers.into_iter().reduce(executors::merge).unwrap_or_default();
        for executor in executors.iter_mut().chain([&mut self.spark.driver]) {
            executors::drop_unreadable_sums(&mut executor.totals);
        }
        executors.sort_by(|a, b| {
            Executor::order(&a.id).cmp(&Executor::order(&b.id)).then(a.added_at.cmp(&b.added_at))
        });
        self.spark.executors = executors;
        self.jobs.sort_by_key(|job| job.id);
        self.link_jobs();
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
        let mut jobs_of_stage: BTreeMap<u32, Vec<NeedingJob>> = BTreeMap::new();
        for (place, job) in self.jobs.iter().enumerate() {
            for &stage in &job.stages {
                let job = NeedingJob { place, earliest_from_here: job.submitted_at };
                jobs_of_stage.entry(stage).or_default().push(job);
            }
        }
        for jobs in jobs_of_stage.values_mut() {
            let mut earliest = None;
            for job in jobs.iter_mut().rev() {
                earliest = job.earliest_from_here.into_iter().chain(earliest).min();
                job.earliest_from_here = earliest;
            }
        }
        for record in &mut self.stages {
            let stage = &mut record.stage;
            let Some(needed_by) = jobs_of_stage.get(&stage.id.stage) else { continue };
            // The last job that existed then. Submission times may be out of order, so compare the minimum
            // over all later jobs.
            let existed = |job: &NeedingJob| {
                job.earliest_from_here.zip(stage.submitted_at).is_some_and(|(job, stage)| job <= stage)
            };
            let behind = needed_by.partition_point(existed);
            let last = behind.checked_sub(1).and_then(|last| needed_by.get(last));
            stage.job = last.or(needed_by.first()).map(|job| job.place);
        }
    }

    /// The finished application with its stages and jobs in order.
    pub(in crate::parse::spark) fn finish(mut self) -> Application {
        self.spark.stages.reserve_exact(self.stages.len());
        for record in self.stages {
            let mut stage = record.stage;
            if !record.group.tasks.is_empty() {
                stage.group = Some(self.app.groups.len());
                self.app.groups.push(record.group);
            }
            self.spark.stages.push(stage);
        }
        self.spark.jobs = self.jobs;
        self.app.limit = self.spark.gaps.limit;
        self.app.spark = Some(Box::new(self.spark));
        self.app
    }
}
