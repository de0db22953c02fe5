//! The pages of a server over a store. Each is a document, and its whole state is in its address.

mod application;
mod compare;
pub mod dr_elephant;
mod failures;
mod flow;
mod groups;
mod job;
pub mod json;
pub mod metrics;
mod overview;
mod rules;
mod search;
mod whole_report;

use std::io;

use chrono::{DateTime, Days};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::document::html::site;
use crate::document::{Block, Document, Section, Site};
use crate::history::links::Addresses;
use elephant_base::units::Timestamp;
use elephant_store::Grouping;

pub use application::application;
pub use compare::{Pair, compare, which_to_compare};
pub use failures::{failure, failures};
pub use flow::{execution, executions_compared, flow};
pub use groups::{group, nodes};
pub use job::job;
pub use overview::{Overview, overview};
pub use rules::{rule, rules};
pub use search::{Asked, search};

/// Characters that an address has as they are; `%`, `/` and `?` among others are not.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The addresses of pages of groups and applications.
pub(crate) const ADDRESSES: Addresses = Addresses { group: of_group, application: of_application };

const FOOT: &str = "from a store. Times are in UTC. 1 GB·h is one gibibyte held for one hour. What is unknown of an application is missing in the sums.";

/// A part of an address.
pub(crate) fn encoded(part: &str) -> String {
    // Browsers take these two for folders, in any encoding.
    match part {
        "." | ".." => format!("{part}%20"),
        _ => utf8_percent_encode(part, KEPT).to_string(),
    }
}

/// What a part of an address stands for, which was decoded before.
#[must_use]
pub fn named(part: &str) -> &str {
    match part {
        ". " => ".",
        ".. " => "..",
        part => part,
    }
}

fn of_group(grouping: Grouping, key: &str) -> Option<String> {
    let key_in_address = encoded(key);
    Some(match grouping {
        // No filter asks for a setting.
        Grouping::Everything | Grouping::Setting => return None,
        Grouping::Flow => flow_address(key),
        Grouping::Owner => format!("/search?owner={key_in_address}"),
        Grouping::Failure => format!("/failures/{key_in_address}"),
        Grouping::User => format!("/user/{key_in_address}"),
        Grouping::Queue => format!("/queue/{key_in_address}"),
        Grouping::Job => format!("/job/{key_in_address}"),
        Grouping::Rule => format!("/rules/{key_in_address}"),
        Grouping::Cluster => format!("/search?cluster={key_in_address}"),
        Grouping::Engine => format!("/search?engine={key_in_address}"),
        Grouping::Status => format!("/search?status={key_in_address}"),
        Grouping::Trouble => format!("/search?kind={key_in_address}&sort=waste"),
        Grouping::Day => format!("/search?from={key_in_address}&to={}", next_day(key)?),
    })
}

/// The day after one that is written as `2026-11-02`.
fn next_day(day: &str) -> Option<String> {
    let day: chrono::NaiveDate = day.parse().ok()?;
    Some(day.checked_add_days(Days::new(1))?.to_string())
}

/// The address of the page of a flow.
pub(crate) fn flow_address(flow: &str) -> String {
    format!("/flow/{}", encoded(flow))
}

fn of_application(id: &str) -> String {
    format!("/application/{}", encoded(id))
}

/// The address of the page of an application.
#[must_use]
pub fn application_address(id: &str) -> String {
    of_application(id)
}

/// The address of the page of a user.
#[must_use]
pub fn user_address(name: &str) -> Option<String> {
    of_group(Grouping::User, name)
}

/// The address of the page of an execution of a flow.
#[must_use]
pub fn execution_address(flow: &str, run: &str) -> String {
    format!("{}?run={}", flow_address(flow), encoded(run))
}

/// The address of the page of two executions of a flow: the one that is compared with, and the other one.
#[must_use]
pub fn comparison_address(flow: &str, a: &str, b: &str) -> String {
    format!("{}&with={}", execution_address(flow, b), encoded(a))
}

/// The address of the page of a group, if it has one.
#[must_use]
pub fn group_address(grouping: Grouping, key: &str) -> Option<String> {
    of_group(grouping, key)
}

/// The content security policy of all pages.
#[must_use]
pub fn policy() -> String {
    site::policy()
}

/// A page with this title that the links at the top have as the present one, if `here` is the address of one.
fn page(title: &str, here: &'static str, sections: Vec<Section<'_>>) -> io::Result<Vec<u8>> {
    written(&Site { title: title.to_owned(), here, text: String::new() }, sections)
}

fn written(site: &Site, sections: Vec<Section<'_>>) -> io::Result<Vec<u8>> {
    let document = Document { title: "", foot: FOOT.to_owned(), problems: &[], sections };
    let mut out = Vec::new();
    site::write(&document, site, &mut out)?;
    Ok(out)
}

/// A page that says why there is no other: what happened, and what to do.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn problem(title: &str, advice: &str) -> io::Result<Vec<u8>> {
    let section = Section::new("answer", "", "")
        .with(Block::Headline(title.to_owned()))
        .with((!advice.is_empty()).then(|| Block::Lead(advice.to_owned())));
    page(title, "", vec![section])
}

/// "2026-11-02 14:05 UTC"; `None` of a time that no calendar has.
#[must_use]
pub fn minute(at: Timestamp) -> Option<String> {
    let at = DateTime::from_timestamp_millis(at.as_millis())?;
    Some(at.format("%Y-%m-%d %H:%M UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_part_of_an_address() {
        assert_eq!(of_application("../../etc/passwd?x#y"), "/application/..%2F..%2Fetc%2Fpasswd%3Fx%23y");
        assert_eq!(of_group(Grouping::User, "a\"b<c>&d").unwrap(), "/user/a%22b%3Cc%3E%26d");
        assert_eq!(of_group(Grouping::Job, "spark ä 1").unwrap(), "/job/spark%20%C3%A4%201");
        assert_eq!(
            of_group(Grouping::Day, "2026-12-31").unwrap(),
            "/search?from=2026%2D12%2D31&to=2027-01-01".replace("%2D", "-")
        );
        assert_eq!(of_group(Grouping::Day, "someday"), None);
    }
}
