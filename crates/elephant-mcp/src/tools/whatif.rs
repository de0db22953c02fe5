//! `whatif`

use std::collections::BTreeMap;

use elephant_analysis::replay::MAX_TASKS;
use elephant_base::units::Bytes;
use elephant_engine::engine::Progress;
use elephant_engine::whatif::{Change, Settings, Trouble, report_with};
use elephant_input::named::Named;
use elephant_report::TextOptions;
use elephant_report::whatif::{WhatIfFormat, write};
use elephant_rule::params::quantity::{Quantity, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::about::{About, Amounts, Number};
use crate::analyses::{history, only};
use crate::failure::Failure;
use crate::library::{Context, Which};
use crate::page::{After, Part};
use crate::told::{Argument, Sentence, Told, Value, Word};
use crate::tool::Question;

/// Stages whose number of tasks one question changes.
const MOST_STAGES: usize = 16;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhatIf {
    /// The id of the application, as `list_applications` has it
    application: Word,
    /// Which one, if several have this id (attempts, clusters, copies): 1 is the first
    which: Option<Which>,
    /// Number of executors (Spark)
    #[schemars(range(min = 1, max = MAX_TASKS))]
    executors: Option<u32>,
    /// Cores of each executor (Spark)
    #[schemars(range(min = 1, max = MAX_TASKS))]
    cores: Option<u32>,
    /// Heap of each executor (Spark), or container of each task (MapReduce), such as 6g
    memory: Option<Argument<40>>,
    /// Number of tasks of stages (Spark)
    #[serde(default)]
    #[schemars(length(max = 16))]
    partitions: Vec<Partitions>,
    /// Number of reduce tasks (MapReduce)
    #[schemars(range(min = 1, max = MAX_TASKS))]
    reducers: Option<u32>,
    /// Size of input splits, such as 256m (MapReduce)
    split_size: Option<Argument<40>>,
    /// Share of map tasks that must have ended before reduce tasks start (MapReduce)
    #[schemars(range(min = 0.0, max = 1.0))]
    slow_start: Option<f64>,
    /// Troubles to leave out
    #[serde(default)]
    #[schemars(length(max = 4))]
    without: Vec<Without>,
    /// The `next` of the part before
    cursor: Option<After>,
}

/// The number of tasks of a stage.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Partitions {
    /// The number of the stage, such as 4
    #[schemars(range(max = 2_147_483_647))]
    stage: u32,
    #[schemars(range(min = 1, max = MAX_TASKS))]
    tasks_count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Without {
    Skew,
    Stragglers,
    Failures,
    Speculation,
}

impl From<Without> for Trouble {
    fn from(without: Without) -> Self {
        match without {
            Without::Skew => Self::Skew,
            Without::Stragglers => Self::Stragglers,
            Without::Failures => Self::Failures,
            Without::Speculation => Self::Speculation,
        }
    }
}

/// What the same tasks would have taken under changes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Predicted {
    application: About,
    /// The run as it was; null if it cannot be replayed
    now: Option<Now>,
    /// Each change with its prediction
    scenarios: Vec<Scenario>,
    /// What is varied in `points`: executors, `executor_cores`, reducers or `maps_at_once`
    varied: Option<Told<20>>,
    /// The recorded number of these
    now_count: Option<u32>,
    /// Run time and cost by the number of these
    points: Vec<Point>,
    /// Why it cannot be replayed
    unknown: Option<Sentence>,
    /// The cursor of the next part; null at the end
    next: Option<String>,
}

/// The run as it was, and how well the model repeats it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Now {
    recorded_ms: u64,
    /// The model without any change
    replayed_ms: u64,
    /// The error of the model: the difference of the two
    residual_percent: Number,
    took: Amounts,
    /// With a free slot for each task
    critical_path_ms: u64,
    slots_count: u32,
}

