//! Settings of dynamic allocation.

use super::{Issue, LIMITED, Settings, setting, whole};
use crate::spark::support::idle::{dynamic_allocation, keeps_shuffle_files};
use crate::spark::support::{memory, shuffle_service};
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::spark::Spark;
use elephant_rule::finding::{Advice, Phrase};
use elephant_rule::wording::{change, percent};

const NO_SERVICE: &str = "neither a shuffle service nor dynamic allocation is on";
const LOST_FILES: &str = "dynamic allocation is on, but shuffle files are lost with removed executors";
const IDLE: &str = "{setting}[, of which {idle} were idle on average] ({limit})";

/// Removed executors lose their shuffle files.
pub(super) fn shuffle_files(params: &Settings, app: &Advised<'_>) -> Option<Issue> {
    if app.conf.flag(ConfKey::ShuffleService) == Some(true) {
        return None;
    }
    let dynamic = app.allocates_dynamically();
    if !dynamic {
        return Some(Issue {
            severity: params.no_shuffle_service,
            message: Phrase::new(NO_SERVICE, &[]),
            advice: dynamic_allocation(app),
        });
    }
    if params.tracking_helps && kept_otherwise(app) {
        return None;
    }
    Some(Issue {
        severity: params.lost_shuffle_files,
        message: Phrase::new(LOST_FILES, &[]),
        advice: Some(keep_shuffle_files(app)),
    })
}

/// Advice to keep shuffle files. The external shuffle service must run on each node, so advice to use it is
/// conditional.
fn keep_shuffle_files(app: &Application) -> Advice {
    let key = keeps_shuffle_files(app);
    let set = [change(app, key, true)];
    if key == ConfKey::ShuffleService {
        return Advice::new(shuffle_service::if_it_runs(app, "use it")).set(set).conditional();
    }
    Advice::new("keep executors with shuffle files").set(set)
}

/// Whether Spark keeps shuffle files without a shuffle service. If the version is unknown, assume that it
/// does: older versions refuse to start.
fn kept_otherwise(app: &Application) -> bool {
    let yes = |name: &str| app.conf.raw(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let decommission =
        yes("spark.decommission.enabled") && yes("spark.storage.decommission.shuffleBlocks.enabled");
    let plugin = app.conf.raw("spark.shuffle.sort.io.plugin.class").is_some();
    let tracking = app.in_force(ConfKey::ShuffleTracking, Conf::flag);
    decommission || plugin || tracking == Some(true)
}

/// A minimum of dynamic allocation that keeps idle executors.
pub(super) fn min_executors(params: &Settings, app: &Application, spark: &Spark) -> Option<Issue> {
    let least = whole(app, ConfKey::DynamicAllocationMin)?;
    let dynamic = app.allocates_dynamically();
    let by_number = params.min_executors.severity(least as f64);
    let (allowed, idle) = match (params.idle_ratio.values(), idle(app, spark, least)) {
        (None, idle) => (Severity::Critical, idle),
        (Some(_), Some(idle)) if dynamic => (params.idle_ratio.severity(idle), Some(idle)),
        (Some(_), _) => (Severity::None, None),
    };
    let severity = by_number.min(allowed);
    let idle = idle.filter(|_| params.idle_ratio.values().is_some()).map(percent).unwrap_or_default();
    Some(Issue {
        severity,
        message: Phrase::new(
            IDLE,
            &[
                ("setting", &setting(app, ConfKey::DynamicAllocationMin)),
                ("idle", &idle),
                ("limit", &params.min_executors.describe(by_number)),
            ],
        ),
        advice: Some(Advice::new("release idle executors").set([change(
            app,
            ConfKey::DynamicAllocationMin,
            0,
        )])),
    })
}

/// The average share of `least` executors that tasks did not keep busy.
fn idle(app: &Application, spark: &Spark, least: u64) -> Option<f64> {
    let run_time = memory::run_time(app).filter(|time| *time > Millis::ZERO)?;
    let busy = spark.executors.iter().filter_map(|executor| {
        Some(executor.totals.task_time?.as_f64() / f64::from(executor.cores.unwrap_or(1).max(1)))
    });
    let busy: f64 = busy.sum::<f64>() / run_time.as_f64();
    (least > 0).then(|| (1.0 - busy / least as f64).max(0.0))
}

/// A number of executors so large that it is probably a mistake.
pub(super) fn max_executors(params: &Settings, app: &Application) -> Vec<Issue> {
    let dynamic = app.allocates_dynamically();
    let judge = |key| {
        let in_force = dynamic || params.judge_inactive || key != ConfKey::DynamicAllocationMax;
        let most = whole(app, key).filter(|_| in_force)?;
        let severity = params.max_executors.severity(most as f64);
        let cutoff = params
            .max_executors
            .values()
            .and_then(|[low, ..]| Some((low - 1.0).max(1.0)).filter(|c| c.is_finite()));
        let fewer = cutoff.map_or_else(|| "900".to_owned(), |cutoff| format!("{cutoff:.0}"));
        Some(Issue {
            severity,
            message: Phrase::new(
                LIMITED,
                &[("setting", &setting(app, key)), ("limit", &params.max_executors.describe(severity))],
            ),
            advice: Some(Advice::new("request fewer executors").set([change(app, key, fewer)])),
        })
    };
    let fixed = params.judge_instances.then_some(ConfKey::ExecutorInstances);
    std::iter::once(ConfKey::DynamicAllocationMax).chain(fixed).filter_map(judge).collect()
}
