//! How the impact of stragglers is distributed over jobs and servers (S2, figures 3 and 4).

use elephant_base::stats::descriptive::quantile_of_sorted;
use elephant_base::units::Millis;

/// The upper ends of the steps of delays, as shares of the time without the delay. The first step is for jobs without a
/// delay; what is above the last end has a step of its own, because S2 quotes delays of up to 1000 %.
const DELAYS: [f64; 8] = [0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0];

/// Quantiles of a distribution, interpolated like all quantiles.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Quantiles {
    /// The 0.25-quantile.
    pub first_quartile: f64,
    /// The median.
    pub median: f64,
    /// The 0.75-quantile.
    pub third_quartile: f64,
    /// The 0.9-quantile.
    pub p90: f64,
    /// The largest value.
    pub maximum: f64,
}

impl Quantiles {
    fn of_sorted(sorted: &[f64]) -> Option<Self> {
        let quantile = |q| quantile_of_sorted(sorted, q);
        Some(Self {
            first_quartile: quantile(0.25)?,
            median: quantile(0.5)?,
            third_quartile: quantile(0.75)?,
            p90: quantile(0.9)?,
            maximum: *sorted.last()?,
        })
    }
}

/// How much longer jobs took because of their stragglers (S2, figure 3).
///
/// S2 plots the "job execution delay" in percent without a definition; a job has to wait until its stragglers have
/// completed, too. Here it is [`delay_share`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DelayDistribution {
    /// Jobs with stragglers whose delay is known, also those with a delay of zero.
    pub jobs: u64,
    /// Quantiles of their delays as shares; `None` without jobs.
    pub quantiles: Option<Quantiles>,
    /// The jobs by delay, in steps that are the same for all reports.
    pub steps: Vec<DelayStep>,
}

/// Jobs with about the same delay.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DelayStep {
    /// Their delays are above this share; `None` for jobs without a delay.
    pub above: Option<f64>,
    /// Their delays are at most this share; `None` for the last step.
    pub to: Option<f64>,
    /// The number of jobs.
    pub jobs: u64,
}

impl DelayDistribution {
    /// The distribution of delays as shares.
    pub(super) fn of(mut delays: Vec<f64>) -> Self {
        delays.sort_unstable_by(f64::total_cmp);
        let mut before = 0;
        let mut above = None;
        let mut steps = Vec::with_capacity(DELAYS.len() + 1);
        for to in DELAYS.into_iter().map(Some).chain([None]) {
            let up_to = to.map_or(delays.len(), |to| delays.partition_point(|&delay| delay <= to));
            steps.push(DelayStep { above, to, jobs: (up_to - before) as u64 });
            (before, above) = (up_to, to);
        }
        Self { jobs: delays.len() as u64, quantiles: Quantiles::of_sorted(&delays), steps }
    }
}

/// The time in which a job only waited for stragglers, over the rest of its time: how much longer it took than it
/// would have taken without waiting for them. `took` is from the start of its first task to the end of its last. For a job
/// whose tasks start together, that is by how much its slowest straggler exceeds its slowest other task. `None` if there is
/// no other time.
#[must_use]
pub fn delay_share(waited: Millis, took: Millis) -> Option<f64> {
    let others = took.get().checked_sub(waited.get()).filter(|&others| others > 0)?;
    Some(waited.as_f64() / Millis::new(others).as_f64())
}

/// How many stragglers servers had (S2, figure 4).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerDistribution {
    /// Quantiles of stragglers per server; `None` without servers.
    pub quantiles: Option<Quantiles>,
    /// The servers by number of stragglers: 0, 1, 2, 3 to 4, 5 to 8, and so on, up to the most of any server.
    pub steps: Vec<ServerStep>,
}

/// Servers with about the same number of stragglers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStep {
    /// The fewest stragglers.
    pub from: u64,
    /// The most stragglers.
    pub to: u64,
    /// The number of servers.
    pub servers: u64,
}

