//! Events of Structured Streaming (`StreamingQueryListener`).
//!
//! Jackson writes them from the classes of each version, so members come and go: rates that are not numbers are texts
//! ("NaN"), offsets are texts with JSON, the progress as a whole may be such a text (`QueryProgressEvent.json`), and Spark
//! 2.0 has a form of its own (`queryStatus`).

use super::{Event, MAX_NAME_LEN, field};
use crate::reading::truncate;
use crate::scan::{Cursor, Scan};
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_model::model::spark::{Batch, BatchPart, SourceProgress, StateProgress};

/// Maximum number of sources, and of operators with state, of a stream; further ones are skipped.
const MAX_PARTS: usize = 100;

/// A streaming query, as each of its events names it.
#[derive(Debug, Default)]
pub(in crate::spark) struct StreamInfo {
    pub(in crate::spark) id: Option<String>,
    pub(in crate::spark) run: Option<String>,
    pub(in crate::spark) name: Option<String>,
    pub(in crate::spark) at: Option<Timestamp>,
    pub(in crate::spark) error: Option<String>,
}

/// The progress of a streaming query after a batch.
#[derive(Debug, Default)]
pub(in crate::spark) struct Progress {
    pub(in crate::spark) stream: StreamInfo,
    pub(in crate::spark) batch: Batch,
    /// No data came, so that no batch ran.
    pub(in crate::spark) is_idle: bool,
    pub(in crate::spark) sources: Vec<String>,
    pub(in crate::spark) state_operators: Vec<Option<String>>,
    pub(in crate::spark) has_rocksdb: bool,
}

pub(super) fn started(cursor: &mut Cursor<'_>) -> Scan<Event> {
    Ok(Event::StreamStarted(info(cursor)?))
}

pub(super) fn terminated(cursor: &mut Cursor<'_>) -> Scan<Event> {
    Ok(Event::StreamTerminated(info(cursor)?))
}

const INFO: [&[u8]; 6] =
    [b"\"id\":", b"\"runId\":", b"\"name\":", b"\"timestamp\":", b"\"exception\":", b"\"queryStatus\":"];

fn info(cursor: &mut Cursor<'_>) -> Scan<StreamInfo> {
    let mut info = StreamInfo::default();
    cursor.members_after_first(&INFO, |key, cursor| match key {
        5 => cursor.members(&INFO, |key, cursor| info_member(&mut info, key, cursor)),
        _ => info_member(&mut info, key, cursor),
    })?;
    Ok(info)
}

fn info_member(info: &mut StreamInfo, key: usize, cursor: &mut Cursor<'_>) -> Scan<()> {
    match key {
        0 => info.id = name(cursor)?,
        1 => info.run = field(cursor, MAX_NAME_LEN)?,
        2 => info.name = field(cursor, MAX_NAME_LEN)?,
        3 => info.at = time(cursor)?,
        4 => info.error = field(cursor, MAX_NAME_LEN)?,
        _ => cursor.skip_value()?,
    }
    Ok(())
}

pub(super) fn progress(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut progress = Progress::default();
    cursor.members_after_first(&[b"\"progress\":", b"\"queryStatus\":"], |_, cursor| {
        if cursor.peek() != Some(b'"') {
            return members(&mut progress, cursor);
        }
        // The progress as a text.
        let text = cursor.string()?.text();
        members(&mut progress, &mut Cursor::new(text.as_bytes()))
    })?;
    let works = progress.batch.part(BatchPart::Work).is_some();
    progress.is_idle = !works && progress.batch.rows().unwrap_or_default() == 0;
    Ok(Event::StreamProgress(Box::new(progress)))
}

fn members(progress: &mut Progress, cursor: &mut Cursor<'_>) -> Scan<()> {
    const KEYS: [&[u8]; 14] = [
        b"\"id\":",
        b"\"runId\":",
        b"\"name\":",
        b"\"timestamp\":",
        b"\"batchId\":",
        b"\"batchDuration\":",
        b"\"durationMs\":",
        b"\"eventTime\":",
        b"\"stateOperators\":",
        b"\"sources\":",
        b"\"sourceStatuses\":",
        b"\"triggerDetails\":",
        b"\"inputRate\":",
        b"\"processingRate\":",
    ];
    let mut whole = None;
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0..4 => {
                info_member(&mut progress.stream, key, cursor)?;
                progress.batch.started_at = progress.stream.at;
            }
            4 => progress.batch.number = count(cursor)?,
            5 => whole = millis(cursor)?,
            6 => durations(&mut progress.batch, cursor)?,
            7 => event_time(&mut progress.batch, cursor)?,
            8 => cursor.elements(|cursor| state(progress, cursor))?,
            9 | 10 => cursor.elements(|cursor| source(progress, cursor))?,
            11 => details(&mut progress.batch, cursor)?,
            _ => cursor.skip_value()?,
        }
        Ok(())
    })?;
    progress.batch.time = progress.batch.time.or(whole);
    Ok(())
}

