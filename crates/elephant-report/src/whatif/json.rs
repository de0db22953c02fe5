//! The replays as JSON. The ending of a key names its unit, and unknown values are `null`.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::SerializeMap;

use super::super::json::{AmountsView, Each, Pairs, Tool, amounts, files, problem, write_pretty};
use super::{memory, shown, words};
use elephant_base::units::Bytes;
use elephant_engine::whatif::{
    ApplicationReplays, Change, ChangeTotal, MemoryCheck, MemoryFit, MemoryReason, PathStage, Replays,
    Scaling, ScalingPoint, Scenario, Total, WhatIfReport,
};

pub(super) fn write(report: &WhatIfReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    write_pretty(&Document(report, shown(report, top)), out)
}

struct Document<'a>(&'a WhatIfReport, &'a [ApplicationReplays]);

impl Serialize for Document<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report, applications) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &1)?;
        map.serialize_entry("tool", &Tool::THIS)?;
        map.serialize_entry("files", &files(&report.files))?;
        map.serialize_entry("applications_count", &report.files.applications)?;
        map.serialize_entry("applications_left_out_count", &report.files.left_out)?;
        map.serialize_entry("currency", &report.currency)?;
        map.serialize_entry("total", &total(&report.total))?;
        map.serialize_entry("applications", &Each(applications, application))?;
        map.serialize_entry("problems", &Each(&report.problems, problem))?;
        map.end()
    }
}

#[derive(Serialize)]
struct TotalView<'a> {
    replayed_count: u64,
    recorded_ms: u64,
    changes: Each<'a, ChangeTotal, ChangeTotalView<'a>>,
}

#[derive(Serialize)]
struct ChangeTotalView<'a> {
    change: ChangeView,
    shortened_count: u64,
    lengthened_count: u64,
    known_count: u64,
    unknown_count: u64,
    unknown_mostly_because: Option<&'a str>,
    saves_low_ms: Option<f64>,
    saves_ms: Option<f64>,
    saves_high_ms: Option<f64>,
    longer_ms: Option<f64>,
    saves_core_hours: Option<f64>,
    saves_gb_hours: Option<f64>,
    saves_cost: Option<f64>,
    /// For how many applications changed memory would be enough; absent if memory stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Pairs<&'static str, u64>>,
}

fn total(total: &Total) -> TotalView<'_> {
    TotalView {
        replayed_count: total.replayed,
        recorded_ms: total.recorded.get(),
        changes: Each(&total.changes, change_total),
    }
}

fn change_total(total: &ChangeTotal) -> ChangeTotalView<'_> {
    let ChangeTotal {
        change: of,
        shortened,
        saves_ms,
        lengthened,
        longer_ms,
        core_hours,
        gb_hours,
        cost,
        ..
    } = total;
    ChangeTotalView {
        change: change(of),
        shortened_count: *shortened,
        lengthened_count: *lengthened,
        known_count: total.known,
        unknown_count: total.unknown,
        unknown_mostly_because: total.mostly_unknown_because(),
        saves_low_ms: saves_ms.map(|saves| saves.low),
        saves_ms: saves_ms.map(|saves| saves.point),
        saves_high_ms: saves_ms.map(|saves| saves.high),
        longer_ms: longer_ms.map(|longer| longer.point),
        saves_core_hours: core_hours.map(|saves| saves.point),
        saves_gb_hours: gb_hours.map(|saves| saves.point),
        saves_cost: cost.map(|saves| saves.point),
        memory: (!total.memory.is_empty())
            .then(|| Pairs(total.memory.iter().map(|(fit, count)| (memory::key(*fit), *count)).collect())),
    }
}

#[derive(Serialize)]
struct ApplicationView<'a> {
    id: &'a str,
    name: Option<&'a str>,
    engine: &'static str,
    sources: &'a [String],
    unknown: Option<&'a str>,
    /// Whether changed memory would be enough, in a run that cannot be replayed; absent without such a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_checks: Option<Each<'a, MemoryCheck, MemoryCheckView>>,
    replay: Option<ReplayView<'a>>,
}

#[derive(Serialize)]
struct MemoryCheckView {
    change: ChangeView,
    memory: MemoryView,
}

fn application(app: &ApplicationReplays) -> ApplicationView<'_> {
    ApplicationView {
        id: &app.id,
        name: app.name.as_deref(),
        engine: app.engine.name(),
        sources: &app.sources,
        unknown: app.replays.as_ref().err().map(String::as_str),
        memory_checks: (!app.memory.is_empty()).then(|| {
            Each(&app.memory, |check| MemoryCheckView {
                change: change(&check.change),
                memory: memory(&check.fit),
            })
        }),
        replay: app.replays.as_ref().ok().map(replay),
    }
}

#[derive(Serialize)]
struct ReplayView<'a> {
    recorded_ms: u64,
    /// The run as it was.
    took: AmountsView,
    replayed_ms: u64,
    residual_percent: f64,
    critical_path_ms: u64,
    ideal_ms: u64,
    driver_ms: Option<u64>,
    slots_count: u32,
    path: Each<'a, PathStage, PathView<'a>>,
    scenarios: Each<'a, Scenario, ScenarioView<'a>>,
    scaling: Option<ScalingView<'a>>,
}

