//! The tables of the survey as CSV.

use std::io::{self, Write};

use super::{Shown, Table, applications, words};
use crate::document::csv::{self, Column};
use elephant_analysis::stragglers::evaluation::pool::Pooled;
use elephant_analysis::stragglers::first_order::FirstOrder;
use elephant_engine::survey::{
    ApplicationStragglers, Confidence, GroupReport, InputUnit, Origin, Straggler, StragglerReport,
};

pub(super) fn write(
    report: &StragglerReport,
    table: Table,
    shown: Shown,
    out: &mut dyn Write,
) -> io::Result<()> {
    let applications = applications(report, shown);
    match table {
        Table::Stragglers => {
            let of = |app, group, straggler| Found { app, group, straggler };
            let groups = applications.iter().flat_map(|app| app.groups.iter().map(move |group| (app, group)));
            let all =
                groups.flat_map(|(app, group)| group.stragglers.iter().map(move |one| of(app, group, one)));
            csv::write(&of_stragglers(), &all.collect::<Vec<_>>(), out)
        }
        Table::Detectors => {
            let engines = report.total.engines.iter();
            let all =
                engines.flat_map(|engine| engine.detectors.iter().map(|pooled| (engine.origin, pooled)));
            csv::write(&of_detectors(), &all.collect::<Vec<_>>(), out)
        }
        Table::Applications => csv::write(&OF_APPLICATIONS, applications, out),
    }
}

/// A straggler, and where it was found.
struct Found<'a> {
    app: &'a ApplicationStragglers,
    group: &'a GroupReport,
    straggler: &'a Straggler,
}

fn of_stragglers<'a>() -> [Column<Found<'a>>; 19] {
    [
        ("application", |it| it.app.id.as_str().into()),
        ("engine", |it| it.app.origin.name().into()),
        ("group", |it| words::of(it.group).into()),
        ("task", |it| it.straggler.task.into()),
        ("attempt", |it| it.straggler.attempt.into()),
        ("node", |it| it.straggler.node.as_deref().into()),
        ("started_at", |it| it.straggler.started_at.into()),
        ("duration_ms", |it| it.straggler.duration.into()),
        ("certainty", |it| words::certainty(it.straggler.certainty).into()),
        ("reference_ms", |it| it.group.limit.map(|limit| words::millis(limit.reference)).into()),
        ("times_reference_ratio", |it| it.straggler.times_reference.into()),
        ("input", |it| it.straggler.input.into()),
        ("input_unit", |it| it.group.input_unit.map(InputUnit::name).into()),
        ("dos_index_ratio", |it| it.straggler.dos_index.filter(|index| index.is_finite()).into()),
        ("overtaken", |it| it.straggler.overtaken.into()),
        ("cause", |it| it.straggler.cause.as_ref().map(|cause| cause.primary.name()).into()),
        ("confidence", |it| {
            let confidence = it.straggler.cause.as_ref().and_then(|cause| cause.confidence);
            confidence.map(Confidence::name).into()
        }),
        ("evidence", |it| {
            let evidence = it.straggler.cause.iter().flat_map(|cause| &cause.evidence);
            evidence.map(|evidence| evidence.fact.to_string()).collect::<Vec<_>>().join("; ").into()
        }),
        ("source", |it| it.app.sources.first().map(String::as_str).into()),
    ]
}

fn of_detectors<'a>() -> [Column<(Origin, &'a Pooled)>; 16] {
    [
        ("engine", |(origin, _)| origin.name().into()),
        ("detector", |(_, pooled)| pooled.total.id.into()),
        ("settings", |(_, pooled)| words::parameters(&pooled.total.parameters).into()),
        ("tasks_count", |(_, pooled)| pooled.total.quality.tasks.into()),
        ("stragglers_count", |(_, pooled)| pooled.total.quality.stragglers.into()),
        ("detected_count", |(_, pooled)| pooled.total.quality.detected.into()),
        ("true_positives_count", |(_, pooled)| pooled.total.quality.true_positives.into()),
        ("fakes_count", |(_, pooled)| pooled.total.quality.fakes.into()),
        ("precision_ratio", |(_, pooled)| pooled.total.quality.precision().into()),
        ("precision_raw_ratio", |(_, pooled)| pooled.total.quality.precision_raw().into()),
        ("recall_ratio", |(_, pooled)| pooled.total.quality.recall().into()),
        ("recall_strict_ratio", |(_, pooled)| pooled.total.quality.recall_strict().into()),
        ("detection_latency_ratio", |(_, pooled)| pooled.total.quality.detection_latency().into()),
        ("undetected_time_ratio", |(_, pooled)| pooled.total.quality.undetected_time().into()),
        ("fake_positive_ratio", |(_, pooled)| pooled.total.quality.fake_positive_ratio().into()),
        ("time_expected_ratio", |(_, pooled)| {
            let model = pooled.total.quality.first_order().filter(FirstOrder::is_valid);
            model.and_then(|model| model.expected_time()).into()
        }),
    ]
}

const OF_APPLICATIONS: [Column<ApplicationStragglers>; 16] = [
    ("application", |app| app.id.as_str().into()),
    ("engine", |app| app.origin.name().into()),
    ("name", |app| app.name.as_deref().into()),
    ("user", |app| app.user.as_deref().into()),
    ("status", |app| app.status.name().into()),
    ("complete", |app| app.complete.into()),
    ("tasks_count", |app| app.judged().into()),
    ("stragglers_count", |app| app.stragglers().into()),
    ("stragglers_by_mean_count", |app| app.by_mean.stragglers.into()),
    ("delay_ms", |app| app.delay.into()),
    ("waited_for_cause", |app| app.waited_for.as_ref().map(|it| it.cause.name()).into()),
    ("waited_for_confidence", |app| {
        app.waited_for.as_ref().and_then(|it| it.confidence).map(Confidence::name).into()
    }),
    ("copies_count", |app| app.copies.launched.into()),
    ("copies_won_count", |app| app.copies.won.into()),
    ("lost_time_ms", |app| app.copies.lost.into()),
    ("source", |app| app.sources.first().map(String::as_str).into()),
];
