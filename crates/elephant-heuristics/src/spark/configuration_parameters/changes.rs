//! Changes of settings, and why they are made.

use elephant_base::severity::Severity;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_rule::finding::{Advice, TroubleKind};
use elephant_rule::wording::change;

/// The reason for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Spill,
    OutOfMemory,
    Gc,
    Unused,
    ContainerKilled,
    LongTasks,
    SameParallelism,
    DriverUnused,
    DriverCores,
}

impl Reason {
    /// The kind of trouble that the change is against.
    pub(super) const fn tells(self) -> TroubleKind {
        match self {
            Self::Spill => TroubleKind::Spill,
            Self::OutOfMemory | Self::ContainerKilled => TroubleKind::LittleMemory,
            Self::Gc => TroubleKind::GarbageCollection,
            Self::Unused => TroubleKind::MuchMemory,
            Self::LongTasks => TroubleKind::FewTasks,
            Self::SameParallelism => TroubleKind::Settings,
            Self::DriverUnused | Self::DriverCores => TroubleKind::Driver,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Spill => "less spill",
            Self::OutOfMemory => "tasks ran out of memory",
            Self::Gc => "less garbage collection",
            Self::Unused => "the rest was never used",
            Self::ContainerKilled => "containers exceeded their memory limit",
            Self::LongTasks => "shorter tasks",
            Self::SameParallelism => "same number of concurrent tasks",
            Self::DriverUnused => "the driver never used the rest",
            Self::DriverCores => "a driver needs few cores",
        }
    }
}

/// A setting to change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub(super) key: ConfKey,
    pub(super) value: String,
    pub(super) reason: Reason,
    /// The severity of the problem that it solves.
    pub(super) severity: Severity,
}

impl Change {
    /// Whether it reduces garbage collection.
    pub(super) fn is_about_gc(&self) -> bool {
        self.reason == Reason::Gc
    }

    /// Whether the change is against spill or long tasks of stages. With `cores`, fewer cores are among these changes;
    /// then changes that keep the parallelism belong to them, too.
    pub(super) fn is_of_stages(&self, cores: bool) -> bool {
        matches!(self.reason, Reason::Spill | Reason::LongTasks)
            || cores && self.reason == Reason::SameParallelism
    }

    /// Whether it changes the number of cores because of spill or long tasks.
    pub(super) fn is_cores_of_stages(&self) -> bool {
        self.key == ConfKey::ExecutorCores && self.is_of_stages(false)
    }

    /// Whether it changes a driver that runs separately from the executors.
    pub(super) fn is_of_driver(&self) -> bool {
        matches!(self.reason, Reason::DriverUnused | Reason::DriverCores)
    }

    /// The configuration line and the reason.
    pub(super) fn advice(&self, app: &Application) -> Advice {
        let change = change(app, self.key, &self.value);
        Advice::default().set([change]).and(&format!(": {}", self.reason.words()))
    }
}
