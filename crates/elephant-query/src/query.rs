//! Queries: SQL executions with their operators placed in stages.

use std::collections::{BTreeMap, BTreeSet};

use crate::reuse::repeated;
use crate::values::Values;
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::Application;
use elephant_model::model::spark::{
    Job, OperatorKind, Plan, PlanMetric, Spark, SqlCounter, SqlExecution, Unit, is_reuse,
};

/// The queries of an application. Each is computed when it is asked for: an application may have a hundred thousand.
pub struct Queries<'a> {
    app: &'a Application,
    spark: &'a Spark,
    values: Values,
    of_executions: OfExecutions,
}

/// A SQL execution.
pub struct Query<'a> {
    /// The execution.
    pub execution: &'a SqlExecution,
    /// The operators of its last plan, parents before children; then those that adaptive execution replaced, and the
    /// subqueries that no plan contains.
    pub operators: Vec<PlacedOperator<'a>>,
}

/// An operator, with the stages in which it ran.
#[derive(Debug, Clone)]
pub struct PlacedOperator<'a> {
    /// The name of its node: `HashAggregate`.
    pub name: &'a str,
    /// Its node with keys and expressions (`simpleString`).
    pub text: &'a str,
    /// What it does.
    pub kind: OperatorKind,
    /// The operator that takes its rows, as an index into [`Query::operators`].
    pub parent: Option<usize>,
    /// The exchange whose rows are used again, if the plan tells this operator a second time below it: as an index into
    /// [`Query::operators`]. It ran once.
    pub repeats: Option<usize>,
    /// Whether it is part of the last plan.
    pub is_last: bool,
    /// Whether one of its own accumulators tells its stages; those of another operator of its pipeline otherwise.
    pub is_placed_by_value: bool,
    /// Its stages, as indices into [`Spark::stages`], in order.
    pub stages: Vec<u32>,
    /// Its metrics that have values, in the order of the plan.
    pub values: Vec<Value<'a>>,
    /// What the plan says about a scan: `Location`, `Format`, `PartitionFilters`, ….
    pub facts: Vec<(&'a str, &'a str)>,
}

/// The value of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value<'a> {
    /// Spark's name for it.
    pub name: &'a str,
    /// `sum`, `size`, `timing`, `nsTiming` or `average`.
    pub kind: &'a str,
    /// Ours; `None` if no rule needs it.
    pub counter: Option<SqlCounter>,
    /// Its total. An average is ten times the last stage's, as Spark stores it.
    pub total: i64,
    pub(crate) accumulator: u64,
}

/// What ran for each execution, by its id.
struct OfExecutions {
    /// Its jobs and those of the executions below it, as indices into [`Spark::jobs`].
    jobs: BTreeMap<u64, Vec<usize>>,
    /// The stages of its own jobs, as indices into [`Spark::stages`].
    stages: BTreeMap<u64, Vec<u32>>,
}

impl OfExecutions {
    fn of(spark: &Spark) -> Self {
        let mut all = Self { jobs: BTreeMap::new(), stages: BTreeMap::new() };
        for (place, job) in spark.jobs.iter().enumerate() {
            let Some(id) = job.sql_execution else { continue };
            all.jobs.entry(id).or_default().push(place);
            if let Some(root) =
                spark.query(id).and_then(|execution| execution.root).filter(|root| *root != id)
            {
                all.jobs.entry(root).or_default().push(place);
            }
        }
        for (place, stage) in (0_u32..).zip(&spark.stages) {
            if let Some(id) = spark.job_of(stage).and_then(|job| job.sql_execution) {
                all.stages.entry(id).or_default().push(place);
            }
        }
        all
    }
}

impl Value<'_> {
    /// The total as a time.
    #[must_use]
    pub fn millis(&self) -> Option<Millis> {
        Unit::of(self.kind, self.name).millis(self.total)
    }

    pub(crate) fn unit(&self) -> Unit {
        Unit::of(self.kind, self.name)
    }
}

impl<'a> PlacedOperator<'a> {
    /// The total of a metric.
    #[must_use]
    pub fn total(&self, counter: SqlCounter) -> Option<u64> {
        self.value(counter).and_then(|value| u64::try_from(value.total).ok())
    }

    /// The total of a metric that counts bytes.
    #[must_use]
    pub fn bytes(&self, counter: SqlCounter) -> Option<Bytes> {
        self.total(counter).map(Bytes::new)
    }

    /// The total of a metric that is a time.
    #[must_use]
    pub fn millis(&self, counter: SqlCounter) -> Option<Millis> {
        self.value(counter).and_then(Value::millis)
    }

    /// A fact of the plan about it.
    #[must_use]
    pub fn fact(&self, key: &str) -> Option<&'a str> {
        self.facts.iter().find(|(known, _)| *known == key).map(|&(_, value)| value)
    }

    /// Whether it is a subquery, or stands for one: it is no input of the operator above it.
    #[must_use]
    pub fn is_subquery(&self) -> bool {
        self.kind == OperatorKind::Subquery || self.name.starts_with("ReusedSubquery")
    }

    fn value(&self, counter: SqlCounter) -> Option<&Value<'a>> {
        self.values.iter().find(|value| value.counter == Some(counter))
    }
}

