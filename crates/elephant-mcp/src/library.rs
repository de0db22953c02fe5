//! What questions are answered from: a store, histories, or both.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use elephant_base::limits::Limits;
use elephant_ruleset::RuleSet;
use elephant_store::{Place, Store, StoredApplication};
use elephant_verdict::savings::Prices;
use elephant_verdict::troubles::Basis;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::analyses::Analyses;
use super::failure::Failure;
use super::told::Word;

/// Histories that the user named. They are read into a store of their own when the first question needs them.
pub struct Histories {
    /// That store.
    pub place: Place,
    /// Reads what is new or changed into it; an error says that no path could be read.
    pub turn: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

/// The address of the page of an application, by its id.
pub type Link = Box<dyn Fn(&str) -> String + Send + Sync>;

/// What questions are answered from.
pub struct Options {
    /// A store that exists.
    pub store: Option<Place>,
    /// Histories.
    pub histories: Option<Histories>,
    /// The rules that judge histories.
    pub rules: Arc<RuleSet>,
    /// Prices of cores and memory, if there are any.
    pub prices: Option<Prices>,
    /// What reading one history may cost.
    pub limits: Limits,
    /// How long what was read counts as up to date. After that, a question has new and changed files read first.
    pub fresh: Duration,
    /// Where people see the applications of the store, if a server shows it.
    pub link: Option<Link>,
}

/// What all questions share.
pub(crate) struct Library {
    store: Option<Place>,
    histories: Option<Histories>,
    /// When the histories were read last.
    read: Mutex<Option<Instant>>,
    rules: Arc<RuleSet>,
    prices: Option<Prices>,
    pub(crate) limits: Limits,
    pub(crate) fresh: Duration,
    link: Option<Link>,
    pub(crate) analyses: Analyses,
}

/// Where an application is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Source {
    /// In the store.
    Store,
    /// In the histories that were named.
    Histories,
}

impl Source {
    const ALL: [Self; 2] = [Self::Store, Self::Histories];
}

/// Which of several applications with one id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Which(usize);

impl Which {
    /// As many as a store tells of one id.
    const MOST: usize = 20;
}

impl<'de> Deserialize<'de> for Which {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let which = usize::deserialize(deserializer)?;
        let expected = || D::Error::custom(format!("which is a number from 1 to {}", Self::MOST));
        (1..=Self::MOST).contains(&which).then_some(Self(which)).ok_or_else(expected)
    }
}

impl JsonSchema for Which {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Which".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": Self::MOST })
    }
}

/// An application that was found.
pub(crate) struct Found {
    pub(crate) stored: StoredApplication,
    pub(crate) which: usize,
    /// How many have the same id.
    pub(crate) alike: usize,
    /// The address of its page, if a server shows it.
    pub(crate) link: Option<String>,
}

/// What one question is answered from.
pub(crate) struct Context<'a> {
    pub(crate) library: &'a Library,
    /// A store that is open already, instead of the one that the user named.
    pub(crate) lent: Option<&'a Store>,
}

/// A store for one question.
pub(crate) enum Opened<'a> {
    Own(Box<Store>),
    Lent(&'a Store),
}

impl Deref for Opened<'_> {
    type Target = Store;

    fn deref(&self) -> &Store {
        match self {
            Self::Own(store) => store,
            Self::Lent(store) => store,
        }
    }
}

impl Library {
    pub(crate) fn new(options: Options) -> Self {
        let Options { store, histories, rules, prices, limits, fresh, link } = options;
        let (read, analyses) = (Mutex::default(), Analyses::default());
        Self { store, histories, read, rules, prices, limits, fresh, link, analyses }
    }

    /// The store of the histories, with what is new or changed since it was read last.
    fn read_histories(&self, histories: &Histories) -> Result<Store, Failure> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.is_none_or(|at| at.elapsed() >= self.fresh) {
            let turn = (histories.turn)();
            // A file that vanishes later is no reason to forget the others.
            if read.is_none() {
                turn.map_err(Failure::Histories)?;
            }
            *read = Some(Instant::now());
        }
        Ok(Store::open(&histories.place)?)
    }
}

impl<'a> Context<'a> {
    pub(crate) fn rules(&self) -> &RuleSet {
        &self.library.rules
    }

    /// What applications are judged by.
    pub(crate) fn basis(&self) -> Basis<'_> {
        Basis { rules: &self.library.rules, prices: self.library.prices.as_ref() }
    }

    /// A source with its store; `None` if the user named none of this kind.
    fn open(&self, source: Source) -> Result<Option<Opened<'a>>, Failure> {
        let library = self.library;
        let mut store = match (source, self.lent, &library.store, &library.histories) {
            (Source::Store, Some(lent), ..) => return Ok(Some(Opened::Lent(lent))),
            (Source::Store, None, Some(place), _) => Store::open(place)?,
            (Source::Histories, .., Some(histories)) => library.read_histories(histories)?,
            _ => return Ok(None),
        };
        if let Some(prices) = &library.prices {
            store.set_prices(prices.clone());
        }
        Ok(Some(Opened::Own(Box::new(store))))
    }

    /// The source that was asked for, or else the first that there is.
    pub(crate) fn source(&self, wanted: Option<Source>) -> Result<(Source, Opened<'a>), Failure> {
        for source in Source::ALL.into_iter().filter(|source| wanted.is_none_or(|wanted| wanted == *source)) {
            if let Some(store) = self.open(source)? {
                return Ok((source, store));
            }
        }
        let what = match wanted {
            Some(Source::Store) => "store here; leave source out",
            Some(Source::Histories) => "folder of histories here; leave source out",
            None => "store and no folder here",
        };
        Err(Failure::Missing(what.to_owned()))
    }

    /// The first answer that is not nothing, of the store and then of the histories.
    pub(crate) fn first<T>(
        &self,
        mut ask: impl FnMut(&Store) -> Result<Option<T>, Failure>,
    ) -> Result<Option<T>, Failure> {
        for source in Source::ALL {
            if let Some(store) = self.open(source)?
                && let Some(answer) = ask(&store)?
            {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// The application with this id.
    pub(crate) fn application(&self, id: &Word, which: Option<Which>) -> Result<Found, Failure> {
        let id = id.as_str();
        let mut found = None;
        for source in Source::ALL {
            if let (None, Some(store)) = (&found, self.open(source)?) {
                found = Some((source, store.application(id)?)).filter(|(_, found)| !found.is_empty());
            }
        }
        let (source, found) = found
            .ok_or_else(|| Failure::Missing(format!("application \"{id}\"; list_applications lists them")))?;
        let (alike, which) = (found.len(), which.map_or(1, |Which(which)| which));
        let stored = found.into_iter().nth(which.saturating_sub(1)).ok_or_else(|| {
            Failure::Bad(format!("which is {which}, but the id \"{id}\" is that of {alike} applications"))
        })?;
        let link = self.library.link.as_ref().filter(|_| source == Source::Store).map(|link| link(id));
        Ok(Found { stored, which, alike, link })
    }
}
