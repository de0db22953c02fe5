//! Whether the batches of a stream keep up with what its sources give.

use super::trigger;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::spark::{Batch, Stream};

/// When a batch counts as too slow.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// So many batches in a row are too slow.
    pub(super) in_row: usize,
    /// Differences below this share of a time or rate are none.
    pub(super) tolerance: f64,
    /// A stream that ended before so many batches was too slow for this share of the time of its batches.
    pub(super) lasting: f64,
}

/// Batches in a row that did not keep up.
pub(super) struct Row<'a> {
    pub(super) batches: Vec<&'a Batch>,
    /// The interval between triggers, if batches tell it.
    pub(super) interval: Option<Millis>,
    /// How much later the results came after these batches than before them.
    pub(super) delay: Millis,
    /// Whether batches end in time and yet leave more and more in the source: they are too small.
    pub(super) is_limited: bool,
}

/// How a batch kept up, in milliseconds.
#[derive(Clone, Copy, Default)]
struct Pace {
    /// By how much longer it took than the data came that it read.
    grown: f64,
    /// By how much longer it took than the time between triggers.
    over: f64,
    /// How much more the sources had and it left than the batch before it.
    left: u64,
}

impl Pace {
    fn of(batch: &Batch, before: Option<&Batch>, interval: Option<Millis>, tolerance: f64) -> Self {
        let time = batch.time.unwrap_or_default().as_f64();
        let over = interval.map_or(0.0, |interval| time - interval.as_f64());
        let is_over = interval.is_some_and(|interval| over > tolerance * interval.as_f64());
        let rates = batch.input_rate().zip(batch.processed_rate()).filter(|(input, _)| *input > 0.0);
        let short = rates.map_or(0.0, |(input, processed)| 1.0 - processed / input);
        let left = before.and_then(Batch::backlog).zip(batch.backlog());
        Self {
            grown: if short > tolerance && (is_over || interval.is_none()) { short * time } else { 0.0 },
            over: if is_over { over } else { 0.0 },
            left: left.map_or(0, |(before, after)| after.saturating_sub(before)),
        }
    }

    fn is_behind(self) -> bool {
        self.grown > 0.0 || self.over > 0.0 || self.left > 0
    }
}

/// The row of batches that made results latest; `None` if batches keep up. `ended_within_batch` says whether a batch ran when
/// the stream ended: only then, a row that is still short counts if it lasts to the end.
pub(super) fn worst_row(
    stream: &Stream,
    patience: Patience,
    ended_within_batch: impl FnOnce() -> bool,
) -> Option<Row<'_>> {
    let interval = trigger::interval(stream);
    let batches: Vec<&Batch> = stream.batches.iter().collect();
    let before = |place: usize| batches.get(place.checked_sub(1)?).copied();
    let pace =
        |(place, batch): (usize, &&Batch)| Pace::of(batch, before(place), interval, patience.tolerance);
    let paces: Vec<Pace> = batches.iter().enumerate().map(pace).collect();
    let mut rows: Vec<(usize, usize)> = Vec::new();
    for place in (0..).zip(&paces).filter(|(_, pace)| pace.is_behind()).map(|(place, _)| place) {
        match rows.last_mut().filter(|(_, end)| *end == place) {
            Some((_, end)) => *end = place + 1,
            None => rows.push((place, place + 1)),
        }
    }
    let last = rows.last().copied().filter(|(_, end)| *end == batches.len());
    let short = last.filter(|(start, end)| end - start < patience.in_row);
    let short = short.filter(|&(start, _)| lasts(stream, &batches, start, patience) && ended_within_batch());
    rows.retain(|(start, end)| end - start >= patience.in_row);
    rows.extend(short);
    let row = |(start, end): (usize, usize)| {
        let (row, paces) = (batches.get(start..end)?, paces.get(start..end)?);
        let is_limited = paces.iter().all(|pace| pace.grown <= 0.0 && pace.over <= 0.0);
        let delay = Millis::from_f64(delay(before(start), row, paces))?;
        Some(Row { batches: row.to_vec(), interval, delay, is_limited })
    };
    // Of equal ones the first.
    rows.into_iter().filter_map(row).rev().max_by_key(|row| row.delay)
}

/// Whether a stream spent most of its time in its last batches, from `start` on, and each read more rows than the one before.
fn lasts(stream: &Stream, batches: &[&Batch], start: usize, patience: Patience) -> bool {
    let time = |batches: &[&Batch]| batches.iter().filter_map(|batch| batch.time).sum::<Millis>().as_f64();
    let late = batches.get(start..).unwrap_or_default();
    let rows = batches.get(start.saturating_sub(1)..).unwrap_or_default().iter().map(|batch| batch.rows());
    let rows: Vec<Option<u64>> = rows.collect();
    let all = time(batches) + stream.earlier.time.as_f64();
    rows.is_sorted_by(|one, next| one < next) && time(late) >= patience.lasting * all
}

