//! Conditions on the tasks that count: by which nodes are ranked, and among which stragglers are looked for.

use std::fmt;
use std::str::FromStr;

use rustc_hash::FxHashMap;

use elephant_base::units::Timestamp;
use elephant_model::model::Application;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::TaskKind;
use elephant_ruleset::Pattern;

const MILLIS_OF_AN_HOUR: i64 = 3_600_000;
const HOURS: i64 = 24;
/// The days of the week, from the first day of 1970.
const WEEKDAYS: [&str; 7] = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"];

/// The kinds of tasks.
const KINDS: [&str; 4] = ["map", "reduce", "stage", "trace"];

/// The fields of conditions.
pub const FIELDS: [&str; 7] = ["type", "kind", "name", "tasks", "job-names", "hour", "weekday"];

/// The tasks that count: those that meet all conditions. A value that is unknown meets no condition.
#[derive(Debug, Clone, Default)]
pub struct Conditions(Vec<Condition>);

/// A condition, as users write it: `kind=map`, `hour=22-5`, `name!=count*`.
#[derive(Debug, Clone)]
pub struct Condition {
    written: String,
    negated: bool,
    test: Test,
}

#[derive(Debug, Clone)]
enum Test {
    /// The type of the job, such as Hive.
    Type(Pattern),
    /// `map`, `reduce`, `stage`, or `trace`.
    Kind(Pattern),
    /// The name of the stage, or of the group in a trace.
    Name(Pattern),
    /// Tasks of the group.
    Tasks(Range),
    /// Job names with the logical name of the job, in a trace.
    JobNames(Range),
    /// The hour of the task's start, UTC. A range may go past midnight.
    Hour(Range),
    /// The day of the week of its start, UTC.
    Weekday(Pattern),
}

/// A range that includes both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    from: u64,
    to: u64,
}

/// The properties of a group that conditions test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    /// The type of its job.
    pub job_type: Option<&'a str>,
    /// Its kind; `None` for a trace.
    pub kind: Option<TaskKind>,
    /// Its name.
    pub name: Option<&'a str>,
    /// The number of its tasks.
    pub tasks: u64,
    /// How many job names have the logical name of its job; `None` except for traces that have both.
    pub job_names: Option<u64>,
}

/// The text of a condition cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ConditionError {
    /// It is not a field, a comparison and a value.
    #[error(
        "write a field, = or !=, and a value, such as kind=map, name=count*, tasks=100-, job-names=2-, hour=22-5 or \
         weekday=sat"
    )]
    Form,
    /// There is no field of this name.
    #[error("there is no field \"{0}\"; the fields are type, kind, name, tasks, job-names, hour and weekday")]
    Field(String),
    /// This value is neither a number nor a range.
    #[error("\"{0}\" is not a number or a range, such as 7, 9-17 or 100-")]
    Range(String),
    /// The range begins with a greater number than it ends with.
    #[error("{0} is more than {1}; only hours go around midnight, so write {1}-{0}")]
    Reversed(u64, u64),
    /// The hour is more than 23.
    #[error("an hour is from 0 to 23")]
    Hour,
    /// The pattern has this error.
    #[error("{0}")]
    Pattern(String),
    /// What the field is called, the value, and the values that it may have.
    #[error("no {0} is \"{1}\"; there are {2}")]
    Unknown(&'static str, String, String),
}

impl From<Vec<Condition>> for Conditions {
    fn from(conditions: Vec<Condition>) -> Self {
        Self(conditions)
    }
}

impl Conditions {
    /// Whether there are no conditions, so that all tasks count.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the group meets all conditions on groups.
    pub(crate) fn admit_group(&self, facts: &Facts<'_>) -> bool {
        self.0.iter().all(|condition| condition.of_group(facts).unwrap_or(true))
    }

    /// Whether a start meets all conditions on starts.
    pub(crate) fn admit_start(&self, start: Option<Timestamp>) -> bool {
        self.0.iter().all(|condition| condition.of_start(start).unwrap_or(true))
    }
}

/// The names of stages; empty if there are no conditions, because only conditions use names.
pub(crate) struct StageNames<'a>(FxHashMap<StageAttempt, &'a str>);

impl<'a> StageNames<'a> {
    pub(crate) fn of(app: &'a Application, conditions: &Conditions) -> Self {
        let stages = app.spark.iter().filter(|_| !conditions.is_empty()).flat_map(|spark| &spark.stages);
        Self(stages.filter_map(|stage| Some((stage.id, stage.name.as_deref()?))).collect())
    }

