//! What the configuration says about where an application ran.

use crate::model::Application;
use crate::model::conf::{Conf, ConfKey};

/// Who gave the application its containers (`spark.master`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterManager {
    /// Hadoop YARN.
    Yarn,
    /// Kubernetes.
    Kubernetes,
    /// Spark's own, also `local-cluster`.
    Standalone,
    /// Apache Mesos, up to Spark 3.
    Mesos,
    /// Everything in the driver.
    Local,
}

impl ClusterManager {
    /// The cluster manager that `spark.master` names; `None` where it is missing or unknown.
    #[must_use]
    pub fn of(conf: &Conf) -> Option<Self> {
        let master = conf.text(ConfKey::SparkMaster)?.to_ascii_lowercase();
        // "yarn-client" and "yarn-cluster" are of Spark 1; "local-cluster" starts real executors.
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

    /// The same, else the one that gave the application an id of this form: logs may lack the configuration or
    /// have it redacted.
    #[must_use]
    pub fn of_application(app: &Application) -> Option<Self> {
        Self::of(&app.conf).or_else(|| {
            [("application_", Self::Yarn), ("local-", Self::Local), ("app-", Self::Standalone)]
                .into_iter()
                .find_map(|(prefix, manager)| app.id.starts_with(prefix).then_some(manager))
        })
    }
}
