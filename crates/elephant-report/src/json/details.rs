//! Phases and configuration, for `--details`.

use serde::Serialize;

use super::metrics::{TasksView, task_counts};
use super::{Each, Pairs};
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_engine::results::ApplicationReport;
use elephant_model::model::Phase;
use elephant_model::model::conf::{Conf, secrets};

#[derive(Serialize)]
pub(super) struct DetailsView<'a> {
    phases: Each<'a, Phase, PhaseView<'a>>,
    configuration: Option<Pairs<&'a str, &'a str>>,
}

/// `None` without `--details`.
pub(super) fn details(app: &ApplicationReport) -> Option<DetailsView<'_>> {
    let phases = app.phases.as_deref()?;
    Some(DetailsView {
        phases: Each(phases, phase),
        configuration: app.configuration.as_deref().map(configuration),
    })
}

#[derive(Serialize)]
struct PhaseView<'a> {
    subject: std::borrow::Cow<'static, str>,
    name: Option<&'a str>,
    started_at: Option<String>,
    finished_at: Option<String>,
    duration_ms: Option<u64>,
    tasks: TasksView,
    task_time_ms: Option<u64>,
    gc_time_ms: Option<u64>,
    input_bytes: Option<u64>,
    output_bytes: Option<u64>,
    shuffle_read_bytes: Option<u64>,
    shuffle_write_bytes: Option<u64>,
    spilled_bytes: Option<u64>,
}

/// If a limit was reached, sums and counts are unknown.
fn phase(phase: &Phase) -> PhaseView<'_> {
    let time = |at: Option<Timestamp>| at.and_then(Timestamp::to_rfc3339);
    let span = |sum: Option<Millis>| sum.filter(|_| phase.has_whole_sums).map(Millis::get);
    let bytes = |sum: Option<Bytes>| sum.filter(|_| phase.has_whole_sums).map(Bytes::get);
    PhaseView {
        subject: phase.subject.name(),
        name: phase.name.as_deref(),
        started_at: time(phase.started_at),
        finished_at: time(phase.finished_at),
        duration_ms: phase.duration().map(Millis::get),
        tasks: task_counts(phase.has_all_tasks.then_some(phase.tasks)),
        task_time_ms: span(phase.task_time),
        gc_time_ms: span(phase.gc_time),
        input_bytes: bytes(phase.input),
        output_bytes: bytes(phase.output),
        shuffle_read_bytes: bytes(phase.shuffle_read),
        shuffle_write_bytes: bytes(phase.shuffle_write),
        spilled_bytes: bytes(phase.spilled),
    }
}

/// The properties as written, but without passwords, because reports are shared more freely than histories.
fn configuration(conf: &Conf) -> Pairs<&str, &str> {
    Pairs(conf.iter().map(|(name, value)| (name, secrets::shown(name, value))).collect())
}
