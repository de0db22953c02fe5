//! Copies of one history: a plain and a compressed one, one in each encoding, one that was copied while the application
//! ran. All commands count one of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use elephant_base::state::State;
use elephant_base::units::Timestamp;
use elephant_model::model::{Application, Engine};

/// What all copies of a run have in common. Ids alone are not unique: two clusters may both have an
/// `application_1_0001`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, State)]
pub struct Run {
    /// The engine.
    pub engine: Engine,
    /// The id of the application.
    pub id: String,
    /// Its attempt.
    pub attempt: Option<String>,
    /// When it was submitted, or else started.
    pub start: Option<Timestamp>,
    /// Its name.
    pub name: Option<String>,
    /// Who submitted it.
    pub user: Option<String>,
}

impl Run {
    /// How many of the facts are unknown that a log contains only after its first events.
    fn unknown(&self) -> usize {
        [self.start.is_none(), self.name.is_none(), self.user.is_none()].into_iter().filter(|it| *it).count()
    }

    /// Whether nothing but its id is known, and maybe its attempt.
    const fn tells_nothing(&self) -> bool {
        self.start.is_none() && self.name.is_none() && self.user.is_none()
    }

    /// Whether `other` may be the same run, with more facts.
    fn is_part_of(&self, other: &Self) -> bool {
        fn agree<T: PartialEq>(own: Option<&T>, other: Option<&T>) -> bool {
            own.is_none_or(|own| other == Some(own))
        }
        (self.engine, &self.id) == (other.engine, &other.id)
            && (self.attempt == other.attempt || self.tells_nothing())
            && other.unknown() < self.unknown()
            && agree(self.start.as_ref(), other.start.as_ref())
            && agree(self.name.as_ref(), other.name.as_ref())
            && agree(self.user.as_ref(), other.user.as_ref())
    }
}

/// How much of its run a history contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, State)]
pub struct Content {
    /// When the run ended.
    pub finished_at: Option<Timestamp>,
    /// The number of tasks.
    pub tasks: u64,
    /// The number of their attempts.
    pub attempts: u64,
}

/// The facts about a history that show whether it is a copy of another one.
#[derive(Debug, Clone, State)]
pub struct RunCopy {
    run: Run,
    complete: bool,
    content: Content,
    /// How many files it was read from; a copy with its job's configuration has one more.
    files: usize,
}

impl RunCopy {
    /// A history of `run` that was read earlier from this many files.
    #[must_use]
    pub const fn known(run: Run, complete: bool, content: Content, files: usize) -> Self {
        Self { run, complete, content, files }
    }

    pub(super) fn of(app: &Application, sources: &[String]) -> Self {
        let attempt = app.spark.as_ref().and_then(|spark| spark.attempt.clone());
        let (engine, id) = (app.engine, app.id.clone());
        let run = if app.told_by_servers && !app.complete {
            Run { engine, id, attempt, start: None, name: None, user: None }
        } else {
            let start = app.submitted_at.or(app.launched_at);
            Run { engine, id, attempt, start, name: app.name.clone(), user: app.user.clone() }
        };
        let content = Content {
            finished_at: app.finished_at,
            tasks: app.task_count(),
            attempts: app.groups.iter().map(|group| group.attempts.len() as u64).sum(),
        };
        Self { run, complete: app.complete, content, files: sources.len() }
    }

    /// How complete it is.
    const fn extent(&self) -> (bool, bool, u64, u64) {
        let Content { tasks, attempts, finished_at } = self.content;
        (self.complete, finished_at.is_some(), tasks, attempts)
    }

    /// A number that only equal copies of a complete history have.
    pub(super) fn content_hash(&self) -> Option<u64> {
        let [_, content] = self.hashes();
        self.complete.then_some(content)
    }

    /// A number for all runs with the id and this attempt, if nothing else is known.
    fn id_hash(&self, attempt: Option<&str>) -> u64 {
        let mut hasher = FxHasher::default();
        let Run { engine, id, .. } = &self.run;
        (engine, id, attempt).hash(&mut hasher);
        hasher.finish()
    }

