//! The results of the detectors.

use super::super::{sentences, words};
use crate::html::filters::counted;
use elephant_analysis::stragglers::evaluation::ACTUAL;
use elephant_analysis::stragglers::evaluation::pool::Pooled;
use elephant_analysis::stragglers::quality::Quality;
use elephant_engine::survey::EngineDetectors;

/// The detectors of one engine.
pub(super) struct DetectorsView<'a> {
    pub(super) engine: &'a EngineDetectors,
    /// The number of overdue tasks, which detectors could have found.
    pub(super) stragglers: u64,
}

/// One detector.
pub(super) struct Row {
    pub(super) name: String,
    /// Whether it is the cluster's own speculation.
    pub(super) is_actual: bool,
    pub(super) found: u64,
    pub(super) late: u64,
    pub(super) false_alarms: u64,
    pub(super) precision: Option<f64>,
    pub(super) recall: Option<f64>,
    /// Means of precision and recall over applications.
    pub(super) mean_precision: Option<f64>,
    pub(super) mean_recall: Option<f64>,
    pub(super) latency: Option<f64>,
    /// The change of the mean task time, in percent.
    pub(super) time: Option<f64>,
}

impl<'a> DetectorsView<'a> {
    /// `None` if there was nothing to find and nothing was flagged.
    pub(super) fn of(engine: &'a EngineDetectors) -> Option<Self> {
        let (stragglers, flagged) = (engine.stragglers(), engine.flagged());
        (stragglers > 0 || flagged > 0).then_some(Self { engine, stragglers })
    }

    /// "spark: 12 groups with 34 overdue tasks".
    pub(super) fn title(&self) -> String {
        let (groups, stragglers) = (self.engine.groups, self.stragglers);
        let engine = self.engine.origin.name();
        format!("{engine}: {} with {}", counted(groups, "group"), counted(stragglers, "overdue task"))
    }

    pub(super) fn optimistic(&self) -> String {
        counted(self.engine.optimistic_groups, "group")
    }

    /// The detectors that flagged something, and the cluster's own, best first.
    pub(super) fn rows(&self) -> Vec<Row> {
        let ranked = self.engine.ranking.iter();
        let known = ranked.filter_map(|ranked| Some((ranked, self.engine.detectors.get(ranked.place)?)));
        let row = |(ranked, pooled): (&elephant_engine::survey::Ranked, &Pooled)| {
            let quality: &Quality = &pooled.total.quality;
            let is_actual = pooled.total.id == ACTUAL;
            let name = if is_actual {
                "the cluster's own".to_owned()
            } else {
                words::detector(pooled.total.id, &pooled.total.parameters)
            };
            (quality.detected > 0 || is_actual).then(|| Row {
                name,
                is_actual,
                found: quality.true_positives,
                late: quality.fakes,
                false_alarms: quality.detected.saturating_sub(quality.true_positives),
                precision: quality.precision(),
                recall: quality.recall(),
                mean_precision: pooled.means.precision,
                mean_recall: pooled.means.recall,
                latency: quality.detection_latency(),
                time: ranked.time_change.map(|change| 100.0 * change),
            })
        };
        known.filter_map(row).collect()
    }

    /// The detectors that flagged nothing.
    pub(super) fn silent(&self) -> Vec<String> {
        let ranked = self.engine.ranking.iter().filter_map(|ranked| self.engine.detectors.get(ranked.place));
        let silent = ranked.filter(|pooled| pooled.total.quality.detected == 0 && pooled.total.id != ACTUAL);
        silent.map(|pooled| words::detector(pooled.total.id, &pooled.total.parameters)).collect()
    }

    pub(super) fn verdicts(&self) -> Vec<String> {
        sentences::sample(self.engine).into_iter().chain(sentences::verdicts(self.engine)).collect()
    }

    pub(super) fn settings(&self) -> Option<(String, Vec<String>)> {
        sentences::settings(self.engine)
    }
}

impl Row {
    /// "−7.1 %".
    pub(super) fn time_text(&self) -> String {
        let Some(time) = self.time else { return String::new() };
        match format!("{:.1}", time.abs()) {
            text if text == "0.0" => format!("{text}\u{a0}%"),
            text if time < 0.0 => format!("−{text}\u{a0}%"),
            text => format!("+{text}\u{a0}%"),
        }
    }
}
