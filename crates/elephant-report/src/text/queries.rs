//! The queries that took longest, one line each.

use super::application::hanging;
use crate::words::plural;
use crate::wrap::clean;
use elephant_base::units::Millis;
use elephant_engine::results::ApplicationReport;
use elephant_query::{QuerySummary, Wall};
use elephant_rule::finding::percent;
use std::io::{self, Write};

/// A part of a query's time is told from this share on.
const WORTH_TELLING: f64 = 0.05;

/// "queries: query 12 "daily import" took 5m 2s (41 % of the run), planning 20.1 s; `SortMergeJoin` on k 40 %".
pub(super) fn write(app: &ApplicationReport, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    app.queries.iter().try_for_each(|query| hanging(&clean(&line(app, query)), columns, out))
}

fn line(app: &ApplicationReport, query: &QuerySummary) -> String {
    let mut told = vec![match query.wall {
        Some(Wall { total, .. }) => match app.metrics.run_time {
            Some(run_time) => format!(
                "{} took {total} ({})",
                query.name,
                percent(total.as_f64() / run_time.as_f64().max(1.0))
            ),
            None => format!("{} took {total}", query.name),
        },
        None => format!("{} took an unknown time", query.name),
    }];
    if let Some(Wall { total, planning, gaps, after, .. }) = query.wall {
        let parts = [("planning", planning), ("between jobs", gaps), ("after the last job", after)];
        let is_much = |time: Millis| time.as_f64() >= WORTH_TELLING * total.as_f64() && time > Millis::ZERO;
        told.extend(
            parts.into_iter().filter(|(_, time)| is_much(*time)).map(|(what, time)| format!("{what} {time}")),
        );
    }
    let all = query.task_time.filter(|time| *time > Millis::ZERO);
    let operators = query.operators.iter().filter_map(|operator| {
        let (time, all) = (operator.time?, all?);
        (time.as_f64() >= WORTH_TELLING * all.as_f64()).then_some((time, operator))
    });
    let mut operators: Vec<_> = operators.collect();
    operators.sort_by_key(|(time, operator)| (std::cmp::Reverse(*time), operator.place));
    let named = operators.into_iter().take(2).filter_map(|(time, operator)| {
        Some(format!("{} {} of its tasks' time", operator.name, percent(time.as_f64() / all?.as_f64())))
    });
    told.extend(named);
    if query.error.is_some() {
        told.push("failed".to_owned());
    }
    if !query.stages.is_empty() {
        told.push(plural(query.stages.len() as u64, "stage"));
    }
    told.join(", ")
}
