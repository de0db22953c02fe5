//! How often tasks on a host were stragglers, compared with the tasks of the same groups on other hosts.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use crate::state::state;

/// Sums of one host over groups that also ran on other hosts. A host whose jobs have many stragglers everywhere is not slow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Peers {
    /// Tasks of the host.
    pub tasks: u64,
    /// Stragglers among them.
    pub stragglers: u64,
    /// How many they would be with the share of the other hosts in each group.
    pub expected: f64,
}

state!(struct Peers { tasks, stragglers, expected });

impl Peers {
    /// The hosts of a group, in their order; `tasks` are host and label of each task.
    pub(super) fn of_group<H: Copy + Ord>(
        tasks: &[(Option<H>, bool)],
    ) -> impl Iterator<Item = (H, Self)> + use<H> {
        let mut hosts: BTreeMap<H, (u64, u64)> = BTreeMap::new();
        for &(host, straggler) in tasks {
            if let Some(host) = host {
                let (count, stragglers) = hosts.entry(host).or_default();
                *count += 1;
                *stragglers += u64::from(straggler);
            }
        }
        let all = tasks.len() as u64;
        let all_stragglers = tasks.iter().filter(|(_, straggler)| *straggler).count() as u64;
        hosts.into_iter().filter(move |(_, (tasks, _))| *tasks < all).map(
            move |(host, (tasks, stragglers))| {
                let share = (all_stragglers - stragglers) as f64 / (all - tasks) as f64;
                (host, Self { tasks, stragglers, expected: share * tasks as f64 })
            },
        )
    }

    /// The share of stragglers, and that of the other hosts; `None` without groups on other hosts.
    pub(crate) fn shares(&self) -> Option<(f64, f64)> {
        (self.tasks > 0)
            .then(|| (self.stragglers as f64 / self.tasks as f64, self.expected / self.tasks as f64))
    }
}

impl AddAssign for Peers {
    fn add_assign(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.stragglers += other.stragglers;
        self.expected += other.expected;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_compared_with_the_others_of_its_group() {
        let tasks =
            [(Some('a'), true), (Some('a'), true), (Some('b'), true), (Some('b'), false), (None, false)];
        let peers: Vec<(char, Peers)> = Peers::of_group(&tasks).collect();
        let shares: Vec<_> = peers.iter().map(|(host, peers)| (*host, peers.shares())).collect();
        assert_eq!(shares, [('a', Some((1.0, 1.0 / 3.0))), ('b', Some((0.5, 2.0 / 3.0)))]);
        // Nothing ran elsewhere.
        assert_eq!(Peers::of_group(&[(Some('a'), true)]).count(), 0);
        assert_eq!(Peers::default().shares(), None);
    }
}