/// A change and its prediction.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Scenario {
    change: Changed,
    /// estimated, `within_error` (too little to be told from the error), or unknown
    status: Told<20>,
    /// Why it is unknown
    reason: Option<Value>,
    takes: Option<Amounts>,
    saves: Option<Amounts>,
    /// Whether changed memory would be enough
    memory: Option<Memory>,
    /// The effects that the prediction leaves out
    note: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Changed {
    executors_count: Option<u32>,
    executor_cores_count: Option<u32>,
    executor_memory_bytes: Option<u64>,
    #[serde(default)]
    #[schemars(length(max = 16))]
    partitions: Vec<Partitions>,
    reducers_count: Option<u32>,
    split_size_bytes: Option<u64>,
    slow_start_ratio: Option<f64>,
    without: Vec<Told<20>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Memory {
    /// safe, near, unknown or `would_break`
    fit: Told<20>,
    /// The smallest size with the usual room
    enough_bytes: Option<u64>,
    reason: Value,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Point {
    count: u32,
    takes: Amounts,
}

/// The part of the report's JSON that is told.
#[derive(Debug, Deserialize)]
struct Report {
    applications: Vec<Replayed>,
}

#[derive(Debug, Deserialize)]
struct Replayed {
    id: String,
    unknown: Option<Sentence>,
    replay: Option<Replay>,
}

#[derive(Debug, Deserialize)]
struct Replay {
    #[serde(flatten)]
    now: Now,
    scenarios: Vec<Scenario>,
    scaling: Option<Scaling>,
}

#[derive(Debug, Deserialize)]
struct Scaling {
    resource: Told<20>,
    now_count: u32,
    points: Vec<Point>,
}

impl Question for WhatIf {
    type Answer = Predicted;
    const NAME: &'static str = "whatif";
    const TITLE: &'static str = "What other resources would change";
    const ABOUT: &'static str = "Predicts what the recorded tasks of one application would have taken with other \
        executors, cores, memory, reducers or splits, or without a trouble, with the range and the error of the model. \
        Several arguments are one change; without any, each trouble is left out and the number of executors is varied. \
        Needs the history.";

    fn answer(&self, context: &Context<'_>) -> Result<(Predicted, String), Failure> {
        let settings = self.settings()?;
        let found = context.application(&self.application, self.which)?;
        let id = &found.stored.run.id;
        let paths = [history(&found.stored)?];
        let named = Named::from(paths.as_slice());
        let limits = &context.library.limits;
        let report = report_with(named, context.basis(), &settings, &only(id), limits, &Progress::default());
        let mut written = Vec::new();
        write(&report, WhatIfFormat::Json, TextOptions::default(), None, &mut written)?;
        let report: Report = serde_json::from_slice(&written)?;
        let replayed = report.applications.into_iter().find(|app| app.id == *id);
        let gone = || Failure::Gone(format!("the history {} no longer has it", found.stored.run.source));
        let part = Part::after(self.cursor.as_ref())?;
        Ok(predicted(About::of(&found), replayed.ok_or_else(gone)?, part))
    }
}

impl WhatIf {
    fn settings(&self) -> Result<Settings, Failure> {
        let counts = [("executors", self.executors), ("cores", self.cores), ("reducers", self.reducers)];
        for (name, count) in counts {
            if count.is_some_and(|count| !(1..=MAX_TASKS).contains(&count)) {
                return Err(Failure::Bad(format!("{name} is a whole number from 1 to {MAX_TASKS}")));
            }
        }
        if self.slow_start.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Err(Failure::Bad("slow_start is a share between 0 and 1".to_owned()));
        }
        if self.partitions.len() > MOST_STAGES {
            return Err(Failure::Bad(format!("partitions has at most {MOST_STAGES} stages")));
        }
        if self.partitions.iter().any(|stage| !(1..=MAX_TASKS).contains(&stage.tasks_count)) {
            return Err(Failure::Bad(format!("tasks_count is a whole number from 1 to {MAX_TASKS}")));
        }
        // As on the command line, the last value of a stage counts.
        let partitions: BTreeMap<u32, u32> =
            self.partitions.iter().map(|stage| (stage.stage, stage.tasks_count)).collect();
        let mut without = self.without.clone();
        without.sort_unstable();
        without.dedup();
        let change = Change {
            executors: self.executors,
            cores: self.cores,
            memory: size("memory", self.memory.as_ref())?,
            partitions: partitions.into_iter().collect(),
            reducers: self.reducers,
            split_size: size("split_size", self.split_size.as_ref())?,
            slow_start: self.slow_start,
            without: without.into_iter().map(Trouble::from).collect(),
        };
        Ok(Settings { changes: if change.is_empty() { Vec::new() } else { vec![change] } })
    }
}

fn size(name: &str, written: Option<&Argument<40>>) -> Result<Option<Bytes>, Failure> {
    let Some(text) = written.map(Argument::as_str) else { return Ok(None) };
    let quantity: Quantity<Size> =
        Quantity::parse(text).map_err(|error| Failure::Bad(format!("{name}: {error}")))?;
    let size = Bytes::from_f64(quantity.get()).filter(|size| size.get() > 0);
    size.map(Some).ok_or_else(|| Failure::Bad(format!("{name} is a size above 0, such as 256m")))
}

fn predicted(application: About, replayed: Replayed, mut part: Part) -> (Predicted, String) {
    part.reserve(&application);
    part.line(&application.to_string());
    let Replayed { unknown, replay, .. } = replayed;
    let Some(Replay { now, scenarios, scaling }) = replay else {
        let reason = unknown.as_ref().map_or("the reason is unknown", Told::as_str);
        let text = part.text(&format!("It cannot be replayed: {reason}."));
        let none = (Vec::new(), None, None, Vec::new());
        let (scenarios, varied, now_count, points) = none;
        let predicted =
            Predicted { application, now: None, scenarios, varied, now_count, points, unknown, next: None };
        return (predicted, text);
    };
    let error = now.residual_percent.get();
    part.reserve(&now);
    let scenarios = part.take(scenarios, scenario_line);
    let (varied, now_count, points) = match scaling {
        Some(Scaling { resource, now_count, points }) => (Some(resource), Some(now_count), points),
        None => (None, None, Vec::new()),
    };
    let of = varied.as_ref().map(ToString::to_string).unwrap_or_default();
    let points = part.take(points, |point| format!("{of} {}: {}", point.count, point.takes));
    let next = part.next();
    let predicted =
        Predicted { application, now: Some(now), scenarios, varied, now_count, points, unknown, next };
    let text = part.text(&format!("Predictions; the model misses the recorded run by {error} %."));
    (predicted, text)
}

fn scenario_line(scenario: &Scenario) -> String {
    let Scenario { change, status, reason, takes, saves, memory, .. } = scenario;
    let counts = [
        ("executors", change.executors_count),
        ("cores", change.executor_cores_count),
        ("reducers", change.reducers_count),
    ];
    let mut what: Vec<String> =
        counts.into_iter().filter_map(|(name, count)| Some(format!("{} {name}", count?))).collect();
    what.extend(change.executor_memory_bytes.map(|size| format!("{} of memory", Bytes::new(size))));
    let stage = |stage: &Partitions| format!("{} tasks in stage {}", stage.tasks_count, stage.stage);
    what.extend(change.partitions.iter().map(stage));
    what.extend(change.split_size_bytes.map(|size| format!("splits of {}", Bytes::new(size))));
    what.extend(change.slow_start_ratio.map(|share| format!("slow start {share}")));
    what.extend(change.without.iter().map(|trouble| format!("without {trouble}")));
    let mut line = format!("{}: {status}", what.join(", "));
    line.extend(takes.map(|takes| format!("; takes {takes}")));
    line.extend(saves.map(|saves| format!("; saves {saves}")));
    line.extend(reason.as_ref().map(|reason| format!("; {reason}")));
    line.extend(memory.as_ref().map(|memory| format!("; memory {}: {}", memory.fit, memory.reason)));
    line
}
