//! Compares where the run time of two runs went.
//!
//! Parts are compared by the query or job that they worked for. If both runs tell the same parts of it, each is compared
//! alone; otherwise, all together: a stage is a part of its own only if it took much of its run.

use std::collections::BTreeMap;

use super::pair::{Way, by_name, matched};
use super::queries::described;
use super::side::Part;
use crate::fingerprint::{stage_name, without_lines};

/// A part of the run time on both sides, or on one of them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PartPair {
    /// The part on the first side.
    pub a: PartOfSide,
    /// The part on the second side.
    pub b: PartOfSide,
    /// Whether it is what each run tells of its smallest parts together.
    pub is_rest: bool,
}

/// A part of the run time on one side.
#[derive(Debug, Clone, PartialEq)]
pub enum PartOfSide {
    /// The run tells it.
    Told {
        /// What happened in it.
        name: String,
        /// How long it took, in milliseconds.
        time_ms: f64,
    },
    /// The run does not tell it alone, so it took at most as long as the run's smallest parts together, in milliseconds.
    AtMost(f64),
}

#[doc(hidden)]
impl PartOfSide {
    /// How long it took, in milliseconds; `None` if only a limit is known.
    #[must_use]
    pub const fn time_ms(&self) -> Option<f64> {
        match self {
            Self::Told { time_ms, .. } => Some(*time_ms),
            // Nothing is hidden in a rest of nothing.
            Self::AtMost(limit) if *limit <= 0.0 => Some(0.0),
            Self::AtMost(_) => None,
        }
    }
}

#[doc(hidden)]
impl PartPair {
    /// What happened in it, as the second side tells it, or else the first.
    #[must_use]
    pub fn name(&self) -> &str {
        let told = [&self.b, &self.a].into_iter().find_map(|side| match side {
            PartOfSide::Told { name, .. } => Some(name.as_str()),
            PartOfSide::AtMost(_) => None,
        });
        told.unwrap_or_default()
    }

    /// How much longer it took on the second side, in milliseconds; if a side has only a limit, how much longer at least.
    #[must_use]
    pub fn grew_ms(&self) -> f64 {
        match (&self.a, &self.b) {
            (PartOfSide::Told { time_ms: a, .. }, PartOfSide::Told { time_ms: b, .. }) => b - a,
            (PartOfSide::AtMost(limit), PartOfSide::Told { time_ms, .. }) => (time_ms - limit).max(0.0),
            (PartOfSide::Told { time_ms, .. }, PartOfSide::AtMost(limit)) => (limit - time_ms).min(0.0),
            (PartOfSide::AtMost(_), PartOfSide::AtMost(_)) => 0.0,
        }
    }
}

/// The parts of two runs, the one that changed most first and the rest at the end; `None` if a side has none.
/// `queries` are the ids of the queries that are the same.
pub(super) fn compare(a: &[Part], b: &[Part], queries: &[(u64, u64)]) -> Option<Vec<PartPair>> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (groups_a, groups_b) = (groups(a), groups(b));
    let (rest_a, rest_b) = (rest(a), rest(b));
    let ways = ways(&groups_a, &groups_b, queries);
    let mut pairs = Vec::new();
    for (place_a, place_b) in matched(groups_a.len(), groups_b.len(), &ways) {
        let of_a = place_a.and_then(|place| groups_a.get(place)).map(Vec::as_slice).unwrap_or_default();
        let of_b = place_b.and_then(|place| groups_b.get(place)).map(Vec::as_slice).unwrap_or_default();
        for (of_a, of_b) in alone_or_together(of_a, of_b) {
            let is_rest = of_a.iter().chain(&of_b).any(|part| part.kind == REST);
            pairs.push(PartPair { a: told(&of_a, rest_a), b: told(&of_b, rest_b), is_rest });
        }
    }
    // The sort is stable: equal changes stay in the order of the first side.
    pairs.sort_by(|one, other| {
        let changed = |pair: &PartPair| pair.grew_ms().abs();
        one.is_rest.cmp(&other.is_rest).then(changed(other).total_cmp(&changed(one)))
    });
    Some(pairs)
}

/// What small parts are called in reports.
const REST: &str = "rest";

/// The parts of one query or job; other parts are alone.
type Group<'a> = Vec<&'a Part>;

fn groups(parts: &[Part]) -> Vec<Group<'_>> {
    let mut places: BTreeMap<(Option<u64>, &str), usize> = BTreeMap::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for part in parts {
        let owner = part.owner.as_deref().map(|owner| (part.query, owner));
        let known = owner.and_then(|owner| places.get(&owner)).and_then(|place| groups.get_mut(*place));
        if let Some(group) = known {
            group.push(part);
            continue;
        }
        if let Some(owner) = owner {
            places.insert(owner, groups.len());
        }
        groups.push(vec![part]);
    }
    groups
}

