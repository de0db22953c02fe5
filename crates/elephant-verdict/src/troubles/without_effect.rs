//! Settings that would change nothing in an application.

use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::Platform;
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::SettingChange;

/// Why a setting would have no effect, given all proposed changes, in several lists; `None` if it would have one.
#[must_use]
pub fn why(app: &Application, change: &SettingChange, others: &[&[SettingChange]]) -> Option<&'static str> {
    if change.from.as_deref().is_some_and(|from| super::value::same(&change.setting, from, &change.to)) {
        return Some("it already has this value");
    }
    match app.engine {
        Engine::Spark => of_spark(app, change, others),
        Engine::MapReduce => of_mapreduce(app, change),
        Engine::Tez => None,
    }
}

/// Hadoop 0.20 and 1 do not read the names of Hadoop 2, and lack some of its settings.
fn of_mapreduce(app: &Application, change: &SettingChange) -> Option<&'static str> {
    let is_newer = ["mapreduce.", "yarn."].iter().any(|prefix| change.setting.starts_with(prefix));
    // Hadoop 0.21 had a job tracker and the new names.
    let knows_new_names = || app.conf.raw(ConfKey::JobName.name()).is_some();
    let unknown = is_newer && change.from.is_none() && app.ran_on_job_tracker() && !knows_new_names();
    unknown.then_some("the Hadoop that ran the job does not know it")
}

fn of_spark(app: &Application, change: &SettingChange, others: &[&[SettingChange]]) -> Option<&'static str> {
    let name = change.setting.as_str();
    let is_on = |key: ConfKey| {
        let proposed =
            others.iter().copied().flatten().find(|other| key.names().contains(&other.setting.as_str()));
        match proposed {
            Some(proposed) => proposed.to.eq_ignore_ascii_case("true"),
            None => app.conf.flag(key) == Some(true),
        }
    };
    if let Some(why) = Platform::of(app).and_then(|platform| platform.why_fixed(app, name, &change.to)) {
        return Some(why);
    }
    let allocates = || is_on(ConfKey::DynamicAllocation) && !app.fixes_executors();
    let belongs_to = |key: ConfKey, prefix: &str| name.starts_with(prefix) && !key.names().contains(&name);
    if ConfKey::DynamicAllocation.names().contains(&name) && app.fixes_executors() {
        Some("Spark before 2.0 ignores it while spark.executor.instances is set")
    } else if belongs_to(ConfKey::DynamicAllocation, "spark.dynamicAllocation.") && !allocates() {
        Some("dynamic allocation is off")
    } else if belongs_to(ConfKey::Speculation, "spark.speculation.") && !is_on(ConfKey::Speculation) {
        Some("speculation is off")
    } else if name == ConfKey::ExecutorInstances.name() && allocates() {
        Some(if app.conf.flag(ConfKey::DynamicAllocation) == Some(true) {
            "dynamic allocation sets the number of executors"
        } else {
            "dynamic allocation, which is advised, sets the number of executors"
        })
    } else if name.starts_with("spark.sql.") && app.spark.as_deref().is_some_and(|spark| spark.sql.is_empty())
    {
        Some("the application runs no SQL")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(setting: &str, from: Option<&str>, to: &str) -> SettingChange {
        SettingChange { setting: setting.to_owned(), from: from.map(str::to_owned), to: to.to_owned() }
    }

    #[test]
    fn settings_of_something_that_is_off_are_inert() {
        let app = elephant_sample::app(&[("spark.master", "yarn"), ("spark.executor.memory", "4g")]);
        let limit = change("spark.dynamicAllocation.maxExecutors", None, "9");
        assert!(why(&app, &limit, &[]).is_some());
        assert!(why(&app, &limit, &[&[change("spark.dynamicAllocation.enabled", None, "true")]]).is_none());
        assert!(why(&app, &change("spark.speculation.multiplier", None, "2"), &[]).is_some());
        assert!(why(&app, &change("spark.speculation", None, "true"), &[]).is_none());
        assert!(why(&app, &change("spark.executor.memory", Some("4g"), "4096m"), &[]).is_some());
        assert!(why(&app, &change("spark.executor.memory", Some("4g"), "5g"), &[]).is_none());
        assert!(why(&app, &change("spark.sql.shuffle.partitions", None, "50"), &[]).is_some());
    }

    #[test]
    fn dynamic_allocation_that_is_only_advised_is_not_called_present() {
        let number = change("spark.executor.instances", Some("4"), "8");
        let on = change("spark.dynamicAllocation.enabled", None, "true");
        let fixed = elephant_sample::app(&[("spark.executor.instances", "4")]);
        assert_eq!(why(&fixed, &number, &[]), None);
        assert!(why(&fixed, &number, &[&[on]]).unwrap().contains("which is advised"));
        let dynamic = elephant_sample::app(&[("spark.dynamicAllocation.enabled", "true")]);
        let reason = why(&dynamic, &number, &[]).unwrap();
        assert_eq!(reason, "dynamic allocation sets the number of executors");
    }

    /// Spark 1 warns, and keeps the fixed number.
    #[test]
    fn before_spark_2_a_number_of_executors_switches_dynamic_allocation_off() {
        let mut app = elephant_sample::app(&[("spark.master", "yarn"), ("spark.executor.instances", "40")]);
        let on = change("spark.dynamicAllocation.enabled", None, "true");
        app.engine_version = Some("1.5.2".to_owned());
        assert!(why(&app, &on, &[]).is_some());
        assert!(
            why(&app, &change("spark.executor.instances", Some("40"), "10"), &[std::slice::from_ref(&on)])
                .is_none()
        );
        app.engine_version = Some("2.4.8".to_owned());
        assert!(why(&app, &on, &[]).is_none());
    }

    #[test]
    fn standalone_clusters_do_not_read_the_number_of_executors() {
        let app = |master: &str| elephant_sample::app(&[("spark.master", master)]);
        let change = change("spark.executor.instances", None, "4");
        assert!(why(&app("spark://host:7077"), &change, &[]).is_some());
        assert!(why(&app("yarn"), &change, &[]).is_none());
    }

    #[test]
    fn local_mode_has_no_executors() {
        let app = elephant_sample::app(&[("spark.master", "local[4]")]);
        for setting in ["spark.executor.memory", "spark.speculation", "spark.dynamicAllocation.enabled"] {
            assert!(why(&app, &change(setting, None, "2"), &[]).is_some(), "{setting}");
        }
        assert!(why(&app, &change("spark.driver.memory", None, "2g"), &[]).is_none());
    }
}
