//! Applications that are rendered while others are read, so that a report on many of them needs little memory: only their
//! ranks are kept. The rendered pieces go to a temporary file once they are large, and are written in rank order.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use rustc_hash::FxHashMap;

use super::rank::Place;
use super::visit::Turn;
use crate::results::{ApplicationReport, JobGroup, JobTotal, Leading};
use elephant_base::severity::Severity;
use elephant_base::units::MbMillis;

/// Pieces of this many bytes together are moved to the temporary file.
const MOST_HELD: usize = 4 << 20;

/// Renders one application.
pub type Render<'a> = &'a (dyn Fn(&ApplicationReport) -> io::Result<Vec<u8>> + Sync);

/// The rendered applications of a report.
#[derive(Default)]
pub struct Pieces {
    ranks: Vec<(Rank, JobGroup, Extent)>,
    /// Whether the pieces are in the order of the report already.
    is_sorted: bool,
    /// The end of the pieces: all of them, or those after the temporary file.
    held: Vec<u8>,
    /// Where `held` starts.
    stored: u64,
    file: FileState,
    failure: Option<io::Error>,
}

#[derive(Default)]
enum FileState {
    #[default]
    NotNeeded,
    Used(File),
    /// It could not be made or written, so the rest is held in memory.
    Failed(Option<File>),
}

/// The sort key of an application that is no longer in memory, as in [`Place`].
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    leading: Leading,
    severity: Reverse<Severity>,
    score: Reverse<u64>,
    wasted: Reverse<Option<MbMillis>>,
    names: Box<str>,
    turn: Turn,
}

#[derive(Debug, Clone, Copy)]
struct Extent {
    start: u64,
    len: usize,
}

impl Rank {
    pub(super) fn of(app: &ApplicationReport, turn: Turn) -> Self {
        let place @ Place { leading, severity, score, wasted, .. } = Place::of(app);
        let names = place.names().into_boxed_str();
        Self {
            leading: leading.clone(),
            severity: Reverse(severity),
            score: Reverse(score),
            wasted: Reverse(wasted),
            names,
            turn,
        }
    }
}

impl Pieces {
    /// Renders applications that are in the order of the report.
    ///
    /// # Errors
    /// The first error of `render`.
    pub fn in_order(
        applications: &[ApplicationReport],
        render: impl Fn(&ApplicationReport) -> io::Result<Vec<u8>>,
    ) -> io::Result<Self> {
        let mut pieces = Self::default();
        for app in applications {
            let turn = Turn::default();
            pieces.add(Rank::of(app, turn), JobGroup::of(app), Ok(render(app)?));
        }
        Ok(Self { is_sorted: true, ..pieces })
    }

