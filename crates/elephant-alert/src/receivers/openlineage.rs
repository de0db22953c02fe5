//! `OpenLineage`: an event of type OTHER, whose run has a facet with what was found.
//!
//! If a setting names the run id that the integration of Spark used, the facet belongs to that run, with the name that the
//! integration gives its job. Otherwise, the run id cannot be known, and the facet belongs to a run of its own; the facet
//! `parent` names the run that submitted the application, if settings tell it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::identity;
use crate::lineage::{Lineage, normalised};
use crate::{Alert, News, texts};

const PRODUCER: &str = concat!("urn:elephant-rs:", env!("CARGO_PKG_VERSION"));
const EVENT: &str = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent";
const PARENT: &str = "https://openlineage.io/spec/facets/1-0-1/ParentRunFacet.json#/$defs/ParentRunFacet";
/// The form of our facet; another form would have another number.
const FACET: &str = "urn:elephant-rs:TroublesRunFacet:1-0-0";
/// What the job of a run of its own is called after that of the application.
const OWN_JOB: &str = ".elephant_rs";
const DEFAULT_NAMESPACE: &str = "default";

/// An event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event<'a> {
    event_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_time: Option<&'a str>,
    producer: &'static str,
    #[serde(rename = "schemaURL")]
    schema_url: &'static str,
    run: Run<'a>,
    job: Job,
    inputs: [(); 0],
    outputs: [(); 0],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    run_id: String,
    facets: BTreeMap<&'static str, Facet<'a>>,
}

#[derive(Serialize)]
struct Job {
    namespace: String,
    name: String,
}

#[derive(Serialize)]
struct Facet<'a> {
    #[serde(rename = "_producer")]
    producer: &'static str,
    #[serde(rename = "_schemaURL")]
    schema_url: &'static str,
    #[serde(flatten)]
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Parent { run: RunLink, job: Job },
    Troubles(Troubles<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunLink {
    run_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Troubles<'a> {
    application_id: &'a str,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_used_gb_hours: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_wasted_gb_hours: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<&'a str>,
    troubles: &'a [News],
}

pub(super) fn event<'a>(alert: &'a Alert, namespace: Option<&str>) -> Event<'a> {
    let run = &alert.run;
    let none = Lineage::default();
    let lineage = run.lineage.as_ref().unwrap_or(&none);
    let namespace = lineage.namespace.as_deref().or(namespace).unwrap_or(DEFAULT_NAMESPACE);
    let name = normalised(lineage.name.as_deref().unwrap_or_else(|| texts::name(alert)));
    let known = lineage.run.clone();
    let own = if known.is_some() { "" } else { OWN_JOB };
    let content = Content::Troubles(Troubles {
        application_id: &run.id,
        severity: alert.severity.name(),
        runtime_ms: run.runtime_ms,
        resource_used_gb_hours: run.resource_used_gb_hours,
        resource_wasted_gb_hours: run.resource_wasted_gb_hours,
        link: run.link.as_deref(),
        troubles: &alert.troubles,
    });
    let mut facets = BTreeMap::new();
    facets.insert("elephantRs_troubles", Facet { producer: PRODUCER, schema_url: FACET, content });
    if let Some(parent) = &lineage.parent {
        let job = Job { namespace: parent.namespace.clone(), name: parent.job.clone() };
        let content = Content::Parent { run: RunLink { run_id: parent.run.clone() }, job };
        facets.insert("parent", Facet { producer: PRODUCER, schema_url: PARENT, content });
    }
    Event {
        event_type: "OTHER",
        event_time: run.finished_at.as_deref(),
        producer: PRODUCER,
        schema_url: EVENT,
        run: Run { run_id: known.unwrap_or_else(|| uuid(identity(alert))), facets },
        job: Job { namespace: namespace.to_owned(), name: format!("{name}{own}") },
        inputs: [],
        outputs: [],
    }
}

/// A UUID of version 8, which is made from a hash.
fn uuid(hash: u128) -> String {
    const VERSION: u128 = 8 << 76;
    const VARIANT: u128 = 2 << 62;
    let kept = hash & !(0xf << 76) & !(3 << 62);
    let text = format!("{:032x}", kept | VERSION | VARIANT);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::uuid;
    use crate::lineage::is_uuid;

    #[test]
    fn a_hash_makes_a_uuid_of_version_8() {
        assert_eq!(uuid(0), "00000000-0000-8000-8000-000000000000");
        assert_eq!(uuid(u128::MAX), "ffffffff-ffff-8fff-bfff-ffffffffffff");
        assert!(is_uuid(&uuid(12_345_678_901_234_567_890)));
    }
}
