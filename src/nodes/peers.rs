//! How often tasks on a host were stragglers, compared with the tasks of the same groups on other hosts.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use super::collect::Host;

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

impl Peers {
    /// The hosts of a group, in the order of their indices; `tasks` are host and label of each task.
    pub(super) fn of_group(tasks: &[(Option<Host>, bool)]) -> impl Iterator<Item = (Host, Self)> {
        let mut hosts: BTreeMap<Host, (u64, u64)> = BTreeMap::new();
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
