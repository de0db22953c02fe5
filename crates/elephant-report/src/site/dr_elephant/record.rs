//! What Dr. Elephant's store had of an application, as far as ours has it, and its sums over several.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::options::SPARK;
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp};
use elephant_base::whole::Whole as _;
use elephant_store::{Member, Run, StoredApplication};

/// Dr. Elephant counted in MiB·s.
const MB_SECONDS_PER_GB_HOUR: f64 = 1024.0 * 3600.0;

/// An application.
pub(super) struct Record<'a> {
    pub(super) run: &'a Run,
    /// As YARN has it: Dr. Elephant knew no other ids.
    pub(super) id: String,
    pub(super) job: &'a str,
    pub(super) job_type: Option<String>,
    pub(super) scheduler: Option<String>,
    pub(super) link: Option<&'a str>,
    pub(super) start: Option<i64>,
    pub(super) finish: Option<i64>,
    /// Time in which it wanted resources and had none, in milliseconds.
    pub(super) wait: Option<u64>,
    pub(super) score: u64,
    pub(super) job_execution: String,
    pub(super) flow_execution: Option<String>,
}

/// The few parts of a stored report that no column has. The others are not even looked at, because thousands of reports
/// are read for one answer.
#[derive(Default, Deserialize)]
struct FromReport {
    job_type: Option<String>,
    metrics: Option<Metrics>,
    identity: Option<Identity>,
}

#[derive(Deserialize)]
struct Metrics {
    wait_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Identity {
    scheduler: Option<String>,
}

/// The columns that a member and a whole application have in common.
#[derive(Debug, Clone, Copy)]
struct Columns<'a> {
    run: &'a Run,
    engine: &'a str,
    job: &'a str,
    scheduler: Option<&'a str>,
    link: Option<&'a str>,
    finished: Option<Timestamp>,
    score: u64,
    report: Option<&'a str>,
}

/// The type of the job, by Dr. Elephant's names; `None` if it is unknown.
#[must_use]
pub fn job_type_of(member: &Member) -> Option<String> {
    Record::from(member).job_type
}

impl<'a> Record<'a> {
    fn of(columns: Columns<'a>) -> Self {
        let Columns { run, engine, job, scheduler, link, finished, score, report } = columns;
        let report: FromReport = report.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        let end = || Some(run.submitted?.as_millis().saturating_add_unsigned(run.run_time.map(Millis::get)?));
        Self {
            run,
            id: run.yarn_id(),
            job,
            job_type: if engine == "spark" { Some(SPARK.to_owned()) } else { report.job_type },
            scheduler: scheduler.map(str::to_owned).or_else(|| report.identity?.scheduler),
            link,
            start: run.submitted.map(Timestamp::as_millis),
            finish: finished.map(Timestamp::as_millis).or_else(end),
            wait: report.metrics.and_then(|metrics| metrics.wait_ms),
            score,
            job_execution: run.job_execution(),
            flow_execution: run.flow_execution(),
        }
    }

    /// What the scheduler calls the job; its own name without one.
    pub(super) fn job_name(&self) -> Option<&'a str> {
        self.run.task.as_deref().or(self.run.name.as_deref())
    }

    pub(super) fn used(&self) -> Option<u64> {
        mb_seconds(self.run.used_gb_hours)
    }

    pub(super) fn wasted(&self) -> Option<u64> {
        mb_seconds(self.run.wasted_gb_hours)
    }

    pub(super) fn run_time(&self) -> Option<i64> {
        Some(self.finish?.saturating_sub(self.start?))
    }
}

impl<'a> From<&'a Member> for Record<'a> {
    fn from(member: &'a Member) -> Self {
        let Member { run, engine, job, scheduler, link, finished, score, report, .. } = member;
        let (scheduler, link, report) = (scheduler.as_deref(), link.as_deref(), report.as_deref());
        let (finished, score) = (*finished, *score);
        Self::of(Columns { run, engine, job, scheduler, link, finished, score, report })
    }
}

impl<'a> From<&'a StoredApplication> for Record<'a> {
    fn from(app: &'a StoredApplication) -> Self {
        let StoredApplication { run, engine, job, link, finished, score, report, .. } = app;
        let (link, report) = (link.as_deref(), report.as_deref());
        let (finished, score) = (*finished, *score);
        Self::of(Columns { run, engine, job, scheduler: None, link, finished, score, report })
    }
}

/// By what applications are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// The severity.
    Severity,
    /// Memory used.
    Used,
    /// The part of it that was not needed.
    Wasted,
    /// Time in which it wanted resources and had none.
    Delay,
    /// The end.
    Finish,
}

