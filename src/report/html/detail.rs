//! The details of one application, below the table.

use askama::Template;

use super::charts::ChartsView;
use super::{LONG_NAME, filters};
use crate::finding::{Finding, Measure, Threshold};
use crate::report::words;
use crate::results::ApplicationReport;
use crate::troubles::Trouble;
use crate::units::{Bytes, Millis, three_digits};

/// Maximum number of source files listed. A rolling log may have many parts.
const MAX_SOURCES: usize = 20;

#[derive(Template)]
#[template(path = "application.html")]
pub(super) struct Detail<'a> {
    number: usize,
    app: &'a ApplicationReport,
}

impl askama::filters::HtmlSafe for Detail<'_> {}

impl<'a> Detail<'a> {
    pub(super) fn new(number: usize, app: &'a ApplicationReport) -> Self {
        Self { number, app }
    }

    /// Whether charts, evidence and source files are shown.
    fn is_full(&self) -> bool {
        self.app.charts.is_some()
    }

    /// Names that are cut in the heading.
    fn long_names(&self) -> Vec<(&'static str, &str)> {
        let app = self.app;
        let names = [
            ("id", Some(&app.id)),
            ("name", app.name.as_ref()),
            ("user", app.user.as_ref()),
            ("queue", app.queue.as_ref()),
        ];
        let known = names.into_iter().filter_map(|(label, name)| Some((label, name?.as_str())));
        known.filter(|(_, name)| name.chars().count() > LONG_NAME).collect()
    }

    fn shown_sources(&self) -> &[String] {
        let sources = &self.app.sources;
        sources.get(..MAX_SOURCES).unwrap_or(sources)
    }

    fn sources_left_out(&self) -> u64 {
        self.app.sources.len().saturating_sub(MAX_SOURCES) as u64
    }

    fn charts(&self) -> Option<ChartsView<'_>> {
        self.app.charts.as_deref().map(|charts| ChartsView { charts })
    }
}

/// A measured value with its unit.
fn measure(value: &Measure) -> String {
    match value {
        Measure::Count(count) => filters::grouped(*count),
        Measure::Time(time) => time.to_string(),
        Measure::Size(size) => size.to_string(),
        Measure::Mebibytes(count) => format!("{} MiB", filters::grouped(*count)),
        Measure::Speed(speed) => speed.to_string(),
        Measure::Ratio(Some(ratio)) => three_digits(*ratio),
        Measure::Number(Some(number), _) => three_digits(*number),
        Measure::Ratio(None) | Measure::Number(None, _) => "unknown".to_owned(),
        Measure::Text(text) => text.clone(),
    }
}

/// A threshold with the unit named by the ending of its key. A threshold of `never` is not a finite number.
fn cutoff(threshold: &Threshold, value: f64) -> String {
    let unit = |ending| threshold.key.ends_with(ending);
    if !value.is_finite() {
        return "never".to_owned();
    }
    let time = unit("_ms").then(|| Millis::from_f64(value)).flatten().map(|time| time.to_string());
    let size = || unit("_bytes").then(|| Bytes::from_f64(value)).flatten().map(|size| size.to_string());
    time.or_else(size).unwrap_or_else(|| three_digits(value))
}

/// The parts that have a trouble: "stage 1.0, stage 4.0".
fn subjects(trouble: &Trouble) -> String {
    trouble.subjects.iter().map(|subject| subject.name().into_owned()).collect::<Vec<_>>().join(", ")
}

/// What its remedy saves.
fn saves(app: &ApplicationReport, trouble: &Trouble) -> String {
    words::saves(&trouble.savings, words::currency(app))
}

fn subject(finding: &Finding) -> String {
    finding.subject.name().into_owned()
}
