//! Troubles as results of SARIF, each with the findings about it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::json::{MeasureView, Number, Pairs, advice, evidence, thresholds};
use super::super::words::{about, by_trouble, currency, saves};
use super::super::wrap::clean;

use super::{Rules, uri};
use elephant_base::severity::Severity;
use elephant_engine::results::{ApplicationReport, Change, Comparison, TroubleChange};
use elephant_rule::finding::{Finding, Suppressed};
use elephant_verdict::troubles::Trouble;

/// A trouble to be written, or a finding that belongs to none.
struct Written<'a> {
    app: &'a ApplicationReport,
    /// The finding that says most of it.
    finding: &'a Finding,
    /// The trouble, and whether that finding only tells a consequence, because others are not listed.
    trouble: Option<(&'a Trouble, bool)>,
    /// The other findings about it.
    others: Vec<Member<'a>>,
    suppressed: Option<&'a Suppressed>,
}

/// The results of an application.
pub(super) struct Results<'a> {
    pub(super) found: Vec<SarifResult<'a>>,
    pub(super) suppressed: Vec<SarifResult<'a>>,
}

/// The data needed to put the results of an application into the report.
#[derive(Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) id: String,
    /// The number of findings.
    pub(super) found: usize,
    /// The number of suppressed findings.
    pub(super) suppressed: usize,
}

impl<'a> Results<'a> {
    pub(super) fn of(app: &'a ApplicationReport, rules: &Rules<'_>, comparison: Option<&Comparison>) -> Self {
        let result = |written: Written<'a>| {
            let change = comparison.and_then(|comparison| comparison.trouble_of(app, written.finding));
            let state = change.and_then(baseline_state);
            SarifResult { baseline_state: state, ..SarifResult::of(written, rules) }
        };
        let mut found: Vec<Written<'a>> = Vec::new();
        for (finding, trouble) in by_trouble(app) {
            let told = trouble.map(|(trouble, _)| trouble);
            let last = found.last_mut().filter(|last| {
                let known = last.trouble.map(|(trouble, _)| trouble);
                known.zip(told).is_some_and(|(known, told)| std::ptr::eq(known, told))
            });
            match last {
                Some(last) => last.others.push(Member::of(app, finding, trouble)),
                None => found.push(Written { app, finding, trouble, others: Vec::new(), suppressed: None }),
            }
        }
        let suppressed = app.suppressed.iter().map(|suppressed| Written {
            app,
            finding: &suppressed.finding,
            trouble: None,
            others: Vec::new(),
            suppressed: Some(suppressed),
        });
        Self { found: found.into_iter().map(result).collect(), suppressed: suppressed.map(result).collect() }
    }
}

/// Another finding about a trouble.
#[derive(Serialize)]
struct Member<'a> {
    rule: &'a str,
    subject: Cow<'static, str>,
    severity: Severity,
    score: u64,
    message: String,
    evidence: Pairs<&'a str, MeasureView<'a>>,
    thresholds: Pairs<&'a str, [Number; 4]>,
    fingerprint: String,
    echo: bool,
}

impl<'a> Member<'a> {
    fn of(app: &ApplicationReport, finding: &'a Finding, trouble: Option<(&Trouble, bool)>) -> Self {
        Self {
            rule: &finding.rule,
            subject: finding.subject.name(),
            severity: finding.severity,
            score: finding.score,
            message: plain(&about(finding)),
            evidence: evidence(finding),
            thresholds: thresholds(finding),
            fingerprint: app.fingerprint(finding).to_string(),
            echo: trouble.is_some_and(|(_, is_consequence)| is_consequence),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult<'a> {
    rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    kind: &'static str,
    level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline_state: Option<&'static str>,
    message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressions: Option<[Suppression<'a>; 1]>,
    properties: Properties<'a>,
}

#[derive(Serialize)]
pub(super) struct Message {
    pub(super) text: String,
}

#[derive(Serialize)]
struct Suppression<'a> {
    kind: &'static str,
    status: &'static str,
    justification: &'a str,
    properties: SuppressionProperties<'a>,
}

#[derive(Serialize)]
struct SuppressionProperties<'a> {
    until: Option<String>,
    origin: &'a str,
}

#[derive(Serialize)]
struct Properties<'a> {
    application: &'a str,
    attempt: Option<&'a str>,
    name: Option<&'a str>,
    user: Option<&'a str>,
    queue: Option<&'a str>,
    engine: &'static str,
    subject: Cow<'static, str>,
    severity: Severity,
    score: u64,
    evidence: Pairs<&'a str, MeasureView<'a>>,
    thresholds: Pairs<&'a str, [Number; 4]>,
    advice: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<&'a str>,
    echo: bool,
    /// The other findings about the trouble.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<Member<'a>>,
}