    /// A number for the run, and one for its content.
    fn hashes(&self) -> [u64; 2] {
        let mut hasher = FxHasher::default();
        let Run { engine, id, attempt, start, name, user } = &self.run;
        (engine, id, attempt, start.map(Timestamp::as_millis), name, user).hash(&mut hasher);
        let run = hasher.finish();
        let Content { finished_at, tasks, attempts } = self.content;
        (finished_at.map(Timestamp::as_millis), tasks, attempts).hash(&mut hasher);
        [run, hasher.finish()]
    }
}

/// Histories that were counted, and are no longer in memory.
#[derive(Debug, Default)]
pub(super) struct Counted(FxHashSet<u64>);

impl Counted {
    pub(super) fn add(&mut self, copy: &RunCopy) {
        let attempt = copy.run.attempt.as_deref();
        self.0.extend(copy.hashes().into_iter().chain([copy.id_hash(attempt), copy.id_hash(None)]));
    }

    /// Whether this history is a copy of one of them.
    pub(super) fn contains(&self, copy: &RunCopy) -> bool {
        let [run, content] = copy.hashes();
        let hash = match copy.complete {
            true => content,
            // A log that ends before the start of its application.
            false if copy.run.tells_nothing() && copy.content.tasks == 0 => {
                copy.id_hash(copy.run.attempt.as_deref())
            }
            false => run,
        };
        self.0.contains(&hash)
    }

    /// Whether a history of an application with the same id is among them.
    pub(super) fn has_id_of(&self, copy: &RunCopy) -> bool {
        self.0.contains(&copy.id_hash(copy.run.attempt.as_deref()))
    }
}

/// For each copy the index of the one that counts, often its own. `copies` must be in path order: the first counts among
/// equal ones.
///
/// Complete histories are copies if they have the same content, too. An incomplete one is a copy of any longer history of
/// the same run. If it lacks the start, the name or the user, it is also a copy of one that has them and contains as
/// much.
pub fn counted<'c>(copies: impl Iterator<Item = &'c RunCopy>) -> Vec<usize> {
    let copies: Vec<&RunCopy> = copies.collect();
    let mut runs: BTreeMap<&Run, Vec<(usize, &RunCopy)>> = BTreeMap::new();
    for (place, copy) in copies.iter().enumerate() {
        runs.entry(&copy.run).or_default().push((place, copy));
    }
    let mut counted: Vec<usize> = (0..copies.len()).collect();
    for group in runs.into_values().filter(|group| group.len() > 1) {
        let best = best_of(group.iter().copied());
        let mut whole: BTreeMap<Content, Vec<(usize, &RunCopy)>> = BTreeMap::new();
        for (place, copy) in group.iter().copied().filter(|(_, copy)| copy.complete) {
            whole.entry(copy.content).or_default().push((place, copy));
        }
        let whole: BTreeMap<Content, Option<usize>> =
            whole.into_iter().map(|(content, same)| (content, best_of(same.into_iter()))).collect();
        for (place, copy) in &group {
            let same = whole.get(&copy.content).copied().flatten();
            let winner = if copy.complete { same } else { best };
            if let Some((counted, winner)) = counted.get_mut(*place).zip(winner) {
                *counted = winner;
            }
        }
    }
    join_unknown(&copies, &mut counted);
    counted
}

/// Finds the histories that those without a start, name or user are copies of.
fn join_unknown(copies: &[&RunCopy], counted: &mut [usize]) {
    let mut by_id: BTreeMap<&str, Vec<(usize, &RunCopy)>> = BTreeMap::new();
    for (place, copy) in copies.iter().enumerate() {
        by_id.entry(&copy.run.id).or_default().push((place, copy));
    }
    for group in by_id.into_values().filter(|group| group.len() > 1) {
        let mut unknown: Vec<(usize, &RunCopy)> =
            group.iter().copied().filter(|(_, copy)| !copy.complete && copy.run.unknown() > 0).collect();
        // What a copy with fewer unknown facts is a copy of is known by then.
        unknown.sort_by_key(|(_, copy)| copy.run.unknown());
        // There may be many copies of one history, which need not be compared one by one.
        let is_kept = |(place, _): &(usize, &RunCopy)| counted.get(*place) == Some(place);
        let kept: Vec<(usize, &RunCopy)> = group.iter().copied().filter(is_kept).collect();
        for (place, copy) in unknown {
            let others = kept
                .iter()
                .copied()
                .filter(|(_, other)| copy.run.is_part_of(&other.run) && other.extent() >= copy.extent());
            let best = best_of(others).and_then(|best| counted.get(best).copied());
            if let Some((own, best)) = counted.get_mut(place).zip(best) {
                *own = best;
            }
        }
    }
}

