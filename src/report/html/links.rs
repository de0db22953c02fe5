//! Ids of elements that stay the same from one report to the next, so that a link works tomorrow.
//!
//! A finding has the id of its fingerprint: job, rule and subject. The first run of a job in the report has that id; other
//! runs add the id of the application. The script leads a link to a run that is no longer in the report to the first one.

use std::collections::BTreeSet;

use crate::charts::Charts;
use crate::fingerprint::Fingerprint;
use crate::model::{Engine, Subject};
use crate::results::{ApplicationReport, Report};

/// The digits of a hash that an id consists of.
const DIGITS: usize = 12;

/// The ids of one application.
pub(super) struct Ids {
    /// Of the application.
    pub(super) application: String,
    /// Of its troubles, in their order.
    pub(super) troubles: Vec<String>,
    /// Of its findings, in their order.
    pub(super) findings: Vec<String>,
}

/// The ids of all applications, in the order of the report.
pub(super) fn ids(report: &Report) -> Vec<Ids> {
    let mut taken = BTreeSet::new();
    report.applications.iter().map(|app| Ids::of(app, &mut taken)).collect()
}

impl Ids {
    fn of(app: &ApplicationReport, taken: &mut BTreeSet<String>) -> Self {
        let attempt = app.attempt.as_deref().unwrap_or_default();
        let application = digits(&Fingerprint::of("application", attempt, &app.id.clone().into()));
        let mut with = |kind: char, fingerprint: &Fingerprint| {
            let id = format!("{kind}-{}", digits(fingerprint));
            unique(id, &application, taken)
        };
        let job = app.job_key();
        let troubles = app.troubles.iter().map(|trouble| {
            let subject = trouble.subjects.first().unwrap_or(&Subject::Application);
            let kind = format!("trouble {}", trouble.kind.name());
            with('t', &Fingerprint::of(&kind, &app.subject_key(subject), &job))
        });
        let troubles = troubles.collect();
        let findings = app.findings.iter().map(|finding| with('f', &app.fingerprint(finding))).collect();
        let id = unique(format!("a-{application}"), "", taken);
        Self { application: id, troubles, findings }
    }

    /// The id of the row of a phase in the table.
    pub(super) fn phase(&self, subject: &Subject) -> String {
        let name = subject.name();
        let name = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' });
        format!("{}-{}", self.application, name.collect::<String>())
    }
}

/// The ways between findings, phases and charts of one application.
#[derive(Clone, Copy)]
pub(super) struct Links<'a> {
    pub(super) app: &'a ApplicationReport,
    pub(super) ids: &'a Ids,
}

impl<'a> Links<'a> {
    fn charts(self) -> Option<&'a Charts> {
        self.app.charts.as_deref()
    }

    /// The worst finding about a phase.
    pub(super) fn finding(self, subject: &Subject) -> Option<&'a String> {
        let findings = self.app.findings.iter().zip(&self.ids.findings);
        findings.filter(|(finding, _)| finding.subject == *subject).map(|(_, id)| id).next()
    }

    /// The row of a phase in the table, if it is shown there.
    pub(super) fn phase(self, subject: &Subject) -> Option<String> {
        let is_shown = self.charts()?.phases.shown.iter().any(|row| row.phase.subject == *subject);
        is_shown.then(|| self.ids.phase(subject))
    }

    /// The first chart of the tasks of a phase, if there is one.
    pub(super) fn tasks(self, subject: &Subject) -> Option<String> {
        let charts = self.charts()?;
        let is_shown = charts.scatters.iter().any(|chart| chart.subject == *subject)
            || charts.histograms.iter().any(|chart| chart.subject == *subject);
        is_shown.then(|| self.tasks_id(subject))
    }

    /// The id of that chart.
    pub(super) fn tasks_id(self, subject: &Subject) -> String {
        format!("{}-tasks", self.ids.phase(subject))
    }

    /// The id of the title of the table of phases.
    pub(super) fn table(self) -> String {
        format!("{}-phases", self.ids.application)
    }

    /// "Stages", or "Phases" of a MapReduce job.
    pub(super) const fn phases_title(self) -> &'static str {
        match self.app.engine {
            Engine::Spark => "Stages",
            Engine::MapReduce => "Phases",
        }
    }
}

/// `id`, or with the application or a number if it is taken.
fn unique(id: String, application: &str, taken: &mut BTreeSet<String>) -> String {
    if taken.insert(id.clone()) {
        return id;
    }
    let id = if application.is_empty() { id } else { format!("{id}-{application}") };
    let mut numbered =
        (1_u64..).map(|number| if number == 1 { id.clone() } else { format!("{id}-{number}") });
    numbered.find(|id| taken.insert(id.clone())).unwrap_or(id)
}

/// The first digits of a fingerprint.
fn digits(fingerprint: &Fingerprint) -> String {
    let text = fingerprint.as_str();
    let hash = text.split_once('-').map_or(text, |(_, hash)| hash);
    hash.chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str) -> ApplicationReport {
        ApplicationReport { name: Some("nightly".to_owned()), ..ApplicationReport::blank(id) }
    }

    #[test]
    fn an_application_keeps_its_id_whatever_else_is_in_the_report() {
        let of = |apps: Vec<ApplicationReport>| {
            let report = Report { applications: apps, ..Report::default() };
            ids(&report).into_iter().map(|ids| ids.application).collect::<Vec<_>>()
        };
        let both = of(vec![run("app-1"), run("app-2")]);
        assert_eq!(of(vec![run("app-2")]), both[1..]);
        assert_ne!(both[0], both[1]);
        // The same history twice.
        let twice = of(vec![run("app-1"), run("app-1")]);
        assert_eq!(twice, [both[0].clone(), format!("{}-2", both[0])]);
    }

    #[test]
    fn runs_of_a_job_share_the_id_of_a_trouble_up_to_the_application() {
        let mut first = run("app-1");
        first.troubles.push(crate::troubles::Trouble::named("x"));
        let second = ApplicationReport { id: "app-2".to_owned(), ..first.clone() };
        let report = Report { applications: vec![first.clone(), second.clone()], ..Report::default() };
        let [of_first, of_second] = ids(&report).try_into().unwrap_or_else(|_| panic!());
        assert!(of_second.troubles[0].starts_with(&format!("{}-", of_first.troubles[0])));
        let tomorrow = ids(&Report { applications: vec![second], ..Report::default() });
        assert_eq!(tomorrow[0].troubles, of_first.troubles);
    }
}
