//! The detectors of a scenario: those of [`detect`], the three of S0 with the scenario's settings.

use super::scenario::{Detection, MeanOver};
use elephant_analysis::stragglers::detect::average_gap::AverageGap;
use elephant_analysis::stragglers::detect::hierarchical::{ClusterMean, Hierarchical};
use elephant_analysis::stragglers::detect::late::{Late, Variant};
use elephant_analysis::stragglers::detect::timing::Timing;
use elephant_analysis::stragglers::detect::{self, Detector};

/// The detector with this name; `None` if there is none. The settings apply to S0's three.
pub(super) fn detector(id: &str, settings: &Detection) -> Option<Box<dyn Detector>> {
    let timing = Timing { lag: settings.lag_s, min_age: settings.min_age_s, ..Timing::S0 };
    let gap = AverageGap { gap: settings.gap, timing, ..AverageGap::DEFAULT };
    let mean = match settings.mean_over {
        MeanOver::Nodes => ClusterMean::Nodes,
        MeanOver::Tasks => ClusterMean::Tasks,
    };
    let Detection { fraction, speed_min_age_s: min_age, .. } = *settings;
    Some(match id {
        "default" => Box::new(gap),
        "hierarchical" => {
            let inner = AverageGap { id: "hierarchical", ..gap };
            Box::new(Hierarchical { inner, fraction, mean, min_age })
        }
        "late-printed" => {
            let alpha = settings.alpha;
            Box::new(Late { alpha, timing, ..Late::of("late-printed", Variant::Printed) })
        }
        other => return detect::all().into_iter().find(|detector| detector.id() == other),
    })
}

/// The names of all detectors.
#[must_use]
pub fn names() -> Vec<&'static str> {
    detect::all().iter().map(|detector| detector.id()).collect()
}
