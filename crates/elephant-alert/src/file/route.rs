//! Which alerts go to which receivers.

use super::super::Alert;
use super::entries::Reader;
use super::listed;
use elephant_base::severity::Severity;
use elephant_rule::params::yaml::{Kind, Node, Span};
use elephant_ruleset::Pattern;

const KEYS: [&str; 9] = ["to", "severity", "engine", "queue", "user", "owner", "job", "flow", "cluster"];
const EXAMPLE: &str = "write for example {to: team, severity: severe, queue: prod-*}";

/// A route: an alert that meets all its conditions goes to its receivers. A value that is unknown meets no condition.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// The names of its receivers.
    pub(super) to: Vec<String>,
    /// The same with their positions.
    pub(super) named: Vec<(Span, String)>,
    /// The least severity.
    pub(super) severity: Severity,
    conditions: Vec<(Aspect, Vec<Pattern>)>,
}

/// What a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aspect {
    Engine,
    Queue,
    User,
    Owner,
    Job,
    Flow,
    Cluster,
}

impl Aspect {
    fn of(key: &str) -> Option<Self> {
        Some(match key {
            "engine" => Self::Engine,
            "queue" => Self::Queue,
            "user" => Self::User,
            "owner" => Self::Owner,
            "job" => Self::Job,
            "flow" => Self::Flow,
            "cluster" => Self::Cluster,
            _ => return None,
        })
    }

    /// The values of an alert. A job has the name of its application, that of its scheduler, and its key.
    fn values(self, alert: &Alert) -> Vec<&str> {
        let run = &alert.run;
        let identity = run.identity.as_ref();
        match self {
            Self::Engine => vec![&run.engine],
            Self::Queue => run.queue.as_deref().into_iter().collect(),
            Self::User => run.user.as_deref().into_iter().collect(),
            Self::Cluster => run.cluster.as_deref().into_iter().collect(),
            Self::Owner => identity.and_then(|known| known.owner.as_deref()).into_iter().collect(),
            Self::Flow => identity.and_then(|known| known.flow.as_deref()).into_iter().collect(),
            Self::Job => {
                let of_scheduler = identity.and_then(|known| known.job.as_deref());
                [run.name.as_deref(), of_scheduler, Some(&*alert.job)].into_iter().flatten().collect()
            }
        }
    }
}

impl Route {
    pub(super) fn admits(&self, alert: &Alert) -> bool {
        alert.severity >= self.severity
            && self.conditions.iter().all(|(aspect, patterns)| {
                let values = aspect.values(alert);
                values.iter().any(|value| patterns.iter().any(|pattern| pattern.matches(value)))
            })
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let entries = reader.entries(node, "a route", &KEYS, EXAMPLE)?;
        let (to, named, conditions) = Default::default();
        let mut route = Self { to, named, severity: Severity::Severe, conditions };
        for (key, node) in entries {
            match (key.value.as_str(), Aspect::of(&key.value)) {
                ("to", _) => {
                    let names = listed(node).into_iter();
                    route.named =
                        names.filter_map(|node| Some((node.span.clone(), reader.text(node)?))).collect();
                }
                ("severity", _) => route.severity = reader.severity(node).unwrap_or(route.severity),
                (_, Some(aspect)) => route.conditions.push((aspect, patterns(node, reader))),
                _ => {}
            }
        }
        if route.named.is_empty() {
            let start = node.span.start..node.span.start;
            reader.error(&start, "the route names no receiver", Some(EXAMPLE.to_owned()));
        }
        route.to = route.named.iter().map(|(_, name)| name.clone()).collect();
        Some(route)
    }
}

/// A pattern, or a list of patterns.
fn patterns(node: &Node, reader: &mut Reader<'_>) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for node in listed(node) {
        let Some(written) = node.as_text() else {
            let help = Some("write for example prod-*, /^etl-\\d+$/, or a list of them".to_owned());
            reader.error(&node.span, format!("expected a pattern, got {}", node.what()), help);
            continue;
        };
        match Pattern::parse(written) {
            Ok(pattern) => patterns.push(pattern),
            Err(why) => reader.error(&node.span, format!("invalid regular expression: {why}"), None),
        }
    }
    patterns
}

/// Reads the routes of a file.
pub(super) fn read_all(node: &Node, reader: &mut Reader<'_>) -> Vec<Route> {
    let Kind::List(nodes) = &node.kind else {
        let message = format!("expected a list of routes, got {}", node.what());
        reader.error(&node.span, message, Some("write for example [{to: team}]".to_owned()));
        return Vec::new();
    };
    nodes.iter().filter_map(|node| Route::read(node, reader)).collect()
}
