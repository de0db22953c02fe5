//! Jobs whose tasks follow patterns of progress, on which detectors look for stragglers (S2 section 7.3).
//!
//! A [`pattern`] comes from formulas in the [`settings`], or is learnt from histories ([`learn`]); `job` runs one
//! job of it.

mod job;
pub mod learn;
pub mod pattern;
pub mod settings;

use rayon::prelude::*;

use self::job::Tally;
use self::learn::{Learnt, Sample, Skipped};
use self::pattern::Pattern;
use self::settings::Settings;
use super::random::Random;
use super::spread::Spread;
use elephant_analysis::stragglers::detect::{self, Detector};
use elephant_base::limits::Limits;
use elephant_engine::engine::{Filter, Progress, visit_for_rules};
use elephant_engine::results::{SourceProblem, Summary};
use elephant_input::named::Named;

/// Purposes of streams of random numbers.
const HISTORY: u64 = 1;
const JOBS: u64 = 1000;

/// The results of all workloads.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternsReport {
    /// The seeds of the simulation.
    pub seeds: Seeds,
    /// Jobs of each workload that are simulated per seed.
    pub jobs: usize,
    /// Tasks of a job.
    pub tasks: usize,
    /// The results, in the order of the settings or of the histories.
    pub workloads: Vec<WorkloadResult>,
    /// The histories that the patterns were learnt from; `None` if the patterns are those of the settings.
    pub source: Option<Source>,
}

/// The histories that patterns were learnt from.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The histories that were read.
    pub files: Summary,
    /// Groups without a pattern.
    pub skipped: Skipped,
    /// Patterns that are not simulated, because other patterns have more stragglers.
    pub left_out: usize,
    /// What was wrong with them.
    pub problems: Vec<SourceProblem>,
    /// Whether a file or folder that the user named could not be read.
    pub named_input_failed: bool,
}

/// The results of one workload.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadResult {
    /// The name of the workload in reports.
    pub name: String,
    /// What its tasks are like.
    pub pattern: Pattern,
    /// The tasks it was learnt from; `None` if it is from the settings.
    pub basis: Option<Sample>,
    /// The results, one for each detector.
    pub rows: Vec<PatternRow>,
}

/// The results of a detector, over seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternRow {
    /// The name of the detector.
    pub detector: String,
    /// Mean time from launch to flag of the stragglers that were found, in seconds.
    pub detection_s: Option<Spread>,
    /// The same as a share of a straggler's duration.
    pub detection_share: Option<Spread>,
    /// Share of the flagged tasks that were stragglers: the "True Positive %" of S2's table 6.
    pub precision: Option<Spread>,
    /// Share of the stragglers that were flagged.
    pub recall: Option<Spread>,
}

/// Seeds of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seeds {
    /// The first seed; the others follow it.
    pub first: u64,
    /// How many seeds there are.
    pub count: u64,
}

/// Simulates the workloads of the settings. The result does not depend on the number of threads.
#[must_use]
pub fn simulate(settings: &Settings, seeds: Seeds) -> PatternsReport {
    let patterns = settings.patterns().into_iter().map(|(name, pattern)| (name, pattern, None));
    of_patterns(settings, patterns.collect(), None, seeds)
}

/// Simulates patterns learnt from the histories below `paths`: those of the `top` groups with the most
/// stragglers.
#[must_use]
pub fn simulate_from(
    named: Named<'_>,
    (filter, limits, progress): (&Filter, &Limits, &Progress),
    (settings, top): (&Settings, usize),
    seeds: Seeds,
) -> PatternsReport {
    let visited = visit_for_rules(named, filter, limits, progress, |app, _| learn::learn(app, settings));
    let (mut learnt, mut skipped): (Vec<Learnt>, Skipped) = (Vec::new(), Skipped::default());
    for (found, left) in visited.applications.into_iter().map(|visit| visit.value) {
        learnt.extend(found);
        skipped = skipped.and(left);
    }
    learn::most_stragglers_first(&mut learnt);
    let source = Source {
        files: visited.summary,
        skipped,
        left_out: learnt.len().saturating_sub(top),
        problems: visited.problems,
        named_input_failed: visited.named_input_failed,
    };
    let patterns = learnt.into_iter().take(top).map(|it| (it.name, it.pattern, Some(it.basis)));
    of_patterns(settings, patterns.collect(), Some(source), seeds)
}

fn of_patterns(
    settings: &Settings,
    patterns: Vec<(String, Pattern, Option<Sample>)>,
    source: Option<Source>,
    seeds: Seeds,
) -> PatternsReport {
    let detectors: Vec<Box<dyn Detector>> = detect::all();
    let chosen = settings.detectors.iter().filter_map(|id| position(&detectors, id));
    let chosen: Vec<usize> = chosen.collect();
    let mut detectors: Vec<Option<Box<dyn Detector>>> = detectors.into_iter().map(Some).collect();
    let detectors = chosen.iter().filter_map(|&place| detectors.get_mut(place)?.take());
    let detectors: Vec<Box<dyn Detector>> = detectors.collect();
    let seed_numbers: Vec<u64> = (0..seeds.count).map(|number| seeds.first.wrapping_add(number)).collect();
    let workload = |(name, pattern, basis): (String, Pattern, Option<Sample>)| {
        let of_seed = |&seed: &u64| tallies(&pattern, settings, &detectors, seed);
        let tallies: Vec<Vec<Tally>> = seed_numbers.par_iter().map(of_seed).collect();
        let rows = detectors.iter().enumerate().map(|(place, detector)| {
            let own: Vec<Tally> = tallies.iter().filter_map(|seed| seed.get(place)).copied().collect();
            row(detector.id(), &own)
        });
        WorkloadResult { name, rows: rows.collect(), pattern, basis }
    };
    let workloads = patterns.into_iter().map(workload).collect();
    PatternsReport { seeds, jobs: settings.jobs, tasks: settings.tasks, workloads, source }
}

