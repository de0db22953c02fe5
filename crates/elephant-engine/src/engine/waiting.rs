//! Tasks that wait for something else by design.

use elephant_base::severity::Severity;
use elephant_model::model::spark::{Spark, Stage};
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, JobTool, Subject};
use elephant_query::FixedBy;
use elephant_rule::finding::{Finding, TroubleKind};

/// Troubles in the number and the times of tasks. Failures and memory are troubles of waiting tasks, too.
const OF_TASKS: [TroubleKind; 9] = [
    TroubleKind::FewTasks,
    TroubleKind::ManyTasks,
    TroubleKind::SlowTasks,
    TroubleKind::Skew,
    TroubleKind::Stragglers,
    TroubleKind::Speculation,
    TroubleKind::FewExecutors,
    TroubleKind::Imbalance,
    TroubleKind::LongRun,
];

/// Whether a finding only says that tasks are few, slow or uneven which wait by design.
pub(super) fn only_waits(app: &Application, finding: &Finding) -> bool {
    finding.severity > Severity::None
        && OF_TASKS.contains(&finding.tells)
        && match &app.spark {
            Some(spark) => stage_waits(app, spark, finding),
            None => job_waits(app, &finding.subject),
        }
}

/// A job that launches others has one map task, which waits for them.
fn job_waits(app: &Application, subject: &Subject) -> bool {
    let is_about_maps = match subject {
        Subject::Tasks(kind) => *kind == TaskKind::Map.name(),
        _ => true,
    };
    is_about_maps && JobTool::of(app).is_some_and(JobTool::waits_by_design)
}

fn stage_waits(app: &Application, spark: &Spark, finding: &Finding) -> bool {
    let fixed = |stage: &Stage| FixedBy::of(app, spark, stage);
    match &finding.subject {
        Subject::Stage(id) => {
            let fixed = spark.stage(*id).and_then(fixed);
            fixed.is_some_and(|fixed| matches!(fixed, FixedBy::Receivers | FixedBy::Barrier))
        }
        // An executor with a receiver is busy as long as the application runs.
        _ => {
            finding.tells == TroubleKind::Imbalance
                && spark.stages.iter().any(|stage| fixed(stage) == Some(FixedBy::Receivers))
        }
    }
}
