//! Single applications of a store: the worst, or the runs of one job in the order of time.

use std::collections::BTreeSet;

use super::address::without_cluster;
use super::configured::{self, Settings};
use super::database::{Row, values};
use super::selection::Selection;
use super::{Store, StoreError};
use elephant_base::severity::Severity;
use elephant_base::stats::change_point::change_point;
use elephant_base::units::{Millis, Timestamp};
use elephant_engine::engine::Sort;
use elephant_engine::fingerprint::JobKey;
use elephant_model::model::Engine;

/// Runs that are searched for a change, from the last one back.
const MOST_SEARCHED: usize = 1000;
/// Less clear changes are taken for chance. This is the probability of finding a change in a job that never changed.
const CHANCE: f64 = 0.05;
/// Smaller changes are not reported.
const SMALLEST_CHANGE: f64 = 0.1;

/// An application as one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The id of the application.
    pub id: String,
    /// Which attempt at running it this is; `None` if the log does not number them.
    pub attempt: Option<String>,
    /// The file that it was read from.
    pub source: String,
    /// The cluster, as far as it is known.
    pub cluster: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Who ran it.
    pub user: Option<String>,
    /// The queue that it ran in.
    pub queue: Option<String>,
    /// The flow of a scheduler that it belongs to.
    pub flow: Option<String>,
    /// The run of that flow.
    pub flow_run: Option<String>,
    /// The task of that flow.
    pub task: Option<String>,
    /// Who owns the flow or job, as the scheduler tells.
    pub owner: Option<String>,
    /// How it ended.
    pub status: String,
    /// When it was submitted.
    pub submitted: Option<Timestamp>,
    /// From submission to end.
    pub run_time: Option<Millis>,
    /// Memory used.
    pub used_gb_hours: Option<f64>,
    /// The part of it that was not needed.
    pub wasted_gb_hours: Option<f64>,
    /// What the remedies of known effect save of it.
    pub saved_gb_hours: Option<f64>,
    /// What it cost, if there are prices.
    pub cost: Option<f64>,
    /// The highest severity of its findings.
    pub severity: Severity,
    /// The cause of its first trouble, and what to do.
    pub trouble: Option<(String, Option<String>)>,
}

/// A measure of a job that changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What changed: `run time` or `memory used`.
    pub measure: Measure,
    /// The id of the first run after the change.
    pub first: String,
    /// When that run was submitted.
    pub since: Option<Timestamp>,
    /// The median before.
    pub before: f64,
    /// The median after.
    pub after: f64,
    /// How many runs are before it.
    pub runs_before: u64,
    /// How many runs are after it.
    pub runs_after: u64,
    /// The settings that decide what a run costs and that differ between the last run before it and the first one after it;
    /// `None` if they are not known of both.
    pub settings: Option<Vec<SettingChange>>,
}

/// A setting that differs between two runs; `None` where it was not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// The name of the setting.
    pub setting: String,
    /// The value before.
    pub from: Option<String>,
    /// The value after.
    pub to: Option<String>,
}

/// What is compared between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Milliseconds.
    RunTime,
    /// GB·h.
    Used,
}

/// The runs of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The key of the job.
    pub job: String,
    /// How many runs there are, shown or not.
    pub of: u64,
    /// In the order of submission.
    pub shown: Vec<Run>,
    /// Its measures that clearly changed, in the order of time.
    pub changes: Vec<Change>,
}

impl Store {
    /// The applications that waste most, or come first in another order.
    pub(super) fn worst(
        &self,
        selection: &Selection,
        (sort, most): (Option<Sort>, usize),
    ) -> Result<Vec<Run>, StoreError> {
        const WORST: &str = "wasted DESC NULLS LAST, score DESC, id, attempt, source";
        let first = match sort {
            None | Some(Sort::Waste) => return self.runs(selection, WORST, most),
            Some(Sort::Saving) => {
                "application.saved_memory DESC NULLS LAST, application.saved_time DESC NULLS LAST"
            }
            Some(Sort::Severity) => "application.severity DESC, score DESC",
            Some(Sort::RunTime) => "run_time DESC NULLS LAST",
            Some(Sort::Name) => "name NULLS LAST",
        };
        self.runs(selection, &format!("{first}, {WORST}"), most)
    }

