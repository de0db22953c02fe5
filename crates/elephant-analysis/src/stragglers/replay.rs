//! Runs detectors on a finished job as if it were running: at each scan they see what the application master
//! saw.
//!
//! No detector sees the future: later events do not change earlier flags. The job itself does not change
//! either (an open loop): a flag launches no copy and frees no slot. One thing does use the future: a
//! progress curve that is a straight line to a known end ([`ProgressSource::Linear`]). With it the progress
//! rate is exactly one over the duration, so results from such curves are optimistic; [`Sources`] counts
//! them.

mod model;
mod options;
mod playback;
mod timeline;

pub use model::{GRID, median_progress};
pub use options::Options;
pub(crate) use playback::{DetectorState, Playback};
pub use timeline::{Attempt, Done, Sources, Timeline};

use super::detect::{Detector, Parameter};
use super::progress::ProgressSource;
use super::regression::ProgressModel;
use elephant_base::units::Millis;

/// Results of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// One entry per detector, in input order.
    pub detectors: Vec<Detections>,
    /// Sources of the progress curves.
    pub sources: Sources,
    /// Number of scans; those with nothing running are skipped.
    pub scans: u64,
    /// Time between scans at the start.
    pub step: Millis,
    /// Time between scans at the end; larger for long jobs.
    pub last_step: Millis,
    /// The last model of usual progress, if there was enough data to learn one.
    pub usual_progress: Option<ProgressModel>,
}

/// Results of one detector.
#[derive(Debug, Clone, PartialEq)]
pub struct Detections {
    /// The detector's name.
    pub id: &'static str,
    /// Its settings.
    pub parameters: Vec<Parameter>,
    /// For each attempt of the timeline, the time from its launch to its first flag.
    pub first: Vec<Option<Millis>>,
}

impl Replay {
    /// Whether the progress that detectors saw mostly uses the future: more than half of the curves are
    /// straight lines.
    #[must_use]
    pub(crate) const fn is_optimistic(&self) -> bool {
        self.sources.of(ProgressSource::Linear) * 2 > self.sources.known()
    }
}

/// Runs `detectors` on the timeline of a group.
#[must_use]
pub fn replay(timeline: &Timeline, detectors: &[Box<dyn Detector>], options: &Options) -> Replay {
    let mut states: Vec<DetectorState> =
        detectors.iter().map(|_| DetectorState::new(timeline.attempts.len())).collect();
    let mut flags = Vec::new();
    let mut playback = Playback::new(timeline.total, options);
    while let Some(retired) = playback.advance(timeline, None) {
        for state in &mut states {
            state.retire(retired);
        }
        let snapshot = playback.snapshot(timeline);
        for (detector, state) in detectors.iter().zip(&mut states) {
            flags.clear();
            detector.flag(&snapshot, &state.past(), &mut flags);
            state.record(&snapshot, &flags);
        }
    }
    let detections = detectors.iter().zip(states).map(|(detector, state)| Detections {
        id: detector.id(),
        parameters: detector.parameters(),
        first: state.into_first_flags(),
    });
    Replay {
        detectors: detections.collect(),
        sources: timeline.sources(),
        scans: playback.scans(),
        step: options.step,
        last_step: playback.step(),
        usual_progress: playback.into_usual_progress(),
    }
}

#[cfg(test)]
mod tests;
