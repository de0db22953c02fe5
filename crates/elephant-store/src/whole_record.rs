//! All that is stored of one application, and of the findings of a job's runs.

use std::collections::BTreeMap;

use super::database::{Row, Value, values};
use super::selection::Selection;
use super::{
    Answer, Asked, MS_PER_HOUR, Question, Realised, Run, Store, StoreError, View, configured, gb_hours,
    stored_report,
};
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp};

/// Attempts and clusters with the same id that are shown.
const MOST_ALIKE: usize = 20;

/// An application with its findings.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredApplication {
    /// Its line in lists.
    pub run: Run,
    /// The name of its engine.
    pub engine: String,
    /// The key of its job.
    pub job: String,
    /// Whether its history is complete.
    pub is_complete: bool,
    /// Why it is not, as far as that is known.
    pub incomplete: Option<String>,
    /// Whether it could be judged.
    pub is_judged: bool,
    /// The address of its page in the scheduler.
    pub link: Option<String>,
    /// When it finished.
    pub finished: Option<Timestamp>,
    /// The number of its tasks.
    pub tasks: Option<u64>,
    /// Attempts of tasks that failed.
    pub failed_attempts: Option<u64>,
    /// The nodes that it ran on.
    pub nodes: Option<u64>,
    /// The sum of the scores of its findings.
    pub score: u64,
    /// Time that its cores were held, in core-hours.
    pub core_hours: Option<f64>,
    /// Run time that remedies of known effect save.
    pub saved_time: Option<Millis>,
    /// How many files it was read from.
    pub files: u64,
    /// When it was read.
    pub read: Timestamp,
    /// The version that read it.
    pub tool: String,
    /// In the order of the report.
    pub findings: Vec<StoredFinding>,
    /// The most important first.
    pub troubles: Vec<StoredTrouble>,
    /// The settings that are recommended.
    pub settings: Vec<StoredSetting>,
    /// The settings that decide what it costs, as far as they are known.
    pub configuration: Option<BTreeMap<String, String>>,
    /// The id of the run of its job before it.
    pub before: Option<String>,
    /// The whole report on it as JSON, if it was stored.
    pub report: Option<String>,
}

/// What a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFinding {
    /// The id of the rule.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// The part of the application.
    pub subject: String,
    /// The finding as a sentence.
    pub message: String,
}

/// A root cause.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTrouble {
    /// The name of its kind.
    pub kind: String,
    /// How bad it is.
    pub severity: Severity,
    /// The cause as a sentence.
    pub cause: String,
    /// The first advice.
    pub remedy: Option<String>,
    /// Run time that its remedy saves.
    pub saved_time: Option<Millis>,
    /// Memory that its remedy saves.
    pub saved_gb_hours: Option<f64>,
}

/// A setting with the value that is recommended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSetting {
    /// Its name.
    pub name: String,
    /// The value in force; `None` if it is not set.
    pub from: Option<String>,
    /// The recommended value.
    pub to: String,
}

/// The findings of one rule in the runs of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInRuns {
    /// The id of the rule.
    pub rule: String,
    /// The highest severity in each run; `None` without findings.
    pub severities: Vec<Option<Severity>>,
}

/// A job with what is known of its runs beyond their list.
#[derive(Debug, Clone, PartialEq)]
pub struct JobHistory {
    /// The runs, with [`View::Job`].
    pub answer: Answer,
    /// The rules with findings in these runs, those with most first.
    pub findings: Vec<RuleInRuns>,
    /// What changes of its configuration saved, those that saved most first.
    pub realised: Vec<Realised>,
}

impl Store {
    /// The applications with this id: attempts, or those of several clusters. Of copies, only the one that counts. YARN's
    /// `application_1_2` and `MapReduce`'s `job_1_2` are the same one.
    pub fn application(&self, id: &str) -> Result<Vec<StoredApplication>, StoreError> {
        let other = other_name(id);
        self.database.reading(|| {
            let selection = self.seen(Selection::of_ids(id, &other))?;
            let order = "application.id <> ?1, application.attempt DESC, application.source";
            let query = format!(
                "SELECT application FROM application WHERE {} ORDER BY {order} LIMIT {MOST_ALIKE}",
                selection.condition
            );
            let places = self.database.ids(&query, &selection.values)?;
            let found: Result<Vec<_>, _> = places.into_iter().map(|place| self.stored(place)).collect();
            Ok(found?.into_iter().flatten().collect())
        })
    }

