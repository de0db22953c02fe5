//! What groups of applications used and wasted: by job, user, queue and day.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::ApplicationReport;
use elephant_base::units::{MbMillis, Timestamp};

/// The groups that are kept of each kind. The others are summed up.
const MOST_GROUPS: usize = 8;
/// The days that are kept.
const MOST_DAYS: usize = 31;
/// Longer names of users and queues are cut, so that a million hostile names do not fill the memory.
const MOST_CHARACTERS: usize = 200;

/// What the applications of a group used and wasted, as far as both are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waste {
    /// How many applications the group has.
    pub applications: u64,
    /// Those whose waste is known.
    pub known: u64,
    /// Allocated memory of the applications whose waste is known.
    pub used: MbMillis,
    /// The part of it that was not needed.
    pub wasted: MbMillis,
}

impl Waste {
    fn add(&mut self, other: Self) {
        self.applications += other.applications;
        self.known += other.known;
        self.used = self.used + other.used;
        self.wasted = self.wasted + other.wasted;
    }

    /// The wasted part in percent; `None` if nothing is known to be used.
    #[must_use]
    pub fn percent(self) -> Option<f64> {
        self.wasted.share_of(self.used).map(|share| share * 100.0)
    }
}

/// What the applications of a group have in common. Without the property they have no name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct GroupName {
    /// The user, the queue or the name of the job; `None` if it is unknown.
    pub name: Option<String>,
    /// Who runs a job: jobs of one name by two users are two jobs.
    pub user: Option<String>,
}

/// Applications by one property.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rollup {
    /// The groups by name that waste most, the worst first; days in their order.
    pub groups: Vec<(GroupName, Waste)>,
    /// The number of the other groups and their sum.
    pub others: Option<(u64, Waste)>,
}

/// Applications by each property.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rollups {
    /// The jobs, by name and user.
    pub jobs: Rollup,
    /// The users.
    pub users: Rollup,
    /// The queues.
    pub queues: Rollup,
    /// The days of submission.
    pub days: Rollup,
}

type Groups = BTreeMap<GroupName, Waste>;

/// Adds up applications one by one, in any order: all sums are of integers.
#[derive(Debug, Default)]
pub(crate) struct RollupSums {
    jobs: Groups,
    users: Groups,
    queues: Groups,
    days: Groups,
}

impl RollupSums {
    pub(crate) fn add(&mut self, app: &ApplicationReport) {
        let memory = app.metrics.used.zip(app.metrics.wasted);
        let (used, wasted) = memory.unwrap_or_default();
        let waste = Waste { applications: 1, known: u64::from(memory.is_some()), used, wasted };
        let short = |name: &Option<String>| {
            name.as_deref().map(|name| name.chars().take(MOST_CHARACTERS).collect::<String>())
        };
        let job = GroupName { name: Some(app.job_key().to_string()), user: short(&app.user) };
        let alone = |name| GroupName { name, user: None };
        let groups = [
            (&mut self.jobs, job),
            (&mut self.users, alone(short(&app.user))),
            (&mut self.queues, alone(short(&app.queue))),
            (&mut self.days, alone(app.day())),
        ];
        for (groups, name) in groups {
            groups.entry(name).or_default().add(waste);
        }
    }

    #[must_use]
    pub(crate) fn finish(self) -> Rollups {
        let Self { jobs, users, queues, days } = self;
        let [jobs, users, queues] = [jobs, users, queues].map(|groups| worst(groups, MOST_GROUPS));
        let mut days = worst(days, MOST_DAYS);
        days.groups.sort_by(|(a, _), (b, _)| a.cmp(b));
        Rollups { jobs, users, queues, days }
    }
}

/// The groups that waste most.
fn worst(groups: Groups, most: usize) -> Rollup {
    let mut groups: Vec<_> = groups.into_iter().collect();
    // The sort is stable: equals stay in the order of their names.
    groups
        .sort_by_key(|(_, waste)| (Reverse(waste.wasted), Reverse(waste.used), Reverse(waste.applications)));
    let others = groups.split_off(groups.len().min(most));
    Rollup { groups, others: sum(&others) }
}

fn sum(groups: &[(GroupName, Waste)]) -> Option<(u64, Waste)> {
    let mut sum = Waste::default();
    for (_, waste) in groups {
        sum.add(*waste);
    }
    (!groups.is_empty()).then_some((groups.len() as u64, sum))
}

