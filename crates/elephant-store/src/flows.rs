//! Flows of schedulers: their executions, which may have applications of several engines, and the jobs in them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::database::Row;
use super::day::name_of;
use super::selection::{DAY, Selection};
use super::{Answer, Asked, Group, Grouping, Only, Question, Run, Store, StoreError, gb_hours};
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp};
use elephant_ruleset::Pattern;

/// Applications of one execution that are shown. No real flow has as many.
const MOST_OF_EXECUTION: usize = 1000;

/// A flow with its executions.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowHistory {
    /// Its name, with that of its job where it is unique only there.
    pub flow: String,
    /// The scheduler, and the address of its page, as the last application tells.
    pub scheduler: (Option<String>, Option<String>),
    /// The sums over all applications, and the jobs, with [`View::Groups`](super::View::Groups).
    pub jobs: Answer,
    /// The executions, the last one first.
    pub executions: Vec<Execution>,
    /// How many executions there are, shown or not.
    pub of: u64,
}

/// The applications of one run of a flow together. What is unknown of an application is missing in the sums; `None` if it is
/// unknown of all.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// What the scheduler calls it; `None` if no application tells.
    pub run: Option<String>,
    /// The day of submission in UTC, if that is all that tells executions apart.
    pub day: Option<String>,
    /// The first submission.
    pub begin: Option<Timestamp>,
    /// From the first submission to the last end.
    pub run_time: Option<Millis>,
    /// How many applications there are.
    pub applications: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those that were killed.
    pub killed: u64,
    /// Applications that could not be judged.
    pub unjudged: u64,
    /// Memory used.
    pub used_gb_hours: Option<f64>,
    /// The part of it that was not needed.
    pub wasted_gb_hours: Option<f64>,
    /// What the remedies of known effect save of it.
    pub saved_gb_hours: Option<f64>,
    /// The highest severity of all findings.
    pub severity: Severity,
}

/// One execution of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct OneExecution {
    /// The sums over its applications.
    pub total: Group,
    /// Its applications in the order of submission.
    pub runs: Vec<Run>,
    /// Its tasks in the order of their first submission; without applications of which the task is unknown.
    pub tasks: Vec<Task>,
}

/// The applications of one task of a flow together. What is unknown of an application is missing in the sums; `None` if it
/// is unknown of all.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// What the scheduler calls it.
    pub name: String,
    /// The first submission.
    pub begin: Option<Timestamp>,
    /// From the first submission to the last end.
    pub run_time: Option<Millis>,
    /// How many applications there are.
    pub applications: u64,
    /// Memory used.
    pub used_gb_hours: Option<f64>,
    /// The part of it that was not needed.
    pub wasted_gb_hours: Option<f64>,
    /// The highest severity of all findings.
    pub severity: Severity,
}

/// A job in two executions of a flow; `None` in one in which it did not run.
#[derive(Debug, Clone, PartialEq)]
pub struct JobInTwo {
    /// The key of the job.
    pub job: String,
    /// Its sums in each execution.
    pub sides: [Option<Group>; 2],
}

impl Store {
    /// The flow with this name; `None` if no application that is asked about belongs to it. `asked.only` names no other
    /// flows.
    pub fn flow(&self, flow: &str, asked: Asked<'_>) -> Result<Option<FlowHistory>, StoreError> {
        let only = Only { flows: vec![Pattern::exactly(flow)], ..asked.only.clone() };
        let asked = Asked { only: &only, ..asked };
        self.database.reading(|| {
            let selection = self.asked_about(&asked)?;
            let jobs = self.answer_about(&Question::Groups(Grouping::Job), &selection, asked)?;
            let Some(jobs) = jobs.filter(|jobs| jobs.total.applications > 0) else { return Ok(None) };
            let (executions, of) = self.executions(&selection, asked.most)?;
            Ok(Some(FlowHistory {
                flow: flow.to_owned(),
                scheduler: self.scheduler_of(&selection)?,
                jobs,
                executions,
                of,
            }))
        })
    }

    /// One execution of a flow; `None` if there is none.
    pub fn execution(&self, flow: &str, run: &str) -> Result<Option<OneExecution>, StoreError> {
        self.database.reading(|| {
            let selection = self.seen(Selection::of_execution(flow, run))?;
            let order = "submitted NULLS LAST, id, attempt, source";
            let runs = self.runs(&selection, order, MOST_OF_EXECUTION)?;
            let total = self.grouped(Grouping::Everything, &selection, (None, None))?.groups.pop();
            let tasks = Task::of(&runs);
            Ok(total.map(|total| OneExecution { total, runs, tasks }))
        })
    }

