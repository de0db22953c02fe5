//! Stages that ran on few of their executors, because tasks waited for the places of their data while the others were
//! idle.

use std::collections::BTreeSet;

use super::application::{change_to, spark};
use super::memory;
use super::partitions::StageTasks;
use super::slots::Slots;
use super::stage_text::label;
use elephant_base::units::{Millis, Timestamp};
use elephant_catalogue::Advised;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::spark::{Executor, Spark, Stage, StageStatus};
use elephant_model::model::table::{Locality, TaskGroup};
use elephant_model::model::{Application, Symbol};
use elephant_rule::finding::{Advice, Phrase};
use elephant_rule::wording::other_stages;

/// Waits for single levels of locality, which come before the one for all.
const OF_LEVELS: [&str; 3] =
    ["spark.locality.wait.process", "spark.locality.wait.node", "spark.locality.wait.rack"];

const MESSAGE: &str = "tasks of {stage}[ and {others}] waited for {working} of {executors} executors, which have their \
                       data, while the others were idle";
const REMEDY: &str = "let tasks run on idle executors instead of waiting for those that have their data";

/// Stages whose tasks crowded on few executors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowded<'a> {
    /// The longest one.
    stage: &'a Stage,
    others: usize,
    working: u64,
    executors: u64,
}

impl<'a> Crowded<'a> {
    /// `None` if there are no such stages, or if they took little of the run.
    pub(crate) fn of(app: &'a Advised<'a>) -> Option<Self> {
        let spark = spark(app)?;
        // Tasks may not run on excluded executors, and with profiles not on all.
        let is_excluded = spark.executors.iter().any(|executor| executor.exclusions > 0);
        let is_one_profile = spark.stages.iter().all(|stage| stage.resource_profile.unwrap_or_default() == 0);
        if is_excluded || !spark.excluded_nodes.is_empty() || !is_one_profile {
            return None;
        }
        let slots = Slots::of(app, spark);
        let completed = spark.stages.iter().filter(|stage| stage.status == StageStatus::Complete);
        let mut crowded: Vec<(Millis, &Stage, u64, u64)> = completed
            .filter_map(|stage| {
                let group = app.groups.get(stage.group?)?;
                let (time, working, executors) = crowd(app, spark, group, &slots)?;
                Some((time, stage, working, executors))
            })
            .collect();
        crowded.sort_by_key(|(time, stage, ..)| (std::cmp::Reverse(*time), stage.id));
        let time: Millis = crowded.iter().map(|(time, ..)| *time).sum();
        let run_time = memory::run_time(app)?;
        let others = crowded.len().saturating_sub(1);
        let &(_, stage, working, executors) = crowded.first()?;
        let is_much = time.as_f64() >= app.advice.crowded_time.get() * run_time.as_f64();
        is_much.then_some(Self { stage, others, working, executors })
    }

    /// "tasks of stage 0.0 (…) waited for 2 of 8 executors, …".
    pub(crate) fn phrase(&self) -> Phrase {
        let others = other_stages(self.others);
        let words: [(_, &dyn std::fmt::Display); 4] = [
            ("stage", &label(self.stage)),
            ("others", &others),
            ("working", &self.working),
            ("executors", &self.executors),
        ];
        Phrase::new(MESSAGE, &words)
    }

    /// A shorter wait for places of data, if the one in force is not 0.
    pub(crate) fn advice(app: &Application) -> Option<Advice> {
        let of_level = OF_LEVELS.into_iter().find(|name| app.conf.raw(name).is_some());
        if let Some(name) = of_level {
            return Some(Advice::new(format!("{REMEDY}: lower {name}")));
        }
        let waits = app.in_force(ConfKey::LocalityWait, Conf::spark_duration);
        if waits == Some(Millis::ZERO) {
            return None;
        }
        Some(Advice::new(REMEDY).set([change_to(app, ConfKey::LocalityWait, "0s")?]))
    }
}

