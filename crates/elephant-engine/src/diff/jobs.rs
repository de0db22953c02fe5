//! The pairs of each job, for reports that show a job instead of every pair of its runs.

use std::collections::BTreeMap;

use super::{Diff, Figure, Move, Pair, SAME_RUN_TIME};
use crate::results::Sort;
use elephant_base::severity::Severity;

type Key<'a> = (&'a str, &'a str, Option<&'a str>);

/// The pairs of one job by one user.
#[derive(Debug, Clone)]
pub struct JobPairs<'a> {
    /// All its pairs, in the order of the report.
    pub pairs: Vec<&'a Pair>,
    /// Those that changed, the one that changed most first; not empty.
    pub changed: Vec<&'a Pair>,
    /// Their costs together.
    pub total: Total,
}

/// The costs of several pairs together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Total {
    /// Sums over the pairs of which both sides are known; costs that are known of no pair are absent.
    pub figures: Vec<Figure>,
    /// Pairs whose second side took longer by more than two equal runs differ.
    pub slower: usize,
    /// Pairs whose second side took less time.
    pub faster: usize,
    /// Pairs with both run times.
    pub known: usize,
}

/// The costs that are added up.
const SUMMED: [&str; 3] = ["runtime_ms", "resource_used_gb_hours", "core_hours_used"];

impl Total {
    /// The sums over pairs.
    pub fn of<'p>(pairs: impl IntoIterator<Item = &'p Pair>) -> Self {
        let mut total = Self::default();
        for pair in pairs {
            for key in SUMMED {
                let known = pair.figure(key).and_then(|figure| Some((figure, figure.a.zip(figure.b)?)));
                let Some((figure, (a, b))) = known else { continue };
                match total.figures.iter_mut().find(|sum| sum.key == key) {
                    Some(sum) => {
                        sum.a = sum.a.map(|sum| sum + a);
                        sum.b = sum.b.map(|sum| sum + b);
                    }
                    None => total.figures.push(figure.clone()),
                }
                if key == "runtime_ms" {
                    total.known += 1;
                    let share = if a > 0.0 { (b - a) / a } else { b - a };
                    total.slower += usize::from(share >= SAME_RUN_TIME);
                    total.faster += usize::from(share <= -SAME_RUN_TIME);
                }
            }
        }
        // The same order, whichever cost was known first.
        total.figures.sort_by_key(|figure| SUMMED.iter().position(|key| *key == figure.key));
        total
    }

    /// The cost with this key; `None` if it is known of no pair.
    #[must_use]
    pub fn figure(&self, key: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.key == key)
    }

    /// The run times together.
    #[must_use]
    pub fn run_time(&self) -> Option<&Figure> {
        self.figure("runtime_ms")
    }
}

impl JobPairs<'_> {
    /// For each rule, the number of pairs in which its finding changed like this.
    #[must_use]
    pub fn moved(&self, wanted: Move) -> BTreeMap<&str, u64> {
        let mut rules = BTreeMap::new();
        for pair in &self.changed {
            let found = pair.findings.iter().filter(|finding| finding.moved == wanted);
            let mut of_pair: Vec<&str> = found.map(|finding| finding.rule.as_str()).collect();
            of_pair.sort_unstable();
            of_pair.dedup();
            for rule in of_pair {
                *rules.entry(rule).or_insert(0) += 1;
            }
        }
        rules
    }

    /// By how much a cost changed: over all pairs, or in the pair that changed most if others make up for it.
    fn change_of(&self, key: &str) -> f64 {
        let moved = |figure: Option<&Figure>| {
            figure.and_then(|figure| figure.a.zip(figure.b)).map_or(0.0, |(a, b)| b - a)
        };
        let single = self.pairs.iter().map(|pair| moved(pair.figure(key)));
        let (sum, largest) =
            single.fold((0.0_f64, 0.0_f64), |(sum, largest), moved| (sum + moved, largest.max(moved.abs())));
        sum.abs().max(largest)
    }

    fn worst_new(&self) -> Option<Severity> {
        self.changed.iter().filter_map(|pair| pair.worst_new()).max()
    }

    fn key(&self) -> Option<Key<'_>> {
        self.changed.first().map(|pair| key(pair))
    }
}

/// The jobs and the user of a pair: jobs of one name by two users are two jobs.
fn key(pair: &Pair) -> Key<'_> {
    (&pair.b.job, &pair.a.job, pair.b.user.as_deref())
}

#[doc(hidden)]
impl Diff {
    /// The costs of all pairs together.
    #[must_use]
    pub fn total(&self) -> Total {
        Total::of(&self.pairs)
    }

    /// The jobs of which a pair changed: the one whose run time changed most first, or in the order that was asked for.
    #[must_use]
    pub fn jobs(&self) -> Vec<JobPairs<'_>> {
        let mut jobs: BTreeMap<Key<'_>, JobPairs<'_>> = BTreeMap::new();
        for pair in self.largest() {
            let blank = || JobPairs { pairs: Vec::new(), changed: Vec::new(), total: Total::default() };
            jobs.entry(key(pair)).or_insert_with(blank).changed.push(pair);
        }
        for pair in &self.pairs {
            if let Some(job) = jobs.get_mut(&key(pair)) {
                job.pairs.push(pair);
            }
        }
        let mut jobs: Vec<JobPairs<'_>> = jobs.into_values().collect();
        for job in &mut jobs {
            job.total = Total::of(job.pairs.iter().copied());
        }
        jobs.sort_by(|one, other| {
            let change_of = |key: &str| other.change_of(key).total_cmp(&one.change_of(key));
            let first = match self.order {
                Sort::Severity => other.worst_new().cmp(&one.worst_new()),
                Sort::Waste => change_of("resource_wasted_gb_hours"),
                Sort::RunTime | Sort::Saving => change_of("runtime_ms"),
                Sort::Name => std::cmp::Ordering::Equal,
            };
            first.then_with(|| one.key().cmp(&other.key()))
        });
        jobs
    }

    /// The pairs of the first `top` jobs that changed; all pairs without a number.
    #[must_use]
    pub fn pairs_of(&self, top: Option<usize>) -> Vec<&Pair> {
        match top {
            None => self.pairs.iter().collect(),
            Some(top) => self.jobs().into_iter().take(top).flat_map(|job| job.pairs).collect(),
        }
    }
}
