//! Reads the plan of an application.

use rustc_hash::FxHashMap;

use super::plan::{Attempt, Clock, Plan, Stage, Task, Unknown, to_u32};
use super::slots::{self, FreeSlots};
use super::{jobs, stages};
use crate::replay::Micros;
use elephant_model::model::Application;
use elephant_model::model::spark::Spark;
use elephant_model::model::table::{Outcome, TimePoint};

impl Plan {
    /// Reads the plan of an application.
    ///
    /// # Errors
    /// If the log lacks what a replay needs.
    pub fn of(app: &Application) -> Result<Self, Unknown> {
        let spark = app.spark.as_deref().ok_or(Unknown::OtherEngine)?;
        if !app.has_schedule() {
            return Err(Unknown::Incomplete);
        }
        let (start, end) = app.submitted_at.zip(app.finished_at).ok_or(Unknown::NoLife)?;
        let clock = Clock { start };
        let mut plan = Self {
            recorded: clock.at(end),
            tail: Micros::ZERO,
            attempts: Vec::new(),
            tasks: Vec::new(),
            first_ends: FxHashMap::default(),
            stages: Vec::new(),
            jobs: Vec::new(),
            orders: Vec::new(),
            windows: Vec::new(),
            steps: Vec::new(),
            dynamic: app.allocates_dynamically(),
            fair: app
                .conf
                .setting("spark.scheduler.mode")
                .is_some_and(|mode| mode.eq_ignore_ascii_case("FAIR")),
        };
        plan.read_stages(app, spark, clock);
        if plan.attempts.is_empty() {
            return Err(Unknown::NoTasks);
        }
        for attempt in &plan.attempts {
            let end = plan.first_ends.entry(attempt.executor).or_insert(attempt.finish);
            *end = attempt.finish.min(*end);
        }
        plan.windows = slots::windows(app, spark, clock, &mut plan.attempts);
        jobs::link(&mut plan, spark, clock);
        let free = FreeSlots::of(&plan.windows, &plan.attempts);
        stages::link(&mut plan, spark, &free);
        let last_end = plan.jobs.iter().map(|job| job.end).max().unwrap_or_default();
        plan.tail = (plan.recorded - last_end).or_zero();
        let submissions: Vec<Micros> = plan.stages.iter().map(|stage| stage.submitted).collect();
        plan.steps = slots::steps(&plan.windows, &submissions, plan.dynamic, last_end);
        Ok(plan)
    }

    /// Stages that were submitted or ran tasks, with the attempts of tasks that ended.
    fn read_stages(&mut self, app: &Application, spark: &Spark, clock: Clock) {
        let mut order: Vec<(Micros, usize)> = Vec::new();
        for (place, stage) in spark.stages.iter().enumerate() {
            let group = stage.group.and_then(|group| app.groups.get(group));
            let first_launch = group.and_then(|group| {
                (0..group.attempts.len()).filter_map(|row| group.attempts.time(row, TimePoint::Start)).min()
            });
            if let Some(submitted) = stage.submitted_at.or(first_launch) {
                order.push((clock.at(submitted), place));
            }
        }
        order.sort_unstable();
        let group = |place: usize| app.groups.get(spark.stages.get(place)?.group?);
        let groups = || order.iter().filter_map(|(_, place)| group(*place));
        // Growing would take twice the memory for a moment.
        self.attempts.reserve_exact(groups().map(|group| group.attempts.len()).sum());
        self.tasks.reserve_exact(groups().map(|group| group.tasks.len()).sum());
        for (submitted, place) in order {
            let Some(logged) = spark.stages.get(place) else { continue };
            let number = to_u32(self.stages.len());
            let first_task = to_u32(self.tasks.len());
            if let Some(group) = logged.group {
                self.read_attempts(app, group, number, clock);
            }
            let tasks = first_task..to_u32(self.tasks.len());
            let attempts = self.attempts_of(&tasks);
            let last_finish = attempts.iter().map(|attempt| attempt.finish).max();
            let stage = Stage::new(logged, submitted, clock, last_finish, tasks);
            self.stages.push(stage);
        }
    }

    fn read_attempts(&mut self, app: &Application, group: usize, stage: u32, clock: Clock) {
        let Some(group) = app.groups.get(group) else { return };
        let rows = &group.attempts;
        let mut first_launch = vec![Micros::MAX; group.tasks.len()];
        let begin = self.attempts.len();
        for row in 0..rows.len() {
            let launch = rows.time(row, TimePoint::Start).map(|at| clock.at(at));
            let finish = rows.time(row, TimePoint::Finish).map(|at| clock.at(at));
            let (Some(launch), Some(finish), Some(task)) = (launch, finish, rows.task(row)) else { continue };
            if let Some(first) = first_launch.get_mut(task) {
                *first = launch.min(*first);
            }
            let work_end = rows.work_end(row).map_or(finish, |at| clock.at(at));
            // Spark runs a task again that was not allowed to commit, as if it had failed.
            self.attempts.push(Attempt {
                stage,
                task: to_u32(task),
                row: to_u32(row),
                launch,
                finish: finish.max(launch),
                early: (finish - work_end.max(launch)).or_zero(),
                executor: rows.executor(row),
                speculative: rows.is_speculative(row) == Some(true),
                outcome: if group.runs_again_after_denial(row) { Outcome::Failed } else { rows.outcome(row) },
                only: false,
            });
        }
        let first =
            |attempt: &Attempt| first_launch.get(attempt.task as usize).copied().unwrap_or(Micros::MAX);
        let read = self.attempts.get_mut(begin..).unwrap_or_default();
        // Tasks are nearly in launch order, so that a stable sort finds long runs.
        read.sort_by_key(|attempt| (first(attempt), attempt.task, attempt.launch, attempt.row));
        let mut from = to_u32(begin);
        for same_task in read.chunk_by_mut(|a, b| a.task == b.task) {
            let (task, until) = (to_u32(self.tasks.len()), from + to_u32(same_task.len()));
            let only = same_task.len() == 1;
            for attempt in same_task {
                (attempt.task, attempt.only) = (task, only);
            }
            self.tasks.push(Task { attempts: from..until });
            from = until;
        }
    }
}