impl<'a> SarifResult<'a> {
    fn of(written: Written<'a>, rules: &Rules<'_>) -> Self {
        let text = message(&written);
        let Written { app, finding, trouble, others, suppressed } = written;
        let is_consequence = trouble.is_some_and(|(_, is_consequence)| is_consequence);
        let severities = others.iter().map(|other| other.severity);
        let worst = severities.fold(finding.severity, Severity::max);
        let (kind, level) = match worst {
            Severity::None => ("pass", "none"),
            // Another result leads to the cause.
            _ if is_consequence => ("fail", "note"),
            Severity::Low => ("fail", "note"),
            Severity::Moderate => ("fail", "warning"),
            Severity::Severe | Severity::Critical => ("fail", "error"),
        };
        let fingerprint = app.fingerprint(finding).to_string();
        // GitHub matches results only by the second name.
        let fingerprints =
            [("elephantFingerprint/v1", fingerprint.clone()), ("primaryLocationLineHash", fingerprint)];
        Self {
            rule_id: &finding.rule,
            rule_index: rules.index(&finding.rule),
            kind,
            level,
            baseline_state: None,
            message: Message { text },
            locations: app.sources.first().map(|source| Location::of(source, None)).into_iter().collect(),
            partial_fingerprints: fingerprints.into_iter().collect(),
            suppressions: suppressed.map(|suppressed| [Suppression::of(suppressed)]),
            properties: Properties {
                application: &app.id,
                attempt: app.attempt.as_deref(),
                name: app.name.as_deref(),
                user: app.user.as_deref(),
                queue: app.queue.as_deref(),
                engine: app.engine.name(),
                subject: finding.subject.name(),
                severity: finding.severity,
                score: finding.score,
                evidence: evidence(finding),
                thresholds: thresholds(finding),
                advice: advice(finding),
                trouble: trouble.map(|(trouble, _)| trouble.id.as_str()),
                echo: is_consequence,
                also: others,
            },
        }
    }
}

/// The baseline state of a trouble in the terms of SARIF. `None` if it is unknown whether its findings were accepted.
fn baseline_state(trouble: &TroubleChange) -> Option<&'static str> {
    let is_known = trouble.findings.iter().any(|found| found.accepted.is_some());
    match trouble.change {
        Change::New => Some("new"),
        Change::Unchanged => Some("unchanged"),
        Change::NotJudged if !is_known => None,
        Change::Worse | Change::Better | Change::NotJudged => Some("updated"),
    }
}

impl<'a> Suppression<'a> {
    fn of(suppressed: &'a Suppressed) -> Self {
        let Suppressed { reason, until, origin, .. } = suppressed;
        let properties = SuppressionProperties { until: until.map(|day| day.to_string()), origin };
        Self { kind: "external", status: "accepted", justification: reason, properties }
    }
}

/// The application, the cause, the advice and the other findings, because many viewers show only the message.
fn message(written: &Written<'_>) -> String {
    let Written { app, finding, trouble, others, .. } = written;
    let name = app.name.as_deref().map(|name| format!("{name} ({})", app.id));
    let whose = name.unwrap_or_else(|| app.id.clone());
    let mut text = plain(&format!("{whose}: {}", about(finding)));
    let cause = trouble.filter(|(_, is_consequence)| !is_consequence).map(|(trouble, _)| trouble);
    // The remedies of a trouble are those against all its findings.
    for advice in cause.map_or(&finding.advice, |trouble| &trouble.advice) {
        text.push_str("\n→ ");
        text.push_str(&plain(&advice.text));
    }
    for Member { rule, message, .. } in others {
        text = format!("{text}\n{}: {message}", plain(rule));
    }
    if let Some(trouble) = cause {
        text.push('\n');
        text.push_str(&plain(&saves(&trouble.savings, currency(app))));
    }
    text
}

/// Text from a history for a message, in which `[text](target)` would be a link.
pub(super) fn plain(text: &str) -> String {
    clean(text).replace("](", "] (")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
}

impl Location {
    /// A place in a file. Findings have no line in a history, but viewers need one.
    pub(super) fn of(source: &str, line: Option<u64>) -> Self {
        let region = Region { start_line: line.unwrap_or(1).max(1) };
        Self {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation { uri: uri::of(source) },
                region,
            },
        }
    }
}