    /// The last `most` runs of the job with this key, or of the job that an application with this name is a run of, and
    /// the selection of all of its runs; `None` if there is no such job.
    pub(super) fn job(
        &self,
        job: &str,
        selection: &Selection,
        most: usize,
    ) -> Result<Option<(Runs, Selection)>, StoreError> {
        let [spark, mapreduce, tez] =
            [Engine::Spark, Engine::MapReduce, Engine::Tez].map(|engine| JobKey::new(engine, Some(job)));
        // A job of a scheduler has its name at the end of its key.
        let name = spark.as_str().trim_start_matches(spark.engine());
        let escaped = name.replace('!', "!!").replace('%', "!%").replace('_', "!_");
        let of_scheduler = &*format!("%{escaped}");
        let found = self.database.first(
            "SELECT job, key FROM job WHERE key IN (?1, ?2, ?3, ?5) OR name = ?1 OR key LIKE ?4 ESCAPE '!' \
             ORDER BY key <> ?1, key LIMIT 1",
            &values![job, spark.as_str(), mapreduce.as_str(), of_scheduler, tez.as_str()],
            |row| Ok((row.get::<i64>(0)?, row.get::<String>(1)?)),
        )?;
        let Some((place, key)) = found else { return Ok(None) };
        let selection = selection.of_job(place);
        let latest = "submitted DESC NULLS LAST, id DESC, attempt DESC, source DESC";
        let mut runs = self.runs(&selection, latest, most.max(MOST_SEARCHED))?;
        runs.reverse();
        let count = format!("SELECT count(*) FROM application WHERE {}", selection.condition);
        let of = self.database.count(&count, &selection.values)?;
        let changes = [Measure::RunTime, Measure::Used].into_iter();
        let searched = runs.get(runs.len().saturating_sub(MOST_SEARCHED)..).unwrap_or_default();
        let changes = changes.filter_map(|measure| change(searched, measure));
        let changes: Result<Vec<Change>, StoreError> = changes
            .map(|(change, runs)| Ok(Change { settings: self.settings_between(place, runs)?, ..change }))
            .collect();
        let changes = changes?;
        let hidden = runs.len().saturating_sub(most);
        runs.drain(..hidden);
        Ok(Some((Runs { job: key, of, shown: runs, changes }, selection)))
    }

    /// The settings that differ between two runs of a job.
    fn settings_between(&self, job: i64, runs: [&Run; 2]) -> Result<Option<Vec<SettingChange>>, StoreError> {
        let query = "SELECT configuration FROM application WHERE job = ?1 AND id = ?2 AND attempt = ?3 AND counts IS TRUE AND \
                     configuration IS NOT NULL";
        let place = |run: &Run| {
            let attempt = run.attempt.as_deref().unwrap_or_default();
            let found = self.database.ids(query, &values![job, &run.id, attempt]);
            found.map(|places| places.first().copied())
        };
        let [before, after] = runs;
        let (Some(before), Some(after)) = (place(before)?, place(after)?) else { return Ok(None) };
        let known = configured::at(&self.database, &BTreeSet::from([before, after]))?;
        Ok(known.get(&before).zip(known.get(&after)).map(|(before, after)| differing(before, after)))
    }

    /// The selected applications in this order.
    pub(super) fn runs(
        &self,
        selection: &Selection,
        order: &str,
        most: usize,
    ) -> Result<Vec<Run>, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        // Only the rows that are shown are read whole.
        let statement = format!(
            "SELECT {RUN}, application.engine AS engine, application.core_time AS core_time FROM (SELECT * FROM application \
             WHERE {} ORDER BY {order} LIMIT {most}) AS application LEFT JOIN trouble ON trouble.application = \
             application.application AND n = 0 ORDER BY {order}",
            selection.condition
        );
        self.database.rows(&statement, &selection.values, |row| {
            let run = run(row)?;
            let cost = self.cost_of_run(&run, &row.get::<String>("engine")?, row.get("core_time")?);
            Ok(Run { cost, ..run })
        })
    }
}

