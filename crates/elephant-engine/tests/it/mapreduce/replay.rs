//! Replays of all recorded MapReduce jobs.

use elephant_analysis::replay::mapreduce::{Cause, Change, Kind, Plan, Unknown};
use elephant_base::stats::nearest_rank;
use elephant_engine::engine::visit;
use elephant_model::model::{Application, Engine, Status};

/// A recorded job, and the results of its replay.
struct Case {
    job: String,
    status: Status,
    /// The residual of the replay, in percent of the recorded time.
    residual: Result<f64, Unknown>,
    /// What the job would save without stragglers and skew, in percent of the replayed time.
    saving: Option<f64>,
}

fn case(app: &Application) -> Case {
    let plan = Plan::of(app);
    let percent = |part: f64, whole: f64| part / whole.max(1.0) * 100.0;
    let residual = plan.as_ref().map_err(|unknown| *unknown).map(|plan| {
        let (recorded, replayed) = (plan.recorded(), plan.replay(&Change::default()).wall);
        percent((replayed - recorded).as_f64(), recorded.as_f64())
    });
    let saving = plan.ok().and_then(|plan| {
        let present =
            Kind::ALL.into_iter().filter(|kind| app.group(kind.group()).is_some_and(|g| !g.tasks.is_empty()));
        let causes: Vec<Cause> =
            present.flat_map(|kind| [Cause::Stragglers(kind), Cause::Skew(kind)]).collect();
        let replayed = plan.replay(&Change::default()).wall;
        let without = plan.replay(&plan.without(&causes).ok()?).wall;
        Some(percent((replayed - without).as_f64(), replayed.as_f64()))
    });
    Case { job: app.id.clone(), status: app.status, residual, saving }
}

/// All MapReduce jobs below folders of the test material.
fn cases(folders: &[&str]) -> Option<Vec<Case>> {
    let paths: Option<Vec<_>> = folders.iter().map(|folder| elephant_testing::shared(folder)).collect();
    let visited = visit(&paths?, |app, _| (app.engine == Engine::MapReduce).then(|| case(app)));
    Some(visited.applications.into_iter().filter_map(|application| application.value).collect())
}

#[test]
fn replays_of_recordings_are_close_to_them() {
    let Some(cases) = cases(&["corpus", "runs"]) else { return };
    let known = cases.iter().filter_map(|case| Some((case.residual.ok()?.abs(), case.job.as_str())));
    let mut known: Vec<(f64, &str)> = known.collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(known.len() >= 18, "only {} jobs were replayed", known.len());
    let median = nearest_rank(&known, 0.5).unwrap();
    let high = nearest_rank(&known, 0.9).unwrap();
    let worst = known.last().unwrap();
    println!("{} jobs: median {:.3} %, p90 {:.3} %, worst {worst:?}", known.len(), median.0, high.0);
    assert!(median.0 <= 0.1, "{known:?}");
    assert!(high.0 <= 1.0, "{known:?}");
    assert!(worst.0 <= 2.0, "{known:?}");
}

#[test]
fn only_jobs_that_succeeded_are_replayed() {
    let Some(cases) = cases(&["corpus", "runs"]) else { return };
    for case in cases {
        let may_be_known = matches!(case.status, Status::Succeeded | Status::Unknown);
        assert!(may_be_known || case.residual.is_err(), "{} is {:?}", case.job, case.status);
    }
}

#[test]
fn impossible_times_of_synthetic_jobs_are_not_replayed() {
    // Their reduces end the shuffle before the last map has ended.
    let Some(cases) = cases(&["runs/hadoop-synthetic-avro-json"]) else { return };
    let succeeded: Vec<_> = cases.iter().filter(|case| case.status == Status::Succeeded).collect();
    assert_eq!(succeeded.len(), 4);
    for case in succeeded {
        assert_eq!(case.residual, Err(Unknown::ShuffleBeforeLastMap), "{}", case.job);
    }
}

#[test]
fn healthy_jobs_have_no_stragglers_and_no_skew() {
    let Some(cases) =
        cases(&["runs/hadoop-2.7.3/healthy", "runs/hadoop-2.7.3/spill", "runs/hadoop-2.7.3/tiny"])
    else {
        return;
    };
    for case in cases {
        assert!(case.saving.unwrap().abs() <= 0.4, "{} saves {:?} %", case.job, case.saving);
    }
}

#[test]
fn a_straggler_is_found_where_one_was_planted() {
    let Some(cases) = cases(&["runs/hadoop-2.7.3/speculation"]) else { return };
    let saving = cases.first().and_then(|case| case.saving).unwrap();
    assert!((10.0..30.0).contains(&saving), "{saving} %");
}