fn durations(batch: &mut Batch, cursor: &mut Cursor<'_>) -> Scan<()> {
    cursor.each_member(|key, cursor| {
        let time = millis(cursor)?;
        if key.bytes == b"triggerExecution" {
            batch.time = time.or(batch.time);
        } else if let Some((part, time)) = BatchPart::named(key.bytes).zip(time) {
            batch.add_part(part, time);
        }
        Ok(())
    })
}

/// The times of a batch in Spark 2.0, all as texts.
fn details(batch: &mut Batch, cursor: &mut Cursor<'_>) -> Scan<()> {
    cursor.each_member(|key, cursor| {
        match key.bytes {
            b"triggerId" => batch.number = count(cursor)?,
            b"timestamp.triggerStart" => batch.started_at = time(cursor)?.or(batch.started_at),
            b"latency.fullTrigger" => batch.time = millis(cursor)?,
            b"latency.getOffset.total" => add(batch, BatchPart::Offsets, cursor)?,
            b"latency.getBatch.total" => add(batch, BatchPart::Batch, cursor)?,
            b"latency.optimizer" => add(batch, BatchPart::Planning, cursor)?,
            b"latency.offsetLogWrite" => add(batch, BatchPart::Logs, cursor)?,
            _ => cursor.skip_value()?,
        }
        Ok(())
    })
}

fn add(batch: &mut Batch, part: BatchPart, cursor: &mut Cursor<'_>) -> Scan<()> {
    if let Some(time) = millis(cursor)? {
        batch.add_part(part, time);
    }
    Ok(())
}

fn event_time(batch: &mut Batch, cursor: &mut Cursor<'_>) -> Scan<()> {
    cursor.members(&[b"\"max\":", b"\"watermark\":"], |key, cursor| {
        match key {
            0 => batch.latest_event = time(cursor)?,
            // Before the first event, the watermark is the beginning of 1970.
            _ => batch.watermark = time(cursor)?.filter(|at| at.as_millis() > 0),
        }
        Ok(())
    })
}

fn source(progress: &mut Progress, cursor: &mut Cursor<'_>) -> Scan<()> {
    const KEYS: [&[u8]; 9] = [
        b"\"description\":",
        b"\"endOffset\":",
        b"\"latestOffset\":",
        b"\"numInputRows\":",
        b"\"inputRowsPerSecond\":",
        b"\"processedRowsPerSecond\":",
        b"\"inputRate\":",
        b"\"processingRate\":",
        b"\"triggerDetails\":",
    ];
    let (mut description, mut end, mut latest) = (None, None, None);
    let mut read = SourceProgress::default();
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0 => description = field(cursor, MAX_NAME_LEN)?,
            1 => end = offsets(cursor)?,
            2 => latest = offsets(cursor)?,
            3 => read.rows = count(cursor)?,
            4 | 6 => read.input_rate = number(cursor)?,
            5 | 7 => read.processed_rate = number(cursor)?,
            _ => cursor.members(&[b"\"numRows.input.source\":"], |_, cursor| {
                read.rows = count(cursor)?;
                Ok(())
            })?,
        }
        Ok(())
    })?;
    read.backlog = latest.zip(end).and_then(|(latest, end): (u64, u64)| latest.checked_sub(end));
    if progress.sources.len() < MAX_PARTS {
        progress.sources.push(description.unwrap_or_default());
        progress.batch.sources.push(read);
    }
    Ok(())
}

fn state(progress: &mut Progress, cursor: &mut Cursor<'_>) -> Scan<()> {
    const KEYS: [&[u8]; 9] = [
        b"\"operatorName\":",
        b"\"numRowsTotal\":",
        b"\"numRowsUpdated\":",
        b"\"commitTimeMs\":",
        b"\"memoryUsedBytes\":",
        b"\"numRowsDroppedByWatermark\":",
        b"\"numLateInputs\":",
        b"\"numShufflePartitions\":",
        b"\"customMetrics\":",
    ];
    let (mut operator, mut kept) = (None, StateProgress::default());
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0 => operator = field(cursor, MAX_NAME_LEN)?,
            1 => kept.rows = count(cursor)?,
            2 => kept.updated = count(cursor)?,
            3 => kept.commit = millis(cursor)?,
            4 => kept.memory = count(cursor)?.map(Bytes::new),
            5 | 6 => kept.late_rows = count(cursor)?,
            7 => kept.partitions = count(cursor)?,
            _ => cursor.each_member(|key, cursor| {
                progress.has_rocksdb |= key.bytes.starts_with(b"rocksdb");
                cursor.skip_value()
            })?,
        }
        Ok(())
    })?;
    if progress.state_operators.len() < MAX_PARTS {
        progress.state_operators.push(operator);
        progress.batch.states.push(kept);
    }
    Ok(())
}

