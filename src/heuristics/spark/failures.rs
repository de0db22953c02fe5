//! Attempts that failed: how many, what time went into them, and why.

use super::{conf_line, memory};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::{Spark, Stage};
use crate::model::table::{EndReason, Outcome, TaskGroup};
use crate::units::{Bytes, Millis};

/// What became of attempts. Killed ones count nowhere: another attempt won, or somebody stopped the work.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Failures {
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    /// Time from launch to end of those that failed.
    pub(super) lost: Millis,
    /// The same of all whose end is known, whatever it was.
    pub(super) spent: Millis,
    reasons: [u64; EndReason::ALL.len()],
}

impl Failures {
    pub(super) fn of(group: &TaskGroup) -> Self {
        let attempts = &group.attempts;
        let mut failures = Self::default();
        for row in 0..attempts.len() {
            let time = attempts.run_time(row).unwrap_or_default();
            failures.spent = failures.spent + time;
            match attempts.outcome(row) {
                Outcome::Succeeded => failures.succeeded += 1,
                Outcome::Failed => {
                    failures.failed += 1;
                    failures.lost = failures.lost + time;
                    let reason = attempts.end_reason(row).unwrap_or(EndReason::Other);
                    if let Some(count) = failures.reasons.get_mut(reason as usize) {
                        *count += 1;
                    }
                }
                Outcome::Killed | Outcome::Unfinished => {}
            }
        }
        failures
    }

    /// Those of one stage attempt; none where the log shows no task of it.
    pub(super) fn of_stage(app: &Application, stage: &Stage) -> Self {
        stage.group.and_then(|group| app.groups.get(group)).map(Self::of).unwrap_or_default()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.lost = self.lost + other.lost;
        self.spent = self.spent + other.spent;
        for (count, more) in self.reasons.iter_mut().zip(other.reasons) {
            *count += more;
        }
    }

    /// Failed over failed and succeeded; 0 where there are neither.
    pub(super) fn rate(&self) -> f64 {
        self.failed as f64 / (self.failed + self.succeeded).max(1) as f64
    }

    /// The most common reason, of equals the first.
    fn reason(&self) -> Option<EndReason> {
        let counted = EndReason::ALL.into_iter().zip(self.reasons).rev().filter(|(_, count)| *count > 0);
        counted.max_by_key(|(_, count)| *count).map(|(reason, _)| reason)
    }

    /// What to do about the most common reason.
    pub(super) fn advice(&self, app: &Application, spark: &Spark) -> String {
        let key = memory::heap_key(app, spark);
        let heap = memory::heap(app, key);
        let larger = format!("{}m", (heap.get() / 2 * 3) / Bytes::PER_MIB);
        match self.reason() {
            None => "no attempt failed: raise the lowest cut-off of task_failure_rate above 0".to_owned(),
            Some(EndReason::OutOfMemory) => {
                format!("most attempts ran out of memory: {}", conf_line(app, key, larger))
            }
            Some(EndReason::ContainerOverMemory) => {
                let fifth = (heap.whole_mib() / 5).max(768);
                let line = conf_line(app, ConfKey::ExecutorMemoryOverhead, format!("{fifth}m"));
                format!("most attempts died with containers that used more memory than asked for: {line}")
            }
            Some(EndReason::FetchFailed) => format!(
                "most attempts could not fetch shuffle data, as executors were gone: keep it apart from them with {}, \
                 and see why they were lost",
                conf_line(app, ConfKey::ShuffleService, true)
            ),
            Some(EndReason::ExecutorLost) => format!(
                "most attempts were lost with their executors: see why those went; where memory was the reason, {}",
                conf_line(
                    app,
                    ConfKey::ExecutorMemoryOverhead,
                    format!("{}m", (heap.whole_mib() / 5).max(768))
                )
            ),
            _ => format!(
                "see the exceptions of the failed attempts; each attempt less saves time where they always fail: {}",
                conf_line(app, ConfKey::TaskMaxFailures, 2)
            ),
        }
    }
}

/// The stage as messages name it: `stage 3.0 (count at App.scala:10)`.
pub(super) fn stage_name(stage: &Stage) -> String {
    const LONGEST: usize = 40;
    let name = stage.name.as_deref().map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
    match name.filter(|name| !name.is_empty()) {
        Some(name) if name.chars().count() > LONGEST => {
            format!("stage {} ({}…)", stage.id, name.chars().take(LONGEST - 1).collect::<String>().trim_end())
        }
        Some(name) => format!("stage {} ({name})", stage.id),
        None => format!("stage {}", stage.id),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::model::spark::StageAttempt;

    #[test]
    fn killed_attempts_are_no_failures() {
        let mut app = sample::app(&[]);
        let attempts = [
            (Outcome::Succeeded, 10),
            (Outcome::Failed, 5),
            (Outcome::Killed, 7),
            (Outcome::Failed, 1),
            (Outcome::Unfinished, -1),
        ];
        sample::stage(&mut app, 0, &attempts);
        let failures = Failures::of(&app.groups[0]);
        assert_eq!((failures.succeeded, failures.failed), (1, 2));
        assert_eq!((failures.lost, failures.spent), (Millis::new(6), Millis::new(23)));
        assert!((failures.rate() - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(failures.reason(), Some(EndReason::Exception));
        assert!(Failures::default().rate() < 1e-12);
    }

    #[test]
    fn long_names_are_cut() {
        let mut stage = Stage::new(StageAttempt { stage: 3, attempt: 0 });
        assert_eq!(stage_name(&stage), "stage 3.0");
        stage.name = Some("count at  App.scala:10".to_owned());
        assert_eq!(stage_name(&stage), "stage 3.0 (count at App.scala:10)");
        stage.name = Some("$".repeat(50));
        assert_eq!(stage_name(&stage), format!("stage 3.0 ({}…)", "$".repeat(39)));
    }
}
