//! Leaves out copies of histories.

use super::{DUPLICATE, Visit, Visited};
use crate::engine::copies::counted;
use crate::results::SourceProblem;
use elephant_parse::{Level, Problem};

impl<T> Visited<T> {
    /// Removes copies of histories, in another folder, format or compression. The most complete one stays, the first by
    /// path among equal ones; each removed one is reported as a problem.
    #[must_use]
    pub fn distinct(mut self) -> Self {
        self.take_copies();
        self
    }

    /// The same as [`Self::distinct`]; returns what was removed.
    pub(in crate::engine) fn take_copies(&mut self) -> Vec<Visit<T>> {
        let counted = counted(self.applications.iter().map(|visit| &*visit.copy));
        let source = |visit: &Visit<T>| visit.sources.first().cloned().unwrap_or_default();
        let names: Vec<String> = self.applications.iter().map(source).collect();
        let mut own = 0..;
        let mut counted = counted.into_iter();
        self.leave_out_copies(|_| {
            let (own, counted) = (own.next()?, counted.next()?);
            (counted != own).then(|| format!("in {}", names.get(counted).map_or("", String::as_str)))
        })
    }

    /// Removes the applications for which `elsewhere` says where the copy is that counts, and returns them.
    pub(in crate::engine) fn leave_out_copies(
        &mut self,
        mut elsewhere: impl FnMut(&Visit<T>) -> Option<String>,
    ) -> Vec<Visit<T>> {
        let problems = &mut self.problems;
        let is_copy = |visit: &mut Visit<T>| {
            let Some(place) = elsewhere(visit) else { return false };
            let message = format!("{} is also {place}; it is counted once", visit.id);
            let problem =
                Problem { level: Level::Info, code: DUPLICATE.into(), position: None, message, count: 1 };
            let source = visit.sources.first().cloned().unwrap_or_default();
            problems.push(SourceProblem { source, problem });
            true
        };
        let copies: Vec<_> = self.applications.extract_if(.., is_copy).collect();
        let removed = copies.len() as u64;
        self.summary.applications = self.summary.applications.saturating_sub(removed);
        self.summary.copies += removed;
        copies
    }
}
