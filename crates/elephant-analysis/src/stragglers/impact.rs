//! Cost of stragglers over a set of jobs: the statistics of S2's table 2, and those of speculation (S0 tables
//! 2, 3).

mod distributions;

use std::collections::BTreeMap;

use crate::stragglers::cause::Params;
use crate::stragglers::labels::Limit;
use elephant_base::state::State;
use elephant_base::stats::descriptive::{median, pearson, skewness};
use elephant_base::stats::false_discovery::benjamini_hochberg;
use elephant_base::stats::strata::Strata;
use elephant_base::units::Millis;

pub use distributions::{
    DelayDistribution, DelayStep, Quantiles, ServerDistribution, ServerStep, delay_share,
};

/// One judged task: its duration in seconds, whether it is a straggler, and its server.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedTask {
    /// Seconds.
    pub duration: f64,
    /// Whether it is a straggler; `None` if unknown, so that it only counts as undetermined.
    pub straggler: Option<bool>,
    /// The server.
    pub node: Option<String>,
}

/// The tasks of one group with the limit they were compared with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JudgedGroup {
    /// The limit; `None` if the group cannot have stragglers.
    pub limit: Option<Limit>,
    /// The tasks.
    pub tasks: Vec<JudgedTask>,
}

/// Cost of the stragglers of one group, or of all groups of a job.
#[derive(Debug, Clone, Default, PartialEq, State)]
#[non_exhaustive]
pub struct JobImpact {
    /// Tasks with a label.
    pub tasks: u64,
    /// Stragglers among them.
    pub stragglers: u64,
    /// Tasks whose label is unknown: they were killed before they would have been stragglers.
    pub undetermined: u64,
    /// Seconds that each straggler took beyond the reference.
    pub excesses: Vec<f64>,
    /// Seconds from the end of the slowest other task to the end of the slowest straggler, summed over the
    /// groups. For groups that ran at the same time this is more than the job lost.
    pub delay: Option<f64>,
    /// How much longer the job took because of its stragglers ([`delay_share`]); `None` if it has none, or if its times
    /// are unknown.
    pub delay_share: Option<f64>,
    /// Sum of all durations in seconds.
    pub time: f64,
    /// Tasks and stragglers by server, where the server is known.
    pub servers: BTreeMap<String, ServerTasks>,
}

/// Tasks of one server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct ServerTasks {
    /// Tasks with a label.
    pub tasks: u64,
    /// Stragglers among them.
    pub stragglers: u64,
}

#[doc(hidden)]
impl JobImpact {
    /// Cost of the stragglers of one job.
    #[must_use]
    pub fn of<'a>(groups: impl IntoIterator<Item = &'a JudgedGroup>) -> Self {
        let mut impact = Self::default();
        for group in groups {
            impact.add(group);
        }
        impact
    }

    /// With the time in which the job only waited for stragglers, and the time that it took, if known.
    #[must_use]
    pub fn with_times(self, waited: Millis, took: Option<Millis>) -> Self {
        let took = took.filter(|_| self.stragglers > 0);
        Self { delay_share: took.and_then(|took| delay_share(waited, took)), ..self }
    }

    /// Seconds of all stragglers beyond their reference, over the seconds of all tasks.
    #[must_use]
    pub fn extra_compute(&self) -> Option<f64> {
        (self.time > 0.0).then(|| self.excesses.iter().fold(0.0, |sum, excess| sum + excess) / self.time)
    }

    fn add(&mut self, group: &JudgedGroup) {
        let labelled = || group.tasks.iter().filter_map(|task| Some((task, task.straggler?)));
        self.undetermined += group.tasks.iter().filter(|task| task.straggler.is_none()).count() as u64;
        for (task, straggler) in labelled() {
            self.tasks += 1;
            self.time += task.duration;
            self.stragglers += u64::from(straggler);
            if let Some(limit) = group.limit.filter(|_| straggler) {
                self.excesses.push(task.duration - limit.reference);
            }
            if let Some(node) = &task.node {
                if !self.servers.contains_key(node) {
                    self.servers.insert(node.clone(), ServerTasks::default());
                }
                if let Some(server) = self.servers.get_mut(node) {
                    server.tasks += 1;
                    server.stragglers += u64::from(straggler);
                }
            }
        }
        let longest = |among: bool| {
            let durations = labelled().filter(|&(_, straggler)| straggler == among);
            durations.map(|(task, _)| task.duration).max_by(f64::total_cmp)
        };
        if let (Some(straggler), Some(other)) = (longest(true), longest(false)) {
            *self.delay.get_or_insert(0.0) += straggler - other;
        }
    }
}

