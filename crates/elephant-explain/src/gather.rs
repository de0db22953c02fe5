//! Adds up the values that figures rest on, and keeps the terms that are told.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::basis::{Basis, How, Reading, Which, bases};
use super::question::Questions;
use super::{Asked, Event, Explanation, Figure, MOST_TERMS, Origin, Place, Rest, Setting, Term, Values};
use elephant_model::model::Subject;
use elephant_model::model::counters::{Counter, CounterUnit};
use elephant_model::model::table::Outcome;
use elephant_rule::finding::Name;

/// The most events of a subject that are told; a node may have hundreds of executors.
const MOST_EVENTS: usize = 10;

/// Where something stands, without the name of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    /// The place of the file among those of the history.
    pub(crate) file: usize,
    pub(crate) line: Option<u64>,
    pub(crate) byte: Option<u64>,
}

/// An attempt that ended, as its event tells it.
pub(crate) trait Attempt {
    fn spot(&self) -> Spot;
    /// `stage 3.0 task 17 attempt 0`.
    fn label(&self) -> String;
    fn outcome(&self) -> Outcome;
    /// In milliseconds.
    fn run_time(&self) -> Option<u64>;
    /// In the unit of the log.
    fn counter(&self, counter: Counter) -> Option<u64>;
    fn is_of(&self, subject: &Subject) -> bool;
}

/// How keys and units of values are written in a kind of history.
pub(crate) trait Names {
    /// The keys of a counter.
    fn key(&self, counter: Counter) -> String;
    /// The keys of the times of which a run time is the difference.
    fn run_time_key(&self) -> &'static str;
    /// How many units of the log make one of the counter's.
    fn per_unit(&self, counter: Counter) -> u64;
}

/// One kind of values of the attempts of a finding.
struct Quantity {
    reading: Reading,
    which: Which,
    /// Whether the smallest or the middle ones decide a figure.
    smallest: bool,
    middle: bool,
    count: u64,
    sum: u128,
    largest: BinaryHeap<Reverse<Kept>>,
    lowest: BinaryHeap<Kept>,
    /// All of them, if the middle one is asked for.
    all: Vec<Kept>,
}

/// A value that may be told. Of equal values, the one that was written first counts as larger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    value: u64,
    spot: Reverse<Spot>,
    label: String,
}

impl Quantity {
    fn new(reading: Reading, which: Which) -> Self {
        Self {
            reading,
            which,
            smallest: false,
            middle: false,
            count: 0,
            sum: 0,
            largest: BinaryHeap::new(),
            lowest: BinaryHeap::new(),
            all: Vec::new(),
        }
    }

    fn add(&mut self, attempt: &dyn Attempt) {
        let is_counted = match self.which {
            Which::Ended => true,
            Which::Succeeded => attempt.outcome() == Outcome::Succeeded,
            Which::Failed => attempt.outcome() == Outcome::Failed,
        };
        if !is_counted {
            return;
        }
        let value = match self.reading {
            Reading::RunTime => attempt.run_time(),
            Reading::Counter(counter) => attempt.counter(counter),
            Reading::Counters(counters) => {
                let each = counters.iter().filter_map(|counter| attempt.counter(*counter));
                each.reduce(u64::saturating_add)
            }
        };
        let Some(value) = value else { return };
        self.count += 1;
        self.sum += u128::from(value);
        let kept = || Kept { value, spot: Reverse(attempt.spot()), label: attempt.label() };
        if self.middle {
            self.all.push(kept());
        }
        let least = self.largest.peek().map(|Reverse(least)| (least.value, least.spot));
        if self.largest.len() < MOST_TERMS || least < Some((value, Reverse(attempt.spot()))) {
            self.largest.push(Reverse(kept()));
            if self.largest.len() > MOST_TERMS {
                self.largest.pop();
            }
        }
        if self.smallest {
            self.lowest.push(kept());
            if self.lowest.len() > MOST_TERMS {
                self.lowest.pop();
            }
        }
    }

    /// The keys, and how many units of the log make one of the figure's.
    fn written(&self, names: &dyn Names) -> (String, &'static str, u64) {
        let unit = |counter: Counter| match (counter.unit(), names.per_unit(counter)) {
            (CounterUnit::Count, _) => "",
            (CounterUnit::Bytes, _) => "bytes",
            (CounterUnit::Millis, 1) => "ms",
            (CounterUnit::Millis, _) => "ns",
        };
        match self.reading {
            Reading::RunTime => (names.run_time_key().to_owned(), "ms", 1),
            Reading::Counter(counter) => (names.key(counter), unit(counter), names.per_unit(counter)),
            Reading::Counters(counters) => {
                let keys: Vec<String> = counters.iter().map(|counter| names.key(*counter)).collect();
                let first = counters.first();
                (
                    keys.join(" + "),
                    first.map_or("", |it| unit(*it)),
                    first.map_or(1, |it| names.per_unit(*it)),
                )
            }
        }
    }

