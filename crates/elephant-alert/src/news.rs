//! From the gate's comparison with earlier runs to what is told of it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::facts::{Alert, Change, FoundBy, Identity, News, Run};
use super::lineage::Lineage;
use super::recent::Seen;
use elephant_base::severity::Severity;
use elephant_base::units::{MbMillis, Millis, Timestamp};
use elephant_engine::baseline::{Baseline, Tolerance, compare};
use elephant_engine::results::{
    self, ApplicationReport, FindingChange, JobComparison, JobState, Report, TroubleChange,
};
use elephant_report::{brief, json_of};
use elephant_ruleset::{JobIdentity, RuleSet};
use elephant_store::{Lack, Store, StoreError};

/// How applications are compared, and where their pages are.
pub struct Judging<'a> {
    /// The rules that judged them.
    pub rules: &'a RuleSet,
    /// What is told of a run that has nothing to be compared with: troubles of at least this severity.
    pub first_run: Severity,
    /// The cluster that the histories are from, if the user named it.
    pub cluster: Option<&'a str>,
    /// The address of the page of an application with this id, if it has one.
    pub link: &'a dyn Fn(&str) -> Option<String>,
}

/// An alert for each job with something new or worse, the most severe first.
pub(crate) fn of(
    store: &Store,
    seen: impl Iterator<Item = Seen>,
    judging: &Judging<'_>,
) -> Result<Vec<Alert>, StoreError> {
    let (mut applications, mut lineages) = (Vec::new(), BTreeMap::new());
    for Seen { app, lineage } in seen {
        lineages.extend(lineage.map(|lineage| ((app.id.clone(), app.attempt.clone()), lineage)));
        applications.push(app);
    }
    if applications.is_empty() {
        return Ok(Vec::new());
    }
    let report = Report {
        rules: judging.rules.infos(),
        rules_hash: judging.rules.hash().to_owned(),
        applications,
        ..Report::default()
    };
    let accepted = store.accepted(&report, Baseline::default().keep_runs)?;
    // What a run costs is a matter of the gate, which has its own tolerances.
    let usual = judging.rules.gate().tolerance.get();
    let tolerance = Tolerance { metrics: false, usual, ..Tolerance::default() };
    let comparison = compare(&report, &accepted.baseline, &tolerance);
    let telling = Telling { report: &report, lineages, judging };
    let alerts = comparison.jobs.iter().filter_map(|job| {
        let least = telling.least(job, accepted.lacks.get(&job.key).copied())?;
        telling.alert(job, least)
    });
    let mut alerts: Vec<Alert> = alerts.collect();
    alerts.sort_by(|a, b| (Reverse(a.severity), &a.job).cmp(&(Reverse(b.severity), &b.job)));
    Ok(alerts)
}

struct Telling<'a> {
    report: &'a Report,
    lineages: BTreeMap<(String, Option<String>), Lineage>,
    judging: &'a Judging<'a>,
}

