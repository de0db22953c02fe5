//! Which applications a request is about.

use super::failure::Failure;
use super::query::Asked;
use super::route::{Kind, Parameter};
use elephant_engine::engine::{Filter, Sort};
use elephant_model::model::Engine;
use elephant_ruleset::Pattern;
use elephant_store::Asked as About;

/// The words for engines in addresses.
pub(crate) const ENGINES: &[&str] = &["mapreduce", "spark"];

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

/// Which applications a request is about.
#[derive(Default)]
pub(crate) struct Which {
    pub(crate) filter: Filter,
    pub(crate) rules: Vec<String>,
    pub(crate) clusters: Vec<String>,
}

impl Which {
    /// All that the parameters of a request admit.
    pub(crate) fn of(asked: &Asked) -> Self {
        let named =
            |parameter: Parameter| asked.text(parameter.name).map(str::to_owned).into_iter().collect();
        Self { filter: filter(asked), rules: named(RULE), clusters: named(CLUSTER) }
    }

    /// The question about them, with at most so many lines of each list.
    pub(crate) fn asked(&self, sort: Option<Sort>, most: usize) -> About<'_> {
        About { filter: &self.filter, rules: &self.rules, clusters: &self.clusters, sort, most }
    }
}

impl From<Filter> for Which {
    fn from(filter: Filter) -> Self {
        Self { filter, ..Self::default() }
    }
}

/// The applications that the parameters above admit.
fn filter(asked: &Asked) -> Filter {
    let engine = asked.text(ENGINE.name).map(|engine| match engine {
        "spark" => Engine::Spark,
        _ => Engine::MapReduce,
    });
    Filter {
        engine,
        users: asked.pattern(USER.name).into_iter().collect(),
        queues: asked.pattern(QUEUE.name).into_iter().collect(),
        since: asked.moment(FROM.name),
        until: asked.moment(TO.name),
        ..Filter::default()
    }
}

/// The pattern that only this name matches, whatever characters it has.
pub(crate) fn only(name: &str) -> Result<Pattern, Failure> {
    let is_pattern = name.contains(['*', '?']) || (name.starts_with('/') && name.ends_with('/'));
    let pattern = if is_pattern {
        let escape = |c: char| c.is_ascii_punctuation().then_some('\\').into_iter().chain([c]);
        Pattern::parse(&format!("/^{}$/", name.chars().flat_map(escape).collect::<String>()))
    } else {
        Pattern::parse(name)
    };
    pattern.map_err(|_| Failure::Bad("the name is too long".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_itself_matches() {
        for (name, others) in [
            ("alice", ["bob", "alice2"]),
            ("a*?", ["abc", "a*x"]),
            ("/x|y/", ["x", "/x/"]),
            ("(é.)*", ["é", "(éa)*"]),
        ] {
            let pattern = only(name).unwrap();
            assert!(pattern.matches(name), "{name}");
            assert!(others.iter().all(|other| !pattern.matches(other)), "{name}");
        }
    }
}