/// A number, written as such or as a text; `None` for "NaN" and the like.
fn number(cursor: &mut Cursor<'_>) -> Scan<Option<f64>> {
    let value = cursor.value()?;
    let bare = value.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(value);
    let number: Option<f64> = std::str::from_utf8(bare).ok().and_then(|text| text.parse().ok());
    Ok(number.filter(|number| number.is_finite() && *number >= 0.0))
}

/// A whole number that is not negative, written as such or as a text.
fn count(cursor: &mut Cursor<'_>) -> Scan<Option<u64>> {
    let value = cursor.value()?;
    let bare = value.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(value);
    Ok(std::str::from_utf8(bare).ok().and_then(|text| text.parse().ok()))
}

fn millis(cursor: &mut Cursor<'_>) -> Scan<Option<Millis>> {
    Ok(count(cursor)?.map(Millis::new))
}

/// A time as text (RFC 3339), or in milliseconds.
fn time(cursor: &mut Cursor<'_>) -> Scan<Option<Timestamp>> {
    let value = cursor.value()?;
    let bare = value.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(value);
    let Ok(text) = std::str::from_utf8(bare) else { return Ok(None) };
    let moment = text.parse().ok().map(Timestamp::from_millis).or_else(|| Timestamp::from_rfc3339(text));
    Ok(moment.filter(|at| crate::reading::is_moment(at.as_millis())))
}

/// An id: a text, or a number in Spark 2.0.
fn name(cursor: &mut Cursor<'_>) -> Scan<Option<String>> {
    if cursor.peek() == Some(b'"') {
        return field(cursor, MAX_NAME_LEN);
    }
    let value = cursor.value()?;
    let text = String::from_utf8_lossy(value);
    Ok(value.first().is_some_and(u8::is_ascii_digit).then(|| truncate(&text, MAX_NAME_LEN).to_owned()))
}

/// The sum of offsets of one number, or of one for each partition of each topic (`{"orders":{"0":7}}`), as JSON or as a text
/// with JSON; `None` for others, whose numbers do not count records.
fn offsets(cursor: &mut Cursor<'_>) -> Scan<Option<u64>> {
    if cursor.peek() != Some(b'"') {
        return sum_of_offsets(&mut Cursor::new(cursor.value()?));
    }
    let text = cursor.string()?.text();
    // Text that is not JSON is an offset of another kind, not damage.
    Ok(sum_of_offsets(&mut Cursor::new(text.as_bytes())).unwrap_or_default())
}