/// The columns of a [`Run`], from `application` and its first trouble.
pub(super) const RUN: &str = "application.id AS id, application.attempt AS attempt, application.source AS source, \
     application.name AS name, application.\"user\" AS \"user\", application.queue AS queue, application.status AS status, \
     application.submitted AS submitted, application.run_time AS run_time, application.used AS used, application.wasted AS \
     wasted, application.saved_memory AS saved_memory, application.severity AS severity, trouble.cause AS cause, \
     trouble.remedy AS remedy, application.cluster AS cluster, application.flow AS flow, application.flow_run AS flow_run, \
     application.task AS task, application.owner AS owner";

pub(super) fn run(row: &Row<'_>) -> Result<Run, StoreError> {
    let hours = |column: &str| Ok::<_, StoreError>(row.amount(column)?.map(super::gb_hours));
    let severity =
        row.amount("severity")?.and_then(|value| Severity::ALL.get(usize::try_from(value).ok()?).copied());
    let cause: Option<String> = row.get("cause")?;
    let remedy = row.get("remedy")?;
    Ok(Run {
        id: row.get("id")?,
        attempt: row.get::<Option<String>>("attempt")?.filter(|attempt| !attempt.is_empty()),
        source: without_cluster(&row.get::<String>("source")?).to_owned(),
        cluster: row.get("cluster")?,
        name: row.get("name")?,
        user: row.get("user")?,
        queue: row.get("queue")?,
        flow: row.get("flow")?,
        flow_run: row.get("flow_run")?,
        task: row.get("task")?,
        owner: row.get("owner")?,
        status: row.get("status")?,
        submitted: row.get::<Option<i64>>("submitted")?.map(Timestamp::from_millis),
        run_time: row.amount("run_time")?.map(Millis::new),
        used_gb_hours: hours("used")?,
        wasted_gb_hours: hours("wasted")?,
        saved_gb_hours: hours("saved_memory")?,
        cost: None,
        severity: severity.unwrap_or(Severity::None),
        trouble: cause.map(|cause| (cause, remedy)),
    })
}

/// The settings whose values differ.
fn differing(before: &Settings, after: &Settings) -> Vec<SettingChange> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |name: &String| SettingChange {
        setting: name.clone(),
        from: before.get(name).cloned(),
        to: after.get(name).cloned(),
    };
    names.into_iter().map(change).filter(|change| change.from != change.to).collect()
}