/// The statistics of S2's table 2 over many jobs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Impact {
    /// Tasks with a label.
    pub tasks: u64,
    /// Stragglers among them.
    pub stragglers: u64,
    /// Tasks whose label is unknown, in addition.
    pub undetermined: u64,
    /// Jobs.
    pub jobs: u64,
    /// Jobs with a straggler.
    pub jobs_hit: u64,
    /// Median over stragglers of the seconds beyond the reference.
    pub median_excess: Option<f64>,
    /// Median, over jobs with stragglers, of the seconds from the end of the slowest other task to the end of
    /// the slowest straggler.
    pub median_job_delay: Option<f64>,
    /// How much longer the jobs with stragglers took because of them.
    pub delays: DelayDistribution,
    /// Seconds of all stragglers beyond their reference, over the seconds of all tasks.
    pub extra_compute: Option<f64>,
    /// Servers that ran a task.
    pub servers: u64,
    /// Servers that ran a straggler.
    pub servers_hit: u64,
    /// Skewness of stragglers per server.
    pub server_skewness: Option<f64>,
    /// Stragglers per server.
    pub per_server: ServerDistribution,
    /// The servers with the most stragglers, at most ten; ties in name order.
    pub worst_servers: Vec<(String, ServerTasks)>,
    /// The servers on which clearly and significantly more tasks were stragglers than on others in the same jobs, in
    /// the order of their names.
    pub slow_servers: Vec<SlowServer>,
}

/// A server with many stragglers over all jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowServer {
    /// Its name.
    pub name: String,
    /// What it ran, in jobs that ran on others, too.
    pub ran: ServerTasks,
    /// How many of these tasks would be stragglers on the other servers.
    pub expected: f64,
    /// The jobs in which it had stragglers.
    pub jobs: u64,
}

/// How many servers [`Impact::worst_servers`] names.
const WORST_SERVERS: usize = 10;

#[doc(hidden)]
impl Impact {
    /// Sums up jobs.
    #[must_use]
    pub fn of<'a>(jobs: impl IntoIterator<Item = &'a JobImpact>) -> Self {
        let mut sums = ImpactSums::default();
        jobs.into_iter().for_each(|job| sums.add(job));
        sums.finish(&Params::default())
    }
}

/// The statistics of jobs that are added one at a time.
#[derive(Debug, Default)]
pub struct ImpactSums {
    tasks: u64,
    stragglers: u64,
    undetermined: u64,
    jobs: u64,
    jobs_hit: u64,
    time: f64,
    excesses: Vec<f64>,
    delays: Vec<f64>,
    delay_shares: Vec<f64>,
    servers: BTreeMap<Box<str>, ServerSum>,
}

/// One server over all jobs.
#[derive(Debug, Default)]
struct ServerSum {
    ran: ServerTasks,
    /// Compared with the others, job by job.
    peers: Strata,
    jobs_hit: u64,
}

impl ImpactSums {
    /// Adds a job.
    pub fn add(&mut self, job: &JobImpact) {
        self.jobs += 1;
        self.tasks += job.tasks;
        self.stragglers += job.stragglers;
        self.undetermined += job.undetermined;
        self.jobs_hit += u64::from(job.stragglers > 0);
        self.time += job.time;
        self.excesses.extend_from_slice(&job.excesses);
        self.delays.extend(job.delay);
        self.delay_shares.extend(job.delay_share);
        let (all, hits) =
            job.servers.values().fold((0, 0), |(all, hits), ran| (all + ran.tasks, hits + ran.stragglers));
        for (name, ran) in &job.servers {
            let server = match self.servers.get_mut(name.as_str()) {
                Some(server) => server,
                None => self.servers.entry(name.as_str().into()).or_default(),
            };
            server.ran.tasks += ran.tasks;
            server.ran.stragglers += ran.stragglers;
            server.jobs_hit += u64::from(ran.stragglers > 0);
            if ran.tasks < all {
                server.peers += Strata::of_part((ran.tasks, ran.stragglers), (all, hits));
            }
        }
    }

