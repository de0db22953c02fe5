//! The reason why a rule was not evaluated, and the data that a rule needs.

use std::fmt;

use super::aggregate::Of;
use super::compile::Over;
use super::definition::CustomRule;
use super::names::{
    APP, ATTEMPT, AppField, AttemptField, EXECUTOR, ExecutorField, JOB, Named, OPERATOR, OperatorField,
    QUERY, QueryField, RowField, Rows, STAGE, TASKS,
};
use super::node::{MetricName, Node};
use super::scope::{Judged, Scope};
use super::value::Gap;
use elephant_model::model::Engine;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskKind;
use elephant_query::Amount;

/// Why `what` is unknown.
#[must_use]
pub(super) fn reason(gap: Gap<'_>, what: &str, scope: &Scope<'_, '_>) -> String {
    match gap {
        Gap::Untold(Node::Setting(_, name) | Node::IsSet(name)) if scope.app.conf.is_empty() => {
            format!("there is no configuration, so {name} is unknown")
        }
        Gap::Untold(Node::Setting(_, name)) => match scope.app.conf.setting(name) {
            Some(_) => format!("the value of {name} does not have the expected form"),
            None => format!("{name} is not set, and its default is not known"),
        },
        Gap::Untold(Node::IsSet(name)) => format!("the configuration does not show who set {name}"),
        Gap::Untold(Node::Counter(of) | Node::RowCounter(of)) => match scope.app.engine {
            Engine::Spark => format!("Spark has no counters such as {}", of.name),
            Engine::MapReduce | Engine::Tez => {
                format!("the history contains no total of the counter {}", of.name)
            }
        },
        Gap::Untold(Node::Metric(of) | Node::RowMetric(of)) => no_metric(of, scope.judged),
        Gap::Untold(node) => match told_name(node) {
            Some(name) => format!("the history does not contain {name}"),
            None => format!("{what} is unknown"),
        },
        Gap::NoRows(of) => no_rows(of, scope),
        Gap::NoneFulfils(of) => format!("no {} meets the condition", noun(of, scope)),
        Gap::DividedByZero => format!("{what} divides by zero"),
        Gap::Undefined => format!("{what} is undefined here"),
        Gap::TooExpensive => "too expensive".to_owned(),
    }
}

/// Why an operator has no value for a metric.
fn no_metric(of: &MetricName, judged: Judged<'_>) -> String {
    let MetricName { name, amount } = of;
    let other = |(function, other): (&'static str, Amount)| {
        let Judged::Operator(_, planned) = judged else { return None };
        let has = other != *amount && planned.operator.metric(name, other).is_some();
        has.then(|| format!("the metric {name} is something else: write {function}(\"{name}\")"))
    };
    let readers =
        [("metric_time", Amount::Time), ("metric_bytes", Amount::Bytes), ("metric_count", Amount::Count)];
    let other = readers.into_iter().find_map(other);
    other.unwrap_or_else(|| format!("the operator has no value for the metric {name}"))
}

fn noun(of: &Of, scope: &Scope<'_, '_>) -> &'static str {
    match (scope.judged, of.rows) {
        (Judged::Tasks(group), Rows::Tasks | Rows::Attempts) => group.kind.name(),
        (_, rows) => rows.name(),
    }
}

/// "no map reports `SPILLED_RECORDS` and `MAP_OUTPUT_RECORDS`", without the ticks.
fn no_rows(of: &Of, scope: &Scope<'_, '_>) -> String {
    let noun = noun(of, scope);
    let mut any = false;
    scope.each_row(of.rows, &mut |_| any = true);
    match (any, of.rows) {
        (false, Rows::Tasks) => format!("no {noun} ended successfully"),
        (false, _) => format!("the history contains no {noun}"),
        (true, _) => format!("no {noun} reports {}", of.needs.join(" and ")),
    }
}