/// Where a measure of the runs that succeeded changed, if it did, with the last run before and the first one after.
fn change(runs: &[Run], measure: Measure) -> Option<(Change, [&Run; 2])> {
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
    let (last, first) = (*measured.get(found.at.checked_sub(1)?)?, *measured.get(found.at)?);
    let change = Change {
        measure,
        first: first.id.clone(),
        since: first.submitted,
        before: found.before,
        after: found.after,
        runs_before: found.at as u64,
        runs_after: (values.len() - found.at) as u64,
        settings: None,
    };
    Some((change, [last, first]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, with_stores};
    use crate::{Grouping, Question, View};
    use elephant_engine::engine::Filter;
    use elephant_engine::results::ApplicationReport;
    use elephant_model::model::Status;

    const DAY: i64 = 86_400_000;

    /// The runs of a job in a store.
    fn job(store: &Store, name: &str, most: usize) -> Option<Runs> {
        let answer = testing::answer(store, &Question::Job(name.to_owned()), &Filter::default(), most)?;
        let View::Job(runs) = answer.view else { panic!("{answer:?}") };
        Some(runs)
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
        with_stores(&apps, |store| {
            let runs = job(store, "nightly", 5).unwrap();
            assert_eq!((runs.of, runs.shown.len()), (24, 5));
            assert_eq!(runs.shown.last().map(|run| run.id.as_str()), Some("job_023"));
            let [change] = runs.changes.as_slice() else { panic!("{:?}", runs.changes) };
            assert_eq!((change.first.as_str(), change.measure), ("job_015", Measure::RunTime));
            assert_eq!((change.runs_before, change.runs_after), (15, 9));
            assert_eq!((change.before, change.after), (601_000.0, 902_000.0));
            assert_eq!(job(store, "hourly", 5), None);
        });
    }

    #[test]
    fn a_change_of_the_run_time_has_the_settings_that_changed_with_it() {
        let apps: Vec<_> = (0..24_u8)
            .map(|night| {
                let mut app =
                    nightly(night.into(), if night < 15 { 600 } else { 900 } + u64::from(night % 4));
                let cores = if night < 15 { "8" } else { "4" };
                let set = [("spark.executor.cores", cores), ("spark.executor.memory", "4g")];
                app.configuration = Some(Box::new(elephant_sample::app(&set).conf));
                app
            })
            .collect();
        with_stores(&apps, |store| {
            let runs = job(store, "nightly", 5).unwrap();
            let [change] = runs.changes.as_slice() else { panic!("{:?}", runs.changes) };
            let expected = SettingChange {
                setting: "spark.executor.cores".to_owned(),
                from: Some("8".to_owned()),
                to: Some("4".to_owned()),
            };
            assert_eq!(change.settings.as_deref(), Some(&[expected][..]));
        });
        // Nothing is said where they are not known, which is not the same as none.
        let unknown: Vec<_> =
            apps.iter().cloned().map(|app| ApplicationReport { configuration: None, ..app }).collect();
        with_stores(&unknown, |store| {
            assert_eq!(job(store, "nightly", 5).unwrap().changes[0].settings, None);
        });
    }

    #[test]
    fn a_job_is_found_by_the_name_of_any_of_its_runs() {
        let named = |night: i64| {
            let mut app = nightly(night, 600);
            app.name = Some(format!("etl 2026-05-{:02} run {night}", night + 1));
            app
        };
        with_stores(&[named(1), named(2), named(3)], |store| {
            for name in ["etl 2026-05-02 run 1", "etl 2026-05-04 run 3", "etl 2026-06-30 run 77"] {
                assert_eq!(job(store, name, 9).map(|runs| runs.of), Some(3), "{name}");
            }
            assert_eq!(job(store, "elt 2026-05-02 run 1", 9), None);
        });
    }

    #[test]
    fn failed_runs_and_small_changes_are_no_change() {
        let failed = (0..24_u8).map(|night| {
            let mut app = nightly(night.into(), if night < 12 { 600 } else { 60 });
            app.status = if night < 12 { Status::Succeeded } else { Status::Failed };
            app
        });
        let changes = |apps: &[ApplicationReport]| {
            with_stores(apps, |store| assert_eq!(job(store, "nightly", 9).unwrap().changes, []));
        };
        changes(&failed.collect::<Vec<_>>());
        let small = (0..24_u8).map(|night| nightly(night.into(), if night < 12 { 600 } else { 650 }));
        changes(&small.collect::<Vec<_>>());
    }

    #[test]
    fn unknown_values_are_missing_in_sums_and_counted() {
        let mut known = nightly(0, 10);
        known.metrics.used = Some(elephant_base::units::MbMillis::of(
            elephant_base::units::Bytes::from_mib(1024),
            Millis::from_secs(7200),
        ));
        with_stores(&[known, nightly(1, 20)], |store| {
            let answer =
                testing::answer(store, &Question::Groups(Grouping::Day), &Filter::default(), 9).unwrap();
            assert_eq!((answer.total.applications, answer.total.unmeasured), (2, 1));
            assert_eq!(answer.total.used_gb_hours, Some(2.0));
            assert_eq!(answer.total.run_time, Some(Millis::from_secs(30)));
            let View::Groups(_, grouped) = answer.view else { panic!() };
            // The latest day first.
            let days: Vec<_> = grouped.groups.iter().map(|group| group.key.as_deref()).collect();
            assert_eq!(days, [Some("1970-01-02"), Some("1970-01-01")]);
            let used: Vec<_> = grouped.groups.iter().map(|group| group.used_gb_hours).collect();
            assert_eq!(used, [None, Some(2.0)]);
        });
    }

    #[test]
    fn of_copies_the_most_complete_counts() {
        let copy = |source: &str, complete: bool| {
            let mut app = nightly(0, 10);
            app.sources = vec![source.to_owned()];
            app.complete = complete;
            app
        };
        with_stores(&[copy("b", true), copy("a", false), copy("c", true)], |store| {
            let answer = testing::answer(store, &Question::Worst, &Filter::default(), 9).unwrap();
            let View::Worst(worst) = answer.view else { panic!("{answer:?}") };
            assert_eq!(worst.iter().map(|run| run.source.as_str()).collect::<Vec<_>>(), ["b"]);
        });
    }
}
