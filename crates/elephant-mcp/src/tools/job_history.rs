//! `job_history`

use elephant_base::units::Millis;
use elephant_engine::engine::Filter;
use elephant_store::{Asked, Change, JobHistory, Measure, Only, Realised, Run, Runs, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::about::{Level, Number, at, time};
use crate::failure::Failure;
use crate::library::Context;
use crate::page::{After, Part};
use crate::told::{Name, Told, Value, Word};
use crate::tool::Question;

/// Runs that are looked at, from the last one back.
const MOST_RUNS: usize = 100;
/// Settings of one change.
const MOST_SETTINGS: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct History {
    /// The key of the job, or the name of one of its runs; give this or application
    job: Option<Word>,
    /// The id of one of its runs; give this or job
    application: Option<Word>,
    /// The `next` of the part before
    cursor: Option<After>,
}

/// The runs of a job, and when they changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JobRuns {
    job: Name,
    runs_count: u64,
    /// Where the level of the run time or of the memory changed for good, in the order of time
    changes: Vec<Step>,
    /// What changes of its settings saved
    realised: Vec<Saved>,
    /// The last 100 runs, the latest first
    runs: Vec<OneRun>,
    /// The cursor of the next part; null at the end
    next: Option<String>,
}

/// A change of level.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Step {
    measure: Measured,
    /// The first run after the change
    first: Name,
    since: Option<Told<40>>,
    /// The median before
    before: Number,
    /// The median after
    after: Number,
    runs_before_count: u64,
    runs_after_count: u64,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Measured {
    RuntimeMs,
    ResourceUsedGbHours,
}

/// What a change of settings saved.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Saved {
    /// The first run with the new settings
    first: Name,
    since: Option<Told<40>>,
    #[schemars(length(max = 3))]
    changed: Vec<Setting>,
    runs_before_count: u64,
    runs_after_count: u64,
    /// In all runs since; negative if they took more
    saved_gb_hours: Number,
    /// How sure it is that the cost changed: moderate or high
    confidence: Told<20>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Setting {
    setting: Name,
    from: Option<Value>,
    to: Option<Value>,
    /// Whether it had been recommended
    advised: bool,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct OneRun {
    id: Name,
    attempt: Option<Told<40>>,
    status: Told<20>,
    submitted_at: Option<Told<40>>,
    runtime_ms: Option<u64>,
    resource_used_gb_hours: Option<Number>,
    resource_wasted_gb_hours: Option<Number>,
    severity: Level,
}

impl Question for History {
    type Answer = JobRuns;
    const NAME: &'static str = "job_history";
    const TITLE: &'static str = "The runs of a job";
    const ABOUT: &'static str = "The last runs of a job with run time, memory and severity, from which run on it took \
        longer or more memory, and what changes of its settings saved. Ask this for a trend, or for the ids of runs to \
        compare.";

    fn answer(&self, context: &Context<'_>) -> Result<(JobRuns, String), Failure> {
        let key = match (&self.job, &self.application) {
            (Some(job), None) => job.as_str().to_owned(),
            (None, Some(id)) => context.application(id, None)?.stored.job,
            _ => return Err(Failure::Bad("give either job or application".to_owned())),
        };
        let filter = Filter::default();
        let asked = Asked { filter: &filter, only: Only::ALL, sort: None, most: MOST_RUNS };
        let history = context.first(|store| Ok(store.job_history(&key, asked)?))?;
        let missing =
            || Failure::Missing(format!("job \"{key}\"; list_applications lists the runs of all jobs"));
        let JobHistory { answer, realised, .. } = history.ok_or_else(missing)?;
        let View::Job(runs) = answer.view else { return Err(missing()) };
        Ok(told(&runs, &realised, Part::after(self.cursor.as_ref())?))
    }
}

fn told(runs: &Runs, realised: &[Realised], mut part: Part) -> (JobRuns, String) {
    let job: Name = Told::of(&runs.job);
    part.reserve(&job);
    part.line(&format!("job {job}"));
    let changes = part.take(runs.changes.iter().map(level), |change| {
        let values = match change.measure {
            Measured::RuntimeMs => format!("run time {} → {}", time(change.before), time(change.after)),
            Measured::ResourceUsedGbHours => {
                format!("memory {} → {} GB·h", change.before.get(), change.after.get())
            }
        };
        format!("changed from {} on: {values}", change.first)
    });
    let realised = part.take(realised.iter().map(saved), |saved| {
        let settings: Vec<&str> = saved.changed.iter().map(|it| it.setting.as_str()).collect();
        let gained = saved.saved_gb_hours.get();
        format!("settings changed from {} on ({}): {gained} GB·h saved", saved.first, settings.join(", "))
    });
    let latest = part.take(runs.shown.iter().rev().map(run), |run| {
        let time = run.runtime_ms.map_or_else(|| "?".to_owned(), |time| Millis::new(time).to_string());
        format!("{} · {} in {time} · {}", run.id, run.status, run.severity)
    });
    let next = part.next();
    let text = part.text(&format!("{} runs, the latest first.", runs.of));
    (JobRuns { job, runs_count: runs.of, changes, realised, runs: latest, next }, text)
}

fn level(change: &Change) -> Step {
    Step {
        measure: match change.measure {
            Measure::RunTime => Measured::RuntimeMs,
            Measure::Used => Measured::ResourceUsedGbHours,
        },
        first: Told::of(&change.first),
        since: at(change.since),
        before: Number::of(change.before),
        after: Number::of(change.after),
        runs_before_count: change.runs_before,
        runs_after_count: change.runs_after,
    }
}

fn saved(realised: &Realised) -> Saved {
    let changed = realised.changed.iter().take(MOST_SETTINGS).map(|changed| Setting {
        setting: Told::of(&changed.setting),
        from: changed.from.as_ref().map(Told::from),
        to: changed.to.as_ref().map(Told::from),
        advised: changed.advised,
    });
    Saved {
        first: Told::of(&realised.first),
        since: at(realised.since),
        changed: changed.collect(),
        runs_before_count: realised.runs.0,
        runs_after_count: realised.runs.1,
        saved_gb_hours: Number::of(realised.saved_gb_hours),
        confidence: Told::of(realised.confidence.name()),
    }
}

fn run(run: &Run) -> OneRun {
    OneRun {
        id: Told::of(&run.id),
        attempt: run.attempt.as_ref().map(Told::from),
        status: Told::of(&run.status),
        submitted_at: at(run.submitted),
        runtime_ms: run.run_time.map(Millis::get),
        resource_used_gb_hours: run.used_gb_hours.map(Number::of),
        resource_wasted_gb_hours: run.wasted_gb_hours.map(Number::of),
        severity: run.severity.into(),
    }
}