/// The most complete one; among equals the first.
fn best_of<'c>(copies: impl Iterator<Item = (usize, &'c RunCopy)>) -> Option<usize> {
    let key = |(place, copy): &(usize, &RunCopy)| (copy.extent(), copy.files, Reverse(*place));
    copies.max_by_key(key).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(id: &str, start: i64, complete: bool, tasks: u64) -> RunCopy {
        let run = Run {
            engine: Engine::Spark,
            id: id.to_owned(),
            attempt: None,
            start: Some(Timestamp::from_millis(start)),
            name: Some("etl".to_owned()),
            user: None,
        };
        let content = Content { finished_at: None, tasks, attempts: tasks };
        RunCopy { run, complete, content, files: 1 }
    }

    fn counted_of(copies: &[RunCopy]) -> Vec<usize> {
        counted(copies.iter())
    }

    #[test]
    fn the_first_of_equal_copies_counts() {
        let one = copy("app-1", 0, true, 4);
        assert_eq!(counted_of(&[one.clone(), copy("app-2", 0, true, 4), one.clone(), one]), [0, 1, 0, 0]);
    }

    #[test]
    fn the_same_id_with_another_start_or_other_content_is_another_run() {
        assert_eq!(counted_of(&[copy("app-1", 0, true, 4), copy("app-1", 1, true, 4)]), [0, 1]);
        assert_eq!(counted_of(&[copy("app-1", 0, true, 4), copy("app-1", 0, true, 5)]), [0, 1]);
        let other = copy("app-1", 0, true, 4);
        let other = RunCopy { run: Run { user: Some("bob".to_owned()), ..other.run }, ..other };
        assert_eq!(counted_of(&[copy("app-1", 0, true, 4), other]), [0, 1]);
    }

    #[test]
    fn a_history_without_its_start_is_a_copy_of_one_that_has_it_and_contains_as_much() {
        let unknown = |tasks, complete| {
            let copy = copy("app-1", 0, complete, tasks);
            RunCopy { run: Run { start: None, name: None, ..copy.run }, ..copy }
        };
        let (phantom, known) = (unknown(0, false), copy("app-1", 5, true, 4));
        assert_eq!(counted_of(&[phantom.clone(), known.clone()]), [1, 1]);
        assert_eq!(counted_of(&[known.clone(), phantom.clone(), unknown(1, false)]), [0, 0, 0]);
        // A copy of a copy.
        let named = RunCopy { run: Run { start: None, ..known.run.clone() }, ..copy("app-1", 0, false, 2) };
        assert_eq!(counted_of(&[phantom.clone(), named, known.clone()]), [2, 2, 2]);
        for other in [copy("app-2", 5, true, 4), copy("app-1", 5, false, 3)] {
            assert_eq!(counted_of(&[unknown(4, false), other]), [0, 1]);
        }
        assert_eq!(counted_of(&[unknown(4, true), known.clone()]), [0, 1]);
        let mut counted = Counted::default();
        counted.add(&known);
        assert!(counted.contains(&phantom) && !counted.contains(&unknown(4, false)));
    }

    #[test]
    fn copies_of_counted_histories_are_known() {
        let mut counted = Counted::default();
        counted.add(&copy("app-1", 0, true, 4));
        assert!(
            counted.contains(&copy("app-1", 0, true, 4)) && counted.contains(&copy("app-1", 0, false, 3))
        );
        assert!(
            !counted.contains(&copy("app-1", 0, true, 3)) && !counted.contains(&copy("app-1", 1, true, 4))
        );
    }

    #[test]
    fn the_more_complete_copy_counts() {
        let cut = |tasks| copy("app-1", 0, false, tasks);
        assert_eq!(counted_of(&[cut(3), copy("app-1", 0, true, 4), cut(4)]), [1, 1, 1]);
        assert_eq!(counted_of(&[cut(1), cut(3), cut(3)]), [1, 1, 1]);
        let with_conf = RunCopy { files: 2, ..copy("app-1", 0, true, 4) };
        assert_eq!(counted_of(&[copy("app-1", 0, true, 4), with_conf]), [1, 1]);
    }
}