    pub(crate) fn name(&self, kind: TaskKind) -> Option<&'a str> {
        if let TaskKind::Stage(stage) = kind { self.0.get(&stage).copied() } else { None }
    }
}

impl Condition {
    /// Whether a group meets the condition; `None` if the condition is about attempts.
    fn of_group(&self, facts: &Facts<'_>) -> Option<bool> {
        let kind = facts.kind.map_or("trace", |kind| match kind {
            TaskKind::Stage(_) => "stage",
            TaskKind::Vertex(_) => "vertex",
            kind => kind.name(),
        });
        let met = match &self.test {
            Test::Type(pattern) => facts.job_type.map(|text| pattern.matches(text)),
            Test::Kind(pattern) => Some(pattern.matches(kind)),
            Test::Name(pattern) => facts.name.map(|text| pattern.matches(text)),
            Test::Tasks(range) => Some(range.contains(facts.tasks)),
            Test::JobNames(range) => facts.job_names.map(|names| range.contains(names)),
            Test::Hour(_) | Test::Weekday(_) => return None,
        };
        Some(met.is_some_and(|met| met != self.negated))
    }

    /// Whether an attempt with this start meets the condition; `None` if the condition is about groups.
    fn of_start(&self, start: Option<Timestamp>) -> Option<bool> {
        let hours = start.map(|start| start.as_millis().div_euclid(MILLIS_OF_AN_HOUR));
        let met = match &self.test {
            Test::Hour(range) => {
                let hour = hours.and_then(|hours| u64::try_from(hours.rem_euclid(HOURS)).ok());
                hour.map(|hour| range.contains(hour))
            }
            Test::Weekday(pattern) => {
                let day = hours.map(|hours| hours.div_euclid(HOURS).rem_euclid(7));
                let day = day.and_then(|day| WEEKDAYS.get(usize::try_from(day).ok()?));
                day.map(|day| pattern.matches(day))
            }
            _ => return None,
        };
        Some(met.is_some_and(|met| met != self.negated))
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(written: &str) -> Result<Self, ConditionError> {
        let (field, value) = written.split_once('=').ok_or(ConditionError::Form)?;
        let (field, negated) = field.strip_suffix('!').map_or((field, false), |field| (field, true));
        let (field, value) = (field.trim(), value.trim());
        if value.is_empty() {
            return Err(ConditionError::Form);
        }
        let pattern = || Pattern::parse(value).map_err(ConditionError::Pattern);
        let test = match field {
            "type" => Test::Type(pattern()?),
            "kind" => Test::Kind(one_of("kind", pattern()?, &KINDS, value)?),
            "name" => Test::Name(pattern()?),
            "weekday" => Test::Weekday(one_of("weekday", pattern()?, &WEEKDAYS, value)?),
            "tasks" => Test::Tasks(Range::upwards(value)?),
            "job-names" => Test::JobNames(Range::upwards(value)?),
            "hour" => {
                let range = Range::parse(value)?;
                let range = Range { to: if value.ends_with('-') { 23 } else { range.to }, ..range };
                if range.from.max(range.to) > 23 {
                    return Err(ConditionError::Hour);
                }
                Test::Hour(range)
            }
            _ => return Err(ConditionError::Field(field.to_owned())),
        };
        Ok(Self { written: written.to_owned(), negated, test })
    }
}

/// Checks that the pattern matches at least one known value. Otherwise it would leave out every task without
/// a message.
fn one_of(
    field: &'static str,
    pattern: Pattern,
    known: &[&str],
    written: &str,
) -> Result<Pattern, ConditionError> {
    if known.iter().any(|name| pattern.matches(name)) {
        return Ok(pattern);
    }
    Err(ConditionError::Unknown(field, written.to_owned(), known.join(", ")))
}

impl Range {
    fn parse(text: &str) -> Result<Self, ConditionError> {
        let number = |part: &str| part.trim().parse().map_err(|_| ConditionError::Range(text.to_owned()));
        Ok(match text.split_once('-') {
            None => Self { from: number(text)?, to: number(text)? },
            Some((from, to)) if to.trim().is_empty() => Self { from: number(from)?, to: u64::MAX },
            Some((from, to)) => Self { from: number(from)?, to: number(to)? },
        })
    }

