//! Logs that are read beside histories, so that parts that are merged can be asked whether they have read them together.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::gathered::{HistoryRead, Unfit};
use crate::results::SourceProblem;
use elephant_base::state::State;
use elephant_gc_log::Owner;
use elephant_input::inventory::by_bytes;

/// A log that is read beside histories.
#[derive(State)]
pub(in crate::engine) struct Beside {
    pub(in crate::engine) path: PathBuf,
    pub(in crate::engine) kind: BesideKind,
    /// The applications that it is of, as [`Owner::key_of`] writes them.
    pub(in crate::engine) applications: Vec<String>,
    pub(in crate::engine) fate: Fate,
}

/// What a log is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub(in crate::engine) enum BesideKind {
    Collector,
    Process,
}

/// What became of a log.
#[derive(State)]
pub(in crate::engine) enum Fate {
    /// It was read with the history of its application.
    Joined,
    /// It was not, and something else tells that, or a filter may have left out its application.
    Passed,
    /// It was not, which is counted, and told if the user named it.
    Unmatched(Option<SourceProblem>),
}

impl BesideKind {
    const fn text(self) -> &'static str {
        match self {
            Self::Collector => "GC log",
            Self::Process => "log",
        }
    }
}

impl Beside {
    /// The problem that tells it.
    pub(super) const fn told(&self) -> Option<&SourceProblem> {
        match &self.fate {
            Fate::Unmatched(told) => told.as_ref(),
            Fate::Joined | Fate::Passed => None,
        }
    }
}

/// Sorts the logs of all parts by path, if each is in one part, which has also read the histories that it belongs to.
pub(super) fn merge<T>(
    histories: &[(usize, HistoryRead<'_, T>)],
    mut all: Vec<(usize, Beside)>,
) -> Result<Vec<Beside>, Unfit> {
    all.sort_by(|(_, a), (_, b)| by_bytes(&a.path, &b.path));
    for ((one, a), (other, b)) in all.iter().zip(all.iter().skip(1)) {
        if one != other && a.path == b.path {
            return Err(Unfit::Overlap {
                history: a.path.clone(),
                parts: [*one.min(other), *one.max(other)],
            });
        }
    }
    let mut of: BTreeMap<&str, Vec<(usize, &Beside)>> = BTreeMap::new();
    for (place, log) in &all {
        for application in &log.applications {
            of.entry(application).or_default().push((*place, log));
        }
    }
    for (place, history) in histories {
        let logs = history.ids().filter_map(|id| of.get(Owner::key_of(id))).flatten();
        if let Some((other, log)) = logs.into_iter().find(|(other, _)| other != place) {
            return Err(Unfit::Apart {
                history: history.path().to_path_buf(),
                what: log.kind.text(),
                file: log.path.clone(),
                parts: [*place, *other],
            });
        }
    }
    Ok(all.into_iter().map(|(_, log)| log).collect())
}
