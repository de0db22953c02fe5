//! How detectors of stragglers would have done.

use std::io::{self, Write};

use anstyle::Style;

use super::{Page, counted, or_unknown};
use crate::report::stragglers::words;
use crate::stragglers::evaluation::{ACTUAL, Best, Pooled, Ranked};
use crate::stragglers::quality::Quality;
use crate::survey::EngineDetectors;
use crate::units::three_digits;

/// Columns of a detector's name.
const DETECTOR: usize = 25;

impl Page<'_> {
    pub(super) fn detectors(&self, out: &mut dyn Write) -> io::Result<()> {
        let engines = &self.report.total.engines;
        engines.iter().try_for_each(|engine| self.engine(engine, engines.len() > 1, out))
    }

    fn engine(&self, engine: &EngineDetectors, several: bool, out: &mut dyn Write) -> io::Result<()> {
        let quality = |pooled: &Pooled| pooled.total.quality;
        let stragglers = engine.detectors.iter().map(|it| quality(it).stragglers).max().unwrap_or_default();
        let flagged: u64 = engine.detectors.iter().map(|it| quality(it).detected).sum();
        if stragglers == 0 && flagged == 0 {
            return Ok(());
        }
        let of = if several { format!(", {}", engine.engine.name()) } else { String::new() };
        self.heading(&format!("How detectors would have done{of}"), out)?;
        let text = format!(
            "Replayed over {} with {} (more than {} times the usual time). \"late\": flagged with too little left to gain.",
            counted(engine.groups, "group"),
            counted(stragglers, "straggler"),
            three_digits(self.report.settings.usual.factor),
        );
        self.paragraph(&text, 2, out)?;
        if engine.optimistic_groups > 0 {
            let text = format!(
                "Optimistic: in {} of {} most progress is a straight line to an end that is known, so detectors that look at progress are better here than on a cluster; --startup 1s takes some of that away.",
                engine.optimistic_groups,
                counted(engine.groups, "group")
            );
            self.paragraph(&text, 2, out)?;
        }
        writeln!(
            out,
            "  {:<DETECTOR$} {:>6} {:>5} {:>6} {:>9} {:>6} {:>7} {:>7}",
            "detector", "found", "late", "false", "precision", "recall", "latency", "time"
        )?;
        let mut silent = Vec::new();
        for ranked in &engine.ranking {
            let Some(pooled) = engine.detectors.get(ranked.place) else { continue };
            let is_actual = pooled.total.id == ACTUAL;
            if quality(pooled).detected == 0 && !is_actual {
                silent.push(words::detector(pooled.total.id, &pooled.total.parameters));
            } else {
                self.detector(ranked, pooled, is_actual, out)?;
            }
        }
        if !silent.is_empty() {
            self.paragraph(&format!("Flagged nothing: {}.", silent.join(", ")), 2, out)?;
        }
        self.verdict(engine, out)
    }

    fn detector(
        &self,
        ranked: &Ranked,
        pooled: &Pooled,
        is_actual: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let quality: &Quality = &pooled.total.quality;
        let style = if is_actual && self.color { Style::new().bold() } else { Style::new() };
        let line = format!(
            "  {:<DETECTOR$} {:>6} {:>5} {:>6} {:>9} {:>6} {:>7} {:>7}",
            if is_actual {
                "actual (the cluster's)".to_owned()
            } else {
                words::detector(pooled.total.id, &pooled.total.parameters)
            },
            quality.true_positives,
            quality.fakes,
            quality.detected.saturating_sub(quality.true_positives),
            or_unknown(quality.precision().map(|it| format!("{it:.2}"))),
            or_unknown(quality.recall().map(|it| format!("{it:.2}"))),
            or_unknown(quality.detection_latency().map(|it| format!("{it:.2}"))),
            or_unknown(ranked.time_saved.map(gained)),
        );
        writeln!(out, "{style}{line}{style:#}")
    }

    fn verdict(&self, engine: &EngineDetectors, out: &mut dyn Write) -> io::Result<()> {
        self.paragraph(
            "latency: usual times until the flag; time: what a mean task would have gained or lost against no detection, by a first-order model that knows no contention (- where it does not apply).",
            2,
            out,
        )?;
        self.paragraph(&format!("{}.", sentence(engine.best, engine)), 2, out)?;
        if matches!(engine.best, Best::Detector { .. }) && engine.best_offered != engine.best {
            let text = format!(
                "Of what {} offers: {}.",
                engine.engine.name(),
                sentence(engine.best_offered, engine)
            );
            self.paragraph(&text, 2, out)?;
        }
        writeln!(out)
    }
}

/// "-7.1 %" for a mean task that is shorter by that; no sign before a zero.
fn gained(saved: f64) -> String {
    let text = format!("{:+.1} %", -100.0 * saved);
    if matches!(text.as_str(), "+0.0 %" | "-0.0 %") { "0.0 %".to_owned() } else { text }
}

/// Which detector would have served best, with what that rests on.
fn sentence(best: Best, engine: &EngineDetectors) -> String {
    let Best::Detector { place, .. } = best else { return best.to_string() };
    let Some(pooled) = engine.detectors.get(place) else { return best.to_string() };
    let quality = &pooled.total.quality;
    let interval =
        quality.recall_interval().map(|(low, high)| format!(", {:.0} to {:.0} %", 100.0 * low, 100.0 * high));
    format!(
        "{} would have served best: it found {} of {}{}, and flagged {} in vain ({})",
        pooled.total.id,
        quality.true_positives,
        counted(quality.stragglers, "straggler"),
        interval.unwrap_or_default(),
        counted(quality.detected.saturating_sub(quality.true_positives), "task"),
        words::parameters(&pooled.total.parameters),
    )
}
