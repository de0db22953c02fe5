//! What the graphs of flows and jobs are drawn from: scores, or times and memory, of their last executions.

use std::io;

use serde::Serialize;

use super::super::json::bytes;
use super::record::{Groups, Record, Sums, grouped, latest_first};
use elephant_store::Member;

/// Executions in a graph.
const MOST: usize = 15;

#[derive(Serialize)]
struct Scores<T> {
    /// When its last application ended.
    flowtime: Option<i64>,
    score: u64,
    #[serde(flatten)]
    parts: T,
}

#[derive(Serialize)]
struct Metrics<T> {
    flowtime: Option<i64>,
    #[serde(flatten)]
    used: Used,
    jobmetrics: Vec<T>,
}

#[derive(Serialize)]
struct Used {
    runtime: Option<i64>,
    waittime: Option<i64>,
    resourceused: Option<u64>,
    resourcewasted: Option<u64>,
}

#[derive(Serialize)]
struct JobScores<'a> {
    jobscores: Vec<JobScore<'a>>,
}

#[derive(Serialize)]
struct JobScore<'a> {
    jobscore: u64,
    #[serde(flatten)]
    job: Job<'a>,
}

#[derive(Serialize)]
struct Job<'a> {
    jobdefurl: Option<&'a str>,
    jobexecurl: Option<&'a str>,
}

#[derive(Serialize)]
struct JobMetrics<'a> {
    #[serde(flatten)]
    used: Used,
    #[serde(flatten)]
    job: Job<'a>,
}

#[derive(Serialize)]
struct StageScores<'a> {
    stagescores: Vec<StageScore<'a>>,
}

#[derive(Serialize)]
struct StageScore<'a> {
    stageid: &'a str,
    stagescore: u64,
}

#[derive(Serialize)]
struct StageMetrics<'a> {
    stageid: &'a str,
    #[serde(flatten)]
    used: Used,
}

impl From<&Sums> for Used {
    fn from(sums: &Sums) -> Self {
        let Sums { run_time, wait, used, wasted, .. } = *sums;
        Self { runtime: run_time, waittime: wait, resourceused: used, resourcewasted: wasted }
    }
}

/// The scores of a flow's executions and of their jobs: `/rest/flowgraphdata`. `members` are its applications, `most` how
/// many were asked for.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn flow_scores(members: &[Member], most: usize) -> io::Result<Vec<u8>> {
    let records = latest_first(members);
    let executions = executions(&records, most);
    let scores = executions.iter().map(|execution| {
        let sums = Sums::of(execution);
        let score = |records: &[&Record<'_>]| Sums::of(records).score;
        let jobs = jobs(execution).map(|(job, records)| JobScore { jobscore: score(&records), job });
        let parts = JobScores { jobscores: jobs.collect() };
        Scores { flowtime: sums.finish, score: sums.score, parts }
    });
    bytes(&scores.collect::<Vec<_>>())
}

/// The scores of a job's executions and of their applications: `/rest/jobgraphdata`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn job_scores(members: &[Member], most: usize) -> io::Result<Vec<u8>> {
    let records = latest_first(members);
    let executions = executions(&records, most);
    let scores = executions.iter().map(|execution| {
        let sums = Sums::of(execution);
        let stages = execution.iter().rev();
        let stages = stages.map(|record| StageScore { stageid: &record.id, stagescore: record.score });
        let parts = StageScores { stagescores: stages.collect() };
        Scores { flowtime: sums.finish, score: sums.score, parts }
    });
    bytes(&scores.collect::<Vec<_>>())
}

/// Times and memory of a flow's executions and of their jobs: `/rest/flowmetricsgraphdata`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn flow_metrics(members: &[Member], most: usize) -> io::Result<Vec<u8>> {
    let records = latest_first(members);
    let executions = executions(&records, most);
    let metrics = executions.iter().map(|execution| {
        let jobs = jobs(execution);
        let jobs = jobs.map(|(job, records)| JobMetrics { used: Used::from(&Sums::of(&records)), job });
        of_execution(execution, jobs.collect())
    });
    bytes(&metrics.collect::<Vec<_>>())
}

/// Times and memory of a job's executions and of their applications: `/rest/jobmetricsgraphdata`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn job_metrics(members: &[Member], most: usize) -> io::Result<Vec<u8>> {
    let records = latest_first(members);
    let executions = executions(&records, most);
    let metrics = executions.iter().map(|execution| {
        // Here Dr. Elephant has the latest application first, and the first one first in its other graphs.
        let stages = execution.iter();
        let stages =
            stages.map(|record| StageMetrics { stageid: &record.id, used: Used::from(&Sums::of(&[record])) });
        of_execution(execution, stages.collect())
    });
    bytes(&metrics.collect::<Vec<_>>())
}

fn of_execution<T>(execution: &[&Record<'_>], jobmetrics: Vec<T>) -> Metrics<T> {
    let sums = Sums::of(execution);
    Metrics { flowtime: sums.finish, used: Used::from(&sums), jobmetrics }
}

/// The last executions, the first one first; each has its latest application first.
fn executions<'g, 'a>(records: &'g [Record<'a>], most: usize) -> Vec<Vec<&'g Record<'a>>> {
    let mut groups = grouped(records, |record| {
        let day = || record.run.flow.as_ref().map(|_| day(record.start));
        let alone = || record.job_execution.clone();
        Some(record.flow_execution.clone().or_else(day).unwrap_or_else(alone))
    });
    keep_whole(&mut groups, (records.len(), most), MOST);
    let mut executions: Vec<_> = groups.into_iter().map(|(_, records)| records).collect();
    executions.sort_by_key(|execution| Sums::of(execution).finish);
    executions
}

/// What tells the executions of a flow apart if the scheduler's names for them are unknown.
fn day(start: Option<i64>) -> String {
    const DAY_MS: i64 = 86_400_000;
    start.map_or_else(String::new, |start| start.div_euclid(DAY_MS).to_string())
}

/// Keeps at most `kept` of the last groups. If there are more applications than were read, those that began first may
/// lack some, so that they are left out.
pub(super) fn keep_whole(groups: &mut Groups<'_, '_>, (read, most): (usize, usize), kept: usize) {
    /// Of many executions, several may lack applications.
    const MANY: usize = 10;
    const OF_MANY: usize = 3;
    let doubtful = match (read < most, groups.len() > MANY) {
        (true, _) => 0,
        (false, true) => OF_MANY,
        (false, false) => 1,
    };
    groups.truncate(groups.len().saturating_sub(doubtful).min(kept));
}

/// The jobs of an execution in the order in which their first applications ended.
fn jobs<'g, 'a>(execution: &'g [&'g Record<'a>]) -> impl Iterator<Item = (Job<'a>, Vec<&'g Record<'a>>)> {
    let jobs = grouped(execution.iter().rev().copied(), |record| Some(record.job.to_owned()));
    jobs.into_iter().map(|(_, records)| {
        let jobexecurl = records.iter().find_map(|record| record.link);
        (Job { jobdefurl: None, jobexecurl }, records)
    })
}
