//! The runs of each job, for reports that show a job instead of every run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use super::{ApplicationReport, Leading};
use crate::fingerprint::JobKey;
use elephant_base::severity::Severity;
use elephant_base::units::{MbMillis, Millis, Timestamp};
use elephant_model::model::Engine;
use elephant_rule::finding::TroubleKind;
use elephant_verdict::savings::Sums;
use elephant_verdict::troubles::WorthSum;

/// The job and the user that an application belongs to. An application without a name is alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobGroup(u128);

impl JobGroup {
    /// The group of an application.
    #[must_use]
    pub fn of(app: &ApplicationReport) -> Self {
        let alone = JobKey::new(app.engine, app.name.as_deref()) == JobKey::new(app.engine, None);
        Self::of_job(&app.job_key(), alone, app.user.as_deref(), &app.id)
    }

    /// The group of a run that other commands read.
    pub(crate) fn of_run(engine: Engine, name: Option<&str>, user: Option<&str>, id: &str) -> Self {
        let job = JobKey::new(engine, name);
        Self::of_job(&job, job == JobKey::new(engine, None), user, id)
    }

    fn of_job(job: &JobKey, alone: bool, user: Option<&str>, id: &str) -> Self {
        let (kind, owner) = if alone { ("run", Some(id)) } else { ("job", user) };
        Self(XxHash3_128::oneshot(format!("{kind}\n{job}\n{}", owner.unwrap_or_default()).as_bytes()))
    }
}

/// The runs whose run times are kept.
const RECENT_RUNS: usize = 20;

/// The runs of one job by one user.
#[derive(Debug, Clone, PartialEq)]
pub struct JobTotal {
    /// What the runs have in common.
    pub group: JobGroup,
    /// The definition of the job.
    pub job: JobKey,
    /// The name of the run that started last.
    pub name: Option<String>,
    /// The user that runs it.
    pub user: Option<String>,
    /// The number of runs.
    pub runs: u64,
    /// Those with findings.
    pub runs_with_findings: u64,
    /// The id of the run that started last; if there are several, the greatest.
    pub last: String,
    /// When it started.
    pub last_started: Option<Timestamp>,
    /// The run times of the last runs, in the order of their start.
    pub run_times: Vec<Option<Millis>>,
    /// The highest severity of all runs.
    pub severity: Severity,
    /// The run that has it; `None` without findings.
    pub worst: Option<WorstRun>,
    /// What the remedies save over all runs.
    pub savings: Sums,
    /// The kinds of trouble and in how many runs they were found, most runs first.
    pub troubles: Vec<(TroubleKind, u64)>,
}

/// The run of a job with the highest severity; among equals the one with the highest score.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorstRun {
    severity: Severity,
    score: u64,
    /// The first of equal runs in the alphabet.
    id: Reverse<String>,
    source: Reverse<Option<String>>,
    /// Its worst finding: the rule's name for readers, and the subject.
    finding: String,
}

impl WorstRun {
    fn of(app: &ApplicationReport) -> Option<Self> {
        let worst =
            app.findings.iter().max_by_key(|finding| (finding.severity_in_larger_run(), finding.score))?;
        let attempt = app.attempt.as_ref().map(|attempt| format!(" ({attempt})"));
        Some(Self {
            severity: app.severity,
            score: app.score,
            id: Reverse(format!("{}{}", app.id, attempt.unwrap_or_default())),
            source: Reverse(app.sources.first().cloned()),
            finding: format!("{} ({})", worst.title, worst.subject.name()),
        })
    }

    /// Its id, with the attempt.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id.0
    }

    /// The first of its files.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        self.source.0.as_deref()
    }

    /// The rule of its worst finding, as readers know it, and the subject.
    #[must_use]
    pub fn finding(&self) -> &str {
        &self.finding
    }
}

/// Adds up the runs of each job, in any order.
#[derive(Debug, Default)]
pub struct JobSums(BTreeMap<JobGroup, JobSum>);

