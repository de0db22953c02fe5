//! Alertmanager, version 2 of its API: an alert for each kind of trouble. Its labels are what identifies it, so they are few
//! and do not change from run to run; the rest are annotations.

use std::collections::BTreeMap;

use serde::Serialize;

use super::texts::{about, headline};
use crate::{Alert, News};
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp};
use elephant_report::wrap::clean;

const NAME: &str = "ElephantTrouble";
/// The most letters of a label, and of an annotation.
const LABEL: usize = 200;
const ANNOTATION: usize = 2000;
/// The most alerts of one job: kinds of trouble.
const MOST: usize = 20;

/// An alert.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Posted {
    labels: BTreeMap<&'static str, String>,
    annotations: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starts_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_at: Option<String>,
    #[serde(rename = "generatorURL", skip_serializing_if = "Option::is_none")]
    generator_url: Option<String>,
}

pub(super) fn alerts(alert: &Alert, resolve_after: Millis) -> Vec<Posted> {
    // Alerts with the same labels are one.
    let mut kinds: Vec<(&str, Severity, Vec<&News>)> = Vec::new();
    for news in &alert.troubles {
        match kinds.iter_mut().find(|(kind, severity, _)| *kind == news.kind && *severity == news.severity) {
            Some((.., all)) => all.push(news),
            None => kinds.push((&news.kind, news.severity, vec![news])),
        }
    }
    let started = alert.run.finished_at.clone();
    let ended = started.as_deref().and_then(Timestamp::from_rfc3339);
    let ended = ended.and_then(|at| (at + resolve_after).to_rfc3339());
    let posted = kinds.into_iter().take(MOST).map(|(kind, severity, troubles)| Posted {
        labels: labels(alert, kind, severity),
        annotations: annotations(alert, &troubles),
        starts_at: started.clone(),
        ends_at: ended.clone(),
        generator_url: alert.run.link.clone(),
    });
    posted.collect()
}

fn labels(alert: &Alert, kind: &str, severity: Severity) -> BTreeMap<&'static str, String> {
    let run = &alert.run;
    let all = [
        ("alertname", Some(NAME)),
        ("severity", Some(severity.name())),
        ("kind", Some(kind)),
        ("job", Some(alert.job.as_str())),
        ("queue", run.queue.as_deref()),
        ("cluster", run.cluster.as_deref()),
    ];
    let known = all.into_iter().filter_map(|(name, value)| Some((name, cut(value?, LABEL))));
    // An empty label is none.
    known.filter(|(_, value)| !value.trim().is_empty()).collect()
}

fn annotations(alert: &Alert, troubles: &[&News]) -> BTreeMap<&'static str, String> {
    let join = |text: &dyn Fn(&News) -> String, between: &str| {
        let texts: Vec<String> =
            troubles.iter().map(|news| text(news)).filter(|text| !text.is_empty()).collect();
        texts.join(between)
    };
    let about: Vec<String> =
        about(alert).into_iter().map(|(label, value)| format!("{label}: {value}")).collect();
    let all = [
        ("summary", headline(alert)),
        ("description", join(&|news| format!("{} ({})", news.cause, news.change.name()), " ")),
        ("advice", join(&|news| news.advice.clone().unwrap_or_default(), " ")),
        ("settings", join(&|news| news.settings.join(" "), " ")),
        ("saves", join(&|news| news.saves.clone().unwrap_or_default(), "; ")),
        ("application", alert.run.id.clone()),
        ("about", about.join("; ")),
        ("link", alert.run.link.clone().unwrap_or_default()),
    ];
    let cut = all.into_iter().map(|(name, text)| (name, cut(&text, ANNOTATION)));
    cut.filter(|(_, text)| !text.is_empty()).collect()
}

fn cut(text: &str, most: usize) -> String {
    let text = clean(text);
    if text.chars().count() <= most {
        return text;
    }
    let start: String = text.chars().take(most.saturating_sub(1)).collect();
    start + "…"
}
