//! Pairs the queries of two runs, and says whose plans changed.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::{Figure, Unit};
use super::plans::{Plan, PlanChange};
use super::side::Query;

/// A query that slowed by at least this share may have done so because of its plan.
const SLOWER: f64 = 0.05;

/// The queries of two runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Queries {
    /// The pairs whose plans changed, the one that slowed most first.
    pub changed: Vec<QueryPair>,
    /// The number of all pairs.
    pub pairs: usize,
    /// Queries that only the first side has.
    pub only_a: usize,
    /// Queries that only the second side has.
    pub only_b: usize,
}

/// A query of both sides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QueryPair {
    /// Its name on the first side, such as `query 12 "daily import"`.
    pub a: String,
    /// Its name on the second side.
    pub b: String,
    /// Its wall time; `None` if it is unknown on both sides.
    pub time: Option<Figure>,
    /// What differs between its plans.
    pub changes: Vec<PlanChange>,
    /// How many queries of one side are so alike that only their order tells which is which; 1 if none.
    pub alike: usize,
}

#[doc(hidden)]
impl QueryPair {
    /// Whether the change of its plan may be why it slowed: never if it is uncertain which query it is.
    #[must_use]
    pub fn is_cause(&self) -> bool {
        self.alike == 1 && self.time.as_ref().and_then(Figure::change).is_some_and(|change| change >= SLOWER)
    }

    /// By how much it slowed, in milliseconds.
    fn slowed(&self) -> f64 {
        let times = self.time.as_ref().and_then(|time| time.a.zip(time.b));
        times.map_or(0.0, |(a, b)| b - a)
    }
}

/// A query with its plan.
struct Planned<'a> {
    query: &'a Query,
    plan: Plan,
}

/// Places in the lists of both sides, and how many are alike.
type Match = (usize, usize, usize);

/// Pairs the queries of two runs by what they compute and their description, then by one of the two, each time in the
/// order in which they ran.
pub(super) fn compare(a: &[Query], b: &[Query]) -> Queries {
    let [one, other] = [a, b].map(planned);
    let matched = matched(&one, &other);
    let pair = |&(a, b, alike): &Match| {
        let (a, b) = (one.get(a)?, other.get(b)?);
        let time = |planned: &Planned<'_>| planned.query.wall.as_ref()?.total_ms;
        Some(QueryPair {
            a: a.query.name.clone(),
            b: b.query.name.clone(),
            time: Figure::new("wall_ms", "wall time", Unit::Millis, time(a), time(b)),
            changes: a.plan.changes(&b.plan),
            alike,
        })
    };
    let mut changed: Vec<QueryPair> =
        matched.iter().filter_map(pair).filter(|pair| !pair.changes.is_empty()).collect();
    // The sort is stable: equal changes stay in the order of the queries.
    changed.sort_by(|one, other| other.slowed().total_cmp(&one.slowed()));
    Queries {
        changed,
        pairs: matched.len(),
        only_a: one.len() - matched.len(),
        only_b: other.len() - matched.len(),
    }
}

/// The ids of the queries of both sides that are the same.
pub(super) fn same(a: &[Query], b: &[Query]) -> Vec<(u64, u64)> {
    let [one, other] = [a, b].map(planned);
    let ids = |(a, b, _): Match| Some((one.get(a)?.query.id, other.get(b)?.query.id));
    matched(&one, &other).into_iter().filter_map(ids).collect()
}

/// The queries in the order in which they began, with their plans.
fn planned(queries: &[Query]) -> Vec<Planned<'_>> {
    let mut planned: Vec<Planned<'_>> =
        queries.iter().map(|query| Planned { query, plan: Plan::of(query) }).collect();
    planned.sort_by_key(|planned| planned.query.id);
    planned
}

/// What two queries must have in common to be the same one.
#[derive(Clone, Copy)]
enum Way {
    Both,
    Shape,
    Description,
}

/// A description and a shape.
type Key = (Option<String>, Vec<String>);

impl Way {
    fn key(self, of: &Planned<'_>) -> Option<Key> {
        let shape = || of.plan.shape.iter().cloned().collect::<Vec<String>>();
        match self {
            Self::Both => Some((description(of.query), shape())),
            Self::Shape => Some((None, shape())).filter(|(_, shape)| !shape.is_empty()),
            Self::Description => description(of.query).map(|told| (Some(told), Vec::new())),
        }
    }

    /// The places of the `free` queries of one side, by what they must have in common.
    fn places(self, side: &[Planned<'_>], free: &BTreeSet<usize>) -> BTreeMap<Key, Vec<usize>> {
        let mut places: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for &place in free {
            if let Some(key) = side.get(place).and_then(|of| self.key(of)) {
                places.entry(key).or_default().push(place);
            }
        }
        places
    }
}

/// The pairs, in the order of the first side.
fn matched(a: &[Planned<'_>], b: &[Planned<'_>]) -> Vec<Match> {
    let all = |side: &[Planned<'_>]| (0..side.len()).collect::<BTreeSet<usize>>();
    let (mut free_a, mut free_b) = (all(a), all(b));
    let mut matched: Vec<Match> = Vec::new();
    for way in [Way::Both, Way::Shape, Way::Description] {
        let mut others = way.places(b, &free_b);
        for (key, places) in way.places(a, &free_a) {
            let Some(others) = others.remove(&key) else { continue };
            let alike = places.len().max(others.len());
            for (place, other) in places.into_iter().zip(others) {
                free_a.remove(&place);
                free_b.remove(&other);
                matched.push((place, other, alike));
            }
        }
    }
    matched.sort_unstable();
    matched
}

/// What the user's code calls a query.
fn description(query: &Query) -> Option<String> {
    described(&query.name)
}

/// The name of a query without its number; `None` if it is only a number.
pub(super) fn described(name: &str) -> Option<String> {
    let told = name.strip_prefix("query ")?.split_once(' ')?.1;
    Some(crate::fingerprint::normalise(told))
}