#[derive(Debug)]
struct JobSum {
    leading: Leading,
    worth: WorthSum,
    score: u64,
    wasted: Option<MbMillis>,
    /// The last runs: start, id and run time. The same history read twice is one run.
    recent: BTreeSet<(Option<Timestamp>, String, Option<Millis>)>,
    total: JobTotal,
}

impl JobSums {
    pub(crate) fn add(&mut self, app: &ApplicationReport) -> JobGroup {
        let group = JobGroup::of(app);
        let sum = self.0.entry(group).or_insert_with(|| JobSum::new(group, app));
        sum.add(app);
        group
    }

    /// The jobs in the order of the report: what leads it, then severity, score and wasted memory.
    pub(crate) fn finish(self) -> Vec<JobTotal> {
        let mut sums: Vec<JobSum> = self.0.into_values().collect();
        for sum in &mut sums {
            if let Leading::Worth(worth) = &mut sum.leading {
                *worth = sum.worth.total();
            }
            sum.total.run_times = sum.recent.iter().map(|(_, _, time)| *time).collect();
            sum.total.troubles.sort_by_key(|&(kind, runs)| (Reverse(runs), kind));
        }
        sums.sort_by(|a, b| {
            (a.leading.cmp(&b.leading))
                .then_with(|| b.total.severity.cmp(&a.total.severity))
                .then_with(|| b.score.cmp(&a.score))
                .then_with(|| b.wasted.cmp(&a.wasted))
                .then_with(|| a.total.last.cmp(&b.total.last))
                .then_with(|| a.total.group.cmp(&b.total.group))
        });
        sums.into_iter().map(|sum| sum.total).collect()
    }
}

impl JobSum {
    fn new(group: JobGroup, app: &ApplicationReport) -> Self {
        let total = JobTotal {
            group,
            job: app.job_key(),
            name: None,
            user: app.user.clone(),
            runs: 0,
            runs_with_findings: 0,
            last: String::new(),
            last_started: None,
            run_times: Vec::new(),
            severity: Severity::None,
            worst: None,
            savings: Sums::default(),
            troubles: Vec::new(),
        };
        let leading = app.leading.clone();
        let recent = BTreeSet::new();
        Self { leading, worth: WorthSum::default(), score: 0, wasted: None, recent, total }
    }

