//! Sums over applications by what they have in common, for `list_applications`.

use std::fmt;

use elephant_base::units::Millis;
use elephant_engine::engine::Filter;
use elephant_store::{Answer, Asked, Group, Grouping, NodeSums, Only, Question, Store, UnjudgedRun, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::about::{Level, Number};
use crate::failure::Failure;
use crate::page::Part;
use crate::told::{Name, Told};

/// What applications are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum By {
    User,
    Queue,
    Job,
    Flow,
    Owner,
    Cluster,
    Day,
    Status,
    Trouble,
    Rule,
    Failure,
    /// Settings that are recommended, with what they save
    Setting,
    /// The slowest nodes first
    Node,
    /// Applications that could not be judged, with the reasons
    NotJudged,
}

impl From<By> for Question {
    fn from(by: By) -> Self {
        Self::Groups(match by {
            By::User => Grouping::User,
            By::Queue => Grouping::Queue,
            By::Job => Grouping::Job,
            By::Flow => Grouping::Flow,
            By::Owner => Grouping::Owner,
            By::Cluster => Grouping::Cluster,
            By::Day => Grouping::Day,
            By::Status => Grouping::Status,
            By::Trouble => Grouping::Trouble,
            By::Rule => Grouping::Rule,
            By::Failure => Grouping::Failure,
            By::Setting => Grouping::Setting,
            By::Node => return Self::Nodes,
            By::NotJudged => return Self::Unjudged,
        })
    }
}

/// Groups, nodes, or applications that could not be judged: one of the lists, by what was asked for.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Groups {
    /// How many there are in all parts
    count: u64,
    groups: Vec<GroupLine>,
    nodes: Vec<NodeLine>,
    not_judged: Vec<UnjudgedLine>,
}

/// Sums over one group. Null is unknown of all of it; what is unknown of some applications is missing.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct GroupLine {
    /// Null if it is unknown
    key: Option<Name>,
    applications: u64,
    failed: u64,
    killed: u64,
    /// Applications whose memory is unknown
    memory_unknown: u64,
    used_gb_hours: Option<Number>,
    wasted_gb_hours: Option<Number>,
    saves_gb_hours: Option<Number>,
    saves_ms: Option<Number>,
    worst: Level,
}

/// What one node did.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct NodeLine {
    node: Name,
    applications: u64,
    attempts: u64,
    failed_attempts: u64,
    /// Executors that were lost, not because of memory and not on purpose
    lost_executors: u64,
    /// Other failures that messages blame on the node
    node_failures: u64,
    /// Successful attempts that are stragglers, of those that could be compared with others
    stragglers_percent: Option<Number>,
    /// Whether its tasks are clearly slower than those of other nodes; null with too few tasks
    slow: Option<bool>,
}

/// An application that could not be judged.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct UnjudgedLine {
    application: Name,
    name: Option<Name>,
    reason: Option<Told<240>>,
}

/// The groups that fit into a part of an answer, and a sentence on them.
pub(super) fn grouped(
    store: &Store,
    by: By,
    (filter, only): (&Filter, &Only),
    part: &mut Part,
) -> Result<(Groups, String), Failure> {
    let asked = Asked { filter, only, sort: None, most: usize::MAX };
    let answer = store.answer(&by.into(), asked)?;
    let Some(Answer { total, view, .. }) = answer else { return Ok((Groups::default(), String::new())) };
    let mut groups = Groups::default();
    let what = match view {
        View::Groups(grouping, grouped) => {
            groups.count = grouped.of;
            groups.groups = part.take(grouped.groups.iter().map(GroupLine::of), ToString::to_string);
            format!("groups by {}, most waste first", grouping.name())
        }
        View::Nodes(nodes) => {
            groups.count = nodes.of;
            groups.nodes = part.take(nodes.nodes.iter().map(NodeLine::of), ToString::to_string);
            format!("nodes, the slowest first; {} clearly slow", nodes.slow)
        }
        View::Unjudged(unjudged) => {
            groups.count = unjudged.of;
            let lines = unjudged.applications.iter().map(UnjudgedLine::of);
            groups.not_judged = part.take(lines, ToString::to_string);
            format!("applications could not be judged; {} files could not be read at all", unjudged.files_of)
        }
        View::Overview(_) | View::Worst(_) | View::Job(_) => String::new(),
    };
    let told = format!("{} {what}. {} applications match in all.", groups.count, total.applications);
    Ok((groups, told))
}

impl GroupLine {
    fn of(group: &Group) -> Self {
        Self {
            key: group.key.as_deref().map(Told::of),
            applications: group.applications,
            failed: group.failed,
            killed: group.killed,
            memory_unknown: group.unmeasured,
            used_gb_hours: group.used_gb_hours.map(Number::of),
            wasted_gb_hours: group.wasted_gb_hours.map(Number::of),
            saves_gb_hours: group.saved_gb_hours.map(Number::of),
            saves_ms: group.saved_time.map(Millis::as_f64).map(Number::of),
            worst: group.severity.into(),
        }
    }
}

impl fmt::Display for GroupLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "{key}")?,
            None => f.write_str("unknown")?,
        }
        write!(f, ": {} applications", self.applications)?;
        for (count, what) in [(self.failed, "failed"), (self.killed, "killed")] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        let amounts = [
            (self.used_gb_hours, "used"),
            (self.wasted_gb_hours, "not needed"),
            (self.saves_gb_hours, "saved by remedies"),
        ];
        for (amount, what) in amounts {
            if let Some(amount) = amount {
                write!(f, ", {:.2} GB·h {what}", amount.get())?;
            }
        }
        Ok(())
    }
}

impl NodeLine {
    fn of(node: &NodeSums) -> Self {
        Self {
            node: Told::of(&node.name),
            applications: node.applications,
            attempts: node.attempts,
            failed_attempts: node.failed,
            lost_executors: node.lost_executors,
            node_failures: node.node_failures,
            stragglers_percent: node.straggler_share().map(|share| Number::of(100.0 * share)),
            slow: node.level.map(|_| node.is_slow),
        }
    }
}

impl fmt::Display for NodeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, attempts, failed_attempts, lost_executors, node_failures, .. } = self;
        write!(
            f,
            "{node}: {attempts} attempts, {failed_attempts} failed, {lost_executors} executors lost, {node_failures} other \
             failures of the node"
        )?;
        match self.slow {
            Some(true) => f.write_str(", slow"),
            Some(false) => Ok(()),
            None => f.write_str(", too few tasks to say whether it is slow"),
        }
    }
}

impl UnjudgedLine {
    fn of(run: &UnjudgedRun) -> Self {
        Self {
            application: Told::of(&run.id),
            name: run.name.as_deref().map(Told::of),
            reason: run.reason.as_deref().map(Told::of),
        }
    }
}

impl fmt::Display for UnjudgedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.application)?;
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => f.write_str(": its history is incomplete"),
        }
    }
}
