//! The operator of a query that spills: what it is, and what makes it hold fewer rows.

use super::stage_figures::spilled;
use elephant_base::units::Bytes;
use elephant_model::model::Application;
use elephant_model::model::spark::{Spark, Stage};
use elephant_query::{
    JoinKind, OperatorKind, PlacedOperator, Queries, Query, SqlCounter, name_of_operator, name_of_query,
};

/// An operator that spills.
pub(crate) struct SpillingOperator {
    /// "Sort by v of query 3".
    pub(crate) name: String,
    /// What to change in the query.
    pub(crate) remedy: String,
}

impl SpillingOperator {
    /// The operator of the stage that spilled most.
    pub(crate) fn worst(app: &Application, spark: &Spark) -> Option<Self> {
        let spilling = spark.stages.iter().filter_map(|stage| {
            let spilled = spilled(app.groups.get(stage.group?)?)?;
            (spilled > Bytes::default()).then_some((spilled, stage))
        });
        let (_, stage) = spilling.max_by_key(|(spilled, stage)| (*spilled, std::cmp::Reverse(stage.id)))?;
        Self::of(app, spark, stage)
    }

    /// The operator that spilled most in a stage of a query; `None` for code with RDDs, or if no operator says so.
    pub(crate) fn of(app: &Application, spark: &Spark, stage: &Stage) -> Option<Self> {
        let execution = spark.query(spark.job_of(stage)?.sql_execution?)?;
        let place = spark.stages.iter().position(|other| other.id == stage.id)?;
        let place = u32::try_from(place).ok()?;
        let query = Queries::of(app)?.query(execution);
        let spilled = |operator: &PlacedOperator<'_>| {
            let spilled = operator.bytes(SqlCounter::SpillSize).filter(|bytes| *bytes > Bytes::default());
            spilled.filter(|_| operator.is_placed_by_value && operator.stages.contains(&place))
        };
        let all = query.operators.iter().enumerate();
        let (at, operator, _) = all
            .filter_map(|(at, operator)| Some((at, operator, spilled(operator)?)))
            .max_by_key(|(at, _, bytes)| (*bytes, std::cmp::Reverse(*at)))?;
        let name = format!("{} of {}", name_of_operator(operator), name_of_query(execution));
        Some(Self { name, remedy: remedy(&query, at)? })
    }
}

/// What makes an operator hold fewer rows in memory.
fn remedy(query: &Query<'_>, at: usize) -> Option<String> {
    let operator = query.operators.get(at)?;
    let name = name_of_operator(operator);
    Some(match operator.kind {
        OperatorKind::Sort => remedy_of_sort(query, at, &name),
        OperatorKind::Aggregate => format!(
            "give {name} fewer and shorter values: aggregate only the columns that the query needs, group by few columns, \
             and replace collect_list and collect_set by aggregates of fixed size"
        ),
        OperatorKind::Join(_) => format!(
            "many rows of one side of {name} have the same keys: remove duplicates, or aggregate or filter that side, before \
             the join"
        ),
        OperatorKind::Window => format!(
            "let each group of {name} have fewer rows: add a column to PARTITION BY, or filter or aggregate before the window"
        ),
        _ => format!("give {name} fewer rows and columns: filter and select before it"),
    })
}

/// A sort is made for what takes its rows.
fn remedy_of_sort(query: &Query<'_>, at: usize, name: &str) -> String {
    // "Sort [v#1 ASC NULLS FIRST], true, 0": the order of all rows, not within partitions.
    let is_global = query.operators.get(at).is_some_and(|sort| sort.text.contains("], true, "));
    match taker(query, at).filter(|_| !is_global) {
        Some(join) if matches!(join.kind, OperatorKind::Join(JoinKind::SortMerge)) => format!(
            "{name} serves {join}: broadcast the other side if it is small, and filter rows and select columns before the \
             join",
            join = name_of_operator(join)
        ),
        Some(window) if window.kind == OperatorKind::Window => format!(
            "{name} serves {window}: select the columns that the query needs, and filter or aggregate, before the window",
            window = name_of_operator(window)
        ),
        Some(aggregate) if aggregate.kind == OperatorKind::Aggregate => format!(
            "{name} serves {aggregate}, which cannot use a hash table: aggregate numbers instead of texts where possible, \
             and filter and select columns before",
            aggregate = name_of_operator(aggregate)
        ),
        Some(write) if write.kind == OperatorKind::Write => {
            format!("{name} serves the write: write fewer partitions for each task, and fewer columns")
        }
        _ => format!(
            "{name} orders all rows: order only if the result needs it, use sortWithinPartitions() if order within files is \
             enough or LIMIT if only the first rows matter, and select fewer columns before"
        ),
    }
}

/// The operator that takes the rows of another one, past those that only pass them on.
fn taker<'q, 'a>(query: &'q Query<'a>, at: usize) -> Option<&'q PlacedOperator<'a>> {
    let mut place = query.operators.get(at)?.parent;
    while let Some(operator) = place.and_then(|at| query.operators.get(at)) {
        let passes = matches!(
            operator.kind,
            OperatorKind::Pipeline
                | OperatorKind::Reference
                | OperatorKind::Transition
                | OperatorKind::Project
                | OperatorKind::Filter
        );
        // "WindowGroupLimit" keeps the first rows of each group, for the window above it.
        if !passes && !operator.name.starts_with("WindowGroupLimit") {
            return Some(operator);
        }
        place = operator.parent;
    }
    None
}
