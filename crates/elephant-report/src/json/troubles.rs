//! Troubles and the recommended configuration as JSON.

use std::borrow::Cow;

use serde::Serialize;

use super::Each;
use super::finding::{FindingView, finding};
use super::savings::{SavingsView, savings};
use elephant_base::severity::Severity;
use elephant_engine::results::ApplicationReport;
use elephant_model::model::Subject;
use elephant_rule::finding::{Advice, Cap, Failure, Finding, SettingChange};
use elephant_verdict::troubles::{Logged, Recommended, Telling, Trouble};

/// A finding with its trouble.
#[derive(Serialize)]
pub(super) struct ToldView<'a> {
    #[serde(flatten)]
    finding: FindingView<'a>,
    /// What lowers its severity; only with details.
    #[serde(skip_serializing_if = "Option::is_none")]
    capped: Option<CapView<'a>>,
    trouble: Option<PartView<'a>>,
    /// Only the leading finding of a trouble has the savings, so that they are not repeated.
    savings: Option<SavingsView>,
}

/// The cap that decides on the severity of a finding.
#[derive(Serialize)]
struct CapView<'a> {
    at_most: Severity,
    reason: &'static str,
    because: Cow<'a, str>,
}

fn cap(cap: &Cap) -> CapView<'_> {
    CapView { at_most: cap.at_most, reason: cap.why.name(), because: cap.why.words() }
}

/// The trouble of a finding.
#[derive(Serialize)]
struct PartView<'a> {
    id: &'a str,
    echo: bool,
}

pub(super) fn told<'a>(app: &'a ApplicationReport, found: &'a Finding) -> ToldView<'a> {
    let told = app.troubles.iter().find_map(|trouble| Some((trouble, trouble.tells(found)?)));
    ToldView {
        finding: finding(found),
        capped: found.caps.deciding().filter(|_| app.phases.is_some()).map(cap),
        trouble: told.map(|(trouble, echo)| PartView { id: &trouble.id, echo }),
        savings: told.filter(|(_, echo)| !echo).map(|(trouble, _)| savings(&trouble.savings)),
    }
}

#[derive(Serialize)]
pub(super) struct TroubleView<'a> {
    id: &'a str,
    kind: &'static str,
    cause: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureView<'a>>,
    /// What the log of a process tells of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<LogView<'a>>,
    confidence: &'static str,
    severity: Severity,
    subjects: Vec<String>,
    findings: Each<'a, Telling, TellingView<'a>>,
    change: Each<'a, SettingChange, ChangeView<'a>>,
    advice: Vec<&'a str>,
    savings: SavingsView,
}

pub(super) fn trouble(trouble: &Trouble) -> TroubleView<'_> {
    TroubleView {
        id: &trouble.id,
        kind: trouble.kind.name(),
        cause: &trouble.cause,
        failure: trouble.failure.as_ref().map(failure),
        log: trouble.logged.as_ref().map(log),
        confidence: trouble.confidence.name(),
        severity: trouble.severity,
        subjects: trouble.subjects.iter().map(name).collect(),
        findings: Each(&trouble.findings, telling),
        change: Each(&trouble.change, change),
        advice: trouble.advice.iter().map(|Advice { text, .. }| text.as_str()).collect(),
        savings: savings(&trouble.savings),
    }
}

/// The root cause of a failure.
#[derive(Serialize)]
struct FailureView<'a> {
    kind: &'static str,
    cause: &'static str,
    exception: Option<&'a str>,
    exit_code: Option<i32>,
}

fn failure(failure: &Failure) -> FailureView<'_> {
    FailureView {
        kind: failure.kind.name(),
        cause: failure.kind.cause(),
        exception: failure.exception.as_deref(),
        exit_code: failure.exit_code,
    }
}

/// The cause of a failure in the log of a process.
#[derive(Serialize)]
struct LogView<'a> {
    kind: &'a str,
    fault: &'a str,
    exception: Option<&'a str>,
    frame: Option<&'a str>,
    count: u64,
    file: &'a str,
    line: u64,
    of: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

fn log(logged: &Logged) -> LogView<'_> {
    LogView {
        kind: &logged.kind,
        fault: &logged.fault,
        exception: logged.exception.as_deref(),
        frame: logged.frame.as_deref(),
        count: logged.count,
        file: &logged.file,
        line: logged.line,
        of: logged.of.as_deref(),
        message: logged.message.as_deref(),
    }
}

fn name(subject: &Subject) -> String {
    subject.name().into_owned()
}

#[derive(Serialize)]
struct TellingView<'a> {
    rule: &'a str,
    subject: String,
    echo: bool,
}

fn telling(telling: &Telling) -> TellingView<'_> {
    TellingView { rule: &telling.rule, subject: name(&telling.subject), echo: telling.is_consequence }
}

#[derive(Serialize)]
struct ChangeView<'a> {
    setting: &'a str,
    from: Option<&'a str>,
    to: &'a str,
}

fn change(change: &SettingChange) -> ChangeView<'_> {
    ChangeView { setting: &change.setting, from: change.from.as_deref(), to: &change.to }
}

#[derive(Serialize)]
pub(super) struct RecommendedView<'a> {
    #[serde(flatten)]
    change: ChangeView<'a>,
    why: &'a [String],
}

pub(super) fn recommended(recommended: &Recommended) -> RecommendedView<'_> {
    RecommendedView { change: change(&recommended.change), why: &recommended.why }
}
