//! What replaces the texts of histories, one method for each meaning of a text; the methods are in `text` and `settings`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::clock::Clock;
use super::key::Key;
use super::pseudonyms::{Kind, Pseudonyms};

/// The meaning of a text, as far as it decides on what stays of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Meaning {
    /// A word that engines use: a state, a reason, a type. Anything else is replaced as a whole.
    Word,
    /// The name of a class, of a counter or of an event.
    Class,
    /// A version: numbers, and words that vendors add.
    Version,
    Host,
    Rack,
    User,
    Queue,
    /// The name of an application, a job or a query.
    Title,
    /// An id of any form.
    Id,
    /// Where the code was called: `save at Report.scala:12`, or SQL.
    Site,
    /// A stack trace.
    Stack,
    /// A message.
    Message,
    /// A text of a plan.
    Plan,
    Sql,
    Path,
    /// A time in a text.
    Time,
    /// A number written as a text; anything else is a message.
    Figure,
    /// JSON in a text.
    Json,
    /// The name of a source file.
    Source,
    /// Its key is not known: nothing but short numbers and switches stays.
    Unknown,
}

/// Values that are remembered: histories repeat most of them.
const REMEMBERED: usize = 1 << 14;
/// Longer values are not remembered.
const LONGEST: usize = 300;

/// See the module.
pub(crate) struct Mask {
    pub(crate) pseudonyms: Pseudonyms,
    pub(crate) clock: Clock,
    pub(crate) tally: Tally,
    known: FxHashMap<(Meaning, Box<str>), (Box<str>, Tally)>,
}

/// How many values were replaced, by kind, and kept, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) replaced: BTreeMap<Kind, u64>,
    pub(crate) kept: BTreeMap<Kept, u64>,
}

/// Why a value stayed as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kept {
    /// A text of which every word is in the vocabulary.
    Words,
    /// A number.
    Number,
    /// A switch or nothing.
    Switch,
    /// A setting of an engine with a number, a size, a time or a word of the vocabulary.
    Setting,
}

impl Kept {
    pub(crate) const ALL: [Self; 4] = [Self::Words, Self::Number, Self::Switch, Self::Setting];

    /// What the report says of it.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Words => {
                "texts: every word is one that Spark, Hadoop, the JVM or SQL engines use themselves"
            }
            Self::Number => {
                "numbers: counters, sizes, durations and ordinal numbers, which the findings rest on"
            }
            Self::Switch => "switches and absent values (true, false, null)",
            Self::Setting => {
                "settings of engines whose values are numbers, sizes, switches or words of engines"
            }
        }
    }
}

impl Tally {
    fn add(&mut self, other: &Self) {
        for (kind, count) in &other.replaced {
            *self.replaced.entry(*kind).or_default() += count;
        }
        for (reason, count) in &other.kept {
            *self.kept.entry(*reason).or_default() += count;
        }
    }
}

impl Mask {
    pub(crate) fn new(key: Key) -> Self {
        let pseudonyms = Pseudonyms::new(key);
        let clock = Clock::new(&pseudonyms);
        Self { pseudonyms, clock, tally: Tally::default(), known: FxHashMap::default() }
    }

    /// The pseudonym of a text, counted.
    pub(crate) fn name(&mut self, kind: Kind, text: &str) -> String {
        *self.tally.replaced.entry(kind).or_default() += 1;
        self.pseudonyms.name(kind, text)
    }

    /// Other digits, counted.
    pub(crate) fn digits(&mut self, digits: &str) -> String {
        *self.tally.replaced.entry(Kind::Number).or_default() += 1;
        self.pseudonyms.digits(digits)
    }

    pub(crate) fn hexadecimal(&mut self, digits: &str) -> String {
        *self.tally.replaced.entry(Kind::Id).or_default() += 1;
        self.pseudonyms.hexadecimal(digits)
    }

    pub(crate) fn keep(&mut self, reason: Kept) {
        *self.tally.kept.entry(reason).or_default() += 1;
    }

    /// What replaces a text with this meaning.
    pub(crate) fn text<'t>(&mut self, meaning: Meaning, text: &'t str) -> Cow<'t, str> {
        if text.is_empty() {
            return Cow::Borrowed(text);
        }
        let is_short = text.len() <= LONGEST;
        if is_short && let Some((masked, tally)) = self.known.get(&(meaning, text.into())) {
            self.tally.add(tally);
            return if **masked == *text { Cow::Borrowed(text) } else { Cow::Owned(masked.to_string()) };
        }
        let before = std::mem::take(&mut self.tally);
        let masked = self.masked(meaning, text);
        if masked == text {
            self.keep(Kept::Words);
        }
        let own = std::mem::replace(&mut self.tally, before);
        self.tally.add(&own);
        if is_short {
            if self.known.len() >= REMEMBERED {
                self.known.clear();
            }
            self.known.insert((meaning, text.into()), (masked.as_str().into(), own));
        }
        if masked == text { Cow::Borrowed(text) } else { Cow::Owned(masked) }
    }

    fn masked(&mut self, meaning: Meaning, text: &str) -> String {
        match meaning {
            Meaning::Word => self.word_or(Kind::Word, text),
            Meaning::Class => self.class(text),
            Meaning::Version => self.version(text),
            Meaning::Host => self.host(text),
            Meaning::Rack => self.rack(text),
            Meaning::User => self.name(Kind::User, text),
            Meaning::Queue => self.queue(text),
            Meaning::Title => self.title(text),
            Meaning::Id => self.id(text),
            Meaning::Site => self.site(text),
            Meaning::Stack | Meaning::Message | Meaning::Source => self.message(text),
            Meaning::Plan => self.plan(text),
            Meaning::Sql => self.sql(text),
            Meaning::Path => self.path(text),
            Meaning::Time => self.time(text),
            Meaning::Figure => self.figure(text),
            Meaning::Json => super::json::embedded(self, text),
            Meaning::Unknown => self.unknown(text),
        }
    }
}
