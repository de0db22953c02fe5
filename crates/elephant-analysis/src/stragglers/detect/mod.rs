//! Straggler detectors. Each is a pure function of what the application master sees at one time.
//!
//! A detector gets a [`Snapshot`] and its own [`Past`], and returns the running attempts that it considers
//! stragglers. It keeps no state and sees no later events, so the same snapshot always gives the same result;
//! [`replay`](super::replay) runs it on a finished job. A new detector is one file and one line in [`all_with`].

pub mod average_gap;
pub(crate) mod dos_index;
pub mod exponential;
pub(crate) mod flink;
pub mod hierarchical;
pub mod late;
pub mod mantri;
pub mod mr2;
pub mod mr2_speculation;
pub mod offline;
pub mod options;
mod ordered;
pub mod pool;
mod snapshot;
pub mod spark;
pub mod spark_settings;
#[cfg(test)]
mod testing;
pub mod timing;

pub use snapshot::{Completed, Completion, Past, Running, Snapshot};

use elephant_model::model::conf::defaults::Version;
use late::{Late, Variant};
use options::{DetectorOptions, EngineSetting};

use elephant_model::model::Engine;

/// Finds stragglers among running attempts.
pub trait Detector: Send + Sync {
    /// The name in reports, kebab-case.
    fn id(&self) -> &'static str;

    /// Its settings, for reports.
    fn parameters(&self) -> Vec<Parameter>;

    /// The engine that ships it; `None` for detectors from papers and other systems.
    fn engine(&self) -> Option<Engine> {
        None
    }

    /// The settings that make the engine work like this detector, in this version, or in the latest if
    /// `None`; empty if no settings do.
    fn settings(&self, _version: Option<Version>) -> Vec<EngineSetting> {
        Vec::new()
    }

    /// The data on running attempts that it needs.
    fn needs(&self) -> Needs {
        Needs::Progress
    }

    /// The number that it compares with a limit for an attempt; `None` if it does not compare one number with
    /// one limit.
    fn compared(&self, _snapshot: &Snapshot<'_>, _attempt: &Running) -> Option<Compared> {
        None
    }

    /// Appends the indices in [`Snapshot::running`] of the attempts that it considers stragglers, in
    /// ascending order. They may have been flagged before.
    fn flag(&self, snapshot: &Snapshot<'_>, past: &Past<'_>, flags: &mut Vec<usize>);
}

/// The data on running attempts that a detector needs, in addition to their launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it compares times only.
    Times,
    /// Their progress.
    Progress,
    /// Their progress, and that of earlier runs of the job.
    Models,
    /// Their progress and their nodes.
    Nodes,
    /// The records that they have read so far.
    Records,
    /// The size of their input.
    Input,
}

impl Needs {
    /// All variants, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Times, Self::Progress, Self::Models, Self::Nodes, Self::Records, Self::Input];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Times => "times",
            Self::Progress => "progress",
            Self::Models => "progress and models of earlier runs",
            Self::Nodes => "progress and nodes",
            Self::Records => "records read",
            Self::Input => "input size",
        }
    }
}

/// The comparison by which a detector flagged an attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// What was measured, with the unit as its suffix if it has one.
    pub measure: &'static str,
    /// Its value.
    pub value: f64,
    /// The limit that it passed.
    pub limit: f64,
}

impl Compared {
    /// A run time that is longer than its limit.
    pub const ELAPSED: &'static str = "elapsed_ms";
    /// Progress that is less than its limit.
    pub const PROGRESS: &'static str = "progress";
    /// Progress per second that is less than its limit.
    pub(crate) const RATE: &'static str = "progress_per_s";
    /// An estimate of the time to the end that is longer than its limit.
    pub const TIME_LEFT: &'static str = "time_left_ms";
}

/// One setting of a detector.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name, with the unit as its suffix.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
}

impl Parameter {
    /// A setting and its value.
    #[must_use]
    pub(crate) const fn new(name: &'static str, value: Value) -> Self {
        Self { name, value }
    }
}

/// The value of a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// One of several choices.
    Word(&'static str),
    /// On or off.
    Flag(bool),
}

/// Every detector with the settings of its source, in the order of reports.
#[must_use]
pub fn all() -> Vec<Box<dyn Detector>> {
    all_with(&DetectorOptions::default())
}

/// Every detector with the settings of its source and the changes of a user, in the order of reports.
#[must_use]
pub fn all_with(options: &DetectorOptions) -> Vec<Box<dyn Detector>> {
    let gap = |detector: average_gap::AverageGap| Box::new(detector.with(options));
    let late = |id, variant| Box::new(Late::of(id, variant).with(options));
    let spark = |detector: spark::SparkSpeculation| Box::new(detector.with(options));
    vec![
        gap(average_gap::AverageGap::DEFAULT),
        gap(average_gap::AverageGap::HADOOP_0_20),
        late("late", Variant::MeanMinusSd),
        late("late-printed", Variant::Printed),
        late("late-relative-cv", Variant::RelativeCv),
        Box::new(Late { cap: Some(0.1), ..Late::of("late-p25", Variant::P25) }.with(options)),
        late("late-mean-minus-capped-sd", Variant::MeanMinusCappedSd),
        Box::new(hierarchical::Hierarchical::DEFAULT.with(options)),
        Box::new(dos_index::DosIndex::DEFAULT),
        Box::new(offline::Offline::DEFAULT),
        Box::new(offline::Online::DEFAULT),
        Box::new(offline::Combined::DEFAULT),
        Box::new(offline::Combined::AVERAGE_GAP),
        Box::new(mr2::Mr2::LEGACY),
        Box::new(mr2::Mr2::EXPONENTIAL),
        spark(spark::SparkSpeculation::V3),
        spark(spark::SparkSpeculation::V3_4),
        spark(spark::SparkSpeculation::V4),
        Box::new(flink::Flink::DEFAULT),
        Box::new(mantri::Mantri::DEFAULT),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detector_names_are_unique() {
        let mut ids: Vec<&str> = all().iter().map(|detector| detector.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all().len());
    }

    #[test]
    fn an_empty_group_has_no_stragglers() {
        for detector in all() {
            assert_eq!(
                testing::group(100.0, &[]).flags(detector.as_ref()),
                testing::NOTHING,
                "{}",
                detector.id()
            );
        }
    }
}
