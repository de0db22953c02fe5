//! The replays as JSON. The ending of a key names its unit, and unknown values are `null`.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::SerializeMap;

use super::super::json::{AmountsView, Each, Tool, amounts, files, problem, write_pretty};
use super::{shown, words};
use elephant_engine::whatif::{
    ApplicationReplays, Change, ChangeTotal, PathStage, Replays, Scaling, ScalingPoint, Scenario, Total,
    WhatIfReport,
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
}

fn total(total: &Total) -> TotalView<'_> {
    TotalView {
        replayed_count: total.replayed,
        recorded_ms: total.recorded.get(),
        changes: Each(&total.changes, change_total),
    }
}

fn change_total(total: &ChangeTotal) -> ChangeTotalView<'_> {
    let ChangeTotal { change: of, shortened, saves_ms, lengthened, longer_ms, core_hours, gb_hours, .. } =
        total;
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
    }
}

#[derive(Serialize)]
struct ApplicationView<'a> {
    id: &'a str,
    name: Option<&'a str>,
    engine: &'static str,
    sources: &'a [String],
    unknown: Option<&'a str>,
    replay: Option<ReplayView<'a>>,
}

fn application(app: &ApplicationReplays) -> ApplicationView<'_> {
    ApplicationView {
        id: &app.id,
        name: app.name.as_deref(),
        engine: app.engine.name(),
        sources: &app.sources,
        unknown: app.replays.as_ref().err().map(String::as_str),
        replay: app.replays.as_ref().ok().map(replay),
    }
}

#[derive(Serialize)]
struct ReplayView<'a> {
    recorded_ms: u64,
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
    /// The effects that a replay leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

fn scenario(scenario: &Scenario) -> ScenarioView<'_> {
    let prediction = scenario.prediction.as_ref();
    ScenarioView {
        change: change(&scenario.change),
        status: match prediction.map(|prediction| prediction.within_error) {
            Ok(false) => "estimated",
            Ok(true) => "within_error",
            Err(_) => "unknown",
        },
        reason: prediction.err().map(String::as_str),
        takes: prediction.ok().map(|prediction| amounts(&prediction.takes, None)),
        saves: prediction.ok().map(|prediction| amounts(&prediction.saves, None)),
        note: prediction.ok().and_then(|_| words::note(&scenario.change)),
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
        executor_memory_bytes: change.memory.map(elephant_base::units::Bytes::get),
        partitions: partitions.map(|&(stage, tasks_count)| PartitionsView { stage, tasks_count }).collect(),
        reducers_count: change.reducers,
        split_size_bytes: change.split_size.map(elephant_base::units::Bytes::get),
        slow_start_ratio: change.slow_start,
        without: change.without.iter().map(|trouble| trouble.name()).collect(),
    }
}
