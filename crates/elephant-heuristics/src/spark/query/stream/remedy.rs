//! What makes a stream keep up, by what its batches wait for.

use super::pace::Row;
use elephant_base::units::Millis;
use elephant_model::model::spark::{BatchPart, Stream};

/// What is known of a stream that falls behind.
pub(super) struct Case<'a> {
    pub(super) stream: &'a Stream,
    pub(super) row: &'a Row<'a>,
    /// The slots that it had.
    pub(super) slots: Option<f64>,
    /// The tasks of the stage that took most of their time.
    pub(super) tasks: Option<u64>,
    /// The partitions of its state.
    pub(super) partitions: Option<u64>,
    /// Whether tasks took most of the time of its slots.
    pub(super) is_busy: bool,
    /// Whether saving the state takes much of the time of tasks.
    pub(super) saves_state: bool,
    /// How many times as fast it must become.
    pub(super) more: Option<f64>,
}

/// What bounds a batch, by its source: "maxOffsetsPerTrigger".
fn limit_of_batch(stream: &Stream) -> &'static str {
    let reads = |name: &str| stream.sources.iter().any(|source| source.contains(name));
    if reads("Kafka") {
        "maxOffsetsPerTrigger"
    } else if reads("FileStream") {
        "maxFilesPerTrigger"
    } else if reads("Delta") {
        "maxFilesPerTrigger or maxBytesPerTrigger"
    } else {
        "the source's own limit on a batch"
    }
}

const OFFSETS: &str = "asking the source how far it is takes most of a batch: keep fewer files in its folder (cleanSource, or \
                       notifications of new files), or fewer partitions to ask";
const BATCH: &str =
    "preparing what the source gives takes most of a batch: let a batch read fewer, larger files";
const PLANNING: &str = "planning takes most of a batch: make the query shorter, and run larger batches less often (a longer trigger)";
const LOGS: &str = "writing the checkpoint's logs takes most of a batch: put the checkpoint on faster storage, run larger \
                    batches less often, or let Spark write the progress beside the batch (asyncProgressTrackingEnabled, \
                    from Spark 3.4 on, for queries without state)";
const STATE: &str = "saving the state takes much of the tasks' time: keep it in RocksDB and write only its changes, which takes \
                     a new checkpoint: \
                     spark.sql.streaming.stateStore.providerClass=org.apache.spark.sql.execution.streaming.state.\
                     RocksDBStateStoreProvider and, from Spark 3.5 on, \
                     spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled=true";

/// The same if it is in `RocksDB`.
const CHANGES: &str = "saving the state takes much of the tasks' time: let RocksDB write only its changes (from Spark 3.5 on): \
                       spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled=true";

/// The lines of advice, the one that decides first.
pub(super) fn advice(case: &Case<'_>) -> Vec<String> {
    let bound = limit_of_batch(case.stream);
    if case.row.is_limited {
        return vec![format!(
            "let a batch read more: raise {bound}, or shorten the trigger; batches end in time, so there is room"
        )];
    }
    let time =
        |part: BatchPart| -> Millis { case.row.batches.iter().filter_map(|batch| batch.part(part)).sum() };
    // Of equal parts the query itself: it is the first.
    let mut parts =
        [BatchPart::Work, BatchPart::Offsets, BatchPart::Batch, BatchPart::Planning, BatchPart::Logs];
    parts.sort_by_key(|part| std::cmp::Reverse(time(*part)));
    let mut lines: Vec<String> = match parts.first() {
        Some(BatchPart::Offsets) => vec![OFFSETS.to_owned()],
        Some(BatchPart::Batch) => vec![BATCH.to_owned()],
        Some(BatchPart::Planning) => vec![PLANNING.to_owned()],
        Some(BatchPart::Logs) => vec![LOGS.to_owned()],
        Some(BatchPart::Work) | None => of_work(case),
    };
    lines.push(format!(
        "until then, bound a batch by {bound}: batches end sooner and fail less, but the stream does not catch up by that"
    ));
    lines
}

