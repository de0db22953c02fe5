//! Lines that tell a failure without an exception: killed containers, lost executors, exit codes.

use std::sync::LazyLock;

use regex::Regex;

use super::layout::{Level, Stripped};

/// What such lines have at least one of. Lines of low level need one; of errors, every line counts.
static TRIGGERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const WORDS: &str = "Container killed|Container marked as failed|Container exited|Container \\[|Container from a bad node|\
        container-launch|beyond (the ')?(physical|virtual|PHYSICAL|VIRTUAL)|exceeding (physical |virtual )?memory|OOMKilled|\
        Lost executor|ExecutorLostFailure|Executor heartbeat|unable to send heartbeats|FetchFailed|No space left on device|\
        Java heap space|GC overhead|OutOfMemoryError|Could not execute broadcast|maxResultSize|finished with failed status|\
        Process exited with code|exited with code|exitCode: |Exit code is |preempted|decommission|killed by user|Killed by user|\
        Permission denied|Access denied|already exists|Job aborted|Could not load native|reverting partial writes|\
        Assuming connection is dead|CREATE EXTERNAL TABLE must|required privilege is|Kill job|out of sync";
    Regex::new(WORDS).ok()
});

/// How much a line may tell of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// It counts if it has a kind.
    IfClassified,
    /// It counts in any case: the program calls it an error.
    Always,
}

/// Whether the line may tell a failure.
pub(crate) fn weight(line: &Stripped<'_>) -> Option<Weight> {
    if line.level == Some(Level::Error) {
        return Some(Weight::Always);
    }
    // Most lines of a log are of low level: only one that has a mark is classified.
    let has_mark = || TRIGGERS.as_ref().is_some_and(|triggers| triggers.is_match(line.message));
    has_mark().then_some(Weight::IfClassified)
}
