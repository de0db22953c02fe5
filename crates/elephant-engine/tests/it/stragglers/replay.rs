//! Detectors on recorded jobs: nothing panics, and the cluster's own speculation is reported correctly.

use std::path::Path;

use elephant_analysis::stragglers::detect::mr2::Mr2;
use elephant_analysis::stragglers::detect::mr2_speculation::{Fate, fates};
use elephant_analysis::stragglers::detect::spark::MedianRule;
use elephant_analysis::stragglers::detect::spark_settings::{Medians, QUANTILES};
use elephant_analysis::stragglers::detect::{Detector, all};
use elephant_analysis::stragglers::evaluation::pool::pool;
use elephant_analysis::stragglers::evaluation::{ACTUAL, Evaluated, GroundTruth, GroupEvaluation, best, sum};
use elephant_analysis::stragglers::executions::{Basis, Executions};
use elephant_analysis::stragglers::replay::{Options, Timeline, replay};
use elephant_analysis::stragglers::usual::UsualRule;
use elephant_base::units::Millis;
use elephant_engine::engine::visit;
use elephant_model::model::Application;
use elephant_model::model::table::{TaskGroup, TaskKind};

/// The groups of an application with their evaluations; setup and cleanup tasks cannot be stragglers.
fn evaluate(app: &Application) -> Vec<(TaskKind, Executions, GroupEvaluation)> {
    let detectors = all();
    let of_group = |group: &TaskGroup| {
        let executions = Executions::of(group, Basis::Wall);
        let truth = GroundTruth::usual(&executions, &UsualRule::default(), &[]);
        let options = Options::of_engine(app.engine);
        let evaluation = GroupEvaluation::of(group, &executions, &truth, &detectors, &options);
        check(&executions, &evaluation);
        ask_for_settings(group, &executions, &options);
        (group.kind, executions, evaluation)
    };
    let groups = app.groups.iter();
    groups.filter(|group| !matches!(group.kind, TaskKind::Setup | TaskKind::Cleanup)).map(of_group).collect()
}

/// Invariants of any job.
fn check(executions: &Executions, evaluation: &GroupEvaluation) {
    for detector in &evaluation.detectors {
        let quality = &detector.quality;
        assert_eq!(detector.detections.len(), executions.tasks.len());
        assert!(quality.fakes <= quality.true_positives, "{}", detector.id);
        assert_eq!(quality.true_positives + quality.false_negatives(), quality.stragglers, "{}", detector.id);
        for ratio in [quality.precision(), quality.recall(), quality.fake_positive_ratio()] {
            assert!(ratio.is_none_or(|ratio| (0.0..=1.0).contains(&ratio)), "{}", detector.id);
        }
        for (task, detected) in executions.tasks.iter().zip(&detector.detections) {
            let in_time = detected.is_none_or(|at| at.as_f64() / 1000.0 <= task.duration + 1e-3);
            assert!(in_time || detector.id == ACTUAL, "{} {task:?} {detected:?}", detector.id);
        }
    }
}

fn ask_for_settings(group: &TaskGroup, executions: &Executions, options: &Options) {
    let timeline = Timeline::of(group, executions);
    let speculators: Vec<Box<dyn Detector>> = vec![Box::new(Mr2::LEGACY)];
    let replayed = replay(&timeline, &speculators, options);
    let speculated = |fate: &Fate| if let Fate::Speculated(at) = *fate { Some(at) } else { None };
    let fates: Vec<Option<Millis>> = fates(&timeline, &Mr2::LEGACY, options).iter().map(speculated).collect();
    assert_eq!(fates, replayed.detectors[0].first);

    let medians = Medians::of(&timeline, MedianRule::Upper);
    // Long enough that whole milliseconds can express a time one tenth shorter.
    let min_runtime = Millis::new(20);
    for attempt in timeline.attempts.iter().take(200) {
        for quantile in QUANTILES {
            let late = |multiplier| medians.first_flag(attempt, quantile, multiplier, min_runtime).is_some();
            let Some(edge) = medians.greatest_multiplier(attempt, quantile, min_runtime) else { continue };
            assert!(!late(edge * 1.000_001), "{attempt:?} {edge}");
            assert!(late(edge * 0.9), "{attempt:?} {edge}");
        }
    }
}

