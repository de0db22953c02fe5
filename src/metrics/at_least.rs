//! What an incomplete history shows that its application cost at least.

use super::{Metrics, SparkMetricParams};
use crate::model::Application;
use crate::model::spark::Spark;
use crate::model::table::TaskGroup;
use crate::rules::RuleSet;
use crate::state::state;
use crate::units::{MbMillis, Millis};

/// Lower limits; `None` if even these are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AtLeast {
    /// From submission to the latest time in the history.
    pub(crate) run_time: Option<Millis>,
    /// Container memory × time until then.
    pub(crate) used: Option<MbMillis>,
}

state!(struct AtLeast { run_time, used });

impl AtLeast {
    /// The lower limits of an application, of which `metrics` are the known costs.
    pub(crate) fn of(app: &Application, metrics: &Metrics, rules: &RuleSet) -> Self {
        let so_far = || Millis::between(app.submitted_at?, app.last_time()?);
        let used = || match app.spark {
            Some(_) => of_executors(app, rules.spark_metrics()),
            None => of_attempts(app, rules),
        };
        Self { run_time: metrics.run_time.or_else(so_far), used: metrics.used.or_else(used) }
    }
}

/// What the executors held that the log shows, until their ends or that of the log.
fn of_executors(app: &Application, params: &SparkMetricParams) -> Option<MbMillis> {
    let spark = app.spark.as_ref()?;
    let known = spark.executors.iter().filter(|executor| executor.added_at.is_some());
    let part = Spark {
        executors: known.cloned().collect(),
        driver: spark.driver.clone(),
        resource_profiles: spark.resource_profiles.clone(),
        ..Spark::default()
    };
    let part = Application {
        id: app.id.clone(),
        submitted_at: app.submitted_at,
        finished_at: app.last_time(),
        conf: app.conf.clone(),
        spark: Some(Box::new(part)),
        ..Application::new(app.engine)
    };
    Metrics::of_spark(&part, params).used
}

/// What the containers of all attempts with known ends held.
fn of_attempts(app: &Application, rules: &RuleSet) -> Option<MbMillis> {
    let of_group = |group: &TaskGroup| {
        let container = rules.metrics().container(app, group.kind)?;
        let times = (0..group.attempts.len()).filter_map(|row| group.attempts.run_time(row));
        Some(MbMillis::of(container, times.sum()))
    };
    app.groups.iter().map(of_group).sum()
}