/// How much later results came after a row of batches: they took longer than their data came, or than the time between
/// triggers, or left what would take so long at their pace.
fn delay(before: Option<&Batch>, row: &[&Batch], paces: &[Pace]) -> f64 {
    let grown: f64 = paces.iter().map(|pace| pace.grown).sum();
    let over = paces.iter().map(|pace| pace.over).fold(0.0, f64::max);
    let left: u64 = paces.iter().map(|pace| pace.left).fold(0, u64::saturating_add);
    let start = |batch: Option<&Batch>| batch.and_then(|batch| batch.started_at).map(Timestamp::as_millis);
    let span = start(before).zip(start(row.last().copied())).map_or(0, |(from, to)| to.saturating_sub(from));
    let read: u64 = row.iter().filter_map(|batch| batch.rows()).fold(0, u64::saturating_add);
    let behind = if read > 0 { left as f64 / read as f64 * span.max(0) as f64 } else { 0.0 };
    grown.max(over).max(behind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::SourceProgress;

    const PATIENCE: Patience = Patience { in_row: 5, tolerance: 0.05, lasting: 0.5 };

    /// Batches with a start, a time, rows, and the rates at which rows came and were processed.
    fn stream(batches: &[(i64, u64, u64, f64, f64)]) -> Stream {
        let batch =
            |(number, &(start, time, rows, input, processed)): (u64, &(i64, u64, u64, f64, f64))| Batch {
                number: Some(number),
                started_at: Some(Timestamp::from_millis(start)),
                time: Some(Millis::new(time)),
                sources: vec![SourceProgress {
                    rows: Some(rows),
                    input_rate: Some(input),
                    processed_rate: Some(processed),
                    backlog: None,
                }],
                ..Batch::default()
            };
        Stream { batches: (0..).zip(batches).map(batch).collect(), ..Stream::default() }
    }

    /// The reference's planted stream: it starts slowly, and then each batch takes longer than its data came.
    #[test]
    fn a_stream_that_never_catches_up_is_behind_from_its_second_batch_on() {
        let stream = stream(&[(0, 21_000, 0, 0.0, 0.0), (21_100, 36_600, 4_206_000, 197_545.0, 114_911.0)]);
        let row = worst_row(&stream, PATIENCE, || true).unwrap();
        assert_eq!((row.batches.len(), row.delay, row.interval), (1, Millis::new(15_309), None));
        // A stream that ends by itself reads what there is.
        assert!(worst_row(&stream, PATIENCE, || false).is_none());
    }

    #[test]
    fn a_slow_start_that_is_made_up_for_is_none() {
        let mut batches = vec![(0, 8000, 0, 0.0, 0.0), (8100, 9000, 8000, 1000.0, 890.0)];
        batches.extend((0..9).map(|number| (17_100 + 1100 * number, 1000, 1100, 1000.0, 1100.0)));
        assert!(worst_row(&stream(&batches), PATIENCE, || true).is_none());
    }

    #[test]
    fn rates_that_differ_little_are_equal() {
        let batches: Vec<_> = (0..30).map(|number| (1000 * number, 1000, 1000, 1000.0, 960.0)).collect();
        assert!(worst_row(&stream(&batches), PATIENCE, || true).is_none());
        let batches: Vec<_> = (0..5).map(|number| (1000 * number, 1000, 1000, 1000.0, 500.0)).collect();
        assert_eq!(worst_row(&stream(&batches), PATIENCE, || false).unwrap().delay, Millis::new(2500));
        let batches: Vec<_> = (0..4).map(|number| (1000 * number, 1000, 1000, 1000.0, 500.0)).collect();
        assert!(worst_row(&stream(&batches), PATIENCE, || true).is_none(), "they read equally many rows");
    }

    #[test]
    fn batches_that_outlast_their_trigger_are_late_though_they_keep_up() {
        let mut batches: Vec<_> = (0..6).map(|number| (2000 * number, 500, 100, 50.0, 200.0)).collect();
        batches.extend((0..6).map(|number| (12_000 + 3000 * number, 3000, 150, 50.0, 50.0)));
        let stream = stream(&batches);
        let row = worst_row(&stream, PATIENCE, || false).unwrap();
        assert_eq!((row.batches.len(), row.delay), (6, Millis::new(1000)));
        assert_eq!((row.interval, row.is_limited), (Some(Millis::new(2000)), false));
    }

    #[test]
    fn small_batches_leave_more_and_more_in_the_source() {
        let batches: Vec<_> = (0..8).map(|number| (10_000 * number, 1000, 500, 50.0, 500.0)).collect();
        let mut stream = stream(&batches);
        for (batch, left) in stream.batches.iter_mut().zip((0..).map(|number| 100 * number)) {
            batch.sources[0].backlog = Some(left);
        }
        let row = worst_row(&stream, PATIENCE, || false).unwrap();
        // 700 rows more, at 500 rows in 10 s.
        assert_eq!((row.batches.len(), row.is_limited, row.delay), (7, true, Millis::new(14_000)));
    }
}
