//! The state that the gate accepts according to the store: the last runs of each job before those that are checked.

use std::collections::{BTreeMap, BTreeSet};

use super::database::{Row, Value, values};
use super::record::bounded;
use super::writer::TOOL;
use super::{Store, StoreError, gb_hours, phases};
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_engine::baseline::{Baseline, Job, Run, identity_of, rounded};
use elephant_engine::fingerprint::{Fingerprint, JobKey};
use elephant_engine::results::{Accepted, ApplicationReport, Report};
use elephant_rule::finding::Worse;

/// The accepted state of the jobs of a report.
#[derive(Debug)]
pub struct AcceptedRuns {
    /// Jobs that have accepted runs, with these.
    pub baseline: Baseline,
    /// Why other jobs have no accepted run.
    pub lacks: BTreeMap<JobKey, Lack>,
}

/// Why a job has no accepted run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// The store has no earlier run.
    Unknown,
    /// No earlier run is complete and successful.
    Unfit,
    /// All suitable runs were judged by other rules or another version of this program.
    OtherRules,
    /// All earlier runs are known to be of other clusters.
    OtherCluster,
    /// It is unknown of which cluster the checked runs are, or they are of several, and so are the earlier ones.
    SeveralClusters,
}

impl Lack {
    /// The text for readers.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Unknown => "the store has no earlier run of its job",
            Self::Unfit => "the store has no earlier run of its job that is complete and did not fail",
            Self::OtherRules => "the earlier runs of its job were judged by other rules or another version",
            Self::OtherCluster => {
                "the earlier runs of its job are of another cluster; --cluster names that of these histories"
            }
            Self::SeveralClusters => {
                "the earlier runs of its job are of several clusters; --cluster names that of these histories"
            }
        }
    }
}

/// An earlier run that may be accepted.
struct Earlier {
    application: i64,
    run: Run,
    fits: bool,
    /// Whether it was judged by this version with the rules of the report.
    is_current: bool,
}

/// For each rule, the direction in which its key measure gets worse.
type Directions<'r> = BTreeMap<&'r str, Worse>;

impl Store {
    /// The last `keep` runs of each job of `report` that are complete, did not fail and began before those of the
    /// report.
    pub fn accepted(&self, report: &Report, keep: usize) -> Result<AcceptedRuns, StoreError> {
        let mut checked: BTreeMap<JobKey, Vec<&ApplicationReport>> = BTreeMap::new();
        for app in report.applications.iter().filter(|app| !app.is_unnamed()) {
            checked.entry(app.compared_job()).or_default().push(app);
        }
        let findings = report.applications.iter().flat_map(|app| &app.findings);
        let directions: Directions<'_> =
            findings.filter_map(|it| Some((&*it.rule, it.rule_facts.key_measure?.worse))).collect();
        let mut accepted = AcceptedRuns { baseline: Baseline::default(), lacks: BTreeMap::new() };
        accepted.baseline.keep_runs = keep;
        for (key, apps) in checked {
            match self.earlier_runs(&key, &apps, (&report.rules_hash, keep))? {
                Ok(runs) => accepted.baseline.jobs.push(self.accepted_job(&key, runs, &directions)?),
                Err(lack) => drop(accepted.lacks.insert(key, lack)),
            }
        }
        Ok(accepted)
    }

    /// The runs of a job that are accepted, the last one first.
    fn earlier_runs(
        &self,
        key: &JobKey,
        checked: &[&ApplicationReport],
        (rules_hash, keep): (&str, usize),
    ) -> Result<Result<Vec<Earlier>, Lack>, StoreError> {
        let own: BTreeSet<String> =
            checked.iter().map(|app| identity_of(&app.id, app.attempt.as_deref(), started(app))).collect();
        let cluster = match self.cluster_of(key, checked)? {
            Ok(cluster) => cluster,
            Err(lack) => return Ok(Err(lack)),
        };
        let first = checked.iter().filter_map(|app| started(app)).min().map(Timestamp::as_millis);
        let mut asked: Vec<Value<'_>> = values![key.as_str(), TOOL, rules_hash].into();
        asked.extend(first.map(Value::from));
        let earlier = if first.is_some() { "AND submitted < ?4" } else { "" };
        let query = format!(
            "SELECT application, id, attempt, submitted, run_time, used, wasted, task_time, failed_attempts, input, phases, \
             cluster, complete AND status IN ('succeeded', 'unknown') AS fits, tool = ?2 AND rules_hash = ?3 AS is_current FROM application JOIN run USING (run) \
             WHERE counts = TRUE AND job = (SELECT job FROM job WHERE key = ?1) {earlier} ORDER BY submitted DESC NULLS \
             LAST, id DESC, attempt DESC, source DESC"
        );
        let (mut runs, mut lack) = (Vec::new(), Lack::Unknown);
        self.database.visit(&query, &asked, |row| {
            let earlier = Earlier::of(row)?;
            if own.contains(&earlier.run.run) {
                return Ok(true);
            }
            let of_cluster: Option<String> = row.get("cluster")?;
            if of_cluster.zip(cluster.as_ref()).is_some_and(|(its, checked)| its != *checked) {
                lack = if lack == Lack::Unknown { Lack::OtherCluster } else { lack };
                return Ok(true);
            }
            match (earlier.fits, earlier.is_current) {
                (true, true) => runs.push(earlier),
                (true, false) => lack = Lack::OtherRules,
                (false, _) if lack != Lack::OtherRules => lack = Lack::Unfit,
                (false, _) => {}
            }
            Ok(runs.len() < keep)
        })?;
        Ok(if runs.is_empty() { Err(lack) } else { Ok(runs) })
    }

