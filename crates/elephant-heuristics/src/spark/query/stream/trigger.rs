//! The trigger interval of a stream, which no event tells: batches that waited for their trigger begin at multiples of the
//! interval since 1970 (`ProcessingTimeExecutor.nextBatchTime`).

use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::spark::Stream;

/// A batch that begins so much later than the one before it ended has waited for its trigger.
const WAITED: i64 = 50;
/// Intervals that are no multiple of this, in milliseconds, are rare, and are not looked for.
const STEP: i64 = 100;
/// A batch begins at most so long after its trigger, in milliseconds.
const LATE: i64 = 60;
/// Fewer batches that waited may begin so by chance.
const LEAST: usize = 4;

/// The interval; `None` if too few batches waited for their trigger, or if they did not begin at its multiples.
pub(super) fn interval(stream: &Stream) -> Option<Millis> {
    let spans = stream.batches.iter().map(|batch| {
        let start = batch.started_at.map(Timestamp::as_millis)?;
        Some((start, start.checked_add(i64::try_from(batch.time?.get()).ok()?)?))
    });
    let spans: Vec<(i64, i64)> = spans.collect::<Option<_>>()?;
    let mut waited: Vec<i64> = Vec::new();
    let mut gaps: Vec<i64> = Vec::new();
    for (&(before, end), &(start, _)) in spans.iter().zip(spans.iter().skip(1)) {
        if start <= end.saturating_add(WAITED) {
            continue;
        }
        if waited.last() == Some(&before) {
            gaps.push(start - before);
        }
        waited.push(start);
    }
    // Triggers without data make longer gaps.
    let shortest = gaps.iter().min()?;
    let interval =
        (shortest.saturating_add(STEP / 2) / STEP).checked_mul(STEP).filter(|interval| *interval > LATE)?;
    let on_time = waited.iter().filter(|&&start| start.rem_euclid(interval) <= LATE).count();
    // One that is late, by a pause of the driver, is no proof against the others.
    (waited.len() >= LEAST && 10 * on_time >= 9 * waited.len()).then_some(())?;
    u64::try_from(interval).ok().map(Millis::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::Batch;

    fn stream(batches: &[(i64, u64)]) -> Stream {
        let batch = |&(start, time)| Batch {
            started_at: Some(Timestamp::from_millis(start)),
            time: Some(Millis::new(time)),
            ..Batch::default()
        };
        Stream { batches: batches.iter().map(batch).collect(), ..Stream::default() }
    }

    #[test]
    fn batches_that_waited_begin_at_multiples_of_the_interval() {
        let late =
            [(7115, 8149), (15_300, 1000), (18_000, 500), (20_001, 700), (22_000, 5000), (27_001, 100)];
        let more = [(28_003, 10), (30_000, 10), (36_000, 10)];
        let all: Vec<(i64, u64)> = late.into_iter().chain(more).collect();
        assert_eq!(interval(&stream(&all)), Some(Millis::new(2000)));
        assert_eq!(interval(&stream(&late)), None);
    }

    #[test]
    fn batches_that_begin_when_data_comes_have_no_interval() {
        let all: Vec<(i64, u64)> = (0..20).map(|number| (333 + 1000 * number, 100)).collect();
        assert_eq!(interval(&stream(&all)), None);
        let at_once: Vec<(i64, u64)> = (0..20).map(|number| (1000 * number, 1000)).collect();
        assert_eq!(interval(&stream(&at_once)), None);
        assert_eq!(interval(&stream(&[])), None);
    }
}