    /// The jobs of two executions of a flow, those whose run time differs most first. If there is no such execution, its
    /// name is returned instead.
    pub fn two_executions<'r>(
        &self,
        flow: &str,
        runs: [&'r str; 2],
    ) -> Result<Result<Vec<JobInTwo>, &'r str>, StoreError> {
        self.database.reading(|| {
            let mut jobs: BTreeMap<String, [Option<Group>; 2]> = BTreeMap::new();
            for (side, run) in runs.into_iter().enumerate() {
                let selection = self.seen(Selection::of_execution(flow, run))?;
                let groups = self.grouped(Grouping::Job, &selection, (None, None))?.groups;
                if groups.is_empty() {
                    return Ok(Err(run));
                }
                for group in groups {
                    let Some(job) = group.key.clone() else { continue };
                    if let Some(place) = jobs.entry(job).or_default().get_mut(side) {
                        *place = Some(group);
                    }
                }
            }
            let mut jobs: Vec<JobInTwo> =
                jobs.into_iter().map(|(job, sides)| JobInTwo { job, sides }).collect();
            // Stable: equal ones stay in the order of their names.
            jobs.sort_by_key(|job| Reverse(job.apart()));
            Ok(Ok(jobs))
        })
    }

    fn executions(&self, selection: &Selection, most: usize) -> Result<(Vec<Execution>, u64), StoreError> {
        let statement = format!(
            "SELECT application.flow_run, CASE WHEN application.flow_run IS NULL THEN {DAY} END, min(submitted), \
             CAST(max(finished) AS BIGINT), count(*), count(*) FILTER (WHERE application.status = 'failed'), count(*) FILTER \
             (WHERE application.status = 'killed'), count(*) FILTER (WHERE NOT application.judged), CAST(sum(used) AS \
             BIGINT), CAST(sum(wasted) AS BIGINT), CAST(sum(application.saved_memory) AS BIGINT), \
             max(application.severity) FROM application WHERE {} GROUP BY 1, 2 ORDER BY 3 DESC NULLS LAST, 1 DESC, 2 DESC",
            selection.condition
        );
        let mut executions = self.database.rows(&statement, &selection.values, Execution::of)?;
        let of = executions.len() as u64;
        executions.truncate(most);
        Ok((executions, of))
    }

    /// The scheduler of the last application, and the address of its page there.
    fn scheduler_of(&self, selection: &Selection) -> Result<(Option<String>, Option<String>), StoreError> {
        let statement = format!(
            "SELECT scheduler, link FROM application WHERE {} ORDER BY submitted DESC NULLS LAST, application DESC LIMIT 1",
            selection.condition
        );
        let found =
            self.database.first(&statement, &selection.values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.unwrap_or_default())
    }
}

impl JobInTwo {
    /// The difference between its times in both, in milliseconds. One in which it did not run took no time.
    fn apart(&self) -> u64 {
        let time =
            |side: &Option<Group>| side.as_ref().and_then(|group| group.run_time).map_or(0, Millis::get);
        let [a, b] = &self.sides;
        time(a).abs_diff(time(b))
    }
}

impl Task {
    /// The tasks of these applications, which are in the order of submission.
    fn of(runs: &[Run]) -> Vec<Self> {
        let mut tasks: Vec<(&str, Vec<&Run>)> = Vec::new();
        for run in runs {
            let Some(task) = run.task.as_deref() else { continue };
            match tasks.iter_mut().find(|(known, _)| *known == task) {
                Some((_, of_task)) => of_task.push(run),
                None => tasks.push((task, vec![run])),
            }
        }
        tasks.into_iter().map(|(name, runs)| Self::with(name, &runs)).collect()
    }

    fn with(name: &str, runs: &[&Run]) -> Self {
        let begin = runs.iter().filter_map(|run| run.submitted).min();
        let end = runs.iter().filter_map(|run| Some(run.submitted? + run.run_time?)).max();
        let sum = |hours: fn(&Run) -> Option<f64>| {
            runs.iter().filter_map(|run| hours(run)).reduce(|sum, hours| sum + hours)
        };
        Self {
            name: name.to_owned(),
            begin,
            run_time: begin.zip(end).and_then(|(begin, end)| Millis::between(begin, end)),
            applications: runs.len() as u64,
            used_gb_hours: sum(|run| run.used_gb_hours),
            wasted_gb_hours: sum(|run| run.wasted_gb_hours),
            severity: runs.iter().map(|run| run.severity).max().unwrap_or(Severity::None),
        }
    }
}

impl Execution {
    fn of(row: &Row<'_>) -> Result<Self, StoreError> {
        let moment = |ms: Option<i64>| ms.map(Timestamp::from_millis);
        let (begin, end) = (moment(row.get(2)?), moment(row.get(3)?));
        let severity =
            row.amount(11)?.and_then(|value| Severity::ALL.get(usize::try_from(value).ok()?).copied());
        Ok(Self {
            run: row.get(0)?,
            day: row.get::<Option<i64>>(1)?.and_then(name_of),
            begin,
            run_time: begin.zip(end).and_then(|(begin, end)| Millis::between(begin, end)),
            applications: row.count(4)?,
            failed: row.count(5)?,
            killed: row.count(6)?,
            unjudged: row.count(7)?,
            used_gb_hours: row.amount(8)?.map(gb_hours),
            wasted_gb_hours: row.amount(9)?.map(gb_hours),
            saved_gb_hours: row.amount(10)?.map(gb_hours),
            severity: severity.unwrap_or(Severity::None),
        })
    }
}
