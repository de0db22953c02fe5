//! Which container slots a recording used.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Kind;
use super::attempts::Attempt;
use super::capacity::{Loss, Lost, Usable};
use crate::replay::Micros;

/// How an attempt got its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grant {
    /// Attempts of both kinds that ran when it started, itself included.
    pub(super) running: usize,
    /// Since when its container was free; `None` for a new one.
    pub(super) freed: Option<Micros>,
}

/// Assigns all attempts, sorted by start, to as few containers as possible: each takes the one that has been free
/// the longest, of those that are not lost.
pub(super) fn grants(attempts: &[Attempt], lost: &Lost) -> Vec<Grant> {
    let mut busy: BinaryHeap<Reverse<(Micros, usize)>> = BinaryHeap::new();
    let mut returning: BinaryHeap<Reverse<Micros>> = BinaryHeap::new();
    let mut free: VecDeque<Micros> = VecDeque::new();
    let mut grants = Vec::with_capacity(attempts.len());
    for (place, attempt) in attempts.iter().enumerate() {
        while let Some(Reverse((end, before))) = busy.peek().copied().filter(|it| it.0.0 <= attempt.start) {
            busy.pop();
            match lost.usable(before) {
                None => free.push_back(end),
                Some(Usable::From(again)) => returning.push(Reverse(again)),
                Some(Usable::Never) => {}
            }
        }
        while let Some(Reverse(again)) = returning.peek().copied().filter(|it| it.0 <= attempt.start) {
            returning.pop();
            free.push_back(again);
        }
        busy.push(Reverse((attempt.end, place)));
        grants.push(Grant { running: busy.len(), freed: free.pop_front() });
    }
    grants
}

/// The slots that attempts of one kind used, and the time in between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Colouring {
    /// The places of the attempts that were the first on their slots.
    pub(super) firsts: Vec<usize>,
    /// Places of other attempts, and since when their slots were free.
    pub(super) others: Vec<(usize, Micros)>,
}

/// Assigns the attempts of one kind, sorted by start, to slots in the same way.
pub(super) fn colour(attempts: &[Attempt], kind: Kind, lost: &Lost) -> Colouring {
    let mut free: BinaryHeap<Reverse<Micros>> = BinaryHeap::new();
    let mut colouring = Colouring::default();
    for (place, attempt) in attempts.iter().enumerate().filter(|(_, attempt)| attempt.kind == kind) {
        match free.peek().copied() {
            Some(Reverse(since)) if since <= attempt.start => {
                free.pop();
                colouring.others.push((place, since));
            }
            _ => colouring.firsts.push(place),
        }
        match lost.usable(place) {
            None => free.push(Reverse(attempt.end)),
            Some(Usable::From(again)) => free.push(Reverse(again)),
            Some(Usable::Never) => {}
        }
    }
    colouring
}

/// When a slot of the replay opens: some time after a number of maps has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Opening {
    /// Ended maps that it waits for. With 0, the time counts from the job's launch.
    pub(super) maps: usize,
    /// The time after that.
    pub(super) lag: Micros,
}

impl Opening {
    /// The opening of a slot that was used at `start`, by the ends of the maps (sorted).
    pub(super) fn after(map_ends: &[Micros], launch: Micros, start: Micros) -> Self {
        let maps = map_ends.partition_point(|end| *end <= start);
        let last = maps.checked_sub(1).and_then(|at| map_ends.get(at)).copied();
        Self { maps, lag: (start - last.unwrap_or(launch)).or_zero() }
    }
}

/// `len` openings: the earliest ones, or all of them and more like the last one.
pub(super) fn resized(openings: &[Opening], len: usize) -> Vec<Opening> {
    let mut openings = openings.to_vec();
    openings.sort_unstable();
    if let Some(last) = openings.last().copied() {
        openings.resize(len.max(1), last);
    }
    openings
}

/// Slots of each kind as the plan found them.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    pub(super) openings: Vec<Opening>,
    /// Slots that were lost for a while (Hadoop 1).
    pub(super) losses: Vec<Loss>,
    pub(super) gap: Micros,
}
