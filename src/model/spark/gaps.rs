//! What a log announces and does not deliver. Verdicts that rest on it say so.

use crate::limits::{self, Remainder};

/// Where fewer tasks than these are there for each that has no known end, much is missing.
const TASKS_PER_LOST_END: u64 = 10;

/// A part of the model that verdicts rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Facet {
    /// Tasks: all ran to an end that the log tells.
    Tasks,
    /// Stages: all that were submitted have an end.
    Stages,
    /// Jobs: all that were started have an end.
    Jobs,
    /// Executors: all that ran tasks were added, so that their lives and sizes are known.
    Executors,
    /// The end of the application.
    End,
    /// What executors report of their memory and collections: peaks and cached blocks.
    ExecutorMetrics,
}

impl Facet {
    /// All parts.
    pub const ALL: [Self; 6] =
        [Self::Tasks, Self::Stages, Self::Jobs, Self::Executors, Self::End, Self::ExecutorMetrics];

    /// Whether it is about what the application did, and not only about what it had and how it ended.
    #[must_use]
    pub const fn is_work(self) -> bool {
        matches!(self, Self::Tasks | Self::Stages | Self::Jobs)
    }
}

/// How much is missing, by what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools)] // facts that do not depend on each other
pub struct Gaps {
    /// Tasks without a known outcome: no attempt of theirs has an end, or none is shown although announced.
    pub tasks: u64,
    /// Attempts without an end whose task was done by another attempt.
    pub attempts: u64,
    /// Counters of tasks that cannot be read: the task tables say which.
    pub counters: u64,
    /// Peaks of executors and sizes of cached blocks that cannot be read.
    pub executor_metrics: u64,
    /// Whether a limit has left out cached blocks.
    pub blocks_beyond_limit: bool,
    /// Whether the log breaks off behind the application's end, where nothing is that verdicts rest on.
    pub cut_behind_the_end: bool,
    /// Ends of tasks whose start is missing.
    pub starts: u64,
    /// Stage attempts without an end, or without a beginning.
    pub stages: u64,
    /// Jobs without an end, or without a beginning.
    pub jobs: u64,
    /// Executors that ran tasks and were never added, or whose removal is told in part.
    pub executors: u64,
    /// Whether the application's beginning is missing.
    pub beginning: bool,
    /// Whether the application's end is missing.
    pub end: bool,
    /// Whether the configuration is missing.
    pub configuration: bool,
    /// Whether a history server's compaction has dropped the tasks of finished jobs.
    pub compacted: bool,
    /// What a limit has left, where one was reached.
    pub limit: Option<Remainder>,
    /// Lines that could not be read, or whole parts that are missing: anything may have been in them.
    pub unread: u64,
    /// Whether whole parts are among them.
    pub missing_parts: bool,
}

impl Gaps {
    /// Whether nothing is missing.
    #[must_use]
    pub fn none(&self) -> bool {
        *self == Self::default()
    }

    /// Why the opposite of what is shown could be true of the whole, of so many tasks, in words to follow "because": what
    /// is missing is all behind some point, whole parts, or the ends of more than a tenth of the tasks.
    #[must_use]
    pub fn much(&self, tasks: u64) -> Option<String> {
        let is_much = self.end
            || self.compacted
            || self.missing_parts
            || self.tasks.saturating_mul(TASKS_PER_LOST_END) > tasks
            || self.limit.is_some_and(|limit| limit.cuts_off());
        is_much.then(|| self.reason(&[Facet::Tasks, Facet::End]))?
    }

    /// Why what rests on `facets` is partial, in words to follow "because"; `None` where nothing of it is missing.
    #[must_use]
    pub fn reason(&self, facets: &[Facet]) -> Option<String> {
        // Most of what is missing behind a limit is missing because of it.
        if let Some(limit) = self.limit.filter(|_| !facets.is_empty()) {
            return Some(limit.to_string());
        }
        let counted = |count: u64, one, many| (count > 0).then(|| plural(count, one, many));
        let told = |is_so: bool, text: &str| is_so.then(|| text.to_owned());
        let missing: [(&[Facet], Option<String>); 10] = [
            (
                &Facet::ALL,
                counted(
                    self.unread,
                    "line or part of the log was lost",
                    "lines or parts of the log were lost",
                ),
            ),
            (
                &[Facet::Tasks, Facet::Stages, Facet::Jobs],
                told(self.compacted, "compaction dropped the tasks of finished jobs"),
            ),
            (&[Facet::Tasks], counted(self.tasks, "task has no known end", "tasks have no known end")),
            (
                &[Facet::ExecutorMetrics],
                counted(
                    self.executor_metrics,
                    "number of an executor cannot be read",
                    "numbers of executors cannot be read",
                ),
            ),
            (
                &[Facet::ExecutorMetrics],
                self.blocks_beyond_limit
                    .then(|| format!("{} left a part of the cached blocks", limits::TASKS)),
            ),
            (&[Facet::Stages], counted(self.stages, "stage is told in part", "stages are told in part")),
            (&[Facet::Jobs], counted(self.jobs, "job is told in part", "jobs are told in part")),
            (
                &[Facet::Executors],
                counted(self.executors, "executor is told in part", "executors are told in part"),
            ),
            (&[Facet::End], told(self.end, "the log ends before the application does")),
            (&[Facet::Executors, Facet::End], told(self.configuration, "the configuration is missing")),
        ];
        let reasons: Vec<_> = missing
            .into_iter()
            .filter(|(of, _)| of.iter().any(|facet| facets.contains(facet)))
            .filter_map(|(_, text)| text)
            .collect();
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }
}

