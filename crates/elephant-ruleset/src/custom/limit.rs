//! Thresholds of custom rules: cut-offs with the unit of the value they judge.

use std::fmt;

use super::unit::{Unit as ValueUnit, percent};
use elephant_base::severity::Severity;
use elephant_rule::params::cutoffs::{Cutoffs, Direction, Falling, Rising};
use elephant_rule::params::quantity::{Count, Duration, Ratio, Size, Speed, Unit};
use elephant_rule::params::yaml::{Kind, Node, ReadError};
use elephant_rule::params::{Param, ParamValue};

/// Cut-offs of any unit and direction.
pub(super) trait Judge: fmt::Debug + Send + Sync {
    /// The severity of a value. With `decimals`, value and cut-off are truncated to that many decimals.
    fn severity(&self, value: f64, decimals: Option<i32>) -> Severity;

    /// The cut-off of a level: "critical from 16".
    fn describe(&self, level: Severity, in_percent: bool) -> String;

    /// The cut-offs for reports.
    fn value(&self) -> ParamValue;
}

impl<U: Unit, D: Direction> Judge for Cutoffs<U, D> {
    fn severity(&self, value: f64, decimals: Option<i32>) -> Severity {
        let (Some(decimals), Some(cutoffs)) = (decimals, self.values()) else {
            return Self::severity(self, value);
        };
        let cut = |number: f64| (number * 10f64.powi(decimals)).trunc();
        // Cut-offs are ordered, so the passed ones come first.
        let passed = cutoffs
            .into_iter()
            .take_while(|&cutoff| cutoff.is_finite() && D::passed(cut(value), cut(cutoff)));
        Severity::ALL.into_iter().nth(passed.count()).unwrap_or_default()
    }

    fn describe(&self, level: Severity, in_percent: bool) -> String {
        if in_percent { self.describe_in(level, percent) } else { Self::describe(self, level) }
    }

    fn value(&self) -> ParamValue {
        Param::value(self)
    }
}

/// A threshold.
#[derive(Debug)]
pub(super) struct Limit {
    /// The cut-offs.
    pub(super) judge: Box<dyn Judge>,
    /// The direction in which values get worse.
    pub(super) way: Way,
    /// The number of decimals that count; `None` for all.
    pub(super) decimals: Option<i32>,
    /// Whether the cut-offs are written in percent.
    pub(super) in_percent: bool,
}

/// The direction in which values get worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Larger values are worse.
    Rising,
    /// Smaller values are worse.
    Falling,
}

const BOTH_WAYS: &str = "write {rising: [low, moderate, severe, critical]} if larger values are worse, or {falling: […]} if \
                         smaller values are worse";

const AS_NUMBERS: &str = "make plain numbers of times and sizes, as in in_ms(time) / in_mb(size); thresholds can be numbers, counts, \
                          times, sizes or speeds";

impl Limit {
    /// Reads a threshold for a value of `unit`. A bare list keeps the direction of the threshold that it
    /// replaces.
    ///
    /// # Errors
    /// If the node is not such a threshold.
    pub(super) fn read(node: &Node, unit: ValueUnit, before: Option<&Self>) -> Result<Self, ReadError> {
        let mut way = None;
        let mut decimals = before.and_then(|before| before.decimals);
        let mut list = node;
        if let Kind::Map(entries) = &node.kind {
            for (key, value) in entries {
                let this = match key.value.as_str() {
                    "rising" => Way::Rising,
                    "falling" => Way::Falling,
                    "decimals" => {
                        decimals = Some(i32::from(value.read::<u8>()?.min(15)));
                        continue;
                    }
                    _ => {
                        let message = format!("a threshold has no \"{}\"", key.value);
                        return Err(ReadError {
                            span: Some(key.span.clone()),
                            message,
                            help: Some(BOTH_WAYS.to_owned()),
                        });
                    }
                };
                if way.replace(this).is_some() {
                    let message = "a threshold is either rising or falling".to_owned();
                    return Err(ReadError {
                        span: Some(key.span.clone()),
                        message,
                        help: Some(BOTH_WAYS.to_owned()),
                    });
                }
                list = value;
            }
        } else {
            way = before.map(|before| before.way);
        }
        let Some(way) = way else {
            let message = "the threshold does not say in which direction values get worse".to_owned();
            return Err(ReadError {
                span: Some(node.span.clone()),
                message,
                help: Some(BOTH_WAYS.to_owned()),
            });
        };
        let judge = match way {
            Way::Rising => cutoffs::<Rising>(list, unit)?,
            Way::Falling => cutoffs::<Falling>(list, unit)?,
        };
        Ok(Self { judge, way, decimals, in_percent: in_percent(list) })
    }

