//! Findings as JSON.

use elephant_base::whole::Whole;
use serde::{Serialize, Serializer};

use super::Pairs;
use elephant_base::severity::Severity;
use elephant_rule::finding::{Finding, Measure, Suppressed, Threshold};

#[derive(Serialize)]
pub(super) struct FindingView<'a> {
    rule: &'a str,
    title: &'a str,
    severity: Severity,
    raw_severity: Severity,
    score: u64,
    subject: std::borrow::Cow<'static, str>,
    message: &'a str,
    evidence: Pairs<&'a str, MeasureView<'a>>,
    thresholds: Pairs<&'a str, [Number; 4]>,
    advice: Vec<&'a str>,
}

pub(super) fn finding(finding: &Finding) -> FindingView<'_> {
    FindingView {
        rule: &finding.rule,
        title: &finding.title,
        severity: finding.severity,
        raw_severity: finding.raw_severity,
        score: finding.score,
        subject: finding.subject.name(),
        message: &finding.message,
        evidence: evidence(finding),
        thresholds: thresholds(finding),
        advice: advice(finding),
    }
}

/// The measured values by key.
pub(crate) fn evidence(finding: &Finding) -> Pairs<&str, MeasureView<'_>> {
    Pairs(finding.evidence.iter().map(|(key, value)| (key.as_ref(), MeasureView(value))).collect())
}

/// The lines of advice.
pub(crate) fn advice(finding: &Finding) -> Vec<&str> {
    finding.advice.iter().map(|advice| advice.text.as_str()).collect()
}

/// The thresholds in force, by key.
pub(crate) fn thresholds(finding: &Finding) -> Pairs<&str, [Number; 4]> {
    let cutoffs = |threshold: &Threshold| threshold.cutoffs.map(Number);
    Pairs(finding.thresholds.iter().map(|threshold| (threshold.key.as_str(), cutoffs(threshold))).collect())
}

#[derive(Serialize)]
pub(super) struct SuppressedView<'a> {
    #[serde(flatten)]
    finding: FindingView<'a>,
    reason: &'a str,
    until: Option<String>,
    origin: &'a str,
}

pub(super) fn suppressed(suppressed: &Suppressed) -> SuppressedView<'_> {
    SuppressedView {
        finding: finding(&suppressed.finding),
        reason: &suppressed.reason,
        until: suppressed.until.map(|day| day.to_string()),
        origin: &suppressed.origin,
    }
}

pub(crate) struct MeasureView<'a>(&'a Measure);

impl Serialize for MeasureView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Measure::Count(count) | Measure::Mebibytes(count) => serializer.serialize_u64(*count),
            Measure::Time(time) => serializer.serialize_u64(time.get()),
            Measure::Size(size) => serializer.serialize_u64(size.get()),
            Measure::Speed(speed) => Number(speed.get()).serialize(serializer),
            Measure::Ratio(Some(ratio)) => Number(*ratio).serialize(serializer),
            Measure::Number(Some(number), _) => Number(*number).serialize(serializer),
            Measure::Ratio(None) | Measure::Number(None, _) => serializer.serialize_none(),
            Measure::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// A double, written without a fraction if it is whole. A value that is not finite, such as a threshold that is never
/// reached, is `null`.
pub(crate) struct Number(pub(crate) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value) = *self;
        if value.fract() == 0.0 && value.abs() < 9.0e15 {
            serializer.serialize_i64(value.as_i64())
        } else {
            serializer.serialize_f64(value)
        }
    }
}
