//! `spark-stream-state`: state of a stream that grows without end, and rows that come after its watermark.

use super::super::on_queries::{Judge, OnQueries};
use super::names::{name_of_stream, whole};
use super::place::work;
use crate::declare::spark as rule;
use crate::spark::support::memory::heap_of;
use elephant_base::severity::Severity;
use elephant_base::stats::trend::rising_by_chance;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_catalogue::{Rule, load};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::MEMORY_FRACTION;
use elephant_model::model::spark::{Batch, Facet, Spark, StateProgress, Stream};
use elephant_query::Ground;
use elephant_rule::finding::{Judgement, Measure, Subject, Worse};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Size};
use elephant_rule::params::rule_params;

rule_params! {
    /// Parameters of `spark-stream-state`.
    pub(super) struct StreamState / StreamStateLayer {
        /// Time until the state fills the memory for it.
        full_in: Descending<Duration>,
        /// Severity if the state grows in `RocksDB`, which keeps it on disks.
        on_disk: Severity,
        /// Rows that came after the watermark / rows read.
        late_share: Ascending<Ratio>,
        /// Streams with fewer batches have no trend.
        min_batches: Quantity<Count>,
        /// A trend counts if chance makes as strong a one less often than this.
        chance: Quantity<Ratio>,
        /// The state grew by at least this share of itself.
        least_growth: Quantity<Ratio>,
        /// Smaller states are not judged.
        least_size: Quantity<Size>,
    }
}

pub(in crate::spark) const RULE: Rule =
    rule!(Own, "spark-stream-state", "Spark Stream State", tells StreamState, StreamState, |layers, _| {
        load(layers, OnQueries::<StreamState>)
    })
    .measured_by("growth_ratio", Worse::Higher);

const GROWS: &str = "{stream}: the state of {operator} grows with every batch, from {first} to {rows} rows in the last \
                     {batches_count} batches; it takes {state_bytes}, {added_bytes} more an hour[, and fills the memory for it \
                     in {full}][; {watermark}] ({limit})";
const LATE: &str =
    "{stream} drops rows that come after its watermark: {late} of {read}, {late_ratio:%} ({limit})";
const STILL: &str = "the watermark stood still while events went on for {span}";
const NONE: &str = "it has no watermark";
const ON_DISK: &str = "it grows on disks, in RocksDB";

const NO_WATERMARK: &str =
    "let rows leave the state: give the event time a watermark (withWatermark) and use it";
const STANDS_STILL: &str = "find the input whose events do not go on: the slowest of several inputs holds the watermark back; \
                            spark.sql.streaming.multipleWatermarkPolicy=max follows the fastest, and drops late rows of the others";
const ALLOW_LATER: &str = "if these rows matter, allow a longer delay in withWatermark, which keeps more state; or find out why \
                           they come late";
const ROCKS_DB: &str = "if the state must be large, keep it in RocksDB, on disks, which takes a new checkpoint: \
                        spark.sql.streaming.stateStore.providerClass=org.apache.spark.sql.execution.streaming.state.\
                        RocksDBStateStoreProvider";

impl Judge for StreamState {
    const RESTS_ON: &'static [Facet] = &[Facet::Batches];
    const FITS: &'static str = "the state of streams does not grow without end, and no rows come too late";

    fn applies(spark: &Spark) -> bool {
        !spark.streams.is_empty()
    }

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let mut found = Vec::new();
        for stream in &ground.spark.streams {
            let grown = (0..stream.state_operators.len()).filter_map(|place| Growth::of(self, stream, place));
            // Operators of one stream grow for one reason: the one that grows most.
            let most = grown.max_by(|a, b| a.bytes_an_hour.total_cmp(&b.bytes_an_hour));
            found.extend(most.and_then(|growth| self.judge_growth(ground, stream, &growth)));
            found.extend(self.judge_late_rows(stream));
        }
        found
    }
}

/// How the state of an operator grew.
struct Growth<'a> {
    operator: &'a str,
    batches: Vec<&'a Batch>,
    first: StateProgress,
    last: StateProgress,
    size: Bytes,
    bytes_an_hour: f64,
}