    /// The severity of a value.
    #[must_use]
    pub(super) fn severity(&self, value: f64) -> Severity {
        self.judge.severity(value, self.decimals)
    }
}

fn cutoffs<D: Direction>(list: &Node, unit: ValueUnit) -> Result<Box<dyn Judge>, ReadError> {
    Ok(match unit {
        ValueUnit::TIME => Box::new(list.read::<Cutoffs<Duration, D>>()?),
        ValueUnit::SIZE => Box::new(list.read::<Cutoffs<Size, D>>()?),
        ValueUnit::SPEED => Box::new(list.read::<Cutoffs<Speed, D>>()?),
        ValueUnit::COUNT => Box::new(list.read::<Cutoffs<Count, D>>()?),
        unit if unit.fits(ValueUnit::NUMBER) => Box::new(list.read::<Cutoffs<Ratio, D>>()?),
        unit => {
            let message = format!("there are no thresholds for {}", unit.name());
            return Err(ReadError {
                span: Some(list.span.clone()),
                message,
                help: Some(AS_NUMBERS.to_owned()),
            });
        }
    })
}

fn in_percent(list: &Node) -> bool {
    match &list.kind {
        Kind::List(items) => {
            items.iter().any(|item| item.as_text().is_some_and(|text| text.trim_end().ends_with('%')))
        }
        Kind::Scalar { .. } | Kind::Map(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_rule::params::yaml::documents;

    fn read(yaml: &str, unit: ValueUnit, before: Option<&Limit>) -> Result<Limit, ReadError> {
        Limit::read(&documents(yaml).0.remove(0), unit, before)
    }

    #[test]
    fn units_are_those_of_the_value() {
        let limit = read("{rising: [1min, 2min, 3min, never]}", ValueUnit::TIME, None).unwrap();
        assert_eq!(limit.severity(120_000.0), Severity::Moderate);
        assert_eq!(limit.severity(f64::INFINITY), Severity::Severe);
        assert!(
            read("{rising: [1MB, 2MB, 3MB, 4MB]}", ValueUnit::TIME, None)
                .unwrap_err()
                .message
                .contains("a time")
        );
        let no_unit = ValueUnit::TIME.over(ValueUnit::SIZE);
        let error = read("{rising: [1, 2, 3, 4]}", no_unit, None).unwrap_err();
        assert_eq!(error.message, "there are no thresholds for time per size");
        assert!(error.help.is_some_and(|help| help.contains("in_ms(time) / in_mb(size)")));
        let falling = read("{falling: [8MB, 4MB, 2MB, 1MB]}", ValueUnit::SIZE, None).unwrap();
        assert_eq!(falling.severity(0.0), Severity::Critical);
    }

    #[test]
    fn a_direction_must_be_given_once() {
        assert!(read("[1, 2, 3, 4]", ValueUnit::NUMBER, None).is_err());
        assert!(read("{rising: [1, 2, 3, 4], falling: [4, 3, 2, 1]}", ValueUnit::NUMBER, None).is_err());
        assert!(read("{risin: [1, 2, 3, 4]}", ValueUnit::NUMBER, None).is_err());
        assert!(read("{}", ValueUnit::NUMBER, None).is_err());
        let before = read("{falling: [4, 3, 2, 1]}", ValueUnit::NUMBER, None).unwrap();
        let after = read("[40%, 30%, 20%, 10%]", ValueUnit::NUMBER, Some(&before)).unwrap();
        assert_eq!(after.severity(0.15), Severity::Severe);
        assert_eq!(after.judge.describe(Severity::Severe, after.in_percent), "severe up to 20 %");
        assert_eq!(read("{rising: off}", ValueUnit::NUMBER, None).unwrap().severity(0.0), Severity::Critical);
    }

    #[test]
    fn decimals_are_truncated_on_both_sides() {
        let limit =
            read("{rising: [2.01, 2.2, never, never], decimals: 4}", ValueUnit::NUMBER, None).unwrap();
        assert_eq!(limit.severity(2.19999), Severity::Low);
        assert_eq!(limit.severity(2.20001), Severity::Moderate);
        // 2.01 × 10,000 is a little less than 20,100 in binary.
        assert_eq!(limit.severity(2.0099), Severity::Low);
        assert_eq!(limit.severity(f64::INFINITY), Severity::Moderate);
    }
}
