//! Finds the runs and phases that belong together.

use std::collections::BTreeMap;

use super::Run;
use crate::fingerprint::JobKey;

pub(super) struct Paired<'a> {
    pub(super) both: Vec<(&'a Run, &'a Run)>,
    pub(super) only_a: Vec<&'a Run>,
    pub(super) only_b: Vec<&'a Run>,
}

/// Pairs runs of one job by start time.
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
        let both = a.len().min(b.len());
        paired.only_a.extend(a.iter().skip(both));
        paired.only_b.extend(b.iter().skip(both));
        paired.both.extend(a.into_iter().zip(b));
    }
    paired
}

/// Pairs the indices of equal keys, then of keys that are equal without the line numbers of call sites,
/// both in order. The others stay single: the result has each index of both sides once, in the order of
/// `a`, followed by those that only `b` has.
pub(super) fn keys(a: &[String], b: &[String]) -> Vec<(Option<usize>, Option<usize>)> {
    let mut partner: Vec<Option<usize>> = vec![None; a.len()];
    let mut taken = vec![false; b.len()];
    let same: [fn(&str) -> String; 2] = [str::to_owned, crate::fingerprint::without_lines];
    for spelling in same {
        let mut free: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, key) in b.iter().enumerate().rev() {
            if !taken.get(place).copied().unwrap_or_default() {
                free.entry(spelling(key)).or_default().push(place);
            }
        }
        for (key, partner) in a.iter().zip(&mut partner).filter(|(_, partner)| partner.is_none()) {
            *partner = free.get_mut(&spelling(key)).and_then(Vec::pop);
            if let Some(taken) = partner.and_then(|place| taken.get_mut(place)) {
                *taken = true;
            }
        }
    }
    let first = partner.into_iter().enumerate().map(|(place, partner)| (Some(place), partner));
    let rest = taken.iter().enumerate().filter(|(_, taken)| !**taken).map(|(place, _)| (None, Some(place)));
    first.chain(rest).collect()
}
