//! Ids of elements that stay the same from one report to the next, so that a link works tomorrow.
//!
//! A finding has the id of its fingerprint: job, rule and subject. The first run of a job in the report has
//! that id; other runs add the id of the application. If a link's run is no longer in the report, the script
//! goes to the first run of the job.

use serde::{Deserialize, Serialize};

pub(super) use crate::document::ids::Taken;
use crate::document::ids::{application_digits, digits, slug};
use crate::parts::MARK;
use elephant_engine::fingerprint::Fingerprint;
use elephant_engine::results::ApplicationReport;
use elephant_model::model::{Engine, Subject};
use elephant_verdict::charts::Charts;

/// The ids of one application.
pub(super) struct Ids {
    /// The id of the application.
    pub(super) application: String,
    /// The ids of its troubles, in their order.
    pub(super) troubles: Vec<String>,
    /// The ids of its findings, in their order.
    pub(super) findings: Vec<String>,
}

/// The ids that an application has if no other has them.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct OwnIds {
    /// The digits of the application.
    application: String,
    troubles: Vec<String>,
    findings: Vec<String>,
}

impl OwnIds {
    pub(super) fn of(app: &ApplicationReport) -> Self {
        let application = application_digits(app.attempt.as_deref().unwrap_or_default(), &app.id);
        let job = app.job_key();
        let troubles = app.troubles.iter().map(|trouble| {
            let subject = trouble.subjects.first().unwrap_or(&Subject::Application);
            let kind = format!("trouble {}", trouble.kind.name());
            format!("t-{}", digits(&Fingerprint::of(&kind, &app.subject_key(subject), &job)))
        });
        let findings = app.findings.iter().map(|finding| format!("f-{}", digits(&app.fingerprint(finding))));
        Self { troubles: troubles.collect(), findings: findings.collect(), application }
    }
}

impl Ids {
    /// The ids of the next application in the order of the report.
    pub(super) fn of(own: OwnIds, taken: &mut Taken) -> Self {
        let OwnIds { application, troubles, findings } = own;
        let mut with = |ids: Vec<String>| -> Vec<String> {
            ids.into_iter().map(|id| taken.unique(id, &application)).collect()
        };
        let (troubles, findings) = (with(troubles), with(findings));
        Self { application: taken.unique(format!("a-{application}"), ""), troubles, findings }
    }

    /// Marks that stand for the ids of an application until they are known.
    pub(super) fn marks(app: &ApplicationReport) -> Self {
        let marks = |kind: &str, count: usize| -> Vec<String> {
            (0..count).map(|number| format!("{MARK}{kind}{number}{MARK}")).collect()
        };
        Self {
            application: format!("{MARK}a{MARK}"),
            troubles: marks("t", app.troubles.len()),
            findings: marks("f", app.findings.len()),
        }
    }

    /// The id that a mark stands for.
    pub(super) fn of_mark(&self, mark: &str) -> Option<&str> {
        let ids = match mark.split_at_checked(1)?.0 {
            "a" => return Some(&self.application),
            "t" => &self.troubles,
            _ => &self.findings,
        };
        ids.get(mark.get(1..)?.parse::<usize>().ok()?).map(String::as_str)
    }

    /// The id of the row of a phase in the table.
    pub(super) fn phase(&self, subject: &Subject) -> String {
        format!("{}-{}", self.application, slug(&subject.name()))
    }
}

/// The links between findings, phases and charts of one application.
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

    /// "Stages", "Phases" of a MapReduce job, or "Vertices" of a DAG of Tez.
    pub(super) const fn phases_title(self) -> &'static str {
        match self.app.engine {
            Engine::Spark => "Stages",
            Engine::MapReduce => "Phases",
            Engine::Tez => "Vertices",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str) -> ApplicationReport {
        ApplicationReport { name: Some("nightly".to_owned()), ..ApplicationReport::blank(id) }
    }

    fn ids(apps: &[ApplicationReport]) -> Vec<Ids> {
        let mut taken = Taken::default();
        apps.iter().map(|app| Ids::of(OwnIds::of(app), &mut taken)).collect()
    }

    #[test]
    fn an_application_keeps_its_id_whatever_else_is_in_the_report() {
        let of = |apps: Vec<ApplicationReport>| {
            ids(&apps).into_iter().map(|ids| ids.application).collect::<Vec<_>>()
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
        first.troubles.push(elephant_verdict::troubles::Trouble::named("x"));
        let second = ApplicationReport { id: "app-2".to_owned(), ..first.clone() };
        let [of_first, of_second] = ids(&[first, second.clone()]).try_into().unwrap_or_else(|_| panic!());
        assert!(of_second.troubles[0].starts_with(&format!("{}-", of_first.troubles[0])));
        let tomorrow = ids(&[second]);
        assert_eq!(tomorrow[0].troubles, of_first.troubles);
    }

    #[test]
    fn each_mark_stands_for_its_id() {
        let mut app = run("app-1");
        app.troubles.push(elephant_verdict::troubles::Trouble::named("x"));
        let marks = Ids::marks(&app);
        let ids = &ids(&[app])[0];
        assert_eq!(ids.of_mark(marks.application.trim_matches('\0')), Some(ids.application.as_str()));
        assert_eq!(ids.of_mark(marks.troubles[0].trim_matches('\0')), Some(ids.troubles[0].as_str()));
        assert_eq!((ids.of_mark("f0"), ids.of_mark("x"), ids.of_mark("")), (None, None, None));
    }
}
