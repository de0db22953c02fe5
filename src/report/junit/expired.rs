//! The suite of expired suppressions, which make `check` fail: one failed case each.

use std::io;

use quick_xml::events::BytesText;

use super::{Counts, Xml, text};
use crate::report::comparison::words::EXPIRED;
use crate::results::Comparison;

/// The name of the suite.
const SUPPRESSIONS: &str = "suppressions";

pub(super) struct Expired<'a> {
    /// The place and the rules of each suppression.
    places: &'a [String],
}

impl<'a> Expired<'a> {
    pub(super) fn of(comparison: Option<&'a Comparison>) -> Self {
        // With `--update`, expired suppressions do not fail.
        let failed = comparison.filter(|comparison| comparison.failed);
        Self { places: failed.map(|comparison| comparison.expired.as_slice()).unwrap_or_default() }
    }

    pub(super) fn counts(&self) -> Counts {
        let count = self.places.len();
        Counts { tests: count, failures: count, ..Counts::default() }
    }

    pub(super) fn write(&self, xml: &mut Xml<'_>) -> io::Result<()> {
        if self.places.is_empty() {
            return Ok(());
        }
        let suite = xml.create_element("testsuite").with_attribute(("name", SUPPRESSIONS));
        let suite = self.counts().write(suite);
        suite.write_inner_content(|xml| self.places.iter().try_for_each(|place| case(place, xml))).map(drop)
    }
}

fn case(place: &str, xml: &mut Xml<'_>) -> io::Result<()> {
    let name = text(place);
    let case = xml.create_element("testcase");
    let case = case.with_attributes([("classname", SUPPRESSIONS), ("name", name.as_str())]);
    case.write_inner_content(|xml| {
        let failure = xml.create_element("failure");
        let failure = failure.with_attributes([("message", EXPIRED), ("type", "expired")]);
        failure.write_text_content(BytesText::new(&format!("{EXPIRED}: {name}"))).map(drop)
    })
    .map(drop)
}