impl Key {
    /// The key with this name in requests; unknown ones are the severity.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "resourceUsed" => Self::Used,
            "resourceWasted" => Self::Wasted,
            "delay" => Self::Delay,
            "finish_time" => Self::Finish,
            _ => Self::Severity,
        }
    }

    pub(super) fn of(self, record: &Record<'_>) -> Option<i64> {
        let whole = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
        match self {
            Self::Severity => i64::try_from(record.run.severity.value()).ok(),
            Self::Used => whole(record.used()),
            Self::Wasted => whole(record.wasted()),
            Self::Delay => whole(record.wait),
            Self::Finish => record.finish,
        }
    }
}

/// The records of these members, the latest end first.
pub(super) fn latest_first(members: &[Member]) -> Vec<Record<'_>> {
    let mut records: Vec<Record<'_>> = members.iter().map(Record::from).collect();
    records.sort_by_key(|record| Reverse(record.finish));
    records
}

/// Records that have a name in common. A group has the place of its first record.
pub(super) type Groups<'g, 'a> = Vec<(String, Vec<&'g Record<'a>>)>;

/// Groups records by the name that `key` gives; those without one are left out.
pub(super) fn grouped<'g, 'a: 'g>(
    records: impl IntoIterator<Item = &'g Record<'a>>,
    key: impl Fn(&Record<'a>) -> Option<String>,
) -> Groups<'g, 'a> {
    let mut places = std::collections::HashMap::new();
    let mut groups: Groups<'g, 'a> = Vec::new();
    for record in records {
        let Some(name) = key(record) else { continue };
        let place = *places.entry(name.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, known)) => known.push(record),
            None => groups.push((name, vec![record])),
        }
    }
    groups
}

/// Sums over some applications. What is unknown of one is missing in the sum; `None` if it is unknown of all.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) start: Option<i64>,
    pub(super) finish: Option<i64>,
    /// From the first start to the last end.
    pub(super) run_time: Option<i64>,
    pub(super) wait: Option<i64>,
    pub(super) used: Option<u64>,
    pub(super) wasted: Option<u64>,
    pub(super) severity: Severity,
    pub(super) score: u64,
}

impl Sums {
    pub(super) fn of(records: &[&Record<'_>]) -> Self {
        let start = records.iter().filter_map(|record| record.start).min();
        let finish = records.iter().filter_map(|record| record.finish).max();
        Self {
            start,
            finish,
            run_time: finish.zip(start).map(|(finish, start)| finish.saturating_sub(start)),
            wait: wait(records),
            used: sum(records.iter().map(|record| record.used())),
            wasted: sum(records.iter().map(|record| record.wasted())),
            severity: records.iter().map(|record| record.run.severity).max().unwrap_or_default(),
            score: records.iter().fold(0, |sum, record| sum.saturating_add(record.score)),
        }
    }
}

pub(super) fn sum(values: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    values.flatten().reduce(u64::saturating_add)
}

/// The time that several applications waited together: on the way back from the last one, which always continues with
/// the last one that ended before, the waits of these and the gaps between them. `None` if a wait or a time is unknown.
fn wait(records: &[&Record<'_>]) -> Option<i64> {
    let mut left: Vec<(i64, i64, i64)> = Vec::with_capacity(records.len());
    for record in records {
        let wait = i64::try_from(record.wait?).ok()?;
        match (record.finish, record.start) {
            (Some(finish), Some(start)) => left.push((finish, start, wait)),
            // One alone needs no times.
            _ if records.len() == 1 => return Some(wait),
            _ => return None,
        }
    }
    left.sort_by_key(|(finish, ..)| Reverse(*finish));
    let mut way = left.into_iter();
    let (_, mut begin, mut total) = way.next()?;
    for (finish, start, wait) in way {
        if finish < begin {
            total = total.saturating_add(begin.saturating_sub(finish)).saturating_add(wait);
            begin = start;
        }
    }
    Some(total)
}

/// How many applications or jobs have a severity.
#[derive(Serialize)]
pub(super) struct SeverityCount {
    severity: &'static str,
    count: u64,
}

/// How many have each severity, the highest first.
pub(super) fn severity_counts(severities: impl Iterator<Item = Severity>) -> Vec<SeverityCount> {
    let mut counts = std::collections::BTreeMap::new();
    for severity in severities {
        *counts.entry(severity).or_insert(0) += 1;
    }
    counts
        .into_iter()
        .rev()
        .map(|(severity, count)| SeverityCount { severity: text(severity), count })
        .collect()
}

/// As the texts of Dr. Elephant's constants.
pub(super) const fn text(severity: Severity) -> &'static str {
    match severity {
        Severity::None => "None",
        Severity::Low => "Low",
        Severity::Moderate => "Moderate",
        Severity::Severe => "Severe",
        Severity::Critical => "Critical",
    }
}

/// As the names of Dr. Elephant's constants.
pub(super) fn name(severity: Severity) -> String {
    severity.name().to_ascii_uppercase()
}

fn mb_seconds(gb_hours: Option<f64>) -> Option<u64> {
    gb_hours.map(|hours| (hours * MB_SECONDS_PER_GB_HOUR).round().as_u64())
}
