//! A webhook that takes `CloudEvents` 1.0 in structured mode. The id is the same when an event is sent again.

use std::fmt::Write as _;

use serde::Serialize;

use super::identity;
use crate::Alert;

/// The version of the specification.
const VERSION: &str = "1.0";
/// The type of events whose data have the form of [`Alert`]; another form would have another number.
const TYPE: &str = "elephant-rs.alert.v1";

/// An event.
#[derive(Serialize)]
pub(super) struct Event<'a> {
    specversion: &'static str,
    id: String,
    source: String,
    #[serde(rename = "type")]
    kind: &'static str,
    subject: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<&'a str>,
    datacontenttype: &'static str,
    data: &'a Alert,
}

pub(super) fn event(alert: &Alert) -> Event<'_> {
    // An application without an id has its job as the subject, which must not be empty.
    let id = Some(alert.run.id.as_str()).filter(|id| !id.is_empty());
    Event {
        specversion: VERSION,
        id: format!("{:032x}", identity(alert)),
        source: source(alert.run.cluster.as_deref()),
        kind: TYPE,
        subject: id.unwrap_or(&alert.job),
        time: alert.run.finished_at.as_deref(),
        datacontenttype: "application/json",
        data: alert,
    }
}

/// A URN with the cluster, in which all but letters and digits are encoded.
fn source(cluster: Option<&str>) -> String {
    let mut source = "urn:elephant-rs".to_owned();
    if let Some(cluster) = cluster.filter(|cluster| !cluster.is_empty()) {
        source.push(':');
        for byte in cluster.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => source.push(char::from(byte)),
                // Writing to a text does not fail.
                byte => drop(write!(source, "%{byte:02X}")),
            }
        }
    }
    source
}

#[cfg(test)]
mod tests {
    use super::source;

    #[test]
    fn a_cluster_is_one_part_of_the_source() {
        assert_eq!(source(None), "urn:elephant-rs");
        assert_eq!(source(Some("etl-1")), "urn:elephant-rs:etl-1");
        assert_eq!(source(Some("a b/ä#?")), "urn:elephant-rs:a%20b%2F%C3%A4%23%3F");
    }
}