fn told_name(node: &Node) -> Option<String> {
    fn find<F: PartialEq>(namespace: &str, names: &[Named<F>], field: &F) -> Option<String> {
        names.iter().find(|named| named.field == *field).map(|named| format!("{namespace}.{}", named.name))
    }
    match node {
        Node::App(field) => find("app", &APP, field),
        Node::Tasks(field) => find("tasks", &TASKS, field),
        Node::Subject(field) | Node::Row(field) => match field {
            RowField::Attempt(field) => find("attempt", &ATTEMPT, field),
            RowField::Stage(field) => find("stage", &STAGE, field),
            RowField::Job(field) => find("job", &JOB, field),
            RowField::Executor(field) => find("executor", &EXECUTOR, field),
            RowField::Query(field) => find("query", &QUERY, field),
            RowField::Operator(field) => find("node", &OPERATOR, field),
        },
        _ => None,
    }
}

/// Limits joined for a sentence, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Limits(Vec<String>);

impl Limits {
    /// Adds a limit unless it is already present.
    pub(super) fn add(&mut self, limit: Option<String>) {
        if let Some(limit) = limit.filter(|limit| !self.0.contains(limit)) {
            self.0.push(limit);
        }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl CustomRule {
    /// The parts of a Spark application that the verdict depends on, from the names in the expressions.
    #[must_use]
    pub(crate) fn rests_on(&self) -> &[Facet] {
        &self.rests_on
    }

    /// The counters of tasks of this kind that the expressions read.
    #[must_use]
    pub(crate) fn reads(&self, kind: TaskKind) -> CounterMask {
        let judges = match self.over {
            Over::Map => kind == TaskKind::Map,
            Over::Reduce => kind == TaskKind::Reduce,
            Over::Application | Over::Stage | Over::Executor | Over::Job | Over::Query | Over::Operator => {
                true
            }
        };
        if judges { self.reads } else { CounterMask::NONE }
    }

    pub(super) fn find_counters(&self) -> CounterMask {
        let mut counters = CounterMask::NONE;
        self.nodes().for_each(|node| read(node, &mut counters));
        counters
    }

    pub(super) fn find_facets(&self) -> Vec<Facet> {
        let mut facets = Vec::new();
        match self.over {
            // The values of metrics of operators are in the ends of stages.
            Over::Stage | Over::Operator => facets.push(Facet::Stages),
            Over::Executor => facets.push(Facet::Executors),
            Over::Job => facets.push(Facet::Jobs),
            Over::Query => facets.extend([Facet::Jobs, Facet::Stages]),
            Over::Application | Over::Map | Over::Reduce => {}
        }
        self.nodes().for_each(|node| used(node, &mut facets));
        facets.sort_unstable();
        facets.dedup();
        facets
    }

    /// Whether an expression reads counters of tasks by group and name.
    #[must_use]
    pub(crate) fn names_counters(&self) -> bool {
        self.names_counters
    }

    pub(super) fn find_named_counters(&self) -> bool {
        fn names(node: &Node) -> bool {
            let mut any = matches!(node, Node::RowCounter(_));
            node.parts(&mut |part| any |= names(part));
            any
        }
        self.nodes().any(names)
    }

    /// Whether an expression uses the application's costs.
    #[must_use]
    pub(crate) fn needs_metrics(&self) -> bool {
        self.nodes().any(needs_metrics)
    }
}

fn used(node: &Node, facets: &mut Vec<Facet>) {
    match node {
        Node::Tasks(_) | Node::Attempts(_) | Node::RowCounter(_) => facets.push(Facet::Tasks),
        Node::App(field) => match field {
            AppField::RunTime | AppField::Status | AppField::Complete => facets.push(Facet::End),
            AppField::WaitTime
            | AppField::UsedGbHours
            | AppField::WastedGbHours
            | AppField::WastedRatio
            | AppField::FailedGbHours
            | AppField::UsedCoreHours
            | AppField::IdleCoreHours
            | AppField::IdleRatio => facets.extend([Facet::Tasks, Facet::Executors, Facet::End]),
            _ => {}
        },
        // Totals are written at the end of the job.
        Node::Counter(_) => facets.push(Facet::End),
        Node::Row(field) | Node::Subject(field) => facets.extend(behind(*field)),
        Node::Aggregate(of) => facets.push(match of.rows {
            // Facts about executors are sums over tasks, unless a fact says otherwise.
            Rows::Tasks | Rows::Attempts | Rows::Executors => Facet::Tasks,
            Rows::Stages | Rows::Operators => Facet::Stages,
            Rows::Jobs | Rows::Queries => Facet::Jobs,
        }),
        _ => {}
    }
    node.parts(&mut |part| used(part, facets));
}

fn read(node: &Node, counters: &mut CounterMask) {
    if let Node::Row(field) | Node::Subject(field) = node {
        counters.insert_all(CounterMask::of(counters_behind(*field)));
    }
    node.parts(&mut |part| read(part, counters));
}

/// The counters that a fact is computed from.
fn counters_behind(field: RowField) -> &'static [Counter] {
    match field {
        RowField::Attempt(AttemptField::Counter(counter)) => {
            Counter::ALL.get(counter.index()..=counter.index()).unwrap_or_default()
        }
        RowField::Attempt(AttemptField::InputBytes) => {
            const READ: [Counter; 6] = [
                Counter::HdfsBytesRead,
                Counter::S3BytesRead,
                Counter::S3aBytesRead,
                Counter::S3nBytesRead,
                Counter::OtherFsBytesRead,
                Counter::InputBytes,
            ];
            &READ
        }
        RowField::Attempt(AttemptField::ShuffleBytesRead) => {
            &[Counter::ReduceShuffleBytes, Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead]
        }
        RowField::Query(QueryField::TaskTime) | RowField::Operator(OperatorField::Time) => {
            &[Counter::ExecutorRunTime]
        }
        RowField::Query(QueryField::InputBytes) => &[Counter::InputBytes],
        RowField::Query(QueryField::OutputBytes) => &[Counter::OutputBytes],
        RowField::Query(QueryField::ShuffleBytesWritten) => &[Counter::ShuffleBytesWritten],
        RowField::Query(QueryField::MemoryBytesSpilled) => &[Counter::MemoryBytesSpilled],
        RowField::Executor(field) => match field {
            ExecutorField::RunTime => &[Counter::ExecutorRunTime],
            ExecutorField::CpuTime => &[Counter::CpuMilliseconds],
            ExecutorField::GcTime => &[Counter::GcTimeMillis],
            ExecutorField::InputBytes => &[Counter::InputBytes],
            ExecutorField::OutputBytes => &[Counter::OutputBytes],
            ExecutorField::ShuffleBytesRead => {
                &[Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead]
            }
            ExecutorField::ShuffleBytesWritten => &[Counter::ShuffleBytesWritten],
            ExecutorField::MemoryBytesSpilled => &[Counter::MemoryBytesSpilled],
            ExecutorField::DiskBytesSpilled => &[Counter::DiskBytesSpilled],
            _ => &[],
        },
        _ => &[],
    }
}

fn behind(field: RowField) -> &'static [Facet] {
    match field {
        RowField::Attempt(AttemptField::Executor)
        | RowField::Executor(ExecutorField::Cores | ExecutorField::Host | ExecutorField::Lost) => {
            &[Facet::Executors]
        }
        RowField::Executor(ExecutorField::StorageMemory) => &[Facet::Executors, Facet::ExecutorMetrics],
        RowField::Executor(
            ExecutorField::PeakStorage
            | ExecutorField::PeakHeap
            | ExecutorField::PeakUnified
            | ExecutorField::PeakResident
            | ExecutorField::Peak(_),
        ) => &[Facet::Tasks, Facet::ExecutorMetrics],
        RowField::Query(
            QueryField::TaskTime
            | QueryField::InputBytes
            | QueryField::OutputBytes
            | QueryField::ShuffleBytesWritten
            | QueryField::MemoryBytesSpilled,
        )
        | RowField::Operator(OperatorField::Time)
        | RowField::Attempt(_)
        | RowField::Executor(_) => &[Facet::Tasks],
        RowField::Query(_) | RowField::Job(_) => &[Facet::Jobs],
        RowField::Operator(_) | RowField::Stage(_) => &[Facet::Stages],
    }
}

fn needs_metrics(node: &Node) -> bool {
    let own = matches!(
        node,
        Node::App(
            AppField::RunTime
                | AppField::WaitTime
                | AppField::UsedGbHours
                | AppField::WastedGbHours
                | AppField::WastedRatio
                | AppField::FailedGbHours
                | AppField::UsedCoreHours
                | AppField::IdleCoreHours
                | AppField::IdleRatio
        )
    );
    let mut needs = own;
    node.parts(&mut |part| needs |= needs_metrics(part));
    needs
}
