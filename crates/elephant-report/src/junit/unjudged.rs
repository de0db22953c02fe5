//! The suite of findings and runs that `check` could not judge: one case per accepted finding, and one per job with runs
//! that are too incomplete to judge. Names contain no run ids, so servers can match them between runs.

use std::io;

use quick_xml::events::BytesText;

use super::classes::of_job;
use super::{Counts, Xml, text};
use elephant_engine::results::{Absence, Comparison, JobComparison};

/// The name of the suite.
const UNJUDGED: &str = "not judged";
/// The case of a job's runs.
const HISTORY: &str = "history";

pub(super) struct Unjudged {
    cases: Vec<Case>,
}

struct Case {
    class: String,
    name: String,
    reason: String,
    /// Whether this case makes the check fail.
    is_error: bool,
}

impl Unjudged {
    pub(super) fn of(comparison: Option<&Comparison>) -> Self {
        let mut cases = Vec::new();
        for job in comparison.iter().flat_map(|comparison| &comparison.jobs) {
            let is_error = comparison.is_some_and(|comparison| comparison.undecided);
            cases.extend(Case::of_runs(job, is_error));
            cases.extend(Case::of_findings(job));
        }
        Self { cases }
    }

    pub(super) fn counts(&self) -> Counts {
        let errors = self.cases.iter().filter(|case| case.is_error).count();
        let tests = self.cases.len();
        Counts { tests, errors, skipped: tests - errors, failures: 0 }
    }

    pub(super) fn write(&self, xml: &mut Xml<'_>) -> io::Result<()> {
        if self.cases.is_empty() {
            return Ok(());
        }
        let suite = xml.create_element("testsuite").with_attribute(("name", UNJUDGED));
        let suite = self.counts().write(suite);
        suite.write_inner_content(|xml| self.cases.iter().try_for_each(|case| case.write(xml))).map(drop)
    }
}

impl Case {
    fn of_runs(job: &JobComparison, is_error: bool) -> Option<Self> {
        let reasons: Vec<String> =
            job.unjudged().map(|run| format!("{}: {}", text(&run.application), text(&run.reason))).collect();
        (!reasons.is_empty()).then(|| Self {
            class: of_job(&job.key),
            name: HISTORY.to_owned(),
            reason: format!("too incomplete to judge: {}", reasons.join("; ")),
            is_error,
        })
    }

    fn of_findings(job: &JobComparison) -> impl Iterator<Item = Self> {
        job.absent.iter().filter_map(|absent| {
            let Absence::NotJudged(why) = &absent.absence else { return None };
            Some(Self {
                class: of_job(&job.key),
                name: format!("{} ({})", text(&absent.rule), text(&absent.subject)),
                reason: format!("not judged, was {}: {}", absent.severity, text(why)),
                is_error: false,
            })
        })
    }

    fn write(&self, xml: &mut Xml<'_>) -> io::Result<()> {
        let case = xml.create_element("testcase");
        let case = case.with_attributes([("classname", self.class.as_str()), ("name", self.name.as_str())]);
        case.write_inner_content(|xml| {
            let outcome = xml.create_element(if self.is_error { "error" } else { "skipped" });
            let outcome = outcome.with_attribute(("message", self.reason.as_str()));
            let outcome =
                if self.is_error { outcome.with_attribute(("type", "not-judged")) } else { outcome };
            outcome.write_text_content(BytesText::new(&self.reason)).map(drop)
        })
        .map(drop)
    }
}
