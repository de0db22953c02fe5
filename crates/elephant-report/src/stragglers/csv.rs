//! The tables of the survey as CSV.

use std::io::{self, Write};

use super::super::cells::{number, quoted};
use super::{Shown, Table, applications, words};
use elephant_analysis::stragglers::first_order::FirstOrder;
use elephant_base::units::Timestamp;
use elephant_engine::survey::{
    ApplicationStragglers, EngineDetectors, GroupReport, Straggler, StragglerReport,
};

pub(super) fn write(
    report: &StragglerReport,
    table: Table,
    shown: Shown,
    out: &mut dyn Write,
) -> io::Result<()> {
    match table {
        Table::Stragglers => stragglers(applications(report, shown), out),
        Table::Detectors => detectors(&report.total.engines, out),
        Table::Applications => of_applications(applications(report, shown), out),
    }
}

const STRAGGLERS: [&str; 19] = [
    "application",
    "engine",
    "group",
    "task",
    "attempt",
    "node",
    "started_at",
    "duration_ms",
    "certainty",
    "reference_ms",
    "times_reference_ratio",
    "input",
    "input_unit",
    "dos_index_ratio",
    "overtaken",
    "cause",
    "confidence",
    "evidence",
    "source",
];

fn stragglers(applications: &[ApplicationStragglers], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", STRAGGLERS.join(","))?;
    for app in applications {
        for group in &app.groups {
            for straggler in &group.stragglers {
                writeln!(out, "{}", row(app, group, straggler).join(","))?;
            }
        }
    }
    Ok(())
}

fn row(
    app: &ApplicationStragglers,
    group: &GroupReport,
    straggler: &Straggler,
) -> [String; STRAGGLERS.len()] {
    let cause = straggler.cause.as_ref();
    let evidence: Vec<String> = cause
        .into_iter()
        .flat_map(|cause| &cause.evidence)
        .map(|evidence| evidence.fact.to_string())
        .collect();
    [
        quoted(&app.id),
        app.origin.name().to_owned(),
        quoted(&words::of(group)),
        number(straggler.task),
        number(straggler.attempt),
        quoted(straggler.node.as_deref().unwrap_or_default()),
        straggler.started_at.and_then(Timestamp::to_rfc3339).unwrap_or_default(),
        straggler.duration.get().to_string(),
        words::certainty(straggler.certainty).to_owned(),
        number(group.limit.map(|limit| words::millis(limit.reference))),
        number(straggler.times_reference),
        number(straggler.input),
        group.input_unit.map(|unit| unit.name().to_owned()).unwrap_or_default(),
        number(straggler.dos_index.filter(|index| index.is_finite())),
        straggler.overtaken.to_string(),
        cause.map(|cause| cause.primary.name().to_owned()).unwrap_or_default(),
        cause
            .and_then(|cause| cause.confidence)
            .map(|confidence| confidence.name().to_owned())
            .unwrap_or_default(),
        quoted(&evidence.join("; ")),
        quoted(app.sources.first().map_or("", String::as_str)),
    ]
}

const DETECTORS: [&str; 16] = [
    "engine",
    "detector",
    "settings",
    "tasks_count",
    "stragglers_count",
    "detected_count",
    "true_positives_count",
    "fakes_count",
    "precision_ratio",
    "precision_raw_ratio",
    "recall_ratio",
    "recall_strict_ratio",
    "detection_latency_ratio",
    "undetected_time_ratio",
    "fake_positive_ratio",
    "time_expected_ratio",
];

fn detectors(engines: &[EngineDetectors], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", DETECTORS.join(","))?;
    let all =
        engines.iter().flat_map(|engine| engine.detectors.iter().map(move |pooled| (engine.origin, pooled)));
    for (engine, pooled) in all {
        let detector = &pooled.total;
        let quality = &detector.quality;
        let model = quality.first_order().filter(FirstOrder::is_valid);
        let row: [String; DETECTORS.len()] = [
            engine.name().to_owned(),
            detector.id.to_owned(),
            quoted(&words::parameters(&detector.parameters)),
            quality.tasks.to_string(),
            quality.stragglers.to_string(),
            quality.detected.to_string(),
            quality.true_positives.to_string(),
            quality.fakes.to_string(),
            number(quality.precision()),
            number(quality.precision_raw()),
            number(quality.recall()),
            number(quality.recall_strict()),
            number(quality.detection_latency()),
            number(quality.undetected_time()),
            number(quality.fake_positive_ratio()),
            number(model.and_then(|model| model.expected_time())),
        ];
        writeln!(out, "{}", row.join(","))?;
    }
    Ok(())
}

const APPLICATIONS: [&str; 16] = [
    "application",
    "engine",
    "name",
    "user",
    "status",
    "complete",
    "tasks_count",
    "stragglers_count",
    "stragglers_by_mean_count",
    "delay_ms",
    "waited_for_cause",
    "waited_for_confidence",
    "copies_count",
    "copies_won_count",
    "lost_time_ms",
    "source",
];

fn of_applications(applications: &[ApplicationStragglers], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", APPLICATIONS.join(","))?;
    for app in applications {
        let waited_for = app.waited_for.as_ref();
        let row: [String; APPLICATIONS.len()] = [
            quoted(&app.id),
            app.origin.name().to_owned(),
            quoted(app.name.as_deref().unwrap_or_default()),
            quoted(app.user.as_deref().unwrap_or_default()),
            app.status.name().to_owned(),
            app.complete.to_string(),
            app.judged().to_string(),
            app.stragglers().to_string(),
            app.by_mean.stragglers.to_string(),
            app.delay.get().to_string(),
            waited_for.map(|it| it.cause.name().to_owned()).unwrap_or_default(),
            waited_for.and_then(|it| it.confidence).map(|it| it.name().to_owned()).unwrap_or_default(),
            app.copies.launched.to_string(),
            app.copies.won.to_string(),
            app.copies.lost.get().to_string(),
            quoted(app.sources.first().map_or("", String::as_str)),
        ];
        writeln!(out, "{}", row.join(","))?;
    }
    Ok(())
}
