//! The results of the detector replay.

use std::io::{self, Write};

use anstyle::Style;

use super::{Page, counted, or_unknown};
use crate::grid::{Cell, Column, Grid};
use crate::stragglers::{sentences, words};
use elephant_analysis::stragglers::evaluation::pool::Pooled;
use elephant_analysis::stragglers::evaluation::{ACTUAL, Ranked};
use elephant_analysis::stragglers::quality::Quality;
use elephant_engine::survey::EngineDetectors;

/// Columns of a detector's name.
const DETECTOR: usize = 20;

impl Page<'_> {
    pub(super) fn detectors(&self, out: &mut dyn Write) -> io::Result<()> {
        let engines = &self.report.total.engines;
        engines.iter().try_for_each(|engine| self.engine(engine, engines.len() > 1, out))
    }

    fn engine(&self, engine: &EngineDetectors, several: bool, out: &mut dyn Write) -> io::Result<()> {
        let quality = |pooled: &Pooled| pooled.total.quality;
        let (stragglers, flagged) = (engine.stragglers(), engine.flagged());
        if stragglers == 0 && flagged == 0 {
            return Ok(());
        }
        let of = if several { format!(", {}", engine.origin.name()) } else { String::new() };
        if !self.details {
            return self.best(engine, &of, out);
        }
        self.heading(&format!("Detector replay{of}"), out)?;
        let overdue = sentences::overdue(engine, &self.report.settings);
        let text = format!(
            "Replayed on {}. {overdue} \"late\": flagged too late to save time.",
            counted(engine.groups, "group"),
        );
        self.paragraph(&text, 2, out)?;
        if self.report.settings.models.is_some() {
            let text = format!(
                "Usual progress is from earlier runs in {}, otherwise from the tasks that had succeeded by then.",
                counted(engine.with_models, "group")
            );
            self.paragraph(&text, 2, out)?;
        }
        self.optimistic(engine, out)?;
        let mut grid = table();
        let mut silent = Vec::new();
        for ranked in &engine.ranking {
            let Some(pooled) = engine.detectors.get(ranked.place) else { continue };
            let is_actual = pooled.total.id == ACTUAL;
            if quality(pooled).detected == 0 && !is_actual {
                silent.push(words::detector(pooled.total.id, &pooled.total.parameters));
            } else {
                grid.row(self.detector(ranked, pooled, is_actual));
            }
        }
        grid.write(self.columns, out)?;
        if !silent.is_empty() {
            self.paragraph(&format!("Flagged nothing: {}.", silent.join(", ")), 2, out)?;
        }
        self.paragraph(
            "The row actual is the cluster's own speculation. Columns: prec is the share of flagged tasks that were overdue, without late ones; mean job, the mean over applications; after, the time until the flag, in usual times; time, the change of the mean task time by detection, by a first-order model without contention (- if the model does not apply).",
            2,
            out,
        )?;
        self.verdict(engine, out)
    }

    /// The best detectors, without the table.
    fn best(&self, engine: &EngineDetectors, of: &str, out: &mut dyn Write) -> io::Result<()> {
        self.heading(&format!("Best detector{of}"), out)?;
        self.paragraph(&sentences::overdue(engine, &self.report.settings), 2, out)?;
        self.verdict(engine, out)?;
        self.optimistic(engine, out)
    }

    fn optimistic(&self, engine: &EngineDetectors, out: &mut dyn Write) -> io::Result<()> {
        sentences::optimistic(engine).map_or(Ok(()), |text| self.paragraph(&text, 2, out))
    }

    fn detector(&self, ranked: &Ranked, pooled: &Pooled, is_actual: bool) -> [Cell; 10] {
        let quality: &Quality = &pooled.total.quality;
        let style = if is_actual { self.bold() } else { Style::new() };
        let name = if is_actual {
            ACTUAL.to_owned()
        } else {
            words::detector(pooled.total.id, &pooled.total.parameters)
        };
        let all = [
            name,
            quality.true_positives.to_string(),
            quality.fakes.to_string(),
            quality.detected.saturating_sub(quality.true_positives).to_string(),
            two_places(quality.precision()),
            two_places(quality.recall()),
            two_places(pooled.means.precision),
            two_places(pooled.means.recall),
            two_places(quality.detection_latency()),
            or_unknown(ranked.time_change.map(time_change)),
        ];
        all.map(|text| Cell::styled(text, style))
    }

    fn verdict(&self, engine: &EngineDetectors, out: &mut dyn Write) -> io::Result<()> {
        sentences::sample(engine).map_or(Ok(()), |sample| self.paragraph(&sample, 2, out))?;
        let verdicts = sentences::verdicts(engine);
        verdicts.iter().try_for_each(|verdict| self.paragraph(verdict, 2, out))?;
        self.settings(engine, out)?;
        writeln!(out)
    }

    /// The settings of the best detector that the engine ships, as lines to paste, with what it costs.
    fn settings(&self, engine: &EngineDetectors, out: &mut dyn Write) -> io::Result<()> {
        let Some((sentence, lines)) = sentences::settings(engine) else { return Ok(()) };
        self.paragraph(&sentence, 2, out)?;
        writeln!(out, "    {}", lines.join(" \\\n    "))
    }
}

/// The table of detectors.
fn table() -> Grid {
    let columns = [
        Column::key("detector", DETECTOR, DETECTOR),
        Column::number("found", 5),
        Column::number("late", 5),
        Column::number("false", 5),
        Column::number("prec", 5),
        Column::number("recall", 6),
        Column::number("prec", 5).named("prec of mean job"),
        Column::number("recall", 6).named("recall of mean job"),
        Column::number("after", 5),
        Column::number("time", 7),
    ];
    let above = format!("  {:<DETECTOR$} {:>17} {:>12} {:>12}", "", "", "of all tasks", "of mean job");
    Grid::new(2, columns).above(above)
}

/// "-7.1 %" if the mean task is 7.1 % shorter. Zero has no sign.
fn time_change(change: f64) -> String {
    let text = format!("{:+.1} %", 100.0 * change);
    if matches!(text.as_str(), "+0.0 %" | "-0.0 %") { "0.0 %".to_owned() } else { text }
}

fn two_places(value: Option<f64>) -> String {
    or_unknown(value.map(|value| format!("{value:.2}")))
}
