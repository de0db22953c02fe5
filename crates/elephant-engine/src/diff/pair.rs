//! Finds the runs and phases that belong together.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Run;
use crate::fingerprint::JobKey;

pub(super) struct Paired<'a> {
    pub(super) both: Vec<(&'a Run, &'a Run)>,
    pub(super) only_a: Vec<&'a Run>,
    pub(super) only_b: Vec<&'a Run>,
}

/// Pairs runs of one job by start time, if possible those of one user: two users may run jobs of one name, but the same job
/// may also run as another user.
pub(super) fn runs<'a>(a: &'a [Run], b: &'a [Run]) -> Paired<'a> {
    let mut paired = Paired { both: Vec::new(), only_a: Vec::new(), only_b: Vec::new() };
    if let ([one], [other]) = (a, b) {
        paired.both.push((one, other));
        return paired;
    }
    let mut jobs: BTreeMap<JobKey, (Vec<&Run>, Vec<&Run>)> = BTreeMap::new();
    for run in a {
        jobs.entry(run.key()).or_default().0.push(run);
    }
    for run in b {
        jobs.entry(run.key()).or_default().1.push(run);
    }
    for (mut a, mut b) in jobs.into_values() {
        for side in [&mut a, &mut b] {
            side.sort_by(|one, other| (one.start(), &one.id).cmp(&(other.start(), &other.id)));
        }
        let mut both = of_one_user(&mut a, &mut b);
        let rest = a.len().min(b.len());
        both.extend(a.drain(..rest).zip(b.drain(..rest)));
        both.sort_by(|(one, _), (other, _)| (one.start(), &one.id).cmp(&(other.start(), &other.id)));
        paired.both.extend(both);
        paired.only_a.extend(a);
        paired.only_b.extend(b);
    }
    paired
}

/// Takes the runs of each user from both sides and pairs them in order.
fn of_one_user<'a>(a: &mut Vec<&'a Run>, b: &mut Vec<&'a Run>) -> Vec<(&'a Run, &'a Run)> {
    let mut free: BTreeMap<Option<&str>, VecDeque<usize>> = BTreeMap::new();
    for (place, run) in b.iter().enumerate() {
        free.entry(run.user.as_deref()).or_default().push_back(place);
    }
    let mut taken = BTreeSet::new();
    let mut both = Vec::new();
    a.retain(|run| {
        let place = free.get_mut(&run.user.as_deref()).and_then(VecDeque::pop_front);
        let partner = place.and_then(|place| b.get(place).map(|other| (place, *other)));
        if let Some((place, other)) = partner {
            taken.insert(place);
            both.push((*run, other));
        }
        partner.is_none()
    });
    let mut place = 0..;
    b.retain(|_| place.next().is_none_or(|place| !taken.contains(&place)));
    both
}

/// Pairs the indices of equal keys, then of keys that are equal without the line numbers of call sites,
/// both in order. The others stay single: the result has each index of both sides once, in the order of
/// `a`, followed by those that only `b` has.
pub(super) fn keys(a: &[String], b: &[String]) -> Vec<(Option<usize>, Option<usize>)> {
    matched(a.len(), b.len(), &by_name(a, b))
}

/// A way to recognise the same work on both sides: the keys of both, which have none for what this way cannot recognise.
pub(super) type Way = [Vec<Option<String>>; 2];

/// The same key, then the same key without the line numbers of call sites.
pub(super) fn by_name(a: &[String], b: &[String]) -> Vec<Way> {
    let same: [fn(&str) -> String; 2] = [str::to_owned, crate::fingerprint::without_lines];
    let of = |spelling: fn(&str) -> String| {
        [a, b].map(|side| side.iter().map(|key| Some(spelling(key))).collect())
    };
    same.into_iter().map(of).collect()
}

/// Pairs indices by one way after another, each time in order. The others stay single.
pub(super) fn matched(a: usize, b: usize, ways: &[Way]) -> Vec<(Option<usize>, Option<usize>)> {
    let mut partner: Vec<Option<usize>> = vec![None; a];
    let mut taken = vec![false; b];
    for [keys_a, keys_b] in ways {
        let mut free: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, key) in keys_b.iter().enumerate().rev() {
            let key = key.as_deref().filter(|_| !taken.get(place).copied().unwrap_or_default());
            if let Some(key) = key {
                free.entry(key).or_default().push(place);
            }
        }
        for (key, partner) in keys_a.iter().zip(&mut partner).filter(|(_, partner)| partner.is_none()) {
            *partner = key.as_deref().and_then(|key| free.get_mut(key)).and_then(Vec::pop);
            if let Some(taken) = partner.and_then(|place| taken.get_mut(place)) {
                *taken = true;
            }
        }
    }
    let first = partner.into_iter().enumerate().map(|(place, partner)| (Some(place), partner));
    let rest = taken.iter().enumerate().filter(|(_, taken)| !**taken).map(|(place, _)| (None, Some(place)));
    first.chain(rest).collect()
}