impl<'a> Queries<'a> {
    /// The queries of an application; `None` if it is not one of Spark's.
    #[must_use]
    pub fn of(app: &'a Application) -> Option<Self> {
        let spark = app.spark.as_deref()?;
        Some(Self { app, spark, values: Values::of(spark), of_executions: OfExecutions::of(spark) })
    }

    /// All queries in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = Query<'a>> {
        self.spark.sql.iter().map(|execution| self.query(execution))
    }

    /// An execution with its operators placed.
    #[must_use]
    pub fn query(&self, execution: &'a SqlExecution) -> Query<'a> {
        let mut operators = self.operators(&execution.plan, 0, true);
        place_with_neighbours(&mut operators);
        for plan in [&execution.replaced, &execution.subqueries] {
            let before = operators.len();
            operators.extend(self.operators(plan, before, false));
        }
        Query { execution, operators }
    }

    pub(crate) const fn spark(&self) -> &'a Spark {
        self.spark
    }

    /// The jobs of an execution, and those of the executions below it.
    pub fn jobs(&self, execution: &SqlExecution) -> impl Iterator<Item = &'a Job> {
        let places = self.of_executions.jobs.get(&execution.id).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|&place| self.spark.jobs.get(place))
    }

    /// The stages of a query, by index: those of its jobs, and those in which its operators ran.
    #[must_use]
    pub fn stages(&self, query: &Query<'_>) -> BTreeSet<u32> {
        let of_operators = query.operators.iter().flat_map(|operator| operator.stages.iter().copied());
        let of_jobs = self.of_executions.stages.get(&query.execution.id).into_iter().flatten().copied();
        of_operators.chain(of_jobs).collect()
    }

    pub(crate) const fn app(&self) -> &'a Application {
        self.app
    }

    pub(crate) const fn values(&self) -> &Values {
        &self.values
    }

    /// The operators of a plan that follow `before` others.
    fn operators(&self, plan: &'a Plan, before: usize, is_last: bool) -> Vec<PlacedOperator<'a>> {
        let name = |symbol| self.app.strings.get(symbol).unwrap_or_default();
        let mut operators = Vec::with_capacity(plan.operators.len());
        let mut repeated = repeated(plan, |operator| is_reuse(name(operator.name))).into_iter();
        for (place, operator) in (0_u32..).zip(&plan.operators) {
            let metrics = plan.metrics_of(place);
            let seen = metrics.iter().flat_map(|metric| self.values.in_stages(metric.accumulator));
            let mut stages: Vec<u32> = seen.map(|seen| seen.stage).collect();
            stages.sort_unstable();
            stages.dedup();
            let facts = plan.facts_of(place).iter().map(|fact| (name(fact.key), plan.text(fact.value)));
            operators.push(PlacedOperator {
                name: name(operator.name),
                text: plan.text(operator.text),
                kind: operator.kind,
                parent: operator.parent.map(|parent| parent as usize + before),
                repeats: repeated.next().flatten().map(|original| original as usize + before),
                is_last,
                is_placed_by_value: !stages.is_empty(),
                stages,
                values: metrics.iter().filter_map(|metric| self.value(metric)).collect(),
                facts: facts.collect(),
            });
        }
        operators
    }

    fn value(&self, metric: &PlanMetric) -> Option<Value<'a>> {
        let total = self.values.total(metric.accumulator)?;
        let name = self.app.strings.get(metric.name)?;
        let kind = self.app.strings.get(metric.kind)?;
        Some(Value { name, kind, counter: metric.counter, total, accumulator: metric.accumulator })
    }
}

/// Places the operators without values with the nearest placed operator of their pipeline: above them first, because a
/// generated pipeline stands above its operators, then below. Rows do not move between stages within a pipeline.
fn place_with_neighbours(operators: &mut [PlacedOperator<'_>]) {
    for place in 0..operators.len() {
        let Some(operator) = operators.get(place).filter(|operator| operator.stages.is_empty()) else {
            continue;
        };
        if operator.kind.moves_rows() {
            continue;
        }
        let above = operator.parent.and_then(|parent| operators.get(parent));
        let stages = above.filter(|above| !above.kind.moves_rows()).map(|above| above.stages.clone());
        if let (Some(stages), Some(operator)) = (stages, operators.get_mut(place)) {
            operator.stages = stages;
        }
    }
    // Children come after their parents, so backwards each child is placed before its parent looks at it.
    for place in (0..operators.len()).rev() {
        let Some(operator) = operators.get(place).filter(|operator| !operator.kind.moves_rows()) else {
            continue;
        };
        let (Some(parent), stages) = (operator.parent, operator.stages.clone()) else { continue };
        if let Some(above) = operators.get_mut(parent)
            && above.stages.is_empty()
            && !above.kind.moves_rows()
        {
            above.stages = stages;
        }
    }
}

/// Whether a metric of an exchange counts what is read from it, not what is written into it.
pub(crate) fn is_metric_of_reader(name: &str) -> bool {
    let read = ["records read", "fetch wait time", "local b", "remote b"];
    read.iter().any(|start| name.starts_with(start))
}