    /// The number of applications.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Whether there are no applications.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// Adds an application, in any order.
    pub(super) fn add(&mut self, rank: Rank, group: JobGroup, piece: io::Result<Vec<u8>>) {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                self.failure.get_or_insert(error);
                return;
            }
        };
        let start = self.stored + self.held.len() as u64;
        self.ranks.push((rank, group, Extent { start, len: piece.len() }));
        self.held.extend_from_slice(&piece);
        if self.held.len() >= MOST_HELD {
            self.store();
        }
    }

    /// Moves the pieces held to the temporary file. If that fails, they stay in memory.
    fn store(&mut self) {
        let file = std::mem::take(&mut self.file);
        let stored = match file {
            FileState::Failed(_) => {
                self.file = file;
                return;
            }
            FileState::NotNeeded => tempfile::tempfile().map_err(|error| (None, error)),
            FileState::Used(file) => Ok(file),
        };
        let stored = stored.and_then(|mut file| match file.write_all(&self.held) {
            Ok(()) => Ok(file),
            Err(error) => Err((Some(file), error)),
        });
        match stored {
            Ok(file) => {
                self.stored += self.held.len() as u64;
                self.held.clear();
                self.file = FileState::Used(file);
            }
            Err((file, error)) => {
                let folder = std::env::temp_dir();
                log::warn!(
                    "no temporary file in {}: {error}; the report is held in memory",
                    folder.display()
                );
                self.file = FileState::Failed(file);
            }
        }
    }

    /// Passes all pieces to `take`, worst application first. Formats that show one thing of all applications, then
    /// another, pass several times.
    ///
    /// # Errors
    /// The first error of rendering, of the temporary file, or of `take`.
    pub fn each(&mut self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if !self.is_sorted {
            self.ranks.sort_unstable_by(|(a, ..), (b, ..)| a.cmp(b));
            self.is_sorted = true;
        }
        self.pass(|_, piece| take(piece))
    }

    /// Passes all pieces to `take` with the place of their job in `jobs`: the runs of the first job, worst first, then
    /// those of the next.
    ///
    /// # Errors
    /// As for [`each`](Self::each).
    pub fn each_by_job(
        mut self,
        jobs: &[JobTotal],
        mut take: impl FnMut(usize, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let places: FxHashMap<JobGroup, usize> =
            jobs.iter().enumerate().map(|(place, job)| (job.group, place)).collect();
        let place = |group: &JobGroup| places.get(group).copied().unwrap_or(usize::MAX);
        self.ranks.sort_unstable_by(|(a, of_a, _), (b, of_b, _)| {
            place(of_a).cmp(&place(of_b)).then_with(|| a.cmp(b))
        });
        self.pass(|group, piece| take(place(group), piece))
    }

    fn pass(&mut self, mut take: impl FnMut(&JobGroup, &[u8]) -> io::Result<()>) -> io::Result<()> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let mut file = match &mut self.file {
            FileState::NotNeeded => None,
            FileState::Used(file) => Some(file),
            FileState::Failed(file) => file.as_mut(),
        };
        let mut piece = Vec::new();
        for (_, group, Extent { start, len }) in &self.ranks {
            if let Some(from) = start.checked_sub(self.stored) {
                let from = usize::try_from(from).unwrap_or(usize::MAX);
                let held = self.held.get(from..from.saturating_add(*len));
                take(group, held.ok_or(io::ErrorKind::UnexpectedEof)?)?;
            } else {
                let file = file.as_mut().ok_or(io::ErrorKind::NotFound)?;
                piece.resize(*len, 0);
                file.seek(SeekFrom::Start(*start))?;
                file.read_exact(&mut piece)?;
                take(group, &piece)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn app(score: u64, id: usize) -> ApplicationReport {
        ApplicationReport { score, sources: vec![format!("f{id}")], ..ApplicationReport::blank("a") }
    }

    fn written(mut pieces: Pieces) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        pieces
            .each(|piece| {
                all.push(piece.to_vec());
                Ok(())
            })
            .unwrap();
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]

        #[test]
        fn pieces_come_worst_first_whether_they_were_stored_or_not(
            scores in prop::collection::vec(0..3u64, 0..12),
            len in prop::sample::select(vec![0, 1, 700_000, MOST_HELD]),
            fails in any::<bool>(),
        ) {
            let mut pieces = Pieces::default();
            if fails {
                pieces.file = FileState::Failed(None);
            }
            let piece = |place: usize| [place.to_string().into_bytes(), vec![b'x'; len]].concat();
            for (place, &score) in scores.iter().enumerate() {
                let app = app(score, place);
                pieces.add(Rank::of(&app, Turn::of_place(place)), JobGroup::of(&app), Ok(piece(place)));
            }
            let mut expected: Vec<_> = scores.iter().enumerate().collect();
            expected.sort_by_key(|&(place, score)| (Reverse(score), format!("f{place}")));
            let expected: Vec<_> = expected.into_iter().map(|(place, _)| piece(place)).collect();
            prop_assert_eq!(fails || len * scores.len() < MOST_HELD, pieces.stored == 0);
            prop_assert!(written(pieces) == expected);
        }
    }

    #[test]
    fn what_could_not_be_stored_stays_in_memory() {
        let mut pieces = Pieces { held: vec![b'x'; MOST_HELD], ..Pieces::default() };
        // A file that was opened for reading refuses to be written, as a full disk does.
        pieces.file = FileState::Used(File::open("Cargo.toml").unwrap());
        let group = JobGroup::of(&app(0, 0));
        pieces.add(Rank::of(&app(0, 0), Turn::of_place(0)), group, Ok(b"abc".to_vec()));
        assert!(matches!(pieces.file, FileState::Failed(_)));
        pieces.add(Rank::of(&app(1, 1), Turn::of_place(1)), group, Ok(b"def".to_vec()));
        assert_eq!(written(pieces), [b"def", b"abc"]);
    }

    #[test]
    fn an_application_that_cannot_be_rendered_is_an_error() {
        let mut pieces = Pieces::default();
        let group = JobGroup::of(&app(0, 0));
        pieces.add(Rank::of(&app(0, 0), Turn::of_place(0)), group, Err(io::Error::other("no")));
        assert_eq!(pieces.each(|_| Ok(())).unwrap_err().to_string(), "no");
    }
}
