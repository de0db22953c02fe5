//! What an event log announces but does not contain. Verdicts that depend on it say so.

use elephant_base::limits::{self, Remainder};

/// Much is missing if more than one task in this many has no known end.
const TASKS_PER_LOST_END: u64 = 10;

/// A part of the model that verdicts depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Facet {
    /// Tasks: the log contains the end of all of them.
    Tasks,
    /// Stages: the log contains the end of all that were submitted.
    Stages,
    /// Jobs: the log contains the end of all that were started.
    Jobs,
    /// Executors: all that ran tasks were added, so that their lifetimes and sizes are known.
    Executors,
    /// The end of the application.
    End,
    /// Memory and garbage collection as reported by executors: peaks and cached blocks.
    ExecutorMetrics,
    /// The batches of streams: the log contains the progress of all of them.
    Batches,
}

impl Facet {
    /// All parts.
    pub const ALL: [Self; 7] = [
        Self::Tasks,
        Self::Stages,
        Self::Jobs,
        Self::Executors,
        Self::End,
        Self::ExecutorMetrics,
        Self::Batches,
    ];

    /// Whether it concerns the work of the application, and not only its resources and its end.
    #[must_use]
    #[doc(hidden)]
    pub const fn is_work(self) -> bool {
        matches!(self, Self::Tasks | Self::Stages | Self::Jobs)
    }
}

/// How much of an event log is missing, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Gaps {
    /// Tasks without a known outcome: none of their attempts has an end, or they were announced but never
    /// appear.
    pub tasks: u64,
    /// Attempts without an end whose task another attempt completed.
    pub attempts: u64,
    /// Task counters that cannot be read; the task tables say which.
    pub counters: u64,
    /// Times of tasks that contradict the rest of the log.
    pub times: u64,
    /// Executor peaks and sizes of cached blocks that cannot be read.
    pub executor_metrics: u64,
    /// Whether a limit left out cached blocks.
    pub blocks_beyond_limit: bool,
    /// Whether the log is truncated after the application's end, where no verdict depends on it.
    pub truncated_after_end: bool,
    /// Task ends without a start.
    pub starts: u64,
    /// Stage attempts without an end, or without a start.
    pub stages: u64,
    /// Jobs without an end, or without a start.
    pub jobs: u64,
    /// SQL executions without a start, or without an end although they ended.
    pub queries: u64,
    /// Batches of streams without progress, between two that have it.
    pub batches: u64,
    /// Executors that ran tasks but were never added, or whose removal is only partly logged.
    pub executors: u64,
    /// Whether the application's start is missing.
    pub beginning: bool,
    /// Whether the application's end is missing.
    pub end: bool,
    /// Whether the configuration is missing.
    pub configuration: bool,
    /// Whether a history server's compaction dropped the tasks of finished jobs.
    pub compacted: bool,
    /// How much was read, if a limit was reached.
    pub limit: Option<Remainder>,
    /// Unreadable lines and missing parts, which may have contained anything.
    pub unreadable: u64,
    /// Whether whole parts are among them.
    pub missing_parts: bool,
}

#[doc(hidden)]
impl Gaps {
    /// Whether nothing is missing.
    #[must_use]
    pub fn none(&self) -> bool {
        *self == Self::default()
    }

    /// Why so much of `tasks` is missing that the whole could show the opposite, in words to follow
    /// "because": everything after some point, whole parts, or the ends of more than a tenth of the tasks.
    #[must_use]
    pub(crate) fn much(&self, tasks: u64) -> Option<String> {
        let is_much = self.end
            || self.compacted
            || self.missing_parts
            || self.tasks.saturating_mul(TASKS_PER_LOST_END) > tasks
            || self.limit.is_some_and(|limit| limit.cuts_off());
        is_much.then(|| self.reason(&[Facet::Tasks, Facet::End]))?
    }

