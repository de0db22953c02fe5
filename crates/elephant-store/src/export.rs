//! The tables of a store as others read them: one row for each application, finding, trouble or query, by the day on which its
//! history was found.

use super::database::Row;
use super::day::name_of;
use super::selection::Selection;
use super::{Store, StoreError};
use elephant_engine::engine::Filter;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// A whole number.
    Whole,
    /// A number with a fraction.
    Number,
    /// `true` or `false`.
    Truth,
    /// Milliseconds since 1970 in UTC.
    Moment,
}

/// A value of its column's type; unknown values are `None`.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// UTF-8.
    Text(String),
    /// A whole number, a moment, or 0 and 1 for `false` and `true`.
    Whole(i64),
    /// A number with a fraction.
    Number(f64),
}

/// A table to export.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name, which is that of its folder.
    pub name: &'static str,
    /// What a row is.
    pub row: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
    from: &'static str,
    order: &'static str,
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name, with the unit as its ending.
    pub name: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// The expression of its values.
    value: &'static str,
}

const fn column(name: &'static str, kind: Kind, value: &'static str) -> Column {
    Column { name, kind, value }
}

/// The name of a severity.
macro_rules! named {
    ($severity:literal) => {
        concat!(
            "CASE ",
            $severity,
            " WHEN 0 THEN 'none' WHEN 1 THEN 'low' WHEN 2 THEN 'moderate' WHEN 3 THEN 'severe' ELSE 'critical' END"
        )
    };
}

const APPLICATION: Column = column("application", Kind::Text, "application.id");
const ATTEMPT: Column = column("attempt", Kind::Text, "nullif(application.attempt, '')");
/// Without the cluster that the user named, which comes first.
const SOURCE: Column = column(
    "source",
    Kind::Text,
    "CASE WHEN substr(application.source, 1, length(application.cluster) + 1) = application.cluster || ' ' THEN \
     substr(application.source, length(application.cluster) + 2) ELSE application.source END",
);

