//! Single applications of a store: the worst, or the runs of one job in the order of time.

use rusqlite::{OptionalExtension, Row};

use super::selection::Selection;
use super::{Store, StoreError};
use crate::engine::Filter;
use crate::severity::Severity;
use crate::stats::change_point::change_point;
use crate::units::{Millis, Timestamp};

/// Runs that are searched for a change, from the last one back.
const MOST_SEARCHED: usize = 1000;
/// Less clear changes are chance: with this probability a job that never changed has one.
const CHANCE: f64 = 0.01;
/// Smaller changes are not worth a word.
const SMALLEST_CHANGE: f64 = 0.1;

/// An application as one line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) attempt: Option<String>,
    pub(crate) source: String,
    pub(crate) name: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) queue: Option<String>,
    pub(crate) status: String,
    pub(crate) submitted: Option<Timestamp>,
    pub(crate) run_time: Option<Millis>,
    pub(crate) used_gb_hours: Option<f64>,
    pub(crate) wasted_gb_hours: Option<f64>,
    pub(crate) saved_gb_hours: Option<f64>,
    pub(crate) severity: Severity,
    /// The cause of its first trouble, and what to do.
    pub(crate) trouble: Option<(String, Option<String>)>,
}

/// A measure of a job that changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    /// What changed: `run time` or `memory used`.
    pub(crate) measure: Measure,
    /// The id of the first run after the change.
    pub(crate) first: String,
    pub(crate) since: Option<Timestamp>,
    /// The medians before and after.
    pub(crate) before: f64,
    pub(crate) after: f64,
    /// How many runs are before and after it.
    pub(crate) runs_before: u64,
    pub(crate) runs_after: u64,
}

/// What is compared between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Milliseconds.
    RunTime,
    /// GB·h.
    Used,
}

/// The runs of one job.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Runs {
    pub(crate) job: String,
    /// How many runs there are, shown or not.
    pub(crate) of: u64,
    /// In the order of submission.
    pub(crate) runs: Vec<Run>,
    pub(crate) changes: Vec<Change>,
}

impl Store {
    /// The applications that waste most.
    pub(crate) fn worst(&self, filter: &Filter, most: usize) -> Result<Vec<Run>, StoreError> {
        let selection = Selection::of(&self.connection, filter)?;
        self.runs(&selection, "wasted DESC NULLS LAST, score DESC, application.id, attempt, source", most)
    }

    /// The last `most` runs of the job with this key, or of the only one with this name; `None` if there is none.
    pub(crate) fn job(&self, job: &str, filter: &Filter, most: usize) -> Result<Option<Runs>, StoreError> {
        let found: Option<(i64, String)> = self
            .connection
            .query_row(
                "SELECT job, key FROM job WHERE key = ?1 OR name = ?1 ORDER BY key <> ?1, key LIMIT 1",
                [job],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let Some((place, key)) = found else { return Ok(None) };
        let mut selection = Selection::of(&self.connection, filter)?;
        selection.and("job =", place);
        let latest = "submitted DESC NULLS LAST, application.id DESC, attempt DESC, source DESC";
        let mut runs = self.runs(&selection, latest, most.max(MOST_SEARCHED))?;
        runs.reverse();
        let of = self.connection.query_row(
            &format!("SELECT count(*) FROM application WHERE {}", selection.condition),
            &*selection.values(),
            |row| row.get::<_, i64>(0),
        )?;
        let changes = [Measure::RunTime, Measure::Used].into_iter();
        let changes = changes.filter_map(|measure| change(&runs, measure)).collect();
        let hidden = runs.len().saturating_sub(most);
        runs.drain(..hidden);
        Ok(Some(Runs { job: key, of: of.max(0).cast_unsigned(), runs, changes }))
    }

    fn runs(&self, selection: &Selection, order: &str, most: usize) -> Result<Vec<Run>, StoreError> {
        let statement = format!(
            "SELECT application.id, attempt, source, application.name, user, queue, status, submitted, run_time, used, \
             wasted, application.saved_memory, application.severity, trouble.cause, trouble.remedy FROM application LEFT \
             JOIN trouble ON trouble.application = application.application AND n = 0 WHERE {} ORDER BY {order} LIMIT {most}",
            selection.condition
        );
        let mut statement = self.connection.prepare(&statement)?;
        let runs = statement.query_map(&*selection.values(), run)?;
        Ok(runs.collect::<Result<Vec<Run>, _>>()?)
    }
}

fn run(row: &Row<'_>) -> rusqlite::Result<Run> {
    let number = |place: usize| {
        Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(place)?.map(|it| it.max(0).cast_unsigned()))
    };
    let hours = |place: usize| Ok::<_, rusqlite::Error>(number(place)?.map(super::gb_hours));
    let severity = number(12)?.and_then(|value| Severity::ALL.get(usize::try_from(value).ok()?).copied());
    let cause: Option<String> = row.get(13)?;
    let remedy = row.get(14)?;
    Ok(Run {
        id: row.get(0)?,
        attempt: row.get::<_, Option<String>>(1)?.filter(|attempt| !attempt.is_empty()),
        source: row.get(2)?,
        name: row.get(3)?,
        user: row.get(4)?,
        queue: row.get(5)?,
        status: row.get(6)?,
        submitted: row.get::<_, Option<i64>>(7)?.map(Timestamp::from_millis),
        run_time: number(8)?.map(Millis::new),
        used_gb_hours: hours(9)?,
        wasted_gb_hours: hours(10)?,
        saved_gb_hours: hours(11)?,
        severity: severity.unwrap_or(Severity::None),
        trouble: cause.map(|cause| (cause, remedy)),
    })
}

/// Where a measure of the runs that succeeded changed, if it did.
fn change(runs: &[Run], measure: Measure) -> Option<Change> {
    let value = |run: &Run| match measure {
        Measure::RunTime => run.run_time.map(Millis::as_f64),
        Measure::Used => run.used_gb_hours,
    };
    let succeeded = runs.iter().filter(|run| run.status == "succeeded");
    let (measured, values): (Vec<&Run>, Vec<f64>) =
        succeeded.filter_map(|run| Some((run, value(run)?))).unzip();
    let found = change_point(&values).filter(|found| found.p < CHANCE)?;
    if (found.after - found.before).abs() < SMALLEST_CHANGE * found.before.max(found.after) {
        return None;
    }
    let first = measured.get(found.at)?;
    Some(Change {
        measure,
        first: first.id.clone(),
        since: first.submitted,
        before: found.before,
        after: found.after,
        runs_before: found.at as u64,
        runs_after: (values.len() - found.at) as u64,
    })
}