impl ServerDistribution {
    /// The distribution of the numbers of stragglers.
    pub(super) fn of(mut stragglers: Vec<u64>) -> Self {
        stragglers.sort_unstable();
        let (mut steps, mut before, mut from, mut to) = (Vec::new(), 0, 0, 0u64);
        while before < stragglers.len() {
            let up_to = stragglers.partition_point(|&count| count <= to);
            steps.push(ServerStep { from, to, servers: (up_to - before) as u64 });
            (before, from, to) =
                (up_to, to.saturating_add(1), to.saturating_mul(2).max(to.saturating_add(1)));
        }
        let sorted: Vec<f64> = stragglers.into_iter().map(|count| count as f64).collect();
        Self { quantiles: Quantiles::of_sorted(&sorted), steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seconds(waited: u64, took: u64) -> Option<f64> {
        delay_share(Millis::from_secs(waited), Millis::from_secs(took))
    }

    #[test]
    fn a_delay_is_a_share_of_the_time_without_it() {
        assert_eq!((seconds(30, 40), seconds(0, 40), seconds(1, 11)), (Some(3.0), Some(0.0), Some(0.1)));
        // Without other tasks, nothing is known of the time without the delay.
        assert_eq!((seconds(40, 40), seconds(50, 40), seconds(0, 0)), (None, None, None));
    }

    #[test]
    fn delays_at_an_end_belong_to_the_step_below() {
        let delays = vec![0.0, 0.0, 0.001, 0.1, 0.11, 2.0, 10.0, 10.001, 99.0];
        let found = DelayDistribution::of(delays);
        let jobs: Vec<u64> = found.steps.iter().map(|step| step.jobs).collect();
        assert_eq!((found.jobs, jobs), (9, vec![2, 2, 1, 0, 0, 1, 0, 1, 2]));
        let end = |step: Option<&DelayStep>| step.map(|step| (step.above, step.to));
        assert_eq!(end(found.steps.first()), Some((None, Some(0.0))));
        assert_eq!(end(found.steps.last()), Some((Some(10.0), None)));
        let quantiles = found.quantiles.unwrap();
        assert_eq!((quantiles.first_quartile, quantiles.median, quantiles.maximum), (0.001, 0.11, 99.0));
    }

    #[test]
    fn without_jobs_or_servers_there_are_no_quantiles() {
        let none = DelayDistribution::of(Vec::new());
        assert_eq!((none.jobs, none.quantiles, none.steps.len()), (0, None, 9));
        assert!(none.steps.iter().all(|step| step.jobs == 0));
        let none = ServerDistribution::of(Vec::new());
        assert_eq!((none.quantiles, none.steps), (None, Vec::new()));
    }

    #[test]
    fn servers_are_counted_in_steps_that_double() {
        let steps = |stragglers: &[u64]| -> Vec<(u64, u64, u64)> {
            let found = ServerDistribution::of(stragglers.to_vec());
            found.steps.into_iter().map(|step| (step.from, step.to, step.servers)).collect()
        };
        assert_eq!(steps(&[0, 0, 0]), [(0, 0, 3)]);
        assert_eq!(
            steps(&[9, 0, 1, 4, 3, 1]),
            [(0, 0, 1), (1, 1, 2), (2, 2, 0), (3, 4, 2), (5, 8, 0), (9, 16, 1)]
        );
        assert_eq!(steps(&[u64::MAX]).last().map(|step| (step.1, step.2)), Some((u64::MAX, 1)));
    }

    proptest! {
        #[test]
        fn every_job_and_server_is_in_one_step(
            delays in prop::collection::vec(0.0f64..20.0, 0..40),
            stragglers in prop::collection::vec(0u64..2000, 0..40),
        ) {
            for step in DelayDistribution::of(delays.clone()).steps {
                let is_in = |delay: &&f64| match (step.above, step.to) {
                    (None, to) => to == Some(**delay),
                    (Some(above), None) => **delay > above,
                    (Some(above), Some(to)) => **delay > above && **delay <= to,
                };
                prop_assert_eq!(step.jobs, delays.iter().filter(is_in).count() as u64);
            }
            let steps = ServerDistribution::of(stragglers.clone()).steps;
            let sum: u64 = steps.iter().map(|step| step.servers).sum();
            prop_assert_eq!(sum, stragglers.len() as u64);
            for step in steps {
                let inside = stragglers.iter().filter(|&&count| (step.from..=step.to).contains(&count));
                prop_assert_eq!(step.servers, inside.count() as u64);
            }
        }
    }
}