/// Names are those of the CSV reports. Readers rely on them and on their order, so add new columns at the end.
pub const TABLES: [Table; 4] = [
    Table {
        name: "applications",
        row: "application",
        from: "application JOIN job USING (job)",
        order: "application.id, application.attempt, application.source",
        columns: &[
            APPLICATION,
            ATTEMPT,
            SOURCE,
            column("engine", Kind::Text, "application.engine"),
            column("job", Kind::Text, "job.key"),
            column("name", Kind::Text, "application.name"),
            column("user", Kind::Text, "application.\"user\""),
            column("queue", Kind::Text, "queue"),
            column("status", Kind::Text, "status"),
            column("complete", Kind::Truth, "complete"),
            column("judged", Kind::Truth, "judged"),
            column("submitted_at", Kind::Moment, "application.submitted"),
            column("finished_at", Kind::Moment, "application.finished"),
            column("runtime_ms", Kind::Whole, "run_time"),
            column("severity", Kind::Text, named!("severity")),
            column("score", Kind::Whole, "score"),
            column("tasks_count", Kind::Whole, "tasks"),
            column("task_time_ms", Kind::Whole, "task_time"),
            column("failed_attempts_count", Kind::Whole, "failed_attempts"),
            column("input_bytes", Kind::Whole, "input"),
            column("nodes_count", Kind::Whole, "nodes"),
            column("resource_used_gb_hours", Kind::Number, "CAST(used AS DOUBLE PRECISION) / 3686400"),
            column("resource_wasted_gb_hours", Kind::Number, "CAST(wasted AS DOUBLE PRECISION) / 3686400"),
            column("core_hours", Kind::Number, "CAST(core_time AS DOUBLE PRECISION) / 3600000"),
            column("saves_ms", Kind::Whole, "saved_time"),
            column("saves_gb_hours", Kind::Number, "CAST(saved_memory AS DOUBLE PRECISION) / 3686400"),
            column("saves_core_hours", Kind::Number, "CAST(saved_core_time AS DOUBLE PRECISION) / 3600000"),
            column("saves_more_at_most_ms", Kind::Whole, "application.limit_time"),
            column("cluster", Kind::Text, "application.cluster"),
            column("scheduler", Kind::Text, "application.scheduler"),
            column("flow", Kind::Text, "application.flow"),
            column("flow_run", Kind::Text, "application.flow_run"),
            column("task", Kind::Text, "application.task"),
            column("owner", Kind::Text, "application.owner"),
            column("incomplete", Kind::Text, "application.incomplete"),
        ],
    },
    Table {
        name: "findings",
        row: "finding",
        from: "(SELECT application, n, rule, severity AS level, subject, message, measure, value FROM finding) AS finding JOIN \
               application USING (application)",
        order: "application.id, application.attempt, application.source, n",
        columns: &[
            APPLICATION,
            ATTEMPT,
            SOURCE,
            column("rule", Kind::Text, "rule"),
            column("subject", Kind::Text, "subject"),
            column("severity", Kind::Text, named!("level")),
            column("message", Kind::Text, "message"),
            column("measure", Kind::Text, "measure"),
            column("value", Kind::Number, "value"),
        ],
    },
    Table {
        name: "troubles",
        row: "trouble",
        from: "(SELECT application, n, kind, severity AS level, cause, remedy, saved_time AS time, saved_memory AS memory, limit_time AS more FROM \
               trouble) AS trouble JOIN application USING (application)",
        order: "application.id, application.attempt, application.source, n",
        columns: &[
            APPLICATION,
            ATTEMPT,
            SOURCE,
            column("trouble", Kind::Text, "kind"),
            column("severity", Kind::Text, named!("level")),
            column("cause", Kind::Text, "cause"),
            column("remedy", Kind::Text, "remedy"),
            column("saves_ms", Kind::Whole, "time"),
            column("saves_gb_hours", Kind::Number, "CAST(memory AS DOUBLE PRECISION) / 3686400"),
            column("saves_more_at_most_ms", Kind::Whole, "more"),
        ],
    },
    Table {
        name: "queries",
        row: "query",
        from: "(SELECT application, n, query.id AS query, root, query.name AS told, computes, query.started AS began, wall, planning, \
               jobs, between_jobs, after_jobs, query.task_time AS time, query.input AS read, shuffled, spilled, output, stages, \
               error FROM query) AS query JOIN application USING (application)",
        order: "application.id, application.attempt, application.source, n",
        columns: &[
            APPLICATION,
            ATTEMPT,
            SOURCE,
            column("query", Kind::Whole, "query"),
            column("root_query", Kind::Whole, "root"),
            column("name", Kind::Text, "told"),
            column("computes", Kind::Text, "computes"),
            column(
                "status",
                Kind::Text,
                "CASE WHEN error IS NOT NULL THEN 'failed' WHEN wall IS NOT NULL THEN 'succeeded' END",
            ),
            column("started_at", Kind::Moment, "began"),
            column("wall_ms", Kind::Whole, "wall"),
            column("planning_ms", Kind::Whole, "planning"),
            column("jobs_ms", Kind::Whole, "jobs"),
            column("between_jobs_ms", Kind::Whole, "between_jobs"),
            column("after_jobs_ms", Kind::Whole, "after_jobs"),
            column("task_time_ms", Kind::Whole, "time"),
            column("input_bytes", Kind::Whole, "read"),
            column("shuffle_write_bytes", Kind::Whole, "shuffled"),
            column("spilled_bytes", Kind::Whole, "spilled"),
            column("output_bytes", Kind::Whole, "output"),
            column("stages_count", Kind::Whole, "stages"),
            column("error", Kind::Text, "error"),
        ],
    },
];

impl Store {
    /// Passes the rows of a table to `take`, with the day on which the history was found, day by day. `take` says
    /// whether it wants more.
    pub fn rows(
        &self,
        table: &Table,
        filter: &Filter,
        mut take: impl FnMut(&str, Vec<Option<Value>>) -> bool,
    ) -> Result<(), StoreError> {
        self.database.reading_once(|| {
            let selection = Selection::of(&self.database, filter, crate::Only::ALL)?;
            let values: Vec<&str> = table.columns.iter().map(|column| column.value).collect();
            let query = format!(
                "SELECT run.started / 86400000 AS found, {} FROM {} JOIN run ON run.run = application.run WHERE {} ORDER BY \
                 found, {}",
                values.join(", "),
                table.from,
                selection.condition,
                table.order,
            );
            self.database.visit(&query, &selection.values, |row| {
                let day = name_of(row.get(0)?).unwrap_or_default();
                let values = (1..).zip(table.columns).map(|(place, column)| value(row, place, column.kind));
                Ok(take(&day, values.collect::<Result<_, _>>()?))
            })
        })
    }
}

fn value(row: &Row<'_>, place: usize, kind: Kind) -> Result<Option<Value>, StoreError> {
    Ok(match kind {
        Kind::Text => row.get::<Option<String>>(place)?.map(Value::Text),
        Kind::Whole | Kind::Moment => row.get::<Option<i64>>(place)?.map(Value::Whole),
        Kind::Truth => row.get::<Option<bool>>(place)?.map(|truth| Value::Whole(truth.into())),
        Kind::Number => row.get::<Option<f64>>(place)?.map(Value::Number),
    })
}
