//! The results of the detectors.

use super::{sentences, words};
use crate::document::{Block, Cell, Column, Media, Row, Section, Table, Value};
use crate::words::plural;
use elephant_analysis::stragglers::evaluation::pool::Pooled;
use elephant_analysis::stragglers::evaluation::{ACTUAL, Ranked};
use elephant_base::units::three_digits;
use elephant_engine::survey::{EngineDetectors, StragglerReport};

/// Columns of a detector's name.
const DETECTOR: usize = 20;

/// What the columns mean.
const COLUMNS: &str = "The row actual is the cluster's own speculation. Late: flagged too late to save time. Precision (prec) is the share of flagged tasks that were overdue, without late ones; mean p and mean r are means of precision and recall over applications; after, the time until the flag, in usual times; time, the change of the mean task time by detection, by a first-order model without contention (unknown if the model does not apply).";

/// The detectors of each engine; a terminal has the table with details only.
pub(super) fn section(report: &StragglerReport, details: bool, summary: bool) -> Section<'_> {
    let section = Section::new("detectors", "Detectors", "Detectors");
    let engines = &report.total.engines;
    // Nothing was to be found, and nothing was flagged.
    let told: Vec<&EngineDetectors> =
        engines.iter().filter(|engine| engine.stragglers() > 0 || engine.flagged() > 0).collect();
    if told.is_empty() {
        return section;
    }
    let factor = three_digits(report.settings.usual.factor);
    let note = format!(
        "Each detector is replayed on the finished jobs and sees at each moment only what was known. Detectors are rated by overdue tasks, which are not the stragglers above: a task is overdue if it took more than {factor}× its usual time, which is known from runs of the job, or else from the input or the median of the group."
    );
    let section = section.only(Media::HTML, Block::Note(note));
    let several = engines.len() > 1;
    told.into_iter()
        .fold(section, |section, engine| of_engine(engine, report, several, (details, summary), section))
}

fn of_engine<'a>(
    engine: &'a EngineDetectors,
    report: &StragglerReport,
    several: bool,
    (details, summary): (bool, bool),
    section: Section<'a>,
) -> Section<'a> {
    let (id, name) = (format!("detectors-{}", engine.origin.key()), engine.origin.name());
    let (groups, overdue) = (plural(engine.groups, "group"), plural(engine.stragglers(), "overdue task"));
    let what = if details { "Detector replay" } else { "Best detector" };
    let of = if several { format!(", {name}") } else { String::new() };
    let text = if summary { Media::NONE } else { Media::TEXT };
    let both = Media::HTML.or(text);
    let in_detail = Media::HTML.or(if details { text } else { Media::NONE });
    let replayed = if details { format!("Replayed on {groups}. ") } else { String::new() };
    let rated = format!("{replayed}{}", sentences::overdue(engine, &report.settings));
    let section = section
        .only(Media::HTML, Block::Heading(id, format!("{name}: {groups} with {overdue}")))
        .only(text, Block::Label(format!("{what}{of}")))
        .only(text, Block::Told(rated));
    let verdicts = sentences::sample(engine).into_iter().chain(sentences::verdicts(engine));
    let section = verdicts.fold(section, |section, verdict| section.only(both, Block::Told(verdict)));
    let section = match sentences::settings(engine) {
        Some((sentence, lines)) => {
            section.only(both, Block::Told(sentence)).only(both, Block::Command(lines))
        }
        None => section,
    };
    let models = (details && report.settings.models.is_some()).then(|| {
        let groups = plural(engine.with_models, "group");
        Block::Told(format!("Usual progress is from earlier runs in {groups}, otherwise from the tasks that had succeeded by then."))
    });
    let optimistic = sentences::optimistic(engine);
    let section = section.only(text, models).only(text, optimistic.clone().map(Block::Told));
    let mut folded = vec![Block::Table(table(engine)), Block::Note(COLUMNS.to_owned())];
    let silent = silent(engine);
    folded.extend(
        (!silent.is_empty()).then(|| Block::Note(format!("Flagged nothing: {}.", silent.join(", ")))),
    );
    section
        .only(Media::HTML, optimistic.map(Block::Note))
        .only(in_detail, Block::Folded("All detectors".to_owned(), folded))
}

fn is_silent(pooled: &Pooled) -> bool {
    pooled.total.quality.detected == 0 && pooled.total.id != ACTUAL
}

/// The detectors that flagged nothing.
fn silent(engine: &EngineDetectors) -> Vec<String> {
    let ranked = engine.ranking.iter().filter_map(|ranked| engine.detectors.get(ranked.place));
    let silent = ranked.filter(|pooled| is_silent(pooled));
    silent.map(|pooled| words::detector(pooled.total.id, &pooled.total.parameters)).collect()
}

/// The detectors that flagged something, and the cluster's own, best first.
fn table(engine: &EngineDetectors) -> Table<'_> {
    let columns = [
        Column::key("detector", DETECTOR, DETECTOR),
        Column::number("found", 5),
        Column::number("late", 5),
        Column::number("false", 5),
        Column::number("prec", 5).on_page("Precision"),
        Column::number("recall", 6),
        Column::number("mean p", 6).on_page("Mean precision"),
        Column::number("mean r", 6).on_page("Mean recall"),
        Column::number("after", 5),
        Column::number("time", 7),
    ];
    let known =
        engine.ranking.iter().filter_map(|ranked| Some((ranked, engine.detectors.get(ranked.place)?)));
    let rows = known.filter(|(_, pooled)| !is_silent(pooled)).map(|(ranked, pooled)| row(ranked, pooled));
    Table::new(columns, rows).named("All detectors")
}

fn row<'a>(ranked: &Ranked, pooled: &'a Pooled) -> Row<'a> {
    let quality = &pooled.total.quality;
    let is_actual = pooled.total.id == ACTUAL;
    let decimal = |value: Option<f64>| Cell::from(Value::known(value, Value::Decimal));
    let time = Value::known(ranked.time_change, |change| Value::Sorted(time_change(change), Some(change)));
    let row = Row::new([
        words::detector(pooled.total.id, &pooled.total.parameters).into(),
        quality.true_positives.into(),
        quality.fakes.into(),
        quality.detected.saturating_sub(quality.true_positives).into(),
        decimal(quality.precision()),
        decimal(quality.recall()),
        decimal(pooled.means.precision),
        decimal(pooled.means.recall),
        decimal(quality.detection_latency()),
        time.into(),
    ]);
    if is_actual { row.current() } else { row }
}

/// "-7.1 %" if the mean task is 7.1 % shorter. Zero has no sign.
fn time_change(change: f64) -> String {
    let text = format!("{:+.1} %", 100.0 * change);
    if matches!(text.as_str(), "+0.0 %" | "-0.0 %") { "0.0 %".to_owned() } else { text }
}
