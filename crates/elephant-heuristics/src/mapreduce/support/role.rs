//! Map tasks and reduce tasks: their names, and the settings of each.

use elephant_model::model::conf::ConfKey;
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::Subject;

/// Map or reduce tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mapreduce) enum Role {
    Map,
    Reduce,
}

impl Role {
    pub(in crate::mapreduce) const fn kind(self) -> TaskKind {
        match self {
            Self::Map => TaskKind::Map,
            Self::Reduce => TaskKind::Reduce,
        }
    }

    pub(in crate::mapreduce) const fn subject(self) -> Subject {
        Subject::Tasks(self.kind().name())
    }

    pub(in crate::mapreduce) const fn memory(self) -> ConfKey {
        match self {
            Self::Map => ConfKey::MapMemoryMb,
            Self::Reduce => ConfKey::ReduceMemoryMb,
        }
    }

    pub(in crate::mapreduce) const fn java_opts(self) -> ConfKey {
        match self {
            Self::Map => ConfKey::MapJavaOpts,
            Self::Reduce => ConfKey::ReduceJavaOpts,
        }
    }

    pub(in crate::mapreduce) const fn speculative(self) -> ConfKey {
        match self {
            Self::Map => ConfKey::MapSpeculative,
            Self::Reduce => ConfKey::ReduceSpeculative,
        }
    }

    /// "1 map task", "20 reduce tasks".
    pub(in crate::mapreduce) fn count(self, tasks: u64) -> String {
        let plural = if tasks == 1 { "" } else { "s" };
        format!("{tasks} {} task{plural}", self.kind().name())
    }

    /// "1 map task reads", "20 reduce tasks read".
    pub(in crate::mapreduce) fn do_what(self, tasks: u64, verb: &str) -> String {
        let singular = if tasks == 1 { "s" } else { "" };
        format!("{} {verb}{singular}", self.count(tasks))
    }

    pub(in crate::mapreduce) const fn plural(self) -> &'static str {
        match self {
            Self::Map => "map tasks",
            Self::Reduce => "reduce tasks",
        }
    }
}
