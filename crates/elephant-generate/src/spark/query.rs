//! A query: one Spark SQL execution with one job.

use std::io;

use super::accumulables::METRICS_OF_A_STAGE;
use super::kind::{Kind, Upstream};
use super::plan::{self, Plan};
use super::stage::Run;
use super::stage_info::{CALL_SITE, DETAILS, RDDS, StageInfo};
use super::{World, environment};

/// A planned query.
pub(super) struct Query {
    id: i64,
    first_metric: i64,
    stages: Vec<StageInfo>,
}

impl Query {
    /// Plans a query with this many tasks: most scan, some aggregate, a few write.
    pub(super) fn plan(id: i64, tasks: i64, world: &mut World<'_>) -> Self {
        let (scan, aggregate) = ((tasks * 17 / 20).max(1), tasks / 10);
        let sizes =
            [(Kind::Scan, scan), (Kind::Aggregate, aggregate), (Kind::Write, tasks - scan - aggregate)];
        let first_metric = world.metric_ids(plan::metric_count());
        let mut stages: Vec<StageInfo> = Vec::new();
        for (kind, tasks) in sizes.into_iter().filter(|&(_, tasks)| tasks > 0) {
            let stage = world.stage_id();
            stages.push(StageInfo {
                id: stage,
                kind,
                tasks,
                parents: stages.last().map(|parent| parent.id).into_iter().collect(),
                execution: id,
                first_rdd: stage * RDDS,
                first_metric: world.metric_ids(METRICS_OF_A_STAGE),
                first_metric_of_plan: first_metric,
            });
        }
        Self { id, first_metric, stages }
    }

    pub(super) fn run(&self, loses_executor: bool, world: &mut World<'_>) -> io::Result<()> {
        self.write_start(world)?;
        self.write_driver_metrics(
            &[
                ("number of files read", 4 * self.tasks()),
                ("metadata time", 71),
                ("size of files read", self.tasks() * (114 << 20)),
            ],
            world,
        )?;
        self.write_plan(false, world)?;
        world.advance(world.now + 180)?;
        self.write_job_start(world)?;
        let mut upstream = Upstream::default();
        let readers = self.stages.iter().skip(1).map(|stage| stage.tasks).chain([1]);
        for (place, (stage, readers)) in self.stages.iter().zip(readers).enumerate() {
            if place + 1 == self.stages.len() {
                self.write_plan(true, world)?;
            }
            world.advance(world.now + 15)?;
            upstream = Run::whole(world, stage, upstream, loses_executor && place == 0, readers)?;
        }
        self.write_end(world)
    }

    fn tasks(&self) -> i64 {
        self.stages.iter().map(|stage| stage.tasks).sum()
    }

    fn write_start(&self, world: &mut World<'_>) -> io::Result<()> {
        let plan = Plan { first_metric: self.first_metric, is_final: false };
        let time = world.now;
        world.log.sql_event("SparkListenerSQLExecutionStart", |event| {
            event.number("executionId", self.id).number("rootExecutionId", self.id);
            event.text("description", CALL_SITE).text("details", DETAILS);
            event.text("physicalPlanDescription", &plan.describe());
            plan.write(event);
            event.number("time", time).object("modifiedConfigs", |_| ()).array("jobTags", |_| ());
        })
    }

    fn write_plan(&self, is_final: bool, world: &mut World<'_>) -> io::Result<()> {
        let plan = Plan { first_metric: self.first_metric, is_final };
        world.log.sql_event("SparkListenerSQLAdaptiveExecutionUpdate", |event| {
            event.number("executionId", self.id).text("physicalPlanDescription", &plan.describe());
            plan.write(event);
        })
    }

    fn write_driver_metrics(&self, metrics: &[(&str, i64)], world: &mut World<'_>) -> io::Result<()> {
        world.log.sql_event("SparkListenerDriverAccumUpdates", |event| {
            event.number("executionId", self.id).array("accumUpdates", |list| {
                for (name, value) in metrics {
                    list.brackets(|pair| {
                        pair.integer(self.first_metric + plan::driver_metric(name));
                        pair.integer(*value);
                    });
                }
            });
        })
    }

    fn write_job_start(&self, world: &mut World<'_>) -> io::Result<()> {
        let time = world.now;
        world.log.event("SparkListenerJobStart", |event| {
            event.number("Job ID", self.id).number("Submission Time", time);
            event.array("Stage Infos", |list| {
                for stage in &self.stages {
                    list.braces(|info| stage.write(None, None, info));
                }
            });
            let ids: Vec<i64> = self.stages.iter().map(|stage| stage.id).collect();
            event.numbers("Stage IDs", &ids);
            environment::write_job_properties(self.id, event);
        })
    }

    fn write_end(&self, world: &mut World<'_>) -> io::Result<()> {
        world.advance(world.now + 5)?;
        let time = world.now;
        world.log.event("SparkListenerJobEnd", |event| {
            event.number("Job ID", self.id).number("Completion Time", time);
            event.object("Job Result", |result| {
                result.text("Result", "JobSucceeded");
            });
        })?;
        let written = self.stages.last().map_or(0, |stage| stage.tasks);
        self.write_driver_metrics(&[("number of written files", written), ("job commit time", 420)], world)?;
        world.advance(world.now + 450)?;
        let time = world.now;
        world.log.sql_event("SparkListenerSQLExecutionEnd", |event| {
            event.number("executionId", self.id).number("time", time).text("errorMessage", "");
        })
    }
}
