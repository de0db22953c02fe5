//! What the phases of a run read and how long they took, as the gate compares them: a list of numbers for each phase.

use super::StoreError;
use elephant_engine::baseline::ReadPhase;
use elephant_engine::results::ApplicationReport;

/// Name, input, shuffled data, run time and task time.
type Row = (String, Option<u64>, Option<u64>, Option<u64>, Option<u64>);

/// The phases of an application, if some read anything.
pub(super) fn text(app: &ApplicationReport) -> Option<String> {
    let phases = app.phase_work.iter().map(ReadPhase::of);
    let rows: Vec<Row> = phases
        .map(|it| (it.phase, it.input_bytes, it.shuffle_read_bytes, it.runtime_ms, it.task_time_ms))
        .collect();
    (!rows.is_empty()).then(|| serde_json::to_string(&rows).unwrap_or_default())
}

/// The phases of a text; none if the run has no text.
pub(super) fn of(text: Option<&str>) -> Result<Vec<ReadPhase>, StoreError> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let rows: Vec<Row> = serde_json::from_str(text).map_err(StoreError::Phases)?;
    let phase = |(phase, input_bytes, shuffle_read_bytes, runtime_ms, task_time_ms)| ReadPhase {
        phase,
        input_bytes,
        shuffle_read_bytes,
        runtime_ms,
        task_time_ms,
    };
    Ok(rows.into_iter().map(phase).collect())
}