impl<'a> Growth<'a> {
    /// The growth of the operator at this place in the latter half of the kept batches, if it is one that goes on.
    fn of(params: &StreamState, stream: &'a Stream, place: usize) -> Option<Self> {
        let known = |batch: &&'a Batch| batch.states.get(place).is_some_and(|state| state.rows.is_some());
        let all: Vec<&Batch> = stream.batches.iter().filter(known).collect();
        let least = usize::try_from(params.min_batches.whole()).unwrap_or(usize::MAX);
        let from = all.len().checked_sub(least)?.min(all.len() / 2);
        let batches = all.get(from..)?.to_vec();
        let rows: Vec<f64> =
            batches.iter().filter_map(|batch| Some(batch.states.get(place)?.rows? as f64)).collect();
        rising_by_chance(&rows).filter(|chance| *chance < params.chance.get())?;
        let state = |batch: Option<&&Batch>| batch?.states.get(place).copied();
        let (first, last) = (state(batches.first())?, state(batches.last())?);
        let size = last.memory?;
        let added = last.rows?.checked_sub(first.rows?).map(|rows| rows as f64)?;
        let is_much = added >= params.least_growth.get() * last.rows? as f64;
        (is_much && size.as_f64() >= params.least_size.get()).then_some(())?;
        let hours = span(&batches, |batch| batch.started_at)?.as_f64() / MILLIS_OF_HOUR;
        // Memory is freed in steps, rows are not.
        let bytes_an_hour = size.as_f64() * added / last.rows? as f64 / hours;
        let operator = stream.state_operators.get(place)?.as_deref().unwrap_or("its operator");
        Some(Self { operator, batches, first, last, size, bytes_an_hour })
            .filter(|it| it.bytes_an_hour.is_finite())
    }

    /// What the watermark did meanwhile; `None` if it went on with the events.
    fn watermark(&self) -> Option<Watermark> {
        let last = self.batches.last()?;
        if last.watermark.is_none() {
            return Some(Watermark::None);
        }
        let stands = self.batches.first()?.watermark == last.watermark;
        let events = span(&self.batches, |batch| batch.latest_event);
        events.filter(|events| stands && *events > Millis::ZERO).map(Watermark::StandsStill)
    }
}

/// Why a watermark lets no row go.
enum Watermark {
    None,
    StandsStill(Millis),
}

const MILLIS_OF_HOUR: f64 = 3_600_000.0;

/// From the first to the last of a time of batches.
fn span(batches: &[&Batch], time: impl Fn(&Batch) -> Option<Timestamp>) -> Option<Millis> {
    Millis::between(time(batches.first()?)?, time(batches.last()?)?)
}

impl StreamState {
    fn judge_growth(&self, ground: &Ground<'_>, stream: &Stream, growth: &Growth<'_>) -> Option<Judgement> {
        let room = (room(ground).as_f64() - growth.size.as_f64()).max(0.0);
        let full =
            Millis::from_f64(room / growth.bytes_an_hour * MILLIS_OF_HOUR).filter(|_| !stream.has_rocksdb);
        let severity = full.map_or(self.on_disk, |full| self.full_in.severity(full.as_f64()));
        (severity > Severity::None).then_some(())?;
        let limit = full.map_or_else(|| ON_DISK.to_owned(), |_| self.full_in.describe(severity));
        let stages =
            work(ground.app, ground.spark, stream, &growth.batches).map(|ran| ran.stages).unwrap_or_default();
        let watermark = growth.watermark();
        let rows = |state: &StateProgress| state.rows.unwrap_or_default();
        let added = Bytes::from_f64(growth.bytes_an_hour).unwrap_or_default();
        let share = 1.0 - rows(&growth.first) as f64 / (rows(&growth.last) as f64).max(1.0);
        let judged =
            Judgement::of(stages.first().map_or(Subject::Application, |id| Subject::Stage(*id)), severity)
                .also_about(stages.iter().skip(1).map(|id| Subject::Stage(*id)).collect())
                .fact("batches_count", Measure::Count(growth.batches.len() as u64))
                .fact("rows_count", Measure::Count(rows(&growth.last)))
                .fact("growth_ratio", Measure::Ratio(Some(share)))
                .fact("state_bytes", Measure::Size(growth.size))
                .fact("added_bytes", Measure::Size(added))
                .facts(full.map(|full| ("full_ms", Measure::Time(full))));
        let words: [(_, &dyn std::fmt::Display); 7] = [
            ("stream", &name_of_stream(stream)),
            ("operator", &growth.operator),
            ("first", &whole(rows(&growth.first) as f64)),
            ("rows", &whole(rows(&growth.last) as f64)),
            ("full", &full.map(|full| full.to_string()).unwrap_or_default()),
            ("watermark", &watermark.as_ref().map(Watermark::words).unwrap_or_default()),
            ("limit", &limit),
        ];
        Some(judged.message(GROWS, &words).advice(|| advice(stream, growth.operator, watermark.as_ref())))
    }

