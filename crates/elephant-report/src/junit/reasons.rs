//! Reasons for `check` to fail that belong to no run: expired suppressions, and accepted jobs that did not
//! run. Each kind is a suite with one failed case per suppression or job.

use std::io;

use quick_xml::events::BytesText;

use super::{Counts, Xml, text};
use crate::comparison::words::{EXPIRED, MISSING_HELP, missing};
use elephant_engine::results::Comparison;

/// The failed cases of one kind.
pub(super) struct Reasons {
    /// The name of the suite.
    suite: &'static str,
    /// The type of the failures.
    kind: &'static str,
    /// The message of each failure.
    message: String,
    /// The names of the cases.
    names: Vec<String>,
}

impl Reasons {
    /// The reasons of a comparison; none if it did not fail, as with `--update`.
    pub(super) fn of(comparison: Option<&Comparison>) -> [Self; 2] {
        let failed = comparison.filter(|comparison| comparison.failed);
        let expired = failed.map(|comparison| comparison.expired.clone()).unwrap_or_default();
        let required = failed.filter(|comparison| comparison.requires_all);
        let missing = required.into_iter().flat_map(missing).map(|job| job.key.as_str().to_owned()).collect();
        [
            Self { suite: "suppressions", kind: "expired", message: EXPIRED.to_owned(), names: expired },
            Self {
                suite: "accepted jobs",
                kind: "missing",
                message: format!("the job did not run; {MISSING_HELP}"),
                names: missing,
            },
        ]
    }

    pub(super) fn counts(&self) -> Counts {
        let count = self.names.len();
        Counts { tests: count, failures: count, ..Counts::default() }
    }

    pub(super) fn write(&self, xml: &mut Xml<'_>) -> io::Result<()> {
        if self.names.is_empty() {
            return Ok(());
        }
        let suite = xml.create_element("testsuite").with_attribute(("name", self.suite));
        let suite = self.counts().write(suite);
        suite.write_inner_content(|xml| self.names.iter().try_for_each(|name| self.case(name, xml))).map(drop)
    }

    fn case(&self, name: &str, xml: &mut Xml<'_>) -> io::Result<()> {
        let name = text(name);
        let case = xml.create_element("testcase");
        let case = case.with_attributes([("classname", self.suite), ("name", name.as_str())]);
        case.write_inner_content(|xml| {
            let failure = xml.create_element("failure");
            let failure = failure.with_attributes([("message", self.message.as_str()), ("type", self.kind)]);
            failure.write_text_content(BytesText::new(&format!("{}: {name}", self.message))).map(drop)
        })
        .map(drop)
    }
}
