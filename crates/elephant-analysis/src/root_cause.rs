//! The root cause of failures, from the messages of failed attempts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use elephant_model::diagnosis::{FailureKind, Standing, classify};
use elephant_model::model::table::{EndReason, Outcome, TaskGroup, TaskKind};
use elephant_model::model::{Application, Symbol};
use elephant_rule::finding::Failure;

/// The number of distinct messages of an application that are classified. In a large log, every attempt may have its own.
const MAX_CLASSIFIED: usize = 2000;
/// The maximum number of characters of a message that is shown.
const MAX_SHOWN: usize = 160;

/// The root causes of failed attempts.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// The root causes of tasks, the one of the failure as a whole first.
    pub roots: Vec<Root>,
    /// The kinds of all failed attempts, the most frequent first.
    pub kinds: Vec<(FailureKind, u64)>,
}

impl Roots {
    /// The number of failed attempts of these kinds.
    #[must_use]
    pub fn count(&self, is_counted: impl Fn(FailureKind) -> bool) -> u64 {
        self.kinds.iter().filter(|(kind, _)| is_counted(*kind)).map(|(_, attempts)| attempts).sum()
    }
}

/// A root cause, and the number of tasks that have it.
#[derive(Debug, Clone)]
pub struct Root {
    /// The failure.
    pub failure: Failure,
    /// The message in full.
    pub text: Option<Symbol>,
    /// The number of tasks that have this root cause.
    pub tasks: u64,
}

/// Collects failed attempts.
pub struct Collector<'a> {
    app: &'a Application,
    /// The messages, each with its place in `known`; `None` for a text that describes no failure.
    places: FxHashMap<Cause, Option<usize>>,
    known: Vec<Known>,
    tasks: Vec<Vec<usize>>,
}

/// What is known of the cause of an attempt's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Cause {
    Message(Symbol, Option<FailureKind>),
    Reason(FailureKind),
}

struct Known {
    failure: Failure,
    text: Option<Symbol>,
    attempts: u64,
}

impl<'a> Collector<'a> {
    /// Nothing is collected yet.
    #[must_use]
    pub fn new(app: &'a Application) -> Self {
        Self { app, places: FxHashMap::default(), known: Vec::new(), tasks: Vec::new() }
    }

    /// Adds the attempts of a group with this outcome, for the tasks that `of` selects.
    pub fn add(&mut self, group: &TaskGroup, outcome: Outcome, of: impl Fn(usize) -> bool) {
        self.add_rows(group, |row| group.attempts.outcome(row) == outcome, of);
    }

    /// Adds the attempts of a group in the rows that `is_one` selects, for the tasks that `of` selects.
    pub fn add_rows(
        &mut self,
        group: &TaskGroup,
        is_one: impl Fn(usize) -> bool,
        of: impl Fn(usize) -> bool,
    ) {
        let attempts = &group.attempts;
        let messages: FxHashMap<usize, Symbol> =
            attempts.diagnostics().iter().map(|&(row, text)| (row as usize, text)).collect();
        let mut tasks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for row in (0..attempts.len()).filter(|row| is_one(*row)) {
            let Some(task) = attempts.task(row).filter(|task| of(*task)) else { continue };
            let of_task = tasks.entry(task).or_default();
            if let Some(place) = self.place(messages.get(&row).copied(), attempts.end_reason(row)) {
                of_task.push(place);
            }
        }
        self.tasks.extend(tasks.into_values().filter(|causes| !causes.is_empty()));
    }

    /// The place of a cause in `known`, which counts one more attempt.
    fn place(&mut self, text: Option<Symbol>, reason: Option<EndReason>) -> Option<usize> {
        let by_reason = reason.and_then(kind_of);
        let key = match text {
            Some(text) => Cause::Message(text, by_reason),
            None => Cause::Reason(by_reason?),
        };
        let place = match self.places.get(&key) {
            Some(known) => (*known)?,
            None if self.places.len() >= MAX_CLASSIFIED => return None,
            None => {
                let told = text.and_then(|text| self.app.strings.get(text)).and_then(told);
                let failure = match (told, by_reason) {
                    (Some(told), Some(reason)) if reason.standing() > told.kind.standing() => {
                        Some(Failure { kind: reason, ..told })
                    }
                    (told, reason) => told.or_else(|| reason.map(Failure::new)),
                };
                let place = failure.map(|failure| {
                    self.known.push(Known { failure, text, attempts: 0 });
                    self.known.len() - 1
                });
                self.places.insert(key, place);
                place?
            }
        };
        self.known.get_mut(place)?.attempts += 1;
        Some(place)
    }

    /// The root causes, the one of the failure as a whole first. The root cause of a task is the cause that explains
    /// most; among equals, the most frequent one. Over all tasks, the most frequent root cause comes first, but mere
    /// consequences come after all others.
    #[must_use]
    pub fn finish(self) -> Roots {
        let Self { known, tasks, .. } = self;
        let mut roots: BTreeMap<FailureKind, (u64, BTreeMap<usize, u64>)> = BTreeMap::new();
        for causes in &tasks {
            let Some((place, kind)) = root_of_task(&known, causes) else { continue };
            let (count, texts) = roots.entry(kind).or_default();
            *count += 1;
            *texts.entry(place).or_default() += 1;
        }
        let mut kinds: BTreeMap<FailureKind, u64> = BTreeMap::new();
        for known in &known {
            *kinds.entry(known.failure.kind).or_default() += known.attempts;
        }
        let mut kinds: Vec<(FailureKind, u64)> = kinds.into_iter().collect();
        kinds.sort_by_key(|(kind, count)| (Reverse(*count), *kind));
        let mut roots: Vec<Root> = roots
            .into_values()
            .filter_map(|(tasks, texts)| {
                let (place, _) = texts.into_iter().max_by_key(|(place, count)| (*count, Reverse(*place)))?;
                let known = known.get(place)?;
                Some(Root { failure: known.failure.clone(), text: known.text, tasks })
            })
            .collect();
        roots.sort_by_key(|root| {
            let standing = root.failure.kind.standing();
            (
                Reverse(standing.min(Standing::Error)),
                Reverse(root.tasks),
                Reverse(standing),
                root.failure.kind,
            )
        });
        Roots { roots, kinds }
    }
}