    fn add(&mut self, app: &ApplicationReport) {
        if app.leading < self.leading {
            self.leading = app.leading.clone();
        }
        if let Leading::Worth(worth) = &app.leading {
            self.worth.add(worth);
        }
        self.score = self.score.max(app.score);
        self.wasted = self.wasted.max(app.metrics.wasted.filter(|_| app.leading.counts_waste()));
        let started = app.begun_at();
        self.recent.insert((started, app.id.clone(), app.metrics.run_time));
        if self.recent.len() > RECENT_RUNS {
            self.recent.pop_first();
        }
        let total = &mut self.total;
        if (started, &app.id) > (total.last_started, &total.last) {
            total.last_started = started;
            total.last.clone_from(&app.id);
            total.name.clone_from(&app.name);
        }
        total.runs += 1;
        total.runs_with_findings += u64::from(app.severity > Severity::None);
        total.severity = total.severity.max(app.severity);
        let worst = total.worst.take();
        total.worst = worst.max(WorstRun::of(app));
        let mut kinds: Vec<TroubleKind> = Vec::new();
        for trouble in &app.troubles {
            total.savings.add(&trouble.savings);
            if !kinds.contains(&trouble.kind) {
                kinds.push(trouble.kind);
            }
        }
        for kind in kinds {
            match total.troubles.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, runs)) => *runs += 1,
                None => total.troubles.push((kind, 1)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_rule::finding::{Caps, Finding, Subject};

    fn run(id: &str, name: &str, user: &str) -> ApplicationReport {
        let mut app = ApplicationReport::blank(id);
        app.name = Some(name.to_owned());
        app.user = Some(user.to_owned());
        app
    }

    #[test]
    fn runs_of_a_job_by_a_user_are_one_group() {
        let first = run("app-1", "etl 2026-11-21", "alice");
        assert_eq!(JobGroup::of(&first), JobGroup::of(&run("app-2", "etl 2026-11-22", "alice")));
        assert_ne!(JobGroup::of(&first), JobGroup::of(&run("app-2", "etl 2026-11-22", "bob")));
        assert_ne!(JobGroup::of(&first), JobGroup::of(&run("app-2", "load", "alice")));
    }

    fn finding(title: &'static str, raw_severity: Severity) -> Finding {
        Finding {
            rule: "a-rule".into(),
            title: title.into(),
            rule_facts: elephant_rule::finding::RuleFacts::USER,
            tells: TroubleKind::Other,
            repartition: None,
            of_more_parts: false,
            also_about: Vec::new(),
            in_queries: Vec::new(),
            conditions: Vec::new(),
            raw_severity,
            caps: Caps::default(),
            severity: raw_severity,
            score: 0,
            subject: Subject::Application,
            message: String::new(),
            statement: String::new(),
            evidence: Vec::new(),
            thresholds: [].into(),
            advice: Vec::new(),
            failure: None,
        }
    }

    #[test]
    fn the_run_that_a_severity_is_from_is_known() {
        let with = |id: &str, severity, titles: &[(&'static str, Severity)]| {
            let findings = titles.iter().map(|&(title, severity)| finding(title, severity)).collect();
            ApplicationReport { severity, findings, ..run(id, "etl", "alice") }
        };
        let (low, critical) = (Severity::Low, Severity::Critical);
        let runs = [
            with("app-1", low, &[("Spill", low)]),
            with("app-3", critical, &[("Spill", low), ("Skew", critical)]),
            with("app-2", critical, &[("Skew", critical)]),
            with("app-4", Severity::None, &[]),
        ];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0]] {
            let mut sums = JobSums::default();
            for place in order {
                sums.add(&runs[place]);
            }
            let jobs = sums.finish();
            let worst = jobs[0].worst.as_ref().unwrap();
            assert_eq!((worst.id(), worst.finding(), worst.source()), ("app-2", "Skew (application)", None));
        }
        let mut quiet = JobSums::default();
        quiet.add(&runs[3]);
        assert_eq!(quiet.finish()[0].worst, None);
    }

    #[test]
    fn applications_without_a_name_are_alone() {
        let unnamed = |id: &str| ApplicationReport { name: None, ..run(id, "", "alice") };
        assert_ne!(JobGroup::of(&unnamed("app-1")), JobGroup::of(&unnamed("app-2")));
    }

    #[test]
    fn the_sums_do_not_depend_on_the_order() {
        let started = |id: &str, second: i64, severity| {
            let started_at = Some(Timestamp::from_millis(1_700_000_000_000 + second * 1000));
            let mut app = ApplicationReport { started_at, severity, ..run(id, "etl", "alice") };
            app.metrics.run_time = u64::try_from(second).ok().map(Millis::new);
            app
        };
        let runs = [
            started("app-3", 1, Severity::None),
            started("app-1", 3, Severity::Severe),
            started("app-2", 2, Severity::Low),
        ];
        let total = |order: &[usize]| {
            let mut sums = JobSums::default();
            for &place in order {
                sums.add(&runs[place]);
            }
            sums.finish()
        };
        let jobs = total(&[0, 1, 2]);
        assert_eq!(jobs, total(&[2, 1, 0]));
        let [job] = jobs.as_slice() else { panic!("{jobs:?}") };
        assert_eq!((job.runs, job.runs_with_findings, job.severity), (3, 2, Severity::Severe));
        assert_eq!(job.last, "app-1");
        assert_eq!(job.run_times, [1, 2, 3].map(|time| Some(Millis::new(time))));
    }
}
