//! Settings of a job, and changes of them.

use super::role::Role;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::{Application, JobTool};
use elephant_rule::finding::SettingChange;
use elephant_rule::wording::change;

/// Whether this tool may have submitted the job; true if the job has no configuration.
pub(in crate::mapreduce) fn may_be(app: &Application, tool: JobTool) -> bool {
    app.conf.is_empty() || JobTool::of(app) == Some(tool)
}

/// Like [`change`], for numbers that should rise (or fall); `None` if the job's value is already there.
pub(in crate::mapreduce) fn change_towards(
    app: &Application,
    key: ConfKey,
    new: u64,
    rise: bool,
) -> Option<SettingChange> {
    let now = app.conf.integer(key).and_then(|now| u64::try_from(now).ok());
    // In Hadoop, 0 and 1 mean "not set" for split sizes and similar settings.
    let now = now.filter(|&now| now > 1);
    let moves = now.is_none_or(|now| if rise { new > now } else { new < now });
    moves.then(|| change(app, key, new))
}

/// The name of the setting with the JVM options of this role only; `mapred.child.java.opts` is shared.
pub(in crate::mapreduce) fn own_java_opts(app: &Application, role: Role) -> &'static str {
    let names = role.java_opts().names();
    let hadoop_1 = app.ran_on_job_tracker()
        || app.conf.find(role.memory()).is_some_and(|(name, _)| name.starts_with("mapred."));
    names.get(usize::from(hadoop_1)).copied().unwrap_or_else(|| role.java_opts().name())
}