    /// The statistics of all jobs; `params` has the limits for slow servers.
    #[must_use]
    pub fn finish(self, params: &Params) -> Impact {
        let Self { tasks, stragglers, undetermined, jobs, jobs_hit, time, excesses, delays, .. } = self;
        let (servers, delay_shares) = (self.servers, self.delay_shares);
        let per_server: Vec<u64> = servers.values().map(|server| server.ran.stragglers).collect();
        let counts: Vec<f64> = per_server.iter().map(|&count| count as f64).collect();
        let mut worst: Vec<(&str, ServerTasks)> = servers
            .iter()
            .filter(|(_, server)| server.ran.stragglers > 0)
            .map(|(name, server)| (&**name, server.ran))
            .collect();
        let servers_hit = worst.len() as u64;
        // Already in name order; the stable sort keeps it for ties.
        worst.sort_by_key(|(_, server)| std::cmp::Reverse(server.stragglers));
        worst.truncate(WORST_SERVERS);
        Impact {
            tasks,
            stragglers,
            undetermined,
            jobs,
            jobs_hit,
            median_excess: median(&excesses),
            median_job_delay: median(&delays),
            delays: DelayDistribution::of(delay_shares),
            extra_compute: (time > 0.0).then(|| excesses.iter().fold(0.0, |sum, excess| sum + excess) / time),
            servers: servers.len() as u64,
            servers_hit,
            server_skewness: skewness(&counts),
            per_server: ServerDistribution::of(per_server),
            worst_servers: worst.into_iter().map(|(name, server)| (name.to_owned(), server)).collect(),
            slow_servers: slow_servers(&servers, params),
        }
    }
}

/// The servers with clearly and significantly more stragglers, by the limits for slow nodes within an application.
fn slow_servers(servers: &BTreeMap<Box<str>, ServerSum>, params: &Params) -> Vec<SlowServer> {
    // In a single job, the node was tested by its causes, within each of its groups.
    let tested = |server: &ServerSum| server.jobs_hit > 1 && server.peers.members >= params.node_min_tasks;
    let tested = servers.iter().filter(|(_, server)| tested(server));
    let tested: Vec<(&str, &ServerSum)> = tested.map(|(name, server)| (&**name, server)).collect();
    let by_chance: Vec<f64> = tested.iter().map(|(_, server)| server.peers.p_value()).collect();
    let slow = |((name, server), by_chance): ((&str, &ServerSum), f64)| {
        let (own, others) = server.peers.shares()?;
        let clearly = own >= params.node_straggler_share && own >= params.node_rate_factor * others;
        let ran = ServerTasks { tasks: server.peers.members, stragglers: server.peers.hits };
        let (name, expected, jobs) = (name.to_owned(), server.peers.expected, server.jobs_hit);
        (clearly && by_chance <= params.false_discovery_rate).then_some(SlowServer {
            name,
            ran,
            expected,
            jobs,
        })
    };
    tested.into_iter().zip(benjamini_hochberg(&by_chance)).filter_map(slow).collect()
}

/// Speculation in one job (S0 table 2).
#[derive(Debug, Clone, Copy, Default, PartialEq, State)]
pub struct Speculation {
    /// Copies launched.
    pub copies: u64,
    /// Copies that won.
    pub won: u64,
    /// Seconds of attempts, copies and originals, that lost to another attempt of their task.
    pub lost_seconds: f64,
    /// The longest task over the mean: the largest ratio of the job's groups.
    pub heavy_tail: Option<f64>,
    /// Tasks.
    pub tasks: u64,
}