/// The time of a stage whose tasks crowded on few executors, how many these were, and how many there were.
fn crowd(
    app: &Advised<'_>,
    spark: &Spark,
    group: &TaskGroup,
    slots: &Slots<'_>,
) -> Option<(Millis, u64, u64)> {
    let attempts = &group.attempts;
    let rows = 0..attempts.len();
    if (group.tasks.len() as f64) < app.advice.crowded_rounds.get() {
        return None;
    }
    let places: BTreeSet<Symbol> = rows.clone().filter_map(|row| attempts.executor(row)).collect();
    // Most stages run on more executors and end here.
    if places.len() as f64 > app.advice.crowded_executors.get() * spark.executors.len() as f64 {
        return None;
    }
    let tasks = StageTasks::of(group)?;
    let lives = |executor: &&Executor| {
        let (from, to) = (Timestamp::from_millis(tasks.from), Timestamp::from_millis(tasks.to));
        executor.added_at.is_some_and(|at| at <= from) && executor.removed_at.is_none_or(|at| at >= to)
    };
    let alive: Vec<&Executor> = spark.executors.iter().filter(lives).collect();
    let works = |executor: &&&Executor| {
        places.iter().any(|place| app.strings.get(*place) == Some(executor.id.as_str()))
    };
    let working: Vec<&&Executor> = alive.iter().filter(works).collect();
    let of_working: u64 = working.iter().map(|executor| memory::slots(app, executor)).sum();
    let is_few = !working.is_empty()
        && working.len() == places.len()
        && working.len() as f64 <= app.advice.crowded_executors.get() * alive.len() as f64
        && tasks.times.len() as f64 >= app.advice.crowded_rounds.get() * of_working as f64;
    let is_local =
        |row: &usize| matches!(attempts.locality(*row), Some(Locality::ProcessLocal | Locality::NodeLocal));
    if !is_few
        || (rows.filter(is_local).count() as f64) < app.advice.crowded_local.get() * attempts.len() as f64
    {
        return None;
    }
    let open = slots.within(tasks.from, tasks.to)?;
    let is_idle = slots.idle(open, tasks.from, tasks.to) >= app.advice.crowded_idle.get() * open;
    let time = Millis::between(Timestamp::from_millis(tasks.from), Timestamp::from_millis(tasks.to))?;
    is_idle.then_some((time, working.len() as u64, alive.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;
    use elephant_model::model::table::Outcome;

    /// A stage of 16 tasks that run on the first `working` of 8 executors, in an application of 120 s.
    fn app(working: usize, locality: Locality, settings: &[(&str, &str)]) -> Application {
        let mut app = elephant_sample::app(settings);
        app.finished_at = Some(Timestamp::from_millis(120_000));
        let ids: Vec<String> = (1..=8).map(|id: u32| id.to_string()).collect();
        for id in &ids {
            let executor = elephant_sample::executor(&mut app, id);
            (executor.cores, executor.added_at) = (Some(4), Some(Timestamp::from_millis(0)));
        }
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 100_000); 16]);
        let symbols: Vec<Symbol> = ids.iter().map(|id| app.strings.intern(id).unwrap()).collect();
        for row in 0..16 {
            app.groups[0].attempts.set_executor(row, Some(symbols[row % working]));
            app.groups[0].attempts.set_locality(row, Some(locality));
        }
        elephant_sample::succeed(&mut app);
        app
    }

    fn advice_on(app: &Application) -> Option<String> {
        let line = Crowded::of(&advised(app)).and_then(|_| Crowded::advice(app))?;
        Some(line.settings.first().map_or(line.text.clone(), ToString::to_string))
    }

    #[test]
    fn tasks_that_wait_for_few_executors_should_run_on_others() {
        let crowded = app(2, Locality::NodeLocal, &[]);
        assert_eq!(
            Crowded::of(&advised(&crowded)).unwrap().phrase().to_string(),
            "tasks of stage 0.0 (count at App.scala:0) waited for 2 of 8 executors, which have their data, while the \
             others were idle"
        );
        assert_eq!(advice_on(&crowded).as_deref(), Some("--conf spark.locality.wait=0s"));
        // A wait of this level comes before the one for all.
        let of_level = app(2, Locality::NodeLocal, &[("spark.locality.wait.node", "30s")]);
        assert!(advice_on(&of_level).unwrap().ends_with(": lower spark.locality.wait.node"));
        // Nothing waits.
        assert_eq!(advice_on(&app(2, Locality::NodeLocal, &[("spark.locality.wait", "0")])), None);
    }

    #[test]
    fn other_reasons_for_idle_executors_are_no_wait_for_data() {
        assert_eq!(advice_on(&app(8, Locality::NodeLocal, &[])), None);
        assert_eq!(advice_on(&app(2, Locality::OffSwitch, &[])), None);
        let mut excluded = app(2, Locality::NodeLocal, &[]);
        elephant_sample::spark(&mut excluded).executors[7].exclusions = 1;
        assert_eq!(advice_on(&excluded), None);
        // As many tasks as slots: no task waited.
        let mut few = app(2, Locality::NodeLocal, &[]);
        for executor in &mut elephant_sample::spark(&mut few).executors {
            executor.cores = Some(20);
        }
        assert_eq!(advice_on(&few), None);
    }
}