fn position(detectors: &[Box<dyn Detector>], id: &str) -> Option<usize> {
    detectors.iter().position(|detector| detector.id() == id)
}

/// The tallies of all jobs of a seed, by detector.
fn tallies(pattern: &Pattern, settings: &Settings, detectors: &[Box<dyn Detector>], seed: u64) -> Vec<Tally> {
    let usual = job::usual_progress(pattern, settings, &mut Random::stream(seed, HISTORY));
    let mut total = vec![Tally::default(); detectors.len()];
    for number in (JOBS..).take(settings.jobs) {
        let mut random = Random::stream(seed, number);
        let job = job::run(pattern, settings, detectors, usual.as_ref(), &mut random);
        for (total, job) in total.iter_mut().zip(job) {
            total.stragglers += job.stragglers;
            total.flagged += job.flagged;
            total.found += job.found;
            total.seconds += job.seconds;
            total.shares += job.shares;
        }
    }
    total
}

fn row(id: &str, seeds: &[Tally]) -> PatternRow {
    let spread = |value: fn(&Tally) -> (f64, u64)| {
        Spread::of(seeds.iter().map(|tally| {
            let (sum, count) = value(tally);
            (count > 0).then(|| sum / count as f64)
        }))
    };
    PatternRow {
        detector: id.to_owned(),
        detection_s: spread(|it| (it.seconds, it.found)),
        detection_share: spread(|it| (it.shares, it.found)),
        precision: spread(|it| (it.found as f64, it.flagged)),
        recall: spread(|it| (it.found as f64, it.stragglers)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> Settings {
        Settings::read(settings::SHIPPED, "shipped").unwrap()
    }

    #[test]
    fn detectors_are_ordered_as_in_s2_table_6() {
        let settings = Settings { jobs: 10, ..shipped() };
        let report = simulate(&settings, Seeds { first: 1, count: 4 });
        let of = |workload: &str, detector: &str| {
            let workload = report.workloads.iter().find(|it| it.name == workload).unwrap();
            workload.rows.iter().find(|row| row.detector == detector).unwrap()
        };
        let seconds = |workload, detector| of(workload, detector).detection_s.unwrap().mean;
        for workload in ["HiveQL", "WordCount"] {
            assert!((of(workload, "online").precision.unwrap().least - 1.0).abs() < 1e-9, "{workload}");
            assert!(seconds(workload, "offline") <= seconds(workload, "online"), "{workload}");
            assert!(seconds(workload, "offline") <= seconds(workload, "combined"), "{workload}");
        }
        let hive = seconds("HiveQL", "online");
        assert!(hive >= 60.0 && hive >= seconds("HiveQL", "combined"), "{hive}");
        assert!(seconds("WordCount", "combined") >= seconds("WordCount", "online"));
        // With a steeper pattern, the second criterion of `combined` would never decide.
        let precision = |detector| of("HiveQL", detector).precision.unwrap().mean;
        assert!(precision("combined") > precision("offline") + 0.2);
        assert!(seconds("HiveQL", "combined") > seconds("HiveQL", "offline"));
    }

    #[test]
    fn a_seed_gives_the_same_result_on_any_number_of_threads() {
        let settings = Settings { jobs: 2, tasks: 100, ..shipped() };
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let here = simulate(&settings, Seeds { first: 3, count: 3 });
        assert_eq!(here, alone.install(|| simulate(&settings, Seeds { first: 3, count: 3 })));
        assert_ne!(here.workloads, simulate(&settings, Seeds { first: 4, count: 3 }).workloads);
    }

    #[test]
    fn without_stragglers_nothing_is_found() {
        let settings = Settings { jobs: 2, tasks: 50, straggler_share: 0.0, ..shipped() };
        for row in simulate(&settings, Seeds { first: 1, count: 1 })
            .workloads
            .iter()
            .flat_map(|workload| &workload.rows)
        {
            assert_eq!((row.recall, row.detection_s), (None, None), "{}", row.detector);
        }
    }

    #[test]
    fn impossible_settings_are_rejected() {
        let with = |old: &str, new: &str| {
            let text = settings::SHIPPED.replacen(old, new, 1);
            assert_ne!(text, settings::SHIPPED);
            Settings::read(&text, "x").unwrap_err().to_string()
        };
        assert!(with("tasks: 500", "tasks: 0").contains("tasks"));
        assert!(with("onset_s: 8.298", "onset_s: 70").contains("HiveQL: onset_s"));
        assert!(with("correlation: 0.277", "correlation: 2").contains("HiveQL: correlation"));
        assert!(with("scan_s: 3", "scan_s: .nan").contains("scan_s"));
        assert!(with("online", "none").contains("none"));
        assert!(with("jobs:", "job:").contains("job"));
    }
}