    /// The figure, in the unit of the log, and the terms that decide it.
    fn figure(&self, how: How) -> Option<(u128, Vec<Kept>)> {
        let mut largest: Vec<Kept> = self.largest.iter().map(|Reverse(kept)| kept.clone()).collect();
        largest.sort_by(|a, b| b.cmp(a));
        Some(match how {
            How::Count => (u128::from(self.count), largest),
            How::Sum => (self.sum, largest),
            How::Mean => (self.sum.checked_div(u128::from(self.count))?, largest),
            How::Largest => (u128::from(largest.first()?.value), largest),
            How::Smallest => {
                let mut lowest = self.lowest.clone().into_sorted_vec();
                lowest.truncate(MOST_TERMS);
                (u128::from(lowest.first()?.value), lowest)
            }
            How::Median => {
                let mut all = self.all.clone();
                all.sort_unstable();
                let (low, high) = ((all.len().checked_sub(1)?) / 2, all.len() / 2);
                let middle: Vec<Kept> = all.get(low..=high)?.to_vec();
                let sum: u128 = middle.iter().map(|kept| u128::from(kept.value)).sum();
                (sum / middle.len() as u128, middle)
            }
        })
    }

    fn values(&self, how: How, names: &dyn Names, files: &[String]) -> Option<(u64, Values)> {
        let (figure, terms) = self.figure(how)?;
        let (key, unit, per_unit) = self.written(names);
        let told: u128 = terms.iter().map(|kept| u128::from(kept.value)).sum();
        let rest = Rest {
            count: self.count - terms.len() as u64,
            sum: u64::try_from(self.sum - told).unwrap_or(u64::MAX),
        };
        let terms = terms.into_iter().map(|kept| Term {
            place: place(kept.spot.0, files),
            key: key.clone(),
            value: kept.value,
            of: kept.label,
        });
        let values = Values {
            unit,
            which: self.which,
            count: self.count,
            sum: u64::try_from(self.sum).unwrap_or(u64::MAX),
            terms: terms.collect(),
            rest,
            key,
        };
        let per_unit = if how == How::Count { 1 } else { u128::from(per_unit) };
        Some((u64::try_from(figure / per_unit).unwrap_or(u64::MAX), values))
    }
}

fn place(spot: Spot, files: &[String]) -> Place {
    Place { file: files.get(spot.file).cloned().unwrap_or_default(), line: spot.line, byte: spot.byte }
}

/// What is gathered for one finding.
struct Answer {
    asked: Asked,
    quantities: Vec<Quantity>,
    events: Vec<(Spot, String)>,
}

impl Answer {
    fn new(asked: Asked) -> Self {
        let mut quantities: Vec<Quantity> = Vec::new();
        let mut want = |reading, which, how| {
            let known = quantities.iter().position(|it| it.reading == reading && it.which == which);
            let at = known.unwrap_or_else(|| {
                quantities.push(Quantity::new(reading, which));
                quantities.len() - 1
            });
            if let Some(quantity) = quantities.get_mut(at) {
                quantity.smallest |= how == How::Smallest;
                quantity.middle |= how == How::Median;
            }
        };
        for (key, _) in &asked.figures {
            for basis in bases(&asked.rule, key) {
                if let Basis::Attempts(how, reading, which) = basis {
                    want(reading, which, how);
                }
            }
        }
        for &counter in &asked.reads {
            want(Reading::Counter(counter), Which::Ended, How::Sum);
        }
        if quantities.is_empty() {
            quantities.push(Quantity::new(Reading::RunTime, Which::Ended));
        }
        Self { asked, quantities, events: Vec::new() }
    }