impl Telling<'_> {
    /// The least severity of what is told of a job; `None` if nothing is.
    fn least(&self, job: &JobComparison, lack: Option<Lack>) -> Option<Severity> {
        match (job.state, lack) {
            (JobState::Known, _) => Some(Severity::Low),
            // There are earlier runs, but it is unknown how this one compares with them.
            (JobState::New, Some(Lack::OtherRules | Lack::SeveralClusters)) => None,
            (JobState::New, _) => Some(self.judging.first_run.max(Severity::Low)),
            _ => None,
        }
    }

    fn alert(&self, job: &JobComparison, least: Severity) -> Option<Alert> {
        let mut bad: Vec<&TroubleChange> =
            job.troubles.iter().filter(|trouble| trouble.is_bad_from(least)).collect();
        // The sort is stable: equal ones stay in the order of the comparison.
        bad.sort_by_key(|trouble| Reverse(trouble.severity()));
        let told = bad.into_iter().filter_map(|trouble| self.trouble(job, trouble));
        let mut told: Vec<(&ApplicationReport, News)> = told.collect();
        let (first, _) = told.first()?;
        let run = self.run(first);
        let troubles: Vec<News> = told.drain(..).map(|(_, news)| news).collect();
        let severity = troubles.iter().map(|news| news.severity).max()?;
        Some(Alert { job: job.key.as_str().to_owned(), severity, run, troubles })
    }

    /// A trouble with the application that has it.
    fn trouble(&self, job: &JobComparison, trouble: &TroubleChange) -> Option<(&ApplicationReport, News)> {
        let first = trouble.findings.first()?;
        let app = self.application(job, first)?;
        let change = match trouble.change {
            results::Change::New => Change::New,
            _ => Change::Worse,
        };
        let own = trouble.told.as_ref().map(|told| &told.trouble);
        let brief = own.map(|own| brief(app, own));
        let finding = &first.finding;
        let kind = own.map_or_else(|| finding.rule.to_string(), |own| own.kind.name().to_owned());
        let json = own.and_then(|own| json_of_trouble(app, &own.id));
        let news = News {
            change,
            kind,
            severity: trouble.severity(),
            title: brief.as_ref().map_or_else(|| finding.rule.to_string(), |brief| brief.title.clone()),
            cause: brief.as_ref().map_or_else(|| finding.message.clone(), |brief| brief.cause.clone()),
            advice: brief.as_ref().and_then(|brief| brief.advice.clone()),
            settings: brief.as_ref().map(|brief| brief.settings.clone()).unwrap_or_default(),
            saves: brief.map(|brief| brief.saves),
            application: app.id.clone(),
            runs: trouble.findings.iter().map(|found| found.runs).max().unwrap_or(1),
            findings: trouble.findings.iter().map(found_by).collect(),
            trouble: json.unwrap_or(Value::Null),
        };
        Some((app, news))
    }

    /// The application of the report that has this finding.
    fn application(&self, job: &JobComparison, found: &FindingChange) -> Option<&ApplicationReport> {
        let of_job = |app: &&ApplicationReport| app.id == found.application && app.compared_job() == job.key;
        let has = |app: &&ApplicationReport| {
            app.findings.iter().any(|finding| app.fingerprint(finding) == found.fingerprint)
        };
        self.report.applications.iter().filter(of_job).find(has)
    }

    fn run(&self, app: &ApplicationReport) -> Run {
        let time = |at: Option<Timestamp>| at.and_then(Timestamp::to_rfc3339);
        let hours = |amount: Option<MbMillis>| amount.map(MbMillis::as_gb_hours);
        Run {
            id: app.id.clone(),
            attempt: app.attempt.clone(),
            name: app.name.clone(),
            user: app.user.clone(),
            queue: app.queue.clone(),
            cluster: self.judging.cluster.map(str::to_owned).or_else(|| app.cluster.clone()),
            engine: app.engine.name().to_owned(),
            status: app.status.name().to_owned(),
            submitted_at: time(app.submitted_at.or(app.started_at)),
            finished_at: time(app.finished_at),
            runtime_ms: app.metrics.run_time.map(Millis::get),
            resource_used_gb_hours: hours(app.metrics.used),
            resource_wasted_gb_hours: hours(app.metrics.wasted),
            identity: app.identity.as_ref().map(identity),
            lineage: self.lineages.get(&(app.id.clone(), app.attempt.clone())).cloned(),
            link: (self.judging.link)(&app.id),
        }
    }
}

fn identity(known: &JobIdentity) -> Identity {
    Identity {
        scheduler: known.scheduler.clone(),
        job: known.job.clone(),
        flow: known.flow.clone(),
        run: known.run.clone(),
        task: known.task.clone(),
        owner: known.owner.clone(),
        link: known.link.clone(),
    }
}

fn found_by(found: &FindingChange) -> FoundBy {
    FoundBy {
        rule: found.finding.rule.to_string(),
        subject: found.subject.clone(),
        severity: found.finding.severity,
        accepted_severity: found.accepted_severity(),
        change: found.change.name().to_owned(),
        fingerprint: found.fingerprint.as_str().to_owned(),
    }
}

/// The trouble with this id as JSON reports have it.
fn json_of_trouble(app: &ApplicationReport, id: &str) -> Option<Value> {
    let report: Value = serde_json::from_slice(&json_of(app).ok()?).ok()?;
    let troubles = report.get("troubles")?.as_array()?;
    troubles.iter().find(|trouble| trouble.get("id").and_then(Value::as_str) == Some(id)).cloned()
}
