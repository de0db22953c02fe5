//! `stragglers`

use std::collections::BTreeMap;

use elephant_engine::engine::Progress;
use elephant_engine::survey::{Settings, report_of};
use elephant_input::named::Named;
use elephant_report::stragglers::{Shown, write_json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::about::{About, Number, time};
use crate::analyses::{history, only};
use crate::failure::Failure;
use crate::library::{Context, Which};
use crate::page::{After, Part};
use crate::told::{Name, Told, Value, Word};
use crate::tool::Question;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stragglers {
    /// The id of the application, as `list_applications` has it
    application: Word,
    /// Which one, if several have this id (attempts, clusters, copies): 1 is the first
    which: Option<Which>,
    /// The `next` of the part before
    cursor: Option<After>,
}

/// Slow tasks, and what speculation would have done.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Slow {
    application: About,
    tasks_count: u64,
    /// Tasks that took a multiple of the median of their stage
    stragglers_count: u64,
    /// Run time while only stragglers were running
    only_stragglers_left_ms: u64,
    /// The straggler that was waited for longest
    waited_for: Option<WaitedFor>,
    /// Copies that were launched in this run
    copies: Copies,
    /// Settings that make the engine's speculation work like its best detector; empty if none would have helped
    settings: Vec<Setting>,
    /// What these settings would have changed, by replay; null if no task would have been copied
    with_settings: Option<WithSettings>,
    /// What each detector would have flagged in this run, the cluster's own first
    detectors: Vec<Detector>,
    /// The stragglers, stage by stage
    stragglers: Vec<Straggler>,
    /// The cursor of the next part; null at the end
    next: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct WaitedFor {
    subject: Name,
    task: Option<u32>,
    node: Option<Name>,
    cause: Told<40>,
    confidence: Option<Told<40>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Copies {
    copies_count: u64,
    copies_won_count: u64,
    /// The time of copies that lost
    lost_time_ms: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Setting {
    key: Name,
    value: Name,
}

/// A run with other settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct WithSettings {
    recorded_ms: Number,
    saved_ms: Number,
    /// The error of the replay
    error_ms: Number,
}

/// What a detector would have flagged.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Detector {
    id: Told<80>,
    /// Tasks that it would have flagged
    detected_count: u64,
    /// Stragglers among them
    true_positives_count: u64,
    /// All stragglers that it was rated on
    stragglers_count: u64,
    /// Task time that copies of the flagged tasks would have cost
    copies_task_time_ms: Option<u64>,
    /// By how much the flagged tasks together would have ended earlier
    saved_task_time_ms: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Straggler {
    subject: Name,
    task: Option<u32>,
    attempt: Option<u32>,
    node: Option<Name>,
    duration_ms: u64,
    /// How many times the median of its stage
    times_reference_ratio: Option<Number>,
    cause: Option<Told<40>>,
    confidence: Option<Told<40>>,
    /// The strongest evidence for the cause
    evidence: Option<Value>,
}

/// The part of the report's JSON that is told.
#[derive(Debug, Deserialize)]
struct Report {
    total: Total,
    applications: Vec<Application>,
}

#[derive(Debug, Deserialize)]
struct Total {
    engines: BTreeMap<String, Engine>,
}

#[derive(Debug, Default, Deserialize)]
struct Engine {
    detectors: Vec<Pooled>,
    settings: BTreeMap<String, String>,
    run_times_with_settings: Option<WithSettings>,
}

#[derive(Debug, Deserialize)]
struct Pooled {
    id: Told<80>,
    detected_count: u64,
    true_positives_count: u64,
    stragglers_count: u64,
    copies: PooledCopies,
}

#[derive(Debug, Deserialize)]
struct PooledCopies {
    task_time_ms: Option<u64>,
    saved_task_time_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Application {
    id: String,
    tasks_count: u64,
    stragglers_count: u64,
    only_stragglers_left_ms: u64,
    waited_for: Option<WaitedFor>,
    speculation: Copies,
    groups: Vec<Group>,
}

#[derive(Debug, Deserialize)]
struct Group {
    subject: Name,
    stragglers: Vec<One>,
}

#[derive(Debug, Deserialize)]
struct One {
    task: Option<u32>,
    attempt: Option<u32>,
    node: Option<Name>,
    duration_ms: u64,
    times_reference_ratio: Option<Number>,
    cause: Option<Told<40>>,
    confidence: Option<Told<40>>,
    evidence: Vec<Evidence>,
}

#[derive(Debug, Deserialize)]
struct Evidence {
    text: Value,
}

impl Question for Stragglers {
    type Answer = Slow;
    const NAME: &'static str = "stragglers";
    const TITLE: &'static str = "Slow tasks, and what speculation would have done";
    const ABOUT: &'static str = "The stragglers of one application with node, cause and evidence, how long the run \
        waited for them, and what speculation would have done: which it would have flagged in time, what copies would \
        have cost and saved, and the settings. Needs the history.";

    fn answer(&self, context: &Context<'_>) -> Result<(Slow, String), Failure> {
        let found = context.application(&self.application, self.which)?;
        let id = &found.stored.run.id;
        let paths = [history(&found.stored)?];
        let (named, limits) = (Named::from(paths.as_slice()), &context.library.limits);
        let survey = report_of(named, &Settings::default(), None, &only(id), limits, &Progress::default());
        let mut written = Vec::new();
        write_json(&survey, Shown::default(), &mut written)?;
        let Report { total, applications } = serde_json::from_slice(&written)?;
        let gone = || Failure::Gone(format!("the history {} no longer has it", found.stored.run.source));
        let app = applications.into_iter().find(|app| app.id == *id).ok_or_else(gone)?;
        let engine = total.engines.into_values().next().unwrap_or_default();
        Ok(slow(About::of(&found), app, engine, Part::after(self.cursor.as_ref())?))
    }
}

fn slow(application: About, app: Application, engine: Engine, mut part: Part) -> (Slow, String) {
    part.reserve(&application);
    part.line(&application.to_string());
    let settings: Vec<Setting> = engine
        .settings
        .iter()
        .map(|(key, value)| Setting { key: Told::of(key), value: Told::of(value) })
        .collect();
    part.reserve(&(&app.waited_for, &app.speculation, &settings, &engine.run_times_with_settings));
    let detectors = part.take(engine.detectors.into_iter().map(Detector::from), Detector::line);
    let of_groups = app.groups.into_iter().flat_map(|Group { subject, stragglers }| {
        stragglers.into_iter().map(move |one| Straggler::of(subject.clone(), one))
    });
    let stragglers = part.take(of_groups, Straggler::line);
    let slow = Slow {
        application,
        tasks_count: app.tasks_count,
        stragglers_count: app.stragglers_count,
        only_stragglers_left_ms: app.only_stragglers_left_ms,
        waited_for: app.waited_for,
        copies: app.speculation,
        settings,
        with_settings: engine.run_times_with_settings,
        detectors,
        stragglers,
        next: part.next(),
    };
    let waited = time(Number::of(slow.only_stragglers_left_ms as f64));
    let text = part.text(&format!(
        "{} of {} tasks are stragglers; for {waited} only stragglers were running.",
        slow.stragglers_count, slow.tasks_count
    ));
    (slow, text)
}

impl From<Pooled> for Detector {
    fn from(pooled: Pooled) -> Self {
        Self {
            id: pooled.id,
            detected_count: pooled.detected_count,
            true_positives_count: pooled.true_positives_count,
            stragglers_count: pooled.stragglers_count,
            copies_task_time_ms: pooled.copies.task_time_ms,
            saved_task_time_ms: pooled.copies.saved_task_time_ms,
        }
    }
}

impl Detector {
    /// "detector spark: flags 3 tasks, 2 of 4 stragglers".
    fn line(&self) -> String {
        let Self { id, detected_count: flagged, true_positives_count: right, stragglers_count: all, .. } =
            self;
        format!("detector {id}: flags {flagged} tasks, {right} of {all} stragglers")
    }
}

impl Straggler {
    fn of(subject: Name, one: One) -> Self {
        Self {
            subject,
            task: one.task,
            attempt: one.attempt,
            node: one.node,
            duration_ms: one.duration_ms,
            times_reference_ratio: one.times_reference_ratio,
            cause: one.cause,
            confidence: one.confidence,
            evidence: one.evidence.into_iter().next().map(|evidence| evidence.text),
        }
    }

    /// "stage 2.0, task 7 on node-1: 40.0 s, skew: reads 9 times the median".
    fn line(&self) -> String {
        let mut line = self.subject.to_string();
        line.extend(self.task.map(|task| format!(", task {task}")));
        line.extend(self.node.as_ref().map(|node| format!(" on {node}")));
        line.extend([": ".to_owned(), time(Number::of(self.duration_ms as f64))]);
        line.extend(self.cause.as_ref().map(|cause| format!(", {cause}")));
        line.extend(self.evidence.as_ref().map(|evidence| format!(": {evidence}")));
        line
    }
}
