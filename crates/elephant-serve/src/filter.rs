//! Which applications a request is about.

use super::query::Asked;
use super::route::{Kind, Parameter};
use elephant_engine::engine::{Filter, Sort};
use elephant_model::model::Engine;
use elephant_store::{Asked as About, Only};

/// The words for engines in addresses.
pub(crate) const ENGINES: &[&str] = &["mapreduce", "spark", "tez"];

pub(crate) const USER: Parameter = Parameter {
    name: "user",
    about: "Only applications of this user: a word, a glob such as etl-*, or a regular expression between slashes",
    kind: Kind::Pattern,
};
pub(crate) const QUEUE: Parameter = Parameter {
    name: "queue",
    about: "Only applications in this queue, such as root.etl.*",
    kind: Kind::Pattern,
};
pub(crate) const ENGINE: Parameter =
    Parameter { name: "engine", about: "Only applications of this engine", kind: Kind::Among(ENGINES) };
pub(crate) const FROM: Parameter = Parameter {
    name: "from",
    about: "Only applications that were submitted at this time or later",
    kind: Kind::Moment,
};
pub(crate) const TO: Parameter = Parameter {
    name: "to",
    about: "Only applications that were submitted before this time",
    kind: Kind::Moment,
};
pub(crate) const RULE: Parameter =
    Parameter { name: "rule", about: "Only applications with a finding of this rule", kind: Kind::Text };

pub(crate) const CLUSTER: Parameter = Parameter {
    name: "cluster",
    about: "Only applications that are known to be of this cluster",
    kind: Kind::Text,
};

pub(crate) const FLOW: Parameter =
    Parameter { name: "flow", about: "Only applications of this flow of a scheduler", kind: Kind::Pattern };
pub(crate) const OWNER: Parameter = Parameter {
    name: "owner",
    about: "Only applications of the flows and jobs of this owner, as a scheduler tells",
    kind: Kind::Pattern,
};

/// Which applications a request is about.
#[derive(Default)]
pub(crate) struct Which {
    pub(crate) filter: Filter,
    pub(crate) only: Only,
}

impl Which {
    /// All that the parameters of a request admit.
    pub(crate) fn of(asked: &Asked) -> Self {
        let named =
            |parameter: Parameter| asked.text(parameter.name).map(str::to_owned).into_iter().collect();
        let matching = |parameter: Parameter| asked.pattern(parameter.name).into_iter().collect();
        let only = Only {
            rules: named(RULE),
            clusters: named(CLUSTER),
            flows: matching(FLOW),
            owners: matching(OWNER),
        };
        Self { filter: filter(asked), only }
    }

    /// The question about them, with at most so many lines of each list.
    pub(crate) fn asked(&self, sort: Option<Sort>, most: usize) -> About<'_> {
        About { filter: &self.filter, only: &self.only, sort, most }
    }
}

impl From<Filter> for Which {
    fn from(filter: Filter) -> Self {
        Self { filter, ..Self::default() }
    }
}

/// The applications that the parameters above admit.
fn filter(asked: &Asked) -> Filter {
    let engine = asked.text(ENGINE.name).and_then(Engine::named);
    Filter {
        engine,
        users: asked.pattern(USER.name).into_iter().collect(),
        queues: asked.pattern(QUEUE.name).into_iter().collect(),
        since: asked.moment(FROM.name),
        until: asked.moment(TO.name),
        ..Filter::default()
    }
}