    /// A range of counts, which does not wrap around.
    fn upwards(text: &str) -> Result<Self, ConditionError> {
        let range @ Self { from, to } = Self::parse(text)?;
        if from > to { Err(ConditionError::Reversed(from, to)) } else { Ok(range) }
    }

    /// If `from` is greater than `to`, the range wraps around, as from 22 to 5 o'clock.
    const fn contains(self, number: u64) -> bool {
        if self.from <= self.to {
            self.from <= number && number <= self.to
        } else {
            self.from <= number || number <= self.to
        }
    }
}

impl fmt::Display for Conditions {
    /// "kind=map and hour=22-5".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, condition) in self.0.iter().enumerate() {
            let and = if place == 0 { "" } else { " and " };
            write!(f, "{and}{}", condition.written)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(written: &[&str]) -> Conditions {
        written.iter().map(|text| text.parse::<Condition>().unwrap()).collect::<Vec<_>>().into()
    }

    fn hours(written: &[&str]) -> Vec<i64> {
        // 2026-11-20, a Friday.
        let midnight = 20_777 * HOURS;
        let start = |hour: &i64| Some(Timestamp::from_millis((midnight + hour) * MILLIS_OF_AN_HOUR));
        let conditions = conditions(written);
        assert!(!conditions.admit_start(None));
        (0..48).filter(|hour| conditions.admit_start(start(hour))).collect()
    }

    #[test]
    fn groups_meet_all_conditions_or_do_not_count() {
        let maps = Facts {
            job_type: Some("Hive"),
            kind: Some(TaskKind::Map),
            name: None,
            tasks: 100,
            job_names: None,
        };
        let trace =
            Facts { job_type: None, kind: None, name: Some("priority 9"), tasks: 5, job_names: Some(2) };
        let admit = |written: &[&str], facts: &Facts<'_>| conditions(written).admit_group(facts);
        assert!(admit(&[], &maps) && admit(&[], &trace));
        assert!(admit(&["type=Hive", "kind=map", "tasks=100-"], &maps));
        assert!(!admit(&["type=Hive", "kind=reduce"], &maps) && admit(&["kind!=reduce"], &maps));
        // Unknown is neither equal nor different.
        assert!(!admit(&["type=Hive"], &trace) && !admit(&["type!=Hive"], &trace));
        assert!(admit(&["kind=trace", "name=priority*", "tasks=3-5"], &trace));
        assert!(!admit(&["tasks=100"], &trace) && admit(&["hour=3"], &trace));
        assert!(admit(&["job-names=2-"], &trace) && admit(&["job-names!=1"], &trace));
        assert!(!admit(&["job-names=3-"], &trace) && !admit(&["job-names!=2"], &trace));
        assert!(!admit(&["job-names=0-"], &maps) && !admit(&["job-names!=1"], &maps));
    }

    #[test]
    fn attempts_count_by_the_hour_of_their_start() {
        assert_eq!(hours(&["hour=22-1"]), [0, 1, 22, 23, 24, 25, 46, 47]);
        assert_eq!(hours(&["hour=9-10", "weekday=fri"]), [9, 10]);
        assert_eq!(hours(&["hour=21-", "weekday!=fri"]), [45, 46, 47]);
        assert_eq!(hours(&["hour!=2-23"]), [0, 1, 24, 25]);
    }

    #[test]
    fn mistakes_say_what_is_expected() {
        let message = |text: &str| text.parse::<Condition>().unwrap_err().to_string();
        assert!(message("map").contains("such as kind=map") && message("kind=").contains("such as"));
        assert!(message("color=red").contains("there is no field \"color\""));
        assert!(message("tasks=many").contains("not a number or a range"));
        assert_eq!(message("tasks=5-1"), "5 is more than 1; only hours go around midnight, so write 1-5");
        assert_eq!(message("job-names=5-1"), message("tasks=5-1"));
        assert!(message("job-names=two").contains("not a number or a range"));
        assert!(message("hour=24").contains("0 to 23") && message("hour=5-99").contains("0 to 23"));
        assert!("name=/(/".parse::<Condition>().is_err());
        assert_eq!(message("kind=mapp"), "no kind is \"mapp\"; there are map, reduce, stage, trace");
        assert!(message("weekday!=saturday").contains("thu, fri, sat"));
        assert!("kind=m*".parse::<Condition>().is_ok());
    }
}
