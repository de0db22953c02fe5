//! Where an application ran, according to its configuration.

use crate::model::Application;
use crate::model::conf::{Conf, ConfKey};

/// The cluster manager that granted the containers (`spark.master`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterManager {
    /// Hadoop YARN.
    Yarn,
    /// Kubernetes.
    Kubernetes,
    /// Spark's standalone manager, also `local-cluster`.
    Standalone,
    /// Apache Mesos, up to Spark 3.
    Mesos,
    /// None: everything runs in the driver.
    Local,
}

#[doc(hidden)]
impl ClusterManager {
    /// The cluster manager named by `spark.master`; `None` if missing or unknown.
    #[must_use]
    pub(crate) fn of(conf: &Conf) -> Option<Self> {
        let master = conf.text(ConfKey::SparkMaster)?.to_ascii_lowercase();
        // "yarn-client" and "yarn-cluster" are Spark 1 names; "local-cluster" starts real executors.
        [
            ("yarn", Self::Yarn),
            ("k8s://", Self::Kubernetes),
            ("local-cluster", Self::Standalone),
            ("spark://", Self::Standalone),
            ("mesos://", Self::Mesos),
            ("zk://", Self::Mesos),
            ("local", Self::Local),
        ]
        .into_iter()
        .find_map(|(prefix, manager)| master.starts_with(prefix).then_some(manager))
    }

    /// The cores of the driver in local mode, as `spark.master` gives them: `local`, `local[4]` or `local[4,2]`. `None` for
    /// all cores of the machine.
    #[must_use]
    pub fn local_cores(conf: &Conf) -> Option<u32> {
        let master = conf.text(ConfKey::SparkMaster)?;
        if master == "local" {
            return Some(1);
        }
        let cores = master.strip_prefix("local[")?.split([',', ']']).next()?;
        cores.trim().parse().ok().filter(|cores| *cores > 0)
    }

    /// As `of`, or else the manager that uses ids of this application's format: the configuration may
    /// be missing or redacted.
    #[must_use]
    pub fn of_application(app: &Application) -> Option<Self> {
        Self::of(&app.conf).or_else(|| {
            [("application_", Self::Yarn), ("local-", Self::Local), ("app-", Self::Standalone)]
                .into_iter()
                .find_map(|(prefix, manager)| app.id.starts_with(prefix).then_some(manager))
        })
    }
}
