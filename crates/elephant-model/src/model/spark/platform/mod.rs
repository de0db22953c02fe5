//! The platform that granted an application its executors: how it is recognised, which settings it fixes, and what to change
//! there instead. `table` has one row for each platform.

mod table;

use super::ClusterManager;
use crate::model::conf::Conf;
use crate::model::{Application, Engine};

/// A platform, as a row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Platform {
    /// Its name in JSON.
    pub key: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Whether reports for people name it: it differs from what Spark's manual describes.
    pub is_named: bool,
    /// One of these signs is enough.
    signs: &'static [Sign],
    /// Settings that it ignores or fixes. The first entry that fits decides.
    fixed: &'static [Fixed],
    /// Whether an external shuffle service keeps the shuffle files of executors that are removed.
    pub shuffle_service: ShuffleService,
}

/// By what a platform is recognised.
#[derive(Debug, PartialEq, Eq)]
enum Sign {
    /// The cluster manager of `spark.master`, or of the application's id.
    Manager(ClusterManager),
    /// A setting whose name begins with this.
    Setting(&'static str),
    /// A part of the engine's version.
    Version(&'static str),
    /// The driver's host, outside local mode, contains all of these.
    Host(&'static [&'static str]),
    /// `spark.master` names no manager that is known.
    UnknownMaster,
}

/// Settings that a platform ignores or fixes.
#[derive(Debug, PartialEq, Eq)]
struct Fixed {
    /// Names, or their beginnings with a point at the end.
    settings: &'static [&'static str],
    /// The setting and value with which the entry holds; empty if it always does.
    when: &'static [(&'static str, &'static str)],
    /// Values that are possible all the same.
    except: &'static [&'static str],
    /// Why a change has no effect, to follow the setting.
    why: &'static str,
    /// What to do instead. A part in brackets holds a setting in braces, and is left out if it is not set.
    instead: Option<&'static str>,
}

/// Whether dynamic allocation can rely on an external shuffle service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShuffleService {
    /// The platform starts it.
    Runs,
    /// It must be started on each node before; contains how.
    First(&'static str),
    /// There is none.
    Absent,
}

#[doc(hidden)]
impl Platform {
    /// The platform of a Spark application; `None` if the event log does not tell it, and for other engines.
    #[must_use]
    pub fn of(app: &Application) -> Option<&'static Self> {
        if app.engine != Engine::Spark {
            return None;
        }
        table::ROWS.iter().find(|row| row.signs.iter().any(|sign| sign.is_of(app)))
    }

    /// The platform with this name in JSON.
    #[must_use]
    pub fn with_key(key: &str) -> Option<&'static Self> {
        table::ROWS.iter().find(|row| row.key == key)
    }

    /// Whether executors run nowhere but in the driver.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.signs.contains(&Sign::Manager(ClusterManager::Local))
    }

    /// Why a setting has no effect; `None` if it has one.
    #[must_use]
    pub fn why_fixed(&self, app: &Application, setting: &str, value: &str) -> Option<&'static str> {
        Some(self.fixed(app, setting, value)?.why)
    }

    /// What to do instead of changing a setting that the platform fixes.
    #[must_use]
    pub fn instead(&self, app: &Application, setting: &str, value: &str) -> Option<String> {
        let instead = self.fixed(app, setting, value)?.instead?;
        Some(filled(instead, &app.conf))
    }

    fn fixed(&self, app: &Application, setting: &str, value: &str) -> Option<&Fixed> {
        let is_named = |name: &&'static str| match name.strip_suffix('.') {
            Some(_) => setting.starts_with(*name),
            None => setting == *name,
        };
        let is = |(name, wanted): &(&str, &str)| {
            app.conf.raw(name).is_some_and(|value| value.trim().eq_ignore_ascii_case(wanted))
        };
        let holds = |fixed: &&Fixed| {
            fixed.settings.iter().any(is_named) && fixed.when.iter().all(is) && !fixed.except.contains(&value)
        };
        self.fixed.iter().find(holds)
    }
}

impl Sign {
    fn is_of(&self, app: &Application) -> bool {
        match *self {
            Self::Manager(manager) => ClusterManager::of_application(app) == Some(manager),
            Self::Setting(prefix) => app.conf.has_prefix(prefix),
            Self::Version(part) => app.engine_version.as_deref().is_some_and(|it| it.contains(part)),
            Self::Host(parts) => {
                let host = app.conf.raw("spark.driver.host");
                let is_local = ClusterManager::of_application(app) == Some(ClusterManager::Local);
                !is_local && host.is_some_and(|host| parts.iter().all(|part| host.contains(part)))
            }
            Self::UnknownMaster => {
                // A history server may have replaced the value.
                let master = app.conf.raw("spark.master").filter(|master| !master.contains("(redacted)"));
                master.is_some_and(|master| !master.trim().is_empty())
                    && ClusterManager::of_application(app).is_none()
            }
        }
    }
}

/// Fills in the values of settings.
fn filled(text: &str, conf: &Conf) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        filled.push_str(before);
        let Some((part, after)) = after.split_once(']') else { break };
        let value = part.split_once('{').and_then(|(start, end)| {
            let (name, end) = end.split_once('}')?;
            Some(format!("{start}{}{end}", conf.raw(name)?))
        });
        filled.push_str(&value.unwrap_or_default());
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// Whether a cluster of Databricks was created for one job, so that no user works on it. All its applications are called
/// "Databricks Shell".
#[doc(hidden)]
#[must_use]
pub fn is_databricks_job(app: &Application) -> bool {
    let is = |name: &str, wanted: &str| app.conf.raw(name).is_some_and(|value| value == wanted);
    let begins = |name: &str, start: &str| app.conf.raw(name).is_some_and(|value| value.starts_with(start));
    is("spark.databricks.clusterSource", "JOB")
        || is("spark.databricks.clusterUsageTags.clusterSource", "JOB")
        || is("spark.databricks.clusterUsageTags.clusterCreator", "JobLauncher")
        || begins("spark.databricks.clusterUsageTags.clusterName", "job-")
}

#[cfg(test)]
mod tests;