    fn judge_late_rows(&self, stream: &Stream) -> Option<Judgement> {
        let sum = |kept: u64, values: &mut dyn Iterator<Item = u64>| values.fold(kept, u64::saturating_add);
        // More rows than a batch read cannot have come too late.
        let possible = |batch: &&Batch| batch.rows().is_some_and(|rows| batch.late_rows() <= rows);
        let late = stream.batches.iter().filter(possible).map(Batch::late_rows);
        let late = sum(stream.earlier.late_rows, &mut { late });
        let read = sum(stream.earlier.rows, &mut stream.batches.iter().filter_map(Batch::rows));
        let share = Some(late as f64 / read.max(1) as f64).filter(|share| *share <= 1.0)?;
        let severity = self.late_share.severity(share);
        (severity > Severity::None).then_some(())?;
        let judged = Judgement::of(Subject::Application, severity)
            .fact("late_count", Measure::Count(late))
            .fact("late_ratio", Measure::Ratio(Some(share)));
        let words: [(_, &dyn std::fmt::Display); 4] = [
            ("stream", &name_of_stream(stream)),
            ("late", &whole(late as f64)),
            ("read", &whole(read as f64)),
            ("limit", &self.late_share.describe_in(severity, elephant_rule::wording::percent)),
        ];
        Some(judged.message(LATE, &words).advice(|| vec![ALLOW_LATER]))
    }
}

impl Watermark {
    fn words(&self) -> String {
        match self {
            Self::None => NONE.to_owned(),
            Self::StandsStill(span) => STILL.replace("{span}", &span.to_string()),
        }
    }
}

/// The heap of all processes that is left to code and state: Spark keeps the rest for execution and storage.
fn room(ground: &Ground<'_>) -> Bytes {
    let fraction = ground.app.conf.fraction(ConfKey::MemoryFraction).unwrap_or(MEMORY_FRACTION);
    let heaps = ground.spark.workers().map(|worker| heap_of(ground.app, ground.spark, worker)).sum::<Bytes>();
    Bytes::from_f64(heaps.as_f64() * (1.0 - fraction)).unwrap_or_default()
}

fn advice(stream: &Stream, operator: &str, watermark: Option<&Watermark>) -> Vec<String> {
    let mut lines = vec![match watermark {
        Some(Watermark::StandsStill(_)) => STANDS_STILL.to_owned(),
        Some(Watermark::None) => format!("{NO_WATERMARK}: {}", with_watermark(operator)),
        None => format!("rows stay although the watermark goes on: {}", with_watermark(operator)),
    }];
    if !stream.has_rocksdb {
        lines.push(ROCKS_DB.to_owned());
    }
    lines
}

/// How rows of an operator leave the state.
fn with_watermark(operator: &str) -> &'static str {
    let is = |name: &str| operator.to_ascii_lowercase().contains(name);
    if is("dedup") {
        "drop duplicates by key and event time, or from Spark 3.5 on with dropDuplicatesWithinWatermark"
    } else if is("join") {
        "join with watermarks on both sides and a condition that bounds the difference of their event times"
    } else if is("session") {
        "group by session_window of the event time, in append or update mode"
    } else if is("statestoresave") || is("aggregat") {
        "group by a window of the event time, in append or update mode, not in complete mode"
    } else {
        "set a timeout or a time to live for the state of each key, and remove it there"
    }
}