    fn finish(self, names: &dyn Names, all: &Located<'_>) -> Explanation {
        let Self { asked, quantities, mut events } = self;
        let figure = |(key, known): &(Name, Option<u64>)| {
            let (origin, values) = origin((&asked.rule, key), *known, &quantities, (names, all.files));
            Figure { key: key.clone(), origin, values: values.into_iter().collect() }
        };
        let figures: Vec<Figure> = asked.figures.iter().map(figure).collect();
        let of_figures: Vec<&str> =
            figures.iter().flat_map(|figure| &figure.values).map(|values| values.key.as_str()).collect();
        let is_other = |it: &&Quantity| it.sum > 0 && !of_figures.contains(&it.written(names).0.as_str());
        let others = quantities.iter().filter(is_other);
        let read = others.filter_map(|it| Some(it.values(How::Sum, names, all.files)?.1)).collect();
        events.sort();
        events.dedup();
        events.truncate(MOST_EVENTS);
        let settings = asked.settings.iter().map(|name| {
            let found = all.settings.get(name);
            Setting {
                name: name.clone(),
                value: found.map(|(value, _)| value.clone()),
                place: found.map(|(_, place)| place.clone()),
            }
        });
        Explanation {
            figures,
            read,
            events: events
                .into_iter()
                .map(|(spot, name)| Event { place: place(spot, all.files), name })
                .collect(),
            settings: settings.collect(),
            unread: all.unread.clone(),
            rule: asked.rule,
            subject: asked.subject,
        }
    }
}

/// How a figure was computed, and the values that it was computed from. If no known way gives the figure, those of the first.
fn origin(
    (rule, key): (&str, &str),
    known: Option<u64>,
    quantities: &[Quantity],
    (names, files): (&dyn Names, &[String]),
) -> (Origin, Option<Values>) {
    let mut first = None;
    for basis in bases(rule, key) {
        let (how, reading, which) = match basis {
            Basis::Figures(formula) => return (Origin::Figures(formula), None),
            Basis::Attempts(how, reading, which) => (how, reading, which),
        };
        let quantity = quantities.iter().find(|it| it.reading == reading && it.which == which);
        let Some((figure, values)) = quantity.and_then(|it| it.values(how, names, files)) else { continue };
        // Parameters of a rule may choose among the attempts, or average in another way.
        if is_same(known, figure) {
            return (Origin::Attempts(how, figure), Some(values));
        }
        first.get_or_insert(values);
    }
    (Origin::Rule, first)
}

/// Whether a figure equals what was computed from the history, apart from rounding.
fn is_same(known: Option<u64>, computed: u64) -> bool {
    known.is_some_and(|known| known.abs_diff(computed) <= 1)
}

/// What all findings of an application share.
struct Located<'a> {
    files: &'a [String],
    settings: &'a BTreeMap<String, (String, Place)>,
    unread: Option<String>,
}

/// Gathers the values for all findings of one application in one pass.
pub(crate) struct Gather {
    pub(crate) application: String,
    pub(crate) conf: Option<elephant_input::part::Part>,
    answers: Vec<Answer>,
    files: Vec<String>,
    settings: BTreeMap<String, (String, Place)>,
}

impl Gather {
    pub(crate) fn new(questions: Questions) -> Self {
        let Questions { application, asked, conf } = questions;
        Self {
            application,
            conf,
            answers: asked.into_iter().map(Answer::new).collect(),
            files: Vec::new(),
            settings: BTreeMap::new(),
        }
    }

    /// Adds a file; its place among them.
    pub(crate) fn file(&mut self, name: String) -> usize {
        self.files.push(name);
        self.files.len() - 1
    }

    pub(crate) fn attempt(&mut self, attempt: &dyn Attempt) {
        for answer in &mut self.answers {
            if attempt.is_of(&answer.asked.subject) {
                for quantity in &mut answer.quantities {
                    quantity.add(attempt);
                }
            }
        }
    }

    /// An event of the subjects that `is_of` selects.
    pub(crate) fn event(&mut self, spot: Spot, name: &str, is_of: &dyn Fn(&Subject) -> bool) {
        for answer in &mut self.answers {
            if is_of(&answer.asked.subject) && answer.events.len() <= 2 * MOST_EVENTS {
                answer.events.push((spot, name.to_owned()));
            }
        }
    }

    /// Whether a finding speaks of this setting.
    pub(crate) fn asks_setting(&self, name: &str) -> bool {
        self.answers.iter().any(|answer| answer.asked.settings.iter().any(|asked| asked == name))
    }

    /// The value of a setting; the last one counts.
    pub(crate) fn setting(&mut self, spot: Spot, name: String, value: String) {
        let place = place(spot, &self.files);
        self.settings.insert(name, (value, place));
    }

    pub(crate) fn finish(self, names: &dyn Names, unread: Option<String>) -> Vec<Explanation> {
        let Self { answers, files, settings, .. } = self;
        let all = Located { files: &files, settings: &settings, unread };
        answers.into_iter().map(|answer| answer.finish(names, &all)).collect()
    }
}
