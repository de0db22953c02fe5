//! Where the figures of findings come from: a history is read a second time, and each value that a figure was computed from
//! is told with its file, line and byte.
//!
//! [`Questions`] are made from findings, [`read`] answers them from the files of a history, and [`Explanation`] is what
//! reports show. The values are taken from the text of the history again, so a figure and its terms are two computations
//! that must agree.

mod basis;
mod conf;
mod gather;
mod mapreduce;
mod question;
mod spark;
mod tables;

use elephant_base::limits::Limits;
use elephant_input::inventory::Source;
use elephant_input::kind::SourceKind;
use elephant_model::model::Subject;
use elephant_rule::finding::Name;

pub use basis::{Basis, How, Reading, Which, bases};
pub use question::{Asked, Questions};

/// The largest number of terms that are told one by one.
pub const MOST_TERMS: usize = 10;

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file; `archive!member` in an archive.
    pub file: String,
    /// The line of the decoded file, counted from 1; `None` in binary files.
    pub line: Option<u64>,
    /// The first byte of the line or of the record, counted from 0 in the decoded file; `None` if it is unknown.
    pub byte: Option<u64>,
}

/// A value in a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Where it stands.
    pub place: Place,
    /// The keys that lead to it within its event, with dots between them. Several are added.
    pub key: String,
    /// The value as it was counted, in the unit of the log.
    pub value: u64,
    /// What it is a value of: `stage 3.0 task 17 attempt 0`.
    pub of: String,
}

/// Terms that are not told one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rest {
    /// How many there are.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
}

/// The values of one kind that a figure rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    /// The keys, as in [`Term::key`].
    pub key: String,
    /// The unit in the log: `ms`, `ns`, `bytes`, or nothing.
    pub unit: &'static str,
    /// Which attempts have them.
    pub which: Which,
    /// How many there are.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The ones that decide the figure, or the largest.
    pub terms: Vec<Term>,
    /// The others.
    pub rest: Rest,
}

/// How a figure was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// From values of attempts; the figure as computed from the history again, in its own unit, rounded down.
    Attempts(How, u64),
    /// From other figures of the finding, by this formula.
    Figures(&'static str),
    /// By the rule, from these values among others.
    Rule,
}

/// A figure, and what it was computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Its key in the evidence of the finding.
    pub key: Name,
    /// How it was computed.
    pub origin: Origin,
    /// The values behind it.
    pub values: Vec<Values>,
}

/// An event of what a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// Where it stands.
    pub place: Place,
    /// Its name in the log: `SparkListenerStageCompleted`.
    pub name: String,
}

/// A setting that a finding speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value in the history; `None` if it is not set there.
    pub value: Option<String>,
    /// Where it stands.
    pub place: Option<Place>,
}

/// Where the figures of a finding come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The rule.
    pub rule: Name,
    /// What the finding is about.
    pub subject: Subject,
    /// The figures, in the order of the evidence.
    pub figures: Vec<Figure>,
    /// The values that the rule reads and that belong to no figure alone.
    pub read: Vec<Values>,
    /// The events of the subject, in the order of the history.
    pub events: Vec<Event>,
    /// The settings that its advice changes.
    pub settings: Vec<Setting>,
    /// Why values could not be found, if so.
    pub unread: Option<String>,
}

impl Explanation {
    /// The first place that it tells; `None` if it tells none.
    #[must_use]
    pub fn first_place(&self) -> Option<&Place> {
        let of_figures = self.figures.iter().flat_map(|figure| &figure.values);
        let mut terms = of_figures.chain(&self.read).flat_map(|values| &values.terms);
        terms.next().map(|term| &term.place).or_else(|| self.events.first().map(|event| &event.place))
    }

    /// All places that it tells.
    pub fn places_mut(&mut self) -> impl Iterator<Item = &mut Place> {
        let of_figures = self.figures.iter_mut().flat_map(|figure| &mut figure.values);
        let terms = of_figures.chain(&mut self.read).flat_map(|values| &mut values.terms);
        let events = self.events.iter_mut().map(|event| &mut event.place);
        let settings = self.settings.iter_mut().filter_map(|setting| setting.place.as_mut());
        terms.map(|term| &mut term.place).chain(events).chain(settings)
    }
}

/// Reads a history again and answers the questions about one of its applications.
#[must_use]
pub fn read(source: &Source, questions: Questions, limits: &Limits) -> Vec<Explanation> {
    let mut gather = gather::Gather::new(questions);
    let names: &dyn gather::Names =
        if source.kind == Some(SourceKind::SparkEventLog) { &spark::Keys } else { &mapreduce::Keys };
    let failed = match source.kind {
        Some(SourceKind::SparkEventLog) => spark::read(source, limits, &mut gather),
        Some(kind @ (SourceKind::JhistJson | SourceKind::JhistBinary | SourceKind::Hadoop1History)) => {
            mapreduce::read((source, kind), limits, &mut gather)
        }
        _ => Err("lines are known for event logs of Spark and for job histories only".to_owned()),
    };
    gather.finish(names, failed.err())
}

/// Answers to questions whose history was not found again.
#[must_use]
pub fn not_found(questions: Questions, source: &str) -> Vec<Explanation> {
    let why =
        format!("{source} was not found again; it changed or was moved since it was read for this report");
    gather::Gather::new(questions).finish(&mapreduce::Keys, Some(why))
}
