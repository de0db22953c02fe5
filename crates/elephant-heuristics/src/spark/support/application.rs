//! The Spark part of an application, and changes of its settings.

use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{Spark, Stage};
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::SettingChange;
use elephant_rule::wording::change;

/// The Spark part of the application; `None` for another engine.
pub(in crate::spark) fn spark(app: &Application) -> Option<&Spark> {
    app.spark.as_deref().filter(|_| app.engine == Engine::Spark)
}

/// Whether the stage belongs to a query of Spark SQL.
pub(in crate::spark) fn runs_sql(spark: &Spark, stage: &Stage) -> bool {
    spark.job_of(stage).is_some_and(|job| job.sql_execution.is_some())
}

/// The change of a setting; `None` if it already has this value.
pub(in crate::spark) fn change_to(
    app: &Application,
    key: ConfKey,
    new: impl std::fmt::Display,
) -> Option<SettingChange> {
    let change = change(app, key, new);
    let is_set = change.from.as_deref().is_some_and(|now| now.eq_ignore_ascii_case(&change.to));
    (!is_set).then_some(change)
}