    /// What is stored at a place.
    pub(super) fn stored(&self, place: i64) -> Result<Option<StoredApplication>, StoreError> {
        let of_place = || values![place];
        let only = Selection::of_application(place);
        let Some(run) = self.runs(&only, "application.application", 1)?.pop() else { return Ok(None) };
        let query = "SELECT application.engine, job.key, complete, judged, application.finished, tasks, failed_attempts, nodes, \
             score, core_time, saved_time, files, run.started, run.tool, incomplete, link FROM application JOIN job USING (job) JOIN run USING \
             (run) WHERE application = ?1";
        let stored = self.database.first(query, &of_place(), |row| {
            Ok(StoredApplication {
                run: run.clone(),
                engine: row.get(0)?,
                job: row.get(1)?,
                is_complete: row.get(2)?,
                is_judged: row.get(3)?,
                finished: row.get::<Option<i64>>(4)?.map(Timestamp::from_millis),
                tasks: row.amount(5)?,
                failed_attempts: row.amount(6)?,
                nodes: row.amount(7)?,
                score: row.count(8)?,
                core_hours: row.amount(9)?.map(|time| time as f64 / MS_PER_HOUR),
                saved_time: row.amount(10)?.map(Millis::new),
                files: row.count(11)?,
                read: Timestamp::from_millis(row.get(12)?),
                tool: row.get(13)?,
                incomplete: row.get(14)?,
                link: row.get(15)?,
                findings: Vec::new(),
                troubles: Vec::new(),
                settings: Vec::new(),
                configuration: None,
                before: None,
                report: None,
            })
        })?;
        stored.map(|stored| self.with_details(place, stored)).transpose()
    }

    /// The same with findings, troubles, settings and the report of the application at this place.
    fn with_details(&self, place: i64, stored: StoredApplication) -> Result<StoredApplication, StoreError> {
        let of_place = || values![place];
        let findings =
            "SELECT rule, severity, subject, message FROM finding WHERE application = ?1 ORDER BY n";
        let troubles = "SELECT kind, severity, cause, remedy, saved_time, saved_memory FROM trouble WHERE application = ?1 ORDER BY n";
        let settings = "SELECT name, old, new FROM setting WHERE application = ?1 ORDER BY n";
        Ok(StoredApplication {
            findings: self.database.rows(findings, &of_place(), |row| {
                Ok(StoredFinding {
                    rule: row.get(0)?,
                    severity: severity(row, 1)?,
                    subject: row.get(2)?,
                    message: row.get(3)?,
                })
            })?,
            troubles: self.database.rows(troubles, &of_place(), |row| {
                Ok(StoredTrouble {
                    kind: row.get(0)?,
                    severity: severity(row, 1)?,
                    cause: row.get(2)?,
                    remedy: row.get(3)?,
                    saved_time: row.amount(4)?.map(Millis::new),
                    saved_gb_hours: row.amount(5)?.map(gb_hours),
                })
            })?,
            settings: self.database.rows(settings, &of_place(), |row| {
                Ok(StoredSetting { name: row.get(0)?, from: row.get(1)?, to: row.get(2)? })
            })?,
            configuration: self.configuration_of(place)?,
            before: self.run_before(place)?,
            report: stored_report::read(&self.database, place)?,
            ..stored
        })
    }

    fn configuration_of(&self, place: i64) -> Result<Option<BTreeMap<String, String>>, StoreError> {
        let query =
            "SELECT configuration FROM application WHERE application = ?1 AND configuration IS NOT NULL";
        let configuration = self.database.ids(query, &values![place])?;
        Ok(configured::at(&self.database, &configuration.into_iter().collect())?.into_values().next())
    }