fn replay(replays: &Replays) -> ReplayView<'_> {
    ReplayView {
        recorded_ms: replays.recorded.get(),
        took: amounts(&replays.took, replays.cost),
        replayed_ms: replays.replayed.get(),
        residual_percent: replays.residual_percent,
        critical_path_ms: replays.critical_path.get(),
        ideal_ms: replays.ideal.get(),
        driver_ms: replays.driver.map(elephant_base::units::Millis::get),
        slots_count: replays.slots,
        path: Each(&replays.path, path),
        scenarios: Each(&replays.scenarios, scenario),
        scaling: replays.scaling.as_ref().map(scaling),
    }
}

#[derive(Serialize)]
struct PathView<'a> {
    subject: String,
    name: Option<&'a str>,
    wall_ms: u64,
}

fn path(stage: &PathStage) -> PathView<'_> {
    PathView {
        subject: stage.subject.name().into_owned(),
        name: stage.name.as_deref(),
        wall_ms: stage.time.get(),
    }
}

#[derive(Serialize)]
struct ScalingView<'a> {
    resource: &'static str,
    now_count: u32,
    proposed_count: Option<u32>,
    points: Each<'a, ScalingPoint, PointView>,
}

#[derive(Serialize)]
struct PointView {
    count: u32,
    takes: AmountsView,
}

fn scaling(scaling: &Scaling) -> ScalingView<'_> {
    ScalingView {
        resource: scaling.resource.name(),
        now_count: scaling.now,
        proposed_count: scaling.proposed,
        points: Each(&scaling.points, |point| PointView {
            count: point.count,
            takes: amounts(&point.takes, None),
        }),
    }
}

#[derive(Serialize)]
struct ScenarioView<'a> {
    change: ChangeView,
    status: &'static str,
    reason: Option<&'a str>,
    takes: Option<AmountsView>,
    saves: Option<AmountsView>,
    /// Whether changed memory would be enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryView>,
    /// The effects that a replay leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

fn scenario(scenario: &Scenario) -> ScenarioView<'_> {
    let (prediction, cost) = (scenario.prediction.as_ref(), scenario.cost);
    ScenarioView {
        change: change(&scenario.change),
        status: match prediction.map(|prediction| prediction.within_error) {
            Ok(false) => "estimated",
            Ok(true) => "within_error",
            Err(_) => "unknown",
        },
        reason: prediction.err().map(String::as_str),
        takes: prediction.ok().map(|prediction| amounts(&prediction.takes, cost.map(|cost| cost.takes))),
        saves: prediction.ok().map(|prediction| amounts(&prediction.saves, cost.map(|cost| cost.saves))),
        memory: scenario.memory.as_ref().map(memory),
        note: prediction.ok().and_then(|_| words::note(&scenario.change)),
    }
}

#[derive(Serialize)]
struct MemoryView {
    fit: &'static str,
    of: Option<&'static str>,
    peak_bytes: Option<u64>,
    size_bytes: Option<u64>,
    enough_bytes: Option<u64>,
    reason: String,
}

fn memory(memory: &MemoryFit) -> MemoryView {
    let (of, peak, size, enough) = match &memory.why {
        MemoryReason::Peak { of, peak, size, enough } => (Some(*of), Some(*peak), Some(*size), Some(*enough)),
        MemoryReason::OtherTasks { of, peak } | MemoryReason::CutOff { of, peak } => {
            (Some(*of), Some(*peak), None, None)
        }
        MemoryReason::RanOut { of, .. } => (Some(*of), None, None, None),
        MemoryReason::DoesNotStart { least } => (None, None, None, Some(*least)),
        MemoryReason::NotMeasured(_) => (None, None, None, None),
    };
    MemoryView {
        fit: memory::key(memory.fit),
        of: of.map(memory::holder),
        peak_bytes: peak.map(Bytes::get),
        size_bytes: size.map(Bytes::get),
        enough_bytes: enough.map(Bytes::get),
        reason: memory::reason(memory),
    }
}

#[derive(Serialize)]
struct ChangeView {
    executors_count: Option<u32>,
    executor_cores_count: Option<u32>,
    executor_memory_bytes: Option<u64>,
    partitions: Vec<PartitionsView>,
    reducers_count: Option<u32>,
    split_size_bytes: Option<u64>,
    slow_start_ratio: Option<f64>,
    without: Vec<&'static str>,
}

#[derive(Serialize)]
struct PartitionsView {
    stage: u32,
    tasks_count: u32,
}

fn change(change: &Change) -> ChangeView {
    let partitions = change.partitions.iter();
    ChangeView {
        executors_count: change.executors,
        executor_cores_count: change.cores,
        executor_memory_bytes: change.memory.map(Bytes::get),
        partitions: partitions.map(|&(stage, tasks_count)| PartitionsView { stage, tasks_count }).collect(),
        reducers_count: change.reducers,
        split_size_bytes: change.split_size.map(Bytes::get),
        slow_start_ratio: change.slow_start,
        without: change.without.iter().map(|trouble| trouble.name()).collect(),
    }
}