/// Pearson's correlation, over jobs, between the share of tasks whose copy won and the heaviness of the tail.
/// S0 finds −0.14 to 0.055, so it is only background information.
#[must_use]
pub fn tail_correlation(jobs: &[Speculation]) -> Option<f64> {
    let known = jobs.iter().filter_map(|job| {
        let share = (job.tasks > 0).then(|| job.won as f64 / job.tasks as f64)?;
        Some((share, job.heavy_tail?))
    });
    let (shares, tails): (Vec<f64>, Vec<f64>) = known.unzip();
    pearson(&shares, &tails)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stragglers::labels::Labelling;

    fn judged(tasks: &[(f64, &str)]) -> JudgedGroup {
        let durations: Vec<f64> = tasks.iter().map(|task| task.0).collect();
        let labels = Labelling::MEDIAN.label(&durations);
        let tasks = tasks.iter().zip(labels).map(|(&(duration, node), straggler)| JudgedTask {
            duration,
            straggler: Some(straggler),
            node: Some(node.to_owned()),
        });
        JudgedGroup { limit: Labelling::MEDIAN.limit(&durations), tasks: tasks.collect() }
    }

    #[test]
    fn groups_of_a_job_add_up() {
        let maps = judged(&[(10.0, "a"), (10.0, "b"), (40.0, "b")]);
        let reduces = judged(&[(5.0, "a"), (5.0, "b"), (9.0, "a")]);
        let job = JobImpact::of([&maps, &reduces]);
        assert_eq!((job.tasks, job.stragglers, job.delay), (6, 2, Some(34.0)));
        assert_eq!(job.excesses, [30.0, 4.0]);
        let impact = Impact::of([&job, &JobImpact::default()]);
        assert_eq!((impact.jobs, impact.jobs_hit, impact.servers, impact.servers_hit), (2, 1, 2, 2));
        assert_eq!(impact.worst_servers[0], ("a".to_owned(), ServerTasks { tasks: 3, stragglers: 1 }));
        assert_eq!(impact.extra_compute, Some(34.0 / 79.0));
    }

    #[test]
    fn a_server_may_be_slow_over_many_jobs_and_not_in_one() {
        let usual = || (0..12).map(|task| (10.0, ["a", "b", "c"][task % 3]));
        let slow: Vec<(f64, &str)> = usual().chain([(25.0, "d"), (25.0, "d")]).collect();
        let job = JobImpact::of([&judged(&slow)]);
        let one = Impact::of([&job]);
        assert!(one.slow_servers.is_empty(), "two tasks may be chance");
        let all = Impact::of([&job; 20]);
        let found: Vec<(&str, u64, u64, u64)> = all
            .slow_servers
            .iter()
            .map(|slow| (&*slow.name, slow.ran.tasks, slow.ran.stragglers, slow.jobs))
            .collect();
        assert_eq!(found, [("d", 40, 40, 20)]);
        assert!(all.slow_servers[0].expected.abs() < 1e-9);
        // Stragglers everywhere are no sign of a slow server.
        let alike: Vec<(f64, &str)> = usual().chain([(25.0, "a"), (25.0, "b"), (25.0, "c")]).collect();
        assert!(Impact::of([&JobImpact::of([&judged(&alike)]); 20]).slow_servers.is_empty());
    }

    #[test]
    fn without_jobs_all_statistics_are_unknown() {
        let impact = Impact::of([]);
        assert_eq!((impact.tasks, impact.extra_compute, impact.median_excess), (0, None, None));
        assert_eq!(tail_correlation(&[]), None);
    }

    #[test]
    fn a_job_of_stragglers_only_has_no_delay() {
        let group = JudgedGroup {
            limit: None,
            tasks: vec![JudgedTask { duration: 3.0, straggler: Some(true), node: None }],
        };
        assert_eq!(JobImpact::of([&group]).delay, None);
        let waited = Millis::from_secs(3);
        assert_eq!(JobImpact::of([&group]).with_times(waited, Some(waited)).delay_share, None);
    }

    #[test]
    fn jobs_without_stragglers_or_times_are_in_no_step_of_delays() {
        let hit = || JobImpact::of([&judged(&[(10.0, "a"), (10.0, "b"), (40.0, "b")])]);
        let usual = JobImpact::of([&judged(&[(10.0, "a"), (10.0, "c")])]);
        let (none, half_a_minute, took) = (Millis::ZERO, Millis::from_secs(30), Some(Millis::from_secs(40)));
        let jobs = [
            hit().with_times(half_a_minute, took),
            hit().with_times(none, took),
            hit().with_times(none, None),
            usual.with_times(none, took),
        ];
        assert_eq!(jobs.each_ref().map(|job| job.delay_share), [Some(3.0), Some(0.0), None, None]);
        let impact = Impact::of(&jobs);
        assert_eq!((impact.jobs, impact.jobs_hit, impact.delays.jobs), (4, 3, 2));
        assert_eq!(impact.delays.quantiles.map(|found| (found.median, found.maximum)), Some((1.5, 3.0)));
        let steps = impact.per_server.steps.iter().map(|step| (step.from, step.to, step.servers));
        assert_eq!(steps.collect::<Vec<_>>(), [(0, 0, 2), (1, 1, 0), (2, 2, 0), (3, 4, 1)]);
    }

    #[test]
    fn tasks_without_a_label_are_counted_apart() {
        let mut group = judged(&[(10.0, "a"), (10.0, "b"), (40.0, "b"), (5.0, "a")]);
        group.tasks[3].straggler = None;
        let impact = Impact::of(&[JobImpact::of([&group])]);
        assert_eq!((impact.tasks, impact.stragglers, impact.undetermined), (3, 1, 1));
    }
}
