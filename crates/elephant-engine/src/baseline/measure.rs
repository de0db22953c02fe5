//! The value of a finding's key measure: it shows how bad the finding is, beyond its severity.

use elephant_rule::finding::{Finding, Measure};

/// The value of the finding's key measure.
#[must_use]
pub fn value(finding: &Finding) -> Option<f64> {
    let key = finding.rule_facts.key_measure?.key;
    let value = match finding.measure(key)? {
        Measure::Count(count) | Measure::Mebibytes(count) => *count as f64,
        Measure::Time(time) => time.as_f64(),
        Measure::Size(size) => size.as_f64(),
        Measure::Speed(speed) => speed.get(),
        Measure::Ratio(number) | Measure::Number(number, _) => (*number)?,
        Measure::Text(_) => return None,
    };
    value.is_finite().then_some(value)
}
