//! Where the figures of findings come from, as JSON.

use elephant_explain::{Event, Explanation, Figure, Origin, Place, Setting, Term, Values};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ExplanationView<'a> {
    rule: &'a str,
    subject: std::borrow::Cow<'static, str>,
    figures: Vec<FigureView<'a>>,
    read: Vec<ValuesView<'a>>,
    events: Vec<EventView<'a>>,
    settings: Vec<SettingView<'a>>,
    unread: Option<&'a str>,
}

#[derive(Serialize)]
struct FigureView<'a> {
    figure: &'a str,
    /// `sum`, `mean`, …; `figures` or `rule`.
    computed: &'static str,
    /// From other figures.
    formula: Option<&'static str>,
    /// As computed from the history again.
    value: Option<u64>,
    values: Vec<ValuesView<'a>>,
}

#[derive(Serialize)]
struct ValuesView<'a> {
    key: &'a str,
    unit: Option<&'static str>,
    which: &'static str,
    count: u64,
    sum: u64,
    terms: Vec<TermView<'a>>,
    rest_count: u64,
    rest_sum: u64,
}

#[derive(Serialize)]
struct PlaceView<'a> {
    file: &'a str,
    line: Option<u64>,
    byte: Option<u64>,
}

#[derive(Serialize)]
struct TermView<'a> {
    #[serde(flatten)]
    place: PlaceView<'a>,
    value: u64,
    of: &'a str,
}

#[derive(Serialize)]
struct EventView<'a> {
    event: &'a str,
    #[serde(flatten)]
    place: PlaceView<'a>,
}

#[derive(Serialize)]
struct SettingView<'a> {
    setting: &'a str,
    value: Option<&'a str>,
    #[serde(flatten)]
    place: Option<PlaceView<'a>>,
}

pub(super) fn explanation(of: &Explanation) -> ExplanationView<'_> {
    ExplanationView {
        rule: &of.rule,
        subject: of.subject.name(),
        figures: of.figures.iter().map(figure).collect(),
        read: of.read.iter().map(values).collect(),
        events: of.events.iter().map(event).collect(),
        settings: of.settings.iter().map(setting).collect(),
        unread: of.unread.as_deref(),
    }
}

fn figure(of: &Figure) -> FigureView<'_> {
    let (computed, formula, value) = match of.origin {
        Origin::Attempts(how, value) => (how.name(), None, Some(value)),
        Origin::Figures(formula) => ("figures", Some(formula), None),
        Origin::Rule => ("rule", None, None),
    };
    FigureView { figure: &of.key, computed, formula, value, values: of.values.iter().map(values).collect() }
}

fn values(of: &Values) -> ValuesView<'_> {
    ValuesView {
        key: &of.key,
        unit: (!of.unit.is_empty()).then_some(of.unit),
        which: of.which.name(),
        count: of.count,
        sum: of.sum,
        terms: of.terms.iter().map(term).collect(),
        rest_count: of.rest.count,
        rest_sum: of.rest.sum,
    }
}

fn place(of: &Place) -> PlaceView<'_> {
    PlaceView { file: &of.file, line: of.line, byte: of.byte }
}

fn term(of: &Term) -> TermView<'_> {
    TermView { place: place(&of.place), value: of.value, of: &of.of }
}

fn event(of: &Event) -> EventView<'_> {
    EventView { event: &of.name, place: place(&of.place) }
}

fn setting(of: &Setting) -> SettingView<'_> {
    SettingView { setting: &of.name, value: of.value.as_deref(), place: of.place.as_ref().map(place) }
}