fn rest(parts: &[Part]) -> f64 {
    parts.iter().filter(|part| part.kind == REST).map(|part| part.time_ms).sum()
}

/// The ways to recognise a group: what is no stage by its kind; then the query by its plan, the description, the query's id,
/// the call site, and the call site without its line.
fn ways(a: &[Group<'_>], b: &[Group<'_>], queries: &[(u64, u64)]) -> Vec<Way> {
    let of = |key: &dyn Fn(&Part, usize) -> Option<String>| -> Way {
        [(a, 0), (b, 1)].map(|(side, number)| {
            side.iter().map(|group| group.first().and_then(|part| key(part, number))).collect()
        })
    };
    let kind = |part: &Part, _: usize| match (part.kind.as_str(), &part.subject) {
        ("phase", Some(subject)) if !subject.starts_with("stage ") => Some(subject.clone()),
        ("phase" | "stages", _) if part.owner.is_some() || part.does.is_some() => None,
        (kind, _) => Some(kind.to_owned()),
    };
    let plan = |part: &Part, side: usize| {
        let id = part.query?;
        let same = |(of_a, of_b): &(u64, u64)| if side == 0 { *of_a == id } else { *of_b == id };
        queries.iter().position(same).map(|place| place.to_string())
    };
    let description = |part: &Part, _: usize| {
        let owner = part.owner.as_deref()?;
        if part.query.is_some() { described(owner) } else { Some(crate::fingerprint::normalise(owner)) }
    };
    let id = |part: &Part, _: usize| {
        let owner = part.owner.as_deref()?;
        part.query.filter(|_| described(owner).is_none()).map(|id| id.to_string())
    };
    let call = |part: &Part, _: usize| part.does.as_deref().filter(|_| part.owner.is_none()).map(stage_name);
    let loose = |part: &Part, side: usize| call(part, side).map(|call| without_lines(&call));
    vec![of(&kind), of(&plan), of(&description), of(&id), of(&call), of(&loose)]
}