    /// Whether the log tells when each task ran, and on which executor, whatever else is missing.
    #[must_use]
    pub fn leave_schedule(&self) -> bool {
        let needed = [Facet::Tasks, Facet::Stages, Facet::Jobs, Facet::Executors, Facet::End];
        let is_whole = self.attempts == 0 && self.starts == 0 && self.counters == 0 && !self.beginning;
        is_whole && self.reason(&needed).is_none()
    }

    /// Why a result that depends on `facets` is partial, in words to follow "because"; `None` if nothing of
    /// it is missing.
    #[must_use]
    pub fn reason(&self, facets: &[Facet]) -> Option<String> {
        // If a limit was reached, most other gaps are its consequence.
        if let Some(limit) = self.limit.filter(|_| !facets.is_empty()) {
            return Some(limit.to_string());
        }
        let reasons: Vec<_> = self
            .of_tasks()
            .into_iter()
            .chain(self.of_parts())
            .filter(|(of, _)| of.iter().any(|facet| facets.contains(facet)))
            .filter_map(|(_, text)| text)
            .collect();
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }
}

/// What is missing, by what depends on it.
type Missing = (&'static [Facet], Option<String>);

fn counted(count: u64, one: &str, many: &str) -> Option<String> {
    (count > 0).then(|| plural(count, one, many))
}

fn flagged(is_so: bool, text: &str) -> Option<String> {
    is_so.then(|| text.to_owned())
}

impl Gaps {
    fn of_tasks(&self) -> [Missing; 6] {
        [
            (
                &Facet::ALL,
                counted(
                    self.unreadable,
                    "line or part of the log was lost",
                    "lines or parts of the log were lost",
                ),
            ),
            (
                &[Facet::Tasks, Facet::Stages, Facet::Jobs],
                flagged(self.compacted, "compaction dropped the tasks of finished jobs"),
            ),
            (&[Facet::Tasks], counted(self.tasks, "task has no known end", "tasks have no known end")),
            (
                &[Facet::Tasks],
                counted(self.times, "time of a task cannot be right", "times of tasks cannot be right"),
            ),
            (
                &[Facet::ExecutorMetrics],
                counted(
                    self.executor_metrics,
                    "executor metric cannot be read",
                    "executor metrics cannot be read",
                ),
            ),
            (
                &[Facet::ExecutorMetrics],
                self.blocks_beyond_limit
                    .then(|| format!("{} dropped some of the cached blocks", limits::TASKS)),
            ),
        ]
    }

    fn of_parts(&self) -> [Missing; 6] {
        [
            (
                &[Facet::Stages],
                counted(self.stages, "stage is only partly logged", "stages are only partly logged"),
            ),
            (&[Facet::Jobs], counted(self.jobs, "job is only partly logged", "jobs are only partly logged")),
            (
                &[Facet::Executors],
                counted(self.executors, "executor is only partly logged", "executors are only partly logged"),
            ),
            (
                &[Facet::Batches],
                counted(
                    self.batches,
                    "batch of a stream is not in the log",
                    "batches of streams are not in the log",
                ),
            ),
            (&[Facet::End], flagged(self.end, "the log ends before the application does")),
            (&[Facet::Executors, Facet::End], flagged(self.configuration, "the configuration is missing")),
        ]
    }

    /// Why the log is incomplete, whatever depends on it; `None` if nothing is missing.
    #[must_use]
    pub(crate) fn why(&self) -> Option<String> {
        // No verdict depends on these alone.
        let rest = [
            self.beginning.then(|| "the start of the application is missing".to_owned()),
            (self.attempts > 0)
                .then(|| plural(self.attempts, "attempt has no known end", "attempts have no known end")),
            (self.starts > 0).then(|| plural(self.starts, "task has no start", "tasks have no start")),
            (self.queries > 0).then(|| {
                plural(
                    self.queries,
                    "SQL execution is only partly logged",
                    "SQL executions are only partly logged",
                )
            }),
            (self.counters > 0).then(|| {
                plural(self.counters, "task counter cannot be read", "task counters cannot be read")
            }),
            self.truncated_after_end.then(|| "the log is truncated after the application's end".to_owned()),
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
    fn much_is_missing_after_a_point_or_of_many_tasks() {
        let lost = |tasks| Gaps { tasks, ..Gaps::default() };
        assert_eq!((Gaps::default().much(0), lost(1).much(10), lost(100).much(1000)), (None, None, None));
        assert_eq!(lost(2).much(19).as_deref(), Some("2 tasks have no known end"));
        let part = Gaps { unreadable: 1, ..Gaps::default() };
        assert_eq!(part.much(10), None, "a line is not much");
        let line = Remainder { option: limits::LINE, kept: 1, announced: None };
        assert_eq!(Gaps { limit: Some(line), ..Gaps::default() }.much(10), None);
        let limit = Remainder { option: limits::TASKS, ..line };
        for (gaps, why) in [
            (Gaps { missing_parts: true, ..part }, "1 line or part of the log was lost"),
            (Gaps { end: true, ..Gaps::default() }, "the log ends before the application does"),
            (Gaps { compacted: true, ..Gaps::default() }, "compaction dropped the tasks of finished jobs"),
            (Gaps { limit: Some(limit), ..Gaps::default() }, "--max-tasks kept only part of the log: 1 task"),
        ] {
            assert_eq!(gaps.much(10).as_deref(), Some(why));
        }
    }

    #[test]
    fn queries_and_memory_are_no_part_of_the_schedule() {
        for (gaps, leave) in [
            (Gaps { queries: 1, ..Gaps::default() }, true),
            (Gaps { executor_metrics: 1, truncated_after_end: true, ..Gaps::default() }, true),
            (Gaps { tasks: 1, ..Gaps::default() }, false),
            (Gaps { attempts: 1, ..Gaps::default() }, false),
            (Gaps { beginning: true, ..Gaps::default() }, false),
            (Gaps { configuration: true, ..Gaps::default() }, false),
            (Gaps { unreadable: 1, ..Gaps::default() }, false),
        ] {
            assert_eq!(gaps.leave_schedule(), leave, "{gaps:?}");
        }
    }

    #[test]
    fn every_gap_has_a_reason() {
        assert_eq!(Gaps::default().why(), None);
        let why = |gaps: Gaps| gaps.why().unwrap();
        let limit = Remainder { option: "--max-tasks", kept: 1, announced: Some(3) };
        for (gaps, wanted) in [
            (Gaps { tasks: 1, attempts: 1, ..Gaps::default() }, "1 task has no known end"),
            (Gaps { attempts: 1, ..Gaps::default() }, "1 attempt has no known end"),
            (Gaps { starts: 2, ..Gaps::default() }, "2 tasks have no start"),
            (Gaps { times: 1, ..Gaps::default() }, "1 time of a task cannot be right"),
            (Gaps { queries: 1, ..Gaps::default() }, "1 SQL execution is only partly logged"),
            (Gaps { counters: 1, ..Gaps::default() }, "1 task counter cannot be read"),
            (Gaps { executor_metrics: 2, ..Gaps::default() }, "2 executor metrics cannot be read"),
            (
                Gaps { blocks_beyond_limit: true, ..Gaps::default() },
                "--max-tasks dropped some of the cached blocks",
            ),
            (
                Gaps { truncated_after_end: true, ..Gaps::default() },
                "the log is truncated after the application's end",
            ),
            (Gaps { beginning: true, ..Gaps::default() }, "the start of the application is missing"),
            (Gaps { end: true, ..Gaps::default() }, "the log ends before the application does"),
            (Gaps { configuration: true, ..Gaps::default() }, "the configuration is missing"),
            (Gaps { limit: Some(limit), end: true, ..Gaps::default() }, "--max-tasks kept 1 of 3 tasks"),
        ] {
            assert_eq!(why(gaps), wanted);
            assert!(!gaps.none());
        }
    }
}
