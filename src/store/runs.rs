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
const CHANCE: f64 = 0.05;
/// Smaller changes are not worth a word.
const SMALLEST_CHANGE: f64 = 0.1;

/// An application as one line.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_field_names)] // `run_time` is the usual name
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
    pub(crate) shown: Vec<Run>,
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
        Ok(Some(Runs { job: key, of: of.max(0).cast_unsigned(), shown: runs, changes }))
    }

    fn runs(&self, selection: &Selection, order: &str, most: usize) -> Result<Vec<Run>, StoreError> {
        // Only the rows that are shown are read whole.
        let statement = format!(
            "SELECT application.id, attempt, source, application.name, user, queue, status, submitted, run_time, used, \
             wasted, application.saved_memory, application.severity, trouble.cause, trouble.remedy FROM (SELECT * \
             FROM application WHERE {} ORDER BY {order} LIMIT {most}) AS application LEFT JOIN trouble ON \
             trouble.application = application.application AND n = 0 ORDER BY {order}",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Status;
    use crate::results::ApplicationReport;
    use crate::store::{Grouping, Question, View, record};

    const DAY: i64 = 86_400_000;

    fn store(apps: impl IntoIterator<Item = ApplicationReport>) -> Store {
        let store = Store::with(rusqlite::Connection::open_in_memory().unwrap()).unwrap();
        store.connection.execute("INSERT INTO run VALUES (1, 0, 'x', 'y', NULL)", []).unwrap();
        apps.into_iter().for_each(|app| record::application(&store.connection, 1, &app).unwrap());
        store
    }

    /// A nightly run that took this long.
    fn nightly(night: i64, seconds: u64) -> ApplicationReport {
        let mut app = ApplicationReport::blank(&format!("job_{night:03}"));
        app.name = Some("nightly".to_owned());
        app.status = Status::Succeeded;
        app.sources = vec![format!("done/job_{night:03}.jhist")];
        app.submitted_at = Some(Timestamp::from_millis(night * DAY));
        app.metrics.run_time = Some(Millis::from_secs(seconds));
        app
    }

    #[test]
    fn the_run_is_named_from_which_on_a_job_took_longer() {
        // Not in the order of time, and one run that is slow by chance.
        let mut apps: Vec<_> = (0..24_u8)
            .map(|night| nightly(night.into(), if night < 15 { 600 } else { 900 } + u64::from(night % 4)))
            .collect();
        apps[3].metrics.run_time = Some(Millis::from_secs(5000));
        apps.reverse();
        let store = store(apps);
        let runs = store.job("nightly", &Filter::default(), 5).unwrap().unwrap();
        assert_eq!((runs.of, runs.shown.len()), (24, 5));
        assert_eq!(runs.shown.last().map(|run| run.id.as_str()), Some("job_023"));
        let [change] = runs.changes.as_slice() else { panic!("{:?}", runs.changes) };
        assert_eq!((change.first.as_str(), change.measure), ("job_015", Measure::RunTime));
        assert_eq!((change.runs_before, change.runs_after), (15, 9));
        assert_eq!((change.before, change.after), (601_000.0, 902_000.0));
        assert_eq!(store.job("hourly", &Filter::default(), 5).unwrap(), None);
    }

    #[test]
    fn failed_runs_and_small_changes_are_no_change() {
        let failed = (0..24_u8).map(|night| {
            let mut app = nightly(night.into(), if night < 12 { 600 } else { 60 });
            app.status = if night < 12 { Status::Succeeded } else { Status::Failed };
            app
        });
        assert_eq!(store(failed).job("nightly", &Filter::default(), 9).unwrap().unwrap().changes, []);
        let small = (0..24_u8).map(|night| nightly(night.into(), if night < 12 { 600 } else { 650 }));
        assert_eq!(store(small).job("nightly", &Filter::default(), 9).unwrap().unwrap().changes, []);
    }

    #[test]
    fn unknown_values_are_missing_in_sums_and_counted() {
        let mut known = nightly(0, 10);
        known.metrics.used =
            Some(crate::units::MbMillis::of(crate::units::Bytes::from_mib(1024), Millis::from_secs(7200)));
        let answer =
            store([known, nightly(1, 20)]).answer(&Question::Groups(Grouping::Day), &Filter::default(), 9);
        let answer = answer.unwrap().unwrap();
        assert_eq!((answer.total.applications, answer.total.unmeasured), (2, 1));
        assert_eq!(answer.total.used_gb_hours, Some(2.0));
        assert_eq!(answer.total.run_time, Some(Millis::from_secs(30)));
        let View::Groups(_, grouped) = answer.view else { panic!() };
        // The latest day first.
        let days: Vec<_> = grouped.groups.iter().map(|group| group.key.as_deref()).collect();
        assert_eq!(days, [Some("1970-01-02"), Some("1970-01-01")]);
        let used: Vec<_> = grouped.groups.iter().map(|group| group.used_gb_hours).collect();
        assert_eq!(used, [None, Some(2.0)]);
    }

    #[test]
    fn of_copies_the_most_complete_counts() {
        let copy = |source: &str, complete: bool| {
            let mut app = nightly(0, 10);
            app.sources = vec![source.to_owned()];
            app.complete = complete;
            app
        };
        let store = store([copy("b", true), copy("a", false), copy("c", true)]);
        let worst = store.worst(&Filter::default(), 9).unwrap();
        assert_eq!(worst.iter().map(|run| run.source.as_str()).collect::<Vec<_>>(), ["b"]);
    }
}
