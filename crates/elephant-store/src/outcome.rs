//! What became of the files from which no application was recorded.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use elephant_base::limits;
use elephant_engine::engine::{DUPLICATE, SUPERSEDED};
use elephant_engine::results::SourceProblem;
use elephant_parse::Level;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome<'p> {
    /// It was read, though it may be a copy, or of another kind.
    Read,
    /// A limit ended the reading, or left it out.
    LimitReached,
    /// Nothing could be read, for this reason.
    Failed(&'p str),
}

/// The outcomes by file.
pub(super) struct Outcomes<'p> {
    by_file: FxHashMap<&'p Path, Outcome<'p>>,
    read_in_part: &'p FxHashSet<PathBuf>,
}

impl<'p> Outcomes<'p> {
    /// `read_in_part` are the archives from which an application was recorded, and `listed` all files.
    pub(super) fn of(
        problems: &'p [SourceProblem],
        read_in_part: &'p FxHashSet<PathBuf>,
        listed: &FxHashSet<&Path>,
    ) -> Self {
        let mut by_file: FxHashMap<&Path, Outcome<'_>> = FxHashMap::default();
        for SourceProblem { source, problem } in problems {
            let is_error = problem.level == Level::Error;
            let outcome = match &*problem.code {
                limits::REACHED => Outcome::LimitReached,
                DUPLICATE | SUPERSEDED => Outcome::Read,
                _ if is_error => Outcome::Failed(&problem.message),
                _ => continue,
            };
            // A member that was read up to a limit is stored.
            let counts_for_archive = is_error || outcome == Outcome::Read;
            let own = Path::new(source);
            let archive = Some(file_of(listed, source)).filter(|file| *file != own && counts_for_archive);
            for path in archive.into_iter().chain([own]) {
                let known = by_file.entry(path).or_insert(outcome);
                *known = known.with(outcome);
            }
        }
        Self { by_file, read_in_part }
    }

    pub(super) fn of_file(&self, path: &Path) -> Outcome<'p> {
        let outcome = self.by_file.get(path).copied().unwrap_or(Outcome::Read);
        let is_read = matches!(outcome, Outcome::Failed(_)) && self.read_in_part.contains(path);
        if is_read { Outcome::Read } else { outcome }
    }
}

/// The archives that a source may be a member of, and the source itself, the longest first: a name may contain `!` itself.
pub(super) fn candidates(source: &str) -> impl Iterator<Item = &Path> {
    let archives = source.rmatch_indices('!').filter_map(|(at, _)| source.get(..at));
    std::iter::once(source).chain(archives).map(Path::new)
}

/// The file that a source is, or is a member of. If none is listed, it is the source.
pub(super) fn file_of<'s>(listed: &FxHashSet<&Path>, source: &'s str) -> &'s Path {
    candidates(source).find(|file| listed.contains(file)).unwrap_or(Path::new(source))
}

impl Outcome<'_> {
    /// The outcome of a file with two problems: a limit is worth another try, and a failure is only one if nothing was
    /// read. The first failure counts.
    const fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::LimitReached, _) | (_, Self::LimitReached) => Self::LimitReached,
            (Self::Read, _) | (_, Self::Read) => Self::Read,
            (Self::Failed(_), Self::Failed(_)) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_parse::Problem;

    fn problem(source: &str, level: Level, code: &'static str) -> SourceProblem {
        let message = format!("{code} of {source}");
        SourceProblem {
            source: source.to_owned(),
            problem: Problem { level, code, position: None, message, count: 1 },
        }
    }

    #[test]
    fn only_files_of_which_nothing_was_read_have_failed() {
        let problems = [
            problem("copy", Level::Info, DUPLICATE),
            problem("other", Level::Warning, "no-history"),
            problem("bad", Level::Warning, "no-end"),
            problem("bad", Level::Error, "unreadable"),
            problem("large", Level::Warning, limits::REACHED),
            problem("a.zip!bad", Level::Error, "unreadable"),
            problem("b.zip!bad", Level::Error, "unreadable"),
            problem("b.zip!copy", Level::Info, DUPLICATE),
            problem("c.zip!large", Level::Error, limits::REACHED),
            problem("d.zip!cut", Level::Warning, limits::REACHED),
            problem("e.zip", Level::Error, "unreadable"),
            problem("x!y", Level::Error, "unreadable"),
            problem("x!y!z", Level::Error, "unreadable"),
        ];
        let read_in_part = [PathBuf::from("e.zip")].into_iter().collect();
        let listed = ["a.zip", "b.zip", "c.zip", "d.zip", "x", "x!y"].map(Path::new).into_iter().collect();
        let outcomes = Outcomes::of(&problems, &read_in_part, &listed);
        let of = |path: &str| outcomes.of_file(Path::new(path));
        // A file is not a member of another one because its name contains `!`.
        for path in ["copy", "other", "unknown", "b.zip", "d.zip", "e.zip", "x"] {
            assert_eq!(of(path), Outcome::Read, "{path}");
        }
        for path in ["large", "c.zip"] {
            assert_eq!(of(path), Outcome::LimitReached, "{path}");
        }
        assert_eq!(of("bad"), Outcome::Failed("unreadable of bad"));
        assert_eq!(of("a.zip"), Outcome::Failed("unreadable of a.zip!bad"));
        assert_eq!(of("x!y"), Outcome::Failed("unreadable of x!y"));
    }
}
