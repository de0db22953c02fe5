//! What a statement about an application refers to.

use std::borrow::Cow;

use super::spark::StageAttempt;
use super::table::TaskKind;

use elephant_base::state::State;

/// The kinds of tasks that are subjects; the tasks of Spark belong to stages. Those of Pig on Tez are neither map nor reduce
/// tasks.
const TASK_KINDS: [&str; 5] = [
    TaskKind::Map.name(),
    TaskKind::Reduce.name(),
    TaskKind::Setup.name(),
    TaskKind::Cleanup.name(),
    "scope",
];

/// The part of an application that a finding or a phase is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
#[non_exhaustive]
pub enum Subject {
    /// The whole application.
    Application,
    /// One node, by the name of its host.
    Node(String),
    /// The tasks of one kind, by the kind's name.
    Tasks(#[state(known = TASK_KINDS)] &'static str),
    /// One stage attempt.
    Stage(StageAttempt),
    /// One vertex of a DAG, by its number.
    Vertex(u32),
    /// The driver.
    Driver,
    /// One executor, by its id.
    Executor(String),
    /// One job of a Spark application, by its number.
    Job(u32),
    /// One query, by the number of its SQL execution.
    Query(u64),
    /// One operator of a query: the number of the query, and its place among the operators of the query.
    Operator(u64, u32),
}

impl Subject {
    /// The name in reports: `application`, `node n7`, `map`, `stage 3.0`, `vertex 4`, `driver`, `executor 7`, `job 4`, `query 12`,
    /// `operator 3 of query 12`.
    #[must_use]
    pub fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Application => "application".into(),
            Self::Node(host) => format!("node {host}").into(),
            Self::Tasks(kind) => (*kind).into(),
            Self::Stage(stage) => format!("stage {stage}").into(),
            Self::Vertex(number) => format!("vertex {number}").into(),
            Self::Driver => "driver".into(),
            Self::Executor(id) => format!("executor {id}").into(),
            Self::Job(number) => format!("job {number}").into(),
            Self::Query(number) => format!("query {number}").into(),
            Self::Operator(query, place) => format!("operator {place} of query {query}").into(),
        }
    }
}