impl Gaps {
    /// Why the log is incomplete, whatever rests on it; `None` where nothing is missing.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        // No verdict rests on these alone.
        let rest = [
            self.beginning.then(|| "the beginning of the application is missing".to_owned()),
            (self.attempts > 0)
                .then(|| plural(self.attempts, "attempt has no known end", "attempts have no known end")),
            (self.starts > 0).then(|| plural(self.starts, "task has no start", "tasks have no start")),
            (self.counters > 0).then(|| {
                plural(self.counters, "counter of a task cannot be read", "counters of tasks cannot be read")
            }),
            self.cut_behind_the_end.then(|| "the log breaks off behind the application's end".to_owned()),
        ];
        let rest = || rest.into_iter().flatten().collect::<Vec<_>>().join(", ");
        (!self.none()).then(|| self.reason(&Facet::ALL).unwrap_or_else(rest)).filter(|why| !why.is_empty())
    }
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_is_missing_behind_a_point_or_of_many_tasks() {
        let lost = |tasks| Gaps { tasks, ..Gaps::default() };
        assert_eq!((Gaps::default().much(0), lost(1).much(10), lost(100).much(1000)), (None, None, None));
        assert_eq!(lost(2).much(19).as_deref(), Some("2 tasks have no known end"));
        let part = Gaps { unread: 1, ..Gaps::default() };
        assert_eq!(part.much(10), None, "a line is not much");
        let line = Remainder { option: limits::LINE, kept: 1, announced: None };
        assert_eq!(Gaps { limit: Some(line), ..Gaps::default() }.much(10), None);
        let limit = Remainder { option: limits::TASKS, ..line };
        for (gaps, why) in [
            (Gaps { missing_parts: true, ..part }, "1 line or part of the log was lost"),
            (Gaps { end: true, ..Gaps::default() }, "the log ends before the application does"),
            (Gaps { compacted: true, ..Gaps::default() }, "compaction dropped the tasks of finished jobs"),
            (
                Gaps { limit: Some(limit), ..Gaps::default() },
                "--max-tasks kept only part of the log: 1 task",
            ),
        ] {
            assert_eq!(gaps.much(10).as_deref(), Some(why));
        }
    }

    #[test]
    fn whatever_is_missing_has_a_reason() {
        assert_eq!(Gaps::default().why(), None);
        let why = |gaps: Gaps| gaps.why().unwrap();
        let limit = Remainder { option: "--max-tasks", kept: 1, announced: Some(3) };
        for (gaps, wanted) in [
            (Gaps { tasks: 1, attempts: 1, ..Gaps::default() }, "1 task has no known end"),
            (Gaps { attempts: 1, ..Gaps::default() }, "1 attempt has no known end"),
            (Gaps { starts: 2, ..Gaps::default() }, "2 tasks have no start"),
            (Gaps { counters: 1, ..Gaps::default() }, "1 counter of a task cannot be read"),
            (Gaps { executor_metrics: 2, ..Gaps::default() }, "2 numbers of executors cannot be read"),
            (
                Gaps { blocks_beyond_limit: true, ..Gaps::default() },
                "--max-tasks left a part of the cached blocks",
            ),
            (
                Gaps { cut_behind_the_end: true, ..Gaps::default() },
                "the log breaks off behind the application's end",
            ),
            (Gaps { beginning: true, ..Gaps::default() }, "the beginning of the application is missing"),
            (Gaps { end: true, ..Gaps::default() }, "the log ends before the application does"),
            (Gaps { configuration: true, ..Gaps::default() }, "the configuration is missing"),
            (Gaps { limit: Some(limit), end: true, ..Gaps::default() }, "--max-tasks kept 1 of 3 tasks"),
        ] {
            assert_eq!(why(gaps), wanted);
            assert!(!gaps.none());
        }
    }
}