fn sum_of_offsets(cursor: &mut Cursor<'_>) -> Scan<Option<u64>> {
    if cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        return count(cursor);
    }
    let mut sum = Some(0_u64);
    let mut known = false;
    cursor.each_member(|_, cursor| {
        if cursor.peek() != Some(b'{') {
            sum = None;
            return cursor.skip_value();
        }
        cursor.each_member(|_, cursor| {
            known = true;
            sum = sum.zip(count(cursor)?).and_then(|(sum, offset)| sum.checked_add(offset));
            Ok(())
        })
    })?;
    Ok(sum.filter(|_| known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(members: &str) -> Progress {
        let event = format!(",{members}}}");
        match progress(&mut Cursor::new(event.as_bytes())).unwrap() {
            Event::StreamProgress(progress) => *progress,
            other => panic!("{other:?}"),
        }
    }

    /// As Spark 3.1 and 3.5 write it.
    const PROGRESS: &str = r#"{"id":"a","runId":"r","name":null,"timestamp":"2020-07-29T10:56:56.015Z","batchId":3,"batchDuration":7110,"durationMs":{"triggerExecution":7109,"queryPlanning":439,"getBatch":21,"latestOffset":3524,"addBatch":3011,"walCommit":35,"commitOffsets":5},"eventTime":{"max":"2020-07-29T10:56:55.000Z","watermark":"1970-01-01T00:00:00.000Z"},"stateOperators":[{"operatorName":"stateStoreSave","numRowsTotal":9,"numRowsUpdated":1,"commitTimeMs":4,"memoryUsedBytes":776,"numRowsDroppedByWatermark":2,"numShufflePartitions":8,"customMetrics":{"rocksdbGetLatency":3}}],"sources":[{"description":"KafkaV2[Subscribe[test5]]","startOffset":null,"endOffset":"{\"test5\":{\"0\":48279,\"1\":1}}","latestOffset":{"test5":{"0":48289,"1":2}},"numInputRows":3,"inputRowsPerSecond":"NaN","processedRowsPerSecond":0.42194092827004215,"metrics":{}}],"sink":{"description":"console"},"observedMetrics":{}}"#;

    #[test]
    fn progress_is_an_object_or_a_text_with_one() {
        let object = read(&format!("\"progress\":{PROGRESS}"));
        assert_eq!(object.stream.run.as_deref(), Some("r"));
        assert_eq!(object.stream.name, None);
        assert!(object.has_rocksdb && !object.is_idle);
        assert_eq!(object.state_operators, [Some("stateStoreSave".to_owned())]);
        let batch = &object.batch;
        assert_eq!((batch.number, batch.time), (Some(3), Some(Millis::new(7109))));
        assert_eq!(batch.part(BatchPart::Logs), Some(Millis::new(40)));
        assert_eq!(batch.part(BatchPart::Offsets), Some(Millis::new(3524)));
        assert_eq!((batch.watermark, batch.latest_event.is_some()), (None, true));
        assert_eq!((batch.rows(), batch.input_rate(), batch.backlog()), (Some(3), None, Some(11)));
        let state = batch.states[0];
        assert_eq!((state.rows, state.late_rows, state.partitions), (Some(9), Some(2), Some(8)));
        let text = read(&format!("\"progress\":{}", serde_json::to_string(PROGRESS).unwrap()));
        assert_eq!(format!("{text:?}"), format!("{object:?}"));
    }

    #[test]
    fn spark_2_0_has_a_form_of_its_own() {
        let read = read(
            r##""queryStatus":{"name":"query-1","id":1,"timestamp":1480491493386,"inputRate":83.3,"processingRate":0.57,"latency":1738.0,"sourceStatuses":[{"description":"FileStreamSource[file:/in]","offsetDesc":"#0","inputRate":83.3,"processingRate":0.57,"triggerDetails":{"numRows.input.source":"1","triggerId":"0"}}],"triggerDetails":{"latency.fullTrigger":"1732","triggerId":"0","timestamp.triggerStart":"1480491491653"}}"##,
        );
        assert_eq!((read.stream.id.as_deref(), read.stream.run), (Some("1"), None));
        let batch = &read.batch;
        assert_eq!((batch.number, batch.time, batch.rows()), (Some(0), Some(Millis::new(1732)), Some(1)));
        assert_eq!((batch.input_rate(), batch.processed_rate()), (Some(83.3), Some(0.57)));
        assert_eq!(batch.started_at, Some(Timestamp::from_millis(1_480_491_491_653)));
    }

    #[test]
    fn triggers_without_data_are_no_batches() {
        let idle = read(
            r#""progress":{"runId":"r","batchId":4,"durationMs":{"latestOffset":1,"triggerExecution":2},"sources":[{"description":"x","numInputRows":0}]}"#,
        );
        assert!(idle.is_idle);
    }

    #[test]
    fn offsets_of_partitions_add_up() {
        for (written, expected) in [
            ("7", Some(7)),
            (r#""7""#, Some(7)),
            (r#""{\"a\":{\"0\":1,\"1\":2},\"b\":{\"0\":4}}""#, Some(7)),
            (r#"{"a":{"0":1}}"#, Some(1)),
            (r#""{\"logOffset\":3}""#, None),
            (r#""{\"sourceVersion\":1,\"index\":{\"a\":1}}""#, None),
            (r##""#0""##, None),
            (r#""{}""#, None),
            ("null", None),
            (r#""{\"a\":{\"0\":-1}}""#, None),
        ] {
            assert_eq!(offsets(&mut Cursor::new(written.as_bytes())), Ok(expected), "{written}");
        }
    }

    #[test]
    fn ends_tell_the_error() {
        let event = br#","id":"a","runId":"r","exception":"boom","errorClassOnException":null}"#;
        let Event::StreamTerminated(info) = terminated(&mut Cursor::new(event)).unwrap() else { panic!() };
        assert_eq!((info.run.as_deref(), info.error.as_deref()), (Some("r"), Some("boom")));
    }
}