/// The parts of a query or job on both sides: each alone if both sides tell the same, otherwise all together.
fn alone_or_together<'a>(a: &[&'a Part], b: &[&'a Part]) -> Vec<(Group<'a>, Group<'a>)> {
    let keys = |parts: &[&Part]| -> Vec<String> {
        parts.iter().map(|part| part.does.as_deref().map(stage_name).unwrap_or_default()).collect()
    };
    let (keys_a, keys_b) = (keys(a), keys(b));
    let pairs = matched(a.len(), b.len(), &by_name(&keys_a, &keys_b));
    let both: Option<Vec<(usize, usize)>> = pairs.into_iter().map(|(a, b)| a.zip(b)).collect();
    let one = |side: &[&'a Part], place: usize| side.get(place).map(|part| vec![*part]).unwrap_or_default();
    match both {
        Some(both) => both.into_iter().map(|(at_a, at_b)| (one(a, at_a), one(b, at_b))).collect(),
        None => vec![(a.to_vec(), b.to_vec())],
    }
}

/// What a side tells of these parts together.
fn told(parts: &[&Part], rest: f64) -> PartOfSide {
    let time_ms = parts.iter().map(|part| part.time_ms).sum();
    let name = match parts {
        [] => return PartOfSide::AtMost(rest),
        [only] => only.name.clone(),
        [first, ..] => first.owner.clone().unwrap_or_else(|| first.name.clone()),
    };
    PartOfSide::Told { name, time_ms }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(kind: &str, query: Option<u64>, owner: Option<&str>, does: Option<&str>, time_ms: f64) -> Part {
        let [owner, does] = [owner, does].map(|name| name.map(str::to_owned));
        let name = format!("{}: {}", owner.as_deref().unwrap_or(kind), does.as_deref().unwrap_or_default());
        Part { kind: kind.to_owned(), name, subject: None, query, owner, does, time_ms }
    }

    /// A stage of a query without a description.
    fn of_query(id: u64, does: &str, time_ms: f64) -> Part {
        part("phase", Some(id), Some(&format!("query {id}")), Some(does), time_ms)
    }

    /// A stage of no query.
    fn of_call(call: &str, time_ms: f64) -> Part {
        part("phase", None, None, Some(call), time_ms)
    }

    fn rest(time_ms: f64) -> Part {
        part("rest", None, None, None, time_ms)
    }

    /// The names, and the times of both sides.
    fn rows(a: &[Part], b: &[Part], queries: &[(u64, u64)]) -> Vec<(String, Option<f64>, Option<f64>)> {
        let pairs = compare(a, b, queries).unwrap();
        pairs.iter().map(|pair| (pair.name().to_owned(), pair.a.time_ms(), pair.b.time_ms())).collect()
    }

    #[test]
    fn the_part_that_grew_most_comes_first() {
        let a = [of_query(3, "Scan a", 30.0), of_query(3, "Sort", 20.0), rest(4.0)];
        let b = [of_query(5, "Sort", 90.0), of_query(5, "Scan a", 31.0), rest(50.0)];
        let expected = [
            ("query 5: Sort".to_owned(), Some(20.0), Some(90.0)),
            ("query 5: Scan a".to_owned(), Some(30.0), Some(31.0)),
            ("rest: ".to_owned(), Some(4.0), Some(50.0)),
        ];
        assert_eq!(rows(&a, &b, &[(3, 5)]), expected);
    }

    #[test]
    fn call_sites_are_the_same_on_other_lines() {
        let (a, b) = ([of_call("count at App.scala:10", 30.0)], [of_call("count at App.scala:97", 40.0)]);
        assert_eq!(rows(&a, &b, &[]).len(), 1);
        let other = [of_call("collect at App.scala:10", 30.0)];
        assert_eq!(rows(&a, &other, &[]).len(), 2);
    }

    #[test]
    fn a_query_that_is_told_in_other_parts_is_one_row() {
        let a = [of_query(3, "Scan a", 30.0), of_query(3, "Sort", 20.0)];
        let together = part("stages", Some(3), Some("query 3"), Some("Sort"), 60.0);
        assert_eq!(rows(&a, &[together], &[]), [("query 3: Sort".to_owned(), Some(50.0), Some(60.0))]);
    }

    #[test]
    fn what_one_side_does_not_tell_is_part_of_its_rest() {
        let a = [of_query(1, "Sort", 30.0), rest(9.0)];
        let b = [rest(12.0)];
        let pairs = compare(&a, &b, &[]).unwrap();
        assert_eq!((pairs[0].b.clone(), pairs[0].grew_ms()), (PartOfSide::AtMost(12.0), -18.0));
        assert_eq!((pairs[1].is_rest, pairs[1].grew_ms()), (true, 3.0));
        assert_eq!(compare(&a, &[], &[]), None);
    }

    #[test]
    fn descriptions_tell_jobs_apart_and_ids_do_not() {
        let of_job = |name: &str, time| part("stages", None, Some(name), None, time);
        let a = [of_job("load 2026-11-20", 5.0), of_job("save", 7.0)];
        let b = [of_job("save", 9.0), of_job("load 2026-11-21", 5.0)];
        let times: Vec<_> = rows(&a, &b, &[]).into_iter().map(|(_, a, b)| (a, b)).collect();
        assert_eq!(times, [(Some(7.0), Some(9.0)), (Some(5.0), Some(5.0))]);
    }

    fn any_parts() -> impl Strategy<Value = Vec<Part>> {
        let one = (0..6_u8, 0..3_u64, 0..3_u8, 1..100_u32).prop_map(|(kind, id, does, time)| {
            let (does, time) = (["Sort", "Scan a", "count at A.scala:1"][usize::from(does)], f64::from(time));
            match kind {
                0 => part("idle", None, None, None, time),
                1 => of_call(does, time),
                2 => part("stages", None, None, None, time),
                3 => part("stages", Some(id), Some(&format!("query {id} \"x\"")), Some(does), time),
                _ => of_query(id, does, time),
            }
        });
        prop::collection::vec(one, 1..8)
    }

    proptest! {
        /// Each part of a side is in one row, so the rows of a side add up to its run time.
        #[test]
        fn the_rows_add_up(a in any_parts(), b in any_parts()) {
            let rows = rows(&a, &b, &[(0, 1)]);
            let sum = |parts: &[Part]| parts.iter().map(|part| part.time_ms).sum::<f64>();
            let (told_a, told_b): (Vec<_>, Vec<_>) = rows.into_iter().map(|(_, a, b)| (a, b)).unzip();
            let told = |side: Vec<Option<f64>>| side.into_iter().flatten().sum::<f64>();
            prop_assert!((told(told_a) - sum(&a)).abs() < 1e-6);
            prop_assert!((told(told_b) - sum(&b)).abs() < 1e-6);
        }
    }
}
