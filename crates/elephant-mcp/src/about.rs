//! What answers say of an application, and amounts.

use std::fmt;

use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp};
use elephant_base::whole::Whole;
use elephant_store::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::library::Found;
use super::told::{Name, Told};

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Level {
    None,
    Low,
    Moderate,
    Severe,
    Critical,
}

impl From<Severity> for Level {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::None => Self::None,
            Severity::Low => Self::Low,
            Severity::Moderate => Self::Moderate,
            Severity::Severe => Self::Severe,
            Severity::Critical => Self::Critical,
        }
    }
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::None => Self::None,
            Level::Low => Self::Low,
            Level::Moderate => Self::Moderate,
            Level::Severe => Self::Severe,
            Level::Critical => Self::Critical,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Severity::from(*self).name())
    }
}

// Whole, or with six digits, which is more than is known of any amount here. A doc comment would be in all schemas.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Number(f64);

impl Number {
    pub(crate) fn of(value: f64) -> Self {
        if is_whole(value) { Self(value) } else { Self(format!("{value:.5e}").parse().unwrap_or(value)) }
    }

    pub(crate) const fn get(self) -> f64 {
        self.0
    }
}

fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < 9.0e15
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if is_whole(self.0) {
            serializer.serialize_i64(self.0.as_i64())
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::of)
    }
}

/// A likely value between two limits.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Range {
    pub(crate) low: Number,
    pub(crate) point: Number,
    pub(crate) high: Number,
}

/// What a run takes, or what is saved of it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Amounts {
    /// Run time
    pub(crate) wall_ms: Range,
    pub(crate) core_hours: Option<Range>,
    /// Memory over time: 1 is one gibibyte held for an hour
    pub(crate) gb_hours: Option<Range>,
    /// In the currency of the prices; null without prices
    #[serde(default)]
    pub(crate) cost: Option<Range>,
}

impl fmt::Display for Amounts {
    /// "602 ms to 4.6 s of run time".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { low, high, .. } = self.wall_ms;
        write!(f, "{} to {} of run time", time(low), time(high))
    }
}

/// A time in words. Savings may be negative.
pub(crate) fn time(ms: Number) -> String {
    let size = Millis::from_f64(ms.get().abs().round()).unwrap_or_default();
    if ms.get() < 0.0 { format!("-{size}") } else { size.to_string() }
}

/// An application as one line.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Line {
    pub(crate) id: Name,
    pub(crate) attempt: Option<Told<40>>,
    pub(crate) cluster: Option<Told<100>>,
    pub(crate) name: Option<Name>,
    pub(crate) user: Option<Told<100>>,
    pub(crate) queue: Option<Told<100>>,
    /// How it ended: succeeded, failed, killed, running or unknown
    pub(crate) status: Told<20>,
    pub(crate) submitted_at: Option<Told<40>>,
    /// From submission to end
    pub(crate) runtime_ms: Option<u64>,
    /// Memory over time that it held
    pub(crate) resource_used_gb_hours: Option<Number>,
    /// The part of it that was not needed
    pub(crate) resource_wasted_gb_hours: Option<Number>,
    /// What remedies of known effect save of it
    pub(crate) saves_gb_hours: Option<Number>,
    /// The highest severity of its findings
    pub(crate) severity: Level,
    /// The cause of its first trouble
    pub(crate) trouble: Option<Told<160>>,
}

impl Line {
    pub(crate) fn of(run: &Run) -> Self {
        Self {
            id: Told::of(&run.id),
            attempt: run.attempt.as_ref().map(Told::from),
            cluster: run.cluster.as_ref().map(Told::from),
            name: run.name.as_ref().map(Told::from),
            user: run.user.as_ref().map(Told::from),
            queue: run.queue.as_ref().map(Told::from),
            status: Told::of(&run.status),
            submitted_at: at(run.submitted),
            runtime_ms: run.run_time.map(Millis::get),
            resource_used_gb_hours: run.used_gb_hours.map(Number::of),
            resource_wasted_gb_hours: run.wasted_gb_hours.map(Number::of),
            saves_gb_hours: run.saved_gb_hours.map(Number::of),
            severity: run.severity.into(),
            trouble: run.trouble.as_ref().map(|(cause, _)| Told::of(cause)),
        }
    }
}

impl fmt::Display for Line {
    /// "app-1 · nightly · alice · failed · 52.0 s · critical: the cause".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        for part in [self.name.as_ref().map(Told::as_str), self.user.as_ref().map(Told::as_str)] {
            part.map_or(Ok(()), |part| write!(f, " · {part}"))?;
        }
        write!(f, " · {}", self.status)?;
        self.runtime_ms.map_or(Ok(()), |time| write!(f, " in {}", Millis::new(time)))?;
        self.resource_wasted_gb_hours
            .map_or(Ok(()), |wasted| write!(f, " · {} GB·h wasted", wasted.get()))?;
        write!(f, " · {}", self.severity)?;
        self.trouble.as_ref().map_or(Ok(()), |cause| write!(f, ": {cause}"))
    }
}

/// The application that an answer is about.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct About {
    #[serde(flatten)]
    pub(crate) line: Line,
    /// spark or mapreduce
    pub(crate) engine: Told<20>,
    /// The key of its job, for `job_history`
    pub(crate) job: Name,
    /// Whether its history is whole
    pub(crate) complete: bool,
    /// Whether enough of it was read to judge it
    pub(crate) judged: bool,
    /// Which of the applications with this id it is
    pub(crate) which: usize,
    /// How many have this id: attempts, clusters or copies
    pub(crate) alike_count: usize,
    /// Its page, for people; null if no server shows it
    pub(crate) link: Option<Told<400>>,
}

impl About {
    pub(crate) fn of(found: &Found) -> Self {
        let Found { stored, which, alike, link } = found;
        Self {
            // Answers about one application have its causes in full.
            line: Line { trouble: None, ..Line::of(&stored.run) },
            engine: Told::of(&stored.engine),
            job: Told::of(&stored.job),
            complete: stored.is_complete,
            judged: stored.is_judged,
            which: *which,
            alike_count: *alike,
            // A part of an address would lead elsewhere.
            link: link.as_deref().and_then(Told::whole),
        }
    }
}

impl fmt::Display for About {
    /// Its line, and the address of its page.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.line)?;
        self.link.as_ref().map_or(Ok(()), |link| write!(f, " · {link}"))
    }
}

/// A time as RFC 3339.
pub(crate) fn at(time: Option<Timestamp>) -> Option<Told<40>> {
    time.and_then(Timestamp::to_rfc3339).as_ref().map(Told::from)
}