    /// The cluster of the checked runs: the one that the user named, or else the one that their configurations tell. Where
    /// they tell none, earlier runs must not be of several.
    fn cluster_of(
        &self,
        key: &JobKey,
        checked: &[&ApplicationReport],
    ) -> Result<Result<Option<String>, Lack>, StoreError> {
        if self.cluster.is_some() {
            return Ok(Ok(self.cluster.clone()));
        }
        let mut told = checked.iter().map(|app| app.cluster.as_deref().map(bounded));
        let first = told.next().flatten();
        if let Some(first) = &first
            && told.all(|other| other.as_ref() == Some(first))
        {
            return Ok(Ok(Some(first.clone().into_owned())));
        }
        let query = "SELECT count(DISTINCT cluster) FROM application WHERE counts = TRUE AND job = (SELECT job FROM job \
                     WHERE key = ?1)";
        let clusters = self.database.count(query, &values![key.as_str()])?;
        Ok(if clusters > 1 { Err(Lack::SeveralClusters) } else { Ok(None) })
    }

    /// The accepted state of a job from these runs: each finding is as bad as in its worst run.
    fn accepted_job(
        &self,
        key: &JobKey,
        runs: Vec<Earlier>,
        directions: &Directions<'_>,
    ) -> Result<Job, StoreError> {
        let mut findings: BTreeMap<String, Accepted> = BTreeMap::new();
        let query = "SELECT rule, subject, severity, in_larger_run, measure, value FROM finding WHERE application = ?1 ORDER BY n";
        for earlier in &runs {
            self.database.visit(query, &values![earlier.application], |row| {
                let found = accepted_finding(key, row)?;
                let worse = directions.get(found.rule.as_str()).copied().unwrap_or(Worse::Higher);
                match findings.get_mut(&found.fingerprint) {
                    Some(known) if !outweighs(&found, known, worse) => {}
                    Some(known) => *known = found,
                    None => drop(findings.insert(found.fingerprint.clone(), found)),
                }
                Ok(true)
            })?;
        }
        let mut findings: Vec<Accepted> = findings.into_values().collect();
        findings.sort_by(|a, b| (&a.rule, &a.subject).cmp(&(&b.rule, &b.subject)));
        let runs = runs.into_iter().rev().map(|earlier| earlier.run).collect();
        Ok(Job {
            job: key.as_str().to_owned(),
            since: None,
            incomplete_runs: Vec::new(),
            histories: Vec::new(),
            findings,
            runs,
        })
    }
}

impl Earlier {
    fn of(row: &Row<'_>) -> Result<Self, StoreError> {
        let hours = |column: &str| Ok::<_, StoreError>(row.amount(column)?.map(gb_hours).map(rounded));
        let (id, attempt): (String, String) = (row.get("id")?, row.get("attempt")?);
        let attempt = Some(attempt.as_str()).filter(|attempt| !attempt.is_empty());
        let started = row.get::<Option<i64>>("submitted")?.map(Timestamp::from_millis);
        Ok(Self {
            application: row.get("application")?,
            run: Run {
                run: identity_of(&id, attempt, started),
                started_at: started.and_then(Timestamp::to_rfc3339),
                runtime_ms: row.amount("run_time")?,
                resource_used_gb_hours: hours("used")?,
                resource_wasted_gb_hours: hours("wasted")?,
                task_time_ms: row.amount("task_time")?,
                failed_attempts_count: row.amount("failed_attempts")?,
                input_bytes: row.amount("input")?,
                phases: phases::of(row.get::<Option<String>>("phases")?.as_deref())?,
            },
            fits: row.get("fits")?,
            is_current: row.get("is_current")?,
        })
    }
}

fn accepted_finding(key: &JobKey, row: &Row<'_>) -> Result<Accepted, StoreError> {
    let (rule, subject): (String, String) = (row.get("rule")?, row.get("subject")?);
    let severity = |column: &str| {
        let place = row.amount(column)?.and_then(|value| usize::try_from(value).ok());
        Ok::<_, StoreError>(place.and_then(|place| Severity::ALL.get(place).copied()))
    };
    Ok(Accepted {
        fingerprint: Fingerprint::of(&rule, &subject, key).as_str().to_owned(),
        rule,
        subject,
        severity: severity("severity")?.unwrap_or_default(),
        severity_in_larger_run: severity("in_larger_run")?,
        measure: row.get("measure")?,
        value: row.get::<Option<f64>>("value")?.map(rounded),
        incomplete: false,
        trouble: None,
    })
}

/// Whether one run's finding is worse than the same finding of another run. That a run is small does not count.
fn outweighs(one: &Accepted, other: &Accepted, worse: Worse) -> bool {
    let severity = |it: &Accepted| (it.severity_in_larger_run.unwrap_or(it.severity), it.severity);
    if severity(one) != severity(other) {
        return severity(one) > severity(other);
    }
    one.value.zip(other.value).is_some_and(|(one, other)| worse.beyond(one, other, 0.0, 0.0))
}

fn started(app: &ApplicationReport) -> Option<Timestamp> {
    app.submitted_at.or(app.started_at)
}