#[doc(hidden)]
impl ApplicationReport {
    /// When it started or, if that is unknown, when it was submitted.
    #[must_use]
    pub fn begun_at(&self) -> Option<Timestamp> {
        self.started_at.or(self.submitted_at)
    }

    /// The day on which it started, in UTC: `2026-11-21`.
    #[must_use]
    pub fn day(&self) -> Option<String> {
        let text = self.begun_at()?.to_rfc3339()?;
        text.split_once('T').map(|(day, _)| day.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::{Bytes, Millis};

    fn run(id: u64, user: &str, day: i64, wasted: u64) -> ApplicationReport {
        let mut app = ApplicationReport::blank(&format!("app-{id}"));
        app.user = Some(user.to_owned());
        app.started_at = Some(Timestamp::from_millis(1_700_000_000_000 + day * 86_400_000));
        let held = |mib| Some(MbMillis::of(Bytes::from_mib(mib), Millis::new(1000)));
        (app.metrics.used, app.metrics.wasted) = (held(2 * wasted), held(wasted));
        app
    }

    #[test]
    fn the_groups_that_waste_most_come_first_and_none_is_lost() {
        let runs: Vec<_> =
            (0..40).map(|n| run(n, &format!("user{}", n % 20), i64::try_from(n).unwrap(), n)).collect();
        let of = |runs: &mut dyn Iterator<Item = &ApplicationReport>| {
            let mut sums = RollupSums::default();
            runs.for_each(|run| sums.add(run));
            sums.finish()
        };
        let rollups = of(&mut runs.iter());
        assert_eq!(rollups, of(&mut runs.iter().rev()));
        let Rollup { groups, others } = &rollups.users;
        assert_eq!(groups[0].0.name.as_deref(), Some("user19"));
        assert_eq!(groups[0].1.applications, 2);
        assert_eq!(groups[0].1.percent(), Some(50.0));
        assert_eq!((groups.len(), others.map(|(groups, _)| groups)), (MOST_GROUPS, Some(12)));
        for rollup in [&rollups.jobs, &rollups.users, &rollups.queues, &rollups.days] {
            let shown = rollup.groups.iter().map(|(_, waste)| *waste);
            let mut all = Waste::default();
            shown.chain(rollup.others.map(|(_, waste)| waste)).for_each(|waste| all.add(waste));
            assert_eq!(all.applications, 40);
        }
        let days: Vec<_> = rollups.days.groups.iter().filter_map(|(day, _)| day.name.clone()).collect();
        assert!(days.len() == MOST_DAYS && days.is_sorted(), "{days:?}");
        assert_eq!(days.last().map(String::as_str), Some("2023-12-23"));
        // Days that waste much are never hidden, however long ago they were.
        let early: Vec<_> = (0..40).map(|n| run(n, "alice", i64::try_from(n).unwrap(), 100 - n)).collect();
        let days = of(&mut early.iter()).days;
        assert_eq!(days.groups[0].0.name.as_deref(), Some("2023-11-14"));
    }

    #[test]
    fn jobs_of_one_name_by_two_users_are_two_groups() {
        let mut sums = RollupSums::default();
        for (id, user) in [(1, "alice"), (2, "bob"), (3, "bob")] {
            let name = Some(format!("etl 2026-11-2{id}"));
            sums.add(&ApplicationReport { name, ..run(id, user, 0, 10 * id) });
        }
        let groups = sums.finish().jobs.groups;
        let of = |(name, waste): &(GroupName, Waste)| (name.user.clone().unwrap(), waste.applications);
        assert_eq!(
            groups.iter().map(of).collect::<Vec<_>>(),
            [("bob".to_owned(), 2), ("alice".to_owned(), 1)]
        );
    }

    #[test]
    fn memory_counts_only_where_the_waste_is_known() {
        let mut unknown = run(1, "alice", 0, 100);
        unknown.metrics.wasted = None;
        let mut sums = RollupSums::default();
        sums.add(&unknown);
        sums.add(&run(2, "alice", 0, 50));
        let Rollups { users, .. } = sums.finish();
        let [(_, alice)] = users.groups.as_slice() else { panic!("{users:?}") };
        assert_eq!((alice.applications, alice.known, alice.percent()), (2, 1, Some(50.0)));
    }
}