fn below(path: &Path) -> Vec<Vec<(TaskKind, Executions, GroupEvaluation)>> {
    visit(&[path.to_owned()], |app, _| evaluate(app)).applications.into_iter().map(|app| app.value).collect()
}

fn named<'a>(evaluation: &'a GroupEvaluation, id: &str) -> &'a Evaluated {
    evaluation.detectors.iter().find(|detector| detector.id == id).unwrap()
}

#[test]
fn every_recording_and_public_history_is_replayed() {
    for folder in ["runs", "corpus"] {
        let Some(folder) = elephant_testing::shared(folder) else { continue };
        let jobs: Vec<Vec<Evaluated>> = below(&folder)
            .into_iter()
            .map(|job| sum(&job.into_iter().map(|(_, _, evaluation)| evaluation).collect::<Vec<_>>()))
            .collect();
        assert!(jobs.iter().any(|job| job.iter().any(|detector| detector.quality.stragglers > 0)));
        let pooled = pool(&jobs);
        assert_eq!(pooled.len(), all().len() + 1);
        for detector in &pooled {
            let quality = &detector.total.quality;
            println!(
                "{:<28} {:>5} flagged {:>5} of {:>5} stragglers  P {:.2?} R {:.2?} F {:.2?}",
                detector.total.id,
                quality.detected,
                quality.true_positives,
                quality.stragglers,
                quality.precision(),
                quality.recall(),
                quality.f_score(0.5),
            );
        }
        let total: Vec<Evaluated> = pooled.into_iter().map(|detector| detector.total).collect();
        println!("{}", best(&total, |_| true));
    }
}

/// Hadoop speculated on two of fourteen maps; the history shows the cost.
#[test]
fn hadoop_speculation_is_reported() {
    let Some(folder) = elephant_testing::shared("runs/hadoop-2.7.3/speculation") else { return };
    let jobs = below(&folder);
    let (_, executions, maps) = jobs[0].iter().find(|(kind, _, _)| *kind == TaskKind::Map).unwrap();
    let actual = named(maps, ACTUAL);
    let copies = actual.detections.iter().flatten().count();
    assert!(copies > 0, "no speculative copies for {} maps", executions.tasks.len());
    println!("{copies} copies: {:?}", actual.quality);
}

/// Spark speculated in both recorded versions.
#[test]
fn spark_speculation_is_reported() {
    for version in ["spark-3.5.9", "spark-4.3.0", "spark-3.1.3"] {
        let Some(folder) = elephant_testing::shared(&format!("runs/{version}")) else { return };
        let folder = folder.join("speculation");
        if !folder.exists() {
            continue;
        }
        let jobs = below(&folder);
        let flagged = |id: &str| -> usize {
            let groups = jobs.iter().flatten();
            groups.map(|(_, _, group)| named(group, id).detections.iter().flatten().count()).sum()
        };
        println!("{version}: actual {}, replayed {}", flagged(ACTUAL), flagged("spark-3"));
        assert!(flagged(ACTUAL) > 0, "{version}");
    }
}

/// The slow map of the recording reported no progress before it was killed, so what Hadoop saw is unknown.
#[test]
fn attempts_without_progress_count_as_unseen() {
    let Some(folder) = elephant_testing::shared("runs/hadoop-2.7.3/speculation") else { return };
    let fates = visit(&[folder], |app, _| {
        let maps = app.group(TaskKind::Map).unwrap();
        let timeline = Timeline::of(maps, &Executions::of(maps, Basis::Wall));
        let fates = fates(&timeline, &Mr2::LEGACY, &Options::of_engine(app.engine));
        let untold = timeline.attempts.iter().zip(fates).filter(|(attempt, _)| attempt.curve.is_none());
        untold.map(|(_, fate)| fate).collect::<Vec<_>>()
    });
    assert_eq!(fates.applications[0].value, [Fate::Unseen]);
}
