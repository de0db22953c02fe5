//! The kinds of troubles. A trouble is one root cause in one application; several findings may indicate it.

use elephant_base::state::State;

/// Defines the kinds, with the names for programs and for people.
macro_rules! kinds {
    ($($kind:ident = $name:literal, $words:literal;)*) => {
        /// What is wrong with an application, as finely as remedies differ. In this order, a kind comes before those
        /// that it may cause.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
        pub enum TroubleKind {
            $(#[doc = $words] $kind,)*
        }

        impl TroubleKind {
            /// Every kind.
            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The name in reports that programs read.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// The name for people, to begin a sentence.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(Self::$kind => $words,)* }
            }
        }
    };
}

kinds! {
    Failures = "failures", "Failures";
    Cancelled = "cancelled", "Cancelled";
    Unfinished = "unfinished", "Unfinished";
    DriverTime = "driver-time", "Driver alone";
    Stream = "stream", "Stream behind";
    StreamState = "stream-state", "State of a stream";
    Schema = "schema-inference", "Looking for files and columns";
    Fallback = "engine-fallback", "Engine left";
    Join = "join", "Join";
    Broadcast = "broadcast", "Broadcast";
    Python = "python", "Python functions";
    RepeatedWork = "repeated-work", "Repeated work";
    SmallFiles = "small-files", "Small files";
    Scan = "scan", "Reading too much";
    Rewrite = "rewrite", "Writing rows again";
    Volume = "shuffle-volume", "Moving too much";
    Cache = "cache", "Cache";
    Skew = "skew", "Skew";
    GarbageCollection = "garbage-collection", "Garbage collection";
    Spill = "spill", "Spill";
    FewTasks = "few-tasks", "Too few tasks";
    ManyTasks = "many-tasks", "Too many tasks";
    FewExecutors = "few-executors", "Too few executors";
    Stragglers = "stragglers", "Stragglers";
    Speculation = "speculation", "Speculation";
    Shuffle = "shuffle", "Slow shuffle";
    SlowTasks = "slow-tasks", "Slow tasks";
    LittleMemory = "little-memory", "Too little memory";
    MuchMemory = "much-memory", "Too much memory";
    IdleExecutors = "idle-executors", "Idle executors";
    Waiting = "waiting", "Waiting for resources";
    Driver = "driver", "Driver";
    Imbalance = "imbalance", "Unbalanced executors";
    LongRun = "long-run", "Long run time";
    Settings = "settings", "Settings";
    Cluster = "cluster", "Cluster rules";
    Other = "other", "Other";
}

impl TroubleKind {
    /// Whether it is about what a query does, or what looking for its files takes: another operator, source or order of work
    /// removes it.
    #[must_use]
    #[doc(hidden)]
    pub const fn is_of_queries(self) -> bool {
        matches!(
            self,
            Self::Schema
                | Self::Fallback
                | Self::Join
                | Self::Broadcast
                | Self::Python
                | Self::RepeatedWork
                | Self::SmallFiles
                | Self::Scan
                | Self::Rewrite
                | Self::Volume
                | Self::Cache
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_in_kebab_case() {
        let mut names: Vec<&str> = TroubleKind::ALL.iter().map(|kind| kind.name()).collect();
        assert!(
            names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')),
            "{names:?}"
        );
        assert!(TroubleKind::ALL.iter().all(|kind| kind.words().starts_with(char::is_uppercase)));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TroubleKind::ALL.len());
    }
}
