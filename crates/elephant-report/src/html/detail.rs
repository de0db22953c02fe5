//! The details of one application, below the table.

use askama::Template;

use super::charts::ChartsView;
use super::links::{Ids, Links};
use super::{LONG_NAME, filters};
use crate::words::{self, capped};
use elephant_base::units::{Bytes, Millis, three_digits};
use elephant_engine::results::ApplicationReport;
use elephant_explain::{Explanation, Values};
use elephant_model::model::Subject;
use elephant_rule::finding::{Finding, Measure, Threshold};
use elephant_verdict::troubles::{Telling, Trouble};

/// Maximum number of source files listed. A rolling log may have many parts.
const MAX_SOURCES: usize = 20;

#[derive(Template)]
#[template(path = "application.html")]
pub(super) struct Detail<'a> {
    app: &'a ApplicationReport,
    ids: &'a Ids,
}

impl askama::filters::HtmlSafe for Detail<'_> {}

/// The values that a figure was computed from, with their places.
#[derive(Template)]
#[template(path = "terms.html")]
struct Terms<'a> {
    values: &'a Values,
    /// Whether they stand in several files.
    names_files: bool,
}

impl askama::filters::HtmlSafe for Terms<'_> {}

impl<'a> Detail<'a> {
    pub(super) fn new(app: &'a ApplicationReport, ids: &'a Ids) -> Self {
        Self { app, ids }
    }

    fn troubles(&self) -> impl Iterator<Item = (&Trouble, &String)> {
        self.app.troubles.iter().zip(&self.ids.troubles)
    }

    fn findings(&self) -> impl Iterator<Item = (&Finding, &String)> {
        self.app.findings.iter().zip(&self.ids.findings)
    }

    /// Where its figures come from, if that was asked for.
    fn explanation(&self, finding: &Finding) -> Option<&Explanation> {
        let explanations = self.app.explanations.iter();
        explanations.into_iter().find(|it| it.rule == finding.rule && it.subject == finding.subject)
    }

    /// The file that everything stands in, if there is only one.
    fn only_source(&self) -> Option<&String> {
        self.app.sources.first().filter(|_| self.app.sources.len() == 1)
    }

    fn terms<'v>(&self, values: &'v Values) -> Terms<'v> {
        Terms { values, names_files: self.only_source().is_none() }
    }

    /// The id of the finding that reports a trouble; `None` if the report shows only worse findings.
    fn finding_id(&self, telling: &Telling) -> Option<&String> {
        let is_it = |finding: &Finding| finding.rule == telling.rule && finding.subject == telling.subject;
        self.findings().find_map(|(finding, id)| is_it(finding).then_some(id))
    }

    fn links(&self) -> Links<'_> {
        Links { app: self.app, ids: self.ids }
    }

    /// The phases of a trouble that have charts.
    fn phase_links(&self, subjects: &[Subject]) -> Vec<(String, String)> {
        let link = |subject: &Subject| Some((subject.name().into_owned(), self.links().phase(subject)?));
        subjects.iter().filter_map(link).collect()
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
        self.app.charts.as_deref().map(|charts| ChartsView { charts, links: self.links() })
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

/// What is wrong and where, in a few words.
fn title(trouble: &Trouble) -> String {
    words::title(trouble)
}

/// The text that distinguishes this finding from the others of the trouble: "stage 1.0, consequence".
fn telling_note(trouble: &Trouble, telling: &Telling) -> Option<String> {
    let is_repeated = trouble.findings.iter().filter(|other| other.rule == telling.rule).count() > 1;
    let subject = is_repeated.then(|| telling.subject.name().into_owned());
    let echo = telling.is_consequence.then(|| "consequence".to_owned());
    let note: Vec<String> = subject.into_iter().chain(echo).collect();
    (!note.is_empty()).then(|| note.join(", "))
}

/// The saving of its remedy.
fn saves(app: &ApplicationReport, trouble: &Trouble) -> String {
    words::saves(&trouble.savings, words::currency(app))
}

fn subject(finding: &Finding) -> String {
    finding.subject.name().into_owned()
}
