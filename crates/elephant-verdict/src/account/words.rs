//! The parts of an account in words.

use super::{Owner, Part, PhaseFact, What};
use elephant_base::units::{Millis, with_thousands};
use elephant_model::engine_facts::spark::CALL_THROUGH_REFLECTION;
use elephant_model::model::Subject;

/// Calls of Spark's own threads.
const OF_SPARK: &str = "$anonfun$withThreadLocalCaptured";
/// A smaller share of the time without a task is not told.
const TOLD: f64 = 0.1;

/// A call site, unless it is the one of all calls from Python.
pub(super) fn plain_call(call: &str) -> Option<&str> {
    let first_line = call.lines().next().unwrap_or_default().trim();
    let is_own = !first_line.contains(CALL_THROUGH_REFLECTION) && !first_line.starts_with(OF_SPARK);
    (!first_line.is_empty() && is_own).then_some(first_line)
}

/// "12 s before the first, 4 s after the last".
fn outside(idle: Millis, before: Millis, after: Millis) -> Option<String> {
    let told = |time: Millis| time.share_of(idle).is_some_and(|share| share >= TOLD);
    let before = told(before).then(|| format!("{before} before the first"));
    let after = told(after).then(|| format!("{after} after the last"));
    let parts: Vec<String> = [before, after].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// "query 3: scan of events".
fn purpose(owner: Option<&Owner>, does: Option<&str>) -> Option<String> {
    let told = [owner.map(|owner| owner.name.as_str()), does];
    let told: Vec<&str> = told.into_iter().flatten().filter(|name| !name.is_empty()).collect();
    (!told.is_empty()).then(|| told.join(": "))
}

impl Part {
    /// What happened: "query 3: scan of events", or where, if nothing else is known: "3 stages".
    #[must_use]
    pub fn name(&self) -> String {
        match &self.what {
            What::Phase { subject, .. } if !matches!(subject, Subject::Stage(_)) => {
                format!("{} tasks", subject.name())
            }
            What::Phase { subject, owner, does, .. } => {
                purpose(owner.as_ref(), does.as_deref()).unwrap_or_else(|| subject.name().into_owned())
            }
            What::Stages { owner, count, does } => {
                purpose(owner.as_ref(), does.as_deref()).unwrap_or_else(|| counted(*count, "stage"))
            }
            What::Idle { .. } => "no task ran".to_owned(),
            What::Rest { .. } => "the rest".to_owned(),
        }
    }

    /// Where it happened: "stage 0.0", "12 stages"; `None` for what is no stage, or if [`Self::name`] says it.
    #[must_use]
    pub fn stages(&self) -> Option<String> {
        let (place, owner, does) = match &self.what {
            What::Phase { subject: subject @ Subject::Stage(_), owner, does, .. } => {
                (subject.name().into_owned(), owner, does)
            }
            What::Stages { owner, count, does } => (counted(*count, "stage"), owner, does),
            What::Phase { .. } | What::Idle { .. } | What::Rest { .. } => return None,
        };
        purpose(owner.as_ref(), does.as_deref()).map(|_| place)
    }

    /// "544 tasks share 200 slots"; `None` if there is nothing to add.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        match &self.what {
            What::Phase { fact, .. } => fact.as_ref().map(PhaseFact::words),
            What::Rest { idle } if *idle > Millis::ZERO => Some(format!("no task ran for {idle} of it")),
            What::Idle { before, after } => outside(self.time, *before, *after),
            What::Stages { .. } | What::Rest { .. } => None,
        }
    }
}

impl PhaseFact {
    fn words(&self) -> String {
        match self {
            Self::LongTask { longest, median } => format!("one task took {longest}, the median {median}"),
            Self::Spilled(bytes) => format!("spills {bytes}, more than it reads"),
            Self::Waves { tasks, slots } => {
                format!("{} share {}", counted(*tasks, "task"), counted(*slots, "slot"))
            }
            Self::FewTasks { tasks, slots } => {
                format!("{} on {}", counted(*tasks, "task"), counted(*slots, "slot"))
            }
            Self::Tasks(tasks) => counted(*tasks, "task"),
        }
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", with_thousands(&count.to_string()), if count == 1 { "" } else { "s" })
}