    /// The id of the last run of the same job that was submitted before.
    fn run_before(&self, place: i64) -> Result<Option<String>, StoreError> {
        let query = "SELECT earlier.id FROM application AS own JOIN application AS earlier ON earlier.job = own.job AND \
             earlier.submitted < own.submitted WHERE own.application = ?1 AND earlier.counts IS TRUE ORDER BY \
             earlier.submitted DESC, earlier.application DESC LIMIT 1";
        let before: Option<String> = self.database.first(query, &values![place], |row| row.get(0))?;
        // One that is not visible hides those before it.
        match before {
            Some(id) if !self.sees_all() => {
                let seen = self.seen(Selection::of_ids(&id, &id))?;
                let query = format!("SELECT count(*) FROM application WHERE {}", seen.condition);
                Ok((self.database.count(&query, &seen.values)? > 0).then_some(id))
            }
            before => Ok(before),
        }
    }

    /// The runs of the job with this key or name, with their findings and with what changes saved. `None` if there is no
    /// such job.
    pub fn job_history(&self, job: &str, asked: Asked<'_>) -> Result<Option<JobHistory>, StoreError> {
        self.database.reading(|| {
            let selection = self.asked_about(&asked)?;
            let question = Question::Job(job.to_owned());
            let Some(answer) = self.answer_about(&question, &selection, asked)? else { return Ok(None) };
            let View::Job(runs) = &answer.view else { return Ok(None) };
            let key = values![&runs.job];
            let place = self.database.ids("SELECT job FROM job WHERE key = ?1", &key)?;
            // Changes are found among all runs.
            let mut changes = if self.sees_all() { self.compared(&place)? } else { Vec::new() };
            changes.retain(|change| change.step.runs_since > 0);
            self.name_jobs(&mut changes)?;
            self.price_changes(&mut changes)?;
            changes.sort_by(|a, b| b.saved_gb_hours().total_cmp(&a.saved_gb_hours()));
            let findings = self.rules_in(&runs.shown)?;
            let realised = self.realised(changes)?;
            Ok(Some(JobHistory { answer, findings, realised }))
        })
    }

    /// The rules with findings in these runs.
    fn rules_in(&self, runs: &[Run]) -> Result<Vec<RuleInRuns>, StoreError> {
        let mut rules: Vec<RuleInRuns> = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            let query = "SELECT rule, CAST(max(finding.severity) AS BIGINT) FROM finding JOIN application USING (application) \
                 WHERE application.id = ?1 AND application.attempt = ?2 AND application.source = ?3 GROUP BY rule";
            let of_run: [Value<'_>; 3] =
                values![&run.id, run.attempt.as_deref().unwrap_or_default(), &run.source];
            let found =
                self.database.rows(query, &of_run, |row| Ok((row.get::<String>(0)?, severity(row, 1)?)))?;
            for (rule, severity) in found {
                let known = rules.iter().position(|known| known.rule == rule);
                let place = known.unwrap_or_else(|| {
                    rules.push(RuleInRuns { rule, severities: vec![None; runs.len()] });
                    rules.len() - 1
                });
                let cell = rules.get_mut(place).and_then(|rule| rule.severities.get_mut(at));
                if let Some(cell) = cell {
                    *cell = Some(severity);
                }
            }
        }
        let weight = |rule: &RuleInRuns| -> u64 {
            rule.severities.iter().flatten().map(|severity| severity.value()).sum()
        };
        rules.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| a.rule.cmp(&b.rule)));
        Ok(rules)
    }
}

/// YARN's name of a `MapReduce` job, or the other way round; the same id if it has no other one.
pub(super) fn other_name(id: &str) -> String {
    match (id.strip_prefix("application_"), id.strip_prefix("job_")) {
        (Some(numbers), _) => format!("job_{numbers}"),
        (None, Some(numbers)) => format!("application_{numbers}"),
        (None, None) => id.to_owned(),
    }
}

fn severity(row: &Row<'_>, place: usize) -> Result<Severity, StoreError> {
    let value = usize::try_from(row.count(place)?).unwrap_or(usize::MAX);
    Ok(Severity::ALL.get(value).copied().unwrap_or(Severity::None))
}