/// How many attempts of this kind failed because the heap was full or the container too small; `None` without any.
/// Successful attempts do not show what these needed.
#[must_use]
pub fn ran_out_of_memory(app: &Application, kind: TaskKind) -> Option<u64> {
    let mut failures = Collector::new(app);
    failures.add(app.group(kind)?, Outcome::Failed, |_| true);
    Some(failures.finish().count(FailureKind::is_lack_of_memory)).filter(|attempts| *attempts > 0)
}

/// The cause of a task's failures.
fn root_of_task(known: &[Known], causes: &[usize]) -> Option<(usize, FailureKind)> {
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    for place in causes {
        *counts.entry(*place).or_default() += 1;
    }
    let kinds =
        counts.into_iter().filter_map(|(place, count)| Some((place, count, known.get(place)?.failure.kind)));
    let best = kinds.max_by_key(|(place, count, kind)| (kind.standing(), *count, Reverse(*place)))?;
    Some((best.0, best.2))
}

impl Roots {
    /// The root cause of the failure as a whole.
    #[must_use]
    pub fn first(&self) -> Option<&Root> {
        self.roots.first()
    }
}

/// The failure that a text describes.
#[must_use]
pub fn told(text: &str) -> Option<Failure> {
    let known = classify(text)?;
    let message = line_about(text, known.exception.as_deref());
    Some(Failure::told(known, message))
}

/// The kind of failure, judging only by the end reason that Spark logs.
const fn kind_of(reason: EndReason) -> Option<FailureKind> {
    match reason {
        EndReason::OutOfMemory => Some(FailureKind::HeapSpace),
        EndReason::ContainerOverMemory => Some(FailureKind::ContainerMemory),
        EndReason::FetchFailed => Some(FailureKind::FetchFailure),
        EndReason::ExecutorLost | EndReason::ResultLost => Some(FailureKind::ExecutorLost),
        EndReason::CommitDenied => Some(FailureKind::CommitDenied),
        EndReason::Exception => Some(FailureKind::UserCode),
        EndReason::Success | EndReason::Killed | EndReason::Other => None,
    }
}

/// The line of a text that names this exception, or else its first line, shortened. A leading "Caused by" and the final
/// full stop are removed.
fn line_about(text: &str, exception: Option<&str>) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or_default();
    let names = |line: &&str| exception.is_some_and(|class| line.contains(class)) && !line.starts_with("at ");
    let line = lines.find(names).unwrap_or(first);
    let line = line.strip_prefix("Caused by: ").unwrap_or(line).trim_end_matches('.');
    shortened(line, MAX_SHOWN)
}

/// `text` shortened to `most` characters, with "…" for the rest.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// Attempts by place: by node, or by executor.
#[derive(Debug, Default)]
pub struct Places {
    failed: u64,
    all: u64,
    /// Failed attempts and all attempts by place.
    by_place: BTreeMap<Symbol, (u64, u64)>,
}

/// From this many failures on, a place is suspicious.
const SUSPICIOUS_FAILURES: u64 = 3;

impl Places {
    /// Adds an attempt at a place.
    pub fn add(&mut self, place: Option<Symbol>, failed: bool) {
        self.all += 1;
        self.failed += u64::from(failed);
        if let Some(place) = place {
            let (failures, all) = self.by_place.entry(place).or_default();
            *all += 1;
            *failures += u64::from(failed);
        }
    }

    /// Whether attempts failed at the place with this name.
    #[must_use]
    pub fn has_failures(&self, app: &Application, name: &str) -> bool {
        let mut failing = self.by_place.iter().filter(|(_, (failures, _))| *failures > 0);
        failing.any(|(place, _)| app.strings.get(*place) == Some(name))
    }

    /// Whether all failures happened at [`Places::worst`].
    #[must_use]
    pub fn is_only_worst(&self, app: &Application) -> bool {
        self.worst(app).is_some_and(|(_, failures)| failures == self.failed)
    }

    /// The place with most failures, if it has far more than its share: over half, with several places.
    #[must_use]
    pub fn worst<'a>(&self, app: &'a Application) -> Option<(&'a str, u64)> {
        let named =
            self.by_place.iter().filter_map(|(place, counts)| Some((app.strings.get(*place)?, *counts)));
        let (name, (failures, ran)) =
            named.min_by_key(|(name, (failures, _))| (Reverse(*failures), *name))?;
        let most = 2 * failures > self.failed && failures >= SUSPICIOUS_FAILURES;
        // A place that ran most of the attempts is bound to have most of the failures.
        let more_than_its_share =
            u128::from(failures) * u128::from(self.all) >= 2 * u128::from(ran) * u128::from(self.failed);
        (most && self.by_place.len() > 1 && more_than_its_share).then_some((name, failures))
    }
}
