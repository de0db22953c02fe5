//! Indicators of one node (S1, table 1).

use super::cluster::{NodeSample, Scores};
use super::fit::{self, Fit};
use super::levels::Interval;
use super::losses::Losses;
use super::settings::{IntervalKind, Settings};
use super::trend::Trend;
use elephant_base::stats::descriptive::{mean, quantile_of_sorted, standard_deviation};
use elephant_base::stats::strata::Strata;
use elephant_base::stats::{normal, proportion, student};

/// One node with its indicators.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Node {
    /// The host.
    pub name: Box<str>,
    /// Its rack, if logged.
    pub rack: Option<Box<str>>,
    /// Its type, if declared.
    pub kind: Option<Box<str>>,
    /// Attempts with a z-score: successful ones, and originals that a copy overtook.
    pub tasks: u64,
    /// Originals among them that a copy overtook; their z-scores are lower bounds.
    pub overtaken: u64,
    /// Their mean z-score.
    pub mean: Option<f64>,
    /// Their standard deviation (with `n - 1`).
    pub deviation: Option<f64>,
    /// The confidence interval of the mean, from Student's t.
    pub mean_interval: Option<Interval>,
    /// The interval for single tasks, by the best fit.
    pub prediction_interval: Option<Interval>,
    /// Which of the two intervals decides the level.
    pub interval_kind: IntervalKind,
    /// The quantile set in the settings, by the best fit.
    pub quantile: Option<f64>,
    /// The same quantile of the sample itself.
    pub sample_quantile: Option<f64>,
    /// The probability of an extreme value, by the best fit.
    pub extreme_value: Option<f64>,
    /// Number of stragglers by duration.
    pub stragglers: u64,
    /// Their share of the tasks.
    pub straggler_share: Option<f64>,
    /// Wilson's interval of that share.
    pub straggler_interval: Option<Interval>,
    /// The share of stragglers that other nodes have in the same groups; `None` if no group ran on other nodes, too.
    pub others_straggler_share: Option<f64>,
    /// The probability of at least this many stragglers if the node were like the others, adjusted for the
    /// number of ranked nodes, or of those that may be suspected; `None` if no group ran on other nodes, too.
    pub more_stragglers_by_chance: Option<f64>,
    /// Whether its tasks are slower by enough to act on: by the mean z-score, or by a share of stragglers that is not
    /// chance.
    pub clearly_slow: bool,
    /// Whether it ran too few tasks to be ranked, and clearly and significantly more of them were stragglers than on
    /// other nodes.
    pub suspected: bool,
    /// Whether it lost many of its executors, clearly and significantly more than other nodes of the same applications.
    pub failed: bool,
    /// What was lost on it.
    pub losses: Losses,
    /// Its executors, and those that were lost, in applications that had executors on other nodes, too, and lost some.
    pub executors: Strata,
    /// The applications whose tasks have z-scores on it.
    pub applications: u64,
    /// Whether there is enough evidence to take it out of service: it failed, or it was a straggler in several applications.
    pub to_exclude: bool,
    /// All fits, in family order.
    pub fits: Vec<Fit>,
    /// Candidates for the best fit, as indices into `fits`, best first.
    pub best_fits: Vec<usize>,
    /// The node's scores by day.
    pub trend: Trend,
    /// The performance level, 0 for the worst; `None` if the node is not ranked.
    pub level: Option<u32>,
}

#[doc(hidden)]
impl Node {
    /// Computes everything except the values that depend on the other nodes: the level, whether the node has
    /// significantly more stragglers, and whether it is suspected.
    #[must_use]
    pub(crate) fn of(sample: NodeSample, settings: &Settings) -> Self {
        let NodeSample { name, rack, scores } = sample;
        let Scores { values, stragglers, overtaken, peers, losses, executors, applications, days } = scores;
        let tasks = values.len() as u64;
        let (mean, deviation) = (mean(&values), standard_deviation(&values, 1));
        let shares = peers.shares();
        let by_mean = mean.is_some_and(|mean| mean >= settings.slow_mean);
        let mut sorted = values;
        sorted.sort_unstable_by(f64::total_cmp);
        let fits = fit::fit_all(&sorted);
        let best_fits: Vec<usize> = fit::ranked(&fits)
            .into_iter()
            .filter_map(|best| fits.iter().position(|fit| fit.family() == best.family()))
            .collect();
        let best = best_fits.first().and_then(|&place| fits.get(place)).map(|fit| fit.distribution);
        let tail = 0.5 - 0.5 * settings.confidence;
        let ends = best.and_then(|best| Some((best.quantile(tail)?, best.quantile(1.0 - tail)?)));
        let interval = |(low, high): (f64, f64)| Interval { low, high };
        let z = normal::quantile(1.0 - tail);
        Self {
            name,
            rack,
            kind: None,
            tasks,
            overtaken,
            mean,
            deviation,
            mean_interval: student::interval_of_mean(mean, deviation, tasks, settings.confidence)
                .map(interval),
            prediction_interval: ends.map(interval),
            interval_kind: settings.interval,
            quantile: best.and_then(|best| best.quantile(settings.quantile)),
            sample_quantile: quantile_of_sorted(&sorted, settings.quantile),
            extreme_value: best.and_then(|best| best.survival(settings.extreme)),
            stragglers,
            straggler_share: (tasks > 0).then(|| stragglers as f64 / tasks as f64),
            straggler_interval: z.and_then(|z| proportion::wilson(stragglers, tasks, z)).map(interval),
            others_straggler_share: shares.map(|(_, others)| others),
            more_stragglers_by_chance: shares.map(|_| peers.p_value()),
            clearly_slow: by_mean,
            suspected: false,
            failed: false,
            losses,
            executors,
            applications,
            to_exclude: false,
            fits,
            best_fits,
            trend: Trend::of(&days, settings),
            level: None,
        }
    }

    /// The interval that decides the level.
    #[must_use]
    pub const fn interval(&self) -> Option<Interval> {
        match self.interval_kind {
            IntervalKind::MeanConfidence => self.mean_interval,
            IntervalKind::Prediction => self.prediction_interval,
        }
    }

    /// Whether the node is a straggler: no node is significantly slower, and its tasks are significantly and clearly
    /// slower than other tasks of their groups.
    #[must_use]
    pub fn is_straggler(&self) -> bool {
        self.is_significantly_slow() && self.clearly_slow
    }

    /// Whether its tasks are significantly slower than others, and no node is significantly slower. With many tasks the
    /// smallest difference is significant.
    #[must_use]
    pub fn is_significantly_slow(&self) -> bool {
        self.level == Some(0) && self.interval().is_some_and(|interval| interval.low > 0.0)
    }

    /// The best fit.
    #[must_use]
    pub fn best(&self) -> Option<&Fit> {
        self.best_fits.first().and_then(|&place| self.fits.get(place))
    }
}