/// Against tasks that take most of the time.
fn of_work(case: &Case<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if case.saves_state {
        lines.push(if case.stream.has_rocksdb { CHANGES } else { STATE }.to_owned());
    }
    let slots = case.slots.unwrap_or(1.0);
    let wanted = case.more.filter(|more| *more > 1.0).map(|more| (slots * more).ceil());
    // Without a rate, at least all slots should have a task.
    let parallel = wanted.unwrap_or(slots);
    if case.is_busy {
        lines.push(match wanted {
            Some(wanted) => format!(
                "give the stream more cores: it needs about {wanted:.0} slots for what comes, and had {slots:.0}; or make the \
                 query cheaper"
            ),
            None => "give the stream more cores, or make the query cheaper: its tasks kept its slots busy".to_owned(),
        });
    }
    let few = case.tasks.filter(|tasks| (*tasks as f64) < parallel);
    match (few, case.partitions) {
        (Some(tasks), Some(partitions)) if tasks == partitions => lines.push(format!(
            "its slowest stage has {tasks} tasks, the partitions of the state, which the checkpoint fixes: start it from a new \
             checkpoint with spark.sql.shuffle.partitions={parallel:.0}"
        )),
        (Some(tasks), _) => lines.push(format!(
            "its slowest stage has {tasks} tasks: read the source in at least {parallel:.0} partitions (for Kafka \
             minPartitions={parallel:.0}), so that all slots work"
        )),
        (None, _) if lines.is_empty() => lines.push(
            "tasks left slots idle: look at the slowest stage of these batches for skew, few tasks or waits for other systems"
                .to_owned(),
        ),
        (None, _) => {}
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::Batch;

    fn advised(case: impl FnOnce(&mut Case<'_>), parts: &[(BatchPart, u64)], is_limited: bool) -> String {
        let mut batch = Batch::default();
        for (part, time) in parts {
            batch.add_part(*part, Millis::new(*time));
        }
        let stream = Stream { sources: vec!["KafkaV2[Subscribe[a]]".to_owned()], ..Stream::default() };
        let row = Row { batches: vec![&batch], interval: None, delay: Millis::ZERO, is_limited };
        let mut of = Case {
            stream: &stream,
            row: &row,
            slots: Some(4.0),
            tasks: Some(4),
            partitions: None,
            is_busy: true,
            saves_state: false,
            more: Some(2.0),
        };
        case(&mut of);
        advice(&of).join("\n")
    }

    #[test]
    fn the_longest_part_of_a_batch_decides() {
        let work = [(BatchPart::Work, 9), (BatchPart::Offsets, 1)];
        assert!(
            advised(|_| {}, &[(BatchPart::Work, 1), (BatchPart::Offsets, 9)], false).starts_with(OFFSETS)
        );
        assert!(advised(|_| {}, &[(BatchPart::Logs, 9)], false).starts_with(LOGS));
        assert!(advised(|_| {}, &[(BatchPart::Planning, 9)], false).starts_with(PLANNING));
        assert!(advised(|_| {}, &[(BatchPart::Batch, 9)], false).starts_with(BATCH));
        let told = advised(|_| {}, &work, false);
        assert!(told.contains("about 8 slots for what comes, and had 4"), "{told}");
        assert!(told.contains("minPartitions=8") && told.contains("maxOffsetsPerTrigger"), "{told}");
        let of_state = advised(|case| (case.partitions, case.saves_state) = (Some(4), true), &work, false);
        assert!(of_state.starts_with(STATE) && of_state.contains("shuffle.partitions=8"), "{of_state}");
        let idle = advised(|case| (case.is_busy, case.more) = (false, None), &work, false);
        assert!(idle.contains("left slots idle"), "{idle}");
    }

    #[test]
    fn small_batches_are_made_larger() {
        let told = advised(|_| {}, &[], true);
        assert!(told.contains("raise maxOffsetsPerTrigger") && !told.contains('\n'), "{told}");
    }
}
